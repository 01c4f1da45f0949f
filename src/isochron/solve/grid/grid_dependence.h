// How the times in the voxels of an image depend on each other and on the metric.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "isochron/adjoint/rows.h"
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
inline SymTensor3d to_world(const ImageGrid& grid, const SymTensor3d& by_voxel) {
  const EigenSystem3<double> eigen = eigen_system(by_voxel);
  SymTensor3d result{};
  for (int k = 0; k < 3; ++k) {
    const Vec3d& v = eigen.vectors[k];
    result = result + SymTensor3d::outer(v.x * grid.axes[0] + v.y * grid.axes[1] + v.z * grid.axes[2], eigen.values[k]);
  }
  return result;
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
    const SymTensor3d d = velocity_tensor<dim>(metric_.at(voxel));
    const std::array<SymTensor3d, terms> by_tensor = by_velocity_tensor(d);
    SymTensor3d by_d{};  // in units of the problem's times, cubed
    for (int i = 0; i < terms; ++i)
      if (gap[i] > 0) by_d = by_d + (-0.5 * gap[i] * gap[i] / sum) * by_tensor[i];
    const double unit = problem_.unit;
    rows.add_term(voxel.value, to_world(metric_.grid, (-unit * unit * unit) * sandwich(d, by_d)));
    rows.end_row();
  }

 private:
  [[nodiscard]] VertexId voxel_of(std::uint32_t x) const {
    return problem_.cells->box.voxel(problem_.cells->box.index(x));
  }

  /// d G d in the first `dim` axes.
  static SymTensor3d sandwich(const SymTensor3d& d, const SymTensor3d& g) {
    const Vec3d columns[3] = {{d.xx, d.xy, dim == 2 ? 0 : d.xz},
                              {d.xy, d.yy, dim == 2 ? 0 : d.yz},
                              {dim == 2 ? 0 : d.xz, dim == 2 ? 0 : d.yz, dim == 2 ? 0 : d.zz}};
    const auto at = [&](int i, int j) { return product(g, columns[i], columns[j]); };
    return {at(0, 0), at(0, 1), at(0, 2), at(1, 1), at(1, 2), at(2, 2)};
  }

  /// How the weights change with D in voxels, but for the unit.
  static std::array<SymTensor3d, terms> by_velocity_tensor(const SymTensor3d& d) {
    if constexpr (terms == dim) {
      std::array<SymTensor3d, terms> result{};
      for (int i = 0; i < terms; ++i) {
        Vec3d axis{};
        axis[i] = 1;
        result[i] = SymTensor3d::outer(axis);
      }
      return result;
    } else if constexpr (dim == 2) {
      return weights_by_tensor<2>(selling_terms_flat(d.xx, d.xy, d.yy).offset);
    } else {
      return weights_by_tensor<3>(selling_terms(d).offset);
    }
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
