#include "isochron/surface/compare_materials.h"

#include "isochron/mesh/closest_point.h"
#include "isochron/mesh/topology.h"
#include "isochron/surface/extract_materials.h"
#include "isochron/surface/field/isosurface.h"

namespace isochron {
namespace {

using Index = MultiLabelField::Index;

TriangleMesh border_isosurface(const MultiLabelField& field, Index material, int times, int threads) {
  const Vec3d corner = field.part_corner(material);
  TriangleMesh mesh = marching_tetrahedra(field.part_lattice(material), times, threads,
                                          [&](Vec3d p) { return field.border_level(material, corner + p); });
  for (Vec3d& p : mesh.points) p += corner;
  return mesh;
}

// Calls `visit(material)` for all but outside.
template <class Visit>
void for_materials(const MultiLabelField& field, const Progress& progress, Visit&& visit) {
  const std::size_t count = field.labels().size();
  for (Index material = 0; material < count; ++material) {
    progress.update(static_cast<double>(material) / static_cast<double>(count));
    if (material != field.outside()) visit(material);
  }
}

std::vector<SurfaceDifference> differences(const TriangleMesh& expected, TriangleMesh found, double voxel,
                                           int threads) {
  if (!found.elements.empty()) {
    const ExpectedSurface surface(expected, threads);
    surface.drop_specks(found, voxel);  // the spline makes some between voxels
    return surface.differences(found);
  }
  std::vector<SurfaceDifference> all_lost;
  const SurfaceTopology topology = surface_topology(expected);
  for (std::size_t c = 0; c < topology.components.size(); ++c) {
    const SurfaceComponent& one = topology.components[c];
    all_lost.push_back({SurfaceDifference::Kind::lost, c, one.area, expected.point(expected.element(one.first)[0]),
                        one.euler_characteristic(), 0});
  }
  return all_lost;
}

}  // namespace

std::vector<MaterialDifference> material_differences(const MultiLabelField& field, const TriangleMesh& mesh,
                                                     std::span<const RegionSides> sides, int threads,
                                                     const Progress& progress) {
  std::vector<MaterialDifference> result;
  const Vec3d spacing = field.lattice().spacing;
  const double voxel = spacing.x * spacing.y * spacing.z;
  for_materials(field, progress, [&](Index material) {
    const std::int32_t label = field.labels()[material];
    const TriangleMesh expected = border_isosurface(field, material, 1, threads);
    for (const SurfaceDifference& one : differences(expected, border_of(mesh, sides, label), voxel, threads))
      result.push_back({label, one});
  });
  return result;
}

TriangleMesh material_isosurface(const MultiLabelField& field, int times, int threads, const Progress& progress) {
  TriangleMesh all;
  for_materials(field, progress, [&](Index material) {
    const TriangleMesh one = border_isosurface(field, material, times, threads);
    const std::size_t first = all.points.size();
    all.points.insert(all.points.end(), one.points.begin(), one.points.end());
    for (std::size_t t = 0; t < one.element_count(); ++t) {
      const auto x = corner_points(one, ElementId(t));
      const MultiLabelField::Nearest near = field.nearest((x[0] + x[1] + x[2]) / 3);
      const Index other = near.index[near.index[0] == material ? 1 : 0];
      if (other != field.outside() && other < material) continue;  // it is there already
      auto corners = one.elements[t];
      for (VertexId& v : corners) v = VertexId(first + v.index());
      all.elements.push_back(corners);
    }
  });
  return all;
}

}  // namespace isochron
