#include "isochron/solve/grid/stencils.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>

#include <fmt/format.h>

#include "isochron/core/parallel.h"
#include "isochron/core/stop.h"
#include "isochron/error.h"
#include "isochron/local/selling.h"
#include "isochron/solve/grid/segment_cells.h"

namespace isochron {

template <int Dim>
SymTensor3d velocity_tensor(SymTensor3d m) {
  if (Dim == 2) {
    m.xz = m.yz = 0;
    m.zz = 1;
  }
  // Inverting near 1 keeps determinants in range.
  const double size = Dim == 2 ? m.xx + m.yy : m.xx + m.yy + m.zz;
  if (Dim == 2) m.zz = size;
  const SymTensor3d d = (1 / size) * inverse((1 / size) * m);
  return d;
}

namespace {

/// Off-diagonal parts below this share of the diagonal are rounding of tensors kept in single precision.
constexpr double diagonal_tolerance = 1e-7;

template <int Dim>
bool diagonal(const SymTensor3d& m) {
  const auto small = [](double ab, double aa, double bb) {
    return ab * ab <= diagonal_tolerance * diagonal_tolerance * aa * bb;
  };
  return small(m.xy, m.xx, m.yy) && (Dim == 2 || (small(m.xz, m.xx, m.zz) && small(m.yz, m.yy, m.zz)));
}

double largest_of(const SymTensor3d& d, int dim) { return std::max({d.xx, d.yy, dim == 3 ? d.zz : 0}); }

bool uniform(const Metric& metric) { return std::holds_alternative<UniformMetric>(metric.kind()); }

/// One tensor per allowed cell, in the order of the list; the first one alone when the metric is uniform.
template <int Dim>
class Tensors {
 public:
  Tensors(const VoxelMetric& metric, const GridCells& cells) : metric_(metric), cells_(cells) {}
  [[nodiscard]] std::size_t count() const { return uniform(metric_.metric) ? 1 : cells_.list.size(); }
  [[nodiscard]] SymTensor3d travel(std::size_t k) const {
    return metric_.at(metric_.order == MetricOrder::cells ? VertexId(k)
                                                          : cells_.box.voxel(cells_.box.index(cells_.list[k])));
  }
  [[nodiscard]] SymTensor3d velocity(std::size_t k) const { return velocity_tensor<Dim>(travel(k)); }

