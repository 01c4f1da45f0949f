// How meshes and images are described and sent: the triangles a browser draws (the surface itself, or the outside of
// tetrahedra), arrays on them, and the voxels of images.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "apps/viewer/server/wire.h"
#include "isochron/dataset.h"
#include "isochron/image.h"

namespace isochron::viewer {

struct DrawnMesh {
  Dataset surface;                 ///< points and triangles alone
  std::vector<VertexId> vertex;    ///< in the file, of each point
  std::vector<ElementId> element;  ///< in the file, behind each triangle

  /// Values of all vertices of the file at the drawn points.
  [[nodiscard]] std::vector<double> at_points(std::span<const double> values) const;
};

/// What is drawn of the file's triangles, or of its tetrahedra where it has some.
DrawnMesh draw_mesh(const Dataset& file);

/// A file's arrays on its points and on the cells that are drawn.
struct FileArrays {
  const DataArrays& points;
  const DataArrays& cells;
};

/// points, triangles, vertex, line_points and line_offsets.
Pack pack_geometry(const DrawnMesh& drawn, std::span<const Vec3d> points,
                   const std::vector<std::vector<VertexId>>& lines);

/// Polylines as `<name>_points` and `<name>_offsets`.
void add_lines(Pack& pack, const std::string& name, std::span<const Vec3d> points,
               const std::vector<std::vector<VertexId>>& lines);
/// `<prefix>points` and `<prefix>triangles`.
void add_triangles(Pack& pack, const std::string& prefix, std::span<const Vec3d> points,
                   std::span<const std::array<VertexId, 3>> triangles, std::string_view units = {});

/// An array of the file at the drawn points or triangles, as `values`. Throws InputError when there is none.
Pack pack_array(const DrawnMesh& drawn, const FileArrays& file, const std::string& name, const std::string& on);

/// Short lines along the vectors of an array at about `count` places of the surface, as `segments`. Throws InputError
/// when there is no such array with 3 components.
Pack pack_vectors(const DrawnMesh& drawn, const FileArrays& file, const std::string& name, std::size_t count);

/// Entries of /api/state that every image has: bounds (of whole voxels), units, shape, spacing and affine (voxel to
/// world, 16 numbers row by row), and those of meshes, empty.
Json describe_image(const ImageGrid& grid, std::string_view kind, const std::string& units);

/// The shape of an array with a value (or several) for each voxel: the last axis first, as the values lie in memory.
Pack::Shape volume_shape(const ImageGrid& grid);
/// `name` as an array of that shape.
void add_volume(Pack& pack, std::string_view name, const ImageGrid& grid, std::span<const float> values);

void add_vectors(Pack& pack, const std::string& name, std::span<const Vec3f> vectors);

}  // namespace isochron::viewer
