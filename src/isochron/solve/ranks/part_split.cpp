#include "isochron/solve/ranks/part_split.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "isochron/comm/collectives.h"
#include "isochron/mesh/adjacency.h"
#include "isochron/parts.h"
#include "isochron/solve/simplex/obtuse_mask.h"
#include "isochron/solve/simplex/obtuse_split.h"
#include "isochron/solve/simplex/obtuse_unfold.h"

namespace isochron::ranks {
namespace {

constexpr std::uint32_t none = 0xffffffffU;

/// A triangle as its vertices' owners send it.
struct SentTriangle {
  std::uint64_t id;
  std::array<std::uint64_t, 3> corners;
  std::array<Vec3d, 3> points;
  std::array<double, 3> lengths;
  std::array<std::uint32_t, 3> owner;
  std::uint32_t unused = 0;
};

/// A part and the triangles around it that were asked for. Triangles and vertices of the part keep their numbers; the
/// others follow.
class Surface {
 public:
  Surface(const MeshPart<3>& part, const Metric& metric)
      : part_(part), metric_(metric), adjacency_(build_adjacency(part.mesh)) {
    for (std::size_t v = part.owned; v < part.global_vertex.size(); ++v)
      number_.emplace(part.global_vertex[v], static_cast<std::uint32_t>(v));
  }

  [[nodiscard]] std::uint32_t vertex(std::uint32_t triangle, int corner) const {
    return triangle < inner() ? part_.mesh.elements[triangle][corner].value
                              : more_[triangle - inner()].corners[static_cast<std::size_t>(corner)];
  }
  [[nodiscard]] double length(std::uint32_t triangle, int a, int b) const {
    return lengths(triangle)[edge_index(a, b)];
  }

  /// As `TriangleUnfolder` wants it; a vertex that has to be asked for is noted in `missing`.
  [[nodiscard]] Behind behind(std::uint32_t a, std::uint32_t b, std::uint32_t triangle) const {
    if (!knows(a)) std::swap(a, b);
    if (!knows(a)) {
      missing = a;
      return {};
    }
    Behind found;
    const auto look = [&](std::uint32_t other) {
      if (other == triangle) return true;
      int apex = -1;
      bool shares = false;
      for (int c = 0; c < 3; ++c) {
        const std::uint32_t v = vertex(other, c);
        if (v == b) shares = true;
        else if (v != a) apex = c;
      }
      if (!shares) return true;
      const bool alone = found.apex < 0;
      found = alone ? Behind{other, apex} : Behind{};
      return alone;
    };
    if (a < part_.owned) {
      for (const std::uint32_t incidence : adjacency_.at(VertexId(a)))
        if (!look(Adjacency::element_of(incidence).value)) break;
    } else {
      for (const std::uint32_t other : around_.at(a))
        if (!look(other)) break;
    }
    return found;
  }

  /// The triangles at an own vertex, for a rank that asks. The parts have passed `check_parts`.
  void collect(std::uint64_t global, std::vector<SentTriangle>& answer) const {
    for (const std::uint32_t incidence : adjacency_.at(VertexId(*owned_place(part_, global)))) {
      const ElementId e = Adjacency::element_of(incidence);
      SentTriangle& sent = answer.emplace_back();
      sent.id = part_.global_element[e.index()];
      sent.lengths = squared_lengths(part_.mesh, metric_, e);
      for (std::size_t c = 0; c < 3; ++c) {
        const VertexId v = part_.mesh.element(e)[c];
        sent.corners[c] = part_.global_vertex[v.index()];
        sent.points[c] = part_.mesh.point(v);
        sent.owner[c] = part_.owns(v) ? none : part_.ghost_owner[v.index() - part_.owned];
      }
    }
  }

  /// Takes all triangles at one vertex.
  void take(std::uint32_t vertex, std::span<const SentTriangle> triangles, std::uint32_t from) {
    std::vector<std::uint32_t>& around = around_[vertex];
    for (const SentTriangle& sent : triangles) around.push_back(add(sent, from));
  }

