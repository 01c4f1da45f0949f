#include "isochron/solve/simplex/source_ball.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <queue>
#include <unordered_set>
#include <utility>

#include "isochron/adjoint/shape_gradients.h"
#include "isochron/core/number_map.h"
#include "isochron/local/point_source_update.h"
#include "isochron/mesh/closest_point.h"
#include "isochron/mesh/visibility.h"
#include "isochron/solve/simplex/metric_frame.h"
#include "isochron/solve/simplex/segment_shares.h"
#include "isochron/solve/simplex/tet_view.h"

namespace isochron {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double touch_tolerance = 1e-9;  // what counts as touching, over the size of the element
constexpr double alike_ratio = 1.5;       // of squared speeds, between elements of one ball
// The trace of M₀⁻¹ M, 3 where M is M₀, the source's: fibres 3:1 may turn by 45 degrees, 5:1 by 25.
constexpr double max_turn = 7;
constexpr double margin = 0.5;  // of an edge
constexpr double rounding_error = 1e-14;
constexpr double max_rounding = 1e-12;   // of sums of times
constexpr double straight_slack = 1e-9;  // a way that is so little longer than the straight one is taken for it

/// Twice the area of a triangle, six times the volume of a tetrahedron: the square or cube of its size.
double lattice_measure(const std::array<Vec3d, 3>& x) { return norm(cross(x[1] - x[0], x[2] - x[0])); }
double lattice_measure(const std::array<Vec3d, 4>& x) {
  return std::abs(dot(x[1] - x[0], cross(x[2] - x[0], x[3] - x[0])));
}

SymTensor3d mean_tensor(const Metric& metric, const std::vector<ElementId>& elements) {
  SymTensor3d sum{};
  for (const ElementId e : elements) sum = sum + metric.tensor(e);
  return (1.0 / static_cast<double>(elements.size())) * sum;
}

/// The seeds and those that share with them a face, edge or vertex on which the position lies.
template <int Corners>
std::vector<ElementId> elements_touching(const SimplexMesh<Corners>& mesh, const Adjacency& adjacency, Vec3d position,
                                         std::span<const ElementId> seeds) {
  std::vector<ElementId> result(seeds.begin(), seeds.end());
  std::unordered_set<ElementId> found(seeds.begin(), seeds.end());
  for (std::size_t i = 0; i < result.size(); ++i)
    for_face_neighbours(mesh, adjacency, ElementId(result[i]), [&](ElementId e, int) {
      if (found.contains(e)) return;
      const auto x = corner_points(mesh, e);
      const double size = touch_tolerance * norm(x[1] - x[0]);
      if (closest_point(x, position).squared_distance > size * size) return;
      found.insert(e);
      result.push_back(e);
    });
  return result;
}

/// What tells the eigenvalues of M in the space of an element, however its directions lie: its trace, the sum of its
/// minors (1 on triangles) and its determinant.
struct Invariants {
  double trace = 0, minors = 0, determinant = 0;
};
Invariants invariants_of(SymTensor3d m, const std::array<Vec3d, 4>&) {
  const double minors = m.xx * m.yy - m.xy * m.xy + m.xx * m.zz - m.xz * m.xz + m.yy * m.zz - m.yz * m.yz;
  return {m.xx + m.yy + m.zz, minors, determinant(m)};
}
Invariants invariants_of(SymTensor3d m, const std::array<Vec3d, 3>& x) {
  const Vec3d a = x[1] - x[0], b = x[2] - x[0];
  const double aa = dot(a, a), ab = dot(a, b), bb = dot(b, b), area = aa * bb - ab * ab;
  const double maa = squared_length(m, a), mab = dot(a, m * b), mbb = squared_length(m, b);
  return {(bb * maa - 2 * ab * mab + aa * mbb) / area, 1, (maa * mbb - mab * mab) / area};
}

/// The least eigenvalue, in closed form.
double least_eigenvalue(SymTensor3d m) {
  const double mean = (m.xx + m.yy + m.zz) / 3;
  const SymTensor3d rest = m - SymTensor3d::identity(mean);
  const double size = std::sqrt((rest.xx * rest.xx + rest.yy * rest.yy + rest.zz * rest.zz +
                                 2 * (rest.xy * rest.xy + rest.xz * rest.xz + rest.yz * rest.yz)) /
                                6);
  if (!(size > 0)) return mean;
  const double turned = std::clamp(determinant((1 / size) * rest) / 2, -1.0, 1.0);
  return mean + 2 * size * std::cos((std::acos(turned) + 2 * std::numbers::pi) / 3);
}

/// The times near one point source, by label correcting in the order of time. Inside, the unit is the travel time along
/// a typical edge at the source.
template <int Corners>
class SourceBall {
 public:
  SourceBall(const SimplexMesh<Corners>& mesh, const Metric& metric, const Adjacency& adjacency, Vec3d position,
             std::vector<ElementId> seeds, const BallLimits& limits, BallRows rows)
      : mesh_(mesh),
        metric_(metric),
        adjacency_(adjacency),
        position_(position),
        seeds_(std::move(seeds)),
        rows_(rows) {
    at_source_tensor_ = metric_.tensor(seeds_.front());
    const SymTensor3d mean = mean_tensor(metric_, seeds_);
    scale_ = 1 / (mean.xx + mean.yy + mean.zz);
    inverse_at_source_ = inverse(scale_ * mean);
    const double size = typical_size(scale_ * mean) / std::sqrt(scale_);
    const bool grows = limits.rings > 0 && limits.vertices > 0 && size > 0 && size < infinity && coherent(mean);
    if (grows) unit_ = size;
    for (const ElementId e : seeds_)
      for (const VertexId v : mesh_.element(e)) {
        const std::uint32_t place = place_of(v);
        if (lower(place, std::sqrt(squared_length(metric_.tensor(e), mesh_.point(v) - position_)) / unit_))
          note_straight(place, {e});
      }
    corners_ = vertices_.size();
    if (grows) grow(limits);
  }

