// What `isochron path` was asked for, and its steps.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/isochron/solve.h"
#include "isochron/trace/path.h"

namespace isochron::cli {

struct PathRequest {
  SolveRequest problem;  ///< the file with the times, its mesh, sources and metric
  std::string time_array = "arrival_time";
  std::vector<std::vector<IdRange>> ids;
  std::vector<Vec3d> points;
  std::vector<std::filesystem::path> files;
  std::optional<double> tolerance;  ///< of points, in the file's unit; default 1 % of the mesh's diagonal
  std::filesystem::path image;      ///< that was solved, where the file with the times has nothing but them
  bool raw = false;                 ///< characteristics as they are traced
  std::filesystem::path output;
  bool force = false;

  [[nodiscard]] Overwrite overwrite() const { return force ? Overwrite::yes : Overwrite::no; }
};

/// Where a path is wanted to.
struct PathTarget {
  std::optional<VertexId> vertex;  ///< or a point
  Vec3d point{};
  std::string name{};           ///< from a file of named points
  const char* kind = "vertex";  ///< or "voxel"
};

/// "vertex 5", "point 1,2,3", with the name where there is one.
std::string describe(const PathTarget& target);

/// One target and what came of it.
struct TracedTarget {
  PathTarget target;
  Path path;          ///< empty where there is none
  std::string why{};  ///< then the reason
};

struct PathSummary {
  std::filesystem::path input;
  std::filesystem::path written;
  std::vector<TracedTarget> targets;
  bool guessed_sources = false;
};

/// Everything asked for, by id out of `count` of a kind ("vertex", "vertices", of the "mesh") or elsewhere.
struct PathSpace {
  std::size_t count;
  const char *holder, *one, *many;
};
std::vector<TracedTarget> gather_targets(const PathRequest& request, const PathSpace& space);

/// The times in the array asked for, null where there is none. Throws InputError.
std::vector<double> read_times(const PathRequest& request, const DataArray* array);
/// By the labels of the solve: the earliest place of each source.
Sources sources_by_label(const DataArray& label, const std::vector<double>& times);

/// Whether a path's travel time differs from that of the front by more than a share.
bool far_off(const Path& path, double share);
/// Traces all targets; notes why where there is no path, and warns of suspicious paths, which were probably traced with
/// another metric than they were solved with.
void trace_all(PathSummary& summary, const std::function<bool(const Path&)>& suspicious,
               const std::function<Path(const PathTarget&)>& trace, Console& console);

/// The targets of an image.
void trace_image(const PathRequest& request, const SideInputs& inputs, PathSummary& summary, Console& console);

/// Runs everything; gives the exit code.
int run_path(const PathRequest& request, Console& console);

/// Writes the paths that were found: a table (.csv), or lines in any format that holds them.
void write_paths(const PathRequest& request, const std::vector<TracedTarget>& targets);
/// Throws before the work when `write_paths` could not.
void check_path_output(const PathRequest& request);

/// As text for people or as one JSON object, as asked for.
void print_summary(const PathSummary& summary, const Console& console);

}  // namespace isochron::cli
