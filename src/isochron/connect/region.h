// Regions of an image: sets of voxels that paths begin and end in, pass or avoid.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "isochron/mesh/image.h"

namespace isochron {

/// All voxels whose centres are within `radius` of a point of the world; the voxel that holds it when there are none.
struct SphereRegion {
  Vec3d center;
  double radius = 0;
};

/// All voxels with this value in an image of labels.
struct LabelRegion {
  std::filesystem::path file;
  std::int64_t value = 0;
};

/// All voxels inside a mask: see `mask_of`.
struct MaskRegion {
  std::filesystem::path file;
};

/// Voxels by their indices (i, j, k), which count from 0.
struct VoxelRegion {
  std::vector<std::array<std::uint32_t, 3>> voxels;
};

/// A region as it is asked for, before there is an image.
struct RegionRequest {
  std::string text;  ///< as given, for messages
  std::variant<SphereRegion, LabelRegion, MaskRegion, VoxelRegion> what;
};

/// Takes `sphere:X,Y,Z,RADIUS` (RAS, mm), `label:FILE:VALUE`, `mask:FILE` or `voxels:i,j,k;i,j,k;…`. Throws UsageError.
RegionRequest parse_region(std::string_view text);

/// Voxels of one image in ascending order, none twice; never empty when made by the functions below.
struct Region {
  std::string name;  ///< for messages
  std::vector<VertexId> voxels;
};

/// Gives the image in a file; the reference must stay valid as long as it is used.
using ImageSource = std::function<const Image&(const std::filesystem::path&)>;

/// The voxels asked for, in or out of any mask. Throws InputError: none of them in the image, a file that is on other
/// voxels than `grid` or has several values a voxel, a label that it does not have.
Region make_region(const RegionRequest& request, const ImageGrid& grid, const ImageSource& images);

/// The region's voxels in the mask (a value a voxel, not 0 inside). Throws InputError when there are none, and says
/// where the nearest voxel of the mask is.
Region inside_mask(const Region& region, const ImageGrid& grid, std::span<const std::uint8_t> mask);

/// Every label of an image but 0, in ascending order, with its voxels; values are rounded to whole numbers. Throws
/// InputError as `values_on` does, and for values that are no whole numbers.
struct LabelledRegion {
  std::int64_t label = 0;
  Region region;
};
std::vector<LabelledRegion> all_labels(const Image& image, const ImageGrid& grid, const std::string& what);

/// Throws InputError when the two share a voxel.
void check_apart(const Region& a, const Region& b);

// ---- Connected parts of a set of voxels, and how low a level set can be that joins two regions.

struct Components {
  std::vector<std::int32_t> of_voxel;  ///< which part, −1 outside the set
  std::vector<std::size_t> sizes;      ///< voxels in each
};

/// The parts of the voxels that are not 0 in `set`; voxels that share a face, an edge or a corner are together.
Components find_components(const ImageGrid& grid, std::span<const std::uint8_t> set);

/// The smallest level for which a part of {values ≤ level} has voxels of both; +inf when there is none.
double joining_level(const ImageGrid& grid, std::span<const double> values, std::span<const VertexId> from,
                     std::span<const VertexId> to);

}  // namespace isochron
