// What the local updates should return, in extended precision from the coordinates and by other means: orthonormal
// frames in place of Gram matrices, all faces of the face in place of a choice, and a search that knows no calculus at
// all.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "simplex_samples.h"

namespace isochron::test {

/// The minimum over a face with `n` corners of Σ wᵢ uᵢ + |Σ wᵢ yᵢ|, with weights in the unit simplex: the earliest
/// arrival at the origin, in coordinates where the metric is the identity.
template <int n, class Real>
class FaceMinimum {
 public:
  using Point = Vec3<Real>;
  using Weights = std::array<Real, n>;
  struct Earliest {
    Real time = std::numeric_limits<Real>::infinity();
    Weights weights{};
  };

  FaceMinimum(const std::array<Point, n>& corners, const std::array<Real, n>& times) : y_(corners), u_(times) {}

  /// Time of the path that starts at the point of the face with these weights; corners of weight 0 do not count.
  [[nodiscard]] Real time_through(const Weights& w) const {
    Real time = 0;
    Point p;
    for (int i = 0; i < n; ++i) {
      if (w[i] == 0) continue;
      time += w[i] * u_[i];
      p += w[i] * y_[i];
    }
    return time + norm(p);
  }

  /// The earliest of the stationary points of the corners, the edges and the face, each moved into the face if outside:
  /// so never below the minimum, whatever the rounding. Infinite times drop out.
  [[nodiscard]] Earliest earliest() const {
    Earliest best;
    const auto consider = [&](Weights w) {
      Real sum = 0;
      for (Real& part : w) sum += (part = part > 0 ? part : 0);
      if (!(sum > 0) || !std::isfinite(sum)) return;
      for (Real& part : w) part /= sum;
      if (const Real time = time_through(w); time < best.time) best = {time, w};
    };
    for (int a = 0; a < n; ++a) {
      Weights corner{};
      corner[a] = 1;
      consider(corner);
      for (int b = a + 1; b < n; ++b) consider(edge(a, b));
    }
    if constexpr (n == 3) consider(face());
    return best;
  }

  /// The same by nested golden-section search: slow and sure, the function being convex.
  [[nodiscard]] Real searched() const {
    if constexpr (n == 2) return golden([&](Real w) { return time_through({w, 1 - w}); });
    if constexpr (n == 3) {
      return golden([&](Real w) {
        return golden([&](Real v) { return time_through({w, (1 - w) * v, (1 - w) * (1 - v)}); });
      });
    }
  }

 private:
  [[nodiscard]] Weights edge(int a, int b) const {
    Weights w{};
    const Point e = y_[b] - y_[a];
    const Real length = norm(e);
    const Point q = e / length;
    const Real slope = (u_[b] - u_[a]) / length;
    if (!(std::abs(slope) < 1)) return w;
    const Real foot = -dot(y_[a], q);
    const Real height = norm(y_[a] + foot * q);
    w[b] = std::clamp<Real>((foot - height * slope / std::sqrt((1 - slope) * (1 + slope))) / length, 0, 1);
    w[a] = 1 - w[b];
    return w;
  }

  [[nodiscard]] Weights face() const {
    const Point e1 = y_[1] - y_[0];
    const Point e2 = y_[2] - y_[0];
    const Real r11 = norm(e1);
    const Point q1 = e1 / r11;
    const Real r12 = dot(e2, q1);
    Point q2 = e2 - r12 * q1;
    q2 -= dot(q2, q1) * q1;
    const Real r22 = norm(q2);
    q2 = q2 / r22;
    // The slowness of the front in the plane of the face.
    const Real p1 = (u_[1] - u_[0]) / r11;
    const Real p2 = (u_[2] - u_[0] - r12 * p1) / r22;
    const Real room = 1 - p1 * p1 - p2 * p2;
    if (!(room > 0)) return {};
    const Real f1 = -dot(y_[0], q1);
    const Real f2 = -dot(y_[0], q2);
    const Real height = norm(y_[0] + f1 * q1 + f2 * q2);
    const Real reach = height / std::sqrt(room);
    Weights w{};
    w[2] = (f2 - reach * p2) / r22;
    w[1] = (f1 - reach * p1 - r12 * w[2]) / r11;
    w[0] = 1 - w[1] - w[2];
    return w;
  }

  template <class F>
  static Real golden(F&& f) {
    constexpr Real ratio = 0.618033988749894848205L;
    Real low = 0;
    Real high = 1;
    // The ends count by themselves: there the search would converge only linearly in value.
    Real best = std::min(f(low), f(high));
    Real a = high - ratio;
    Real b = low + ratio;
    Real fa = f(a);
    Real fb = f(b);
    for (int i = 0; i < 64; ++i) {
      if (fa < fb || (fa == fb && i % 2 == 0)) {
        high = b;
        b = a;
        fb = fa;
        a = high - ratio * (high - low);
        fa = f(a);
      } else {
        low = a;
        a = b;
        fa = fb;
        b = low + ratio * (high - low);
        fb = f(b);
      }
      best = std::min({best, fa, fb});
    }
    return best;
  }

  std::array<Point, n> y_;
  std::array<Real, n> u_;
};

/// Upper triangle U, row by row, with M = UᵀU.
template <class Real>
std::array<Real, 6> metric_factor(const SymTensor3d& m) {
  std::array<Real, 6> u{};
  u[0] = std::sqrt(Real(m.xx));
  u[1] = m.xy / u[0];
  u[2] = m.xz / u[0];
  u[3] = std::sqrt(m.yy - u[1] * u[1]);
  u[4] = (m.yz - u[1] * u[2]) / u[3];
  u[5] = std::sqrt(m.zz - u[2] * u[2] - u[4] * u[4]);
  return u;
}

/// U v.
template <class Real>
Vec3<Real> in_frame(const std::array<Real, 6>& u, const Vec3d& d) {
  const Vec3<Real> v{d.x, d.y, d.z};
  return {u[0] * v.x + u[1] * v.y + u[2] * v.z, u[3] * v.y + u[4] * v.z, u[5] * v.z};
}

/// The minimum over the face of Σ wᵢ uᵢ + |x − Σ wᵢ xᵢ| in the metric. Times are taken as the update sees them, after
/// rounding to T.
template <int Corners>
class Reference {
 public:
  using Real = long double;
  static constexpr int n = Corners - 1;
  using Weights = std::array<Real, n>;

  template <class T>
  Reference(const Sample<Corners>& s, const std::array<T, n>& times) : face_(corners_of(s), widened(times)) {}

  [[nodiscard]] Real minimum() const { return face_.earliest().time; }
  [[nodiscard]] Real searched() const { return face_.searched(); }
  [[nodiscard]] Real time_through(const Weights& weights) const { return face_.time_through(weights); }

 private:
  static std::array<Vec3<Real>, n> corners_of(const Sample<Corners>& s) {
    const auto frame = metric_factor<Real>(s.metric);
    std::array<Vec3<Real>, n> y;
    for (int i = 0; i < n; ++i) y[i] = in_frame(frame, s.points[i] - s.points[n]);
    return y;
  }
  template <class T>
  static Weights widened(const std::array<T, n>& times) {
    Weights u;
    for (int i = 0; i < n; ++i) u[i] = times[i];
    return u;
  }

  FaceMinimum<n, Real> face_;
};

}  // namespace isochron::test
