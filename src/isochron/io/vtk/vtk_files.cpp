#include "isochron/io/vtk/vtk_files.h"

#include <new>
#include <string>

#include <fmt/format.h>

#include "isochron/core/error.h"
#include "isochron/io/file_name.h"
#include "isochron/io/legacy_vtk_file.h"
#include "isochron/io/obj_file.h"
#include "isochron/io/ply_file.h"
#include "isochron/io/stl_file.h"
#include "isochron/io/vtk/vtk_xml_reader.h"
#include "isochron/io/vtk_xml_writer.h"

namespace isochron::vtk {

namespace {

[[noreturn]] void unknown_format(const std::filesystem::path& path) {
  throw UsageError(
      fmt::format("{}: not a format of this family; use .vtu, .vtp, .vtk, .ply, .stl or .obj", path.string()));
}

Dataset read_by_extension(const std::filesystem::path& path) {
  const FileName name(path);
  if (name.extension == ".vtk") return read_legacy_vtk(path);
  if (name.extension == ".ply") return read_ply(path);
  if (name.extension == ".stl") return read_stl(path);
  if (name.extension == ".obj") return read_obj(path);
  if (name.extension != ".vtu" && name.extension != ".vtp") unknown_format(path);
  if (name.gzip)
    throw InputError(fmt::format("{}: gzipped {} files are not read; run gunzip first", path.string(), name.extension));
  return read_vtk_xml(path, name.extension == ".vtu" ? VtkXmlKind::unstructured_grid : VtkXmlKind::poly_data);
}

}  // namespace

Dataset read_file(const std::filesystem::path& path) {
  try {
    return read_by_extension(path);
  } catch (const std::bad_alloc&) {
    throw InputError(
        fmt::format("{}: there is not enough memory for what the file announces; if it should not be that "
                    "large it is damaged, get or write it again",
                    path.string()));
  }
}

void write_file(const std::filesystem::path& where, const std::filesystem::path& target_name, const Dataset& dataset) {
  const OutputFile file{target_name, where};
  const FileName name(target_name);
  const bool surface_format =
      name.extension == ".vtp" || name.extension == ".ply" || name.extension == ".stl" || name.extension == ".obj";
  if (surface_format && !dataset.tets.cells.empty()) {
    throw UsageError(fmt::format("{}: {} files cannot hold tetrahedra (there are {}); write .vtu", target_name.string(),
                                 name.extension, dataset.tets.cells.size()));
  }
  if (name.gzip && (name.extension == ".vtu" || name.extension == ".vtp")) {
    throw UsageError(
        fmt::format("{}: {} files are not written gzipped; leave out .gz", target_name.string(), name.extension));
  }
  if (name.extension == ".vtu") write_vtk_xml(file, VtkXmlKind::unstructured_grid, dataset);
  else if (name.extension == ".vtp") write_vtk_xml(file, VtkXmlKind::poly_data, dataset);
  else if (name.extension == ".vtk") write_legacy_vtk(file, dataset);
  else if (name.extension == ".ply") write_ply(file, dataset);
  else if (name.extension == ".stl") write_stl(file, dataset);
  else if (name.extension == ".obj") write_obj(file, dataset);
  else unknown_format(target_name);
}

}  // namespace isochron::vtk
