#include "isochron/io/gradient_files.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isochron/core/error.h"
#include "isochron/io/number_rows.h"

namespace isochron {
namespace {

std::vector<double> read_b_values(const std::filesystem::path& path) {
  std::vector<double> result;
  for (const auto& row : read_number_rows(path)) result.insert(result.end(), row.begin(), row.end());
  for (const double b : result)
    if (!(b >= 0) || !std::isfinite(b))
      throw InputError(
          fmt::format("{}: {} is no b-value (they are finite and not negative); check that this is the "
                      "file of b-values",
                      path.string(), b));
  return result;
}

std::vector<Vec3d> read_directions(const std::filesystem::path& path) {
  const auto rows = read_number_rows(path);
  const auto all_have = [&](std::size_t columns) {
    return std::all_of(rows.begin(), rows.end(), [&](const auto& row) { return row.size() == columns; });
  };
  std::vector<Vec3d> result;
  if (rows.size() == 3 && all_have(rows[0].size())) {
    for (std::size_t i = 0; i < rows[0].size(); ++i) result.push_back({rows[0][i], rows[1][i], rows[2][i]});
  } else if (!rows.empty() && all_have(3)) {
    for (const auto& row : rows) result.push_back({row[0], row[1], row[2]});
  } else {
    throw InputError(
        fmt::format("{}: no b-vectors (rows: {}, values in the first: {}); give three rows with a column per volume, "
                    "or a row of three values per volume",
                    path.string(), rows.size(), rows.empty() ? 0 : rows[0].size()));
  }
  return result;
}

}  // namespace

GradientTable read_gradients(const std::filesystem::path& bval, const std::filesystem::path& bvec) {
  GradientTable table{read_b_values(bval), read_directions(bvec)};
  if (table.b.size() != table.direction.size())
    throw InputError(
        fmt::format("{} and {} do not belong together (b-values: {}, b-vectors: {}); give the files of one image",
                    bval.string(), bvec.string(), table.b.size(), table.direction.size()));
  for (std::size_t i = 0; i < table.b.size(); ++i) {
    const Vec3d& g = table.direction[i];
    if (table.b[i] > 0 && !std::isfinite(g.x + g.y + g.z))
      throw InputError(fmt::format("{}: the direction of volume {} is not finite (its b-value is {}); repair the file",
                                   bvec.string(), i, table.b[i]));
  }
  return table;
}

}  // namespace isochron
