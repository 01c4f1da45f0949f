// What lies where: the label of every point in space, and how far the next border between labels is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "isochron/surface/field/multi_label.h"
#include "isochron/surface/field/spline.h"
#include "isochron/types.h"

namespace isochron {

/// Space cut into materials. Label 0 is outside of all; every label is 0 far away. Calls may come from several threads.
class LabelField {
 public:
  virtual ~LabelField() = default;
  struct Look {
    int label = 0;
    double clearance = 0;  ///< about how far the nearest border is, in world lengths; never negative
  };
  [[nodiscard]] virtual Look look(Vec3d p) const = 0;
  /// A point of a border near p, for p less than about an edge length away from one.
  [[nodiscard]] virtual Vec3d project(Vec3d p) const = 0;
  /// The direction in which the border at p is left, of length 1; any direction where there is none.
  [[nodiscard]] virtual Vec3d normal(Vec3d p) const = 0;
  /// The box outside of which every label is 0: from the origin to this corner.
  [[nodiscard]] virtual Vec3d extent() const = 0;
};

/// Two materials: 1 where a field of signed distances is negative and 0 elsewhere.
class SplineLabels final : public LabelField {
 public:
  explicit SplineLabels(const SplineField& field)
      : view_(field.view()),
        extent_{(field.lattice().shape[0] - 1) * field.lattice().spacing.x,
                (field.lattice().shape[1] - 1) * field.lattice().spacing.y,
                (field.lattice().shape[2] - 1) * field.lattice().spacing.z} {}

  [[nodiscard]] Look look(Vec3d p) const override {
    const double value = view_.value(p);
    bool inside = value < 0;
    for (int a = 0; a < 3; ++a) inside &= p[a] >= 0 && p[a] <= extent_[a];
    return {inside ? 1 : 0, std::abs(value)};
  }
  [[nodiscard]] Vec3d project(Vec3d p) const override;
  [[nodiscard]] Vec3d normal(Vec3d p) const override;
  [[nodiscard]] Vec3d extent() const override { return extent_; }

 private:
  SplineView<double> view_;
  Vec3d extent_;
};

/// The materials of a label map: what lies where, and where they meet. Label 0 is what counts as outside, the others
/// are places in `labels()` plus one.
class MaterialLabels final : public LabelField {
 public:
  /// Keeps a reference.
  explicit MaterialLabels(const MultiLabelField& field);

  [[nodiscard]] Look look(Vec3d p) const override;
  [[nodiscard]] Vec3d project(Vec3d p) const override;
  [[nodiscard]] Vec3d normal(Vec3d p) const override;
  [[nodiscard]] Vec3d extent() const override { return extent_; }

  /// The label in the image of one of ours.
  [[nodiscard]] std::int32_t image_label(int label) const {
    return label == 0 ? field_.labels()[field_.outside()] : field_.labels()[static_cast<std::size_t>(label - 1)];
  }
  /// A point where three materials meet, near p; false when there is none within `reach`.
  bool find_junction(Vec3d& p, double reach) const;
  /// One where four meet.
  bool find_corner(Vec3d& p, double reach) const;
  /// Places in `labels()`, ascending, of the materials that meet at p.
  [[nodiscard]] std::vector<MultiLabelField::Index> meeting(Vec3d p) const;
  /// The two directions of a curve on which those three materials meet are this and its opposite; 0 where there is
  /// none.
  [[nodiscard]] Vec3d along(const std::array<MultiLabelField::Index, 3>& materials, Vec3d p) const;
  /// The two materials that are nearest at p, the one with the smaller place first.
  [[nodiscard]] std::pair<MultiLabelField::Index, MultiLabelField::Index> nearest_two(Vec3d p) const;
  [[nodiscard]] const MultiLabelField& field() const { return field_; }
  [[nodiscard]] const Lattice& lattice() const { return field_.lattice(); }

 private:
  template <std::size_t Count>
  [[nodiscard]] std::array<Jet<double>, Count> equations(Vec3d p) const;

  const MultiLabelField& field_;
  Vec3d extent_;
  double spacing_ = 1;  // the smallest
};

}  // namespace isochron
