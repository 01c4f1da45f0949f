// What `isochron solve` was asked for, and its steps.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/isochron/array_choice.h"
#include "apps/isochron/image_input.h"
#include "isochron/arrival.h"
#include "isochron/dataset.h"
#include "isochron/draw.h"
#include "isochron/error.h"
#include "isochron/image.h"
#include "isochron/io.h"
#include "isochron/io/tables.h"
#include "isochron/mesh/box_tree.h"
#include "isochron/metric_arrays.h"
#include "isochron/options.h"
#include "isochron/parts.h"
#include "isochron/path.h"
#include "isochron/solver.h"
#include "isochron/sources.h"

namespace isochron::cli {

struct SourceRequest {
  std::vector<std::vector<IdRange>> ids;
  std::vector<Vec3d> points;
  std::vector<std::filesystem::path> files;
  std::vector<NameValue> tags;
  std::optional<double> time;  ///< onset of the sources that bring none themselves
  std::string level_set;

  [[nodiscard]] bool empty() const {
    return ids.empty() && points.empty() && files.empty() && tags.empty() && level_set.empty();
  }
};

struct ProbeRequest {
  std::filesystem::path points;
  std::filesystem::path output;
  std::optional<double> tolerance;  ///< in the file's unit; default 1 % of the mesh's diagonal
};

struct PictureRequest {
  std::filesystem::path file;
  PictureOptions options;
};

enum class Elements { automatic, triangle, tet };

struct SolveRequest {
  std::filesystem::path mesh;
  std::filesystem::path output;
  ArrayNames arrays;  ///< of the input, that -o keeps
  Overwrite overwrite = Overwrite::no;
  SourceRequest sources;
  MetricRequest metric;
  Elements elements = Elements::automatic;
  std::optional<double> unit;  ///< mm in one unit of the file's coordinates
  SolveOptions options;
  ProbeRequest probe;
  PictureRequest picture;
  bool each_source = false;             ///< every source is a solve of its own
  std::filesystem::path matrix;         ///< their times at one another
  MaskRequest mask;                     ///< of images
  TensorLayout tensors;                 ///< as given; of images the file may tell it
  RawRequest raw;                       ///< of images that are bare numbers
  int team = 0;                         ///< ranks, when asked for
  std::optional<Backend> rank_backend;  ///< of each of them

  /// -o has a row of times for each source.
  [[nodiscard]] bool to_rows() const;
  /// -o has values at vertices or voxels alone, without the mesh.
  [[nodiscard]] bool to_vertex_values() const;
  [[nodiscard]] bool to_mesh() const { return !output.empty() && !to_rows() && !to_vertex_values(); }
  /// -o has room for arrays of the input.
  [[nodiscard]] bool holds_input_arrays() const;
  /// -o is a set of pieces, one for each rank.
  [[nodiscard]] bool to_pieces() const;
  [[nodiscard]] bool on_image() const { return is_image(mesh, raw); }
  [[nodiscard]] bool floor_given() const { return metric.eigenvalue_floor != default_eigenvalue_floor; }
};

/// Runs everything; gives the exit code.
int run_solve(const SolveRequest& request, Console& console);
/// Throws before the work what can be known then: too little or too much asked for, outputs that cannot be written.
void check_request(const SolveRequest& request);

/// Small files that go with the mesh, read before it so that what is wrong with them shows at once.
struct SideInputs {
  std::vector<std::vector<SourceRow>> source_rows;  ///< per source file
  NamedPoints probes;
};
SideInputs read_side_inputs(const SolveRequest& request);

/// What ids are ids of: so many vertices of a mesh, or voxels of an image.
struct IdSpace {
  std::size_t count;
  const char* holder;  ///< "mesh"
  const char *one, *many;

