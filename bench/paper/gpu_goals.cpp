// Our aims on the GPU: what one H200 must reach, with set-up, transfer and solve apart.
#include <fmt/format.h>

#include "bench/paper/cases.h"
#include "bench/paper/tables.h"
#include "isochron/generate.h"

namespace isochron::bench {
namespace {

/// Milliseconds, and whose GPU the paper's number is from.
struct Aim {
  double most;
  std::optional<double> stretch;
  std::string in_paper;
};

/// What is shown of each problem beside its solve.
struct Detail {
  const char* name;
  const char* unit;
  double (*value)(const Arrival&);
};
constexpr Detail details[] = {
    {"set-up", "ms", [](const Arrival& a) { return 1e3 * a.setup_seconds; }},
    {"transfer", "ms", [](const Arrival& a) { return 1e3 * a.transfer_seconds; }},
    {"rounds", "", rounds},
    {"pushes", "per vertex", updates_per_vertex},
    {"local solves", "per vertex", [](const Arrival& a) { return a.solves_per_vertex(); }},
};

/// Sizes of the problems, the real ones or those of a quick run.
struct Sizes {
  std::size_t large_cube, cube, square, sphere, large_heart, heart;
};
constexpr Sizes paper_sizes{161, 64, 1024, 320, 24400999, 3073529};
constexpr Sizes quick_sizes{17, 13, 64, 20, 20000, 12000};

class GpuGoals {
 public:
  explicit GpuGoals(const BenchOptions& options)
      : options_(options),
        sizes_(options.size == BenchSize::paper ? paper_sizes : quick_sizes),
        report_("gpu-goals", "Milliseconds on the GPU in single precision", options) {
    report_.note_on_paper(paper_is_the_aim);
    report_.note_on_paper("The aims are for one H200.");
    note_gpu(report_);
  }

  bool run() {
    cubes();
    hearts();
    surfaces();
    batch();
    return report_.finish(options_);
  }

 private:
  /// A mesh is made only where there is a GPU to solve on: the large ones take long.
  template <class Make>
  static auto made(Make&& make) -> std::optional<decltype(make())> {
    if (!has_gpu()) return std::nullopt;
    return make();
  }

  template <int Corners>
  Measured solve(const std::string& row, const std::optional<SimplexMesh<Corners>>& mesh, const Metric& metric,
                 const Aim& aim) {
    Measured m = mesh ? measure(*mesh, metric, middle_source(*mesh), gpu_push(), options_) : without_gpu();
    add(row, m, aim);
    return m;
  }

  /// Set-up when all kernels are loaded, of a problem that was solved.
  template <int Corners>
  void set_up(const std::string& row, const SimplexMesh<Corners>* mesh, const Metric& metric, double most,
              const Measured& solved) {
    Entry entry{row, "set-up, repeated", most, {}, "ms", solved.remark};
    if (solved.valid) {
      entry.ours = 1e3 * median_set_up(*mesh, metric, gpu_push(), options_);
      entry.remark = "median of 3";
    }
    report_.add(std::move(entry));
  }

  void add(const std::string& row, const Measured& m, const Aim& aim) {
    Entry entry = entry_of(row, "solve", aim.most, m, "ms", milliseconds);
    if (report_.comparable() && m.valid) {
      if (aim.stretch) entry.remark += fmt::format("; stretch {}", *aim.stretch);
      if (!aim.in_paper.empty()) entry.remark += "; paper " + aim.in_paper;
    }
    report_.add(std::move(entry));
    if (!m.valid) return;
    for (const Detail& detail : details) report_.add({row, detail.name, {}, detail.value(m.arrival), detail.unit, ""});
  }

  void cubes() {
    const auto large = made([&] { return unit_cell_cube(sizes_.large_cube, 0.2); });
    solve(fmt::format("jittered {}^3 cube", sizes_.large_cube), large, Metric::isotropic(1), {9, 4, ""});
    const auto cube = made([&] { return unit_cell_cube(sizes_.cube); });
    const std::string name = fmt::format("{}^3 cube", sizes_.cube);
    solve(name + " isotropic", cube, Metric::isotropic(1), {1.2, 0.6, "396 ms (GTX 580)"});
    solve(name + " diag(1,4,9)", cube, Metric::constant(SymTensor3d::diagonal(1, 4, 9)), {2, 1, "580 ms (GTX 580)"});
  }

