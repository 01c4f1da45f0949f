// Why vertices were not reached: a part without a source, or no element at all.
#include <cmath>

#include "apps/isochron/solve.h"
#include "isochron/mesh/validate.h"

namespace isochron::cli {

template <int Corners>
Unreached explain_unreached(const SimplexMesh<Corners>& mesh, const std::vector<double>& times) {
  const std::vector<VertexId> part = parts_of(mesh);
  std::vector<bool> started(part.size(), false);  // by the part's smallest vertex
  for (std::size_t v = 0; v < part.size(); ++v)
    if (part[v].valid() && std::isfinite(times[v])) started[part[v].index()] = true;
  Unreached result;
  for (std::size_t v = 0; v < part.size(); ++v) {
    if (!part[v].valid()) {
      ++result.no_element;
    } else if (!started[part[v].index()]) {
      ++result.in_parts;
      if (part[v] == VertexId(v)) ++result.parts;
    }
  }
  return result;
}

template Unreached explain_unreached<3>(const SimplexMesh<3>&, const std::vector<double>&);
template Unreached explain_unreached<4>(const SimplexMesh<4>&, const std::vector<double>&);

}  // namespace isochron::cli
