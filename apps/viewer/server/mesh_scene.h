// A mesh in the viewer: a solver prepared once, and times, isochrones, paths and cuts on request.
#pragma once

#include <filesystem>
#include <memory>

#include "apps/viewer/server/scene.h"
#include "isochron/mesh/dataset.h"

namespace isochron::viewer {

/// The scene of a file with triangles or tetrahedra (solved on the latter where there are both), or with lines or
/// points alone, which can be looked at. `threads`: 0 for all cores. Its answers are geometry, array, solve, path,
/// clip, isosurface, fibers and export (docs/reference/viewer-api.md).
std::unique_ptr<Scene> make_mesh_scene(Dataset&& file, const std::filesystem::path& path, int threads);

}  // namespace isochron::viewer
