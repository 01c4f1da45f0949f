// Virtual tetrahedra at a corner that is obtuse in the metric (paper 003 section 2.2).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "isochron/local/simplex_update.h"
#include "isochron/mesh.h"
#include "isochron/solve/simplex/obtuse_unfold.h"
#include "isochron/types.h"

namespace isochron {

/// A corner with a face it sees and the element in front of that face. Squared lengths; `far` is 01, 02, 12.
template <class Real>
struct ConeOf {
  std::array<std::uint32_t, 3> face;
  std::array<Real, 3> near, far;
  std::uint32_t element;
};

/// Joins an obtuse corner with the apex behind its opposite face: three virtual tetrahedra, split again where obtuse.
///
/// `Input` has `vertex(element, corner)`, `corner_of(element, vertex)`, `point(vertex)`, `tensor(element)`,
/// `lengths(element)` (squared), `behind(face, element)`, the one other element at the face, and `one_metric()`. `Real`
/// is what it computes with: a number, or one with its derivatives.
template <class Input, class Real = double>
class ConeSplitter {
  using Cone = ConeOf<Real>;
  using Vec = Vec3<Real>;

 public:
  /// Goes through at most `levels` elements behind one another, and ends where an edge's lengths on its two sides
  /// differ by more than `contrast`.
  ConeSplitter(const Input& input, int levels, double contrast) : input_(input), levels_(levels), contrast_(contrast) {}

  /// Calls `emit` with each of those that stand for corner t of element i.
  template <class Emit>
  void split(std::uint32_t i, int t, const Emit& emit) {
    const auto l = input_.lengths(i);
    const int a = (t + 1) & 3, b = (t + 2) & 3, c = (t + 3) & 3;
    target_ = input_.vertex(i, t);
    crossed_.clear();
    const Cone cone{{input_.vertex(i, a), input_.vertex(i, b), input_.vertex(i, c)},
                    {l[edge_index(a, t)], l[edge_index(b, t)], l[edge_index(c, t)]},
                    {l[edge_index(a, b)], l[edge_index(a, c)], l[edge_index(b, c)]},
                    i};
    divide(cone, emit);
  }

 private:
  static constexpr double rounding = 1e-9;

  struct Crossed {
    std::array<std::uint32_t, 3> face;
    std::uint32_t front;
  };

  static bool obtuse(const Cone& c) {
    const auto wide = [&](int i, int j) {
      return c.near[i] + c.near[j] - c.far[i + j - 1] < -rounding * (c.near[i] + c.near[j]);
    };
    return wide(0, 1) || wide(0, 2) || wide(1, 2);
  }

  /// True when the cone was replaced by what it emitted.
  template <class Emit>
  bool divide(const Cone& cone, const Emit& emit) {
    if (static_cast<int>(crossed_.size()) >= levels_ || !obtuse(cone)) return false;
    const Behind next = input_.behind(cone.face, cone.element);
    if (next.apex < 0) return false;
    const std::uint32_t apex = input_.vertex(next.element, next.apex);
    const Vec to_apex = input_.point(apex) - input_.point(target_);
    if (!crossing(to_apex, cone.face, true)) return false;
    const auto l = input_.lengths(next.element);
    std::array<int, 3> c;
    for (int k = 0; k < 3; ++k) c[k] = input_.corner_of(next.element, cone.face[k]);
    for (int i = 0; i < 3; ++i)
      for (int j = i + 1; j < 3; ++j)
        if (!alike(cone.far[i + j - 1], l[edge_index(c[i], c[j])], contrast_)) return false;

    crossed_.push_back({cone.face, cone.element});
    const Real path = path_length(to_apex, next.element);
    for (int skip = 0; skip < 3; ++skip) {
      const int i = skip == 0 ? 1 : 0, j = skip == 2 ? 1 : 2;
      const Cone part{{cone.face[i], cone.face[j], apex},
                      {cone.near[i], cone.near[j], path * path},
                      {l[edge_index(c[i], c[j])], l[edge_index(c[i], next.apex)], l[edge_index(c[j], next.apex)]},
                      next.element};
      if (!divide(part, emit)) finish(part, emit);
    }
    crossed_.pop_back();
    return true;
  }

