#include "isochron/solve/common/seed.h"

#include <algorithm>
#include <cmath>

namespace isochron {

int limited_rings(int ball_rings, std::size_t sources, std::size_t vertex_count, int dim) {
  const double budget = std::max(1e5, 0.25 * static_cast<double>(vertex_count));
  const double share = budget / static_cast<double>(std::max<std::size_t>(1, sources));
  const double side = std::pow(share, 1.0 / dim);
  return std::min(ball_rings, static_cast<int>(std::max(0.0, (side - 1) / 2)));
}

}  // namespace isochron
