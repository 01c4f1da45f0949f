#include "isochron/tetrahedra.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "isochron/error.h"
#include "isochron/mesh.h"
#include "isochron/mesh_quality.h"
#include "isochron/surface/tetrahedra/programs.h"

namespace isochron {

namespace {

/// The program's answer cannot be used.
[[noreturn]] void refuse_answer(const std::string& problem) {
  throw RuntimeError(problem + "; try another program (" + Setting{Option::tetrahedra, "netgen|tetgen|gmsh"} +
                     ") or a finer surface");
}

/// What can be filled. Gives the volume inside.
double check_surface(const TriangleMesh& surface) {
  check_mesh(surface);
  const SurfaceTopology found = surface_topology(surface);
  const auto refuse = [](std::size_t count, const char* what) {
    if (count > 0) throw InputError(fmt::format("the surface cannot be filled ({} {}); repair it first", count, what));
  };
  refuse(found.boundary_edges.size(), "edges have one triangle only: it is open");
  refuse(found.non_manifold_edges.size(), "edges have more than two triangles");
  refuse(found.repeating_triangles, "triangles name a vertex twice");
  refuse(found.inconsistent_edges, "edges lie between triangles that face opposite ways");
  if (!(found.volume > 0))
    throw InputError("the surface cannot be filled (its triangles face inward); turn them round");
  return found.volume;
}

/// The surface with only the vertices it uses; `used[i]` is what vertex i was.
TriangleMesh compact(const TriangleMesh& surface, std::vector<VertexId>& used) {
  TriangleMesh result;
  std::vector<VertexId> place(surface.vertex_count());
  for (const auto& triangle : surface.elements)
    for (const VertexId v : triangle) place[v.index()] = v;
  for (std::size_t v = 0; v < place.size(); ++v) {
    if (!place[v].valid()) continue;
    place[v] = VertexId(used.size());
    used.push_back(VertexId(v));
    result.points.push_back(surface.points[v]);
  }
  for (const auto& t : surface.elements)
    result.elements.push_back({place[t[0].index()], place[t[1].index()], place[t[2].index()]});
  return result;
}

double volume_of(const std::vector<Vec3d>& points, const std::array<std::uint32_t, 4>& tet) {
  const Vec3d& a = points[tet[0]];
  return dot(points[tet[1]] - a, cross(points[tet[2]] - a, points[tet[3]] - a)) / 6;
}

using Face = std::array<std::uint32_t, 3>;

/// A face of a tetrahedron or a triangle of the surface, by its sorted corners.
struct FaceUse {
  Face corners;
  std::uint32_t owner;  // tetrahedron, or `of_surface`
  bool even;            // the corners are an even permutation of the owner's, seen from outside it

