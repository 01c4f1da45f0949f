// A label map's materials as something to triangulate: what lies where, and where they meet.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "isochron/surface/field/multi_label.h"
#include "isochron/surface/triangulate/label_field.h"

namespace isochron {

/// The materials of a label map. Label 0 is what counts as outside, the others are places in `labels()` plus one.
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
