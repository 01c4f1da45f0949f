// Diffusion tensors in the viewer: anisotropy to look at, and pathways between two picked regions (paper 004).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/viewer/server/scene.h"
#include "isochron/mesh/image.h"

namespace isochron::viewer {

/// Tensors in the world, and where they count (a value a voxel, not 0 where they do; empty: wherever there is one).
struct TensorImage {
  ImageGrid grid;
  std::vector<SymTensor3d> tensors;
  std::vector<std::uint8_t> mask;
  std::vector<std::string> warnings;
  std::string name{"tensors"};  ///< that files made of it begin with
  std::string units{"mm"};      ///< of lengths; empty where the file does not say
};

/// Its answers are volume/fa, volume/direction, volume/cost, connect, glyphs, export and remove
/// (docs/reference/viewer-api.md).
/// Pathways are kept by client and name. `threads`: 0 for all cores. Throws InputError when the tensors cannot be
/// diffusion tensors.
std::unique_ptr<Scene> make_tensor_scene(TensorImage image, int threads);

}  // namespace isochron::viewer
