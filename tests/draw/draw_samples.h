// A flat square and a cube of tetrahedra with an array that grows along x.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "isochron/dataset.h"

namespace isochron {

inline void add_x_array(Dataset& dataset) {
  std::vector<double> x;
  for (const Vec3d& p : dataset.points) x.push_back(p.x);
  dataset.point_data.set({"x", 1, std::move(x)});
}

/// The unit square in n × n × 2 triangles.
inline Dataset sample_square(std::size_t n) {
  Dataset d;
  const auto id = [n](std::size_t i, std::size_t j) { return VertexId(j * (n + 1) + i); };
  const double h = 1.0 / static_cast<double>(n);
  for (std::size_t j = 0; j <= n; ++j) {
    for (std::size_t i = 0; i <= n; ++i)
      d.points.push_back({h * static_cast<double>(i), h * static_cast<double>(j), 0});
  }
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      d.triangles.cells.push_back({id(i, j), id(i + 1, j), id(i + 1, j + 1)});
      d.triangles.cells.push_back({id(i, j), id(i + 1, j + 1), id(i, j + 1)});
    }
  }
  add_x_array(d);
  return d;
}

/// The unit cube in n³ × 6 tetrahedra; the cell array "slab" counts layers along z.
inline Dataset sample_cube(std::size_t n) {
  Dataset d;
  const double h = 1.0 / static_cast<double>(n);
  const auto id = [n](const std::array<std::size_t, 3>& at) {
    return VertexId((at[2] * (n + 1) + at[1]) * (n + 1) + at[0]);
  };
  for (std::size_t k = 0; k <= n; ++k) {
    for (std::size_t j = 0; j <= n; ++j) {
      for (std::size_t i = 0; i <= n; ++i) {
        d.points.push_back({h * static_cast<double>(i), h * static_cast<double>(j), h * static_cast<double>(k)});
      }
    }
  }
  std::vector<std::int32_t> slab;
  for (std::size_t cell = 0; cell < n * n * n; ++cell) {
    // One tetrahedron for each order in which the axes can be walked from one corner to the opposite one.
    std::array<std::size_t, 3> axes{0, 1, 2};
    do {
      std::array<std::size_t, 3> at{cell % n, cell / n % n, cell / n / n};
      std::array<VertexId, 4> tet{id(at)};
      for (std::size_t step = 0; step < 3; ++step) {
        ++at[axes[step]];
        tet[step + 1] = id(at);
      }
      d.tets.cells.push_back(tet);
      slab.push_back(static_cast<std::int32_t>(cell / n / n));
    } while (std::next_permutation(axes.begin(), axes.end()));
  }
  d.tets.data.set({"slab", 1, std::move(slab)});
  add_x_array(d);
  return d;
}

}  // namespace isochron
