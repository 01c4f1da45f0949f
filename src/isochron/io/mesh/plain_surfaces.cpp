// Surfaces without arrays: Wavefront OBJ, OFF and STL.
#include <bit>
#include <cmath>
#include <numeric>

#include "isochron/io/mesh/formats.h"

namespace isochron {
namespace {

// ---- OBJ ----

int obj_kind(std::string_view keyword) {
  return keyword == "f" ? kind_polygon : keyword == "l" ? kind_poly_line : keyword == "p" ? kind_poly_vertex : 0;
}

// The lines of a stretch of a file.
struct ObjLines {
  std::vector<Vec3d> points;
  CellList cells;
  std::vector<VertexId> corners;  // of the cell that is being read
  std::size_t lines = 0;
  bool known = false;

  // False for all that wants care: ids that count back, lines that go on in the next, and errors.
  bool read(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      ++lines;
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.ends_with('\\') || !read_line(line)) return false;
    }
    return true;
  }

 private:
  bool read_line(std::string_view line) {
    const std::string_view keyword = next_word(line);
    if (keyword == "v") return known = true, read_point(line);
    const int kind = obj_kind(keyword);
    if (kind == 0) return true;
    known = true;
    corners.clear();
    for (std::string_view word = next_word(line); !word.empty() && word[0] != '#'; word = next_word(line)) {
      std::uint32_t id = 0;
      const auto [end, code] = number_from(word.data(), word.data() + word.size(), id);
      if (code != std::errc() || id == 0 || (end != word.data() + word.size() && *end != '/')) return false;
      corners.emplace_back(id - 1);
    }
    cells.add(kind, corners);
    return true;
  }

  bool read_point(std::string_view line) {
    Vec3d point;
    for (int i = 0; i < 3; ++i) {
      auto value = next_plain_number<double>(line);
      if (!value) value = parse_real(next_word(line));
      if (!value) return false;
      point[i] = *value;
    }
    points.push_back(point);
    return true;
  }
};

class ObjReading {
 public:
  explicit ObjReading(const std::filesystem::path& path) : reader_(path) {}

