#include "isochron/mesh_quality.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "isochron/mesh/closest_point.h"

namespace isochron {

namespace {

/// Sets of integers that are joined two by two. Each member also knows whether it is turned relative to the set's root.
class TurnedSets {
 public:
  explicit TurnedSets(std::size_t count) : parent_(count), turned_(count, 0) {
    std::iota(parent_.begin(), parent_.end(), 0U);
  }

  struct Place {
    std::uint32_t root;
    bool turned;
  };
  Place find(std::uint32_t member) {
    std::uint32_t root = member;
    bool turned = false;
    while (parent_[root] != root) {
      turned ^= turned_[root] != 0;
      root = parent_[root];
    }
    bool rest = turned;
    while (parent_[member] != root && member != root) {
      const std::uint32_t next = parent_[member];
      const bool step = turned_[member] != 0;
      parent_[member] = root;
      turned_[member] = rest ? 1 : 0;
      rest ^= step;
      member = next;
    }
    return {root, turned};
  }

  /// Joins two members that are turned relative to each other, or not. False when they are together already and the
  /// other way round. The smaller root stays.
  bool join(std::uint32_t a, std::uint32_t b, bool turned) {
    Place one = find(a), other = find(b);
    if (one.root == other.root) return (one.turned != other.turned) == turned;
    if (one.root > other.root) std::swap(one, other);
    parent_[other.root] = one.root;
    turned_[other.root] = (one.turned != other.turned) != turned ? 1 : 0;
    return true;
  }

 private:
  std::vector<std::uint32_t> parent_;
  std::vector<std::uint8_t> turned_;
};

/// An edge as one triangle has it. `at` is the triangle's corner (3 · triangle + corner) where the edge starts in the
/// triangle's own direction; the edge ends at the next corner.
struct HalfEdge {
  std::uint32_t high;
  std::uint32_t at;
};

std::uint32_t next_corner(std::uint32_t at) { return at % 3 == 2 ? at - 2 : at + 1; }

bool repeats_vertex(const TriangleMesh::Element& t) { return t[0] == t[1] || t[1] == t[2] || t[0] == t[2]; }

/// The half-edges, sorted by their smaller vertex and then by the larger one.
class SortedEdges {
 public:
  explicit SortedEdges(const TriangleMesh& mesh) : start_(mesh.vertex_count() + 1, 0) {
    each(mesh, [&](std::uint32_t low, HalfEdge) { ++start_[low + 1]; });
    std::partial_sum(start_.begin(), start_.end(), start_.begin());
    edges_.resize(start_.back());
    std::vector<std::uint32_t> cursor(start_.begin(), start_.end() - 1);
    each(mesh, [&](std::uint32_t low, HalfEdge edge) { edges_[cursor[low]++] = edge; });
    for (std::size_t v = 0; v + 1 < start_.size(); ++v)
      std::sort(edges_.begin() + start_[v], edges_.begin() + start_[v + 1],
                [](HalfEdge a, HalfEdge b) { return a.high != b.high ? a.high < b.high : a.at < b.at; });
  }

  /// Calls `visit(low, half_edges)` for each edge of the mesh.
  template <class Visit>
  void visit(Visit&& visit) const {
    for (std::size_t v = 0; v + 1 < start_.size(); ++v)
      for (std::uint32_t i = start_[v], next = i; i < start_[v + 1]; i = next) {
        while (next < start_[v + 1] && edges_[next].high == edges_[i].high) ++next;
        visit(static_cast<std::uint32_t>(v), std::span<const HalfEdge>(edges_.data() + i, next - i));
      }
  }

 private:
  template <class Take>
  static void each(const TriangleMesh& mesh, Take&& take) {
    for (std::size_t t = 0; t < mesh.element_count(); ++t) {
      const auto& triangle = mesh.elements[t];
      if (repeats_vertex(triangle)) continue;
      for (std::uint32_t k = 0; k < 3; ++k) {
        const auto [low, high] = std::minmax(triangle[k].value, triangle[(k + 1) % 3].value);
        take(low, HalfEdge{high, static_cast<std::uint32_t>(3 * t + k)});
      }
    }
  }

  std::vector<std::uint32_t> start_;
  std::vector<HalfEdge> edges_;
};

class Examination {
 public:
  explicit Examination(const TriangleMesh& mesh)
      : mesh_(mesh), edges_(mesh), triangles_(mesh.element_count()), corners_(3 * mesh.element_count()) {}

  SurfaceTopology run() {
    join_triangles();
    number_components();
    count_edges();
    count_vertices();
    measure();
    return std::move(result_);
  }

 private:
  void join_triangles() {
    edges_.visit([&](std::uint32_t low, std::span<const HalfEdge> around) {
      const std::uint32_t first = around[0].at;
      for (const HalfEdge& other : around.subspan(1)) {
        const bool same_way = vertex(first) == vertex(other.at);
        if (!triangles_.join(first / 3, other.at / 3, same_way)) conflicts_.push_back(first / 3);
        corners_.join(corner_at(first, low), corner_at(other.at, low), false);
        corners_.join(corner_at(first, other.high), corner_at(other.at, other.high), false);
      }
    });
  }