  [[nodiscard]] std::uint64_t global(std::uint32_t v) const {
    return v < part_.global_vertex.size() ? part_.global_vertex[v] : beyond_[v - part_.global_vertex.size()].id;
  }
  [[nodiscard]] std::uint32_t owner(std::uint32_t v) const {
    return v < part_.global_vertex.size() ? part_.ghost_owner[v - part_.owned]
                                          : beyond_[v - part_.global_vertex.size()].owner;
  }
  /// Of a vertex beyond the part.
  [[nodiscard]] Vec3d point(std::uint32_t v) const { return beyond_[v - part_.global_vertex.size()].at; }

  [[nodiscard]] std::array<double, 3> lengths(std::uint32_t triangle) const {
    return triangle < inner() ? squared_lengths(part_.mesh, metric_, ElementId(triangle))
                              : more_[triangle - inner()].lengths;
  }

  mutable std::uint32_t missing = none;

 private:
  struct Triangle {
    std::array<std::uint32_t, 3> corners;
    std::array<double, 3> lengths;
  };
  struct Vertex {
    std::uint64_t id;
    Vec3d at;
    std::uint32_t owner;
  };

  [[nodiscard]] std::size_t inner() const { return part_.mesh.element_count(); }
  [[nodiscard]] bool knows(std::uint32_t v) const { return v < part_.owned || around_.contains(v); }

  std::uint32_t number_of(std::uint64_t id, const Vec3d& at, std::uint32_t owner) {
    if (const auto own = owned_place(part_, id)) return static_cast<std::uint32_t>(*own);
    const auto fresh = static_cast<std::uint32_t>(part_.global_vertex.size() + beyond_.size());
    const auto [place, is_fresh] = number_.try_emplace(id, fresh);
    if (is_fresh) beyond_.push_back({id, at, owner});
    return place->second;
  }

  std::uint32_t add(const SentTriangle& sent, std::uint32_t from) {
    const auto& known = part_.global_element;
    const auto inside = std::lower_bound(known.begin(), known.end(), sent.id);
    if (inside != known.end() && *inside == sent.id) return static_cast<std::uint32_t>(inside - known.begin());
    const auto fresh = static_cast<std::uint32_t>(inner() + more_.size());
    const auto [place, is_fresh] = triangle_.try_emplace(sent.id, fresh);
    if (is_fresh) {
      Triangle& triangle = more_.emplace_back();
      triangle.lengths = sent.lengths;
      for (std::size_t c = 0; c < 3; ++c)
        triangle.corners[c] = number_of(sent.corners[c], sent.points[c], sent.owner[c] == none ? from : sent.owner[c]);
    }
    return place->second;
  }

