// Paper 002, "Dynamic particle system for mesh extraction on the GPU": quality of meshes and times of the particles.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/paper/cases.h"
#include "bench/paper/surface_cases.h"
#include "bench/paper/tables.h"
#include "isochron/core/parallel.h"
#include "isochron/device.h"
#include "isochron/mesh_quality.h"
#include "isochron/surface/triangulate/delaunay.h"

namespace isochron::bench {
namespace {

/// How the particles are placed: by our scheme or the paper's, on one thread, all of them, the GPU.
struct Way {
  std::string name;
  ParticleScheme scheme;
  Backend backend;
  int threads;

  [[nodiscard]] ParticleOptions options() const {
    ParticleOptions result;
    result.scheme = scheme;
    result.backend = backend;
    result.threads = threads;
    return result;
  }
  [[nodiscard]] bool on_gpu() const { return backend == Backend::cuda; }
  /// How far the number of particles may be from the number asked for.
  [[nodiscard]] double share() const { return count_share_of(scheme); }
};

/// What the paper has in a row for the CPU or the GPU.
struct PaperTimes {
  std::optional<double> seconds, particles;
};
struct PaperRatios {
  std::optional<double> mean, smallest;
};

/// Where none is added: how many fewer than by the paper's share of the seeds may remain.
constexpr double fewer_share = 0.1;

/// A row of a table of times.
struct ParticleRow {
  std::string name;
  PaperTimes cpu, gpu;
  std::size_t seeds = 0;   ///< none is added; 0: as many as the sizes ask for, and density control
  double kept = 0;         ///< the share of the seeds that remained in the paper
  std::string fault = {};  ///< of what was asked for; empty: none

  [[nodiscard]] CountRange range(const SurfaceModel& model, const Relaxed& result, double share) const {
    if (seeds == 0) return about(model.particles, share);
    const auto started = static_cast<double>(result.seeds);
    return {(1 - fewer_share) * kept * started, started};
  }
};

/// What it took: a sum over the neighbours of a particle is what costs.
std::string work_of(const Particles& particles) {
  std::size_t sums = 0;
  for (const RelaxIteration& iteration : particles.iterations) sums += iteration.energy_evaluations;
  return fmt::format("{} iterations, {:.0f} sums per particle", particles.iterations.size(),
                     static_cast<double>(sums) / static_cast<double>(particles.positions.size()));
}

std::string particles_csv(const std::vector<Vec3d>& positions) {
  std::string text = "x,y,z\n";
  for (const Vec3d& p : positions) text += fmt::format("{:.9g},{:.9g},{:.9g}\n", p.x, p.y, p.z);
  return text;
}

class ParticleTable {
 public:
  ParticleTable(const char* name, const char* title, const BenchOptions& options)
      : options_(options),
        threads_(options.threads > 0 ? options.threads : hardware_threads()),
        report_(name, title, options) {
    report_.note_on_paper("The paper's are of a Xeon X5650, one thread, and a Tesla C2070, on volumes of its own.");
    report_.note(
        "'paper's scheme': bins of 27 colours, its energy, constants and updates; our seeds, sizes and edge lengths.");
    note_gpu(report_, particle_times);
    if (has_gpu()) cuda::free_bytes();  // wakes the device, which takes longer than some rows
  }

  [[nodiscard]] std::vector<Way> columns() const { return columns_with(has_gpu() ? Gpu::there : Gpu::missing); }

  /// Seconds are also drawn over the number of particles, as in the paper's Figures 7 and 8.
  void plot_times() {
    report_.plot({{"particles", Scale::linear}, {"seconds", Scale::logarithmic}, "s"});
    report_.note_on_paper("The chart has the paper's seconds at our numbers of particles.");
  }

