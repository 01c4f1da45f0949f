// From a label map to one mesh of the surfaces between all its materials, and whether that shows all of each one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "isochron/core/progress.h"
#include "isochron/mesh/image.h"
#include "isochron/mesh/simplex_mesh.h"
#include "isochron/surface/extract.h"
#include "isochron/surface/field/multi_label.h"
#include "isochron/surface/tetrahedra/tetrahedralize.h"
#include "isochron/surface/triangulate/compare.h"

namespace isochron {

/// How a component of a material's border came out.
struct MaterialDifference {
  std::int32_t material = 0;  ///< label
  SurfaceDifference border;
};

/// Compares the border of each material with the isosurface of its field, but for components below a voxel's volume
/// that only the mesh has. The mesh is in the lattice's frame; `sides` has the labels of the image. Throws Cancelled.
std::vector<MaterialDifference> material_differences(const MultiLabelField& field, const TriangleMesh& mesh,
                                                     std::span<const RegionSides> sides, int threads,
                                                     const Progress& progress = {});

/// The borders of all materials, those between two of them once, by marching tetrahedra at `times` as many points along
/// each axis as the lattice has, in its frame. Throws Cancelled.
TriangleMesh material_isosurface(const MultiLabelField& field, int times, int threads, const Progress& progress = {});

/// Triangles between materials, each once, in world coordinates, and how they came about. 0 is outside.
struct ExtractedMaterials {
  TriangleMesh mesh;
  std::vector<RegionSides> sides;       ///< of each triangle: the labels behind and before it
  std::vector<std::int32_t> materials;  ///< those that have triangles, ascending, without 0
  std::vector<double> sizes;            ///< the edge length wanted at each vertex
  SizeField size_field;                 ///< and everywhere around, in the lattice's frame
  LatticeFrame frame;                   ///< of the lattice
  std::size_t samples = 0;              ///< points before the triangulation's repair
  std::size_t junction_samples = 0;     ///< those of them where three or more materials meet
  TriangulateReport triangulation;
  std::vector<MaterialDifference> differences;  ///< from what the image has; places are in the world
  TriangleMesh isosurface;                      ///< with `ExtractOptions::Isosurface::fine`: of all borders, else empty
  double expected_particles = 0;
  double field_seconds = 0;
  ExtractTimes times;              ///< `seeding` is that of the samples
  std::vector<std::string> notes;  ///< what the user should know, a line each
};

/// Meshes the borders of some materials of a label map; all other labels count as outside, as does everything beyond
/// the image. No materials: all but 0. Of the options, `seeds`, `triangles.expected`, and `backend` and `watch` of the
/// particles are not used; sizes are the smallest that any of the materials asks for. Each material's border is closed
/// and manifold (unless a note says otherwise), and neighbours share their triangles. Throws InputError for labels that
/// the image does not have or that all voxels have, and like `extract_surface`; UsageError for material 0.
ExtractedMaterials extract_materials(const ImageGrid& grid, std::span<const std::int32_t> labels,
                                     const std::set<std::int32_t>& materials, const FieldOptions& field = {},
                                     const ExtractOptions& options = {});

/// The closed border of one material, its triangles seen counter-clockwise from outside of it. Has all the points.
TriangleMesh border_of(const TriangleMesh& mesh, std::span<const RegionSides> sides, std::int32_t material);

}  // namespace isochron
