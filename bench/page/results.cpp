#include "bench/page/results.h"

#include <charconv>
#include <cmath>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/page/chart.h"
#include "isochron/device.h"
#include "isochron/io/bytes.h"
#include "isochron/io/text.h"

namespace isochron::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* version_key = "isochron_papers";
constexpr int file_version = 1;

// ---- To JSON.

Json json_of(std::optional<double> value) { return value && std::isfinite(*value) ? Json(*value) : Json(nullptr); }

Json object_of(const Entry& e) {
  Json object{{"row", e.row},   {"column", e.column},     {"paper", json_of(e.paper)}, {"ours", json_of(e.ours)},
              {"unit", e.unit}, {"remark", e.remark.text}};
  if (e.remark.failed) object["failed"] = true;
  if (e.point) {
    object["series"] = e.point->series;
    object["x"] = e.point->x;
  }
  return object;
}

Json object_of(const PictureLegend& legend) {
  Json object{{"label", legend.label}, {"low", legend.low}, {"high", legend.high}, {"spacing", legend.spacing}};
  if (!legend.histogram.empty()) object["histogram"] = legend.histogram;
  for (const LegendEntry& entry : legend.entries)
    object["entries"].push_back({{"text", entry.text}, {"color", html_color(entry.color)}});
  return object;
}

Json object_of(const Axis& axis) { return {{"label", axis.label}, {"logarithmic", axis.scale == Scale::logarithmic}}; }

Json object_of(const TableResult& table) {
  Json object{
      {"name", table.name},       {"title", table.title},     {"quick", table.quick}, {"comparable", table.comparable},
      {"seconds", table.seconds}, {"entries", Json::array()}, {"notes", table.notes}};
  for (const Entry& e : table.entries) object["entries"].push_back(object_of(e));
  if (table.plot)
    object["plot"] = {{"x", object_of(table.plot->x)},
                      {"y", object_of(table.plot->y)},
                      {"unit", table.plot->unit},
                      {"guide", table.plot->guide},
                      {"guide_power", table.plot->guide_power}};
  for (const Picture& p : table.pictures)
    object["pictures"].push_back(
        {{"name", p.name}, {"caption", p.caption}, {"legend", object_of(p.legend)}, {"png", to_base64(p.png)}});
  for (const MoreFile& file : table.files) object["files"].push_back({{"name", file.name}, {"text", file.text}});
  return object;
}

/// Texts may come from a driver or a file: what is not UTF-8 is replaced.
std::string dumped(const Json& json) { return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n"; }

// ---- From JSON.

/// An object of the file, with its place in the file for messages.
class Reader {
 public:
  Reader(const Json& json, std::string where, const std::filesystem::path& path)
      : json_(json), where_(std::move(where)), path_(path) {
    if (!json.is_object()) fail("", "an object");
  }

  [[nodiscard]] std::string text(const char* key) const {
    const Json& value = member(key);
    if (!value.is_string()) fail(key, "text");
    return value.get<std::string>();
  }
  [[nodiscard]] double number(const char* key) const {
    const Json& value = member(key);
    if (!value.is_number()) fail(key, "a number");
    return value.get<double>();
  }
  [[nodiscard]] std::optional<double> number_or_null(const char* key) const {
    return member(key).is_null() ? std::nullopt : std::optional(number(key));
  }
  [[nodiscard]] int whole_number(const char* key) const {
    const auto value = converted<int>(number(key));
    if (!value) fail(key, "a whole number");
    return *value;
  }
  [[nodiscard]] bool flag(const char* key) const {
    const Json& value = member(key);
    if (!value.is_boolean()) fail(key, "true or false");
    return value.get<bool>();
  }
  [[nodiscard]] bool has(const char* key) const { return json_.contains(key); }
  [[nodiscard]] Reader object(const char* key) const { return {member(key), place(key), path_}; }
  /// Calls `take` with a Reader of each item.
  template <class Take>
  void each(const char* key, Take&& take) const {
    const Json& items = list(key);
    for (std::size_t i = 0; i < items.size(); ++i) take(Reader(items[i], fmt::format("{}[{}]", place(key), i), path_));
  }
  [[nodiscard]] std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> result;
    for (const Json& item : list(key)) {
      if (!item.is_string()) fail(key, "a list of texts");
      result.push_back(item.get<std::string>());
    }
    return result;
  }
  [[nodiscard]] std::vector<std::size_t> counts(const char* key) const {
    std::vector<std::size_t> result;
    for (const Json& item : list(key)) {
      const auto count = item.is_number() ? converted<std::uint32_t>(item.get<double>()) : std::nullopt;
      if (!count) fail(key, "a list of counts");
      result.push_back(*count);
    }
    return result;
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  [[noreturn]] void fail(const char* key, const char* expected) const {
    bad_file(path_, "{} is not {}; give the papers.json of another run", place(key), expected);
  }

 private:
  [[nodiscard]] const Json& member(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end()) bad_file(path_, "{} is missing; give the papers.json of another run", place(key));
    return *found;
  }
  [[nodiscard]] const Json& list(const char* key) const {
    const Json& items = member(key);
    if (!items.is_array()) fail(key, "a list");
    return items;
  }
  [[nodiscard]] std::string place(std::string_view key) const {
    if (where_.empty()) return key.empty() ? "the whole" : std::string(key);
    return key.empty() ? where_ : fmt::format("{}.{}", where_, key);
  }

  const Json& json_;
  std::string where_;
  const std::filesystem::path& path_;
};

