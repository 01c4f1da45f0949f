#include "bench/paper/scale_parts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "isochron/mesh/ordering.h"

namespace isochron::bench {
namespace {

/// Blocks along the three kinds of axes: the side of the square patch (or x), along the ring (or y), through the wall
/// (or z).
struct Split {
  std::uint64_t side, ring, layer;
};

std::uint64_t parts_of(FieldShape shape, const Split& s) {
  return (shape == FieldShape::box ? s.side * s.ring : s.side * s.side + 4 * s.side * s.ring) * s.layer;
}

/// The split that wastes least: as many parts as there may be, as close to cubes as can be.
Split choose_split(FieldShape shape, const std::array<double, 3>& extent, std::uint64_t wanted) {
  const double volume = shape == FieldShape::box ? extent[0] * extent[1] * extent[2]
                                                 : (extent[0] + 4 * extent[1]) * extent[0] * extent[2];
  const double ideal = std::cbrt(volume / static_cast<double>(wanted));
  const auto range = [&](double length) {
    const double about = length / ideal;
    return std::array{static_cast<std::uint64_t>(std::max(1.0, std::floor(about * 0.6))),
                      static_cast<std::uint64_t>(std::min(std::max(1.0, length), std::ceil(about * 1.6) + 1))};
  };
  Split best{1, 1, 1};
  double best_score = 0;
  const auto [side_low, side_high] = range(extent[0]);
  const auto [ring_low, ring_high] = range(extent[1]);
  const auto max_layers = static_cast<std::uint64_t>(std::max(1.0, extent[2]));
  for (std::uint64_t side = side_low; side <= side_high; ++side)
    for (std::uint64_t ring = ring_low; ring <= ring_high; ++ring) {
      const std::uint64_t base = parts_of(shape, {side, ring, 1});
      if (base > wanted) continue;
      const Split split{side, ring, std::min(wanted / base, max_layers)};
      const std::array<double, 3> s{extent[0] / static_cast<double>(split.side),
                                    extent[1] / static_cast<double>(split.ring),
                                    extent[2] / static_cast<double>(split.layer)};
      const double surface = s[0] * s[1] + s[1] * s[2] + s[2] * s[0];
      const double compact = 3 * std::pow(s[0] * s[1] * s[2], 2.0 / 3) / surface;
      const double used = static_cast<double>(base * split.layer) / static_cast<double>(wanted);
      if (const double score = used * std::sqrt(compact); score > best_score) {
        best_score = score;
        best = split;
      }
    }
  return best;
}

/// Where a part's middle lies in its patch, 0 to 1 along each axis.
std::array<double, 3> middle_of(const PlannedPatch& patch, const BlockAt& at) {
  std::array<double, 3> x{};
  for (int a = 0; a < 3; ++a)
    x[a] = (0.5 * static_cast<double>(patch.begin(a, at.block[a]) + patch.begin(a, at.block[a] + 1) - 1) +
            static_cast<double>(patch.offset[a])) /
           static_cast<double>(patch.cells[a]);
  return x;
}

/// The parts in the order in which they are dealt out.
std::vector<std::uint32_t> dealing_order(const ScaleField& field, const BlockPlan& plan, std::uint32_t parts) {
  std::vector<std::uint32_t> order(parts);
  std::iota(order.begin(), order.end(), 0U);
  if (plan.deal == Deal::arrival) {
    std::vector<double> time(parts);
    for (std::uint32_t part = 0; part < parts; ++part) {
      const BlockAt at = plan.at(part);
      const auto [x, y, z] = middle_of(plan.patches[at.patch], at);
      time[part] = field.patches[at.patch].time_at(x, y, z);
    }
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return time[a] < time[b]; });
    return order;
  }
  std::vector<Vec3d> place(parts);
  for (std::uint32_t part = 0; part < parts; ++part) {
    const BlockAt at = plan.at(part);
    const auto [x, y, z] = middle_of(plan.patches[at.patch], at);
    place[part] = field.patches[at.patch].place_at(x, y, z);
  }
  const Permutation curve = hilbert_order(place);
  return curve.identity() ? order : curve.new_to_old;
}

}  // namespace

double BlockPlan::vertices() const {
  double sum = 0;
  for (const PlannedPatch& p : patches)
    sum += static_cast<double>(p.vertices[0]) * static_cast<double>(p.vertices[1]) * static_cast<double>(p.vertices[2]);
  return sum;
}

