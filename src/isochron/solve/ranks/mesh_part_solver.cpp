#include <algorithm>
#include <optional>
#include <utility>

#include "isochron/comm/collectives.h"
#include "isochron/core/timer.h"
#include "isochron/device.h"
#include "isochron/solve/ranks/banded_local.h"
#include "isochron/solve/ranks/device_local.h"
#include "isochron/solve/ranks/global_labels.h"
#include "isochron/solve/ranks/part_problem.h"
#include "isochron/solve/ranks/rank_device.h"
#include "isochron/solve/ranks/rank_engine.h"
#include "isochron/solve/ranks/sweep_local.h"
#include "isochron/solve/ranks/team_local.h"
#include "isochron/solve/simplex/finish.h"
#include "isochron/solve/simplex/run.h"

namespace isochron::ranks {
namespace {

/// Of each rank.
int threads_of(const SolveOptions& options) { return std::max(1, options.threads); }

/// All ranks together: threads that a band should keep busy. Ranks that have one each go without wider bands: they have
/// work of the next ones meanwhile.
int band_threads(Communicator& communicator, Pace pace, int own) {
  int most = 1, sum = 0;
  for (const int threads : all_values(communicator, pace == Pace::banded ? own : 1)) {
    most = std::max(most, threads);
    sum += threads;
  }
  return most > 1 ? sum : 1;
}

/// How a rank works on its part.
struct RankSetup {
  Pace pace = Pace::banded;
  double band_width = 0;
  int threads = 1;
  int band_threads = 1;  ///< that a band should keep busy, on all ranks together; alike on all
  int device = -1;       ///< a GPU instead of threads, when it is one
};

/// A part of a mesh.
template <class T, int Corners>
class PreparedPart final : public RankPart<T> {
  using Relax = Relaxer<T, Corners, PlainTimes<T>, FirstTargets>;
  using SharedRelax = Relaxer<T, Corners, SharedTimes<T>, FirstTargets>;
  using Start = isochron::Start<T>;

 public:
  PreparedPart(Communicator& communicator, const MeshPart<Corners>& part, SimplexProblem<T, Corners>&& problem,
               const RankSetup& setup)
      : communicator_(communicator),
        part_(part),
        problem_(std::move(problem)),
        setup_(setup),
        halo_(make_halo<Corners>(communicator, part, [&](VertexId v) { return problem_.internal(v); })) {
    if (setup.pace != Pace::banded) setup_.threads = 1;
    if (setup.device < 0) return;
    const cuda::OnDevice here(setup.device);
    device_part_ = make_device_part(problem_, static_cast<std::uint32_t>(part.owned), halo_);
  }

  [[nodiscard]] typename RankPart<T>::Facts facts() const override {
    return {part_.owned, problem_.vertex_count, problem_.vertex_count, problem_.unit, setup_.threads};
  }
  [[nodiscard]] const Halo& halo() const override { return halo_; }
  [[nodiscard]] std::uint32_t number_of_own(std::size_t own) const override { return problem_.internal(VertexId(own)); }
  [[nodiscard]] std::optional<std::uint32_t> number_of(GlobalVertexId vertex) const override {
    const std::optional<std::size_t> own = owned_place(part_, vertex.value);
    return own ? std::optional(number_of_own(*own)) : std::nullopt;
  }

  RankWork run(Start& start, const Progress& progress) const override {
    if (device_part_ != nullptr) {
      const cuda::OnDevice here(setup_.device);
      BandTuning wide = tuning();
      if (!(setup_.band_width > 0)) wide.width *= device_bands;
      return run_on_device(communicator_, halo_, *device_part_, start.state, wide, problem_.mean_edge, setup_.pace,
                           progress, whole());
    }
    if (setup_.threads > 1) return run_in_team(start.state, progress);
    const Relax relax = relax_of(start);
    if (setup_.pace == Pace::sweeps) {
      SweepLocal<Relax> local(relax, start.state, halo_);
      return run_here(local, progress);
    }
    BandTuning tuning = this->tuning();
    if (setup_.pace == Pace::local_solves) tuning.horizon = Horizon::none;
    BandedLocal<Relax> local(relax, start.state, halo_, tuning);
    return run_here(local, progress);
  }

  [[nodiscard]] Residual residual(Start& start, double limit) const override {
    Residual own = residual_pass(relax_of(start), start.pinned, start.seeds, limit, setup_.threads, part_.owned);
    if (own.worst_vertex.valid()) own.worst_vertex = GlobalVertexId(part_.global_vertex[own.worst_vertex.index()]);
    return own;
  }

