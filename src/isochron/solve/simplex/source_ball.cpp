#include "isochron/solve/simplex/source_ball.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <queue>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "isochron/mesh/closest_point.h"
#include "isochron/mesh/visibility.h"
#include "isochron/solve/simplex/metric_frame.h"

namespace isochron {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double allowed_effect = 0.1;    // of a changing metric on the ball's times, in elements
constexpr double flat_tolerance = 1e-6;   // how far off the source's plane a flat patch may be, over its size
constexpr double touch_tolerance = 1e-9;  // what counts as touching, over the size of the element

/// About how much travel times in `m` can differ from those in `reference`, relatively: half the norm of L⁻¹(m −
/// LLᵀ)L⁻ᵀ.
double time_deviation(SymTensor3d reference_inverse, SymTensor3d reference, SymTensor3d m) {
  const SymTensor3d change = m - reference;
  const std::array<Vec3d, 3> columns{reference_inverse * Vec3d{change.xx, change.xy, change.xz},
                                     reference_inverse * Vec3d{change.xy, change.yy, change.yz},
                                     reference_inverse * Vec3d{change.xz, change.yz, change.zz}};
  double square = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) square += columns[j][i] * columns[i][j];
  return std::sqrt(std::max(square, 0.0)) / 2;
}

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

template <int Corners>
class SourceBall {
 public:
  SourceBall(const SimplexMesh<Corners>& mesh, const Metric& metric, const Adjacency& adjacency, Vec3d position,
             std::vector<ElementId> seeds, int max_rings)
      : mesh_(mesh),
        metric_(metric),
        adjacency_(adjacency),
        position_(position),
        seeds_(std::move(seeds)),
        tensor_(mean_tensor(metric, seeds_)),
        inverse_(inverse(tensor_)),
        frame_(tensor_, position) {
    size_ = typical_size();
    if constexpr (Corners == 3) {
      const auto x = corner_points(mesh_, seeds_.front());
      const Vec3d normal = cross(x[1] - x[0], x[2] - x[0]);
      normal_ = normal / norm(normal);
    }
    grow(max_rings);
    look();
  }

  [[nodiscard]] double radius() const { return radius_; }

  /// The vertices that are set, without repeats, and their times from the source.
  [[nodiscard]] std::vector<std::pair<VertexId, double>> times() const;

 private:
  struct Entry {
    ElementId element;
    double nearest = 0;  // travel time from the source to the element's nearest point
    // Bit c: rays from the source come in through the face opposite corner c. All bits where that is not known.
    std::uint8_t entered = (1 << Corners) - 1;
    std::uint8_t left = 0;  // bit c: they go out through it
    bool flat = true;       // false: a triangle off the source's plane
    bool visible = false;   // every ray to it stays in the mesh
    // The entry beyond the face opposite each corner; 0, a seed, which is visible anyway, where none is known.
    std::array<std::uint32_t, Corners> across{};
  };

  [[nodiscard]] double typical_size() const;
  void add(ElementId e);
  void grow(int max_rings);
  void look();
  [[nodiscard]] double limit_by(const Entry& entry) const;

  const SimplexMesh<Corners>& mesh_;
  const Metric& metric_;
  const Adjacency& adjacency_;
  Vec3d position_;
  std::vector<ElementId> seeds_;
  SymTensor3d tensor_;
  SymTensor3d inverse_;
  MetricFrame frame_;
  Vec3d normal_;
  double size_ = 0;  // travel time along an edge at the source, about
  double radius_ = 0;
  std::vector<Entry> entries_;
  std::unordered_map<ElementId, std::uint32_t> place_;
};

template <int Corners>
double SourceBall<Corners>::typical_size() const {
  // Over all elements at the seeds' corners: the seeds alone may be one element.
  std::vector<VertexId> corners;
  for (const ElementId seed : seeds_)
    corners.insert(corners.end(), mesh_.element(seed).begin(), mesh_.element(seed).end());
  std::sort(corners.begin(), corners.end());
  double measure = 0, count = 0;
  for (std::size_t i = 0, next = 0; i < corners.size(); i = next) {  // each as often as it is a corner
    while (next < corners.size() && corners[next] == corners[i]) ++next;
    double around = 0;
    for (const std::uint32_t incidence : adjacency_.at(corners[i]))
      around += lattice_measure(frame_.map(corner_points(mesh_, Adjacency::element_of(incidence))));
    const auto times = static_cast<double>(next - i);
    measure += times * around;
    count += times * static_cast<double>(adjacency_.valence(corners[i]));
  }
  return std::pow(measure / count, 1.0 / (Corners - 1));
}

template <int Corners>
void SourceBall<Corners>::add(ElementId e) {
  for (const VertexId v : mesh_.element(e))
    if (adjacency_.at(v).empty()) throw PartTooSmall();
  Entry entry;
  entry.element = e;
  const auto x = frame_.map(corner_points(mesh_, e));
  entry.nearest = std::sqrt(closest_point(x, Vec3d{}).squared_distance);
  if (const auto w = barycentric(x, Vec3d{})) {
    double scale = 1;
    entry.entered = 0;
    for (const double weight : *w) scale += std::abs(weight);
    for (int c = 0; c < Corners; ++c) {
      if ((*w)[c] < -touch_tolerance * scale) entry.entered |= static_cast<std::uint8_t>(1 << c);
      if ((*w)[c] > 0) entry.left |= static_cast<std::uint8_t>(1 << c);
    }
  }
  if constexpr (Corners == 3) {
    for (const Vec3d& p : corner_points(mesh_, e))
      entry.flat = entry.flat && std::abs(dot(normal_, p - position_)) <= flat_tolerance * norm(p - position_);
  }
  entries_.push_back(entry);
}

