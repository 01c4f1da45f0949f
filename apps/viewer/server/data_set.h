// A file that is open in the viewer: what it holds, and the thread that answers for it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "apps/viewer/server/jobs.h"
#include "apps/viewer/server/scene.h"
#include "isochron/mesh/tensor_frame.h"
#include "isochron/mesh/tensor_order.h"

namespace isochron::viewer {

struct OpenOptions {
  int threads = 0;  ///< 0: all cores
  std::uintmax_t most_bytes = std::uintmax_t{8} << 30;
  std::optional<TensorOrder> tensor_order{};  ///< of images with tensors; else what the file says
  TensorFrame tensor_frame = TensorFrame::world;
  std::filesystem::path mask{};  ///< where tensors count; else wherever there is one
};

/// How a file looks from outside; another look says that it was changed.
struct FileLook {
  std::uintmax_t size = 0;
  std::filesystem::file_time_type written = std::filesystem::file_time_type::min();
  friend bool operator==(const FileLook&, const FileLook&) = default;
};

class DataSet {
 public:
  /// Reads the file. Throws InputError that begins with its path: missing, too large (known before it is read), no mesh
  /// and no image, damaged.
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
  Reply answer(const Call& call, const Tell& tell);
  /// Stops what is done for the client, and forgets it, as long as `gone` says that it has not come back.
  void leave(const std::string& client, const std::function<bool()>& gone);
  /// Stops all work.
  void stop() { jobs_.stop(); }
  /// Whether the file is no longer as it was read; true once for each change.
  bool look_again();

 private:
  std::filesystem::path path_;
  FileLook read_, seen_;
  std::unique_ptr<Scene> scene_;
  Jobs jobs_;
};

/// "12.3 GB", "512 bytes".
std::string size_text(std::uintmax_t bytes);

}  // namespace isochron::viewer
