// The active list of paper 001 Algorithm 8: in each round the vertices on the list are compacted, their elements are
// gathered by a scan over their numbers, and each gets a thread. Vertices that fell stay on the list; the others leave
// it, and those around them are offered their times in the same way.
//
// No update is lost. A vertex whose time falls is on the next round's list. It leaves the list only in a round in which
// it did not fall, and then every vertex off the list that can gain from it is pulled with the times as they are after
// the round's falls; those on the list have been pulled this round with this very time, or are pulled next round. Times
// change only between the pulls, so results do not depend on the order of threads.
#include "isochron/solve/simplex/mesh_schedule.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

#include "isochron/core/cuda/atomic_time.h"
#include "isochron/core/cuda/launch.h"
#include "isochron/core/timer.h"
#include "isochron/error.h"
#include "isochron/solve/simplex/coordinates.h"
#include "isochron/solve/simplex/cuda/pull_arrays.h"

namespace isochron::cuda {
namespace {

constexpr unsigned block_threads = 256;
/// Blocks of kernels that learn on the device how much there is to do; enough to fill any multiprocessor.
constexpr unsigned blocks_per_multiprocessor = 8;

/// Elements that hold their lengths or products.
template <class T, class Record>
struct Records {
  const Record* data;
  [[nodiscard]] __device__ const auto& corners(std::uint32_t e) const { return data[e].corner; }
  template <class Times>
  [[nodiscard]] __device__ T candidate_at(std::uint32_t e, int corner, const Times& times) const {
    return candidate(data[e], corner, times);
  }
};

/// Elements that are formed from M and coordinates at each update.
template <class T>
struct Coordinates {
  const MetricRecord<T>* data;
  const Vec3<T>* points;
  [[nodiscard]] __device__ const auto& corners(std::uint32_t e) const { return data[e].corner; }
  template <class Times>
  [[nodiscard]] __device__ T candidate_at(std::uint32_t e, int corner, const Times& times) const {
    return candidate(data[e], points, corner, times);
  }
};

template <class T, class Elements>
struct View {
  Elements elements;
  const T* edge;
  T tolerance;
  T* time;
  T* best;                ///< the earliest countable candidate of a vertex in this round, +inf without one
  std::uint32_t* listed;  ///< the last round that has a vertex on the list: above the running one, it goes on
  std::uint32_t* marked;  ///< the last round in which a neighbour that left the list called a vertex
  std::uint32_t* chosen;  ///< the compacted list
  std::uint32_t* ends;    ///< of each chosen vertex's stretch in `gathered`
  std::uint32_t* gathered;
  unsigned long long* solves;
};

/// Times that no one changes while they are read.
template <class T>
struct StillTimes {
  const T* data;
  [[nodiscard]] __device__ T load(std::uint32_t v) const { return data[v]; }
};

/// How many incidences a vertex has.
struct AllIncidences {
  Incidences incidences;
  __device__ std::uint32_t operator()(std::uint32_t v) const { return incidences.count(v); }
};

/// The same for vertices that leave the list in this round, none for the others.
struct IncidencesOfLeaving {
  Incidences incidences;
  InRound last;
  __device__ std::uint32_t operator()(std::uint32_t v) const { return last(v) ? incidences.count(v) : 0; }
};

__device__ inline std::uint64_t first_index() { return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ inline std::uint64_t all_threads() { return std::uint64_t{gridDim.x} * blockDim.x; }

template <class T, class Elements>
__global__ void clear_vertices(View<T, Elements> view, std::uint32_t vertices) {
  for (std::uint64_t v = first_index(); v < vertices; v += all_threads()) {
    view.best[v] = detail::infinity<T>();
    view.listed[v] = 0;
    view.marked[v] = 0;
  }
}

template <class T, class Elements>
__global__ void list_chosen(View<T, Elements> view, std::uint32_t count) {
  for (std::uint64_t i = first_index(); i < count; i += all_threads()) view.listed[view.chosen[i]] = 1;
}

/// One thread for each place in the list of elements: it looks up whose it is.
template <class T, class Elements>
__global__ void gather(View<T, Elements> view, Incidences incidences, std::uint32_t count) {
  const std::uint32_t total = view.ends[count - 1];
  for (std::uint64_t i = first_index(); i < total; i += all_threads()) {
    const auto place = static_cast<std::uint32_t>(i);
    const std::uint32_t slot = first_above(view.ends, count, place);
    const std::uint32_t begin = slot == 0 ? 0 : view.ends[slot - 1];
    view.gathered[i] = incidences.list[incidences.offsets[view.chosen[slot]] + (place - begin)];
  }
}

/// One thread an element: what it offers to its vertex on the list.
template <class T, class Elements>
__global__ void __launch_bounds__(block_threads) pull(View<T, Elements> view, std::uint32_t count) {
  const std::uint32_t total = view.ends[count - 1];
  for (std::uint64_t i = first_index(); i < total; i += all_threads()) {
    const std::uint32_t incidence = view.gathered[i];
    const std::uint32_t element = incidence >> 2;
    const int corner = static_cast<int>(incidence & 3U);
    const std::uint32_t v = detail::vertex_at(view.elements.corners(element)[corner]);
    const T found = view.elements.candidate_at(element, corner, StillTimes<T>{view.time});
    if (counts(found, view.time[v], view.tolerance, view.edge[v])) lower_to(view.best + v, found);
  }
  if (first_index() == 0) *view.solves += total;
}

/// Takes over what was found. Vertices that fell are on the next round's list.
template <class T, class Elements>
__global__ void settle(View<T, Elements> view, std::uint32_t count, std::uint32_t round) {
  for (std::uint64_t i = first_index(); i < count; i += all_threads()) {
    const std::uint32_t v = view.chosen[i];
    const T found = view.best[v];
    if (!(found < detail::infinity<T>())) continue;
    view.time[v] = found;
    view.best[v] = detail::infinity<T>();
    view.listed[v] = round + 1;
  }
}

/// One thread an element of a vertex that leaves the list: marks the other corners that can gain from it.
template <class T, class Elements>
__global__ void wake(View<T, Elements> view, std::uint32_t count, std::uint32_t round) {
  const std::uint32_t total = view.ends[count - 1];
  for (std::uint64_t i = first_index(); i < total; i += all_threads()) {
    const auto& corners = view.elements.corners(view.gathered[i] >> 2);
    const auto own = static_cast<std::size_t>(view.gathered[i] & 3U);
    const T time = view.time[detail::vertex_at(corners[own])];
    for (std::size_t k = 0; k < corners.size(); ++k) {
      const std::uint32_t n = detail::vertex_at(corners[k]);
      if (k != own && view.listed[n] < round && may_gain(corners[k], view.time[n], time)) view.marked[n] = round;
    }
  }
}

template <class T>
__global__ void form_products(const ElementRecord<T, 4>* from, ProductRecord<T>* to, std::uint64_t count) {
  for (std::uint64_t e = first_index(); e < count; e += all_threads()) to[e] = with_products(from[e]);
}

/// The device's arrays behind each kind of elements.
template <class T, class Record>
struct RecordArrays {
  DeviceArray<Record> records;
  [[nodiscard]] Records<T, Record> view() const { return {records.data()}; }
};

template <class T>
struct CoordinateArrays {
  DeviceArray<MetricRecord<T>> records;
  DeviceArray<Vec3<T>> points;
  [[nodiscard]] Coordinates<T> view() const { return {records.data(), points.data()}; }
};

template <class T>
RecordArrays<T, ProductRecord<T>> products_of(const DeviceArray<ElementRecord<T, 4>>& records) {
  RecordArrays<T, ProductRecord<T>> products{DeviceArray<ProductRecord<T>>(records.size())};
  launch_for(records.size(), form_products<T>, records.data(), products.records.data(), std::uint64_t{records.size()});
  check(cudaDeviceSynchronize(), "forming products");
  return products;
}

template <class T>
CoordinateArrays<T> coordinates_on_device(const CoordinateStorage<T>& storage) {
  return {DeviceArray<MetricRecord<T>>(std::span<const MetricRecord<T>>(storage.records)),
          DeviceArray<Vec3<T>>(std::span<const Vec3<T>>(storage.points))};
}

template <class T, int Corners, class Arrays>
class ActiveListOnDevice final : public MeshSchedule<T, Corners> {
  using Elements = decltype(std::declval<const Arrays&>().view());

 public:
  ActiveListOnDevice(const Device& device, const SimplexProblem<T, Corners>& problem,
                     const PullLists<T, Corners>& lists, Arrays elements)
      : vertices_(static_cast<std::uint32_t>(problem.vertex_count)),
        max_blocks_(static_cast<unsigned>(device.multiprocessors) * blocks_per_multiprocessor),
        incidences_(lists),
        elements_(std::move(elements)),
        edge_(std::span<const T>(problem.edge)),
        time_(vertices_),
        best_(vertices_),
        listed_(vertices_),
        marked_(vertices_),
        chosen_(vertices_),
        ends_(vertices_),
        gathered_(incidences_.longest()),
        count_(1),
        solves_(1) {
    std::size_t selecting = 0, adding = 0, adding_some = 0;
    check(select(nullptr, selecting, {}), "asking how much memory a list needs");
    check(add_up(nullptr, adding, AllIncidences{}, vertices_), "asking how much memory a scan needs");
    check(add_up(nullptr, adding_some, IncidencesOfLeaving{}, vertices_), "asking how much memory a scan needs");
    temporary_ = DeviceArray<unsigned char>(std::max({selecting, adding, adding_some, std::size_t{1}}));
  }

  void run(SolveState<T>& state, int /*threads*/, std::vector<std::string>& /*notes*/) override {
    if (state.seeds.empty()) return;
    const Timer whole;
    const View<T, Elements> view = start(state);
    const Timer timer;
    std::uint64_t updates = 0;
    std::uint32_t round = 1;
    for (; !state.gives_up_after_rounds(round); ++round) {
      if (state.progress.cancelled()) throw Cancelled();
      const std::uint32_t active = choose({listed_.data(), round});
      if (active == 0) break;
      pull_chosen(view, active, round);
      wake_around_leaving(view, active, round);
      const std::uint32_t woken = choose({marked_.data(), round});
      if (woken > 0) pull_chosen(view, woken, round);
      updates += std::uint64_t{active} + woken;
    }
    const double solving = timer.seconds();
    time_.download_to(std::span<T>(state.time));
    unsigned long long solves = 0;
    solves_.download_to(std::span<unsigned long long>(&solves, 1));
    state.counters.local_solves += solves;
    state.counters.vertex_updates += updates;
    state.counters.rounds += round - 1;
    state.transfer_seconds += whole.seconds() - solving;
  }

 private:
  using Places = thrust::counting_iterator<std::uint32_t>;
  template <class Count>
  using Counts = thrust::transform_iterator<Count, const std::uint32_t*, std::uint32_t, std::uint32_t>;

  /// Uploads the times and puts the seeds on the list of the first round.
  View<T, Elements> start(const SolveState<T>& state) {
    time_.upload_from(std::span<const T>(state.time));
    chosen_.upload_from(std::span<const std::uint32_t>(state.seeds));
    solves_.clear();
    const View<T, Elements> view{elements_.view(), edge_.data(),     state.tolerance, time_.data(),
                                 best_.data(),     listed_.data(),   marked_.data(),  chosen_.data(),
                                 ends_.data(),     gathered_.data(), solves_.data()};
    launch(clear_vertices<T, Elements>, max_blocks_, block_threads, 0, view, vertices_);
    const auto seeds = static_cast<std::uint32_t>(state.seeds.size());
    launch(list_chosen<T, Elements>, blocks_for(seeds), block_threads, 0, view, seeds);
    return view;
  }

  [[nodiscard]] unsigned blocks_for(std::uint32_t count) const {
    return std::min(max_blocks_, 1 + count / block_threads);
  }

  cudaError_t select(void* memory, std::size_t& bytes, InRound chosen) {
    return cub::DeviceSelect::If(memory, bytes, Places(0), chosen_.data(), count_.data(), static_cast<int>(vertices_),
                                 chosen);
  }

  template <class Count>
  cudaError_t add_up(void* memory, std::size_t& bytes, Count count_of, std::uint32_t count) {
    return cub::DeviceScan::InclusiveSum(memory, bytes, Counts<Count>(chosen_.data(), count_of), ends_.data(),
                                         static_cast<int>(count));
  }

  /// Compacts the vertices of a round and returns their number.
  std::uint32_t choose(InRound chosen) {
    std::size_t bytes = temporary_.bytes();
    check(select(temporary_.data(), bytes, chosen), "compacting a list");
    std::uint32_t count = 0;
    count_.download_to(std::span<std::uint32_t>(&count, 1));
    return count;
  }

  template <class Count>
  void gather_chosen(const View<T, Elements>& view, const Count& count_of, std::uint32_t count) {
    std::size_t bytes = temporary_.bytes();
    check(add_up(temporary_.data(), bytes, count_of, count), "adding up a list");
    launch(gather<T, Elements>, max_blocks_, block_threads, 0, view, count_of.incidences, count);
  }

  void pull_chosen(const View<T, Elements>& view, std::uint32_t count, std::uint32_t round) {
    gather_chosen(view, AllIncidences{incidences_.pulls()}, count);
    launch(pull<T, Elements>, max_blocks_, block_threads, 0, view, count);
    launch(settle<T, Elements>, blocks_for(count), block_threads, 0, view, count, round);
  }

  void wake_around_leaving(const View<T, Elements>& view, std::uint32_t count, std::uint32_t round) {
    gather_chosen(view, IncidencesOfLeaving{incidences_.wakes(), {listed_.data(), round}}, count);
    launch(wake<T, Elements>, max_blocks_, block_threads, 0, view, count, round);
  }

  std::uint32_t vertices_;
  unsigned max_blocks_;
  IncidenceArrays incidences_;
  Arrays elements_;
  DeviceArray<T> edge_, time_, best_;
  DeviceArray<std::uint32_t> listed_, marked_, chosen_, ends_, gathered_, count_;
  DeviceArray<unsigned long long> solves_;
  DeviceArray<unsigned char> temporary_;
};

template <class T, int Corners, class Arrays>
std::unique_ptr<MeshSchedule<T, Corners>> list_of(const Device& device, const SimplexProblem<T, Corners>& problem,
                                                  const PullLists<T, Corners>& lists, Arrays elements) {
  return std::make_unique<ActiveListOnDevice<T, Corners, Arrays>>(device, problem, lists, std::move(elements));
}

}  // namespace

template <class T, int Corners>
std::unique_ptr<MeshSchedule<T, Corners>> make_active_list(const SimplexProblem<T, Corners>& problem,
                                                           const SimplexMesh<Corners>& mesh, const Metric& metric,
                                                           ElementStorage storage) {
  const Device device = require_device();
  const PullLists<T, Corners> lists(problem);
  if (storage == ElementStorage::gray_code)
    return list_of(device, problem, lists, RecordArrays<T, ElementRecord<T, Corners>>{upload_records(problem, lists)});
  if constexpr (Corners == 3) {
    throw UsageError(
        "stored products and coordinates are for tetrahedra (a triangle's three lengths are all it has); "
        "leave " +
        Setting{Option::storage} + " out");
  } else {
    if (storage == ElementStorage::products)
      return list_of(device, problem, lists, products_of(upload_records(problem, lists)));
    if (!lists.shared())
      throw UsageError("virtual elements have no coordinates to store (only lengths); leave " +
                       Setting{Option::storage} + " out, or use " + Setting{Option::split_obtuse, "never"});
    return list_of(device, problem, lists, coordinates_on_device(coordinates_of(problem, mesh, metric)));
  }
}

#define ISOCHRON_INSTANTIATE(T, corners)                               \
  template std::unique_ptr<MeshSchedule<T, corners>> make_active_list( \
      const SimplexProblem<T, corners>&, const SimplexMesh<corners>&, const Metric&, ElementStorage);
ISOCHRON_INSTANTIATE(float, 3)
ISOCHRON_INSTANTIATE(float, 4)
ISOCHRON_INSTANTIATE(double, 3)
ISOCHRON_INSTANTIATE(double, 4)
#undef ISOCHRON_INSTANTIATE

}  // namespace isochron::cuda
