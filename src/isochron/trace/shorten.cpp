#include "isochron/trace/shorten.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "isochron/trace/descent.h"

namespace isochron {
namespace {

/// The quickest way between two points over a lattice of points on some elements: Dijkstra's search where the nodes are
/// the points of the elements' faces and edges whose weights are multiples of 1/parts, and two nodes of one element are
/// joined by a straight piece.
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

/// Straightens a chain of crossings through a fixed sequence of elements. Moves the inner points of a chain along the
/// faces (edges of triangles) between its elements, so that its travel time becomes less. That is convex as long as the
/// elements stay the same. Runs of points move together, as a hat over 1, 2, 4, … of them: single points alone would
/// take very long to straighten a long bend.
template <int Corners>
class Straightener {
 public:
  Straightener(const TimedMesh<Corners>& on, std::vector<MeshPoint<Corners>>& chain) : on_(on), chain_(chain) {}

  /// One sweep over all widths; the share of the travel time that it gained.
  double sweep() {
    if (!find_pieces()) return 0;
    const double before = cost();
    std::size_t width = 1;
    while (4 * width < chain_.size()) width *= 2;
    for (; width > 0; width /= 2)
      for (std::size_t centre = 1; centre + 1 < chain_.size(); centre += width)
        for (int family = 0; family < families; ++family) move(centre, width, family);
    for (std::size_t i = 1; i + 1 < chain_.size(); ++i)
      chain_[i] = mesh_point<Corners>(on_.mesh, elements_[i - 1], weights_[i]);
    return before > 0 ? 1 - cost() / before : 0;
  }

 private:
  /// Sideways on a surface; along each axis in space.
  static constexpr int families = Corners == 3 ? 1 : 3;
  /// Below this sine of the angle between the path and a face it is taken to graze it: sideways would be far along it.
  static constexpr double grazing = 0.1;

  /// How a point moves for a unit sideways.
  struct Shift {
    std::array<double, Corners> weights{};
    Vec3d x{};
  };

  /// The sum of the roots of quadratics in s: travel times of pieces whose ends move evenly.
  struct MovingPiece {
    double constant, linear, square;
    [[nodiscard]] double at(double s) const {
      return std::sqrt(std::max(0.0, constant + s * (2 * linear + s * square)));
    }
  };

  bool find_pieces() {
    elements_.clear();
    tensors_.clear();
    positions_.clear();
    weights_.assign(chain_.size(), {});
    for (std::size_t i = 0; i < chain_.size(); ++i) {
      positions_.push_back(position(on_.mesh, chain_[i]));
      if (i == 0) continue;
      const auto piece = piece_between(on_, chain_[i - 1], chain_[i]);
      if (!piece) return false;
      elements_.push_back(piece->element);
      tensors_.push_back(on_.metric.tensor(piece->element));
      weights_[i] = weights_in(on_.mesh, piece->element, chain_[i]);
    }
    return true;
  }

  [[nodiscard]] double cost() const {
    double sum = 0;
    for (std::size_t i = 1; i < positions_.size(); ++i)
      sum += std::sqrt(squared_length(tensors_[i - 1], positions_[i] - positions_[i - 1]));
    return sum;
  }

  /// Corners of the element before point i that the one behind it has too: the simplex that the point can move in.
  struct Shared {
    int count = 0;
    std::array<int, Corners> corners{};
  };
  [[nodiscard]] Shared shared_at(std::size_t i) const {
    const auto &before = on_.mesh.element(elements_[i - 1]), &behind = on_.mesh.element(elements_[i]);
    Shared shared;
    for (int c = 0; c < Corners; ++c)
      if (std::find(behind.begin(), behind.end(), before[c]) != behind.end()) shared.corners[shared.count++] = c;
    return shared;
  }

  /// Within an edge on which point i can move. On a surface sideways by one; in space as far as the edge follows the
  /// family's axis.
  [[nodiscard]] static Vec3d along_edge(Vec3d d, Vec3d t, int family) {
    if constexpr (Corners == 3) {
      return d / std::max(norm(d - dot(t, d) * t), grazing * norm(d));
    } else {
      return (d[family] / dot(d, d)) * d;
    }
  }

  /// Within a face with this normal: the family's axis, brought back to the face along the path.
  [[nodiscard]] static Vec3d along_face(Vec3d normal, Vec3d t, int family) {
    Vec3d axis;
    axis[family] = 1;
    const Vec3d back = std::abs(dot(t, normal)) > grazing * norm(normal) ? t : normal;
    return axis - (dot(axis, normal) / dot(back, normal)) * back;
  }

