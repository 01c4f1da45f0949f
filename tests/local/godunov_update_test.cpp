#include "isochron/local/godunov_update.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "isochron/core/random.h"
#include "isochron/local/stencil_update.h"

namespace isochron {
namespace TEST_FILE {

constexpr double inf = std::numeric_limits<double>::infinity();

/// The least, or largest, value of a convex function between a and b, as the Godunov Hamiltonian asks for.
double extremum(double a, double b, const std::function<double(double)>& f) {
  if (a > b) return std::max(f(a), f(b));
  for (int step = 0; step < 60; ++step) {
    const double third = (b - a) / 3;
    if (f(a + third) < f(b - third)) b -= third;
    else a += third;
  }
  return f((a + b) / 2);
}

/// Equation 6 of paper 004 as it stands: three extrema, one inside the other.
double nested_hamiltonian(const SymTensor3d& d, const AxisTimes<double>& u, double time) {
  const auto low = [&](int k) { return std::max(-50.0, time - u.back[k]); };
  const auto high = [&](int k) { return std::min(50.0, u.ahead[k] - time); };
  return extremum(low(0), high(0), [&](double p) {
    return extremum(low(1), high(1), [&](double q) {
      return extremum(low(2), high(2), [&](double r) { return squared_length(d, Vec3d{p, q, r}); });
    });
  });
}

/// The time at which it is 1. It never falls as the time rises.
double nested_time(const SymTensor3d& d, const AxisTimes<double>& u) {
  double low = std::min({u.back[0], u.back[1], u.back[2], u.ahead[0], u.ahead[1], u.ahead[2]}), high = low + 20;
  for (int step = 0; step < 40; ++step) {
    const double middle = (low + high) / 2;
    (nested_hamiltonian(d, u, middle) < 1 ? low : high) = middle;
  }
  return (low + high) / 2;
}

SymTensor3d random_tensor(Random& random, double mixing) {
  return {random.uniform(0.5, 2), random.uniform(-1, 1) * mixing, random.uniform(-1, 1) * mixing,
          random.uniform(0.5, 2), random.uniform(-1, 1) * mixing, random.uniform(0.5, 2)};
}

AxisTimes<double> random_times(Random& random, bool flat) {
  AxisTimes<double> u{};
  for (int k = 0; k < 3; ++k) {
    const bool none = flat && k == 2;
    u.back[k] = none ? inf : random.uniform(0, 1);
    u.ahead[k] = none ? inf : random.uniform(0, 1);
  }
  return u;
}

TEST(GodunovUpdate, IsTheUpwindUpdateForDiagonalTensors) {
  Random random(3);
  for (int sample = 0; sample < 5000; ++sample) {
    const SymTensor3d d = random_tensor(random, 0);
    const AxisTimes<double> u = random_times(random, sample % 2 == 0);
    double m[3], weight[3] = {d.xx, d.yy, d.zz};
    for (int k = 0; k < 3; ++k) m[k] = std::min(u.back[k], u.ahead[k]);
    ASSERT_NEAR(godunov_time(d, u), upwind_time(m, weight), 1e-12);
  }
}

TEST(GodunovUpdate, AgreesWithTheNestedExtremaInThePlane) {
  Random random(4);
  int compared = 0;
  for (int sample = 0; sample < 400; ++sample) {
    SymTensor3d d = random_tensor(random, 0.45);
    d.xz = d.yz = 0;
    const AxisTimes<double> u = random_times(random, true);
    const double time = godunov_time(d, u);
    ASSERT_LT(time, inf);
    ASSERT_NEAR(time, nested_time(d, u), 1e-6) << sample;
    ++compared;
  }
  EXPECT_EQ(compared, 400);
}

TEST(GodunovUpdate, AgreesWithTheNestedExtremaInSpaceSlow) {
  Random random(5);
  int different = 0;
  for (int sample = 0; sample < 40; ++sample) {
    const SymTensor3d d = random_tensor(random, 0.2);
    const AxisTimes<double> u = random_times(random, false);
    if (std::abs(godunov_time(d, u) - nested_time(d, u)) > 1e-6) ++different;
  }
  EXPECT_EQ(different, 0);
}

TEST(GodunovUpdate, OneNeighbourIsTheFastestWayAlongIt) {
  // A front that only one neighbour knows of runs from it at the speed across its plane: H is least over the other
  // slopes.
  const SymTensor3d d{2, 0.5, 0.3, 1, -0.2, 1.5};
  AxisTimes<double> u{{inf, inf, inf}, {inf, inf, inf}};
  u.back[0] = 3;
  EXPECT_NEAR(godunov_time(d, u), 3 + std::sqrt(inverse(d).xx), 1e-12);
  EXPECT_EQ(godunov_time(d, AxisTimes<double>{{inf, inf, inf}, {inf, inf, inf}}), inf);
}

TEST(GodunovUpdate, SlownessScalesTheTime) {
  AxisTimes<double> u{{inf, inf, inf}, {inf, inf, inf}};
  u.back[0] = 1;
  for (const double speed : {0.1, 1.0, 10.0})
    EXPECT_DOUBLE_EQ(godunov_time(SymTensor3d::diagonal(speed * speed, 1, 1), u), 1 + 1 / speed);
}

/// Critical slopes are those at which H does not change.
TEST(GodunovUpdate, CriticalSlopesAreThoseOfTheLeastHamiltonian) {
  const SymTensor3d d{2, 0.3, -0.4, 1.5, 0.2, 3};
  const auto gradient = [&](const double(&p)[3], int k) {
    return (k == 0   ? d.xx
            : k == 1 ? d.xy
                     : d.xz) *
               p[0] +
           (k == 0   ? d.xy
            : k == 1 ? d.yy
                     : d.yz) *
               p[1] +
           (k == 0   ? d.xz
            : k == 1 ? d.yz
                     : d.zz) *
               p[2];
  };
  for (int bits = 0; bits < 7; ++bits) {
    int choice[3];
    for (int k = 0; k < 3; ++k) choice[k] = (bits >> k & 1) != 0 ? godunov::critical : godunov::minus;
    double slope[3] = {0.5, -0.7, 0.9};
    const double given[3] = {0.5, -0.7, 0.9};
    godunov::fill_critical(d, choice, slope);
    for (int k = 0; k < 3; ++k) {
      if (choice[k] == godunov::critical) EXPECT_NEAR(gradient(slope, k), 0, 1e-14) << bits;
      else EXPECT_EQ(slope[k], given[k]) << bits;
    }
  }
}

TEST(GodunovUpdate, FarApartNeighboursHaveNoCommonTime) {
  const AxisTimes<double> u{{0, 10, inf}, {inf, inf, inf}};
  godunov::Trial<double> trial{};
  const auto solved = [&](const int(&choice)[3]) {
    return godunov::solve_with(SymTensor3d::identity(1), u, choice, trial);
  };
  EXPECT_FALSE(solved({godunov::minus, godunov::minus, godunov::critical})) << "the square is negative";
  EXPECT_FALSE(solved({godunov::minus, godunov::critical, godunov::minus})) << "a neighbour without a time";
  EXPECT_TRUE(solved({godunov::minus, godunov::critical, godunov::critical}));
  EXPECT_EQ(trial.time, 1);
}

/// As exact as the precision.
template <class T>
bool passes_hamiltonian_test(T time) {
  constexpr T never = std::numeric_limits<T>::infinity();
  const AxisTimes<T> u{{0, never, never}, {never, never, never}};
  return godunov::HamiltonianTest::valid(SymTensor3<T>::identity(1), u,
                                         {godunov::minus, godunov::critical, godunov::critical},
                                         godunov::Trial<T>{time, {time, 0, 0}});
}

TEST(GodunovUpdate, HamiltoniansAreOneWithinAThreshold) {
  EXPECT_TRUE(passes_hamiltonian_test(1.0));
  EXPECT_FALSE(passes_hamiltonian_test(1 + 1e-6));
  EXPECT_TRUE(passes_hamiltonian_test(1 + 1e-6F));
  EXPECT_FALSE(passes_hamiltonian_test(1 + 1e-4F));
}

TEST(GodunovUpdate, ExactlyOneChoiceIsCalledFor) {
  using godunov::called_for;
  EXPECT_EQ(called_for(0.0, 2.0, 1.0), godunov::critical);
  EXPECT_EQ(called_for(1.0, 2.0, 1.0), godunov::minus) << "a tie is no longer between";
  EXPECT_EQ(called_for(0.0, 1.0, 1.0), godunov::plus);
  EXPECT_EQ(called_for(2.0, 1.5, 1.0), godunov::minus);
  EXPECT_EQ(called_for(0.5, 0.0, 1.0), godunov::plus);
  EXPECT_EQ(called_for(2.0, 0.5, 1.0), godunov::minus) << "by the middle";
  EXPECT_EQ(called_for(1.5, 0.0, 1.0), godunov::plus) << "by the middle";
  EXPECT_EQ(called_for(-inf, inf, 1.0), godunov::critical) << "no neighbours";
  EXPECT_EQ(called_for(-inf, 0.5, 1.0), godunov::plus);
  EXPECT_EQ(called_for(1.5, inf, 1.0), godunov::minus);
}

/// D of a medium that is `ratio` times as fast one way as another.
SymTensor3d rotated_tensor(Random& random, double ratio) {
  const EigenSystem3<double> axes = eigen_system(random_tensor(random, 1));
  const double least = 1 / (ratio * ratio);
  return tensor_of_eigen({1, random.uniform(least, 1), least}, axes.vectors);
}

/// How near an axis is to two choices at once.
double distance_from_tie(const SymTensor3d& d, const AxisTimes<double>& u, double time,
                         const godunov::Trial<double>& at) {
  double nearest = inf;
  for (int k = 0; k < 3; ++k) {
    const double least = godunov::critical_slope(d, at.slope, k), back = time - u.back[k], ahead = u.ahead[k] - time;
    nearest = std::min({nearest, std::abs(back - least), std::abs(ahead - least), std::abs(back + ahead - 2 * least)});
  }
  return nearest;
}

/// The smallest such distance of all trials that give about this time.
double distance_from_tie(const SymTensor3d& d, const AxisTimes<double>& u, double time) {
  double nearest = inf;
  for (int code = 0; code < 27; ++code) {
    const int choice[3] = {code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1};
    godunov::Trial<double> trial{};
    if (code != 13 && godunov::solve_with(d, u, choice, trial) && std::abs(trial.time - time) < 1e-6)
      nearest = std::min(nearest, distance_from_tie(d, u, trial.time, trial));
  }
  return nearest;
}

TEST(GodunovUpdate, IntegersDecideAsHamiltoniansDo) {
  Random random(6);
  int none = 0;
  for (const double ratio : {1.0, 2.0, 5.0, 10.0})
    for (int sample = 0; sample < 3000; ++sample) {
      const SymTensor3d d = rotated_tensor(random, ratio);
      const AxisTimes<double> u = random_times(random, sample % 4 == 0);
      const double by_integers = godunov_time(d, u), by_values = godunov_time<godunov::HamiltonianTest>(d, u);
      if (by_integers == by_values) {
        none += by_integers < inf ? 0 : 1;
        continue;
      }
      ASSERT_TRUE(std::abs(by_integers - by_values) < 1e-5 || distance_from_tie(d, u, by_values) < 1e-5)
          << ratio << " " << sample << ": " << by_integers << " " << by_values;
    }
  EXPECT_GT(none, 0) << "with anisotropy, sometimes no choice is valid: the axes are tested one at a time";
}

/// Where one-sided and critical slopes are equal, rounding can make each choice call for the other.
TEST(GodunovUpdate, IntegersDifferFromHamiltoniansAtTiesAlone) {
  Random random(7);
  int different = 0;
  for (int sample = 0; sample < 20000; ++sample) {
    const SymTensor3d d = rotated_tensor(random, 1);
    AxisTimes<double> u = random_times(random, false);
    for (int k = 0; k < 3; ++k) {
      u.back[k] = std::floor(4 * u.back[k]) / 4;
      u.ahead[k] = std::floor(4 * u.ahead[k]) / 4;
    }
    const double by_integers = godunov_time(d, u), by_values = godunov_time<godunov::HamiltonianTest>(d, u);
    ASSERT_LT(by_values, inf);
    if (std::abs(by_integers - by_values) < 1e-6) continue;
    ++different;
    ASSERT_LT(distance_from_tie(d, u, by_values), 1e-6) << sample;
  }
  EXPECT_LT(different, 100);
}

TEST(GodunovUpdate, NoUpdateIsEarlierThanTheBound) {
  Random random(8);
  for (const double ratio : {1.0, 3.0, 10.0, 30.0})
    for (int sample = 0; sample < 2000; ++sample) {
      const SymTensor3d d = rotated_tensor(random, ratio);
      const AxisTimes<double> u = random_times(random, sample % 4 == 0);
      const double earliest = earliest_godunov_time(d, u);
      ASSERT_LT(earliest, inf);
      ASSERT_LE(earliest, godunov_time(d, u) + 1e-9);
      AxisTimes<double> later = u;
      for (int k = 0; k < 3; ++k) {
        later.back[k] += random.uniform(0, 1) < 0.3 ? random.uniform(0, 1) : 0;
        later.ahead[k] += random.uniform(0, 1) < 0.3 ? random.uniform(0, 1) : 0;
      }
      ASSERT_LE(earliest, earliest_godunov_time(d, later) + 1e-9) << "it never falls as a neighbour gets later";
      ASSERT_LE(earliest, godunov_time(d, later) + 1e-9);
    }
}

TEST(GodunovUpdate, TheBoundOfAPlaneFrontIsItsTimeHoweverLate) {
  // Beside the cell the front is as late as in it: choices tie.
  for (const double now : {0.0, 1e6, -1e6})
    for (int axis = 0; axis < 3; ++axis) {
      AxisTimes<double> u{{now, now, now}, {now, now, now}};
      u.back[axis] = now - 1;
      u.ahead[axis] = now + 1;
      EXPECT_EQ(earliest_godunov_time(SymTensor3d::identity(1), u), now) << axis;
      std::swap(u.back[axis], u.ahead[axis]);
      EXPECT_EQ(earliest_godunov_time(SymTensor3d::identity(1), u), now) << axis;
    }
}

TEST(GodunovUpdate, RoundingScalesAsTheTimesDo) {
  const double lost = lost_to_rounding<double, 3>(SymTensor3d::diagonal(1, 0.25, 0.0625));
  EXPECT_GT(lost, 0);
  EXPECT_DOUBLE_EQ((lost_to_rounding<double, 3>(SymTensor3d::diagonal(4, 1, 0.25))), lost / 2);
}

/// What the residual of the CPU and of the GPU compares times with.
template <class T, int Dim>
void expect_late_and_early_times_found() {
  Random random(9);
  for (const double ratio : {1.0, 3.0, 10.0})
    for (int sample = 0; sample < 500; ++sample) {
      SymTensor3d exact = rotated_tensor(random, ratio);
      if (Dim == 2) exact.xz = exact.yz = 0;
      const SymTensor3<T> d{static_cast<T>(exact.xx), static_cast<T>(exact.xy), static_cast<T>(exact.xz),
                            static_cast<T>(exact.yy), static_cast<T>(exact.yz), static_cast<T>(exact.zz)};
      const AxisTimes<double> times = random_times(random, Dim == 2);
      AxisTimes<T> u{};
      for (int k = 0; k < 3; ++k) {
        u.back[k] = static_cast<T>(times.back[k]);
        u.ahead[k] = static_cast<T>(times.ahead[k]);
      }
      const T latest = godunov_time(d, u);
      ASSERT_EQ(nearest_godunov_time<Dim>(d, u, latest + 1), latest);
      ASSERT_EQ(nearest_godunov_time<Dim>(d, u, std::numeric_limits<T>::infinity()), latest);
      ASSERT_EQ(nearest_godunov_time<Dim>(d, u, latest), latest);
      const T least = earliest_godunov_time(d, u);
      const T lost = static_cast<T>(2 * lost_to_rounding<T, Dim>({d.xx, d.xy, d.xz, d.yy, d.yz, d.zz}));
      const T early = T(0.8) * (least - lost);
      const T wanted = nearest_godunov_time<Dim>(d, u, early);
      ASSERT_GT(wanted, early) << ratio << " " << sample;
      ASSERT_GE(wanted, least - lost);
      ASSERT_LE(wanted, least);
    }
}

TEST(GodunovUpdate, ResidualsFindLateAndEarlyTimes) {
  expect_late_and_early_times_found<double, 3>();
  expect_late_and_early_times_found<double, 2>();
  expect_late_and_early_times_found<float, 3>();
  expect_late_and_early_times_found<float, 2>();
}

TEST(LaxFriedrichsUpdate, LeavesAPlaneFrontAlone) {
  const SymTensor3d d{2, 0.5, 0.3, 1, -0.2, 1.5};
  Vec3d slope{0.4, -0.7, 0.2};
  slope = slope / std::sqrt(squared_length(d, slope));  // so that H = 1
  AxisTimes<double> u{};
  for (int k = 0; k < 3; ++k) {
    u.back[k] = 5 - slope[k];
    u.ahead[k] = 5 + slope[k];
  }
  EXPECT_NEAR(lax_friedrichs_time(d, u, 3), 5, 1e-12);
}

}  // namespace TEST_FILE
}  // namespace isochron
