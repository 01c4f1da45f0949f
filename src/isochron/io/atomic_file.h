// Output that appears whole or not at all.
#pragma once

#include <filesystem>

namespace isochron {

/// A temporary path beside `target`. `commit` renames it over the target; without it the destructor removes it. The
/// temporary keeps the target's extension, for writers that look at it.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path target);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return temporary_; }
  /// Flushes to disk and renames. Throws RuntimeError.
  void commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path temporary_;
  bool done_ = false;
};

}  // namespace isochron
