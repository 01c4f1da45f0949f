#include "isochron/solve/device_grid_solver.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "isochron/core/cuda/device.h"
#include "isochron/core/error.h"
#include "isochron/core/timer.h"
#include "isochron/solve/common/device_arrays.h"
#include "isochron/solve/common/limits.h"
#include "isochron/solve/common/solve_shell.h"
#include "isochron/solve/common/start.h"
#include "isochron/solve/cuda/device_metric.h"
#include "isochron/solve/grid/cuda/speed_scale.h"
#include "isochron/solve/grid/device_engine.h"
#include "isochron/solve/grid/grid_seeds.h"

namespace isochron {

class DeviceGridSolver::Engine {
  /// Calls `use(T())` with the type of the times.
  template <class Use>
  auto with_precision(Use&& use) {
    return single() ? use(float()) : use(double());
  }

 public:
  Engine(const ImageGrid& grid, const AnyMetric& metric, std::span<const std::uint8_t> mask, GridOptions options)
      : grid_(grid), options_(std::move(options)) {
    check_grid(grid_, "the image");
    check_options();
    cells_ = make_cells(grid_, mask);
    gpu_ = device_holding(metric, -1);
    if (gpu_ < 0) gpu_ = cuda::current_device();
    const cuda::OnDevice here(gpu_);
    cuda::require_device();
    set_metric(metric);
  }

  void set_metric(const AnyMetric& metric) {
    const Timer timer;
    device_holding(metric, gpu_);
    const cuda::OnDevice here(gpu_);
    const auto* host = std::get_if<Metric>(&metric);
    std::optional<cuda::DeviceMetric> on_device;
    if (host == nullptr) on_device.emplace(metric, grid_.voxel_count());
    if (!std::holds_alternative<DeviceSpeed>(metric) || !take_speeds(*on_device))
      take_on_host(host != nullptr ? *host : on_device->fetch());
    notes_.clear();
    if (on_device && !speeds_)
      notes_.emplace_back("the metric was copied to the host: its stencils are prepared there");
    setup_seconds_ = timer.seconds();
  }

  DeviceArrival solve(const Sources& sources) {
    const cuda::OnDevice here(gpu_);
    if (engine_ == nullptr) throw DeviceError("the solver's last metric did not fit the GPU; set another");
    const std::vector<Seed> seeds = seeds_of(sources);
    if (speeds_ && options_.common.sources == Keep::yes && sources.count() > 1)
      with_precision([this](auto scalar) { fetch_scales<decltype(scalar)>(); });
    DeviceArrival arrival = engine_->solve_on_device(seeds);
    arrival.summary.setup_seconds = setup_seconds_;
    arrival.summary.notes = notes_;
    return arrival;
  }

 private:
  [[nodiscard]] bool single() const { return options_.common.precision != Precision::double_; }
  [[nodiscard]] int threads() const { return wanted_threads(options_.common); }

  template <class T>
  AnyGridProblem<T>& problem() {
    if constexpr (std::is_same_v<T, float>) return single_;
    else return double_;
  }

  void check_options() {
    check_device_options(options_.common);
    if (options_.scheme != GridScheme::automatic && options_.scheme != GridScheme::adaptive)
      throw UsageError(fmt::format("scheme {} does not take or leave arrays in the memory of a GPU; leave it out",
                                   name_of(options_.scheme)));
    if (options_.order != 1 && options_.order != 2)
      throw UsageError(fmt::format("order {} is not there; choose 1 or 2", options_.order));
    options_.common.tolerance = checked_tolerance(options_.common.tolerance.value_or(default_tolerance(single())));
  }

  /// False when the image's axes are not orthogonal.
  bool take_speeds(cuda::DeviceMetric& metric) {
    return with_precision([&](auto scalar) {
      using T = decltype(scalar);
      return grid_.flat() ? take_speeds<T, 2>(metric) : take_speeds<T, 3>(metric);
    });
  }

