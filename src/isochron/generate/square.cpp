#include "isochron/generate.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "isochron/error.h"
#include "isochron/generate/check.h"
#include "isochron/generate/lattice.h"
#include "isochron/mesh/adjacency.h"

namespace isochron {
namespace {

/// Corners: 0 at the cell's origin, 1 along x, 2 along y, 3 opposite.
constexpr CutLattice<3>::Cell along_diagonal{{{0, 1, 3}, {0, 3, 2}}};
constexpr CutLattice<3>::Cell across_diagonal{{{0, 1, 2}, {1, 3, 2}}};

CutLattice<3> lattice_of(const SquareOptions& options, std::size_t most) {
  const std::size_t n = options.n;
  if (n < 2 || n > most)
    throw UsageError(fmt::format(
        "a square cannot have {} vertices a side (it needs corners, and ids for all of them); choose 2 to {}", n,
        most));
  require_positive("extent", options.extent);
  require_jitter(options.jitter);
  CutLattice<3> lattice;
  const double edge = options.extent / static_cast<double>(n - 1);
  lattice.shape = {n, n, 1};
  lattice.edge = {edge, edge, 0};
  lattice.cells = {along_diagonal, options.pattern == SquarePattern::alternating ? across_diagonal : along_diagonal};
  lattice.jitter = options.jitter;
  lattice.seed = options.seed;
  return lattice;
}

}  // namespace

TriangleMesh generate_square(const SquareOptions& options) { return lattice_mesh(lattice_of(options, 65535)); }

MeshPart<3> generate_square_part(const SquareOptions& options, const PartChoice& choice) {
  return lattice_part(lattice_of(options, std::size_t{1} << 28), choice);
}

namespace {

/// Flips edges of a flat triangle mesh at random while every triangle stays well-shaped and no valence is extreme.
class Flipper {
 public:
  Flipper(TriangleMesh& mesh, std::size_t max_valence) : mesh_(mesh), max_valence_(max_valence) {
    const Adjacency adjacency = build_adjacency(mesh);
    neighbors_.resize(mesh.element_count());
    valence_.resize(mesh.vertex_count());
    for (std::size_t v = 0; v < valence_.size(); ++v)
      valence_[v] = static_cast<std::uint32_t>(adjacency.valence(VertexId(v)));
    for (std::size_t t = 0; t < neighbors_.size(); ++t)
      for (int k = 0; k < 3; ++k) neighbors_[t][k] = across(adjacency, ElementId(t), k);
  }

  /// Swaps the diagonal of the two triangles at the edge of `t` opposite corner `k`, where that is allowed.
  void try_flip(ElementId t, int k) {
    const ElementId other = neighbors_[t.index()][k];
    if (!other.valid()) return;
    auto& mine = mesh_.elements[t.index()];
    auto& theirs = mesh_.elements[other.index()];
    const VertexId p = mine[k], a = mine[(k + 1) % 3], b = mine[(k + 2) % 3];
    const int opposite = corner_across(other, t);
    const VertexId q = theirs[opposite];
    constexpr std::uint32_t min_valence = 4;
    if (valence_[a.index()] <= min_valence || valence_[b.index()] <= min_valence ||
        valence_[p.index()] >= max_valence_ || valence_[q.index()] >= max_valence_)
      return;
    constexpr double min_quality = 0.3;
    if (quality({p, a, q}) < min_quality || quality({p, q, b}) < min_quality) return;

    const ElementId beyond_bp = neighbors_[t.index()][(k + 1) % 3], beyond_pa = neighbors_[t.index()][(k + 2) % 3];
    const ElementId beyond_aq = neighbors_[other.index()][(opposite + 1) % 3];
    const ElementId beyond_qb = neighbors_[other.index()][(opposite + 2) % 3];
    replace(beyond_aq, other, t);
    replace(beyond_bp, t, other);
    mine = {p, a, q};
    theirs = {p, q, b};
    neighbors_[t.index()] = {beyond_aq, other, beyond_pa};
    neighbors_[other.index()] = {beyond_qb, beyond_bp, t};
    --valence_[a.index()];
    --valence_[b.index()];
    ++valence_[p.index()];
    ++valence_[q.index()];
  }

