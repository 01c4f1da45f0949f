#include "isochron/io/vertex_values.h"

#include <cmath>

#include "isochron/io/bytes.h"
#include "isochron/io/printed_text.h"
#include "isochron/io/tables.h"
#include "isochron/io/values.h"

namespace isochron {
namespace {

constexpr double never = -1;

/// IGB headers are lines of at most 80 characters, filled up with blank ones, and end with a form feed.
std::string igb_header(std::size_t vertices) {
  constexpr std::size_t size = 1024, line = 72;
  std::string header = fmt::format("x:{} y:1 z:1 t:1 type:float systeme:{} ", vertices,
                                   native_encoding == Encoding::little_endian ? "little_endian" : "big_endian");
  while (header.size() < size) {
    const std::size_t end = std::min(size - 1, (header.size() / line + 1) * line);
    header.resize(end - 2, ' ');
    header += end == size - 1 ? "\r\n\f" : "\r\n";
  }
  return header;
}

/// NumPy's name of a type, without the byte order: "f8".
template <class T>
std::string npy_type() {
  return fmt::format("{}{}", std::is_floating_point_v<T> ? 'f' : std::is_signed_v<T> ? 'i' : 'u', sizeof(T));
}

template <class T>
void write_list(ByteWriter& out, std::string_view extension, const std::vector<T>& list) {
  const auto or_never = [&](std::size_t i) {
    return std::isfinite(static_cast<double>(list[i])) ? list[i] : static_cast<T>(never);
  };
  if (extension == ".npy") {
    const std::size_t count = list.size();
    out.write(npy_header(npy_type<T>(), NpyOrder::rows_first, std::span(&count, 1)));
    out.write(list.data(), count * sizeof(T));
  } else if (extension == ".igb") {
    out.write(igb_header(list.size()));
    write_each<float>(out, list.size(), native_encoding, or_never);
  } else {
    out.print_rows(list.size(), [&](std::size_t first, std::size_t count, PrintedText& text) {
      for (std::size_t i = first; i < first + count; ++i) text << or_never(i) << '\n';
    });
  }
}

}  // namespace

bool is_vertex_values_file(const std::filesystem::path& path) {
  const FileName name(path);
  // NumPy does not read compressed arrays.
  return name.extension == ".dat" || name.extension == ".igb" || (name.extension == ".npy" && !name.gzip);
}

void write_vertex_values(const OutputFile& file, const DataArray& values) {
  const std::string extension = FileName(file.target).extension;
  ByteWriter out(file);
  std::visit([&](const auto& list) { write_list(out, extension, list); }, values.values);
  out.finish();
}

bool is_table_file(const std::filesystem::path& path) { return FileName(path).extension == ".csv"; }

void write_vertex_table(const OutputFile& file, const std::function<Vec3d(std::size_t)>& position_of,
                        const std::vector<const DataArray*>& columns) {
  ByteWriter out(file);
  out.write("id,x,y,z");
  for (const DataArray* column : columns) out.print(",{}", column->name);
  out.write("\n");
  const std::size_t count = columns.empty() ? 0 : columns.front()->tuple_count();
  out.print_rows(count, [&](std::size_t first, std::size_t rows, PrintedText& text) {
    for (std::size_t i = first; i < first + rows; ++i) {
      const Vec3d p = position_of(i);
      text << i << ',' << p.x << ',' << p.y << ',' << p.z;
      for (const DataArray* column : columns)
        std::visit([&](const auto& list) { text << ',' << list[i]; }, column->values);
      text << '\n';
    }
  });
  out.finish();
}

}  // namespace isochron
