// Straight lines from a vertex, through unfolded elements, to the zero set of a level set.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "isochron/mesh/adjacency.h"
#include "isochron/mesh/closest_point.h"
#include "isochron/solve/simplex/metric_frame.h"

namespace isochron {

inline constexpr double zero_set_angle_tolerance = 1e-9;  // of the rays through a facet, over the angle it is seen at

/// A point as placed around the vertex that looks for the zero set, which is the origin, and where it is in the mesh.
template <class Real>
struct PlacedOf {
  Vec3<Real> flat, real;
  Real value{};  // of the level set

  /// A share of the way to another one.
  [[nodiscard]] PlacedOf towards(const PlacedOf& b, Real t) const {
    return {flat + t * (b.flat - flat), real + t * (b.real - real), value + t * (b.value - value)};
  }
};

/// A convex polygon, in order around it; also a segment or a point.
template <class Real>
class PolygonOf {
  using Placed = PlacedOf<Real>;

 public:
  struct Nearest {
    Placed point;
    Real distance = std::numeric_limits<double>::infinity();
  };

  void assign(const Placed* first, const Placed* last) { points_.assign(first, last); }
  [[nodiscard]] const std::vector<Placed>& points() const { return points_; }

  /// The zero set in one element: up to four points.
  template <std::size_t Corners>
  void assign_zero_set(const std::array<Placed, Corners>& x) {
    points_.clear();
    for (const Placed& corner : x)
      if (!(corner.value < 0) && !(corner.value > 0)) points_.push_back(corner);
    for (const Placed& low : x)
      for (const Placed& high : x)
        if (low.value < 0 && high.value > 0) points_.push_back(low.towards(high, low.value / (low.value - high.value)));
    // Four crossings come as the products of two corners below and two above: neighbours round the quadrilateral differ
    // in one.
    if (points_.size() == 4) std::swap(points_[2], points_[3]);
  }

  /// Cuts off what has dot(normal, flat) < limit.
  void cut(const Vec3<Real>& normal, Real limit) {
    const auto kept = [&](const Placed& p) { return dot(normal, p.flat) >= limit; };
    if (std::all_of(points_.begin(), points_.end(), kept)) return;
    spare_.clear();
    const std::size_t sides = points_.size() < 3 ? points_.size() - 1 : points_.size();
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const Real here = dot(normal, points_[i].flat) - limit;
      if (here >= 0) spare_.push_back(points_[i]);
      if (i >= sides) break;
      const Placed& next = points_[(i + 1) % points_.size()];
      const Real there = dot(normal, next.flat) - limit;
      if ((here < 0) != (there < 0)) spare_.push_back(points_[i].towards(next, here / (here - there)));
    }
    points_.swap(spare_);
  }

  /// The point nearest to the origin.
  [[nodiscard]] Nearest nearest() const {
    Nearest found;
    if (points_.size() == 1) take_nearer(std::array{points_[0]}, found);
    if (points_.size() == 2) take_nearer(std::array{points_[0], points_[1]}, found);
    for (std::size_t i = 2; i < points_.size(); ++i)
      take_nearer(std::array{points_[0], points_[i - 1], points_[i]}, found);
    return found;
  }

 private:
  template <std::size_t N>
  static void take_nearer(const std::array<Placed, N>& x, Nearest& nearest) {
    using std::sqrt;
    std::array<Vec3<Real>, N> flat;
    for (std::size_t i = 0; i < N; ++i) flat[i] = x[i].flat;
    const auto found = closest_point(flat, Vec3<Real>{});
    const Real distance = sqrt(found.squared_distance);
    if (!(distance < nearest.distance)) return;
    nearest = {{}, distance};
    for (std::size_t i = 0; i < N; ++i) {
      nearest.point.flat += found.weights[i] * x[i].flat;
      nearest.point.real += found.weights[i] * x[i].real;
    }
  }

  std::vector<Placed> points_, spare_;
};

