#include "isochron/solve/ranks/part_problem.h"

#include <algorithm>
#include <limits>
#include <span>

#include "isochron/comm/collectives.h"
#include "isochron/solve/simplex/obtuse_split.h"

namespace isochron::ranks {
namespace {

/// Adds the vertices from `first` to `last` along a curve of their own.
void append_curve(std::span<const Vec3d> points, std::size_t first, std::size_t last, CurveDetail detail, int threads,
                  std::vector<std::uint32_t>& new_to_old) {
  if (first == last) return;
  const Permutation order = hilbert_order(points.subspan(first, last - first), detail, threads);
  for (const std::uint32_t v : order.new_to_old) new_to_old.push_back(static_cast<std::uint32_t>(first) + v);
}

/// Own vertices along a curve, then ghosts along another.
template <int Corners>
Permutation owned_first(const MeshPart<Corners>& part, int threads) {
  const std::size_t count = part.mesh.vertex_count();
  constexpr CurveDetail detail = Corners == 3 ? CurveDetail::blocks : CurveDetail::points;
  Permutation order;
  order.new_to_old.reserve(count);
  append_curve(part.mesh.points, 0, part.owned, detail, threads, order.new_to_old);
  append_curve(part.mesh.points, part.owned, count, detail, threads, order.new_to_old);
  order.old_to_new.resize(count);
  for (std::size_t i = 0; i < count; ++i) order.old_to_new[order.new_to_old[i]] = static_cast<std::uint32_t>(i);
  return order;
}

/// What ranks send one another of their parts. An edge that several hold counts for each; that shifts a mean a little.
struct Scale {
  SampledEdges sampled;
  double elements = 0;
};

struct Extent {
  double edge_sum = 0;  ///< over own vertices
  double shortest = std::numeric_limits<double>::infinity(), longest = 0;
};

/// Virtual elements in the problem's numbers and units.
template <class T, int Corners>
std::vector<VirtualRecord<T, Corners>> scaled(std::span<const VirtualRecord<double, Corners>> records,
                                              const SimplexProblem<T, Corners>& problem) {
  std::vector<VirtualRecord<T, Corners>> result;
  result.reserve(records.size());
  for (const auto& record : records) {
    VirtualRecord<T, Corners>& copy = result.emplace_back();
    copy.target = problem.internal(VertexId(record.target));
    for (std::size_t k = 0; k < record.face.size(); ++k) copy.face[k] = problem.internal(VertexId(record.face[k]));
    for (std::size_t k = 0; k < record.length.size(); ++k)
      copy.length[k] = static_cast<T>(record.length[k] / (problem.unit * problem.unit));
  }
  return result;
}

}  // namespace

template <class T, int Corners>
SimplexProblem<T, Corners> prepare_part(Communicator& communicator, const MeshPart<Corners>& part, const Metric& metric,
                                        std::span<const VirtualRecord<double, Corners>> virtual_elements,
                                        Reorder reorder, int threads, ForPushes pushes) {
  SampledEdges sampled;
  for (const Scale& scale :
       all_values(communicator, Scale{sample_edges(part.mesh, metric, unit_sample(part.mesh.element_count())),
                                      static_cast<double>(part.mesh.element_count())})) {
    if (scale.sampled.count == 0) continue;
    sampled.sum += scale.elements * scale.sampled.sum / scale.sampled.count;
    sampled.count += scale.elements;
  }
  const bool keep = part.mesh.vertex_count() == 0 || reorder == Reorder::never ||
                    (reorder == Reorder::automatic && locally_ordered(part.mesh));
  auto problem = prepare_topology<T>(part.mesh, keep ? Permutation{} : owned_first(part, threads), threads, pushes);
  apply_metric(problem, part.mesh, metric, time_unit(sampled), threads);
  problem.virtual_elements = index_virtual_elements(scaled(virtual_elements, problem), problem.vertex_count);

  Extent own;
  if (part.mesh.element_count() > 0) own.shortest = problem.shortest, own.longest = problem.longest;
  for (std::size_t v = 0; v < part.owned; ++v) own.edge_sum += problem.edge[v];
  Extent all;
  for (const Extent& extent : all_values(communicator, own)) {
    all.edge_sum += extent.edge_sum;
    all.shortest = std::min(all.shortest, extent.shortest);
    all.longest = std::max(all.longest, extent.longest);
  }
  problem.shortest = all.shortest;
  problem.longest = all.longest;
  all_or_none(communicator,
              [&] { check_edge_times(part.mesh, metric, problem.shortest, problem.longest, problem.unit); });
  if (all.edge_sum > 0) problem.mean_edge = static_cast<T>(all.edge_sum / static_cast<double>(part.whole_vertices));
  return problem;
}

template SimplexProblem<float, 3> prepare_part(Communicator&, const MeshPart<3>&, const Metric&,
                                               std::span<const VirtualRecord<double, 3>>, Reorder, int, ForPushes);
template SimplexProblem<float, 4> prepare_part(Communicator&, const MeshPart<4>&, const Metric&,
                                               std::span<const VirtualRecord<double, 4>>, Reorder, int, ForPushes);
template SimplexProblem<double, 3> prepare_part(Communicator&, const MeshPart<3>&, const Metric&,
                                                std::span<const VirtualRecord<double, 3>>, Reorder, int, ForPushes);
template SimplexProblem<double, 4> prepare_part(Communicator&, const MeshPart<4>&, const Metric&,
                                                std::span<const VirtualRecord<double, 4>>, Reorder, int, ForPushes);

}  // namespace isochron::ranks