  [[nodiscard]] double radius() const { return radius_ * unit_; }

  /// Calls `visit(vertex, time, kind)` for each vertex that is set.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t i = 0; i < vertices_.size(); ++i)
      if (i < corners_ || time_[i] <= radius_ * (1 + max_rounding)) {
        visit(vertices_[i], time_[i] * unit_, i < corners_ ? SeedKind::own : SeedKind::ball);
        if (rows_.to != nullptr) rows_.to->add_after(row_[i], rows_.source);
      }
  }

 private:
  static constexpr int edges = Corners * (Corners - 1) / 2;
  using Face = std::array<int, Corners - 1>;  ///< corners of an element
  /// What an element needs for its updates; its vertices as places.
  struct Cell {
    std::array<std::uint32_t, Corners> corner;
    std::array<double, edges> length;  ///< squared
    bool alike;                        ///< its speeds are nearly those at the source
  };

  [[nodiscard]] bool coherent(SymTensor3d mean) const;
  double typical_size(SymTensor3d mean);
  std::uint32_t place_of(VertexId v);
  const Cell& cell_of(ElementId e);
  void note_slowness(ElementId e);
  [[nodiscard]] bool is_alike(SymTensor3d m, const std::array<Vec3d, Corners>& x) const;
  bool lower(std::uint32_t place, double time);
  void grow(const BallLimits& limits);
  void push(std::uint32_t x);
  void straighten(std::uint32_t place);
  bool is_straight_inside(std::uint32_t place, std::vector<ElementId>& through) const;
  bool seen_past_neighbours(std::uint32_t place);
  [[nodiscard]] bool hopeless(const Cell& cell, int own, int target) const;
  [[nodiscard]] static Face face_opposite(int target);
  /// The arrival through the face opposite the target alone.
  [[nodiscard]] PointSourceCandidate<double> through_face(const Cell& cell, int target, double limit) const;
  [[nodiscard]] double earliest_of_face(const Cell& cell, int target) const;
  [[nodiscard]] double slowness_bound(std::uint32_t place) const;
  double straight_time(std::uint32_t place);
  bool is_straight(std::uint32_t place);
  double update(const Cell& cell, int target);

