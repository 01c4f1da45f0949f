#include "isochron/io/file.h"

#include <atomic>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
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

void refuse_replacing(const std::filesystem::path& path) {
  throw InputError("exists already (it would be replaced); allow that (" + Message(Setting{Option::replace}) +
                       ") or choose another name",
                   path.string());
}

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
    throw RuntimeError("cannot be written (" + why + "); free some space or choose another folder", target_.string());
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
