// What `isochron path` was asked for, and its steps.
#pragma once

#include <filesystem>
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
  bool raw = false;                 ///< characteristics as they are traced
  std::filesystem::path output;
  bool force = false;

  [[nodiscard]] Overwrite overwrite() const { return force ? Overwrite::yes : Overwrite::no; }
};

/// Where a path is wanted to.
struct PathTarget {
  std::optional<VertexId> vertex;  ///< or a point
  Vec3d point{};
  std::string name{};  ///< from a file of named points
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

/// Runs everything; gives the exit code.
int run_path(const PathRequest& request, Console& console);

/// Writes the paths that were found: a table (.csv), or lines in any format that holds them.
void write_paths(const PathRequest& request, const std::vector<TracedTarget>& targets);
/// Throws before the work when `write_paths` could not.
void check_path_output(const PathRequest& request);

/// As text for people or as one JSON object, as asked for.
void print_summary(const PathSummary& summary, const Console& console);

}  // namespace isochron::cli
