// Second-order times on the device. Warps take cells in the order of their first-order times and wait for the values
// they need, which have earlier ones: NaN until they are written, or minus its own time at a seed, which is not later
// than that one. So the earliest cell that is not done never waits,
// and a warp that waits goes on as soon as the one before it has written. The value is its own flag: no fence is
// needed.
#include "isochron/solve/grid/cuda/second_order.h"

#include <cmath>
#include <limits>

#include <cub/device/device_radix_sort.cuh>

#include "isochron/core/cuda/launch.h"
#include "isochron/solve/cuda/worst_vertex.h"
#include "isochron/solve/grid/kept_seed.h"

namespace isochron::cuda {
namespace {

constexpr unsigned lanes = 32;
constexpr unsigned all_lanes = 0xffffffffU;
constexpr int block_threads = 128;
constexpr std::size_t max_blocks = 528;  ///< cells that wait keep others from running: not many more than a front has

template <class T>
__device__ constexpr T infinity() {
  return std::numeric_limits<T>::infinity();
}

/// Extrapolated from the two cells upwind: u at x is near + (near − far)/3 + …
template <class T>
__device__ T extrapolated(T near, T far) {
  return (4 * near - far) / 3;
}

/// Whether a second-order time is there: see the top.
template <class T>
__device__ bool is_known(T time) {
  return time >= 0;
}

/// What a cell's second-order update reads, chosen by the first-order times.
template <class T, class View>
struct Upwind {
  typename View::Cell cell;
  std::uint32_t near[View::terms], far[View::terms];  ///< `none`: not read
};

template <class T, class View>
__device__ Upwind<T, View> choose(const View& view, const T* first, std::uint32_t x) {
  Upwind<T, View> up;
  up.cell = view.open(x);
  const T now = first[x];
#pragma unroll
  for (int i = 0; i < View::terms; ++i) {
    up.near[i] = up.far[i] = view.none;
    const T back = first[up.cell.near[2 * i]], ahead = first[up.cell.near[2 * i + 1]];
    const bool from_back = back <= ahead;
    const T near = from_back ? back : ahead;
    if (!(near < now)) continue;
    up.near[i] = from_back ? up.cell.near[2 * i] : up.cell.near[2 * i + 1];
    const std::uint32_t behind = view.second(up.cell, x, i, from_back ? 0 : 1);
    if (behind == view.none) continue;
    const T far = first[behind];
    if (far <= near && extrapolated(near, far) < now) up.far[i] = behind;
  }
  return up;
}

/// Reads times that others may be writing.
template <class T>
struct Awaited {
  const T* time;
  __device__ T operator()(std::uint32_t cell) const { return *static_cast<const volatile T*>(time + cell); }
};
template <class T>
struct Settled {
  const T* time;
  __device__ T operator()(std::uint32_t cell) const { return time[cell]; }
};

/// The update from second-order times; NaN when one is not there yet.
template <class T, class View, class Read>
__device__ T update(const View& view, const Upwind<T, View>& up, const T* first, std::uint32_t x, const Read& read) {
  T m[View::terms], weight[View::terms];
  bool ready = true;
#pragma unroll
  for (int i = 0; i < View::terms; ++i) {
    m[i] = infinity<T>();
    weight[i] = up.cell.weight[i];
    if (up.near[i] == view.none) continue;
    m[i] = read(up.near[i]);
    ready = ready && is_known(m[i]);
    if (up.far[i] != view.none) {
      const T far = read(up.far[i]);
      ready = ready && is_known(far);
      if (!(far > m[i])) {
        m[i] = extrapolated(m[i], far);
        weight[i] *= T(9) / T(4);
      }
    }
  }
  T along = infinity<T>();
  if (view.has_edges(up.cell)) {
    const T now = first[x];
    view.for_edges(up.cell, x, [&](std::uint32_t y, T step) {
      if (!(first[y] < now)) return;
      const T time = read(y);
      ready = ready && is_known(time);
      along = time + step < along ? time + step : along;
    });
  }
  if (!ready) return std::numeric_limits<T>::quiet_NaN();
  const T upwind = upwind_time(m, weight);
  const T time = along < upwind ? along : upwind;
  // See `SecondOrder::update`.
  return time < infinity<T>() ? time : first[x];
}

/// Reached cells have no second-order time yet.
template <class T>
__global__ void prepare(const T* first, std::size_t count, std::uint32_t* cells, T* second) {
  const std::size_t i = thread_number();
  if (i >= count) return;
  cells[i] = static_cast<std::uint32_t>(i);
  second[i] = first[i] < infinity<T>() ? std::numeric_limits<T>::quiet_NaN() : infinity<T>();
}

template <class T, class View>
__device__ bool kept(const View& view, const SeedTime<T>& seed, const T* first) {
  return keeps_its_time(seed.time, first[seed.vertex], shortest_step(view.open(seed.vertex)));
}

/// Seeds that kept their first-order time have it; others are not later than their own, which is after 0.
template <class T, class View>
__global__ void place_seeds(const __grid_constant__ View view, const SeedTime<T>* seeds, std::size_t count,
                            const T* first, T* second) {
  const std::size_t i = thread_number();
  if (i >= count) return;
  const SeedTime<T> seed = seeds[i];
  second[seed.vertex] = kept(view, seed, first) ? first[seed.vertex] : -seed.time;
}

template <class T, class View>
__global__ void __launch_bounds__(block_threads)
    pass(const __grid_constant__ View view, const T* first, const std::uint32_t* order, std::uint32_t count,
         unsigned long long* ticket, T* second) {
  const unsigned lane = threadIdx.x % lanes;
  const Awaited<T> read{second};
  while (true) {
    unsigned long long begin = 0;  // wide, so that it does not come round when the last ones ask beyond the end
    if (lane == 0) begin = atomicAdd(ticket, static_cast<unsigned long long>(lanes));
    begin = __shfl_sync(all_lanes, begin, 0);
    if (begin >= count) return;
    const unsigned long long k = begin + lane;
    const std::uint32_t x = k < count ? order[k] : view.none;
    const T start = read(x);
    bool done = is_known(start);  // a seed, or never reached
    Upwind<T, View> up;
    if (!done) up = choose(view, first, x);
    while (__any_sync(all_lanes, !done)) {
      if (done) continue;
      const T found = update(view, up, first, x, read);
      done = is_known(found);
      if (done) *static_cast<volatile T*>(second + x) = start < 0 && -start < found ? -start : found;
    }
  }
}

template <class T, class View>
__global__ void residual_pass(const __grid_constant__ View view, const T* first, const T* second,
                              const std::uint8_t* seeded, unsigned long long* worst) {
  const std::size_t i = thread_number();
  if (i >= view.count) return;
  const auto x = static_cast<std::uint32_t>(i);
  if (!view.allowed(x) || seeded[x] != 0) return;
  T again = first[x];
  if (again < infinity<T>()) again = update(view, choose(view, first, x), first, x, Settled<T>{second});
  if (second[x] != again) report_difference(second[x], again, shortest_step(view.open(x)), x, worst);
}

/// Seeds may be earlier than their neighbours say, not later.
template <class T, class View>
__global__ void seed_residual(const __grid_constant__ View view, const SeedTime<T>* seeds, std::size_t count,
                              const T* first, const T* second, unsigned long long* worst) {
  const std::size_t i = thread_number();
  if (i >= count) return;
  const std::uint32_t x = seeds[i].vertex;
  const T again =
      kept(view, seeds[i], first) ? first[x] : update(view, choose(view, first, x), first, x, Settled<T>{second});
  if (again < second[x]) report_difference(second[x], again, shortest_step(view.open(x)), x, worst);
}

/// Sorts; or without scratch memory says in `bytes` how much it takes. Counts have 32 bits, as cells do.
template <class T>
void sort_by_time(const T* first, std::uint32_t count, SecondOrderMemory<T>& memory, void* scratch,
                  std::size_t& bytes) {
  check(cub::DeviceRadixSort::SortPairs(scratch, bytes, first, memory.sorted.data(),
                                        static_cast<const std::uint32_t*>(memory.cells.data()), memory.order.data(),
                                        count),
        "sorting");
}

template <class T>
std::size_t scratch_bytes(std::size_t cells, SecondOrderMemory<T>& memory) {
  std::size_t bytes = 0;
  sort_by_time<T>(nullptr, static_cast<std::uint32_t>(cells), memory, nullptr, bytes);
  return bytes;
}

}  // namespace

template <class T>
std::size_t SecondOrderMemory<T>::bytes_for(std::size_t cells) {
  SecondOrderMemory<T> none;
  return cells * (sizeof(T) + 2 * sizeof(std::uint32_t)) + scratch_bytes(cells, none);
}

template <class T>
void SecondOrderMemory<T>::make_room(std::size_t cell_count) {
  if (order.size() >= cell_count) return;
  sorted = DeviceArray<T>(cell_count);
  cells = DeviceArray<std::uint32_t>(cell_count);
  scratch = DeviceArray<std::byte>(scratch_bytes(cell_count, *this));
  order = DeviceArray<std::uint32_t>(cell_count);  // last: it says that there is room
}

template <class T, class View>
void second_order_times(const View& view, const T* first, const SeedTime<T>* seeds, std::size_t seed_count,
                        SecondOrderMemory<T>& memory, T* second) {
  const std::size_t count = view.count;
  launch_for(count, prepare<T>, first, count, memory.cells.data(), second);
  launch_for(seed_count, place_seeds<T, View>, view, seeds, seed_count, first, second);
  std::size_t scratch = memory.scratch.bytes();
  sort_by_time(first, view.count, memory, memory.scratch.data(), scratch);
  memory.ticket.clear();
  const std::size_t blocks = (count + block_threads - 1) / block_threads;
  launch(pass<T, View>, blocks < max_blocks ? blocks : max_blocks, block_threads, 0, view, first, memory.order.data(),
         view.count, memory.ticket.data(), second);
}

template <class T, class View>
void second_order_residual(const View& view, const T* first, const T* second, const SeedTime<T>* seeds,
                           std::size_t seed_count, const std::uint8_t* seeded, unsigned long long* worst) {
  launch_for(view.count, residual_pass<T, View>, view, first, second, seeded, worst);
  launch_for(seed_count, seed_residual<T, View>, view, seeds, seed_count, first, second, worst);
}

#define ISOCHRON_INSTANTIATE_VIEW(T, ...)                                                                      \
  template void second_order_times(const __VA_ARGS__&, const T*, const SeedTime<T>*, std::size_t,              \
                                   SecondOrderMemory<T>&, T*);                                                 \
  template void second_order_residual(const __VA_ARGS__&, const T*, const T*, const SeedTime<T>*, std::size_t, \
                                      const std::uint8_t*, unsigned long long*);
#define ISOCHRON_INSTANTIATE(T)                   \
  template struct SecondOrderMemory<T>;           \
  ISOCHRON_INSTANTIATE_VIEW(T, BoxView<T, 2, 2>)  \
  ISOCHRON_INSTANTIATE_VIEW(T, BoxView<T, 3, 3>)  \
  ISOCHRON_INSTANTIATE_VIEW(T, BoxView<T, 2, 3>)  \
  ISOCHRON_INSTANTIATE_VIEW(T, BoxView<T, 3, 6>)  \
  ISOCHRON_INSTANTIATE_VIEW(T, ListView<T, 2, 2>) \
  ISOCHRON_INSTANTIATE_VIEW(T, ListView<T, 3, 3>) \
  ISOCHRON_INSTANTIATE_VIEW(T, ListView<T, 2, 3>) \
  ISOCHRON_INSTANTIATE_VIEW(T, ListView<T, 3, 6>)
ISOCHRON_INSTANTIATE(float)
ISOCHRON_INSTANTIATE(double)
#undef ISOCHRON_INSTANTIATE
#undef ISOCHRON_INSTANTIATE_VIEW

}  // namespace isochron::cuda
