// How cells of an image push: those that read a cell whose time fell, and that are later, are computed again.
//
// An update reads a whole stencil, in which any time may fall meanwhile. Updates are monotone, so from times that are
// too late comes one that is too late, never too early; and whoever fell has its readers computed again in the next
// round.
#include "isochron/solve/ranks/cuda/device_grid_part.h"

#include <bit>
#include <cstddef>

#include "isochron/solve/grid/cuda/stencils_on_device.h"
#include "isochron/solve/ranks/cuda/part_rounds.h"

namespace isochron::ranks {
namespace {

using cuda::DeviceArray;

/// Stencils that differ from cell to cell, as `OffsetProblem` has them; cells are numbered as in the box.
template <class T, int Dim>
struct RecordView {
  using Problem = OffsetProblem<T, Dim>;
  static constexpr int terms = Problem::terms;
  static constexpr std::uint32_t none = 0;  ///< a corner of the border, whose time stays +inf
  using Cell = cuda::CellStencil<T, terms>;
  /// Of the steps along the axes.
  struct StepTimes {
    T time[Dim];
  };

  const std::uint8_t* allowed_cells;
  std::uint32_t axis_step[3];  ///< sums wrap around
  const StencilRecord<terms>* records;
  const std::uint32_t* record_of;
  const std::uint32_t* usable;
  const std::uint32_t* edges_of;  ///< by record: its `edges`, where it has any
  const StepTimes* edges;
  const std::size_t* dependent_offsets;
  const std::uint32_t* dependents;

  [[nodiscard]] __device__ Cell open(std::uint32_t x) const {
    const StencilRecord<terms>& record = records[__ldg(record_of + x)];
    Cell cell;
    cell.word = __ldg(usable + x);
    for (int i = 0; i < terms; ++i) {
      const Vec3i e = record.offset[i].offset();
      const std::uint32_t step = static_cast<std::uint32_t>(e.x) + axis_step[1] * static_cast<std::uint32_t>(e.y) +
                                 axis_step[2] * static_cast<std::uint32_t>(e.z);
      cell.weight[i] = T(record.weight[i]);
      cell.near[2 * i] = (cell.word >> (2 * i) & 1U) != 0 ? x - step : none;
      cell.near[2 * i + 1] = (cell.word >> (2 * i + 1) & 1U) != 0 ? x + step : none;
    }
    return cell;
  }
  [[nodiscard]] __device__ bool has_edges(const Cell& cell) const { return (cell.word & Problem::edges_bit) != 0; }
  template <class Visit>
  __device__ void for_edges(const Cell&, std::uint32_t x, Visit&& visit) const {
    const StepTimes& steps = edges[edges_of[record_of[x]]];
    for (int axis = 0; axis < Dim; ++axis) {
      visit(x - axis_step[axis], steps.time[axis]);
      visit(x + axis_step[axis], steps.time[axis]);
    }
  }
};

/// The cells whose updates read a cell, by number; `none` for some. Where one stencil serves all, lines are usable from
/// either end, so they are the cells that x reads, and neighbours that read along the axes.
template <class T, int Dim, int Terms>
class BoxReaders {
  using View = cuda::BoxView<T, Dim, Terms>;

 public:
  __device__ BoxReaders(const View& view, std::uint32_t x) : view_(view), x_(x) {
    if constexpr (!View::along_axes_only) word_ = __ldg(view.usable + x);
  }
  [[nodiscard]] __device__ unsigned count() const {
    if constexpr (View::along_axes_only) return 2 * Terms;
    else return (word_ & View::near_edges_bit) != 0 ? 2 * (Terms + Dim) : 2 * Terms;
  }
  [[nodiscard]] __device__ std::uint32_t operator[](unsigned k) const {
    if constexpr (View::along_axes_only) {
      return beside(view_.step[k / 2], k);
    } else {
      if (k < 2 * Terms) return (word_ >> k & 1U) != 0 ? beside(view_.step[k / 2], k) : View::none;
      const std::uint32_t y = beside(view_.axis_step[k / 2 - Terms], k);
      return (__ldg(view_.usable + y) & View::edges_bit) != 0 ? y : View::none;
    }
  }