  /// What a unit sideways means for point i; zero where it cannot move. On a surface the sign follows that of the point
  /// before.
  [[nodiscard]] Shift shift_at(std::size_t i, int family, Vec3d before) const {
    Shift shift;
    const auto [count, corner] = shared_at(i);
    const Vec3d way = positions_[i + 1] - positions_[i - 1];
    if (count < 2 || count == Corners || !(norm(way) > 0)) return shift;
    const auto x = corner_points(on_.mesh, elements_[i - 1]);
    std::array<Vec3d, 2> edge{x[corner[1]] - x[corner[0]], count > 2 ? x[corner[2]] - x[corner[0]] : Vec3d{}};
    const Vec3d t = way / norm(way);
    Vec3d side = count == 2 ? along_edge(edge[0], t, family) : along_face(cross(edge[0], edge[1]), t, family);
    if (Corners == 3 && dot(side, before) < 0) side = -side;
    std::array<std::array<double, 3>, 3> gram{};
    gram[0][0] = dot(edge[0], edge[0]);
    gram[1][0] = dot(edge[0], edge[1]);
    gram[1][1] = dot(edge[1], edge[1]);
    const auto solved = solve_gram(gram, {dot(side, edge[0]), dot(side, edge[1]), 0}, count - 1);
    if (!solved) return shift;
    for (int a = 1; a < count; ++a) {
      shift.weights[corner[a]] = (*solved)[a - 1];
      shift.weights[corner[0]] -= (*solved)[a - 1];
    }
    for (int c = 0; c < Corners; ++c) shift.x += shift.weights[c] * x[c];
    return shift;
  }

  /// Moves the points less than `width` away from the centre sideways by the best amount, the outer ones by less.
  void move(std::size_t centre, std::size_t width, int family) {
    const std::size_t first = centre > width ? centre - width + 1 : 1;
    const std::size_t last = std::min(centre + width - 1, chain_.size() - 2);
    shifts_.clear();
    double low = -std::numeric_limits<double>::infinity(), high = -low;
    Vec3d side;
    for (std::size_t i = first; i <= last; ++i) {
      Shift shift = shift_at(i, family, side);
      if (dot(shift.x, shift.x) > 0) side = shift.x;
      const double away = std::abs(static_cast<double>(i) - static_cast<double>(centre));
      const double share = 1 - away / static_cast<double>(width);
      shift.x = share * shift.x;
      for (int c = 0; c < Corners; ++c) {
        const double rate = shift.weights[c] *= share;
        if (rate > 0) low = std::max(low, -weights_[i][c] / rate);
        if (rate < 0) high = std::min(high, -weights_[i][c] / rate);
      }
      shifts_.push_back(shift);
    }
    if (!(low < high) || !std::isfinite(high - low)) return;
    pieces_.clear();
    for (std::size_t i = first; i <= last + 1; ++i) {
      const Vec3d apart = positions_[i] - positions_[i - 1];
      const Vec3d moving =
          (i <= last ? shifts_[i - first].x : Vec3d{}) - (i > first ? shifts_[i - first - 1].x : Vec3d{});
      const SymTensor3d& m = tensors_[i - 1];
      pieces_.push_back({squared_length(m, apart), product(m, apart, moving), squared_length(m, moving)});
    }
    apply(first, least(low, high));
  }

  [[nodiscard]] double sum(double s) const {
    double total = 0;
    for (const MovingPiece& piece : pieces_) total += piece.at(s);
    return total;
  }

  /// Where in [low, high] the sum of the pieces is least: Newton's steps for the root of its slope, halving where they
  /// leave the bracket.
  [[nodiscard]] double least(double low, double high) const {
    const auto slope = [&](double s, double* curvature) {
      double result = 0;
      for (const MovingPiece& piece : pieces_) {
        const double value = piece.at(s);
        if (!(value > 0)) continue;
        result += (piece.linear + s * piece.square) / value;
        *curvature +=
            std::max(0.0, piece.constant * piece.square - piece.linear * piece.linear) / (value * value * value);
      }
      return result;
    };
    double ignored = 0;
    if (slope(low, &ignored) >= 0) return low;
    if (slope(high, &ignored) <= 0) return high;
    double s = std::clamp(0.0, low, high);
    for (int k = 0; k < 20; ++k) {
      double curvature = 0;
      const double rise = slope(s, &curvature);
      (rise < 0 ? low : high) = s;
      const double next = s - rise / curvature, before = s;
      s = next > low && next < high ? next : 0.5 * (low + high);
      if (std::abs(s - before) <= 1e-9 * (high - low)) break;
    }
    return s;
  }

  void apply(std::size_t first, double s) {
    if (!(sum(s) < sum(0))) return;
    for (std::size_t k = 0; k < shifts_.size(); ++k) {
      auto& weights = weights_[first + k];
      for (int c = 0; c < Corners; ++c) weights[c] = std::max(0.0, weights[c] + s * shifts_[k].weights[c]);
      positions_[first + k] += s * shifts_[k].x;
    }
  }

