// How much volume a field encloses, and how far to move it so that it encloses another.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <span>

#include "isochron/surface/field/spline.h"

namespace isochron {

/// Values at the corners of a lattice's cell and halfway between them, the first axis running fastest.
using CellValues = std::array<float, 27>;

/// A spline's values in the cell whose lowest point is (i, j, k).
CellValues cell_values(const SplineField& field, int i, int j, int k);

/// Which share of a cell has negative values, when these are linear in the tetrahedra that its eighths are cut into.
double negative_share(const CellValues& values);

/// The volume, in cells of the lattice, where a spline is negative. Only cells with corners of both signs are looked at
/// closely.
double negative_volume(const SplineField& field, std::span<const float> values, int threads);

/// Volumes this close (relative) to those of the voxels are left as they are.
constexpr double volume_tolerance = 0.005;

/// Objects of no more voxels can be off by any share.
constexpr double few_voxels = 20;

/// How far a surface is moved at the most, in voxels.
constexpr double max_offset = 0.75;

/// Moves a value outward by `offset`, but not through zero: at least `least` of it is left on its own side.
inline float moved_level(float value, float offset, float least) {
  return value < 0 ? std::min(value - offset, -least) : std::max(value - offset, least);
}

/// The offset within ±`most` at which `volume_at(offset)`, which grows, is `target`; 0 where it is near enough
/// already. The last call of `volume_at` is that of the result.
double offset_for_volume(double target, double most, const std::function<double(double)>& volume_at);

/// A border between two labels: `area` is how much one grows, and the other shrinks, when the first is moved outward by
/// one or the second inward.
struct SharedBorder {
  std::size_t a, b;
  double area;
};

/// How far to move the borders of each label outward so that it grows by so much, when `outside` does not move.
std::vector<double> offsets_for_growth(std::span<const SharedBorder> borders, std::size_t outside,
                                       const std::vector<double>& growth);

}  // namespace isochron
