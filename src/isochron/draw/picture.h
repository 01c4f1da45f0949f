// Pictures of arrival times (a surface coloured by an array, with isochrones and a legend), and of the shapes of
// elements.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "isochron/core/progress.h"
#include "isochron/core/vec.h"
#include "isochron/draw/isochrones.h"
#include "isochron/mesh/dataset.h"
#include "isochron/mesh/simplex_mesh.h"

namespace isochron {

/// Whether lines of the data set are drawn, as tubes.
enum class LineCells { show, hide };
/// Whether the edges of the triangles are drawn, as thin lines.
enum class ElementEdges { show, hide };

struct PictureOptions {
  std::string array = "arrival_time";  ///< one-component point array that gives the colours
  std::string title;                   ///< in the upper left corner; empty for none
  std::string legend;                  ///< over the legend; empty: the array's name, "arrival time" for arrival_time
  std::string units;                   ///< behind the legend's title, in brackets
  int width = 1400;                    ///< pixels
  int height = 1000;
  /// From the object to the eye. Without it: from above for flat meshes, else from the front, right and above.
  std::optional<Vec3d> view_direction;
  std::optional<Vec3d> up;                         ///< default: z, or y for a view along z
  std::optional<CutPlane> cut;                     ///< cuts the object open; volumes show the cut face
  std::optional<std::pair<double, double>> range;  ///< values of the first and last colour; default: all finite values
  std::optional<double> isochrone_spacing;         ///< default: a round number that gives about 14 lines; 0: no lines
  LineCells lines = LineCells::show;
  ElementEdges edges = ElementEdges::hide;
  /// How many values lie in each of the equal parts of the colour range: bars beside the legend. Empty: none.
  std::vector<std::size_t> histogram;
};

/// Throws UsageError for sizes below 100 or over 16,000 pixels, a zero direction, an empty range or a negative spacing.
void check_picture_options(const PictureOptions& options);

/// Renders the triangles, or the outside of the tetrahedra when there are any, and lines as red tubes, to a PNG file
/// (written beside and renamed). Works without a screen: see `OffscreenDisplay`. Places with a value that is not finite
/// are grey. Prints nothing. Throws InputError for a missing array (listing the names), one with several components, or
/// nothing to draw, UsageError like `check_picture_options` and for a cut that leaves nothing, RuntimeError when the
/// display or the file fails, Cancelled between its steps. Takes one picture at a time: calls from several threads wait
/// for one another.
void draw_picture(const std::filesystem::path& png, const Dataset& dataset, const PictureOptions& options,
                  const Progress& progress = {});

/// Draws the triangles, or the outside of the tetrahedra, each in the colour of its radius ratio (mesh/quality.h), with
/// edges where they are not too dense, and the histogram of all elements beside the legend. A cut in `options` leaves
/// out whole elements, by their middles; array, legend, range, isochrones, edges and histogram are chosen here. Throws
/// as `draw_picture`.
void draw_quality(const std::filesystem::path& png, const TriangleMesh& mesh, PictureOptions options,
                  const Progress& progress = {});
void draw_quality(const std::filesystem::path& png, const TetMesh& mesh, PictureOptions options,
                  const Progress& progress = {});

}  // namespace isochron
