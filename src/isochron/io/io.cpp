#include "isochron/io/io.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <memory>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "isochron/core/error.h"
#include "isochron/io/atomic_file.h"
#include "isochron/io/carp.h"
#include "isochron/io/file_bytes.h"
#include "isochron/io/file_name.h"
#include "isochron/io/gmsh.h"
#include "isochron/io/medit.h"
#include "isochron/io/off.h"
#include "isochron/io/tetgen.h"
#if defined(ISOCHRON_WITH_VTK)
#include "isochron/io/vtk/vtk_files.h"
#endif

namespace isochron {
namespace {

namespace fs = std::filesystem;

enum Holds : unsigned { triangles = 1, tets = 2, lines = 4, everything = 7 };

struct Codec {
  Format format;
  unsigned holds = everything;
  std::vector<std::string> file_set;  // the extensions of all files it writes, in the writer's order; empty: one file
  Dataset (*read)(const fs::path&) = nullptr;
  void (*write)(std::span<const OutputFile>, const Dataset&) = nullptr;
};

constexpr std::array<std::string_view, 6> vtk_extensions{".vtu", ".vtp", ".vtk", ".ply", ".stl", ".obj"};

std::vector<std::string> with_gzip(std::vector<std::string> extensions) {
  const std::size_t plain = extensions.size();
  for (std::size_t i = 0; i < plain; ++i) extensions.push_back(extensions[i] + ".gz");
  return extensions;
}

#if defined(ISOCHRON_WITH_VTK)
void write_vtk(std::span<const OutputFile> files, const Dataset& dataset) {
  vtk::write_file(files[0].where, files[0].target, dataset);
}
#endif

void add_vtk_codecs([[maybe_unused]] std::vector<Codec>& table) {
#if defined(ISOCHRON_WITH_VTK)
  const auto add = [&](std::string name, std::vector<std::string> extensions, unsigned holds, bool keeps_arrays) {
    table.push_back(
        {{std::move(name), std::move(extensions), true, true, keeps_arrays}, holds, {}, vtk::read_file, write_vtk});
  };
  add("VTK unstructured grid", {".vtu"}, everything, true);
  add("VTK surface", {".vtp"}, triangles | lines, true);
  add("VTK legacy", with_gzip({".vtk"}), everything, true);
  add("PLY", with_gzip({".ply"}), triangles | lines, true);
  add("STL", with_gzip({".stl"}), triangles, false);
  add("Wavefront OBJ", with_gzip({".obj"}), triangles | lines, false);
#endif
}

std::vector<Codec> make_codecs() {
  std::vector<Codec> table;
  add_vtk_codecs(table);
  const auto add = [&](std::string name, std::vector<std::string> extensions, bool keeps_arrays, unsigned holds,
                       std::vector<std::string> file_set, auto read, auto write) {
    table.push_back({{std::move(name), with_gzip(std::move(extensions)), true, true, keeps_arrays},
                     holds,
                     std::move(file_set),
                     read,
                     write});
  };
  add("Gmsh", {".msh"}, true, everything, {}, read_gmsh, write_gmsh);
  add("CARP", {".elem", ".pts", ".lon"}, false, everything, {".pts", ".elem", ".lon"}, read_carp, write_carp);
  add("TetGen", {".ele", ".node"}, true, triangles | tets, {".node", ".ele"}, read_tetgen, write_tetgen);
  add("Medit", {".mesh"}, false, everything, {}, read_medit, write_medit);
  add("OFF", {".off"}, false, triangles, {}, read_off, write_off);
  return table;
}

const std::vector<Codec>& codecs() {
  static const std::vector<Codec> table = make_codecs();
  return table;
}

std::string extension_of(const fs::path& path) {
  const FileName name(path);
  return name.extension + (name.gzip ? ".gz" : "");
}

const Codec* find_codec(std::string_view extension) {
  for (const Codec& codec : codecs()) {
    for (const std::string& known : codec.format.extensions) {
      if (known == extension) return &codec;
    }
  }
  return nullptr;
}

// "problem (why); what to do" for an extension that no codec has.
std::string why_unknown(const fs::path& path) {
  const FileName name(path);
  const bool is_vtk = std::find(vtk_extensions.begin(), vtk_extensions.end(), name.extension) != vtk_extensions.end();
  if (is_vtk && find_codec(name.extension) == nullptr) {
    return fmt::format("{} files need VTK (this build has none); rebuild with -DISOCHRON_WITH_VTK=ON", name.extension);
  }
  if (is_vtk && name.gzip) {
    return fmt::format(
        "{} files cannot be compressed (they compress their own content); leave out .gz or gunzip it first",
        name.extension);
  }
  std::vector<std::string> known;
  for (const Codec& codec : codecs()) {
    for (const std::string& extension : codec.format.extensions) {
      if (!extension.ends_with(".gz")) known.push_back(extension);
    }
  }
  return fmt::format("unknown extension '{}' (it tells the format); use one of {}", extension_of(path),
                     fmt::join(known, " "));
}

void check_points(const fs::path& path, const Dataset& dataset) {
  if (dataset.points.empty()) {
    throw InputError(fmt::format("{}: there are no points (the mesh is empty); export it again", path.string()));
  }
  if (dataset.points.size() >= VertexId::invalid_value) {
    throw InputError(fmt::format("{}: {} points are too many (ids have 32 bits); split the mesh", path.string(),
                                 dataset.points.size()));
  }
  for (std::size_t i = 0; i < dataset.points.size(); ++i) {
    const Vec3d& p = dataset.points[i];
    if (std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z)) continue;
    throw InputError(fmt::format("{}: point {} is at ({}, {}, {}) (coordinates must be finite); repair the mesh",
                                 path.string(), i, p.x, p.y, p.z));
  }
}

template <class Cells>
void check_ids(const fs::path& path, const Cells& cells, std::size_t points, std::string_view kind) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    for (const VertexId v : cells[i]) {
      if (v.index() < points) continue;
      throw InputError(fmt::format("{}: {} {} has vertex {} (the mesh has vertices 0 to {}); repair the mesh",
                                   path.string(), kind, i, v.value, points - 1));
    }
  }
}

