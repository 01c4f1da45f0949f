#include "apps/viewer/server/data_set.h"

#include <cerrno>

#include <sys/stat.h>
#include <unistd.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <fmt/format.h>

#include "apps/viewer/server/scenes.h"
#include "isochron/diffusion.h"
#include "isochron/error.h"
#include "isochron/image.h"
#include "isochron/io.h"
#include "isochron/io/bytes.h"
#include "isochron/io/file.h"

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

FileLook look_at(const std::vector<fs::path>& files) {
  FileLook look;
  for (const fs::path& file : files) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0)
      return {errno == ENOENT || errno == ENOTDIR ? FileState::deleted : FileState::unreadable};
    if (!S_ISREG(status.st_mode) || ::access(file.c_str(), R_OK) != 0) return {FileState::unreadable};
    look.files.push_back({static_cast<std::uintmax_t>(status.st_size), static_cast<std::uintmax_t>(status.st_ino),
                          static_cast<std::int64_t>(status.st_mtim.tv_sec),
                          static_cast<std::int64_t>(status.st_mtim.tv_nsec)});
  }
  return look;
}

[[noreturn]] void refuse_size(const fs::path& path, const std::string& size, std::uintmax_t most) {
  throw InputError(
      fmt::format("{}: {} (the viewer opens files up to {}); give a smaller file, or raise the limit with --max-size",
                  path.string(), size, size_text(most)));
}

/// Before it is read: what is in memory afterwards is of that size at least.
FileLook check_size(const fs::path& path, const std::vector<fs::path>& files, std::uintmax_t most) {
  require_file(path);
  FileLook look = look_at(files);
  std::uintmax_t size = 0;
  for (const FileLook::One& file : look.files) size += file.size;
  if (size > most) refuse_size(path, "has " + size_text(size), most);
  return look;
}

std::string base_of(const fs::path& path) { return FileName(path).base.filename().string(); }

/// NumPy arrays and VTK's images do not say what their lengths are in; those of the other formats are in mm.
std::string units_of(const fs::path& path) {
  const std::string extension = FileName(path).extension;
  return extension == ".npy" || extension == ".vti" ? "" : "mm";
}

std::unique_ptr<Scene> open_tensors(Image image, const fs::path& path, const OpenOptions& options) {
  const std::string name = path.string();
  TensorImage tensors{image.grid, {}, {}, image.warnings, base_of(path), units_of(path)};
  if (!options.mask.empty())
    tensors.mask =
        mask_of(read_image_beside(options.mask, image.grid), image.grid, options.mask.string(), options.mask_array);
  tensors.tensors = image_tensors(std::move(image), options.tensor_order, options.tensor_frame, name);
  try {
    return make_tensor_scene(std::move(tensors), options.compute);
  } catch (const InputError& error) {
    throw InputError(error.detail(), name);
  }
}

std::unique_ptr<Scene> open_volume(Image image, const fs::path& path, const OpenOptions& options) {
  const DataArray& array = image.data.all().front();
  VolumeImage volume{image.grid, std::vector<float>(array.tuple_count()), image.warnings, base_of(path),
                     units_of(path)};
  for (std::size_t v = 0; v < volume.values.size(); ++v) volume.values[v] = static_cast<float>(array.at(v));
  image.data = {};
  return make_surface_scene(std::move(volume), options.compute);
}

/// Diffusion tensors when a voxel has 6, 7 or 9 values, a volume when it has one.
std::unique_ptr<Scene> open_image_scene(const fs::path& path, const OpenOptions& options) {
  const std::string name = path.string();
  Image image = read_image(path);
  if (!says_place(path)) place_image(image.grid, options.place);
  check_grid(image.grid, name);
  if (holds_tensors(image)) return open_tensors(std::move(image), path, options);
  const int components = image.data.empty() ? 0 : image.data.all().front().components;
  if (components == 1) return open_volume(std::move(image), path, options);
  throw InputError(
      fmt::format("{}: has {} values a voxel (the viewer shows 1, or the 6, 7 or 9 of a tensor); {}", name, components,
                  components > 9 ? "fit tensors to diffusion images first with 'isochron tensors'" : "give another"));
}

