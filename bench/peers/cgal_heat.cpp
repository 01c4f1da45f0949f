// CGAL's heat method (Crane, Weischedel, Wardetzky 2013) on the square of the peers: cgal_heat direct|delaunay.
// CGAL's Heat_method_3 is GPL, so this program is too when built. It stands alone: it links nothing of Isochron, and
// nothing of Isochron links it.
#include <CGAL/Heat_method_3/Surface_mesh_geodesic_distances_3.h>
#include <CGAL/Simple_cartesian.h>
#include <CGAL/Surface_mesh.h>

#include <cstdio>
#include <cstring>

#include "measure.h"
#include "square_case.h"

namespace {

using peers::SquareCase;
using Kernel = CGAL::Simple_cartesian<double>;
using Mesh = CGAL::Surface_mesh<Kernel::Point_3>;
using Vertex = Mesh::Vertex_index;

Mesh square() {
  constexpr std::size_t n = SquareCase::n;
  Mesh mesh;
  mesh.reserve(n * n, 3 * n * n, 2 * n * n);
  for (std::size_t v = 0; v < n * n; ++v)
    mesh.add_vertex(Kernel::Point_3(static_cast<double>(v % n), static_cast<double>(v / n), 0));
  for (std::size_t row = 0; row + 1 < n; ++row)
    for (std::size_t column = 0; column + 1 < n; ++column) {
      const auto v = static_cast<Mesh::size_type>(row * n + column);
      const auto above = static_cast<Mesh::size_type>(v + n);
      mesh.add_face(Vertex(v), Vertex(v + 1), Vertex(above + 1));
      mesh.add_face(Vertex(v), Vertex(above + 1), Vertex(above));
    }
  return mesh;
}

template <class Mode>
peers::Row measure(const char* tool) {
  Mesh mesh = square();
  auto found = mesh.add_property_map<Vertex, double>("v:distance", 0).first;
  const double start = peers::cpu_seconds();
  CGAL::Heat_method_3::Surface_mesh_geodesic_distances_3<Mesh, Mode> heat(mesh);
  heat.add_source(Vertex(SquareCase::source));
  const double prepared = peers::cpu_seconds();
  heat.estimate_geodesic_distances(found);
  const double solved = peers::cpu_seconds();
  const double megabytes = peers::peak_megabytes();
  const auto at = [&](std::size_t v) { return found[Vertex(static_cast<Mesh::size_type>(v))]; };
  return {tool, prepared - start, solved - prepared, SquareCase::mean_error(at), megabytes};
}

}  // namespace

int main(int argc, char** argv) {
  const bool direct = argc == 2 && std::strcmp(argv[1], "direct") == 0;
  if (!direct && (argc != 2 || std::strcmp(argv[1], "delaunay") != 0)) {
    std::fprintf(stderr, "usage: cgal_heat direct|delaunay\n");
    return 2;
  }
  peers::print(direct ? measure<CGAL::Heat_method_3::Direct>("CGAL heat method")
                      : measure<CGAL::Heat_method_3::Intrinsic_Delaunay>("CGAL heat method, intrinsic Delaunay"));
  return 0;
}
