#include "isochron/papers/subdomains.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "isochron/core/parallel.h"
#include "isochron/error.h"
#include "isochron/solve/simplex/pull_lists.h"

namespace isochron {
namespace {

/// Of the order that did best with one block a subdomain in paper 001 Tables 6 and 7: 1,600 to 1,700 vertices.
constexpr std::size_t vertices_of_a_subdomain = 1024;

/// The part that most of a record's corners are in, the first of them where several are.
template <class T, int Corners>
std::uint32_t part_of_record(const ElementRecord<T, Corners>& record, const std::vector<std::uint32_t>& part_of) {
  std::uint32_t best = 0;
  int most = 0;
  for (int k = 0; k < Corners; ++k) {
    const std::uint32_t part = part_of[record.vertex(k)];
    int same = 0;
    for (int j = 0; j < Corners; ++j) same += part_of[record.vertex(j)] == part ? 1 : 0;
    if (same > most) best = part;
    most = std::max(most, same);
  }
  return best;
}

/// Calls `body(d)` for every subdomain; each is work enough for a thread.
template <class Body>
void for_subdomains(std::size_t count, const Body& body) {
  const int threads = static_cast<int>(std::min<std::size_t>(usual_threads(), count));
  parallel_region(threads, [&](int thread, int team) {
    for (std::size_t d = thread; d < count; d += team) body(d);
  });
}

/// Fills a `Subdomains` step by step.
template <class T, int Corners>
class SubdomainBuilder {
  using Record = ElementRecord<T, Corners>;

 public:
  SubdomainBuilder(const SimplexProblem<T, Corners>& problem, std::uint32_t parts)
      : problem_(problem), lists_(problem), parts_(parts) {}

