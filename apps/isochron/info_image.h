// What `isochron info` finds out about an image.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "apps/isochron/image_input.h"
#include "apps/isochron/info.h"
#include "isochron/metric/fiber_coherence.h"

namespace isochron::cli {

/// The tensors of an image, summed up over the voxels that have one.
struct TensorSummary {
  std::string array;
  std::string order;  ///< "row", "mrtrix", …; "matrix" of nine components
  std::string frame;  ///< "world", "voxel", "fsl"
  std::size_t voxels = 0;
  std::size_t empty = 0;                  ///< all components zero: background
  std::size_t not_finite = 0;             ///< voxels with NaN or infinity
  std::size_t not_positive_definite = 0;  ///< of `voxels`
  std::size_t fa_above_one = 0;
  double min_fa = 0, mean_fa = 0, largest_fa = 0;
  FiberCoherence coherence;
};

struct ImageInfo {
  std::filesystem::path file;
  ImageGrid grid;
  std::string axes;  ///< where the voxel axes point to: "RAS", "PSL", …
  std::vector<ArraySummary> arrays;
  std::vector<std::string> meanings;  ///< of each array's components
  std::optional<TensorSummary> tensors;
  std::vector<std::string> warnings;
};

/// Examines an image. Throws InputError when an order of tensors is given and there are none.
ImageInfo examine_image(const std::filesystem::path& file, const Image& image, const TensorLayout& layout);

}  // namespace isochron::cli
