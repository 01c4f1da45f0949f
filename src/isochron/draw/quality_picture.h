// Pictures of how well shaped the elements of a mesh are.
#pragma once

#include <filesystem>

#include "isochron/draw/picture.h"
#include "isochron/mesh/simplex_mesh.h"

namespace isochron {

/// Draws the triangles, or the outside of the tetrahedra, each in the colour of its radius ratio (mesh/quality.h), with
/// edges where they are not too dense, and the histogram of all elements beside the legend. A cut in `options` leaves
/// out whole elements, by their middles; array, legend, range, isochrones, edges and histogram are chosen here. Throws
/// as `draw_picture`.
void draw_quality(const std::filesystem::path& png, const TriangleMesh& mesh, PictureOptions options,
                  const Progress& progress = {});
void draw_quality(const std::filesystem::path& png, const TetMesh& mesh, PictureOptions options,
                  const Progress& progress = {});

}  // namespace isochron
