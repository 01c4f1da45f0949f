#include "isochron/surface/field/size_brush.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "isochron/core/error.h"
#include "isochron/surface/field/sizing.h"

namespace isochron {
namespace {

bool finite(const Vec3d& p) { return std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z); }

/// Multiplies what a brush does into the factors of the lattice points that it reaches.
void paint(const SizeBrush& brush, const Vec3d& center, const Lattice& lattice, std::vector<float>& factors) {
  int from[3], to[3];
  for (int a = 0; a < 3; ++a) {
    const double low = std::ceil((center[a] - brush.radius) / lattice.spacing[a]);
    const double high = std::floor((center[a] + brush.radius) / lattice.spacing[a]);
    from[a] = static_cast<int>(std::clamp(low, 0.0, static_cast<double>(lattice.shape[a])));
    to[a] = static_cast<int>(std::clamp(high, -1.0, static_cast<double>(lattice.shape[a] - 1)));
  }
  for (int k = from[2]; k <= to[2]; ++k)
    for (int j = from[1]; j <= to[1]; ++j)
      for (int i = from[0]; i <= to[0]; ++i) {
        const double part = norm(lattice.position(i, j, k) - center) / brush.radius;
        if (!(part < 1)) continue;
        const double weight = (1 - part * part) * (1 - part * part);
        factors[lattice.index(i, j, k)] *= static_cast<float>(1 + (brush.factor - 1) * weight);
      }
}

}  // namespace

void check_brushes(std::span<const SizeBrush> brushes) {
  for (const SizeBrush& brush : brushes) {
    if (!(brush.radius > 0 && std::isfinite(brush.radius) && finite(brush.center)))
      throw UsageError(
          fmt::format("a brush of radius {} cannot be used; give a place and a positive length", brush.radius));
    if (!(brush.factor >= SizeBrush::smallest_factor && brush.factor <= SizeBrush::largest_factor))
      throw UsageError(fmt::format("a brush of factor {} cannot be used; give one from {} (smaller triangles) to {}",
                                   brush.factor, SizeBrush::smallest_factor, SizeBrush::largest_factor));
  }
}

void apply_brushes(std::span<const SizeBrush> brushes, const LatticeFrame& frame, double delta, SizeField& sizes) {
  if (brushes.empty()) return;
  std::vector<float> factors(sizes.values.size(), 1);
  for (const SizeBrush& brush : brushes) paint(brush, frame.to_lattice(brush.center), sizes.lattice, factors);
  constexpr auto low = static_cast<float>(SizeBrush::smallest_factor);
  constexpr auto high = static_cast<float>(SizeBrush::largest_factor);
  for (std::size_t v = 0; v < factors.size(); ++v) sizes.values[v] *= std::clamp(factors[v], low, high);
  limit_growth(delta, sizes);
}

}  // namespace isochron
