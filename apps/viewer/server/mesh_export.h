// A mesh with its times as a file to take home.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "apps/viewer/server/scene.h"
#include "isochron/mesh/dataset.h"

namespace isochron::viewer {

/// The bytes of a file of this format ("vtu", "csv", …), named after `path`: the mesh with its arrays and the times, or
/// of csv and npy a row for each vertex. The data set is as before afterwards. Throws InputError for a format that
/// cannot hold it, and RuntimeError.
Reply export_times(Dataset& file, const std::vector<double>& times, const std::filesystem::path& path,
                   const std::string& format);

}  // namespace isochron::viewer
