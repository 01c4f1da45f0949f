// Random triangles and tetrahedra, by family of shape and metric, with random times: food for the tests of the local
// updates. Host only, but light enough for a .cu file.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "isochron/core/random.h"
#include "isochron/local/simplex_update.h"
#include "isochron/types.h"

namespace isochron::test {

/// Shapes with their longest edge near 1 (before the metric stretches them).
enum class Family {
  well_shaped,  ///< regular, jittered
  kuhn,         ///< the right-angled pieces of a cube or a square
  obtuse,       ///< one corner nearly inside the opposite face
  needle_100,   ///< 1:100
  needle_1000,  ///< 1:1000
  sliver,       ///< all corners within 1e-3 of a plane (a line, for triangles), one inside the others or not
  flat_face,    ///< the face the front comes through is within 1e-4 of a line
  flat,         ///< all corners in one plane (on one line)
  ratio_10,     ///< well-shaped, with metric eigenvalues up to this ratio, randomly rotated
  ratio_100,
  ratio_1e4,
};

inline constexpr std::array all_families{Family::well_shaped, Family::kuhn,      Family::obtuse,    Family::needle_100,
                                         Family::needle_1000, Family::sliver,    Family::flat_face, Family::flat,
                                         Family::ratio_10,    Family::ratio_100, Family::ratio_1e4};

inline const char* name(Family family) {
  switch (family) {
    case Family::well_shaped: return "well_shaped";
    case Family::kuhn: return "kuhn";
    case Family::obtuse: return "obtuse";
    case Family::needle_100: return "needle_100";
    case Family::needle_1000: return "needle_1000";
    case Family::sliver: return "sliver";
    case Family::flat_face: return "flat_face";
    case Family::flat: return "flat";
    case Family::ratio_10: return "ratio_10";
    case Family::ratio_100: return "ratio_100";
    case Family::ratio_1e4: return "ratio_1e4";
  }
  return "";
}

/// An element with `Corners` corners, the last of them the target, in a constant metric; times at the others.
template <int Corners>
struct Sample {
  std::array<Vec3d, Corners> points;
  SymTensor3d metric = SymTensor3d::identity();
  std::array<double, Corners - 1> times{};

  [[nodiscard]] double squared(int a, int b) const { return squared_length(metric, points[a] - points[b]); }
  [[nodiscard]] double longest_edge() const {
    double most = 0;
    for (int a = 0; a < Corners; ++a)
      for (int b = a + 1; b < Corners; ++b) most = std::max(most, squared(a, b));
    return std::sqrt(most);
  }
};
using TetSample = Sample<4>;
using TriangleSample = Sample<3>;

/// Squared metric lengths, computed in double and rounded once.
template <class T>
TetLengths<T> lengths(const TetSample& s) {
  return {T(s.squared(0, 1)), T(s.squared(0, 2)), T(s.squared(1, 2)),
          T(s.squared(0, 3)), T(s.squared(1, 3)), T(s.squared(2, 3))};
}
template <class T>
TriangleLengths<T> lengths(const TriangleSample& s) {
  return {T(s.squared(0, 1)), T(s.squared(0, 2)), T(s.squared(1, 2))};
}

class Sampler {
 public:
  explicit Sampler(std::uint64_t seed) : random_(seed) {}

  /// A random element of the family with random times, by turns of every kind in `set_times`.
  template <int Corners>
  Sample<Corners> next(Family family) {
    Sample<Corners> s;
    if constexpr (Corners == 4) s.points = tet(family);
    else s.points = triangle(family);
    if (family == Family::ratio_10) s.metric = metric(10);
    if (family == Family::ratio_100) s.metric = metric(100);
    if (family == Family::ratio_1e4) s.metric = metric(1e4);
    set_times(s);
    return s;
  }

  Random& random() { return random_; }

 private:
  using Tet = std::array<Vec3d, 4>;
  using Triangle = std::array<Vec3d, 3>;

  double signed_unit() { return random_.uniform(-1, 1); }
  Vec3d box(double size = 1) { return {size * signed_unit(), size * signed_unit(), size * signed_unit()}; }
  Vec3d direction() {
    const Vec3d v{random_.normal(), random_.normal(), random_.normal()};
    return v / norm(v);
  }
  template <std::size_t N>
  void shuffle(std::array<Vec3d, N>& points) {
    for (std::size_t i = N - 1; i > 0; --i) std::swap(points[i], points[random_.below(i + 1)]);
  }

  SymTensor3d metric(double ratio) {
    const Vec3d a = direction();
    const Vec3d other = direction();
    const Vec3d n = cross(a, other);
    const Vec3d b = n / norm(n);
    const Vec3d c = cross(a, b);
    const double middle = std::pow(ratio, random_.uniform());
    return SymTensor3d::outer(a, 1 / ratio) + SymTensor3d::outer(b, middle / ratio) + SymTensor3d::outer(c);
  }

