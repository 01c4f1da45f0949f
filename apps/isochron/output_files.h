// Several output files that appear all or not at all.
#pragma once

#include <filesystem>
#include <memory>
#include <system_error>
#include <vector>

#include "apps/isochron/mesh_input.h"
#include "isochron/io/bytes.h"
#include "isochron/io/file.h"
#include "isochron/io/io.h"

namespace isochron::cli {

/// Files are written beside their targets; `commit` renames them all. Without it, or where it fails, none appears.
class OutputFiles {
 public:
  /// Where to write the file of this name first. The place has the name's extension.
  OutputFile add(const std::filesystem::path& target) {
    files_.push_back(std::make_unique<AtomicFile>(target));
    targets_.push_back(target);
    return {target, files_.back()->path()};
  }
  void commit() {
    std::size_t done = 0;
    try {
      for (; done < files_.size(); ++done) files_[done]->commit();
    } catch (...) {
      std::error_code ignored;
      while (done > 0) std::filesystem::remove(targets_[--done], ignored);
      throw;
    }
  }
  [[nodiscard]] const std::vector<std::filesystem::path>& targets() const { return targets_; }

 private:
  std::vector<std::unique_ptr<AtomicFile>> files_;
  std::vector<std::filesystem::path> targets_;
};

/// Before any work: throws when one of them exists and may not be replaced, or cannot be written, or is an input.
inline void check_output_files(const Paths& outputs, const Paths& inputs, Overwrite overwrite) {
  for (const auto& output : outputs) {
    check_output_file(output, overwrite);
    check_not_among(output, inputs, "is an input too (it would be replaced)");
  }
}

}  // namespace isochron::cli
