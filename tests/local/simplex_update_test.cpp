// The local updates against brute force in extended precision, and the laws every update obeys, on thousands of random
// elements of every family. Limits are in units of the longest metric edge of the element.
#include "isochron/local/simplex_update.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "local/simplex_limits.h"
#include "local/simplex_reference.h"
#include "local/simplex_samples.h"

namespace isochron {
namespace TEST_FILE {

using test::Family;
using test::Reference;
using test::Sample;
using test::Sampler;

constexpr double never = std::numeric_limits<double>::infinity();

template <class T, int Corners>
struct Result {
  T time;
  std::array<T, Corners - 1> weights;
};

template <class T>
Result<T, 4> update(const std::array<T, 3>& u, const TetLengths<T>& l) {
  const FaceCandidate<T> c = tet_update(u[0], u[1], u[2], l);
  return {c.time, {c.weight[0], c.weight[1], c.weight[2]}};
}
template <class T>
Result<T, 3> update(const std::array<T, 2>& u, const TriangleLengths<T>& l) {
  const EdgeCandidate<T> c = triangle_update(u[0], u[1], l);
  return {c.time, {c.weight[0], c.weight[1]}};
}

template <class T, std::size_t N>
std::array<T, N> rounded(const std::array<double, N>& times) {
  std::array<T, N> result;
  std::transform(times.begin(), times.end(), result.begin(), [](double u) { return static_cast<T>(u); });
  return result;
}

template <class T, int Corners>
Result<T, Corners> update(const Sample<Corners>& s) {
  return update(rounded<T>(s.times), test::lengths<T>(s));
}

template <int Corners>
Sample<Corners> scaled(Sample<Corners> s, double factor) {
  for (Vec3d& p : s.points) p = factor * p;
  for (double& u : s.times) u *= factor;
  return s;
}

/// Collects errors and holds them against the limits of a family.
class Errors {
 public:
  void add(double error) { errors_.push_back(error); }
  void expect_within(const test::Limits& limits, double factor = 1) {
    std::sort(errors_.begin(), errors_.end());
    EXPECT_LE(errors_[errors_.size() * 99 / 100], factor * limits.usual) << "99th percentile";
    EXPECT_LE(errors_.back(), factor * limits.worst) << "worst";
  }

