// Elements and virtual elements as one kind of record, for schedules that only pull.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isochron/solve/simplex/problem.h"

namespace isochron {

/// Incidences by vertex, as in `Adjacency`: record * 4 + corner.
struct IncidenceSpans {
  std::span<const std::uint32_t> offsets, list;
};

/// Virtual element k becomes record `problem.elements.size() + k`, with its target as the last corner, flagged as not
/// acute. Without virtual elements nothing is made: both lists are the problem's adjacency.
template <class T, int Corners>
class PullLists {
 public:
  /// Keeps a view of `problem`, which must outlive it. Throws InputError when there are too many elements to number.
  explicit PullLists(const SimplexProblem<T, Corners>& problem);

  [[nodiscard]] std::span<const ElementRecord<T, Corners>> virtual_records() const { return records_; }
  /// By vertex: the corners that it can gain at.
  [[nodiscard]] IncidenceSpans pulls() const { return view(pulls_); }
  /// By vertex: the elements in which others can gain from it.
  [[nodiscard]] IncidenceSpans wakes() const { return view(wakes_); }
  /// True when both lists are one and the same.
  [[nodiscard]] bool shared() const { return records_.empty(); }

 private:
  struct Lists {
    std::vector<std::uint32_t> offsets, list;
  };
  void add_records();
  template <class Extra>
  Lists merge(std::span<const std::uint32_t> extra_offsets, std::span<const std::uint32_t> extra_list, Extra incidence);
  [[nodiscard]] IncidenceSpans view(const Lists& lists) const {
    if (shared()) return {problem_.adjacency.offsets, problem_.adjacency.incidences};
    return {lists.offsets, lists.list};
  }

  const SimplexProblem<T, Corners>& problem_;
  std::vector<ElementRecord<T, Corners>> records_;
  Lists pulls_, wakes_;
};

}  // namespace isochron
