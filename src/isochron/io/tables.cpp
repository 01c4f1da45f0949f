#include "isochron/io/tables.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <initializer_list>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "isochron/core/join_text.h"

namespace isochron {
namespace {

VertexId read_id(TextScanner& in) {
  const auto id = in.integer<std::uint32_t>("a vertex id");
  if (id == VertexId::invalid_value) in.fail("the vertex id is too large (32 bits are used); check the file");
  return VertexId(id);
}

std::string without_quotes(std::string_view word) {
  if (word.size() >= 2 && word.front() == word.back() && (word.front() == '"' || word.front() == '\''))
    word = word.substr(1, word.size() - 2);
  return std::string(word);
}

// Whether somebody meant a number: one out of range, in hexadecimal digits, or with Fortran's d before the exponent.
bool looks_like_number(std::string_view word) {
  const auto skip = [&](std::string_view of) {
    const std::size_t begin = word.size();
    word.remove_prefix(std::min(word.size(), word.find_first_not_of(of)));
    return begin - word.size();
  };
  constexpr std::string_view digits = "0123456789";
  if (word.starts_with('+') || word.starts_with('-')) word.remove_prefix(1);
  if (word.starts_with("0x") || word.starts_with("0X")) {
    word.remove_prefix(2);
    return skip("0123456789abcdefABCDEF") > 0 && word.empty();
  }
  std::size_t found = skip(digits);
  if (word.starts_with('.')) word.remove_prefix(1);
  found += skip(digits);
  if (found > 0 && !word.empty() && std::string_view("eEdD").find(word.front()) != std::string_view::npos) {
    word.remove_prefix(1);
    if (word.starts_with('+') || word.starts_with('-')) word.remove_prefix(1);
    if (skip(digits) == 0) return false;
  }
  return found > 0 && word.empty();
}

// Copies of the scanner are cheap, so looking ahead is reading with a copy.
struct Row {
  std::size_t words = 0;
  std::size_t numbers = 0;
  bool starts_with_number = false;
  bool ends_with_number = false;
  std::string first;
  std::string unreadable;  ///< the first word that was meant as a number and is none that can be read
};
Row look_ahead(TextScanner in) {
  Row row;
  for (; in.more_on_line(); ++row.words) {
    const std::string_view word = in.word("a number");
    row.ends_with_number = parse_real(word).has_value();
    if (row.words == 0) {
      row.starts_with_number = row.ends_with_number;
      row.first = without_quotes(word);
    }
    row.numbers += row.ends_with_number ? 1 : 0;
    if (!row.ends_with_number && row.unreadable.empty() && looks_like_number(word)) row.unreadable = word;
  }
  return row;
}

Vec3d read_position(TextScanner& in) {
  Vec3d position;
  for (int k = 0; k < 3; ++k) {
    if (k > 0 && !in.more_on_line())
      in.fail("fewer than three values in the line (a row is: x y z time, as in the first line); complete it");
    position[k] = in.coordinate();
  }
  return position;
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

/// The columns of a row: between commas or tabs, or between blanks, where quotes keep a name together.
std::vector<std::string> columns_of(std::string_view line, char separator) {
  std::vector<std::string> columns;
  if (separator != ' ') {
    for (std::size_t end = 0; end != std::string_view::npos; line.remove_prefix(std::min(line.size(), end + 1))) {
      end = line.find(separator);
      columns.push_back(without_quotes(trimmed(line.substr(0, end))));
    }
    return columns;
  }
  while (!(line = trimmed(line)).empty()) {
    const std::size_t quote = line.front() == '"' ? line.find('"', 1) : std::string_view::npos;
    const std::size_t end = quote == std::string_view::npos ? line.find_first_of(" \t") : quote + 1;
    columns.push_back(without_quotes(line.substr(0, end)));
    line.remove_prefix(std::min(line.size(), end));
  }
  return columns;
}

/// Where a table of labels has its labels and names. Without headings a name is the first text behind the label.
struct LabelColumns {
  std::size_t label = 0;
  std::optional<std::size_t> name;

  void take_headings(const std::vector<std::string>& headings) {
    const auto find = [&](std::initializer_list<std::string_view> names) -> std::optional<std::size_t> {
      for (std::size_t i = 0; i < headings.size(); ++i)
        if (std::find(names.begin(), names.end(), lower_case(headings[i])) != names.end()) return i;
      return std::nullopt;
    };
    label = find({"id", "index", "label", "value", "no", "no.", "number", "labelid", "label_id"}).value_or(0);
    name = find({"name", "labelname", "label_name", "structure", "region", "roi"});
  }
  [[nodiscard]] std::string name_in(const std::vector<std::string>& row) const {
    if (name) return *name < row.size() ? row[*name] : std::string();
    const auto text = std::find_if(row.begin(), row.end(), [](const std::string& word) { return !parse_real(word); });
    return text == row.end() ? std::string() : *text;
  }
};

enum class ShotColumn { shot, vertex, x, y, z, time, weight, name, ignored };

constexpr std::array<std::pair<std::string_view, ShotColumn>, 9> shot_columns{{{"shot", ShotColumn::shot},
                                                                               {"vertex", ShotColumn::vertex},
                                                                               {"x", ShotColumn::x},
                                                                               {"y", ShotColumn::y},
                                                                               {"z", ShotColumn::z},
                                                                               {"time", ShotColumn::time},
                                                                               {"weight", ShotColumn::weight},
                                                                               {"name", ShotColumn::name},
                                                                               {"source", ShotColumn::ignored}}};

/// Reads a table of shots row by row. Fields are parts of the file's text, so that messages have its lines.
class ShotTableReader {
 public:
  ShotTableReader(const std::filesystem::path& path, std::string_view text, ShotTableKind kind)
      : in_(path, text, {.hash_comments = true}), path_(path), counted_(text.data()), kind_(kind) {}

  ShotTable read() {
    ShotTable table;
    if (next_row()) read_header(table);
    while (next_row()) table.rows.push_back(read_row());
    if (table.rows.empty())
      bad_file(path_, "there are no rows in it (a line of column names comes first, then a row each{}); add rows",
               kind_ == ShotTableKind::sources ? ": shot,x,y,z or shot,vertex" : ": x,y,z,time or vertex,time");
    return table;
  }

 private:
  /// Cuts the next line that is neither blank nor a comment into fields; false when there is none.
  bool next_row() {
    if (in_.at_end()) return false;
    const std::string_view line = in_.rest_of_line();
    line_ += static_cast<std::size_t>(std::count(counted_, line.data(), '\n'));
    counted_ = line.data();
    if (separator_ == '\0') separator_ = line.find(',') == std::string_view::npos ? ';' : ',';
    fields_.clear();
    bool quoted = false;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= line.size(); ++i) {
      if (i < line.size() && line[i] == '"') quoted = !quoted;
      if (i < line.size() && (quoted || line[i] != separator_)) continue;
      fields_.push_back(trimmed(line.substr(begin, i - begin)));
      begin = i + 1;
    }
    return true;
  }

  void read_header(ShotTable& table) {
    if (std::all_of(fields_.begin(), fields_.end(), [](std::string_view field) { return parse_real(field); }))
      in_.fail("there is no line of column names (the first line has numbers alone); add one, such as x,y,z,time");
    for (const std::string_view field : fields_) {
      const std::string name = lower_case(field_text(field));
      const auto* found = std::find_if(shot_columns.begin(), shot_columns.end(),
                                       [&](const auto& column) { return column.first == name; });
      columns_.push_back(found == shot_columns.end() ? ShotColumn::ignored : found->second);
      if (found == shot_columns.end()) table.ignored.push_back(field_text(field));
      else if (found->second != ShotColumn::ignored && std::count(columns_.begin(), columns_.end(), found->second) > 1)
        in_.fail("two columns have the name '{}'; rename one", name);
    }
    table.has_shots = has(ShotColumn::shot);
    const bool x = has(ShotColumn::x), y = has(ShotColumn::y), vertex = has(ShotColumn::vertex);
    if (kind_ == ShotTableKind::measured_times && !has(ShotColumn::time))
      in_.fail("there is no column 'time' (the first line names the columns); add it");
    if (kind_ == ShotTableKind::sources && !table.has_shots)
      in_.fail("there is no column 'shot' (the first line names the columns); add it");
    if (x != y || (!x && !vertex))
      in_.fail("there are no columns 'x' and 'y' or 'vertex' (the first line names the columns); add them");
    if (x && vertex) in_.fail("there are columns 'x' and 'vertex' (each row needs one place); leave one out");
  }

  ShotRow read_row() {
    if (fields_.size() != columns_.size())
      in_.fail("the number of values, {}, is not that of the columns, {}; correct the row", fields_.size(),
               columns_.size());
    ShotRow row;
    row.line = line_;
    if (has(ShotColumn::x)) row.point = Vec3d{};
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      const ShotColumn column = columns_[i];
      const bool empty = field_text(fields_[i]).empty();
      const bool may_be_empty = column == ShotColumn::name || column == ShotColumn::weight ||
                                column == ShotColumn::ignored ||
                                (column == ShotColumn::time && kind_ == ShotTableKind::sources);
      if (empty && !may_be_empty)
        in_.fail("the column '{}' is empty; fill it in, or leave the row out",
                 shot_columns[static_cast<std::size_t>(column)].first);
      if (!empty) take(column, fields_[i], row);
    }
    return row;
  }

