#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "isochron/error.h"
#include "isochron/mesh/closest_point.h"
#include "isochron/mesh/visibility.h"
#include "isochron/solve/simplex/metric_frame.h"
#include "isochron/solve/simplex/source_ball.h"

namespace isochron {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double angle_tolerance = 1e-9;     // of the rays through a facet, over the angle it is seen at
constexpr double slope_margin = 1.05;        // of the level set further out over that beside the vertex
constexpr std::size_t max_openings = 2'000;  // looked through from one vertex: a guard for needles
constexpr int max_depth = 50;                // of openings behind one another: likewise, for repeated elements

/// A point as placed around the vertex that looks for the zero set, which is the origin, and where it is in the mesh.
struct Placed {
  Vec3d flat, real;
  double value = 0;  // of the level set
};

using Polygon = std::vector<Placed>;  // convex, in order around it; also a segment or a point

Placed between(const Placed& a, const Placed& b, double t) {
  return {a.flat + t * (b.flat - a.flat), a.real + t * (b.real - a.real), a.value + t * (b.value - a.value)};
}

/// The zero set in one element: up to four points.
template <std::size_t Corners>
void zero_polygon(const std::array<Placed, Corners>& x, Polygon& polygon) {
  polygon.clear();
  for (const Placed& corner : x)
    if (corner.value == 0) polygon.push_back(corner);
  for (const Placed& low : x)
    for (const Placed& high : x)
      if (low.value < 0 && high.value > 0) polygon.push_back(between(low, high, low.value / (low.value - high.value)));
  // Four crossings come as the products of two corners below and two above: neighbours round the quadrilateral differ
  // in one.
  if (polygon.size() == 4) std::swap(polygon[2], polygon[3]);
}

/// Cuts off what has dot(normal, flat) < limit. `spare` is scratch.
void cut(Polygon& polygon, Vec3d normal, double limit, Polygon& spare) {
  const auto kept = [&](const Placed& p) { return dot(normal, p.flat) >= limit; };
  if (std::all_of(polygon.begin(), polygon.end(), kept)) return;
  spare.clear();
  const std::size_t sides = polygon.size() < 3 ? polygon.size() - 1 : polygon.size();
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const double here = dot(normal, polygon[i].flat) - limit;
    if (here >= 0) spare.push_back(polygon[i]);
    if (i >= sides) break;
    const Placed& next = polygon[(i + 1) % polygon.size()];
    const double there = dot(normal, next.flat) - limit;
    if ((here < 0) != (there < 0)) spare.push_back(between(polygon[i], next, here / (here - there)));
  }
  polygon.swap(spare);
}

struct Nearest {
  Placed point;
  double distance = infinity;
};

template <std::size_t N>
void take_nearer(const std::array<Placed, N>& x, Nearest& nearest) {
  std::array<Vec3d, N> flat;
  for (std::size_t i = 0; i < N; ++i) flat[i] = x[i].flat;
  const auto found = closest_point(flat, Vec3d{});
  const double distance = std::sqrt(found.squared_distance);
  if (!(distance < nearest.distance)) return;
  nearest = {{}, distance};
  for (std::size_t i = 0; i < N; ++i) {
    nearest.point.flat += found.weights[i] * x[i].flat;
    nearest.point.real += found.weights[i] * x[i].real;
  }
}

/// The polygon's point nearest to the origin.
Nearest nearest_point(const Polygon& polygon) {
  Nearest nearest;
  if (polygon.size() == 1) take_nearer(std::array{polygon[0]}, nearest);
  if (polygon.size() == 2) take_nearer(std::array{polygon[0], polygon[1]}, nearest);
  for (std::size_t i = 2; i < polygon.size(); ++i)
    take_nearer(std::array{polygon[0], polygon[i - 1], polygon[i]}, nearest);
  return nearest;
}

/// The facet through which the rays from the origin leave an element.
template <int Corners>
struct Facet {
  static constexpr int corners = Corners - 1;
  ElementId element;
  std::array<VertexId, corners> vertices;
  std::array<Placed, corners> x;
  std::array<Vec3d, corners> side;  // normal of the plane through the origin and the other corners, towards this one
  double span = 0;                  // side[k] times x[k], the same for all k

  /// Of the point where the ray to p crosses the facet.
  [[nodiscard]] Vec3d crossing(Vec3d p) const {
    std::array<double, corners> weight;
    double sum = 0;
    for (int k = 0; k < corners; ++k) sum += weight[k] = std::max(0.0, dot(side[k], p));
    Vec3d point;
    for (int k = 0; k < corners; ++k) point += (weight[k] / sum) * x[k].real;
    return point;
  }
};

