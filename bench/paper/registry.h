// The benches that `isochron bench` offers, each one table or figure of a paper.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "isochron/progress.h"

namespace isochron {

namespace bench {
struct TableResult;
}

enum class BenchSize {
  quick,  ///< meshes small enough for a smoke test
  paper   ///< the paper's sizes
};

enum class BenchColumns {
  all,
  gpu  ///< methods of the CPU are left out, to save time on a machine that is rented for its GPU
};

struct BenchOptions {
  int threads = 0;  ///< 0: all cores
  BenchSize size = BenchSize::paper;
  BenchColumns columns = BenchColumns::all;
  std::filesystem::path runs;       ///< measured runs for `scale` to fit; empty: none
  std::filesystem::path particles;  ///< for `002-table-1`: a folder of particles that a GPU placed; empty: none
  std::string machine;              ///< costs for `scale` as NAME=SECONDS,…; empty: as assumed
  Progress progress;                ///< `update` throws Cancelled; fractions say nothing but that the work goes on
  /// Receives each table that a bench finishes; over ranks on the first one alone.
  std::function<void(const bench::TableResult&)> take = {};
};

/// One table or figure. `run` hands it to `options.take` beside the paper's numbers; false when a result failed its
/// check.
struct PaperBench {
  std::string name;
  std::string what;
  bool (*run)(const BenchOptions& options) = nullptr;
  std::string paper = {};  ///< whose it is, where its name does not begin with the paper's number

  /// "000" to "004"; empty for our own.
  [[nodiscard]] std::string_view paper_number() const;
  /// Whether something of it runs on a GPU.
  [[nodiscard]] bool has_gpu_columns() const;
};

/// All benches, in the order of the papers.
const std::vector<PaperBench>& paper_benches();

}  // namespace isochron