 private:
  [[nodiscard]] __device__ std::uint32_t beside(std::uint32_t step, unsigned k) const {
    return (k & 1U) != 0 ? x_ + step : x_ - step;
  }

  const View& view_;
  std::uint32_t x_, word_ = 0;
};
template <class T, int Dim, int Terms>
__device__ BoxReaders<T, Dim, Terms> readers_of(const cuda::BoxView<T, Dim, Terms>& view, std::uint32_t x) {
  return {view, x};
}

/// The same from a list.
class ListedReaders {
 public:
  template <class T, int Dim>
  __device__ ListedReaders(const RecordView<T, Dim>& view, std::uint32_t x) {
    const std::size_t* offsets = view.dependent_offsets + __ldg(view.record_of + x);
    list_ = view.dependents + offsets[0];
    count_ = static_cast<unsigned>(offsets[1] - offsets[0]);
  }
  [[nodiscard]] __device__ unsigned count() const { return count_; }
  [[nodiscard]] __device__ std::uint32_t operator[](unsigned k) const { return __ldg(list_ + k); }

 private:
  const std::uint32_t* list_;
  unsigned count_;
};
template <class T, int Dim>
__device__ ListedReaders readers_of(const RecordView<T, Dim>& view, std::uint32_t x) {
  return {view, x};
}

template <class T, class View>
struct GridRule {
  static constexpr unsigned lanes = std::bit_ceil(2U * View::terms);
  View view;

  /// Not ghosts, which have no stencil here, nor `none`.
  [[nodiscard]] __device__ bool own(std::uint32_t x) const {
    const std::uint8_t allowed = __ldg(view.allowed_cells + x);
    return allowed != 0 && allowed != GridCells::ghost;
  }
  /// All that ghosts gain counts.
  [[nodiscard]] __device__ T edge(std::uint32_t x) const { return own(x) ? cuda::shortest_step(view.open(x)) : T(0); }
  /// A cell that is not later than x does not depend on it.
  template <class Offer>
  __device__ unsigned push(const T* time, std::uint32_t x, T ux, unsigned lane, const Offer& offer) const {
    unsigned solves = 0;
    const auto readers = readers_of(view, x);
    for (unsigned k = lane; k < readers.count(); k += lanes) {
      const std::uint32_t y = readers[k];
      if (!own(y)) continue;
      const T now = cuda::read_time(time, y);
      if (now <= ux) continue;
      ++solves;
      const typename View::Cell cell = view.open(y);
      T seen[2 * View::terms];
      cuda::read_times(time, cell.near, seen);
      offer(y, now, cuda::pulled_time(view, cell, seen, y, time));
    }
    return solves;
  }
};

template <class T, int Dim, int Terms>
class BoxArrays {
 public:
  using Rule = GridRule<T, cuda::BoxView<T, Dim, Terms>>;

  template <class Problem>
  explicit BoxArrays(const Problem& problem) : box_(problem, 1, 1) {}
  [[nodiscard]] Rule rule() const { return {box_.view()}; }

 private:
  cuda::BoxOnDevice<T, Dim, Terms> box_;
};

template <class T, int Dim>
class RecordArrays {
  using View = RecordView<T, Dim>;

 public:
  using Rule = GridRule<T, View>;

