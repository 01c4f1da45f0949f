#include "isochron/io/nrrd_header.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "isochron/io/text_scanner.h"
#include "isochron/io/text_tools.h"

namespace isochron {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!(text = trimmed(text)).empty()) {
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

std::optional<ScalarType> type_named(std::string_view name) {
  static const std::map<std::string_view, ScalarType> names{
      {"signed char", ScalarType::int8},
      {"int8", ScalarType::int8},
      {"int8_t", ScalarType::int8},
      {"uchar", ScalarType::uint8},
      {"unsigned char", ScalarType::uint8},
      {"uint8", ScalarType::uint8},
      {"uint8_t", ScalarType::uint8},
      {"short", ScalarType::int16},
      {"short int", ScalarType::int16},
      {"signed short", ScalarType::int16},
      {"signed short int", ScalarType::int16},
      {"int16", ScalarType::int16},
      {"int16_t", ScalarType::int16},
      {"ushort", ScalarType::uint16},
      {"unsigned short", ScalarType::uint16},
      {"unsigned short int", ScalarType::uint16},
      {"uint16", ScalarType::uint16},
      {"uint16_t", ScalarType::uint16},
      {"int", ScalarType::int32},
      {"signed int", ScalarType::int32},
      {"int32", ScalarType::int32},
      {"int32_t", ScalarType::int32},
      {"uint", ScalarType::uint32},
      {"unsigned int", ScalarType::uint32},
      {"uint32", ScalarType::uint32},
      {"uint32_t", ScalarType::uint32},
      {"longlong", ScalarType::int64},
      {"long long", ScalarType::int64},
      {"long long int", ScalarType::int64},
      {"signed long long", ScalarType::int64},
      {"signed long long int", ScalarType::int64},
      {"int64", ScalarType::int64},
      {"int64_t", ScalarType::int64},
      {"ulonglong", ScalarType::uint64},
      {"unsigned long long", ScalarType::uint64},
      {"unsigned long long int", ScalarType::uint64},
      {"uint64", ScalarType::uint64},
      {"uint64_t", ScalarType::uint64},
      {"float", ScalarType::float32},
      {"double", ScalarType::float64},
  };
  const auto found = names.find(name);
  return found == names.end() ? std::nullopt : std::optional(found->second);
}

/// Turns the fields of a header, by name, into what they mean.
class Fields {
 public:
  explicit Fields(ByteReader& reader) : reader_(reader) { read_lines(); }

  NrrdHeader parsed() {
    NrrdHeader h;
    const auto dimension = whole("dimension");
    if (dimension < 1 || dimension > 16) bad("dimension");
    axes_ = static_cast<std::size_t>(dimension);
    for (const double size : numbers("sizes")) {
      if (!(size >= 0 && size < 9e15 && size == std::floor(size))) bad("sizes");
      h.sizes.push_back(static_cast<std::int64_t>(size));
    }
    if (h.sizes.size() != axes_) bad("sizes");
    const auto type = type_named(lower_case(required("type")));
    if (!type) bad("type");
    h.type = *type;
    parse_encoding(h);
    parse_space();
    h.spacings = numbers("spacings");
    h.axis_mins = numbers("axis mins");
    h.directions = vectors("space directions");
    if (const auto origin = vectors("space origin"); origin.size() == 1) h.origin = origin[0];
    parse_frame(h);
    for (const std::string& kind : words_of(text("kinds"))) h.kinds.push_back(lower_case(kind));
    check_per_axis(h.spacings, "spacings");
    check_per_axis(h.axis_mins, "axis mins");
    check_per_axis(h.directions, "space directions");
    check_per_axis(h.kinds, "kinds");
    h.content = text("content");
    h.data_file = text("data file");
    if (has("line skip")) h.line_skip = whole("line skip");
    if (has("byte skip")) h.byte_skip = whole("byte skip");
    if (h.line_skip < 0 || h.byte_skip < -1) reader_.fail("a number of skipped lines or bytes below zero");
    return h;
  }

 private:
  void read_lines() {
    const auto first = reader_.line();
    if (!first || !first->starts_with("NRRD000")) reader_.fail("is no NRRD file (its magic word is missing)");
    while (const auto line = reader_.line()) {
      if (line->empty()) return;
      if (line->front() == '#' || line->find(":=") != std::string_view::npos) continue;  // comments, keys of others
      const std::size_t colon = line->find(": ");
      if (colon == std::string_view::npos)
        reader_.fail(fmt::format("a header line without a field ({})", in_quotes(*line)));
      std::string name = lower_case(line->substr(0, colon));
      if (name == "datafile") name = "data file";
      if (name == "lineskip") name = "line skip";
      if (name == "byteskip") name = "byte skip";
      if (name == "axismins") name = "axis mins";
      fields_[name] = trimmed(line->substr(colon + 2));
    }
  }