  /// Seconds and the number of particles, in each column.
  void add_times(const SurfaceModel& model, const ParticleRow& row) {
    for (const Way& column : columns()) {
      options_.progress.update(0);
      ParticleOptions particle_options = column.options();
      if (row.seeds > 0) particle_options.density = DensityControl::delete_only;
      const Relaxed result = relaxed(model, particle_options, row.seeds);
      std::string fault = row.fault;
      if (fault.empty()) fault = fault_of(model, result.particles, row.range(model, result, column.share()));
      const PaperTimes* paper = column.on_gpu() ? &row.gpu : column.backend == Backend::serial ? &row.cpu : nullptr;
      const auto paper_number = [&](std::optional<double> PaperTimes::*number) {
        return paper != nullptr ? model.beside(paper->*number) : std::nullopt;
      };
      report_.at(static_cast<double>(result.particles.positions.size()), column.name);
      report_.add(checked_entry(
          {row.name, column.name, paper_number(&PaperTimes::seconds), result.seconds, "s", work_of(result.particles)},
          fault));
      report_.add(checked_entry({row.name, column.name + ", particles", paper_number(&PaperTimes::particles),
                                 static_cast<double>(result.particles.positions.size()), "", ""},
                                fault));
    }
  }

  /// What Table 1 says of a model, in each column but that of one thread, whose particles are those of all threads.
  void add_mesh_columns(const SurfaceModel& model, const PaperRatios& cpu, const PaperRatios& gpu) {
    const bool stored = !options_.particles.empty();
    ++models_;
    for (const Way& column : columns_with(stored || has_gpu() ? Gpu::there : Gpu::missing)) {
      if (column.backend == Backend::serial && threads_ > 1) continue;
      options_.progress.update(0);
      std::optional<Placed> placed;
      if (stored && column.on_gpu()) placed = read_placed(model, column);
      else placed = place(model, column);
      if (!placed)
        report_.note(fmt::format("{}, {}: left out, {} is not there.", model.name, column.name,
                                 (options_.particles / file_name(model, column)).string()));
      else if (delaunay_available()) add_quality(model, column, *placed, column.on_gpu() ? gpu : cpu);
      else add_particles(model, column, *placed);
    }
  }

  Report& report() { return report_; }
  [[nodiscard]] int threads() const { return threads_; }
  bool finish() { return report_.finish(options_); }

 private:
  enum class Gpu { there, missing };

  /// Particles and how they came about.
  struct Placed {
    Particles particles;
    std::optional<double> seconds;  ///< none where another run placed them
    std::string work;
    std::string fault;
  };

  [[nodiscard]] std::vector<Way> columns_with(Gpu gpu) const {
    std::vector<Way> result;
    for (const auto& [scheme, whose] :
         {std::pair{ParticleScheme::ours, ""}, {ParticleScheme::published, "paper's scheme, "}}) {
      if (options_.columns == BenchColumns::all) {
        result.push_back({fmt::format("{}1 thread", whose), scheme, Backend::serial, 1});
        if (threads_ > 1)
          result.push_back({fmt::format("{}{} threads", whose, threads_), scheme, Backend::threads, threads_});
      }
      if (gpu == Gpu::there) result.push_back({fmt::format("{}GPU", whose), scheme, Backend::cuda, threads_});
    }
    return result;
  }

  /// Where a run of Table 1 writes the particles of a column for others to make meshes of.
  [[nodiscard]] std::string file_name(const SurfaceModel& model, const Way& column) const {
    return particle_file(models_, model, column.scheme);
  }

  Placed place(const SurfaceModel& model, const Way& column) {
    Relaxed result = relaxed(model, column.options());
    if (column.on_gpu()) report_.attach(file_name(model, column), particles_csv(result.particles.positions));
    std::string fault = fault_of(model, result.particles, about(model.particles, column.share()));
    std::string work = work_of(result.particles);
    return {std::move(result.particles), result.seconds, std::move(work), std::move(fault)};
  }

  /// Particles that a run on another machine wrote; none where it wrote none of this model.
  [[nodiscard]] std::optional<Placed> read_placed(const SurfaceModel& model, const Way& column) const {
    const std::string name = file_name(model, column);
    std::optional<Particles> particles = stored_particles(options_.particles / name);
    if (!particles) return std::nullopt;
    Placed placed{std::move(*particles), {}, "from " + name, ""};
    placed.fault = fault_of(model, placed.particles, about(model.particles, column.share()));
    return placed;
  }