void check_arrays(const fs::path& path, const DataArrays& arrays, std::size_t tuples, std::string_view kind) {
  for (const DataArray& array : arrays.all()) {
    if (array.components >= 1 && array.value_count() == tuples * static_cast<std::size_t>(array.components)) continue;
    throw InputError(
        fmt::format("{}: array '{}' has {} values in tuples of {} (there are {} {}); export the mesh again",
                    path.string(), array.name, array.value_count(), array.components, tuples, kind));
  }
}

void validate(const fs::path& path, const Dataset& dataset) {
  check_points(path, dataset);
  const std::size_t points = dataset.points.size();
  check_ids(path, dataset.triangles.cells, points, "triangle");
  check_ids(path, dataset.tets.cells, points, "tetrahedron");
  check_ids(path, dataset.lines, points, "line");
  check_arrays(path, dataset.point_data, points, "points");
  check_arrays(path, dataset.triangles.data, dataset.triangles.cells.size(), "triangles");
  check_arrays(path, dataset.tets.data, dataset.tets.cells.size(), "tetrahedra");
  check_arrays(path, dataset.line_data, dataset.lines.size(), "lines");
}

const Codec& require_writer(const fs::path& path) {
  const Codec* codec = find_codec(extension_of(path));
  if (codec == nullptr) throw UsageError(fmt::format("{}: {}", path.string(), why_unknown(path)));
  if (codec->write == nullptr) {
    throw UsageError(fmt::format("{}: {} files cannot be written (only read); choose another extension", path.string(),
                                 codec->format.name));
  }
  return *codec;
}

std::vector<fs::path> files_written(const Codec& codec, const fs::path& path) {
  if (codec.file_set.empty()) return {path};
  std::vector<fs::path> result;
  for (const std::string& extension : codec.file_set) result.push_back(FileName(path).with(extension));
  return result;
}

void check_target(const fs::path& path, Overwrite overwrite) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw InputError(fmt::format("{}: is not a file (it is a folder or a device); choose another name", path.string()));
  }
  if (fs::exists(status) && overwrite == Overwrite::no) {
    throw InputError(fmt::format(
        "{}: exists already (it would be replaced); allow that (--force) or choose another name", path.string()));
  }
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, error)) {
    throw RuntimeError(
        fmt::format("{}: cannot be written ({} is not a folder); create it first", path.string(), folder.string()));
  }
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    throw RuntimeError(fmt::format("{}: cannot be written (folder {}: {}); choose another folder", path.string(),
                                   folder.string(), std::strerror(errno)));
  }
}

// A file that would hold none of the cells is refused rather than written empty.
void check_holds(const fs::path& path, const Codec& codec, const Dataset& dataset) {
  unsigned present = 0;
  if (!dataset.triangles.cells.empty()) present |= triangles;
  if (!dataset.tets.cells.empty()) present |= tets;
  if (!dataset.lines.empty()) present |= lines;
  if (present == 0 || (present & codec.holds) != 0) return;
  throw UsageError(
      fmt::format("{}: {} files cannot hold these cells ({} triangles, {} tetrahedra, {} lines); choose "
                  "another extension, for example .msh",
                  path.string(), codec.format.name, dataset.triangles.cells.size(), dataset.tets.cells.size(),
                  dataset.lines.size()));
}

}  // namespace

const std::vector<Format>& formats() {
  static const std::vector<Format> list = [] {
    std::vector<Format> result;
    for (const Codec& codec : codecs()) result.push_back(codec.format);
    return result;
  }();
  return list;
}

Dataset read_dataset(const fs::path& path) {
  require_file(path);
  const Codec* codec = find_codec(extension_of(path));
  if (codec == nullptr) throw InputError(fmt::format("{}: {}", path.string(), why_unknown(path)));
  Dataset result = codec->read(path);
  validate(path, result);
  return result;
}

void check_writable(const fs::path& path, Overwrite overwrite) {
  for (const fs::path& file : files_written(require_writer(path), path)) check_target(file, overwrite);
}

void write_dataset(const fs::path& path, const Dataset& dataset, Overwrite overwrite) {
  check_writable(path, overwrite);
  const Codec& codec = require_writer(path);
  check_holds(path, codec, dataset);
  validate(path, dataset);
  std::vector<std::unique_ptr<AtomicFile>> temporaries;
  std::vector<OutputFile> files;
  for (const fs::path& target : files_written(codec, path)) {
    temporaries.push_back(std::make_unique<AtomicFile>(target));
    files.push_back({target, temporaries.back()->path()});
  }
  codec.write(files, dataset);
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (fs::exists(files[i].where)) temporaries[i]->commit();
    else fs::remove(files[i].target);  // an old part of the set (fibres) that no longer belongs to it
  }
}

}  // namespace isochron
