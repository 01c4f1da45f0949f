#include "isochron/io.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include <fmt/format.h>
#include <unistd.h>

#include "isochron/core/join_text.h"
#include "isochron/io/image/formats.h"
#include "isochron/io/mesh/formats.h"
#include "isochron/io/mesh/stored_mesh.h"
#include "isochron/io/pieces/mesh_pieces.h"

namespace isochron {
namespace {

namespace fs = std::filesystem;

/// Reads all arrays, or can do without those that are not wanted.
struct MeshReader {
  MeshReader(Dataset (*read)(const fs::path&)) : all_(read) {}                        // NOLINT: entries of the table
  MeshReader(Dataset (*read)(const fs::path&, const ArrayNames&)) : wanted_(read) {}  // NOLINT: likewise
  Dataset operator()(const fs::path& path, const ArrayNames& wanted) const {
    return all_ != nullptr ? all_(path) : wanted_(path, wanted);
  }

 private:
  Dataset (*all_)(const fs::path&) = nullptr;
  Dataset (*wanted_)(const fs::path&, const ArrayNames&) = nullptr;
};
using MeshWriter = void (*)(std::span<const OutputFile>, const Dataset&);
using ArrayNamer = std::string (*)(ArrayPlace, const DataArrays&, const DataArray&);

enum MeshHolds : unsigned {
  triangles = 1,
  tets = 2,
  lines = 4,
  all_cells = 7,
  arrays = 8,
  everything = 15,
  one_kind = 16,  // triangles only where there are no tetrahedra
  soup = 32       // points only as corners of cells, in single precision
};

struct MeshCodec {
  std::string name;
  std::vector<std::string> extensions;
  unsigned holds;
  MeshReader read;
  MeshWriter write;                           // null: only read
  std::vector<std::string> file_set = {};     // the extensions of all files it writes, in that order; empty: one file
  ArrayNamer array_name = nullptr;            // where only some arrays have a place: an array's name there, or none
  std::vector<std::string> some_arrays = {};  // all names that it can give
};

template <class Codec>
const Codec* find_in(const std::vector<Codec>& table, std::string_view extension) {
  for (const Codec& codec : table)
    if (std::find(codec.extensions.begin(), codec.extensions.end(), extension) != codec.extensions.end()) return &codec;
  return nullptr;
}

std::vector<std::string> with_gzip(std::vector<std::string> extensions) {
  const std::size_t plain = extensions.size();
  for (std::size_t i = 0; i < plain; ++i) extensions.push_back(extensions[i] + ".gz");
  return extensions;
}

// Its files have no extension of their own, so the first bytes tell too: see `read_dataset`.
const MeshCodec& freesurfer_codec() {
  static const MeshCodec codec{"FreeSurfer surface",
                               {".pial", ".white", ".inflated", ".sphere", ".orig", ".smoothwm", ".reg"},
                               triangles,
                               read_freesurfer_surface,
                               nullptr};
  return codec;
}

const std::vector<MeshCodec>& mesh_codecs() {
  static const std::vector<MeshCodec> table{
      {"VTK unstructured grid", {".vtu"}, everything, read_vtu, write_vtu},
      {"VTK surface", {".vtp"}, triangles | lines | arrays, read_vtp, write_vtp},
      {"VTK unstructured grid in pieces", {".pvtu"}, everything, read_mesh_pieces, nullptr},
      {"VTK surface in pieces", {".pvtp"}, triangles | lines | arrays, read_mesh_pieces, nullptr},
      {"VTK legacy", with_gzip({".vtk"}), everything, read_legacy_vtk, write_legacy_vtk},
      {"PLY", with_gzip({".ply"}), triangles | lines | arrays, read_ply, write_ply},
      {"STL", with_gzip({".stl"}), triangles | soup, read_stl, write_stl},
      {"Wavefront OBJ", with_gzip({".obj"}), triangles | lines, read_obj, write_obj},
      {"Gmsh", with_gzip({".msh"}), everything, read_gmsh, write_gmsh, {}, gmsh_array_name},
      {"CARP",
       with_gzip({".elem", ".pts", ".lon"}),
       all_cells,
       read_carp,
       write_carp,
       {".pts", ".elem", ".lon"},
       carp_array_name,
       {"region", "fiber", "sheet"}},
      {"TetGen",
       with_gzip({".ele", ".node"}),
       triangles | tets | one_kind | arrays,
       read_tetgen,
       write_tetgen,
       {".node", ".ele"}},
      {"Medit", with_gzip({".mesh"}), all_cells, read_medit, write_medit, {}, medit_array_name, {"medit:ref"}},
      {"OFF", with_gzip({".off"}), triangles, read_off, write_off},
      {"GIFTI", with_gzip({".gii"}), triangles | arrays, read_gifti, nullptr},
      freesurfer_codec(),
      {"MRtrix tracks", {".tck"}, lines | soup, read_tck, write_tck},
      {"TrackVis tracks", {".trk"}, lines, read_trk, nullptr},
  };
  return table;
}

const MeshCodec* find_mesh_codec(std::string_view extension) { return find_in(mesh_codecs(), extension); }

/// Those extensions of a format that do not only add .gz.
void add_plain(const std::vector<std::string>& extensions, std::vector<std::string>& plain) {
  for (const std::string& one : extensions)
    if (!one.ends_with(".gz")) plain.push_back(one);
}

/// Of meshes and images: a file to be read may be either.
std::vector<std::string> read_extensions() {
  std::vector<std::string> result;
  for (const Format& format : formats()) add_plain(format.extensions, result);
  for (const ImageFormat& format : image_formats()) add_plain(format.extensions, result);
  return result;
}

template <class Error>
const MeshCodec& require_codec(const fs::path& path) {
  const FileName name(path);
  if (const MeshCodec* codec = find_mesh_codec(name.full_extension())) return *codec;
  if (name.gzip && find_mesh_codec(name.extension) != nullptr)
    throw Error(
        name.extension + " files cannot be gzipped (other programs do not expect it); leave out .gz or gunzip it first",
        path.string());
  constexpr bool reads = std::is_same_v<Error, InputError>;
  Message problem = fmt::format("unknown extension '{}' (it tells the format); use one of {}", name.full_extension(),
                                join_text(reads ? read_extensions() : written_extensions(WrittenCells::elements), " "));
  if (!reads)
    problem =
        problem + ", or .pvtu or .pvtp with solve or generate over ranks (" + Setting{Option::backend, "mpi"} + ")";
  throw Error(problem, path.string());
}

const MeshCodec& writable_mesh_codec(const fs::path& path) {
  const MeshCodec& codec = require_codec<UsageError>(path);
  if (codec.write != nullptr) return codec;
  if (is_mesh_set(path)) refuse_set_output(path);
  throw UsageError(
      codec.name + " files are only read (they are not written); choose another extension, for example .vtp",
      path.string());
}

void validate(const fs::path& path, const Dataset& dataset) {
  if (dataset.points.empty()) bad_file(path, "there are no points (the mesh is empty); export it again");
  check_dataset(path, dataset);
}

/// What all readers leave to be done.
void complete(const fs::path& path, const ArrayNames& wanted, Dataset& dataset) {
  for (DataArrays* data : {&dataset.point_data, &dataset.triangles.data, &dataset.tets.data, &dataset.line_data}) {
    make_names_printable(*data);
    keep_wanted(*data, wanted);
  }
  validate(path, dataset);
}

struct PlacedArrays {
  ArrayPlace place;
  unsigned cells;  // of MeshHolds; 0: points
  const DataArrays& data;
  bool any;  // arrays on no cells at all are not written
};
std::array<PlacedArrays, 4> arrays_by_place(const Dataset& d) {
  return {{{ArrayPlace::points, 0, d.point_data, !d.points.empty()},
           {ArrayPlace::cells, triangles, d.triangles.data, !d.triangles.cells.empty()},
           {ArrayPlace::cells, tets, d.tets.data, !d.tets.cells.empty()},
           {ArrayPlace::cells, lines, d.line_data, !d.lines.empty()}}};
}

// The name under which a file holds the array; empty when it does not.
std::string name_in_file(const MeshCodec& codec, const PlacedArrays& at, const DataArray& array) {
  if ((codec.holds & at.cells) != at.cells) return {};
  if (codec.array_name != nullptr) return codec.array_name(at.place, at.data, array);
  return (codec.holds & arrays) != 0 ? array.name : std::string();
}

double largest_of(const Vec3d& v) { return std::max({std::abs(v.x), std::abs(v.y), std::abs(v.z)}); }

/// Of formats that keep coordinates in single precision: those that it does not hold would be infinite.
void check_points_held(const fs::path& path, const MeshCodec& codec, const Dataset& dataset) {
  if ((codec.holds & soup) == 0) return;
  for (const Vec3d& p : dataset.points)
    if (largest_of(p) > std::numeric_limits<float>::max())
      throw UsageError(fmt::format("{} files keep coordinates in single precision ({:g},{:g},{:g} is too far for it); "
                                   "change the unit, or write .vtk",
                                   codec.name, p.x, p.y, p.z),
                       path.string());
}

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

// ---- images ----

using ImageReader = Image (*)(const fs::path&);
using ImageWriter = void (*)(const OutputFile&, const Image&);

enum class Holds { one_array, all_arrays };
enum class SaysPlace { yes, in_singles, no };

struct ImageCodec {
  std::string name;
  std::vector<std::string> extensions;
  Holds holds;
  ImageReader read;
  ImageWriter write;  // null: never
  SaysPlace place = SaysPlace::yes;
};

const std::vector<ImageCodec>& image_codecs() {
  static const std::vector<ImageCodec> table{
      {"NIfTI", {".nii", ".nii.gz"}, Holds::one_array, read_nifti, write_nifti, SaysPlace::in_singles},
      {"NIfTI, two files", {".hdr", ".img", ".hdr.gz", ".img.gz"}, Holds::one_array, read_nifti, nullptr},
      {"NRRD", {".nrrd"}, Holds::one_array, read_nrrd, write_nrrd},
      {"NRRD, two files", {".nhdr"}, Holds::one_array, read_nrrd, nullptr},
      {"VTK image", {".vti"}, Holds::all_arrays, read_vti, write_vti},
      {"VTK image in pieces", {".pvti"}, Holds::all_arrays, read_image_pieces, nullptr},
      {"NumPy array", {".npy", ".npy.gz"}, Holds::one_array, read_npy_image, write_npy_image, SaysPlace::no},
      {"FreeSurfer volume", {".mgz", ".mgh"}, Holds::one_array, read_mgh, write_mgh, SaysPlace::in_singles},
  };
  return table;
}

const ImageCodec* find_image_codec(const fs::path& path) {
  return find_in(image_codecs(), FileName(path).full_extension());
}

/// The extensions of the formats that can be read, or written.
template <class Has>
std::vector<std::string> extensions_where(Has&& has) {
  std::vector<std::string> result;
  for (const ImageCodec& codec : image_codecs())
    if (has(codec)) result.insert(result.end(), codec.extensions.begin(), codec.extensions.end());
  return result;
}

const ImageCodec& writable_image_codec(const fs::path& path) {
  const ImageCodec* codec = find_image_codec(path);
  if (codec != nullptr && codec->write != nullptr) return *codec;
  if (piece_kind_of(path) == PieceKind::image) refuse_set_output(path);
  const auto writes = [](const ImageCodec& c) { return c.write != nullptr; };
  throw UsageError(
      fmt::format("images are not written with the extension '{}' (it tells the format); use one of {}, or .pvti with "
                  "solve or generate over ranks (",
                  FileName(path).full_extension(), join_text(extensions_where(writes), " ")) +
          Message(Setting{Option::backend, "mpi"}) + ")",
      path.string());
}

void check_image(const fs::path& path, const Image& image) {
  with_file(path, [&] { check_grid(image.grid, "the image"); });
  check_arrays(path, image.data, image.grid.voxel_count(), "voxels", "image");
}

/// Steps and places that single precision does not hold would come back as nothing, or as infinity.
void check_place_held(const fs::path& path, const ImageCodec& codec, const ImageGrid& grid) {
  if (codec.place != SaysPlace::in_singles) return;
  const auto fits = [](double number) { return number < std::numeric_limits<float>::max() / 2; };
  const Vec3d end{1.0 * grid.shape[0], 1.0 * grid.shape[1], 1.0 * grid.shape[2]};
  bool good = fits(largest_of(grid.origin)) && fits(largest_of(grid.position(end)));
  for (const Vec3d& axis : grid.axes)
    good = good && fits(largest_of(axis)) && largest_of(axis) > std::numeric_limits<float>::min();
  if (!good)
    throw UsageError(codec.name +
                         " files keep the place of voxels in single precision (that of these is too far, or their "
                         "size too large or too small for it); change the unit, or write .nrrd or .vti",
                     path.string());
}

void check_arrays_held(const fs::path& path, const ImageCodec& codec, const Image& image) {
  if (image.data.empty())
    throw UsageError("there is nothing to write (the image has no arrays); give it one", path.string());
  if (codec.holds == Holds::all_arrays || image.data.all().size() == 1) return;
  throw UsageError(fmt::format("{} files hold one array (the image has {}: {}); write one of them, or all to .vti",
                               codec.name, image.data.all().size(), join_text(image.data.names(), ", ")),
                   path.string());
}

}  // namespace

const std::vector<Format>& formats() {
  static const std::vector<Format> list = [] {
    std::vector<Format> result;
    for (const MeshCodec& codec : mesh_codecs())
      result.push_back(
          {codec.name, codec.extensions, true, codec.write != nullptr, (codec.holds & arrays) != 0, codec.some_arrays});
    return result;
  }();
  return list;
}

std::vector<std::string> written_extensions(WrittenCells cells) {
  const unsigned needed = cells == WrittenCells::lines ? lines : triangles | tets;
  std::vector<std::string> result;
  for (const MeshCodec& codec : mesh_codecs())
    if (codec.write != nullptr && (codec.holds & needed) != 0) add_plain(codec.extensions, result);
  std::erase(result, ".lon");  // needs fibres; the other names of its set write it too where there are any
  return result;
}

bool is_mesh_file(const fs::path& path) { return find_mesh_codec(FileName(path).full_extension()) != nullptr; }

Dataset read_dataset(const fs::path& path, const ArrayNames& wanted) {
  require_file(path);
  const bool by_content = find_mesh_codec(FileName(path).extension) == nullptr && is_freesurfer_surface(path);
  const MeshCodec& codec = by_content ? freesurfer_codec() : require_codec<InputError>(path);
  Dataset result = within_memory(path, [&] { return codec.read(path, wanted); });
  complete(path, wanted, result);
  return result;
}

MeshToKeep read_to_keep(const fs::path& path, const fs::path& output, const ArrayUse& use) {
  const auto is_vtu = [](const fs::path& file) { return FileName(file).full_extension() == ".vtu"; };
  if (!is_vtu(path) || !is_vtu(output)) return {read_dataset(path, use.names()), nullptr};
  require_file(path);
  MeshToKeep result = within_memory(path, [&] { return read_vtu_to_keep(path, use); });
  complete(path, use.names(), result.dataset);
  return result;
}

void check_output_file(const fs::path& path, Overwrite overwrite) {
  std::error_code error;
  const fs::path file = follow_links(path);
  const fs::file_status status = fs::status(file, error);
  const auto unwritable = [&](const std::string& why) {
    throw RuntimeError("cannot be written (" + why, path.string());
  };
  if (is_stream(file) && !fs::exists(status))
    unwritable("no files can be made in " + file.parent_path().string() + "); choose another folder");
  if (is_stream(file) || (fs::exists(status) && !fs::is_regular_file(status)))
    bad_file(path, "is not a file (it is a folder or a device); choose another name");
  if (fs::exists(status) && overwrite == Overwrite::no) refuse_replacing(path);
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, error)) unwritable(folder.string() + " is not a folder); create it first");
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    unwritable(fmt::format("folder {}: {}); choose another folder", folder.string(), std::strerror(errno)));
}

