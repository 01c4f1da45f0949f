// Names of files, the files that belong together, and output that appears whole or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isochron/io.h"

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

/// Throws InputError where a file that another one names is there and is a device or a pipe: those may never end.
void refuse_special_file(const std::filesystem::path& path, const std::filesystem::path& named_in);

/// The file that is written under this name: links are followed, also to a file that is not there yet. The names of
/// streams (`is_stream`) are left as they are. Throws InputError for links in a circle.
std::filesystem::path follow_links(const std::filesystem::path& path);

/// Names of open files (/dev/stdout): one may stand for a file that the shell writes to, and renaming another over it
/// would lose that.
bool is_stream(const std::filesystem::path& path);

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

/// Tells a file from another one that gets its name: the same before and after it is renamed, on all machines.
struct FileIdentity {
  std::uint64_t number = 0;
  std::int64_t seconds = 0, nanoseconds = 0;  ///< when it was written last

  bool operator==(const FileIdentity&) const = default;
};
/// None when there is no such file.
std::optional<FileIdentity> identity_of(const std::filesystem::path& path);

/// Where an old file stays while another one is to replace it.
enum class OldFile {
  in_place,  ///< it has a second name; only that one where the file system has no second names
  aside      ///< it has only another name
};

/// A temporary path, and a target beside it. `commit` renames it to the target; without it the destructor removes it.
/// A target that is a link stays one: the file it leads to is written.
class AtomicFile {
 public:
  AtomicFile(std::filesystem::path target, Overwrite overwrite, TemporaryName name = TemporaryName::beside);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return nameless_.empty() ? temporary_ : nameless_; }
  /// Flushes to disk and renames. Throws InputError when the target exists and may not be replaced, even if another
  /// process made it a moment ago, and RuntimeError.
  void commit();

  /// Gives the file that is to be replaced the name `old_name`, until it is put back or this object goes. Throws
  /// RuntimeError.
  void keep_old(OldFile old = OldFile::in_place);
  static std::filesystem::path old_name(const std::filesystem::path& temporary);
  /// Undoes `commit` and `keep_old`.
  void restore();

 private:
  friend class OutputFiles;
  /// The steps of `commit`; all but the second flush.
  void flush();
  void rename();
  void flush_folder() const;
  [[noreturn]] void fail(int code) const;

  std::filesystem::path target_;  ///< as the user knows it
  std::filesystem::path file_;    ///< where its links lead
  Overwrite overwrite_;
  std::filesystem::path temporary_;
  std::filesystem::path nameless_;  ///< how a file without a name is opened
  std::filesystem::path old_;       ///< the second name of the file that is replaced
  int descriptor_ = -1;             ///< that keeps it
  bool done_ = false;
};

/// Several files that appear together. Without `commit` none appears; where it fails, all is as it was before.
class OutputFiles {
 public:
  explicit OutputFiles(Overwrite overwrite) : overwrite_(overwrite) {}
  /// Where to write the file of this name first: without a name where that can be (`TemporaryName::none`).
  OutputFile add(const std::filesystem::path& target);
  /// Renames all. Of several, one that nothing was written to is no longer part of the set: an old one is removed.
  /// Throws as `AtomicFile::commit`.
  void commit();
  [[nodiscard]] const std::vector<std::filesystem::path>& targets() const { return targets_; }

 private:
  Overwrite overwrite_;
  std::vector<std::unique_ptr<AtomicFile>> files_;
  std::vector<std::filesystem::path> targets_;
};

}  // namespace isochron
