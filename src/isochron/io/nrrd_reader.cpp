#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isochron/io/image_values.h"
#include "isochron/io/nrrd_file.h"
#include "isochron/io/nrrd_header.h"
#include "isochron/io/packed_bytes.h"
#include "isochron/mesh/image_mask.h"

namespace isochron {
namespace {

/// Which axes are in space; the others hold components.
std::vector<bool> space_axes(const NrrdHeader& h, Image& image) {
  const std::size_t axes = h.sizes.size();
  std::vector<bool> result(axes, true);
  const auto informative = [](const std::string& kind) { return kind != "???" && kind != "none"; };
  if (!h.directions.empty()) {
    std::transform(h.directions.begin(), h.directions.end(), result.begin(),
                   [](const auto& d) { return d.has_value(); });
  } else if (std::any_of(h.kinds.begin(), h.kinds.end(), informative)) {
    std::transform(h.kinds.begin(), h.kinds.end(), result.begin(),
                   [](const std::string& kind) { return kind == "space" || kind == "domain"; });
  } else if (std::any_of(h.spacings.begin(), h.spacings.end(), [](double s) { return std::isfinite(s); })) {
    std::transform(h.spacings.begin(), h.spacings.end(), result.begin(), [](double s) { return std::isfinite(s); });
  } else if (axes > 3) {
    std::fill(result.begin(), result.end() - 3, false);
    image.warnings.emplace_back("the header does not say which axes are in space (no kinds); the last three are taken");
  }
  return result;
}

void place(const NrrdHeader& h, const std::vector<std::size_t>& space, Image& image) {
  ImageGrid& grid = image.grid;
  Vec3d mins{};
  for (std::size_t d = 0; d < space.size(); ++d) {
    const std::size_t axis = space[d];
    const auto number = [&](const std::vector<double>& list, double otherwise) {
      return !list.empty() && std::isfinite(list[axis]) ? list[axis] : otherwise;
    };
    if (!h.directions.empty()) {
      grid.axes[d] = *h.directions[axis];
    } else {
      const double spacing = number(h.spacings, 1);
      grid.axes[d] = (spacing == 0 ? 1 : spacing) * grid.axes[d];
    }
    mins[static_cast<int>(d)] = number(h.axis_mins, 0);
  }
  if (h.directions.empty()) {
    image.warnings.emplace_back(
        "the affine is missing (no space directions); the image's axes are taken for x, y and z");
  }
  grid.origin = h.origin ? *h.origin : mins;
  if (space.size() < 3) grid.axes[2] = {};
  if (space.size() < 2) grid.axes[1] = std::abs(grid.axes[0].y) < norm(grid.axes[0]) ? Vec3d{0, 1, 0} : Vec3d{1, 0, 0};
  complete_flat_axes(grid);
}

std::string rest_of(ByteReader& reader) {
  std::string rest;
  while (!reader.at_end()) {
    const std::string_view part = reader.peek(1 << 16);
    rest += part;
    reader.skip(part.size());
  }
  return rest;
}

DataArray::Values read_block(ByteReader& reader, const NrrdHeader& h, std::size_t count, bool attached) {
  for (std::int64_t line = 0; line < h.line_skip; ++line)
    if (!reader.line()) reader.fail("the file ends in the lines to be skipped");
  if (h.packing == NrrdPacking::gzip && attached) {
    const std::string packed = rest_of(reader);
    // Bytes are skipped behind the unpacking.
    const auto skip = static_cast<std::size_t>(std::max<std::int64_t>(0, h.byte_skip));
    // Few bytes cannot stand for many; so the sizes below do not overflow.
    const std::size_t most = (packed.size() + 1) * max_deflate_gain;
    if (skip > most || count > (most - skip) / size_of(h.type)) reader.fail("it is shorter than its header says");
    const std::string bytes = unpacked(packed, skip + count * size_of(h.type), reader.path());
    return values_of_bytes(std::string_view(bytes).substr(skip), h.type, h.encoding);
  }
  std::int64_t skip = h.byte_skip;
  if (skip == -1) {
    std::error_code error;
    const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(reader.path(), error));
    skip = bytes - static_cast<std::int64_t>(count * size_of(h.type));
    if (error || attached || skip < 0) reader.fail("the values cannot be counted from the file's end");
  }
  reader.skip(static_cast<std::size_t>(skip));
  return read_values(reader, h.type, h.encoding, count);
}

DataArray::Values read_data(ByteReader& header_reader, const NrrdHeader& h, std::size_t count) {
  if (h.data_file.empty()) return read_block(header_reader, h, count, true);
  if (h.data_file.starts_with("LIST") || h.data_file.find('%') != std::string::npos)
    header_reader.fail("the values are in several files", "join them in one, for example with unu save");
  ByteReader values(header_reader.path().parent_path() / h.data_file);
  values.require_room(count, h.encoding == Encoding::text ? 2 : size_of(h.type));
  return read_block(values, h, count, false);
}

/// Turns 3-vectors, or tensors of six (in row order) or nine components, into the world.
template <class T>
void turn(std::vector<T>& values, int components, const FrameAxes& frame) {
  const auto size = static_cast<std::size_t>(components);
  std::vector<double> tuple(size);
  for (std::size_t begin = 0; begin + size <= values.size(); begin += size) {
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(begin), size, tuple.begin());
    if (size == 3) {
      const Vec3d v = rotate_to_world(Vec3d{tuple[0], tuple[1], tuple[2]}, frame);
      tuple = {v.x, v.y, v.z};
    } else {
      const SymTensor3d t = rotate_to_world(tensor_of(tuple, TensorOrder::row), frame);
      if (size == 6) tuple = {t.xx, t.xy, t.xz, t.yy, t.yz, t.zz};
      else tuple = {t.xx, t.xy, t.xz, t.xy, t.yy, t.yz, t.xz, t.yz, t.zz};
    }
    std::transform(tuple.begin(), tuple.end(), values.begin() + static_cast<std::ptrdiff_t>(begin),
                   [](double v) { return static_cast<T>(v); });
  }
}

