#include "isochron/papers/cuda/patch_data.h"

#include <algorithm>
#include <string>
#include <utility>

#include "isochron/core/cuda/grouping.h"
#include "isochron/core/cuda/launch.h"
#include "isochron/core/timer.h"

namespace isochron::cuda {
namespace {

using Numbers = DeviceArray<std::uint32_t>;

constexpr std::uint64_t no_pair = ~std::uint64_t{0};

__device__ inline std::uint64_t pair_of(std::uint32_t high, std::uint32_t low) {
  return (std::uint64_t{high} << 32) | low;
}

/// Elements, then virtual elements, with corners in the places of the packing. A virtual element updates its last
/// corner only.
template <class T, int Corners>
struct Elements {
  const ElementRecord<T, Corners>* records;
  const VirtualRecord<T, Corners>* virtual_records;
  std::uint32_t real, count;
  const std::uint32_t* place_of;
  const std::uint32_t* patch_of;

  [[nodiscard]] __device__ bool updates(std::uint32_t e, int k) const { return e < real || k == Corners - 1; }
  [[nodiscard]] __device__ std::uint32_t corner(std::uint32_t e, int k) const {
    if (e < real) return place_of[records[e].corner[k] & ~ElementRecord<T, Corners>::obtuse_flag];
    const VirtualRecord<T, Corners>& record = virtual_records[e - real];
    return place_of[k == Corners - 1 ? record.target : record.face[k]];
  }
  [[nodiscard]] __device__ T length(std::uint32_t e, int edge) const {
    return e < real ? records[e].length[edge] : virtual_records[e - real].length[edge];
  }
};

/// A cell for each patch that an element updates a vertex of: the patch and the element. Corners that bring no new
/// patch get the number `none`.
template <class T, int Corners>
__global__ void list_cells(Elements<T, Corners> elements, std::uint32_t none, std::uint32_t* patch,
                           std::uint32_t* element) {
  const std::uint32_t e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= elements.count) return;
  std::uint32_t seen[Corners];
  for (int k = 0; k < Corners; ++k) {
    seen[k] = elements.updates(e, k) ? elements.patch_of[elements.corner(e, k)] : none;
    bool again = false;
    for (int j = 0; j < k; ++j) again = again || seen[j] == seen[k];
    const std::size_t at = std::size_t{e} * Corners + k;
    patch[at] = again ? none : seen[k];
    element[at] = e;
  }
}

/// The vertices of other patches in a cell, each with the cell's patch before it.
template <class T, int Corners>
__global__ void list_halo(Elements<T, Corners> elements, std::uint32_t cells, const std::uint32_t* patch,
                          const std::uint32_t* element, std::uint64_t* pairs) {
  const std::uint32_t c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cells) return;
  for (int k = 0; k < Corners; ++k) {
    const std::uint32_t v = elements.corner(element[c], k);
    pairs[std::size_t{c} * Corners + k] = elements.patch_of[v] == patch[c] ? no_pair : pair_of(patch[c], v);
  }
}

/// Who has it in his halo: the patch of the vertex, then the patch with the halo.
__global__ void list_dependents(const std::uint64_t* halo_pairs, std::uint32_t count, const std::uint32_t* patch_of,
                                std::uint64_t* pairs) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const std::uint64_t pair = halo_pairs[i];
  pairs[i] = pair == no_pair
                 ? no_pair
                 : pair_of(patch_of[static_cast<std::uint32_t>(pair)], static_cast<std::uint32_t>(pair >> 32));
}

__global__ void split_pairs(const std::uint64_t* pairs, std::uint32_t count, std::uint32_t* high, std::uint32_t* low) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  high[i] = static_cast<std::uint32_t>(pairs[i] >> 32);
  low[i] = static_cast<std::uint32_t>(pairs[i]);
}

/// Where the kernels below find a patch's vertices.
struct PatchNumbers {
  const std::uint32_t *vertex_begin, *halo_begin, *halo;

  /// The halo is sorted.
  [[nodiscard]] __device__ std::uint32_t local(std::uint32_t patch, std::uint32_t v) const {
    const std::uint32_t first = vertex_begin[patch], own = vertex_begin[patch + 1] - first;
    if (v >= first && v - first < own) return v - first;
    std::uint32_t low = halo_begin[patch], high = halo_begin[patch + 1];
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      if (halo[middle] < v) low = middle + 1;
      else high = middle;
    }
    return own + (low - halo_begin[patch]);
  }
};

template <class T, int Corners>
__global__ void fill_cells(Elements<T, Corners> elements, PatchNumbers numbers, std::uint32_t cells,
                           const std::uint32_t* patch, const std::uint32_t* element, std::uint32_t* corner, T* length) {
  const std::uint32_t c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cells) return;
  const std::uint32_t e = element[c];
  for (int k = 0; k < Corners; ++k) {
    const std::uint32_t v = elements.corner(e, k);
    const bool updated = elements.updates(e, k) && elements.patch_of[v] == patch[c];
    corner[std::size_t{cells} * k + c] = numbers.local(patch[c], v) | (updated ? updated_flag : 0U);
  }
  for (int j = 0; j < SimplexMesh<Corners>::edges; ++j) length[std::size_t{cells} * j + c] = elements.length(e, j);
}

