// TrackVis tracks (http://trackvis.org/docs/?subsect=fileformat): points are in mm along the axes of an image, from the
// outer corner of its first voxel.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "isochron/io/image/values.h"
#include "isochron/io/mesh/formats.h"

namespace isochron {
namespace {

constexpr std::size_t header_size = 1000;

/// Where the fields of the header are.
namespace field {
constexpr std::size_t shape = 6, voxel_size = 12, scalars = 36, properties = 238, vox_to_ras = 440, voxel_order = 948,
                      orientation = 956, count = 988, version = 992, size = 996;
}  // namespace field

BinaryHeader read_header(ByteReader& reader) {
  const std::string_view bytes = reader.peek(header_size);
  if (!bytes.starts_with("TRACK") || bytes.size() < header_size)
    reader.fail("not a TrackVis file (its magic word or a part of its header is missing)");
  for (const Encoding encoding : {Encoding::little_endian, Encoding::big_endian})
    if (value_at<std::int32_t>(bytes.data() + field::size, encoding) == std::int32_t{header_size})
      return {reader, header_size, encoding};
  reader.fail("the header has another size than TrackVis gives it");
}

/// From what the file stores to the world.
class Placement {
 public:
  Placement(const ByteReader& reader, const BinaryHeader& header, std::vector<std::string>& warnings)
      : shape_(header.list<std::int16_t, 3, double>(field::shape)),
        size_(header.list<float, 3, double>(field::voxel_size)) {
    const auto matrix = header.list<float, 16, double>(field::vox_to_ras);
    const bool placed = header.at<std::int32_t>(field::version) >= 2 && matrix[15] != 0;
    if (!placed) warnings.emplace_back("the affine is missing (vox_to_ras); the voxel axes are taken for x, y and z");
    for (std::size_t d = 0; d < 3; ++d) {
      if (!(size_[d] > 0 && std::isfinite(size_[d]))) reader.fail("a voxel size that is not positive ({})", size_[d]);
      grid_.axes[d] = placed ? Vec3d{matrix[d], matrix[4 + d], matrix[8 + d]} : size_[d] * grid_.axes[d];
    }
    if (placed) grid_.origin = {matrix[3], matrix[7], matrix[11]};
    std::string order = header.text(field::voxel_order, 3);
    if (order.empty()) order = placed ? "LPS" : axis_letters(grid_);  // TrackVis's own
    find_axes(reader, order);
  }

  [[nodiscard]] Vec3d in_world(const Vec3d& stored) const {
    Vec3d index;
    for (std::size_t d = 0; d < 3; ++d) {
      const double along = stored[static_cast<int>(d)] / size_[d] - 0.5;
      index[axis_[d]] = reversed_[d] ? shape_[d] - 1 - along : along;
    }
    return grid_.position(index);
  }

 private:
  /// Points may be stored along other axes than the affine's: which of those each one is, and whether it runs back.
  void find_axes(const ByteReader& reader, const std::string& order) {
    constexpr std::string_view opposite = "LRAPIS";
    const std::string letters = axis_letters(grid_);
    for (std::size_t d = 0; d < 3; ++d) {
      const std::size_t letter = d < order.size() ? opposite.find(order[d]) : std::string::npos;
      if (letter == std::string::npos) reader.fail("the voxel order makes no sense ({})", in_quotes(order));
      const std::size_t same = letters.find(order[d]), back = letters.find(opposite[letter ^ 1U]);
      reversed_[d] = same == std::string::npos;
      axis_[d] = static_cast<int>(reversed_[d] ? back : same);
    }
    if (axis_[0] + axis_[1] + axis_[2] != 3 || axis_[0] == axis_[1])
      reader.fail("the voxel order names an axis twice ({})", in_quotes(order));
  }

