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

// Copies of the scanner are cheap, so looking ahead is reading with a copy.
struct Row {
  std::size_t words = 0;
  std::size_t numbers = 0;
  bool starts_with_number = false;
};
Row look_ahead(TextScanner in) {
  Row row;
  for (; in.more_on_line(); ++row.words) {
    const bool number = is_number(in.word("a number"));
    if (row.words == 0) row.starts_with_number = number;
    row.numbers += number ? 1 : 0;
  }
  return row;
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

std::vector<Vec3d> read_points(const std::filesystem::path& path) {
  const FileBytes bytes(path);
  TextScanner in(path, bytes.text(), {.hash_comments = true, .separators = ",;"});
  std::vector<Vec3d> result;
  std::size_t columns = 0;
  bool header_seen = false;
  while (!in.at_end()) {
    const Row row = look_ahead(in);
    in.peek();
    if (row.numbers == 0 && result.empty() && !header_seen) {
      header_seen = true;
      in.skip_line();
      continue;
    }
    const bool named = !row.starts_with_number && row.numbers + 1 == row.words;
    if ((!named && row.numbers != row.words) || row.numbers < 2 || row.numbers > 3 ||
        (columns != 0 && row.numbers != columns)) {
      in.fail(
          fmt::format("{} of {} values are numbers (a row is: x y z or x y, all rows alike); keep only these columns",
                      row.numbers, row.words));
    }
    columns = row.numbers;
    if (named) in.word("a name");
    Vec3d& p = result.emplace_back();
    for (int k = 0; k < static_cast<int>(columns); ++k) p[k] = in.coordinate();
  }
  if (result.empty()) {
    throw InputError(fmt::format("{}: no points (every line is blank or a comment); add rows: x y z", path.string()));
  }
  return result;
}

}  // namespace isochron