  void spread_labels(Start& start) const override {
    const Relax relax = relax_of(start);
    PartLabelsOf<LabelSpreader<Relax>> labels(relax, start.label, 1, part_.owned);
    spread_labels_over_ranks(communicator_, halo_, labels);
  }

 private:
  [[nodiscard]] Relax relax_of(Start& start) const {
    return Relax(problem_, PlainTimes<T>{start.state.time.data()},
                 FirstTargets{static_cast<std::uint32_t>(part_.owned)});
  }

  RankWork run_in_team(SolveState<T>& state, const Progress& progress) const {
    const SharedRelax relax(problem_, SharedTimes<T>{state.time.data()},
                            FirstTargets{static_cast<std::uint32_t>(part_.owned)});
    TeamLocal<SharedRelax> local(relax, state, halo_, tuning(), setup_.threads);
    RankWork work;
    local.lead([&] { work = run_here(local, progress); });
    // The others wait with the one that waits for other ranks; it counts for itself alone.
    work.bands.idle_seconds = work.bands.idle_seconds / setup_.threads + local.waited_seconds();
    return work;
  }

  RankWork run_here(LocalSolver<T>& local, const Progress& progress) const {
    return run_bands(communicator_, halo_, local, setup_.pace, progress, whole());
  }

  [[nodiscard]] ProblemSize whole() const { return {part_.whole_vertices, problem_.longest / problem_.shortest}; }
  [[nodiscard]] BandTuning tuning() const {
    return band_tuning(Corners, static_cast<std::size_t>(part_.whole_vertices), setup_.band_threads, setup_.band_width);
  }

  Communicator& communicator_;
  const MeshPart<Corners>& part_;
  SimplexProblem<T, Corners> problem_;
  RankSetup setup_;
  Halo halo_;
  std::unique_ptr<DevicePart<T>> device_part_;  ///< null where the CPU solves
};

}  // namespace

void check_rank_options(DomainKind domain, const SolveOptions& options) {
  Wanted wanted{domain, Hardware::ranks};
  wanted.method = options.method;
  wanted.scheme = options.scheme;
  wanted.source_init = options.source_init;
  wanted.order = options.order;
  wanted.weights = options.weights == Keep::yes;
  (void)require_capability(wanted);
}

template <int Corners>
std::unique_ptr<PartSolver> make_part_solver(Communicator& communicator, const MeshPart<Corners>& part,
                                             const Metric& metric, const SolveOptions& options,
                                             std::span<const VirtualRecord<double, Corners>> virtual_elements) {
  const Timer timer;
  const Pace pace = options.ranks.pace;
  const bool on_device = options.backend == Backend::cuda;
  if (on_device && pace == Pace::sweeps) throw UsageError("sweeps over ranks are made on CPUs; choose another pace");
  const int threads = on_device ? 1 : threads_of(options);
  const RankSetup setup{pace, options.band_width, threads, band_threads(communicator, pace, threads),
                        on_device ? required_device(communicator) : -1};
  const ForPushes pushes = on_device ? ForPushes::no : ForPushes::yes;
  std::vector<std::string> notes;
  if (on_device) notes.emplace_back("each rank solved on its GPU");
  const auto prepared = [&](auto scalar) {
    return prepare_part<decltype(scalar)>(communicator, part, metric, virtual_elements, options.reorder,
                                          threads_of(options), pushes);
  };
  const auto engine = [&](auto problem) -> std::unique_ptr<PartSolver> {
    using T = typename decltype(problem)::Scalar;
    auto prepared_part = std::make_unique<PreparedPart<T, Corners>>(communicator, part, std::move(problem), setup);
    return std::make_unique<RankEngine<T>>(communicator, options, notes, timer, std::move(prepared_part));
  };
  if (options.precision == Precision::single_ || (on_device && options.precision == Precision::automatic)) {
    auto problem = prepared(float());
    if (fits_single(problem.shortest, problem.longest)) return engine(std::move(problem));
    notes.push_back(precision_note(problem.shortest * problem.unit, problem.longest * problem.unit));
  }
  return engine(prepared(double()));
}

template std::unique_ptr<PartSolver> make_part_solver(Communicator&, const MeshPart<3>&, const Metric&,
                                                      const SolveOptions&, std::span<const VirtualRecord<double, 3>>);
template std::unique_ptr<PartSolver> make_part_solver(Communicator&, const MeshPart<4>&, const Metric&,
                                                      const SolveOptions&, std::span<const VirtualRecord<double, 4>>);

}  // namespace isochron::ranks