/// Elements unfolded around a vertex into the space in which the metric of the first one is the ordinary one: beyond
/// each facet the next element is placed by the weights of its apex over the facet and its height, both in its own
/// metric. Where the metric is constant (a curved surface or not) that is an isometry. Where it is not, the straight
/// line is only nearly the best one, but the time given is the sum of its pieces, each in the metric of the element it
/// is in.
///
/// `Input` has `Real`, what it computes with (a number, or one with its derivatives), `mesh()`, `tensor(element)` and
/// `value(vertex)`, that of the level set.
template <int Corners, class Input>
class UnfoldedLines {
 public:
  using Real = typename Input::Real;
  using Vec = Vec3<Real>;
  using Placed = PlacedOf<Real>;
  using Polygon = PolygonOf<Real>;
  static constexpr std::uint32_t none = ~0U;

  struct Element {
    ElementId id;
    std::array<Placed, Corners> x;
  };
  /// A facet through which rays from the origin leave an element and go on.
  struct Opening {
    static constexpr int corners = Corners - 1;
    ElementId element;
    int corner;            // of the element: the one opposite
    std::uint32_t before;  // the opening through which the rays came
    std::array<VertexId, corners> vertices;
    std::array<Placed, corners> x;
    std::array<Vec, corners> side;  // normal of the plane through the origin and the other corners, towards this one
    Real span{};                    // side[k] times x[k], the same for all k
    Vec inner;                      // the corner opposite, as placed

    /// Of the point where the ray to p crosses the facet.
    [[nodiscard]] Vec crossing(const Vec& p) const {
      std::array<Real, corners> weight;
      Real sum(0);
      for (int k = 0; k < corners; ++k) {
        weight[k] = dot(side[k], p);
        if (!(weight[k] > 0)) weight[k] = Real(0);
        sum += weight[k];
      }
      Vec point{};
      for (int k = 0; k < corners; ++k) point += (weight[k] / sum) * x[k].real;
      return point;
    }
  };

  explicit UnfoldedLines(const Input& input) : input_(input) {}

  void start(VertexId v) {
    vertex_ = v;
    openings_.clear();
  }
  [[nodiscard]] const std::vector<Opening>& openings() const { return openings_; }
  std::uint32_t add(const Opening& opening) {
    openings_.push_back(opening);
    return static_cast<std::uint32_t>(openings_.size() - 1);
  }
  template <class Visit>
  void for_openings(std::uint32_t last, Visit&& visit) const {
    for (; last != none; last = openings_[last].before) visit(openings_[last]);
  }

  [[nodiscard]] Element place_at_vertex(ElementId e, int corner) const {
    std::array<Vec, Corners> real;
    for (int c = 0; c < Corners; ++c) real[c] = point(input_.mesh().element(e)[c]);
    auto flat = MetricFrameOf<Real>(input_.tensor(e), real[corner]).map(real);
    if constexpr (Corners == 3) {  // turned into the plane z = 0
      Vec& a = flat[(corner + 1) % 3];
      Vec& b = flat[(corner + 2) % 3];
      const Real length = size(a);
      if (length > 0) b = {dot(a, b) / length, size(cross(a, b)) / length, Real(0)};
      a = {length, Real(0), Real(0)};
    }
    Element element{e, {}};
    for (int c = 0; c < Corners; ++c) element.x[c] = {flat[c], real[c], input_.value(input_.mesh().element(e)[c])};
    return element;
  }