/// False when the facet is seen edge-on.
template <int Corners>
bool set_sides(Facet<Corners>& facet) {
  const Vec3d a = facet.x[0].flat, b = facet.x[1].flat;
  double size = norm(a) * norm(b);
  if constexpr (Corners == 3) {
    facet.side = {Vec3d{b.y, -b.x, 0}, Vec3d{-a.y, a.x, 0}};
  } else {
    const Vec3d c = facet.x[2].flat;
    facet.side = {cross(b, c), cross(c, a), cross(a, b)};
    size *= norm(c);
  }
  facet.span = dot(a, facet.side[0]);
  if (facet.span < 0)
    for (Vec3d& side : facet.side) side = -side;
  facet.span = std::abs(facet.span);
  return facet.span > angle_tolerance * size;
}

/// A vector across the facet as placed.
Vec3d normal_of(const Facet<3>& facet) {
  const Vec3d along = facet.x[1].flat - facet.x[0].flat;
  return {along.y, -along.x, 0};
}
Vec3d normal_of(const Facet<4>& facet) {
  return cross(facet.x[1].flat - facet.x[0].flat, facet.x[2].flat - facet.x[0].flat);
}

/// How fast the level set changes in an element with x[corner] at the origin, per travel time; 0 when it is flat.
template <std::size_t Corners>
double slope(const std::array<Placed, Corners>& x, int corner) {
  std::array<Vec3d, 3> e{Vec3d{}, Vec3d{}, Vec3d{0, 0, 1}};
  std::array<double, 3> rise{};
  for (int c = 0, k = 0; c < static_cast<int>(Corners); ++c) {
    if (c == corner) continue;
    e[k] = x[c].flat;
    rise[k++] = x[c].value - x[corner].value;
  }
  const double volume = dot(e[0], cross(e[1], e[2]));
  const double size = norm(e[0]) * norm(e[1]) * norm(e[2]);
  if (!(std::abs(volume) > angle_tolerance * size)) return 0;
  return norm(rise[0] * cross(e[1], e[2]) + rise[1] * cross(e[2], e[0]) + rise[2] * cross(e[0], e[1])) /
         std::abs(volume);
}

/// Finds the straight way from a vertex to the zero set. Elements are unfolded around the vertex into the space in
/// which the metric of the first one is the ordinary one: beyond each facet the next element is placed by the weights
/// of its apex over the facet and its height, both in its own metric. Where the metric is constant (a curved surface or
/// not) that is an isometry and the nearest visible point is found exactly. Where it is not, the line is only nearly
/// the best one, but the time given is the sum of its pieces, each in the metric of the element it is in: never too
/// early.
///
/// Facets are looked through in the order of the least time at which a ray through them can be at the zero set, should
/// the level set not change faster than around the vertex.
template <int Corners>
class ZeroSetView {
 public:
  ZeroSetView(const SimplexMesh<Corners>& mesh, const Metric& metric, const Adjacency& adjacency,
              std::span<const double> values)
      : mesh_(mesh), metric_(metric), adjacency_(adjacency), values_(values) {}

  double time_at(VertexId v);

 private:
  static constexpr std::uint32_t none = ~0U;

  struct Element {
    ElementId id;
    std::array<Placed, Corners> x;
  };
  /// A facet through which rays go on.
  struct Opening {
    Facet<Corners> facet;
    Vec3d inner;           // the corner opposite it, as placed
    std::uint32_t before;  // the opening through which the rays came
    double least;          // time at which they can be at the zero set
    int depth;             // openings from the vertex to this one
  };

  Element place_at_vertex(ElementId e, int corner) const;
  std::optional<Element> place_behind(const Opening& opening, ElementId e) const;
  template <class Visit>
  void for_openings(std::uint32_t last, Visit&& visit) const {
    for (; last != none; last = openings_[last].before) visit(openings_[last].facet);
  }
  [[nodiscard]] double path_time(const Nearest& end, ElementId e, std::uint32_t last) const;
  void measure(const Element& element, std::uint32_t last);
  void open(const Element& element, int corner, std::uint32_t last);
  void look_through(std::uint32_t last);

  const SimplexMesh<Corners>& mesh_;
  const Metric& metric_;
  const Adjacency& adjacency_;
  std::span<const double> values_;

  VertexId vertex_;
  double best_ = infinity;
  double slope_ = 0;
  std::vector<Opening> openings_;
  std::vector<std::uint32_t> queue_;  // a heap of openings
  Polygon polygon_, spare_;
};

