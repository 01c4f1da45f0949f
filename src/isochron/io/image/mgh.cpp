#include "isochron/io/image/formats.h"
#include "isochron/io/image/values.h"

namespace isochron {
namespace {

// Where the fields are. https://surfer.nmr.mgh.harvard.edu/fswiki/FsTutorial/MghFormat
constexpr std::size_t header_size = 284, at_version = 0, at_sizes = 4, at_type = 20, at_good_ras = 28, at_spacing = 30,
                      at_directions = 42, at_centre = 78;

constexpr std::array<std::pair<int, ScalarType>, 5> types{{{0, ScalarType::uint8},
                                                           {1, ScalarType::int32},
                                                           {3, ScalarType::float32},
                                                           {4, ScalarType::int16},
                                                           {10, ScalarType::uint16}}};

ScalarType type_of(int code, const ByteReader& reader) {
  for (const auto& [known, type] : types)
    if (known == code) return type;
  reader.fail("numbers of a kind that is not read (MGH type {})", code);
}

/// The index of the middle, whose place the header gives.
Vec3d middle(const ImageGrid& grid) { return {grid.shape[0] / 2.0, grid.shape[1] / 2.0, grid.shape[2] / 2.0}; }

void place(const BinaryHeader& header, Image& image) {
  ImageGrid& grid = image.grid;
  Vec3d centre{};
  grid.axes = {Vec3d{-1, 0, 0}, Vec3d{0, 0, -1}, Vec3d{0, 1, 0}};
  if (header.at<std::int16_t>(at_good_ras) > 0) {
    const auto spacing = header.list<float, 3, double>(at_spacing);
    const auto d = header.list<float, 9, double>(at_directions);
    const auto c = header.list<float, 3>(at_centre);
    for (std::size_t a = 0; a < 3; ++a) grid.axes[a] = spacing[a] * Vec3d{d[3 * a], d[3 * a + 1], d[3 * a + 2]};
    centre = {c[0], c[1], c[2]};
  } else {
    image.warnings.emplace_back(
        "the affine is missing (the file does not say where it is); coronal slices of 1 mm are assumed");
  }
  grid.origin = {};
  grid.origin = centre - grid.position(middle(grid));
}

template <class T>
void write_as(const OutputFile& file, const ImageGrid& grid, const DataArray& array, int type) {
  constexpr Encoding order = Encoding::big_endian;
  BinaryHeader header(header_size, order);
  header.put<std::int32_t>(at_version, 1);
  header.put_list<std::int32_t>(at_sizes, grid.shape);
  header.put<std::int32_t>(at_sizes + 12, array.components);
  header.put<std::int32_t>(at_type, type);
  header.put<std::int16_t>(at_good_ras, 1);
  const Vec3d centre = grid.position(middle(grid));
  header.put_list<float>(at_spacing, std::array{grid.spacing(0), grid.spacing(1), grid.spacing(2)});
  header.put_list<float>(at_centre, std::array{centre.x, centre.y, centre.z});
  for (int a = 0; a < 3; ++a) {
    const auto i = static_cast<std::size_t>(a);
    const Vec3d direction = grid.axes[i] / grid.spacing(a);
    header.put_list<float>(at_directions + 12 * i, std::array{direction.x, direction.y, direction.z});
  }
  ByteWriter writer(file);
  writer.write(header.bytes());
  write_planar_as<T>(writer, array, order);
  writer.finish();
}

}  // namespace

Image read_mgh(const std::filesystem::path& path) {
  ByteReader reader(path);
  const BinaryHeader header(reader, header_size, Encoding::big_endian);
  if (const auto version = header.at<std::int32_t>(at_version); version != 1)
    reader.fail("is no MGH file (its first number is {} and not 1)", version);
  const ScalarType type = type_of(header.at<std::int32_t>(at_type), reader);
  const auto sizes = header.list<std::int32_t, 4, std::int64_t>(at_sizes);
  const std::span<const std::int64_t> all(sizes);
  const ImageExtents extents = checked_extents(reader, all.first(3), all.last(1), size_of(type));
  Image image;
  image.grid.shape = extents.shape;
  place(header, image);
  image.data.set({std::string(unnamed_array), extents.components,
                  reordered(read_values(reader, type, header.encoding(), extents.value_count()),
                            planar_axes(image.grid, extents.components))});
  return image;
}

void write_mgh(const OutputFile& file, const Image& image) {
  const DataArray& array = image.data.all().front();
  switch (scalar_type(array.values)) {
    case ScalarType::uint8: return write_as<std::uint8_t>(file, image.grid, array, 0);
    case ScalarType::int32: return write_as<std::int32_t>(file, image.grid, array, 1);
    default: return write_as<float>(file, image.grid, array, 3);
  }
}

}  // namespace isochron