  /// Mean and smallest radius ratio of the mesh, which must be closed, manifold and without self-intersections.
  void add_quality(const SurfaceModel& model, const Way& column, const Placed& placed, const PaperRatios& paper) {
    const MeshedParticles result = meshed(model, placed.particles, column.scheme, threads_);
    const ShapeStatistics shapes = shape_statistics(result.mesh, threads_);
    const std::string work =
        fmt::format("{} triangles, {}, repair: {} added, {} removed, {} moved", result.mesh.element_count(),
                    placed.work, result.repair.added, result.repair.removed, result.repair.moved);
    const auto add = [&](const char* what, std::optional<double> paper_number, double ours, const char* unit,
                         const std::string& remark = "") {
      report_.add(checked_entry({model.name, column.name + ", " + what, model.beside(paper_number), ours, unit, remark},
                                result.fault));
    };
    add("mean radius ratio", paper.mean, shapes.radius_ratio.mean(), "", work);
    add("smallest", paper.smallest, shapes.radius_ratio.min(), "");
    add("smallest angle", {}, shapes.smallest_angle.min(), "degrees");
  }

  /// What can be said without a mesh.
  void add_particles(const SurfaceModel& model, const Way& column, const Placed& placed) {
    report_.add(checked_entry({model.name,
                               column.name + ", particles",
                               {},
                               static_cast<double>(placed.particles.positions.size()),
                               "",
                               placed.work},
                              placed.fault));
    if (placed.seconds)
      report_.add(checked_entry({model.name, column.name + ", placed", {}, *placed.seconds, "s", ""}, placed.fault));
  }

