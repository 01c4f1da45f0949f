#include "isochron/generate.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include <fmt/format.h>

#include "isochron/core/parallel.h"
#include "isochron/error.h"
#include "isochron/generate/check.h"
#include "isochron/parts.h"

namespace isochron {
namespace {

constexpr double pi = std::numbers::pi;
/// Radius of the patch over the apex, as a share of the way from apex to base.
constexpr double patch_radius = 0.35;

/// The wall: ellipsoidal layers at depth t, 0 inside to 1 outside, each cut off at the base.
class Wall {
 public:
  explicit Wall(const VentricleOptions& options) : o_(options), middle_base_(base_angle(0.5)) {
    // The angle that belongs to each share of the arc length in the middle of the wall.
    constexpr std::size_t steps = 4096;
    std::vector<double> length(steps + 1, 0);
    const auto speed = [&](double mu) {
      return std::hypot(short_axis(0.5) * std::cos(mu), long_axis(0.5) * std::sin(mu));
    };
    const double step = middle_base_ / steps;
    for (std::size_t i = 0; i < steps; ++i)
      length[i + 1] = length[i] + step * speed((static_cast<double>(i) + 0.5) * step);
    arc_length_ = length[steps];
    angle_.resize(steps + 1);
    for (std::size_t i = 0, at = 0; i <= steps; ++i) {
      const double wanted = arc_length_ * static_cast<double>(i) / steps;
      while (at + 1 < steps && length[at + 1] < wanted) ++at;
      const double part = (wanted - length[at]) / (length[at + 1] - length[at]);
      angle_[i] = (static_cast<double>(at) + part) / steps;
    }
  }

  [[nodiscard]] double short_axis(double t) const { return o_.endo_short + (o_.epi_short - o_.endo_short) * t; }
  [[nodiscard]] double long_axis(double t) const { return o_.endo_long + (o_.epi_long - o_.endo_long) * t; }
  /// From apex to base in the middle of the wall.
  [[nodiscard]] double arc_length() const { return arc_length_; }

  /// The point at depth t over the place (x, y) of the unit disc, whose rim is the base.
  [[nodiscard]] Vec3d point(double x, double y, double t) const {
    const double rho = std::hypot(x, y);
    const double place = std::min(rho, 1.0) * static_cast<double>(angle_.size() - 1);
    const auto i = std::min(static_cast<std::size_t>(place), angle_.size() - 2);
    const double share = angle_[i] + (angle_[i + 1] - angle_[i]) * (place - static_cast<double>(i));
    const double mu = share * base_angle(t);
    const double radius = rho > 0 ? short_axis(t) * std::sin(mu) / rho : 0;
    return {radius * x, radius * y, -long_axis(t) * std::cos(mu)};
  }

  /// The depth at a point of the wall near depth `guess`.
  [[nodiscard]] double depth(const Vec3d& p, double guess) const {
    double t = guess;
    for (int i = 0; i < 3; ++i) {  // Newton; the guess is already right to a fraction of an element
      const double a = short_axis(t), c = long_axis(t), radial = (p.x * p.x + p.y * p.y) / (a * a),
                   axial = p.z * p.z / (c * c);
      const double slope =
          -2 * (radial * (o_.epi_short - o_.endo_short) / a + axial * (o_.epi_long - o_.endo_long) / c);
      t -= (radial + axial - 1) / slope;
    }
    return t;
  }

  /// Outward normal of the layer through a point at depth t.
  [[nodiscard]] Vec3d normal(const Vec3d& p, double t) const {
    const double a = short_axis(t), c = long_axis(t);
    const Vec3d gradient{p.x / (a * a), p.y / (a * a), p.z / (c * c)};
    return gradient / norm(gradient);
  }

 private:
  [[nodiscard]] double base_angle(double t) const { return std::acos(-o_.base / long_axis(t)); }

