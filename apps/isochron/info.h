// What `isochron info` finds out about a file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/isochron/image_input.h"
#include "apps/isochron/report.h"
#include "isochron/dataset.h"

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

/// Sums up an array that sits on `on`.
ArraySummary summarize(const DataArray& array, const std::string& on);
/// Sums up all arrays as rows of the text; `arrays` of the object are the summaries.
void report_arrays(Report& report, const std::vector<ArraySummary>& arrays);

/// What is in a file; the report has its own warnings.
struct FileReport {
  std::filesystem::path file;
  Report report{13, 4};
  std::vector<std::string> warnings{};
};

/// Examines an image. Throws InputError when an order of tensors is given and there are none.
FileReport examine_image(const std::filesystem::path& file, const Image& image, const TensorLayout& layout);

}  // namespace isochron::cli
