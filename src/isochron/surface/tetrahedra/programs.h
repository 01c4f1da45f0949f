// Other programs, run for a piece of work, and a folder for the files that pass between them and us.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "isochron/progress.h"
#include "isochron/surface/tetrahedra/exchange.h"
#include "isochron/tetrahedra.h"

namespace isochron {

/// A new folder in the system's place for temporary files (TMPDIR), gone with all that is in it when the object is.
/// Throws RuntimeError when there is no room for one.
class WorkFolder {
 public:
  WorkFolder();
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Where a program is: `named` if that is not empty, beside the running program, or on PATH; empty when it is nowhere.
std::filesystem::path find_program(const std::string& name, const std::filesystem::path& named = {});

/// Runs a program in `folder` until it ends; what it prints goes to the file `log` there. It does not outlive this
/// process. `time_limit` in seconds, 0 for none. Throws Cancelled, and RuntimeError when it cannot be started, crashes,
/// takes too long or ends with another code than 0; that message names the program and its last line.
void run_program(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                 const std::filesystem::path& folder, const Progress& progress, double time_limit = 0);

// ---- The programs that fill surfaces, each with its files.

/// Runs the program on a surface that is closed and oriented outward and gives what it answered: tetrahedra of either
/// orientation, over points of which the first may or may not be the surface's. Throws RuntimeError, Cancelled.
TetAnswer ask_program(const TriangleMesh& surface, const TetOptions& options, const Progress& progress);

}  // namespace isochron
