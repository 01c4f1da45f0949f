#include "isochron/mesh/generate/displace.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace isochron {

template <int Corners>
std::size_t displace(SimplexMesh<Corners>& mesh, std::vector<Vec3d> displacement, double keep) {
  // What each element must keep is asked of the mesh before it moves, in single precision to save memory.
  std::vector<float> least(mesh.element_count());
  for (std::size_t e = 0; e < least.size(); ++e)
    least[e] = static_cast<float>(keep * signed_measure(mesh, mesh.elements[e]));
  for (std::size_t v = 0; v < mesh.vertex_count(); ++v) mesh.points[v] += displacement[v];

  std::vector<std::uint32_t> flat;
  const auto find_flat = [&] {
    flat.clear();
    for (std::size_t e = 0; e < least.size(); ++e) {
      const auto& element = mesh.elements[e];
      if (signed_measure(mesh, element) > least[e]) continue;
      const auto moved = [&](VertexId v) { return !(displacement[v.index()] == Vec3d{}); };
      if (std::any_of(element.begin(), element.end(), moved)) flat.push_back(static_cast<std::uint32_t>(e));
    }
  };
  find_flat();
  const std::size_t shortened = flat.size();

  // Shortening a move can flatten an element that shares the vertex, so each pass looks at all elements again; the
  // moves only ever get shorter, and after enough halvings all are nothing.
  std::vector<bool> done(mesh.vertex_count());
  for (; !flat.empty(); find_flat()) {
    done.assign(mesh.vertex_count(), false);
    for (const std::uint32_t e : flat) {
      // The longest move of the corners gives way; one that is next to nothing is dropped, so that this ends.
      VertexId longest = mesh.elements[e][0];
      for (const VertexId v : mesh.elements[e])
        if (norm(displacement[v.index()]) > norm(displacement[longest.index()])) longest = v;
      if (done[longest.index()]) continue;
      done[longest.index()] = true;
      Vec3d& move = displacement[longest.index()];
      const bool worth_halving = norm(move) > 1e-9 * std::cbrt(std::abs(least[e]) / keep);
      const Vec3d shorter = worth_halving ? 0.5 * move : Vec3d{};
      mesh.points[longest.index()] += shorter - move;
      move = shorter;
    }
  }
  return shortened;
}

template std::size_t displace<3>(TriangleMesh&, std::vector<Vec3d>, double);
template std::size_t displace<4>(TetMesh&, std::vector<Vec3d>, double);

}  // namespace isochron
