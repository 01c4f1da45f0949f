// Tables that print themselves beside the paper's numbers and write CSV and JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/paper/registry.h"

namespace isochron::bench {

/// One number of a table: what the paper has, what we measured, and a remark ("unordered", "residual failed").
struct Entry {
  std::string row;
  std::string column;
  std::optional<double> paper;
  std::optional<double> ours;  ///< absent when the result did not pass its check, or was not run
  std::string unit;
  std::string remark;
};

/// Collects the entries of one table. `print` shows them; `write` puts NAME.csv and NAME.json into the output folder.
class Report {
 public:
  Report(std::string name, std::string title) : name_(std::move(name)), title_(std::move(title)) {}

  void add(Entry entry) { entries_.push_back(std::move(entry)); }
  void note(std::string text) { notes_.push_back(std::move(text)); }
  /// True when every entry that was run passed its check.
  [[nodiscard]] bool sound() const;
  void print() const;
  [[nodiscard]] std::string json() const;
  void write(const BenchOptions& options) const;
  /// Prints, writes and gives the exit code: 0, or 4 when a result failed its check.
  [[nodiscard]] int finish(const BenchOptions& options) const;

 private:
  std::string name_, title_;
  std::vector<Entry> entries_;
  std::vector<std::string> notes_;
};

/// The remark of an entry whose result failed its check: it has no time.
inline constexpr const char* failed_check = "residual check FAILED: no number";

}  // namespace isochron::bench
