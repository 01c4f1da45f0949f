// The engine of paper 004's schemes of images, on the CPU and on the GPU.
#include <utility>

#include "isochron/papers/methods.h"
#include "isochron/solve/grid/device_adapter.h"
#include "isochron/solve/grid/grid_finish.h"
#include "isochron/solve/grid/image_adapter.h"

namespace isochron {
namespace {

/// One run of the plan's scheme.
template <class Problem>
class AxisSchemeRun {
  using T = typename Problem::Scalar;

 public:
  AxisSchemeRun(const Problem& problem, const Plan& plan, int threads)
      : problem_(problem), scheme_(scheme_of(plan)), threads_(threads) {}

  void solve(Start<T>& start, std::vector<std::string>& /*notes*/) const {
    solve_axis_scheme(problem_, scheme_, start);
  }

  [[nodiscard]] Residual residual(const Start<T>& start, double limit) const {
    return check_axis_scheme(problem_, scheme_, start, threads_, limit);
  }

  void spread_labels(Start<T>& start) const {
    GridLabelSpreader(problem_, start.state.time.data(), start.label, threads_).spread();
  }

  /// The capability table has no weights on images.
  [[nodiscard]] static std::vector<Upwind> upwind(const Start<T>& /*start*/) { return {}; }

 private:
  static AxisScheme scheme_of(const Plan& plan) {
    if (plan.scheme == GridScheme::lax_friedrichs) return AxisScheme::lax_friedrichs_fsm;
    return plan.method == Method::fim ? AxisScheme::godunov_fim : AxisScheme::godunov_fsm;
  }

  const Problem& problem_;
  AxisScheme scheme_;
  int threads_;
};

class AxisSchemeAdapter : public ImageAdapterBase<AnyTensorProblem> {
 public:
  using ImageAdapterBase::ImageAdapterBase;

  void forget() {
    on_gpu_.reset();
    metric_changed();
  }

  void prepare(const Plan& plan, const HeldMetric& metric) {
    plan_ = &plan;
    const VoxelMetric in_voxels = take_metric(metric);
    on_gpu_.reset();  // its memory may be needed, and it reads the tensors
    with_precision([&](auto scalar) {
      using T = decltype(scalar);
      problem<T>() = make_tensors<T>(in_voxels, *cells_, plan_->batch_threads);
      if (plan_->on_device()) std::visit([&](const auto& made) { adapt(made); }, problem<T>());
    });
    ready_ = true;
  }

  [[nodiscard]] DeviceAdapter* device() const { return on_gpu_.get(); }
  std::vector<std::vector<Seed>> device_seeds(std::span<const Sources> source_sets) {
    const int at_once = solves_at_once(source_sets.size(), 1, plan_->batch_threads);
    return seeds_of_sets(source_sets, at_once, [this](const Sources& sources) {
      return std::move(groups(sources, plan_->source_init)[0].seeds);
    });
  }

  template <class Problem>
  AxisSchemeRun<Problem> make_run(const Problem& problem, const ImageGroup& /*group*/, int threads) const {
    return {problem, *plan_, threads};
  }

 private:
  template <class Problem>
  void adapt(const Problem& problem) {
    on_gpu_ = std::make_unique<ImageDeviceAdapterOf<Problem>>(
        grid_, problem, cuda::make_block_fim(problem, options_.paper), plan_->batch_threads);
  }

  std::unique_ptr<ImageDeviceAdapter> on_gpu_;
};

}  // namespace

std::unique_ptr<Engine> make_axis_scheme_engine(const Domain& domain, SolveOptions options) {
  return std::make_unique<EngineOf<AxisSchemeAdapter>>(AxisSchemeAdapter(domain), domain.metric, std::move(options));
}

}  // namespace isochron
