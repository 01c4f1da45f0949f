// An image and its metric prepared for the grid schedules: what each cell's update reads.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <unordered_map>
#include <variant>
#include <vector>

#include "isochron/local/stencil_update.h"
#include "isochron/metric.h"
#include "isochron/solve/grid/grid_box.h"

namespace isochron {

/// What both kinds of stencils share. Times are in units of `unit`, a power of two near the mean time across a voxel.
template <class T>
struct GridProblem {
  std::size_t vertex_count = 0;  ///< cells, border and masked-out ones included
  const GridCells* cells = nullptr;
  double unit = 1;
  T mean_edge = 1;  ///< mean over the allowed cells of their shortest step, internal units
};

/// Stencils of metrics that are diagonal in voxels (isotropic ones on orthogonal axes are): the neighbours are those
/// along the axes, and nothing but weights is stored.
template <class T, int Dim>
struct AxisProblem : GridProblem<T> {
  static constexpr int dim = Dim;
  static constexpr int terms = Dim;
  using Scalar = T;

  std::array<T, Dim> weight{};  ///< of each axis; times `scale` where the metric varies
  /// None; or one value a cell; or `Dim` values a cell.
  BigVector<float> scale;
  std::size_t scale_stride = 0;  ///< values a cell

  /// A cell's terms: neighbours at ∓step[i] with weight[i].
  struct Stencil {
    T weight[terms];
    std::ptrdiff_t step[terms];
    [[nodiscard]] static constexpr bool back(int) { return true; }
    [[nodiscard]] static constexpr bool ahead(int) { return true; }
    [[nodiscard]] static constexpr bool second_back(int) { return true; }
    [[nodiscard]] static constexpr bool second_ahead(int) { return true; }
    [[nodiscard]] static constexpr bool has_edges() { return false; }
  };
  [[nodiscard]] Stencil stencil(std::uint32_t cell) const {
    Stencil result;
    const float* s = scale.data() + cell * scale_stride;
    for (int i = 0; i < Dim; ++i) {
      result.step[i] = this->cells->box.axis_step(i);
      result.weight[i] = scale_stride == 0 ? weight[i] : weight[i] * T(s[scale_stride == 1 ? 0 : i]);
    }
    return result;
  }
  [[nodiscard]] Vec3i offset(std::uint32_t, int i) const { return {i == 0, i == 1, i == 2}; }
  /// Calls `visit(y)` for all allowed cells whose update reads x.
  template <class Visit>
  void for_dependents(std::uint32_t x, Visit&& visit) const {
    const std::uint8_t* allowed = this->cells->allowed.data();
    for (int i = 0; i < Dim; ++i) {
      const std::ptrdiff_t step = this->cells->box.axis_step(i);
      for (const std::ptrdiff_t to : {-step, step})
        if (const auto y = static_cast<std::uint32_t>(x + to); allowed[y] != 0) visit(y);
    }
  }
};

/// The terms of one cell as they are stored: `local/selling.h`.
template <int Terms>
struct StencilRecord {
  std::array<PackedOffset, Terms> offset;
  std::array<float, Terms> weight;
};

/// Stencils of any metric.
///
/// An offset counts only when the straight line between the two voxels touches allowed voxels alone
/// (`touched_voxels`); what lies behind a masked-out voxel is +inf to the update, and so is what is further away than
/// `PackedOffset` can say. At cells where an offset is cut off that way the times along the axes, u(x±a) + the time of
/// the step a, take part as well: they are upper bounds of any discretisation, and they keep every cell that is
/// connected through voxel faces within reach.
template <class T, int Dim>
struct OffsetProblem : GridProblem<T> {
  static constexpr int dim = Dim;
  static constexpr int terms = Dim == 2 ? 3 : 6;
  using Scalar = T;
  static constexpr std::uint32_t edges_bit = 1U << 31U;

  // One stencil for all cells, when `record_of` is empty …
  std::array<T, terms> weight{};
  std::array<Vec3i, terms> offsets{};
  // … or a record for each allowed cell.
  BigVector<StencilRecord<terms>> records;
  BigVector<std::uint32_t> record_of;  ///< of each cell
  /// Per cell, bit 2i and 2i+1: the neighbours at −e_i and +e_i count; 12 bits up the same for the second ones behind
  /// them; `edges_bit` where the axes take part.
  BigVector<std::uint32_t> usable;
  /// Times of the steps along the axes at cells with an offset that their record cannot hold, by record.
  struct AxisTimes {
    std::uint32_t record;
    std::array<T, Dim> times;
  };
  std::vector<AxisTimes> far_reaching;
  std::vector<std::size_t> dependent_offsets;  ///< by record
  BigVector<std::uint32_t> dependents;         ///< cells whose update reads that of the record

  [[nodiscard]] bool uniform() const { return record_of.empty(); }

