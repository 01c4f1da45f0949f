#include "apps/isochron/report.h"
#include "isochron/core/delimited_text.h"
#include "isochron/core/join_text.h"
#include "isochron/io/bytes.h"

namespace isochron::cli {

std::vector<std::string> file_names(const Paths& files) {
  std::vector<std::string> names;
  for (const auto& file : files) names.push_back(file.string());
  return names;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  return csv_quoted(text);
}

void write_text(const OutputFile& file, const std::string& text) {
  ByteWriter sink(file);
  sink.print("{}", text);
  sink.finish();
}

std::string json_line(const Json& object) { return object.dump() + "\n"; }

void Report::times(std::initializer_list<Step> steps) {
  std::vector<std::string> shown;
  for (const Step& step : steps) {
    object_[std::string(step.name) + "_seconds"] = step.seconds;
    shown.push_back(fmt::format("{} {:.2f} s", step.shown != nullptr ? step.shown : step.name, step.seconds));
  }
  row("time", "{}", join_text(shown, ", "));
}

void Report::written(const Paths& files, std::string_view label) {
  object_["written"] = file_names(files);
  if (!files.empty()) row(label, "{}", join_text(file_names(files), ", "));
}

void Report::notes(const std::vector<std::string>& notes) {
  Json& all = object_["notes"];
  if (!all.is_array()) all = Json::array();
  for (const std::string& note : notes) {
    all.push_back(note);
    row("note", "{}", note);
  }
}

Json Report::with_warnings(const Console& console) const {
  Json object = object_;
  object["warnings"] = console.warnings();
  return object;
}

void Report::print(const Console& console) const {
  if (console.options.json) console.print(json_line(with_warnings(console)));
  else console.say(text_);
}

Json json_of(const std::vector<CutCells>& cut) {
  Json object = Json::object();
  for (const CutCells& one : cut) object[one.kind] = {{"cells", one.cells}, {"pieces", one.pieces}};
  return object;
}

std::string text_of(const CutCells& cut) {
  const std::string many = cut.kind == "hexahedron" ? "hexahedra" : cut.kind + "s";
  return fmt::format(
      "{} into {}", counted(cut.cells, cut.kind, many),
      cut.flat() ? counted(cut.pieces, "triangle", "triangles") : counted(cut.pieces, "tetrahedron", "tetrahedra"));
}

}  // namespace isochron::cli
