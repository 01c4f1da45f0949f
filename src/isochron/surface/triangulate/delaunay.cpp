#include "isochron/surface/triangulate/delaunay.h"

#if defined(ISOCHRON_WITH_CGAL)
#include <CGAL/Delaunay_triangulation_3.h>
#include <CGAL/Delaunay_triangulation_cell_base_3.h>
#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#include <CGAL/Triangulation_cell_base_with_info_3.h>
#include <CGAL/Triangulation_vertex_base_with_info_3.h>
#endif

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "isochron/core/parallel.h"
#include "isochron/error.h"

namespace isochron {

#if defined(ISOCHRON_WITH_CGAL)

namespace {

constexpr int unlabelled = -1;

struct CellNote {
  Vec3d centre;
  int label = unlabelled;   // tetrahedra are made without, whatever changes
  std::uint32_t visit = 0;  // the last collection it was taken into
  unsigned char approved = 0;
};

using Kernel = CGAL::Exact_predicates_inexact_constructions_kernel;
using VertexBase = CGAL::Triangulation_vertex_base_with_info_3<VertexId, Kernel>;
using CellBase =
    CGAL::Triangulation_cell_base_with_info_3<CellNote, Kernel, CGAL::Delaunay_triangulation_cell_base_3<Kernel>>;
using Structure = CGAL::Triangulation_data_structure_3<VertexBase, CellBase>;
using Triangulation = CGAL::Delaunay_triangulation_3<Kernel, Structure>;
using Vertex = Triangulation::Vertex_handle;
using Cell = Triangulation::Cell_handle;
using Point = Triangulation::Point;

Point to_cgal(Vec3d p) { return {p.x, p.y, p.z}; }
Vec3d from_cgal(const Point& p) { return {p.x(), p.y(), p.z()}; }

// The corners of a tetrahedron in an order that does not depend on how it came about, and the sign of that order. What
// is computed from them is then the same in every run, to the last bit.
std::pair<std::array<Vec3d, 4>, int> ordered_corners(const Cell& cell) {
  std::array<Vec3d, 4> x;
  for (int k = 0; k < 4; ++k) x[k] = from_cgal(cell->vertex(k)->point());
  const auto before = [](const Vec3d& p, const Vec3d& q) { return std::tie(p.x, p.y, p.z) < std::tie(q.x, q.y, q.z); };
  int sign = 1;
  for (int end = 3; end > 0; --end)
    for (int k = 0; k < end; ++k)
      if (before(x[k + 1], x[k])) {
        std::swap(x[k], x[k + 1]);
        sign = -sign;
      }
  return {x, sign};
}

// Plain arithmetic: which side the centre of a flat tetrahedron falls to does not matter, only that it has a label. The
// centre of one that is flat to rounding is far outside.
Vec3d circumcentre(const Cell& cell) {
  const auto [x, sign] = ordered_corners(cell);
  const Vec3d o = x[0], a = x[1] - o, b = x[2] - o, c = x[3] - o;
  const Vec3d bc = cross(b, c), ca = cross(c, a), ab = cross(a, b);
  const double volume = sign * dot(a, bc);
  const Vec3d sum = static_cast<double>(sign) * (dot(a, a) * bc + dot(b, b) * ca + dot(c, c) * ab);
  const double least = 1e-14 * norm(sum) / std::max({norm(a), norm(b), norm(c)});
  return o + sum / (2 * (volume > least ? volume : least + 1e-300));
}

bool has_far_corner(const Cell& cell) {
  for (int i = 0; i < 4; ++i)
    if (!cell->vertex(i)->info().valid()) return true;
  return false;
}

// Its facets are to be looked at again, from both sides.
void withdraw_approval(const Cell& cell) {
  cell->info().approved = 0;
  for (int i = 0; i < 4; ++i) {
    const Cell other = cell->neighbor(i);
    other->info().approved &= static_cast<unsigned char>(~(1U << other->index(cell)));
  }
}

// Tells the parts of a point's surroundings apart: tetrahedra at the point, joined through facets at the point.
class Surroundings {
 public:
  Surroundings(const Triangulation& tets, Vertex v) : v_(v) {
    tets.incident_cells(v, std::back_inserter(cells_));
    part_.resize(cells_.size());
  }

