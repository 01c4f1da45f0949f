// All materials of a label map at once, with smooth surfaces between them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "isochron/progress.h"
#include "isochron/surface.h"
#include "isochron/surface/field/spline.h"

namespace isochron {

/// A smooth level field for each label of an image: negative where the label is, in voxels. Outside is where its own
/// field is negative, and elsewhere the material is the one whose field is lowest; at the voxels' centres that is the
/// image's label. Each label encloses as much as its voxels have. So the outer surface is that of all materials
/// together, without a groove where two of them meet at it. Each field is kept only around its label's voxels, beyond
/// which it is `farthest_level` (label_smoothing.h).
class MultiLabelField {
 public:
  /// The place of a label in `labels()`.
  using Index = std::size_t;

  /// Everything outside the image counts as `outside`, which becomes one of the labels. Uses smoothing, blocks and
  /// threads of the options. Throws InputError like `from_labels`; an image of a single label has no surface.
  MultiLabelField(const ImageGrid& grid, std::span<const std::int32_t> labels, std::int32_t outside = 0,
                  const FieldOptions& options = {}, const Progress& progress = {});

  [[nodiscard]] std::span<const std::int32_t> labels() const { return labels_; }
  /// The image with some layers of outside around it; positions are in its frame.
  [[nodiscard]] const Lattice& lattice() const { return lattice_; }
  [[nodiscard]] const LatticeFrame& frame() const { return frame_; }
  [[nodiscard]] std::span<const std::string> notes() const { return notes_; }

  /// The place of what lies outside.
  [[nodiscard]] Index outside() const { return outside_; }
  /// A label's field at a position.
  [[nodiscard]] double level(Index label, const Vec3d& p) const;
  /// Which label is at a position.
  [[nodiscard]] Index index_at(const Vec3d& p) const;
  /// The labels that are nearest to a position, the one there first, and half of how much higher than its their levels
  /// are: about how far away they are, in voxels.
  struct Nearest {
    static constexpr int count = 4;
    Index index[count]{};
    double away[count]{};  ///< infinite where there are no more labels
  };
  [[nodiscard]] Nearest nearest(const Vec3d& p) const;
  [[nodiscard]] std::int32_t label_at(const Vec3d& p) const { return labels_[index_at(p)]; }
  /// (level of a − level of b)/2 with its gradient: zero on the surface between the two, negative on the side of a.
  /// With outside as one of them its level alone: all materials together are the other one.
  [[nodiscard]] Jet<double> difference(Index a, Index b, const Vec3d& p) const;
  /// About how far the border of one material is, in voxels: negative in the material. Not of outside.
  [[nodiscard]] double border_level(Index material, const Vec3d& p) const;
  /// The part of the lattice around a label's voxels, and the position of its first point. Beyond it the label is
  /// nowhere.
  [[nodiscard]] const Lattice& part_lattice(Index label) const { return parts_[label].field.lattice(); }
  [[nodiscard]] Vec3d part_corner(Index label) const { return parts_[label].lower; }
  /// The pairs of labels that share faces of voxels, a < b, and how many.
  struct Contact {
    Index a, b;
    std::size_t faces;
  };
  [[nodiscard]] std::span<const Contact> contacts() const { return contacts_; }
  /// Memory of the fields.
  [[nodiscard]] std::size_t bytes() const;

 private:
  /// The part of the lattice that a field is kept on.
  struct Part {
    std::array<int, 3> from;  // the lattice's indices of its first point
    Vec3d lower, upper;       // positions of its first and last points
    SplineField field;
    [[nodiscard]] bool holds(const Vec3d& p) const {
      return p.x >= lower.x && p.y >= lower.y && p.z >= lower.z && p.x <= upper.x && p.y <= upper.y && p.z <= upper.z;
    }
  };
  /// An image as large as the lattice: the label's index at each point.
  using Indices = std::vector<std::uint16_t>;

  /// A label's values at the points of its part.
  using Levels = std::vector<float>;

  Levels add_part(const Indices& indices, Index label, const FieldOptions& options);
  void keep_volumes(const Indices& indices, const std::vector<Levels>& levels, int threads, const Progress& progress);
  [[nodiscard]] std::vector<double> volumes(const Indices& indices, int threads) const;
  void add_mixed_cell(const Indices& indices, const std::array<int, 3>& cell, std::span<double> volumes) const;
  void move_borders(const Indices& indices, const std::vector<Levels>& levels, const std::vector<double>& offsets,
                    int threads);
  void count_contacts(const Indices& indices);
  void list_near_labels();
  /// The labels but outside that may be near a position; all others are `farthest_level` there.
  [[nodiscard]] std::span<const std::uint16_t> near_labels(const Vec3d& p) const;

  Lattice lattice_;
  LatticeFrame frame_;
  std::vector<std::int32_t> labels_;
  Index outside_ = 0;
  std::vector<Part> parts_;
  std::vector<Contact> contacts_;
  Lattice blocks_;                       // of some voxels each
  std::vector<std::size_t> near_begin_;  // of each block, in `near_`
  std::vector<std::uint16_t> near_;
  std::vector<std::string> notes_;
};

}  // namespace isochron
