#include "isochron/surface/field/label_smoothing.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "isochron/core/parallel.h"
#include "isochron/error.h"

namespace isochron {
namespace {

constexpr int window =
    static_cast<int>(farthest_level);  // voxels that face distances are looked for in, along each axis
constexpr float max_move = 0.5F;       // voxels
constexpr int rounds = 5;

std::size_t size_of(int n) { return static_cast<std::size_t>(n); }

// Replaces each value by `combine(line, i)` of a padded line through it, along one axis. Works on blocks of
// neighbouring lines at a time, so that all three axes read memory in order.
template <class Combine>
void along_axis(const Lattice& lattice, int axis, int pad, int threads, std::vector<float>& values, Combine&& combine) {
  constexpr std::size_t block = 32;
  const std::size_t n = size_of(lattice.shape[axis]);
  std::size_t stride = 1;
  for (int a = 0; a < axis; ++a) stride *= size_of(lattice.shape[a]);
  const std::size_t lines = lattice.point_count() / n;
  const std::size_t across = axis == 0 ? 1 : stride;  // lines side by side
  const std::size_t width = axis == 0 ? 1 : std::min(block, across);
  const std::size_t blocks_across = (across + width - 1) / width;
  const std::size_t padded = n + 2 * size_of(pad);
  parallel_region(threads, [&](int thread, int team) {
    std::vector<float> in(padded * width), out(width);
    const std::size_t jobs = lines / across * blocks_across;
    for (std::size_t job = jobs * thread / team; job < jobs * (thread + 1) / team; ++job) {
      const std::size_t first = job % blocks_across * width, count = std::min(width, across - first);
      float* start = values.data() + job / blocks_across * across * n + first;
      for (std::size_t i = 0; i < padded; ++i) {
        const std::size_t from = std::min(n - 1, i < size_of(pad) ? 0 : i - size_of(pad));
        std::copy_n(start + from * stride, count, in.data() + i * width);
      }
      for (std::size_t i = 0; i < n; ++i) {
        combine(in.data() + i * width, width, count, out.data());
        std::copy_n(out.data(), count, start + i * stride);
      }
    }
  });
}

// Squared distances, in voxels, from the points where `values` is infinite to the cubes around those where it is 0. The
// square of a cube's distance is a sum over the axes, so each axis takes its minimum in turn.
void squared_distances(const Lattice& lattice, int threads, std::vector<float>& values) {
  for (int a = 0; a < 3; ++a) {
    along_axis(lattice, a, window, threads, values,
               [](const float* in, std::size_t width, std::size_t count, float* out) {
                 std::copy_n(in + window * width, count, out);
                 for (int d = 1; d <= window; ++d) {
                   const float gap = (static_cast<float>(d) - 0.5F) * (static_cast<float>(d) - 0.5F);
                   const float *before = in + size_of(window - d) * width, *behind = in + size_of(window + d) * width;
                   for (std::size_t c = 0; c < count; ++c)
                     out[c] = std::min(out[c], gap + std::min(before[c], behind[c]));
                 }
               });
  }
}

std::vector<float> face_distances(const Lattice& lattice, std::span<const std::uint8_t> inside, int threads) {
  constexpr float far = farthest_level * farthest_level;
  std::vector<float> result(inside.size(), 0);
  std::vector<float> squares(inside.size());
  for (const bool side : {true, false}) {
    for (std::size_t v = 0; v < inside.size(); ++v) squares[v] = (inside[v] != 0) == side ? far : 0;
    squared_distances(lattice, threads, squares);
    parallel_for(threads, inside.size(), [&](std::size_t v) {
      if ((inside[v] != 0) == side) result[v] = (side ? -1 : 1) * std::sqrt(std::min(squares[v], far));
    });
  }
  return result;
}

}  // namespace

void gaussian(const Lattice& lattice, double width, int threads, std::vector<float>& values) {
  if (!(width <= max_smoothing))
    throw UsageError(fmt::format("a smoothing over {:g} voxels is too wide; give at most {:g}", width, max_smoothing));
  std::vector<float> weights(size_of(static_cast<int>(std::ceil(3 * width))) + 1);
  float sum = 0;
  for (std::size_t d = 0; d < weights.size(); ++d) {
    const double at = static_cast<double>(d) / width;
    weights[d] = static_cast<float>(std::exp(-0.5 * at * at));
    sum += (d == 0 ? 1 : 2) * weights[d];
  }
  for (float& weight : weights) weight /= sum;
  const int radius = static_cast<int>(weights.size()) - 1;
  for (int a = 0; a < 3; ++a) {
    along_axis(lattice, a, radius, threads, values,
               [&](const float* in, std::size_t side_by_side, std::size_t count, float* out) {
                 for (std::size_t c = 0; c < count; ++c) out[c] = weights[0] * in[size_of(radius) * side_by_side + c];
                 for (int d = 1; d <= radius; ++d) {
                   const float weight = weights[size_of(d)];
                   const float *before = in + size_of(radius - d) * side_by_side,
                               *behind = in + size_of(radius + d) * side_by_side;
                   for (std::size_t c = 0; c < count; ++c) out[c] += weight * (before[c] + behind[c]);
                 }
               });
  }
}

void smooth(const Lattice& lattice, double width, int threads, std::vector<float>& values) {
  gaussian(lattice, width, threads, values);
  std::vector<float> twice = values;
  gaussian(lattice, width, threads, twice);
  parallel_for(threads, values.size(), [&](std::size_t v) { values[v] = 2 * values[v] - twice[v]; });
}

std::vector<float> smoothed_level(const Lattice& lattice, std::span<const std::uint8_t> inside, double width,
                                  int threads) {
  const std::vector<float> faces = face_distances(lattice, inside, threads);
  std::vector<float> level = faces;
  // Back and forth between what is smooth and what is allowed.
  for (int round = 0; round < (width > 0 ? rounds : 0); ++round) {
    smooth(lattice, width, threads, level);
    parallel_for(threads, level.size(), [&](std::size_t v) {
      level[v] = std::clamp(level[v], faces[v] - max_move, faces[v] + max_move);
      level[v] = inside[v] != 0 ? std::min(level[v], -min_level) : std::max(level[v], min_level);
    });
  }
  return level;
}

}  // namespace isochron
