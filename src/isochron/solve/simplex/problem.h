// A mesh and its metric prepared for the schedules: reordered, scaled, with compact element records.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "isochron/core/big_vector.h"
#include "isochron/mesh/adjacency.h"
#include "isochron/mesh/ordering.h"
#include "isochron/metric.h"

namespace isochron {

/// One element as the schedules read it: 40 bytes for a tetrahedron in single precision.
template <class T, int Corners>
struct ElementRecord {
  static constexpr std::uint32_t obtuse_flag = 0x80000000U;

  std::array<std::uint32_t, Corners> corner;          ///< vertex, with `obtuse_flag` where not acute in the metric
  std::array<T, SimplexMesh<Corners>::edges> length;  ///< squared metric lengths, in the order of `edge_corners`

  [[nodiscard]] std::uint32_t vertex(int k) const { return corner[k] & ~obtuse_flag; }
  /// True when all edges leaving corner k have pairwise products ≥ 0 in the metric: only then a later neighbour cannot
  /// matter to it.
  [[nodiscard]] bool acute(int k) const { return (corner[k] & obtuse_flag) == 0; }
};

/// A triangle as its corner x sees it: its other two corners. A vertex's stars lie side by side, so that a relax step
/// reads one stretch of memory instead of elements here and there.
template <class T>
struct StarRecord {
  static constexpr std::uint32_t obtuse_flag = 0x80000000U;

  std::uint32_t corner_a, corner_b;  ///< vertices, with `obtuse_flag` where not acute in the metric
  T xa, xb, ab;                      ///< squared metric lengths

  [[nodiscard]] std::uint32_t a() const { return corner_a & ~obtuse_flag; }
  [[nodiscard]] std::uint32_t b() const { return corner_b & ~obtuse_flag; }
  [[nodiscard]] bool acute_a() const { return (corner_a & obtuse_flag) == 0; }
  [[nodiscard]] bool acute_b() const { return (corner_b & obtuse_flag) == 0; }
};

/// How much later an arrival through x is at each corner of one of x's tetrahedra at least (`leads.h`), in steps that
/// are x's own: its longest edge is `most` of them. 0 at x itself.
struct Leads {
  static constexpr int most = 127;
  std::array<std::int8_t, 4> of_corner;
};

/// A virtual element from splitting an obtuse corner: it updates its target only. `length` is as in `ElementRecord`
/// with the target as the last corner.
template <class T, int Corners>
struct VirtualRecord {
  std::uint32_t target;
  std::array<std::uint32_t, Corners - 1> face;
  std::array<T, SimplexMesh<Corners>::edges> length;
};

/// Virtual elements with their incidences: by target (for pulling) and by face vertex (for pushing).
template <class T, int Corners>
struct VirtualElements {
  std::vector<VirtualRecord<T, Corners>> records;
  std::vector<std::uint32_t> target_offsets, target_list;
  std::vector<std::uint32_t> face_offsets, face_list;  ///< record * 4 + place in the face
  [[nodiscard]] bool empty() const { return records.empty(); }
};

/// Immutable while a schedule runs. Vertices are in the internal order; lengths and times are in units of `unit`, a
/// power of two near the mean edge travel time, so that determinants neither overflow nor underflow.
template <class T, int Corners>
struct SimplexProblem {
  using Record = ElementRecord<T, Corners>;

  using Scalar = T;
  std::size_t vertex_count = 0;
  BigVector<Record> elements;
  Adjacency adjacency;
  BigVector<StarRecord<T>> stars;            ///< of triangles, one per incidence: what their relax steps read
  BigVector<Leads> leads;                    ///< of tetrahedra that are pushed through, one per incidence
  BigVector<T> lead_step;                    ///< with them, per vertex: what its leads are counted in
  Permutation order;                         ///< identity when the user's order is kept
  std::vector<std::uint32_t> element_order;  ///< record → user's element; empty when the same
  double unit = 1;
  T mean_edge = 1;  ///< mean edge travel time, internal units
  /// Per vertex: mean travel time of its elements' edges, or, beside slow elements, at most twice that of a fast one.
  BigVector<T> edge;
  std::uint64_t obtuse_corners = 0;
  double shortest = 1, longest = 1;  ///< edge travel times, internal units; zero-length edges are not counted
  VirtualElements<T, Corners> virtual_elements;

  [[nodiscard]] std::span<const StarRecord<T>> star(std::uint32_t v) const {
    return {stars.data() + adjacency.offsets[v], stars.data() + adjacency.offsets[v + 1]};
  }
  [[nodiscard]] std::uint32_t internal(VertexId v) const {
    return order.identity() ? v.value : order.old_to_new[v.index()];
  }
  [[nodiscard]] VertexId user(std::uint32_t v) const { return VertexId(order.identity() ? v : order.new_to_old[v]); }
  [[nodiscard]] ElementId user_element(std::size_t record) const {
    return ElementId(element_order.empty() ? record : element_order[record]);
  }
};

enum class KeepOrder { no, yes };

/// Whether `Relaxer::push` will be used: tetrahedra have leads then.
enum class ForPushes { no, yes };

/// Topology: order, records' vertices, adjacency. The mesh must have passed `check_mesh`.
template <class T, int Corners>
SimplexProblem<T, Corners> prepare_topology(const SimplexMesh<Corners>& mesh, KeepOrder keep_order, int threads,
                                            ForPushes pushes = ForPushes::yes);

/// The same in a given order.
template <class T, int Corners>
SimplexProblem<T, Corners> prepare_topology(const SimplexMesh<Corners>& mesh, Permutation order, int threads,
                                            ForPushes pushes = ForPushes::yes);

/// Travel times along some of the mesh's edges.
struct SampledEdges {
  double sum = 0;
  double count = 0;
};
/// Elements enough to know the mean edge travel time by.
std::vector<ElementId> unit_sample(std::size_t element_count);
template <int Corners>
SampledEdges sample_edges(const SimplexMesh<Corners>& mesh, const Metric& metric, std::span<const ElementId> sample);

/// A power of two near the mean travel time of some edges.
double time_unit(const SampledEdges& sampled);

/// Lengths, obtuse flags, units and per-vertex edge times of a metric; may be called again with another metric.
template <class T, int Corners>
void apply_metric(SimplexProblem<T, Corners>& problem, const SimplexMesh<Corners>& mesh, const Metric& metric,
                  int threads);
/// The same with a given unit.
template <class T, int Corners>
void apply_metric(SimplexProblem<T, Corners>& problem, const SimplexMesh<Corners>& mesh, const Metric& metric,
                  double unit, int threads);

/// What `apply_metric` makes, for some elements whose metric has changed; unit and mean edge stay, and `shortest` and
/// `longest` are bounds then. False when the travel times are too different for that: then the whole must be applied.
template <class T, int Corners>
[[nodiscard]] bool change_metric(SimplexProblem<T, Corners>& problem, const SimplexMesh<Corners>& mesh,
                                 const Metric& metric, std::span<const ElementId> elements);

/// Throws InputError for an element whose travel times along edges are too different from each other, or from the
/// others', to compute with in double precision. `shortest` and `longest` are those of the whole, in units of `unit`.
template <int Corners>
void check_edge_times(const SimplexMesh<Corners>& mesh, const Metric& metric, double shortest, double longest,
                      double unit);

}  // namespace isochron