 private:
  std::vector<double> errors_;
};

template <class Type, int N>
struct Kind {
  using T = Type;
  static constexpr int corners = N;
};

/// Calls `body(sample, random)` on samples of every family and checks what it returns, in edges, against factor ×
/// limits.
template <class K, class Body>
void on_every_family(int count, double factor, Body&& body) {
  for (const Family family : test::all_families) {
    SCOPED_TRACE(test::name(family));
    Sampler sampler(20240 + static_cast<int>(family));
    Errors errors;
    for (int i = 0; i < count; ++i) errors.add(body(sampler.template next<K::corners>(family), sampler.random()));
    errors.expect_within(test::limits<typename K::T>(family), factor);
  }
}

template <class K>
class SimplexUpdate : public testing::Test {};

using Kinds = testing::Types<Kind<float, 3>, Kind<double, 3>, Kind<float, 4>, Kind<double, 4>>;
struct KindNames {
  template <class K>
  static std::string GetName(int) {
    return std::string(K::corners == 4 ? "Tet" : "Triangle") +
           (std::is_same_v<typename K::T, float> ? "Float" : "Double");
  }
};
TYPED_TEST_SUITE(SimplexUpdate, Kinds, KindNames);

TYPED_TEST(SimplexUpdate, IsTheMinimum) {
  using T = typename TypeParam::T;
  constexpr int corners = TypeParam::corners;
  on_every_family<TypeParam>(3000, 1, [](const Sample<corners>& s, Random&) {
    const auto minimum = Reference<corners>(s, rounded<T>(s.times)).minimum();
    return std::abs(static_cast<double>(update<T>(s).time - minimum)) / s.longest_edge();
  });
}

TYPED_TEST(SimplexUpdate, IsTheMinimumAtEveryScale) {
  using T = typename TypeParam::T;
  constexpr int corners = TypeParam::corners;
  on_every_family<TypeParam>(1000, 1, [](const Sample<corners>& unit, Random& random) {
    const auto s = scaled(unit, std::pow(10.0, random.uniform(-12, 12)));
    const auto minimum = Reference<corners>(s, rounded<T>(s.times)).minimum();
    return std::abs(static_cast<double>(update<T>(s).time - minimum)) / s.longest_edge();
  });
}

TYPED_TEST(SimplexUpdate, WeightsAreConvexAndExplainTheTime) {
  using T = typename TypeParam::T;
  constexpr int corners = TypeParam::corners;
  on_every_family<TypeParam>(3000, 1.5, [](const Sample<corners>& s, Random&) {
    const auto result = update<T>(s);
    typename Reference<corners>::Weights weights;
    double sum = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      weights[i] = result.weights[i];
      sum += result.weights[i];
      EXPECT_GE(result.weights[i], T(0));
    }
    EXPECT_NEAR(sum, 1, 4 * std::numeric_limits<T>::epsilon());
    const auto explained = Reference<corners>(s, rounded<T>(s.times)).time_through(weights);
    return std::abs(static_cast<double>(result.time - explained)) / s.longest_edge();
  });
}

TYPED_TEST(SimplexUpdate, IsMonotone) {
  using T = typename TypeParam::T;
  constexpr int corners = TypeParam::corners;
  on_every_family<TypeParam>(3000, 2, [](Sample<corners> s, Random& random) {
    const T before = update<T>(s).time;
    s.times[random.below(corners - 1)] += s.longest_edge() * std::pow(10.0, random.uniform(-6, 0.5));
    return static_cast<double>(before - update<T>(s).time) / s.longest_edge();
  });
}

TYPED_TEST(SimplexUpdate, FollowsPermutations) {
  using T = typename TypeParam::T;
  constexpr int corners = TypeParam::corners;
  on_every_family<TypeParam>(3000, 2, [](const Sample<corners>& s, Random& random) {
    Sample<corners> permuted = s;
    const auto a = random.below(corners - 1);
    const auto b = (a + 1) % (corners - 1);
    std::swap(permuted.points[a], permuted.points[b]);
    std::swap(permuted.times[a], permuted.times[b]);
    return std::abs(static_cast<double>(update<T>(permuted).time - update<T>(s).time)) / s.longest_edge();
  });
}

// Well-shaped elements have well-conditioned weights too, unless the front runs along the face.
TYPED_TEST(SimplexUpdate, WeightsFollowPermutations) {
  using T = typename TypeParam::T;
  constexpr int corners = TypeParam::corners;
  Sampler sampler(5);
  for (int i = 0; i < 3000; ++i) {
    auto s = sampler.next<corners>(Family::well_shaped);
    for (double& u : s.times) u = std::min(u, 1.0) / 4;
    const auto straight = update<T>(s).weights;
    std::reverse(s.points.begin(), s.points.end() - 1);
    std::reverse(s.times.begin(), s.times.end());
    auto back = update<T>(s).weights;
    std::reverse(back.begin(), back.end());
    for (std::size_t k = 0; k < back.size(); ++k)
      EXPECT_NEAR(back[k], straight[k], 50 * std::numeric_limits<T>::epsilon());
  }
}

TYPED_TEST(SimplexUpdate, MovesWithTheTimes) {
  using T = typename TypeParam::T;
  constexpr int corners = TypeParam::corners;
  for (const Family family : test::all_families) {
    Sampler sampler(9);
    for (int i = 0; i < 500; ++i) {
      auto s = sampler.next<corners>(family);
      // Short binary fractions, so that adding 64 to them is exact: then only the last addition may round.
      for (double& u : s.times) u = std::round(u * 4096) / 4096;
      const auto here = update<T>(s);
      for (double& u : s.times) u += 64;
      const auto later = update<T>(s);
      EXPECT_NEAR(later.time, here.time + T(64), 64 * std::numeric_limits<T>::epsilon());
      EXPECT_EQ(later.weights, here.weights);
    }
  }
}

TYPED_TEST(SimplexUpdate, ScalesExactlyByPowersOfTwo) {
  using T = typename TypeParam::T;
  constexpr int corners = TypeParam::corners;
  for (const Family family : test::all_families) {
    Sampler sampler(10);
    for (int i = 0; i < 300; ++i) {
      const auto s = sampler.next<corners>(family);
      const auto unit = update<T>(s);
      for (const double factor : {0x1p-30, 0x1p-3, 0x1p25}) {
        const auto other = update<T>(scaled(s, factor));
        EXPECT_EQ(other.time, unit.time * static_cast<T>(factor));
        EXPECT_EQ(other.weights, unit.weights);
      }
    }
  }
}

TYPED_TEST(SimplexUpdate, UnreachedEverywhereStaysUnreached) {
  using T = typename TypeParam::T;
  constexpr int corners = TypeParam::corners;
  for (const Family family : test::all_families) {
    auto s = Sampler(1).next<corners>(family);
    s.times.fill(never);
    const auto result = update<T>(s);
    EXPECT_EQ(result.time, std::numeric_limits<T>::infinity());
    for (const T w : result.weights) EXPECT_EQ(w, T(0));
  }
}

TYPED_TEST(SimplexUpdate, OneReachedCornerSendsAStraightPath) {
  using T = typename TypeParam::T;
  constexpr int corners = TypeParam::corners;
  for (const Family family : test::all_families) {
    Sampler sampler(2);
    for (int i = 0; i < 100; ++i) {
      auto s = sampler.next<corners>(family);
      const auto from = sampler.random().below(corners - 1);
      s.times.fill(never);
      s.times[from] = 0.5;
      const auto result = update<T>(s);
      EXPECT_NEAR(result.time, 0.5 + std::sqrt(s.squared(static_cast<int>(from), corners - 1)),
                  4 * std::numeric_limits<T>::epsilon());
      for (std::size_t k = 0; k < result.weights.size(); ++k) EXPECT_EQ(result.weights[k], T(k == from));
    }
  }
}

TYPED_TEST(SimplexUpdate, SteepTimesFallToTheEarliestCorner) {
  using T = typename TypeParam::T;
  constexpr int corners = TypeParam::corners;
  for (const Family family : test::all_families) {
    Sampler sampler(4);
    for (int i = 0; i < 100; ++i) {
      auto s = sampler.next<corners>(family);
      s.times.fill(1.01 * s.longest_edge());
      s.times[0] = 0;
      const auto result = update<T>(s);
      EXPECT_NEAR(result.time, std::sqrt(s.squared(0, corners - 1)), 4 * std::numeric_limits<T>::epsilon());
      EXPECT_EQ(result.weights[0], T(1));
    }
  }
}

TYPED_TEST(SimplexUpdate, PlaneWavesAreExact) {
  using T = typename TypeParam::T;
  constexpr int corners = TypeParam::corners;
  Sampler sampler(6);
  int inside = 0;
  for (int i = 0; i < 2000; ++i) {
    auto s = sampler.next<corners>(Family::well_shaped);
    // A front that travels from a point inside the face straight to the target.
    Vec3d start{};
    double total = 0;
    for (int k = 0; k + 1 < corners; ++k) {
      const double w = sampler.random().uniform(0.05, 1);
      start += w * s.points[k];
      total += w;
    }
    const Vec3d ray = s.points[corners - 1] - start / total;
    const Vec3d slowness = ray / norm(ray);
    for (int k = 0; k + 1 < corners; ++k) s.times[k] = 2 + dot(slowness, s.points[k]);
    const auto result = update<T>(s);
    EXPECT_NEAR(result.time, 2 + dot(slowness, s.points[corners - 1]), 16 * std::numeric_limits<T>::epsilon());
    inside += *std::min_element(result.weights.begin(), result.weights.end()) > T(0);
  }
  EXPECT_EQ(inside, 2000);
}

template <int Corners>
void expect_reference_agrees_with_search(Family family) {
  Sampler sampler(3);
  for (int i = 0; i < 20; ++i) {
    const auto s = sampler.next<Corners>(family);
    const Reference<Corners> reference(s, s.times);
    const auto searched = static_cast<double>(reference.searched());
    // The search stops 1e-13 of an edge from the kink where the target lies on the face.
    EXPECT_NEAR(static_cast<double>(reference.minimum()), searched, 1e-12 * s.longest_edge()) << test::name(family);
  }
}

TEST(SimplexReference, AgreesWithSearch) {
  for (const Family family : test::all_families) {
    expect_reference_agrees_with_search<3>(family);
    expect_reference_agrees_with_search<4>(family);
  }
}

TEST(SimplexUpdateCases, TetWithOneUnreachedCornerIsTheTriangleOfTheOthers) {
  for (const Family family : test::all_families) {
    Sampler sampler(8);
    for (int i = 0; i < 300; ++i) {
      auto s = sampler.next<4>(family);
      s.times = {0.1, 0.3, 0.2};
      const auto gone = sampler.random().below(3);
      s.times[gone] = never;
      const int a = gone == 0 ? 1 : 0;
      const int b = gone == 2 ? 1 : 2;
      const auto tet = update<double>(s);
      const auto edge = triangle_update(s.times[a], s.times[b],
                                        TriangleLengths<double>{s.squared(a, b), s.squared(a, 3), s.squared(b, 3)});
      EXPECT_NEAR(tet.time, edge.time, test::limits<double>(family).worst * s.longest_edge());
      EXPECT_EQ(tet.weights[gone], 0.0);
    }
  }
}

TEST(SimplexUpdateCases, CoincidentCornersAreOne) {
  // Corners 1 and 2 are the same point, with different times: the earlier counts.
  const TetLengths<double> l{0, 1, 1, 1, 1, 1};
  const auto face = tet_update(0.25, 0.0, 0.1, l);
  const auto edge = triangle_update(0.0, 0.1, TriangleLengths<double>{1, 1, 1});
  EXPECT_DOUBLE_EQ(face.time, edge.time);
  EXPECT_DOUBLE_EQ(triangle_update(0.5, 0.0, TriangleLengths<double>{0, 1, 1}).time, 1.0);
}

TEST(SimplexUpdateCases, TimesExactlyAnEdgeApartLeaveNoRoom) {
  // Three edges of length 1 at right angles at corner 3; the front runs along the first.
  const auto face = detail::tet_update_scaled(1.0, 0.0, 0.0, TetLengths<double>{2, 1, 1, 2, 2, 1});
  EXPECT_DOUBLE_EQ(face.time, 1);
  EXPECT_DOUBLE_EQ(face.weight[0] + face.weight[1] + face.weight[2], 1);
}

/// Where rounding is all there is of a face's area, its edges decide.
template <class T>
void expect_edges_decide_on_flat_faces() {
  Random random(21);
  for (int i = 0; i < 20000; ++i) {
    const double a = random.uniform(-1, 1), b = random.uniform(-1, 1), c = random.uniform(-1, 1);
    const double x = random.uniform(-1, 1), y = random.uniform(0.05, 1);
    const auto square = [](double p, double q, double height = 0) { return T((p - q) * (p - q) + height * height); };
    const TetLengths<T> l{square(a, b), square(a, c), square(b, c), square(a, x, y), square(b, x, y), square(c, x, y)};
    const T u1 = T(random.uniform(0, 0.3)), u2 = T(random.uniform(0, 0.3)), u3 = T(random.uniform(0, 0.3));
    const T edges = std::min({triangle_update(u1, u2, TriangleLengths<T>{l.l12, l.l1x, l.l2x}).time,
                              triangle_update(u1, u3, TriangleLengths<T>{l.l13, l.l1x, l.l3x}).time,
                              triangle_update(u2, u3, TriangleLengths<T>{l.l23, l.l2x, l.l3x}).time});
    ASSERT_NEAR(tet_update(u1, u2, u3, l).time, edges, 1e-3) << i;
  }
}

TEST(SimplexUpdateCases, EdgesDecideOnFlatFaces) {
  expect_edges_decide_on_flat_faces<float>();
  expect_edges_decide_on_flat_faces<double>();
}

/// However thin a face is, and however near to it the target: rounding costs no more than where a tetrahedron is flat.
TEST(SimplexUpdateCases, ThinFacesAreAsExactAsOthers) {
  Random random(4);
  const auto side = [&] { return random.uniform(-1, 1); };
  for (const double width : {1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8})
    for (int i = 0; i < 5000; ++i) {
      const auto across = [&] { return width * side(); };
      std::array<Vec3d, 3> corners{};
      for (Vec3d& p : corners) p = {side(), (i % 3 == 0 ? 0.01 : 1) * across(), across()};
      const double a = random.uniform(), b = (1 - a) * random.uniform();
      const Vec3d target =
          i % 2 == 0 ? Vec3d{side(), across(), 0.5 * side()}
                     : a * corners[0] + b * corners[1] + (1 - a - b) * corners[2] + Vec3d{0, across(), across()};
      for (Vec3d& p : corners) p = p - target;
      const Vec3d from{2 * side(), across(), across()};
      std::array<double, 3> u{};
      for (int k = 0; k < 3; ++k) u[k] = i % 5 < 3 ? norm(corners[k] - from) : 0.5 * random.uniform();
      const auto squared = [&](int k, int j) { return dot(corners[k] - corners[j], corners[k] - corners[j]); };
      const auto to_target = [&](int k) { return dot(corners[k], corners[k]); };
      const double time = tet_update(u[0], u[1], u[2],
                                     TetLengths<double>{squared(0, 1), squared(0, 2), squared(1, 2), to_target(0),
                                                        to_target(1), to_target(2)})
                              .time;
      const double exact = test::FaceMinimum<3, double>(corners, u).earliest().time;
      ASSERT_GT(time, exact - 1e-7) << width << " " << i;
      ASSERT_LT(time, exact + 5e-7) << width << " " << i;
    }
}

TEST(SimplexUpdateCases, FacesAreJudgedByTheirAngles) {
  using Gram = detail::FaceGram<double>;
  const auto with_sine = [](double sine) { return Gram::with_product(1, 1, std::sqrt(1 - sine * sine)); };
  const Gram face = Gram::with_product(4, 9, 3);
  EXPECT_EQ(face.f11, 4);
  EXPECT_EQ(face.f12, 3);
  EXPECT_EQ(face.f22, 9);
  EXPECT_EQ(face.det, 27);
  EXPECT_FALSE(face.thin() || face.inexact() || face.flat());
  EXPECT_FALSE(with_sine(0.26).thin());
  EXPECT_TRUE(with_sine(0.24).thin());
  EXPECT_FALSE(with_sine(2e-3).inexact());
  EXPECT_TRUE(with_sine(1e-3).inexact());
  EXPECT_FALSE(with_sine(1e-7).flat());
  EXPECT_TRUE(with_sine(1e-8).flat());
  const Gram point(1, 0, 1);  // an edge without length
  EXPECT_TRUE(point.thin() && point.inexact() && point.flat());
}

TEST(SimplexUpdateCases, TheSearchOfThinFacesFindsTheBestWeight) {
  const auto best_weight = [](double at_edge, double at_corner) {
    return detail::ThinFace<double>{at_edge, at_edge, at_corner, 1, 1, 1, 1, 1, 1}.best_weight();
  };
  EXPECT_NEAR(best_weight(0, 0), 1.0 / 3, 3e-4) << "below the height of the regular tetrahedron";
  // The better of the last two points of the golden section.
  EXPECT_GE(best_weight(0, 9), 0);
  EXPECT_LT(best_weight(0, 9), 2e-4);
  EXPECT_LE(best_weight(9, 0), 1);
  EXPECT_GT(best_weight(9, 0), 1 - 2e-4);
}

TEST(SimplexUpdateCases, KnownValues) {
  // The height of the regular tetrahedron and triangle; the diagonal of the Kuhn tetrahedron.
  const auto tet = tet_update(1.0, 1.0, 1.0, TetLengths<double>{1, 1, 1, 1, 1, 1});
  EXPECT_NEAR(tet.time, 1 + std::sqrt(2.0 / 3), 1e-15);
  for (const double w : tet.weight) EXPECT_NEAR(w, 1.0 / 3, 1e-15);
  const auto triangle = triangle_update(1.0, 1.0, TriangleLengths<double>{1, 1, 1});
  EXPECT_NEAR(triangle.time, 1 + std::sqrt(0.75), 1e-15);
  EXPECT_NEAR(triangle.weight[0], 0.5, 1e-15);
  // Target (1,1,1), face (0,0,0), (1,0,0), (1,1,0), front from the origin: straight up the diagonal costs √3, the
  // linear front of the face cannot know that and gives its own minimum.
  const double root2 = std::sqrt(2.0);
  const auto kuhn = tet_update(0.0, 1.0, root2, TetLengths<double>{1, 2, 1, 3, 2, 1});
  EXPECT_GE(kuhn.time, std::sqrt(3.0) - 1e-15);
  EXPECT_LE(kuhn.time, root2 + 1);
}

}  // namespace TEST_FILE
}  // namespace isochron
