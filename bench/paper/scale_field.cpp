#include "bench/paper/scale_field.h"

#include <algorithm>
#include <cmath>

#include "bench/paper/cases.h"
#include "isochron/core/error.h"
#include "isochron/generate/cube.h"
#include "isochron/generate/ventricle.h"

namespace isochron::bench {
namespace {

/// The eight nodes around a place with their weights.
struct Corner {
  std::size_t node;
  double weight;
};
std::array<Corner, 8> corners_at(const FieldPatch& patch, const std::array<double, 3>& at) {
  std::array<std::size_t, 3> low{};
  std::array<double, 3> part{};
  for (int a = 0; a < 3; ++a) {
    const double cells = static_cast<double>(patch.cells[a]), x = std::clamp(at[a], 0.0, 1.0) * cells;
    low[a] = std::min(static_cast<std::size_t>(x), patch.cells[a] - 1);
    part[a] = x - static_cast<double>(low[a]);
  }
  const std::size_t row = patch.cells[0] + 1, layer = row * (patch.cells[1] + 1);
  std::array<Corner, 8> corners{};
  for (unsigned c = 0; c < 8; ++c) {
    const std::size_t i = c & 1U, j = c >> 1U & 1U, k = c >> 2U;
    corners[c] = {
        low[0] + i + (low[1] + j) * row + (low[2] + k) * layer,
        (i != 0 ? part[0] : 1 - part[0]) * (j != 0 ? part[1] : 1 - part[1]) * (k != 0 ? part[2] : 1 - part[2])};
  }
  return corners;
}

/// Mean travel time of the elements' edges, the unit of band widths.
double mean_edge_time(const TetMesh& mesh, const Metric& metric) {
  double sum = 0;
  for (std::size_t e = 0; e < mesh.element_count(); ++e) {
    const SymTensor3d m = metric.tensor(ElementId(e));
    const auto& v = mesh.elements[e];
    for (const auto& [a, b] : edge_corners<4>()) {
      const Vec3d edge = mesh.point(v[b]) - mesh.point(v[a]);
      sum += std::sqrt(dot(edge, m * edge));
    }
  }
  return sum / (6 * static_cast<double>(mesh.element_count()));
}

/// A patch whose node (i, j, k) is the vertex that `vertex` names.
template <class VertexOf>
FieldPatch patch_of(const TetMesh& mesh, const std::vector<double>& times, double edge,
                    std::array<std::size_t, 3> cells, VertexOf&& vertex) {
  FieldPatch patch{cells, {}, {}};
  for (std::size_t k = 0; k <= cells[2]; ++k)
    for (std::size_t j = 0; j <= cells[1]; ++j)
      for (std::size_t i = 0; i <= cells[0]; ++i) {
        const std::size_t v = vertex(i, j, k);
        const Vec3d& p = mesh.points[v];
        patch.time.push_back(static_cast<float>(times[v] / edge));
        patch.place.push_back({static_cast<float>(p.x), static_cast<float>(p.y), static_cast<float>(p.z)});
      }
  return patch;
}

std::vector<double> coarse_times(const TetMesh& mesh, const Metric& metric, const Sources& sources, int threads) {
  SolveOptions options;
  options.threads = threads;
  options.backend = Backend::threads;
  options.verify = Keep::yes;
  Arrival arrival = solve(mesh, metric, sources, options);
  if (arrival.unreached > 0 || !arrival.residual->passed())
    throw RuntimeError("the coarse solve of the scale model failed its check; this is a fault of the solver");
  return std::move(arrival.times);
}

Sources inner_sites(const Ventricle& heart) {
  std::vector<std::uint32_t> inside;
  for (std::size_t v = 0; v < heart.mesh.vertex_count(); ++v)
    if (heart.transmural[v] == 0 && heart.apicobasal[v] < 0.8F) inside.push_back(static_cast<std::uint32_t>(v));
  Sources sources;
  constexpr std::size_t sites = 100;
  for (std::size_t s = 0; s < sites; ++s)
    sources.vertices.push_back({VertexId(inside[s * inside.size() / sites]), 0.0});
  return sources;
}

}  // namespace

double FieldPatch::time_at(double x, double y, double z) const {
  double sum = 0;
  for (const Corner& c : corners_at(*this, {x, y, z})) sum += c.weight * static_cast<double>(time[c.node]);
  return sum;
}

Vec3d FieldPatch::place_at(double x, double y, double z) const {
  Vec3d sum;
  for (const Corner& c : corners_at(*this, {x, y, z})) {
    const Vec3f& p = place[c.node];
    sum += c.weight * Vec3d{static_cast<double>(p.x), static_cast<double>(p.y), static_cast<double>(p.z)};
  }
  return sum;
}

ScaleField cube_field(std::size_t n, int threads) {
  const TetMesh mesh = generate_cube({.nx = n, .ny = n, .nz = n});
  const Metric metric = Metric::isotropic(1);
  const std::vector<double> times = coarse_times(mesh, metric, middle_source(mesh), threads);
  ScaleField field{"cube", FieldShape::box, {}, mesh.element_count(), isotropic_rework};
  field.patches.push_back(patch_of(mesh, times, mean_edge_time(mesh, metric), {n - 1, n - 1, n - 1},
                                   [n](std::size_t i, std::size_t j, std::size_t k) { return i + n * (j + n * k); }));
  return field;
}

ScaleField ventricle_field(std::size_t elements, Stimulus stimulus, int threads) {
  VentricleOptions options;
  options.elements = elements;
  options.threads = threads;
  const Ventricle heart = generate_ventricle(options);
  const TetMesh& mesh = heart.mesh;
  // The generator's counts, from those of vertices and elements: the disc has (m + 1)² + 4 m r vertices and m² + 4 m r
  // cells.
  const std::size_t column =
      1 + static_cast<std::size_t>(std::find(heart.transmural.begin(), heart.transmural.end(), 1.0F) -
                                   heart.transmural.begin());
  const std::size_t nodes = mesh.vertex_count() / column, disc_cells = mesh.element_count() / (6 * (column - 1));
  const std::size_t m = (nodes - disc_cells - 1) / 2, rings = (disc_cells - m * m) / (4 * m), row = m + 1;

  const Metric metric = fiber_metric(heart.fiber, 0.6, 0.2);
  const Sources sources = stimulus == Stimulus::one ? middle_source(mesh) : inner_sites(heart);
  const std::vector<double> times = coarse_times(mesh, metric, sources, threads);
  const double edge = mean_edge_time(mesh, metric);
  ScaleField field{stimulus == Stimulus::one ? "ventricle" : "ventricle, 100 sites",
                   FieldShape::ventricle,
                   {},
                   mesh.element_count(),
                   fiber_rework};
  field.patches.push_back(
      patch_of(mesh, times, edge, {m, m, column - 1},
               [&](std::size_t i, std::size_t j, std::size_t k) { return (j * row + i) * column + k; }));
  const auto rim = [m, row](std::size_t sector, std::size_t i) {
    switch (sector) {
      case 0: return i * row + m;
      case 1: return m * row + m - i;
      case 2: return (m - i) * row;
      default: return i;
    }
  };
  for (std::size_t sector = 0; sector < 4; ++sector)
    field.patches.push_back(
        patch_of(mesh, times, edge, {m, rings, column - 1}, [&](std::size_t i, std::size_t j, std::size_t k) {
          const std::size_t around = (sector * m + i) % (4 * m);
          const std::size_t base = j == 0 ? rim(around / m, around % m) : row * row + (j - 1) * 4 * m + around;
          return base * column + k;
        }));
  return field;
}

}  // namespace isochron::bench