 private:
  const VoxelMetric& metric_;
  const GridCells& cells_;
};

/// A sum that does not depend on the number of threads' timing: parts in their order.
template <class Value>
double ordered_sum(int threads, std::size_t count, const Value& value) {
  constexpr std::size_t part_size = 4096;
  std::vector<double> parts((count + part_size - 1) / part_size);
  const StoppableLoop loop;
  parallel_for(threads, parts.size(), [&](std::size_t part) {
    double sum = 0;
    loop(part * part_size, std::min(count, (part + 1) * part_size), [&](std::size_t k) { sum += value(k); });
    parts[part] = sum;
  });
  double total = 0;
  for (const double part : parts) total += part;
  return total;
}

template <int Dim>
bool all_diagonal(const Tensors<Dim>& tensors, const Metric& metric, int threads) {
  if (std::holds_alternative<SpeedMetric>(metric.kind())) return diagonal<Dim>(tensors.travel(0));
  std::atomic<bool> result{true};
  parallel_chunks(threads, tensors.count(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end && result.load(std::memory_order_relaxed); ++k)
      if (!diagonal<Dim>(tensors.travel(k))) result = false;
  });
  return result;
}

double power_of_two_near(double value) { return std::exp2(std::round(std::log2(value))); }

/// The sum over the cells of 1/√(largest velocity²), the time across a voxel.
template <int Dim>
double time_across(const Tensors<Dim>& tensors, int threads) {
  return ordered_sum(threads, tensors.count(),
                     [&](std::size_t k) { return 1 / std::sqrt(largest_of(tensors.velocity(k), Dim)); });
}

template <class Problem>
void set_mean_edge(Problem& problem, int threads) {
  const auto& list = problem.cells->list;
  if (list.empty()) return;
  problem.mean_edge = static_cast<typename Problem::Scalar>(
      ordered_sum(threads, list.size(),
                  [&](std::size_t k) { return static_cast<double>(shortest_step(problem, list[k])); }) /
      static_cast<double>(list.size()));
}

/// Weights are kept in single precision.
float stored_weight(double weight) {
  const auto stored = static_cast<float>(weight);
  if (!std::isfinite(stored) || (weight > 0 && !(stored > 0))) refuse_contrast();
  return stored;
}

double axis(const SymTensor3d& d, int i) { return i == 0 ? d.xx : i == 1 ? d.yy : d.zz; }

template <class T, int Dim>
AxisProblem<T, Dim> axis_stencils(const VoxelMetric& metric, const GridCells& cells, const Tensors<Dim>& tensors,
                                  double unit, int threads) {
  AxisProblem<T, Dim> problem;
  problem.vertex_count = cells.box.cell_count;
  problem.cells = &cells;
  problem.unit = unit;
  if (cells.list.empty()) return problem;
  const double square = problem.unit * problem.unit;
  const SymTensor3d first = tensors.velocity(0);
  const bool isotropic = std::holds_alternative<SpeedMetric>(metric.metric.kind());
  for (int i = 0; i < Dim; ++i)
    problem.weight[i] = uniform(metric.metric) ? static_cast<T>(square * axis(first, i))
                        : isotropic            ? static_cast<T>(axis(first, i) / first.xx)
                                               : T(1);
  if (!uniform(metric.metric)) {
    problem.scale_stride = isotropic ? 1 : Dim;
    problem.scale.assign(cells.box.cell_count * problem.scale_stride, 0.0F);
    stoppable_for(threads, cells.list.size(), [&](std::size_t k) {
      const SymTensor3d d = tensors.velocity(k);
      for (std::size_t i = 0; i < problem.scale_stride; ++i)
        problem.scale[cells.list[k] * problem.scale_stride + i] = stored_weight(square * axis(d, static_cast<int>(i)));
    });
  }
  set_mean_edge(problem, threads);
  return problem;
}

template <int Dim>
auto terms_of(const SymTensor3d& d) {
  if constexpr (Dim == 2) return selling_terms_flat(d.xx, d.xy, d.yy);
  else return selling_terms(d);
}

/// The bits of `OffsetProblem::usable` for a cell.
template <int Terms, class Weight>
std::uint32_t usable_bits(SegmentTest& test, const Vec3i& at, const std::array<Vec3i, Terms>& offsets,
                          const Weight* weights) {
  std::uint32_t bits = 0;
  bool cut = false;
  // A weight that is 0 up to rounding must not decide whether the axes take part.
  Weight all = 0;
  for (int i = 0; i < Terms; ++i) all += weights[i];
  const Weight least = static_cast<Weight>(1e-12) * all;
  for (int i = 0; i < Terms; ++i) {
    if (!(weights[i] > least)) continue;
    for (int side = 0; side < 2; ++side) {
      const Vec3i e = side == 0 ? -offsets[i] : offsets[i];
      if (!PackedOffset::fits(e) || !test.stays_inside(at, e)) {
        cut = true;
        continue;
      }
      bits |= 1U << static_cast<unsigned>(2 * i + side);
      if (test.stays_inside(at + e, e)) bits |= 1U << static_cast<unsigned>(12 + 2 * i + side);
    }
  }
  return cut ? bits | (1U << 31U) : bits;
}

/// Who reads whom: the lists of dependents, from the stencils.
template <class T, int Dim>
void list_dependents(OffsetProblem<T, Dim>& problem) {
  const auto& list = problem.cells->list;
  const auto& ghosts = problem.cells->ghosts;
  for (std::size_t k = 0; k < ghosts.size(); ++k)
    problem.record_of[ghosts[k]] = static_cast<std::uint32_t>(list.size() + k);
  std::vector<std::size_t>& offsets = problem.dependent_offsets;
  offsets.assign(list.size() + ghosts.size() + 2, 0);
  const StoppableLoop loop;
  loop(0, list.size(), [&](std::size_t k) {
    for_read(problem, list[k], [&](std::uint32_t x) { ++offsets[problem.record_of[x] + 2]; });
  });
  for (std::size_t k = 2; k < offsets.size(); ++k) offsets[k] += offsets[k - 1];
  problem.dependents.resize(offsets.back());
  loop(0, list.size(), [&](std::size_t k) {
    const std::uint32_t y = list[k];
    for_read(problem, y, [&](std::uint32_t x) { problem.dependents[offsets[problem.record_of[x] + 1]++] = y; });
  });
}

/// Where one stencil serves all cells, the cells that read a ghost are those that the ghost would read.
template <class T, int Dim>
void read_from_ghosts(OffsetProblem<T, Dim>& problem) {
  const GridCells& cells = *problem.cells;
  SegmentTest test(cells);
  for (const std::uint32_t cell : cells.ghosts)
    problem.usable[cell] =
        usable_bits<OffsetProblem<T, Dim>::terms>(test, cells.box.index(cell), problem.offsets, problem.weight.data());
}

/// A record keeps an offset it cannot hold as another one, which is never read; the tensor cannot be told from it.
template <class T, int Dim, class Terms>
void note_far_reaching(OffsetProblem<T, Dim>& problem, std::size_t record, const Terms& terms, const SymTensor3d& m,
                       std::mutex& mutex) {
  if (std::all_of(std::begin(terms.offset), std::end(terms.offset), &PackedOffset::fits)) return;
  typename OffsetProblem<T, Dim>::AxisTimes axes{static_cast<std::uint32_t>(record), {}};
  for (int axis = 0; axis < Dim; ++axis)
    axes.times[axis] = static_cast<T>(std::sqrt(axis == 0 ? m.xx : axis == 1 ? m.yy : m.zz) / problem.unit);
  const std::lock_guard lock(mutex);
  problem.far_reaching.push_back(axes);
}

template <class T, int Dim>
OffsetProblem<T, Dim> offset_stencils(const VoxelMetric& metric, const GridCells& cells, const Tensors<Dim>& tensors,
                                      double unit, int threads) {
  OffsetProblem<T, Dim> problem;
  constexpr int terms = problem.terms;
  problem.vertex_count = cells.box.cell_count;
  problem.cells = &cells;
  problem.unit = unit;
  const double square = problem.unit * problem.unit;
  problem.usable.assign(cells.box.cell_count, 0);
  const bool one = uniform(metric.metric);
  if (one) {
    const auto found = terms_of<Dim>(square * tensors.velocity(0));
    for (int i = 0; i < terms; ++i) {
      problem.weight[i] = static_cast<T>(found.weight[i]);
      problem.offsets[i] = found.offset[i];
    }
  } else {
    problem.records.resize(cells.list.size());
    problem.record_of.assign(cells.box.cell_count, 0);
  }
  std::mutex mutex;
  const StoppableLoop loop;
  parallel_chunks(threads, cells.list.size(), [&](std::size_t begin, std::size_t end) {
    SegmentTest test(cells);
    loop(begin, end, [&](std::size_t k) {
      const std::uint32_t cell = cells.list[k];
      const Vec3i at = cells.box.index(cell);
      if (one) {
        problem.usable[cell] = usable_bits<terms>(test, at, problem.offsets, problem.weight.data());
        return;
      }
      const auto found = terms_of<Dim>(square * tensors.velocity(k));
      std::array<Vec3i, terms> offsets{};
      for (int i = 0; i < terms; ++i) {
        offsets[i] = found.offset[i];
        problem.records[k].offset[i] = PackedOffset::of(offsets[i]);
        problem.records[k].weight[i] = stored_weight(found.weight[i]);
      }
      note_far_reaching(problem, k, found, tensors.travel(k), mutex);
      problem.record_of[cell] = static_cast<std::uint32_t>(k);
      problem.usable[cell] = usable_bits<terms>(test, at, offsets, found.weight);
    });
  });
  std::sort(problem.far_reaching.begin(), problem.far_reaching.end(),
            [](const auto& a, const auto& b) { return a.record < b.record; });
  if (one) read_from_ghosts(problem);
  else list_dependents(problem);
  set_mean_edge(problem, threads);
  return problem;
}

template <int Dim>
StencilShare share_of(const VoxelMetric& metric, const GridCells& cells, int threads) {
  if (cells.list.empty()) return {};
  const Tensors<Dim> tensors(metric, cells);
  return {all_diagonal(tensors, metric.metric, threads), time_across(tensors, threads),
          static_cast<double>(tensors.count())};
}

template <int Dim>
Vec3i reach_of(const VoxelMetric& metric, const GridCells& cells, int threads) {
  const Tensors<Dim> tensors(metric, cells);
  Vec3i reach{1, 1, Dim == 2 ? 0 : 1};
  std::mutex mutex;
  parallel_chunks(threads, tensors.count(), [&](std::size_t begin, std::size_t end) {
    Vec3i here{};
    for (std::size_t k = begin; k < end; ++k) {
      const auto terms = terms_of<Dim>(tensors.velocity(k));
      for (const Vec3i& e : terms.offset)
        if (PackedOffset::fits(e))  // others are never read
          for (int axis = 0; axis < 3; ++axis) here[axis] = std::max(here[axis], std::abs(e[axis]));
    }
    const std::lock_guard lock(mutex);
    for (int axis = 0; axis < 3; ++axis) reach[axis] = std::max(reach[axis], here[axis]);
  });
  return reach;
}

template <class T, int Dim>
AnyGridProblem<T> stencils_of(const VoxelMetric& metric, const GridCells& cells, const StencilPlan& plan, int threads) {
  const Tensors<Dim> tensors(metric, cells);
  if (plan.diagonal) return axis_stencils<T, Dim>(metric, cells, tensors, plan.unit, threads);
  return offset_stencils<T, Dim>(metric, cells, tensors, plan.unit, threads);
}

}  // namespace

