// FreeSurfer's binary triangle surfaces: lh.pial, rh.white, lh.inflated and so on.
#pragma once

#include <filesystem>

#include "isochron/mesh/dataset.h"

namespace isochron {

/// Whether the file begins like such a surface. Never throws.
bool is_freesurfer_surface(const std::filesystem::path& path);

/// Reads points and triangles. Coordinates are FreeSurfer's surface RAS; when the file says how far scanner RAS is from
/// it (c_ras), a warning gives the shift, which is not applied. Throws InputError.
Dataset read_freesurfer_surface(const std::filesystem::path& path);

}  // namespace isochron