  // Relabels parts of what should hang together, as long as they are nearer to the surface than the limit. Returns the
  // tetrahedra that changed.
  std::vector<Cell> mend(const LabelField& field, double limit) {
    std::vector<Cell> changed;
    std::vector<int> labels;
    for (const Cell& cell : cells_) labels.push_back(cell->info().label);
    std::sort(labels.begin(), labels.end());
    labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
    if (labels.size() < 2) return changed;
    for (const int label : labels) {
      join([&](const Cell& cell) { return cell->info().label == label; }, field, limit, changed);
      if (labels.size() > 2) join([&](const Cell& cell) { return cell->info().label != label; }, field, limit, changed);
    }
    return changed;
  }

 private:
  [[nodiscard]] std::size_t index_of(const Cell& cell) const {
    return static_cast<std::size_t>(std::find(cells_.begin(), cells_.end(), cell) - cells_.begin());
  }

  // Gives all parts but one away, the nearest to the surface first.
  template <class Belongs>
  void join(const Belongs& belongs, const LabelField& field, double limit, std::vector<Cell>& changed) {
    std::fill(part_.begin(), part_.end(), 0);
    int parts = 0;
    for (std::size_t i = 0; i < cells_.size(); ++i)
      if (part_[i] == 0 && belongs(cells_[i])) flood(i, ++parts, belongs);
    if (parts < 2) return;
    std::vector<std::pair<double, int>> depths(static_cast<std::size_t>(parts));
    for (int part = 1; part <= parts; ++part) depths[static_cast<std::size_t>(part - 1)] = {depth(part, field), part};
    std::sort(depths.begin(), depths.end());
    depths.pop_back();
    for (const auto& [depth, part] : depths)
      if (depth < limit) give_away(part, changed);
  }

  // How far inside its material a part lies; one with a corner far away cannot be given away.
  [[nodiscard]] double depth(int part, const LabelField& field) const {
    double deepest = 0;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      if (part_[i] != part) continue;
      if (has_far_corner(cells_[i])) return std::numeric_limits<double>::infinity();
      Vec3d centroid;
      for (const Vec3d& x : ordered_corners(cells_[i]).first) centroid += 0.25 * x;
      deepest = std::max(deepest, field.look(centroid).clearance);
    }
    return deepest;
  }

  template <class Belongs>
  void flood(std::size_t start, int part, const Belongs& belongs) {
    std::vector<std::size_t> stack{start};
    part_[start] = part;
    while (!stack.empty()) {
      const Cell cell = cells_[stack.back()];
      stack.pop_back();
      for_neighbours(cell, [&](std::size_t next) {
        if (part_[next] != 0 || !belongs(cells_[next])) return;
        part_[next] = part;
        stack.push_back(next);
      });
    }
  }

  template <class Body>
  void for_neighbours(const Cell& cell, const Body& body) const {
    const int apex = cell->index(v_);
    for (int i = 0; i < 4; ++i)
      if (i != apex) body(index_of(cell->neighbor(i)));
  }

  // The label most of the neighbours have, by facets; the smaller one when two are equal.
  void give_away(int part, std::vector<Cell>& changed) {
    std::vector<int> around;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      if (part_[i] != part) continue;
      for_neighbours(cells_[i], [&](std::size_t next) {
        if (part_[next] != part) around.push_back(cells_[next]->info().label);
      });
    }
    std::sort(around.begin(), around.end());
    int best = 0;
    std::ptrdiff_t most = 0;
    for (auto run = around.begin(); run != around.end();) {
      const auto end = std::upper_bound(run, around.end(), *run);
      if (end - run > most) {
        most = end - run;
        best = *run;
      }
      run = end;
    }
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      if (part_[i] != part) continue;
      cells_[i]->info().label = best;
      changed.push_back(cells_[i]);
    }
  }

  Vertex v_;
  std::vector<Cell> cells_;
  std::vector<int> part_;
};

}  // namespace

