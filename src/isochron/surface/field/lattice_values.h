// A function of the position, at the points of a lattice.
#pragma once

#include <vector>

#include "isochron/core/parallel.h"
#include "isochron/surface/field/lattice.h"

namespace isochron {

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
