#include "isochron/io/mesh/formats.h"

namespace isochron {
namespace {

// The first word is optional; prefixes C, N, ST announce values behind each vertex, which are skipped with their line.
void read_header(TextScanner& in) {
  std::string_view word = in.peek();
  if (!word.empty() && word.front() >= '0' && word.front() <= '9' && !word.ends_with("OFF")) return;
  if (word != "OFF" && word != "COFF" && word != "NOFF" && word != "CNOFF" && word != "STOFF" && word != "STCOFF" &&
      word != "STNOFF" && word != "STCNOFF") {
    if (word.ends_with("OFF"))
      in.fail("vertices are not three-dimensional (4OFF or nOFF); convert the file to plain OFF");
    in.fail("the word OFF is missing (this is not an OFF file); check the extension");
  }
  in.word("OFF");
  if (in.more_on_line() && in.peek() == "BINARY")
    in.fail("binary OFF is not understood (only text is); convert the file to text");
}

void read_face(TextScanner& in, Dataset& result) {
  const auto corners = in.integer<std::uint32_t>("a face's number of corners");
  const std::size_t vertices = result.points.size();
  if (corners == 3) {
    auto& cell = result.triangles.cells.emplace_back();
    for (VertexId& v : cell) v = in.vertex(0, vertices);
  } else if (corners == 2) {
    const VertexId a = in.vertex(0, vertices);
    result.lines.push_back({a, in.vertex(0, vertices)});
  } else {
    in.check_count("number of corners", corners, 2);
    for (std::uint32_t k = 0; k < corners; ++k) in.vertex(0, vertices);
    count_ignored(result, corners < 2 ? "vertex" : "polygon");
  }
  in.skip_rest();  // a colour
}

}  // namespace

Dataset read_off(const std::filesystem::path& path) {
  const FileBytes bytes(path);
  TextScanner in(path, bytes.text(), {.hash_comments = true});
  read_header(in);
  const std::size_t points = in.count("the number of vertices", 6);
  const std::size_t faces = in.count("the number of faces", 2);
  in.skip_line();  // the number of edges, which nobody needs
  Dataset result;
  result.points.resize(points);
  for (Vec3d& p : result.points) {
    for (int k = 0; k < 3; ++k) p[k] = in.coordinate();
    in.skip_rest();
  }
  result.triangles.cells.reserve(faces);
  for (std::size_t i = 0; i < faces; ++i) read_face(in, result);
  return result;
}

void write_off(std::span<const OutputFile> files, const Dataset& dataset) {
  ByteWriter out(files[0]);
  out.print("OFF\n{} {} 0\n", dataset.points.size(), dataset.triangles.cells.size());
  for (const Vec3d& p : dataset.points) out.print("{} {} {}\n", p.x, p.y, p.z);
  for (const auto& [a, b, c] : dataset.triangles.cells) out.print("3 {} {} {}\n", a.value, b.value, c.value);
  out.finish();
}

}  // namespace isochron