  static constexpr std::uint32_t of_surface = 0xffffffffU;
};

FaceUse face_use(Face corners, std::uint32_t owner) {
  bool even = true;
  const auto order = [&](int i, int j) {
    if (corners[i] <= corners[j]) return;
    std::swap(corners[i], corners[j]);
    even = !even;
  };
  order(0, 1);
  order(1, 2);
  order(0, 1);
  return {corners, owner, even};
}

/// All faces of the tetrahedra (positive volume) and the triangles of the surface, equal ones next to each other.
std::vector<FaceUse> sorted_faces(const TriangleMesh& surface, const std::vector<std::array<std::uint32_t, 4>>& tets) {
  std::vector<FaceUse> faces;
  faces.reserve(4 * tets.size() + surface.element_count());
  for (std::uint32_t t = 0; t < tets.size(); ++t) {
    const auto& c = tets[t];
    faces.push_back(face_use({c[1], c[2], c[3]}, t));
    faces.push_back(face_use({c[0], c[3], c[2]}, t));
    faces.push_back(face_use({c[0], c[1], c[3]}, t));
    faces.push_back(face_use({c[0], c[2], c[1]}, t));
  }
  for (const auto& t : surface.elements)
    faces.push_back(face_use({t[0].value, t[1].value, t[2].value}, FaceUse::of_surface));
  std::sort(faces.begin(), faces.end(), [](const FaceUse& a, const FaceUse& b) {
    return a.corners != b.corners ? a.corners < b.corners : a.owner < b.owner;
  });
  return faces;
}

template <class Visit>
void each_face(const std::vector<FaceUse>& faces, Visit&& visit) {
  for (std::size_t i = 0, next = 0; i < faces.size(); i = next) {
    while (next < faces.size() && faces[next].corners == faces[i].corners) ++next;
    visit(std::span(faces).subspan(i, next - i));
  }
}

/// Removes what programs put into cavities: everything that hangs together with a tetrahedron before a triangle.
void keep_inside(const TriangleMesh& surface, std::vector<std::array<std::uint32_t, 4>>& tets) {
  const auto faces = sorted_faces(surface, tets);
  std::vector<std::uint32_t> parent(tets.size());
  for (std::uint32_t t = 0; t < tets.size(); ++t) parent[t] = t;
  const auto root = [&](std::uint32_t t) {
    while (parent[t] != t) t = parent[t] = parent[parent[t]];
    return t;
  };
  std::vector<std::uint32_t> outside;
  each_face(faces, [&](std::span<const FaceUse> uses) {
    if (uses.back().owner != FaceUse::of_surface) {
      if (uses.size() == 2) parent[root(uses[0].owner)] = root(uses[1].owner);
      return;
    }
    for (const FaceUse& use : uses.first(uses.size() - 1))
      if (use.even != uses.back().even) outside.push_back(use.owner);
  });
  std::set<std::uint32_t> drop;
  for (const std::uint32_t t : outside) drop.insert(root(t));
  if (drop.empty()) return;
  std::size_t kept = 0;
  for (std::uint32_t t = 0; t < tets.size(); ++t)
    if (drop.count(root(t)) == 0) tets[kept++] = tets[t];
  tets.resize(kept);
}

/// The surface's triangles, each with one tetrahedron behind it, are all the boundary there is.
void check_boundary(const TriangleMesh& surface, const std::vector<std::array<std::uint32_t, 4>>& tets) {
  std::size_t wrong = 0;
  each_face(sorted_faces(surface, tets), [&](std::span<const FaceUse> uses) {
    if (uses.size() != 2 || (uses[1].owner == FaceUse::of_surface) != (uses[0].even == uses[1].even)) ++wrong;
  });
  if (wrong > 0)
    refuse_answer(fmt::format(
        "the tetrahedra do not fit the surface ({} faces are not shared by two of them or one and the surface)",
        wrong));
}

/// Brings the answer into our form and checks it: the surface's own points first, volumes positive, boundary kept.
void take_answer(const TriangleMesh& surface, double volume, TetAnswer& answer) {
  if (answer.tets.empty()) refuse_answer("no tetrahedra were made (the program gave up)");
  const double size = std::cbrt(volume);
  bool in_place = answer.points.size() >= surface.vertex_count();
  for (std::size_t v = 0; in_place && v < surface.vertex_count(); ++v)
    in_place = norm(answer.points[v] - surface.points[v]) <= 1e-6 * size;
  if (!in_place) refuse_answer("the program moved or lost points of the surface");
  std::copy(surface.points.begin(), surface.points.end(), answer.points.begin());
  for (auto& tet : answer.tets) {
    for (const std::uint32_t corner : tet)
      if (corner >= answer.points.size()) refuse_answer("the program's answer names points that are not there");
    if (volume_of(answer.points, tet) < 0) std::swap(tet[2], tet[3]);
  }
  keep_inside(surface, answer.tets);
  check_boundary(surface, answer.tets);
  double sum = 0;
  std::size_t flat = 0;
  for (const auto& tet : answer.tets) {
    const double one = volume_of(answer.points, tet);
    sum += one;
    if (!(one > 0)) ++flat;
  }
  if (flat > 0) refuse_answer(fmt::format("{} of the tetrahedra have no volume", flat));
  if (!(std::abs(sum - volume) <= 1e-6 * volume))
    refuse_answer(
        fmt::format("the tetrahedra overlap or leave gaps (their volume is {:g}, the surface's {:g})", sum, volume));
}

/// Adds the tetrahedra inside one closed surface; `points` of `result` start with those of `whole`, whose triangles
/// `surface` are.
void add_region(const TriangleMesh& surface, std::int32_t label, const TetOptions& options, const Progress& progress,
                FilledSurface& result) {
  const double volume = check_surface(surface);
  std::vector<VertexId> places;
  const TriangleMesh closed = compact(surface, places);
  TetAnswer answer = ask_program(closed, options, progress);
  take_answer(closed, volume, answer);
  // Points of no tetrahedron, as in a cavity, are left behind.
  places.resize(answer.points.size());
  for (const auto& tet : answer.tets) {
    TetMesh::Element element;
    for (int k = 0; k < 4; ++k) {
      VertexId& place = places[tet[k]];
      if (!place.valid()) {
        place = VertexId(result.mesh.vertex_count());
        result.mesh.points.push_back(answer.points[tet[k]]);
      }
      element[k] = place;
    }
    result.mesh.elements.push_back(element);
    result.region.push_back(label);
  }
}

void check_options(const TetOptions& options) {
  const auto positive = [](double value) { return value > 0; };
  if (!positive(options.largest) ||
      !std::all_of(options.sizes.begin(), options.sizes.end(), [&](const SizePoint& s) { return positive(s.size); }))
    throw UsageError("a size of tetrahedra is not positive; give lengths above 0");
  if (!(options.grading > 0 && options.grading <= 1))
    throw UsageError(fmt::format("a grading of {:g} is not possible; give a number above 0, up to 1", options.grading));
}

}  // namespace

FilledSurface tetrahedralize(const TriangleMesh& surface, const TetOptions& options, const Progress& progress) {
  check_options(options);
  FilledSurface result;
  result.mesh.points = surface.points;
  add_region(surface, 1, options, progress, result);
  return result;
}

FilledSurface tetrahedralize_regions(const TriangleMesh& surface, std::span<const RegionSides> sides,
                                     const TetOptions& options, const Progress& progress) {
  check_options(options);
  if (sides.size() != surface.element_count())
    throw UsageError(fmt::format("{} pairs of regions for {} triangles (each needs one); give as many", sides.size(),
                                 surface.element_count()));
  std::map<std::int32_t, TriangleMesh> regions;
  for (std::size_t t = 0; t < sides.size(); ++t) {
    auto triangle = surface.elements[t];
    if (sides[t].behind == sides[t].before) continue;
    if (sides[t].behind != 0) regions[sides[t].behind].elements.push_back(triangle);
    std::swap(triangle[1], triangle[2]);
    if (sides[t].before != 0) regions[sides[t].before].elements.push_back(triangle);
  }
  FilledSurface result;
  result.mesh.points = surface.points;
  for (auto& [label, region] : regions) {
    region.points = surface.points;
    try {
      add_region(region, label, options, progress, result);
    } catch (const InputError& error) {
      throw InputError(fmt::format("region {}: ", label) + error.detail(), error.file());
    } catch (const RuntimeError& error) {
      throw RuntimeError(fmt::format("region {}: ", label) + error.detail(), error.file());
    }
  }
  if (result.mesh.elements.empty())
    throw InputError(
        "no triangle has a region behind or before it (there is nothing to fill); give labels other than 0");
  return result;
}

RegionBoundary region_boundary(const TriangleMesh& surface, std::span<const RegionSides> sides) {
  RegionBoundary result;
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> tags;
  std::int32_t largest = 0;
  for (std::size_t t = 0; t < sides.size(); ++t) {
    auto [a, b] = sides[t];
    if (a == b) continue;
    auto triangle = surface.elements[t];
    if (a == 0 || (b != 0 && b < a)) {
      std::swap(a, b);
      std::swap(triangle[1], triangle[2]);
    }
    result.triangles.push_back(triangle);
    result.region_a.push_back(a);
    result.region_b.push_back(b);
    tags[{a, b}] = 0;
    largest = std::max({largest, a, b});
  }
  for (auto& [pair, tag] : tags) tag = ++largest;
  for (std::size_t t = 0; t < result.triangles.size(); ++t)
    result.tag.push_back(tags[{result.region_a[t], result.region_b[t]}]);
  return result;
}

std::vector<SizePoint> sample_sizes(Vec3d low, Vec3d high, const std::function<double(Vec3d)>& size, std::size_t most) {
  // Boxes are cut in eight until they are at most two sizes wide; those beyond the box asked for are dropped.
  struct Cell {
    Vec3d middle;
    double width;
  };
  const Vec3d extent = high - low, center = 0.5 * (low + high);
  const auto beyond = [&](const Cell& cell) {
    for (int i = 0; i < 3; ++i)
      if (std::abs(cell.middle[i] - center[i]) > 0.5 * (extent[i] + cell.width)) return true;
    return false;
  };
  std::vector<SizePoint> result;
  std::vector<Cell> open{{center, std::max({extent.x, extent.y, extent.z})}};
  while (!open.empty()) {
    const Cell cell = open.back();
    open.pop_back();
    if (beyond(cell)) continue;
    const double here = size(cell.middle);
    if (!(here > 0)) throw UsageError(fmt::format("a size of {:g} is not a positive length; give one", here));
    if (cell.width <= 2 * here) {
      result.push_back({cell.middle, here});
      continue;
    }
    if (result.size() + open.size() + 8 > most)
      throw UsageError(fmt::format("sizes this small need more than {} places; ask for larger ones", most));
    for (int k = 0; k < 8; ++k) {
      const Vec3d to{(k & 1) != 0 ? 1.0 : -1.0, (k & 2) != 0 ? 1.0 : -1.0, (k & 4) != 0 ? 1.0 : -1.0};
      open.push_back({cell.middle + 0.25 * cell.width * to, cell.width / 2});
    }
  }
  return result;
}

}  // namespace isochron
