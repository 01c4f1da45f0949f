// Our aims for surfaces from images: fields, particles and triangles, on the CPU and with a GPU.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "bench/paper/cases.h"
#include "bench/paper/surface_cases.h"
#include "bench/paper/tables.h"
#include "isochron/core/parallel.h"
#include "isochron/core/timer.h"
#include "isochron/surface/field/sizing.h"
#include "isochron/surface/triangulate/delaunay.h"
#include "isochron/surface/triangulate/triangulate.h"

namespace isochron::bench {
namespace {

/// On a GPU the last bits of times, which sizes are made of, depend on the order of updates.
bool agree(const SizeField& a, const SizeField& b) {
  return std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(),
                    [](float x, float y) { return std::abs(x - y) <= 1e-3F * x; });
}

class SurfaceGoals {
 public:
  explicit SurfaceGoals(const BenchOptions& options)
      : options_(options),
        quick_(options.size == BenchSize::quick),
        gpu_only_(options.columns == BenchColumns::gpu),
        threads_(options.threads > 0 ? options.threads : hardware_threads()),
        report_("goals-surface", "Seconds from an image to triangles, by stage", options) {
    report_.note_on_paper(paper_is_the_aim);
    report_.note_on_paper("The aims are for two CPU cores and one H200.");
    report_.note("Blobs of our own; the sizes are scaled to ask for the number of particles.");
    note_gpu(report_, particle_times);
  }

  bool run() {
    const ImageGrid grid = cube_image(quick_ ? 32 : 256);
    const std::vector<float> values = blob_values(grid);
    SurfaceModel model = fields(grid, values);
    for (const double count : quick_ ? std::vector<double>{600} : std::vector<double>{60000, 130000, 250000, 500000}) {
      model.ask_for(count);
      particles(model, count);
    }
    return report_.finish(options_);
  }

 private:
  void add(const std::string& row, const std::string& column, std::optional<double> aim, double seconds,
           const std::string& fault) {
    report_.add(checked_entry({row, column, aim, seconds, "s", ""}, fault));
  }

  /// Distances and sizes, on all threads and with the GPU.
  SurfaceModel fields(const ImageGrid& grid, const std::vector<float>& values) {
    const std::string row = fmt::format("distances and sizes, {}^3", grid.shape[0]);
    SurfaceModel model;
    const auto measure = [&](const std::string& column, Backend backend, std::optional<double> aim) {
      stop_if_cancelled(options_);
      const Timer timer;
      ImplicitSurface surface = from_isovalue(grid, values, blobs_isovalue, {.threads = threads_, .backend = backend});
      const SplineField field(surface.lattice, surface.distance, threads_);
      const SizeField size = sizes(field, surface, {.threads = threads_, .backend = backend});
      const double seconds = timer.seconds();
      model = model_of("blobs", surface, threads_, backend);
      add(row, column, aim, seconds, agree(size, model.size) ? "" : "sizes differ between runs");
    };
    if (has_gpu()) {
      measure("the first time, GPU started", Backend::automatic, {});
      measure(fmt::format("GPU and {} threads", threads_), Backend::automatic, 1);
    }
    if (!gpu_only_ || !has_gpu()) measure(fmt::format("{} threads", threads_), Backend::threads, {});
    return model;
  }

  void particles(const SurfaceModel& model, double count) {
    const std::string row = fmt::format("{:.0f} particles", count);
    std::optional<Relaxed> last;
    std::string fault;  // of the last
    double on_cpu = 0;
    const auto measure = [&](const std::string& column, Backend backend, std::optional<double> aim) {
      stop_if_cancelled(options_);
      last = relaxed(model, {.backend = backend, .threads = threads_});
      fault = fault_of(model, last->particles, about(model.particles, count_share));
      add(row, column, aim, last->seconds, fault);
      return last->seconds;
    };
    if (!gpu_only_) on_cpu = measure(fmt::format("relaxed, {} threads", threads_), Backend::threads, {});
    if (has_gpu()) {
      measure("relaxed, GPU, the first time", Backend::cuda, {});
      measure("relaxed, GPU", Backend::cuda, count == 500000 ? std::optional<double>(2) : std::nullopt);
    }
    if (!last || !delaunay_available()) return;
    const Timer timer;
    const TriangleMesh mesh = triangulate(model.field, model.size, last->particles.positions,
                                          {.threads = threads_, .expected = &model.isosurface});
    const double seconds = timer.seconds();
    if (fault.empty()) fault = fault_of(mesh, threads_);
    add(row, "triangulated and repaired", {}, seconds, fault);
    const bool aim = count == 130000 || count == 500000;
    add(row, "both", aim ? std::optional<double>(60) : std::nullopt, (has_gpu() ? last->seconds : on_cpu) + seconds,
        fault);
  }

  const BenchOptions& options_;
  bool quick_, gpu_only_;
  int threads_;
  Report report_;
};

}  // namespace

bool goals_surface(const BenchOptions& options) { return SurfaceGoals(options).run(); }

}  // namespace isochron::bench
