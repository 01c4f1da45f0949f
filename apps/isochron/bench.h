// What the subcommand bench is asked for, and the run over all papers.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/isochron/console.h"
#include "apps/isochron/values.h"
#include "bench/paper/report.h"
#include "isochron/io.h"

namespace isochron::cli {

struct BenchRequest {
  std::string name;
  bool list = false;
  bool quick = false;
  bool gpu_only = false;
  std::filesystem::path output_folder;
  std::filesystem::path runs;
  std::string machine;
  std::filesystem::path particles;
  std::string only;     ///< of `papers`: names, or their beginnings
  Paths with;           ///< of `papers`: runs of other machines
  bool no_run = false;  ///< of `papers`: only those
  std::string label;    ///< of `papers`: of this machine

  [[nodiscard]] bool papers() const { return name == "papers"; }
};

/// The options of every bench that the request and the command line give.
BenchOptions bench_options(const BenchRequest& request, const Console& console);

/// Puts files of these names and texts into a folder, which is made where it is not there. All appear or none; old
/// ones are replaced.
void write_files(const std::filesystem::path& folder, const std::vector<bench::MoreFile>& files);

/// Runs the benches of the papers and writes papers.html and papers.json. Gives the exit code.
int run_papers(const BenchRequest& request, Console& console);

}  // namespace isochron::cli