std::vector<fs::path> files_written(const fs::path& path) {
  const MeshCodec& codec = writable_mesh_codec(path);
  if (codec.file_set.empty()) return {path};
  std::vector<fs::path> result;
  for (const std::string& extension : codec.file_set) result.push_back(FileName(path).with(extension));
  return result;
}

void check_writable(const fs::path& path, Overwrite overwrite) {
  for (const fs::path& file : files_written(path)) check_output_file(file, overwrite);
}

// Elements are not dropped in silence, and a file that would hold none of the cells is not written.
void check_holds(const fs::path& path, const Dataset& dataset) {
  const MeshCodec& codec = writable_mesh_codec(path);
  if (FileName(path).extension == ".lon" && !has_carp_fibers(dataset))
    throw UsageError(
        fmt::format("there are no fibres to write (no cell array 'fiber' with 3 components); name the mesh "
                    "{} or give it fibres",
                    FileName(path).with(".elem").string()),
        path.string());
  unsigned present = 0;
  for (const PlacedArrays& at : arrays_by_place(dataset)) present |= at.any ? at.cells : 0;
  const unsigned kept = present & codec.holds;
  const unsigned elements = present & (triangles | tets);
  if (present == 0 && (codec.holds & soup) != 0)
    throw UsageError(codec.name + " files hold points only as corners of cells (there are no cells); choose another " +
                         "extension, for example .vtk",
                     path.string());
  if (present == 0 || (kept != 0 && elements == (kept & elements))) return;
  throw UsageError(
      fmt::format(
          "{} files cannot hold these cells (triangles: {}, tetrahedra: {}, lines: {}); choose another extension, "
          "for example .vtk",
          codec.name, dataset.triangles.cells.size(), dataset.tets.cells.size(), dataset.lines.size()),
      path.string());
}

