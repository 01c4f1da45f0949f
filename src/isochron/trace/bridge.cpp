#include "isochron/trace/bridge.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <unordered_map>
#include <utility>

namespace isochron {
namespace {

constexpr std::size_t max_vertices = 512;  // looked at: several rings around a vertex of a volume mesh

/// Dijkstra's search over the edges, a bounded number of vertices far.
template <int Corners>
class EdgeSearch {
 public:
  explicit EdgeSearch(const TimedMesh<Corners>& on) : on_(on) {}

  std::optional<Bridge> run(const MeshPoint<Corners>& from) {
    const double now = time_at(on_.times, from);
    const Vec3d x = position(on_.mesh, from);
    for_elements_sharing(on_.mesh, on_.adjacency, from.carrier(), [&](ElementId e) {
      for (const VertexId v : from.carrier()) reach(v, length_in(e, on_.mesh.point(v) - x), VertexId());
    });
    for (std::size_t settled = 0; !queue_.empty() && settled < max_vertices;) {
      const auto [cost, v] = queue_.top();
      queue_.pop();
      if (cost > known_.at(v).cost) continue;
      ++settled;
      if (on_.times[v] < now) return way_to(VertexId(v));
      reach_neighbours(VertexId(v), cost);
    }
    return std::nullopt;
  }

 private:
  struct Reached {
    double cost = std::numeric_limits<double>::infinity();
    VertexId before;
  };

  [[nodiscard]] double length_in(ElementId e, Vec3d d) const {
    return std::sqrt(squared_length(on_.metric.tensor(e), d));
  }

  void reach(VertexId v, double cost, VertexId before) {
    Reached& known = known_[v.value];
    if (!(cost < known.cost)) return;
    known = {cost, before};
    queue_.emplace(cost, v.value);
  }

  void reach_neighbours(VertexId v, double cost) {
    for (const std::uint32_t incidence : on_.adjacency.at(v)) {
      const ElementId e = Adjacency::element_of(incidence);
      for (const VertexId w : on_.mesh.element(e))
        if (w != v) reach(w, cost + length_in(e, on_.mesh.point(w) - on_.mesh.point(v)), v);
    }
  }

  [[nodiscard]] Bridge way_to(VertexId v) const {
    Bridge bridge;
    for (; v.valid(); v = known_.at(v.value).before) {
      if (known_.at(v.value).cost == 0) break;  // where the path is already
      bridge.vertices.push_back(v);
      bridge.costs.push_back(known_.at(v.value).cost);
    }
    std::reverse(bridge.vertices.begin(), bridge.vertices.end());
    std::reverse(bridge.costs.begin(), bridge.costs.end());
    return bridge;
  }

  const TimedMesh<Corners>& on_;
  std::unordered_map<std::uint32_t, Reached> known_;
  using Entry = std::pair<double, std::uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

}  // namespace

template <int Corners>
std::optional<Bridge> find_bridge(const TimedMesh<Corners>& on, const MeshPoint<Corners>& from) {
  return EdgeSearch<Corners>(on).run(from);
}

template std::optional<Bridge> find_bridge(const TimedMesh<3>&, const MeshPoint<3>&);
template std::optional<Bridge> find_bridge(const TimedMesh<4>&, const MeshPoint<4>&);

}  // namespace isochron