BlockAt BlockPlan::at(std::uint32_t part) const {
  std::uint32_t p = 0;
  while (p + 1 < patches.size() && part >= patches[p + 1].first_part) ++p;
  const PlannedPatch& patch = patches[p];
  const auto i = static_cast<std::uint32_t>(part - patch.first_part), nx = static_cast<std::uint32_t>(patch.blocks[0]),
             ny = static_cast<std::uint32_t>(patch.blocks[1]);
  return {p, {i % nx, i / nx % ny, i / (nx * ny)}};
}

std::uint32_t BlockPlan::beside(const BlockAt& at, int axis, int way) const {
  const auto number = [this](std::uint32_t p, std::uint64_t i, std::uint64_t j, std::uint64_t k) {
    const PlannedPatch& patch = patches[p];
    return static_cast<std::uint32_t>(patch.first_part + i + patch.blocks[0] * (j + patch.blocks[1] * k));
  };
  const std::array<std::uint64_t, 3> n = patches[at.patch].blocks;
  std::array<std::uint32_t, 3> to = at.block;
  to[axis] += static_cast<std::uint32_t>(way);  // below 0 it wraps round and is too large
  if (to[axis] < n[axis]) return number(at.patch, to[0], to[1], to[2]);
  if (shape == FieldShape::box || axis == 2) return none;
  const auto [i, j, k] = at.block;
  const std::uint64_t last = patches[0].blocks[0] - 1;
  if (at.patch == 0) {  // out of the square into a sector
    if (axis == 0) return way > 0 ? number(1, j, 0, k) : number(3, last - j, 0, k);
    return way > 0 ? number(2, last - i, 0, k) : number(4, i, 0, k);
  }
  if (axis == 0) return number((at.patch + 3U + static_cast<std::uint32_t>(way)) % 4U + 1U, way > 0 ? 0 : last, j, k);
  if (way > 0) return none;  // the base
  switch (at.patch) {
    case 1: return number(0, last, i, k);
    case 2: return number(0, last - i, last, k);
    case 3: return number(0, 0, last - i, k);
    default: return number(0, i, 0, k);
  }
}

std::uint32_t BlockPlan::beside(const BlockAt& at, const std::array<int, 3>& offset) const {
  int moved = 0, axis = 0;
  for (int a = 0; a < 3; ++a)
    if (offset[a] != 0) {
      ++moved;
      axis = a;
    }
  if (moved == 1) return beside(at, axis, offset[axis]);
  const PlannedPatch& patch = patches[at.patch];
  std::array<std::uint64_t, 3> to{};
  for (int a = 0; a < 3; ++a) {
    to[a] = at.block[a] + static_cast<std::uint64_t>(static_cast<std::int64_t>(offset[a]));
    if (to[a] >= patch.blocks[a]) return none;
  }
  return static_cast<std::uint32_t>(patch.first_part + to[0] + patch.blocks[0] * (to[1] + patch.blocks[1] * to[2]));
}

BlockPlan plan_blocks(const ScaleField& field, double elements, std::uint32_t ranks, std::uint32_t parts_per_rank,
                      Deal deal) {
  BlockPlan plan{field.shape, {}, ranks, parts_per_rank, 1, field.rework, deal, {}};
  plan.refinement = std::cbrt(elements / static_cast<double>(field.elements));
  for (std::size_t p = 0; p < field.patches.size(); ++p) {
    PlannedPatch patch{};
    for (int a = 0; a < 3; ++a) {
      const double cells = std::round(static_cast<double>(field.patches[p].cells[a]) * plan.refinement);
      patch.cells[a] = static_cast<std::uint64_t>(std::max(1.0, cells));
      patch.vertices[a] = patch.cells[a] + 1;
    }
    if (p > 0) {  // a sector begins one ring outside the square and ends where the next one begins
      patch.vertices[0] = patch.cells[0];
      patch.vertices[1] = patch.cells[1];
      patch.offset[1] = 1;
    }
    plan.patches.push_back(patch);
  }
  const PlannedPatch& last = plan.patches.back();
  const Split split = choose_split(field.shape,
                                   {static_cast<double>(last.vertices[0]), static_cast<double>(last.vertices[1]),
                                    static_cast<double>(last.vertices[2])},
                                   static_cast<std::uint64_t>(ranks) * parts_per_rank);
  std::uint32_t parts = 0;
  for (std::size_t p = 0; p < plan.patches.size(); ++p) {
    PlannedPatch& patch = plan.patches[p];
    const bool square = field.shape == FieldShape::ventricle && p == 0;
    patch.blocks = {split.side, square ? split.side : split.ring, split.layer};
    patch.first_part = parts;
    parts += patch.parts();
  }
  const std::vector<std::uint32_t> order = dealing_order(field, plan, parts);
  plan.rank_of.resize(parts);
  for (std::uint32_t i = 0; i < parts; ++i) plan.rank_of[order[i]] = i % ranks;
  return plan;
}

