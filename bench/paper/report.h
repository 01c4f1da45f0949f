// What a bench finds: a table beside the paper's numbers, with its chart and pictures, as data.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/page/chart.h"
#include "bench/paper/registry.h"
#include "isochron/draw/color_map.h"

namespace isochron::bench {

/// What a table says beside a number, and whether that is a failure: then the number is missing.
struct Remark {
  std::string text;
  bool failed = false;

  Remark() = default;
  Remark(std::string said) : text(std::move(said)) {}  // NOLINT(google-explicit-constructor)
  Remark(const char* said) : text(said) {}             // NOLINT(google-explicit-constructor)
  Remark(std::string said, bool failure) : text(std::move(said)), failed(failure) {}

  Remark& operator+=(const std::string& more) {
    text += more;
    return *this;
  }
  friend bool operator==(const Remark&, const Remark&) = default;
};

/// Where an entry lies in the chart of its table.
struct EntryPoint {
  std::string series;
  double x = 0;

  friend bool operator==(const EntryPoint&, const EntryPoint&) = default;
};

/// One number of a table: what the paper has, what we measured, and a remark ("unordered", "residual failed").
struct Entry {
  std::string row;
  std::string column;
  std::optional<double> paper;
  std::optional<double> ours;  ///< absent when the result did not pass its check, or was not run
  std::string unit;
  Remark remark;
  std::optional<EntryPoint> point = {};

  friend bool operator==(const Entry&, const Entry&) = default;
};

/// How a table is drawn as a chart: its entries of one unit over their x.
struct Plot {
  Axis x, y;
  std::string unit;  ///< of the entries that are drawn
  /// A dashed line y ~ x^power through the first point, to compare slopes with; empty name: none.
  std::string guide = {};
  double guide_power = 1;

  friend bool operator==(const Plot&, const Plot&) = default;
};

/// A thing in a picture and its colour.
struct LegendEntry {
  std::string text;
  Color color{};

  friend bool operator==(const LegendEntry&, const LegendEntry&) = default;
};

/// What the colours of a picture mean.
struct PictureLegend {
  std::string label;         ///< of the colours of values; empty: it has none
  double low = 0, high = 1;  ///< of the first and the last colour
  double spacing = 0;        ///< of its lines of equal value; 0: none
  /// How many values lie in each of the equal parts between low and high; empty: not shown.
  std::vector<std::size_t> histogram = {};
  std::vector<LegendEntry> entries = {};

  friend bool operator==(const PictureLegend&, const PictureLegend&) = default;
};

/// A picture of values on a mesh or image, or of surfaces.
struct Picture {
  std::string name;  ///< of its file, without extension
  std::string caption;
  std::string png;  ///< the bytes of the file
  PictureLegend legend = {};

  friend bool operator==(const Picture&, const Picture&) = default;
};

/// A file that a bench makes beside its table.
struct MoreFile {
  std::string name, text;

  friend bool operator==(const MoreFile&, const MoreFile&) = default;
};

/// A table, a figure or both.
struct TableResult {
  std::string name, title;
  bool quick = false;
  bool comparable = true;  ///< the meshes are the paper's
  std::vector<Entry> entries;
  std::vector<std::string> notes;
  std::optional<Plot> plot = {};
  std::vector<Picture> pictures = {};
  std::vector<MoreFile> files = {};
  double seconds = 0;  ///< that the whole bench took; 0: not measured

  /// True when every entry that was run passed its check.
  [[nodiscard]] bool sound() const;
  friend bool operator==(const TableResult&, const TableResult&) = default;
};

/// The chart of a table that has one.
std::optional<Chart> chart_of(const TableResult& table);

/// A number with as many digits as a reader wants; "-" for none.
std::string shown_number(std::optional<double> value);

/// For a terminal.
std::string text_of(const TableResult& table);
std::string csv_of(const TableResult& table);

/// What a quick run of a table leaves out.
enum class QuickRun {
  smaller_meshes,  ///< its meshes are not the paper's, so the paper's numbers are not shown
  fewer_meshes,    ///< the small ones of the paper's own meshes: the paper's numbers hold
  same_meshes      ///< nothing
};

/// Collects what one bench finds and hands it over.
class Report {
 public:
  Report(std::string name, std::string title, const BenchOptions& options, QuickRun run = QuickRun::smaller_meshes);

  /// True when the meshes are the paper's. Otherwise `add` drops the paper's numbers.
  [[nodiscard]] bool comparable() const { return result_.comparable; }
  /// An entry that failed has no number. Also shows that the work goes on, and throws Cancelled when it should not.
  void add(Entry entry);
  void note(std::string text);
  /// A note that makes sense beside the paper's numbers only.
  void note_on_paper(std::string text);
  /// The table is also drawn; entries lie at the last `at` before them.
  void plot(Plot plot) { result_.plot = std::move(plot); }
  /// The entries that follow lie at this x, in the series of this name (empty: of their column).
  void at(double x, std::string series = {}) { place_ = {std::move(series), x}; }
  /// Those that follow are not in the chart.
  void off_chart() { place_.reset(); }
  void picture(Picture picture) { result_.pictures.push_back(std::move(picture)); }
  void attach(std::string name, std::string text) { result_.files.push_back({std::move(name), std::move(text)}); }
  [[nodiscard]] const TableResult& result() const { return result_; }
  /// Hands the result to `options.take`. True when every entry that was run passed its check.
  [[nodiscard]] bool finish(const BenchOptions& options) const;

 private:
  TableResult result_;
  Progress progress_;
  std::optional<EntryPoint> place_;
};

/// The remark of an entry whose result failed its check: it has no time.
inline const Remark failed_check{"residual check FAILED: no number", true};
/// The remark of an entry whose run ended with an error, or with a wrong result.
inline Remark failed_run(const std::string& why) { return {"run FAILED: " + why, true}; }

}  // namespace isochron::bench
