#include "isochron/surface/field/near_band.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "isochron/core/parallel.h"

namespace isochron {
namespace {

constexpr double width = 3;                // in voxels
constexpr double clearly_less = 1 - 1e-9;  // the same foot is not nearer than itself, however the sums are rounded
constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

std::array<int, 3> place_of(const Lattice& lattice, std::size_t index) {
  const auto nx = static_cast<std::size_t>(lattice.shape[0]), ny = static_cast<std::size_t>(lattice.shape[1]);
  return {static_cast<int>(index % nx), static_cast<int>(index / nx % ny), static_cast<int>(index / (nx * ny))};
}

Vec3d as_double(const Vec3f& v) { return {v.x, v.y, v.z}; }
Vec3f as_float(const Vec3d& v) { return {static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z)}; }

}  // namespace

template <class Visit>
void NearBand::for_crossings(int i, int j, int k, Visit&& visit) const {
  const int at[3] = {i, j, k};
  const std::ptrdiff_t stride[3] = {1, lattice_.shape[0],
                                    static_cast<std::ptrdiff_t>(lattice_.shape[0]) * lattice_.shape[1]};
  const std::size_t here = lattice_.index(i, j, k);
  const double value = level_[here];
  for (int a = 0; a < 3; ++a) {
    for (const int step : {-1, 1}) {
      if (at[a] + step < 0 || at[a] + step >= lattice_.shape[a]) continue;
      const double other = level_[here + step * stride[a]];
      if ((value < 0) == (other < 0)) continue;
      const double part = std::clamp(value / (value - other), 1e-4, 1 - 1e-4);  // not at the very ends
      visit(a, step * part * lattice_.spacing[a]);
    }
  }
}

double NearBand::axis_distance(std::size_t m) const {
  const auto [i, j, k] = place_of(lattice_, points_[m]);
  Vec3d nearest = Vec3d{1, 1, 1} * std::numeric_limits<double>::infinity();
  for_crossings(i, j, k, [&](int axis, double way) { nearest[axis] = std::min(nearest[axis], std::abs(way)); });
  double sum = 0;
  for (int a = 0; a < 3; ++a) sum += 1 / (nearest[a] * nearest[a]);
  return 1 / std::sqrt(sum);
}

NearBand::Places NearBand::crossings_in(int from_slice, int to_slice) const {
  Places found;
  for (int k = from_slice; k < to_slice; ++k) {
    for (int j = 0; j < lattice_.shape[1]; ++j) {
      for (int i = 0; i < lattice_.shape[0]; ++i) {
        int axis = -1;
        double nearest = std::numeric_limits<double>::infinity();
        for_crossings(i, j, k, [&](int a, double way) {
          if (!(std::abs(way) < std::abs(nearest))) return;
          axis = a;
          nearest = way;
        });
        if (axis < 0) continue;
        Vec3d foot = lattice_.position(i, j, k);
        foot[axis] += nearest;
        found.points.push_back(static_cast<std::uint32_t>(lattice_.index(i, j, k)));
        found.feet.push_back(as_float(foot));
      }
    }
  }
  return found;
}

// The points of the front offer their feet to their neighbours in some slices; who has none yet or a farther one takes
// it.
NearBand::Round NearBand::neighbours_in(int from_slice, int to_slice, const Places& front) {
  Round round;
  Places& found = round.found;
  const auto known = static_cast<std::uint32_t>(points_.size());
  const Vec3d per_spacing{1 / lattice_.spacing.x, 1 / lattice_.spacing.y, 1 / lattice_.spacing.z};
  const auto offer = [&](int i, int j, int k, const Vec3f& foot) {
    const Vec3d x = lattice_.position(i, j, k), off = x - as_double(foot);
    double voxels2 = 0;
    for (int a = 0; a < 3; ++a) voxels2 += off[a] * off[a] * per_spacing[a] * per_spacing[a];
    if (voxels2 > width * width) return;
    const std::size_t point = lattice_.index(i, j, k);
    std::uint32_t& slot = slot_[point];
    if (slot == none) {
      slot = known + static_cast<std::uint32_t>(found.points.size());
      found.points.push_back(static_cast<std::uint32_t>(point));
      found.feet.push_back(foot);
      return;
    }
    Vec3f& mine = slot < known ? feet_[slot] : found.feet[slot - known];
    const Vec3d to_mine = x - as_double(mine);
    if (!(dot(off, off) < clearly_less * dot(to_mine, to_mine))) return;
    mine = foot;
    if (slot < known) round.improved.push_back(slot);
  };
  const auto first_in = [&](int slice) {
    const auto limit = lattice_.index(0, 0, std::clamp(slice, 0, lattice_.shape[2]));
    return std::lower_bound(front.points.begin(), front.points.end(), limit) - front.points.begin();
  };
  for (auto m = first_in(from_slice - 1); m < first_in(to_slice + 1); ++m) {
    const auto [i, j, k] = place_of(lattice_, front.points[m]);
    for (int to_k = std::max(from_slice, k - 1); to_k < std::min(to_slice, k + 2); ++to_k)
      for (int to_j = std::max(0, j - 1); to_j < std::min(lattice_.shape[1], j + 2); ++to_j)
        for (int to_i = std::max(0, i - 1); to_i < std::min(lattice_.shape[0], i + 2); ++to_i)
          offer(to_i, to_j, to_k, front.feet[m]);
  }
  return round;
}

// Takes new points into the band, and gives the next front: those, and the ones with a nearer foot than before. All in
// the lattice's order, which does not depend on how many parts there are.
NearBand::Places NearBand::append(const std::vector<Round>& parts) {
  std::vector<std::uint32_t> slots;
  for (const Round& part : parts) {
    slots.insert(slots.end(), part.improved.begin(), part.improved.end());
    for (std::size_t n = 0; n < part.found.points.size(); ++n) {
      slot_[part.found.points[n]] = static_cast<std::uint32_t>(points_.size());
      slots.push_back(static_cast<std::uint32_t>(points_.size()));
      points_.push_back(part.found.points[n]);
      feet_.push_back(part.found.feet[n]);
    }
  }
  std::sort(slots.begin(), slots.end(), [&](std::uint32_t a, std::uint32_t b) { return points_[a] < points_[b]; });
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
  Places front;
  front.points.reserve(slots.size());
  front.feet.reserve(slots.size());
  for (const std::uint32_t slot : slots) {
    front.points.push_back(points_[slot]);
    front.feet.push_back(feet_[slot]);
  }
  return front;
}

NearBand::NearBand(const Lattice& lattice, std::span<const float> level, int threads)
    : lattice_(lattice), level_(level), slot_(lattice.point_count(), none) {
  const auto by_slices = [&](const auto& work) {
    std::vector<Round> parts(static_cast<std::size_t>(std::max(1, threads)));
    parallel_region(threads, [&](int thread, int team) {
      const int slices = lattice_.shape[2];
      parts[static_cast<std::size_t>(thread)] = work(slices * thread / team, slices * (thread + 1) / team);
    });
    return append(parts);
  };
  Places front = by_slices([&](int from, int to) { return Round{crossings_in(from, to), {}}; });
  crossing_count_ = points_.size();
  while (!front.points.empty()) front = by_slices([&](int from, int to) { return neighbours_in(from, to, front); });
  slot_ = {};
}

}  // namespace isochron