bool delaunay_available() { return true; }
void require_delaunay() {}

struct Delaunay::Tetrahedra {
  Triangulation cells;
  std::vector<Vertex> vertices;
  std::vector<VertexId> changed;  // corners of tetrahedra without label; all when `everything` is set
  bool everything = true;
  std::uint32_t visit = 0;

  // Where a search for something close to this point begins.
  [[nodiscard]] Cell start_at(VertexId near) const {
    const bool known = near.valid() && near.index() < vertices.size() && vertices[near.index()] != Vertex();
    return known ? vertices[near.index()]->cell() : Cell();
  }

  // To be called around a change of v: before its removal, after its insertion.
  void note_change(Vertex v) {
    std::vector<Vertex> around;
    cells.finite_adjacent_vertices(v, std::back_inserter(around));
    around.push_back(v);
    for (const Vertex w : around)
      if (w->info().valid()) changed.push_back(w->info());
  }

  // The tetrahedra at these points, each once.
  std::vector<Cell> cells_at(std::span<const VertexId> points) {
    ++visit;
    std::vector<Cell> result, around;
    for (const VertexId v : points) {
      if (v.index() >= vertices.size() || vertices[v.index()] == Vertex()) continue;
      around.clear();
      cells.incident_cells(vertices[v.index()], std::back_inserter(around));
      for (const Cell cell : around)
        if (std::exchange(cell->info().visit, visit) != visit) result.push_back(cell);
    }
    return result;
  }

  static DelaunayFacet facet(const Cell& cell, int opposite) {
    DelaunayFacet result;
    const Cell other = cell->neighbor(opposite);
    for (int k = 0; k < 3; ++k) {
      const Vertex v = cell->vertex(CGAL::Triangulation_utils_3::vertex_triple_index(opposite, k));
      result.corners[2 - k] = v->info();
    }
    result.labels = {cell->info().label, other->info().label};
    result.centres = {cell->info().centre, other->info().centre};
    result.approved = (cell->info().approved >> opposite & 1) != 0;
    result.place = reinterpret_cast<std::uintptr_t>(&*cell) | static_cast<std::uintptr_t>(opposite);
    std::rotate(result.corners.begin(), std::min_element(result.corners.begin(), result.corners.end()),
                result.corners.end());
    return result;
  }

  // By their corners: the order of tetrahedra in memory is another in every run.
  static void sort(std::vector<DelaunayFacet>& facets) {
    std::sort(facets.begin(), facets.end(),
              [](const DelaunayFacet& a, const DelaunayFacet& b) { return a.corners < b.corners; });
  }
};

Delaunay::Delaunay(std::span<const Vec3d> points, Vec3d extent) : tets_(std::make_unique<Tetrahedra>()) {
  const double far = 8 * std::max({extent.x, extent.y, extent.z});
  for (int corner = 0; corner < 8; ++corner) {
    // Not a perfect cube: eight points on a sphere would give flat tetrahedra.
    const double reach = far * (1 + 0.01 * corner);
    const Vec3d p =
        0.5 * extent + Vec3d{corner & 1 ? reach : -reach, corner & 2 ? reach : -reach, corner & 4 ? reach : -reach};
    tets_->cells.insert(to_cgal(p));  // without id
  }
  std::vector<std::pair<Point, VertexId>> with_ids(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) with_ids[i] = {to_cgal(points[i]), VertexId(i)};
  tets_->cells.insert(with_ids.begin(), with_ids.end());
  tets_->vertices.resize(points.size());
  for (const Vertex v : tets_->cells.finite_vertex_handles())
    if (v->info().valid()) tets_->vertices[v->info().index()] = v;
}

Delaunay::~Delaunay() = default;