  // The rows of the times, where they are asked for; to be called when a time has been set.
  void note_update(ElementId e, const Cell& cell, int target, double limit);
  void note_slowness_bound(std::uint32_t place);
  void note_straight(std::uint32_t place, std::vector<ElementId> through);
  void end_row(std::uint32_t place);
  /// Of a gradient with respect to the source's position, what moves it within the mesh.
  [[nodiscard]] Vec3d tangential(const Vec3d& gradient) const;
  /// How the time changes with the source's position, where terms by the metric take the source along with the element
  /// that holds it.
  void note_position(const Vec3d& gradient);
  /// How the time changes when that element moves and takes the source along.
  void note_place_of_source(const Vec3d& gradient, std::int32_t source);

  const SimplexMesh<Corners>& mesh_;
  const Metric& metric_;
  const Adjacency& adjacency_;
  Vec3d position_;
  std::vector<ElementId> seeds_;
  Invariants at_source_;
  SymTensor3d inverse_at_source_;
  SymTensor3d at_source_tensor_;    ///< M of the first seed
  bool constant_at_source_ = true;  ///< all seeds have it
  bool uniform_ = false;            ///< all elements that the ball went through have it: nothing beats the straight way
  double unit_ = 1;
  double scale_ = 1;            ///< of metrics, so that determinants are in range
  double slowness_ = infinity;  ///< the least of the elements that were met
  ElementId least_slow_;        ///< the one that has it
  double radius_ = 0;
  std::size_t corners_ = 0;         ///< places below it are corners of seeds
  std::vector<VertexId> vertices_;  ///< by place
  std::vector<double> time_;        ///< likewise
  std::vector<double> straight_;    ///< likewise, along the straight line in the metric at the source; 0: not known yet
  std::vector<std::uint8_t> popped_;  ///< likewise
  BallRows rows_;
  std::vector<std::uint32_t> row_;  ///< by place, of the time that it has now
  std::vector<Cell> cells_;
  NumberMap place_, cell_;
  using Item = std::pair<double, std::uint32_t>;
  std::priority_queue<Item, std::vector<Item>, std::greater<>> queue_;
};

/// Whether the directions of the seeds agree: where they do not, the mean of their tensors is rounder than each of
/// them, and the front is no sphere in any metric.
template <int Corners>
bool SourceBall<Corners>::coherent(SymTensor3d mean) const {
  double determinants = 0;
  for (const ElementId e : seeds_) determinants += determinant(scale_ * metric_.tensor(e));
  return determinant(scale_ * mean) * static_cast<double>(seeds_.size()) < alike_ratio * determinants;
}

/// Summed in the order of the elements: where times tie, their last digits decide which vertex goes first, and they
/// must not depend on how the vertices are numbered, which differs between a mesh and a part of it.
template <int Corners>
double SourceBall<Corners>::typical_size(SymTensor3d mean) {
  const MetricFrame frame(mean, position_);
  // Over all elements at the seeds' corners, each as often as it is one: the seeds alone may be one element.
  std::vector<double> times;
  for (const ElementId seed : seeds_)
    for (const VertexId v : mesh_.element(seed)) {
      const std::uint32_t place = place_of(v);
      times.resize(vertices_.size());
      ++times[place];
    }
  double measure = 0, count = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    double around = 0;
    for (const std::uint32_t incidence : adjacency_.at(vertices_[i]))
      around += lattice_measure(frame.map(corner_points(mesh_, Adjacency::element_of(incidence))));
    measure += times[i] * around;
    count += times[i] * static_cast<double>(adjacency_.valence(vertices_[i]));
  }
  return std::pow(measure / count, 1.0 / (Corners - 1));
}

template <int Corners>
std::uint32_t SourceBall<Corners>::place_of(VertexId v) {
  const auto [place, fresh] = place_.number_of(v.value);
  if (fresh) {
    vertices_.push_back(v);
    time_.push_back(infinity);
    straight_.push_back(0);
    popped_.push_back(0);
    row_.push_back(0);
  }
  return place;
}

