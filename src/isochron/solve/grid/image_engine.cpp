// The engine of images: how voxels are prepared, seeded, run and checked.
#include <optional>
#include <utility>
#include <variant>

#include "isochron/solve/engine.h"
#include "isochron/solve/grid/adaptive.h"
#include "isochron/solve/grid/cuda/device_grid.h"
#include "isochron/solve/grid/cuda/speed_scale.h"
#include "isochron/solve/grid/device_engine.h"
#include "isochron/solve/grid/grid_finish.h"
#include "isochron/solve/grid/grid_seeds.h"
#include "isochron/solve/grid/paper_schemes.h"

namespace isochron {
namespace {

struct ImageGroup {
  std::vector<Seed> seeds;
  std::optional<FactoredSource> factored;
};

/// One run of the plan's scheme.
template <class Problem>
class ImageRun {
  using T = typename Problem::Scalar;

 public:
  ImageRun(const Problem& problem, const ImageGroup& group, const Plan& plan, double band_width, int threads)
      : problem_(problem),
        plan_(plan),
        run_{plan.order, threads, band_width, group.factored ? &*group.factored : nullptr} {}

  void solve(Start<T>& start, std::vector<std::string>& /*notes*/) const {
    if constexpr (is_tensor_problem<Problem>) solve_paper_scheme(problem_, paper_scheme(), start);
    else solve_adaptive(problem_, start, run_);
  }

  [[nodiscard]] Residual residual(const Start<T>& start, double limit) const {
    if constexpr (is_tensor_problem<Problem>)
      return check_paper_scheme(problem_, paper_scheme(), start, run_.threads, limit);
    else return check_adaptive(problem_, start, run_, limit);
  }

  void spread_labels(Start<T>& start) const {
    GridLabelSpreader(problem_, start.state.time.data(), start.label, run_.threads).spread();
  }

  /// The capability table has no weights on images.
  [[nodiscard]] static std::vector<Upwind> upwind(const Start<T>& /*start*/) { return {}; }

 private:
  [[nodiscard]] PaperScheme paper_scheme() const {
    if (plan_.scheme == GridScheme::lax_friedrichs) return PaperScheme::lax_friedrichs_fsm;
    return plan_.method == Method::fim ? PaperScheme::godunov_fim : PaperScheme::godunov_fsm;
  }

  const Problem& problem_;
  const Plan& plan_;
  AdaptiveRun run_;
};

class ImageAdapter {
  /// Calls `use(T())` with the type of the times.
  template <class Use>
  auto with_precision(Use&& use) {
    return plan_->precision == Precision::single_ ? use(float()) : use(double());
  }

 public:
  explicit ImageAdapter(const Domain& domain) : grid_(*std::get<MaskedGrid>(domain.shape).grid) {
    check_grid(grid_, "the image");
    cells_ = std::make_unique<GridCells>(make_cells(grid_, std::get<MaskedGrid>(domain.shape).mask));
  }

  void use(const SolveOptions& options) { options_ = options; }
  [[nodiscard]] static int gpu() { return -1; }
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
  void metric_changed() { ready_ = false; }
  void forget() {
    engine_.reset();
    speeds_ = nullptr;
    ready_ = false;
  }

  void prepare(const Plan& plan, const HeldMetric& metric) {
    plan_ = &plan;
    notes_.clear();
    if (!metric.device_speeds() || !take_speeds(*metric.device())) {
      take_on_host(metric);
      if (metric.device() != nullptr)
        notes_.emplace_back("the metric was copied to the host: its stencils are prepared there");
    }
    ready_ = true;
  }
  /// All that the host needs is prepared with the rest.
  void prepare_host(const Plan& /*plan*/, const HeldMetric& /*metric*/) {}
  void prepare_sources(std::span<const Sources> /*source_sets*/) {}

