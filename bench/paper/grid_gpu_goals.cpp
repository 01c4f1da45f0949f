// Our aims for images on the GPU: what one H200 must reach, with set-up, transfer and solve apart.
#include <cmath>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "bench/paper/cases.h"
#include "bench/paper/tables.h"
#include "isochron/core/timer.h"
#include "isochron/mesh/generate/tensor_images.h"
#include "isochron/solve/grid_solver.h"

namespace isochron::bench {
namespace {

/// Milliseconds at most, wanted, and in the paper.
struct Aim {
  double most;
  std::optional<double> stretch;
  std::string in_paper;
};

/// An image to solve on.
struct GridModel {
  ImageGrid grid;
  Metric metric;
  std::vector<std::uint8_t> mask;
  std::size_t cells = 0;  ///< allowed
  VertexId source;

  [[nodiscard]] GridDomain domain() const { return {grid, metric, mask}; }
};

SymTensor3f in_single(const SymTensor3d& m) {
  return {static_cast<float>(m.xx), static_cast<float>(m.xy), static_cast<float>(m.xz),
          static_cast<float>(m.yy), static_cast<float>(m.yz), static_cast<float>(m.zz)};
}

GridModel cube(std::uint32_t n, Metric metric) {
  const ImageGrid grid = image_grid({{n, n, n}, 1});
  return {grid, std::move(metric), {}, grid.voxel_count(), grid.voxel(n / 2, n / 2, n / 2)};
}

/// Paper 004 Example 1: one tensor, fast along the diagonal.
GridModel example_one(std::uint32_t n) {
  constexpr double c = 0.9;
  return cube(n, Metric::constant(inverse(SymTensor3d{1, c, c, 1, c, 1})));
}

/// Paper 004 Example 2: a helix, from the middle of its first slice.
GridModel example_two(std::uint32_t n) {
  HelixTensorsOptions options;
  options.size = {{n, n, n}, 1};
  const Image image = generate_helix_tensors(options);
  std::vector<SymTensor3f> tensors;
  const DataArray& d = *image.data.find("velocity_tensor");
  for (std::size_t v = 0; v < image.grid.voxel_count(); ++v) {
    const auto at = [&](int k) { return d.at(v, k); };
    tensors.push_back(in_single(inverse(SymTensor3d{at(0), at(1), at(2), at(3), at(4), at(5)})));
  }
  return {image.grid,
          Metric(TensorMetric{std::move(tensors)}),
          {},
          image.grid.voxel_count(),
          image.grid.voxel(n / 2, n / 2, 0)};
}

/// A folded shell with tensors that turn along it, up to ten times as fast along as across: as white matter in its box.
/// `thickness` is a share of the box.
GridModel folded_shell(const std::array<std::uint32_t, 3>& shape, double thickness) {
  constexpr double most_ratio = 10;
  GridModel model{image_grid({shape, 1}), {}, {}, 0, {}};
  model.mask.assign(model.grid.voxel_count(), 0);
  std::vector<SymTensor3f> tensors(model.grid.voxel_count(), in_single(SymTensor3d::identity()));
  for (std::size_t v = 0; v < model.mask.size(); ++v) {
    const auto [i, j, k] = model.grid.index(VertexId(v));
    const Vec3d at{2.4 * i / shape[0] - 1.2, 2.3 * j / shape[1] - 1.15, 2.3 * k / shape[2] - 1.15};
    const double around = std::atan2(at.y, at.x), up = std::atan2(at.z, std::hypot(at.x, at.y));
    const double fold = 0.8 + 0.12 * std::sin(9 * around) * std::cos(7 * up);
    if (std::abs(norm(at) - fold) > thickness) continue;
    model.mask[v] = 1;
    const double share = std::sin(3 * around + 2 * up);
    const double ratio = 1 + (most_ratio - 1) * share * share;
    Vec3d along{-at.y + 0.2 * std::sin(5 * at.z), at.x, 0.5 * std::cos(9 * at.x)};
    along = along / norm(along);
    tensors[v] = in_single(SymTensor3d::identity() + SymTensor3d::outer(along, 1 / (ratio * ratio) - 1));
    if (++model.cells == 1) model.source = VertexId(v);
  }
  model.metric = Metric(TensorMetric{std::move(tensors)});
  return model;
}

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

/// What is shown of each problem beside its solve; updates are those of one allowed voxel.
struct Shown {
  Arrival arrival;
  std::size_t cells = 0;
  double whole_seconds = 0;  ///< of a batch, results on the host included
};

struct Sizes {
  std::uint32_t example, isotropic;
  std::array<std::uint32_t, 3> brain, small_brain;
  double brain_thickness, small_thickness;
  std::size_t sources;
};
constexpr Sizes paper_sizes{64, 256, {256, 256, 100}, {128, 128, 80}, 0.024, 0.044, 80};
constexpr Sizes quick_sizes{16, 24, {32, 32, 16}, {24, 24, 16}, 0.15, 0.15, 5};

class GridGpuGoals {
 public:
  explicit GridGpuGoals(const BenchOptions& options)
      : options_(options),
        sizes_(options.size == BenchSize::paper ? paper_sizes : quick_sizes),
        report_("gpu-grid-goals", "Milliseconds on the GPU for images, single precision, first order", options) {
    report_.note_on_paper(paper_is_the_aim);
    report_.note_on_paper("The aims are for one H200.");
    report_.note(
        "Paper's blocks: Godunov's scheme by paper 004's Algorithm 5.1, checked for times that would still fall.");
    note_gpu(report_);
  }

