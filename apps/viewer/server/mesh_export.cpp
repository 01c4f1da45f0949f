#include "apps/viewer/server/mesh_export.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "isochron/core/error.h"
#include "isochron/io/file_bytes.h"
#include "isochron/io/file_name.h"
#include "isochron/io/io.h"
#include "isochron/io/npy_file.h"

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

std::string as_csv(const Dataset& file, const std::vector<double>& times) {
  std::string text = "id,x,y,z,arrival_time\n";
  for (std::size_t i = 0; i < times.size(); ++i) {
    const Vec3d& p = file.points[i];
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{}\n", i, p.x, p.y, p.z, times[i]);
  }
  return text;
}

std::string as_npy(const std::vector<double>& times) {
  const std::size_t count = times.size();
  std::string bytes = npy_header("f8", NpyOrder::rows_first, std::span(&count, 1));
  bytes.append(reinterpret_cast<const char*>(times.data()), count * sizeof(double));  // NOLINT: bytes of numbers
  return bytes;
}

std::string as_mesh(Dataset& file, const std::vector<double>& times, const fs::path& name) {
  const TemporaryFolder folder;
  const fs::path target = folder.path() / name;
  if (files_written(target).size() != 1)
    throw InputError(fmt::format("'{}' is a format of several files; choose vtu, vtp, vtk, ply or msh", name.string()));
  const DataArrays before = file.point_data;
  file.point_data.set({"arrival_time", 1, times});
  try {
    write_dataset(target, file, Overwrite::no);
  } catch (...) {
    file.point_data = before;
    throw;
  }
  file.point_data = before;
  return std::string(FileBytes(target).text());
}

}  // namespace

Reply export_times(Dataset& file, const std::vector<double>& times, const fs::path& path, const std::string& format) {
  constexpr std::array known{"vtu", "vtp", "vtk", "ply", "msh", "csv", "npy"};
  if (std::find(known.begin(), known.end(), format) == known.end())
    throw InputError(fmt::format("there is no format '{}'; use one of {}", format, fmt::join(known, ", ")));
  const std::string name = fmt::format("{}-times.{}", FileName(path).base.filename().string(), format);
  const char* bytes = "application/octet-stream";
  if (format == "csv") return {as_csv(file, times), "text/csv", name};
  if (format == "npy") return {as_npy(times), bytes, name};
  return {as_mesh(file, times, name), bytes, name};
}

}  // namespace isochron::viewer