  [[nodiscard]] DeviceEngine* device() const { return engine_.get(); }
  std::vector<std::vector<Seed>> device_seeds(std::span<const Sources> source_sets, std::size_t first) {
    const std::size_t count = source_sets.size() - first;
    if (speeds_ != nullptr && options_.sources == Keep::yes &&
        std::any_of(source_sets.begin(), source_sets.end(), [](const Sources& s) { return s.count() > 1; }))
      with_precision([this](auto scalar) { fetch_scales<decltype(scalar)>(); });
    std::vector<std::vector<Seed>> seeds;
    parallel_in_order<std::vector<Seed>>(
        speeds_ != nullptr ? 1 : solves_at_once(count, 1, plan_->batch_threads), count,
        [&](std::size_t i, const std::atomic<bool>&) {
          return for_source_set(first + i, source_sets.size(), [&] { return seeds_of(source_sets[first + i]); });
        },
        [&](std::size_t, std::vector<Seed>&& set) { seeds.push_back(std::move(set)); });
    return seeds;
  }

  /// Of factored sources one group for each point and one for all that are parts of regions, else one of all.
  [[nodiscard]] std::vector<ImageGroup> groups(const Sources& sources, SourceInit init) const {
    const VoxelMetric metric{grid_, *metric_};
    const auto placed = place_grid_sources(grid_, *cells_, sources);
    const int radius = limited_radius(options_.ball_rings, placed.size(), grid_);
    const auto group = [&](const std::vector<PlacedVoxelSource>& members) {
      return ImageGroup{make_grid_seeds(metric, *cells_, members, init, radius), std::nullopt};
    };
    if (init != SourceInit::factored) return {group(placed)};
    auto [alone, regions] = split_regions(grid_, placed);
    check_factored_count(alone.size());
    std::vector<ImageGroup> groups;
    if (!regions.empty()) groups.push_back(group(regions));
    for (const PlacedVoxelSource& source : alone) {
      groups.push_back(group({source}));
      groups.back().factored = FactoredSource{source.index, metric_at(metric, *cells_, source)};
    }
    return groups;
  }

  template <class Use>
  void with_problem(Use&& use) const {
    if (plan_->precision == Precision::single_) std::visit(use, single_);
    else std::visit(use, double_);
  }

  template <class Problem>
  ImageRun<Problem> make_run(const Problem& problem, const ImageGroup& group, int threads) const {
    return {problem, group, *plan_, options_.band_width, threads};
  }

  template <class Problem>
  [[nodiscard]] std::uint32_t internal(const Problem& /*problem*/, VertexId voxel) const {
    const auto [i, j, k] = grid_.index(voxel);
    return cells_->box.cell({static_cast<int>(i), static_cast<int>(j), static_cast<int>(k)});
  }
  template <class Problem, class Visit>
  void for_users(const Problem& /*problem*/, int threads, const Visit& visit) const {
    stoppable_for(threads, cells_->list.size(), [&](std::size_t k) {
      const std::uint32_t cell = cells_->list[k];
      visit(cell, cells_->box.voxel(cells_->box.index(cell)).index());
    });
  }

 private:
  template <class T>
  AnyGridProblem<T>& problem() {
    if constexpr (std::is_same_v<T, float>) return single_;
    else return double_;
  }

  void take_on_host(const HeldMetric& metric) {
    if (metric.host() == nullptr) fetched_ = metric.device()->fetch();
    const Metric& here = metric.host() != nullptr ? *metric.host() : fetched_;
    const VoxelMetric in_voxels{grid_, here};
    check_grid_metric(in_voxels, *cells_);
    engine_.reset();  // its memory may be needed, and it reads the stencils
    speeds_ = nullptr;
    metric_ = &here;
    with_precision([&](auto scalar) {
      using T = decltype(scalar);
      const int threads = plan_->batch_threads;
      problem<T>() = plan_->scheme == GridScheme::adaptive ? make_stencils<T>(in_voxels, *cells_, threads)
                                                           : make_tensors<T>(in_voxels, *cells_, threads);
      if (plan_->on_device())
        engine_ = std::visit([&](const auto& made) { return make_grid_device_engine(grid_, made, *plan_, options_); },
                             problem<T>());
    });
  }

  /// Prepares on the device from speeds that lie there. False when the image's axes are not orthogonal.
  bool take_speeds(const cuda::DeviceMetric& metric) {
    return with_precision([&](auto scalar) {
      using T = decltype(scalar);
      return grid_.flat() ? take_speeds<T, 2>(metric) : take_speeds<T, 3>(metric);
    });
  }

