// Brains to find connections in: a real one where its data is there, and a generated one of the same size.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bench/paper/grid_cases.h"
#include "bench/paper/registry.h"
#include "isochron/connect.h"
#include "isochron/diffusion.h"

namespace isochron::bench {

struct Brain {
  static constexpr const char* real_name = "brain";

  std::string name;
  ImageGrid grid;
  std::vector<SymTensor3d> tensors;  ///< in the world
  DiffusionMetric metric;
  /// Two places in the white matter, one in each half, and how large a region around them is (world units).
  Vec3d left, right;
  double radius = 0;

  [[nodiscard]] bool is_real() const { return name == real_name; }
  /// What a quick run leaves out that takes this one whatever its size: a phantom is smaller then.
  [[nodiscard]] QuickRun quick_run() const { return is_real() ? QuickRun::same_meshes : QuickRun::smaller_meshes; }
  [[nodiscard]] GridDomain domain() const { return {grid, metric.metric, metric.usable}; }
};

/// The tensors of a folder: `tensor_mrtrix` and `mask`, as .nii.gz, .nii, or .npy with `affine.npy` beside (4 × 4, from
/// voxels to the world). Nothing when they are not there; throws InputError when they cannot be used.
std::optional<Brain> brain_in(const std::filesystem::path& folder, int threads);

/// That of the data folder (`ISOCHRON_DATA`, else `../shared/data`).
std::optional<Brain> real_brain(int threads);

/// What a table says where there is none: which files are missing.
std::string missing_brain();

/// The voxel in the middle of the white matter: nearest to the mean position of voxels of high anisotropy, and one of
/// them.
VertexId white_matter_middle(const Brain& brain);

/// The image to solve on, from there.
GridModel brain_model(const Brain& brain);

/// An ellipsoid with ventricles, fibres that cross between the halves and others from front to back, a cortex without
/// direction, and noise; at the paper's size as many voxels as the real one.
Brain phantom_brain(BenchSize size, int threads);

/// That of the data folder, else the phantom.
Brain real_or_phantom_brain(BenchSize size, int threads);

/// Questions from the right to a region that is dragged around the left place, half a voxel at a time.
std::vector<ConnectQuery> dragged_queries(const Brain& brain, std::size_t count);

/// The whole brain cut into regions of about the same size.
std::vector<LabelledRegion> brain_parcels(const Brain& brain, std::size_t count, const SolveOptions& options);

}  // namespace isochron::bench