  template <class Read>
  auto number(std::string_view field, const Read& read) const {
    if (field.size() >= 2 && field.front() == '"' && field.back() == '"') field = field.substr(1, field.size() - 2);
    TextScanner in = in_.part(field);
    if (in.at_end()) in_.fail("a number is missing; fill it in, or leave the row out");
    const auto value = read(in);
    if (!in.at_end()) {
      const std::string more(in.peek());
      in.fail("{} follows a number (a field has one); correct the row", in_quotes(more));
    }
    return value;
  }

  double real(std::string_view field, std::string_view what) const {
    return number(field, [&](TextScanner& in) { return in.coordinate(what); });
  }

  void take(ShotColumn column, std::string_view field, ShotRow& row) {
    if (column == ShotColumn::shot) row.shot = field_text(field);
    if (column == ShotColumn::name) row.name = field_text(field);
    if (column == ShotColumn::vertex) row.vertex = number(field, read_id);
    if (column == ShotColumn::time) row.time = real(field, "a time");
    if (column == ShotColumn::weight) {
      row.weight = real(field, "a weight");
      if (row.weight < 0) in_.fail("the weight {} is negative; give 0 or more", row.weight);
    }
    if (column >= ShotColumn::x && column <= ShotColumn::z)
      (*row.point)[static_cast<int>(column) - static_cast<int>(ShotColumn::x)] = real(field, "a coordinate");
  }

