#include "apps/viewer/server/file_export.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "apps/viewer/server/fields.h"
#include "apps/viewer/server/temporary_folder.h"
#include "isochron/core/join_text.h"
#include "isochron/error.h"
#include "isochron/io.h"
#include "isochron/io/file.h"
#include "isochron/io/vertex_values.h"

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
    throw RequestError(fmt::format("there is no format '{}'; use one of {}", format, join_text(known, ", ")));
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

namespace {

/// Formats of the mesh with its times, and of the times alone.
const std::vector<std::string> mesh_files{"vtu", "vtp", "vtk", "ply", "msh"};
const std::vector<std::string> number_files{"csv", "npy"};

Reply as_numbers(const Dataset& file, const std::vector<double>& times, const std::string& name) {
  const DataArray array{"arrival_time", 1, times};
  const bool table = is_table_file(name);
  Reply reply = written(name, [&](const fs::path& target) {
    const OutputFile output{target, target};
    if (table) write_vertex_table(output, [&](std::size_t v) { return file.points[v]; }, {&array});
    else write_vertex_values(output, array);
  });
  if (table) reply.type = "text/csv";
  return reply;
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
                  file.triangles.cells.size(), file.tets.cells.size(), file.lines.size(), join_text(able, ", ")));
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
  if (std::find(number_files.begin(), number_files.end(), format) != number_files.end())
    return as_numbers(file, times, name);
  check_cells(format, file);
  return as_mesh(file, times, name);
}

}  // namespace isochron::viewer