  const VentricleOptions& o_;
  double middle_base_;
  double arc_length_ = 0;
  std::vector<double> angle_;
};

/// How many cells: `patch` a side of the patch (and a quarter of the ring), `ring` along the ring, `layers` through the
/// wall.
struct Counts {
  std::size_t patch, ring, layers;
};

Counts choose_counts(const VentricleOptions& options, const Wall& wall, double max_elements) {
  const double around = 0.85 * 2 * pi * wall.short_axis(0.5);  // mean over the ring
  const double along = (1 - patch_radius) * wall.arc_length();
  const double through = (options.epi_short - options.endo_short + options.epi_long - options.endo_long) / 2;
  const double volume = (around * around / 16 + around * along) * through;
  const double wanted = static_cast<double>(options.elements) / 6;
  const double h = options.elements > 0 ? std::cbrt(volume / wanted) : options.edge;
  const auto cells = [&](double length, double least) { return std::max(least, std::round(length / h)); };
  const double patch = 2 * cells(around / 8, 1), layers = cells(through, 1);  // even: the apex is a vertex
  double ring = cells(along, 2);
  if (options.elements > 0)  // what rounding took elsewhere
    ring = std::max(2.0, std::round((wanted / layers - patch * patch) / (4 * patch)));
  if (!(6 * (patch * patch + 4 * patch * ring) * layers < max_elements))
    throw UsageError(
        fmt::format("cells of {:.3g} mm make more than {:.3g} tetrahedra (ids and memory run out); choose larger cells",
                    h, max_elements));
  return {static_cast<std::size_t>(patch), static_cast<std::size_t>(ring), static_cast<std::size_t>(layers)};
}

/// The unit disc as triangles: a rounded square patch, row by row, then the rings outwards. Counter-clockwise. Nothing
/// is stored, so that a part can ask for what it needs.
class Disc {
 public:
  explicit Disc(const Counts& counts)
      : m_(counts.patch), row_(counts.patch + 1), around_(4 * counts.patch), rings_(counts.ring) {}

  [[nodiscard]] std::uint64_t vertex_count() const { return row_ * row_ + rings_ * around_; }
  [[nodiscard]] std::uint64_t cell_count() const { return m_ * m_ + rings_ * around_; }
  [[nodiscard]] std::uint64_t patch_vertices() const { return row_ * row_; }
  [[nodiscard]] std::uint64_t row() const { return row_; }
  [[nodiscard]] std::uint64_t around() const { return around_; }
  [[nodiscard]] std::uint64_t rings() const { return rings_; }

  [[nodiscard]] Vec3d place(std::uint64_t v) const {
    if (v < patch_vertices()) return patch_place(v % row_, v / row_);
    const std::uint64_t ring = (v - patch_vertices()) / around_ + 1, k = (v - patch_vertices()) % around_;
    const double angle = pi / 2 * static_cast<double>(k) / static_cast<double>(m_) - pi / 4;
    const double out = static_cast<double>(ring) / static_cast<double>(rings_);
    return (1 - out) * place(rim_of_patch(k)) + out * Vec3d{std::cos(angle), std::sin(angle), 0};
  }
  /// The cells of the patch, row by row, then those between ring c and c + 1 (the patch's rim is ring 0).
  [[nodiscard]] std::uint64_t patch_cell(std::uint64_t i, std::uint64_t j) const { return j * m_ + i; }
  [[nodiscard]] std::uint64_t ring_cell(std::uint64_t c, std::uint64_t k) const {
    return m_ * m_ + c * around_ + k % around_;
  }
  /// The two triangles of a cell, along its shorter diagonal.
  [[nodiscard]] std::array<std::array<std::uint64_t, 3>, 2> triangles(std::uint64_t cell) const {
    const auto [a, b, c, d] = corners(cell);
    if (norm(place(c) - place(a)) <= norm(place(d) - place(b))) return {{{a, b, c}, {a, c, d}}};
    return {{{a, b, d}, {b, c, d}}};
  }

