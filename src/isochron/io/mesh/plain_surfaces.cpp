// Surfaces without arrays: Wavefront OBJ, OFF and STL.
#include <bit>
#include <cmath>

#include "isochron/io/mesh/formats.h"

namespace isochron {
namespace {

// ---- OBJ ----

class ObjReading {
 public:
  explicit ObjReading(const std::filesystem::path& path) : reader_(path) {}

  Dataset run() {
    std::string joined;
    while (const auto line = reader_.line()) {
      ++line_number_;
      // A backslash at the end continues the line.
      if (!line->empty() && line->back() == '\\') {
        joined += line->substr(0, line->size() - 1);
        joined += ' ';
        continue;
      }
      if (!joined.empty()) joined += *line;
      take_line(joined.empty() ? *line : joined);
      joined.clear();
    }
    if (!joined.empty()) fail("the file ends in the middle of a line");
    if (!known_) bad_file(reader_.path(), "no OBJ lines (v, f, l) were found; check the extension");
    // Faces may come before the vertices they name, so they are placed last.
    CellSorter sorter(dataset_, reader_.path());
    sorter.reserve(kind_triangle, faces_);
    sorter.add_runs(ids_, ends_, [&](std::size_t cell) { return kinds_[cell]; });
    return std::move(dataset_);
  }

 private:
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> problem, Args&&... args) const {
    bad_file(reader_.path(), "line {}: {}; correct the line, or get or write the file again", line_number_,
             fmt::format(problem, std::forward<Args>(args)...));
  }

  void take_line(std::string_view line) {
    const std::string_view keyword = next_word(line);
    if (keyword == "v") take_point(line);
    else if (keyword == "f") take_cell(line, kind_polygon);
    else if (keyword == "l") take_cell(line, kind_poly_line);
    else if (keyword == "p") take_cell(line, kind_poly_vertex);
    else return;
    known_ = true;
  }

  void take_point(std::string_view line) {
    Vec3d point;
    for (int i = 0; i < 3; ++i) {
      const std::string_view word = next_word(line);
      const auto value = parse_real(word);
      if (!value) fail("{} where a coordinate should be", in_quotes(without_plus(word)));
      point[i] = *value;
    }
    dataset_.points.push_back(point);
  }

  void take_cell(std::string_view line, int kind) {
    for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
      if (word.starts_with('#')) break;
      std::int64_t id = 0;
      const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), id);
      const bool whole = end == word.data() + word.size() || *end == '/';
      if (code != std::errc() || !whole || id == 0) fail("{} where a vertex number should be", in_quotes(word));
      const auto points = static_cast<std::int64_t>(dataset_.points.size());
      if (id < -points) fail("vertex {} counts back past the first of {} vertices", id, points);
      ids_.push_back(id > 0 ? id - 1 : points + id);
    }
    if (kind == kind_polygon) ++faces_;
    kinds_.push_back(kind);
    ends_.push_back(ids_.size());
  }

  ByteReader reader_;
  Dataset dataset_;
  std::vector<std::int64_t> ids_;
  std::vector<int> kinds_;
  std::vector<std::size_t> ends_;
  std::size_t faces_ = 0;
  std::size_t line_number_ = 0;
  bool known_ = false;
};

// ---- OFF ----