  std::array<double, 3> shape_, size_;
  ImageGrid grid_;
  std::array<int, 3> axis_{0, 1, 2};
  std::array<bool, 3> reversed_{};
};

}  // namespace

Dataset read_trk(const std::filesystem::path& path) {
  ByteReader reader(path);
  const BinaryHeader header = read_header(reader);
  Dataset dataset;
  const Placement placement(reader, header, dataset.warnings);
  const auto scalars = header.at<std::int16_t>(field::scalars), properties = header.at<std::int16_t>(field::properties);
  if (scalars < 0 || properties < 0) reader.fail("a number of values below zero");
  const std::size_t point_bytes = (3 + static_cast<std::size_t>(scalars)) * sizeof(float);
  while (!reader.at_end()) {
    const auto points = read_value<std::int32_t>(reader, header.encoding());
    if (points < 0) reader.fail("a number of points below zero");
    reader.require_room(static_cast<std::size_t>(points), point_bytes);
    std::vector<VertexId>& line = dataset.lines.emplace_back();
    for (std::int32_t i = 0; i < points; ++i) {
      Vec3d stored;
      for (int k = 0; k < 3; ++k) stored[k] = read_value<float>(reader, header.encoding());
      reader.skip(static_cast<std::size_t>(scalars) * sizeof(float));
      line.emplace_back(dataset.points.size());
      dataset.points.push_back(placement.in_world(stored));
    }
    reader.skip(static_cast<std::size_t>(properties) * sizeof(float));
  }
  if (scalars + properties > 0)
    dataset.warnings.push_back(
        fmt::format("values of points and streamlines were left out ({} and {} of each)", scalars, properties));
  const auto count = header.at<std::int32_t>(field::count);  // 0: not known
  if (count > 0 && static_cast<std::size_t>(count) != dataset.lines.size())
    dataset.warnings.push_back(
        fmt::format("the header counts {} streamlines (there are {})", count, dataset.lines.size()));
  return dataset;
}

void write_trk(const OutputFile& file, const Dataset& dataset, const ImageGrid& grid) {
  constexpr auto little = Encoding::little_endian;
  for (const std::uint32_t extent : grid.shape)
    if (extent > std::numeric_limits<std::int16_t>::max())
      throw UsageError(fmt::format("the image has too many voxels along an axis for TrackVis ({}); write .tck", extent),
                       file.target.string());
  const std::array<double, 3> size{grid.spacing(0), grid.spacing(1), grid.spacing(2)};
  BinaryHeader header(header_size, little);
  header.put_text(0, "TRACK");
  header.put_list<std::int16_t>(field::shape, grid.shape);
  header.put_list<float>(field::voxel_size, size);
  const auto& [i, j, k] = grid.axes;
  const Vec3d& o = grid.origin;
  header.put_list<float>(field::vox_to_ras,
                         std::array{i.x, j.x, k.x, o.x, i.y, j.y, k.y, o.y, i.z, j.z, k.z, o.z, 0.0, 0.0, 0.0, 1.0});
  header.put_text(field::voxel_order, axis_letters(grid));
  // Unit vectors of the first two axes in DICOM's space, LPS.
  header.put_list<float>(field::orientation, std::array{-i.x / size[0], -i.y / size[0], i.z / size[0], -j.x / size[1],
                                                        -j.y / size[1], j.z / size[1]});
  header.put(field::count, static_cast<std::int32_t>(dataset.lines.size()));
  header.put(field::version, std::int32_t{2});
  header.put(field::size, std::int32_t{header_size});
  ByteWriter writer(file);
  writer.write(header.bytes());
  for (const auto& line : dataset.lines) {
    write_value(writer, static_cast<std::int32_t>(line.size()), little);
    for (const VertexId v : line) {
      const Vec3d index = grid.index_of(dataset.points[v.index()]);
      for (std::size_t d = 0; d < 3; ++d)
        write_value(writer, static_cast<float>((index[static_cast<int>(d)] + 0.5) * size[d]), little);
    }
  }
  writer.finish();
}

}  // namespace isochron
