// The quickest way between two points of a mesh over a lattice of points on some of its elements.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "isochron/trace/descent.h"

namespace isochron {

/// Dijkstra's search where the nodes are the points of the elements' faces and edges whose weights are multiples of
/// 1/parts, and two nodes of one element are joined by a straight piece.
template <int Corners>
class LatticeSearch {
 public:
  static constexpr int parts = Corners == 3 ? 8 : 4;

  /// Looks only at these elements, which must hold the chain.
  LatticeSearch(const TimedMesh<Corners>& on, const std::vector<ElementId>& elements) : on_(on) {
    for (const ElementId e : elements) {
      const std::size_t place = members_.size();
      place_of_[e.value] = place;
      members_.emplace_back();
      tensors_.push_back(on.metric.tensor(e));
      std::array<int, Corners> counts{};
      add_lattice(e, counts, 0, parts);
    }
  }

  /// The way between the ends of a chain of points, which become nodes too: it takes no longer than the chain. Empty
  /// when there is none.
  std::vector<MeshPoint<Corners>> run(const std::vector<MeshPoint<Corners>>& chain) {
    const std::size_t start = nodes_.size();
    for (const auto& point : chain) add_point(point);
    const std::size_t goal = nodes_.size() - 1;
    cost_.assign(nodes_.size(), std::numeric_limits<double>::infinity());
    before_.assign(nodes_.size(), none);
    cost_[start] = 0;
    queue_.emplace(0.0, start);
    while (!queue_.empty()) {
      const auto [cost, node] = queue_.top();
      queue_.pop();
      if (node == goal) return way_to(goal);
      if (cost > cost_[node]) continue;
      for (const std::size_t place : elements_at_[node]) relax_element(node, place);
    }
    return {};
  }

 private:
  using Key = std::array<std::uint32_t, 2 * Corners>;  // vertices in order with their counts: equal on shared faces
  struct HashKey {
    std::size_t operator()(const Key& key) const {
      std::uint64_t hash = 0;
      for (const std::uint32_t part : key) {
        hash = (hash ^ part) * 0x9e3779b97f4a7c15ULL;
        hash ^= hash >> 29;
      }
      return hash;
    }
  };
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

  /// All corners' counts that sum to `parts`, except those inside the element.
  void add_lattice(ElementId e, std::array<int, Corners>& counts, int corner, int left) {
    if (corner == Corners - 1) {
      counts[corner] = left;
      if (*std::min_element(counts.begin(), counts.end()) == 0) add_node(e, counts);
      return;
    }
    for (counts[corner] = 0; counts[corner] <= left; ++counts[corner])
      add_lattice(e, counts, corner + 1, left - counts[corner]);
  }

  void add_node(ElementId e, const std::array<int, Corners>& counts) {
    std::array<std::pair<std::uint32_t, std::uint32_t>, Corners> used{};
    std::array<double, Corners> weights{};
    for (int c = 0; c < Corners; ++c) {
      weights[c] = static_cast<double>(counts[c]) / parts;
      if (counts[c] > 0) used[c] = {on_.mesh.element(e)[c].value + 1, static_cast<std::uint32_t>(counts[c])};
    }
    std::sort(used.begin(), used.end());
    Key key{};
    for (int c = 0; c < Corners; ++c) {
      key[2 * c] = used[c].first;
      key[2 * c + 1] = used[c].second;
    }
    const auto [found, fresh] = node_of_.try_emplace(key, nodes_.size());
    if (fresh) push_node(mesh_point<Corners>(on_.mesh, e, weights));
    join(found->second, place_of_.at(e.value));
  }

  void push_node(const MeshPoint<Corners>& point) {
    nodes_.push_back(point);
    positions_.push_back(position(on_.mesh, point));
    elements_at_.emplace_back();
  }
  void join(std::size_t node, std::size_t place) {
    members_[place].push_back(node);
    elements_at_[node].push_back(place);
  }

  void add_point(const MeshPoint<Corners>& point) {
    push_node(point);
    for_elements_sharing(on_.mesh, on_.adjacency, point.carrier(), [&](ElementId e) {
      const auto found = place_of_.find(e.value);
      if (found != place_of_.end()) join(nodes_.size() - 1, found->second);
    });
  }

  void relax_element(std::size_t node, std::size_t place) {
    for (const std::size_t other : members_[place]) {
      const double step = std::sqrt(squared_length(tensors_[place], positions_[other] - positions_[node]));
      if (!(cost_[node] + step < cost_[other])) continue;
      cost_[other] = cost_[node] + step;
      before_[other] = node;
      queue_.emplace(cost_[other], other);
    }
  }

  [[nodiscard]] std::vector<MeshPoint<Corners>> way_to(std::size_t node) const {
    std::vector<MeshPoint<Corners>> way;
    for (; node != none; node = before_[node]) way.push_back(nodes_[node]);
    std::reverse(way.begin(), way.end());
    return way;
  }

  const TimedMesh<Corners>& on_;
  std::unordered_map<std::uint32_t, std::size_t> place_of_;  // element -> place in members_
  std::vector<std::vector<std::size_t>> members_;            // nodes of each element
  std::vector<SymTensor3d> tensors_;
  std::unordered_map<Key, std::size_t, HashKey> node_of_;
  std::vector<MeshPoint<Corners>> nodes_;
  std::vector<Vec3d> positions_;
  std::vector<std::vector<std::size_t>> elements_at_;
  std::vector<double> cost_;
  std::vector<std::size_t> before_;
  using Entry = std::pair<double, std::size_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

}  // namespace isochron