// The first word is optional; prefixes C, N, ST announce values behind each vertex, which are skipped with their line.
void read_off_header(TextScanner& in) {
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

void read_off_face(TextScanner& in, std::size_t vertices, std::vector<VertexId>& face, CellAdder& adder) {
  const auto corners = in.integer<std::uint32_t>("a face's number of corners");
  in.check_count("number of corners", corners, 2);
  face.clear();
  for (std::uint32_t k = 0; k < corners; ++k) face.push_back(in.vertex(0, vertices));
  adder.add(corners == 2 ? kind_line : corners < 2 ? kind_vertex : kind_polygon, face);
  in.skip_rest();  // a colour
}

// ---- STL ----

// Gives every different place a vertex: a hash table with open addressing over the points found so far.
class PointMerger {
 public:
  explicit PointMerger(std::vector<Vec3d>& points) : points_(points), slots_(1 << 10) {}

  VertexId add(Vec3d p) {
    p = p + Vec3d{};  // -0 becomes 0
    if (2 * points_.size() >= slots_.size()) grow();
    VertexId& slot = find(p);
    if (!slot.valid()) {
      slot = VertexId(points_.size());
      points_.push_back(p);
    }
    return slot;
  }

 private:
  VertexId& find(const Vec3d& p) {
    std::uint64_t hash = 0;
    for (int i = 0; i < 3; ++i) {
      hash = (hash ^ std::bit_cast<std::uint64_t>(p[i])) * 0x9e3779b97f4a7c15ULL;
      hash ^= hash >> 29;
    }
    std::size_t place = hash & (slots_.size() - 1);
    while (slots_[place].valid() && points_[slots_[place].index()] != p) place = (place + 1) & (slots_.size() - 1);
    return slots_[place];
  }
  void grow() {
    slots_.assign(2 * slots_.size(), VertexId{});
    for (std::size_t i = 0; i < points_.size(); ++i) find(points_[i]) = VertexId(i);
  }

  std::vector<Vec3d>& points_;
  std::vector<VertexId> slots_;
};

class StlReading {
 public:
  explicit StlReading(const std::filesystem::path& path) : reader_(path), merger_(dataset_.points) {}

  Dataset run() {
    // Some binary files begin with "solid" as well; text shows a facet (or the end) soon after.
    const std::string_view start = reader_.peek(2048);
    const bool text = trimmed(start).starts_with("solid") && (start.find("facet") != std::string_view::npos ||
                                                              start.find("endsolid") != std::string_view::npos);
    text ? read_text() : read_binary();
    if (collapsed_ > 0)
      dataset_.warnings.push_back(
          fmt::format("left out because two corners are in one place: {} of the triangles", collapsed_));
    return std::move(dataset_);
  }

 private:
  void add_triangle(const std::array<Vec3d, 3>& corners) {
    const std::array ids{merger_.add(corners[0]), merger_.add(corners[1]), merger_.add(corners[2])};
    if (ids[0] == ids[1] || ids[1] == ids[2] || ids[2] == ids[0]) ++collapsed_;
    else dataset_.triangles.cells.push_back(ids);
  }

  void check(const Vec3d& p) {
    if (std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z)) return;
    reader_.fail("triangle {} has a coordinate that is not a finite number",
                 dataset_.triangles.cells.size() + collapsed_);
  }

  void read_binary() {
    if (reader_.peek(84).size() < 84) reader_.fail("the file is too short for an STL file");
    reader_.skip(80);
    const auto count = read_value<std::uint32_t>(reader_, Encoding::little_endian);
    constexpr std::size_t bytes_each = 50;
    reader_.require_room(count, bytes_each);
    dataset_.triangles.cells.reserve(count);
    for (std::uint32_t t = 0; t < count; ++t) {
      reader_.skip(3 * sizeof(float));  // the normal
      std::array<Vec3d, 3> corners;
      for (Vec3d& p : corners) {
        for (int i = 0; i < 3; ++i) p[i] = static_cast<double>(read_value<float>(reader_, Encoding::little_endian));
        check(p);
      }
      reader_.skip(2);  // the attribute
      add_triangle(corners);
    }
    if (reader_.peek(bytes_each).size() == bytes_each)
      reader_.fail("more than the {} triangles that it announces follow", count);
  }

  void read_text() {
    std::array<Vec3d, 3> corners;
    std::size_t have = 0;
    bool open = false;
    while (!reader_.at_end()) {
      const std::string word(reader_.token());
      if (word.empty()) break;
      if (word == "solid" || word == "endsolid") {
        open = word == "solid";
        reader_.line();  // a name of any words
      } else if (word == "vertex") {
        if (have == 3)
          bad_file(reader_.path(), "an STL facet has more than three corners; split its faces into triangles");
        for (int i = 0; i < 3; ++i) corners[have][i] = reader_.real("a coordinate");
        check(corners[have++]);
      } else if (word == "endfacet") {
        if (have != 3) reader_.fail("an STL facet has {} of 3 corners", have);
        add_triangle(corners);
        have = 0;
      } else if (word == "facet") {
        reader_.line();  // the normal
      } else if (word != "outer" && word != "loop" && word != "endloop") {
        reader_.fail("unknown STL keyword {}", in_quotes(word));
      }
    }
    if (open || have > 0) reader_.fail("the file ends before 'endsolid'");
  }

  ByteReader reader_;
  Dataset dataset_;
  PointMerger merger_;
  std::size_t collapsed_ = 0;
};

}  // namespace

