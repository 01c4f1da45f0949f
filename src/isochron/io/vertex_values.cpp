#include "isochron/io/vertex_values.h"

#include <cmath>

#include "isochron/io/file.h"
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

}  // namespace

bool is_vertex_values_file(const std::filesystem::path& path) {
  const std::string extension = FileName(path).extension;
  return extension == ".dat" || extension == ".igb";
}

void write_vertex_values(const OutputFile& file, const DataArray& values) {
  const bool text = FileName(file.target).extension == ".dat";
  ByteWriter out(file);
  if (!text) out.write(igb_header(values.tuple_count()));
  std::visit(
      [&](const auto& list) {
        for (const auto value : list) {
          const bool reached = std::isfinite(static_cast<double>(value));
          if (!text) write_value(out, reached ? static_cast<float>(value) : static_cast<float>(never), native_encoding);
          else if (reached) out.print("{}\n", value);
          else out.print("{}\n", never);
        }
      },
      values.values);
  out.finish();
}

}  // namespace isochron
