#include <charconv>

#include "isochron/io/mesh/formats.h"

namespace isochron {
namespace {

// Takes the next word off the front of a line.
std::string_view next_word(std::string_view& line) {
  constexpr std::string_view blanks = " \t\r\f\v";
  const std::size_t begin = std::min(line.find_first_not_of(blanks), line.size());
  const std::size_t end = std::min(line.find_first_of(blanks, begin), line.size());
  const std::string_view word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

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
      if (joined.empty()) {
        take_line(*line);
      } else {
        joined += *line;
        take_line(joined);
        joined.clear();
      }
    }
    if (!joined.empty()) fail("the file ends in the middle of a line");
    if (!known_ && dataset_.points.empty())
      bad_file(reader_.path(), "no OBJ lines (v, f, l) were found; check the extension");
    // Faces may come before the vertices they name, so they are placed last.
    CellSorter sorter(dataset_, reader_.path());
    sorter.reserve(kind_triangle, faces_);
    std::size_t begin = 0;
    for (const Cell& cell : cells_) {
      sorter.add(cell.kind, std::span<const std::int64_t>(ids_).subspan(begin, cell.end - begin));
      begin = cell.end;
    }
    sorter.finish();
    return std::move(dataset_);
  }

 private:
  struct Cell {
    int kind;
    std::size_t end;
  };

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
      std::string_view word = next_word(line);
      if (word.starts_with('+')) word.remove_prefix(1);
      const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), point[i]);
      const bool number = code == std::errc() || code == std::errc::result_out_of_range;
      if (!number || end != word.data() + word.size()) fail("{} where a coordinate should be", in_quotes(word));
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
    cells_.push_back({kind, ids_.size()});
  }

  ByteReader reader_;
  Dataset dataset_;
  std::vector<std::int64_t> ids_;
  std::vector<Cell> cells_;
  std::size_t faces_ = 0;
  std::size_t line_number_ = 0;
  bool known_ = false;
};

}  // namespace

Dataset read_obj(const std::filesystem::path& path) { return ObjReading(path).run(); }

void write_obj(std::span<const OutputFile> files, const Dataset& dataset) {
  ByteWriter sink(files[0]);
  sink.print("# written by Isochron\n");
  for (const Vec3d& p : dataset.points) sink.print("v {} {} {}\n", p.x, p.y, p.z);
  for (const auto& t : dataset.triangles.cells)
    sink.print("f {} {} {}\n", t[0].index() + 1, t[1].index() + 1, t[2].index() + 1);
  for (const auto& line : dataset.lines) {
    sink.print("l");
    for (const VertexId id : line) sink.print(" {}", id.index() + 1);
    sink.print("\n");
  }
  sink.finish();
}

}  // namespace isochron