  [[nodiscard]] bool has(ShotColumn column) const {
    return std::find(columns_.begin(), columns_.end(), column) != columns_.end();
  }

  /// A field without quotes around it; two of them inside stand for one.
  static std::string field_text(std::string_view field) {
    if (field.size() < 2 || field.front() != '"' || field.back() != '"') return std::string(field);
    std::string result;
    for (std::size_t i = 1; i + 1 < field.size(); ++i) {
      result += field[i];
      if (field[i] == '"' && i + 2 < field.size() && field[i + 1] == '"') ++i;
    }
    return std::string(trimmed(result));
  }

  TextScanner in_;
  const std::filesystem::path& path_;
  const char* counted_;  // lines before it are in `line_`
  ShotTableKind kind_;
  std::size_t line_ = 1;
  char separator_ = '\0';  // not known yet
  std::vector<std::string_view> fields_;
  std::vector<ShotColumn> columns_;
};

std::vector<double> read_b_values(const std::filesystem::path& path) {
  std::vector<double> result;
  for (const auto& row : read_number_rows(path)) result.insert(result.end(), row.begin(), row.end());
  for (const double b : result)
    if (!(b >= 0) || !std::isfinite(b))
      bad_file(path,
               "{} is no b-value (they are finite and not negative); check that this is the "
               "file of b-values",
               b);
  return result;
}

std::vector<Vec3d> read_directions(const std::filesystem::path& path) {
  const auto rows = read_number_rows(path);
  const auto all_have = [&](std::size_t columns) {
    return std::all_of(rows.begin(), rows.end(), [&](const auto& row) { return row.size() == columns; });
  };
  std::vector<Vec3d> result;
  if (rows.size() == 3 && all_have(rows[0].size())) {
    for (std::size_t i = 0; i < rows[0].size(); ++i) result.push_back({rows[0][i], rows[1][i], rows[2][i]});
  } else if (!rows.empty() && all_have(3)) {
    for (const auto& row : rows) result.push_back({row[0], row[1], row[2]});
  } else {
    bad_file(path,
             "no b-vectors (rows: {}, values in the first: {}); give three rows with a column per volume, "
             "or a row of three values per volume",
             rows.size(), rows.empty() ? 0 : rows[0].size());
  }
  return result;
}

}  // namespace

