// Isochron on the cube of the peers: isochron_cube ORDER (1 or 2) plain|ball|factored, one thread, double precision.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

#include "isochron/error.h"
#include "isochron/solver.h"
#include "measure.h"

namespace {

constexpr std::uint32_t n = 128;

/// A cube of voxels with unit sides.
isochron::ImageGrid cube() {
  isochron::ImageGrid grid;
  grid.shape = {n, n, n};
  for (isochron::Vec3d& axis : grid.axes) axis = axis / (n - 1.0);
  return grid;
}

peers::Row measure(int order, const std::string& source_init) {
  isochron::SolveOptions options;
  options.order = order;
  options.source_init = isochron::source_init_named(source_init);
  options.backend = isochron::Backend::serial;
  options.precision = isochron::Precision::double_;
  options.sources = isochron::Keep::no;
  const isochron::ImageGrid grid = cube();
  const isochron::Metric metric = isochron::Metric::isotropic(1);
  const isochron::VertexId middle = grid.voxel(n / 2, n / 2, n / 2);
  isochron::Sources sources;
  sources.vertices.push_back({middle});

  const double start = peers::cpu_seconds();
  isochron::Solver solver({grid, metric, {}}, options);
  const double prepared = peers::cpu_seconds();
  const isochron::Arrival arrival = solver.solve(sources);
  const double solved = peers::cpu_seconds();
  const double megabytes = peers::peak_megabytes();

  if (!solver.residual(arrival, sources).passed())
    throw isochron::RuntimeError("the result does not pass its residual check; no time is given for it");
  double error = 0;
  for (std::size_t v = 0; v < grid.voxel_count(); ++v) {
    const double exact = norm(grid.position(isochron::VertexId(v)) - grid.position(middle));
    error = std::fmax(error, std::fabs(arrival.times[v] - exact));
  }
  return {"Isochron, order " + std::to_string(order) + ", " + source_init + " source", prepared - start,
          solved - prepared, error, megabytes};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string order = argc == 3 ? argv[1] : "";
  if (order != "1" && order != "2") {
    std::fprintf(stderr, "usage: isochron_cube 1|2 plain|ball|factored\n");
    return 2;
  }
  try {
    peers::print(measure(std::stoi(order), argv[2]));
  } catch (const isochron::Error& error) {
    std::fprintf(stderr, "isochron_cube: %s\n", error.what());
    return 1;
  }
  return 0;
}
