#include "isochron/io/image/values.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "isochron/core/join_text.h"

namespace isochron {
namespace {

bool in_order(std::span<const ValueAxis> axes) {
  std::size_t expected = 1;
  for (const ValueAxis& axis : axes) {
    if (axis.extent > 1 && axis.stride != expected) return false;
    expected *= axis.extent;
  }
  return true;
}

template <class T>
std::vector<T> spread(const std::vector<T>& from, std::span<const ValueAxis> axes) {
  std::vector<T> to(from.size());
  std::vector<std::size_t> index(axes.size(), 0);
  std::size_t row = 0;  // where the current row along the first axis begins
  for (std::size_t next = 0; next < from.size(); next += axes[0].extent) {
    for (std::size_t i = 0; i < axes[0].extent; ++i) to[row + i * axes[0].stride] = from[next + i];
    for (std::size_t a = 1; a < axes.size(); ++a) {
      row += axes[a].stride;
      if (++index[a] < axes[a].extent) break;
      row -= axes[a].extent * axes[a].stride;
      index[a] = 0;
    }
  }
  return to;
}

// Where xx, xy, xz, yy, yz and zz stand.
std::array<std::size_t, 6> positions(TensorOrder order) {
  constexpr std::array<double, 6> counted{0, 1, 2, 3, 4, 5};
  const SymTensor3d t = tensor_of(counted, order);
  const auto at = [](double v) { return static_cast<std::size_t>(v); };
  return {at(t.xx), at(t.xy), at(t.xz), at(t.yy), at(t.yz), at(t.zz)};
}

Vec3d unit_axis(const ImageGrid& grid, std::size_t axis) { return grid.axes[axis] / norm(grid.axes[axis]); }

}  // namespace

std::string axis_letters(const ImageGrid& grid) {
  std::array<int, 3> order{0, 1, 2}, best = order;
  double most = 0;
  do {
    double sum = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) sum += std::abs(unit_axis(grid, axis)[order[axis]]);
    if (sum <= most) continue;
    most = sum;
    best = order;
  } while (std::next_permutation(order.begin(), order.end()));
  constexpr std::array<std::string_view, 3> letters{"LR", "PA", "IS"};
  std::string result;
  for (std::size_t axis = 0; axis < 3; ++axis)
    result += letters[static_cast<std::size_t>(best[axis])][grid.axes[axis][best[axis]] > 0 ? 1 : 0];
  return result;
}

std::string array_name(std::string_view text) {
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  const bool good = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  return std::string(good ? text : unnamed_array);
}

std::array<ValueAxis, 4> planar_axes(const ImageGrid& grid, int components) {
  const auto step = static_cast<std::size_t>(components);
  return {{{grid.shape[0], step},
           {grid.shape[1], step * grid.shape[0]},
           {grid.shape[2], step * grid.shape[0] * grid.shape[1]},
           {step, 1}}};
}

DataArray::Values reordered(DataArray::Values values, std::span<const ValueAxis> axes) {
  if (in_order(axes)) return values;
  return std::visit([&](const auto& from) -> DataArray::Values { return spread(from, axes); }, values);
}

ImageExtents checked_extents(ByteReader& reader, std::span<const std::int64_t> space,
                             std::span<const std::int64_t> others, std::size_t bytes_each) {
  const auto shown = [&] {
    std::string sizes = join_text(space, " x ");
    if (!others.empty()) sizes += fmt::format(" x {}", join_text(others, " x "));
    return sizes;
  };
  const auto multiply = [&](std::uint64_t product, std::int64_t factor, std::uint64_t limit) {
    if (factor == 0)
      bad_file(reader.path(), "there is nothing in the image (an axis has length 0: {}); give one with voxels",
               shown());
    if (factor < 1 || static_cast<std::uint64_t>(factor) > limit / product)
      reader.fail("sizes that no image has ({})", shown());
    return product * static_cast<std::uint64_t>(factor);
  };
  std::uint64_t voxels = 1;
  std::uint64_t components = 1;
  for (const std::int64_t extent : space) voxels = multiply(voxels, extent, VertexId::invalid_value - 1);
  for (const std::int64_t extent : others)
    components = multiply(components, extent, static_cast<std::uint64_t>(std::numeric_limits<int>::max()));
  reader.require_room(static_cast<std::size_t>(voxels * components), bytes_each);  // below 2⁶³
  ImageExtents result;
  std::transform(space.begin(), space.end(), result.shape.begin(),
                 [](std::int64_t n) { return static_cast<std::uint32_t>(n); });
  result.components = static_cast<int>(components);
  return result;
}

DataArray::Values scaled(const DataArray::Values& values, ScalarType file_type, double slope, double intercept) {
  const bool wide = file_type == ScalarType::float64 || (size_of(file_type) >= 4 && file_type != ScalarType::float32);
  return std::visit(
      [&](const auto& from) -> DataArray::Values {
        const auto convert = [&]<class T>(std::vector<T> to) {
          std::transform(from.begin(), from.end(), to.begin(),
                         [&](auto v) { return static_cast<T>(static_cast<double>(v) * slope + intercept); });
          return to;
        };
        if (wide) return convert(std::vector<double>(from.size()));
        return convert(std::vector<float>(from.size()));
      },
      values);
}

DataArray with_tensor_order(const DataArray& tensors, TensorOrder from, TensorOrder to) {
  if (tensors.components != 6 || from == to) return tensors;
  const auto source = positions(from);
  const auto target = positions(to);
  DataArray result = tensors;
  std::visit(
      [&](const auto& in) {
        auto& out = std::get<std::decay_t<decltype(in)>>(result.values);
        for (std::size_t begin = 0; begin + 6 <= in.size(); begin += 6)
          for (std::size_t c = 0; c < 6; ++c) out[begin + target[c]] = in[begin + source[c]];
      },
      tensors.values);
  return result;
}

bool holds_tensor(const Image& image) {
  if (!image.tensor_order || image.data.empty()) return false;
  const int components = image.data.all().front().components;
  return components == 6 || components == 9;
}

void complete_flat_axes(ImageGrid& grid) {
  if (!grid.flat() || norm(grid.axes[2]) > 0) return;
  const Vec3d normal = cross(grid.axes[0], grid.axes[1]);
  if (norm(normal) > 0) grid.axes[2] = normal / norm(normal);
}

}  // namespace isochron