  template <class T, int Dim>
  bool take_speeds(const cuda::DeviceMetric& metric) {
    const double* speed = metric.view().speed;
    if (voxels_.size() == 0)
      voxels_ = cuda::DeviceArray<std::uint32_t>(std::span<const std::uint32_t>(voxels_of_cells(*cells_)));
    const cuda::SpeedSums sums = cuda::add_up_speeds(speed, voxels_);
    if (sums.bad > 0) {
      const Metric fetched = metric.fetch();
      check_grid_metric({grid_, fetched}, *cells_);  // says where
    }
    auto stencils = speed_stencils<T, Dim>(grid_, *cells_, sums.slowness / static_cast<double>(cells_->list.size()));
    if (!stencils) return false;
    cuda::DeviceArray<float> scale(voxels_.size());
    if (!cuda::write_scales(speed, voxels_, stencils->factor, scale)) refuse_contrast();
    using Problem = AxisProblem<T, Dim>;
    if (speeds_ != nullptr && engine_ != nullptr) {
      std::get<Problem>(problem<T>()) = std::move(stencils->problem);
      engine_->set_scale(std::move(scale));
    } else {
      engine_.reset();  // its memory may be needed
      const Problem& made = problem<T>().template emplace<Problem>(std::move(stencils->problem));
      engine_ = make_speed_engine(grid_, made, std::move(scale), *plan_, options_);
    }
    factor_ = stencils->factor;
    speeds_ = &metric;
    return true;
  }

  [[nodiscard]] std::vector<Seed> seeds_of(const Sources& sources) const {
    if (speeds_ == nullptr) return std::move(groups(sources, plan_->source_init)[0].seeds);
    const SourceInit init = plan_->source_init;
    const auto placed = place_grid_sources(grid_, *cells_, sources);
    const int radius = limited_radius(options_.ball_rings, placed.size(), grid_);
    const std::vector<std::uint32_t> voxels = voxels_of_seeds(grid_, *cells_, placed, init, radius);
    const std::vector<double> values = cuda::fetch_some(speeds_->view().speed, voxels);
    SomeSpeeds near;
    near.reserve(voxels.size());
    for (std::size_t i = 0; i < voxels.size(); ++i) near.emplace(voxels[i], values[i]);
    const Metric varying(SpeedMetric{});
    return make_grid_seeds({grid_, varying, &near}, *cells_, placed, init, radius);
  }

  /// The labels of several sources are found on the host.
  template <class T>
  void fetch_scales() {
    cuda::DeviceArray<float> scale(voxels_.size());
    cuda::write_scales(speeds_->view().speed, voxels_, factor_, scale);
    const auto fetch = [&](auto& axes) {
      axes.scale.resize(scale.size());
      scale.download_to(axes.scale);
    };
    if (grid_.flat()) fetch(std::get<AxisProblem<T, 2>>(problem<T>()));
    else fetch(std::get<AxisProblem<T, 3>>(problem<T>()));
  }

  ImageGrid grid_;
  std::unique_ptr<GridCells> cells_;  ///< problems keep its address
  SolveOptions options_;
  const Plan* plan_ = nullptr;
  bool ready_ = false;
  const Metric* metric_ = nullptr;              ///< of stencils that are prepared on the host
  Metric fetched_;                              ///< it, where it was copied from the device
  const cuda::DeviceMetric* speeds_ = nullptr;  ///< of stencils that are prepared on the device
  double factor_ = 0;                           ///< from speeds to scales
  cuda::DeviceArray<std::uint32_t> voxels_;     ///< of the cells, see `voxels_of_cells`
  AnyGridProblem<float> single_;                ///< the one of the two that the precision asks for
  AnyGridProblem<double> double_;
  std::unique_ptr<GridDeviceEngine> engine_;
  std::vector<std::string> notes_;
};

}  // namespace

std::unique_ptr<Engine> make_image_engine(const Domain& domain, SolveOptions options) {
  return std::make_unique<EngineOf<ImageAdapter>>(ImageAdapter(domain), domain.metric, std::move(options));
}

}  // namespace isochron