Entry entry_of(const Reader& r) {
  Entry e{r.text("row"),
          r.text("column"),
          r.number_or_null("paper"),
          r.number_or_null("ours"),
          r.text("unit"),
          {r.text("remark"), r.has("failed") && r.flag("failed")}};
  if (r.has("series")) e.point = {r.text("series"), r.number("x")};
  return e;
}

Axis axis_of(const Reader& r) { return {r.text("label"), r.flag("logarithmic") ? Scale::logarithmic : Scale::linear}; }

Color color_of(const Reader& r) {
  const std::string text = r.text("color");
  std::uint32_t bits = 0;
  if (!text.empty()) std::from_chars(text.data() + 1, text.data() + text.size(), bits, 16);
  const Color color{static_cast<std::uint8_t>(bits >> 16U), static_cast<std::uint8_t>(bits >> 8U),
                    static_cast<std::uint8_t>(bits)};
  if (html_color(color) != text) r.fail("color", "a colour like #0080ff");
  return color;
}

PictureLegend legend_of(const Reader& r) {
  PictureLegend legend{r.text("label"), r.number("low"), r.number("high"), r.number("spacing")};
  if (r.has("histogram")) legend.histogram = r.counts("histogram");
  if (r.has("entries"))
    r.each("entries", [&](const Reader& entry) { legend.entries.push_back({entry.text("text"), color_of(entry)}); });
  return legend;
}

Picture picture_of(const Reader& r) {
  Picture picture{r.text("name"), r.text("caption"), from_base64(r.text("png"), r.path())};
  if (!std::string_view(picture.png).starts_with("\x89PNG\r\n")) r.fail("png", "a PNG picture");
  picture.legend = legend_of(r.object("legend"));
  return picture;
}

/// Its name is that of a file in a folder, called after its table.
MoreFile more_file_of(const Reader& r, const std::string& table) {
  MoreFile file{r.text("name"), r.text("text")};
  if (!file.name.starts_with(table + "-") || file.name.find_first_of(std::string_view("/\\\0", 3)) != std::string::npos)
    r.fail("name", "the name of a file of its table");
  return file;
}

TableResult table_of(const Reader& r) {
  TableResult table;
  table.name = r.text("name");
  table.title = r.text("title");
  table.quick = r.flag("quick");
  table.comparable = r.flag("comparable");
  table.seconds = r.number("seconds");
  r.each("entries", [&](const Reader& entry) { table.entries.push_back(entry_of(entry)); });
  table.notes = r.texts("notes");
  if (r.has("plot")) {
    const Reader plot = r.object("plot");
    table.plot = Plot{axis_of(plot.object("x")), axis_of(plot.object("y")), plot.text("unit"), plot.text("guide"),
                      plot.number("guide_power")};
  }
  if (r.has("pictures"))
    r.each("pictures", [&](const Reader& picture) { table.pictures.push_back(picture_of(picture)); });
  if (r.has("files"))
    r.each("files", [&](const Reader& file) { table.files.push_back(more_file_of(file, table.name)); });
  return table;
}

MachineRun run_of(const Reader& r) {
  const Reader machine = r.object("machine");
  MachineRun run{{machine.text("label"), machine.text("cpu"), machine.whole_number("threads"), machine.text("gpu"),
                  machine.text("version")},
                 {}};
  r.each("tables", [&](const Reader& table) { run.tables.push_back(table_of(table)); });
  run.unfinished = r.has("unfinished") && r.flag("unfinished");
  return run;
}

