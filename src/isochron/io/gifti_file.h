// GIFTI surfaces: .gii, .gii.gz, .surf.gii.
#pragma once

#include <filesystem>

#include "isochron/mesh/dataset.h"

namespace isochron {

/// Reads the first point set, the triangles, and every array with a value per point (curvature, labels, …), as text,
/// base64 or compressed base64. Points are moved by the transform whose target is scanner space, if there is one.
/// Arrays that do not fit the points are left out with a warning. Throws InputError.
Dataset read_gifti(const std::filesystem::path& path);

}  // namespace isochron