 private:
  [[nodiscard]] ElementId across(const Adjacency& adjacency, ElementId t, int k) const {
    const auto& element = mesh_.element(t);
    for (const std::uint32_t incidence : adjacency.at(element[(k + 1) % 3])) {
      const ElementId candidate = Adjacency::element_of(incidence);
      const auto& corners = mesh_.element(candidate);
      if (candidate != t && std::find(corners.begin(), corners.end(), element[(k + 2) % 3]) != corners.end())
        return candidate;
    }
    return {};
  }
  [[nodiscard]] int corner_across(ElementId t, ElementId neighbor) const {
    const auto& n = neighbors_[t.index()];
    return static_cast<int>(std::find(n.begin(), n.end(), neighbor) - n.begin());
  }
  void replace(ElementId t, ElementId from, ElementId to) {
    if (t.valid()) neighbors_[t.index()][corner_across(t, from)] = to;
  }
  /// 1 for an equilateral triangle, negative for an inverted one.
  [[nodiscard]] double quality(const TriangleMesh::Element& element) const {
    const Vec3d a = mesh_.point(element[0]), b = mesh_.point(element[1]), c = mesh_.point(element[2]);
    return 2 * std::sqrt(3.0) * signed_measure(mesh_, element) /
           (dot(b - a, b - a) + dot(c - b, c - b) + dot(a - c, a - c));
  }

  TriangleMesh& mesh_;
  std::size_t max_valence_;
  std::vector<std::array<ElementId, 3>> neighbors_;
  std::vector<std::uint32_t> valence_;
};

void check_options(const IrregularSquareOptions& options) {
  if (options.n < 2 || options.n > 20000)
    throw UsageError(fmt::format(
        "a square cannot have {} vertices a side (it needs corners, and ids for all of them); choose 2 to 20000",
        options.n));
  require_positive("extent", options.extent);
  require_jitter(options.jitter);
  require_share("share of extra vertices", options.extra);
  if (!(options.flips >= 0 && options.flips <= 100))
    throw UsageError(fmt::format(
        "{} flips per triangle are not possible (more than a few change nothing); choose 0 to 100", options.flips));
}

}  // namespace

TriangleMesh generate_irregular_square(const IrregularSquareOptions& options) {
  check_options(options);
  const std::size_t n = options.n, cells = (n - 1) * (n - 1);
  const double edge = options.extent / static_cast<double>(n - 1);
  const double reach = options.jitter * edge;
  Random random(options.seed);
  TriangleMesh mesh;
  std::vector<Vec3d> moves;
  const auto add_point = [&](double x, double y, bool interior) {
    mesh.points.push_back({edge * x, edge * y, 0});
    moves.push_back(interior ? random_displacement(random, {reach, reach, 0}) : Vec3d{});
  };

  // Exactly `extra` cells get a vertex, each set of cells equally likely; ids stay local, row by row.
  std::size_t extra = static_cast<std::size_t>(std::llround(options.extra * static_cast<double>(cells)));
  std::size_t cells_left = cells;
  std::vector<std::uint32_t> row_start(n);
  std::vector<VertexId> middle(cells);
  for (std::size_t j = 0; j < n; ++j) {
    row_start[j] = static_cast<std::uint32_t>(mesh.points.size());
    for (std::size_t i = 0; i < n; ++i)
      add_point(static_cast<double>(i), static_cast<double>(j), i > 0 && j > 0 && i + 1 < n && j + 1 < n);
    for (std::size_t i = 0; j + 1 < n && i + 1 < n; ++i) {
      if (random.below(cells_left--) >= extra) continue;
      --extra;
      middle[j * (n - 1) + i] = VertexId(mesh.points.size());
      add_point(static_cast<double>(i) + 0.5, static_cast<double>(j) + 0.5, true);
    }
  }
  for (std::size_t j = 0; j + 1 < n; ++j)
    for (std::size_t i = 0; i + 1 < n; ++i) {
      const std::array<VertexId, 4> ring{VertexId(row_start[j] + i), VertexId(row_start[j] + i + 1),
                                         VertexId(row_start[j + 1] + i + 1), VertexId(row_start[j + 1] + i)};
      const VertexId inside = middle[j * (n - 1) + i];
      if (inside.valid()) {
        for (std::size_t k = 0; k < 4; ++k) mesh.elements.push_back({ring[k], ring[(k + 1) % 4], inside});
      } else {
        const std::size_t first = random.below(2);
        mesh.elements.push_back({ring[first], ring[first + 1], ring[first + 2]});
        mesh.elements.push_back({ring[first], ring[first + 2], ring[(first + 3) % 4]});
      }
    }
  if (options.jitter > 0) displace(mesh, std::move(moves));

  Flipper flipper(mesh, options.max_valence);
  const auto tries = static_cast<std::size_t>(options.flips * static_cast<double>(mesh.element_count()));
  for (std::size_t i = 0; i < tries; ++i) {
    const ElementId t(random.below(mesh.element_count()));
    flipper.try_flip(t, static_cast<int>(random.below(3)));
  }
  return mesh;
}

}  // namespace isochron