std::vector<std::vector<double>> read_number_rows(const std::filesystem::path& path) {
  const FileBytes bytes(path);
  TextScanner in(path, bytes.text(), {.hash_comments = true, .separators = ","});
  std::vector<std::vector<double>> rows;
  while (!in.at_end()) {
    std::vector<double>& row = rows.emplace_back();
    do row.push_back(in.real("a number"));
    while (in.more_on_line());
  }
  return rows;
}

std::vector<LabelName> read_label_table(const std::filesystem::path& path) {
  const FileBytes bytes(path);
  std::vector<LabelName> result;
  std::set<std::int64_t> seen;
  LabelColumns columns;
  char separator = '\0';  // not known yet
  std::string_view left = bytes.text();
  for (std::size_t number = 1; !left.empty(); ++number) {
    const std::string_view line = trimmed(left.substr(0, left.find('\n')));
    left.remove_prefix(
        std::min(left.size(), left.find('\n') == std::string_view::npos ? left.size() : left.find('\n') + 1));
    if (line.empty() || line.front() == '#') continue;
    const bool first = separator == '\0';
    // Tabs alone do not tell: FreeSurfer's tables have them between some columns. With headings they do.
    if (first)
      separator = line.find(',') != std::string_view::npos ? ','
                  : !parse_real(line.substr(0, line.find_first_of(" \t"))) && line.find('\t') != std::string_view::npos
                      ? '\t'
                      : ' ';
    const std::vector<std::string> row = columns_of(line, separator);
    const auto label = columns.label < row.size() ? parse_number<std::int64_t>(row[columns.label]) : std::nullopt;
    if (!label && first) {
      columns.take_headings(row);
      continue;
    }
    if (!label)
      bad_file(path, "line {}: no label in {} (a row is: id name); give a table of labels", number, in_quotes(line));
    if (!seen.insert(*label).second)
      bad_file(path, "line {}: the label {} is in the table twice; leave one out", number, *label);
    std::string name = columns.name_in(row);
    result.push_back({*label, name.empty() ? std::to_string(*label) : std::move(name)});
  }
  if (result.empty()) bad_file(path, "there are no rows in it (a row is: id name); give a table of labels");
  return result;
}

std::vector<VertexId> read_vtx(const std::filesystem::path& path) {
  const FileBytes bytes(path);
  TextScanner in(path, bytes.text(), {.hash_comments = true});
  const std::size_t count = in.count("the number of vertices", 2);
  if (!in.at_end() && !parse_real(in.peek())) in.word("a keyword");  // intra or extra; both are the same here
  std::vector<VertexId> result(count);
  for (VertexId& v : result) {
    v = read_id(in);
    in.skip_rest();
  }
  in.require_end("ids", count);
  return result;
}

