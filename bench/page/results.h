// Tables as JSON, and the runs of several machines in one file.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "bench/paper/report.h"

namespace isochron::bench {

/// Where a run took place.
struct Computer {
  std::string label;  ///< what people call it
  std::string cpu;
  int threads = 0;  ///< that the run could use
  std::string gpu;  ///< empty: none
  std::string version;

  friend bool operator==(const Computer&, const Computer&) = default;
};

/// This one. Without a label it is called after its CPU, threads and GPU.
Computer this_computer(std::string label, int threads, std::string version);

/// The tables that one machine has run.
struct MachineRun {
  Computer computer;
  std::vector<TableResult> tables;
  bool unfinished = false;  ///< it was interrupted, or goes on

  friend bool operator==(const MachineRun&, const MachineRun&) = default;
};

/// A table as an object of `name`, `title`, `quick`, `comparable`, `seconds`, `entries` and `notes`, and where they
/// are there `plot`, `pictures` and `files`.
std::string json_of(const TableResult& table);

/// The content of papers.json.
std::string json_of(const std::vector<MachineRun>& runs);

/// The runs in a papers.json. Throws InputError about a file that is none.
std::vector<MachineRun> read_machine_runs(const std::filesystem::path& path);

/// Bytes as base64 text.
std::string to_base64(std::string_view bytes);

/// Finished runs of one computer, with meshes of the same size, that have no table in common become one: they are parts
/// of a run.
void join_parts(std::vector<MachineRun>& runs);

/// Runs of the same label are told apart by numbers: "desk", "desk (2)".
void number_labels(std::vector<MachineRun>& runs);

}  // namespace isochron::bench