  int run() {
    const std::uint32_t n = sizes_.example, large = sizes_.isotropic;
    solve(fmt::format("{}^3 Example 1", n), [&] { return example_one(n); }, {5, 1, "1000 ms (8800 GTX)"});
    solve(fmt::format("{}^3 Example 2, helix", n), [&] { return example_two(n); }, {5, 1, "1500 ms (8800 GTX)"});
    solve("folded shell", [&] { return folded_shell(sizes_.brain, sizes_.brain_thickness); },
          {4, {}, "2800 ms (8800 GTX, a brain)"});
    solve(fmt::format("{}^3 isotropic", large), [&] { return cube(large, Metric::isotropic(1)); }, {10, {}, ""});
    batch();
    return report_.finish(options_);
  }

 private:
  [[nodiscard]] GridOptions grid_options(GridScheme scheme = GridScheme::adaptive) const {
    GridOptions options;
    options.scheme = scheme;
    options.common.backend = Backend::cuda;
    options.common.precision = Precision::single_;
    options.common.sources = Keep::no;
    options.common.threads = options_.threads;
    options.common.progress.cancel = options_.progress.cancel;
    return options;
  }
  [[nodiscard]] int runs() const { return options_.size == BenchSize::quick ? 3 : 10; }

  /// An image is made only where there is a GPU to solve on.
  template <class Make>
  void solve(const std::string& name, const Make& make, const Aim& aim) {
    if (!has_gpu()) return add(name, without_gpu(), {}, aim);
    const GridModel model = make();
    Sources source;
    source.vertices.push_back({model.source, 0});
    const std::vector<Sources> sets{source};
    Shown shown;
    const std::string row = fmt::format("{} ({} voxels)", name, model.cells);
    const Measured measured = on_gpu([&] { return median_of(model, sets, grid_options(), shown); });
    add(row, measured, shown, aim);
    if (aim.in_paper.empty()) return;
    const Measured blocks = on_gpu([&] { return median_of(model, sets, grid_options(GridScheme::godunov), shown); });
    report_.add(entry_of(row, "paper's blocks", {}, blocks, "ms", milliseconds));
    report_.add(entry_of(row, "paper's blocks, rounds", {}, blocks, "", rounds));
  }

  void batch() {
    const std::string name = fmt::format("folded shell, {} sources", sizes_.sources);
    const Aim aim{500, 100, ""};
    if (!has_gpu()) return add(name, without_gpu(), {}, aim);
    const GridModel model = folded_shell(sizes_.small_brain, sizes_.small_thickness);
    const std::vector<Sources> sets = spread_sources(model, sizes_.sources);
    Shown shown;
    const Measured measured = on_gpu([&] { return median_of(model, sets, grid_options(), shown); });
    const std::string row = fmt::format("{} ({} voxels), all", name, model.cells);
    add(row, measured, shown, aim);
    if (measured.valid) report_.add({row, "with results on the host", {}, 1e3 * shown.whole_seconds, "ms", ""});
  }

  /// Solves all sets several times; times are medians of the sums over the sets. Every result is checked once.
  Measured median_of(const GridModel& model, const std::vector<Sources>& sets, const GridOptions& options,
                     Shown& shown) const {
    GridSolver solver(model.domain(), options);
    std::vector<double> solves, transfers, wholes;
    std::vector<Arrival> all;
    for (int i = 0; i < runs(); ++i) {
      if (options_.progress.cancelled()) throw Cancelled();
      const Timer timer;
      all = solver.solve_many(sets);
      wholes.push_back(timer.seconds());
      double solve = 0, transfer = 0;
      for (const Arrival& one : all) {
        solve += one.solve_seconds;
        transfer += one.transfer_seconds;
      }
      solves.push_back(solve);
      transfers.push_back(transfer);
    }
    Measured result;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].reached == 0 || !solver.residual(all[i], sets[i]).passed()) {
        result.remark = failed_check;
        return result;
      }
    result.valid = true;
    result.timing = fmt::format("median of {}", runs());
    result.arrival = std::move(all.front());
    result.arrival.solve_seconds = median(solves);
    result.arrival.transfer_seconds = median(transfers);
    shown = {result.arrival, model.cells, median(wholes)};
    return result;
  }

  void add(const std::string& row, const Measured& m, const Shown& shown, const Aim& aim) {
    Entry entry = entry_of(row, "solve", aim.most, m, "ms", milliseconds);
    if (report_.comparable() && m.valid) {
      if (aim.stretch) entry.remark += fmt::format("; stretch {}", *aim.stretch);
      if (!aim.in_paper.empty()) entry.remark += "; paper " + aim.in_paper;
    }
    report_.add(std::move(entry));
    if (!m.valid) return;
    const Arrival& a = shown.arrival;
    report_.add({row, "set-up", {}, 1e3 * a.setup_seconds, "ms", ""});
    report_.add({row, "transfer", {}, 1e3 * a.transfer_seconds, "ms", ""});
    report_.add({row, "rounds", {}, rounds(a), "", ""});
    report_.add({row,
                 "updates",
                 {},
                 static_cast<double>(a.counters.vertex_updates) / static_cast<double>(shown.cells),
                 "per voxel",
                 ""});
    report_.add({row, "device memory", {}, static_cast<double>(a.device_bytes) / 1e6, "MB", ""});
  }

  const BenchOptions& options_;
  Sizes sizes_;
  Report report_;
};

}  // namespace

int grid_gpu_goals(const BenchOptions& options) { return GridGpuGoals(options).run(); }

}  // namespace isochron::bench
