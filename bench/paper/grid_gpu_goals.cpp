// Our aims for images on the GPU: what one H200 must reach, with set-up, transfer and solve apart.
#include <array>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/paper/grid_cases.h"
#include "bench/paper/tables.h"

namespace isochron::bench {
namespace {

/// Milliseconds at most, wanted, and in the paper.
struct Aim {
  double most;
  std::optional<double> stretch;
  std::string in_paper;
};

/// Sources spread evenly over the allowed voxels.
std::vector<Sources> spread_sources(const GridModel& model, std::size_t count) {
  std::vector<Sources> result;
  std::size_t seen = 0;
  for (std::size_t v = 0; v < model.mask.size() && result.size() < count; ++v) {
    if (model.mask[v] == 0) continue;
    if (seen++ < result.size() * model.cells / count) continue;
    result.emplace_back().vertices.push_back({VertexId(v), 0});
  }
  return result;
}

struct Sizes {
  std::uint32_t isotropic;
  std::array<std::uint32_t, 3> small_brain;
  double small_thickness;
  std::size_t sources;
};
constexpr Sizes paper_sizes{256, {128, 128, 80}, 0.044, 80};
constexpr Sizes quick_sizes{24, {24, 24, 16}, 0.15, 5};

class GridGpuGoals {
 public:
  explicit GridGpuGoals(const BenchOptions& options)
      : options_(options),
        sizes_(options.size == BenchSize::paper ? paper_sizes : quick_sizes),
        report_("gpu-grid-goals", "Milliseconds on the GPU for images, single precision, first order", options) {
    report_.note_on_paper(paper_is_the_aim);
    report_.note_on_paper("The aims are for one H200.");
    report_.note("The paper's own blocks are in 004-table-1.");
    note_gpu(report_);
  }

  bool run() {
    const ExampleSizes examples = example_sizes(options_.size);
    const std::uint32_t n = examples.cube, large = sizes_.isotropic;
    solve(fmt::format("{}^3 Example 1", n), [&] { return example_one(n); }, {5, 1, "1000 ms (8800 GTX)"});
    solve(fmt::format("{}^3 Example 2, helix", n), [&] { return example_two(n); }, {5, 1, "1500 ms (8800 GTX)"});
    solve("folded shell", [&] { return folded_shell(examples.brain, examples.thickness); },
          {4, {}, "2800 ms (8800 GTX, a brain)"});
    solve(fmt::format("{}^3 isotropic", large), [&] { return cube_model(large, Metric::isotropic(1)); }, {10, {}, ""});
    batch();
    return report_.finish(options_);
  }

 private:
  Measured median_of(const GridModel& model, const std::vector<Sources>& sets, double& whole_seconds) const {
    const SolveOptions grid_options = gpu_grid_options(GridScheme::adaptive, options_);
    return on_gpu([&] { return median_solve(model, sets, grid_options, options_, whole_seconds); });
  }

  /// An image is made only where there is a GPU to solve on.
  template <class Make>
  void solve(const std::string& name, const Make& make, const Aim& aim) {
    if (!has_gpu()) return add(name, without_gpu(), 0, aim);
    const GridModel model = make();
    const std::vector<Sources> sets{model.sources()};
    const std::string row = fmt::format("{} ({} voxels)", name, model.cells);
    double whole_seconds = 0;
    add(row, median_of(model, sets, whole_seconds), model.cells, aim);
  }

  void batch() {
    const std::string name = fmt::format("folded shell, {} sources", sizes_.sources);
    const Aim aim{500, 100, ""};
    if (!has_gpu()) return add(name, without_gpu(), 0, aim);
    const GridModel model = folded_shell(sizes_.small_brain, sizes_.small_thickness);
    const std::vector<Sources> sets = spread_sources(model, sizes_.sources);
    double whole_seconds = 0;
    const Measured measured = median_of(model, sets, whole_seconds);
    const std::string row = fmt::format("{} ({} voxels), all", name, model.cells);
    add(row, measured, model.cells, aim);
    if (measured.valid) report_.add({row, "with results on the host", {}, 1e3 * whole_seconds, "ms", ""});
  }

  /// Updates are shown per voxel of `cells`.
  void add(const std::string& row, const Measured& m, std::size_t cells, const Aim& aim) {
    Entry entry = entry_of(row, "solve", aim.most, m, "ms", milliseconds);
    if (report_.comparable() && m.valid) {
      if (aim.stretch) entry.remark += fmt::format("; stretch {}", *aim.stretch);
      if (!aim.in_paper.empty()) entry.remark += "; paper " + aim.in_paper;
    }
    report_.add(std::move(entry));
    if (!m.valid) return;
    const Arrival& a = m.arrival;
    report_.add({row, "set-up", {}, 1e3 * a.setup_seconds, "ms", ""});
    report_.add({row, "transfer", {}, 1e3 * a.transfer_seconds, "ms", ""});
    report_.add({row, "rounds", {}, rounds(a), "", ""});
    report_.add({row,
                 "updates",
                 {},
                 static_cast<double>(a.counters.vertex_updates) / static_cast<double>(cells),
                 "per voxel",
                 ""});
    report_.add({row, "device memory", {}, static_cast<double>(a.device_bytes) / 1e6, "MB", ""});
  }

  const BenchOptions& options_;
  Sizes sizes_;
  Report report_;
};

}  // namespace

bool grid_gpu_goals(const BenchOptions& options) { return GridGpuGoals(options).run(); }

}  // namespace isochron::bench