void refuse_contrast() {
  throw InputError(Message(Subject::metric) +
                   " differs too much from voxel to voxel (speeds by more than 1e18 times); repair or mask what is not "
                   "meant");
}

template <class T, int Dim>
std::optional<SpeedStencils<T, Dim>> speed_stencils(const ImageGrid& grid, const GridCells& cells,
                                                    double mean_slowness) {
  const SymTensor3d at_speed_one = metric_per_voxel(grid, speed_tensor(1));
  if (!diagonal<Dim>(at_speed_one)) return std::nullopt;
  const SymTensor3d d = velocity_tensor<Dim>(at_speed_one);
  SpeedStencils<T, Dim> result;
  AxisProblem<T, Dim>& problem = result.problem;
  const double mean = mean_slowness / std::sqrt(largest_of(d, Dim));  // of the shortest steps
  problem.vertex_count = cells.box.cell_count;
  problem.cells = &cells;
  problem.unit = power_of_two_near(mean);
  problem.mean_edge = static_cast<T>(mean / problem.unit);
  problem.scale_stride = 1;
  for (int i = 0; i < Dim; ++i) problem.weight[i] = static_cast<T>(axis(d, i) / d.xx);
  result.factor = problem.unit * problem.unit * d.xx;
  return result;
}

void check_grid_metric(const VoxelMetric& metric, const GridCells& cells) {
  check_metric_form(metric.metric, metric.grid.voxel_count(), Subject::metric);
  if (uniform(metric.metric)) return;
  std::size_t bad = 0, first = 0;
  const StoppableLoop loop;
  loop(0, cells.list.size(), [&](std::size_t n) {
    const VertexId voxel = cells.box.voxel(cells.box.index(cells.list[n]));
    if (!usable_on(metric.metric, ElementId(voxel.index())) && bad++ == 0) first = voxel.index();
  });
  if (bad == 0) return;
  const auto [i, j, k] = metric.grid.index(VertexId(first));
  throw InputError(Message(Subject::metric) +
                   fmt::format(" is {} in {} of {} voxels (first: ", fault_of(metric.metric), bad, cells.list.size()) +
                   Place{Place::Kind::voxel, {1.0 * i, 1.0 * j, 1.0 * k}} + "); repair those voxels or mask them out");
}

