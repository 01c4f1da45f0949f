// What the engines of images have in common, whatever their scheme: cells, sources, and the way from cells to voxels.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "isochron/core/stop.h"
#include "isochron/solve/engine_of.h"
#include "isochron/solve/grid/adaptive.h"
#include "isochron/solve/grid/cuda/device_grid.h"
#include "isochron/solve/grid/grid_seeds.h"

namespace isochron {

struct ImageGroup {
  std::vector<Seed> seeds;
  std::optional<FactoredSource> factored;
};

/// An adapter of `EngineOf` without `prepare`, `forget`, `device`, `device_seeds` and `make_run`. `AnyProblem<T>` is a
/// variant of the problems that a scheme solves.
template <template <class> class AnyProblem>
class ImageAdapterBase {
 public:
  explicit ImageAdapterBase(const Domain& domain) : grid_(*std::get<MaskedGrid>(domain.shape).grid) {
    check_grid(grid_, "the image");
    cells_ = std::make_unique<GridCells>(make_cells(grid_, std::get<MaskedGrid>(domain.shape).mask));
  }

  void use(const SolveOptions& options) { options_ = options; }
  [[nodiscard]] static int gpu() { return -1; }
  /// Voxels that do not conduct are outside the mask.
  [[nodiscard]] static std::size_t left_out() { return 0; }
  [[nodiscard]] static Noun user_noun() { return {"voxel", "voxels"}; }
  [[nodiscard]] std::size_t user_count() const { return grid_.voxel_count(); }
  [[nodiscard]] std::size_t element_count() const { return grid_.voxel_count(); }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

  [[nodiscard]] DomainFacts facts(const AnyMetric& metric) const {
    return {DomainKind::image, cells_->list.size(), metric.host() == nullptr, [this](Precision precision) {
              return cuda::device_grid_bytes(cells_->list.size(), cells_->box.cell_count,
                                             precision == Precision::double_ ? sizeof(double) : sizeof(float),
                                             options_.order);
            }};
  }

  [[nodiscard]] bool ready() const { return ready_; }
  void metric_changed() {
    ready_ = false;
    slowness_.reset();
  }

  /// All that the host needs is prepared with the rest.
  void prepare_host(const Plan& /*plan*/, const HeldMetric& /*metric*/) {}
  void prepare_sources(std::span<const Sources> /*source_sets*/) {}

  /// Of factored sources one group for each point and one for all that are parts of regions, else one of all.
  [[nodiscard]] std::vector<ImageGroup> groups(const Sources& sources, SourceInit init) const {
    const VoxelMetric metric{grid_, *metric_};
    const auto placed = place_grid_sources(grid_, *cells_, sources);
    const int radius = limited_radius(options_.ball_rings, placed.size(), grid_);
    const auto group = [&](const std::vector<PlacedSource>& members) {
      return ImageGroup{make_grid_seeds(metric, *cells_, members, init, radius), std::nullopt};
    };
    if (init != SourceInit::factored) return {group(placed)};
    auto [alone, regions] = split_regions(grid_, placed);
    check_factored_count(alone.size());
    std::vector<ImageGroup> groups;
    if (!regions.empty()) groups.push_back(group(regions));
    for (const PlacedSource& source : alone) {
      groups.push_back(group({source}));
      groups.back().factored = FactoredSource{source.position, metric_at(metric, *cells_, source), source.time};
    }
    return groups;
  }

  template <class Use>
  void with_problem(Use&& use) const {
    if (plan_->precision == Precision::single_) std::visit(use, single_);
    else std::visit(use, double_);
  }

  [[nodiscard]] BoundGeometry bound_geometry(const HeldMetric& metric) {
    const std::lock_guard<std::mutex> lock(*bounding_);
    if (!slowness_) {
      const std::vector<ElementId> allowed = allowed_voxels(*cells_);
      slowness_ = metric.host() != nullptr ? least_slowness(*metric.host(), &allowed)
                                           : least_slowness(metric.device()->fetch(), &allowed);
    }
    return {[this](std::size_t v) { return grid_.position(VertexId(v)); }, *slowness_};
  }

  template <class Problem>
  [[nodiscard]] std::uint32_t internal(const Problem& /*problem*/, VertexId voxel) const {
    const auto [i, j, k] = grid_.index(voxel);
    return cells_->box.cell({static_cast<int>(i), static_cast<int>(j), static_cast<int>(k)});
  }
  template <class Problem, class Visit>
  void for_users(const Problem& /*problem*/, int threads, const Visit& visit) const {
    const GridBox& box = cells_->box;
    const StoppableLoop loop;
    parallel_chunks(threads, cells_->list.size(), [&](std::size_t begin, std::size_t end) {
      std::size_t first = 0, first_voxel = 0, row_end = 0;  // along a row both numbers go up by 1
      loop(begin, end, [&](std::size_t k) {
        const std::uint32_t cell = cells_->list[k];
        if (cell >= row_end) {
          const Vec3i at = box.index(cell);
          first = cell;
          first_voxel = box.voxel(at).index();
          row_end = first + static_cast<std::size_t>(box.lower.x + box.shape.x - at.x);
        }
        visit(cell, first_voxel + (cell - first));
      });
    });
  }

 protected:
  /// Calls `use(T())` with the type of the times.
  template <class Use>
  auto with_precision(Use&& use) {
    return plan_->precision == Precision::single_ ? use(float()) : use(double());
  }

  template <class T>
  AnyProblem<T>& problem() {
    if constexpr (std::is_same_v<T, float>) return single_;
    else return double_;
  }

  /// Checks the metric and keeps it, copied from the device if it is there.
  VoxelMetric take_metric(const HeldMetric& metric) {
    if (metric.host() == nullptr) fetched_ = metric.device()->fetch();
    metric_ = metric.host() != nullptr ? metric.host() : &fetched_;
    const VoxelMetric in_voxels{grid_, *metric_};
    check_grid_metric(in_voxels, *cells_);
    return in_voxels;
  }

  /// `make(sources)` for each set, `at_once` side by side. An InputError names its set.
  template <class Make>
  static std::vector<std::vector<Seed>> seeds_of_sets(std::span<const Sources> source_sets, int at_once,
                                                      const Make& make) {
    std::vector<std::vector<Seed>> seeds;
    parallel_in_order<std::vector<Seed>>(
        at_once, source_sets.size(),
        [&](std::size_t i, const std::atomic<bool>&) {
          return for_source_set(i, source_sets.size(), [&] { return make(source_sets[i]); });
        },
        [&](std::size_t, std::vector<Seed>&& set) { seeds.push_back(std::move(set)); });
    return seeds;
  }

  ImageGrid grid_;
  std::unique_ptr<GridCells> cells_;  ///< problems keep its address
  SolveOptions options_;
  const Plan* plan_ = nullptr;
  bool ready_ = false;
  std::optional<double> slowness_;  ///< the least, from the first check on
  std::unique_ptr<std::mutex> bounding_ = std::make_unique<std::mutex>();
  const Metric* metric_ = nullptr;  ///< of problems that are prepared on the host
  std::vector<std::string> notes_;

 private:
  Metric fetched_;            ///< the metric, where it was copied from the device
  AnyProblem<float> single_;  ///< the one of the two that the precision asks for
  AnyProblem<double> double_;
};

}  // namespace isochron
