#include "isochron/local/factored_update.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "isochron/core/random.h"
#include "isochron/solve/simplex/metric_frame.h"
#include "simplex_samples.h"

namespace isochron::test {
namespace TEST_FILE {

constexpr double inf = std::numeric_limits<double>::infinity();

/// Where the source lies in relation to an element.
enum class Place { far, near, corner, target, on_face, on_edge };
constexpr std::array all_places{Place::far, Place::near, Place::corner, Place::target, Place::on_face, Place::on_edge};

/// An element with its source: positions as in `FactoredCorner`, and the function that the update minimises, from
/// scratch.
template <int Corners>
struct Case {
  static constexpr int n = Corners - 1;
  Sample<Corners> sample;
  SymTensor3d m0;
  Vec3d source;
  std::array<double, n> tau{};

  [[nodiscard]] double time_through(const std::array<double, n>& w) const {
    Vec3d x;
    double time = 0;
    for (int i = 0; i < n; ++i) {
      if (w[i] == 0) continue;
      x += w[i] * sample.points[i];
      time += w[i] * tau[i];
    }
    return time + std::sqrt(squared_length(m0, x - source)) +
           std::sqrt(squared_length(sample.metric, sample.points[n] - x));
  }

  template <class T>
  [[nodiscard]] auto update(FactoredGoal<T> goal) const {
    const MetricFrame frame(m0, source);
    const auto position = [&](int i) {
      const Vec3d p = frame.map(sample.points[i]);
      return Vec3<T>{T(p.x), T(p.y), T(p.z)};
    };
    const auto corner = [&](int i) { return FactoredCorner<T>{position(i), T(tau[i])}; };
    if constexpr (Corners == 4)
      return factored_tet_update(position(3), corner(0), corner(1), corner(2), lengths<T>(sample), goal);
    else return factored_triangle_update(position(2), corner(0), corner(1), lengths<T>(sample), goal);
  }
};

/// Minimum of a convex function on [0, 1] by thirds.
template <class F>
double search(F&& f) {
  double low = 0, high = 1, best = std::min(f(0.0), f(1.0));
  for (int i = 0; i < 70; ++i) {
    const double a = low + (high - low) / 3, b = high - (high - low) / 3;
    const double fa = f(a), fb = f(b);
    (fa < fb ? high : low) = fa < fb ? b : a;
    best = std::min({best, fa, fb});
  }
  return best;
}
double minimum(const Case<3>& c) {
  return search([&](double w) { return c.time_through({w, 1 - w}); });
}
double minimum(const Case<4>& c) {
  return search([&](double w) {
    return search([&](double v) { return c.time_through({w, (1 - w) * v, (1 - w) * (1 - v)}); });
  });
}

template <int Corners>
class Cases {
 public:
  explicit Cases(std::uint64_t seed) : sampler_(seed) {}

  /// `contrast` is how far the source's metric and τ are from those of a constant medium.
  Case<Corners> next(Family family, Place place, double contrast) {
    Random& random = sampler_.random();
    Case<Corners> c;
    c.sample = sampler_.template next<Corners>(family);
    const auto& p = c.sample.points;
    std::array<double, Corners - 1> w{};
    for (double& part : w) part = random.uniform();
    if (place == Place::corner) w = {1};
    if (place == Place::on_edge) w[Corners - 2] = 0;
    double sum = 0;
    for (const double part : w) sum += part;
    for (int i = 0; i < Corners - 1; ++i) c.source += (w[i] / sum) * p[i];
    const Vec3d away{random.normal(), random.normal(), random.normal()};
    if (place == Place::target) c.source = p[Corners - 1];
    if (place == Place::near) c.source += 0.5 * away;
    if (place == Place::far) c.source += 20.0 * away;
    const Vec3d axis{random.normal(), random.normal(), random.normal()};
    c.m0 = c.sample.metric + contrast * random.uniform() * SymTensor3d::outer(axis);
    for (double& t : c.tau) t = contrast * c.sample.longest_edge() * random.uniform(-1, 1);
    return c;
  }

