#include "bench/paper/report.h"

#include <algorithm>
#include <cmath>
#include <fstream>

#include <fmt/format.h>

#include "isochron/error.h"

namespace isochron::bench {
namespace {

std::string number(std::optional<double> value) {
  if (!value || !std::isfinite(*value)) return "-";
  if (*value != 0 && std::abs(*value) < 0.01) return fmt::format("{:.3g}", *value);
  return fmt::format("{:.{}f}", *value, std::abs(*value) < 10 ? 3 : std::abs(*value) < 1000 ? 2 : 0);
}

std::string ratio(const Entry& entry) {
  if (!entry.paper || !entry.ours || *entry.paper == 0) return "-";
  return fmt::format("{:.3g}", *entry.ours / *entry.paper);
}

std::string json_number(std::optional<double> value) {
  return value && std::isfinite(*value) ? fmt::format("{}", *value) : "null";
}

/// Quotes and backslashes do not occur in our labels; commas do.
std::string quoted(const std::string& text) { return '"' + text + '"'; }

}  // namespace

void save(const BenchOptions& options, const std::string& name, const std::string& text) {
  if (options.output_folder.empty()) return;
  std::filesystem::create_directories(options.output_folder);
  const std::filesystem::path path = options.output_folder / name;
  std::ofstream file(path);
  file << text;
  if (!file.flush()) throw RuntimeError(fmt::format("cannot write {}; choose another --output-folder", path.string()));
}

Report::Report(std::string name, std::string title, const BenchOptions& options, QuickRun run)
    : name_(std::move(name)), title_(std::move(title)), quick_(options.size == BenchSize::quick), run_(run) {
  if (!quick_) return;
  title_ += comparable() ? " (quick: only the smallest meshes)" : " (quick: smaller meshes, not comparable)";
}

void Report::add(Entry entry) {
  if (!comparable()) entry.paper.reset();
  entries_.push_back(std::move(entry));
}

void Report::note(std::string text) { notes_.push_back(std::move(text)); }

void Report::note_on_paper(std::string text) {
  if (comparable()) note(std::move(text));
}

bool Report::sound() const {
  return std::none_of(entries_.begin(), entries_.end(), [](const Entry& e) { return e.remark.failed; });
}

void Report::print() const {
  std::size_t rows = 4, columns = 6;
  for (const Entry& e : entries_) {
    rows = std::max(rows, e.row.size());
    columns = std::max(columns, e.column.size());
  }
  // Columns of the table: ours alone where there is nothing to compare it with.
  const auto numbers = [&](const std::string& paper, const std::string& ours, const std::string& over) {
    return comparable() ? fmt::format("{:>10}  {:>10}  {:>10}", paper, ours, over) : fmt::format("{:>10}", ours);
  };
  fmt::print("\n{}\n{:<{}}  {:<{}}  {}\n", title_, "", rows, "", columns, numbers("paper", "ours", "ours/paper"));
  std::string previous;
  for (const Entry& e : entries_) {
    fmt::print("{:<{}}  {:<{}}  {}  {} {}\n", e.row == previous ? "" : e.row, rows, e.column, columns,
               numbers(number(e.paper), number(e.ours), ratio(e)), e.unit, e.remark.text);
    previous = e.row;
  }
  for (const std::string& text : notes_) fmt::print("  {}\n", text);
}

std::string Report::json() const {
  std::string text =
      fmt::format("{{\"name\": \"{}\", \"title\": \"{}\", \"quick\": {}, \"entries\": [", name_, title_, quick_);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& e = entries_[i];
    text += fmt::format(
        "{}\n  {{\"row\": \"{}\", \"column\": \"{}\", \"paper\": {}, \"ours\": {}, \"unit\": \"{}\", \"remark\": "
        "\"{}\"}}",
        i == 0 ? "" : ",", e.row, e.column, json_number(e.paper), json_number(e.ours), e.unit, e.remark.text);
  }
  text += "\n], \"notes\": [";
  for (std::size_t i = 0; i < notes_.size(); ++i) text += fmt::format("{}\n  \"{}\"", i == 0 ? "" : ",", notes_[i]);
  return text + "\n]}\n";
}

void Report::write(const BenchOptions& options) const {
  std::string csv = "row,column,paper,ours,unit,remark,quick\n";
  for (const Entry& e : entries_)
    csv += fmt::format("{},{},{},{},{},{},{}\n", quoted(e.row), quoted(e.column),
                       e.paper ? fmt::format("{}", *e.paper) : "", e.ours ? fmt::format("{}", *e.ours) : "",
                       quoted(e.unit), quoted(e.remark.text), quick_);
  save(options, name_ + ".csv", csv);
  save(options, name_ + ".json", json());
}

bool Report::finish(const BenchOptions& options) const {
  if (options.output == BenchOutput::text) print();
  if (options.output == BenchOutput::json) fmt::print("{}", json());
  write(options);
  return sound();
}

}  // namespace isochron::bench
