#include <cmath>
#include <limits>

#include "isochron/io/mesh/formats.h"

namespace isochron {
namespace {

constexpr std::string_view first_line = "mrtrix tracks";
[[noreturn]] void fail(const std::filesystem::path& path, std::string_view problem) {
  bad_file(path, "{}; get or write it again", problem);
}

struct TrackHeader {
  std::string_view datatype;
  std::optional<std::uint64_t> count;
  std::uint64_t offset = 0;
};

/// The lines "key: value" up to END.
TrackHeader read_header(const std::filesystem::path& path, std::string_view text) {
  if (!text.starts_with(first_line)) fail(path, "not a track file (it does not begin with 'mrtrix tracks')");
  TrackHeader header;
  for (std::size_t at = 0;;) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string_view::npos) fail(path, "the header has no END");
    const std::string_view line = trimmed(text.substr(at, end - at));
    at = end + 1;
    if (line == "END") break;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = trimmed(line.substr(0, colon)), value = trimmed(line.substr(colon + 1));
    if (key == "datatype") header.datatype = value;
    if (key == "count") header.count = parse_number<std::uint64_t>(value);
    if (key != "file") continue;
    const auto offset = value.starts_with(". ") ? parse_number<std::uint64_t>(trimmed(value.substr(2))) : std::nullopt;
    if (!offset) fail(path, "the header's 'file' does not say where in this file the points begin");
    header.offset = *offset;
  }
  if (header.offset == 0 || header.offset > text.size()) fail(path, "the header names no place of the points in it");
  return header;
}

/// Three reals are a point, three NaN the end of a streamline, three infinities the end of all.
template <class T>
void read_streamlines(const std::filesystem::path& path, std::string_view bytes, Encoding encoding, Dataset& dataset) {
  std::vector<VertexId> line;
  for (std::size_t at = 0; at + 3 * sizeof(T) <= bytes.size(); at += 3 * sizeof(T)) {
    Vec3d p;
    for (int k = 0; k < 3; ++k)
      p[k] = value_at<T>(bytes.data() + at + static_cast<std::size_t>(k) * sizeof(T), encoding);
    if (std::isinf(p.x)) {
      if (!line.empty()) dataset.lines.push_back(std::move(line));
      return;
    }
    if (std::isnan(p.x)) {
      dataset.lines.push_back(std::move(line));
      line = {};
      continue;
    }
    line.emplace_back(dataset.points.size());
    dataset.points.push_back(p);
  }
  fail(path, "the streamlines do not end (the file was cut off)");
}

}  // namespace

Dataset read_tck(const std::filesystem::path& path) {
  const FileBytes file(path);
  const TrackHeader header = read_header(path, file.text());
  const std::string_view bytes = file.text().substr(header.offset);
  Dataset dataset;
  if (header.datatype == "Float32LE") read_streamlines<float>(path, bytes, Encoding::little_endian, dataset);
  else if (header.datatype == "Float32BE") read_streamlines<float>(path, bytes, Encoding::big_endian, dataset);
  else if (header.datatype == "Float64LE") read_streamlines<double>(path, bytes, Encoding::little_endian, dataset);
  else if (header.datatype == "Float64BE") read_streamlines<double>(path, bytes, Encoding::big_endian, dataset);
  else
    fail(path, fmt::format("the datatype '{}' is none of Float32LE, Float32BE, Float64LE, Float64BE", header.datatype));
  if (header.count && *header.count != dataset.lines.size())
    dataset.warnings.push_back(
        fmt::format("the header counts {} streamlines (there are {})", *header.count, dataset.lines.size()));
  return dataset;
}

void write_tck(std::span<const OutputFile> files, const Dataset& dataset) {
  ByteWriter writer(files[0]);
  const std::string head = fmt::format("{}\ndatatype: Float32LE\ncount: {}\ntotal_count: {}\nfile: . ", first_line,
                                       dataset.lines.size(), dataset.lines.size());
  constexpr std::string_view tail = "\nEND\n";
  // The offset is part of what it counts: room for any number, zeros in front.
  constexpr std::size_t digits = 10;
  writer.print("{}{:0{}}{}", head, head.size() + digits + tail.size(), digits, tail);
  const auto put = [&](const Vec3d& p) {
    for (int k = 0; k < 3; ++k) write_value(writer, static_cast<float>(p[k]), Encoding::little_endian);
  };
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  for (const auto& line : dataset.lines) {
    for (const VertexId v : line) put(dataset.points[v.index()]);
    put({nan, nan, nan});
  }
  put({inf, inf, inf});
  writer.finish();
}

}  // namespace isochron