template <int Corners>
double ZeroSetView<Corners>::time_at(VertexId v) {
  if (values_[v.index()] == 0) return 0;
  vertex_ = v;
  best_ = infinity;
  slope_ = 0;
  openings_.clear();
  queue_.clear();
  std::vector<std::pair<Element, int>> around;
  for (const std::uint32_t incidence : adjacency_.at(v)) {
    const int corner = Adjacency::corner_of(incidence);
    around.emplace_back(place_at_vertex(Adjacency::element_of(incidence), corner), corner);
    slope_ = std::max(slope_, slope_margin * slope(around.back().first.x, corner));
    measure(around.back().first, none);
  }
  for (const auto& [element, corner] : around) open(element, corner, none);
  const auto later = [&](std::uint32_t a, std::uint32_t b) { return openings_[a].least > openings_[b].least; };
  std::make_heap(queue_.begin(), queue_.end(), later);
  while (!queue_.empty() && openings_[queue_.front()].least < best_ && openings_.size() < max_openings) {
    std::pop_heap(queue_.begin(), queue_.end(), later);
    const std::uint32_t next = queue_.back();
    queue_.pop_back();
    const std::size_t before = queue_.size();
    look_through(next);
    for (std::size_t end = before + 1; end <= queue_.size(); ++end)
      std::push_heap(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(end), later);
  }
  return best_;
}

template <int Corners>
auto ZeroSetView<Corners>::place_at_vertex(ElementId e, int corner) const -> Element {
  const auto real = corner_points(mesh_, e);
  auto flat = MetricFrame(metric_.tensor(e), real[corner]).map(real);
  if constexpr (Corners == 3) {  // turned into the plane z = 0
    Vec3d& a = flat[(corner + 1) % 3];
    Vec3d& b = flat[(corner + 2) % 3];
    const double length = norm(a);
    if (length > 0) b = {dot(a, b) / length, norm(cross(a, b)) / length, 0};
    a = {length, 0, 0};
  }
  Element element{e, {}};
  for (int c = 0; c < Corners; ++c) element.x[c] = {flat[c], real[c], values_[mesh_.element(e)[c].index()]};
  return element;
}

/// Places an element that shares the opening's facet on the far side of it.
template <int Corners>
auto ZeroSetView<Corners>::place_behind(const Opening& opening, ElementId e) const -> std::optional<Element> {
  const Facet<Corners>& facet = opening.facet;
  Element element{e, {}};
  int apex = 0;
  for (int c = 0; c < Corners; ++c) {
    const auto place = std::find(facet.vertices.begin(), facet.vertices.end(), mesh_.element(e)[c]);
    if (place == facet.vertices.end()) apex = c;
    else element.x[c] = facet.x[place - facet.vertices.begin()];
  }
  const VertexId v = mesh_.element(e)[apex];
  const MetricFrame frame(metric_.tensor(e), mesh_.point(v));  // the apex is its origin
  std::array<Vec3d, Corners - 1> base;
  for (int k = 0; k < Corners - 1; ++k) base[k] = frame.map(facet.x[k].real);
  const auto weights = barycentric(base, Vec3d{});
  if (!weights) return std::nullopt;
  Vec3d normal = normal_of(facet);
  normal = normal / norm(normal);
  if (dot(normal, opening.inner - facet.x[0].flat) > 0) normal = -normal;
  Vec3d foot;
  for (int k = 0; k < Corners - 1; ++k) foot += (*weights)[k] * facet.x[k].flat;
  const double height = norm(weighted_point(base, *weights));
  element.x[apex] = {foot + height * normal, mesh_.point(v), values_[v.index()]};
  return element;
}

/// Of the straight line from the vertex through the openings to `end` in the element.
template <int Corners>
double ZeroSetView<Corners>::path_time(const Nearest& end, ElementId e, std::uint32_t last) const {
  double time = 0;
  Vec3d there = end.point.real;
  const auto come_from = [&](Vec3d here) {
    time += std::sqrt(squared_length(metric_.tensor(e), there - here));
    there = here;
  };
  for_openings(last, [&](const Facet<Corners>& facet) {
    come_from(facet.crossing(end.point.flat));
    e = facet.element;
  });
  come_from(mesh_.point(vertex_));
  return time;
}

/// Takes the time to what is seen of the zero set in the element through the openings.
template <int Corners>
void ZeroSetView<Corners>::measure(const Element& element, std::uint32_t last) {
  zero_polygon(element.x, polygon_);
  for_openings(last, [&](const Facet<Corners>& facet) {
    for (const Vec3d& side : facet.side) cut(polygon_, side, -angle_tolerance * facet.span, spare_);
  });
  const Nearest nearest = nearest_point(polygon_);
  if (nearest.distance < best_) best_ = std::min(best_, path_time(nearest, element.id, last));
}

