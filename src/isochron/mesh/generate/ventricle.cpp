#include "isochron/mesh/generate/ventricle.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include <fmt/format.h>

#include "isochron/core/error.h"
#include "isochron/core/parallel.h"
#include "isochron/mesh/generate/check.h"

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

Counts choose_counts(const VentricleOptions& options, const Wall& wall) {
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
  if (!(6 * (patch * patch + 4 * patch * ring) * layers < 2e8))
    throw UsageError(fmt::format(
        "cells of {:.3g} mm make more than 200 million tetrahedra (ids and memory run out); choose larger cells", h));
  return {static_cast<std::size_t>(patch), static_cast<std::size_t>(ring), static_cast<std::size_t>(layers)};
}

/// The unit disc as triangles: a rounded square patch, row by row, then the rings outwards. Counter-clockwise.
TriangleMesh disc(const Counts& counts) {
  const std::size_t m = counts.patch, row = m + 1;
  TriangleMesh mesh;
  for (std::size_t j = 0; j <= m; ++j)
    for (std::size_t i = 0; i <= m; ++i) {
      const double x = 2 * static_cast<double>(i) / static_cast<double>(m) - 1;
      const double y = 2 * static_cast<double>(j) / static_cast<double>(m) - 1;
      // Halfway between square and circle the patch's corners have about the 120° that three cells share best.
      const double r = std::max(std::abs(x), std::abs(y));
      const double angle = r > 0 ? pi / 4 * std::min(std::abs(x), std::abs(y)) / r : 0;
      const double major = r * std::cos(angle), minor = r * std::sin(angle);
      const bool steep = std::abs(y) > std::abs(x);
      const Vec3d round{std::copysign(steep ? minor : major, x), std::copysign(steep ? major : minor, y), 0};
      mesh.points.push_back(patch_radius * (0.5 * round + 0.5 * 0.85 * Vec3d{x, y, 0}));
    }
  const auto rim_of_patch = [&](std::size_t k) {
    const std::size_t i = k % m;
    switch (k / m % 4) {
      case 0: return VertexId(i * row + m);
      case 1: return VertexId(m * row + m - i);
      case 2: return VertexId((m - i) * row);
      default: return VertexId(i);
    }
  };
  const auto on_ring = [&](std::size_t ring, std::size_t k) {
    return ring == 0 ? rim_of_patch(k) : VertexId(row * row + (ring - 1) * 4 * m + k % (4 * m));
  };
  for (std::size_t ring = 1; ring <= counts.ring; ++ring)
    for (std::size_t k = 0; k < 4 * m; ++k) {
      const double angle = pi / 2 * static_cast<double>(k) / static_cast<double>(m) - pi / 4;
      const double out = static_cast<double>(ring) / static_cast<double>(counts.ring);
      mesh.points.push_back((1 - out) * mesh.point(rim_of_patch(k)) + out * Vec3d{std::cos(angle), std::sin(angle), 0});
    }

  const auto add_cell = [&](VertexId a, VertexId b, VertexId c, VertexId d) {
    if (norm(mesh.point(c) - mesh.point(a)) <= norm(mesh.point(d) - mesh.point(b))) {
      mesh.elements.push_back({a, b, c});
      mesh.elements.push_back({a, c, d});
    } else {
      mesh.elements.push_back({a, b, d});
      mesh.elements.push_back({b, c, d});
    }
  };
  for (std::size_t j = 0; j < m; ++j)
    for (std::size_t i = 0; i < m; ++i)
      add_cell(VertexId(j * row + i), VertexId(j * row + i + 1), VertexId((j + 1) * row + i + 1),
               VertexId((j + 1) * row + i));
  for (std::size_t ring = 0; ring < counts.ring; ++ring)
    for (std::size_t k = 0; k < 4 * m; ++k)
      add_cell(on_ring(ring, k), on_ring(ring + 1, k), on_ring(ring + 1, k + 1), on_ring(ring, k + 1));
  return mesh;
}

/// Each triangle of the disc becomes a column of prisms, and each prism three tetrahedra. A prism's side is cut from
/// its lower-numbered edge at the inner layer to the other at the outer one, so that columns fit together.
void extrude(const TriangleMesh& base, std::size_t layers, TetMesh& mesh) {
  mesh.elements.reserve(3 * base.element_count() * layers);
  for (const auto& triangle : base.elements) {
    std::array<VertexId, 3> v = triangle;
    bool even = true;
    for (const auto& [a, b] : {std::array{0, 1}, std::array{1, 2}, std::array{0, 1}})
      if (v[b] < v[a]) {
        std::swap(v[a], v[b]);
        even = !even;
      }
    for (std::size_t layer = 0; layer < layers; ++layer) {
      std::array<VertexId, 3> in, out;
      for (int k = 0; k < 3; ++k) {
        in[k] = VertexId(v[k].index() * (layers + 1) + layer);
        out[k] = VertexId(in[k].index() + 1);
      }
      // Towards the apex "outward" is −z, which turns the disc's orientation round.
      for (TetMesh::Element tet :
           {TetMesh::Element{in[0], in[1], in[2], out[2]}, TetMesh::Element{in[0], in[1], out[2], out[1]},
            TetMesh::Element{in[0], out[1], out[2], out[0]}}) {
        if (even) std::swap(tet[1], tet[2]);
        mesh.elements.push_back(tet);
      }
    }
  }
}

void add_fibers(const VentricleOptions& options, const Wall& wall, Ventricle& heart) {
  const auto narrow = [](const Vec3d& v) {
    return Vec3f{static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z)};
  };
  heart.fiber.resize(heart.mesh.element_count());
  heart.sheet.resize(heart.mesh.element_count());
  parallel_for(options.threads, heart.mesh.element_count(), [&](std::size_t e) {
    Vec3d center;
    double t = 0;
    for (const VertexId v : heart.mesh.elements[e]) {
      center += 0.25 * heart.mesh.point(v);
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

}  // namespace

Ventricle generate_ventricle(const VentricleOptions& options) {
  check_options(options);
  const Wall wall(options);
  const Counts counts = choose_counts(options, wall);
  const TriangleMesh base = disc(counts);
  const std::size_t column = counts.layers + 1;
  Ventricle heart;
  heart.mesh.points.resize(base.vertex_count() * column);
  heart.transmural.resize(heart.mesh.vertex_count());
  heart.apicobasal.resize(heart.mesh.vertex_count());
  parallel_for(options.threads, base.vertex_count(), [&](std::size_t v) {
    const Vec3d& place = base.points[v];
    for (std::size_t layer = 0; layer < column; ++layer) {
      const double t = static_cast<double>(layer) / static_cast<double>(counts.layers);
      heart.mesh.points[v * column + layer] = wall.point(place.x, place.y, t);
      heart.transmural[v * column + layer] = static_cast<float>(t);
      heart.apicobasal[v * column + layer] = static_cast<float>(std::min(1.0, std::hypot(place.x, place.y)));
    }
  });
  extrude(base, counts.layers, heart.mesh);
  add_fibers(options, wall, heart);
  return heart;
}

}  // namespace isochron
