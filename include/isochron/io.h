// Reading and writing meshes and images.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "isochron/dataset.h"
#include "isochron/image.h"
#include "isochron/progress.h"

namespace isochron {

// ---- Reading and writing data sets; the format is picked by the file's extension.

struct Format {
  std::string name;                     ///< "Gmsh"
  std::vector<std::string> extensions;  ///< lower case with the dot, ".msh"; also ".msh.gz" where gzip is understood
  bool reads = false;
  bool writes = false;
  bool keeps_arrays = false;               ///< point and cell arrays survive a round trip
  std::vector<std::string> some_arrays{};  ///< where not all do: the names of those that can
};

/// Every format this build knows, in the order shown to users.
const std::vector<Format>& formats();

enum class WrittenCells { elements, lines };
/// The extensions of the formats that triangles and tetrahedra, or lines, are written in, without .gz.
std::vector<std::string> written_extensions(WrittenCells cells);

/// Whether the extension is that of a mesh. Looks at the name only.
bool is_mesh_file(const std::filesystem::path& path);

/// Names of arrays; nothing means all arrays.
using ArrayNames = std::optional<std::vector<std::string>>;

/// Reads a file (and, for formats of several files, its companions). Ids in the result are 0-based. Throws InputError
/// about the file: missing, unreadable, empty, truncated or malformed file, unknown extension, id
/// out of range, NaN or infinite coordinate. What was left out is listed in the result's `ignored_cells` and
/// `warnings`. Only the `wanted` arrays are in the result, and a name that no array has is no error; VTU, VTP, legacy
/// VTK and CARP files are read faster without the others.
Dataset read_dataset(const std::filesystem::path& path, const ArrayNames& wanted = {});

enum class Overwrite { no, yes };

/// For output of any kind, before any work is done: throws InputError when the file exists and `overwrite` is no, or is
/// no regular file, and RuntimeError when the folder is missing or cannot be written to.
void check_output_file(const std::filesystem::path& path, Overwrite overwrite);

/// The files that writing a data set to `path` makes: one, or the set that CARP and TetGen use (whose .lon file is left
/// out when there are no fibres). Throws UsageError for an extension that cannot be written.
std::vector<std::filesystem::path> files_written(const std::filesystem::path& path);

/// Throws before any work is done: UsageError for an extension that cannot be written, and like `check_output_file` for
/// each of `files_written`.
void check_writable(const std::filesystem::path& path, Overwrite overwrite);

/// Throws UsageError when the format of `path` cannot hold the cells of the data set, or when `path` names a file of
/// fibres and there are none.
void check_holds(const std::filesystem::path& path, const Dataset& dataset);

/// What becomes of a data set's arrays in a file.
struct KeptArrays {
  std::vector<std::string> kept;     ///< under the names that reading the file gives
  std::vector<std::string> dropped;  ///< that the format cannot hold
};

/// The arrays that `path` will hold and those that it will not. Throws UsageError for an extension that cannot be
/// written.
KeptArrays kept_arrays(const std::filesystem::path& path, const Dataset& dataset);

/// The lines of the data set that `path` will not hold, and the triangles where it holds either them or tetrahedra.
/// Throws UsageError for an extension that cannot be written.
std::size_t dropped_lines(const std::filesystem::path& path, const Dataset& dataset);
std::size_t dropped_triangles(const std::filesystem::path& path, const Dataset& dataset);

/// Writes beside the target and renames, so that no half file is left. Throws like `check_writable` and `check_holds`,
/// and RuntimeError when the disk is full.
void write_dataset(const std::filesystem::path& path, const Dataset& dataset, Overwrite overwrite);

struct OutputFile;
class OutputFiles;

/// The same for files that appear together: the caller lets them appear.
void write_dataset(OutputFiles& outputs, const std::filesystem::path& path, const Dataset& dataset);

// ---- Reading and writing images; the format is picked by the file's extension.

struct ImageFormat {
  std::string name;                     ///< "NIfTI"
  std::vector<std::string> extensions;  ///< lower case with the dot, ".nii", ".nii.gz"
  bool reads = false;
  bool writes = false;
  bool many_arrays = false;  ///< it holds any number of arrays; the others hold one
};

/// Every image format this build knows, in the order shown to users. Raw files have no extension of their own.
const std::vector<ImageFormat>& image_formats();

/// Whether the extension is that of an image. Looks at the name only.
bool is_image_file(const std::filesystem::path& path);
/// Whether files of this extension hold any number of arrays. Looks at the name only.
bool holds_many_arrays(const std::filesystem::path& path);

/// Reads an image with all its arrays. World space is RAS in mm where the format has a notion of it. Throws InputError
/// about a file: missing, truncated or malformed file, a file of another kind, sizes that the file
/// cannot hold, a singular affine. What was assumed is in the result's `warnings`.
Image read_image(const std::filesystem::path& path);

/// Where the voxels of an image are, along x, y and z; for files that do not say it.
struct ImagePlace {
  std::vector<double> spacing{};  ///< of the voxels: one number, or one an axis; empty: 1
  std::vector<double> origin{};   ///< the centre of the first voxel, a number an axis; empty: 0
};

/// Whether files of this extension say where their voxels are. Looks at the name only.
bool says_place(const std::filesystem::path& path);
/// Puts an image there. Throws UsageError when the numbers do not fit its axes.
void place_image(ImageGrid& grid, const ImagePlace& place);

/// Reads an image that goes with another one; it lies where that one does when its file does not say where.
Image read_image_beside(const std::filesystem::path& path, const ImageGrid& grid);

/// Throws before any work is done: UsageError for an extension that cannot be written, else like `check_output_file`.
void check_image_writable(const std::filesystem::path& path, Overwrite overwrite);

/// Writes beside the target and renames. Tensors whose order the image knows are put into the order of the format.
/// Throws like `check_image_writable`, UsageError when the image has several arrays and the format holds one,
/// InputError when grid or arrays do not fit, and RuntimeError when the disk is full.
void write_image(const std::filesystem::path& path, const Image& image, Overwrite overwrite);

/// The same for files that appear together: writes where it is told and leaves the renaming to the caller.
void write_image(const OutputFile& file, const Image& image);

}  // namespace isochron
