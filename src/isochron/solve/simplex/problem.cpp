#include "isochron/solve/simplex/problem.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "isochron/core/parallel.h"
#include "isochron/core/radix_sort.h"
#include "isochron/core/stop.h"
#include "isochron/error.h"
#include "isochron/solve/common/limits.h"
#include "isochron/solve/simplex/leads.h"
#include "isochron/solve/simplex/obtuse_mask.h"
#include "isochron/solve/simplex/tet_view.h"

namespace isochron {
namespace {

/// Elements sorted by their smallest vertex in the new numbering, so that records lie beside the vertices that use
/// them.
template <int Corners>
std::vector<std::uint32_t> element_order_after(const SimplexMesh<Corners>& mesh, const Permutation& order,
                                               int threads) {
  const auto smallest = [&](const auto& element) {
    std::uint32_t low = order.old_to_new[element[0].index()];
    for (int c = 1; c < Corners; ++c) low = std::min(low, order.old_to_new[element[c].index()]);
    return low;
  };
  BigVector<KeyedId<std::uint32_t>> entries(mesh.element_count());
  stoppable_for(threads, entries.size(), [&](std::size_t e) {
    entries[e] = {smallest(mesh.elements[e]), static_cast<std::uint32_t>(e)};
  });
  radix_sort(entries, std::bit_width(mesh.vertex_count()), threads);
  std::vector<std::uint32_t> result(entries.size());
  parallel_for(threads, entries.size(), [&](std::size_t i) { result[i] = entries[i].id; });
  return result;
}

[[noreturn]] void refuse_range() {
  throw InputError(
      "the times along edges are too large or too small to compute with (each of mesh and metric could be); change the "
      "units");
}

/// Partial sums of one thread's elements.
struct LengthSummary {
  double shortest = std::numeric_limits<double>::infinity();
  double longest = 0;
  std::uint64_t obtuse = 0;
};

/// Fills the lengths and flags of record i. `scale` takes squared lengths to internal units.
template <class T, int Corners>
void fill_record(SimplexProblem<T, Corners>& problem, const SimplexMesh<Corners>& mesh, const Metric& metric,
                 double scale, std::size_t i, LengthSummary& summary) {
  using Record = ElementRecord<T, Corners>;
  const ElementId e = problem.user_element(i);
  auto lengths = squared_lengths(mesh, metric, e);
  for (double& l : lengths) {
    l *= scale;
    if (l > 0) summary.shortest = std::min(summary.shortest, l);
    summary.longest = std::max(summary.longest, l);
  }
  const unsigned obtuse = obtuse_mask<Corners>(lengths.data());
  Record& record = problem.elements[i];
  for (int c = 0; c < Corners; ++c) {
    const bool flag = ((obtuse >> c) & 1U) != 0;
    record.corner[c] = problem.internal(mesh.element(e)[c]) | (flag ? Record::obtuse_flag : 0U);
    summary.obtuse += flag ? 1 : 0;
  }
  for (int k = 0; k < SimplexMesh<Corners>::edges; ++k) record.length[k] = static_cast<T>(lengths[k]);
}

/// Fills the per-vertex data of a vertex: stars of triangles, leads of tetrahedra, mean travel time of edges. Returns
/// the latter.
template <class T, int Corners>
T fill_vertex(SimplexProblem<T, Corners>& problem, std::size_t v) {
  const auto incidences = problem.adjacency.at(VertexId(v));
  T edge = 0, longest = 0;
  T fastest = std::numeric_limits<T>::infinity();  // squared: of the longest edges, one an element, the shortest
  [[maybe_unused]] std::size_t star = problem.adjacency.offsets[v];
  for (const std::uint32_t incidence : incidences) {
    const auto& record = problem.elements[incidence >> 2];
    const int x = Adjacency::corner_of(incidence);
    const int a = x == Corners - 1 ? 0 : x + 1;
    // One edge an element is enough: around the vertex they cover all of them.
    edge += std::sqrt(record.length[edge_index(x, a)]);
    T across = 0;
    if constexpr (Corners == 3) {
      const int b = x == 0 ? 2 : x - 1;
      across = std::max(record.length[edge_index(x, a)], record.length[edge_index(x, b)]);
      problem.stars[star++] = {record.corner[a], record.corner[b], record.length[edge_index(x, a)],
                               record.length[edge_index(x, b)], record.length[edge_index(a, b)]};
    } else {
      const TetView& w = tet_views[x];
      for (const int k : {w.xa, w.xb, w.xc}) across = std::max(across, record.length[k]);
    }
    longest = std::max(longest, across);
    if (across > 0) fastest = std::min(fastest, across);
  }
  if constexpr (Corners == 4)
    if (!problem.leads.empty()) fill_leads(problem, v, longest);
  if (!incidences.empty()) edge /= static_cast<T>(incidences.size());
  problem.edge[v] = std::min(edge, 2 * std::sqrt(fastest));
  return edge;
}

/// The same for the vertices [begin, end). Returns the sum of their mean travel times.
template <class T, int Corners>
double fill_vertices(SimplexProblem<T, Corners>& problem, std::size_t begin, std::size_t end,
                     const StoppableLoop& loop) {
  double sum = 0;
  loop(begin, end, [&](std::size_t v) { sum += fill_vertex(problem, v); });
  return sum;
}

}  // namespace

template <class T, int Corners>
SimplexProblem<T, Corners> prepare_topology(const SimplexMesh<Corners>& mesh, KeepOrder keep_order, int threads,
                                            ForPushes pushes) {
  // Tetrahedra are read where they lie, so they move with their vertices; triangles are read from the stars.
  constexpr CurveDetail detail = Corners == 3 ? CurveDetail::blocks : CurveDetail::points;
  return prepare_topology<T>(mesh,
                             keep_order == KeepOrder::yes ? Permutation{} : hilbert_order(mesh.points, detail, threads),
                             threads, pushes);
}

template <class T, int Corners>
SimplexProblem<T, Corners> prepare_topology(const SimplexMesh<Corners>& mesh, Permutation order,  // NOLINT: moved from
                                            int threads, ForPushes pushes) {
  using Element = typename SimplexMesh<Corners>::Element;
  SimplexProblem<T, Corners> problem;
  problem.order = std::move(order);
  problem.vertex_count = mesh.vertex_count();
  problem.elements.resize(mesh.element_count());
  std::span<const Element> elements(mesh.elements);
  BigVector<Element> renumbered;
  if (!problem.order.identity()) {
    if constexpr (Corners == 4) problem.element_order = element_order_after(mesh, problem.order, threads);
    renumbered.resize(mesh.element_count());
    stoppable_for(threads, renumbered.size(), [&](std::size_t i) {
      const Element& element = mesh.element(problem.user_element(i));
      for (int c = 0; c < Corners; ++c) renumbered[i][c] = VertexId(problem.order.old_to_new[element[c].index()]);
    });
    elements = renumbered;
  }
  problem.adjacency = build_adjacency<Corners>(elements, mesh.vertex_count(), threads);
  if constexpr (Corners == 3) {
    problem.stars.resize(problem.adjacency.incidences.size());
  } else if (pushes == ForPushes::yes) {
    problem.leads.resize(problem.adjacency.incidences.size());
    problem.lead_step.resize(problem.vertex_count);
  }
  problem.edge.resize(problem.vertex_count);
  return problem;
}

std::vector<ElementId> unit_sample(std::size_t element_count) {
  std::vector<ElementId> sample;
  for (std::size_t e = 0; e < element_count; e += 1 + element_count / 1024) sample.emplace_back(e);
  return sample;
}

template <int Corners>
SampledEdges sample_edges(const SimplexMesh<Corners>& mesh, const Metric& metric, std::span<const ElementId> sample) {
  SampledEdges sampled;
  for (const ElementId e : sample)
    for (const double l : squared_lengths(mesh, metric, e)) sampled.sum += std::sqrt(l);
  sampled.count = static_cast<double>(sample.size() * SimplexMesh<Corners>::edges);
  return sampled;
}

double time_unit(const SampledEdges& sampled) {
  const double mean = sampled.sum > 0 ? sampled.sum / sampled.count : 1;
  return std::exp2(std::round(std::log2(mean)));
}

template <class T, int Corners>
void apply_metric(SimplexProblem<T, Corners>& problem, const SimplexMesh<Corners>& mesh, const Metric& metric,
                  int threads) {
  const std::vector<ElementId> sample = unit_sample(mesh.element_count());
  const SampledEdges sampled = sample_edges(mesh, metric, sample);
  if (sampled.sum == 0 && sample_edges(mesh, Metric::isotropic(1), sample).sum > 0) refuse_range();
  apply_metric(problem, mesh, metric, time_unit(sampled), threads);
}

template <class T, int Corners>
void apply_metric(SimplexProblem<T, Corners>& problem, const SimplexMesh<Corners>& mesh, const Metric& metric,
                  double unit, int threads) {
  const std::size_t count = mesh.element_count();

  problem.unit = unit;
  const double scale = 1 / (problem.unit * problem.unit);
  if (!(scale > 0 && std::isfinite(scale))) refuse_range();

  std::vector<LengthSummary> parts(static_cast<std::size_t>(std::max(1, threads)));
  const StoppableLoop loop;
  parallel_region(threads, [&](int thread, int team) {
    LengthSummary summary;
    loop(count * thread / team, count * (thread + 1) / team,
         [&](std::size_t i) { fill_record(problem, mesh, metric, scale, i, summary); });
    parts[thread] = summary;
  });

  LengthSummary total;
  problem.obtuse_corners = 0;
  for (const LengthSummary& part : parts) {
    total.shortest = std::min(total.shortest, part.shortest);
    total.longest = std::max(total.longest, part.longest);
    problem.obtuse_corners += part.obtuse;
  }
  if (!std::isfinite(total.longest)) refuse_range();
  problem.shortest = std::sqrt(total.shortest);
  problem.longest = std::sqrt(total.longest);

  // Summed in parts that do not depend on the threads: neither do the bits of the mean, nor those of a serial solve.
  std::array<double, 256> sums{};
  parallel_region(threads, [&](int thread, int team) {
    const std::size_t vertices = problem.vertex_count;
    for (std::size_t p = sums.size() * thread / team; p < sums.size() * (thread + 1) / team; ++p)
      sums[p] = fill_vertices(problem, vertices * p / sums.size(), vertices * (p + 1) / sums.size(), loop);
  });
  double sum = 0;
  for (const double s : sums) sum += s;
  problem.mean_edge =
      problem.vertex_count > 0 && sum > 0 ? static_cast<T>(sum / static_cast<double>(problem.vertex_count)) : T(1);
}

template <class T, int Corners>
bool change_metric(SimplexProblem<T, Corners>& problem, const SimplexMesh<Corners>& mesh, const Metric& metric,
                   std::span<const ElementId> elements) {
  const double scale = 1 / (problem.unit * problem.unit);
  LengthSummary summary;
  std::vector<std::uint32_t> vertices;
  for (const ElementId e : elements) {
    const std::uint32_t corner = problem.internal(mesh.element(e)[0]);
    for (const std::uint32_t incidence : problem.adjacency.at(VertexId(corner))) {
      const std::size_t i = incidence >> 2;
      if (problem.user_element(i) != e) continue;
      for (int c = 0; c < Corners; ++c) {
        problem.obtuse_corners -= problem.elements[i].acute(c) ? 0 : 1;
        vertices.push_back(problem.elements[i].vertex(c));
      }
      fill_record(problem, mesh, metric, scale, i, summary);
      break;
    }
  }
  std::sort(vertices.begin(), vertices.end());
  vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
  for (const std::uint32_t v : vertices) fill_vertex(problem, v);
  problem.obtuse_corners += summary.obtuse;
  problem.shortest = std::min(problem.shortest, std::sqrt(summary.shortest));
  problem.longest = std::max(problem.longest, std::sqrt(summary.longest));
  return ordinary_edge_times(problem.shortest, problem.longest) &&
         (std::is_same_v<T, double> || fits_single(problem.shortest, problem.longest));
}

template <int Corners>
void check_edge_times(const SimplexMesh<Corners>& mesh, const Metric& metric, double shortest, double longest,
                      double unit) {
  if (ordinary_edge_times(shortest, longest)) return;
  const StoppableLoop loop;
  double log_sum = 0, count = 0;
  const auto each_length = [&](std::size_t e, auto&& use) {
    for (const double l : squared_lengths(mesh, metric, ElementId(e)))
      if (l > 0) use(std::sqrt(l));
  };
  loop(0, mesh.element_count(),
       [&](std::size_t e) { each_length(e, [&](double l) { log_sum += std::log(l), ++count; }); });
  const double usual = std::exp(log_sum / count);  // stray edges do not change it much
  struct Range {
    double shortest = std::numeric_limits<double>::infinity(), longest = 0;
  };
  Range worst_range;
  std::size_t worst_element = 0;
  double worst = 0;
  bool refused = false;
  loop(0, mesh.element_count(), [&](std::size_t e) {
    Range range;
    each_length(e, [&](double l) { range = {std::min(range.shortest, l), std::max(range.longest, l)}; });
    if (!(range.longest > 0)) return;
    refused = refused || !fits_double(range.shortest / unit, range.longest / unit) ||
              spoils_neighbours(range.shortest, range.longest, usual);
    const double unusual = std::max(range.longest / usual, usual / range.shortest);
    if (unusual > worst) worst = unusual, worst_range = range, worst_element = e;
  });
  if (refused)
    throw InputError(fmt::format(
        "element {} has travel times along its edges from {:.3g} to {:.3g}, where {:.3g} is usual: too different to "
        "compute with; repair the mesh or the metric there",
        worst_element, worst_range.shortest, worst_range.longest, usual));
}

template void check_edge_times(const SimplexMesh<3>&, const Metric&, double, double, double);
template void check_edge_times(const SimplexMesh<4>&, const Metric&, double, double, double);
template SimplexProblem<float, 3> prepare_topology(const SimplexMesh<3>&, KeepOrder, int, ForPushes);
template SimplexProblem<float, 3> prepare_topology(const SimplexMesh<3>&, Permutation, int, ForPushes);
template SimplexProblem<float, 4> prepare_topology(const SimplexMesh<4>&, KeepOrder, int, ForPushes);
template SimplexProblem<float, 4> prepare_topology(const SimplexMesh<4>&, Permutation, int, ForPushes);
template SimplexProblem<double, 3> prepare_topology(const SimplexMesh<3>&, KeepOrder, int, ForPushes);
template SimplexProblem<double, 3> prepare_topology(const SimplexMesh<3>&, Permutation, int, ForPushes);
template SimplexProblem<double, 4> prepare_topology(const SimplexMesh<4>&, KeepOrder, int, ForPushes);
template SimplexProblem<double, 4> prepare_topology(const SimplexMesh<4>&, Permutation, int, ForPushes);
template SampledEdges sample_edges(const SimplexMesh<3>&, const Metric&, std::span<const ElementId>);
template SampledEdges sample_edges(const SimplexMesh<4>&, const Metric&, std::span<const ElementId>);
template void apply_metric(SimplexProblem<float, 3>&, const SimplexMesh<3>&, const Metric&, int);
template void apply_metric(SimplexProblem<float, 3>&, const SimplexMesh<3>&, const Metric&, double, int);
template void apply_metric(SimplexProblem<float, 4>&, const SimplexMesh<4>&, const Metric&, int);
template void apply_metric(SimplexProblem<float, 4>&, const SimplexMesh<4>&, const Metric&, double, int);
template void apply_metric(SimplexProblem<double, 3>&, const SimplexMesh<3>&, const Metric&, int);
template void apply_metric(SimplexProblem<double, 3>&, const SimplexMesh<3>&, const Metric&, double, int);
template void apply_metric(SimplexProblem<double, 4>&, const SimplexMesh<4>&, const Metric&, int);
template void apply_metric(SimplexProblem<double, 4>&, const SimplexMesh<4>&, const Metric&, double, int);
template bool change_metric(SimplexProblem<float, 3>&, const SimplexMesh<3>&, const Metric&,
                            std::span<const ElementId>);
template bool change_metric(SimplexProblem<float, 4>&, const SimplexMesh<4>&, const Metric&,
                            std::span<const ElementId>);
template bool change_metric(SimplexProblem<double, 3>&, const SimplexMesh<3>&, const Metric&,
                            std::span<const ElementId>);
template bool change_metric(SimplexProblem<double, 4>&, const SimplexMesh<4>&, const Metric&,
                            std::span<const ElementId>);

}  // namespace isochron