  void number_components() {
    result_.component_of.assign(mesh_.element_count(), SurfaceTopology::no_component);
    for (std::size_t t = 0; t < mesh_.element_count(); ++t) {
      if (repeats_vertex(mesh_.elements[t])) {
        ++result_.repeating_triangles;
        continue;
      }
      const std::uint32_t root = triangles_.find(static_cast<std::uint32_t>(t)).root;
      if (root == t) {  // roots are the smallest of their sets, so they come first
        result_.component_of[t] = static_cast<std::uint32_t>(result_.components.size());
        result_.components.emplace_back().first = ElementId(t);
      }
      result_.component_of[t] = result_.component_of[root];
      ++component(t).triangles;
    }
    for (const std::uint32_t t : conflicts_) component(t).orientable = false;
  }

  void count_edges() {
    edges_.visit([&](std::uint32_t low, std::span<const HalfEdge> around) {
      const MeshEdge edge{VertexId(low), VertexId(around[0].high)};
      SurfaceComponent& piece = component(around[0].at / 3);
      ++piece.edges;
      if (around.size() == 1) {
        ++piece.boundary_edges;
        result_.boundary_edges.push_back(edge);
      } else if (around.size() > 2) {
        ++piece.non_manifold_edges;
        result_.non_manifold_edges.push_back(edge);
      } else if (vertex(around[0].at) == vertex(around[1].at)) {
        ++piece.inconsistent_edges;
        ++result_.inconsistent_edges;
      }
    });
  }

  /// Each fan at a vertex is a set of corners. A vertex counts once in every component that has a fan at it.
  void count_vertices() {
    std::vector<std::uint32_t> first_fan(mesh_.vertex_count(), SurfaceTopology::no_component);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> more;  // vertex and component of each further fan
    for (std::uint32_t at = 0; at < 3 * mesh_.element_count(); ++at) {
      const std::uint32_t piece = result_.component_of[at / 3];
      if (piece == SurfaceTopology::no_component || corners_.find(at).root != at) continue;
      std::uint32_t& first = first_fan[vertex(at).index()];
      if (first == SurfaceTopology::no_component) {
        first = piece;
        ++result_.components[piece].vertices;
      } else {
        more.emplace_back(vertex(at).value, piece);
      }
    }
    std::sort(more.begin(), more.end());
    for (std::size_t i = 0, next = 0; i < more.size(); i = next) {
      const std::uint32_t v = more[i].first;
      std::vector<std::uint32_t> pieces{first_fan[v]};
      for (; next < more.size() && more[next].first == v; ++next) pieces.push_back(more[next].second);
      result_.non_manifold_vertices.push_back(VertexId(v));
      std::sort(pieces.begin(), pieces.end());
      pieces.erase(std::unique(pieces.begin(), pieces.end()), pieces.end());
      for (const std::uint32_t piece : pieces) {
        ++result_.components[piece].pinched_vertices;
        if (piece != first_fan[v]) ++result_.components[piece].vertices;
      }
    }
  }

  void measure() {
    for (std::size_t t = 0; t < mesh_.element_count(); ++t) {
      if (result_.component_of[t] == SurfaceTopology::no_component) continue;
      SurfaceComponent& piece = component(t);
      // From a point of the surface itself: far from the origin the products would cancel.
      const Vec3d origin = mesh_.point(mesh_.element(piece.first)[0]);
      const auto x = corner_points(mesh_, ElementId(t));
      const Vec3d normal = cross(x[1] - x[0], x[2] - x[0]);
      piece.area += norm(normal) / 2;
      piece.volume += dot(x[0] - origin, normal) / 6;
    }
    for (SurfaceComponent& piece : result_.components) {
      if (!piece.closed() || !piece.oriented()) piece.volume = 0;
      result_.area += piece.area;
      result_.volume += piece.volume;
    }
  }

  SurfaceComponent& component(std::size_t triangle) { return result_.components[result_.component_of[triangle]]; }
  [[nodiscard]] VertexId vertex(std::uint32_t at) const { return mesh_.elements[at / 3][at % 3]; }
  /// The corner of the half-edge's triangle that has this vertex.
  [[nodiscard]] std::uint32_t corner_at(std::uint32_t at, std::uint32_t v) const {
    return vertex(at).value == v ? at : next_corner(at);
  }

  const TriangleMesh& mesh_;
  SortedEdges edges_;
  TurnedSets triangles_;
  TurnedSets corners_;
  std::vector<std::uint32_t> conflicts_;
  SurfaceTopology result_;
};

}  // namespace

long SurfaceTopology::euler_characteristic() const {
  long sum = 0;
  for (const SurfaceComponent& piece : components) sum += piece.euler_characteristic();
  return sum;
}

std::optional<long> SurfaceTopology::genus() const {
  long sum = 0;
  for (const SurfaceComponent& piece : components) {
    const auto handles = piece.genus();
    if (!handles) return std::nullopt;
    sum += *handles;
  }
  return sum;
}

SurfaceTopology surface_topology(const TriangleMesh& mesh) { return Examination(mesh).run(); }

}  // namespace isochron
