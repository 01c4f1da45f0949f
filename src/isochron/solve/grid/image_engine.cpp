// The engine of images: how voxels are prepared, seeded, run and checked with the adaptive scheme.
#include <algorithm>
#include <utility>
#include <variant>

#include "isochron/solve/common/dependence.h"
#include "isochron/solve/common/methods.h"
#include "isochron/solve/grid/cuda/speed_scale.h"
#include "isochron/solve/grid/device_adapter.h"
#include "isochron/solve/grid/grid_dependence.h"
#include "isochron/solve/grid/grid_finish.h"
#include "isochron/solve/grid/image_adapter.h"

namespace isochron {
namespace {

/// One run of the adaptive scheme.
template <class Problem>
class ImageRun {
  using T = typename Problem::Scalar;

 public:
  ImageRun(const Problem& problem, const ImageGroup& group, const ImageGrid& grid, const Metric* metric,
           const Plan& plan, double band_width, int threads)
      : problem_(problem),
        grid_(grid),
        metric_(metric),
        seeds_(group.seeds),
        run_{plan.order, threads, band_width, group.factored ? &*group.factored : nullptr} {}

  void solve(Start<T>& start, std::vector<std::string>& /*notes*/) const { solve_adaptive(problem_, start, run_); }

  bool update(Start<T>& start, const ChangedStart<T>& changed) const {
    return update_adaptive(problem_, start, changed, run_);
  }

  [[nodiscard]] Residual residual(const Start<T>& start, double limit) const {
    return check_adaptive(problem_, start, run_, limit);
  }

  void spread_labels(Start<T>& start) const {
    GridLabelSpreader(problem_, start.state.time.data(), start.label, run_.threads).spread();
  }

  /// The capability table has no weights on images.
  [[nodiscard]] static std::vector<Upwind> upwind(const Start<T>& /*start*/) { return {}; }

  template <class Internal>
  [[nodiscard]] DependenceRows rows(const Start<T>& start, const SeedRows& seed_rows, const Internal& internal) const {
    const GridDependence<Problem> dependence(problem_, {grid_, *metric_}, start.state.time.data());
    return make_rows(problem_.vertex_count, start, problem_.unit, seeds_, seed_rows, run_.threads, internal,
                     [&](std::uint32_t x, DependenceRows& to) { dependence.add_row(x, to); });
  }

 private:
  const Problem& problem_;
  const ImageGrid& grid_;
  const Metric* metric_;  ///< null where it is not on the host
  const std::vector<Seed>& seeds_;
  AdaptiveRun run_;
};

/// For each cell of the box: its voxel, or `cuda::nobody` where none may be entered.
std::vector<std::uint32_t> voxels_of_cells(const GridCells& cells) {
  std::vector<std::uint32_t> voxels(cells.box.cell_count, cuda::nobody);
  for (const std::uint32_t cell : cells.list) voxels[cell] = cells.box.voxel(cells.box.index(cell)).value;
  return voxels;
}

class ImageAdapter : public ImageAdapterBase<AnyGridProblem> {
 public:
  using ImageAdapterBase::ImageAdapterBase;

