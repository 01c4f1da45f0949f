// Splitting corners that are obtuse in the metric with virtual elements (paper 000 section 2.2, paper 003 section 2.2).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "isochron/solve/simplex/problem.h"

namespace isochron {

/// How far a split may go.
struct SplitLimits {
  int tet_levels = 2;             ///< tetrahedra behind one another that a virtual edge enters
  double metric_contrast = 1.25;  ///< largest ratio of the lengths of a shared edge in the metrics on its two sides
};

/// Virtual elements for all corners that the problem flags as obtuse. A virtual edge joins the corner with a vertex
/// that it sees through the opposite edge or face, so it is a path in the mesh; its length is the sum of its pieces,
/// each in the metric of its element, hence never less than the travel time. The virtual elements at the corner lie in
/// the elements the edges pass through: in a constant metric their candidates are never too early either.
///
/// Triangles are unfolded isometrically into the plane of the first; vertices outside the obtuse angle are passed by.
/// Of tetrahedra, only the apex straight behind the opposite face is tried (no split when it is not seen). Splitting
/// ends at angles that are acute, at the boundary, at edges and faces shared by more than two elements, at jumps of the
/// metric (where one virtual element could not stand for both sides), at `limits` and after `max_unfolds` triangles.
template <class T, int Corners>
VirtualElements<T, Corners> split_obtuse(const SimplexProblem<T, Corners>& problem, const SimplexMesh<Corners>& mesh,
                                         const Metric& metric, const SplitLimits& limits = {}, int threads = 1);

/// Makes the virtual elements of some targets again after the metric changed, and keeps the others. Targets are
/// internal vertices, each given once.
template <class T, int Corners>
void split_again(SimplexProblem<T, Corners>& problem, const SimplexMesh<Corners>& mesh, const Metric& metric,
                 std::span<const std::uint32_t> targets, const SplitLimits& limits = {});

/// Some elements, and those that have corners whose virtual elements may stand for one of them, each once.
template <int Corners>
std::vector<ElementId> elements_split_by(const SimplexMesh<Corners>& mesh, const Adjacency& adjacency,
                                         std::span<const ElementId> elements, const SplitLimits& limits = {});

/// How the squared lengths of a virtual triangle, in the order of its record, change with those of one triangle that it
/// stands for, in the order of `edge_corners`.
struct LengthChange {
  std::uint32_t triangle = 0;  ///< of the problem
  std::array<std::array<double, 3>, 3> by{};
};
/// For all triangles that it stands for. The record must be one of `split_obtuse` with its default limits.
template <class T>
std::vector<LengthChange> changes_of_virtual(const SimplexProblem<T, 3>& problem, const TriangleMesh& mesh,
                                             const Metric& metric, const VirtualRecord<T, 3>& record);

/// How a number changes with what a virtual tetrahedron stands for.
struct VirtualGradient {
  /// By M of elements of the problem, in the user's units, as in `InputValues::metric`.
  std::vector<std::pair<std::uint32_t, SymTensor3d>> elements;
  /// By the positions of vertices of the problem, with M as it is.
  std::vector<std::pair<std::uint32_t, Vec3d>> vertices;
};
/// Of Σ by_length · length over the record's squared lengths. The record must be one of `split_obtuse` with its default
/// limits.
template <class T>
VirtualGradient gradient_of_virtual(const SimplexProblem<T, 4>& problem, const TetMesh& mesh, const Metric& metric,
                                    const VirtualRecord<T, 4>& record, const std::array<double, 6>& by_length);

/// Lists the records by target and by face vertex.
template <class T, int Corners>
VirtualElements<T, Corners> index_virtual_elements(std::vector<VirtualRecord<T, Corners>> records,
                                                   std::size_t vertex_count);

}  // namespace isochron
