// Paper 002, "A particle system for surface extraction on the GPU": quality of meshes and times of the particles.
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/paper/cases.h"
#include "bench/paper/surface_cases.h"
#include "bench/paper/tables.h"
#include "isochron/core/parallel.h"
#include "isochron/mesh/self_intersections.h"
#include "isochron/mesh_quality.h"
#include "isochron/surface/triangulate/delaunay.h"
#include "isochron/surface/triangulate/triangulate.h"

namespace isochron::bench {
namespace {

/// How the particles are placed: on one thread, all of them, the GPU.
struct Way {
  std::string name;
  Backend backend;
  int threads;
};

class ParticleTable {
 public:
  ParticleTable(const char* name, const char* title, const BenchOptions& options)
      : options_(options),
        threads_(options.threads > 0 ? options.threads : hardware_threads()),
        report_(name, title, options) {
    report_.note_on_paper("The paper's are of a Xeon X5650, one thread, and a Tesla C2070, on volumes of its own.");
    note_gpu(report_);
  }

  [[nodiscard]] std::vector<Way> columns() const {
    std::vector<Way> result;
    if (options_.columns == BenchColumns::all) {
      result.push_back({"1 thread", Backend::serial, 1});
      if (threads_ > 1) result.push_back({fmt::format("{} threads", threads_), Backend::threads, threads_});
    }
    if (has_gpu()) result.push_back({"GPU", Backend::cuda, threads_});
    return result;
  }

  /// Seconds and the number of particles, in each column; the paper's of one thread and of the GPU.
  void add_times(const SurfaceModel& model, const std::string& row, const ParticleOptions& wanted, std::size_t seeds,
                 std::optional<double> paper_cpu, std::optional<double> paper_gpu,
                 std::optional<double> paper_particles) {
    for (const Way& column : columns()) {
      options_.progress.update(0);
      ParticleOptions particle_options = wanted;
      particle_options.backend = column.backend;
      particle_options.threads = column.threads;
      const Relaxed result = relaxed(model, particle_options, seeds);
      const std::string fault = fault_of(model, result.particles, wanted.density);
      const std::optional<double> paper = column.backend == Backend::cuda     ? paper_gpu
                                          : column.backend == Backend::serial ? paper_cpu
                                                                              : std::nullopt;
      const auto iterations = result.particles.iterations.size();
      report_.add({row, column.name, paper, fault.empty() ? std::optional(result.seconds) : std::nullopt, "s",
                   fault.empty() ? fmt::format("{} iterations", iterations) : fault});
      report_.add({row, column.name + ", particles", paper_particles,
                   static_cast<double>(result.particles.positions.size()), "", ""});
    }
  }

  /// Mean and smallest radius ratio of the mesh, which must be closed, manifold and without self-intersections.
  void add_quality(const SurfaceModel& model, const Way& column, std::optional<double> paper_mean,
                   std::optional<double> paper_min) {
    options_.progress.update(0);
    const Relaxed result = relaxed(model, {.backend = column.backend, .threads = column.threads});
    const TriangleMesh mesh = triangulate(model.field, model.size, result.particles.positions,
                                          {.threads = threads_, .expected = &model.isosurface});
    const SurfaceTopology topology = surface_topology(mesh);
    const bool sound =
        topology.closed() && topology.manifold() && topology.oriented() && self_intersections(mesh, threads_).empty();
    const ShapeStatistics shapes = shape_statistics(mesh, threads_);
    const std::string row = fmt::format("{} ({} triangles)", model.name, mesh.element_count());
    const auto add = [&](const char* what, std::optional<double> paper, double ours, const char* unit) {
      report_.add({row, column.name + ", " + what, paper, sound ? std::optional(ours) : std::nullopt, unit,
                   sound ? "" : "not a closed surface: no number"});
    };
    add("mean radius ratio", paper_mean, shapes.radius_ratio.mean(), "");
    add("smallest", paper_min, shapes.radius_ratio.min(), "");
    add("smallest angle", {}, shapes.smallest_angle.min(), "degrees");
  }

  Report& report() { return report_; }
  [[nodiscard]] int threads() const { return threads_; }
  bool finish() { return report_.finish(options_); }

