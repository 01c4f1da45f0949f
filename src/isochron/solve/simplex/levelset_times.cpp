#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "isochron/core/dual.h"
#include "isochron/error.h"
#include "isochron/mesh/visibility.h"
#include "isochron/solve/simplex/source_ball.h"
#include "isochron/solve/simplex/zero_set_lines.h"

namespace isochron {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double slope_margin = 1.05;        // of the level set further out over that beside the vertex
constexpr std::size_t max_openings = 2'000;  // looked through from one vertex: a guard for needles
constexpr int max_depth = 50;                // of openings behind one another: likewise, for repeated elements

/// What lines to the zero set are computed from.
template <int Corners>
class LevelSetInput {
 public:
  using Real = double;

  LevelSetInput(const SimplexMesh<Corners>& mesh, const Metric& metric, std::span<const double> values)
      : mesh_(mesh), metric_(metric), values_(values) {}

  [[nodiscard]] const SimplexMesh<Corners>& mesh() const { return mesh_; }
  [[nodiscard]] SymTensor3d tensor(ElementId e) const { return metric_.tensor(e); }
  [[nodiscard]] double value(VertexId v) const { return values_[v.index()]; }

 private:
  const SimplexMesh<Corners>& mesh_;
  const Metric& metric_;
  std::span<const double> values_;
};

/// How fast the level set changes in an element with x[corner] at the origin, per travel time; 0 when it is flat.
template <std::size_t Corners>
double slope(const std::array<PlacedOf<double>, Corners>& x, int corner) {
  std::array<Vec3d, 3> e{Vec3d{}, Vec3d{}, Vec3d{0, 0, 1}};
  std::array<double, 3> rise{};
  for (int c = 0, k = 0; c < static_cast<int>(Corners); ++c) {
    if (c == corner) continue;
    e[k] = x[c].flat;
    rise[k++] = x[c].value - x[corner].value;
  }
  const double volume = dot(e[0], cross(e[1], e[2]));
  const double size = norm(e[0]) * norm(e[1]) * norm(e[2]);
  if (!(std::abs(volume) > zero_set_angle_tolerance * size)) return 0;
  return norm(rise[0] * cross(e[1], e[2]) + rise[1] * cross(e[2], e[0]) + rise[2] * cross(e[0], e[1])) /
         std::abs(volume);
}

/// The elements on the way from a vertex to the zero set, with the corner opposite the facet through which it leaves
/// each; of the last one that of the vertex's own element, or none.
struct ZeroSetWay {
  int corner = 0;  ///< of the vertex, in the first element
  std::vector<std::pair<ElementId, int>> elements;
};

/// Finds the straight way from a vertex to the zero set, of those of `UnfoldedLines`: in a constant metric the nearest
/// visible point is found exactly. Elsewhere the time is that of some path, never too early.
///
/// Facets are looked through in the order of the least time at which a ray through them can be at the zero set, should
/// the level set not change faster than around the vertex.
template <int Corners>
class ZeroSetView {
  using Lines = UnfoldedLines<Corners, LevelSetInput<Corners>>;
  using Element = typename Lines::Element;
  using Opening = typename Lines::Opening;

 public:
  ZeroSetView(const LevelSetInput<Corners>& input, const Adjacency& adjacency)
      : input_(input), adjacency_(adjacency), lines_(input) {}

  double time_at(VertexId v);
  /// That of the last time, unless this is 0.
  [[nodiscard]] ZeroSetWay way() const;

 private:
  static constexpr std::uint32_t none = Lines::none;

  /// Of an opening.
  struct Reach {
    double least;  // time at which rays through it can be at the zero set
    int depth;     // openings from the vertex to this one
  };

  void measure(const Element& element, std::uint32_t last);
  void open(const Element& element, int corner, std::uint32_t last);
  void look_through(std::uint32_t last);

