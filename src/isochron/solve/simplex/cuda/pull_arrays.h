// The elements and incidences of a problem in device memory, and what kernels that pull share. For .cu files only.
#pragma once

#include "isochron/device.h"
#include "isochron/solve/cuda/counts.h"
#include "isochron/solve/simplex/pull_candidate.h"
#include "isochron/solve/simplex/pull_lists.h"

namespace isochron::cuda {

/// Incidences by vertex: record * 4 + corner.
struct Incidences {
  const std::uint32_t* offsets;
  const std::uint32_t* list;
  [[nodiscard]] __device__ std::uint32_t count(std::uint32_t v) const { return offsets[v + 1] - offsets[v]; }
};

/// The incidences in device memory: those to pull through and those to wake others through, mostly the same.
class IncidenceArrays {
 public:
  template <class T, int Corners>
  explicit IncidenceArrays(const PullLists<T, Corners>& lists)
      : pull_offsets_(lists.pulls().offsets), pull_list_(lists.pulls().list) {
    if (lists.shared()) return;
    wake_offsets_ = DeviceArray<std::uint32_t>(lists.wakes().offsets);
    wake_list_ = DeviceArray<std::uint32_t>(lists.wakes().list);
  }
  [[nodiscard]] Incidences pulls() const { return {pull_offsets_.data(), pull_list_.data()}; }
  [[nodiscard]] Incidences wakes() const {
    if (wake_offsets_.size() == 0) return pulls();
    return {wake_offsets_.data(), wake_list_.data()};
  }
  /// Of the longer list.
  [[nodiscard]] std::size_t longest() const {
    return pull_list_.size() > wake_list_.size() ? pull_list_.size() : wake_list_.size();
  }

 private:
  DeviceArray<std::uint32_t> pull_offsets_, pull_list_, wake_offsets_, wake_list_;
};

/// The problem's elements with the virtual ones behind them.
template <class T, int Corners>
DeviceArray<ElementRecord<T, Corners>> upload_records(const SimplexProblem<T, Corners>& problem,
                                                      const PullLists<T, Corners>& lists) {
  const std::size_t count = problem.elements.size();
  DeviceArray<ElementRecord<T, Corners>> records(count + lists.virtual_records().size());
  records.upload_from(std::span<const ElementRecord<T, Corners>>(problem.elements));
  upload(records.data() + count, lists.virtual_records().data(), lists.virtual_records().size_bytes());
  return records;
}

/// True when the vertex at a record's corner can gain from a neighbour in that record, with these times of both: an
/// acute corner does not depend on later ones.
template <class T>
__device__ bool may_gain(std::uint32_t corner, T time, T neighbor_time) {
  return (corner & detail::corner_flags) != 0 || time > neighbor_time;
}

/// The first of `count` rising numbers that is above `value`, which the last one is.
__device__ inline std::uint32_t first_above(const std::uint32_t* numbers, std::uint32_t count, std::uint32_t value) {
  std::uint32_t low = 0, high = count - 1;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (numbers[middle] > value) high = middle;
    else low = middle + 1;
  }
  return low;
}

/// Says that a vertex or subdomain takes part in a round.
struct InRound {
  const std::uint32_t* rounds;
  std::uint32_t round;
  __device__ bool operator()(std::uint32_t i) const { return rounds[i] == round; }
};

}  // namespace isochron::cuda