  Dataset run() {
    read_windows();
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
    if (!sorter.add_all(lists_of(parts_)))
      for (const ObjLines& part : parts_) sorter.add_each(part.cells);
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

  // Reads lines on several threads, as long as nothing wants care.
  void read_windows() {
    constexpr std::size_t all = std::size_t{1} << 40;
    const auto read = [](const TextRows& lines, ObjLines& part) { return part.read(lines.text); };
    for (std::size_t before = 0; read_window(reader_, all, 0, RowsEnd::line, parts_, read) > 0; before = parts_.size())
      for (std::size_t i = before; i < parts_.size(); ++i) {
        line_number_ += parts_[i].lines;
        known_ = known_ || parts_[i].known;
        dataset_.points.insert(dataset_.points.end(), parts_[i].points.begin(), parts_[i].points.end());
        parts_[i].points = {};
      }
  }

  void take_line(std::string_view line) {
    const std::string_view keyword = next_word(line);
    if (keyword == "v") take_point(line);
    else if (const int kind = obj_kind(keyword); kind != 0) take_cell(line, kind);
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
      const auto [end, code] = number_from(word.data(), word.data() + word.size(), id);
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
  std::vector<ObjLines> parts_;  // the lines in front, their cells
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

struct OffFaces {
  CellList cells;
  std::vector<VertexId> face;  // the one that is being read

  void read(TextScanner& in, std::size_t vertices) {
    const auto corners = in.integer<std::uint32_t>("a face's number of corners");
    in.check_count("number of corners", corners, 2);
    face.clear();
    for (std::uint32_t k = 0; k < corners; ++k) face.push_back(in.vertex(0, vertices));
    in.skip_rest();  // a colour
    cells.add(corners == 2 ? kind_line : corners < 2 ? kind_vertex : kind_polygon, face);
  }
};

// ---- STL ----

// Gives every different place of the corners a vertex, numbered in the order in which they come first. The corners are
// distributed by a hash of their place, so that several threads each look at some places.
template <class Real>
class PointMerger {
 public:
  using Place = std::array<Real, 3>;

  explicit PointMerger(std::span<const Place> corners) : corners_(corners), first_(corners.size()) {
    const std::size_t parts = (corners.size() + stretch - 1) / stretch;
    begin_.assign(shards * parts + 1, 0);
    parallel_tasks(usual_threads(), parts, [&](std::size_t part) {
      for_part(part, [&](std::size_t corner) { ++begin_[1 + shard_of(corner) * parts + part]; });
    });
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    sorted_.resize(corners.size());
    parallel_tasks(usual_threads(), parts, [&](std::size_t part) {
      std::array<std::size_t, shards> end;
      for (std::size_t s = 0; s < shards; ++s) end[s] = begin_[s * parts + part];
      for_part(part, [&](std::size_t corner) {
        sorted_[end[shard_of(corner)]++] = {corners_[corner], static_cast<std::uint32_t>(corner)};
      });
    });
    parallel_tasks(usual_threads(), shards, [&](std::size_t s) {
      find_first(std::span(sorted_).subspan(begin_[s * parts], begin_[(s + 1) * parts] - begin_[s * parts]));
    });
  }

  /// The corners' vertices, whose places are put into the list.
  std::vector<std::uint32_t> vertices(std::vector<Vec3d>& points) && {
    sorted_ = {};
    std::uint32_t found = 0;
    for (std::size_t i = 0; i < first_.size(); ++i) {  // the first corner of a place comes before the others
      const bool is_first = first_[i] == i;
      if (is_first) points.push_back({corners_[i][0] + 0.0, corners_[i][1] + 0.0, corners_[i][2] + 0.0});
      first_[i] = is_first ? found++ : first_[first_[i]];
    }
    return std::move(first_);
  }

 private:
  struct Corner {
    Place place;
    std::uint32_t number;
  };
  static constexpr std::size_t shards = 256, stretch = std::size_t{1} << 16;

  template <class Body>
  void for_part(std::size_t part, Body&& body) const {
    for (std::size_t i = part * stretch; i < std::min(corners_.size(), (part + 1) * stretch); ++i) body(i);
  }
  static std::uint64_t hash_of(const Place& place) {
    std::uint64_t hash = 0;
    for (const Real x : place) {
      hash = (hash ^ std::bit_cast<std::uint64_t>(static_cast<double>(x) + 0.0)) * 0x9e3779b97f4a7c15ULL;  // -0 is 0
      hash ^= hash >> 29;
    }
    return hash;
  }
  [[nodiscard]] std::size_t shard_of(std::size_t corner) const { return hash_of(corners_[corner]) >> 56; }

  // For corners whose places have one shard: a hash table with open addressing. It stays in the cache.
  void find_first(std::span<const Corner> corners) {
    constexpr std::uint32_t none = 0xffffffff;
    std::vector<std::uint32_t> slots(std::bit_ceil(2 * corners.size() + 1), none);
    for (std::uint32_t i = 0; i < corners.size(); ++i) {
      std::size_t slot = hash_of(corners[i].place) & (slots.size() - 1);
      while (slots[slot] != none && corners[slots[slot]].place != corners[i].place)
        slot = (slot + 1) & (slots.size() - 1);
      if (slots[slot] == none) slots[slot] = i;
      first_[corners[i].number] = corners[slots[slot]].number;
    }
  }

  std::span<const Place> corners_;
  std::vector<std::uint32_t> first_;  // of each corner: the first in its place
  std::vector<Corner> sorted_;        // by shard, and in order there
  std::vector<std::size_t> begin_;    // of the corners of each shard and part
};

class StlReading {
 public:
  explicit StlReading(const std::filesystem::path& path) : reader_(path) {}

  Dataset run() {
    // Some binary files begin with "solid" as well; text shows a facet (or the end) soon after.
    const std::string_view start = reader_.peek(2048);
    const bool text = trimmed(start).starts_with("solid") && (start.find("facet") != std::string_view::npos ||
                                                              start.find("endsolid") != std::string_view::npos);
    text ? read_text() : read_binary();
    return std::move(dataset_);
  }

 private:
  template <class Real>
  using Places = std::vector<std::array<Real, 3>>;

  template <class Real>
  void add_triangles(const Places<Real>& corners) {
    if (corners.size() >= VertexId::invalid_value)
      bad_file(reader_.path(), "{} triangles are too many (corners are counted with 32 bits); split the file",
               corners.size() / 3);
    const std::vector<std::uint32_t> ids = PointMerger<Real>(corners).vertices(dataset_.points);
    auto& cells = dataset_.triangles.cells;
    make_room(cells, ids.size() / 3);
    for (std::size_t i = 0; i < ids.size(); i += 3)
      if (ids[i] != ids[i + 1] && ids[i + 1] != ids[i + 2] && ids[i + 2] != ids[i])
        cells.push_back({VertexId(ids[i]), VertexId(ids[i + 1]), VertexId(ids[i + 2])});
    if (const std::size_t collapsed = ids.size() / 3 - cells.size(); collapsed > 0)
      dataset_.warnings.push_back(
          fmt::format("left out because two corners are in one place: {} of the triangles", collapsed));
  }

  template <class Real>
  void check(const std::array<Real, 3>& p, std::size_t triangle) const {
    if (std::isfinite(p[0]) && std::isfinite(p[1]) && std::isfinite(p[2])) return;
    reader_.fail("triangle {} has a coordinate that is not a finite number", triangle);
  }

  void read_binary() {
    if (reader_.peek(84).size() < 84) reader_.fail("the file is too short for an STL file");
    reader_.skip(80);
    const auto count = read_value<std::uint32_t>(reader_, Encoding::little_endian);
    constexpr std::size_t bytes_each = 50, normal = 3 * sizeof(float);
    reader_.require_room(count, bytes_each);
    Places<float> corners;
    make_room(corners, 3 * std::size_t{count});
    corners.resize(3 * std::size_t{count});
    reader_.read_items(count, bytes_each, [&](std::size_t first, std::size_t some, const char* bytes) {
      for (std::size_t t = first; t < first + some; ++t, bytes += bytes_each)
        for (std::size_t k = 0; k < 9; ++k) {
          std::array<float, 3>& corner = corners[3 * t + k / 3];
          corner[k % 3] = value_at<float>(bytes + normal + k * sizeof(float), Encoding::little_endian);
          if (k % 3 == 2) check(corner, t);
        }
    });
    if (reader_.peek(bytes_each).size() == bytes_each)
      reader_.fail("more than the {} triangles that it announces follow", count);
    add_triangles(corners);
  }

  void read_text() {
    Places<double> corners;
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
        std::array<double, 3>& corner = corners.emplace_back();
        for (double& x : corner) x = reader_.real("a coordinate");
        check(corner, corners.size() / 3 - (have == 2 ? 1 : 0));
        ++have;
      } else if (word == "endfacet") {
        if (have != 3) reader_.fail("an STL facet has {} of 3 corners", have);
        have = 0;
      } else if (word == "facet") {
        reader_.line();  // the normal
      } else if (word != "outer" && word != "loop" && word != "endloop") {
        reader_.fail("unknown STL keyword {}", in_quotes(word));
      }
    }
    if (open || have > 0) reader_.fail("the file ends before 'endsolid'");
    add_triangles(corners);
  }

  ByteReader reader_;
  Dataset dataset_;
};

}  // namespace

