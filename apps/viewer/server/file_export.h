// Results as files to download.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "apps/viewer/server/scene.h"
#include "isochron/dataset.h"
#include "isochron/image.h"
#include "isochron/io.h"

namespace isochron::viewer {

/// The formats of meshes (or of lines) that are one file: "vtp", "ply", …
std::vector<std::string> mesh_formats(WrittenCells cells);
/// Throws RequestError that lists the known formats when this is none of them.
void check_format(const std::string& format, std::span<const std::string> known);

/// Files of this name, whose extension picks the format. Throw UsageError for a format that cannot hold it, and
/// RuntimeError.
Reply mesh_file(const Dataset& dataset, const std::string& name);
Reply image_file(const ImageGrid& grid, DataArray array, const std::string& name);

/// The bytes of a file of this format ("vtu", "csv", …), named after `path`: the mesh with its arrays and the times, or
/// of csv and npy a row for each vertex. The data set is as before afterwards. Throws InputError for a format that
/// cannot hold it, and RuntimeError.
Reply export_times(Dataset& file, const std::vector<double>& times, const std::filesystem::path& path,
                   const std::string& format);

}  // namespace isochron::viewer