KeptArrays kept_arrays(const fs::path& path, const Dataset& dataset) {
  const MeshCodec& codec = writable_mesh_codec(path);
  KeptArrays result;
  const bool no_triangles = dropped_triangles(path, dataset) > 0;
  for (const PlacedArrays& at : arrays_by_place(dataset)) {
    if (!at.any) continue;
    for (const DataArray& array : at.data.all()) {
      const bool left_out = no_triangles && at.cells == triangles;
      const std::string name = left_out ? std::string() : name_in_file(codec, at, array);
      add_once(name.empty() ? result.dropped : result.kept, name.empty() ? array.name : name);
    }
  }
  return result;
}

std::size_t dropped_triangles(const fs::path& path, const Dataset& dataset) {
  const bool only_tets = (writable_mesh_codec(path).holds & one_kind) != 0 && !dataset.tets.cells.empty();
  return only_tets ? dataset.triangles.cells.size() : 0;
}

std::size_t dropped_lines(const fs::path& path, const Dataset& dataset) {
  return (writable_mesh_codec(path).holds & lines) != 0 ? 0 : dataset.lines.size();
}

void write_dataset(const fs::path& path, const Dataset& dataset, Overwrite overwrite) {
  check_writable(path, overwrite);
  OutputFiles outputs(overwrite);
  write_dataset(outputs, path, dataset);
  outputs.commit();
}

