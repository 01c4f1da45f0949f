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
#include "isochron/surface/field/volume.h"

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
  std::vector<Levels> levels;
  for (Index label = 0; label < labels_.size(); ++label) {
    progress.update(0.5 * static_cast<double>(label) / static_cast<double>(labels_.size()));
    levels.push_back(add_part(indices, label, options));
  }
  list_near_labels();
  keep_volumes(indices, levels, threads_of(options), progress);
  progress.update(1);
}

MultiLabelField::Levels MultiLabelField::add_part(const Indices& indices, Index label, const FieldOptions& options) {
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
  Levels level = smoothed_level(part, inside, width, threads);
  parts_.push_back({box.from, lattice_.position(box.from[0], box.from[1], box.from[2]),
                    lattice_.position(box.to[0] - 1, box.to[1] - 1, box.to[2] - 1), SplineField(part, level, threads)});
  return level;
}

/// Adds to `volumes` what each label has of a cell whose corners do not all have the same one.
void MultiLabelField::add_mixed_cell(const Indices& indices, const std::array<int, 3>& cell,
                                     std::span<double> volumes) const {
  std::array<Index, 8> present;
  for (int corner = 0; corner < 8; ++corner)
    present[corner] =
        indices[lattice_.index(cell[0] + (corner & 1), cell[1] + (corner >> 1 & 1), cell[2] + (corner >> 2))];
  std::sort(present.begin(), present.end());
  const auto end = std::unique(present.begin(), present.end());
  std::array<CellValues, 8> levels;
  for (auto label = present.begin(); label != end; ++label) {
    const Part& part = parts_[*label];
    levels[label - present.begin()] =
        cell_values(part.field, cell[0] - part.from[0], cell[1] - part.from[1], cell[2] - part.from[2]);
  }
  const auto outside = std::find(present.begin(), end, outside_);
  for (auto own = present.begin(); own != end; ++own) {
    if (own == outside) continue;
    CellValues border;
    for (std::size_t p = 0; p < border.size(); ++p) {
      float others = std::numeric_limits<float>::infinity();
      for (auto other = present.begin(); other != end; ++other)
        if (other != own && other != outside) others = std::min(others, levels[other - present.begin()][p]);
      border[p] = 0.5F * (levels[own - present.begin()][p] - others);
      if (outside != end) border[p] = std::max(border[p], -levels[outside - present.begin()][p]);
    }
    volumes[*own] += negative_share(border);
  }
}

/// Of all labels but outside, in voxels.
std::vector<double> MultiLabelField::volumes(const Indices& indices, int threads) const {
  const std::size_t count = labels_.size(), slices = static_cast<std::size_t>(lattice_.shape[2]) - 1;
  std::vector<double> by_slice(count * slices, 0);  // added up in order, whatever the threads
  parallel_for(threads, slices, [&](std::size_t slice) {
    const int k = static_cast<int>(slice);
    const std::span<double> sums = std::span(by_slice).subspan(slice * count, count);
    for (int j = 0; j + 1 < lattice_.shape[1]; ++j)
      for (int i = 0; i + 1 < lattice_.shape[0]; ++i) {
        const std::uint16_t first = indices[lattice_.index(i, j, k)];
        bool same = true;
        for (int corner = 1; corner < 8; ++corner)
          same &= indices[lattice_.index(i + (corner & 1), j + (corner >> 1 & 1), k + (corner >> 2))] == first;
        if (same) ++sums[first];
        else add_mixed_cell(indices, {i, j, k}, sums);
      }
  });
  std::vector<double> result(count, 0);
  for (std::size_t i = 0; i < by_slice.size(); ++i) result[i % count] += by_slice[i];
  return result;
}

/// The fields of levels moved by so much, in voxels. That of outside is moved by what its neighbours are, with smooth
/// steps from one to the next.
void MultiLabelField::move_borders(const Indices& indices, const std::vector<Levels>& levels,
                                   const std::vector<double>& offsets, int threads) {
  constexpr double step_width = 1;  // voxels
  Levels inward(indices.size()), weight(indices.size());
  parallel_for(threads, indices.size(), [&](std::size_t v) {
    inward[v] = indices[v] == outside_ ? 0 : static_cast<float>(-offsets[indices[v]]);
    weight[v] = indices[v] == outside_ ? 0 : 1;
  });
  gaussian(lattice_, step_width, threads, inward);
  gaussian(lattice_, step_width, threads, weight);
  for (Index label = 0; label < labels_.size(); ++label) {
    Levels moved = levels[label];
    const auto offset = static_cast<float>(offsets[label]);
    parallel_for(threads, moved.size(), [&](std::size_t v) {
      if (label != outside_) moved[v] = moved_level(moved[v], offset, min_level);
      else if (weight[v] > 0) moved[v] = moved_level(moved[v], inward[v] / weight[v], min_level);
    });
    parts_[label].field = SplineField(Lattice(parts_[label].field.lattice()), moved, threads);
  }
}