std::vector<SourceRow> read_source_file(const std::filesystem::path& path) {
  std::vector<SourceRow> result;
  if (FileName(path).extension == ".vtx") {
    for (const VertexId v : read_vtx(path)) result.push_back({v, {}, {}});
  } else {
    const FileBytes bytes(path);
    TextScanner in(path, bytes.text(), {.hash_comments = true, .separators = ",;"});
    const bool points = !in.at_end() && look_ahead(in).words > 2;
    while (!in.at_end()) {
      SourceRow& row = result.emplace_back();
      if (points) row.point = read_position(in);
      else row.vertex = read_id(in);
      if (in.more_on_line()) row.time = in.coordinate("a time");
      if (in.more_on_line() && points)
        in.fail("more than four values in the line (a row is: x y z time); split it into rows");
      if (in.more_on_line()) in.fail("more than two values in the line (a row is: id time); split it into rows");
    }
  }
  if (result.empty()) bad_file(path, "no sources (every line is blank or a comment); add rows: id time, or x y z time");
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
    if (!row.unreadable.empty())
      in.fail(
          "{} is no number that can be read (out of range, or not decimal); write it as 1.5e-3, or a name in quotes",
          in_quotes(row.unreadable));
    if (row.numbers == 0 && result.points.empty() && !header_seen) {
      header_seen = true;
      if (row.first == "x" || row.first == "X") of_four_numbers = NamePlace::back;
      in.skip_line();
      continue;
    }
    const std::optional<NamePlace> place = name_place(row, of_four_numbers);
    const std::size_t coordinates = row.words - (place == NamePlace::none ? 0 : 1);
    if (!place || coordinates < 2 || coordinates > 3 || (columns != 0 && coordinates != columns))
      in.fail(
          "{} of {} values are numbers (a row is: x y z or x y, with a name in front or behind, all rows "
          "alike); keep only these columns",
          row.numbers, row.words);
    columns = coordinates;
    std::string& name = result.names.emplace_back();
    if (place == NamePlace::front) name = without_quotes(in.word("a name"));
    Vec3d& p = result.points.emplace_back();
    for (int k = 0; k < static_cast<int>(columns); ++k) p[k] = in.coordinate();
    if (place == NamePlace::back) name = without_quotes(in.word("a name"));
    any_name = any_name || !name.empty();
  }
  if (result.points.empty()) bad_file(path, "no points (every line is blank or a comment); add rows: x y z");
  if (!any_name) result.names.clear();
  return result;
}

ShotTable read_shot_table(const std::filesystem::path& path, ShotTableKind kind) {
  const FileBytes bytes(path);
  return ShotTableReader(path, bytes.text(), kind).read();
}

GradientTable read_gradients(const std::filesystem::path& bval, const std::filesystem::path& bvec) {
  GradientTable table{read_b_values(bval), read_directions(bvec)};
  if (table.b.size() != table.direction.size())
    throw InputError(
        fmt::format("{} and {} do not belong together (b-values: {}, b-vectors: {}); give the files of one image",
                    bval.string(), bvec.string(), table.b.size(), table.direction.size()));
  for (std::size_t i = 0; i < table.b.size(); ++i) {
    const Vec3d& g = table.direction[i];
    if (table.b[i] > 0 && !std::isfinite(g.x + g.y + g.z))
      bad_file(bvec, "the direction of volume {} is not finite (its b-value is {}); repair the file", i, table.b[i]);
  }
  return table;
}

// Magic, version and length; then a Python dictionary, filled up so that the numbers begin at a multiple of 64.
std::string npy_header(std::string_view type, NpyOrder order, std::span<const std::size_t> shape) {
  constexpr std::size_t before = 10, alignment = 64;
  // A tuple of one needs its comma.
  std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': {}, 'shape': ({}{}), }}",
                                 std::endian::native == std::endian::little ? '<' : '>', type,
                                 order == NpyOrder::columns_first ? "True" : "False", join_text(shape, ", "),
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
  out_.write(npy_header("f8", NpyOrder::rows_first, std::array{rows, columns}));
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
