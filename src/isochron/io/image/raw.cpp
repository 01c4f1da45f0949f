// Images whose files say little or nothing about themselves: NumPy arrays, bare numbers in binary, and tables of
// numbers in text.
#include <fmt/format.h>

#include "isochron/core/join_text.h"
#include "isochron/io.h"
#include "isochron/io/image/formats.h"
#include "isochron/io/image/values.h"
#include "isochron/io/tables.h"

namespace isochron {
namespace {

struct NpyHeader {
  ScalarType type = ScalarType::float64;
  Encoding encoding = native_encoding;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

constexpr TypeNames type_codes[] = {
    {ScalarType::float32, "f4"}, {ScalarType::float64, "f8"}, {ScalarType::int8, "i1"},     {ScalarType::int16, "i2"},
    {ScalarType::int32, "i4"},   {ScalarType::int64, "i8"},   {ScalarType::uint8, "u1|b1"}, {ScalarType::uint16, "u2"},
    {ScalarType::uint32, "u4"},  {ScalarType::uint64, "u8"}};

/// What stands behind 'key': in the header's dictionary.
std::string_view value_of(std::string_view dictionary, std::string_view key, const ByteReader& reader) {
  for (const char quote : {'\'', '"'}) {
    const std::size_t at = dictionary.find(fmt::format("{}{}{}", quote, key, quote));
    if (at == std::string_view::npos) continue;
    const std::size_t colon = dictionary.find(':', at + key.size() + 2);
    if (colon != std::string_view::npos) return trimmed(dictionary.substr(colon + 1));
  }
  reader.fail("the NumPy header has no '{}'", key);
}

void parse_type(std::string_view value, NpyHeader& header, const ByteReader& reader) {
  const char quote = value.empty() ? ' ' : value.front();
  const std::size_t end = quote == '\'' || quote == '"' ? value.find(quote, 1) : std::string_view::npos;
  const std::string_view code = end == std::string_view::npos ? std::string_view() : value.substr(1, end - 1);
  const auto type = type_named(type_codes, code.size() >= 3 ? code.substr(1) : std::string_view());
  if (!type)
    bad_file(reader.path(),
             "numbers of a kind that is not read (NumPy type {}); store a real or whole type, for example "
             "array.astype('float32')",
             in_quotes(value.substr(0, 20)));
  header.type = *type;
  header.encoding = code[0] == '<' ? Encoding::little_endian : code[0] == '>' ? Encoding::big_endian : native_encoding;
}

void parse_shape(std::string_view value, NpyHeader& header, const ByteReader& reader) {
  const std::size_t end = value.find(')');
  if (value.empty() || value.front() != '(' || end == std::string_view::npos)
    reader.fail("the NumPy header has no shape");
  std::string_view list = value.substr(1, end - 1);
  while (!(list = trimmed(list)).empty()) {
    std::int64_t extent = 0;
    const auto [stop, error] = std::from_chars(list.data(), list.data() + list.size(), extent);
    if (error != std::errc()) reader.fail("a shape that is none ({})", in_quotes(value.substr(0, end + 1)));
    header.shape.push_back(extent);
    list = trimmed(list.substr(static_cast<std::size_t>(stop - list.data())));
    if (list.starts_with(',')) list.remove_prefix(1);
  }
  if (header.shape.size() < 2 || header.shape.size() > 4)
    bad_file(reader.path(), "an array with {} indices (an image has 2 or 3, or 4 with components); reshape it",
             header.shape.size());
}

NpyHeader read_npy_header(ByteReader& reader) {
  if (!reader.peek(6).starts_with("\x93NUMPY")) reader.fail("is no NumPy array (its magic word is missing)");
  reader.skip(6);
  const auto version = read_value<std::uint8_t>(reader, native_encoding);
  reader.skip(1);
  const std::size_t length = version == 1 ? read_value<std::uint16_t>(reader, Encoding::little_endian)
                                          : read_value<std::uint32_t>(reader, Encoding::little_endian);
  if (version < 1 || version > 3 || length > 1 << 20)
    reader.fail("a NumPy header that is not known (version {}, {} bytes)", version, length);
  reader.require_room(length, 1);
  std::string text(length, '\0');
  reader.read(text.data(), length);
  NpyHeader header;
  parse_type(value_of(text, "descr", reader), header, reader);
  parse_shape(value_of(text, "shape", reader), header, reader);
  header.fortran_order = value_of(text, "fortran_order", reader).starts_with("True");
  return header;
}

}  // namespace

Image read_npy_image(const std::filesystem::path& path) {
  ByteReader reader(path);
  const NpyHeader header = read_npy_header(reader);
  const std::span<const std::int64_t> shape(header.shape);
  const std::size_t space = std::min<std::size_t>(3, shape.size());
  const ImageExtents extents = checked_extents(reader, shape.first(space), shape.subspan(space), size_of(header.type));
  Image image;
  image.grid.shape = extents.shape;
  auto axes = planar_axes(image.grid, extents.components);
  if (!header.fortran_order) std::reverse(axes.begin(), axes.end());
  image.data.set({std::string(unnamed_array), extents.components,
                  reordered(read_values(reader, header.type, header.encoding, extents.value_count()), axes)});
  return image;
}

void write_npy_image(const OutputFile& file, const Image& image) {
  const DataArray& array = image.data.all().front();
  std::vector<std::size_t> shape(image.grid.shape.begin(), image.grid.shape.end());
  if (array.components > 1) shape.push_back(static_cast<std::size_t>(array.components));
  else if (image.grid.flat()) shape.pop_back();
  const std::string header = npy_header(name_of(type_codes, scalar_type(array.values)), NpyOrder::columns_first, shape);
  ByteWriter writer(file);
  writer.write(header);
  write_planar(writer, array);
  writer.finish();
}

void place_image(ImageGrid& grid, const ImagePlace& place) {
  const std::size_t axes = grid.flat() ? 2 : 3;
  const std::vector<double>&spacing = place.spacing, &origin = place.origin;
  const auto fits = [&](const std::vector<double>& numbers) { return numbers.size() == axes || numbers.size() == 3; };
  const bool positive = std::all_of(spacing.begin(), spacing.end(), [](double s) { return s > 0; });
  if (!spacing.empty() && (!positive || (spacing.size() != 1 && !fits(spacing))))
    throw UsageError(fmt::format(
        "the spacing does not fit the image (it takes one positive number, or one for each of {} axes); correct it",
        axes));
  if (!origin.empty() && !fits(origin))
    throw UsageError(
        fmt::format("the origin does not fit the image (it takes a number for each of {} axes); correct it", axes));
  for (std::size_t d = 0; d < 3; ++d) {
    const double step = spacing.empty() ? 1 : spacing[std::min(d, spacing.size() - 1)];
    grid.axes[d] = {};
    grid.axes[d][static_cast<int>(d)] = step;
    grid.origin[static_cast<int>(d)] = d < origin.size() ? origin[d] : 0;
  }
  check_grid(grid, "the image");
}

std::pair<ScalarType, Encoding> parse_raw_type(std::string_view name) {
  const bool little = name.ends_with("le"), big = name.ends_with("be");
  const Encoding encoding = little ? Encoding::little_endian : big ? Encoding::big_endian : native_encoding;
  const auto type = type_named(scalar_type_names, name.substr(0, name.size() - (little || big ? 2 : 0)));
  if (type) return {*type, encoding};
  std::vector<std::string_view> names;
  for (const TypeNames& row : scalar_type_names) names.push_back(row.names);
  throw UsageError(fmt::format("unknown type '{}'; use one of {}, with le or be behind it for the byte order", name,
                               join_text(names, ", ")));
}

Image read_raw_image(const std::filesystem::path& path, const RawLayout& layout) {
  ByteReader reader(path);
  const std::array<std::int64_t, 3> shape{layout.shape[0], layout.shape[1], layout.shape[2]};
  const ImageExtents extents =
      checked_extents(reader, shape, std::array<std::int64_t, 1>{layout.components}, size_of(layout.type));
  reader.skip(layout.skip);
  Image image;
  image.grid.shape = extents.shape;
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