double halo_values(const BlockPlan& plan) {
  // Ghosts of a rank: a vertex that several parts of one rank see is there once. Parts of a rank rarely touch, so the
  // sum over parts of what other ranks own is taken, each receiving rank once for a part's vertex layer.
  double sum = 0;
  for (std::uint32_t part = 0; part < plan.parts(); ++part) {
    const BlockAt at = plan.at(part);
    const PlannedPatch& patch = plan.patches[at.patch];
    for (const auto& offset : ghost_offsets) {
      const std::uint32_t to = plan.beside(at, offset);
      if (to == BlockPlan::none || plan.rank_of[to] == plan.rank_of[part]) continue;
      double values = 1;
      for (int a = 0; a < 3; ++a)
        if (offset[a] == 0)
          values *= static_cast<double>(patch.begin(a, at.block[a] + 1) - patch.begin(a, at.block[a]));
      sum += values;
    }
  }
  return sum;
}

std::vector<FrontCell> front_cells(const ScaleField& field, const BlockPlan& plan, std::size_t wanted) {
  const double each = std::cbrt(static_cast<double>(wanted) / plan.parts());
  const auto pieces = static_cast<std::uint64_t>(std::max(1.0, std::round(each)));
  std::vector<FrontCell> cells;
  for (std::uint32_t part = 0; part < plan.parts(); ++part) {
    const BlockAt at = plan.at(part);
    const PlannedPatch& patch = plan.patches[at.patch];
    const FieldPatch& times = field.patches[at.patch];
    std::array<std::uint64_t, 3> begin{}, count{}, cut{};
    for (int a = 0; a < 3; ++a) {
      begin[a] = patch.begin(a, at.block[a]);
      count[a] = patch.begin(a, at.block[a] + 1) - begin[a];
      cut[a] = std::min(pieces, count[a]);
    }
    for (std::uint64_t piece = 0; piece < cut[0] * cut[1] * cut[2]; ++piece) {
      const std::array<std::uint64_t, 3> i{piece % cut[0], piece / cut[0] % cut[1], piece / (cut[0] * cut[1])};
      FrontCell cell{part, 0, {}, {}, 0, 0};
      std::array<double, 3> middle{}, half{};
      for (int a = 0; a < 3; ++a) {
        const std::uint64_t from = begin[a] + i[a] * count[a] / cut[a], to = begin[a] + (i[a] + 1) * count[a] / cut[a];
        cell.size[a] = static_cast<float>(to - from);
        const double scale = 1 / static_cast<double>(patch.cells[a]);
        middle[a] = (0.5 * static_cast<double>(from + to - 1) + static_cast<double>(patch.offset[a])) * scale;
        half[a] = 0.5 * static_cast<double>(to - from) * scale;
        if (i[a] == 0) cell.ends |= static_cast<std::uint8_t>(1U << a);
        if (i[a] + 1 == cut[a]) cell.ends |= static_cast<std::uint8_t>(8U << a);
      }
      double low = times.time_at(middle[0], middle[1], middle[2]) * plan.refinement;
      for (int a = 0; a < 3; ++a) {
        std::array<double, 3> up = middle, down = middle;
        up[a] = std::min(1.0, middle[a] + half[a]);
        down[a] = std::max(0.0, middle[a] - half[a]);
        const double over = 2 * half[a] / (up[a] - down[a]);  // at the mesh's surface half an edge is missing
        const double rise =
            (times.time_at(up[0], up[1], up[2]) - times.time_at(down[0], down[1], down[2])) * plan.refinement * over;
        if (rise < 0) cell.falls |= static_cast<std::uint8_t>(1U << a);
        cell.span[a] = static_cast<float>(std::abs(rise));
        low -= 0.5 * std::abs(rise);
      }
      cell.low = static_cast<float>(std::max(0.0, low));
      cells.push_back(cell);
    }
  }
  std::sort(cells.begin(), cells.end(), [](const FrontCell& a, const FrontCell& b) { return a.low < b.low; });
  return cells;
}

}  // namespace isochron::bench
