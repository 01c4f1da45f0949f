// A place for files that are needed for a while.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "isochron/error.h"

namespace isochron::viewer {

/// A folder that only its owner may enter, and that goes with all that is in it when the object does.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "isochron-view-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
      throw RuntimeError(fmt::format("{}: cannot be made; free or name another folder with TMPDIR", pattern));
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace isochron::viewer