/// Moves borders until each label encloses as much as its voxels have.
void MultiLabelField::keep_volumes(const Indices& indices, const std::vector<Levels>& levels, int threads,
                                   const Progress& progress) {
  constexpr int max_steps = 8;
  constexpr double face_area = 2.0 / 3;  // of the smooth surface, for a face of its staircase
  std::vector<SharedBorder> borders;     // those between two labels move by half of what these move apart
  for (const auto& [a, b, faces] : contacts_)
    borders.push_back({a, b, face_area * static_cast<double>(faces) * (a == outside_ || b == outside_ ? 1 : 0.5)});
  std::vector<double> wanted(labels_.size(), 0), offsets(wanted), before(wanted), gain(labels_.size(), 1);
  for (const std::uint16_t label : indices) ++wanted[label];
  for (int step = 0;; ++step) {
    progress.update(0.5 + 0.5 * step / max_steps);
    std::vector<double> growth = volumes(indices, threads);
    double worst = 0;
    for (Index label = 0; label < growth.size(); ++label) {
      growth[label] = label == outside_ ? 0 : wanted[label] - growth[label];
      if (label != outside_ && wanted[label] > few_voxels)
        worst = std::max(worst, std::abs(growth[label]) / wanted[label]);
    }
    if (worst <= volume_tolerance || step == max_steps) return;
    const std::vector<double> change = offsets_for_growth(borders, outside_, growth);
    for (Index label = 0; label < offsets.size(); ++label) {
      // Thin labels grow by more than the area of their borders says, and small ones by less: as they did before.
      const double done = before[label] - growth[label];
      if (done != 0) gain[label] = std::clamp(gain[label] * std::clamp(before[label] / done, 0.3, 2.0), 0.1, 4.0);
      offsets[label] = std::clamp(offsets[label] + gain[label] * change[label], -max_offset, max_offset);
    }
    before = growth;
    move_borders(indices, levels, offsets, threads);
  }
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

void MultiLabelField::list_near_labels() {
  constexpr int block = 8;  // voxels
  for (int a = 0; a < 3; ++a) {
    blocks_.shape[a] = (lattice_.shape[a] + block - 1) / block;
    blocks_.spacing[a] = block * lattice_.spacing[a];
  }
  std::vector<std::vector<std::uint16_t>> lists(blocks_.point_count());
  for (Index label = 0; label < parts_.size(); ++label) {
    if (label == outside_) continue;
    const auto& [from, lower, upper, field] = parts_[label];
    const int* n = field.lattice().shape;
    for (int k = from[2] / block; k <= (from[2] + n[2] - 1) / block; ++k)
      for (int j = from[1] / block; j <= (from[1] + n[1] - 1) / block; ++j)
        for (int i = from[0] / block; i <= (from[0] + n[0] - 1) / block; ++i)
          lists[blocks_.index(i, j, k)].push_back(static_cast<std::uint16_t>(label));
  }
  near_begin_.push_back(0);
  for (const std::vector<std::uint16_t>& list : lists) {
    near_.insert(near_.end(), list.begin(), list.end());
    near_begin_.push_back(near_.size());
  }
}

std::span<const std::uint16_t> MultiLabelField::near_labels(const Vec3d& p) const {
  int at[3];
  for (int a = 0; a < 3; ++a)
    at[a] = static_cast<int>(std::clamp(p[a] / blocks_.spacing[a], 0.0, blocks_.shape[a] - 1.0));
  const std::size_t block = blocks_.index(at[0], at[1], at[2]);
  return std::span(near_).subspan(near_begin_[block], near_begin_[block + 1] - near_begin_[block]);
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
  for (const Index label : near_labels(p)) {
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
  for (const Index label : near_labels(p)) insert(label, level(label, p));
  if (!std::isfinite(result.away[0])) insert(outside_ == 0 ? 1 : 0, farthest_level);  // some label
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
  for (const Index label : near_labels(p))
    if (label != material) others = std::min(others, level(label, p));
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