  const BenchOptions& options_;
  int threads_;
  Report report_;
  int models_ = 0;  ///< of Table 1, so far
};

struct PaperQuality {
  Organ organ;
  PaperRatios cpu, gpu;
};

}  // namespace

bool table_002_1(const BenchOptions& options) {
  ParticleTable table("002-table-1", "Paper 002 Table 1: radius ratios of the triangles", options);
  Report& report = table.report();
  if (delaunay_available()) {
    report.note("The default sizes; every mesh is closed, manifold and without self-intersections.");
    report.note(
        "Meshes of our scheme are smoothed and repaired; those of the paper's are only made closed and manifold.");
  } else {
    report.note("No meshes: this build has no CGAL to make triangles with (libcgal-dev).");
    report.note(
        "With -o FOLDER the GPU's particles are written; --particles FOLDER makes meshes of them where CGAL is.");
  }
  for (const auto& [organ, cpu, gpu] : {PaperQuality{Organ::heart, {0.92114, 0.249245}, {0.92079, 0.117757}},
                                        PaperQuality{Organ::lungs, {0.912578, 0.217819}, {0.913214, 0.324375}},
                                        PaperQuality{Organ::ribcage, {0.914975, 0.186664}, {0.914975, 0.186664}}}) {
    const SurfaceModel model = surface_model(organ, options);
    note_missing(report, model);
    table.add_mesh_columns(model, cpu, gpu);
    if (options.size == BenchSize::quick) break;  // all are the same small blobs
  }
  for (const SurfaceModel& model : more_models(options, report)) table.add_mesh_columns(model, {}, {});
  return table.finish();
}

bool table_002_2(const BenchOptions& options) {
  ParticleTable table("002-table-2", "Paper 002 Table 2: seconds to place the particles", options);
  table.report().note_on_paper("The sizes are scaled so that they ask for the paper's number of particles.");
  struct Row {
    Organ organ;
    PaperTimes cpu, gpu;
  };
  for (const auto& [organ, cpu, gpu] :
       {Row{Organ::lungs, {835.26, 74153}, {107.64, 74129}}, Row{Organ::heart, {3150.38, 80125}, {245.77, 80594}},
        Row{Organ::ribcage, {9460.29, 468877}, {269.12, 468623}}}) {
    SurfaceModel model = surface_model(organ, options);
    note_missing(table.report(), model);
    if (options.size == BenchSize::paper) model.ask_for(*cpu.particles);
    table.add_times(model, {model.name, cpu, gpu});
    if (options.size == BenchSize::quick) break;  // all are the same small blobs
  }
  return table.finish();
}

bool table_002_3(const BenchOptions& options) {
  ParticleTable table("002-table-3", "Paper 002 Table 3: seconds with a given number of seeds, none added", options);
  table.plot_times();
  SurfaceModel model = surface_model(Organ::ribcage, options);
  note_missing(table.report(), model);
  struct Row {
    double seeds;
    PaperTimes cpu, gpu;
  };
  std::vector<Row> rows{{60000, {213.22, 57456}, {34.75, 56844}},      {90000, {444.62, 81432}, {48.82, 80208}},
                        {120000, {756.8, 103913}, {66.35, 103716}},    {150000, {1360.87, 131145}, {98.26, 133792}},
                        {180000, {1571.96, 145958}, {100.76, 146754}}, {210000, {2354.04, 170805}, {141.4, 175775}},
                        {240000, {2860.53, 185035}, {160.28, 194354}}, {270000, {3455.14, 200925}, {172.31, 208866}},
                        {300000, {4042.60, 225054}, {183.98, 237921}}};
  // The paper's densest sizes: all rows have fewer seeds than those ask for.
  model.ask_for(options.size == BenchSize::paper ? 468877 : 1250);
  if (options.size == BenchSize::quick)
    rows = {{400, {{}, 400 * 57456 / 60000.0}, {}}, {800, {{}, 800 * 57456 / 60000.0}, {}}};
  for (const auto& [seeds, cpu, gpu] : rows)
    table.add_times(
        model, {fmt::format("{:.0f} seeds", seeds), cpu, gpu, static_cast<std::size_t>(seeds), *cpu.particles / seeds});
  return table.finish();
}

bool table_002_4(const BenchOptions& options) {
  ParticleTable table("002-table-4", "Paper 002 Table 4: seconds over the number of particles", options);
  table.plot_times();
  Report& report = table.report();
  report.note_on_paper("The paper's seconds of one thread are its speed-up times those of the GPU.");
  report.note_on_paper(
      "Epsilon and delta: captions of Figure 6; of the first row the limits in section 6.3. The text that "
      "we have lacks those of the other rows: there sizes are scaled to ask for the paper's number.");
  report.note_on_paper(
      "Sizes by epsilon and delta times one factor: with 0.125 and 0.125 they ask for the paper's number.");
  struct Row {
    double particles, gpu, speed_up;
    std::optional<double> epsilon, delta;
  };
  // Rows of the table; their epsilon and delta were in the columns that the text lacks.
  std::vector<Row> rows{{323762, 160.17, 23.7, 8.0, 2.0},     {384531, 200.6, 27.6, 2.0, 1.0},
                        {405097, 212.19, 28.1, 0.5, 0.5},     {431491, 265.8, 33.1, {}, {}},
                        {468623, 269.12, 35.2, 0.125, 0.125}, {494477, 285.51, 39.8, {}, {}},
                        {530717, 445.49, 44.3, {}, {}}};
  const bool quick = options.size == BenchSize::quick;
  if (quick) rows = {{700, 0, 0, 8.0, 2.0}, {900, 0, 0, 0.125, 0.125}, {1000, 0, 0, {}, {}}};
  SurfaceModel model = surface_model(Organ::ribcage, options);
  note_missing(table.report(), model);
  const auto sizing = [&](double epsilon, double delta) {
    return SizingOptions{.epsilon = epsilon, .delta = delta, .threads = table.threads()};
  };
  model.set_sizes(sizing(0.125, 0.125), 1);
  const double factor = model.ask_for(quick ? 900 : 468623);
  double asked_before = 0;  // by larger epsilon and delta
  for (const auto& [particles, gpu, speed_up, epsilon, delta] : rows) {
    ParticleRow row{fmt::format("{:.0f} asked for", particles), {speed_up * gpu, {}}, {gpu, particles}};
    if (epsilon) {
      model.set_sizes(sizing(*epsilon, *delta), factor);
      row.name = fmt::format("epsilon {}, delta {}", *epsilon, *delta);
      // The number may stay the same: the object may limit both sizes to the same value.
      if (model.particles < asked_before)
        row.fault = fmt::format("the sizes ask for {:.0f} particles, fewer than with larger epsilon and delta ({:.0f})",
                                model.particles, asked_before);
      asked_before = model.particles;
    } else {
      model.ask_for(particles);
    }
    table.add_times(model, row);
  }
  return table.finish();
}

}  // namespace isochron::bench