 private:
  [[nodiscard]] std::array<std::uint64_t, 4> corners(std::uint64_t cell) const {
    if (cell < m_ * m_) {
      const std::uint64_t v = cell / m_ * row_ + cell % m_;
      return {v, v + 1, v + row_ + 1, v + row_};
    }
    const std::uint64_t c = (cell - m_ * m_) / around_, k = (cell - m_ * m_) % around_;
    return {on_ring(c, k), on_ring(c + 1, k), on_ring(c + 1, k + 1), on_ring(c, k + 1)};
  }
  [[nodiscard]] std::uint64_t on_ring(std::uint64_t ring, std::uint64_t k) const {
    return ring == 0 ? rim_of_patch(k) : patch_vertices() + (ring - 1) * around_ + k % around_;
  }
  [[nodiscard]] std::uint64_t rim_of_patch(std::uint64_t k) const {
    const std::uint64_t i = k % m_;
    switch (k / m_ % 4) {
      case 0: return i * row_ + m_;
      case 1: return m_ * row_ + m_ - i;
      case 2: return (m_ - i) * row_;
      default: return i;
    }
  }
  [[nodiscard]] Vec3d patch_place(std::uint64_t i, std::uint64_t j) const {
    const double x = 2 * static_cast<double>(i) / static_cast<double>(m_) - 1;
    const double y = 2 * static_cast<double>(j) / static_cast<double>(m_) - 1;
    // Halfway between square and circle the patch's corners have about the 120° that three cells share best.
    const double r = std::max(std::abs(x), std::abs(y));
    const double angle = r > 0 ? pi / 4 * std::min(std::abs(x), std::abs(y)) / r : 0;
    const double major = r * std::cos(angle), minor = r * std::sin(angle);
    const bool steep = std::abs(y) > std::abs(x);
    const Vec3d round{std::copysign(steep ? minor : major, x), std::copysign(steep ? major : minor, y), 0};
    return patch_radius * (0.5 * round + 0.5 * 0.85 * Vec3d{x, y, 0});
  }

