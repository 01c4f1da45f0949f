#include "apps/viewer/server/mesh_export.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/viewer/server/file_export.h"
#include "isochron/core/error.h"
#include "isochron/io/file_name.h"
#include "isochron/io/io.h"
#include "isochron/io/npy_file.h"

namespace isochron::viewer {
namespace {

/// Formats of the mesh with its times, and of the times alone.
const std::vector<std::string> mesh_files{"vtu", "vtp", "vtk", "ply", "msh"};
const std::vector<std::string> number_files{"csv", "npy"};

std::string as_csv(const Dataset& file, const std::vector<double>& times) {
  std::string text = "id,x,y,z,arrival_time\n";
  for (std::size_t i = 0; i < times.size(); ++i) {
    const Vec3d& p = file.points[i];
    text += fmt::format("{},{},{},{},{}\n", i, p.x, p.y, p.z, times[i]);
  }
  return text;
}

std::string as_npy(const std::vector<double>& times) {
  const std::size_t count = times.size();
  std::string bytes = npy_header("f8", NpyOrder::rows_first, std::span(&count, 1));
  bytes.append(reinterpret_cast<const char*>(times.data()), count * sizeof(double));  // NOLINT: bytes of numbers
  return bytes;
}

bool holds_cells(const std::string& format, const Dataset& file) {
  try {
    check_holds("x." + format, file);
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

/// Throws InputError that lists the formats that can hold the cells when this one cannot.
void check_cells(const std::string& format, const Dataset& file) {
  if (holds_cells(format, file)) return;
  std::vector<std::string> able;
  std::copy_if(mesh_files.begin(), mesh_files.end(), std::back_inserter(able),
               [&](const std::string& one) { return holds_cells(one, file); });
  able.insert(able.end(), number_files.begin(), number_files.end());
  throw InputError(
      fmt::format("{} files cannot hold these cells (triangles: {}, tetrahedra: {}, lines: {}); use one of {}", format,
                  file.triangles.cells.size(), file.tets.cells.size(), file.lines.size(), fmt::join(able, ", ")));
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
  std::vector<std::string> known = mesh_files;
  known.insert(known.end(), number_files.begin(), number_files.end());
  check_format(format, known);
  const std::string name = fmt::format("{}-times.{}", FileName(path).base.filename().string(), format);
  if (format == "csv") return {as_csv(file, times), "text/csv", name};
  if (format == "npy") return {as_npy(times), "application/octet-stream", name};
  check_cells(format, file);
  return as_mesh(file, times, name);
}

}  // namespace isochron::viewer
