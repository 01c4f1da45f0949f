// Virtual triangles at a corner that is obtuse in the metric, by unfolding what lies behind it (paper 000 section 2.2).
// For host and device.
#pragma once

#include <cmath>
#include <cstdint>

#include "isochron/local/simplex_update.h"
#include "isochron/mesh.h"
#include "isochron/types.h"

namespace isochron {

/// Triangles unfolded behind one corner, at most.
inline constexpr int max_unfolds = 8;

/// A path through a virtual element may be a hundredth shorter than through the elements it stands for, for metrics
/// that vary smoothly; squared.
inline constexpr double squared_shortcut = 0.98;

/// Squared lengths a and b of an edge in the metrics on its two sides are alike enough for one virtual element.
template <class Real>
ISOCHRON_HD inline bool alike(Real squared_a, Real squared_b, double contrast) {
  const double most = contrast * contrast;
  return squared_a <= most * squared_b && squared_b <= most * squared_a;
}

/// An element behind a face, and its corner opposite that face; no such corner (−1) when there is no such element.
struct Behind {
  std::uint32_t element = 0;
  int apex = -1;
};

/// A virtual triangle seen from its target x: the edge a,b opposite, with squared lengths.
template <class Real>
struct VirtualTriangleOf {
  std::uint32_t a, b;
  Real ab, ax, bx;
};
using VirtualTriangle = VirtualTriangleOf<double>;

/// Unfolds the triangles behind an obtuse corner, which is the origin of the plane. Plane coordinates are lengths in
/// the metric of the corner's triangle; where another triangle's metric gives the shared edge another length it is
/// drawn larger by that ratio, its `scale`, and lengths in it are drawn lengths over scale.
///
/// `Input` has `vertex(triangle, corner)`, `length(triangle, corner, corner)` (squared) and `behind(a, b, triangle)`,
/// the one other triangle at the edge a,b. `Real` is what it computes with: a number, or one with its derivatives.
template <class Input, class Real = double>
class TriangleUnfolder {
 public:
  /// Unfolding ends where an edge's lengths on its two sides differ by more than `contrast`.
  ISOCHRON_HD TriangleUnfolder(const Input& input, double contrast) : input_(input), contrast_(contrast) {}

  /// Calls `emit` with each of those that stand for corner t of triangle i.
  template <class Emit>
  ISOCHRON_HD void split(std::uint32_t i, int t, Emit&& emit) {
    using std::sqrt;
    const int a = (t + 1) % 3, b = (t + 2) % 3;
    const Real ta = input_.length(i, t, a), tb = input_.length(i, t, b), ab = input_.length(i, a, b);
    const Real x = (ta + tb - ab) / (2 * sqrt(ta));
    Drawn left{input_.vertex(i, a), sqrt(ta), Real(0), sqrt(ta)};
    Drawn right{input_.vertex(i, b), x, sqrt(detail::larger(tb - x * x, Real(0))), sqrt(tb)};
    Window window{left, right, 0};
    crossings_ = 0;
    // The window's rays cross the edge (left, right) of triangle i; what is behind it?
    while (crossings_ < max_unfolds && obtuse(window)) {
      const Behind next = input_.behind(left.vertex, right.vertex, i);
      Drawn apex;
      if (next.apex < 0 || !draw(left, right, next, apex)) break;
      i = next.element;
      const Real margin = rounding * size(apex);
      const bool inside_left = cross(window.left, apex) > margin * size(window.left);
      const bool inside_right = cross(apex, window.right) > margin * size(window.right);
      bool keep_left = inside_left;
      if (inside_left && inside_right) {
        const Window before{window.left, apex, crossings_}, after{apex, window.right, crossings_};
        // The two make less than a straight angle: at most one is still obtuse.
        keep_left = obtuse(before);
        offer(keep_left ? after : before, emit);
        window = keep_left ? before : after;
      }
      if (keep_left) right = apex;
      else left = apex;
    }
    offer(window, emit);
  }

 private:
  static constexpr double rounding = 1e-9;

  /// A vertex in the plane, with the length of the straight path to the corner.
  struct Drawn {
    std::uint32_t vertex;
    Real x, y;
    Real path;
  };
  /// The part of the angle at the corner between two vertices that it sees; counter-clockwise from left to right.
  struct Window {
    Drawn left, right;
    int crossings;  ///< edges before the triangle that joins them; none: this is not a virtual triangle
  };
  /// An edge of the strip and the scale of the triangle behind it.
  struct Crossed {
    Real left_x, left_y, along_x, along_y;
    Real scale;
  };

