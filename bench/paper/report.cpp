#include "bench/paper/report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isochron/core/delimited_text.h"

namespace isochron::bench {
namespace {

std::string ratio(const Entry& entry) {
  if (!entry.paper || !entry.ours || *entry.paper == 0) return "-";
  return fmt::format("{:.3g}", *entry.ours / *entry.paper);
}

Series& series_of(Chart& chart, const std::string& name, LineStyle style) {
  for (Series& series : chart.series)
    if (series.name == name) return series;
  return chart.series.emplace_back(Series{name, {}, style});
}

/// y ~ x^power through a point, as far as the series reach.
Series guide_of(const Plot& plot, const Chart& chart) {
  const ChartPoint first = chart.series.front().points.front();
  double low = first.x, high = first.x;
  for (const Series& series : chart.series)
    for (const ChartPoint& p : series.points) low = std::min(low, p.x), high = std::max(high, p.x);
  Series guide{plot.guide, {}, LineStyle::dashed};
  for (const double x : {low, high}) guide.points.push_back({x, first.y * std::pow(x / first.x, plot.guide_power)});
  return guide;
}

}  // namespace

std::string shown_number(std::optional<double> value) {
  if (!value || !std::isfinite(*value)) return "-";
  if (*value != 0 && std::abs(*value) < 0.01) return fmt::format("{:.3g}", *value);
  if (std::abs(*value) >= 10 && *value == std::round(*value)) return fmt::format("{:.0f}", *value);  // a count
  return fmt::format("{:.{}f}", *value, std::abs(*value) < 10 ? 3 : std::abs(*value) < 1000 ? 2 : 0);
}

Report::Report(std::string name, std::string title, const BenchOptions& options, QuickRun run)
    : progress_(options.progress) {
  result_.name = std::move(name);
  result_.title = std::move(title);
  result_.quick = options.size == BenchSize::quick;
  result_.comparable = !result_.quick || run != QuickRun::smaller_meshes;
  if (result_.quick && run == QuickRun::fewer_meshes) result_.title += " (quick: only the smallest meshes)";
  if (!comparable()) result_.title += " (quick: smaller meshes, not comparable)";
}

void Report::add(Entry entry) {
  progress_.update(0);
  if (!comparable()) entry.paper.reset();
  if (entry.remark.failed) entry.ours.reset();
  if (place_) entry.point = {place_->series.empty() ? entry.column : place_->series, place_->x};
  result_.entries.push_back(std::move(entry));
}

void Report::note(std::string text) { result_.notes.push_back(std::move(text)); }

void Report::note_on_paper(std::string text) {
  if (comparable()) note(std::move(text));
}

bool Report::finish(const BenchOptions& options) const {
  if (options.take) options.take(result_);
  return result_.sound();
}

bool TableResult::sound() const {
  return std::none_of(entries.begin(), entries.end(), [](const Entry& e) { return e.remark.failed; });
}

std::optional<Chart> chart_of(const TableResult& table) {
  if (!table.plot) return std::nullopt;
  const Plot& plot = *table.plot;
  Chart chart{table.title, plot.x, plot.y, {}};
  for (const Entry& e : table.entries) {
    if (!e.point || e.unit != plot.unit) continue;
    if (e.ours) series_of(chart, e.point->series, LineStyle::solid).points.push_back({e.point->x, *e.ours});
    if (e.paper)
      series_of(chart, e.point->series + ", paper", LineStyle::dashed).points.push_back({e.point->x, *e.paper});
  }
  if (!plot.guide.empty() && !chart.series.empty()) chart.series.push_back(guide_of(plot, chart));
  return chart;
}

std::string text_of(const TableResult& table) {
  std::size_t rows = 4, columns = 6;
  for (const Entry& e : table.entries) {
    rows = std::max(rows, e.row.size());
    columns = std::max(columns, e.column.size());
  }
  // Columns of the table: ours alone where there is nothing to compare it with.
  const auto numbers = [&](const std::string& paper, const std::string& ours, const std::string& over) {
    return table.comparable ? fmt::format("{:>10}  {:>10}  {:>10}", paper, ours, over) : fmt::format("{:>10}", ours);
  };
  std::string text = fmt::format("\n{}\n{:<{}}  {:<{}}  {}\n", table.title, "", rows, "", columns,
                                 numbers("paper", "ours", "ours/paper"));
  std::string previous;
  for (const Entry& e : table.entries) {
    text += fmt::format("{:<{}}  {:<{}}  {}  {} {}\n", e.row == previous ? "" : e.row, rows, e.column, columns,
                        numbers(shown_number(e.paper), shown_number(e.ours), ratio(e)), e.unit, e.remark.text);
    previous = e.row;
  }
  for (const std::string& note : table.notes) text += fmt::format("  {}\n", note);
  return text;
}

std::string csv_of(const TableResult& table) {
  std::string csv = "row,column,paper,ours,unit,remark,quick\n";
  const auto number = [](std::optional<double> value) { return value ? fmt::format("{}", *value) : ""; };
  for (const Entry& e : table.entries)
    csv += fmt::format("{},{},{},{},{},{},{}\n", csv_quoted(e.row), csv_quoted(e.column), number(e.paper),
                       number(e.ours), csv_quoted(e.unit), csv_quoted(e.remark.text), table.quick);
  return csv;
}

}  // namespace isochron::bench
