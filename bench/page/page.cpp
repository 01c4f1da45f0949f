#include "bench/page/page.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "bench/page/papers.h"
#include "bench/paper/registry.h"
#include "isochron/core/join_text.h"
#include "isochron/draw/color_map.h"

namespace isochron::bench {
namespace {

constexpr const char* style = R"(
:root { color-scheme: light; }
body { font: 15px/1.45 system-ui, sans-serif; color: #1c1c1c; background: #fff; max-width: 1240px; margin: 24px auto;
  padding: 0 20px; }
h1 { font-size: 26px; } h2 { font-size: 21px; margin-top: 48px; border-bottom: 2px solid #1b6ca8; }
h3 { font-size: 16px; margin: 32px 0 8px; } h3 small { font-weight: normal; color: #666; }
table { border-collapse: collapse; font-size: 13.5px; }
th, td { padding: 3px 10px; text-align: left; vertical-align: top; border-bottom: 1px solid #e2e2e2; }
th { background: #f3f5f7; font-weight: 600; } td.n { text-align: right; font-variant-numeric: tabular-nums; }
th.n { text-align: right; } tr.first td { border-top: 1px solid #aaa; } td.ours { background: #eef6ee; }
td.name { white-space: nowrap; } th { vertical-align: bottom; max-width: 170px; }
td.remark { color: #555; max-width: 420px; }
td.remark:not(:empty) { min-width: 240px; } .bad { color: #b00020; font-weight: 600; }
p.note, li { margin: 3px 0; color: #444; font-size: 13.5px; } p.data { background: #fdf6e3; padding: 4px 8px; }
figure svg { display: block; } figure { display: inline-block; margin: 12px 18px 6px 0; vertical-align: top; } figure img { display: block;
  max-width: 100%; height: auto; } figcaption { font-size: 13px; color: #444; contain: inline-size; }
.key { margin-right: 14px; font-size: 12px; white-space: nowrap; } .key i { display: inline-block; width: 11px;
  height: 11px; margin-right: 5px; }
.wide { overflow-x: auto; } .none { color: #666; } svg { max-width: 100%; height: auto; }
)";

/// A table of one run.
struct OfRun {
  const MachineRun* run;
  const TableResult* table;
};

std::vector<OfRun> runs_of(std::span<const MachineRun> runs, std::string_view bench) {
  std::vector<OfRun> result;
  for (const MachineRun& run : runs)
    for (const TableResult& table : run.tables)
      if (table.name == bench) result.push_back({&run, &table});
  return result;
}

/// Which line of a table an entry is: the same in each run. Of several of one row and column the first, second, ….
struct Line {
  std::string row, column;
  int number = 0;
  auto operator<=>(const Line&) const = default;
};
using Entries = std::map<Line, const Entry*>;

/// The lines of one run in order; `entries` receives what they hold.
std::vector<Line> lines_of(const TableResult& table, Entries& entries) {
  std::vector<Line> lines;
  std::map<std::pair<std::string_view, std::string_view>, int> count;
  for (const Entry& entry : table.entries) {
    lines.push_back({entry.row, entry.column, count[{entry.row, entry.column}]++});
    entries.emplace(lines.back(), &entry);
  }
  return lines;
}

/// Puts lines that are new behind those that they follow in their run.
void merge(std::vector<Line>& all, const std::vector<Line>& more) {
  auto at = all.begin();
  for (const Line& line : more) {
    const auto known = std::find(all.begin(), all.end(), line);
    at = std::next(known == all.end() ? all.insert(at, line) : known);
  }
}

/// Which run a table is of, and whether it has small meshes.
std::string run_name(const OfRun& r) { return escaped(r.run->computer.label) + (r.table->quick ? ", quick" : ""); }

std::string cell(const std::string& content, std::string_view kind) {
  return fmt::format("<td class=\"{}\">{}</td>", kind, content);
}

std::string bad(const std::string& content) { return fmt::format("<span class=\"bad\">{}</span>", content); }

std::string number_cell(const Entry* entry) {
  if (entry == nullptr) return cell("", "n");
  if (entry->remark.failed) return cell(bad("failed"), "n");
  return cell(escaped(shown_number(entry->ours)), "n");
}

class TableText {
 public:
  TableText(const Paper& paper, std::vector<OfRun> runs, bool several)
      : paper_(paper), runs_(std::move(runs)), several_(several) {
    entries_.resize(runs_.size());
    for (std::size_t i = 0; i < runs_.size(); ++i) merge(lines_, lines_of(*runs_[i].table, entries_[i]));
    for (std::size_t i = 0; i < runs_.size(); ++i)
      for (const bool own : {false, true})
        if (std::any_of(lines_.begin(), lines_.end(), [&](const Line& line) { return is_shown(entry(i, line, own)); }))
          columns_.push_back({i, own});
  }

  [[nodiscard]] std::string html() const {
    if (lines_.empty()) return "";
    if (!has_numbers())
      return fmt::format("<p class=\"none\">{} rows without numbers: {}.</p>\n", lines_.size(), remarks());
    std::string text = "<div class=\"wide\"><table>" + head();
    std::string previous;
    for (const Line& line : lines_) {
      const bool first = previous != line.row || &line == &lines_.front();
      text += fmt::format("<tr{}>", first ? " class=\"first\"" : "") + cell(first ? escaped(line.row) : "", "name") +
              cell(escaped(line.column), "name") + numbers(line) + "</tr>\n";
      previous = line.row;
    }
    return text + "</table></div>\n";
  }

 private:
  struct Column {
    std::size_t run;
    bool own;  ///< by our own method
  };

  /// Null when the run has none by that method.
  [[nodiscard]] const Entry* entry(std::size_t run, const Line& line, bool own) const {
    const auto found = entries_[run].find(line);
    if (found == entries_[run].end() || is_ours(paper_, runs_[run].table->name, line.row, line.column) != own)
      return nullptr;
    return found->second;
  }
  /// A number or a failure.
  static bool is_shown(const Entry* entry) { return entry != nullptr && (entry->ours || entry->remark.failed); }

  /// Of the paper or of ours; a failure stands for one.
  [[nodiscard]] bool has_numbers() const {
    return std::any_of(runs_.begin(), runs_.end(), [](const OfRun& r) {
      return std::any_of(r.table->entries.begin(), r.table->entries.end(),
                         [](const Entry& e) { return e.paper || e.ours || e.remark.failed; });
    });
  }
  /// All that differ.
  [[nodiscard]] std::string remarks() const {
    std::set<std::string> all;
    for (const OfRun& r : runs_)
      for (const Entry& e : r.table->entries) all.insert(escaped(e.remark.text));
    return join_text(all, "; ");
  }

  [[nodiscard]] std::string head() const {
    std::string text = "<tr><th></th><th></th><th class=\"n\">paper</th>";
    for (const Column& column : columns_)
      text += fmt::format("<th class=\"n\">ours{}{}</th>", column.own ? "" : ", paper's method",
                          several_ ? "<br>" + run_name(runs_[column.run]) : "");
    return text + "<th>unit</th><th>remark</th></tr>\n";
  }

  /// Why a run has no number is said where no other has it.
  [[nodiscard]] std::string numbers(const Line& line) const {
    std::string ours, unit, remarks;
    std::optional<double> paper;
    for (const Column& column : columns_) ours += number_cell(entry(column.run, line, column.own));
    const auto is_measured = [&](const auto& entries) {
      const auto found = entries.find(line);
      return found != entries.end() && is_shown(found->second);
    };
    const bool measured = std::any_of(entries_.begin(), entries_.end(), is_measured);
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const auto found = entries_[i].find(line);
      if (found == entries_[i].end()) continue;
      const Entry* entry = found->second;
      if (!paper) paper = entry->paper;
      if (unit.empty()) unit = entry->unit;
      if (entry->remark.text.empty() || (measured && !is_shown(entry))) continue;
      if (!remarks.empty()) remarks += "<br>";
      if (several_) remarks += run_name(runs_[i]) + ": ";
      remarks += entry->remark.failed ? bad(escaped(entry->remark.text)) : escaped(entry->remark.text);
    }
    return cell(paper ? escaped(shown_number(paper)) : "", "n") + ours + cell(escaped(unit), "") +
           cell(remarks, "remark");
  }

  const Paper& paper_;
  std::vector<OfRun> runs_;
  bool several_;
  std::vector<Entries> entries_;
  std::vector<Line> lines_;
  std::vector<Column> columns_;  ///< that have a number or a failure
};

constexpr double bar_left = 50, bar_width = 320;  // of the bar of colours

/// How many values lie where along the bar of colours, above it and up to `top`.
std::string histogram_bars(const std::vector<std::size_t>& counts, double bottom) {
  constexpr double height = 40;
  const double step = bar_width / static_cast<double>(counts.size());
  const auto most = static_cast<double>(std::max<std::size_t>(1, *std::max_element(counts.begin(), counts.end())));
  std::string svg;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double share = static_cast<double>(counts[i]) / most;
    svg += fmt::format(R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="#7a7f87"/>)",
                       bar_left + step * static_cast<double>(i), bottom - height * share, step - 0.5, height * share);
  }
  return svg;
}

/// The colours of a picture from its lowest to its highest value, and how far its lines are apart.
std::string color_bar(const PictureLegend& legend) {
  constexpr int steps = 64;
  constexpr double step = bar_width / steps;
  const double top = legend.histogram.empty() ? 18 : 60;
  std::string svg = fmt::format(
      R"(<svg viewBox="0 0 420 {0}" width="420" height="{0}" font-family="sans-serif" font-size="12">)"
      R"(<text x="210" y="12" text-anchor="middle">{1}{2}</text>)",
      top + 28, escaped(legend.label), legend.spacing > 0 ? fmt::format(", lines every {:g}", legend.spacing) : "");
  if (!legend.histogram.empty()) svg += histogram_bars(legend.histogram, top - 1);
  const std::vector<Color> colors = color_map(steps);
  for (int i = 0; i < steps; ++i)
    svg += fmt::format(R"(<rect x="{:.1f}" y="{}" width="{:.1f}" height="12" fill="{}"/>)", bar_left + step * i, top,
                       step + 0.5, html_color(colors[static_cast<std::size_t>(i)]));
  return svg + fmt::format(R"(<text x="50" y="{0}" text-anchor="middle">{1:.4g}</text>)"
                           R"(<text x="370" y="{0}" text-anchor="middle">{2:.4g}</text></svg>)",
                           top + 25, legend.low, legend.high);
}

std::string legend_html(const PictureLegend& legend) {
  std::string text = legend.label.empty() ? "" : color_bar(legend);
  for (const LegendEntry& entry : legend.entries)
    text += fmt::format(R"(<span class="key"><i style="background:{}"></i>{}</span>)", html_color(entry.color),
                        escaped(entry.text));
  return text;
}

std::string note(const std::string& text, std::string_view kind = "note") {
  return fmt::format("<p class=\"{}\">{}</p>\n", kind, text);
}

class Page {
 public:
  explicit Page(std::span<const MachineRun> runs) : runs_(runs), several_(runs.size() > 1) {}

  [[nodiscard]] std::string html() const {
    std::string text = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width\"><title>The papers, rerun</title><style>{}</style></head><body>\n"
        "<h1>The papers, rerun</h1>\n",
        style);
    text += note(
        "The tables and figures of five papers, run again. <b>paper</b> is the number that the paper prints, <b>ours, "
        "paper's method</b> what this program measures with the method of the paper, <b>ours</b> with its own. A dash "
        "is a number that this machine did not measure; where none did, the remark says why.");
    text += machines();
    text += "<p class=\"note\">Papers:";
    for (const Paper& paper : papers())
      text += fmt::format(" <a href=\"#paper-{0}\" title=\"{1}\">{0}</a>", paper.number, escaped(paper.title));
    text += "</p>\n";
    for (const Paper& paper : papers()) text += section(paper);
    return text + "</body></html>\n";
  }

 private:
  [[nodiscard]] std::string machines() const {
    std::string text =
        "<table><tr><th>machine</th><th>CPU</th><th>threads</th><th>GPU</th><th>version</th><th>tables</th>"
        "<th>failed</th><th>run</th></tr>\n";
    for (const MachineRun& run : runs_) {
      const auto failed = static_cast<std::size_t>(
          std::count_if(run.tables.begin(), run.tables.end(), [](const TableResult& t) { return !t.sound(); }));
      const bool quick =
          std::any_of(run.tables.begin(), run.tables.end(), [](const TableResult& t) { return t.quick; });
      const Computer& c = run.computer;
      text +=
          "<tr>" + cell(escaped(c.label), "") + cell(escaped(c.cpu), "") + cell(fmt::format("{}", c.threads), "n") +
          cell(c.gpu.empty() ? "none" : escaped(c.gpu), "") + cell(escaped(c.version), "") +
          cell(fmt::format("{}", run.tables.size()), "n") + cell(failed > 0 ? bad(std::to_string(failed)) : "0", "n") +
          cell(fmt::format("{}{}", quick ? "quick: small meshes" : "full", run.unfinished ? ", interrupted" : ""), "") +
          "</tr>\n";
    }
    return text + "</table>\n";
  }

  [[nodiscard]] std::string section(const Paper& paper) const {
    std::string text = fmt::format("<h2 id=\"paper-{0}\">Paper {0}: {1}</h2>\n", paper.number, escaped(paper.title));
    text += figures(paper);
    for (const PaperBench& bench : paper_benches())
      if (bench.paper_number() == paper.number) text += table(paper, bench);
    return text;
  }

  /// Which figures of the paper are below.
  [[nodiscard]] std::string figures(const Paper& paper) const {
    std::string text = "<table><tr><th>figure</th><th>shows</th><th>here</th></tr>\n";
    for (const PaperFigure& f : paper.figures) {
      const auto runs = runs_of(runs_, f.bench);
      const bool known = std::any_of(paper_benches().begin(), paper_benches().end(),
                                     [&](const PaperBench& b) { return b.name == f.bench; });
      const bool drawn = std::any_of(runs.begin(), runs.end(), [](const OfRun& r) { return is_drawn(*r.table); });
      std::string here = drawn ? fmt::format("<a href=\"#{0}\">{0}</a>", f.bench) : "not drawn: ";
      if (!drawn && !known) here += escaped(f.why_not);
      else if (!drawn) here += runs.empty() ? "not run" : "the run has nothing to draw; its remarks say why";
      text += "<tr>" + cell(escaped(f.number), "") + cell(escaped(f.shows), "") + cell(here, "") + "</tr>\n";
    }
    return text + "</table>\n";
  }

  static bool is_drawn(const TableResult& table) {
    if (!table.pictures.empty()) return true;
    const auto chart = chart_of(table);
    return chart && svg_of(*chart);
  }

  [[nodiscard]] std::string table(const Paper& paper, const PaperBench& bench) const {
    const std::vector<OfRun> runs = runs_of(runs_, bench.name);
    const auto full = std::find_if(runs.begin(), runs.end(), [](const OfRun& r) { return !r.table->quick; });
    std::string text =
        fmt::format("<h3 id=\"{0}\">{0} <small>{1}</small></h3>\n", escaped(bench.name),
                    escaped(runs.empty() ? bench.what : (full == runs.end() ? runs.front() : *full).table->title));
    if (runs.empty()) return text + note("Not run.", "none");
    for (const OfRun& r : runs)
      if (!r.table->sound()) text += note(failed_text(r), "bad");
    text += TableText(paper, runs, several_).html();
    for (const std::string_view difference : differences_of(paper, bench.name))
      text += note("<b>Data:</b> " + escaped(difference), "note data");
    text += notes(runs);
    std::set<std::string> drawn;
    for (const OfRun& r : runs) text += drawings(r, drawn);
    return text;
  }

  [[nodiscard]] std::string failed_text(const OfRun& r) const {
    return several_ ? fmt::format("Failed its check on {}.", run_name(r)) : "Failed its check.";
  }

  /// Those that all runs share once, the others with their machines.
  [[nodiscard]] std::string notes(const std::vector<OfRun>& runs) const {
    std::string text;
    std::set<std::string> said;
    for (const OfRun& r : runs)
      for (const std::string& words : r.table->notes) {
        const bool shared = std::all_of(runs.begin(), runs.end(), [&](const OfRun& other) {
          const auto& all = other.table->notes;
          return std::find(all.begin(), all.end(), words) != all.end();
        });
        const std::string line = shared ? escaped(words) : run_name(r) + ": " + escaped(words);
        if (said.insert(line).second) text += note(line);
      }
    return text;
  }

  /// Those that are not `drawn` yet: where machines agree, one of them is enough.
  [[nodiscard]] std::string drawings(const OfRun& r, std::set<std::string>& drawn) const {
    const std::string by = several_ ? ", " + run_name(r) : "";
    std::string text;
    if (const auto chart = chart_of(*r.table))
      if (const auto svg = svg_of(*chart); svg && drawn.insert(*svg).second)
        text += fmt::format("<figure>{}<figcaption>Chart of the table above{}</figcaption></figure>\n", *svg, by);
    for (const Picture& p : r.table->pictures)
      if (drawn.insert(p.png).second)
        text += fmt::format(
            "<figure><img alt=\"{0}\" "
            "src=\"data:image/png;base64,{1}\">{2}<figcaption>{0}{3}</figcaption></figure>\n",
            escaped(p.caption), to_base64(p.png), legend_html(p.legend), by);
    return text;
  }

  std::span<const MachineRun> runs_;
  bool several_;
};

}  // namespace

std::string papers_page(std::span<const MachineRun> runs) { return Page(runs).html(); }

}  // namespace isochron::bench
