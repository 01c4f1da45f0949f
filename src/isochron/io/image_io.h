// Reading and writing images; the format is picked by the file's extension.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "isochron/io/io.h"
#include "isochron/mesh/image.h"

namespace isochron {

struct OutputFile;

struct ImageFormat {
  std::string name;                     ///< "NIfTI"
  std::vector<std::string> extensions;  ///< lower case with the dot, ".nii", ".nii.gz"
  bool reads = false;
  bool writes = false;
  bool many_arrays = false;  ///< it holds any number of arrays; the others hold one
};

/// Every image format this build knows, in the order shown to users. Raw files have no extension of their own: see
/// io/image/formats.h.
const std::vector<ImageFormat>& image_formats();

/// Whether the extension is that of an image. Looks at the name only.
bool is_image_file(const std::filesystem::path& path);
/// Whether files of this extension hold any number of arrays. Looks at the name only.
bool holds_many_arrays(const std::filesystem::path& path);

/// Reads an image with all its arrays. World space is RAS in mm where the format has a notion of it. Throws InputError
/// about a file: missing, truncated or malformed file, a file of another kind, sizes that the file
/// cannot hold, a singular affine. What was assumed is in the result's `warnings`.
Image read_image(const std::filesystem::path& path);

/// Throws before any work is done: UsageError for an extension that cannot be written, else like `check_output_file`.
void check_image_writable(const std::filesystem::path& path, Overwrite overwrite);

/// Writes beside the target and renames. Tensors whose order the image knows are put into the order of the format.
/// Throws like `check_image_writable`, UsageError when the image has several arrays and the format holds one,
/// InputError when grid or arrays do not fit, and RuntimeError when the disk is full.
void write_image(const std::filesystem::path& path, const Image& image, Overwrite overwrite);

/// The same for files that appear together: writes where it is told and leaves the renaming to the caller.
void write_image(const OutputFile& file, const Image& image);

}  // namespace isochron
