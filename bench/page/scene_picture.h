// Pictures of several coloured surfaces together: meshes with their edges, tubes, glyphs, slices, and clouds of values.
// They need no VTK and no screen.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/page/canvas.h"
#include "bench/paper/report.h"
#include "isochron/draw/shaded_mesh.h"
#include "isochron/image.h"
#include "isochron/mesh.h"

namespace isochron::bench {

/// A surface of a scene.
struct Shape {
  enum class Light {
    flat,    ///< by the triangles' normals
    smooth,  ///< by the vertices' normals
    none
  };

  enum class ColorsOf { whole, vertices, triangles };

  TriangleMesh mesh;
  std::vector<Color> colors;
  ColorsOf colors_of = ColorsOf::whole;
  Light light = Light::flat;
  bool edges = false;  ///< draws the triangles' edges as thin lines where they are long enough to be told apart
  std::vector<Vec3f> normals = {};  ///< of the vertices, for `Light::smooth`

  [[nodiscard]] Color color_at(std::size_t triangle, const Weights& weights) const;
};

/// A surface of one colour, smoothly lit.
Shape smooth_shape(TriangleMesh mesh, Color color);
/// A tube or glyphs, in its own colours or in one.
Shape shape_of(ShadedMesh mesh, std::optional<Color> color = {});

/// A slice of an image across an axis (0 to 2) in shades of grey: black at 0, white at 1. Voxels outside the mask are
/// left out.
Shape grey_slice(const ImageGrid& grid, std::span<const double> values, std::span<const std::uint8_t> mask, int axis,
                 std::uint32_t index);

/// Values of an image as a cloud: in the colours of the map from low to high, dense where they are low and clear from
/// `high` on and where they are not finite.
struct Cloud {
  const ImageGrid& grid;
  std::span<const double> values;
  double low = 0, high = 1;
  double density = 1;  ///< at `low`: how much of what is behind is hidden by one unit of length (1: 63 %)
};

struct SceneView {
  Vec3d to_eye{0.5, -0.8, 0.45};  ///< from the object to the eye
  int size = 520;                 ///< pixels of the longer side
  std::optional<Zoom> zoom = {};  ///< shows that square alone
};

struct Raster {
  std::size_t width = 0;
  std::vector<Color> pixels;  ///< the upper row first

  [[nodiscard]] std::size_t height() const { return width > 0 ? pixels.size() / width : 0; }
};

class Scene {
 public:
  void add(Shape shape);
  void set_cloud(const Cloud& cloud) { cloud_.emplace(cloud); }
  [[nodiscard]] std::size_t triangle_count() const;

  [[nodiscard]] Raster drawn(const SceneView& view) const;
  /// The whole, with a frame around what the zoom shows.
  [[nodiscard]] Raster drawn_with_frame(const SceneView& view, const Zoom& zoom) const;
  /// The same with the zoom beside it, in a frame of the same colour.
  [[nodiscard]] Raster drawn_with_zoom(SceneView view, const Zoom& zoom) const;

 private:
  [[nodiscard]] Camera camera_of(const SceneView& view) const;

  std::vector<Shape> shapes_;
  std::optional<Cloud> cloud_;
};

/// Two pictures in one, their middles at the same height.
Raster side_by_side(const Raster& left, const Raster& right);

/// Two pictures of one size as one: this share of the second, the rest of the first.
Raster blended(const Raster& first, const Raster& second, double share);

Picture picture_of(std::string name, std::string caption, const Raster& raster, PictureLegend legend = {});

}  // namespace isochron::bench
