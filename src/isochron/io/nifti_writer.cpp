#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "isochron/io/binary_header.h"
#include "isochron/io/image_values.h"
#include "isochron/io/nifti_file.h"
#include "isochron/io/nifti_layout.h"

namespace isochron {
namespace {

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
  return std::find_if(nifti::datatypes.begin(), nifti::datatypes.end(),
                      [&](const auto& known) { return known.second == type; })
      ->first;
}

template <class V>
BinaryHeader header_of(const ImageGrid& grid, const DataArray& array, bool tensor) {
  using Real = typename V::Real;
  using Code = typename V::Code;
  BinaryHeader h(V::size + 4, native_encoding);  // four bytes behind it: no extensions
  h.put(0, V::size);
  h.put_text(V::magic,
             V::size == nifti::Version1::size ? std::string_view("n+1") : std::string_view("n+2\0\r\n\032\n", 8));
  const ScalarType type = scalar_type(array.values);
  h.put(V::datatype, static_cast<std::int16_t>(datatype_of(type)));
  h.put(V::bitpix, static_cast<std::int16_t>(8 * size_of(type)));
  // The parts of a matrix stand on the fifth axis; the fourth is time.
  const std::array<std::size_t, 8> dim{array.components == 1 ? 3U : (tensor ? 5U : 4U),
                                       grid.shape[0],
                                       grid.shape[1],
                                       grid.shape[2],
                                       tensor ? 1 : static_cast<std::size_t>(array.components),
                                       tensor ? static_cast<std::size_t>(array.components) : 1,
                                       1,
                                       1};
  const Placement place = placement_of(grid);
  for (std::size_t i = 0; i < 8; ++i) {
    h.put(V::dim + i * sizeof(typename V::Dim), static_cast<typename V::Dim>(dim[i]));
    const double size = i == 0 ? place.handedness : i <= 3 ? grid.spacing(static_cast<int>(i) - 1) : 1;
    h.put(V::pixdim + i * sizeof(Real), static_cast<Real>(size));
  }
  h.put(V::vox_offset, static_cast<typename V::Offset>(V::size + 4));
  h.put(V::slope, Real{1});
  h.put(V::units, static_cast<typename V::Units>(nifti::unit_mm));
  if (tensor) {
    h.put(V::intent_code,
          static_cast<Code>(array.components == 9 ? nifti::intent_matrix : nifti::intent_symmetric_matrix));
    h.put(V::intent_p1, Real{3});
    if (array.components == 9) h.put(V::intent_p1 + sizeof(Real), Real{3});
  }
  if (array.name.size() < nifti::intent_name_size && array.name != unnamed_array)
    h.put_text(V::intent_name, array.name);
  h.put(V::sform, Code{1});
  h.put(V::qform, static_cast<Code>(place.orthogonal ? 1 : 0));
  const std::array<double, 3> quaternion = quaternion_of(place.rotation);
  for (int row = 0; row < 3; ++row) {
    const auto r = static_cast<std::size_t>(row);
    h.put(V::quaternion + r * sizeof(Real), static_cast<Real>(quaternion[r]));
    h.put(V::qoffset + r * sizeof(Real), static_cast<Real>(grid.origin[row]));
    const std::array<double, 4> srow{grid.axes[0][row], grid.axes[1][row], grid.axes[2][row], grid.origin[row]};
    for (std::size_t c = 0; c < 4; ++c) h.put(V::srow + (4 * r + c) * sizeof(Real), static_cast<Real>(srow[c]));
  }
  return h;
}

}  // namespace

void write_nifti(const OutputFile& file, const Image& image) {
  const ArrayToWrite to_write(image, TensorOrder::lower);
  const DataArray& array = to_write.array();
  const auto& shape = image.grid.shape;
  const std::size_t longest =
      std::max<std::size_t>(*std::max_element(shape.begin(), shape.end()), static_cast<std::size_t>(array.components));
  const bool small = longest <= static_cast<std::size_t>(std::numeric_limits<std::int16_t>::max());
  const BinaryHeader header = small ? header_of<nifti::Version1>(image.grid, array, to_write.tensor())
                                    : header_of<nifti::Version2>(image.grid, array, to_write.tensor());
  ByteWriter writer(file);
  writer.write(header.bytes().data(), header.bytes().size());
  write_planar(writer, array);
  writer.finish();
}

}  // namespace isochron