  struct Stencil {
    T weight[terms];
    std::ptrdiff_t step[terms];
    std::uint32_t usable;
    [[nodiscard]] bool back(int i) const { return (usable >> (2 * i) & 1U) != 0; }
    [[nodiscard]] bool ahead(int i) const { return (usable >> (2 * i + 1) & 1U) != 0; }
    [[nodiscard]] bool second_back(int i) const { return (usable >> (12 + 2 * i) & 1U) != 0; }
    [[nodiscard]] bool second_ahead(int i) const { return (usable >> (13 + 2 * i) & 1U) != 0; }
    [[nodiscard]] bool has_edges() const { return (usable & edges_bit) != 0; }
  };
  [[nodiscard]] Vec3i offset(std::uint32_t cell, int i) const {
    return uniform() ? offsets[i] : records[record_of[cell]].offset[i].offset();
  }
  [[nodiscard]] Stencil stencil(std::uint32_t cell) const {
    Stencil result;
    result.usable = usable[cell];
    const GridBox& box = this->cells->box;
    if (uniform()) {
      for (int i = 0; i < terms; ++i) {
        result.weight[i] = weight[i];
        result.step[i] = box.step(offsets[i]);
      }
    } else {
      const auto& record = records[record_of[cell]];
      for (int i = 0; i < terms; ++i) {
        result.weight[i] = static_cast<T>(record.weight[i]);
        result.step[i] = box.step(record.offset[i].offset());
      }
    }
    return result;
  }
  template <class Visit>
  void for_dependents(std::uint32_t x, Visit&& visit) const {
    if (!uniform()) {
      const std::size_t record = record_of[x], end = dependent_offsets[record + 1];
      for (std::size_t k = dependent_offsets[record]; k < end; ++k) visit(dependents[k]);
      return;
    }
    // Lines are usable from either end, so the cells that read x are the cells that x reads and, where those
    // count, its neighbours along the axes.
    const Stencil s = stencil(x);
    for (int i = 0; i < terms; ++i) {
      if (s.back(i)) visit(static_cast<std::uint32_t>(x - s.step[i]));
      if (s.ahead(i)) visit(static_cast<std::uint32_t>(x + s.step[i]));
    }
    for_axis_neighbours(x, [&](std::uint32_t y, int) {
      if ((usable[y] & edges_bit) != 0) visit(y);
    });
  }
  /// Calls `visit(y, axis)` for the cells on both sides along each axis.
  template <class Visit>
  void for_axis_neighbours(std::uint32_t x, Visit&& visit) const {
    for (int axis = 0; axis < Dim; ++axis) {
      const std::ptrdiff_t step = this->cells->box.axis_step(axis);
      visit(static_cast<std::uint32_t>(x - step), axis);
      visit(static_cast<std::uint32_t>(x + step), axis);
    }
  }
  /// Times of the steps along the axes at a cell: √(D⁻¹)_aa.
  [[nodiscard]] std::array<T, Dim> axis_times(std::uint32_t cell) const;
};

/// Calls `visit(x)` for all allowed cells that the update of y, a cell of the list, reads.
template <class Problem, class Visit>
void for_read(const Problem& problem, std::uint32_t y, Visit&& visit) {
  const std::uint8_t* allowed = problem.cells->allowed.data();
  const auto look = [&](std::ptrdiff_t x) {
    if (allowed[x] != 0) visit(static_cast<std::uint32_t>(x));
  };
  const auto s = problem.stencil(y);
  for (int i = 0; i < Problem::terms; ++i) {
    if (s.back(i)) look(y - s.step[i]);
    if (s.ahead(i)) look(y + s.step[i]);
  }
  if constexpr (Problem::terms != Problem::dim)
    if (s.has_edges()) problem.for_axis_neighbours(y, [&](std::uint32_t x, int) { look(x); });
}

/// The travel time of a cell's shortest step, internal units: what tolerances are shares of.
template <class Problem>
typename Problem::Scalar shortest_step(const Problem& problem, std::uint32_t cell) {
  using T = typename Problem::Scalar;
  const auto s = problem.stencil(cell);
  T largest = 0;
  for (int i = 0; i < Problem::terms; ++i) largest = s.weight[i] > largest ? s.weight[i] : largest;
  return T(1) / std::sqrt(largest);
}

/// √(D⁻¹)_aa of D = Σ weight e eᵀ, by minors of the offsets (the formula of Cauchy and Binet): sums of terms ≥ 0, so
/// that nothing is lost where D is close to singular.
template <class T, int Dim, int Terms>
std::array<T, Dim> root_of_inverse_diagonal(const Vec3d (&e)[Terms], const double (&weight)[Terms]) {
  double determinant = 0;
  Vec3d minors{};  // of D without an axis
  for (int i = 0; i < Terms; ++i) {
    if constexpr (Dim == 2) minors += weight[i] * Vec3d{e[i].y * e[i].y, e[i].x * e[i].x, 0};
    for (int j = 0; j < i; ++j) {
      const Vec3d c = cross(e[i], e[j]);
      const double pair = weight[i] * weight[j];
      if constexpr (Dim == 2) {
        determinant += pair * (c.z * c.z);
        continue;
      }
      minors += pair * Vec3d{c.x * c.x, c.y * c.y, c.z * c.z};
      for (int k = 0; k < j; ++k) {
        const double volume = dot(c, e[k]);
        determinant += pair * weight[k] * (volume * volume);
      }
    }
  }
  std::array<T, Dim> result{};
  for (int axis = 0; axis < Dim; ++axis) result[axis] = static_cast<T>(std::sqrt(minors[axis] / determinant));
  return result;
}

template <class T, int Dim>
std::array<T, Dim> OffsetProblem<T, Dim>::axis_times(std::uint32_t cell) const {
  if (!far_reaching.empty()) {
    const auto found = std::lower_bound(far_reaching.begin(), far_reaching.end(), record_of[cell],
                                        [](const AxisTimes& a, std::uint32_t record) { return a.record < record; });
    if (found != far_reaching.end() && found->record == record_of[cell]) return found->times;
  }
  const Stencil s = stencil(cell);
  Vec3d e[terms];
  double w[terms];
  for (int i = 0; i < terms; ++i) {
    const Vec3i o = offset(cell, i);
    e[i] = {static_cast<double>(o.x), static_cast<double>(o.y), static_cast<double>(o.z)};
    w[i] = static_cast<double>(s.weight[i]);
  }
  return root_of_inverse_diagonal<T, Dim>(e, w);
}

/// Speeds of some voxels.
using SomeSpeeds = std::unordered_map<std::uint32_t, double>;

/// Which voxel each value of a metric belongs to.
enum class MetricOrder {
  voxels,  ///< one value for each voxel of the image
  cells    ///< one for each cell of the list
};

/// An image and a metric in voxels: M as it measures steps in voxels, the only place where the two meet.
struct VoxelMetric {
  const ImageGrid& grid;
  const Metric& metric;
  const SomeSpeeds* speeds = nullptr;  ///< in place of a metric of speeds of which only some are at hand
  MetricOrder order = MetricOrder::voxels;