  void forget() {
    on_gpu_.reset();
    speeds_ = nullptr;
    metric_changed();
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

  [[nodiscard]] DeviceAdapter* device() const { return on_gpu_.get(); }
  std::vector<std::vector<Seed>> device_seeds(std::span<const Sources> source_sets) {
    if (speeds_ != nullptr && options_.sources == Keep::yes &&
        std::any_of(source_sets.begin(), source_sets.end(), [](const Sources& s) { return s.count() > 1; }))
      with_precision([this](auto scalar) { fetch_scales<decltype(scalar)>(); });
    const int at_once = speeds_ != nullptr ? 1 : solves_at_once(source_sets.size(), 1, plan_->batch_threads);
    return seeds_of_sets(source_sets, at_once, [this](const Sources& sources) { return seeds_of(sources); });
  }

  /// Takes a metric that differs on some voxels, with stencils along the axes. False when all must be prepared again.
  bool change_metric(const HeldMetric& metric, std::span<const ElementId> voxels) {
    if (!ready_ || on_gpu_ != nullptr || speeds_ != nullptr || metric.host() == nullptr) return false;
    const VoxelMetric in_voxels{grid_, *metric.host()};
    std::vector<VertexId> allowed;
    bool usable = true;
    for (const ElementId voxel : voxels)
      for_vertices(voxel, [&](VertexId v) {
        allowed.push_back(v);
        usable = usable && usable_on(*metric.host(), voxel);
      });
    if (!usable) check_grid_metric(in_voxels, *cells_);  // says where
    metric_ = metric.host();
    slowness_.reset();
    return with_precision([&](auto scalar) {
      return std::visit(
          [&](auto& made) {
            if constexpr (requires { change_stencils(made, in_voxels, allowed); })
              return change_stencils(made, in_voxels, allowed);
            return false;
          },
          problem<decltype(scalar)>());
    });
  }
  template <class Visit>
  void for_vertices(ElementId voxel, const Visit& visit) const {
    const VertexId v(voxel.index());
    const auto [i, j, k] = grid_.index(v);
    if (cells_->may_enter({static_cast<int>(i), static_cast<int>(j), static_cast<int>(k)})) visit(v);
  }
  template <class Visit>
  void for_changed(std::span<const ElementId> voxels, const Visit& visit) const {
    for (const ElementId voxel : voxels) for_vertices(voxel, visit);
  }

  template <class Problem>
  ImageRun<Problem> make_run(const Problem& problem, const ImageGroup& group, int threads) const {
    return {problem, group, grid_, metric_, *plan_, options_.band_width, threads};
  }

  [[nodiscard]] SeedRows seed_rows(const Sources& sources, SourceInit init) const {
    SeedRows rows;
    const auto placed = place_grid_sources(grid_, *cells_, sources);
    make_grid_seeds({grid_, *metric_}, *cells_, placed, init, limited_radius(options_.ball_rings, placed.size(), grid_),
                    &rows);
    return rows;
  }
  static constexpr bool on_mesh = false;
  [[nodiscard]] std::vector<std::uint8_t> movable(const Sources& sources) const {
    std::vector<std::uint8_t> result(sources.count(), 0);
    std::fill_n(result.end() - static_cast<std::ptrdiff_t>(sources.points.size()), sources.points.size(), 1);
    for (const PlacedSource& source : place_grid_sources(grid_, *cells_, sources))
      if (source.centred) result[static_cast<std::size_t>(source.source)] = 0;
    return result;
  }
  [[nodiscard]] static std::uint32_t user_element(std::uint32_t voxel) { return voxel; }
  void check_differentiable() const {
    if (plan_->order != 1)
      throw UsageError("derivatives are those of first order; use " + Message(Setting{Option::order, "1"}));
    if (metric_ == nullptr || speeds_ != nullptr) throw UsageError("derivatives need the metric in host memory");
  }

 private:
  void take_on_host(const HeldMetric& metric) {
    const VoxelMetric in_voxels = take_metric(metric);
    on_gpu_.reset();  // its memory may be needed, and it reads the stencils
    speeds_ = nullptr;
    with_precision([&](auto scalar) {
      using T = decltype(scalar);
      problem<T>() = make_stencils<T>(in_voxels, *cells_, plan_->batch_threads);
      if (plan_->on_device())
        std::visit(
            [&](const auto& made) { adapt(made, cuda::make_device_grid(made, plan_->order, plan_->batch_threads)); },
            problem<T>());
    });
  }

  template <class Problem, class Device>
  void adapt(const Problem& problem, Device device) {
    on_gpu_ = std::make_unique<ImageDeviceAdapterOf<Problem>>(grid_, problem, std::move(device), plan_->batch_threads);
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
    if (speeds_ != nullptr && on_gpu_ != nullptr) {
      std::get<Problem>(problem<T>()) = std::move(stencils->problem);
      on_gpu_->set_scale(std::move(scale));
    } else {
      on_gpu_.reset();  // its memory may be needed
      const Problem& made = problem<T>().template emplace<Problem>(std::move(stencils->problem));
      adapt(made, cuda::make_speed_grid(made, std::move(scale), plan_->order));
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

  const cuda::DeviceMetric* speeds_ = nullptr;  ///< of stencils that are prepared on the device
  double factor_ = 0;                           ///< from speeds to scales
  cuda::DeviceArray<std::uint32_t> voxels_;     ///< of the cells, see `voxels_of_cells`
  std::unique_ptr<ImageDeviceAdapter> on_gpu_;
};

}  // namespace

std::unique_ptr<Engine> make_image_engine(const Domain& domain, SolveOptions options) {
  if (const PaperMethod* paper = paper_method_of(options.scheme)) return paper->make_engine(domain, std::move(options));
  return std::make_unique<EngineOf<ImageAdapter>>(ImageAdapter(domain), domain.metric, std::move(options));
}

}  // namespace isochron
