#include "isochron/surface/field/multi_label.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "isochron/core/parallel.h"
#include "isochron/error.h"
#include "isochron/surface/field/blocks.h"
#include "isochron/surface/field/frame.h"
#include "isochron/surface/field/label_smoothing.h"
#include "isochron/surface/field/redistance.h"

namespace isochron {
namespace {

constexpr int margin = 7;  // layers around a label: where its field is constant

int threads_of(const FieldOptions& options) { return field_threads(options.threads); }

}  // namespace

MultiLabelField::MultiLabelField(const ImageGrid& image, std::span<const std::int32_t> image_labels,
                                 std::int32_t outside, const FieldOptions& options, const Progress& progress) {
  const LatticeFrame whole = checked_frame(image, image_labels.size());
  ImageGrid grid = image;
  std::vector<std::int32_t> coarse;
  if (options.blocks == Blocks::find) {
    const BlockGrid blocks = find_blocks(image, image_labels);
    if (!blocks.note.empty()) {
      notes_.push_back(blocks.note);
      grid = blocks.grid;
      coarse = block_values(image, blocks, image_labels);
      image_labels = coarse;
    }
  }
  std::set<std::int32_t> present = labels_in(image_labels);
  present.insert(outside);
  if (present.size() < 2)
    throw InputError(fmt::format("the image has no label but {}, so there are no surfaces; give another", outside));
  if (present.size() > std::numeric_limits<std::uint16_t>::max())
    throw InputError(fmt::format("the image has {} labels, which looks like values; give an isovalue", present.size()));
  labels_.assign(present.begin(), present.end());

  ImageBox box;
  for (int a = 0; a < 3; ++a) {
    box.from[a] = -margin;
    box.to[a] = static_cast<int>(grid.shape[a]) + margin;
  }
  lattice_ = box.lattice(grid);
  LatticeFrame of_grid = whole;
  of_grid.origin = grid.origin;
  frame_ = box.frame(grid, of_grid);
  const auto index_of = [&](std::int32_t label) {
    return static_cast<std::uint16_t>(std::lower_bound(labels_.begin(), labels_.end(), label) - labels_.begin());
  };
  outside_ = index_of(outside);
  Indices indices(lattice_.point_count(), index_of(outside));
  for_box(grid, box, 1, [&](std::size_t point, std::size_t voxel, bool in_image) {
    if (in_image) indices[point] = index_of(image_labels[voxel]);
  });
  count_contacts(indices);
  for (Index label = 0; label < labels_.size(); ++label) {
    progress.update(static_cast<double>(label) / static_cast<double>(labels_.size()));
    add_part(indices, label, options);
  }
  progress.update(1);
}

void MultiLabelField::add_part(const Indices& indices, Index label, const FieldOptions& options) {
  ImageGrid grid;  // the lattice, as an image to cut from
  for (int a = 0; a < 3; ++a) {
    grid.shape[a] = static_cast<std::uint32_t>(lattice_.shape[a]);
    grid.axes[a] = {};
    grid.axes[a][a] = lattice_.spacing[a];
  }
  ImageBox box;
  box_around(
      grid, margin, 1, [&](std::size_t v) { return indices[v] == label; }, box);
  for (int a = 0; a < 3; ++a) {
    box.from[a] = std::max(box.from[a], 0);
    box.to[a] = std::min(box.to[a], lattice_.shape[a]);
  }
  const Lattice part = box.lattice(grid);
  std::vector<std::uint8_t> inside(part.point_count());
  for_box(grid, box, 1, [&](std::size_t point, std::size_t v, bool) { inside[point] = indices[v] == label ? 1 : 0; });
  const double width = options.smoothing < 0 ? usual_label_smoothing : options.smoothing;
  const int threads = threads_of(options);
  const std::vector<float> level = smoothed_level(part, inside, width, threads);
  parts_.push_back({lattice_.position(box.from[0], box.from[1], box.from[2]),
                    lattice_.position(box.to[0] - 1, box.to[1] - 1, box.to[2] - 1), SplineField(part, level, threads)});
}

void MultiLabelField::count_contacts(const Indices& indices) {
  std::map<std::pair<Index, Index>, std::size_t> faces;
  const std::size_t step[3] = {1, static_cast<std::size_t>(lattice_.shape[0]),
                               static_cast<std::size_t>(lattice_.shape[0]) * lattice_.shape[1]};
  for (int k = 0; k + 1 < lattice_.shape[2]; ++k)
    for (int j = 0; j + 1 < lattice_.shape[1]; ++j)
      for (int i = 0; i + 1 < lattice_.shape[0]; ++i) {
        const std::size_t v = lattice_.index(i, j, k);
        for (const std::size_t to : step)
          if (indices[v] != indices[v + to]) ++faces[std::minmax<Index>(indices[v], indices[v + to])];
      }
  for (const auto& [pair, count] : faces) contacts_.push_back({pair.first, pair.second, count});
}

double MultiLabelField::level(Index label, const Vec3d& p) const {
  const Part& part = parts_[label];
  if (part.holds(p)) return part.field.view().value(p - part.lower);
  return label == outside_ ? -farthest_level : farthest_level;
}

MultiLabelField::Index MultiLabelField::index_at(const Vec3d& p) const {
  if (level(outside_, p) < 0) return outside_;
  Index lowest = outside_;
  double least = std::numeric_limits<double>::infinity();
  for (Index label = 0; label < parts_.size(); ++label) {
    if (label == outside_) continue;
    const double here = level(label, p);
    if (!(here < least)) continue;
    least = here;
    lowest = label;
  }
  return lowest;
}

MultiLabelField::Nearest MultiLabelField::nearest(const Vec3d& p) const {
  Nearest result;
  std::fill_n(result.away, Nearest::count, std::numeric_limits<double>::infinity());
  const auto insert = [&](Index index, double level) {
    for (int place = 0; place < Nearest::count; ++place) {
      if (!(level < result.away[place])) continue;
      std::swap(level, result.away[place]);
      std::swap(index, result.index[place]);
    }
  };
  for (Index label = 0; label < parts_.size(); ++label)
    if (label != outside_) insert(label, level(label, p));
  // As far below or above the nearest material as its own field says.
  insert(outside_, result.away[0] + 2 * level(outside_, p));
  const double least = result.away[0];
  for (double& away : result.away) away = 0.5 * (away - least);
  return result;
}

double MultiLabelField::border_level(Index material, const Vec3d& p) const {
  constexpr double near = 2;  // beyond, its own level says enough
  const double own = level(material, p), outside = level(outside_, p);
  if (std::abs(own) > near) return own;
  double others = std::numeric_limits<double>::infinity();
  for (Index label = 0; label < parts_.size(); ++label)
    if (label != outside_ && label != material) others = std::min(others, level(label, p));
  return std::max(0.5 * (own - others), -outside);
}

Jet<double> MultiLabelField::difference(Index a, Index b, const Vec3d& p) const {
  Jet<double> result;
  const auto add = [&](Index label, double factor) {
    const Part& part = parts_[label];
    if (!part.holds(p)) {
      result.value += factor * level(label, p);
      return;
    }
    const Jet<double> jet = part.field.view().slope(p - part.lower);
    result.value += factor * jet.value;
    result.gradient += factor * jet.gradient;
  };
  if (a == outside_ || b == outside_) {
    add(outside_, a == outside_ ? 1 : -1);
  } else {
    add(a, 0.5);
    add(b, -0.5);
  }
  return result;
}

std::size_t MultiLabelField::bytes() const {
  std::size_t sum = 0;
  for (const Part& part : parts_) sum += part.field.coefficients().size_bytes();
  return sum;
}

}  // namespace isochron
