// Output that appears whole or not at all.
#pragma once

#include <filesystem>

namespace isochron {

/// What a file is called before it is whole.
enum class TemporaryName {
  beside,  ///< a hidden name beside the target, with its extension, for writers that look at it
  none     ///< none where the file system can (else as `beside`): nothing is left of it when the process is killed
};

/// A temporary path, and a target beside it. `commit` renames it over the target; without it the destructor removes it.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path target, TemporaryName name = TemporaryName::beside);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return nameless_.empty() ? temporary_ : nameless_; }
  /// Flushes to disk and renames. Throws RuntimeError.
  void commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path temporary_;
  std::filesystem::path nameless_;  ///< how a file without a name is opened
  int descriptor_ = -1;             ///< that keeps it
  bool done_ = false;
};

}  // namespace isochron