  ISOCHRON_HD static Real cross(const Drawn& a, const Drawn& b) { return a.x * b.y - a.y * b.x; }
  ISOCHRON_HD static Real squared(const Drawn& a, const Drawn& b) {
    return (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y);
  }
  ISOCHRON_HD static Real size(const Drawn& a) {
    using std::sqrt;
    return sqrt(a.x * a.x + a.y * a.y);
  }
  ISOCHRON_HD static bool obtuse(const Window& w) {
    return w.left.x * w.right.x + w.left.y * w.right.y < -rounding * size(w.left) * size(w.right);
  }

  /// Draws the apex of the next triangle and enters the edge as crossed; not when the metrics differ too much.
  ISOCHRON_HD bool draw(const Drawn& left, const Drawn& right, const Behind& next, Drawn& apex) {
    const int cl = corner_of(next.element, left.vertex), cr = corner_of(next.element, right.vertex);
    using std::sqrt;
    const Real lr = input_.length(next.element, cl, cr), la = input_.length(next.element, cl, next.apex),
               ra = input_.length(next.element, cr, next.apex);
    const Real drawn = squared(left, right);
    if (!alike(drawn, lr, contrast_)) return false;
    const Real along = (la + lr - ra) / (2 * lr);  // in units of the edge
    const Real away = sqrt(detail::larger(la / lr - along * along, Real(0)));
    const Real ex = right.x - left.x, ey = right.y - left.y;
    apex = {input_.vertex(next.element, next.apex), left.x + along * ex + away * ey, left.y + along * ey - away * ex,
            Real(0)};
    crossed_[crossings_++] = {left.x, left.y, ex, ey, sqrt(drawn / lr)};
    apex.path = path_length(apex.x, apex.y, crossings_);
    return true;
  }

  [[nodiscard]] ISOCHRON_HD int corner_of(std::uint32_t triangle, std::uint32_t vertex) const {
    return input_.vertex(triangle, 0) == vertex ? 0 : input_.vertex(triangle, 1) == vertex ? 1 : 2;
  }

  /// The straight path from the corner to a place in the plane, over some edges, piece by piece.
  [[nodiscard]] ISOCHRON_HD Real path_length(Real x, Real y, int crossings) const {
    using std::sqrt;
    const Real whole = sqrt(x * x + y * y);
    Real sum(0), before(0), scale(1);
    for (int k = 0; k < crossings; ++k) {
      const Crossed& edge = crossed_[k];
      const Real at = (edge.left_x * edge.along_y - edge.left_y * edge.along_x) / (x * edge.along_y - y * edge.along_x);
      const Real share = at < before ? before : (at > Real(1) ? Real(1) : at);
      sum += (share - before) * whole / scale;
      before = share;
      scale = edge.scale;
    }
    return sum + (1 - before) * whole / scale;
  }

  /// Paths summed in different metrics need not be sides of any triangle: updates through one that cannot exist are not
  /// monotone, and may come too early.
  ISOCHRON_HD static bool exists(const VirtualTriangleOf<Real>& v) {
    const Real product = v.ab + v.ax - v.bx;  // twice that of the edges from a
    return 4 * v.ab * v.ax - product * product > rounding * v.ab * v.ax;
  }

  /// The squared length of the edge opposite the corner of a virtual triangle. In one metric it is that of the edge.
  /// Where the metric changes it may have to be less, so that the paths through the virtual triangle are not clearly
  /// shorter than those through the triangles it stands for; this is seen to at some places along the edge.
  [[nodiscard]] ISOCHRON_HD Real opposite_length(const Window& w) const {
    using std::fabs;
    const Real scale = crossed_[w.crossings - 1].scale;
    Real result = squared(w.left, w.right) / (scale * scale);
    bool one_metric = true;
    for (int k = 0; k < w.crossings; ++k) one_metric &= fabs(crossed_[k].scale - 1) < rounding;
    if (one_metric) return result;
    for (int quarter = 1; quarter < 4; ++quarter) {
      const double right = 0.25 * quarter, left = 1 - right;
      const Real path =
          path_length(left * w.left.x + right * w.right.x, left * w.left.y + right * w.right.y, w.crossings);
      const Real ends = left * (w.left.path * w.left.path) + right * (w.right.path * w.right.path);
      result = detail::smaller(result, (ends - squared_shortcut * path * path) / (left * right));
    }
    return result;
  }

  template <class Emit>
  ISOCHRON_HD void offer(const Window& w, Emit&& emit) const {
    if (w.crossings == 0) return;
    const VirtualTriangleOf<Real> v{w.left.vertex, w.right.vertex, opposite_length(w), w.left.path * w.left.path,
                                    w.right.path * w.right.path};
    if (v.ab > 0 && exists(v)) emit(v);
  }

  const Input& input_;
  double contrast_;
  int crossings_ = 0;
  Crossed crossed_[max_unfolds];
};

}  // namespace isochron