  std::uint64_t m_, row_, around_, rings_;
};

/// The column of prisms over a triangle of the disc, each prism three tetrahedra. A prism's side is cut from its
/// lower-numbered edge at the inner layer to the other at the outer one, so that columns fit together. Calls `take`
/// with the vertices of each tetrahedron.
template <class Take>
void for_each_tet(std::array<std::uint64_t, 3> v, std::uint64_t layers, std::uint64_t first_layer,
                  std::uint64_t last_layer, Take&& take) {
  using Tet = std::array<std::uint64_t, 4>;
  bool even = true;
  for (const auto& [a, b] : {std::array{0, 1}, std::array{1, 2}, std::array{0, 1}})
    if (v[b] < v[a]) {
      std::swap(v[a], v[b]);
      even = !even;
    }
  for (std::uint64_t layer = first_layer; layer < last_layer; ++layer) {
    std::array<std::uint64_t, 3> in, out;
    for (int k = 0; k < 3; ++k) {
      in[k] = v[k] * (layers + 1) + layer;
      out[k] = in[k] + 1;
    }
    // Towards the apex "outward" is −z, which turns the disc's orientation round.
    for (Tet tet :
         {Tet{in[0], in[1], in[2], out[2]}, Tet{in[0], in[1], out[2], out[1]}, Tet{in[0], out[1], out[2], out[0]}}) {
      if (even) std::swap(tet[1], tet[2]);
      take(tet);
    }
  }
}

/// Where a vertex of a column is, at layer `layer` of `layers`. `Heart` is a ventricle or a part of one.
template <class Heart>
void place_vertex(const Wall& wall, const Vec3d& place, std::uint64_t layer, std::uint64_t layers, std::size_t v,
                  TetMesh& mesh, Heart& heart) {
  const double t = static_cast<double>(layer) / static_cast<double>(layers);
  mesh.points[v] = wall.point(place.x, place.y, t);
  heart.transmural[v] = static_cast<float>(t);
  heart.apicobasal[v] = static_cast<float>(std::min(1.0, std::hypot(place.x, place.y)));
}

template <class Heart>
void add_fibers(const VentricleOptions& options, const Wall& wall, const TetMesh& mesh, Heart& heart) {
  const auto narrow = [](const Vec3d& v) {
    return Vec3f{static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z)};
  };
  heart.fiber.resize(mesh.element_count());
  heart.sheet.resize(mesh.element_count());
  parallel_for(options.threads, mesh.element_count(), [&](std::size_t e) {
    Vec3d center;
    double t = 0;
    for (const VertexId v : mesh.elements[e]) {
      center += 0.25 * mesh.point(v);
      t += 0.25 * static_cast<double>(heart.transmural[v.index()]);
    }
    t = wall.depth(center, t);
    const Vec3d outward = wall.normal(center, t);
    const double radius = std::hypot(center.x, center.y);
    const Vec3d around = radius > 0 ? Vec3d{-center.y / radius, center.x / radius, 0} : Vec3d{1, 0, 0};
    const double angle = (options.helix_endo + (options.helix_epi - options.helix_endo) * t) * pi / 180;
    heart.fiber[e] = narrow(std::cos(angle) * around + std::sin(angle) * cross(outward, around));
    heart.sheet[e] = narrow(outward);
  });
}

void check_options(const VentricleOptions& o) {
  if (!(o.endo_short > 0 && o.endo_long > 0 && o.epi_short > o.endo_short && o.epi_long > o.endo_long))
    throw UsageError(
        fmt::format("half-axes {} and {} inside, {} and {} outside leave no wall (each outer one must be larger); give "
                    "positive numbers, larger outside",
                    o.endo_short, o.endo_long, o.epi_short, o.epi_long));
  if (!(std::abs(o.base) < 0.95 * o.endo_long))
    throw UsageError(
        fmt::format("a base at {} would cut at or beyond an end (the inner half-axis is {}); choose between "
                    "{:.4g} and {:.4g}",
                    o.base, o.endo_long, -0.95 * o.endo_long, 0.95 * o.endo_long));
  if (o.elements == 0) require_positive("edge", o.edge);
}

/// A box of vertices: of the patch with axes (layer, i, j), or of the rings with axes (layer, k, ring − 1).
enum Lattices : std::size_t { in_patch, in_rings };

struct Column {
  std::size_t lattice;
  std::uint64_t across, along;
};
Column column_of(const Disc& disc, std::uint64_t v) {
  const std::uint64_t inside = disc.patch_vertices();
  if (v < inside) return {in_patch, v % disc.row(), v / disc.row()};
  return {in_rings, (v - inside) % disc.around(), (v - inside) / disc.around()};
}

/// Calls `take` with every cell of the disc that may touch a column of the box; some may come twice.
template <class Take>
void for_each_cell_near(const Disc& disc, const BlockPartition::Box& own, Take&& take) {
  const auto& [low, high] = own.box;
  const std::uint64_t m = disc.row() - 1, around = disc.around();
  if (own.lattice == in_rings) {
    for (std::uint64_t c = low[2]; c < std::min(high[2] + 1, disc.rings()); ++c)
      for (std::uint64_t k = low[1] + around - 1; k < high[1] + around; ++k) take(disc.ring_cell(c, k));
    return;
  }
  const auto before = [](std::uint64_t i) { return i > 0 ? i - 1 : 0; };
  for (std::uint64_t j = before(low[2]); j < std::min(high[2], m); ++j)
    for (std::uint64_t i = before(low[1]); i < std::min(high[1], m); ++i) take(disc.patch_cell(i, j));
  if (low[1] == 0 || low[2] == 0 || high[1] > m || high[2] > m)  // reaches the rim, round which the first ring lies
    for (std::uint64_t k = 0; k < around; ++k) take(disc.ring_cell(0, k));
}

/// The tetrahedra with a vertex in the box.
void add_touching(const Disc& disc, std::uint64_t layers, const BlockPartition::Box& own,
                  std::vector<GlobalElement<4>>& elements) {
  const auto &low = own.box.low, &high = own.box.high;  // no structured binding: clang 14 has none in lambdas
  const auto over_box = [&](std::uint64_t v) {
    const Column column = column_of(disc, v);
    return column.lattice == own.lattice && own.box.contains({low[0], column.across, column.along});
  };
  const std::uint64_t first = low[0] > 0 ? low[0] - 1 : 0, last = std::min(high[0], layers);
  for_each_cell_near(disc, own, [&](std::uint64_t cell) {
    const auto triangles = disc.triangles(cell);
    for (std::uint64_t half = 0; half < 2; ++half) {
      const auto& triangle = triangles[half];
      if (std::none_of(triangle.begin(), triangle.end(), over_box)) continue;
      std::uint64_t id = 3 * ((2 * cell + half) * layers + first);
      for_each_tet(triangle, layers, first, last, [&](const std::array<std::uint64_t, 4>& tet) {
        const auto in_box = [&](std::uint64_t v) {
          const std::uint64_t layer = v % (layers + 1);
          return layer >= low[0] && layer < high[0] && over_box(v / (layers + 1));
        };
        if (std::any_of(tet.begin(), tet.end(), in_box)) elements.push_back({id, tet});
        ++id;
      });
    }
  });
}

}  // namespace

