#include <algorithm>

#include <fmt/format.h>

#include "apps/isochron/json_text.h"
#include "apps/isochron/path.h"

namespace isochron::cli {
namespace {

Json json_of(const TracedTarget& traced) {
  const auto& [target, path, why] = traced;
  Json object;
  if (target.vertex) object["vertex"] = target.vertex->value;
  else object["point"] = {target.point.x, target.point.y, target.point.z};
  if (!target.name.empty()) object["name"] = target.name;
  if (!why.empty()) {
    object["why"] = why;
    return object;
  }
  object["source"] = path.source;
  object["arrival_time"] = path.times.front();
  object["onset"] = path.times.back();
  object["travel_time"] = path.travel_time;
  object["length"] = path.length;
  object["points"] = path.points.size();
  object["bridges"] = path.bridges;
  return object;
}

Json json_of(const PathSummary& summary, const Console& console) {
  Json object{
      {"mesh", summary.input.string()}, {"written", Json::array()},      {"guessed_sources", summary.guessed_sources},
      {"paths", Json::array()},         {"without_path", Json::array()}, {"warnings", console.warnings()}};
  if (!summary.written.empty()) object["written"].push_back(summary.written.string());
  for (const TracedTarget& traced : summary.targets)
    object[traced.why.empty() ? "paths" : "without_path"].push_back(json_of(traced));
  return object;
}

std::string text_of(const PathSummary& summary) {
  constexpr std::size_t max_rows = 20;
  const auto found = static_cast<std::size_t>(std::count_if(summary.targets.begin(), summary.targets.end(),
                                                            [](const TracedTarget& t) { return t.why.empty(); }));
  std::string text = fmt::format("{}: {}\n", summary.input.string(), counted(found, "path", "paths"));
  std::size_t rows = 0;
  for (const auto& [target, path, why] : summary.targets) {
    if (!why.empty() || ++rows > max_rows) continue;
    text += fmt::format("  {}: length {:.6g}, travel time {:.6g} (arrives at {:.6g}), from source {}\n",
                        describe(target), path.length, path.travel_time, path.times.front(), path.source);
  }
  if (found > max_rows) text += fmt::format("  and {} more\n", found - max_rows);
  if (summary.guessed_sources) text += "  sources     taken from the file (none given)\n";
  if (!summary.written.empty()) text += fmt::format("  wrote       {}\n", summary.written.string());
  return text;
}

}  // namespace

void print_summary(const PathSummary& summary, const Console& console) {
  if (console.options.json) print_json(json_of(summary, console), console);
  else console.say(text_of(summary));
}

}  // namespace isochron::cli