  /// Throws InputError for an id that is not there. `what` has it: "source". `file` is where it comes from; empty: the
  /// command line.
  void check(std::string_view what, std::size_t id, const std::filesystem::path& file = {}) const;
};

/// The sources, in the file's unit. `Corners` are those of the elements that are solved on; a tag may also stand
/// on cells of the other kind. Throws InputError.
template <int Corners>
Sources gather_sources(const SolveRequest& request, const SideInputs& inputs, const Dataset& dataset, Console& console);

/// Those of the sources that are named by id or place, on a mesh of so many vertices. Throws InputError.
Sources gather_named_sources(const SolveRequest& request, const SideInputs& inputs, std::size_t vertices);

/// Cells of one kind and the arrays on them, wherever they are.
template <int Corners>
struct TaggedCells {
  std::span<const std::array<VertexId, Corners>> cells;
  const DataArrays& data;
};
/// Marks the vertices where a tag has its value, and gives whether there is such an array: on the points, on cells.
bool mark_points(const DataArrays& arrays, const NameValue& tag, std::vector<bool>& marked);
template <int Corners>
bool mark_cells(const TaggedCells<Corners>& on, const NameValue& tag, std::vector<bool>& marked);
/// Throws InputError unless there is an array of a tag's name and something has its value.
void check_tag(const NameValue& tag, bool found, bool any);

/// The same for an image: ids are voxels, and tags are arrays of the image.
Sources gather_voxel_sources(const SolveRequest& request, const SideInputs& inputs, const Image& image);
/// The same for an image of so many voxels; `tagged` gives those that a tag marks, ascending.
using TaggedVoxels = std::function<std::vector<VertexId>(const NameValue& tag)>;
Sources gather_voxel_sources(const SolveRequest& request, const SideInputs& inputs, std::size_t voxels,
                             const TaggedVoxels& tagged);
/// The voxels of an image that a tag marks. Throws InputError when there is no such array.
std::vector<VertexId> tagged_voxels(const Image& image, const NameValue& tag);

/// The times, moved out, in the precision that they were computed in.
DataArray times_array(std::string name, Arrival& arrival);
/// Moves the arrays of the result into the data.
void add_result(Arrival& arrival, DataArrays& data);
/// True for the names of those arrays: arrival_time, arrival_time_0 and so on, source, reached, the upwind arrays.
bool made_by_solve(std::string_view name);
/// Takes earlier results out: beside new ones they would pass for a part of them.
void drop_results(DataArrays& data);

/// Where the vertices or voxels of a result are.
using PositionOf = std::function<Vec3d(std::size_t)>;
/// Writes the results among the arrays without the mesh.
void write_vertex_results(const SolveRequest& request, const DataArrays& data, const PositionOf& position_of,
                          OutputFiles& files);

/// Squares of lengths must neither overflow nor vanish: all times would be infinite, or zero. Throws InputError.
void check_size(const Box& box);

/// Warns of cells and lines that are not solved on.
template <int Corners>
void warn_left_out(const SolveRequest& request, std::size_t other_cells, std::size_t lines, Console& console);

/// Removes the cells of the kind that is not solved on. An output that cannot be written is refused before any warning:
/// the error is all that counts then. `result` is what the output is to hold: "arrival times".
template <int Corners>
void drop_other_cells(const SolveRequest& request, std::string_view result, Dataset& dataset, Console& console);

/// How far a point may be from the mesh or image where no option says it.
double default_reach(const Box& box);
double default_reach(const ImageGrid& grid);

/// Regions whose velocities are the same in all directions although there are fibres: mostly one was forgotten.
void note_unused_fibers(const MetricRequest& metric, std::vector<std::string>& notes);

/// Everything wrong with the data after it was read is still about that file.
template <class Work>
auto about_file(const std::filesystem::path& file, Work&& work) {
  try {
    return work();
  } catch (const InputError& error) {
    if (error.file() == file.string()) throw;
    const Message other = error.file().empty() ? Message() : Message(error.file() + ": ");
    throw InputError(other + error.detail(), file.string());
  }
}

/// Says how many points are outside, of a mesh or image that is `what`.
void warn_outside(const ProbeRequest& probe, const std::vector<ProbeTime>& probed, const std::string& what,
                  Console& console);
/// Says that the file holds the times to few digits.
void warn_rounded_times(const SolveRequest& request, const Sources& sources, const Arrival& arrival, Console& console);
/// As CSV: x,y,z,time,distance, with the name in front when there are names.
void write_probes(const OutputFile& file, const NamedPoints& points, const std::vector<ProbeTime>& times);

/// Throws before the work what can be known then of a picture.
void check_picture(const PictureRequest& picture, Overwrite overwrite);

}  // namespace isochron::cli