  Subdomains<T, Corners> build(const std::vector<std::uint32_t>& part_of) {
    sort_records(part_of);
    name_copies();
    result_.records.resize(order_.size());
    make_incidences(result_.pulls, [this](std::uint32_t from, int k) { return !is_virtual(from) || k == Corners - 1; });
    if (!lists_.shared())
      make_incidences(result_.wakes,
                      [this](std::uint32_t from, int k) { return !is_virtual(from) || k < Corners - 1; });
    group_copies();
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool is_virtual(std::uint32_t from) const { return from >= problem_.elements.size(); }
  [[nodiscard]] const Record& source(std::uint32_t from) const {
    return is_virtual(from) ? lists_.virtual_records()[from - problem_.elements.size()] : problem_.elements[from];
  }
  [[nodiscard]] std::uint32_t local(std::size_t d, std::uint32_t vertex) const {
    const auto first = result_.vertex.begin() + result_.begin[d];
    const auto last = result_.vertex.begin() + result_.begin[d + 1];
    return static_cast<std::uint32_t>(std::lower_bound(first, last, vertex) - first);
  }

  /// Puts the numbers of the records in `order_`, one subdomain after the other.
  void sort_records(const std::vector<std::uint32_t>& part_of) {
    const std::size_t count = problem_.elements.size() + lists_.virtual_records().size();
    std::vector<std::uint32_t> part(count);
    parallel_for(usual_threads(), count,
                 [&](std::size_t e) { part[e] = part_of_record(source(static_cast<std::uint32_t>(e)), part_of); });
    result_.record_begin.assign(parts_ + 1, 0);
    for (const std::uint32_t d : part) ++result_.record_begin[d + 1];
    std::partial_sum(result_.record_begin.begin(), result_.record_begin.end(), result_.record_begin.begin());
    std::vector<std::uint32_t> next(result_.record_begin.begin(), result_.record_begin.end() - 1);
    order_.resize(count);
    for (std::uint32_t e = 0; e < count; ++e) order_[next[part[e]]++] = e;
  }

  /// The vertices of each subdomain's records, sorted.
  void name_copies() {
    std::vector<std::vector<std::uint32_t>> found(parts_);
    for_subdomains(parts_, [&](std::size_t d) {
      std::vector<std::uint32_t>& all = found[d];
      for (std::uint32_t r = result_.record_begin[d]; r < result_.record_begin[d + 1]; ++r)
        for (int k = 0; k < Corners; ++k) all.push_back(source(order_[r]).vertex(k));
      std::sort(all.begin(), all.end());
      all.erase(std::unique(all.begin(), all.end()), all.end());
    });
    result_.begin.assign(parts_ + 1, 0);
    for (std::size_t d = 0; d < parts_; ++d)
      result_.begin[d + 1] = result_.begin[d] + static_cast<std::uint32_t>(found[d].size());
    result_.vertex.resize(result_.begin.back());
    for_subdomains(parts_, [&](std::size_t d) {
      std::copy(found[d].begin(), found[d].end(), result_.vertex.begin() + result_.begin[d]);
    });
  }

  /// Lists the corners that `holds(number of the record, corner)`, and gives the records their local corners.
  template <class Holds>
  void make_incidences(CopyIncidences& result, const Holds& holds) {
    result.offsets.assign(result_.vertex.size() + 1, 0);
    for_subdomains(parts_, [&](std::size_t d) {
      for (std::uint32_t r = result_.record_begin[d]; r < result_.record_begin[d + 1]; ++r) {
        Record& record = result_.records[r];
        record = source(order_[r]);
        for (int k = 0; k < Corners; ++k) {
          const std::uint32_t here = local(d, record.vertex(k));
          record.corner[k] = here | (record.acute(k) ? 0 : Record::obtuse_flag);
          if (holds(order_[r], k)) ++result.offsets[result_.begin[d] + here + 1];
        }
      }
    });
    std::partial_sum(result.offsets.begin(), result.offsets.end(), result.offsets.begin());
    result.list.resize(result.offsets.back());
    for_subdomains(parts_, [&](std::size_t d) {
      const std::uint32_t first = result_.begin[d];
      std::vector<std::uint32_t> next(result.offsets.begin() + first, result.offsets.begin() + result_.begin[d + 1]);
      for (std::uint32_t r = result_.record_begin[d]; r < result_.record_begin[d + 1]; ++r)
        for (int k = 0; k < Corners; ++k)
          if (holds(order_[r], k))
            result.list[next[result_.records[r].vertex(k)]++] = r * 4 + static_cast<std::uint32_t>(k);
    });
  }

  /// The interface maps.
  void group_copies() {
    const std::size_t vertices = problem_.vertex_count;
    std::vector<std::uint32_t> copies(vertices, 0), group(vertices, Subdomains<T, Corners>::alone), next;
    for (const std::uint32_t v : result_.vertex) ++copies[v];
    result_.group_begin.assign(1, 0);
    for (std::size_t v = 0; v < vertices; ++v) {
      if (copies[v] < 2) continue;
      group[v] = static_cast<std::uint32_t>(result_.groups());
      result_.group_begin.push_back(result_.group_begin.back() + copies[v]);
    }
    next.assign(result_.group_begin.begin(), result_.group_begin.end() - 1);
    result_.group.resize(result_.group_begin.back());
    result_.group_of.resize(result_.vertex.size());
    result_.first_copy.assign(vertices, {});
    for (std::uint32_t d = 0; d < parts_; ++d)
      for (std::uint32_t c = result_.begin[d]; c < result_.begin[d + 1]; ++c) {
        const std::uint32_t v = result_.vertex[c];
        const VertexCopy here{d, c - result_.begin[d]};
        if (result_.first_copy[v].subdomain == VertexCopy::none) result_.first_copy[v] = here;
        result_.group_of[c] = group[v];
        if (group[v] != Subdomains<T, Corners>::alone) result_.group[next[group[v]]++] = here;
      }
  }

  const SimplexProblem<T, Corners>& problem_;
  PullLists<T, Corners> lists_;
  std::size_t parts_;
  std::vector<std::uint32_t> order_;  ///< record of a subdomain → record of the problem
  Subdomains<T, Corners> result_;
};

}  // namespace

template <class T, int Corners>
Subdomains<T, Corners> make_subdomains(const SimplexProblem<T, Corners>& problem, const SimplexMesh<Corners>& mesh,
                                       int wanted, Partitioner partitioner) {
  if (wanted < 0)
    throw UsageError(fmt::format("{} subdomains are not possible (negative); give a positive number, or 0", wanted));
  const std::size_t vertices = problem.vertex_count;
  const std::size_t count = wanted > 0 ? static_cast<std::size_t>(wanted) : vertices / vertices_of_a_subdomain;
  const auto parts = static_cast<std::uint32_t>(std::clamp<std::size_t>(count, 1, std::max<std::size_t>(vertices, 1)));
  const std::vector<std::uint32_t> of_user = partition_vertices(mesh, parts, partitioner, usual_threads());
  std::vector<std::uint32_t> part_of(vertices);
  for (std::uint32_t v = 0; v < vertices; ++v) part_of[v] = of_user[problem.user(v).index()];
  return SubdomainBuilder<T, Corners>(problem, parts).build(part_of);
}

#define ISOCHRON_INSTANTIATE(T, corners)                                                        \
  template Subdomains<T, corners> make_subdomains(const SimplexProblem<T, corners>& problem,    \
                                                  const SimplexMesh<corners>& mesh, int wanted, \
                                                  Partitioner partitioner);
ISOCHRON_INSTANTIATE(float, 3)
ISOCHRON_INSTANTIATE(float, 4)
ISOCHRON_INSTANTIATE(double, 3)
ISOCHRON_INSTANTIATE(double, 4)
#undef ISOCHRON_INSTANTIATE

}  // namespace isochron
