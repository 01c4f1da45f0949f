#include "isochron/io/atomic_file.h"

#include <atomic>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "isochron/core/error.h"
#include "isochron/io/file_name.h"

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

// A name that nobody else uses: the process and a counter in it; short enough however long the target's name is.
std::filesystem::path temporary_beside(const std::filesystem::path& target) {
  static std::atomic<unsigned> counter{0};
  const FileName name(target);
  return folder_of(target) / fmt::format(".{}.{}-{}.partial{}{}", name.base.filename().string().substr(0, 160),
                                         ::getpid(), counter++, name.extension, name.gzip ? ".gz" : "");
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path target, TemporaryName name) : target_(std::move(target)) {
  // Write through a link, also one that leads nowhere yet, and do not replace it. Links in a circle end the search.
  std::error_code error;
  for (int links = 0; links < 40 && std::filesystem::is_symlink(target_, error); ++links) {
    const auto next = std::filesystem::read_symlink(target_, error);
    if (!error) target_ = folder_of(target_) / next;  // an absolute path replaces what stands before it
  }
  temporary_ = temporary_beside(target_);
#if defined(O_TMPFILE)
  if (name == TemporaryName::none)
    descriptor_ = ::open(folder_of(target_).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
#else
  static_cast<void>(name);
#endif
  if (descriptor_ >= 0) nameless_ = fmt::format("/proc/self/fd/{}", descriptor_);
  if (!nameless_.empty() && !std::filesystem::exists(nameless_, error)) nameless_.clear();  // there is no /proc
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (done_) return;
  std::error_code ignored;
  std::filesystem::remove(temporary_, ignored);
}

void AtomicFile::commit() {
  const auto failed = [this](const std::string& why) {
    throw RuntimeError(
        fmt::format("{}: cannot be written ({}); free some space or choose another folder", target_.string(), why));
  };
  if (!nameless_.empty() && ::linkat(AT_FDCWD, nameless_.c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) != 0)
    failed(std::strerror(errno));
  if (const int code = sync_to_disk(temporary_); code != 0) failed(std::strerror(code));
  std::error_code error;
  std::filesystem::rename(temporary_, target_, error);
  if (error) failed(error.message());
  done_ = true;
  sync_to_disk(folder_of(target_));  // the rename itself; the content is safe already
}

}  // namespace isochron
