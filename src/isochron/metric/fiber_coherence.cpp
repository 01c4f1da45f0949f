#include "isochron/diffusion.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "isochron/types.h"

namespace isochron {
namespace {

struct Fiber {
  Vec3d direction{};
  double anisotropy = 0;  // 0: nothing here
};

std::vector<Fiber> fibers_of(std::span<const SymTensor3d> tensors) {
  std::vector<Fiber> fibers(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const double fa = fractional_anisotropy(tensors[i]);
    if (std::isfinite(fa) && fa > 0) fibers[i] = {principal_direction(tensors[i]), fa};
  }
  return fibers;
}

using Offset = std::array<int, 3>;

/// The 26 neighbours of a voxel by their direction in the world.
class Neighbours {
 public:
  explicit Neighbours(const ImageGrid& grid) : grid_(grid) {
    for (int n = 0; n < 27; ++n) {
      if (n == 13) continue;  // the voxel itself
      const Offset offset{n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
      const Vec3d way = offset[0] * grid.axes[0] + offset[1] * grid.axes[1] + offset[2] * grid.axes[2];
      offsets_.push_back(offset);
      directions_.push_back(way / norm(way));
    }
  }
  [[nodiscard]] const Offset& along(const Vec3d& direction) const {
    const auto best = std::max_element(directions_.begin(), directions_.end(), [&](const Vec3d& a, const Vec3d& b) {
      return dot(a, direction) < dot(b, direction);
    });
    return offsets_[static_cast<std::size_t>(best - directions_.begin())];
  }
  /// The voxel one step from here, or `sign` −1 back; nothing outside the image.
  [[nodiscard]] std::optional<VertexId> step(VertexId voxel, const Offset& offset, int sign) const {
    auto index = grid_.index(voxel);
    for (std::size_t d = 0; d < 3; ++d) {
      const auto next = static_cast<std::int64_t>(index[d]) + sign * offset[d];
      if (next < 0 || next >= static_cast<std::int64_t>(grid_.shape[d])) return std::nullopt;
      index[d] = static_cast<std::uint32_t>(next);
    }
    return grid_.voxel(index[0], index[1], index[2]);
  }

 private:
  const ImageGrid& grid_;
  std::vector<Offset> offsets_;
  std::vector<Vec3d> directions_;
};

double coherence_of(const Neighbours& neighbours, std::span<const Fiber> fibers, const std::vector<std::size_t>& where,
                    const FrameAxes& meant) {
  double sum = 0, weights = 0;
  for (const std::size_t i : where) {
    const Fiber& fiber = fibers[i];
    const Offset& offset = neighbours.along(rotate_to_world(fiber.direction, meant));
    weights += 2 * fiber.anisotropy;
    for (const int sign : {1, -1}) {
      // Turning all directions alike changes no angle between them.
      if (const auto next = neighbours.step(VertexId(i), offset, sign))
        sum += fiber.anisotropy * std::abs(dot(fiber.direction, fibers[next->index()].direction));
    }
  }
  return weights > 0 ? sum / weights : 0;
}

/// What takes directions that were understood in the frame `given` to what they mean in `frame`.
FrameAxes instead_of(const FrameAxes& given, const FrameAxes& frame) {
  const auto& [a, b, c] = given.axis;
  FrameAxes result;
  for (int d = 0; d < 3; ++d)
    result.axis[static_cast<std::size_t>(d)] = rotate_to_world(Vec3d{a[d], b[d], c[d]}, frame);
  return result;
}

}  // namespace

const AxesCandidate* FiberCoherence::better() const {
  if (candidates.empty() || voxels == 0) return nullptr;
  const auto best = std::max_element(candidates.begin(), candidates.end(),
                                     [](const auto& a, const auto& b) { return a.coherence < b.coherence; });
  // |cosine| scatters by some 0.3, so its mean does by that over √voxels.
  const double chance = 0.9 / std::sqrt(static_cast<double>(voxels));
  return best->coherence - candidates.front().coherence > std::max(0.01, chance) ? &*best : nullptr;
}

FiberCoherence fiber_coherence(const ImageGrid& grid, std::span<const SymTensor3d> tensors, TensorFrame given,
                               double min_anisotropy) {
  const std::vector<Fiber> fibers = fibers_of(tensors);
  std::vector<std::size_t> where;
  for (std::size_t i = 0; i < fibers.size(); ++i)
    if (fibers[i].anisotropy > min_anisotropy && fibers[i].anisotropy <= 1) where.push_back(i);
  FiberCoherence result;
  result.voxels = where.size();
  const Neighbours neighbours(grid);
  const FrameAxes axes = frame_axes(grid, given);
  const auto add = [&](const char* name, const FrameAxes& frame) {
    result.candidates.push_back({name, coherence_of(neighbours, fibers, where, instead_of(axes, frame))});
  };
  add("as given", axes);
  constexpr std::array flips{"x negated", "y negated", "z negated"};
  for (std::size_t d = 0; d < 3; ++d) {
    FrameAxes flipped = axes;
    flipped.axis[d] = -flipped.axis[d];
    add(flips[d], flipped);
  }
  constexpr std::array<std::pair<TensorFrame, const char*>, 3> frames{
      {{TensorFrame::world, "frame world"}, {TensorFrame::voxel, "frame voxel"}, {TensorFrame::fsl, "frame fsl"}}};
  for (const auto& [frame, name] : frames)
    if (frame != given) add(name, frame_axes(grid, frame));
  return result;
}

}  // namespace isochron
