// Images without a header: bare numbers in binary, and tables of numbers in text.
#include <fmt/ranges.h>

#include "isochron/io/image/formats.h"
#include "isochron/io/image/values.h"
#include "isochron/io/tables.h"

namespace isochron {

std::pair<ScalarType, Encoding> parse_raw_type(std::string_view name) {
  std::string_view bare = name;
  Encoding encoding = native_encoding;
  if (bare.ends_with("le")) encoding = Encoding::little_endian;
  else if (bare.ends_with("be")) encoding = Encoding::big_endian;
  if (bare.ends_with("le") || bare.ends_with("be")) bare.remove_suffix(2);
  if (const auto type = type_named(scalar_type_names, bare)) return {*type, encoding};
  std::vector<std::string_view> names;
  for (const TypeNames& row : scalar_type_names) names.push_back(row.names);
  throw UsageError(fmt::format("unknown type '{}'; use one of {}, with le or be behind it for the byte order", name,
                               fmt::join(names, ", ")));
}

Image read_raw_image(const std::filesystem::path& path, const RawLayout& layout) {
  ByteReader reader(path);
  const std::array<std::int64_t, 3> shape{layout.shape[0], layout.shape[1], layout.shape[2]};
  const ImageExtents extents =
      checked_extents(reader, shape, std::array<std::int64_t, 1>{layout.components}, size_of(layout.type));
  reader.skip(layout.skip);
  Image image;
  image.grid.shape = extents.shape;
  for (int d = 0; d < 3; ++d) {
    Vec3d axis;
    axis[d] = layout.spacing[d];
    image.grid.axes[static_cast<std::size_t>(d)] = axis;
  }
  with_file(path, [&] { check_grid(image.grid, "the image"); });
  image.data.set({std::string(unnamed_array), extents.components,
                  read_values(reader, layout.type, layout.encoding, extents.value_count())});
  if (!reader.at_end())
    bad_file(path, "more bytes than {} values of {} bytes need; check shape, type and skipped bytes",
             extents.value_count(), size_of(layout.type));
  return image;
}

Image read_text_image(const std::filesystem::path& path) {
  const auto rows = read_number_rows(path);
  std::vector<float> values;
  for (std::size_t j = 0; j < rows.size(); ++j) {
    if (rows[j].size() != rows[0].size())
      bad_file(path, "is no image (row {} has {} numbers, the first one {}); give rows of one length", j + 1,
               rows[j].size(), rows[0].size());
    for (const double value : rows[j]) values.push_back(static_cast<float>(value));
  }
  if (rows.size() < 2 || rows[0].size() < 2)
    bad_file(path,
             "is no image (rows: {}); give two rows of two numbers or more, one for each line "
             "of pixels",
             rows.size());
  Image image;
  image.grid.shape = {static_cast<std::uint32_t>(rows[0].size()), static_cast<std::uint32_t>(rows.size()), 1};
  image.data.set({std::string(unnamed_array), 1, std::move(values)});
  return image;
}

}  // namespace isochron
