#include "isochron/io/file.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "isochron/io/text.h"

namespace isochron {
namespace {

// Returns 0 or errno.
int sync_to_disk(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return errno;
  const int result = ::fsync(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  return result == EINVAL ? 0 : result;  // some file systems cannot; they are still right in the usual case
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

int code_of(int result) { return result == 0 ? 0 : errno; }

/// Renames to a name that nobody has, also where two processes do so at once: one of them gets EEXIST. Returns 0 or
/// errno.
int rename_to_new(const std::filesystem::path& from, const std::filesystem::path& to) {
#if defined(RENAME_NOREPLACE)
  const int code = code_of(::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE));
  if (code != EINVAL && code != ENOSYS) return code;
#endif
  if (::link(from.c_str(), to.c_str()) == 0) return code_of(::unlink(from.c_str()));
  if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS) return errno;
  if (::access(to.c_str(), F_OK) == 0) return EEXIST;  // a file system that can do neither: the best there is
  return code_of(::rename(from.c_str(), to.c_str()));
}

/// While it lives, other processes that replace several files in this folder wait: a set comes from one of them. Nobody
/// waits for long, since the folder may be locked by something else.
class FolderLock {
 public:
  FolderLock(const std::filesystem::path& folder, std::size_t files) {
    if (files < 2) return;
    descriptor_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    constexpr int attempts = 100;
    for (int i = 0; i < attempts && ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ~FolderLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_ = -1;
};

// A name that nobody else uses: the process and a counter in it; short enough however long the target's name is.
std::filesystem::path temporary_beside(const std::filesystem::path& target) {
  static std::atomic<unsigned> counter{0};
  const FileName name(target);
  return folder_of(target) / fmt::format(".{}.{}-{}.partial{}{}", name.base.filename().string().substr(0, 160),
                                         ::getpid(), counter++, name.extension, name.gzip ? ".gz" : "");
}

}  // namespace

FileName::FileName(const std::filesystem::path& path) : base(path) {
  if (lower_case(base.extension().string()) == ".gz") {
    gzip = true;
    base.replace_extension();
  }
  extension = lower_case(base.extension().string());
  base.replace_extension();
}

std::filesystem::path FileName::with(std::string_view other_extension) const {
  std::filesystem::path result = base;
  result += other_extension;
  if (gzip) result += ".gz";
  return result;
}

std::filesystem::path FileName::beside(std::string_view suffix) const { return with(std::string(suffix) + extension); }

std::optional<std::filesystem::path> find_companion(const std::filesystem::path& path, std::string_view extension) {
  FileName name(path);
  if (name.extension == extension) return path;
  std::error_code ignored;
  for (int attempt = 0; attempt < 2; ++attempt, name.gzip = !name.gzip)
    for (const std::string& spelling : {std::string(extension), upper_case(extension)}) {
      const std::filesystem::path candidate = name.with(spelling);
      if (std::filesystem::is_regular_file(candidate, ignored)) return candidate;
    }
  return std::nullopt;
}

std::filesystem::path require_companion(const std::filesystem::path& path, std::string_view extension) {
  if (auto found = find_companion(path, extension)) return *found;
  bad_file(path, "the {} file that goes with it is missing ({} was looked for); put it into the same folder", extension,
           FileName(path).with(extension).string());
}

void require_file(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found)
    bad_file(path, "no such file (nothing has this name); check the path");
  if (error) bad_file(path, "cannot be read ({}); check the file and its permissions", error.message());
  if (std::filesystem::is_directory(status)) bad_file(path, "is a folder (a file was expected); name the file in it");
  if (std::filesystem::is_regular_file(status) && std::filesystem::file_size(path, error) == 0)
    bad_file(path, "is empty (0 bytes); copy or export it again");
}

void refuse_special_file(const std::filesystem::path& path, const std::filesystem::path& named_in) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
      !std::filesystem::is_directory(status))
    bad_file(named_in, "it names {}, which is a device or a pipe (its data could go on for ever); name a file",
             path.string());
}

void refuse_replacing(const std::filesystem::path& path) {
  throw InputError("exists already (it would be replaced); allow that (" + Message(Setting{Option::replace}) +
                       ") or choose another name",
                   path.string());
}

bool is_stream(const std::filesystem::path& path) {
  const std::string name = path.lexically_normal().string();
  return name.starts_with("/dev/std") || name.starts_with("/dev/fd/") || name.starts_with("/proc/");
}

std::filesystem::path follow_links(const std::filesystem::path& path) {
  constexpr int most_links = 40;  // as Linux
  std::filesystem::path file = path;
  std::error_code error;
  for (int links = 0; !is_stream(file) && std::filesystem::is_symlink(file, error); ++links) {
    if (links == most_links) bad_file(path, "is a link that leads to itself (links in a circle); choose another name");
    const auto next = std::filesystem::read_symlink(file, error);
    if (error) break;
    file = folder_of(file) / next;  // an absolute path replaces what stands before it
  }
  return file;
}

