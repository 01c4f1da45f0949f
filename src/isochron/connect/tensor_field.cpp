#include "isochron/connect.h"

#include <algorithm>
#include <cmath>

namespace isochron {

std::optional<SymTensor3d> tensor_at(const TensorField& field, const Vec3d& position) {
  const ImageGrid& grid = field.grid;
  const auto holder = grid.voxel_at(position);
  if (!holder || field.mask[holder->index()] == 0) return std::nullopt;
  const Vec3d at = grid.index_of(position);
  std::array<std::uint32_t, 3> low{};
  Vec3d share;
  for (int d = 0; d < 3; ++d) {
    const double last = grid.shape[static_cast<std::size_t>(d)] - 1.0;
    const double inside = std::clamp(at[d], 0.0, last);
    const double floor = std::min(std::floor(inside), std::max(0.0, last - 1));
    low[static_cast<std::size_t>(d)] = static_cast<std::uint32_t>(floor);
    share[d] = inside - floor;
  }
  SymTensor3d sum;
  double weights = 0;
  for (unsigned corner = 0; corner < 8; ++corner) {
    double weight = 1;
    std::array<std::uint32_t, 3> index = low;
    for (int d = 0; d < 3; ++d) {
      const bool far = (corner >> d & 1U) != 0;
      weight *= far ? share[d] : 1 - share[d];
      if (far) ++index[static_cast<std::size_t>(d)];
    }
    if (weight == 0) continue;  // also the far side of an image that is one voxel thick
    const std::size_t v = grid.voxel(index[0], index[1], index[2]).index();
    if (field.mask[v] == 0) continue;
    sum = sum + weight * field.tensors[v];
    weights += weight;
  }
  return (1 / weights) * sum;  // the voxel that holds the point has a weight of an eighth or more
}

}  // namespace isochron