StencilPlan plan_stencils(const VoxelMetric& metric, const GridCells& cells, int threads) {
  return share_of_stencils(metric, cells, threads).plan();
}

StencilShare share_of_stencils(const VoxelMetric& metric, const GridCells& cells, int threads) {
  return metric.grid.flat() ? share_of<2>(metric, cells, threads) : share_of<3>(metric, cells, threads);
}

StencilPlan StencilShare::plan() const {
  const double unit = power_of_two_near(across / count);
  if (count > 0 && !(unit * unit > 0 && std::isfinite(unit * unit)))
    throw InputError(
        "the times across voxels are too large or too small to compute with (each of voxels and metric could be); "
        "change the units");
  return {diagonal, unit};
}

Vec3i stencil_reach(const VoxelMetric& metric, const GridCells& cells, const StencilPlan& plan, int threads) {
  if (plan.diagonal) return {1, 1, metric.grid.flat() ? 0 : 1};
  return metric.grid.flat() ? reach_of<2>(metric, cells, threads) : reach_of<3>(metric, cells, threads);
}

template <class T>
AnyGridProblem<T> make_stencils(const VoxelMetric& metric, const GridCells& cells, const StencilPlan& plan,
                                int threads) {
  return metric.grid.flat() ? stencils_of<T, 2>(metric, cells, plan, threads)
                            : stencils_of<T, 3>(metric, cells, plan, threads);
}