  explicit RecordArrays(const OffsetProblem<T, Dim>& problem)
      : allowed_(std::span<const std::uint8_t>(problem.cells->allowed)),
        records_(std::span<const StencilRecord<View::terms>>(problem.records)),
        record_of_(std::span<const std::uint32_t>(problem.record_of)),
        usable_(std::span<const std::uint32_t>(problem.usable)),
        dependent_offsets_(std::span<const std::size_t>(problem.dependent_offsets)),
        dependents_(std::span<const std::uint32_t>(problem.dependents)) {
    for (int axis = 0; axis < 3; ++axis)
      view_.axis_step[axis] = static_cast<std::uint32_t>(problem.cells->box.axis_step(axis));
    upload_edges(problem);
    view_.allowed_cells = allowed_.data();
    view_.records = records_.data();
    view_.record_of = record_of_.data();
    view_.usable = usable_.data();
    view_.edges_of = edges_of_.data();
    view_.edges = edges_.data();
    view_.dependent_offsets = dependent_offsets_.data();
    view_.dependents = dependents_.data();
  }

  [[nodiscard]] Rule rule() const { return {view_}; }

 private:
  void upload_edges(const OffsetProblem<T, Dim>& problem) {
    std::vector<typename View::StepTimes> edges;
    std::vector<std::uint32_t> edges_of(problem.records.size(), 0);
    for (const std::uint32_t x : problem.cells->list) {
      if (!problem.stencil(x).has_edges()) continue;
      edges_of[problem.record_of[x]] = static_cast<std::uint32_t>(edges.size());
      const auto times = problem.axis_times(x);
      std::copy(times.begin(), times.end(), edges.emplace_back().time);
    }
    if (edges.empty()) return;
    edges_ = DeviceArray<typename View::StepTimes>(std::span<const typename View::StepTimes>(edges));
    edges_of_ = DeviceArray<std::uint32_t>(std::span<const std::uint32_t>(edges_of));
  }

  View view_{};
  DeviceArray<std::uint8_t> allowed_;
  DeviceArray<StencilRecord<View::terms>> records_;
  DeviceArray<std::uint32_t> record_of_, usable_, edges_of_;
  DeviceArray<typename View::StepTimes> edges_;
  DeviceArray<std::size_t> dependent_offsets_;
  DeviceArray<std::uint32_t> dependents_;
};

template <class T, class Arrays, class Problem>
std::unique_ptr<DevicePart<T>> on_device(const Problem& problem, const Halo& halo) {
  const cuda::Device device = cuda::require_device();
  return std::make_unique<PartOnDevice<T, Arrays>>(device, Arrays(problem), problem.cells->box.cell_count, halo);
}

template <class T, int Dim>
std::unique_ptr<DevicePart<T>> made(const AxisProblem<T, Dim>& problem, const Halo& halo) {
  return on_device<T, BoxArrays<T, Dim, Dim>>(problem, halo);
}
template <class T, int Dim>
std::unique_ptr<DevicePart<T>> made(const OffsetProblem<T, Dim>& problem, const Halo& halo) {
  using Problem = OffsetProblem<T, Dim>;
  if (problem.uniform()) return on_device<T, BoxArrays<T, Dim, Problem::terms>>(problem, halo);
  return on_device<T, RecordArrays<T, Dim>>(problem, halo);
}

}  // namespace

template <class Problem>
std::unique_ptr<DevicePart<typename Problem::Scalar>> make_device_grid_part(const Problem& problem, const Halo& halo) {
  return made(problem, halo);
}

#define ISOCHRON_INSTANTIATE(problem)                                                                         \
  template std::unique_ptr<DevicePart<float>> make_device_grid_part(const problem<float, 2>&, const Halo&);   \
  template std::unique_ptr<DevicePart<float>> make_device_grid_part(const problem<float, 3>&, const Halo&);   \
  template std::unique_ptr<DevicePart<double>> make_device_grid_part(const problem<double, 2>&, const Halo&); \
  template std::unique_ptr<DevicePart<double>> make_device_grid_part(const problem<double, 3>&, const Halo&);
ISOCHRON_INSTANTIATE(AxisProblem)
ISOCHRON_INSTANTIATE(OffsetProblem)
#undef ISOCHRON_INSTANTIATE

}  // namespace isochron::ranks