std::optional<FileIdentity> identity_of(const std::filesystem::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return FileIdentity{found.st_ino, found.st_mtim.tv_sec, found.st_mtim.tv_nsec};
}

AtomicFile::AtomicFile(std::filesystem::path target, Overwrite overwrite, TemporaryName name)
    : target_(std::move(target)),
      file_(follow_links(target_)),
      overwrite_(overwrite),
      temporary_(temporary_beside(file_)) {
#if defined(O_TMPFILE)
  if (name == TemporaryName::none)
    descriptor_ = ::open(folder_of(file_).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
#else
  static_cast<void>(name);
#endif
  std::error_code error;
  if (descriptor_ >= 0) nameless_ = fmt::format("/proc/self/fd/{}", descriptor_);
  if (!nameless_.empty() && !std::filesystem::exists(nameless_, error)) nameless_.clear();  // there is no /proc
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  std::error_code ignored;
  if (!old_.empty()) std::filesystem::remove(old_, ignored);
  if (!done_) std::filesystem::remove(temporary_, ignored);
}

void AtomicFile::fail(int code) const {
  std::error_code ignored;
  if (std::filesystem::is_directory(file_, ignored)) code = EISDIR;
  if (code == EEXIST && overwrite_ == Overwrite::no) refuse_replacing(target_);
  throw RuntimeError(
      fmt::format("cannot be written ({}); free some space or choose another folder", std::strerror(code)),
      target_.string());
}

void AtomicFile::flush() {
  if (!nameless_.empty() && ::linkat(AT_FDCWD, nameless_.c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) != 0)
    fail(errno);
  if (const int code = sync_to_disk(temporary_); code != 0) fail(code);
}

void AtomicFile::rename() {
  const int code = overwrite_ == Overwrite::yes ? code_of(::rename(temporary_.c_str(), file_.c_str()))
                                                : rename_to_new(temporary_, file_);
  if (code != 0) fail(code);
  done_ = true;
}

void AtomicFile::flush_folder() const {
  try {
    sync_to_disk(folder_of(file_));
  } catch (const std::bad_alloc&) {  // the file is there, and that is said
  }
}

void AtomicFile::commit() {
  flush();
  rename();
  flush_folder();  // the rename itself; the content is safe already
}

std::filesystem::path AtomicFile::old_name(const std::filesystem::path& temporary) {
  std::filesystem::path result = temporary;
  return result += ".old";
}

void AtomicFile::keep_old(OldFile old) {
  std::error_code error;
  if (overwrite_ == Overwrite::no || !std::filesystem::is_regular_file(file_, error)) return;
  old_ = old_name(temporary_);
  if (old == OldFile::in_place && ::link(file_.c_str(), old_.c_str()) == 0) return;
  if (const int code = code_of(::rename(file_.c_str(), old_.c_str())); code != 0) {
    old_.clear();
    fail(code);
  }
}

void AtomicFile::restore() {
  std::error_code ignored;
  if (!old_.empty()) std::filesystem::rename(old_, file_, ignored);
  else if (done_) std::filesystem::remove(file_, ignored);
}

OutputFile OutputFiles::add(const std::filesystem::path& target) {
  files_.push_back(std::make_unique<AtomicFile>(target, overwrite_, TemporaryName::none));
  targets_.push_back(target);
  return {target, files_.back()->path()};
}

void OutputFiles::commit() {
  if (files_.empty()) return;
  std::vector<AtomicFile*> written;
  std::vector<AtomicFile*> left_out;
  std::error_code ignored;
  const auto has_content = [&](const AtomicFile& file) {
    const auto bytes = std::filesystem::file_size(file.path(), ignored);
    return !ignored && bytes > 0;
  };
  for (const auto& file : files_) (files_.size() == 1 || has_content(*file) ? written : left_out).push_back(file.get());
  for (AtomicFile* file : written) file->flush();
  const FolderLock one_at_a_time(folder_of(files_.front()->file_), files_.size());
  try {
    if (files_.size() > 1)
      for (const auto& file : files_) file->keep_old();
    for (AtomicFile* file : written) file->rename();
    for (const AtomicFile* file : left_out)
      if (!file->old_.empty()) std::filesystem::remove(file->file_, ignored);
  } catch (...) {
    for (const auto& file : files_) file->restore();
    throw;
  }
  for (const AtomicFile* file : written) file->flush_folder();
  files_.clear();  // and with them the second names of old files
}

}  // namespace isochron
