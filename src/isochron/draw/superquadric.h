// Superquadric glyphs of symmetric tensors (Kindlmann, Superquadric tensor glyphs, 2004).
#pragma once

#include <cstddef>
#include <span>

#include "isochron/core/eigen3.h"
#include "isochron/draw/shaded_mesh.h"

namespace isochron {

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