  [[nodiscard]] bool has(const std::string& name) const { return fields_.contains(name); }
  [[nodiscard]] std::string text(const std::string& name) const {
    const auto found = fields_.find(name);
    return found == fields_.end() ? "" : found->second;
  }
  [[nodiscard]] std::string required(const std::string& name) const {
    if (!has(name)) reader_.fail(fmt::format("the header has no field '{}'", name));
    return text(name);
  }
  [[noreturn]] void bad(const std::string& name) const {
    reader_.fail(fmt::format("the field '{}' makes no sense ({})", name, in_quotes(required(name))));
  }

  [[nodiscard]] std::int64_t whole(const std::string& name) const {
    const std::string value = required(name);
    std::int64_t number = 0;
    const auto [stop, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || stop != value.data() + value.size()) bad(name);
    return number;
  }
  [[nodiscard]] double number(std::string_view word, const std::string& field) const {
    word = trimmed(word);
    if (word.starts_with('+')) word.remove_prefix(1);
    double value = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || stop != word.data() + word.size()) bad(field);
    return value;
  }
  [[nodiscard]] std::vector<double> numbers(const std::string& name) const {
    std::vector<double> result;
    for (const std::string& word : words_of(text(name))) result.push_back(number(word, name));
    return result;
  }

  /// "(1,0,0) none (0,2.5,0)" in the world.
  [[nodiscard]] std::vector<std::optional<Vec3d>> vectors(const std::string& name) const {
    std::vector<std::optional<Vec3d>> result;
    const std::string value = text(name);
    std::string_view left = value;
    while (!(left = trimmed(left)).empty()) {
      if (lower_case(left.substr(0, 4)) == "none") {
        result.emplace_back(std::nullopt);
        left.remove_prefix(4);
        continue;
      }
      const std::size_t end = left.find(')');
      if (left.front() != '(' || end == std::string_view::npos) bad(name);
      result.emplace_back(in_world(vector(left.substr(1, end - 1), name)));
      left.remove_prefix(end + 1);
    }
    return result;
  }
  [[nodiscard]] Vec3d vector(std::string_view list, const std::string& field) const {
    Vec3d v{};
    for (int d = 0;; ++d) {
      const std::size_t comma = list.find(',');
      if (d > 2) bad(field);
      v[d] = number(list.substr(0, comma), field);
      if (comma == std::string_view::npos) return v;
      list.remove_prefix(comma + 1);
    }
  }
  [[nodiscard]] Vec3d in_world(const Vec3d& v) const {
    return unit_ * Vec3d{signs_.x * v.x, signs_.y * v.y, signs_.z * v.z};
  }

  void parse_encoding(NrrdHeader& h) {
    const std::string name = lower_case(required("encoding"));
    if (name == "txt" || name == "text" || name == "ascii") {
      h.encoding = Encoding::text;
      return;
    }
    if (name == "gz" || name == "gzip") h.packing = NrrdPacking::gzip;
    else if (name != "raw")
      reader_.fail(fmt::format("an encoding that is not read ({})", in_quotes(name)), "store it raw, gzip or ascii");
    const std::string endian = size_of(h.type) == 1 ? "little" : lower_case(required("endian"));
    if (endian != "little" && endian != "big") bad("endian");
    h.encoding = endian == "little" ? Encoding::little_endian : Encoding::big_endian;
  }

  void parse_space() {
    const std::string space = lower_case(text("space"));
    if (space == "left-anterior-superior" || space == "las") signs_ = {-1, 1, 1};
    else if (space == "left-posterior-superior" || space == "lps") signs_ = {-1, -1, 1};
    const std::string units = text("space units");
    for (const auto& [unit, mm] : {std::pair{"\"m\"", 1000.0}, std::pair{"\"cm\"", 10.0}, std::pair{"\"um\"", 1e-3}})
      if (units.starts_with(unit)) unit_ = mm;
  }

  /// The columns of the measurement frame are in the file's space; without it the values are there themselves.
  void parse_frame(NrrdHeader& h) {
    h.frame.axis = {Vec3d{signs_.x, 0, 0}, Vec3d{0, signs_.y, 0}, Vec3d{0, 0, signs_.z}};
    const auto columns = vectors("measurement frame");
    if (columns.empty()) return;
    if (columns.size() > 3) bad("measurement frame");
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (!columns[i]) return;
      const Vec3d axis = *columns[i] / unit_;
      if (!(std::abs(norm(axis) - 1) < 0.1)) bad("measurement frame");
      h.frame.axis[i] = axis;
    }
  }

  template <class T>
  void check_per_axis(const std::vector<T>& list, const std::string& name) const {
    if (!list.empty() && list.size() != axes_) bad(name);
  }

  ByteReader& reader_;
  std::map<std::string, std::string> fields_;
  std::size_t axes_ = 0;
  Vec3d signs_{1, 1, 1};
  double unit_ = 1;
};

}  // namespace

NrrdHeader read_nrrd_header(ByteReader& reader) { return Fields(reader).parsed(); }

}  // namespace isochron
