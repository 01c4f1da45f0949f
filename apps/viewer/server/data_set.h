// A file that is open in the viewer: what it holds, and the thread that answers for it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/viewer/server/jobs.h"
#include "apps/viewer/server/scene.h"
#include "apps/viewer/server/scenes.h"
#include "isochron/dataset.h"
#include "isochron/image.h"
#include "isochron/io.h"

namespace isochron::viewer {

struct OpenOptions {
  ComputeOptions compute{};
  std::uintmax_t max_bytes = 8'000'000'000;   ///< of a file, once it is unpacked
  ImagePlace place{};                         ///< of images whose files do not say it
  std::optional<TensorOrder> tensor_order{};  ///< of images with tensors; else what the file says
  TensorFrame tensor_frame = TensorFrame::world;
  std::filesystem::path mask{};  ///< where tensors count; else wherever there is one
  std::string mask_array{};      ///< of a mask that has several
};

/// What has become of a file since it was read.
enum class FileState {
  as_read,
  written,    ///< it has other contents, or a later date
  deleted,    ///< it, or one of those that were read with it
  unreadable  ///< it is there, but cannot be read
};
/// "as read", "written", "deleted", "unreadable".
std::string_view name_of(FileState state);

/// How files look from outside; another look says that they were changed.
struct FileLook {
  FileState trouble = FileState::as_read;  ///< deleted or unreadable: then the rest is not known
  struct One {
    std::uintmax_t size = 0, node = 0;
    std::int64_t seconds = 0, nanoseconds = 0;  ///< when it was last written
    friend bool operator==(const One&, const One&) = default;
  };
  std::vector<One> files{};
  friend bool operator==(const FileLook&, const FileLook&) = default;
};

class DataSet {
 public:
  /// Reads the file. Throws InputError that begins with its path: missing, too large (known before there is memory for
  /// it, compressed or not), no mesh and no image, damaged.
  DataSet(std::filesystem::path path, const OpenOptions& options);
  /// Ends the work that is done for it.
  ~DataSet();
  DataSet(const DataSet&) = delete;
  DataSet& operator=(const DataSet&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Its entry in /api/state, without the id.
  [[nodiscard]] Json describe() const;
  /// The answer to a question that need not wait; none where it has to.
  std::optional<Reply> answer_at_once(const Call& call);
  /// Waits for its turn, then answers. Throws what the scene throws, Superseded and TooBusy.
  Reply answer(const Call& call, const Notify& notify);
  /// Stops what is done for the client, and forgets it, as long as `gone` says that it has not come back.
  void leave(const std::string& client, const std::function<bool()>& gone);
  /// Stops all work.
  void stop() { jobs_.stop(); }
  /// How the question of that name is asked; none where there is no such question.
  [[nodiscard]] std::optional<Asked> asked(std::string_view name) const;
  /// All that can be asked, by the scene or for all data sets alike.
  [[nodiscard]] std::vector<Question> questions() const;
  /// What has become of the file, once for each change; none when nothing has happened since the last look.
  std::optional<FileState> look_again();

 private:
  [[nodiscard]] FileState state_of(const FileLook& look) const;

  std::filesystem::path path_;
  std::vector<std::filesystem::path> files_;  ///< the file and those that were read with it
  FileLook read_, seen_;
  std::unique_ptr<Scene> scene_;
  Jobs jobs_;
};

/// "12.3 GB" (of 10⁹ bytes), "1.5 MB", "512 bytes".
std::string size_text(std::uintmax_t bytes);

}  // namespace isochron::viewer