void write_dataset(OutputFiles& outputs, const fs::path& path, const Dataset& dataset) {
  write_kept(outputs, path, dataset, nullptr);
}

void write_kept(OutputFiles& outputs, const fs::path& path, const Dataset& dataset, const StoredMesh* stored) {
  const MeshCodec& codec = writable_mesh_codec(path);
  check_holds(path, dataset);
  validate(path, dataset);
  check_points_held(path, codec, dataset);
  std::vector<OutputFile> files;
  for (const fs::path& target : files_written(path)) files.push_back(outputs.add(target));
  if (stored != nullptr) return write_vtu(files[0], dataset, *stored);
  codec.write(files, dataset);  // which leaves out the fibres where there are none
}

// ---- images ----

const std::vector<ImageFormat>& image_formats() {
  static const std::vector<ImageFormat> list = [] {
    std::vector<ImageFormat> result;
    for (const ImageCodec& codec : image_codecs())
      result.push_back({codec.name, codec.extensions, true, codec.write != nullptr, codec.holds == Holds::all_arrays});
    return result;
  }();
  return list;
}

bool is_image_file(const fs::path& path) { return find_image_codec(path) != nullptr; }

bool holds_many_arrays(const fs::path& path) {
  const ImageCodec* codec = find_image_codec(path);
  return codec != nullptr && codec->holds == Holds::all_arrays;
}

