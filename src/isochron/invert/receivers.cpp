#include "isochron/invert/receivers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "isochron/error.h"
#include "isochron/mesh/locator.h"

namespace isochron {
namespace {

[[noreturn]] void throw_outside(std::size_t receiver, const Vec3d& at, double distance, double tolerance) {
  throw InputError(fmt::format(
      "receiver {} at {:g},{:g},{:g} is {:.4g} away from what is solved on (at most {:.4g}); move it or leave it out",
      receiver, at.x, at.y, at.z, distance, tolerance));
}

void add_row(ReceiverRows& rows, std::span<const std::uint32_t> vertices, std::span<const double> weights) {
  double sum = 0;
  for (const double w : weights) sum += w;
  for (std::size_t k = 0; k < vertices.size(); ++k) {
    if (!(weights[k] > 0)) continue;
    rows.vertices.push_back(vertices[k]);
    rows.weights.push_back(weights[k] / sum);
  }
  rows.offsets.push_back(rows.vertices.size());
}

}  // namespace

double ReceiverRows::time_at(std::size_t receiver, std::span<const double> times) const {
  double sum = 0;
  for (std::size_t k = offsets[receiver]; k < offsets[receiver + 1]; ++k) sum += weights[k] * times[vertices[k]];
  return sum;
}

void ReceiverRows::add_transposed(std::size_t receiver, double value, std::span<double> cotangent) const {
  for (std::size_t k = offsets[receiver]; k < offsets[receiver + 1]; ++k) cotangent[vertices[k]] += weights[k] * value;
}

template <int Corners>
ReceiverRows receiver_rows(const SimplexMesh<Corners>& conducting, std::span<const Vec3d> receivers, double tolerance,
                           int threads) {
  const PointLocator<Corners> locator(conducting, threads);
  ReceiverRows rows;
  for (std::size_t r = 0; r < receivers.size(); ++r) {
    const auto at = locator.nearest(receivers[r]);
    if (at.distance > tolerance) throw_outside(r, receivers[r], at.distance, tolerance);
    std::array<std::uint32_t, Corners> corners;
    for (int c = 0; c < Corners; ++c) corners[c] = conducting.element(at.element)[c].value;
    add_row(rows, corners, at.weights);
  }
  return rows;
}

template ReceiverRows receiver_rows(const TriangleMesh&, std::span<const Vec3d>, double, int);
template ReceiverRows receiver_rows(const TetMesh&, std::span<const Vec3d>, double, int);

ReceiverRows receiver_rows(const MaskedGrid& image, std::span<const Vec3d> receivers, double tolerance) {
  const ImageGrid& grid = *image.grid;
  ReceiverRows rows;
  for (std::size_t r = 0; r < receivers.size(); ++r) {
    if (!is_finite(receivers[r])) throw InputError(fmt::format("receiver {} is not finite; leave it out", r));
    const Vec3d index = grid.index_of(receivers[r]);
    Vec3d inside;
    std::array<std::uint32_t, 3> low{};
    Vec3d share{};
    for (int k = 0; k < 3; ++k) {
      inside[k] = std::clamp(index[k], -0.5, grid.shape[k] - 0.5);  // a voxel reaches half a step around its centre
      const double last = grid.shape[k] - 1.0;
      const double at = std::clamp(inside[k], 0.0, last);
      low[k] = static_cast<std::uint32_t>(std::min(std::floor(at), std::max(0.0, last - 1)));
      share[k] = at - low[k];
    }
    const double distance = norm(grid.position(inside) - receivers[r]);
    if (distance > tolerance && inside != index) throw_outside(r, receivers[r], distance, tolerance);
    std::array<std::uint32_t, 8> voxels{};
    std::array<double, 8> weights{};
    for (std::uint32_t c = 0; c < 8; ++c) {
      double w = 1;
      std::array<std::uint32_t, 3> at{};
      for (int k = 0; k < 3; ++k) {
        const std::uint32_t up = (c >> k) & 1U;
        at[k] = std::min(low[k] + up, grid.shape[k] - 1);
        w *= up == 1 ? share[k] : 1 - share[k];
      }
      const VertexId voxel = grid.voxel(at[0], at[1], at[2]);
      voxels[c] = voxel.value;
      if (image.mask.empty() || image.mask[voxel.index()] != 0) weights[c] = w;
    }
    if (std::none_of(weights.begin(), weights.end(), [](double w) { return w > 0; }))
      throw InputError(fmt::format("receiver {} at {:g},{:g},{:g} is outside the mask; move it or leave it out", r,
                                   receivers[r].x, receivers[r].y, receivers[r].z));
    add_row(rows, voxels, weights);
  }
  return rows;
}

}  // namespace isochron
