#include "isochron/io/point_lists.h"

#include <cmath>

#include <fmt/format.h>

#include "isochron/core/error.h"
#include "isochron/io/file_bytes.h"
#include "isochron/io/file_name.h"
#include "isochron/io/text_scanner.h"

namespace isochron {
namespace {

VertexId read_id(TextScanner& in) {
  const auto id = in.integer<std::uint32_t>("a vertex id");
  if (id == VertexId::invalid_value) in.fail("the vertex id is too large (32 bits are used); check the file");
  return VertexId(id);
}

bool is_number(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  double value = 0;
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error != std::errc::invalid_argument && stop == word.data() + word.size();
}

std::string without_quotes(std::string_view word) {
  if (word.size() >= 2 && word.front() == word.back() && (word.front() == '"' || word.front() == '\''))
    word = word.substr(1, word.size() - 2);
  return std::string(word);
}

// Copies of the scanner are cheap, so looking ahead is reading with a copy.
struct Row {
  std::size_t words = 0;
  std::size_t numbers = 0;
  bool starts_with_number = false;
  bool ends_with_number = false;
  std::string first;
};
Row look_ahead(TextScanner in) {
  Row row;
  for (; in.more_on_line(); ++row.words) {
    const std::string_view word = in.word("a number");
    row.ends_with_number = is_number(word);
    if (row.words == 0) {
      row.starts_with_number = row.ends_with_number;
      row.first = without_quotes(word);
    }
    row.numbers += row.ends_with_number ? 1 : 0;
  }
  return row;
}

enum class NamePlace { none, front, back };

// Where the name of a row stands, if it can be a row. Of four numbers either end could be an id.
std::optional<NamePlace> name_place(const Row& row, NamePlace of_four_numbers) {
  if (row.numbers == row.words) return row.words == 4 ? of_four_numbers : NamePlace::none;
  if (row.numbers + 1 != row.words) return std::nullopt;
  if (!row.starts_with_number) return NamePlace::front;
  if (!row.ends_with_number) return NamePlace::back;
  return std::nullopt;
}

}  // namespace

std::vector<VertexId> read_vtx(const std::filesystem::path& path) {
  const FileBytes bytes(path);
  TextScanner in(path, bytes.text(), {.hash_comments = true});
  const std::size_t count = in.count("the number of vertices", 2);
  if (!in.at_end() && !is_number(in.peek())) in.word("a keyword");  // intra or extra; both are the same here
  std::vector<VertexId> result(count);
  for (VertexId& v : result) {
    v = read_id(in);
    if (in.more_on_line()) in.skip_line();
  }
  if (!in.at_end()) {
    in.peek();
    in.fail(fmt::format("more ids than the {} that the first line says; repair the first line", count));
  }
  return result;
}

std::vector<SourceRow> read_source_file(const std::filesystem::path& path) {
  std::vector<SourceRow> result;
  if (FileName(path).extension == ".vtx") {
    for (const VertexId v : read_vtx(path)) result.push_back({v, std::nullopt});
  } else {
    const FileBytes bytes(path);
    TextScanner in(path, bytes.text(), {.hash_comments = true, .separators = ",;"});
    while (!in.at_end()) {
      SourceRow& row = result.emplace_back();
      row.vertex = read_id(in);
      if (in.more_on_line()) row.time = in.coordinate("a time");
      if (in.more_on_line()) in.fail("more than two values in the line (a row is: id time); split it into rows");
    }
  }
  if (result.empty()) {
    throw InputError(
        fmt::format("{}: no sources (every line is blank or a comment); add rows: id time", path.string()));
  }
  return result;
}

NamedPoints read_points(const std::filesystem::path& path) {
  const FileBytes bytes(path);
  TextScanner in(path, bytes.text(), {.hash_comments = true, .separators = ",;"});
  NamedPoints result;
  std::size_t columns = 0;
  bool header_seen = false, any_name = false;
  NamePlace of_four_numbers = NamePlace::front;
  while (!in.at_end()) {
    const Row row = look_ahead(in);
    in.peek();
    if (row.numbers == 0 && result.points.empty() && !header_seen) {
      header_seen = true;
      if (row.first == "x" || row.first == "X") of_four_numbers = NamePlace::back;
      in.skip_line();
      continue;
    }
    const std::optional<NamePlace> place = name_place(row, of_four_numbers);
    const std::size_t coordinates = row.words - (place == NamePlace::none ? 0 : 1);
    if (!place || coordinates < 2 || coordinates > 3 || (columns != 0 && coordinates != columns)) {
      in.fail(
          fmt::format("{} of {} values are numbers (a row is: x y z or x y, with a name in front or behind, all rows "
                      "alike); keep only these columns",
                      row.numbers, row.words));
    }
    columns = coordinates;
    std::string& name = result.names.emplace_back();
    if (place == NamePlace::front) name = without_quotes(in.word("a name"));
    Vec3d& p = result.points.emplace_back();
    for (int k = 0; k < static_cast<int>(columns); ++k) p[k] = in.coordinate();
    if (place == NamePlace::back) name = without_quotes(in.word("a name"));
    any_name = any_name || !name.empty();
  }
  if (result.points.empty()) {
    throw InputError(fmt::format("{}: no points (every line is blank or a comment); add rows: x y z", path.string()));
  }
  if (!any_name) result.names.clear();
  return result;
}

}  // namespace isochron
