#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "isochron/core/timer.h"
#include "isochron/device.h"
#include "isochron/solve/grid/adaptive.h"
#include "isochron/solve/grid/grid_finish.h"
#include "isochron/solve/grid/grid_relax.h"
#include "isochron/solve/ranks/banded_local.h"
#include "isochron/solve/ranks/cuda/device_grid_part.h"
#include "isochron/solve/ranks/device_local.h"
#include "isochron/solve/ranks/global_labels.h"
#include "isochron/solve/ranks/grid_part.h"
#include "isochron/solve/ranks/rank_device.h"
#include "isochron/solve/ranks/rank_engine.h"
#include "isochron/solve/ranks/second_order_local.h"

namespace isochron::ranks {
namespace {

/// The cells of a part; none when it has no voxel.
GridCells cells_of(const GridPart& part, const ImageGrid& padded) {
  if (std::find(part.allowed.begin(), part.allowed.end(), 1) == part.allowed.end()) return {};
  GridCells cells = make_cells(padded, part.allowed);
  cells.masked = part.masked;
  std::vector<std::uint32_t> own;
  for (const std::uint32_t cell : cells.list) {
    if (part.allowed[cells.box.voxel(cells.box.index(cell)).index()] == GridCells::ghost) {
      cells.allowed[cell] = GridCells::ghost;
      cells.ghosts.push_back(cell);
    } else {
      own.push_back(cell);
    }
  }
  cells.list = std::move(own);
  return cells;
}

/// All ranks together: the mean edge of the whole image.
template <class Problem>
void share_mean_edge(Communicator& communicator, Problem& problem) {
  struct Sum {
    double edges = 0, cells = 0;
  };
  const auto own = static_cast<double>(problem.cells->list.size());
  Sum all;
  for (const Sum& sum : all_values(communicator, Sum{static_cast<double>(problem.mean_edge) * own, own})) {
    all.edges += sum.edges;
    all.cells += sum.cells;
  }
  if (all.cells > 0) problem.mean_edge = static_cast<typename Problem::Scalar>(all.edges / all.cells);
}

/// A part of an image.
template <class Problem>
class PreparedBlocks final : public RankPart<typename Problem::Scalar> {
  using T = typename Problem::Scalar;
  using Start = isochron::Start<T>;

 public:
  /// `device` is the GPU that solves; the CPU does where it is negative.
  PreparedBlocks(Communicator& communicator, const GridPart& part, GridCells&& cells, Problem&& problem,
                 double band_width, int device)
      : communicator_(communicator),
        lattice_(part.partition.lattice),
        image_(part.image),
        padded_(part.padded_blocks()),
        cells_(std::move(cells)),
        problem_(std::move(problem)),
        order_(part.order),
        band_width_(band_width),
        device_(device) {
    problem_.cells = &cells_;
    share_mean_edge(communicator, problem_);
    halo_ = make_halo(communicator, ghosts_of(part), cells_.box.cell_count,
                      [&](std::uint64_t global) { return number_of(GlobalVertexId(global)).value_or(Halo::none); });
    if (device < 0) return;
    const cuda::OnDevice here(device);
    device_part_ = make_device_grid_part(problem_, halo_);
  }

  [[nodiscard]] typename RankPart<T>::Facts facts() const override {
    return {cells_.list.size(), cells_.list.size() + cells_.ghosts.size(), problem_.vertex_count, problem_.unit};
  }
  [[nodiscard]] const Halo& halo() const override { return halo_; }
  [[nodiscard]] std::uint32_t number_of_own(std::size_t own) const override { return cells_.list[own]; }
  [[nodiscard]] std::optional<std::uint32_t> number_of(GlobalVertexId voxel) const override {
    const auto [i, j, k] = image_.index(voxel.in_whole());
    const Vec3i index{static_cast<int>(i), static_cast<int>(j), static_cast<int>(k)};
    if (!lattice_.holds(index)) return std::nullopt;
    const std::vector<std::uint32_t>& blocks = padded_.blocks();
    const std::uint32_t block = lattice_.block_of(index);
    const auto place = std::lower_bound(blocks.begin(), blocks.end(), block);
    if (place == blocks.end() || *place != block) return std::nullopt;
    const Vec3i padded_index = padded_.padded_index(static_cast<std::size_t>(place - blocks.begin()), index);
    if (!cells_.may_enter(padded_index)) return std::nullopt;
    return cells_.box.cell(padded_index);
  }

  RankWork run(Start& start, const Progress& progress) const override {
    RankWork work = device_part_ != nullptr ? run_on_gpu(start, progress) : run_on_cpu(start, progress);
    if (order_ == 1) return work;
    start.first.swap(start.state.time);
    SecondOrderLocal<Problem> second(problem_, start, halo_, adaptive_tuning(band_width_));
    work += run_here(second, progress);
    return work;
  }

