// How the times in the voxels of an image depend on each other and on the metric.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "isochron/adjoint/rows.h"
#include "isochron/core/sandwich.h"
#include "isochron/local/selling.h"
#include "isochron/solve/grid/stencils.h"

namespace isochron {

/// The tensors P_i with w_i = contraction(P_i, D) for D = Σ w_i e_i e_iᵀ, for offsets e_i in the first `Dim` axes whose
/// outer products are independent (those of Selling's decomposition are).
template <int Dim, int Terms>
std::array<SymTensor3d, Terms> weights_by_tensor(const Vec3i (&offset)[Terms]) {
  static_assert(Terms == Dim * (Dim + 1) / 2);
  std::array<std::pair<int, int>, Terms> entry;  // of a symmetric tensor
  for (int i = 0, k = 0; i < Dim; ++i)
    for (int j = i; j < Dim; ++j) entry[k++] = {i, j};
  // Row j: contraction(P, e_j e_jᵀ) from the entries of P; beside it the identity, which becomes the inverse.
  double a[Terms][2 * Terms] = {};
  for (int row = 0; row < Terms; ++row) {
    for (int k = 0; k < Terms; ++k) {
      const auto [i, j] = entry[k];
      a[row][k] = (i == j ? 1.0 : 2.0) * offset[row][i] * offset[row][j];
    }
    a[row][Terms + row] = 1;
  }
  for (int k = 0; k < Terms; ++k) {
    int pivot = k;
    for (int row = k + 1; row < Terms; ++row)
      if (std::abs(a[row][k]) > std::abs(a[pivot][k])) pivot = row;
    std::swap(a[k], a[pivot]);
    const double inverse = 1 / a[k][k];
    for (double& value : a[k]) value *= inverse;
    for (int row = 0; row < Terms; ++row) {
      if (row == k || a[row][k] == 0) continue;
      const double factor = a[row][k];
      for (int c = k; c < 2 * Terms; ++c) a[row][c] -= factor * a[k][c];
    }
  }
  std::array<SymTensor3d, Terms> result{};
  for (int term = 0; term < Terms; ++term) {
    double m[3][3] = {};
    for (int k = 0; k < Terms; ++k) m[entry[k].first][entry[k].second] = a[k][Terms + term];
    result[term] = {m[0][0], m[0][1], m[0][2], m[1][1], m[1][2], m[2][2]};
  }
  return result;
}

/// The derivative by M in the world, from that by M in voxels: dM(voxels) = Aᵀ dM A.
inline SymTensor3d to_world(const ImageGrid& grid, const SymTensor3d& g) {
  const auto& [x, y, z] = grid.axes;
  const auto both = [](const Vec3d& a, const Vec3d& b, double scale) {  // scale (a bᵀ + b aᵀ)
    return SymTensor3d::outer(a + b, scale) - SymTensor3d::outer(a, scale) - SymTensor3d::outer(b, scale);
  };
  return SymTensor3d::outer(x, g.xx) + SymTensor3d::outer(y, g.yy) + SymTensor3d::outer(z, g.zz) + both(x, y, g.xy) +
         both(x, z, g.xz) + both(y, z, g.yz);
}

/// Writes the rows of cells from the times as they are. From Σ w_i (u − m_i)² = 1 over the earlier neighbours,
/// Σ w_i (u − m_i) (du − dm_i) = −½ Σ dw_i (u − m_i)².
template <class Problem>
class GridDependence {
  using T = typename Problem::Scalar;
  static constexpr int dim = Problem::dim, terms = Problem::terms;

 public:
  /// `time` has a value for each cell.
  GridDependence(const Problem& problem, const VoxelMetric& metric, const T* time)
      : problem_(problem), metric_(metric), time_(time) {}

