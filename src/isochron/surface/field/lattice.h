// Where the values of a field lie: a box of points in the image's own frame.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "isochron/core/parallel.h"
#include "isochron/surface.h"
#include "isochron/types.h"

namespace isochron {

/// The cell that holds a position, and where in it: `from` is its lowest point, `part` in [0, 1] along each axis.
/// Positions outside are moved to the border. A device-side view of a lattice, in single or double precision.
template <class T>
struct LatticeView {
  int shape[3]{0, 0, 0};
  Vec3<T> per_spacing{};  // 1 / spacing

  LatticeView() = default;
  explicit LatticeView(const Lattice& lattice)
      : shape{lattice.shape[0], lattice.shape[1], lattice.shape[2]},
        per_spacing{T(1 / lattice.spacing.x), T(1 / lattice.spacing.y), T(1 / lattice.spacing.z)} {}

  struct Place {
    int from[3];
    T part[3];
  };
  ISOCHRON_HD Place place(Vec3<T> p) const {
    Place result;
    for (int a = 0; a < 3; ++a) {
      T u = p[a] * per_spacing[a];
      const T last = T(shape[a] - 1);
      u = u > T(0) ? (u < last ? u : last) : T(0);  // also turns NaN into 0
      int i = static_cast<int>(u);
      if (i > shape[a] - 2) i = shape[a] - 2;
      result.from[a] = i;
      result.part[a] = u - T(i);
    }
    return result;
  }
};

/// Of the box around one point.
inline double voxel_volume(const Lattice& lattice) { return lattice.spacing.x * lattice.spacing.y * lattice.spacing.z; }

/// `value(position)` at every point, by slices on several threads.
template <class Value>
std::vector<float> values_on(const Lattice& lattice, int threads, const Value& value) {
  std::vector<float> values(lattice.point_count());
  parallel_region(threads, [&](int thread, int team) {
    const int slices = lattice.shape[2];
    for (int k = slices * thread / team; k < slices * (thread + 1) / team; ++k)
      for (int j = 0; j < lattice.shape[1]; ++j)
        for (int i = 0; i < lattice.shape[0]; ++i)
          values[lattice.index(i, j, k)] = static_cast<float>(value(lattice.position(i, j, k)));
  });
  return values;
}

}  // namespace isochron