  [[nodiscard]] Residual residual(Start& start, double limit) const override {
    if (cells_.list.empty()) return {};
    Residual own = check_adaptive(problem_, start, {.order = order_, .band_width = band_width_}, limit);
    if (own.worst_vertex.valid()) own.worst_vertex = global(own.worst_vertex.in_whole());
    return own;
  }

  void spread_labels(Start& start) const override {
    PartLabelsOf<GridLabelSpreader<Problem>> labels(problem_, start.state.time.data(), start.label, 1);
    spread_labels_over_ranks(communicator_, halo_, labels);
  }

 private:
  RankWork run_on_cpu(Start& start, const Progress& progress) const {
    using Relax = GridRelaxer<Problem, PlainTimes<T>, NoFactor, OwnCells>;
    const Relax relax(problem_, PlainTimes<T>{start.state.time.data()}, {}, OwnCells{cells_.allowed.data()});
    BandedLocal<Relax> local(relax, start.state, halo_, adaptive_tuning(band_width_));
    return run_here(local, progress);
  }
  RankWork run_on_gpu(Start& start, const Progress& progress) const {
    const cuda::OnDevice here(device_);
    const BandTuning tuning = adaptive_tuning(band_width_ > 0 ? band_width_ : device_steps);
    return run_on_device(communicator_, halo_, *device_part_, start.state, tuning, problem_.mean_edge, Pace::banded,
                         progress, ProblemSize{image_.voxel_count()});
  }
  RankWork run_here(LocalSolver<T>& local, const Progress& progress) const {
    return run_bands(communicator_, halo_, local, Pace::banded, progress, ProblemSize{image_.voxel_count()});
  }

  /// Of a voxel of the padded.
  [[nodiscard]] GlobalVertexId global(VertexId padded_index) const {
    const auto shape = padded_.grid(image_);
    const auto [i, j, k] = shape.index(padded_index);
    return voxel(padded_.image_index({static_cast<int>(i), static_cast<int>(j), static_cast<int>(k)}));
  }
  [[nodiscard]] VertexId voxel(const Vec3i& index) const {
    return image_.voxel(static_cast<std::uint32_t>(index.x), static_cast<std::uint32_t>(index.y),
                        static_cast<std::uint32_t>(index.z));
  }

  /// The ghosts that updates really read.
  [[nodiscard]] std::vector<Ghost> ghosts_of(const GridPart& part) const {
    std::vector<std::uint8_t> read(cells_.box.cell_count, 0);
    const auto note = [&](std::uint32_t x) { read[x] = 1; };
    for (const std::uint32_t y : cells_.list) {
      for_read(problem_, y, note);
      if (order_ == 2) for_second_read(problem_, y, note);
    }
    std::vector<Ghost> ghosts;
    for (const std::uint32_t cell : cells_.ghosts) {
      if (read[cell] == 0) continue;
      const Vec3i index = padded_.image_index(cells_.box.index(cell));
      ghosts.push_back({voxel(index).index(), part.partition.rank_of[lattice_.block_of(index)], cell});
    }
    return ghosts;
  }

  Communicator& communicator_;
  BlockLattice lattice_;
  ImageGrid image_;
  PaddedBlocks padded_;
  GridCells cells_;
  Problem problem_;
  int order_;
  double band_width_;
  int device_;
  Halo halo_;
  std::unique_ptr<DevicePart<T>> device_part_;  ///< null where the CPU solves
};

}  // namespace

std::unique_ptr<PartSolver> make_part_solver(Communicator& communicator, const GridPart& part,
                                             const SolveOptions& options) {
  const Timer timer;
  std::vector<std::string> notes;
  if (std::string note = part.partition.note(communicator.size()); !note.empty()) notes.push_back(std::move(note));
  const bool on_device = options.backend == Backend::cuda;
  const int device = on_device ? required_device(communicator) : -1;
  if (on_device)
    notes.emplace_back(part.order == 1 ? "each rank solved on its GPU"
                                       : "each rank solved on its GPU, the second order on its CPU");
  const ImageGrid padded = part.padded_blocks().grid(part.image);
  GridCells cells = cells_of(part, padded);
  const VoxelMetric metric{padded, part.metric, nullptr, MetricOrder::cells};
  const auto make = [&](auto scalar) -> std::unique_ptr<PartSolver> {
    AnyGridProblem<decltype(scalar)> any;
    all_or_none(communicator, [&] { any = make_stencils<decltype(scalar)>(metric, cells, part.plan, 1); });
    return std::visit(
        [&](auto& problem) -> std::unique_ptr<PartSolver> {
          using Problem = std::decay_t<decltype(problem)>;
          auto blocks = std::make_unique<PreparedBlocks<Problem>>(communicator, part, std::move(cells),
                                                                  std::move(problem), options.band_width, device);
          return std::make_unique<RankEngine<decltype(scalar)>>(communicator, options, std::move(notes), timer,
                                                                std::move(blocks));
        },
        any);
  };
  const bool single =
      options.precision == Precision::single_ || (on_device && options.precision == Precision::automatic);
  return single ? make(float()) : make(double());
}

}  // namespace isochron::ranks