Dataset read_obj(const std::filesystem::path& path) { return ObjReading(path).run(); }

void write_obj(std::span<const OutputFile> files, const Dataset& dataset) {
  ByteWriter sink(files[0]);
  sink.print("# written by Isochron\n");
  print_points(sink, "v ", dataset.points);
  print_cells(sink, dataset, CellKind::triangle,
              [](PrintedText& text, std::size_t, std::size_t, std::span<const VertexId> corners) {
                text << 'f';
                for (const VertexId v : corners) text << ' ' << v.index() + 1;
                text << '\n';
              });
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
  CellAdder adder(result);
  const auto parts =
      read_rows<OffFaces>(in, faces, 0, [&](TextScanner& row, std::size_t, OffFaces& part) { part.read(row, points); });
  in.require_end("faces", faces);
  if (adder.add_all(lists_of(parts)).count == 0)
    for (const OffFaces& part : parts)
      part.cells.for_each([&](int kind, std::span<const VertexId> corners) { adder.add(kind, corners); });
  return result;
}

void write_off(std::span<const OutputFile> files, const Dataset& dataset) {
  ByteWriter out(files[0]);
  out.print("OFF\n{} {} 0\n", dataset.points.size(), dataset.triangles.cells.size());
  print_points(out, "", dataset.points);
  print_cells(out, dataset, CellKind::triangle,
              [](PrintedText& text, std::size_t, std::size_t, std::span<const VertexId> corners) {
                text << '3';
                for (const VertexId v : corners) text << ' ' << v.value;
                text << '\n';
              });
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
  const auto put = [](char* to, const Vec3d& v) {
    for (int i = 0; i < 3; ++i, to += sizeof(float)) put_value(to, static_cast<float>(v[i]), Encoding::little_endian);
    return to;
  };
  const auto& cells = dataset.triangles.cells;
  writer.write_items(cells.size(), 50, [&](std::size_t first, std::size_t some, char* to) {
    for (const auto& triangle : std::span(cells).subspan(first, some)) {
      const Vec3d& a = dataset.points[triangle[0].index()];
      const Vec3d& b = dataset.points[triangle[1].index()];
      const Vec3d& c = dataset.points[triangle[2].index()];
      const Vec3d normal = cross(b - a, c - a);
      const double length = norm(normal);
      to = put(to, length > 0 ? normal / length : Vec3d{});
      for (const Vec3d* p : {&a, &b, &c}) to = put(to, *p);
      to = std::fill_n(to, sizeof(std::uint16_t), '\0');
    }
  });
  writer.finish();
}

}  // namespace isochron