VertexId Delaunay::insert(Vec3d p, VertexId near) {
  const std::size_t before = tets_->cells.number_of_vertices();
  const Vertex v = tets_->cells.insert(to_cgal(p), tets_->start_at(near));
  if (tets_->cells.number_of_vertices() == before) return {};
  v->info() = VertexId(tets_->vertices.size());
  tets_->vertices.push_back(v);
  tets_->note_change(v);
  return VertexId(tets_->vertices.size() - 1);
}

void Delaunay::remove(VertexId v) {
  tets_->note_change(tets_->vertices[v.index()]);
  tets_->cells.remove(tets_->vertices[v.index()]);
  tets_->vertices[v.index()] = Vertex();
}

bool Delaunay::move(VertexId v, Vec3d p) {
  const Vertex old = tets_->vertices[v.index()];
  if (from_cgal(old->point()) == p) return true;
  // The new point first: its tetrahedra lie where the search for the old one's place starts.
  const std::size_t before = tets_->cells.number_of_vertices();
  const Vertex moved = tets_->cells.insert(to_cgal(p), old->cell());
  const bool placed = tets_->cells.number_of_vertices() > before;
  if (placed) {
    moved->info() = v;
    tets_->note_change(moved);
  }
  tets_->note_change(old);
  tets_->cells.remove(old);
  tets_->vertices[v.index()] = placed ? moved : Vertex();
  return placed;
}

bool Delaunay::contains(VertexId v) const {
  return v.valid() && v.index() < tets_->vertices.size() && tets_->vertices[v.index()] != Vertex();
}

Vec3d Delaunay::point(VertexId v) const { return from_cgal(tets_->vertices[v.index()]->point()); }

VertexId Delaunay::nearest(Vec3d p, VertexId near) const {
  return tets_->cells.nearest_vertex(to_cgal(p), tets_->start_at(near))->info();
}

std::size_t Delaunay::id_count() const { return tets_->vertices.size(); }

std::vector<VertexId> Delaunay::label(const LabelField& field, int threads) {
  std::vector<VertexId> changed;
  std::vector<Cell> cells;
  if (std::exchange(tets_->everything, false)) {
    for (const Cell cell : tets_->cells.all_cell_handles()) cells.push_back(cell);
    for (std::size_t i = 0; i < id_count(); ++i)
      if (contains(VertexId(i))) changed.push_back(VertexId(i));
  } else {
    std::sort(tets_->changed.begin(), tets_->changed.end());
    tets_->changed.erase(std::unique(tets_->changed.begin(), tets_->changed.end()), tets_->changed.end());
    for (const VertexId v : tets_->changed)
      if (contains(v)) changed.push_back(v);
    cells = tets_->cells_at(changed);
  }
  tets_->changed.clear();
  std::erase_if(cells, [](const Cell& cell) { return cell->info().label != unlabelled; });
  for (const Cell& cell : cells) withdraw_approval(cell);
  parallel_for(threads, cells.size(), [&](std::size_t i) {
    CellNote& note = cells[i]->info();
    const bool infinite = tets_->cells.is_infinite(cells[i]);
    note.centre = infinite ? 16 * field.extent() : circumcentre(cells[i]);
    note.label = infinite || has_far_corner(cells[i]) ? 0 : field.look(note.centre).label;
  });
  return changed;
}

std::vector<DelaunayFacet> Delaunay::facets() const {
  std::vector<DelaunayFacet> result;
  for (const Cell cell : tets_->cells.all_cell_handles()) {
    if (cell->info().label == 0) continue;
    for (int i = 0; i < 4; ++i)
      if (cell->neighbor(i)->info().label < cell->info().label) result.push_back(Tetrahedra::facet(cell, i));
  }
  Tetrahedra::sort(result);
  return result;
}

std::vector<DelaunayFacet> Delaunay::facets_at(std::span<const VertexId> points) {
  std::vector<bool> asked(id_count());
  for (const VertexId v : points) asked[v.index()] = true;
  std::vector<DelaunayFacet> result;
  for (const Cell cell : tets_->cells_at(points)) {
    for (int i = 0; i < 4; ++i) {
      if (cell->neighbor(i)->info().label >= cell->info().label) continue;
      const DelaunayFacet facet = Tetrahedra::facet(cell, i);
      if (std::any_of(facet.corners.begin(), facet.corners.end(), [&](VertexId v) { return asked[v.index()]; }))
        result.push_back(facet);
    }
  }
  Tetrahedra::sort(result);
  return result;
}

