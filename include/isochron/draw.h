// Pictures of arrival times and meshes; isochrones, boundaries and cuts.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "isochron/dataset.h"
#include "isochron/io.h"
#include "isochron/mesh.h"
#include "isochron/progress.h"
#include "isochron/types.h"

namespace isochron {

// ---- Isochrones: lines and surfaces of equal value, the outside of a volume to draw them on, and cuts with a plane.

/// A face of a tetrahedral mesh, its corners turned so that its normal points out, and the tetrahedron it belongs to.
struct BoundaryFace {
  std::array<VertexId, 3> corners;
  ElementId tet;
};

/// The faces that belong to one tetrahedron only, in order of their smallest vertex. Sorts by counting: linear in the
/// number of faces, and in memory bounded whatever the mesh.
std::vector<BoundaryFace> boundary_faces(std::span<const Vec3d> points, std::span<const TetMesh::Element> tets);

/// The outside of the data set's tetrahedra as a surface of its own: only the points on it, with their arrays, and the
/// arrays of the tetrahedra behind its triangles. Triangles and lines of the data set are left out.
Dataset boundary_surface(const Dataset& dataset);

/// The round spacing (1, 2 or 5 times a power of ten) of which about so many multiples lie between low and high: at
/// most twice, at least half as many. 0 when low < high does not hold or one of them is not finite.
double round_spacing(double low, double high, int about);
/// The multiples of that spacing strictly between low and high; empty where it is 0.
std::vector<double> round_levels(double low, double high, int about);
/// Multiples of `spacing` > 0 strictly between low and high. Throws UsageError when there are more than 10,000.
std::vector<double> spaced_levels(double low, double high, double spacing);

/// Polylines on the triangles where the (one-component) point array `array` has the given values, closed ones with the
/// first point repeated. The result's `line_data` array `array` holds each line's level; the other point arrays of the
/// surface are interpolated, `fiber`, `sheet` and `normal` of three components as directions without sign. Triangles
/// with a corner that is not finite (not reached) are left out. Throws InputError when the array is missing (listing
/// the names) or has several components.
Dataset isolines(const Dataset& surface, std::string_view array, std::span<const double> levels);

/// Triangles inside the tetrahedra where the point array has the given values, facing larger values. `triangles.data`
/// holds the level under the array's name. Otherwise like `isolines`.
Dataset isosurfaces(const Dataset& volume, std::string_view array, std::span<const double> levels);

/// The same for values that are no array of the data set, one per point; the levels are in the array "level".
Dataset level_surfaces(const Dataset& volume, std::span<const double> values, std::span<const double> levels);

// ---- Cutting a data set open with a plane.

/// The plane through `point`; what lies on the side that `normal` points to is removed.
struct CutPlane {
  Vec3d point;
  Vec3d normal{1, 0, 0};
};

/// Throws UsageError when all points of the data set lie on the side that is removed.
void check_cut(const Dataset& dataset, const CutPlane& plane);

/// The part of a surface (triangles and lines left out elsewhere) that stays, with interpolated point arrays; triangles
/// the plane crosses are cut along it.
Dataset clip_surface(const Dataset& surface, const CutPlane& plane);

/// The part of the plane that lies inside the tetrahedra, as triangles facing along the normal, with interpolated point
/// arrays.
Dataset cut_face(const Dataset& volume, const CutPlane& plane);

/// One data set with the points and triangles of both; only point arrays that both have are kept.
Dataset merged_surfaces(const Dataset& first, const Dataset& second);

// ---- Pictures of arrival times (a surface coloured by an array, with isochrones and a legend), and of the shapes of
// elements.

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
  Overwrite overwrite = Overwrite::yes;
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

/// Draws the triangles, or the outside of the tetrahedra, each in the colour of its radius ratio
/// (isochron/mesh_quality.h), with edges where they are not too dense, and the histogram of all elements beside the
/// legend. A cut in `options` leaves out whole elements, by their middles; array, legend, range, isochrones, edges and
/// histogram are chosen here. Throws as `draw_picture`.
void draw_quality(const std::filesystem::path& png, const TriangleMesh& mesh, PictureOptions options,
                  const Progress& progress = {});
void draw_quality(const std::filesystem::path& png, const TetMesh& mesh, PictureOptions options,
                  const Progress& progress = {});

}  // namespace isochron
