// Names of files, the files that belong together, and output that appears whole or not at all.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace isochron {

/// A path taken apart: "a/heart.Node.gz" is base "a/heart", extension ".node", gzip.
struct FileName {
  std::filesystem::path base;
  std::string extension;  ///< lower case with the dot, without ".gz"; empty when there is none
  bool gzip = false;

  explicit FileName(const std::filesystem::path& path);
  /// Whether such files are compressed when they are written.
  [[nodiscard]] bool compressed() const { return gzip || extension == ".mgz"; }
  /// The extension with ".gz" where that is there.
  [[nodiscard]] std::string full_extension() const { return extension + (gzip ? ".gz" : ""); }
  /// The file of the same base and compression with another extension.
  [[nodiscard]] std::filesystem::path with(std::string_view other_extension) const;
  /// The file of the same folder, extension and compression whose name has a suffix: "m.csv" with "_a" is "m_a.csv".
  [[nodiscard]] std::filesystem::path beside(std::string_view suffix) const;
};

/// The existing file that goes with `path`, compressed or not, its extension in small letters or in capitals.
std::optional<std::filesystem::path> find_companion(const std::filesystem::path& path, std::string_view extension);
/// Like `find_companion`, but throws InputError when there is none.
std::filesystem::path require_companion(const std::filesystem::path& path, std::string_view extension);

/// Throws InputError unless it is an existing, non-empty file that is not a folder.
void require_file(const std::filesystem::path& path);

/// Throws InputError: the file exists, and the caller does not allow that it is replaced.
[[noreturn]] void refuse_replacing(const std::filesystem::path& path);

/// A file to be written: the name the user knows, and the temporary place where it is written first.
struct OutputFile {
  std::filesystem::path target;
  std::filesystem::path where;
};

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
