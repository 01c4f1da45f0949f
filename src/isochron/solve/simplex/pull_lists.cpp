#include "isochron/solve/simplex/pull_lists.h"

#include <limits>

#include "isochron/error.h"

namespace isochron {
namespace {

constexpr std::size_t max_records = std::size_t{1} << 30;

void check_size(bool fits) {
  if (!fits)
    throw InputError("the mesh and its virtual elements are too large for this method (32-bit numbers); use " +
                     Message(Setting{Option::split_obtuse, "never"}));
}

}  // namespace

template <class T, int Corners>
PullLists<T, Corners>::PullLists(const SimplexProblem<T, Corners>& problem) : problem_(problem) {
  const auto& extra = problem.virtual_elements;
  if (extra.empty()) return;
  check_size(problem.elements.size() + extra.records.size() <= max_records);
  add_records();
  const auto first = static_cast<std::uint32_t>(problem.elements.size());
  pulls_ = merge(extra.target_offsets, extra.target_list,
                 [first](std::uint32_t record) { return (first + record) * 4 + (Corners - 1); });
  wakes_ = merge(extra.face_offsets, extra.face_list,
                 [first](std::uint32_t place) { return first * 4 + place; });  // already record * 4 + corner
}

template <class T, int Corners>
void PullLists<T, Corners>::add_records() {
  records_.reserve(problem_.virtual_elements.records.size());
  for (const VirtualRecord<T, Corners>& from : problem_.virtual_elements.records) {
    ElementRecord<T, Corners> record;
    for (int k = 0; k < Corners - 1; ++k) record.corner[k] = from.face[k];
    record.corner[Corners - 1] = from.target | ElementRecord<T, Corners>::obtuse_flag;
    record.length = from.length;
    records_.push_back(record);
  }
}

/// Each vertex's incidences with its virtual elements' behind them.
template <class T, int Corners>
template <class Extra>
auto PullLists<T, Corners>::merge(std::span<const std::uint32_t> extra_offsets,
                                  std::span<const std::uint32_t> extra_list, Extra incidence) -> Lists {
  const Adjacency& adjacency = problem_.adjacency;
  check_size(adjacency.incidences.size() + extra_list.size() <= std::numeric_limits<std::uint32_t>::max());
  Lists merged;
  merged.offsets.reserve(problem_.vertex_count + 1);
  merged.list.reserve(adjacency.incidences.size() + extra_list.size());
  merged.offsets.push_back(0);
  for (std::size_t v = 0; v < problem_.vertex_count; ++v) {
    const auto own = adjacency.at(VertexId(v));
    merged.list.insert(merged.list.end(), own.begin(), own.end());
    for (std::uint32_t i = extra_offsets[v]; i < extra_offsets[v + 1]; ++i)
      merged.list.push_back(incidence(extra_list[i]));
    merged.offsets.push_back(static_cast<std::uint32_t>(merged.list.size()));
  }
  return merged;
}

template class PullLists<float, 3>;
template class PullLists<float, 4>;
template class PullLists<double, 3>;
template class PullLists<double, 4>;

}  // namespace isochron
