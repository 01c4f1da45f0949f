#include "isochron/io/raw_image.h"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "isochron/core/error.h"
#include "isochron/io/image_values.h"

namespace isochron {

std::pair<ScalarType, Encoding> parse_raw_type(std::string_view name) {
  std::string_view bare = name;
  Encoding encoding = native_encoding;
  if (bare.ends_with("le")) encoding = Encoding::little_endian;
  else if (bare.ends_with("be")) encoding = Encoding::big_endian;
  if (bare.ends_with("le") || bare.ends_with("be")) bare.remove_suffix(2);
  if (const auto type = scalar_type_named(bare)) return {*type, encoding};
  std::vector<std::string_view> names;
  for (const auto& [known, type] : scalar_type_names) names.push_back(known);
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
  check_grid(image.grid, path.string() + ": the image");
  image.data.set({std::string(unnamed_array), extents.components,
                  read_values(reader, layout.type, layout.encoding, extents.value_count())});
  if (!reader.at_end()) {
    reader.fail(fmt::format("more bytes than {} values of {} bytes need", extents.value_count(), size_of(layout.type)),
                "check shape, type and skipped bytes");
  }
  return image;
}

}  // namespace isochron
