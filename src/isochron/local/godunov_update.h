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

/// A time that makes H = 1 with some choice, and the derivatives there.
template <class T>
struct Trial {
  T time;
  T slope[3];
};

/// Finds the time that makes H = 1 with these choices; false when there is none.
template <class T>
ISOCHRON_HD bool solve_with(const SymTensor3<T>& d, const AxisTimes<T>& u, const int (&choice)[3], Trial<T>& trial) {
  constexpr T inf = std::numeric_limits<T>::infinity();
  T first = inf;
  for (int k = 0; k < 3; ++k) {
    if (choice[k] == critical) continue;
    const T m = choice[k] == minus ? u.back[k] : u.ahead[k];
    if (!(m < inf)) return false;
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
  if (!(a > 0) || !(square >= 0)) return false;
  const T t = (b + std::sqrt(square)) / a;  // the larger root: H must not fall as the time rises
  for (int k = 0; k < 3; ++k) trial.slope[k] = choice[k] != critical ? sign[k] * (t - n[k]) : T(0);
  fill_critical(d, choice, trial.slope);
  trial.time = first + t;
  return true;
}

/// Section 4.2's "left side index": which derivative the three of an axis call for. `least` is the critical one.
template <class T>
ISOCHRON_HD int called_for(T back, T ahead, T least) {
  if (back < least && least < ahead) return critical;
  return (back + ahead) / 2 < least ? plus : minus;
}

// How a choice is tested for validity.

/// The paper's test (section 4.2): on each axis the index of the choice must be the one that the derivatives call for.
/// Integers are compared, and nothing is evaluated but the critical slopes.
struct IntegerTest {
  template <class T>
  ISOCHRON_HD static bool valid(const SymTensor3<T>& d, const AxisTimes<T>& u, const int (&choice)[3],
                                const Trial<T>& trial) {
    for (int k = 0; k < 3; ++k)
      if (choice[k] != called_for(trial.time - u.back[k], u.ahead[k] - trial.time, critical_slope(d, trial.slope, k)))
        return false;
    return true;
  }
};

/// The test that the paper replaces, of Tsai et al. as its section 4.2 quotes it: H with the derivative that an axis
/// calls for must be 1 within a threshold, for each axis. The paper does not give the threshold; with strong anisotropy
/// none is right in single precision: wide ones let too early times pass, narrow ones no time at all.
struct HamiltonianTest {
  template <class T>
  static constexpr T threshold = sizeof(T) == sizeof(float) ? T(2e-5) : T(1e-8);

  template <class T>
  ISOCHRON_HD static bool valid(const SymTensor3<T>& d, const AxisTimes<T>& u, const int (&/*choice*/)[3],
                                const Trial<T>& trial) {
    for (int k = 0; k < 3; ++k) {
      const T least = critical_slope(d, trial.slope, k);
      const T from_back = trial.time - u.back[k] - least, from_ahead = u.ahead[k] - trial.time - least;
      const T up = from_back > 0 ? from_back : T(0), down = from_ahead < 0 ? from_ahead : T(0);
      Vec3<T> slope{trial.slope[0], trial.slope[1], trial.slope[2]};
      slope[k] = least + (up < -down ? down : up);
      if (!(std::fabs(std::sqrt(squared_length(d, slope)) - T(1)) < threshold<T>)) return false;
    }
    return true;
  }
};

/// Whether the front comes from the chosen neighbours and no critical slope is beyond the one-sided ones. Every choice
/// that passes `IntegerTest` is so, but here the sides of an axis are not compared with each other. Rounding may go
/// either way.
struct UpwindTest {
  template <class T>
  ISOCHRON_HD static bool valid(const SymTensor3<T>& d, const AxisTimes<T>& u, const int (&choice)[3],
                                const Trial<T>& trial) {
    const T size = std::fabs(trial.slope[0]) + std::fabs(trial.slope[1]) + std::fabs(trial.slope[2]);
    const T slack = T(64) * std::numeric_limits<T>::epsilon() * (size + std::fabs(trial.time));
    for (int k = 0; k < 3; ++k) {
      const T least = critical_slope(d, trial.slope, k);
      if (choice[k] != plus &&
          !(choice[k] == minus ? trial.time - u.back[k] >= least - slack : trial.time - u.back[k] <= least + slack))
        return false;
      if (choice[k] != minus &&
          !(choice[k] == plus ? u.ahead[k] - trial.time <= least + slack : u.ahead[k] - trial.time >= least - slack))
        return false;
    }
    return true;
  }
};

/// The least time of all 26 choices of one-sided and critical derivatives that pass a test; +inf when none does.
template <class Test, class T>
ISOCHRON_HD T least_time(const SymTensor3<T>& d, const AxisTimes<T>& u) {
  T best = std::numeric_limits<T>::infinity();
  for (int p = -1; p <= 1; ++p)
    for (int q = -1; q <= 1; ++q)
      for (int r = -1; r <= 1; ++r) {
        const int choice[3] = {p, q, r};
        if (p == 0 && q == 0 && r == 0) continue;
        Trial<T> trial;
        if (!solve_with(d, u, choice, trial) || !Test::valid(d, u, choice, trial)) continue;
        best = trial.time < best ? trial.time : best;
      }
  return best;
}

}  // namespace godunov