  /// Places an element that shares the opening's facet on the far side of it.
  [[nodiscard]] std::optional<Element> place_behind(const Opening& facet, ElementId e) const {
    Element element{e, {}};
    int apex = 0;
    for (int c = 0; c < Corners; ++c) {
      const auto place = std::find(facet.vertices.begin(), facet.vertices.end(), input_.mesh().element(e)[c]);
      if (place == facet.vertices.end()) apex = c;
      else element.x[c] = facet.x[place - facet.vertices.begin()];
    }
    const VertexId v = input_.mesh().element(e)[apex];
    const MetricFrameOf<Real> frame(input_.tensor(e), point(v));  // the apex is its origin
    std::array<Vec, Corners - 1> base;
    for (int k = 0; k < Corners - 1; ++k) base[k] = frame.map(facet.x[k].real);
    const auto weights = barycentric(base, Vec{});
    if (!weights) return std::nullopt;
    Vec normal = normal_of(facet);
    normal = normal / size(normal);
    if (dot(normal, facet.inner - facet.x[0].flat) > 0) normal = -normal;
    Vec foot{};
    for (int k = 0; k < Corners - 1; ++k) foot += (*weights)[k] * facet.x[k].flat;
    const Real height = size(weighted_point(base, *weights));
    element.x[apex] = {foot + height * normal, point(v), input_.value(v)};
    return element;
  }

  /// The facet opposite `corner`; none when it is seen edge-on.
  [[nodiscard]] std::optional<Opening> facet_of(const Element& element, int corner, std::uint32_t before) const {
    Opening facet{element.id, corner, before, {}, {}, {}, Real(0), element.x[corner].flat};
    for (int c = 0, k = 0; c < Corners; ++c) {
      if (c == corner) continue;
      facet.vertices[k] = input_.mesh().element(element.id)[c];
      facet.x[k++] = element.x[c];
    }
    if (!set_sides(facet)) return std::nullopt;
    return facet;
  }

  /// What is seen of the zero set in the element through the openings, nearest to the vertex.
  [[nodiscard]] typename Polygon::Nearest nearest_zero(const Element& element, std::uint32_t last) {
    polygon_.assign_zero_set(element.x);
    for_openings(last, [&](const Opening& facet) {
      for (const Vec& side : facet.side) polygon_.cut(side, -zero_set_angle_tolerance * facet.span);
    });
    return polygon_.nearest();
  }

  /// Of the straight line from the vertex through the openings to `end` in the element.
  [[nodiscard]] Real path_time(const Placed& end, ElementId e, std::uint32_t last) const {
    using std::sqrt;
    Real time(0);
    Vec there = end.real;
    const auto come_from = [&](const Vec& here) {
      time += sqrt(squared_length(input_.tensor(e), there - here));
      there = here;
    };
    for_openings(last, [&](const Opening& facet) {
      come_from(facet.crossing(end.flat));
      e = facet.element;
    });
    come_from(point(vertex_));
    return time;
  }

  [[nodiscard]] static Real size(const Vec& v) {
    using std::sqrt;
    return sqrt(dot(v, v));
  }

 private:
  [[nodiscard]] Vec point(VertexId v) const {
    const Vec3d p = input_.mesh().point(v);
    return {Real(p.x), Real(p.y), Real(p.z)};
  }

  /// False when the facet is seen edge-on.
  static bool set_sides(Opening& facet) {
    const Vec a = facet.x[0].flat, b = facet.x[1].flat;
    Real product = size(a) * size(b);
    if constexpr (Corners == 3) {
      facet.side = {Vec{b.y, -b.x, Real(0)}, Vec{-a.y, a.x, Real(0)}};
    } else {
      const Vec c = facet.x[2].flat;
      facet.side = {cross(b, c), cross(c, a), cross(a, b)};
      product = product * size(c);
    }
    facet.span = dot(a, facet.side[0]);
    if (facet.span < 0) {
      for (Vec& side : facet.side) side = -side;
      facet.span = -facet.span;
    }
    return facet.span > zero_set_angle_tolerance * product;
  }

  /// A vector across the facet as placed.
  static Vec normal_of(const Opening& facet) {
    const Vec along = facet.x[1].flat - facet.x[0].flat;
    if constexpr (Corners == 3) return {along.y, -along.x, Real(0)};
    else return cross(along, facet.x[2].flat - facet.x[0].flat);
  }

  const Input& input_;
  VertexId vertex_;
  std::vector<Opening> openings_;
  Polygon polygon_;
};

}  // namespace isochron
