// What a command found, field by field: one list of fields gives the object of --json and the text for people.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "apps/isochron/console.h"
#include "apps/isochron/json.h"
#include "apps/isochron/values.h"
#include "isochron/dataset.h"

namespace isochron {
struct OutputFile;
}

namespace isochron::cli {

template <class T>
Json value_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
inline Json json_of(const Vec3d& p) { return Json::array({p.x, p.y, p.z}); }

/// Files as a list of names.
std::vector<std::string> file_names(const Paths& files);
/// The object as text that ends its line. Bytes of names that are not UTF-8 are replaced.
std::string json_line(const Json& object);

/// A field of a table with commas: in quotes where something in it would confuse who reads it.
std::string csv_field(const std::string& text);

/// Writes a whole file. Throws RuntimeError.
void write_text(const OutputFile& file, const std::string& text);

/// How long a step took; `shown` is its name in the text where it is another one.
struct Step {
  const char* name;
  double seconds;
  const char* shown = nullptr;
};

class Report {
 public:
  /// Rows of the text begin with so many blanks, then a label in a column of that width.
  explicit Report(std::size_t width = 12, std::size_t indent = 2) : width_(width), indent_(indent) {}

  /// Fields of the object alone.
  void add(const Json& fields) { object_.update(fields); }
  /// A line of the text alone.
  void line(const std::string& text) { text_ += text + "\n"; }
  template <class... Values>
  void row(std::string_view label, fmt::format_string<Values...> text, Values&&... values) {
    text_ +=
        fmt::format("{:{}}{:<{}}{}\n", "", indent_, label, width_, fmt::format(text, std::forward<Values>(values)...));
  }
  /// What begins both: the file that it is about, and what is in it.
  void title(const char* key, const std::string& file, const std::string& text) {
    add({{key, file}});
    line(file + ": " + text);
  }
  /// `NAME_seconds` of each step, and all of them in one row.
  void times(std::initializer_list<Step> steps);
  /// Files that are there now; the text has no row when there is none.
  void written(const Paths& files, std::string_view label = "wrote");
  /// Lines that the user should know.
  void notes(const std::vector<std::string>& notes);

  /// Takes over the fields and the text of another one.
  void append(const Report& part) {
    add(part.object_);
    text_ += part.text_;
  }

  [[nodiscard]] Json& object() { return object_; }
  [[nodiscard]] std::string& text() { return text_; }
  /// The object with the warnings so far.
  [[nodiscard]] Json with_warnings(const Console& console) const;
  /// On stdout, as text or as one JSON object, as asked for.
  void print(const Console& console) const;

 private:
  std::size_t width_, indent_;
  Json object_ = Json::object();
  std::string text_;
};

/// The cells that were cut into simplices, by kind, and one kind in words: "64 quads into 128 triangles".
Json json_of(const std::vector<CutCells>& cut);
std::string text_of(const CutCells& cut);

}  // namespace isochron::cli