bool says_place(const fs::path& path) {
  const ImageCodec* codec = find_image_codec(path);
  return codec != nullptr && codec->place != SaysPlace::no;
}

Image read_image(const fs::path& path) {
  require_file(path);
  const ImageCodec* codec = find_image_codec(path);
  if (codec == nullptr)
    bad_file(path, "unknown extension '{}' (it tells the format of an image); use one of {}",
             FileName(path).full_extension(), join_text(extensions_where([](const ImageCodec&) { return true; }), " "));
  Image image = within_memory(path, [&] { return codec->read(path); });
  make_names_printable(image.data);
  check_image(path, image);
  return image;
}

Image read_image_beside(const fs::path& path, const ImageGrid& grid) {
  Image image = read_image(path);
  if (says_place(path)) return image;
  image.grid.origin = grid.origin;
  image.grid.axes = grid.axes;
  return image;
}

void check_image_writable(const fs::path& path, Overwrite overwrite) {
  static_cast<void>(writable_image_codec(path));
  check_output_file(path, overwrite);
}

void write_image(const fs::path& path, const Image& image, Overwrite overwrite) {
  check_image_writable(path, overwrite);
  AtomicFile temporary(path, overwrite, TemporaryName::none);
  write_image(OutputFile{path, temporary.path()}, image);
  temporary.commit();
}

void write_image(const OutputFile& file, const Image& image) {
  const ImageCodec& codec = writable_image_codec(file.target);
  check_image(file.target, image);
  check_arrays_held(file.target, codec, image);
  check_place_held(file.target, codec, image.grid);
  codec.write(file, image);
}

}  // namespace isochron
