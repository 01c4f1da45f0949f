// Results as files to take home.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "apps/viewer/server/scene.h"
#include "isochron/io/io.h"
#include "isochron/mesh/image.h"

namespace isochron::viewer {

/// The formats of meshes (or of lines) that are one file: "vtp", "ply", …
std::vector<std::string> mesh_formats(WrittenCells cells);
/// Throws RequestError that lists the known formats when this is none of them.
void check_format(const std::string& format, std::span<const std::string> known);

/// Files of this name, whose extension tells the format. Throw UsageError for a format that cannot hold it, and
/// RuntimeError.
Reply mesh_file(const Dataset& dataset, const std::string& name);
Reply image_file(const ImageGrid& grid, DataArray array, const std::string& name);

}  // namespace isochron::viewer
