// Where a lattice lies in the world, and the part of an image that an object needs.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "isochron/core/parallel.h"
#include "isochron/image.h"
#include "isochron/surface.h"
#include "isochron/types.h"

namespace isochron {

/// The frame of an image whose axes are orthogonal, with its first voxel at the origin of the lattice. Throws
/// InputError for a grid without usable or with sheared axes; `what` names the image.
LatticeFrame frame_of(const ImageGrid& grid, const std::string& what);

/// The same for an image that surfaces are taken from: throws InputError also when it is flat or has another number of
/// values than voxels.
LatticeFrame checked_frame(const ImageGrid& grid, std::size_t values);

// ---- The part of an image that an object needs: cut out where the image is larger, continued where it is not.

/// A box of voxel indices; `from` may be negative and `to` (one past the end) larger than the image.
struct ImageBox {
  std::array<int, 3> from{0, 0, 0}, to{0, 0, 0};

  void include(const std::array<int, 3>& low, const std::array<int, 3>& high) {
    for (int a = 0; a < 3; ++a) {
      if (low[a] < from[a]) from[a] = low[a];
      if (high[a] > to[a]) to[a] = high[a];
    }
  }
  [[nodiscard]] Lattice lattice(const ImageGrid& grid) const {
    Lattice result;
    for (int a = 0; a < 3; ++a) {
      result.shape[a] = to[a] - from[a];
      result.spacing[a] = grid.spacing(a);
    }
    return result;
  }
  /// The same box in the world.
  [[nodiscard]] LatticeFrame frame(const ImageGrid& grid, const LatticeFrame& whole) const {
    LatticeFrame result = whole;
    for (int a = 0; a < 3; ++a) result.origin += (from[a] * grid.spacing(a)) * whole.axis[a];
    return result;
  }
};

/// The smallest box around the voxels where `inside(index)`, and `margin` more on every side; how many there are.
template <class Inside>
std::size_t box_around(const ImageGrid& grid, int margin, int threads, const Inside& inside, ImageBox& box) {
  const int n[3] = {static_cast<int>(grid.shape[0]), static_cast<int>(grid.shape[1]), static_cast<int>(grid.shape[2])};
  struct Part {
    ImageBox box;
    std::size_t count = 0;
  };
  std::vector<Part> parts(static_cast<std::size_t>(threads), Part{{{n[0], n[1], n[2]}, {0, 0, 0}}, 0});
  parallel_region(threads, [&](int thread, int team) {
    Part& part = parts[static_cast<std::size_t>(thread)];
    for (int k = n[2] * thread / team; k < n[2] * (thread + 1) / team; ++k) {
      for (int j = 0; j < n[1]; ++j) {
        std::size_t index = grid.voxel(0, static_cast<std::uint32_t>(j), static_cast<std::uint32_t>(k)).index();
        int first = n[0], last = -1;
        for (int i = 0; i < n[0]; ++i, ++index) {
          if (!inside(index)) continue;
          ++part.count;
          if (first > i) first = i;
          last = i;
        }
        if (last >= 0) part.box.include({first, j, k}, {last + 1, j + 1, k + 1});
      }
    }
  });
  for (const Part& part : parts) parts[0].box.include(part.box.from, part.box.to);
  box = parts[0].box;
  std::size_t count = 0;
  for (const Part& part : parts) count += part.count;
  for (int a = 0; a < 3; ++a) {
    box.from[a] -= margin;
    box.to[a] += margin;
  }
  return count;
}

/// Calls `visit(lattice index, image index of the nearest voxel, whether the place is in the image)` for a box's
/// points, by slices on several threads.
template <class Visit>
void for_box(const ImageGrid& grid, const ImageBox& box, int threads, const Visit& visit) {
  const auto nearest = [&](int at, int axis) {
    const int last = static_cast<int>(grid.shape[axis]) - 1;
    return at < 0 ? 0 : at > last ? last : at;
  };
  const Lattice lattice = box.lattice(grid);
  parallel_region(threads, [&](int thread, int team) {
    const int slices = lattice.shape[2];
    for (int slice = slices * thread / team; slice < slices * (thread + 1) / team; ++slice) {
      const int k = box.from[2] + slice, near_k = nearest(k, 2);
      std::size_t point = lattice.index(0, 0, slice);
      for (int j = box.from[1]; j < box.to[1]; ++j) {
        const int near_j = nearest(j, 1);
        const std::size_t row = grid.shape[0] * (near_j + std::size_t{grid.shape[1]} * near_k);
        for (int i = box.from[0]; i < box.to[0]; ++i, ++point) {
          const int near_i = nearest(i, 0);
          visit(point, row + static_cast<std::size_t>(near_i), near_i == i && near_j == j && near_k == k);
        }
      }
    }
  });
}

}  // namespace isochron