/// "model name" of Linux's list of processors; where it has none, what is known of it.
std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      if (const auto colon = line.find(':'); colon != std::string::npos)
        return std::string(trimmed(std::string_view(line).substr(colon + 1)));
#if defined(__aarch64__)
  return "aarch64 CPU";
#elif defined(__x86_64__)
  return "x86-64 CPU";
#else
  return "unknown CPU";
#endif
}

}  // namespace

std::string to_base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) text += i + k > bytes.size() ? '=' : digits[bits >> (18 - 6 * k) & 63U];
  }
  return text;
}

Computer this_computer(std::string label, int threads, std::string version) {
  Computer computer{std::move(label), cpu_name(), threads, "", std::move(version)};
  cuda::NoDevice why;
  if (const auto device = cuda::find_device(why)) computer.gpu = device->name;
  if (computer.label.empty())
    computer.label = fmt::format("{}, {} thread{}{}", computer.cpu, threads, threads == 1 ? "" : "s",
                                 computer.gpu.empty() ? "" : ", " + computer.gpu);
  return computer;
}

std::string json_of(const TableResult& table) { return dumped(object_of(table)); }

std::string json_of(const std::vector<MachineRun>& runs) {
  Json file{{version_key, file_version}, {"runs", Json::array()}};
  for (const MachineRun& run : runs) {
    const Computer& c = run.computer;
    Json tables = Json::array();
    for (const TableResult& table : run.tables) tables.push_back(object_of(table));
    Json object{{"machine",
                 {{"label", c.label}, {"cpu", c.cpu}, {"threads", c.threads}, {"gpu", c.gpu}, {"version", c.version}}},
                {"tables", std::move(tables)}};
    if (run.unfinished) object["unfinished"] = true;
    file["runs"].push_back(std::move(object));
  }
  return dumped(file);
}

std::vector<MachineRun> read_machine_runs(const std::filesystem::path& path) {
  require_file(path);
  if (!std::filesystem::is_regular_file(path))
    bad_file(path, "is a device or a pipe (its data could go on for ever); give the papers.json of another run");
  return within_memory(path, [&] {
    const FileBytes bytes(path);
    Json file;
    try {
      file = Json::parse(bytes.text());
    } catch (const Json::parse_error& error) {
      bad_file(path, "is no JSON (byte {} is wrong); give the papers.json of another run", error.byte);
    } catch (const Json::exception&) {
      bad_file(path, "has a number that is out of range; give the papers.json of another run");
    }
    const Reader reader(file, "", path);
    if (!reader.has(version_key)) bad_file(path, "has no runs of the papers; give the papers.json of another run");
    if (const int version = reader.whole_number(version_key); version != file_version)
      bad_file(path, "has version {} (this program reads {}); run it again with this version", version, file_version);
    std::vector<MachineRun> runs;
    reader.each("runs", [&](const Reader& run) { runs.push_back(run_of(run)); });
    return runs;
  });
}

void join_parts(std::vector<MachineRun>& runs) {
  const auto is_quick = [](const MachineRun& run) { return !run.tables.empty() && run.tables[0].quick; };
  const auto share_a_table = [](const MachineRun& a, const MachineRun& b) {
    return std::any_of(a.tables.begin(), a.tables.end(), [&](const TableResult& table) {
      return std::any_of(b.tables.begin(), b.tables.end(), [&](const auto& other) { return other.name == table.name; });
    });
  };
  std::vector<MachineRun> joined;
  for (MachineRun& run : runs) {
    const auto other = std::find_if(joined.begin(), joined.end(), [&](const MachineRun& before) {
      return before.computer == run.computer && is_quick(before) == is_quick(run) && !before.unfinished &&
             !run.unfinished && !share_a_table(before, run);
    });
    if (other == joined.end()) joined.push_back(std::move(run));
    else std::move(run.tables.begin(), run.tables.end(), std::back_inserter(other->tables));
  }
  runs = std::move(joined);
}

void number_labels(std::vector<MachineRun>& runs) {
  std::set<std::string> taken;
  for (MachineRun& run : runs) {
    const std::string label = run.computer.label;
    for (int number = 2; !taken.insert(run.computer.label).second; ++number)
      run.computer.label = fmt::format("{} ({})", label, number);
  }
}

}  // namespace isochron::bench
