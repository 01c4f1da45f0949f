// The benches that `isochron bench` offers, each one table or figure of a paper.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "isochron/progress.h"

namespace isochron {

enum class BenchSize {
  quick,  ///< meshes small enough for a smoke test
  paper   ///< the paper's sizes
};

enum class BenchColumns {
  all,
  gpu  ///< methods of the CPU are left out, to save time on a machine that is rented for its GPU
};

enum class BenchOutput { text, json, none };

struct BenchOptions {
  int threads = 0;  ///< 0: all cores
  BenchSize size = BenchSize::paper;
  BenchColumns columns = BenchColumns::all;
  BenchOutput output = BenchOutput::text;  ///< on stdout
  std::filesystem::path output_folder;     ///< for CSV and JSON files; empty: print only
  std::filesystem::path runs;              ///< measured runs for `scale` to fit; empty: none
  std::string machine;                     ///< costs for `scale` as NAME=SECONDS,…; empty: as assumed
  Progress progress;                       ///< `update` throws Cancelled
};

/// One table or figure. `run` prints it beside the paper's numbers on stdout; false when a
/// result failed its check.
struct PaperBench {
  std::string name;
  std::string what;
  bool (*run)(const BenchOptions& options) = nullptr;
};

/// All benches, in the order of the papers.
const std::vector<PaperBench>& paper_benches();

}  // namespace isochron