std::unique_ptr<Scene> open_scene(const fs::path& path, const OpenOptions& options) {
  const UnpackLimit limit(options.max_bytes);
  try {
    if (is_image_file(path) && !is_mesh_file(path)) return open_image_scene(path, options);
    return make_mesh_scene(read_dataset(path), path, options.compute);
  } catch (const UnpackedTooLarge&) {
    refuse_size(path, "unpacks to more", options.max_bytes);
  }
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
  constexpr std::size_t max_length = 200;
  Fields fields = call.fields();
  JobKey key{fields.client(), call.name, fields.sequence()};
  for (const char* part : {"slot", "name"}) {
    const std::string text = fields.text(part, "");
    if (text.size() > max_length)
      throw RequestError(fmt::format("'{}' is too long; give at most {} bytes", part, max_length));
    key.channel += '\n' + text;
  }
  return key;
}

}  // namespace

std::string_view name_of(FileState state) {
  constexpr std::string_view names[]{"as read", "written", "deleted", "unreadable"};
  return names[static_cast<std::size_t>(state)];
}

std::string size_text(std::uintmax_t bytes) {
  const auto size = static_cast<double>(bytes);
  if (size >= 1e8) return fmt::format("{:.1f} GB", size / 1e9);
  if (size >= 1e6) return fmt::format("{:.1f} MB", size / 1e6);
  return fmt::format("{} bytes", bytes);
}

DataSet::DataSet(fs::path path, const OpenOptions& options)
    : path_(std::move(path)),
      files_(files_of(path_)),
      read_(check_size(path_, files_, options.max_bytes)),
      seen_(read_),
      scene_(open_scene(path_, options)) {}

DataSet::~DataSet() = default;

Json DataSet::describe() const {
  Json entry{{"name", path_.filename().string()}};
  entry.update(scene_->describe());
  const FileState state = state_of(look_at(files_));
  entry["questions"] = Json::array();
  for (const Question& question : questions())
    if (scene_->can_answer(question.name))
      entry["questions"].push_back(fmt::format("{} {}", question.asked == Asked::get ? "GET" : "POST", question.name));
  entry["changed"] = state != FileState::as_read;
  entry["file"] = name_of(state);
  return entry;
}

std::optional<Asked> DataSet::asked(std::string_view name) const {
  for (const Question& question : questions())
    if (question.name == name) return question.asked;
  return std::nullopt;
}

std::vector<Question> DataSet::questions() const {
  const std::span<const Question> own = scene_->questions();
  std::vector<Question> all(own.begin(), own.end());
  all.push_back({"reload", Asked::post});
  all.push_back({"cancel", Asked::post});
  return all;
}

std::optional<Reply> DataSet::answer_at_once(const Call& call) {
  if (call.name != "cancel") return scene_->glance(call);
  Fields fields = call.fields();
  const std::string client = fields.client();
  fields.done();
  if (client.empty()) throw RequestError("'client' is missing; say whose questions end");
  jobs_.cancel(client);
  return Reply::of(Json::object());
}

Reply DataSet::answer(const Call& call, const Notify& notify) {
  Reply reply;
  jobs_.run(key_of(call), [&](Job& job) { reply = scene_->handle(call, job, notify); });
  return reply;
}

void DataSet::leave(const std::string& client, const std::function<bool()>& gone) {
  if (!gone()) return;
  jobs_.cancel(client);
  try {
    jobs_.run({server_itself, "leave"}, [&](Job&) {
      if (gone()) scene_->forget(client);
    });
  } catch (const Error&) {
    // It is closed or busy: then the scene drops what it kept for the client when it needs the room.
  }
  return_free_memory();
}

FileState DataSet::state_of(const FileLook& look) const {
  if (look == read_) return FileState::as_read;
  return look.trouble == FileState::as_read ? FileState::written : look.trouble;
}

std::optional<FileState> DataSet::look_again() {
  FileLook now = look_at(files_);
  if (now == seen_) return std::nullopt;
  seen_ = std::move(now);
  return state_of(seen_);
}

}  // namespace isochron::viewer
