// Isochron on the square of the peers: isochron_square METHOD single|double plain|ball|factored, one thread.
#include <cstdio>
#include <string>
#include <utility>

#include "isochron/error.h"
#include "isochron/generate.h"
#include "isochron/solver.h"
#include "measure.h"
#include "square_case.h"

namespace {

peers::Row measure(const std::string& method, const std::string& precision, const std::string& source_init) {
  using peers::SquareCase;
  isochron::SolveOptions options;
  options.method = isochron::method_named(method);
  options.source_init = isochron::source_init_named(source_init);
  options.precision = precision == "single" ? isochron::Precision::single_ : isochron::Precision::double_;
  options.threads = 1;
  const isochron::TriangleMesh mesh = isochron::generate_square({.n = SquareCase::n, .extent = SquareCase::n - 1.0});
  const isochron::Metric metric = isochron::Metric::isotropic(1);
  isochron::Sources sources;
  sources.vertices.push_back({isochron::VertexId(SquareCase::source)});

  const double start = peers::cpu_seconds();
  isochron::Solver solver({mesh, metric}, options);
  const double prepared = peers::cpu_seconds();
  const isochron::Arrival arrival = solver.solve(sources);
  const double solved = peers::cpu_seconds();
  const double megabytes = peers::peak_megabytes();

  if (!solver.residual(arrival, sources).passed())
    throw isochron::RuntimeError("the result does not pass its residual check; no time is given for it");
  return {"Isochron " + method + ", " + precision + ", " + source_init + " source", prepared - start, solved - prepared,
          SquareCase::mean_error([&](std::size_t v) { return arrival.times[v]; }), megabytes};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: isochron_square METHOD single|double plain|ball|factored\n");
    return 2;
  }
  try {
    peers::print(measure(argv[1], argv[2], argv[3]));
  } catch (const isochron::Error& error) {
    std::fprintf(stderr, "isochron_square: %s\n", error.what());
    return 1;
  }
  return 0;
}
