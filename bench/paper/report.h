// Tables that print themselves beside the paper's numbers and write CSV and JSON.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/paper/registry.h"

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

/// One number of a table: what the paper has, what we measured, and a remark ("unordered", "residual failed").
struct Entry {
  std::string row;
  std::string column;
  std::optional<double> paper;
  std::optional<double> ours;  ///< absent when the result did not pass its check, or was not run
  std::string unit;
  Remark remark;
};

/// What a quick run of a table leaves out.
enum class QuickRun {
  smaller_meshes,  ///< its meshes are not the paper's, so the paper's numbers are not shown
  fewer_meshes     ///< the small ones of the paper's own meshes: the paper's numbers hold
};

/// Collects the entries of one table. `print` shows them; `write` puts NAME.csv and NAME.json into the output folder.
class Report {
 public:
  Report(std::string name, std::string title, const BenchOptions& options, QuickRun run = QuickRun::smaller_meshes);

  /// True when the meshes are the paper's. Otherwise `add` drops the paper's numbers.
  [[nodiscard]] bool comparable() const { return !quick_ || run_ == QuickRun::fewer_meshes; }
  void add(Entry entry);
  void note(std::string text);
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  /// A note that makes sense beside the paper's numbers only.
  void note_on_paper(std::string text);
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  /// True when every entry that was run passed its check.
  [[nodiscard]] bool sound() const;
  void print() const;
  [[nodiscard]] std::string json() const;
  void write(const BenchOptions& options) const;
  /// Prints, writes and gives `sound`.
  [[nodiscard]] bool finish(const BenchOptions& options) const;

 private:
  std::string name_, title_;
  bool quick_;
  QuickRun run_;
  std::vector<Entry> entries_;
  std::vector<std::string> notes_;
};

/// Puts a file into the output folder; nothing when there is none. Throws RuntimeError.
void save(const BenchOptions& options, const std::string& name, const std::string& text);

/// The remark of an entry whose result failed its check: it has no time.
inline const Remark failed_check{"residual check FAILED: no number", true};
/// The remark of an entry whose run ended with an error, or with a wrong result.
inline Remark failed_run(const std::string& why) { return {"run FAILED: " + why, true}; }

}  // namespace isochron::bench
