// Paper 004, section 5.2: values packed block by block, and neighbours at predefined banks of shared memory, against
// the order of the image and one layer around the block.
#include <array>
#include <cmath>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "bench/paper/brain.h"
#include "bench/paper/grid_cases.h"
#include "bench/paper/tables.h"
#include "isochron/core/parallel.h"

namespace isochron::bench {
namespace {

/// In the mean. Where D jumps, a Godunov time, and whether a voxel has one, depends a little on the order of the
/// updates, which differs from run to run.
constexpr double max_mean_difference = 1e-3;

struct BlockVariant {
  const char* name;
  BlockOrder order;
  BlockHalo halo;
};
constexpr std::array<BlockVariant, 4> variants{{{"rows, plain halo", BlockOrder::rows, BlockHalo::plain},
                                                {"rows, banked halo", BlockOrder::rows, BlockHalo::banked},
                                                {"packed, plain halo", BlockOrder::blocks, BlockHalo::plain},
                                                {"packed, banked halo", BlockOrder::blocks, BlockHalo::banked}}};

/// The mean of |a − b| as a share of b, over what b reached; a voxel that only one of them reached counts as one.
double mean_difference(const Arrival& a, const Arrival& b) {
  double sum = 0;
  for (std::size_t v = 0; v < b.times.size(); ++v) {
    if (a.times[v] == b.times[v]) continue;
    const double difference = std::abs(a.times[v] - b.times[v]);
    sum += std::isfinite(difference) ? difference / b.times[v] : 1;
  }
  return sum / static_cast<double>(b.reached);
}

class BlockMemory {
 public:
  explicit BlockMemory(const BenchOptions& options)
      : options_(options),
        report_("004-section-5.2", "Paper 004 Section 5.2: seconds of blocks on the GPU by layout, single precision",
                options) {
    report_.note_on_paper("The paper gives no seconds without its packing and its banks.");
    report_.note(
        "rows: times and tensors lie as in the image; packed: block by block. The seconds include the "
        "copy back to the image's order.");
    report_.note(
        "plain halo: one layer around the block in shared memory; banked: the paper's predefined banks, three times "
        "the block and two slices.");
    report_.note("All results pass the same residual check, and their times must be equal to 0.1 % in the mean.");
    note_gpu(report_);
  }

  bool run() {
    const ExampleSizes sizes = example_sizes(options_.size);
    add(fmt::format("Example 1, {}^3", sizes.cube), example_one(sizes.cube));
    add(fmt::format("Example 2, helix, {}^3", sizes.cube), example_two(sizes.cube));
    if (options_.size == BenchSize::paper) {
      if (const std::optional<Brain> brain = real_brain(threads())) {
        const GridModel model = brain_model(*brain);
        add(fmt::format("Example 3, brain, {}", model.cells), model);
      } else {
        report_.note("Example 3 is missing: " + missing_brain() + ".");
      }
      constexpr std::uint32_t large = 256;  // 64^3 are few blocks for a GPU of today
      add(fmt::format("Example 1, {}^3", large), example_one(large));
    }
    return report_.finish(options_);
  }

 private:
  [[nodiscard]] int threads() const { return options_.threads > 0 ? options_.threads : hardware_threads(); }

  void add(const std::string& row, const GridModel& model) {
    std::array<Measured, variants.size()> measured;
    for (std::size_t i = 0; i < variants.size(); ++i) {
      measured[i] = on_gpu([&] { return solved(model, variants[i]); });
      if (i > 0 && measured[i].valid && measured[0].valid &&
          !(mean_difference(measured[i].arrival, measured[0].arrival) <= max_mean_difference)) {
        measured[i].valid = false;
        measured[i].remark = failed_run("other times than with " + std::string(variants[0].name));
      }
      report_.add(entry_of(row, variants[i].name, {}, measured[i], "s", seconds));
    }
    add_gain(row, "gain of packing", measured[0], measured[2]);
    add_gain(row, "gain of banks, packed", measured[2], measured[3]);
    add_gain(row, "gain of both", measured[0], measured[3]);
  }

  /// By how much the second is faster.
  void add_gain(const std::string& row, const char* column, const Measured& before, const Measured& after) {
    if (!before.valid || !after.valid) return;
    report_.add({row, column, {}, 100 * (seconds(before.arrival) / seconds(after.arrival) - 1), "%", {}});
  }

  [[nodiscard]] Measured solved(const GridModel& model, const BlockVariant& variant) const {
    SolveOptions options = gpu_grid_options(GridScheme::godunov, options_);
    options.source_init = SourceInit::plain;
    options.paper.block_order = variant.order;
    options.paper.block_halo = variant.halo;
    double whole_seconds = 0;
    return median_solve(model, {model.sources()}, options, options_, whole_seconds);
  }

  const BenchOptions& options_;
  Report report_;
};

}  // namespace

bool section_004_5_2(const BenchOptions& options) { return BlockMemory(options).run(); }

}  // namespace isochron::bench