  const TimedMesh<Corners>& on_;
  std::vector<MeshPoint<Corners>>& chain_;
  std::vector<ElementId> elements_;                   // of the piece from point i to the next
  std::vector<SymTensor3d> tensors_;                  // theirs
  std::vector<Vec3d> positions_;                      // of the points
  std::vector<std::array<double, Corners>> weights_;  // of point i in element i − 1
  std::vector<Shift> shifts_;
  std::vector<MovingPiece> pieces_;
};

/// A chain is searched in windows of so many points, so that the work grows with its length alone.
constexpr std::size_t window = 48;
/// Sweeps of straightening stop when one gains less than this share, or after so many.
constexpr double min_gain = 1e-6;
constexpr int max_sweeps = 20;
/// The chain is searched again, now around its new place, while a round gains more than this share.
constexpr double worth_a_round = 1e-3;
constexpr int max_rounds = 6;

template <int Corners>
using Chain = std::vector<MeshPoint<Corners>>;

template <int Corners>
double total_cost(const TimedMesh<Corners>& on, const Chain<Corners>& chain) {
  double sum = 0;
  for (std::size_t i = 1; i < chain.size(); ++i) {
    const auto piece = piece_between(on, chain[i - 1], chain[i]);
    sum += piece ? piece->cost : std::numeric_limits<double>::infinity();
  }
  return sum;
}

/// The elements at the vertices of the chain's carriers.
template <int Corners>
std::vector<ElementId> elements_around(const TimedMesh<Corners>& on, const Chain<Corners>& chain) {
  std::unordered_set<std::uint32_t> seen;
  std::vector<ElementId> result;
  for (const auto& point : chain)
    for (const VertexId v : point.carrier())
      for (const std::uint32_t incidence : on.adjacency.at(v))
        if (seen.insert(Adjacency::element_of(incidence).value).second)
          result.push_back(Adjacency::element_of(incidence));
  return result;
}

/// Searches the chain in windows that begin at `first`, `first` + window and so on.
template <int Corners>
void search_windows(const TimedMesh<Corners>& on, Chain<Corners>& chain, std::size_t first) {
  Chain<Corners> result(chain.begin(),
                        chain.begin() + static_cast<std::ptrdiff_t>(std::min(first, chain.size() - 1)) + 1);
  while (first + 1 < chain.size()) {
    const std::size_t last = std::min(first + window, chain.size() - 1);
    Chain<Corners> part(chain.begin() + static_cast<std::ptrdiff_t>(first),
                        chain.begin() + static_cast<std::ptrdiff_t>(last) + 1);
    LatticeSearch<Corners> search(on, elements_around(on, part));
    Chain<Corners> found = search.run(part);
    if (!found.empty() && total_cost(on, found) < total_cost(on, part)) part = std::move(found);
    result.insert(result.end(), part.begin() + 1, part.end());
    first = last;
  }
  chain = std::move(result);
}

/// Drops points between two that lie in one element, where the straight piece is no slower.
template <int Corners>
void drop_needless(const TimedMesh<Corners>& on, Chain<Corners>& chain) {
  Chain<Corners> kept{chain.front()};
  for (std::size_t i = 1; i + 1 < chain.size(); ++i) {
    const auto straight = piece_between(on, kept.back(), chain[i + 1]);
    const auto before = piece_between(on, kept.back(), chain[i]), after = piece_between(on, chain[i], chain[i + 1]);
    if (straight && before && after && straight->cost <= before->cost + after->cost) continue;
    kept.push_back(chain[i]);
  }
  kept.push_back(chain.back());
  chain = std::move(kept);
}

}  // namespace

template <int Corners>
std::optional<Piece> piece_between(const TimedMesh<Corners>& on, const MeshPoint<Corners>& a,
                                   const MeshPoint<Corners>& b) {
  std::array<VertexId, 2 * Corners> both;
  const auto middle = std::copy(a.carrier().begin(), a.carrier().end(), both.begin());
  const auto end = std::copy_if(b.carrier().begin(), b.carrier().end(), middle,
                                [&](VertexId v) { return std::find(both.begin(), middle, v) == middle; });
  if (end - both.begin() > Corners) return std::nullopt;
  const Vec3d d = position(on.mesh, b) - position(on.mesh, a);
  std::optional<Piece> best;
  for_elements_sharing(on.mesh, on.adjacency, std::span<const VertexId>(both.begin(), end), [&](ElementId e) {
    const double cost = std::sqrt(squared_length(on.metric.tensor(e), d));
    if (!best || cost < best->cost) best = Piece{e, cost};
  });
  return best;
}

template <int Corners>
void shorten(const TimedMesh<Corners>& on, std::vector<MeshPoint<Corners>>& chain) {
  double cost = total_cost(on, chain);
  for (int round = 0; round < max_rounds; ++round) {
    // Every other round begins within a window, for the places where windows met before.
    search_windows(on, chain, round % 2 == 1 && chain.size() > window ? window / 2 : 0);
    Straightener<Corners> straightener(on, chain);
    for (int sweep = 0; sweep < max_sweeps && straightener.sweep() > min_gain;) ++sweep;
    drop_needless(on, chain);
    const double before = cost;
    cost = total_cost(on, chain);
    if (!(cost < (1 - worth_a_round) * before) && (round > 0 || chain.size() <= window)) break;
  }
}

template std::optional<Piece> piece_between(const TimedMesh<3>&, const MeshPoint<3>&, const MeshPoint<3>&);
template std::optional<Piece> piece_between(const TimedMesh<4>&, const MeshPoint<4>&, const MeshPoint<4>&);
template void shorten(const TimedMesh<3>&, std::vector<MeshPoint<3>>&);
template void shorten(const TimedMesh<4>&, std::vector<MeshPoint<4>>&);

}  // namespace isochron