Ventricle generate_ventricle(const VentricleOptions& options) {
  check_options(options);
  const Wall wall(options);
  const Counts counts = choose_counts(options, wall, 2e8);
  const Disc disc(counts);
  const std::size_t column = counts.layers + 1;
  Ventricle heart;
  heart.mesh.points.resize(disc.vertex_count() * column);
  heart.transmural.resize(heart.mesh.vertex_count());
  heart.apicobasal.resize(heart.mesh.vertex_count());
  parallel_for(options.threads, disc.vertex_count(), [&](std::size_t v) {
    const Vec3d place = disc.place(v);
    for (std::size_t layer = 0; layer < column; ++layer)
      place_vertex(wall, place, layer, counts.layers, v * column + layer, heart.mesh, heart);
  });
  heart.mesh.elements.reserve(6 * disc.cell_count() * counts.layers);
  for (std::uint64_t cell = 0; cell < disc.cell_count(); ++cell)
    for (const auto& triangle : disc.triangles(cell))
      for_each_tet(triangle, counts.layers, 0, counts.layers, [&](const std::array<std::uint64_t, 4>& tet) {
        heart.mesh.elements.push_back({VertexId(tet[0]), VertexId(tet[1]), VertexId(tet[2]), VertexId(tet[3])});
      });
  add_fibers(options, wall, heart.mesh, heart);
  return heart;
}

VentriclePart generate_ventricle_part(const VentricleOptions& options, const PartChoice& choice) {
  check_options(options);
  check_choice(choice);
  const Wall wall(options);
  const Counts counts = choose_counts(options, wall, 1e15);
  const Disc disc(counts);
  const std::uint64_t column = counts.layers + 1;
  const BlockPartition partition({{column, disc.row(), disc.row()}, {column, disc.around(), disc.rings()}},
                                 choice.parts, choice.blocks_per_part);
  const std::vector<BlockPartition::Box> boxes = partition.boxes_of(choice.part);
  std::uint64_t count = 0;
  for (const auto& own : boxes) count += own.box.count();
  check_part_size(count);

  std::vector<std::uint64_t> owned;
  owned.reserve(count);
  std::vector<GlobalElement<4>> elements;
  for (const auto& own : boxes) {
    const std::uint64_t before = own.lattice == in_patch ? 0 : disc.patch_vertices();
    const std::uint64_t width = own.lattice == in_patch ? disc.row() : disc.around();
    for_each_index(own.box,
                   [&](const LatticeIndex& at) { owned.push_back((before + at[2] * width + at[1]) * column + at[0]); });
    add_touching(disc, counts.layers, own, elements);
  }
  VentriclePart heart;
  heart.part = assemble_part(std::move(elements), std::move(owned), [&](std::uint64_t vertex) {
    const Column over = column_of(disc, vertex / column);
    return partition.part_of(over.lattice, {vertex % column, over.across, over.along});
  });
  heart.part.whole_vertices = disc.vertex_count() * column;
  heart.part.whole_elements = 6 * disc.cell_count() * counts.layers;
  TetMesh& mesh = heart.part.mesh;
  heart.transmural.resize(mesh.vertex_count());
  heart.apicobasal.resize(mesh.vertex_count());
  parallel_for(options.threads, mesh.vertex_count(), [&](std::size_t v) {
    const std::uint64_t id = heart.part.global_vertex[v];
    place_vertex(wall, disc.place(id / column), id % column, counts.layers, v, mesh, heart);
  });
  add_fibers(options, wall, mesh, heart);
  return heart;
}

}  // namespace isochron