template std::optional<SpeedStencils<float, 2>> speed_stencils(const ImageGrid&, const GridCells&, double);
template std::optional<SpeedStencils<float, 3>> speed_stencils(const ImageGrid&, const GridCells&, double);
template std::optional<SpeedStencils<double, 2>> speed_stencils(const ImageGrid&, const GridCells&, double);
template std::optional<SpeedStencils<double, 3>> speed_stencils(const ImageGrid&, const GridCells&, double);
template SymTensor3d velocity_tensor<2>(SymTensor3d);
template SymTensor3d velocity_tensor<3>(SymTensor3d);
template AnyGridProblem<float> make_stencils(const VoxelMetric&, const GridCells&, const StencilPlan&, int);
template AnyGridProblem<double> make_stencils(const VoxelMetric&, const GridCells&, const StencilPlan&, int);

template <class T, int Dim>
bool change_stencils(AxisProblem<T, Dim>& problem, const VoxelMetric& metric, std::span<const VertexId> voxels) {
  const bool isotropic = std::holds_alternative<SpeedMetric>(metric.metric.kind());
  if (problem.scale_stride != (isotropic ? 1 : Dim) || uniform(metric.metric)) return false;
  const double square = problem.unit * problem.unit;
  for (const VertexId voxel : voxels) {
    const SymTensor3d m = metric.at(voxel);
    if (!isotropic && !diagonal<Dim>(m)) return false;
    const SymTensor3d d = velocity_tensor<Dim>(m);
    const auto [i, j, k] = metric.grid.index(voxel);
    const std::size_t cell = problem.cells->box.cell({static_cast<int>(i), static_cast<int>(j), static_cast<int>(k)});
    for (std::size_t n = 0; n < problem.scale_stride; ++n)
      problem.scale[cell * problem.scale_stride + n] = stored_weight(square * axis(d, static_cast<int>(n)));
  }
  return true;
}
template bool change_stencils(AxisProblem<float, 2>&, const VoxelMetric&, std::span<const VertexId>);
template bool change_stencils(AxisProblem<float, 3>&, const VoxelMetric&, std::span<const VertexId>);
template bool change_stencils(AxisProblem<double, 2>&, const VoxelMetric&, std::span<const VertexId>);
template bool change_stencils(AxisProblem<double, 3>&, const VoxelMetric&, std::span<const VertexId>);

}  // namespace isochron