  const LevelSetInput<Corners>& input_;
  const Adjacency& adjacency_;
  Lines lines_;
  VertexId vertex_;
  double best_ = infinity;
  ElementId best_element_;
  std::uint32_t best_opening_ = none;
  double slope_ = 0;
  std::vector<Reach> reach_;          // of each opening
  std::vector<std::uint32_t> queue_;  // a heap of openings
  PolygonOf<double> polygon_;
};

template <int Corners>
double ZeroSetView<Corners>::time_at(VertexId v) {
  if (input_.value(v) == 0) return 0;
  vertex_ = v;
  best_ = infinity;
  slope_ = 0;
  lines_.start(v);
  reach_.clear();
  queue_.clear();
  std::vector<std::pair<Element, int>> around;
  for (const std::uint32_t incidence : adjacency_.at(v)) {
    const int corner = Adjacency::corner_of(incidence);
    around.emplace_back(lines_.place_at_vertex(Adjacency::element_of(incidence), corner), corner);
    slope_ = std::max(slope_, slope_margin * slope(around.back().first.x, corner));
    measure(around.back().first, none);
  }
  for (const auto& [element, corner] : around) open(element, corner, none);
  const auto later = [&](std::uint32_t a, std::uint32_t b) { return reach_[a].least > reach_[b].least; };
  std::make_heap(queue_.begin(), queue_.end(), later);
  while (!queue_.empty() && reach_[queue_.front()].least < best_ && reach_.size() < max_openings) {
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
ZeroSetWay ZeroSetView<Corners>::way() const {
  ZeroSetWay result;
  result.elements.emplace_back(best_element_, 0);
  lines_.for_openings(best_opening_,
                      [&](const Opening& facet) { result.elements.emplace_back(facet.element, facet.corner); });
  std::reverse(result.elements.begin(), result.elements.end());
  const auto& first = input_.mesh().element(result.elements.front().first);
  result.corner = static_cast<int>(std::find(first.begin(), first.end(), vertex_) - first.begin());
  return result;
}

/// Takes the time to what is seen of the zero set in the element through the openings.
template <int Corners>
void ZeroSetView<Corners>::measure(const Element& element, std::uint32_t last) {
  const auto nearest = lines_.nearest_zero(element, last);
  if (!(nearest.distance < best_)) return;
  const double time = lines_.path_time(nearest.point, element.id, last);
  if (!(time < best_)) return;
  best_ = time;
  best_element_ = element.id;
  best_opening_ = last;
}

/// Adds the facet opposite `corner` to the openings, if rays through the openings so far meet it before the zero set
/// and can be there before the best time.
template <int Corners>
void ZeroSetView<Corners>::open(const Element& element, int corner, std::uint32_t last) {
  Reach reach{infinity, last == none ? 1 : reach_[last].depth + 1};
  if (reach.depth > max_depth) return;
  const double sign = input_.value(vertex_) > 0 ? 1 : -1;
  bool before_zero = false;
  for (int c = 0; c < Corners; ++c) before_zero = before_zero || (c != corner && sign * element.x[c].value > 0);
  if (!before_zero) return;
  const auto facet = lines_.facet_of(element, corner, last);
  if (!facet) return;
  polygon_.assign(facet->x.data(), facet->x.data() + facet->x.size());
  lines_.for_openings(last, [&](const Opening& other) {
    for (const Vec3d& side : other.side) polygon_.cut(side, zero_set_angle_tolerance * other.span);
  });
  if (polygon_.points().empty()) return;
  // |p| + value/slope is at least dot(n, p) + value/slope for any unit vector n, which is least at a corner.
  Vec3d middle;
  for (const auto& p : polygon_.points()) middle += p.flat;
  middle = middle / norm(middle);
  for (const auto& p : polygon_.points())
    reach.least = std::min(reach.least, dot(middle, p.flat) + (slope_ > 0 ? sign * p.value / slope_ : 0));
  if (!(reach.least < best_)) return;
  queue_.push_back(lines_.add(*facet));
  reach_.push_back(reach);
}

template <int Corners>
void ZeroSetView<Corners>::look_through(std::uint32_t last) {
  const Opening opening = lines_.openings()[last];  // a copy: more are added
  const auto& vertices = opening.vertices;
  for_elements_sharing(input_.mesh(), adjacency_, std::span<const VertexId>(vertices), [&](ElementId e) {
    if (e == opening.element) return;
    const auto next = lines_.place_behind(opening, e);
    if (!next) return;
    measure(*next, last);
    for (int c = 0; c < Corners; ++c)
      if (std::find(vertices.begin(), vertices.end(), input_.mesh().element(e)[c]) != vertices.end())
        open(*next, c, last);
  });
}

/// The same input with M of one element as variables, or the level set at the corners of one.
template <int Corners>
class VariableLevelSet {
 public:
  enum class By { metric, values };
  using Real = Dual<6>;

  VariableLevelSet(const LevelSetInput<Corners>& input, By by, ElementId element)
      : input_(input), by_(by), element_(element) {}

  [[nodiscard]] const SimplexMesh<Corners>& mesh() const { return input_.mesh(); }
  [[nodiscard]] SymTensor3<Real> tensor(ElementId e) const {
    const SymTensor3d m = input_.tensor(e);
    if (by_ != By::metric || e != element_)
      return {Real(m.xx), Real(m.xy), Real(m.xz), Real(m.yy), Real(m.yz), Real(m.zz)};
    return {Real::variable(m.xx, 0), Real::variable(m.xy, 1), Real::variable(m.xz, 2),
            Real::variable(m.yy, 3), Real::variable(m.yz, 4), Real::variable(m.zz, 5)};
  }
  [[nodiscard]] Real value(VertexId v) const {
    const auto& corners = mesh().element(element_);
    const auto found = std::find(corners.begin(), corners.end(), v);
    if (by_ != By::values || found == corners.end()) return Real(input_.value(v));
    return Real::variable(input_.value(v), static_cast<int>(found - corners.begin()));
  }

  /// The time of a way that was found before.
  [[nodiscard]] Real time_along(VertexId v, const ZeroSetWay& way) const {
    using Lines = UnfoldedLines<Corners, VariableLevelSet>;
    Lines lines(*this);
    lines.start(v);
    std::uint32_t last = Lines::none;
    auto element = lines.place_at_vertex(way.elements[0].first, way.corner);
    for (std::size_t k = 1; k < way.elements.size(); ++k) {
      const auto facet = lines.facet_of(element, way.elements[k - 1].second, last);
      if (!facet) throw RuntimeError("the way to a level set is not found again");
      last = lines.add(*facet);
      const auto next = lines.place_behind(*facet, way.elements[k].first);
      if (!next) throw RuntimeError("the way to a level set is not found again");
      element = *next;
    }
    return lines.path_time(lines.nearest_zero(element, last).point, element.id, last);
  }

 private:
  const LevelSetInput<Corners>& input_;
  By by_;
  ElementId element_;
};

/// How the time of a way changes with M in its elements and with the level set in the last one.
template <int Corners>
void add_row(const LevelSetInput<Corners>& input, VertexId v, const ZeroSetWay& way, DependenceRows& rows) {
  using Variable = VariableLevelSet<Corners>;
  for (const auto& [e, corner] : way.elements) {
    const auto by = Variable(input, Variable::By::metric, e).time_along(v, way).by;
    rows.add_term(e.value, {by[0], 0.5 * by[1], 0.5 * by[2], by[3], 0.5 * by[4], by[5]});
  }
  const ElementId last = way.elements.back().first;
  const auto by = Variable(input, Variable::By::values, last).time_along(v, way).by;
  for (int c = 0; c < Corners; ++c) rows.add_level(input.mesh().element(last)[c].value, by[c]);
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
                    std::span<const double> values, const SetTime& set, BallRows rows) {
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
  const LevelSetInput<Corners> input(mesh, metric, values);
  ZeroSetView<Corners> view(input, adjacency);
  for (const VertexId v : beside) {
    set(v, view.time_at(v));
    if (rows.to == nullptr) continue;
    const std::uint32_t row = rows.to->rows.current();
    if (values[v.index()] != 0) add_row(input, v, view.way(), rows.to->rows);
    rows.to->rows.end_row();
    rows.to->add_after(row, rows.source);
  }
}

template void levelset_times<3>(const TriangleMesh&, const Metric&, const Adjacency&, std::span<const double>,
                                const SetTime&, BallRows);
template void levelset_times<4>(const TetMesh&, const Metric&, const Adjacency&, std::span<const double>,
                                const SetTime&, BallRows);

}  // namespace isochron
