#include "isochron/io/npy_file.h"

#include <array>
#include <bit>
#include <cassert>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace isochron {

// Magic, version and length; then a Python dictionary, filled up so that the numbers begin at a multiple of 64.
std::string npy_header(std::string_view type, NpyOrder order, std::span<const std::size_t> shape) {
  constexpr std::size_t before = 10, alignment = 64;
  // A tuple of one needs its comma.
  std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': {}, 'shape': ({}{}), }}",
                                 std::endian::native == std::endian::little ? '<' : '>', type,
                                 order == NpyOrder::columns_first ? "True" : "False", fmt::join(shape, ", "),
                                 shape.size() == 1 ? "," : "");
  text.append((alignment - (before + text.size() + 1) % alignment) % alignment, ' ');
  text += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(text.size() & 0xffU);
  header += static_cast<char>(text.size() >> 8U);
  return header + text;
}

NpyWriter::NpyWriter(const OutputFile& file, std::size_t rows, std::size_t columns)
    : out_(file), rows_left_(rows), columns_(columns) {
  const std::string header = npy_header("f8", NpyOrder::rows_first, std::array{rows, columns});
  out_.write(header.data(), header.size());
}

void NpyWriter::row(std::span<const double> values) {
  assert(rows_left_ > 0 && values.size() == columns_);
  out_.write(values.data(), values.size_bytes());
  --rows_left_;
}

void NpyWriter::finish() {
  assert(rows_left_ == 0);
  out_.finish();
}

}  // namespace isochron
