#include "apps/viewer/server/mesh_export.h"

#include <iterator>

#include <fmt/format.h>

#include "apps/viewer/server/file_export.h"
#include "isochron/io/file_name.h"
#include "isochron/io/npy_file.h"

namespace isochron::viewer {
namespace {

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

Reply as_mesh(Dataset& file, const std::vector<double>& times, const std::string& name) {
  const DataArrays before = file.point_data;
  file.point_data.set({"arrival_time", 1, times});
  try {
    Reply reply = mesh_file(file, name);
    file.point_data = before;
    return reply;
  } catch (...) {
    file.point_data = before;
    throw;
  }
}

}  // namespace

Reply export_times(Dataset& file, const std::vector<double>& times, const std::filesystem::path& path,
                   const std::string& format) {
  static const std::vector<std::string> known{"vtu", "vtp", "vtk", "ply", "msh", "csv", "npy"};
  check_format(format, known);
  const std::string name = fmt::format("{}-times.{}", FileName(path).base.filename().string(), format);
  if (format == "csv") return {as_csv(file, times), "text/csv", name};
  if (format == "npy") return {as_npy(times), "application/octet-stream", name};
  return as_mesh(file, times, name);
}

}  // namespace isochron::viewer
