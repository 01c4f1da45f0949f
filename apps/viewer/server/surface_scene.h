// A volume in the viewer: pick an isovalue, watch particles settle on its surface, ask for more of them here and there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/viewer/server/scene.h"
#include "isochron/mesh/image.h"
#include "isochron/surface/extract.h"

namespace isochron::viewer {

/// An image of one value a voxel.
struct VolumeImage {
  ImageGrid grid;
  std::vector<float> values;
  std::vector<std::string> warnings;
  std::string name{"volume"};  ///< that files made of it begin with
  std::string units{"mm"};     ///< of lengths; empty where the file does not say
};

/// Its answers are histogram, volume/values, surface and export (docs/reference/viewer-api.md); while a surface is
/// made, surface/particles shows where its particles are. `threads`: 0 for all cores.
std::unique_ptr<Scene> make_surface_scene(VolumeImage image, int threads);

/// What the user should know about a surface, a line each: its own notes, and whether its particles had not settled.
std::vector<std::string> surface_notes(const ExtractedSurface& made);

}  // namespace isochron::viewer
