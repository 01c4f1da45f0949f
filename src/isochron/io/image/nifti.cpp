#include <cmath>

#include "isochron/io/image/formats.h"
#include "isochron/io/image/values.h"

namespace isochron {
namespace {

// Where the fields of the headers are, and the numbers in them. https://nifti.nimh.nih.gov

/// Version 1: `Dim` and `Code` are 16-bit, `Real` is float.
struct Version1 {
  using Dim = std::int16_t;
  using Real = float;
  using Offset = float;
  using Code = std::int16_t;
  using Units = std::uint8_t;
  static constexpr std::int32_t size = 348;
  static constexpr std::size_t magic = 344, datatype = 70, bitpix = 72, dim = 40, intent_p1 = 56, intent_code = 68,
                               intent_name = 328, pixdim = 76, vox_offset = 108, slope = 112, intercept = 116,
                               units = 123, qform = 252, sform = 254, quaternion = 256, qoffset = 268, srow = 280;
};

/// Version 2: everything wider.
struct Version2 {
  using Dim = std::int64_t;
  using Real = double;
  using Offset = std::int64_t;
  using Code = std::int32_t;
  using Units = std::int32_t;
  static constexpr std::int32_t size = 540;
  static constexpr std::size_t magic = 4, datatype = 12, bitpix = 14, dim = 16, intent_p1 = 80, intent_code = 504,
                               intent_name = 508, pixdim = 104, vox_offset = 168, slope = 176, intercept = 184,
                               units = 500, qform = 344, sform = 348, quaternion = 352, qoffset = 376, srow = 400;
};

constexpr std::size_t intent_name_size = 16;
constexpr int intent_matrix = 1004, intent_symmetric_matrix = 1005;
constexpr int unit_metre = 1, unit_mm = 2, unit_micron = 3, space_unit_bits = 7;
constexpr int rgb24 = 128, rgba32 = 2304;

constexpr std::pair<int, ScalarType> datatypes[] = {
    {2, ScalarType::uint8},    {4, ScalarType::int16},    {8, ScalarType::int32},    {16, ScalarType::float32},
    {64, ScalarType::float64}, {256, ScalarType::int8},   {512, ScalarType::uint16}, {768, ScalarType::uint32},
    {1024, ScalarType::int64}, {1280, ScalarType::uint64}};

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

template <class V>
Header parse(ByteReader& reader, Encoding encoding) {
  using Real = typename V::Real;
  const BinaryHeader fields(reader, V::size, encoding);
  Header h;
  h.encoding = encoding;
  h.bytes = V::size;
  const std::string magic = fields.text(V::magic, 4);
  constexpr char version = V::size == Version1::size ? '1' : '2';
  h.pair = magic == std::string("ni") + version;
  if (!h.pair && magic != std::string("n+") + version)
    bad_file(reader.path(),
             "is no NIfTI file (its magic word is missing); ANALYZE files and others must be converted first");
  h.dim = fields.list<typename V::Dim, 8, std::int64_t>(V::dim);
  h.pixdim = fields.list<Real, 8, double>(V::pixdim);
  h.datatype = fields.at<std::int16_t>(V::datatype);
  h.intent = static_cast<int>(fields.at<typename V::Code>(V::intent_code));
  h.intent_name = fields.text(V::intent_name, intent_name_size);
  h.offset = static_cast<double>(fields.at<typename V::Offset>(V::vox_offset));
  h.slope = static_cast<double>(fields.at<Real>(V::slope));
  h.intercept = static_cast<double>(fields.at<Real>(V::intercept));
  h.units = static_cast<int>(fields.at<typename V::Units>(V::units)) & space_unit_bits;
  h.qform = static_cast<int>(fields.at<typename V::Code>(V::qform));
  h.sform = static_cast<int>(fields.at<typename V::Code>(V::sform));
  h.quaternion = fields.list<Real, 3, double>(V::quaternion);
  h.qoffset = fields.list<Real, 3, double>(V::qoffset);
  h.srow = fields.list<Real, 12, double>(V::srow);
  return h;
}

Header read_header(ByteReader& reader) {
  const std::string_view front = reader.peek(4);
  for (const Encoding encoding : {Encoding::little_endian, Encoding::big_endian}) {
    const std::int32_t value = front.size() == 4 ? value_at<std::int32_t>(front.data(), encoding) : 0;
    if (value == Version1::size) return parse<Version1>(reader, encoding);
    if (value == Version2::size) return parse<Version2>(reader, encoding);
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

double unit_in_mm(int unit) { return unit == unit_metre ? 1000 : unit == unit_micron ? 1e-3 : 1; }

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
    for (std::size_t axis = 0; axis < 3; ++axis) grid.axes[axis][static_cast<int>(axis)] = voxel_size(h, axis);
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
  if (h.datatype == rgb24) return {ScalarType::uint8, 3};
  if (h.datatype == rgba32) return {ScalarType::uint8, 4};
  for (const auto& [code, type] : datatypes)
    if (code == h.datatype) return {type, 1};
  bad_file(reader.path(),
           "numbers of a kind that is not read (NIfTI datatype {}); convert them to a real or whole type", h.datatype);
}

Image read_from(ByteReader& header_reader, const Header& h, ByteReader& values_reader) {
  const Pixel pixel = pixel_of(h, header_reader);
  if (h.dim[0] < 1 || h.dim[0] > 7)
    header_reader.fail("a number of dimensions that NIfTI does not have ({})", h.dim[0]);
  const auto space_axes = std::min<std::size_t>(3, static_cast<std::size_t>(h.dim[0]));
  const std::span<const std::int64_t> space(h.dim.data() + 1, space_axes);
  std::vector<std::int64_t> others{pixel.samples};
  others.insert(others.end(), h.dim.begin() + 4, h.dim.begin() + std::max<std::ptrdiff_t>(4, h.dim[0] + 1));
  const std::size_t start = h.pair ? 0 : h.bytes;
  if (!(h.offset == 0 || (h.offset >= static_cast<double>(start) && h.offset < 1e15)))
    header_reader.fail("values at a place that cannot be (offset {})", h.offset);
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
  if (h.intent == intent_symmetric_matrix && array.components == 6) image.tensor_order = TensorOrder::lower;
  else if (h.intent_name == mrtrix_tensor_name && array.components == 6) image.tensor_order = TensorOrder::mrtrix;
  if (h.intent == intent_matrix && array.components == 9) image.tensor_order = TensorOrder::row;
  image.data.set(std::move(array));
  return image;
}

// ---- writing ----

using Matrix = std::array<Vec3d, 3>;  // columns

struct Placement {
  Matrix rotation;
  double handedness = 1;  // −1: the third axis is turned round
  bool orthogonal = true;
};

Placement placement_of(const ImageGrid& grid) {
  Placement p;
  for (std::size_t a = 0; a < 3; ++a) p.rotation[a] = grid.axes[a] / norm(grid.axes[a]);
  auto& [x, y, z] = p.rotation;
  const double skew = std::max({std::abs(dot(x, y)), std::abs(dot(y, z)), std::abs(dot(z, x))});
  p.orthogonal = skew < 1e-4;
  if (dot(cross(x, y), z) < 0) {
    p.handedness = -1;
    z = -z;
  }
  return p;
}

/// b, c and d of the unit quaternion with a ≥ 0 (Shepperd's choice of the largest part keeps the digits).
std::array<double, 3> quaternion_of(const Matrix& r) {
  const double xx = r[0].x, yy = r[1].y, zz = r[2].z;
  const std::array<double, 4> squares{1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz};
  const auto largest = static_cast<std::size_t>(std::max_element(squares.begin(), squares.end()) - squares.begin());
  const double s = 2 * std::sqrt(squares[largest]);  // four times the largest part
  const double bc = (r[0].y + r[1].x) / s, bd = (r[0].z + r[2].x) / s, cd = (r[1].z + r[2].y) / s;
  const double ab = (r[1].z - r[2].y) / s, ac = (r[2].x - r[0].z) / s, ad = (r[0].y - r[1].x) / s;
  std::array<double, 4> q{};
  switch (largest) {
    case 0: q = {s / 4, ab, ac, ad}; break;
    case 1: q = {ab, s / 4, bc, bd}; break;
    case 2: q = {ac, bc, s / 4, cd}; break;
    default: q = {ad, bd, cd, s / 4}; break;
  }
  const double sign = q[0] < 0 ? -1 : 1;
  return {sign * q[1], sign * q[2], sign * q[3]};
}

int datatype_of(ScalarType type) {
  const auto same = [&](const auto& known) { return known.second == type; };
  return std::find_if(std::begin(datatypes), std::end(datatypes), same)->first;
}

template <class V>
BinaryHeader header_of(const ImageGrid& grid, const DataArray& array, bool tensor) {
  using Real = typename V::Real;
  using Code = typename V::Code;
  BinaryHeader h(V::size + 4, native_encoding);  // four bytes behind it: no extensions
  h.put(0, V::size);
  h.put_text(V::magic, V::size == Version1::size ? std::string_view("n+1") : std::string_view("n+2\0\r\n\032\n", 8));
  const ScalarType type = scalar_type(array.values);
  h.put(V::datatype, static_cast<std::int16_t>(datatype_of(type)));
  h.put(V::bitpix, static_cast<std::int16_t>(8 * size_of(type)));
  // The parts of a matrix stand on the fifth axis; the fourth is time.
  const auto components = static_cast<std::size_t>(array.components);
  const Placement place = placement_of(grid);
  h.put_list<typename V::Dim>(
      V::dim, std::array<std::size_t, 8>{components == 1 ? 3U : (tensor ? 5U : 4U), grid.shape[0], grid.shape[1],
                                         grid.shape[2], tensor ? 1 : components, tensor ? components : 1, 1, 1});
  h.put_list<Real>(V::pixdim,
                   std::array{place.handedness, grid.spacing(0), grid.spacing(1), grid.spacing(2), 1.0, 1.0, 1.0, 1.0});
  h.put(V::vox_offset, static_cast<typename V::Offset>(V::size + 4));
  h.put(V::slope, Real{1});
  h.put(V::units, static_cast<typename V::Units>(unit_mm));
  if (tensor) {
    h.put(V::intent_code, static_cast<Code>(array.components == 9 ? intent_matrix : intent_symmetric_matrix));
    h.put(V::intent_p1, Real{3});
    if (array.components == 9) h.put(V::intent_p1 + sizeof(Real), Real{3});
  }
  if (array.name.size() < intent_name_size && array.name != unnamed_array) h.put_text(V::intent_name, array.name);
  h.put(V::sform, Code{1});
  h.put(V::qform, static_cast<Code>(place.orthogonal ? 1 : 0));
  h.put_list<Real>(V::quaternion, quaternion_of(place.rotation));
  h.put_list<Real>(V::qoffset, std::array{grid.origin.x, grid.origin.y, grid.origin.z});
  for (int row = 0; row < 3; ++row)
    h.put_list<Real>(V::srow + 4 * static_cast<std::size_t>(row) * sizeof(Real),
                     std::array{grid.axes[0][row], grid.axes[1][row], grid.axes[2][row], grid.origin[row]});
  return h;
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

void write_nifti(const OutputFile& file, const Image& image) {
  const ArrayToWrite to_write(image, TensorOrder::lower);
  const DataArray& array = to_write.array();
  const auto& shape = image.grid.shape;
  const std::size_t longest =
      std::max<std::size_t>(*std::max_element(shape.begin(), shape.end()), static_cast<std::size_t>(array.components));
  const bool small = longest <= static_cast<std::size_t>(std::numeric_limits<std::int16_t>::max());
  const BinaryHeader header = small ? header_of<Version1>(image.grid, array, to_write.tensor())
                                    : header_of<Version2>(image.grid, array, to_write.tensor());
  ByteWriter writer(file);
  writer.write(header.bytes());
  write_planar(writer, array);
  writer.finish();
}

}  // namespace isochron