/// Adds the facet opposite `corner` to the openings, if rays through the openings so far meet it before the zero set
/// and can be there before the best time.
template <int Corners>
void ZeroSetView<Corners>::open(const Element& element, int corner, std::uint32_t last) {
  Opening opening{{}, element.x[corner].flat, last, 0, last == none ? 1 : openings_[last].depth + 1};
  if (opening.depth > max_depth) return;
  Facet<Corners>& facet = opening.facet;
  facet.element = element.id;
  const double sign = values_[vertex_.index()] > 0 ? 1 : -1;
  bool before_zero = false;
  for (int c = 0, k = 0; c < Corners; ++c) {
    if (c == corner) continue;
    facet.vertices[k] = mesh_.element(element.id)[c];
    facet.x[k++] = element.x[c];
    before_zero = before_zero || sign * element.x[c].value > 0;
  }
  if (!before_zero || !set_sides(facet)) return;
  polygon_.assign(facet.x.begin(), facet.x.end());
  for_openings(last, [&](const Facet<Corners>& other) {
    for (const Vec3d& side : other.side) cut(polygon_, side, angle_tolerance * other.span, spare_);
  });
  if (polygon_.empty()) return;
  // |p| + value/slope is at least dot(n, p) + value/slope for any unit vector n, which is least at a corner.
  Vec3d middle;
  for (const Placed& p : polygon_) middle += p.flat;
  middle = middle / norm(middle);
  opening.least = infinity;
  for (const Placed& p : polygon_)
    opening.least = std::min(opening.least, dot(middle, p.flat) + (slope_ > 0 ? sign * p.value / slope_ : 0));
  if (!(opening.least < best_)) return;
  queue_.push_back(static_cast<std::uint32_t>(openings_.size()));
  openings_.push_back(opening);
}

template <int Corners>
void ZeroSetView<Corners>::look_through(std::uint32_t last) {
  const Opening opening = openings_[last];  // a copy: more are added
  const auto& vertices = opening.facet.vertices;
  for_elements_sharing(mesh_, adjacency_, std::span<const VertexId>(vertices), [&](ElementId e) {
    if (e == opening.facet.element) return;
    const auto next = place_behind(opening, e);
    if (!next) return;
    measure(*next, last);
    for (int c = 0; c < Corners; ++c)
      if (std::find(vertices.begin(), vertices.end(), mesh_.element(e)[c]) != vertices.end()) open(*next, c, last);
  });
}

void check_level_set(std::span<const double> values, std::size_t vertex_count) {
  if (values.size() != vertex_count)
    throw InputError(
        fmt::format("the level set has {} values for {} vertices; give one per vertex", values.size(), vertex_count));
  const auto bad = std::find_if(values.begin(), values.end(), [](double value) { return !std::isfinite(value); });
  if (bad != values.end())
    throw InputError(
        fmt::format("the level set is not a finite number at vertex {} (it is {}); repair or replace the value",
                    bad - values.begin(), *bad));
}

}  // namespace

template <int Corners>
void levelset_times(const SimplexMesh<Corners>& mesh, const Metric& metric, const Adjacency& adjacency,
                    std::span<const double> values, const SetTime& set) {
  check_level_set(values, mesh.vertex_count());
  std::vector<VertexId> beside;
  for (const auto& element : mesh.elements) {
    const auto value = [&](VertexId v) { return values[v.index()]; };
    const bool above = std::all_of(element.begin(), element.end(), [&](VertexId v) { return value(v) > 0; });
    const bool below = std::all_of(element.begin(), element.end(), [&](VertexId v) { return value(v) < 0; });
    if (!above && !below) beside.insert(beside.end(), element.begin(), element.end());
  }
  if (beside.empty())
    throw InputError(
        "the level set has no zero crossing (its values have one sign in every element); shift it by the isovalue to "
        "start from, so that it is negative on one side and positive on the other");
  std::sort(beside.begin(), beside.end());
  beside.erase(std::unique(beside.begin(), beside.end()), beside.end());
  ZeroSetView<Corners> view(mesh, metric, adjacency, values);
  for (const VertexId v : beside) set(v, view.time_at(v));
}

template void levelset_times<3>(const TriangleMesh&, const Metric&, const Adjacency&, std::span<const double>,
                                const SetTime&);
template void levelset_times<4>(const TetMesh&, const Metric&, const Adjacency&, std::span<const double>,
                                const SetTime&);

}  // namespace isochron
