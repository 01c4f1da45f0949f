// The values of images on their way between files and memory: order, scale, tensors.
#pragma once

#include "isochron/image.h"
#include "isochron/io/values.h"

namespace isochron {

/// The name of an array in a file that gives it none.
constexpr std::string_view unnamed_array = "values";

/// `text` as the name of an array; what is empty or not printable is `unnamed_array`.
std::string array_name(std::string_view text);

/// For each voxel axis the world direction that it follows most, none twice: Right, Left, Anterior, Posterior,
/// Superior, Inferior.
std::string axis_letters(const ImageGrid& grid);

/// One axis of a file's block of values: its length, and how far apart its steps lie in an image's values.
struct ValueAxis {
  std::size_t extent = 1;
  std::size_t stride = 1;
};

/// The axes of a block that holds one whole volume after the other, the first index of the voxels fastest.
std::array<ValueAxis, 4> planar_axes(const ImageGrid& grid, int components);

/// Values in the order of a file (its axes are listed fastest first) put into the order of an image. The extents must
/// multiply to the number of values and the strides must lead to each value once.
DataArray::Values reordered(DataArray::Values values, std::span<const ValueAxis> axes);

/// What a header says about its sizes, as the shape of an image and a number of components. Calls `reader.fail` unless
/// all are positive and the rest of the file can hold the values, each of `bytes_each` bytes. Missing axes are 1.
struct ImageExtents {
  std::array<std::uint32_t, 3> shape{1, 1, 1};
  int components = 1;

  [[nodiscard]] std::size_t value_count() const {
    return std::size_t{shape[0]} * shape[1] * shape[2] * static_cast<std::size_t>(components);
  }
};
ImageExtents checked_extents(ByteReader& reader, std::span<const std::int64_t> space,
                             std::span<const std::int64_t> others, std::size_t bytes_each);

/// value·slope + intercept as float, or double where the file's type holds more digits than float.
DataArray::Values scaled(const DataArray::Values& values, ScalarType file_type, double slope, double intercept);

/// Puts the six components of each tuple from one order into another; other numbers of components stay as they are.
DataArray with_tensor_order(const DataArray& tensors, TensorOrder from, TensorOrder to);

/// Whether the image's first array is a tensor of known order.
bool holds_tensor(const Image& image);

/// The image's first array as a file keeps it: tensors of known order in the order of the format.
class ArrayToWrite {
 public:
  ArrayToWrite(const Image& image, TensorOrder order) : stored_(&image.data.all().front()) {
    if (holds_tensor(image)) turned_ = with_tensor_order(*stored_, *image.tensor_order, order);
  }
  [[nodiscard]] bool tensor() const { return turned_.has_value(); }
  [[nodiscard]] const DataArray& array() const { return turned_ ? *turned_ : *stored_; }

 private:
  const DataArray* stored_;
  std::optional<DataArray> turned_;
};

/// Writes one component of all voxels after the other, converted to T.
template <class T>
void write_planar_as(ByteWriter& writer, const DataArray& array, Encoding encoding) {
  std::visit(
      [&](const auto& values) {
        const auto step = static_cast<std::size_t>(array.components);
        for (std::size_t component = 0; component < step; ++component) {
          for (std::size_t i = component; i < values.size(); i += step)
            write_value(writer, static_cast<T>(values[i]), encoding);
        }
      },
      array.values);
}

/// The same in the array's type and this machine's byte order.
inline void write_planar(ByteWriter& writer, const DataArray& array) {
  with_type(scalar_type(array.values), [&]<class T>() { write_planar_as<T>(writer, array, native_encoding); });
}

/// Gives a flat image whose file has no third axis one out of its plane.
void complete_flat_axes(ImageGrid& grid);

}  // namespace isochron