  /// From the corner to those of a face.
  [[nodiscard]] std::array<Vec, 3> to_corners(const std::array<std::uint32_t, 3>& face) const {
    std::array<Vec, 3> p;
    for (int k = 0; k < 3; ++k) p[k] = input_.point(face[k]) - input_.point(target_);
    return p;
  }

  /// Where the segment `d` from the corner meets a face, as a share of it. With `within`, only strictly inside.
  [[nodiscard]] std::optional<Real> crossing(const Vec& d, const std::array<std::uint32_t, 3>& face,
                                             bool within) const {
    const std::array<Vec, 3> p = to_corners(face);
    // d as a combination of the three corners: all parts positive when it points into the cone over the face.
    std::array<Real, 3> part;
    const Real volume = dot(p[0], cross(p[1], p[2]));
    for (int k = 0; k < 3; ++k) part[k] = dot(d, cross(p[(k + 1) % 3], p[(k + 2) % 3])) / volume;
    const Real sum = part[0] + part[1] + part[2];
    const auto inside = [&](const Real& share) { return share > rounding * sum; };
    if (within && !(sum > 1 && std::all_of(part.begin(), part.end(), inside))) return std::nullopt;
    return 1 / sum;
  }

  /// The straight path `d` from the corner to a place in the element `last`, piece by piece.
  [[nodiscard]] Real path_length(const Vec& d, std::uint32_t last) const {
    using std::sqrt;
    Real sum(0), before(0);
    for (const Crossed& face : crossed_) {
      const Real share = detail::smaller(detail::larger(*crossing(d, face.face, false), before), Real(1));
      sum += (share - before) * sqrt(squared_length(input_.tensor(face.front), d));
      before = share;
    }
    return sum + (1 - before) * sqrt(squared_length(input_.tensor(last), d));
  }

  /// Lengths summed in different metrics need not be those of any tetrahedron, and an update through one that cannot
  /// exist is not monotone.
  static bool exists(const Cone& c) {
    constexpr double margin = 1e-6;
    const detail::FaceGram<Real> f(c.far[0], c.far[1], c.far[2]);
    const Real g1 = 0.5 * (f.f11 + c.near[2] - c.near[0]), g2 = 0.5 * (f.f22 + c.near[2] - c.near[1]);
    const Real foot = g1 * g1 * f.f22 - 2 * g1 * g2 * f.f12 + g2 * g2 * f.f11;
    return f.det > margin * f.f11 * f.f22 && c.near[2] * f.det - foot > margin * c.near[2] * f.det;
  }

  /// Where the metric changes, the face may have to be smaller than it is, so that the paths through the virtual
  /// tetrahedron are not clearly shorter than those through the elements it stands for; this is seen to at the middles
  /// of the face and of its edges.
  void shrink_face(Cone& c) const {
    const std::array<Vec, 3> p = to_corners(c.face);
    const auto squared_path = [&](const Vec& d) {
      const Real path = path_length(d, c.element);
      return squared_shortcut * path * path;
    };
    for (int i = 0; i < 3; ++i)
      for (int j = i + 1; j < 3; ++j)
        c.far[i + j - 1] = detail::smaller<Real>(
            2 * (c.near[i] + c.near[j]) - 4 * squared_path(Real(0.5) * (p[i] + p[j])), c.far[i + j - 1]);
    const Real corners = (c.near[0] + c.near[1] + c.near[2]) / 3, face = (c.far[0] + c.far[1] + c.far[2]) / 9;
    const Real factor = (corners - squared_path(Real(1.0 / 3) * (p[0] + p[1] + p[2]))) / face;
    if (factor < 1)
      for (Real& length : c.far) length = length * factor;
  }

  template <class Emit>
  void finish(Cone c, const Emit& emit) const {
    if (!input_.one_metric()) shrink_face(c);
    if (exists(c)) emit(c);
  }

  const Input& input_;
  int levels_;
  double contrast_;
  std::uint32_t target_ = 0;
  std::vector<Crossed> crossed_;
};

}  // namespace isochron