/// Every slot that gets a candidate with its vertex; the others get the number `none`.
template <int Corners>
__global__ void list_slots(const std::uint32_t* vertex_begin, const std::uint32_t* cell_begin, std::uint32_t cells,
                           const std::uint32_t* patch, const std::uint32_t* corner, std::uint32_t none,
                           std::uint32_t* vertex, std::uint32_t* slot) {
  const std::uint32_t c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cells) return;
  const std::uint32_t p = patch[c];
  for (int k = 0; k < Corners; ++k) {
    const std::uint32_t local = corner[std::size_t{cells} * k + c];
    const std::size_t at = std::size_t{c} * Corners + k;
    vertex[at] = (local & updated_flag) != 0 ? vertex_begin[p] + (local & ~updated_flag) : none;
    slot[at] = (c - cell_begin[p]) * Corners + k;
  }
}

template <class N>
N last_of(const DeviceArray<N>& numbers) {
  N value = 0;
  download(&value, numbers.data() + (numbers.size() - 1), sizeof(N));
  return value;
}

std::vector<std::uint32_t> on_host(const Numbers& numbers) {
  std::vector<std::uint32_t> result(numbers.size());
  numbers.download_to(std::span<std::uint32_t>(result));
  return result;
}

template <class T, int Corners>
class CellBuilder {
 public:
  CellBuilder(const SimplexProblem<T, Corners>& problem, const PatchPacking& packing)
      : packing_(packing),
        patches_(packing.patches()),
        records_(std::span<const ElementRecord<T, Corners>>(problem.elements)),
        virtual_records_(std::span<const VirtualRecord<T, Corners>>(problem.virtual_elements.records)),
        place_of_(std::span<const std::uint32_t>(packing.place_of)),
        patch_of_(std::span<const std::uint32_t>(packing.patch_of)) {
    check_length((records_.size() + virtual_records_.size()) * Corners);
    elements_.records = records_.data();
    elements_.virtual_records = virtual_records_.data();
    elements_.real = static_cast<std::uint32_t>(records_.size());
    elements_.count = static_cast<std::uint32_t>(records_.size() + virtual_records_.size());
    elements_.place_of = place_of_.data();
    elements_.patch_of = patch_of_.data();
  }

  PatchData<T> build() {
    wait();
    const Timer timer;
    data_.topology.vertex_begin = Numbers(std::span<const std::uint32_t>(packing_.vertex_begin));
    find_cells();
    find_halo();
    number_cells();
    make_gather_lists();
    measure();
    data_.seconds = timer.seconds();
    return std::move(data_);
  }

 private:
  static void check_length(std::size_t length) {
    if (length <= longest_list) return;
    throw RuntimeError("the mesh is too large for patches (" + std::to_string(length) + " element corners, at most " +
                       std::to_string(longest_list) + "); leave " + Setting{Option::method} + " out");
  }

  /// Elements sorted by the patches they are a cell of.
  void find_cells() {
    cell_patch_ = Numbers(std::size_t{elements_.count} * Corners);
    cell_element_ = Numbers(cell_patch_.size());
    launch_for(elements_.count, list_cells<T, Corners>, elements_, patches_, cell_patch_.data(), cell_element_.data());
    sort_by_key(cell_patch_, cell_element_, patches_);
    data_.cells.begin = group_offsets(cell_patch_, patches_);
    data_.cells.count = last_of(data_.cells.begin);
    check_length(std::size_t{data_.cells.count} * Corners);
  }

  void find_halo() {
    DeviceArray<std::uint64_t> pairs(std::size_t{data_.cells.count} * Corners);
    launch_for(data_.cells.count, list_halo<T, Corners>, elements_, data_.cells.count, cell_patch_.data(),
               cell_element_.data(), pairs.data());
    pairs = sorted_unique(std::move(pairs));
    split(pairs, data_.topology.halo_begin, data_.topology.halo);
    DeviceArray<std::uint64_t> dependents(pairs.size());
    launch_for(pairs.size(), list_dependents, pairs.data(), static_cast<std::uint32_t>(pairs.size()), patch_of_.data(),
               dependents.data());
    dependents = sorted_unique(std::move(dependents));
    split(dependents, data_.topology.dependent_begin, data_.topology.dependent);
  }

  /// A sorted list of pairs as lists by the first of each pair, a patch.
  void split(const DeviceArray<std::uint64_t>& pairs, Numbers& begin, Numbers& list) const {
    Numbers patch(pairs.size());
    list = Numbers(pairs.size());
    launch_for(pairs.size(), split_pairs, pairs.data(), static_cast<std::uint32_t>(pairs.size()), patch.data(),
               list.data());
    begin = group_offsets(patch, patches_);
  }