Dataset read_obj(const std::filesystem::path& path) { return ObjReading(path).run(); }

void write_obj(std::span<const OutputFile> files, const Dataset& dataset) {
  ByteWriter sink(files[0]);
  sink.print("# written by Isochron\n");
  print_points(sink, "v ", dataset.points);
  for (const auto& t : dataset.triangles.cells)
    sink.print("f {} {} {}\n", t[0].index() + 1, t[1].index() + 1, t[2].index() + 1);
  for (const auto& line : dataset.lines) {
    sink.print("l");
    for (const VertexId id : line) sink.print(" {}", id.index() + 1);
    sink.print("\n");
  }
  sink.finish();
}

Dataset read_off(const std::filesystem::path& path) {
  const FileBytes bytes(path);
  TextScanner in(path, bytes.text(), {.hash_comments = true});
  read_off_header(in);
  const std::size_t points = in.count("the number of vertices", 6);
  const std::size_t faces = in.count("the number of faces", 2);
  in.skip_line();  // the number of edges, which nobody needs
  Dataset result;
  result.points.resize(points);
  read_coordinates(in, result.points);
  result.triangles.cells.reserve(faces);
  CellAdder adder(result);
  std::vector<VertexId> face;
  for (std::size_t i = 0; i < faces; ++i) read_off_face(in, points, face, adder);
  in.require_end("faces", faces);
  return result;
}

void write_off(std::span<const OutputFile> files, const Dataset& dataset) {
  ByteWriter out(files[0]);
  out.print("OFF\n{} {} 0\n", dataset.points.size(), dataset.triangles.cells.size());
  print_points(out, "", dataset.points);
  for (const auto& [a, b, c] : dataset.triangles.cells) out.print("3 {} {} {}\n", a.value, b.value, c.value);
  out.finish();
}

Dataset read_stl(const std::filesystem::path& path) { return StlReading(path).run(); }

void write_stl(std::span<const OutputFile> files, const Dataset& dataset) {
  if (dataset.triangles.cells.size() > std::numeric_limits<std::uint32_t>::max())
    throw UsageError("there are too many triangles (STL files count them with 32 bits); write .vtp",
                     files[0].target.string());
  ByteWriter writer(files[0]);
  std::string header = "written by Isochron";
  header.resize(80, '\0');
  writer.write(header);
  write_value(writer, static_cast<std::uint32_t>(dataset.triangles.cells.size()), Encoding::little_endian);
  const auto put = [&](const Vec3d& v) {
    for (int i = 0; i < 3; ++i) write_value(writer, static_cast<float>(v[i]), Encoding::little_endian);
  };
  for (const auto& triangle : dataset.triangles.cells) {
    const Vec3d& a = dataset.points[triangle[0].index()];
    const Vec3d& b = dataset.points[triangle[1].index()];
    const Vec3d& c = dataset.points[triangle[2].index()];
    const Vec3d normal = cross(b - a, c - a);
    const double length = norm(normal);
    put(length > 0 ? normal / length : Vec3d{});
    for (const Vec3d* p : {&a, &b, &c}) put(*p);
    write_value(writer, std::uint16_t{0}, Encoding::little_endian);
  }
  writer.finish();
}

}  // namespace isochron