  Tet tet(Family family) {
    Tet p;
    const double thin = family == Family::needle_100 ? 1e-2 : 1e-3;
    switch (family) {
      case Family::kuhn: p = {{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {1, 1, 1}}}; break;
      case Family::obtuse: {
        p = {{{0, 0, 0}, {1, 0, 0}, {0.5 + 0.2 * signed_unit(), random_.uniform(0.1, 0.9), 0}, {}}};
        const double a = random_.uniform(0.1, 0.8);
        const double b = random_.uniform(0.1, 0.9 - a);
        p[3] = (1 - a - b) * p[0] + a * p[1] + b * p[2] + Vec3d{0, 0, random_.uniform(0.03, 0.2)};
        break;
      }
      case Family::needle_100:
      case Family::needle_1000: {
        // By turns three corners at one end and one at the other, or two and two.
        const bool three = random_.below(2) == 0;
        for (int i = 0; i < 4; ++i) p[i] = box(thin / 2) + Vec3d{i == 3 || (i == 2 && !three) ? 1.0 : 0.0, 0, 0};
        break;
      }
      case Family::sliver:
      case Family::flat: {
        p = {{{0, 0, 0}, {0.7, 0, 0}, {0.7, 0.7, 0}, {0, 0.7, 0}}};
        const double height = family == Family::flat ? 0 : 1e-3;
        if (random_.below(2) == 0) p[3] = (p[0] + p[1] + p[2]) / 3.0;
        for (Vec3d& v : p) v += Vec3d{0.1 * signed_unit(), 0.1 * signed_unit(), height * signed_unit()};
        break;
      }
      case Family::flat_face:
        for (int i = 0; i < 3; ++i) p[i] = Vec3d{random_.uniform(), 1e-4 * signed_unit(), 0};
        p[3] = Vec3d{0, 0.3, 0.2} + box(0.2);
        return p;
      default:
        p = {{{0, 0, 0}, {1, 0, 0}, {0.5, 0.8660254, 0}, {0.5, 0.2886751, 0.8164966}}};
        for (Vec3d& v : p) v += box(0.15);
    }
    shuffle(p);
    return p;
  }

  Triangle triangle(Family family) {
    Triangle p;
    const double thin = family == Family::needle_100 ? 1e-2 : 1e-3;
    switch (family) {
      case Family::kuhn: p = {{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}}}; break;
      case Family::obtuse:
        p = {{{0, 0, 0}, {1, 0, 0}, {random_.uniform(0.1, 0.9), random_.uniform(0.03, 0.25), 0}}};
        break;
      case Family::needle_100:
      case Family::needle_1000:
        for (int i = 0; i < 3; ++i) p[i] = box(thin / 2) + Vec3d{i == 2 ? 1.0 : 0.0, 0, 0};
        break;
      case Family::sliver:
      case Family::flat:
        for (Vec3d& v : p) v = {random_.uniform(), family == Family::flat ? 0 : 1e-3 * signed_unit(), 0};
        break;
      case Family::flat_face: p = {{{0, 0, 0}, 1e-4 * direction(), Vec3d{0, 0.6, 0} + box(0.3)}}; return p;
      default:
        p = {{{0, 0, 0}, {1, 0, 0}, {0.5, 0.8660254, 0}}};
        for (Vec3d& v : p) v += box(0.15);
    }
    shuffle(p);
    return p;
  }

  template <int Corners>
  void set_times(Sample<Corners>& s) {
    constexpr double never = std::numeric_limits<double>::infinity();
    const double edge = s.longest_edge();
    const auto kind = random_.below(8);
    if (kind == 0) return;  // all equal
    if (kind <= 3) {        // differences up to a third of an edge, one, or several (then mostly s² ≥ 1)
      const double spread = kind == 1 ? 0.3 : (kind == 2 ? 1.0 : 4.0);
      for (double& u : s.times) u = spread * edge * random_.uniform();
    } else if (kind <= 6) {  // a spherical or nearly plane front from a point near or far: always s² < 1
      const Vec3d source = std::pow(10.0, random_.uniform(-0.5, 1.5)) * direction();
      for (int i = 0; i + 1 < Corners; ++i) s.times[i] = std::sqrt(squared_length(s.metric, s.points[i] - source));
    } else {  // some corners not reached yet
      for (double& u : s.times) u = edge * random_.uniform();
      const auto first = random_.below(Corners - 1);
      s.times[first] = never;
      if (Corners == 4 && random_.below(2) == 0) s.times[(first + 1) % (Corners - 1)] = never;
    }
    const double earliest = *std::min_element(s.times.begin(), s.times.end());
    for (double& u : s.times) u -= earliest;
  }

  Random random_;
};

}  // namespace isochron::test
