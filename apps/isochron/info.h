// What `isochron info` finds out about a file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "apps/isochron/mesh_quality.h"
#include "isochron/mesh/dataset.h"
#include "isochron/mesh/validate.h"

namespace isochron::cli {

/// One array, summed up.
struct ArraySummary {
  std::string name;
  std::string on;    ///< "points", "triangles", "tetrahedra", "lines"
  std::string type;  ///< "float32", "int64", …
  int components = 1;
  std::size_t tuples = 0;
  double low = 0, high = 0;    ///< of the finite values
  std::size_t not_finite = 0;  ///< NaN or infinite values
  bool integer_type = false;
  bool whole = true;  ///< all values are whole numbers, whatever the type: regions and tags
  /// Of arrays of one whole number: the smallest values and how often each occurs, at most `max_values`. `distinct` is
  /// the number of all of them, or 0 where there are too many to be regions.
  std::vector<std::pair<double, std::size_t>> values;
  std::size_t distinct = 0;
  static constexpr std::size_t max_values = 20;
};

/// Arrays whose shape and values fit an option of `isochron solve`.
struct SolveChoices {
  std::vector<std::string> speed_array;           ///< by their names too
  std::vector<std::string> possible_speed_array;  ///< positive numbers that may be anything
  std::vector<std::string> tensor_array, fibers, region_array, source_tag, source_levelset;
};

struct FileInfo {
  std::filesystem::path file;
  std::size_t points = 0, triangles = 0, tets = 0, lines = 0;
  std::vector<std::pair<std::string, std::size_t>> ignored_cells;
  std::vector<std::string> warnings;
  std::vector<ArraySummary> arrays;
  std::optional<MeshReport> triangle_report, tet_report;
  std::optional<MeshQuality> triangle_quality, tet_quality;
  bool full_report = false;  ///< histograms are shown too
  SolveChoices choices;
};

/// Sums up an array that sits on `on`.
ArraySummary summarize(const DataArray& array, const std::string& on);

/// What could be given to `isochron solve`, judged by shape and range; what `solve` itself wrote is not offered.
SolveChoices choices_among(const std::vector<ArraySummary>& arrays);

/// Whether to look closer than is quick: histograms, and crossings of any number of triangles.
enum class InfoDepth { quick, full };

/// Reads and examines a file. Throws InputError.
FileInfo examine(const std::filesystem::path& file, InfoDepth depth, int threads);

}  // namespace isochron::cli