template <int Corners>
auto SourceBall<Corners>::cell_of(ElementId e) -> const Cell& {
  const auto [place, fresh] = cell_.number_of(e.value);
  if (!fresh) return cells_[place];
  Cell cell;
  const SymTensor3d tensor = metric_.tensor(e), m = scale_ * tensor;
  const auto x = corner_points(mesh_, e);
  const double unit = unit_ * std::sqrt(scale_);
  for (int a = 0; a < Corners; ++a) {
    cell.corner[a] = place_of(mesh_.element(e)[a]);
    for (int b = 0; b < a; ++b) cell.length[edge_index(a, b)] = squared_length(m, x[a] - x[b]) / (unit * unit);
  }
  const bool as_source = constant_at_source_ && tensor == at_source_tensor_;
  cell.alike = (as_source && Corners == 4) || is_alike(m, x);
  if (cell.alike && !as_source) uniform_ = false;
  if (!as_source) note_slowness(e);
  cells_.push_back(cell);
  return cells_.back();
}

template <int Corners>
void SourceBall<Corners>::note_slowness(ElementId e) {
  const double least = least_eigenvalue(scale_ * metric_.tensor(e));
  const double slowness = std::sqrt(std::max(least, 0.0)) / (unit_ * std::sqrt(scale_));
  if (slowness < slowness_) least_slow_ = e;
  slowness_ = std::min(slowness_, slowness);
}

/// Whether the speeds are nearly those at the source, in directions that may have turned.
template <int Corners>
bool SourceBall<Corners>::is_alike(SymTensor3d m, const std::array<Vec3d, Corners>& x) const {
  const auto near = [](double a, double b, double ratio) { return a < ratio * b && b < ratio * a; };
  const Invariants here = invariants_of(m, x);
  return near(here.trace, at_source_.trace, alike_ratio) &&
         near(here.minors, at_source_.minors, alike_ratio * alike_ratio) &&
         near(here.determinant, at_source_.determinant, std::pow(alike_ratio, Corners - 1)) &&
         contraction(inverse_at_source_, m) < max_turn;
}

template <int Corners>
bool SourceBall<Corners>::lower(std::uint32_t place, double time) {
  if (!(time < time_[place] * (1 - rounding_error))) return false;
  time_[place] = time;
  queue_.emplace(time, place);
  return true;
}

template <int Corners>
void SourceBall<Corners>::grow(const BallLimits& limits) {
  for (const ElementId e : seeds_) {
    const Invariants here = invariants_of(scale_ * metric_.tensor(e), corner_points(mesh_, e));
    at_source_.trace += here.trace / static_cast<double>(seeds_.size());
    at_source_.minors += here.minors / static_cast<double>(seeds_.size());
    at_source_.determinant += here.determinant / static_cast<double>(seeds_.size());
    constant_at_source_ = constant_at_source_ && metric_.tensor(e) == at_source_tensor_;
    note_slowness(e);
  }
  uniform_ = constant_at_source_;
  // A little further than what is set: the last vertices may still be lowered by those after them.
  double end = limits.rings + margin;
  std::size_t held = 0;
  const std::size_t most = constant_at_source_ ? limits.vertices : std::min(limits.vertices, limits.varying);
  std::size_t pops_left = 3 * most;  // each is popped about once, in very obtuse elements more often
  while (!queue_.empty() && pops_left > 0) {
    const auto [time, x] = queue_.top();
    queue_.pop();
    if (time > time_[x]) continue;
    if (time > end) break;
    if (popped_[x] == 0 && ++held > most) pops_left = 1;
    popped_[x] = 1;
    straighten(x);
    if (--pops_left == 0) end = time;
    else push(x);
  }
  radius_ = std::max(0.0, end - margin);
  if (!constant_at_source_) return;
  for (std::uint32_t i = 0; i < vertices_.size(); ++i)
    if (i < corners_ || straight_time(i) <= radius_ * (1 + max_rounding)) straighten(i);
}