  void hearts() {
    const auto h = made([&] { return heart(sizes_.large_heart, 3, 1, options_.threads); });
    const std::string name = fmt::format("ventricle, about {} tets,", sizes_.large_heart);
    const Sources stimulus = h ? middle_source(h->mesh) : Sources{};
    const auto measured = [&](const Metric& metric) {
      return h ? measure(h->mesh, metric, stimulus, gpu_push(), options_) : without_gpu();
    };
    const Metric isotropic = Metric::isotropic(1);
    const Measured plain = measured(isotropic);
    add(name + " isotropic", plain, {15, 8, "5160 ms (GTX 1080)"});
    set_up(name + " isotropic", h ? &h->mesh : nullptr, isotropic, 300, plain);
    add(name + " fibres 3:1", measured(h ? h->metric : isotropic), {25, 10, ""});
  }

  void surfaces() {
    constexpr double set_up_aim = 50;
    const std::size_t n = sizes_.square, f = sizes_.sphere;
    const auto extent = static_cast<double>(n - 1);
    const Metric isotropic = Metric::isotropic(1);
    const auto square = made([&] { return generate_square({.n = n, .extent = extent}); });
    const std::string square_name = fmt::format("{} x {} square", n, n);
    const Measured solved = solve(square_name, square, isotropic, {2, 1, "201 ms (GTX 275)"});
    set_up(square_name, square ? &*square : nullptr, isotropic, set_up_aim, solved);
    const auto irregular = made([&] { return generate_irregular_square({.n = n, .extent = extent}); });
    const Measured split =
        irregular ? measure(*irregular, isotropic, middle_source(*irregular), gpu_push(), options_) : without_gpu();
    set_up(fmt::format("irregular {} x {} square", n, n), irregular ? &*irregular : nullptr, isotropic, set_up_aim,
           split);
    const auto sphere = made([&] { return generate_sphere({.frequency = f, .radius = 100}); });
    const std::string name = fmt::format("sphere, {} vertices,", 10 * f * f + 2);
    solve(name + " constant speed", sphere, isotropic, {2.5, {}, "415 ms (GTX 275)"});
    solve(name + " random speed", sphere, sphere ? random_speed_metric(*sphere) : Metric(),
          {4, {}, "459 ms (GTX 275)"});
  }

  void batch();

  const BenchOptions& options_;
  Sizes sizes_;
  Report report_;
};

/// Sources spread evenly over the vertices.
std::vector<Sources> spread_sources(const TetMesh& mesh, std::size_t count) {
  std::vector<Sources> result(count);
  for (std::size_t i = 0; i < count; ++i)
    result[i].vertices.push_back({VertexId((2 * i + 1) * mesh.vertex_count() / (2 * count)), 0});
  return result;
}

/// `median_of_sets`, with times per source.
Measured median_batch(Solver& solver, const std::vector<Sources>& sources, const BenchOptions& options) {
  double whole_seconds = 0;
  Measured result = median_of_sets(solver, sources, options, whole_seconds);
  result.arrival.solve_seconds /= static_cast<double>(sources.size());
  result.arrival.transfer_seconds /= static_cast<double>(sources.size());
  if (result.valid) result.timing += " batches";
  return result;
}

void GpuGoals::batch() {
  constexpr std::size_t sources = 32;
  const auto h = made([&] { return heart(sizes_.heart, 3, 1, options_.threads); });
  const Metric isotropic = Metric::isotropic(1);
  const auto measured = [&] {
    return on_gpu([&] {
      Solver solver({h->mesh, isotropic}, solve_options(gpu_push(), options_));
      return median_batch(solver, spread_sources(h->mesh, sources), options_);
    });
  };
  add(fmt::format("ventricle, about {} tets, {} sources, each", sizes_.heart, sources), h ? measured() : without_gpu(),
      {1, {}, ""});
}

}  // namespace

bool gpu_goals(const BenchOptions& options) { return GpuGoals(options).run(); }

}  // namespace isochron::bench
