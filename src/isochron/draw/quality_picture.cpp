#include "isochron/draw.h"

#include <algorithm>

#include "isochron/error.h"
#include "isochron/mesh/closest_point.h"
#include "isochron/mesh_quality.h"

namespace isochron {

namespace {

constexpr std::size_t bins = 40;
constexpr auto array_name = "radius_ratio";

/// Triangles that share no vertex, so that each has one colour.
struct ColoredTriangles {
  Dataset dataset;
  std::vector<float> values;

  void add(const std::array<Vec3d, 3>& corners, double value) {
    std::array<VertexId, 3> ids;
    for (int k = 0; k < 3; ++k) {
      ids[k] = VertexId(dataset.points.size());
      dataset.points.push_back(corners[k]);
      values.push_back(static_cast<float>(value));
    }
    dataset.triangles.cells.push_back(ids);
  }
};

template <int Corners>
std::vector<ElementId> elements_left_by(const std::optional<CutPlane>& cut, const SimplexMesh<Corners>& mesh) {
  std::vector<ElementId> left;
  for (std::size_t e = 0; e < mesh.element_count(); ++e) {
    Vec3d middle;
    for (const Vec3d& x : corner_points(mesh, ElementId(e))) middle += x / Corners;
    if (!cut || dot(middle - cut->point, cut->normal) <= 0) left.emplace_back(e);
  }
  if (left.empty() && mesh.element_count() > 0)
    throw UsageError("there is nothing left to draw (the cut removes everything); move the cut plane");
  return left;
}

/// The faces of these tetrahedra that no two of them share.
ColoredTriangles outside_of(const TetMesh& mesh, const std::vector<ElementId>& tets,
                            const std::vector<double>& values) {
  struct Side {
    std::array<VertexId, 3> sorted;
    std::uint32_t tet;
  };
  std::vector<Side> sides;
  sides.reserve(4 * tets.size());
  for (const ElementId t : tets)
    for (int without = 0; without < 4; ++without) {
      Side side{{}, t.value};
      for (int k = 0, n = 0; k < 4; ++k)
        if (k != without) side.sorted[n++] = mesh.element(t)[k];
      std::sort(side.sorted.begin(), side.sorted.end());
      sides.push_back(side);
    }
  std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) { return a.sorted < b.sorted; });
  ColoredTriangles result;
  for (std::size_t i = 0, next = 0; i < sides.size(); i = next) {
    while (next < sides.size() && sides[next].sorted == sides[i].sorted) ++next;
    const auto& ids = sides[i].sorted;
    if (next - i == 1) result.add({mesh.point(ids[0]), mesh.point(ids[1]), mesh.point(ids[2])}, values[sides[i].tet]);
  }
  return result;
}

void draw(const std::filesystem::path& png, ColoredTriangles triangles, const std::vector<double>& ratios,
          PictureOptions& options, const Progress& progress) {
  Distribution all(0, 1);
  for (const double ratio : ratios) all.add(ratio);
  options.array = array_name;
  options.legend = "radius ratio";
  options.range = {0, 1};
  options.isochrone_spacing = 0;
  options.cut.reset();
  options.histogram = all.histogram(bins);
  // Lines would leave nothing of triangles below some twenty pixels; about half of them is behind the others.
  constexpr std::size_t pixels_a_triangle = 20;
  const std::size_t pixels = static_cast<std::size_t>(options.width) * static_cast<std::size_t>(options.height);
  options.edges = triangles.dataset.triangles.cells.size() / 2 * pixels_a_triangle < pixels ? ElementEdges::show
                                                                                            : ElementEdges::hide;
  triangles.dataset.point_data.set({array_name, 1, std::move(triangles.values)});
  draw_picture(png, triangles.dataset, options, progress);
}

}  // namespace

void draw_quality(const std::filesystem::path& png, const TriangleMesh& mesh, PictureOptions options,
                  const Progress& progress) {
  check_picture_options(options);
  const std::vector<double> ratios = radius_ratios(mesh);
  ColoredTriangles triangles;
  for (const ElementId e : elements_left_by(options.cut, mesh))
    triangles.add(corner_points(mesh, e), ratios[e.index()]);
  draw(png, std::move(triangles), ratios, options, progress);
}

void draw_quality(const std::filesystem::path& png, const TetMesh& mesh, PictureOptions options,
                  const Progress& progress) {
  check_picture_options(options);
  const std::vector<double> ratios = radius_ratios(mesh);
  draw(png, outside_of(mesh, elements_left_by(options.cut, mesh), ratios), ratios, options, progress);
}

}  // namespace isochron