template <int Corners>
void SourceBall<Corners>::push(std::uint32_t x) {
  const std::span<const std::uint32_t> incidences = adjacency_.at(vertices_[x]);
  if (incidences.empty()) throw PartTooSmall();
  for (const std::uint32_t incidence : incidences) {
    const ElementId e = Adjacency::element_of(incidence);
    const Cell& cell = cell_of(e);
    if (!cell.alike) continue;
    const int own = Adjacency::corner_of(incidence);
    for (int target = 0; target < Corners; ++target) {
      const std::uint32_t place = cell.corner[target];
      if (target == own || is_straight(place) || hopeless(cell, own, target)) continue;
      const double before = time_[place];
      if (lower(place, update(cell, target))) note_update(e, cell, target, before);
    }
  }
}

/// In elements with very obtuse corners the front may not come through any face at a vertex in one step. Where the
/// metric is constant along the whole straight path from the source, the front takes that.
template <int Corners>
void SourceBall<Corners>::straighten(std::uint32_t place) {
  if (!constant_at_source_) return;
  const double straight = straight_time(place);
  if (!(straight < time_[place] * (1 - max_rounding))) return;
  const bool seen = seen_past_neighbours(place);
  if (seen && rows_.to == nullptr) {
    time_[place] = straight;
    return;
  }
  std::vector<ElementId> through = seeds_;
  if (!is_straight_inside(place, through) && !seen) return;
  time_[place] = straight;
  note_straight(place, std::move(through));
}

/// Whether the straight way from the source stays in elements with its metric; adds those that were looked at.
template <int Corners>
bool SourceBall<Corners>::is_straight_inside(std::uint32_t place, std::vector<ElementId>& through) const {
  const auto passable = [&](ElementId e) {
    for (const VertexId v : mesh_.element(e))
      if (adjacency_.at(v).empty()) throw PartTooSmall();
    if (!(metric_.tensor(e) == at_source_tensor_)) return false;
    through.push_back(e);
    return true;
  };
  return segment_inside<Corners>(mesh_, adjacency_, position_, seeds_, vertices_[place], passable);
}

/// True when the straight line to the source leaves the elements at the vertex through a face whose corners are reached
/// in a straight line. What lies between the lines is not looked at, nor is it by an update through that face.
template <int Corners>
bool SourceBall<Corners>::seen_past_neighbours(std::uint32_t place) {
  if (Corners == 3 || !uniform_) return false;
  for (const std::uint32_t incidence : adjacency_.at(vertices_[place])) {
    const ElementId e = Adjacency::element_of(incidence);
    const auto known = cell_.find(e.value);
    if (!known || !cells_[*known].alike) continue;
    const auto source = barycentric(corner_points(mesh_, e), position_);
    if (!source) continue;
    const int own = Adjacency::corner_of(incidence);
    bool through = true;
    for (int c = 0; c < Corners; ++c)
      through = through && (c == own || ((*source)[c] >= 0 && is_straight(cells_[*known].corner[c])));
    if (through) return true;
  }
  return false;
}

/// True when the target is earlier than the vertex that was popped, at an acute corner, and by more than the front's
/// curvature explains: u(x) ≤ u(t) + ∇u·(x − t) + |x − t|²/2u(t), and ∇u·(x − t) ≤ 0 where the front comes through the
/// element.
template <int Corners>
bool SourceBall<Corners>::hopeless(const Cell& cell, int own, int target) const {
  const double now = time_[cell.corner[target]];
  const double lead = time_[cell.corner[own]] - now;
  if (!(lead * 2 * now > cell.length[edge_index(own, target)])) return false;
  for (int a = 0; a < Corners; ++a)
    for (int b = 0; b < a; ++b)
      if (a != target && b != target &&
          cell.length[edge_index(a, target)] + cell.length[edge_index(b, target)] < cell.length[edge_index(a, b)])
        return false;
  return true;
}