 private:
  Sampler sampler_;
};

template <int Corners>
void expect_minimum(const Case<Corners>& c, double allowed, const char* what) {
  const double edge = c.sample.longest_edge();
  const auto found = c.template update<double>({inf, 1e-7 * edge});
  std::array<double, Corners - 1> weights;
  double sum = 0;
  for (int i = 0; i < Corners - 1; ++i) {
    weights[i] = found.weight[i];
    sum += weights[i];
    EXPECT_GE(weights[i], 0.0) << what;
  }
  EXPECT_NEAR(sum, 1, 1e-12) << what;
  const double scale = edge + std::abs(found.time);
  EXPECT_NEAR(found.time, c.time_through(weights), 1e-7 * scale) << what;
  EXPECT_NEAR(found.time, minimum(c), allowed * edge + 1e-12 * scale) << what;
}

template <class T>
class FactoredUpdate : public testing::Test {};
using Shapes = testing::Types<std::integral_constant<int, 3>, std::integral_constant<int, 4>>;
TYPED_TEST_SUITE(FactoredUpdate, Shapes);

TYPED_TEST(FactoredUpdate, FindsTheMinimum) {
  Cases<TypeParam::value> cases(7);
  for (const Family family : {Family::well_shaped, Family::kuhn, Family::obtuse, Family::ratio_10})
    for (const Place place : all_places)
      for (const double contrast : {0.01, 0.3, 2.0})
        for (int i = 0; i < 20; ++i) expect_minimum(cases.next(family, place, contrast), 1e-7, name(family));
}

TYPED_TEST(FactoredUpdate, StandsBadShapes) {
  Cases<TypeParam::value> cases(8);
  for (const Family family : {Family::needle_100, Family::sliver, Family::flat_face, Family::flat, Family::ratio_1e4})
    for (const Place place : all_places)
      for (const double contrast : {0.01, 0.3})
        for (int i = 0; i < 20; ++i) expect_minimum(cases.next(family, place, contrast), 1e-4, name(family));
}

TYPED_TEST(FactoredUpdate, IsExactWhereTheRayCrossesTheFace) {
  constexpr int n = TypeParam::value - 1;
  Cases<TypeParam::value> cases(9);
  Random random(5);
  for (const Family family : {Family::well_shaped, Family::kuhn, Family::obtuse, Family::ratio_100})
    for (int i = 0; i < 500; ++i) {
      auto c = cases.next(family, Place::on_face, 0);
      const Vec3d target = c.sample.points[n];
      c.source = target + std::pow(10.0, random.uniform(0, 2)) * (c.source - target);
      const auto found = c.template update<double>({inf, 0});
      const double exact = std::sqrt(squared_length(c.m0, target - c.source));
      EXPECT_NEAR(found.time, exact, 1e-12 * (exact + c.sample.longest_edge())) << name(family);
    }
}

TYPED_TEST(FactoredUpdate, LeavesOutUnreachedCorners) {
  constexpr int n = TypeParam::value - 1;
  Cases<TypeParam::value> cases(10);
  for (const Place place : all_places)
    for (unsigned mask = 0; mask < (1U << n); ++mask) {
      auto c = cases.next(Family::well_shaped, place, 0.3);
      for (int k = 0; k < n; ++k)
        if ((mask >> k) & 1U) c.tau[k] = inf;
      const auto found = c.template update<double>({inf, 1e-7});
      for (int k = 0; k < n; ++k)
        if ((mask >> k) & 1U) {
          EXPECT_EQ(found.weight[k], 0);
        }
      if (mask == (1U << n) - 1) {
        EXPECT_EQ(found.time, inf);
      } else {
        std::array<double, n> weights;
        for (int k = 0; k < n; ++k) weights[k] = found.weight[k];
        EXPECT_NEAR(found.time, c.time_through(weights), 1e-9);
        EXPECT_LE(found.time, minimum(c) + 1e-6);
      }
    }
}

TYPED_TEST(FactoredUpdate, HidesOnlyTimesFromTheLimitOn) {
  Cases<TypeParam::value> cases(11);
  Random random(6);
  int hidden = 0;
  for (const Place place : all_places)
    for (int i = 0; i < 200; ++i) {
      const auto c = cases.next(Family::well_shaped, place, 0.3);
      const double time = c.template update<double>({inf, 1e-7}).time;
      const double limit = time + random.uniform(-0.2, 0.2);
      const auto limited = c.template update<double>({limit, 1e-7});
      hidden += limited.time == inf ? 1 : 0;
      if (limit > time + 1e-8) {
        EXPECT_NEAR(limited.time, time, 1e-8);
      } else {
        EXPECT_GE(limited.time, time - 1e-8);
      }
    }
  EXPECT_GT(hidden, 300);
}

/// Where the search in a face gets stuck its edges are searched too.
TEST(FactoredTet, IsNotLaterThanThroughItsEdges) {
  Cases<4> cases(77);
  const FactoredGoal<double> goal{inf, 1e-9};
  for (const Family family : {Family::flat_face, Family::needle_100, Family::well_shaped})
    for (int i = 0; i < 1000; ++i) {
      const auto c = cases.next(family, Place::on_face, 0.01);
      const double time = c.update(goal).time;
      for (int gone = 0; gone < 3; ++gone) {
        auto edge = c;
        edge.tau[gone] = inf;
        ASSERT_LE(time, edge.update(goal).time + 1e-8 * c.sample.longest_edge()) << name(family) << " " << i;
      }
    }
}

TYPED_TEST(FactoredUpdate, WorksInSinglePrecision) {
  Cases<TypeParam::value> cases(12);
  for (const Place place : all_places)
    for (int i = 0; i < 100; ++i) {
      const auto c = cases.next(Family::well_shaped, place, 0.3);
      const double time = c.template update<double>({inf, 1e-7}).time;
      const auto single = c.template update<float>({std::numeric_limits<float>::infinity(), 1e-5F});
      EXPECT_NEAR(single.time, time, 2e-5 + 1e-6 * std::abs(time));
    }
}

/// An edge on the x axis from a to b, the target at (x, y): source and element have the plain metric.
detail::FactoredFace<double, 2> edge_on_axis(double a, double b, double x, double y) {
  detail::FactoredFace<double, 2> face;
  face.edge[0] = {a - b, 0, 0};
  face.last = {b, 0, 0};
  face.tau_step[0] = face.tau_last = 0;
  face.gram[0][0] = (a - b) * (a - b);
  face.foot[0] = (a - b) * (x - b);
  face.reach = (x - b) * (x - b) + y * y;
  return face;
}

/// A triangle in z = 0 with its corners in the places given, and the target.
detail::FactoredFace<double, 3> face_in_plane(Vec3d a, Vec3d b, Vec3d c, Vec3d target) {
  detail::FactoredFace<double, 3> face;
  face.edge[0] = a - c;
  face.edge[1] = b - c;
  face.last = c;
  face.tau_step[0] = face.tau_step[1] = face.tau_last = 0;
  for (int k = 0; k < 2; ++k) {
    for (int j = 0; j < 2; ++j) face.gram[k][j] = dot(face.edge[k], face.edge[j]);
    face.foot[k] = dot(face.edge[k], target - c);
  }
  face.reach = dot(target - c, target - c);
  return face;
}

TEST(FactoredSteps, AWeightOfNextToNothingIsDroppedForNothing) {
  // Source, edge and target on one line: f is the same everywhere, also where it is negative.
  for (const double tau : {0.0, -10.0}) {
    detail::FactoredFace<double, 2> face = edge_on_axis(2, 1, 3, 0);
    face.tau_last = tau;
    detail::FactoredPoint<double, 2> at;
    at.weight[0] = at.weight[1] = 0.5;
    face.evaluate(at);
    ASSERT_EQ(at.time, 3 + tau);
    EXPECT_FALSE(detail::factored_advance(face, at, {0.25, -0.25})) << "f does not fall";
    EXPECT_TRUE(detail::factored_advance(face, at, {1.0, -1.0})) << "but the weight is gone";
    EXPECT_EQ(at.weight[0], 1);
    EXPECT_EQ(at.weight[1], 0);
    EXPECT_TRUE(detail::factored_advance(face, at, {-1.0, 1.0})) << "of either corner";
    EXPECT_EQ(at.weight[0], 0);
    EXPECT_EQ(at.weight[1], 1);
  }
}

TEST(FactoredSteps, TheDescentDropsAWeightThatGainsNothing) {
  detail::FactoredFace<double, 2> face = edge_on_axis(2, 1, 3, 0);
  face.tau_step[0] = 1e-8;
  detail::FactoredPoint<double, 2> at;
  at.weight[0] = 1e-10;
  at.weight[1] = 1 - at.weight[0];
  EXPECT_EQ(detail::factored_descent(face, at, -inf, FactoredGoal<double>{inf, 0}), detail::FactoredEnd::found);
  EXPECT_EQ(at.weight[0], 0);
  EXPECT_EQ(at.time, 3);
}

TEST(FactoredSteps, WhereADistanceVanishesItsSlopeAndCurvatureAreNone) {
  const detail::FactoredFace<double, 2> face = edge_on_axis(1, -1, 0, 0);
  detail::FactoredPoint<double, 2> at;
  at.weight[0] = at.weight[1] = 0.5;
  face.evaluate(at);
  EXPECT_EQ(at.time, 0);
  EXPECT_EQ(at.slope[0], 0);
  EXPECT_EQ(face.curvature(at, 0, 0), 0);
}

/// From the middle of each edge: the ray from the source crosses the face's plane at `crossing`.
TEST(FactoredSteps, NewtonsStepDoesNotLeaveTheFace) {
  for (int gone = 0; gone < 3; ++gone)
    for (const double weight : {-0.2, 0.2}) {
      std::array<Vec3d, 3> corners{{{0, 0, 1}, {1, 0, 1}, {0, 1, 1}}};
      Vec3d crossing = weight * corners[gone];
      for (int k = 0; k < 3; ++k)
        if (k != gone) crossing += 0.5 * (1 - weight) * corners[k];
      const detail::FactoredFace<double, 3> face = face_in_plane(corners[0], corners[1], corners[2], 2.0 * crossing);
      detail::FactoredPoint<double, 3> at;
      for (int k = 0; k < 3; ++k) at.weight[k] = k == gone ? 0 : 0.5;
      face.evaluate(at);
      double step[3];
      EXPECT_EQ(detail::factored_newton(face, at, step), weight > 0) << gone;
      EXPECT_EQ(step[gone] > 0, weight > 0) << gone;
    }
}

TEST(FactoredSteps, AnExchangeIsNewtonsStepAlongAnEdge) {
  const detail::FactoredFace<double, 3> face = face_in_plane({1, 0, 0}, {2, 0.5, 0}, {1.2, 1.5, 0}, {1.5, 0.6, 1});
  for (const detail::FactoredPair pair :
       {detail::FactoredPair{0, 1}, detail::FactoredPair{1, 0}, detail::FactoredPair{0, 2}, detail::FactoredPair{2, 0},
        detail::FactoredPair{1, 2}, detail::FactoredPair{2, 1}}) {
    const auto at_share = [&](double share) {
      detail::FactoredPoint<double, 3> at;
      for (double& weight : at.weight) weight = 1.0 / 3;
      at.weight[pair.to] += share;
      at.weight[pair.from] -= share;
      face.evaluate(at);
      return at;
    };
    const detail::FactoredPoint<double, 3> at = at_share(0);
    constexpr double h = 1e-4;
    const double before = at_share(-h).time, after = at_share(h).time;
    const double slope = (after - before) / (2 * h), curvature = (after - 2 * at.time + before) / (h * h);
    double step[3];
    detail::factored_exchange(face, at, pair, step);
    if (slope >= 0) continue;
    EXPECT_NEAR(step[pair.to], std::min(-slope / curvature, 1.0 / 3), 1e-4);
    EXPECT_EQ(step[pair.from], -step[pair.to]);
    EXPECT_EQ(step[3 - pair.to - pair.from], 0);
  }
}

TEST(FactoredSteps, TheWayOutOfTheSourceIsTheSteepest) {
  detail::FactoredFace<double, 2> edge = edge_on_axis(0.5, -1, 0.25, 1);
  detail::FactoredPoint<double, 2> at;
  edge.tau_step[0] = 3;
  at.path_slope[0] = 1.5;
  double along[2];
  detail::factored_escape(edge, at, along);
  EXPECT_DOUBLE_EQ(along[0], -4.5 / 2.25);
  EXPECT_DOUBLE_EQ(along[1], 4.5 / 2.25);
  // Edges at a right angle: each slope over its own squared length.
  detail::FactoredFace<double, 3> face = face_in_plane({0.25, 0, 0}, {0, 2, 0}, {0, 0, 0}, {0, 0, 1});
  face.tau_step[0] = 1;
  face.tau_step[1] = -2;
  detail::FactoredPoint<double, 3> inside;
  inside.path_slope[0] = 0.5;
  inside.path_slope[1] = -1;
  double step[3];
  detail::factored_escape(face, inside, step);
  EXPECT_DOUBLE_EQ(step[0], -1.5 / 0.0625);
  EXPECT_DOUBLE_EQ(step[1], 3.0 / 4);
  EXPECT_DOUBLE_EQ(step[0] + step[1] + step[2], 0);
}

TEST(FactoredSteps, TheNearestPointsAreTheFeetOfSourceAndTarget) {
  const detail::FactoredFace<double, 3> face =
      face_in_plane({-0.25, -0.25, 1}, {0.75, -0.25, 1}, {-0.25, 0.75, 1}, {0.35, 0.05, 2});
  const auto expect_nearest = [&](bool to_source, const std::array<double, 3>& wanted) {
    double weight[3];
    face.nearest(to_source, weight);
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(weight[k], wanted[k], 1e-14) << to_source << " " << k;
  };
  expect_nearest(true, {0.5, 0.25, 0.25});
  expect_nearest(false, {0.1, 0.6, 0.3});
}

/// The least f of an edge, by trying many points.
double least_time(const detail::FactoredFace<double, 2>& face) {
  double least = inf;
  for (int i = 0; i <= 100000; ++i) {
    detail::FactoredPoint<double, 2> at;
    at.weight[0] = i * 1e-5;
    at.weight[1] = 1 - at.weight[0];
    face.evaluate(at);
    least = std::min(least, at.time);
  }
  return least;
}

TEST(FactoredSteps, ARestartFindsTheMinimumBesideTheSource) {
  detail::FactoredFace<double, 2> face = edge_on_axis(1, -1, 0.3, 0.2);
  face.tau_step[0] = -1.2 * 2;
  face.tau_last = 3;
  detail::FactoredPoint<double, 2> best;
  best.time = inf;
  detail::factored_restart(face, best, -inf, FactoredGoal<double>{inf, 0});
  EXPECT_NEAR(best.time, least_time(face), 1e-8);
}

/// The target all but lies in the edge, and the source beside it.
detail::FactoredFace<double, 2> edge_with_kink(double target, double slope, double tau) {
  detail::FactoredFace<double, 2> face = edge_on_axis(1, -1, target, 0x1p-25);
  face.last.z = 0.25;
  face.tau_step[0] = 2 * slope;
  face.tau_last = tau;
  return face;
}

// Both with times so large that a step in the target's kink gains nothing.

TEST(FactoredSteps, NoGainInAKinkIsNotTheEnd) {
  const detail::FactoredFace<double, 2> face = edge_with_kink(0, -2, 1e9);
  detail::FactoredPoint<double, 2> at;
  at.weight[0] = at.weight[1] = 0.5;
  detail::factored_minimum(face, at, -inf, FactoredGoal<double>{inf, 0});
  EXPECT_NEAR(at.time, least_time(face), 1e-5);
}

TEST(FactoredSteps, TheWayOutOfTheSourceIsDescended) {
  const detail::FactoredFace<double, 2> face = edge_with_kink(0.75, 0.5, 1e9);
  detail::FactoredPoint<double, 2> best;
  best.time = inf;
  detail::factored_restart(face, best, -inf, FactoredGoal<double>{inf, 0});
  EXPECT_NEAR(best.time, least_time(face), 1e-5);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