  const MeshPart<3>& part_;
  const Metric& metric_;
  Adjacency adjacency_;                                                   ///< complete for own vertices
  std::unordered_map<std::uint64_t, std::uint32_t> number_;               ///< of vertices that are not own
  std::unordered_map<std::uint64_t, std::uint32_t> triangle_;             ///< numbers of triangles beyond the part
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> around_;  ///< triangles at vertices that were asked for
  std::vector<Triangle> more_;
  std::vector<Vertex> beyond_;
};

struct Corner {
  std::uint32_t triangle;
  int corner;
};

std::vector<Corner> obtuse_corners(const MeshPart<3>& part, const Metric& metric) {
  std::vector<Corner> corners;
  for (std::uint32_t e = 0; e < part.mesh.element_count(); ++e) {
    const auto lengths = squared_lengths(part.mesh, metric, ElementId(e));
    const unsigned obtuse = obtuse_mask<3>(lengths.data());
    for (int c = 0; c < 3; ++c)
      if ((obtuse >> static_cast<unsigned>(c) & 1U) != 0 && part.owns(part.mesh.elements[e][c]))
        corners.push_back({e, c});
  }
  return corners;
}

/// All ranks together: each gets the triangles around the vertices it wants.
void ask(Communicator& communicator, const std::unordered_set<std::uint32_t>& wanted, Surface& surface) {
  std::vector<std::vector<std::uint64_t>> questions(communicator.ranks());
  std::vector<std::vector<std::uint32_t>> asked(communicator.ranks());
  for (const std::uint32_t v : wanted) {
    questions[surface.owner(v)].push_back(surface.global(v));
    asked[surface.owner(v)].push_back(v);
  }
  std::vector<std::vector<SentTriangle>> answers(communicator.ranks());
  std::vector<std::vector<std::uint32_t>> counts(communicator.ranks());
  const auto received = exchange_values(communicator, questions);
  for (std::size_t r = 0; r < received.size(); ++r)
    for (const std::uint64_t id : received[r]) {
      const std::size_t before = answers[r].size();
      surface.collect(id, answers[r]);
      counts[r].push_back(static_cast<std::uint32_t>(answers[r].size() - before));
    }
  const auto received_triangles = exchange_values(communicator, answers);
  const auto received_counts = exchange_values(communicator, counts);
  for (std::size_t r = 0; r < received_triangles.size(); ++r) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < asked[r].size(); ++i) {
      const std::size_t count = received_counts[r][i];
      surface.take(asked[r][i], std::span(received_triangles[r]).subspan(at, count), static_cast<std::uint32_t>(r));
      at += count;
    }
  }
}

/// Gives the vertices beyond the part that faces need a place among its ghosts.
void add_ghosts(const Surface& surface, MeshPart<3>& part, std::vector<VirtualRecord<double, 3>>& records) {
  const std::size_t known = part.global_vertex.size();
  std::unordered_map<std::uint32_t, std::uint32_t> place;
  std::vector<std::uint32_t> fresh;
  for (auto& record : records)
    for (std::uint32_t& v : record.face) {
      if (v < known) continue;
      const auto [at, is_fresh] = place.try_emplace(v, static_cast<std::uint32_t>(known + fresh.size()));
      if (is_fresh) fresh.push_back(v);
      v = at->second;
    }
  // The surface looks at the part, so it is asked before that changes.
  std::vector<std::uint64_t> ids;
  std::vector<std::uint32_t> owners;
  std::vector<Vec3d> points;
  for (const std::uint32_t v : fresh) {
    ids.push_back(surface.global(v));
    owners.push_back(surface.owner(v));
    points.push_back(surface.point(v));
  }
  part.global_vertex.insert(part.global_vertex.end(), ids.begin(), ids.end());
  part.ghost_owner.insert(part.ghost_owner.end(), owners.begin(), owners.end());
  part.mesh.points.insert(part.mesh.points.end(), points.begin(), points.end());
}

}  // namespace

std::vector<VirtualRecord<double, 3>> split_part(Communicator& communicator, MeshPart<3>& part, const Metric& metric) {
  Surface surface(part, metric);
  std::vector<Corner> waiting = obtuse_corners(part, metric);
  std::vector<VirtualRecord<double, 3>> records;
  TriangleUnfolder<Surface> unfolder(surface, SplitLimits{}.metric_contrast);
  while (sum_of_all(communicator, waiting.size()) > 0) {
    std::vector<Corner> later;
    std::unordered_set<std::uint32_t> wanted;
    for (const Corner& corner : waiting) {
      const std::size_t before = records.size();
      surface.missing = none;
      unfolder.split(corner.triangle, corner.corner, [&](const VirtualTriangle& v) {
        records.push_back({surface.vertex(corner.triangle, corner.corner), {v.a, v.b}, {v.ab, v.ax, v.bx}});
      });
      if (surface.missing == none) continue;
      records.resize(before);
      later.push_back(corner);
      wanted.insert(surface.missing);
    }
    ask(communicator, wanted, surface);
    waiting = std::move(later);
  }
  add_ghosts(surface, part, records);
  return records;
}

}  // namespace isochron::ranks