  [[nodiscard]] SymTensor3d at(VertexId voxel) const {
    return metric_per_voxel(
        grid, speeds != nullptr ? speed_tensor(speeds->at(voxel.value)) : metric.tensor(ElementId(voxel.index())));
  }
};

template <class T>
using AnyGridProblem = std::variant<AxisProblem<T, 2>, AxisProblem<T, 3>, OffsetProblem<T, 2>, OffsetProblem<T, 3>>;

/// D in voxels from M in voxels; of a flat image the block in its plane.
template <int Dim>
SymTensor3d velocity_tensor(SymTensor3d m);

/// Throws InputError unless the metric fits the image and is positive definite and finite on all allowed cells (what it
/// is elsewhere does not matter).
void check_grid_metric(const VoxelMetric& metric, const GridCells& cells);

/// What the stencils of all cells have in common, those of other parts included.
struct StencilPlan {
  bool diagonal = true;  ///< axis stencils do
  double unit = 1;
};
StencilPlan plan_stencils(const VoxelMetric& metric, const GridCells& cells, int threads);

/// What the cells of a part of an image have to say to its plan; parts add theirs up.
struct StencilShare {
  bool diagonal = true;
  double across = 0;  ///< sum of the times across voxels
  double count = 0;   ///< of those

  void operator+=(const StencilShare& part) {
    diagonal = diagonal && part.diagonal;
    across += part.across;
    count += part.count;
  }
  /// Throws InputError when the times are out of all bounds.
  [[nodiscard]] StencilPlan plan() const;
};
StencilShare share_of_stencils(const VoxelMetric& metric, const GridCells& cells, int threads);

/// How many voxels away the cells are that an update reads, at most, along each axis.
Vec3i stencil_reach(const VoxelMetric& metric, const GridCells& cells, const StencilPlan& plan, int threads);

/// The stencils of a checked metric, axis ones where they do. Keeps a pointer to `cells`. Of a part, those of ghosts
/// are not made, but `for_dependents` finds who reads them.
template <class T>
AnyGridProblem<T> make_stencils(const VoxelMetric& metric, const GridCells& cells, const StencilPlan& plan,
                                int threads);
template <class T>
AnyGridProblem<T> make_stencils(const VoxelMetric& metric, const GridCells& cells, int threads) {
  return make_stencils<T>(metric, cells, plan_stencils(metric, cells, threads), threads);
}

/// Takes a checked metric that differs on some allowed voxels; unit and mean edge stay. False, with some voxels
/// changed, where axis stencils do not do, or are of another kind of metric. Throws InputError where its times are out
/// of bounds.
template <class T, int Dim>
[[nodiscard]] bool change_stencils(AxisProblem<T, Dim>& problem, const VoxelMetric& metric,
                                   std::span<const VertexId> voxels);

/// Axis stencils of speeds that are not at hand: all but `scale`, which is `factor` · speed² for each cell.
template <class T, int Dim>
struct SpeedStencils {
  AxisProblem<T, Dim> problem;
  double factor = 0;
};
/// `mean_slowness` is the mean of 1/speed over the allowed cells. None when the image's axes are not orthogonal.
template <class T, int Dim>
std::optional<SpeedStencils<T, Dim>> speed_stencils(const ImageGrid& grid, const GridCells& cells,
                                                    double mean_slowness);
/// Throws InputError: a cell's scale is too large or too small.
[[noreturn]] void refuse_contrast();

}  // namespace isochron