void turn(DataArray& array, const FrameAxes& frame) {
  if (frame.axis == FrameAxes{}.axis) return;
  if (!std::holds_alternative<std::vector<float>>(array.values))
    array.values = scaled(array.values, ScalarType::float64, 1, 0);
  std::visit(
      [&](auto& values) {
        if constexpr (std::is_floating_point_v<typename std::decay_t<decltype(values)>::value_type>)
          turn(values, array.components, frame);
      },
      array.values);
}

/// What the kind of the component axis makes of the array.
void interpret(const NrrdHeader& h, const std::vector<std::size_t>& others, DataArray array, Image& image) {
  const std::string kind = others.size() == 1 && !h.kinds.empty() ? h.kinds[others[0]] : "";
  const bool masked = kind == "3d-masked-symmetric-matrix" || kind == "3d-masked-matrix";
  const int parts = array.components - (masked ? 1 : 0);
  const bool tensor = (kind.ends_with("symmetric-matrix") && kind.starts_with("3d-") && parts == 6) ||
                      ((kind == "3d-matrix" || kind == "3d-masked-matrix") && parts == 9);
  const bool vector = parts == 3 && (kind == "vector" || kind == "covariant-vector" || kind == "3-vector" ||
                                     kind == "3-gradient" || kind == "3-normal");
  std::optional<DataArray> mask;
  if (tensor && masked) mask = split_confidence(array);
  if (tensor || vector) turn(array, h.frame);
  if (tensor) image.tensor_order = TensorOrder::row;
  if (mask && array.name == mask->name) array.name = "tensor";
  image.data.set(std::move(array));
  if (mask) image.data.set(std::move(*mask));
}

}  // namespace

Image read_nrrd(const std::filesystem::path& path) {
  ByteReader reader(path);
  const NrrdHeader h = read_nrrd_header(reader);
  Image image;
  const std::vector<bool> in_space = space_axes(h, image);
  std::vector<std::size_t> space, others;
  for (std::size_t axis = 0; axis < h.sizes.size(); ++axis) (in_space[axis] ? space : others).push_back(axis);
  if (space.empty() || space.size() > 3)
    reader.fail(fmt::format("{} axes in space (an image has 1 to 3)", space.size()), "cut it into images");
  const auto sizes_of = [&](const std::vector<std::size_t>& axes) {
    std::vector<std::int64_t> sizes;
    for (const std::size_t axis : axes) sizes.push_back(h.sizes[axis]);
    return sizes;
  };
  // Detached values are measured where they are.
  const ImageExtents extents = checked_extents(reader, sizes_of(space), sizes_of(others), 0);
  if (h.data_file.empty() && h.packing == NrrdPacking::none)
    reader.require_room(extents.value_count(), h.encoding == Encoding::text ? 2 : size_of(h.type));
  image.grid.shape = extents.shape;
  place(h, space, image);

  std::vector<ValueAxis> axes(h.sizes.size());
  std::size_t stride = 1;
  for (const auto* list : {&others, &space}) {
    for (const std::size_t axis : *list) {
      axes[axis] = {static_cast<std::size_t>(h.sizes[axis]), stride};
      stride *= axes[axis].extent;
    }
  }
  DataArray array{array_name(h.content), extents.components,
                  reordered(read_data(reader, h, extents.value_count()), axes)};
  interpret(h, others, std::move(array), image);
  return image;
}

}  // namespace isochron
