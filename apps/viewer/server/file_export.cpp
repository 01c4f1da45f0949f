#include "apps/viewer/server/file_export.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/viewer/server/fields.h"
#include "apps/viewer/server/temporary_folder.h"
#include "isochron/core/error.h"
#include "isochron/io/file.h"
#include "isochron/io/image_io.h"

namespace isochron::viewer {
namespace {

namespace fs = std::filesystem;

/// As they are on disk: a compressed file stays one.
std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file || bytes.empty())
    throw RuntimeError(fmt::format("{}: cannot be read back; free or name another folder with TMPDIR", path.string()));
  return bytes;
}

template <class Write>
Reply written(const std::string& name, const Write& write) {
  const TemporaryFolder folder;
  // Under a name of our own: the one for the client may be too long, or odd.
  const fs::path target = folder.path() / ("file" + name.substr(FileName(name).base.string().size()));
  write(target);
  return {bytes_of(target), "application/octet-stream", name};
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
    throw RequestError(fmt::format("there is no format '{}'; use one of {}", format, fmt::join(known, ", ")));
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
