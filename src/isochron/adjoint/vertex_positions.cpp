// From lengths in elements to the positions of vertices.
#include <cmath>

#include <fmt/format.h>

#include "isochron/adjoint/shape_gradients.h"
#include "isochron/error.h"
#include "isochron/linearization.h"
#include "isochron/mesh/closest_point.h"

namespace isochron {

// A displacement that is linear in an element, x → x + A x with A = Σ_k d_k ∇φ_kᵀ, changes squared lengths eᵀ M e as
// dM = AᵀM + MA does. With a gradient G by M that is 2 tr(G M A) = Σ_k 2 (M G ∇φ_k) · d_k.

template <int Corners>
std::vector<Vec3d> gradient_by_vertices(const InputValues& gradient, const SimplexMesh<Corners>& mesh,
                                        const Metric& metric) {
  if (gradient.metric.size() != mesh.element_count() || gradient.vertex.size() != mesh.vertex_count())
    throw InputError(fmt::format("the gradient is of a mesh of {} vertices and {} elements; give the mesh it is of",
                                 gradient.vertex.size(), gradient.metric.size()));
  std::vector<Vec3d> result = gradient.vertex;
  for (std::size_t e = 0; e < mesh.element_count(); ++e) {
    const SymTensor3d& g = gradient.metric[e];
    if (g == SymTensor3d{}) continue;
    const ElementId id(e);
    const auto shape = shape_gradients(corner_points(mesh, id));
    if (!shape) continue;
    const SymTensor3d m = metric.tensor(id);
    for (int k = 0; k < Corners; ++k) result[mesh.element(id)[k].index()] += 2.0 * (m * (g * (*shape)[k]));
  }
  return result;
}

template <int Corners>
InputValues change_of_vertices(const SimplexMesh<Corners>& mesh, const Metric& metric,
                               std::span<const Vec3d> displacement) {
  if (displacement.size() != mesh.vertex_count())
    throw InputError(fmt::format("the displacement has {} values for {} vertices; give one each", displacement.size(),
                                 mesh.vertex_count()));
  InputValues result;
  result.vertex.assign(displacement.begin(), displacement.end());
  result.metric.assign(mesh.element_count(), {});
  for (std::size_t e = 0; e < mesh.element_count(); ++e) {
    const ElementId id(e);
    if (!metric.conducts(id)) continue;
    const auto shape = shape_gradients(corner_points(mesh, id));
    if (!shape) continue;
    const SymTensor3d m = metric.tensor(id);
    for (int k = 0; k < Corners; ++k) {
      // A row of MA, and of its transpose.
      const Vec3d moved = m * displacement[mesh.element(id)[k].index()], along = (*shape)[k];
      SymTensor3d& sum = result.metric[e];
      sum =
          sum + SymTensor3d{
                    2 * moved.x * along.x, moved.x * along.y + moved.y * along.x, moved.x * along.z + moved.z * along.x,
                    2 * moved.y * along.y, moved.y * along.z + moved.z * along.y, 2 * moved.z * along.z};
    }
  }
  return result;
}

template std::vector<Vec3d> gradient_by_vertices<3>(const InputValues&, const TriangleMesh&, const Metric&);
template std::vector<Vec3d> gradient_by_vertices<4>(const InputValues&, const TetMesh&, const Metric&);
template InputValues change_of_vertices<3>(const TriangleMesh&, const Metric&, std::span<const Vec3d>);
template InputValues change_of_vertices<4>(const TetMesh&, const Metric&, std::span<const Vec3d>);

}  // namespace isochron
