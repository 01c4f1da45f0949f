// The anisotropic Godunov update of paper 004 (its equations 4 to 6) on the six neighbours along the axes. For host and
// device.
#pragma once

#include <cmath>
#include <limits>

#include "isochron/types.h"

namespace isochron {

/// Times of a cell's neighbours one step down and up each axis; +inf where there is none.
template <class T>
struct AxisTimes {
  T back[3];
  T ahead[3];
};

namespace godunov {

/// Which derivative stands for an axis: the one-sided ones, or the critical one, where H is least given the others.
enum Choice : int { minus = -1, critical = 0, plus = 1 };

template <class T>
struct Matrix {
  T a[3][3];
};

/// D without the axes of critical choice: H at its least over those is the form of this matrix on the others.
template <class T>
ISOCHRON_HD Matrix<T> reduced(const SymTensor3<T>& d, const int (&choice)[3]) {
  Matrix<T> m{{{d.xx, d.xy, d.xz}, {d.xy, d.yy, d.yz}, {d.xz, d.yz, d.zz}}};
  bool gone[3] = {};
  for (int k = 0; k < 3; ++k) {
    if (choice[k] != critical) continue;
    gone[k] = true;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        if (i != k && j != k && !gone[i] && !gone[j]) m.a[i][j] -= m.a[i][k] * m.a[k][j] / m.a[k][k];
  }
  return m;
}

/// The derivative of `axis` at which H is least, given the other two.
template <class T>
ISOCHRON_HD T critical_slope(const SymTensor3<T>& d, const T (&slope)[3], int axis) {
  if (axis == 0) return -(d.xy * slope[1] + d.xz * slope[2]) / d.xx;
  if (axis == 1) return -(d.xy * slope[0] + d.yz * slope[2]) / d.yy;
  return -(d.xz * slope[0] + d.yz * slope[1]) / d.zz;
}

/// Fills the slopes of critical choice from the others.
template <class T>
ISOCHRON_HD void fill_critical(const SymTensor3<T>& d, const int (&choice)[3], T (&slope)[3]) {
  int axes[2], count = 0;
  for (int k = 0; k < 3; ++k)
    if (choice[k] == critical) {
      slope[k] = 0;
      if (count < 2) axes[count] = k;
      ++count;
    }
  if (count == 1) slope[axes[0]] = critical_slope(d, slope, axes[0]);
  if (count != 2) return;
  const Matrix<T> m{{{d.xx, d.xy, d.xz}, {d.xy, d.yy, d.yz}, {d.xz, d.yz, d.zz}}};
  const int i = axes[0], j = axes[1], other = 3 - i - j;
  const T right_i = -m.a[i][other] * slope[other], right_j = -m.a[j][other] * slope[other];
  const T det = m.a[i][i] * m.a[j][j] - m.a[i][j] * m.a[i][j];
  slope[i] = (m.a[j][j] * right_i - m.a[i][j] * right_j) / det;
  slope[j] = (m.a[i][i] * right_j - m.a[i][j] * right_i) / det;
}

/// The paper's integer test: the choice must be the one that the slopes call for. Ties (to rounding) may go either way.
template <class T>
ISOCHRON_HD bool called_for(int choice, T back, T ahead, T least, T slack) {
  const T middle = (back + ahead) / 2;
  if (choice == critical) return back <= least + slack && least <= ahead + slack;
  if (choice == minus) return back >= least - slack && middle >= least - slack;
  return ahead <= least + slack && middle <= least + slack;
}

/// The time that makes H = 1 with these choices; +inf when there is none or the choices are not called for.
template <class T>
ISOCHRON_HD T time_with(const SymTensor3<T>& d, const AxisTimes<T>& u, const int (&choice)[3]) {
  constexpr T inf = std::numeric_limits<T>::infinity();
  T first = inf;
  for (int k = 0; k < 3; ++k) {
    if (choice[k] == critical) continue;
    const T m = choice[k] == minus ? u.back[k] : u.ahead[k];
    if (!(m < inf)) return inf;
    first = m < first ? m : first;
  }
  // Slopes are ±(t − n) with t and n from `first` on; the form of the reduced matrix gives a t² − 2 b t + c = 0.
  const Matrix<T> m = reduced(d, choice);
  T n[3] = {}, sign[3] = {};
  for (int k = 0; k < 3; ++k) {
    if (choice[k] == critical) continue;
    n[k] = (choice[k] == minus ? u.back[k] : u.ahead[k]) - first;
    sign[k] = static_cast<T>(-choice[k]);
  }
  T a = 0, b = 0, c = -1;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      if (choice[i] == critical || choice[j] == critical) continue;
      const T entry = m.a[i][j] * sign[i] * sign[j];
      a += entry;
      b += entry * n[j];
      c += entry * n[i] * n[j];
    }
  const T square = b * b - a * c;
  if (!(a > 0) || !(square >= 0)) return inf;
  const T t = (b + std::sqrt(square)) / a;  // the larger root: H must not fall as the time rises
  T slope[3] = {};
  for (int k = 0; k < 3; ++k)
    if (choice[k] != critical) slope[k] = sign[k] * (t - n[k]);
  fill_critical(d, choice, slope);
  const T slack = T(64) * std::numeric_limits<T>::epsilon() *
                  (std::fabs(slope[0]) + std::fabs(slope[1]) + std::fabs(slope[2]) + std::fabs(t));
  const T time = first + t;
  for (int k = 0; k < 3; ++k)
    if (!called_for(choice[k], time - u.back[k], u.ahead[k] - time, critical_slope(d, slope, k), slack)) return inf;
  return time;
}

}  // namespace godunov

/// The least time that solves H_G = 1, the Godunov Hamiltonian of √(∇uᵀ D ∇u) on the axes' neighbours; +inf when none
/// does. All 26 choices of one-sided and critical derivatives are tried. In the plane the third axis must have no
/// neighbours and d.xz = d.yz = 0.
template <class T>
ISOCHRON_HD T godunov_time(const SymTensor3<T>& d, const AxisTimes<T>& u) {
  T best = std::numeric_limits<T>::infinity();
  for (int p = -1; p <= 1; ++p)
    for (int q = -1; q <= 1; ++q)
      for (int r = -1; r <= 1; ++r) {
        const int choice[3] = {p, q, r};
        if (p == 0 && q == 0 && r == 0) continue;
        const T time = godunov::time_with(d, u, choice);
        best = time < best ? time : best;
      }
  return best;
}

/// The Lax–Friedrichs update (Kao, Osher, Qian 2004) for the same neighbours: central slopes and a viscosity that
/// bounds the slopes of H, √D_kk. Only the first `dim` axes count.
template <class T>
ISOCHRON_HD T lax_friedrichs_time(const SymTensor3<T>& d, const AxisTimes<T>& u, int dim) {
  const T viscosity[3] = {std::sqrt(d.xx), std::sqrt(d.yy), std::sqrt(d.zz)};
  Vec3<T> slope{};
  T sum = 0, mean = 0;
  for (int k = 0; k < dim; ++k) {
    slope[k] = (u.ahead[k] - u.back[k]) / 2;
    sum += viscosity[k];
    mean += viscosity[k] * (u.ahead[k] + u.back[k]) / 2;
  }
  const T square = squared_length(d, slope);
  return (T(1) - std::sqrt(square > 0 ? square : T(0)) + mean) / sum;
}

}  // namespace isochron
