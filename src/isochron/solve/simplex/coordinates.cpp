#include "isochron/solve/simplex/coordinates.h"

#include "isochron/core/parallel.h"

namespace isochron {

template <class T>
CoordinateStorage<T> coordinates_of(const SimplexProblem<T, 4>& problem, const TetMesh& mesh, const Metric& metric) {
  CoordinateStorage<T> result;
  result.records.resize(problem.elements.size());
  result.points.resize(problem.vertex_count);
  const double scale = 1 / (problem.unit * problem.unit);
  parallel_for(hardware_threads(), result.records.size(), [&](std::size_t e) {
    const SymTensor3d m = scale * metric.tensor(problem.user_element(e));
    result.records[e] = {problem.elements[e].corner,
                         {static_cast<T>(m.xx), static_cast<T>(m.xy), static_cast<T>(m.xz), static_cast<T>(m.yy),
                          static_cast<T>(m.yz), static_cast<T>(m.zz)}};
  });
  parallel_for(hardware_threads(), result.points.size(), [&](std::size_t v) {
    const Vec3d p = mesh.point(problem.user(static_cast<std::uint32_t>(v)));
    result.points[v] = {static_cast<T>(p.x), static_cast<T>(p.y), static_cast<T>(p.z)};
  });
  return result;
}

template CoordinateStorage<float> coordinates_of(const SimplexProblem<float, 4>&, const TetMesh&, const Metric&);
template CoordinateStorage<double> coordinates_of(const SimplexProblem<double, 4>&, const TetMesh&, const Metric&);

}  // namespace isochron
