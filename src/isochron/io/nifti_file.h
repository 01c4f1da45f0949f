// NIfTI images, versions 1 and 2: .nii, .nii.gz, and pairs of .hdr and .img.
#pragma once

#include <filesystem>

#include "isochron/io/text_sink.h"
#include "isochron/mesh/image.h"

namespace isochron {

/// By this name an array of six components is a tensor in MRtrix's order, which MRtrix itself does not mark.
inline constexpr const char* mrtrix_tensor_name = "tensor_mrtrix";

/// Reads either version in either byte order. World space is RAS in mm: by the sform, else by the qform, else by the
/// voxel sizes alone, with a warning. All axes behind the third become components of one array, named after the
/// header's intent name. Slope and intercept are applied. A symmetric matrix by intent is a tensor in order `lower`;
/// see also `mrtrix_tensor_name`. Throws InputError.
Image read_nifti(const std::filesystem::path& path);

/// Writes the image's one array as NIfTI-1, or as NIfTI-2 when an axis has more than 32,767 voxels. Tensors of known
/// order become a symmetric matrix by intent. Throws RuntimeError.
void write_nifti(const OutputFile& file, const Image& image);

}  // namespace isochron