  /// Element ids are those of voxels.
  void add_row(std::uint32_t x, DependenceRows& rows) const {
    constexpr T inf = std::numeric_limits<T>::infinity();
    const auto s = problem_.stencil(x);
    std::array<std::uint32_t, terms> from{};
    T m[terms], weight[terms];
    for (int i = 0; i < terms; ++i) {
      const auto behind = static_cast<std::uint32_t>(x - s.step[i]), before = static_cast<std::uint32_t>(x + s.step[i]);
      const T back = s.back(i) ? time_[behind] : inf, ahead = s.ahead(i) ? time_[before] : inf;
      from[i] = back <= ahead ? behind : before;
      m[i] = std::min(back, ahead);
      weight[i] = s.weight[i];
    }
    const std::array<T, terms> neighbour = std::to_array(m), w = std::to_array(weight);
    const T time = upwind_time(m, weight);
    if (s.has_edges() && add_step(x, time, rows)) return;
    double sum = 0;
    std::array<double, terms> gap{};
    for (int i = 0; i < terms; ++i) {
      if (!(neighbour[i] < time)) continue;
      gap[i] = static_cast<double>(time - neighbour[i]);
      sum += static_cast<double>(w[i]) * gap[i];
    }
    if (!(sum > 0)) return rows.end_row();
    for (int i = 0; i < terms; ++i)
      if (gap[i] > 0) rows.add_node(from[i], static_cast<double>(w[i]) * gap[i] / sum);
    const VertexId voxel = voxel_of(x);
    SymTensor3d d = velocity_tensor<dim>(metric_.at(voxel));
    if (dim == 2) d.xz = d.yz = d.zz = 0;
    SymTensor3d by_d{};  // in units of the problem's times, cubed
    if constexpr (terms == dim) {
      by_d = by_diagonal_tensor(x, time, gap);
    } else {
      const std::array<SymTensor3d, terms> by_tensor = by_velocity_tensor(metric_.at(voxel));
      for (int i = 0; i < terms; ++i) {
        // A term of weight 0 has no time of its own here, but a larger weight would bring it in.
        const double g = w[i] > 0 || gap[i] > 0 ? gap[i] : gap_along(x, time, s.step[i]);
        by_d = by_d + (-0.5 * g * g) * by_tensor[i];
      }
    }
    by_d = (1 / sum) * by_d;
    const double unit = problem_.unit;
    rows.add_term(voxel.value, to_world(metric_.grid, (-unit * unit * unit) * sandwich(d, by_d)));
    rows.end_row();
  }

 private:
  [[nodiscard]] VertexId voxel_of(std::uint32_t x) const {
    return problem_.cells->box.voxel(problem_.cells->box.index(x));
  }

  /// How much later the time is than the earlier of the cells at a step on both sides, where they may be entered.
  [[nodiscard]] double gap_along(std::uint32_t x, T time, std::ptrdiff_t step) const {
    double gap = 0;
    for (const std::ptrdiff_t to : {-step, step})
      if (const auto y = static_cast<std::ptrdiff_t>(x) + to;
          y >= 0 && y < static_cast<std::ptrdiff_t>(problem_.vertex_count) && problem_.cells->allowed[y] != 0)
        gap = std::max(gap, static_cast<double>(time - time_[y]));
    return gap;
  }

  /// Σ −½ dw_i (u − m_i)² for a diagonal D. An entry d beside the diagonal would bring in the diagonal of the cell that
  /// its sign chooses, with weight |d|, and take as much from its two axes: the mean of both signs.
  [[nodiscard]] SymTensor3d by_diagonal_tensor(std::uint32_t x, T time, const std::array<double, terms>& gap) const {
    const GridBox& box = problem_.cells->box;
    double diagonal[3] = {}, beside[3] = {};  // xy, xz, yz
    for (int i = 0; i < dim; ++i) diagonal[i] = -0.5 * gap[i] * gap[i];
    for (int i = 0; i < dim; ++i)
      for (int j = i + 1; j < dim; ++j) {
        const double with = gap_along(x, time, box.axis_step(i) + box.axis_step(j)),
                     against = gap_along(x, time, box.axis_step(i) - box.axis_step(j));
        beside[i + j - 1] = 0.5 * (-0.5 * 0.5) * (with * with - against * against);  // an entry stands twice in D
      }
    return {diagonal[0], beside[0], beside[1], diagonal[1], beside[2], diagonal[2]};
  }

  /// How the weights change with D in voxels, but for the unit.
  static std::array<SymTensor3d, terms> by_velocity_tensor(const SymTensor3d& m) {
    const SymTensor3d d = velocity_tensor<dim>(m);
    if constexpr (dim == 2) return weights_by_tensor<2>(selling_terms_flat(d.xx, d.xy, d.yy).offset);
    else return weights_by_tensor<3>(selling_terms(d).offset);
  }

  /// The row of a step along an axis, where that is earlier than `time`.
  bool add_step(std::uint32_t x, T time, DependenceRows& rows) const {
    if constexpr (terms == dim) {
      return false;
    } else {
      const auto step_time = problem_.axis_times(x);
      std::uint32_t best = x;
      int best_axis = 0;
      problem_.for_axis_neighbours(x, [&](std::uint32_t y, int axis) {
        if (!(time_[y] + step_time[axis] < time)) return;
        time = time_[y] + step_time[axis];
        best = y;
        best_axis = axis;
      });
      if (best == x) return false;
      rows.add_node(best, 1);
      const Vec3d& step = metric_.grid.axes[static_cast<std::size_t>(best_axis)];
      const VertexId voxel = voxel_of(x);
      const double along = std::sqrt(squared_length(metric_.metric.tensor(ElementId(voxel.index())), step));
      rows.add_term(voxel.value, SymTensor3d::outer(step, 0.5 / along));
      rows.end_row();
      return true;
    }
  }

  const Problem& problem_;
  VoxelMetric metric_;
  const T* time_;
};

}  // namespace isochron
