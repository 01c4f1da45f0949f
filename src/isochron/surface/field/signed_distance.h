// The object in an image as a signed distance field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "isochron/core/progress.h"
#include "isochron/mesh/image.h"
#include "isochron/solve/options.h"
#include "isochron/surface/field/frame.h"
#include "isochron/surface/field/lattice.h"

namespace isochron {

/// An object's surface as the zero set of a distance field: negative inside, in world lengths. The lattice is the part
/// of the image around the object, with some layers of outside on every side (also beyond the image).
struct ImplicitSurface {
  Lattice lattice;
  LatticeFrame frame;
  std::vector<float> distance;  ///< at the lattice points
  double reach = 0;             ///< values stop growing at ±reach
  std::size_t inside_count = 0;
  std::vector<std::string> notes;  ///< what the user should know, a line each
};

enum class InsideIs { above, below };   ///< values at or above the isovalue, or below it
enum class AtBorder { close, refuse };  ///< an object that leaves the image ends at its border; or is an error

/// Label maps are often enlarged from coarser ones, each old voxel a block of new ones. Found, the blocks are the
/// voxels; taken as they are, their steps of several voxels stay in the surface.
enum class Blocks { find, keep };

struct FieldOptions {
  InsideIs inside = InsideIs::above;
  AtBorder border = AtBorder::close;
  /// Width of the smoothing in voxels. Of label maps, whose surface is a staircase: 0 keeps it. Of other images: beyond
  /// what the values say.
  double smoothing = -1;  ///< negative: the default, 1 for labels and 0 for values
  Blocks blocks = Blocks::find;
  /// How far from the surface distances are needed, in voxels of the smallest spacing. Sizes (sizing.h) up to `largest`
  /// need largest/epsilon.
  double reach = 16;
  int threads = 0;  ///< 0: all cores
  Backend backend = Backend::automatic;
};

/// The object where values are above (below) the isovalue; values between voxels are those of the cubic spline. One
/// value per voxel; those that are not finite count as outside, with a note. Throws InputError for an image that is
/// flat, sheared or constant, an isovalue that leaves nothing inside or nothing outside (the range is said), and an
/// object that leaves the image when that is to be refused; and Cancelled.
ImplicitSurface from_isovalue(const ImageGrid& grid, std::span<const float> values, double isovalue,
                              const FieldOptions& options = {}, const Progress& progress = {});

/// Of voxels that belong to nothing, such as those that are no number.
inline constexpr std::int32_t no_label = std::numeric_limits<std::int32_t>::min();

/// The object made of all voxels with one of these labels. Its surface is smoothed to less than a voxel but stays
/// between the centres of the voxels on both sides, at most half a voxel away from their common face. An object
/// that fills the image is closed on the image's faces. Throws InputError for an image that is flat or sheared, labels
/// that it does not have (those that it has are listed), and an object that leaves it when that is to be refused; and
/// Cancelled.
ImplicitSurface from_labels(const ImageGrid& grid, std::span<const std::int32_t> labels,
                            const std::set<std::int32_t>& wanted, const FieldOptions& options = {},
                            const Progress& progress = {});

}  // namespace isochron
