#include "apps/viewer/server/data_set.h"

#include <algorithm>
#include <cmath>
#include <vector>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <fmt/format.h>

#include "apps/viewer/server/fields.h"
#include "apps/viewer/server/image_scene.h"
#include "apps/viewer/server/mesh_scene.h"
#include "isochron/core/error.h"
#include "isochron/io/file_bytes.h"
#include "isochron/io/image_io.h"
#include "isochron/io/io.h"

namespace isochron::viewer {
namespace {

namespace fs = std::filesystem;

/// The file and those that are read with it (formats of several files).
std::vector<fs::path> files_of(const fs::path& path) {
  std::vector<fs::path> files{path};
  try {
    for (fs::path& file : files_written(path))
      if (std::error_code error; file != path && fs::is_regular_file(file, error)) files.push_back(std::move(file));
  } catch (const UsageError&) {
    // A format that is only read: one file.
  }
  return files;
}

/// All zero when a file cannot be looked at: it is being replaced, or gone.
FileLook look_at(const fs::path& path) {
  FileLook look;
  for (const fs::path& file : files_of(path)) {
    std::error_code error;
    look.size += fs::file_size(file, error);
    if (!error) look.written = std::max(look.written, fs::last_write_time(file, error));
    if (error) return {};
  }
  return look;
}

FileLook check_size(const fs::path& path, std::uintmax_t most) {
  require_file(path);
  const FileLook look = look_at(path);
  if (look.size > most)
    throw InputError(
        fmt::format("{}: has {} (the viewer opens files up to {}); give a smaller file, or raise the limit "
                    "with --max-size",
                    path.string(), size_text(look.size), size_text(most)));
  return look;
}

std::unique_ptr<Scene> open_scene(const fs::path& path, const OpenOptions& options) {
  if (is_image_file(path) && !is_mesh_file(path)) return open_image_scene(path, options);
  return make_mesh_scene(read_dataset(path), path, options.threads);
}

/// The allocator keeps for later what was freed: hundreds of megabytes after a large surface.
void return_free_memory() {
#if defined(__GLIBC__)
  ::malloc_trim(0);
#endif
}

/// Not one that a client can have.
constexpr const char* server_itself = "\n";

/// Requests of one client that replace one another: the same question about the same thing.
JobKey key_of(const Call& call) {
  JobKey key{client_field(call.body), call.name};
  key.channel += '\n' + short_text_field(call.body, "slot", 64) + '\n' + short_text_field(call.body, "name", 200);
  if (find_field(call.body, "seq") != nullptr) {
    const double sequence = number_field(call.body, "seq");
    if (!(std::abs(sequence) < 9e15)) throw InputError("'seq' is too large; count from 0");
    key.sequence = static_cast<std::int64_t>(sequence);
  }
  return key;
}

}  // namespace

std::string size_text(std::uintmax_t bytes) {
  constexpr double unit = 1 << 30;
  const auto size = static_cast<double>(bytes);
  if (size >= 0.1 * unit) return fmt::format("{:.1f} GB", size / unit);
  if (size >= 1 << 20) return fmt::format("{:.1f} MB", size / (1 << 20));
  return fmt::format("{} bytes", bytes);
}

DataSet::DataSet(fs::path path, const OpenOptions& options)
    : path_(std::move(path)),
      read_(check_size(path_, options.most_bytes)),
      seen_(read_),
      scene_(open_scene(path_, options)) {}

DataSet::~DataSet() = default;

Json DataSet::describe() const {
  Json entry{{"name", path_.filename().string()}};
  entry.update(scene_->describe());
  entry["changed"] = look_at(path_) != read_;
  return entry;
}

std::optional<Reply> DataSet::answer_at_once(const Call& call) {
  if (call.name != "cancel") return scene_->glance(call);
  const std::string client = client_field(call.body);
  if (client.empty()) throw InputError("'client' is missing; say whose questions end");
  jobs_.cancel(client);
  return Reply::of(Json::object());
}

Reply DataSet::answer(const Call& call, const Tell& tell) {
  Reply reply;
  jobs_.run(key_of(call), [&](Job& job) { reply = scene_->handle(call, job, tell); });
  return reply;
}

void DataSet::leave(const std::string& client, const std::function<bool()>& gone) {
  if (!gone()) return;
  jobs_.forget(client);
  try {
    jobs_.run({server_itself, "leave"}, [&](Job&) {
      if (gone()) scene_->forget(client);
    });
  } catch (const Error&) {
    // It is closed or busy: then the scene drops what it kept for the client when it needs the room.
  }
  return_free_memory();
}

bool DataSet::look_again() {
  const FileLook now = look_at(path_);
  if (now == seen_ || now == FileLook{}) return false;
  seen_ = now;
  return true;
}

}  // namespace isochron::viewer