  template <class T, int Dim>
  bool take_speeds(cuda::DeviceMetric& metric) {
    const double* speed = metric.view().speed;
    if (voxels_.size() == 0)
      voxels_ = cuda::DeviceArray<std::uint32_t>(std::span<const std::uint32_t>(voxels_of_cells(cells_)));
    const cuda::SpeedSums sums = cuda::add_up_speeds(speed, voxels_);
    if (sums.bad > 0) {
      const Metric fetched = metric.fetch();
      check_grid_metric({grid_, fetched}, cells_);  // says where
    }
    auto stencils = speed_stencils<T, Dim>(grid_, cells_, sums.slowness / static_cast<double>(cells_.list.size()));
    if (!stencils) return false;
    cuda::DeviceArray<float> scale(voxels_.size());
    if (!cuda::write_scales(speed, voxels_, stencils->factor, scale)) refuse_contrast();
    using Problem = AxisProblem<T, Dim>;
    if (speeds_ && engine_ != nullptr) {
      std::get<Problem>(problem<T>()) = std::move(stencils->problem);
      engine_->set_scale(std::move(scale));
    } else {
      engine_.reset();  // its memory may be needed
      speeds_.reset();
      const Problem& made = problem<T>().template emplace<Problem>(std::move(stencils->problem));
      engine_ = make_speed_engine(grid_, made, std::move(scale), options_, threads());
    }
    factor_ = stencils->factor;
    speeds_ = std::move(metric);
    return true;
  }

  void take_on_host(Metric metric) {
    check_grid_metric({grid_, metric}, cells_);
    engine_.reset();
    speeds_.reset();
    metric_ = std::move(metric);
    with_precision([&](auto scalar) {
      using T = decltype(scalar);
      problem<T>() = make_stencils<T>({grid_, metric_}, cells_, threads());
      engine_ = std::visit([&](const auto& made) { return make_grid_device_engine(grid_, made, options_, threads()); },
                           problem<T>());
    });
  }

  [[nodiscard]] std::vector<Seed> seeds_of(const Sources& sources) const {
    const SourceInit init = options_.common.source_init;
    const auto placed = place_grid_sources(grid_, cells_, sources);
    const int radius = limited_radius(options_.common.ball_rings, placed.size(), grid_);
    if (!speeds_) return make_grid_seeds({grid_, metric_}, cells_, placed, init, radius);
    const std::vector<std::uint32_t> voxels = voxels_of_seeds(grid_, cells_, placed, init, radius);
    const std::vector<double> values = cuda::fetch_some(speeds_->view().speed, voxels);
    SomeSpeeds near;
    near.reserve(voxels.size());
    for (std::size_t i = 0; i < voxels.size(); ++i) near.emplace(voxels[i], values[i]);
    const Metric varying(SpeedMetric{});
    return make_grid_seeds({grid_, varying, &near}, cells_, placed, init, radius);
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
  GridOptions options_;
  GridCells cells_;
  int gpu_ = -1;
  std::optional<cuda::DeviceMetric> speeds_;  ///< when the stencils are made from these …
  double factor_ = 0;
  cuda::DeviceArray<std::uint32_t> voxels_;  ///< of the cells, see `voxels_of_cells`
  Metric metric_;                            ///< … and when not
  AnyGridProblem<float> single_;             ///< the one of the two that the precision asks for
  AnyGridProblem<double> double_;
  std::unique_ptr<GridDeviceEngine> engine_;
  double setup_seconds_ = 0;
  std::vector<std::string> notes_;
};

DeviceGridSolver::DeviceGridSolver(const ImageGrid& grid, const AnyMetric& metric, std::span<const std::uint8_t> mask,
                                   GridOptions options)
    : engine_(std::make_unique<Engine>(grid, metric, mask, std::move(options))) {}
DeviceGridSolver::~DeviceGridSolver() = default;
DeviceGridSolver::DeviceGridSolver(DeviceGridSolver&&) noexcept = default;
DeviceGridSolver& DeviceGridSolver::operator=(DeviceGridSolver&&) noexcept = default;

DeviceArrival DeviceGridSolver::solve(const Sources& sources) { return engine_->solve(sources); }
void DeviceGridSolver::set_metric(const AnyMetric& metric) { engine_->set_metric(metric); }

}  // namespace isochron
