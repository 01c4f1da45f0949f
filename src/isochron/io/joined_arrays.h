// Point and cell arrays as mixed-cell files want them: one value list over all cells, whatever block they came from.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "isochron/io/byte_writer.h"
#include "isochron/io/scalar_type.h"
#include "isochron/mesh/dataset.h"

namespace isochron {

/// A stretch of cells (or points) and the arrays on it.
struct ArrayBlock {
  const DataArrays* data;
  std::size_t tuples;
  std::string kind;  ///< "points", "triangles", …
};

/// One array over several blocks. Cells of blocks without it get NaN, or 0 in an array of whole numbers.
struct JoinedArray {
  struct Part {
    const DataArray* array;  ///< null: padding
    std::size_t tuples;
  };
  std::string name;
  int components = 1;
  ScalarType type = ScalarType::float64;
  std::vector<Part> parts;

  [[nodiscard]] std::size_t value_count() const;
  [[nodiscard]] std::size_t byte_count() const { return value_count() * size_of(type); }
};

/// The arrays of all blocks, joined by name. An array whose type differs between blocks becomes double; one whose
/// number of components differs is kept apart as NAME_KIND. Every array must fit its block. Empty blocks add no array,
/// unless all are empty.
std::vector<JoinedArray> join_arrays(std::span<const ArrayBlock> blocks);

/// Writes all values in their type, in the given byte order (never text).
void write_values(ByteWriter& writer, const JoinedArray& array, Encoding encoding);

/// Writes one value in the given byte order.
template <class T>
void write_value(ByteWriter& writer, T value, Encoding encoding) {
  if (encoding != native_encoding) value = byte_swapped(value);
  writer.write(&value, sizeof(T));
}

/// True when float holds every coordinate exactly, so that files need not store double.
bool fits_float(const std::vector<Vec3d>& points);

/// Writes x y z of every point, as float or double.
void write_points(ByteWriter& writer, const std::vector<Vec3d>& points, ScalarType type, Encoding encoding);

}  // namespace isochron
