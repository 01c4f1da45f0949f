// What tests of derivatives share.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "isochron/solver.h"

namespace isochron::test {

/// Uniform between −1 and 1.
class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  double operator()() { return uniform_(engine_); }
  SymTensor3d tensor() { return {(*this)(), (*this)(), (*this)(), (*this)(), (*this)(), (*this)()}; }

 private:
  std::mt19937 engine_;
  std::uniform_real_distribution<double> uniform_{-1, 1};
};

inline SolveOptions options_of(SourceInit init) {
  SolveOptions options;
  options.tolerance = 1e-13;
  options.precision = Precision::double_;
  options.backend = Backend::serial;
  options.source_init = init;
  return options;
}

inline double size_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += std::isfinite(v) ? v * v : 0;
  return std::sqrt(sum);
}

/// Central differences of the times, in the direction that `with(step)` goes.
inline void expect_differences(const std::function<std::vector<double>(double)>& with,
                               const std::vector<double>& change, double step, double limit) {
  const std::vector<double> after = with(step), before = with(-step);
  std::vector<double> error(change.size());
  for (std::size_t v = 0; v < change.size(); ++v)
    if (after[v] < std::numeric_limits<double>::infinity()) error[v] = (after[v] - before[v]) / (2 * step) - change[v];
  for (const double e : error) ASSERT_TRUE(std::isfinite(e));
  EXPECT_GT(size_of(change), 0);
  EXPECT_LE(size_of(error), limit * size_of(change));
}

template <class Shape>
Linearization linearize(const Shape& shape, const Metric& metric, const Sources& sources, const SolveOptions& options,
                        std::vector<double>& times) {
  Solver solver(Domain(shape, metric), options);
  const Arrival arrival = solver.solve(sources);
  times = arrival.times;
  return solver.linearize(arrival, sources);
}

inline Vec3d middle_of(const ImageGrid& grid, std::size_t voxel) { return grid.position(VertexId(voxel)); }
template <int Corners>
Vec3d middle_of(const SimplexMesh<Corners>& mesh, std::size_t e) {
  Vec3d sum{};
  for (const VertexId v : mesh.elements[e]) sum += mesh.point(v);
  return sum / Corners;
}

}  // namespace isochron::test
