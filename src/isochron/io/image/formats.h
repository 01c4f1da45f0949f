// One reader and, for most formats, one writer of images per format. Readers throw InputError about a file; writers
// write the image's one array (VTI: all) and throw RuntimeError (full disk) about the target.
#pragma once

#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "isochron/image.h"
#include "isochron/io/values.h"

namespace isochron {

/// By this name an array of six components is a tensor in MRtrix's order, which MRtrix itself does not mark.
inline constexpr const char* mrtrix_tensor_name = "tensor_mrtrix";

/// NIfTI images, versions 1 and 2: .nii, .nii.gz, and pairs of .hdr and .img.
/// Reads either version in either byte order. World space is RAS in mm: by the sform, else by the qform, else by the
/// voxel sizes alone, with a warning. All axes behind the third become components of one array, named after the
/// header's intent name. Slope and intercept are applied. A symmetric matrix by intent is a tensor in order `lower`;
/// see also `mrtrix_tensor_name`.
Image read_nifti(const std::filesystem::path& path);

/// Writes the image's one array as NIfTI-1, or as NIfTI-2 when an axis has more than 32,767 voxels. Tensors of known
/// order become a symmetric matrix by intent.
void write_nifti(const OutputFile& file, const Image& image);

/// NRRD images: .nrrd, and .nhdr with the values in another file. https://teem.sourceforge.net/nrrd/format.html
/// Reads raw, gzip and text values. LPS and LAS space is turned into RAS. Axes that are not in space become components
/// of one array, named after the field `content`. Tensors (kinds 3D-symmetric-matrix, 3D-matrix and their masked kin)
/// and 3-vectors are turned into the world by the measurement frame; tensors get the order `row`, and of nine
/// components the symmetric part; the mask in front of them becomes the array `mask` (1 where it is at least 0.5).
Image read_nrrd(const std::filesystem::path& path);

/// Writes the image's one array raw behind the header, in RAS. Tensors of known order become 3D-symmetric-matrix or
/// 3D-matrix.
void write_nrrd(const OutputFile& file, const Image& image);

/// Reads a .npy file: array index [i, j], [i, j, k] or [i, j, k, component] is the voxel, whatever order the numbers
/// have in the file. Voxels are unit cubes, the first one at the origin. Truth values become 0 and 1.
Image read_npy_image(const std::filesystem::path& path);

/// Writes the image's one array with the same meaning of its indices (in Fortran order). A flat image of one component
/// has two indices. The image's place in the world is lost.
void write_npy_image(const OutputFile& file, const Image& image);

/// FreeSurfer volumes, .mgh and, compressed, .mgz: reads a volume in scanner RAS; frames become components. A file that
/// does not say where it is gets FreeSurfer's default (coronal slices, 1 mm), with a warning.
Image read_mgh(const std::filesystem::path& path);

/// Writes the image's one array: bytes and 32-bit integers as they are, everything else in single precision, which is
/// all that the format has.
void write_mgh(const OutputFile& file, const Image& image);

/// All arrays as point data, with the direction matrix. Tensors of known order are put into VTK's and marked as such.
Image read_vti(const std::filesystem::path& path);
void write_vti(const OutputFile& file, const Image& image);

/// What a raw file does not say itself.
struct RawLayout {
  std::array<std::uint32_t, 3> shape{1, 1, 1};  ///< the first index runs fastest in the file
  int components = 1;                           ///< values of a voxel, side by side
  ScalarType type = ScalarType::float32;
  Encoding encoding = native_encoding;
  std::size_t skip = 0;  ///< bytes before the first value
};

/// A type's name and byte order: "float32", "uint16be"; without "le" or "be" it is this machine's order. Throws
/// UsageError that lists the names.
std::pair<ScalarType, Encoding> parse_raw_type(std::string_view name);

/// Reads the values, gzipped or not; the first voxel is at the origin and the axes are x, y and z. Throws InputError
/// when the file does not have exactly as many bytes as the layout says, or when the layout makes no sense.
Image read_raw_image(const std::filesystem::path& path, const RawLayout& layout);

/// A flat image from a table of numbers (`read_number_rows`): the first axis runs along the lines, the second from line
/// to line. The first voxel is at the origin, pixels are 1 apart, values are float32. Throws InputError unless there
/// are two lines or more, all of one length.
Image read_text_image(const std::filesystem::path& path);

}  // namespace isochron