template <int Corners>
auto SourceBall<Corners>::face_opposite(int target) -> Face {
  if constexpr (Corners == 4) return {tet_views[target].a, tet_views[target].b, tet_views[target].c};
  else return {(target + 1) % 3, (target + 2) % 3};
}

template <int Corners>
PointSourceCandidate<double> SourceBall<Corners>::through_face(const Cell& cell, int target, double limit) const {
  const auto time = [&](int corner) { return time_[cell.corner[corner]]; };
  const auto& l = cell.length;
  if constexpr (Corners == 4) {
    const TetView& w = tet_views[target];
    const TetLengths<double> lengths{l[w.ab], l[w.ac], l[w.bc], l[w.xa], l[w.xb], l[w.xc]};
    return point_source_tet_update(time(w.a), time(w.b), time(w.c), lengths, limit);
  } else {
    const auto [a, b] = face_opposite(target);
    const TriangleLengths<double> lengths{l[edge_index(a, b)], l[edge_index(a, target)], l[edge_index(b, target)]};
    return point_source_triangle_update(time(a), time(b), lengths, limit);
  }
}

template <int Corners>
double SourceBall<Corners>::earliest_of_face(const Cell& cell, int target) const {
  double earliest = infinity;
  for (int c = 0; c < Corners; ++c)
    if (c != target) earliest = std::min(earliest, time_[cell.corner[c]]);
  return earliest;
}

template <int Corners>
double SourceBall<Corners>::slowness_bound(std::uint32_t place) const {
  return slowness_ * norm(mesh_.point(vertices_[place]) - position_);
}

/// Never earlier than all it comes from, nor than the largest speed allows along a straight line, but for
/// `straight_slack`. +inf when it is not earlier than before.
template <int Corners>
double SourceBall<Corners>::update(const Cell& cell, int target) {
  const double now = time_[cell.corner[target]];
  const double earliest = earliest_of_face(cell, target);
  if (!(earliest < now)) return infinity;
  const double time =
      std::max(std::max(earliest, slowness_bound(cell.corner[target])), through_face(cell, target, now).time);
  if (!uniform_) return time;
  const double straight = straight_time(cell.corner[target]);
  return time <= straight * (1 + straight_slack) ? straight : time;
}

template <int Corners>
double SourceBall<Corners>::straight_time(std::uint32_t place) {
  double& straight = straight_[place];
  if (straight == 0)
    straight = std::sqrt(squared_length(at_source_tensor_, mesh_.point(vertices_[place]) - position_)) / unit_;
  return straight;
}

/// True when nothing can be earlier, as far as is known.
template <int Corners>
bool SourceBall<Corners>::is_straight(std::uint32_t place) {
  return uniform_ && time_[place] < infinity && time_[place] <= straight_time(place);
}

template <int Corners>
void SourceBall<Corners>::end_row(std::uint32_t place) {
  row_[place] = rows_.to->rows.current();
  rows_.to->rows.end_row();
}

template <int Corners>
Vec3d SourceBall<Corners>::tangential(const Vec3d& gradient) const {
  if constexpr (Corners == 4) {
    return gradient;
  } else {
    const auto x = corner_points(mesh_, seeds_.front());
    const Vec3d normal = cross(x[1] - x[0], x[2] - x[0]);
    return gradient - (dot(gradient, normal) / dot(normal, normal)) * normal;
  }
}

template <int Corners>
void SourceBall<Corners>::note_position(const Vec3d& gradient) {
  const Vec3d within = tangential(gradient);
  rows_.to->rows.add_position(rows_.source, within);
  note_place_of_source(-1.0 * within, rows_.source);  // a point stays where it is
}

template <int Corners>
void SourceBall<Corners>::note_place_of_source(const Vec3d& gradient, std::int32_t source) {
  const ElementId seed = seeds_.front();
  if (const auto weights = barycentric(corner_points(mesh_, seed), position_))
    for (int k = 0; k < Corners; ++k)
      rows_.to->rows.add_place(mesh_.element(seed)[k].value, (*weights)[k] * gradient, source);
}

