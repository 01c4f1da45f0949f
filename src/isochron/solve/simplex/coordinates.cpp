#include "isochron/solve/simplex/coordinates.h"

#include "isochron/core/parallel.h"
#include "isochron/mesh/box_tree.h"

namespace isochron {

template <class T>
CoordinateStorage<T> coordinates_of(const SimplexProblem<T, 4>& problem, const TetMesh& mesh, const Metric& metric) {
  CoordinateStorage<T> result;
  result.records.resize(problem.elements.size());
  result.points.resize(problem.vertex_count);
  // From the middle of the mesh and in its size, so that single precision neither loses nor exceeds them.
  const Box box = box_of(mesh.points);
  const Vec3d middle = 0.5 * (box.low + box.high);
  const double extent = norm(box.high - box.low), size = extent > 0 ? extent : 1;
  const double per_unit = size / problem.unit, scale = per_unit * per_unit;
  parallel_for(usual_threads(), result.records.size(), [&](std::size_t e) {
    const SymTensor3d m = scale * metric.tensor(problem.user_element(e));
    result.records[e] = {problem.elements[e].corner,
                         {static_cast<T>(m.xx), static_cast<T>(m.xy), static_cast<T>(m.xz), static_cast<T>(m.yy),
                          static_cast<T>(m.yz), static_cast<T>(m.zz)}};
  });
  parallel_for(usual_threads(), result.points.size(), [&](std::size_t v) {
    const Vec3d p = (mesh.point(problem.user(static_cast<std::uint32_t>(v))) - middle) / size;
    result.points[v] = {static_cast<T>(p.x), static_cast<T>(p.y), static_cast<T>(p.z)};
  });
  return result;
}

template CoordinateStorage<float> coordinates_of(const SimplexProblem<float, 4>&, const TetMesh&, const Metric&);
template CoordinateStorage<double> coordinates_of(const SimplexProblem<double, 4>&, const TetMesh&, const Metric&);

}  // namespace isochron