 private:
  const BenchOptions& options_;
  int threads_;
  Report report_;
};

struct PaperQuality {
  Organ organ;
  double cpu_mean, cpu_min, gpu_mean, gpu_min;
};

}  // namespace

bool table_002_1(const BenchOptions& options) {
  ParticleTable table("002-table-1", "Paper 002 Table 1: radius ratios of the triangles", options);
  if (!delaunay_available()) {
    table.report().note("All rows are left out: this build has no CGAL to make triangles with (libcgal-dev).");
    return table.finish();
  }
  table.report().note("The default sizes; every mesh is closed, manifold and without self-intersections.");
  for (const auto& [organ, cpu_mean, cpu_min, gpu_mean, gpu_min] :
       {PaperQuality{Organ::heart, 0.92114, 0.249245, 0.92079, 0.117757},
        PaperQuality{Organ::lungs, 0.912578, 0.217819, 0.913214, 0.324375},
        PaperQuality{Organ::ribcage, 0.914975, 0.186664, 0.914975, 0.186664}}) {
    const SurfaceModel model = surface_model(organ, options);
    for (const Way& column : table.columns()) {
      if (column.backend == Backend::serial && table.threads() > 1) continue;  // the same as on all threads
      const bool gpu = column.backend == Backend::cuda;
      table.add_quality(model, column, gpu ? gpu_mean : cpu_mean, gpu ? gpu_min : cpu_min);
    }
  }
  for (const SurfaceModel& model : more_models(options))
    for (const Way& column : table.columns())
      if (column.backend != Backend::serial || table.threads() == 1) table.add_quality(model, column, {}, {});
  return table.finish();
}

bool table_002_2(const BenchOptions& options) {
  ParticleTable table("002-table-2", "Paper 002 Table 2: seconds to place the particles", options);
  table.report().note("The sizes are scaled so that they ask for the paper's number of particles.");
  struct Row {
    Organ organ;
    double cpu, gpu, particles;
  };
  for (const auto& [organ, cpu, gpu, particles] :
       {Row{Organ::lungs, 835.26, 107.64, 74153}, Row{Organ::heart, 3150.38, 245.77, 80125},
        Row{Organ::ribcage, 9460.29, 269.12, 468877}}) {
    SurfaceModel model = surface_model(organ, options);
    if (options.size == BenchSize::paper) model.ask_for(particles);
    table.add_times(model, model.name, {}, 0, cpu, gpu, particles);
  }
  return table.finish();
}

bool table_002_3(const BenchOptions& options) {
  ParticleTable table("002-table-3", "Paper 002 Table 3: seconds with a given number of seeds, none added", options);
  SurfaceModel model = surface_model(Organ::ribcage, options);
  struct Row {
    double seeds, cpu, cpu_particles, gpu;
  };
  std::vector<Row> rows{
      {60000, 213.22, 57456, 34.75},     {90000, 444.62, 81432, 48.82},     {120000, 756.8, 103913, 66.35},
      {150000, 1360.87, 131145, 98.26},  {180000, 1571.96, 145958, 100.76}, {210000, 2354.04, 170805, 141.4},
      {240000, 2860.53, 185035, 160.28}, {270000, 3455.14, 200925, 172.31}, {300000, 4042.60, 225054, 183.98}};
  if (options.size == BenchSize::quick) rows = {{400, 0, 0, 0}, {800, 0, 0, 0}};
  else model.ask_for(468877);  // the paper's densest; all rows have fewer
  ParticleOptions particles;
  particles.density = DensityControl::delete_only;
  for (const auto& [seeds, cpu, cpu_particles, gpu] : rows)
    table.add_times(model, fmt::format("{:.0f} seeds", seeds), particles, static_cast<std::size_t>(seeds), cpu, gpu,
                    cpu_particles);
  return table.finish();
}

bool table_002_4(const BenchOptions& options) {
  ParticleTable table("002-table-4", "Paper 002 Table 4: seconds over the number of particles", options);
  table.report().note_on_paper("The paper's seconds of one thread are its speed-up times those of the GPU.");
  struct Row {
    double particles, gpu, speed_up;
  };
  std::vector<Row> rows{{323762, 160.17, 23.7}, {384531, 200.6, 27.6},  {405097, 212.19, 28.1}, {431491, 265.8, 33.1},
                        {468623, 269.12, 35.2}, {494477, 285.51, 39.8}, {530717, 445.49, 44.3}};
  if (options.size == BenchSize::quick) rows = {{600, 0, 0}};
  SurfaceModel model = surface_model(Organ::ribcage, options);
  for (const auto& [particles, gpu, speed_up] : rows) {
    model.ask_for(particles);
    table.add_times(model, fmt::format("{:.0f} particles", particles), {}, 0, speed_up * gpu, gpu, particles);
  }
  return table.finish();
}

}  // namespace isochron::bench