template <int Corners>
void SourceBall<Corners>::note_update(ElementId e, const Cell& cell, int target, double limit) {
  if (rows_.to == nullptr) return;
  const std::uint32_t place = cell.corner[target];
  const double time = time_[place];
  const Face face = face_opposite(target);
  const auto corner_time = [&](int k) { return time_[cell.corner[face[k]]]; };
  const PointSourceCandidate<double> found = through_face(cell, target, limit);
  const double before = earliest_of_face(cell, target);
  // Where the metric is constant, the bound is the time through the face up to rounding.
  const bool bounded = found.time < time * (1 - (is_straight(place) ? straight_slack : max_rounding));
  if (bounded && is_straight(place)) {
    std::vector<ElementId> through = seeds_;
    is_straight_inside(place, through);
    return note_straight(place, std::move(through));
  }
  if (bounded && time > before) return note_slowness_bound(place);
  DependenceRows& rows = rows_.to->rows;
  if (bounded) {
    for (int k = 0; k < Corners - 1; ++k)
      if (corner_time(k) == before) {
        rows.add_node(row_[cell.corner[face[k]]], 1);
        break;
      }
    return end_row(place);
  }
  // The lines between source, target and the face's corners carry a self-stress: where the way from the source to the
  // target meets the face, after a share s of it, with weights w, squared lengths change so that
  // Σ α_i α_j d(l_ij) = 0 for α = 1 − s at the source, s at the target and −w at the corners. A plain update is the
  // limit s = 1, of a source far away. Close to the limits s = 0 and 1 only the length of the way is kept.
  constexpr double least_share = 1e-4;
  const double s = found.share;
  const auto& w = found.weight;
  std::array<double, 3> by_time{}, to_target{};
  double between = 0;  // times w_i w_j
  if (s > least_share && s < 1 - least_share) {
    for (int k = 0; k < Corners - 1; ++k) {
      by_time[k] = w[k] > 0 ? w[k] / s * (corner_time(k) / time) : 0;
      to_target[k] = w[k] / (1 - s) / time;
    }
    between = 1 / (s * (1 - s)) / time;
  } else {
    double to_face = 0, squared = 0;
    for (int k = 0; k < Corners - 1; ++k) {
      if (!(w[k] > 0)) continue;
      to_face += w[k] * corner_time(k);
      squared += w[k] * cell.length[edge_index(face[k], target)];
      for (int m = 0; m < k; ++m) squared -= w[k] * w[m] * cell.length[edge_index(face[k], face[m])];
    }
    const double whole = s < 0 ? time - to_face : (1 - s) * time;  // of the way behind the face
    const double ahead = std::sqrt(std::max(squared, 0.0));
    const double scale = to_face > 0 ? (time - whole) / to_face : 0;
    for (int k = 0; k < Corners - 1; ++k) {
      by_time[k] = w[k] > 0 ? scale * w[k] : 0;
      to_target[k] = ahead > 0 ? w[k] * (whole / ahead) / ahead : 0;
    }
    between = ahead > 0 ? whole / ahead / ahead : 0;
  }
  const auto x = corner_points(mesh_, e);
  SymTensor3d by_metric{};
  const double half = 0.5 / unit_;  // of d(l)/2t, in the user's times
  for (int k = 0; k < Corners - 1; ++k) {
    if (!(w[k] > 0)) continue;
    rows.add_node(row_[cell.corner[face[k]]], by_time[k]);
    by_metric = by_metric + SymTensor3d::outer(x[face[k]] - x[target], half * to_target[k]);
    for (int m = 0; m < k; ++m)
      if (w[m] > 0) by_metric = by_metric - SymTensor3d::outer(x[face[k]] - x[face[m]], half * between * w[k] * w[m]);
  }
  rows.add_term(e.value, by_metric);
  end_row(place);
}

