// Arrays for NumPy.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "isochron/io/byte_writer.h"

namespace isochron {

/// The first bytes of a .npy file (format version 1.0) of this type ("f8") in the machine's byte order.
enum class NpyOrder { rows_first, columns_first };  // NumPy's C and Fortran order
std::string npy_header(std::string_view type, NpyOrder order, std::span<const std::size_t> shape);

/// Writes a table of 64-bit reals as a .npy file (format version 1.0, row after row), one row at a time: it need not
/// fit the memory. Throws RuntimeError like `ByteWriter`.
class NpyWriter {
 public:
  NpyWriter(const OutputFile& file, std::size_t rows, std::size_t columns);

  /// The next row, with as many values as there are columns.
  void row(std::span<const double> values);
  /// Must be called after the last row: only then is everything known to be written.
  void finish();

 private:
  ByteWriter out_;
  std::size_t rows_left_;
  std::size_t columns_;
};

}  // namespace isochron
