#include "apps/viewer/server/file_export.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "isochron/core/error.h"
#include "isochron/io/file_bytes.h"
#include "isochron/io/file_name.h"
#include "isochron/io/image_io.h"

namespace isochron::viewer {
namespace {

namespace fs = std::filesystem;

/// A folder of its own that goes with it: the writers of the library write files.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "isochron-view-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
      throw RuntimeError(fmt::format("{}: cannot be made; free or name another folder with TMPDIR", pattern));
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

template <class Write>
Reply written(const std::string& name, const Write& write) {
  const TemporaryFolder folder;
  // Under a name of our own: the one for the client may be too long, or odd.
  const fs::path target = folder.path() / ("file" + name.substr(FileName(name).base.string().size()));
  write(target);
  return {std::string(FileBytes(target).text()), "application/octet-stream", name};
}

}  // namespace

std::vector<std::string> mesh_formats(WrittenCells cells) {
  std::vector<std::string> formats;
  for (const std::string& extension : written_extensions(cells))
    if (files_written("x" + extension).size() == 1) formats.push_back(extension.substr(1));
  return formats;
}

void check_format(const std::string& format, std::span<const std::string> known) {
  if (std::find(known.begin(), known.end(), format) == known.end())
    throw InputError(fmt::format("there is no format '{}'; use one of {}", format, fmt::join(known, ", ")));
}

Reply mesh_file(const Dataset& dataset, const std::string& name) {
  check_holds(name, dataset);  // here, where the message names no folder of ours
  return written(name, [&](const fs::path& target) { write_dataset(target, dataset, Overwrite::no); });
}

Reply image_file(const ImageGrid& grid, DataArray array, const std::string& name) {
  Image image{grid, {}, {}, {}};
  image.data.set(std::move(array));
  return written(name, [&](const fs::path& target) { write_image(target, image, Overwrite::no); });
}

}  // namespace isochron::viewer
