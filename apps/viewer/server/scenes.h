// The kinds of data sets: meshes, volumes, and images of diffusion tensors. docs/reference/viewer-api.md lists what
// each answers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "apps/viewer/server/scene.h"
#include "isochron/dataset.h"
#include "isochron/image.h"
#include "isochron/options.h"

namespace isochron {
struct ExtractedSurface;
}

namespace isochron::viewer {

/// What a scene computes on.
struct ComputeOptions {
  int threads = 0;  ///< 0: all cores
  Backend backend = Backend::automatic;
};

/// The scene of a file with triangles or tetrahedra (solved on the latter where there are both), or with lines or
/// points alone, which can be looked at. A solver is prepared once; times, isochrones, paths and cuts are on request.
std::unique_ptr<Scene> make_mesh_scene(Dataset&& file, const std::filesystem::path& path,
                                       const ComputeOptions& compute);

/// An image of one value a voxel.
struct VolumeImage {
  ImageGrid grid;
  std::vector<float> values;
  std::vector<std::string> warnings;
  std::string name{"volume"};  ///< that files made of it begin with
  std::string units{"mm"};     ///< of lengths; empty where the file does not say
};

/// Surfaces around an isovalue or a label; while one is made, surface/particles shows where its particles are.
std::unique_ptr<Scene> make_surface_scene(VolumeImage image, const ComputeOptions& compute);

/// What the user should know about a surface, a line each: its own notes, and whether its particles had not settled.
std::vector<std::string> surface_notes(const ExtractedSurface& made);

/// Tensors in the world, and where they count (a value a voxel, not 0 where they do; empty: wherever there is one).
struct TensorImage {
  ImageGrid grid;
  std::vector<SymTensor3d> tensors;
  std::vector<std::uint8_t> mask;
  std::vector<std::string> warnings;
  std::string name{"tensors"};
  std::string units{"mm"};
};

/// Anisotropy to look at, and pathways between two picked regions (paper 004), which are kept by client and name.
/// Throws InputError when the tensors cannot be diffusion tensors.
std::unique_ptr<Scene> make_tensor_scene(TensorImage image, const ComputeOptions& compute);

}  // namespace isochron::viewer
