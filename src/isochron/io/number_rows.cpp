#include "isochron/io/number_rows.h"

#include <fmt/format.h>

#include "isochron/core/error.h"
#include "isochron/io/file_bytes.h"
#include "isochron/io/image_values.h"
#include "isochron/io/text_scanner.h"

namespace isochron {

std::vector<std::vector<double>> read_number_rows(const std::filesystem::path& path) {
  const FileBytes bytes(path);
  TextScanner in(path, bytes.text(), {.hash_comments = true, .separators = ","});
  std::vector<std::vector<double>> rows;
  while (!in.at_end()) {
    std::vector<double>& row = rows.emplace_back();
    do row.push_back(in.real("a number"));
    while (in.more_on_line());
  }
  return rows;
}

Image read_text_image(const std::filesystem::path& path) {
  const auto rows = read_number_rows(path);
  std::vector<float> values;
  for (std::size_t j = 0; j < rows.size(); ++j) {
    if (rows[j].size() != rows[0].size())
      throw InputError(fmt::format("{}: is no image (row {} has {} numbers, the first one {}); give rows of one length",
                                   path.string(), j + 1, rows[j].size(), rows[0].size()));
    for (const double value : rows[j]) values.push_back(static_cast<float>(value));
  }
  if (rows.size() < 2 || rows[0].size() < 2)
    throw InputError(
        fmt::format("{}: is no image (rows: {}); give two rows of two numbers or more, one for each line "
                    "of pixels",
                    path.string(), rows.size()));
  Image image;
  image.grid.shape = {static_cast<std::uint32_t>(rows[0].size()), static_cast<std::uint32_t>(rows.size()), 1};
  image.data.set({std::string(unnamed_array), 1, std::move(values)});
  return image;
}

}  // namespace isochron