template <int Corners>
double SourceBall<Corners>::limit_by(const Entry& entry) const {
  if (!entry.flat) return entry.nearest;
  const double deviation = time_deviation(inverse_, tensor_, metric_.tensor(entry.element));
  return deviation > 0 ? std::max(entry.nearest, allowed_effect * size_ / deviation) : infinity;
}

template <int Corners>
void SourceBall<Corners>::grow(int max_rings) {
  // Nearest first, hidden or not: a path behind an obstacle may be faster too. Graded meshes are stopped by the count.
  const double rings = std::max(max_rings, 0);
  const auto max_elements = static_cast<std::size_t>((Corners == 4 ? 64 : 16) * std::pow(rings + 1, Corners - 1));
  using Item = std::pair<double, std::uint32_t>;
  std::priority_queue<Item, std::vector<Item>, std::greater<>> queue;
  const auto place_of = [&](ElementId e) {
    const auto [place, fresh] = place_.try_emplace(e, static_cast<std::uint32_t>(entries_.size()));
    if (fresh) {
      add(e);
      queue.emplace(entries_.back().nearest, place->second);
    }
    return place->second;
  };
  for (const ElementId e : seeds_) {
    Entry& seed = entries_[place_of(e)];
    seed.nearest = 0;
    seed.visible = true;
  }
  radius_ = rings * size_;
  for (std::size_t count = 0; !queue.empty() && queue.top().first <= radius_; ++count) {
    const std::size_t i = queue.top().second;
    queue.pop();
    radius_ = std::min(radius_, count < max_elements ? limit_by(entries_[i]) : entries_[i].nearest);
    for_face_neighbours(mesh_, adjacency_, entries_[i].element, [&](ElementId other, int corner) {
      const std::uint32_t place = place_of(other);  // may move the entries
      entries_[i].across[corner] = place;
    });
  }
}

template <int Corners>
void SourceBall<Corners>::look() {
  // An element is visible as a whole when what lies before each of the faces through which rays enter it is. Faces in
  // line with the source do not matter: rays to points beside them come through the others, and the mesh is closed.
  std::vector<std::uint32_t> ready;
  for (std::uint32_t i = 0; i < entries_.size() && entries_[i].visible; ++i) ready.push_back(i);
  while (!ready.empty()) {
    const Entry& entry = entries_[ready.back()];
    ready.pop_back();
    const auto& corners = mesh_.element(entry.element);
    for (int c = 0; c < Corners; ++c) {
      Entry& next = entries_[entry.across[c]];
      if ((entry.left >> c & 1) == 0 || next.visible || !next.flat) continue;
      for (int k = 0; k < Corners; ++k)
        if (std::find(corners.begin(), corners.end(), mesh_.element(next.element)[k]) == corners.end())
          next.entered &= static_cast<std::uint8_t>(~(1 << k));
      next.visible = next.entered == 0;
      if (next.visible) ready.push_back(entry.across[c]);
    }
  }
}

template <int Corners>
std::vector<std::pair<VertexId, double>> SourceBall<Corners>::times() const {
  std::unordered_map<VertexId, double> set;
  for (const ElementId e : seeds_)
    for (const VertexId v : mesh_.element(e)) {
      const double time = std::sqrt(squared_length(metric_.tensor(e), mesh_.point(v) - position_));
      const auto [place, fresh] = set.try_emplace(v, time);
      if (!fresh) place->second = std::min(place->second, time);
    }
  constexpr double rounding_error = 1 + 1e-12;
  std::vector<std::pair<VertexId, double>> unsure;
  for (const Entry& entry : entries_) {
    if (!entry.flat || entry.nearest > radius_) continue;
    for (const VertexId v : mesh_.element(entry.element)) {
      const double time = norm(frame_.map(mesh_.point(v)));
      if (time > radius_ * rounding_error) continue;
      if (entry.visible) set.try_emplace(v, time);
      else unsure.emplace_back(v, time);
    }
  }
  std::sort(unsure.begin(), unsure.end());
  unsure.erase(std::unique(unsure.begin(), unsure.end()), unsure.end());
  for (const auto& [v, time] : unsure)
    if (!set.contains(v) && segment_inside(mesh_, adjacency_, position_, std::span<const ElementId>(seeds_), v))
      set.emplace(v, time);
  std::vector<std::pair<VertexId, double>> result(set.begin(), set.end());
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace

template <int Corners>
double ball_times(const SimplexMesh<Corners>& mesh, const Metric& metric, const Adjacency& adjacency, Vec3d position,
                  std::span<const ElementId> seeds, double onset, int max_rings, const SetTime& set) {
  if (seeds.empty()) return 0;
  const SourceBall<Corners> ball(mesh, metric, adjacency, position, elements_touching(mesh, adjacency, position, seeds),
                                 max_rings);
  for (const auto& [v, time] : ball.times()) set(v, onset + time);
  return ball.radius();
}

template double ball_times<3>(const TriangleMesh&, const Metric&, const Adjacency&, Vec3d, std::span<const ElementId>,
                              double, int, const SetTime&);
template double ball_times<4>(const TetMesh&, const Metric&, const Adjacency&, Vec3d, std::span<const ElementId>,
                              double, int, const SetTime&);

}  // namespace isochron