/// The least time that solves H_G = 1, the Godunov Hamiltonian of √(∇uᵀ D ∇u) on the axes' neighbours; +inf when none
/// does. In the plane the third axis must have no neighbours and d.xz = d.yz = 0.
template <class Test = godunov::IntegerTest, class T>
ISOCHRON_HD T godunov_time(const SymTensor3<T>& d, const AxisTimes<T>& u) {
  return godunov::least_time<Test>(d, u);
}

/// No `godunov_time` from neighbours as late as these, or later, is earlier. A choice that passes the tests takes the
/// time of the least path from the simplex of its neighbours (its D ∇u points away from them, which makes it the
/// minimum there, and where it leaves out an axis no neighbour there would make it earlier). So it is at least the
/// least of all simplices, which is what this finds, and that never falls as a neighbour gets later.
template <class T>
ISOCHRON_HD T earliest_godunov_time(const SymTensor3<T>& d, const AxisTimes<T>& u) {
  return godunov::least_time<godunov::UpwindTest>(d, u);
}

/// How much earlier rounding may have made a `godunov_time` in T: taking a critical axis out of D cancels all but a
/// share λ₃/λ₁ of its entries, and times along the slowest direction are √(1/λ₃). The largest that was measured, on
/// ratios of speeds up to 100, was 1.5 units in the last place of that.
template <class T, int Dim>
ISOCHRON_HD double lost_to_rounding(SymTensor3d d) {
  constexpr double units = 8;
  if (Dim == 2) d.zz = d.xx;  // between the eigenvalues that count
  const Vec3d values = eigen_system(d).values;
  return units * std::numeric_limits<T>::epsilon() * values.x / values.z / std::sqrt(values.z);
}

/// What a residual compares a cell's time with. Times only fall, so the cell got its time when its neighbours were as
/// late as now or later. A time that an update would lower is late: that update. One that no update from such
/// neighbours can have given is early: the bound that it is below, without rounding of its own. Others are right: the
/// time itself, as the update is not monotone and may be later in the end.
template <int Dim, class T>
ISOCHRON_HD T nearest_godunov_time(const SymTensor3<T>& d, const AxisTimes<T>& u, T now) {
  const T latest = godunov_time(d, u);
  if (now > latest) return latest;
  const SymTensor3d exact{d.xx, d.xy, d.xz, d.yy, d.yz, d.zz};
  AxisTimes<double> times{};
  for (int k = 0; k < 3; ++k) {
    times.back[k] = u.back[k];
    times.ahead[k] = u.ahead[k];
  }
  const T earliest = static_cast<T>(earliest_godunov_time(exact, times) - lost_to_rounding<T, Dim>(exact));
  return now < earliest ? earliest : now;
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