  void number_cells() {
    const PatchNumbers numbers{data_.topology.vertex_begin.data(), data_.topology.halo_begin.data(),
                               data_.topology.halo.data()};
    PatchCells<T>& cells = data_.cells;
    cells.corner = Numbers(std::size_t{cells.count} * Corners);
    cells.length = DeviceArray<T>(std::size_t{cells.count} * SimplexMesh<Corners>::edges);
    launch_for(cells.count, fill_cells<T, Corners>, elements_, numbers, cells.count, cell_patch_.data(),
               cell_element_.data(), cells.corner.data(), cells.length.data());
    cell_element_ = {};
    records_ = {};
    virtual_records_ = {};
    elements_ = {};
  }

  void make_gather_lists() {
    PatchCells<T>& cells = data_.cells;
    slot_vertex_ = Numbers(std::size_t{cells.count} * Corners);
    cells.gather = Numbers(slot_vertex_.size());
    launch_for(cells.count, list_slots<Corners>, data_.topology.vertex_begin.data(), cells.begin.data(), cells.count,
               cell_patch_.data(), cells.corner.data(), packing_.vertices(), slot_vertex_.data(), cells.gather.data());
    cell_patch_ = {};
    sort_by_key(slot_vertex_, cells.gather, packing_.vertices());
    cells.gather_begin = group_offsets(slot_vertex_, packing_.vertices());
    // Behind the lists stand slots that get no candidate.
    Numbers used(last_of(cells.gather_begin));
    if (used.size() > 0)
      check(cudaMemcpy(used.data(), cells.gather.data(), used.bytes(), cudaMemcpyDeviceToDevice), "copying a list");
    cells.gather = std::move(used);
  }

  /// What a patch works on: times of its vertices and its halo, and a value for each slot.
  void measure() {
    const std::vector<std::uint32_t> halo = on_host(data_.topology.halo_begin), cell = on_host(data_.cells.begin);
    data_.room.resize(patches_);
    for (std::uint32_t p = 0; p < patches_; ++p) {
      const std::uint64_t own = packing_.vertex_begin[p + 1] - packing_.vertex_begin[p];
      const std::uint64_t cells = cell[p + 1] - cell[p];
      data_.room[p] = own + (halo[p + 1] - halo[p]) + cells * Corners;
      data_.busiest = std::max(data_.busiest, cells);
    }
  }

  const PatchPacking& packing_;
  std::uint32_t patches_;
  DeviceArray<ElementRecord<T, Corners>> records_;
  DeviceArray<VirtualRecord<T, Corners>> virtual_records_;
  Numbers place_of_, patch_of_;
  Elements<T, Corners> elements_{};
  Numbers cell_patch_, cell_element_;  ///< of each cell; behind the cells stand corners that are none
  Numbers slot_vertex_;                ///< of each entry of the gather lists
  PatchData<T> data_;
};

}  // namespace

template <class T, int Corners>
PatchData<T> build_cells(const SimplexProblem<T, Corners>& problem, const PatchPacking& packing) {
  return CellBuilder<T, Corners>(problem, packing).build();
}

template <class T>
PatchData<T> upload_strips(const OneRingStrips<T>& strips, const PatchPacking& packing) {
  const auto on_device = []<class Value>(const std::vector<Value>& host) {
    return DeviceArray<Value>(std::span<const Value>(host));
  };
  const PatchHalos& halos = strips.halos;
  const StripArrays<T, HostArray>& from = strips.arrays;
  PatchData<T> data;
  data.topology = {on_device(packing.vertex_begin), on_device(halos.begin), on_device(halos.halo),
                   on_device(halos.dependent_begin), on_device(halos.dependent)};
  data.strips = {on_device(from.slice_begin),   on_device(from.word_begin),   on_device(from.speed_begin),
                 on_device(from.word),          on_device(from.speed),        on_device(from.point),
                 on_device(from.spelled_begin), on_device(from.spelled_face), on_device(from.spelled_length)};
  for (std::uint32_t p = 0; p < packing.patches(); ++p) {
    const std::uint64_t own = packing.vertex_begin[p + 1] - packing.vertex_begin[p];
    data.room.push_back(strip_room(own, halos.begin[p + 1] - halos.begin[p]));
    data.busiest = std::max(data.busiest, own);
  }
  return data;
}

template PatchData<float> build_cells(const SimplexProblem<float, 3>&, const PatchPacking&);
template PatchData<float> build_cells(const SimplexProblem<float, 4>&, const PatchPacking&);
template PatchData<double> build_cells(const SimplexProblem<double, 3>&, const PatchPacking&);
template PatchData<double> build_cells(const SimplexProblem<double, 4>&, const PatchPacking&);
template PatchData<float> upload_strips(const OneRingStrips<float>&, const PatchPacking&);
template PatchData<double> upload_strips(const OneRingStrips<double>&, const PatchPacking&);

}  // namespace isochron::cuda