/// The time is that at the largest speed along a straight line.
template <int Corners>
void SourceBall<Corners>::note_slowness_bound(std::uint32_t place) {
  const Vec3d way = mesh_.point(vertices_[place]) - position_;
  const EigenSystem3<double> eigen = eigen_system(metric_.tensor(least_slow_));
  const double slowness = std::sqrt(std::max(eigen.values.z, 0.0)), length = norm(way);
  DependenceRows& rows = rows_.to->rows;
  if (slowness > 0) {
    const SymTensor3d by_metric = SymTensor3d::outer(eigen.vectors[2], length / (2 * slowness));
    rows.add_term(least_slow_.value, by_metric);
    // That element's shape does not count: its term has no part in `gradient_by_vertices`.
    if (const auto shape = shape_gradients(corner_points(mesh_, least_slow_)))
      for (int k = 0; k < Corners; ++k)
        rows.add_place(mesh_.element(least_slow_)[k].value,
                       -2.0 * (metric_.tensor(least_slow_) * (by_metric * (*shape)[k])));
  }
  if (length > 0) {
    const Vec3d gradient = (slowness / length) * way;
    rows.add_place(vertices_[place].value, gradient);
    note_position(-1.0 * gradient);
    note_place_of_source(-1.0 * gradient, -1);  // a vertex takes its source along, a surface lifts it
  }
  end_row(place);
}

/// The time is that along the straight way from the source, through some of these elements of one metric.
template <int Corners>
void SourceBall<Corners>::note_straight(std::uint32_t place, std::vector<ElementId> through) {
  if (rows_.to == nullptr) return;
  const Vec3d to = mesh_.point(vertices_[place]), way = to - position_;
  const SymTensor3d m = metric_.tensor(through.front());
  const double time = std::sqrt(squared_length(m, way));
  DependenceRows& rows = rows_.to->rows;
  if (time > 0) {
    if (through.size() == 1) rows.add_term(through.front().value, SymTensor3d::outer(way, 0.5 / time));
    else
      for (const auto& [e, share] : segment_shares(mesh_, std::move(through), position_, to))
        rows.add_term(e.value, SymTensor3d::outer(way, 0.5 * share / time));
    note_position((-1 / time) * (m * way));
  }
  end_row(place);
}

}  // namespace

int BallLimits::edges_across(int dim) const {
  return std::min(std::max(rings, 0), static_cast<int>(std::pow(static_cast<double>(vertices), 1.0 / dim)) + 1);
}

BallLimits ball_limits(int ball_rings, std::size_t sources, std::size_t vertex_count, int dim) {
  // Where elements are smaller than at the source, a ball may hold this many times what a regular one does.
  constexpr double max_crowding = 3;
  const double regular = (dim == 3 ? 4.2 : 3.2) * std::pow(std::max(ball_rings, 0) + 1.0, dim);
  const double share = ball_share(sources, vertex_count);
  const double varying = std::max(50.0, 0.025 * static_cast<double>(vertex_count)) /
                         static_cast<double>(std::max<std::size_t>(1, sources));
  const auto count = [&](double vertices) {
    return static_cast<std::size_t>(std::min(vertices, max_crowding * regular));
  };
  return {ball_rings, count(share), count(varying)};
}

template <int Corners>
double ball_times(const SimplexMesh<Corners>& mesh, const Metric& metric, const Adjacency& adjacency, Vec3d position,
                  std::span<const ElementId> seeds, double onset, const BallLimits& limits, const SetBallTime& set,
                  BallRows rows) {
  if (seeds.empty()) return 0;
  const SourceBall<Corners> ball(mesh, metric, adjacency, position, elements_touching(mesh, adjacency, position, seeds),
                                 limits, rows);
  ball.for_each([&](VertexId v, double time, SeedKind kind) { set(v, onset + time, kind); });
  return ball.radius();
}

template double ball_times<3>(const TriangleMesh&, const Metric&, const Adjacency&, Vec3d, std::span<const ElementId>,
                              double, const BallLimits&, const SetBallTime&, BallRows);
template double ball_times<4>(const TetMesh&, const Metric&, const Adjacency&, Vec3d, std::span<const ElementId>,
                              double, const BallLimits&, const SetBallTime&, BallRows);

}  // namespace isochron
