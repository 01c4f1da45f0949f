// Triangles to be looked at: tubes around paths, and superquadric glyphs of symmetric tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isochron/draw/color_map.h"
#include "isochron/mesh.h"
#include "isochron/types.h"

namespace isochron {

/// A closed surface in world coordinates, its triangles seen counter-clockwise from outside, with a normal a vertex.
struct ShadedMesh {
  TriangleMesh mesh;
  std::vector<Vec3f> normals;  ///< unit, outward
  std::vector<Color> colors;   ///< one a vertex, or none
};

// ---- Tubes around paths.

struct TubeOptions {
  double radius = 1;  ///< to the corners of the cross-section, in the unit of the coordinates
  int sides = 12;     ///< corners of the cross-section
};

struct Tube : ShadedMesh {
  std::vector<std::uint32_t> point_of;  ///< of each vertex: the point of the path that it lies at
};

/// A tube around a polyline, closed by half balls. Between two points it is a prism; its corners go on from one piece
/// to the next without turning about the path (parallel transport, so the frame is the rotation-minimising one), and
/// meet in the plane that halves the angle. Points that coincide with the one before are left out; a path of one place
/// gives a ball, one without points nothing. Throws UsageError for a radius that is not positive, fewer than three
/// sides, or points that are not finite.
Tube make_tube(std::span<const Vec3d> path, const TubeOptions& options = {});

// ---- Superquadric glyphs of symmetric tensors (Kindlmann, Superquadric tensor glyphs, 2004).

/// The shares of a tensor's eigenvalues (largest first, negative ones count as 0) that make it a line, a disc and a
/// ball (Westin): they add up to 1. All zero for a zero tensor.
struct TensorShape {
  double linear = 0, planar = 0, spherical = 0;
};
TensorShape tensor_shape(const Vec3d& eigenvalues);

/// Exponents of (|x|^(2/α) + |y|^(2/α))^(α/β) + |z|^(2/β) = 1. The main axis z is that of the largest eigenvalue when
/// the tensor is more a line than a disc, else that of the smallest.
struct GlyphShape {
  double alpha = 1, beta = 1;
  enum class Axis { largest, smallest } main = Axis::largest;
};
/// `sharpness` is γ: 0 gives ellipsoids, larger values sharper edges.
GlyphShape glyph_shape(const TensorShape& shape, double sharpness);

/// A tensor and where it is drawn.
struct TensorAt {
  Vec3d position;
  SymTensor3d tensor;
};

struct GlyphOptions {
  double size = 1;       ///< half the longest axis of every glyph, in the unit of the positions
  double sharpness = 3;  ///< γ
  /// Shortest axis per longest: thin glyphs keep an inside.
  double min_thickness = 0.05;
  int sides = 0;                      ///< around the main axis, a multiple of 4; 0: as many as `max_vertices` allows
  std::size_t max_vertices = 400000;  ///< of all glyphs together
  int threads = 1;
};

/// Sides around the main axis that so many glyphs get: 8 to 32.
int glyph_sides(std::size_t glyphs, std::size_t max_vertices);

/// One mesh of all glyphs, each closed and coloured by its principal direction. Axes are the eigenvectors, as long as
/// their eigenvalues relative to the largest. Tensors that have no positive eigenvalue or are not finite have no glyph.
/// Throws UsageError for options out of range.
ShadedMesh superquadric_glyphs(std::span<const TensorAt> tensors, const GlyphOptions& options = {});

}  // namespace isochron
