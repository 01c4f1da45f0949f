#include "bench/paper/cases.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include <fmt/format.h>

#include "isochron/core/parallel.h"
#include "isochron/io/io.h"
#include "isochron/mesh/generate/cube.h"
#include "isochron/mesh/generate/irregular_cube.h"
#include "isochron/mesh/generate/irregular_square.h"
#include "isochron/mesh/generate/random_fields.h"
#include "isochron/mesh/generate/sphere.h"
#include "isochron/mesh/generate/square.h"
#include "isochron/mesh/generate/ventricle.h"

namespace isochron::bench {
namespace {

std::optional<TriangleMesh> dragon() {
  const char* named = std::getenv("ISOCHRON_DATA");
  const std::filesystem::path folder = named != nullptr ? named : "../shared/data";
  const auto path = folder / "surf" / "dragon_vrip.ply.gz";
  if (!std::filesystem::exists(path)) return std::nullopt;
  Dataset dataset = read_dataset(path);
  return take_mesh<3>(dataset);
}

/// Vertices of the largest part connected through elements, by union-find.
template <int Corners>
std::vector<std::uint8_t> largest_part(const SimplexMesh<Corners>& mesh) {
  std::vector<std::uint32_t> parent(mesh.vertex_count());
  std::iota(parent.begin(), parent.end(), 0U);
  const auto root = [&](std::uint32_t v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
  };
  for (const auto& element : mesh.elements)
    for (int c = 1; c < Corners; ++c) parent[root(element[c].value)] = root(element[0].value);
  std::vector<std::uint32_t> size(mesh.vertex_count(), 0);
  for (std::uint32_t v = 0; v < size.size(); ++v) ++size[root(v)];
  const auto biggest = static_cast<std::uint32_t>(std::max_element(size.begin(), size.end()) - size.begin());
  std::vector<std::uint8_t> inside(mesh.vertex_count());
  for (std::uint32_t v = 0; v < inside.size(); ++v) inside[v] = root(v) == biggest ? 1 : 0;
  return inside;
}

}  // namespace

std::optional<TriangleMesh> surface_mesh(int number, BenchSize size) {
  const bool full = size == BenchSize::paper;
  switch (number) {
    case 1: return generate_square({.n = full ? 1024U : 64U, .extent = full ? 1023.0 : 63.0});
    case 2: return generate_irregular_square({.n = full ? 1025U : 65U, .extent = full ? 1024.0 : 64.0});
    case 3: return generate_sphere({.frequency = full ? 320U : 20U, .radius = 100});
    default: return full ? dragon() : std::nullopt;
  }
}

std::string surface_label(int number, const TriangleMesh& mesh) {
  return fmt::format("{} ({} vertices)", surface_mesh_names[number], mesh.vertex_count());
}

TetMesh volume_mesh(int number, BenchSize size) {
  const bool full = size == BenchSize::paper;
  switch (number) {
    case 1: {
      const std::size_t n = full ? 64 : 13;
      const double side = static_cast<double>(n - 1);
      return generate_cube({.nx = n, .ny = n, .nz = n, .extent = {side, side, side}});
    }
    case 2: return generate_irregular_cube({.n = full ? 54U : 11U, .extent = full ? 53.0 : 10.0});
    default: {
      VentricleOptions options;
      options.elements = full ? 2306717 : 12000;
      return generate_ventricle(options).mesh;
    }
  }
}

Metric random_speed_metric(const TriangleMesh& mesh, int smoothing) {
  return Metric(SpeedMetric{random_speed(mesh, {0.1, 1}, {smoothing, 1})});
}

Metric volume_metric(const TetMesh& mesh, int speed) {
  if (speed == 1) return Metric::isotropic(1);
  if (speed == 2) return Metric::constant(SymTensor3d::diagonal(1, 4, 9));
  return Metric(TensorMetric{random_tensors(mesh, {1, 9}, {10, 1})});
}

template <int Corners>
Sources middle_source(const SimplexMesh<Corners>& mesh) {
  const std::vector<std::uint8_t> inside = largest_part(mesh);
  Vec3d low{1e300, 1e300, 1e300}, high{-1e300, -1e300, -1e300};
  for (std::size_t v = 0; v < inside.size(); ++v)
    for (int k = 0; k < 3 && inside[v] != 0; ++k) {
      low[k] = std::min(low[k], mesh.points[v][k]);
      high[k] = std::max(high[k], mesh.points[v][k]);
    }
  const Vec3d middle = 0.5 * (low + high);
  std::size_t best = inside.size();
  for (std::size_t v = 0; v < inside.size(); ++v)
    if (inside[v] != 0 && (best == inside.size() || norm(mesh.points[v] - middle) < norm(mesh.points[best] - middle)))
      best = v;
  Sources sources;
  sources.vertices.push_back({VertexId(best), 0});
  return sources;
}

SolveOptions paper_options(const MethodCase& method) {
  SolveOptions options;
  options.method = method.method;
  options.precision = Precision::single_;
  options.threads = method.threads;
  options.backend = method.threads > 1 ? Backend::threads : Backend::serial;
  options.source_init = SourceInit::plain;
  options.unordered = Unordered::run;
  options.obtuse = ObtuseSplit::none;  // one discretisation for all methods
  options.sources = Keep::no;
  options.verify = Keep::yes;
  return options;
}

template <int Corners>
Measured measure(const SimplexMesh<Corners>& mesh, const Metric& metric, const Sources& sources,
                 const MethodCase& method, const BenchOptions& options, int repeats) {
  SolveOptions solve_options = paper_options(method);
  solve_options.progress.cancel = options.progress.cancel;
  Solver<Corners> solver({mesh, metric}, solve_options);
  Measured result;
  for (int i = 0; i < repeats; ++i) {
    Arrival arrival = solver.solve(sources);
    if (i == 0 || arrival.solve_seconds < result.arrival.solve_seconds) result.arrival = std::move(arrival);
  }
  const bool unordered = method.method == Method::fmm && !result.arrival.notes.empty();
  result.valid = result.arrival.residual->passed() || unordered;
  if (unordered) result.remark = fmt::format("unordered, residual {:.1e} edges", result.arrival.residual->worst);
  else if (!result.valid) result.remark = failed_check;
  return result;
}

int paper_threads(const BenchOptions& options) {
  return options.threads > 0 ? options.threads : std::min(4, hardware_threads());
}

template Sources middle_source(const SimplexMesh<3>&);
template Sources middle_source(const SimplexMesh<4>&);
template Measured measure(const SimplexMesh<3>&, const Metric&, const Sources&, const MethodCase&, const BenchOptions&,
                          int);
template Measured measure(const SimplexMesh<4>&, const Metric&, const Sources&, const MethodCase&, const BenchOptions&,
                          int);

}  // namespace isochron::bench