std::vector<DelaunayFacet> Delaunay::inner_facets(std::span<const VertexId> points,
                                                  const std::function<bool(const DelaunayFacet&)>& wanted) {
  std::vector<DelaunayFacet> result;
  for (const Cell cell : tets_->cells_at(points)) {
    for (int i = 0; i < 4; ++i) {
      const Cell other = cell->neighbor(i);
      if (cell->info().label != other->info().label || (cell->info().approved >> i & 1) != 0) continue;
      DelaunayFacet facet = Tetrahedra::facet(cell, i);
      // Which of its sides comes first is chance.
      if (facet.corners[2] < facet.corners[1]) {
        std::swap(facet.corners[1], facet.corners[2]);
        std::swap(facet.centres[0], facet.centres[1]);
      }
      const bool near = std::all_of(facet.corners.begin(), facet.corners.end(), [](VertexId v) { return v.valid(); });
      // The other side of the facet need not be looked at any more.
      other->info().approved |= static_cast<unsigned char>(1U << other->index(cell));
      if (near && wanted(facet)) result.push_back(facet);
      else approve(facet);
    }
  }
  Tetrahedra::sort(result);
  return result;
}

void Delaunay::approve(const DelaunayFacet& facet) {
  auto* cell = reinterpret_cast<Structure::Cell*>(static_cast<std::uintptr_t>(facet.place & ~std::uint64_t{3}));
  cell->info().approved |= static_cast<unsigned char>(1U << (facet.place & 3));
}

std::size_t Delaunay::untangle(std::span<const VertexId> points, const LabelField& field,
                               const std::function<double(VertexId)>& limit) {
  std::size_t mended = 0;
  for (const VertexId v : points) {
    if (!contains(v)) continue;
    const std::vector<Cell> changed = Surroundings(tets_->cells, tets_->vertices[v.index()]).mend(field, limit(v));
    mended += changed.empty() ? 0 : 1;
    for (const Cell& cell : changed) {
      withdraw_approval(cell);
      for (int i = 0; i < 4; ++i) tets_->changed.push_back(cell->vertex(i)->info());
    }
  }
  return mended;
}

#else  // the constructor throws, so no other member is ever called

bool delaunay_available() { return false; }

void require_delaunay() {
  throw RuntimeError(
      "surfaces cannot be triangulated (this build is without CGAL); install libcgal-dev and build again with "
      "-DISOCHRON_WITH_CGAL=ON");
}

struct Delaunay::Tetrahedra {};

Delaunay::Delaunay(std::span<const Vec3d>, Vec3d) { require_delaunay(); }
Delaunay::~Delaunay() = default;
VertexId Delaunay::insert(Vec3d, VertexId) { return {}; }
void Delaunay::remove(VertexId) {}
bool Delaunay::move(VertexId, Vec3d) { return false; }
bool Delaunay::contains(VertexId) const { return false; }
Vec3d Delaunay::point(VertexId) const { return {}; }
VertexId Delaunay::nearest(Vec3d, VertexId) const { return {}; }
std::size_t Delaunay::id_count() const { return 0; }
std::vector<VertexId> Delaunay::label(const LabelField&, int) { return {}; }
std::vector<DelaunayFacet> Delaunay::facets() const { return {}; }
std::vector<DelaunayFacet> Delaunay::facets_at(std::span<const VertexId>) { return {}; }
std::vector<DelaunayFacet> Delaunay::inner_facets(std::span<const VertexId>,
                                                  const std::function<bool(const DelaunayFacet&)>&) {
  return {};
}
void Delaunay::approve(const DelaunayFacet&) {}
std::size_t Delaunay::untangle(std::span<const VertexId>, const LabelField&, const std::function<double(VertexId)>&) {
  return 0;
}

#endif

}  // namespace isochron
