// A label map's materials as something to triangulate: what lies where, and points on their borders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "isochron/surface/field/multi_label.h"
#include "isochron/surface/triangulate/label_field.h"

namespace isochron {

/// The materials of a label map. Label 0 is what counts as outside, the others are places in `labels()` plus one.
class MaterialLabels final : public LabelField {
 public:
  /// Keeps a reference. `outside` is the image's label of what lies outside.
  explicit MaterialLabels(const MultiLabelField& field, std::int32_t outside = 0);

  [[nodiscard]] Look look(Vec3d p) const override;
  [[nodiscard]] Vec3d project(Vec3d p) const override;
  [[nodiscard]] Vec3d normal(Vec3d p) const override;
  [[nodiscard]] Vec3d extent() const override { return extent_; }

  /// The label in the image of one of ours.
  [[nodiscard]] std::int32_t image_label(int label) const {
    return label == 0 ? field_.labels()[outside_] : field_.labels()[static_cast<std::size_t>(label - 1)];
  }
  /// A point where three materials meet, near p; false when there is none within `reach`.
  bool find_junction(Vec3d& p, double reach) const;
  [[nodiscard]] const Lattice& lattice() const { return field_.lattice(); }

 private:
  struct Lowest {
    MultiLabelField::Index index[3]{};  // the lowest first
    double level[3]{};
  };
  [[nodiscard]] Lowest lowest(Vec3d p) const;

  const MultiLabelField& field_;
  MultiLabelField::Index outside_ = 0;
  Vec3d extent_;
  double spacing_ = 1;  // the smallest
};

struct MaterialSamples {
  std::vector<Vec3d> points;
  std::size_t fixed = 0;  ///< so many of them, the first ones, lie on junctions
};

/// Points for `triangulate_materials`: junction curves first, then borders, no closer to each other than about the
/// sizes ask for.
MaterialSamples sample_materials(const MaterialLabels& field, const SizeField& sizes, int threads = 1);

}  // namespace isochron
