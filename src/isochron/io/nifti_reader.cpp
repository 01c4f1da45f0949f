#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "isochron/io/binary_header.h"
#include "isochron/io/file_name.h"
#include "isochron/io/image_values.h"
#include "isochron/io/nifti_file.h"
#include "isochron/io/nifti_layout.h"

namespace isochron {
namespace {

/// A header of either version.
struct Header {
  std::array<std::int64_t, 8> dim{};
  std::array<double, 8> pixdim{};
  int datatype = 0;
  int intent = 0;
  std::string intent_name;
  double offset = 0;
  double slope = 0, intercept = 0;
  int units = 0;
  int qform = 0, sform = 0;
  std::array<double, 3> quaternion{};
  std::array<double, 3> qoffset{};
  std::array<double, 12> srow{};
  bool pair = false;  // the values are in another file
  std::size_t bytes = 0;
  Encoding encoding = native_encoding;
};

template <class To, class From, std::size_t N>
std::array<To, N> widened(const std::array<From, N>& from) {
  std::array<To, N> to{};
  std::transform(from.begin(), from.end(), to.begin(), [](From v) { return static_cast<To>(v); });
  return to;
}

template <class V>
Header parse(ByteReader& reader, Encoding encoding) {
  using Real = typename V::Real;
  const BinaryHeader fields(reader, V::size, encoding);
  Header h;
  h.encoding = encoding;
  h.bytes = V::size;
  const std::string magic = fields.text(V::magic, 4);
  constexpr char version = V::size == nifti::Version1::size ? '1' : '2';
  h.pair = magic == std::string("ni") + version;
  if (!h.pair && magic != std::string("n+") + version)
    reader.fail("is no NIfTI file (its magic word is missing)", "ANALYZE files and others must be converted first");
  h.dim = widened<std::int64_t>(fields.list<typename V::Dim, 8>(V::dim));
  h.pixdim = widened<double>(fields.list<Real, 8>(V::pixdim));
  h.datatype = fields.at<std::int16_t>(V::datatype);
  h.intent = static_cast<int>(fields.at<typename V::Code>(V::intent_code));
  h.intent_name = fields.text(V::intent_name, nifti::intent_name_size);
  h.offset = static_cast<double>(fields.at<typename V::Offset>(V::vox_offset));
  h.slope = static_cast<double>(fields.at<Real>(V::slope));
  h.intercept = static_cast<double>(fields.at<Real>(V::intercept));
  h.units = static_cast<int>(fields.at<typename V::Units>(V::units)) & nifti::space_unit_bits;
  h.qform = static_cast<int>(fields.at<typename V::Code>(V::qform));
  h.sform = static_cast<int>(fields.at<typename V::Code>(V::sform));
  h.quaternion = widened<double>(fields.list<Real, 3>(V::quaternion));
  h.qoffset = widened<double>(fields.list<Real, 3>(V::qoffset));
  h.srow = widened<double>(fields.list<Real, 12>(V::srow));
  return h;
}

Header read_header(ByteReader& reader) {
  const std::string_view front = reader.peek(4);
  std::int32_t size = 0;
  if (front.size() == 4) std::memcpy(&size, front.data(), 4);
  for (const Encoding encoding : {Encoding::little_endian, Encoding::big_endian}) {
    const std::int32_t value = encoding == native_encoding ? size : byte_swapped(size);
    if (value == nifti::Version1::size) return parse<nifti::Version1>(reader, encoding);
    if (value == nifti::Version2::size) return parse<nifti::Version2>(reader, encoding);
  }
  reader.fail("is no NIfTI file (its first number is no header size)");
}

/// The rotation of the qform as columns; b, c, d are the unit quaternion's vector part.
std::array<Vec3d, 3> rotation(const Header& h) {
  auto [b, c, d] = h.quaternion;
  const double vector_part = b * b + c * c + d * d;
  double a = 0;
  if (1 - vector_part > 1e-7) {
    a = std::sqrt(1 - vector_part);
  } else {  // a half turn, up to the rounding of float
    const double length = std::sqrt(vector_part);
    b /= length, c /= length, d /= length;
  }
  return {Vec3d{a * a + b * b - c * c - d * d, 2 * (b * c + a * d), 2 * (b * d - a * c)},
          Vec3d{2 * (b * c - a * d), a * a + c * c - b * b - d * d, 2 * (c * d + a * b)},
          Vec3d{2 * (b * d + a * c), 2 * (c * d - a * b), a * a + d * d - b * b - c * c}};
}

double unit_in_mm(int unit) {
  if (unit == nifti::unit_metre) return 1000;
  return unit == nifti::unit_micron ? 1e-3 : 1;
}

double voxel_size(const Header& h, std::size_t axis) {
  const double size = std::abs(h.pixdim[axis + 1]);
  return size == 0 ? 1 : size;
}

void place(const Header& h, Image& image) {
  ImageGrid& grid = image.grid;
  if (h.sform > 0) {
    const auto& s = h.srow;
    for (std::size_t axis = 0; axis < 3; ++axis) grid.axes[axis] = {s[axis], s[4 + axis], s[8 + axis]};
    grid.origin = {s[3], s[7], s[11]};
  } else if (h.qform > 0) {
    grid.axes = rotation(h);
    for (std::size_t axis = 0; axis < 3; ++axis) grid.axes[axis] = voxel_size(h, axis) * grid.axes[axis];
    if (h.pixdim[0] < 0) grid.axes[2] = -grid.axes[2];
    grid.origin = {h.qoffset[0], h.qoffset[1], h.qoffset[2]};
  } else {
    for (int axis = 0; axis < 3; ++axis) {
      grid.axes[static_cast<std::size_t>(axis)] = {};
      grid.axes[static_cast<std::size_t>(axis)][axis] = voxel_size(h, static_cast<std::size_t>(axis));
    }
    image.warnings.emplace_back(
        "the affine is missing (neither sform nor qform is set); the voxel axes are taken for x, y and z");
  }
  complete_flat_axes(grid);
  const double mm = unit_in_mm(h.units);
  grid.origin = mm * grid.origin;
  for (Vec3d& axis : grid.axes) axis = mm * axis;
}

/// How the numbers are stored: colours are several numbers in one.
struct Pixel {
  ScalarType type = ScalarType::uint8;
  int samples = 1;
};

Pixel pixel_of(const Header& h, ByteReader& reader) {
  if (h.datatype == nifti::rgb24) return {ScalarType::uint8, 3};
  if (h.datatype == nifti::rgba32) return {ScalarType::uint8, 4};
  for (const auto& [code, type] : nifti::datatypes)
    if (code == h.datatype) return {type, 1};
  reader.fail(fmt::format("numbers of a kind that is not read (NIfTI datatype {})", h.datatype),
              "convert them to a real or whole type");
}

Image read_from(ByteReader& header_reader, const Header& h, ByteReader& values_reader) {
  const Pixel pixel = pixel_of(h, header_reader);
  if (h.dim[0] < 1 || h.dim[0] > 7)
    header_reader.fail(fmt::format("a number of dimensions that NIfTI does not have ({})", h.dim[0]));
  const auto space_axes = std::min<std::size_t>(3, static_cast<std::size_t>(h.dim[0]));
  const std::span<const std::int64_t> space(h.dim.data() + 1, space_axes);
  std::vector<std::int64_t> others{pixel.samples};
  others.insert(others.end(), h.dim.begin() + 4, h.dim.begin() + std::max<std::ptrdiff_t>(4, h.dim[0] + 1));
  const std::size_t start = h.pair ? 0 : h.bytes;
  if (!(h.offset == 0 || (h.offset >= static_cast<double>(start) && h.offset < 1e15)))
    header_reader.fail(fmt::format("values at a place that cannot be (offset {})", h.offset));
  const ImageExtents extents = checked_extents(values_reader, space, others, size_of(pixel.type));
  // Offset 0 in a single file is a writer's slip: the values then follow the header and its four bytes of padding.
  const std::size_t offset = h.offset == 0 && !h.pair ? start + 4 : static_cast<std::size_t>(h.offset);
  values_reader.skip(offset - start);

  Image image;
  image.grid.shape = extents.shape;
  place(h, image);
  DataArray array{array_name(h.intent_name), extents.components, {}};
  const auto planar = planar_axes(image.grid, extents.components);
  const auto samples = static_cast<std::size_t>(pixel.samples);
  // The samples of a colour lie together, everything else volume after volume.
  const std::array<ValueAxis, 5> axes{ValueAxis{samples, 1}, planar[0], planar[1], planar[2],
                                      ValueAxis{planar[3].extent / samples, samples}};
  array.values = reordered(read_values(values_reader, pixel.type, h.encoding, extents.value_count()), axes);
  const bool scales = std::isfinite(h.slope) && std::isfinite(h.intercept) && h.slope != 0 &&
                      (h.slope != 1 || h.intercept != 0) && pixel.samples == 1;
  if (scales) array.values = scaled(array.values, pixel.type, h.slope, h.intercept);
  if (h.intent == nifti::intent_symmetric_matrix && array.components == 6) image.tensor_order = TensorOrder::lower;
  else if (h.intent_name == mrtrix_tensor_name && array.components == 6) image.tensor_order = TensorOrder::mrtrix;
  if (h.intent == nifti::intent_matrix && array.components == 9) image.tensor_order = TensorOrder::row;
  image.data.set(std::move(array));
  return image;
}

}  // namespace

Image read_nifti(const std::filesystem::path& path) {
  const std::string extension = FileName(path).extension;
  const bool by_pair = extension == ".hdr" || extension == ".img";
  ByteReader reader(by_pair ? require_companion(path, ".hdr") : path);
  const Header header = read_header(reader);
  if (!header.pair) return read_from(reader, header, reader);
  ByteReader values(require_companion(path, ".img"));
  return read_from(reader, header, values);
}

}  // namespace isochron
