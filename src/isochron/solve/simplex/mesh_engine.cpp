// The engine of meshes: how triangles and tetrahedra are prepared, seeded, run and checked.
#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>

#include "isochron/metric/conducting.h"
#include "isochron/solve/common/dependence.h"
#include "isochron/solve/common/methods.h"
#include "isochron/solve/engine_of.h"
#include "isochron/solve/schedules/banded/banded_team.h"
#include "isochron/solve/schedules/banded/withdraw.h"
#include "isochron/solve/simplex/cuda/surface.h"
#include "isochron/solve/simplex/cuda/volume.h"
#include "isochron/solve/simplex/device_adapter.h"
#include "isochron/solve/simplex/factored.h"
#include "isochron/solve/simplex/finish.h"
#include "isochron/solve/simplex/mesh_dependence.h"
#include "isochron/solve/simplex/obtuse_split.h"
#include "isochron/solve/simplex/run.h"
#include "isochron/solve/simplex/seeds.h"

namespace isochron {
namespace {

struct MeshGroup {
  std::vector<Seed> seeds;
  std::optional<PlacedSource> factored;  ///< whose singular part is taken out
};

template <class T, int Corners>
using Schedule = std::unique_ptr<MeshSchedule<T, Corners>>;

/// What one run needs to know of the rest.
template <int Corners>
struct MeshRunContext {
  const SimplexMesh<Corners>& mesh;
  const Metric& metric;
  const SolveOptions& options;
  int threads;
};

/// One run of the plan's schedule.
template <class T, int Corners>
class MeshRun {
  using Context = MeshRunContext<Corners>;

 public:
  MeshRun(const SimplexProblem<T, Corners>& problem, const MeshGroup& group, const Context& context,
          MeshSchedule<T, Corners>* schedule)
      : problem_(problem), context_(context), schedule_(schedule), seeds_(group.seeds) {
    if constexpr (std::is_same_v<T, double>)
      if (group.factored) make_views(*group.factored);
  }

  void solve(Start<T>& start, std::vector<std::string>& notes) const {
    if (!views_.empty()) run_factored(start);
    else if (schedule_ != nullptr) schedule_->run(start.state, context_.threads, notes);
    else run_banded(problem_, start.state, {context_.threads, context_.options.band_width});
  }

  /// Solves on after a change, from the times before it. False when nearly all would be solved again: `start` is of no
  /// use then.
  bool update(Start<T>& start, const ChangedStart<T>& changed) const {
    BandTuning tuning = band_tuning(Corners, problem_.vertex_count, context_.threads, context_.options.band_width);
    const auto max = static_cast<std::size_t>(max_withdrawn_share * static_cast<double>(problem_.vertex_count));
    if (withdraw(plain(start), start, changed, tuning, max) > max) return false;
    run_banded(problem_, start.state, {context_.threads, context_.options.band_width, Horizon::none});
    return true;
  }

  [[nodiscard]] Residual residual(const Start<T>& start, double limit) const {
    return with_relaxer(start, [&](const auto& relax) {
      return residual_pass(relax, start.pinned, start.seeds, limit, context_.threads);
    });
  }

  /// Groups with a factored source have no other, so that their labels need no spreading.
  void spread_labels(Start<T>& start) const { LabelSpreader(plain(start), start.label, context_.threads).spread(); }

  [[nodiscard]] std::vector<Upwind> upwind(const Start<T>& start) const {
    return with_relaxer(start, [&](const auto& relax) { return upwind_pass(relax, start.pinned, context_.threads); });
  }

  /// Element ids are those of the mesh that is solved on.
  template <class Internal>
  [[nodiscard]] DependenceRows rows(const Start<T>& start, const SeedRows& seed_rows, const Internal& internal) const {
    const Plain relax = plain(start);
    const MeshDependence<T, Corners> dependence(problem_, context_.mesh, context_.metric, relax);
    return make_rows(problem_.vertex_count, start, problem_.unit, seeds_, seed_rows, context_.threads, internal,
                     [&](std::uint32_t v, DependenceRows& to) { dependence.add_row(v, to); });
  }

 private:
  using Plain = Relaxer<T, Corners, PlainTimes<T>>;

  [[nodiscard]] Plain plain(const Start<T>& start) const {
    return {problem_, PlainTimes<T>{const_cast<T*>(start.state.time.data())}};
  }

  template <class Use>
  auto with_relaxer(const Start<T>& start, Use&& use) const {
    if constexpr (std::is_same_v<T, double>)
      if (!views_.empty())
        return use(FactoredRelaxer<Corners, PlainTimes<double>>(
            problem_, PlainTimes<double>{const_cast<double*>(start.state.time.data())}, views_));
    return use(plain(start));
  }

  void make_views(const PlacedSource& source) {
    SymTensor3d at_source{};
    for (const ElementId e : source.elements)
      at_source = at_source + (1.0 / static_cast<double>(source.elements.size())) * context_.metric.tensor(e);
    views_ = view_from_source(problem_, context_.mesh, source.position, at_source);
  }

  void run_factored(Start<T>& start) const {
    if constexpr (std::is_same_v<T, double>) {
      const int threads = context_.threads;
      const BandTuning tuning = band_tuning(Corners, problem_.vertex_count, threads, context_.options.band_width);
      double* time = start.state.time.data();
      if (threads > 1) {
        const FactoredRelaxer<Corners, SharedTimes<double>> shared(problem_, SharedTimes<double>{time}, views_);
        BandedTeam(shared, start.state, tuning, threads).run();
      } else {
        banded_serial(FactoredRelaxer<Corners, PlainTimes<double>>(problem_, PlainTimes<double>{time}, views_),
                      start.state, tuning);
      }
    }
  }

  const SimplexProblem<T, Corners>& problem_;
  Context context_;
  MeshSchedule<T, Corners>* schedule_;  ///< null: time bands
  const std::vector<Seed>& seeds_;
  std::vector<SourceView> views_;  ///< of a factored source
};

template <int Corners>
class MeshAdapter {
 public:
  explicit MeshAdapter(const Domain& domain) : ids_(domain.ids) {
    if (const auto* tables = std::get_if<DeviceMesh>(&domain.shape)) {
      tables_ = *tables;
      gpu_ = device_holding(*tables, -1);
    } else {
      user_mesh_ = mesh_ = std::get<const SimplexMesh<Corners>*>(domain.shape);
    }
  }

  void use(const SolveOptions& options) { options_ = options; }
  [[nodiscard]] int gpu() const { return gpu_; }
  [[nodiscard]] static Noun user_noun() { return {"vertex", "vertices"}; }
  [[nodiscard]] std::size_t user_count() const {
    return user_mesh_ != nullptr ? user_mesh_->vertex_count() : tables_->points.rows();
  }
  [[nodiscard]] std::size_t element_count() const {
    return user_mesh_ != nullptr ? user_mesh_->element_count() : tables_->elements.rows();
  }
  /// Elements that do not conduct.
  [[nodiscard]] std::size_t left_out() const { return conducting_ ? conducting_->left_out() : 0; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

  [[nodiscard]] DomainFacts facts(const AnyMetric& metric) const {
    const std::size_t metric_bytes = metric.host() != nullptr ? metric.host()->bytes_per_element() : 0;
    return {Corners == 3 ? DomainKind::triangles : DomainKind::tetrahedra, element_count(),
            user_mesh_ == nullptr || metric.host() == nullptr,
            [vertices = user_count(), elements = element_count(), metric_bytes](Precision precision) {
              const std::size_t scalar = precision == Precision::double_ ? sizeof(double) : sizeof(float);
              return (Corners == 4 ? cuda::volume_bytes : cuda::surface_bytes)(vertices, elements, scalar,
                                                                               metric_bytes);
            }};
  }

  [[nodiscard]] bool ready() const { return ready_; }
  void metric_changed() { ready_ = host_ready_ = mesh_chosen_ = false; }
  void forget() {
    forget_mesh();
    metric_changed();
  }

  void prepare(const Plan& plan, const HeldMetric& metric) {
    plan_ = &plan;
    choose_mesh(metric);
    if (plan.method == Method::push) prepare_device(plan, metric);
    else prepare_host(plan, metric);
    ready_ = true;
  }

  /// Takes a metric that differs on some elements, with what was prepared for time bands. False when all must be
  /// prepared again. Throws InputError as `check_metric` does; the metric before stays then.
  bool change_metric(const HeldMetric& metric, std::span<const ElementId> elements) {
    if (!host_ready_ || !bands_alone() || left_out() > 0 || metric.host() == nullptr) return false;
    const Metric& changed = *metric.host();
    check_metric_form(changed, mesh_->element_count(), Subject::metric);
    for (const ElementId e : elements) {
      if (!changed.conducts(e)) return false;
      if (!usable_on(changed, e)) check_metric(changed, mesh_->element_count(), Subject::metric, plan_->threads);
    }
    metric_ = &changed;
    conducting_->refer_to(changed);
    slowness_.reset();
    return std::visit(
        [&](auto& problem) {
          if (!isochron::change_metric(problem, *mesh_, changed, elements)) return false;
          if (!plan_->split_obtuse || (problem.obtuse_corners == 0 && problem.virtual_elements.empty())) return true;
          std::vector<std::uint32_t> targets;
          for_changed(elements, [&](VertexId v) { targets.push_back(problem.internal(v)); });
          std::sort(targets.begin(), targets.end());
          targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
          if (targets.size() > problem.vertex_count / 4) return false;  // all threads make all of them in less time
          split_again(problem, *mesh_, changed, targets);
          return true;
        },
        problem_);
  }

  /// Calls `visit(vertex)` for the corners of an element of the user's mesh.
  template <class Visit>
  void for_vertices(ElementId element, const Visit& visit) const {
    for (const VertexId v : user_mesh_->element(element)) visit(v);
  }

  /// Calls `visit(vertex)`, maybe repeatedly, for the vertices whose updates read the metric of some elements: their
  /// corners, and targets of virtual elements that may stand for one of them.
  template <class Visit>
  void for_changed(std::span<const ElementId> elements, const Visit& visit) {
    std::vector<ElementId> beside;
    if (plan_->split_obtuse && !elements.empty()) {
      const bool whole = left_out() == 0;  // virtual elements before the change went through what is left out now
      beside = elements_split_by(*user_mesh_, whole ? user_adjacency() : build_adjacency(*user_mesh_, plan_->threads),
                                 elements);
      elements = beside;
    }
    for (const ElementId e : elements) for_vertices(e, visit);
  }

  /// What schedules need that work on a problem prepared by the host.
  void prepare_host(const Plan& plan, const HeldMetric& metric) {
    if (host_ready_) return;
    plan_ = &plan;
    choose_mesh(metric);
    const bool first = std::visit([](const auto& problem) { return problem.vertex_count == 0; }, problem_);
    if (first) check_mesh(*mesh_, ids_, plan.threads);
    check_metric(*metric_, mesh_->element_count(), Subject::metric, plan.threads);
    stop_if_cancelled();
    if (first) prepare_order();
    stop_if_cancelled();
    if (on_gpu_ == nullptr) notes_.clear();
    std::visit([&](auto& problem) { prepare_metric(problem); }, problem_);
    if (const auto* single = std::get_if<0>(&problem_);
        single != nullptr && !fits_single(single->shortest, single->longest)) {
      if (on_gpu_ == nullptr)
        notes_.push_back(precision_note(single->shortest * single->unit, single->longest * single->unit));
      const KeepOrder keep_order = single->order.identity() ? KeepOrder::yes : KeepOrder::no;
      prepare_metric(
          problem_.template emplace<1>(prepare_topology<double>(*mesh_, keep_order, plan.threads, for_pushes())));
    }
    std::visit(
        [&](const auto& problem) {
          check_edge_times(*mesh_, *metric_, problem.shortest, problem.longest, problem.unit);
        },
        problem_);
    if (on_gpu_ == nullptr) std::visit([&](auto& problem) { schedule_ = make_schedule(problem); }, problem_);
    host_ready_ = true;
  }

  [[nodiscard]] DeviceAdapter* device() const { return on_gpu_.get(); }
  std::vector<std::vector<Seed>> device_seeds(std::span<const Sources> source_sets) {
    return find_where_it_conducts(left_out(), [&] { return on_gpu_->seeds(source_sets); });
  }

  /// Makes what all solves read and the first one would make.
  void prepare_sources(std::span<const Sources> source_sets) {
    (void)user_adjacency();
    const auto has_points = [](const Sources& sources) { return !sources.points.empty(); };
    if (locator_ == nullptr && std::any_of(source_sets.begin(), source_sets.end(), has_points))
      locator_ = std::make_unique<PointLocator<Corners>>(*mesh_, plan_->threads);
  }

  /// How the seeds of plain and ball sources depend on the input, in the order of their group.
  [[nodiscard]] SeedRows seed_rows(const Sources& sources, SourceInit init) {
    SeedRows rows;
    const PlacedSources placed = place(sources);
    make_seeds(*mesh_, *metric_, user_adjacency(), sources, placed, init, limits_of(placed), &rows);
    return rows;
  }
  static constexpr bool on_mesh = true;
  /// By source: whether it may be moved.
  [[nodiscard]] std::vector<std::uint8_t> movable(const Sources& sources) {
    std::vector<std::uint8_t> result(sources.count(), 0);
    const std::size_t vertices = sources.vertices.size();
    std::fill_n(result.begin() + static_cast<std::ptrdiff_t>(vertices), sources.points.size(), 1);
    for (const PlacedSource& source : place(sources).points) {
      const auto number = static_cast<std::size_t>(source.source);
      // A point outside tetrahedra is on their boundary whichever way it goes; one beside a surface is on the surface.
      const bool outside =
          Corners == 4 && number >= vertices && source.position != sources.points[number - vertices].position;
      if (source.vertex.valid() || outside) result[number] = 0;
    }
    return result;
  }
  /// What an element that is solved on is to the user.
  [[nodiscard]] std::uint32_t user_element(std::uint32_t e) const {
    return conducting_ ? conducting_->original(ElementId(e)).value : e;
  }
  /// Throws UsageError for what has no derivative here.
  void check_differentiable() const {
    if (mesh_ == nullptr || metric_ == nullptr)
      throw UsageError("derivatives need the mesh and the metric in host memory");
  }

  /// Of factored sources one group for each point and one for the level set, else one of all.
  std::vector<MeshGroup> groups(const Sources& sources, SourceInit init) {
    const PlacedSources placed = place(sources);
    if (init != SourceInit::factored)
      return {{make_seeds(*mesh_, *metric_, user_adjacency(), sources, placed, init, limits_of(placed)), {}}};
    check_factored_count(placed.points.size());
    std::vector<MeshGroup> groups;
    for (const PlacedSource& source : placed.points) {
      MeshGroup& group = groups.emplace_back(MeshGroup{{}, source});
      add_seeds(*mesh_, *metric_, user_adjacency(), source, SourceInit::plain, {}, group.seeds);
    }
    if (placed.level_set) {
      PlacedSources only_level_set;
      only_level_set.level_set = true;
      MeshGroup& group = groups.emplace_back();
      group.seeds = make_seeds(*mesh_, *metric_, user_adjacency(), sources, only_level_set, SourceInit::plain, {});
      for (Seed& seed : group.seeds) seed.source = static_cast<std::int32_t>(placed.points.size());
    }
    return groups;
  }

  template <class Use>
  void with_problem(Use&& use) const {
    std::visit(use, problem_);
  }

  /// Of a mesh or a metric in device memory it fetches them.
  [[nodiscard]] BoundGeometry bound_geometry(const HeldMetric& metric) {
    const std::lock_guard<std::mutex> lock(*bounding_);
    if (!slowness_) slowness_ = least_slowness(metric_ != nullptr ? *metric_ : metric.device()->fetch());
    const double slowness = *slowness_;
    if (user_mesh_ != nullptr) return {[mesh = user_mesh_](std::size_t v) { return mesh->points[v]; }, slowness};
    auto mesh = std::make_shared<const SimplexMesh<Corners>>(on_device_->fetch());
    return {[mesh = std::move(mesh)](std::size_t v) { return mesh->points[v]; }, slowness};
  }

  template <class T>
  MeshRun<T, Corners> make_run(const SimplexProblem<T, Corners>& problem, const MeshGroup& group, int threads) const {
    const auto* schedule = std::get_if<Schedule<T, Corners>>(&schedule_);  // `push` has none
    return {problem, group, {*mesh_, *metric_, options_, threads}, schedule != nullptr ? schedule->get() : nullptr};
  }

  template <class T>
  [[nodiscard]] std::uint32_t internal(const SimplexProblem<T, Corners>& problem, VertexId vertex) const {
    return problem.internal(vertex);
  }
  template <class T, class Visit>
  void for_users(const SimplexProblem<T, Corners>& problem, int threads, const Visit& visit) const {
    stoppable_for(threads, problem.vertex_count, [&](std::size_t v) {
      visit(static_cast<std::uint32_t>(v), problem.user(static_cast<std::uint32_t>(v)).index());
    });
  }

 private:
  /// Whether time bands on the CPU do everything.
  [[nodiscard]] bool bands_alone() const {
    return on_gpu_ == nullptr && std::visit([](const auto& schedule) { return schedule == nullptr; }, schedule_);
  }
  [[nodiscard]] PlacedSources place(const Sources& sources) {
    return find_where_it_conducts(left_out(),
                                  [&] { return place_sources(*mesh_, user_adjacency(), sources, locator_.get()); });
  }
  [[nodiscard]] BallLimits limits_of(const PlacedSources& placed) const {
    return ball_limits(options_.ball_rings, placed.points.size(), mesh_->vertex_count(), Corners - 1);
  }

  /// The mesh that is solved on: without the elements that do not conduct.
  void choose_mesh(const HeldMetric& metric) {
    if (mesh_chosen_) return;
    const std::size_t left_out_before = left_out();
    metric_ = metric.host();
    mesh_ = user_mesh_;
    slowness_.reset();
    conducting_.reset();
    if (left_out_before > 0) forget_mesh();
    if (user_mesh_ != nullptr && metric_ != nullptr) {
      conducting_.emplace(*user_mesh_, *metric_, plan_->threads);
      mesh_ = &conducting_->mesh();
      metric_ = &conducting_->metric();
      if (left_out() > 0) forget_mesh();
    }
    mesh_chosen_ = true;
  }

  void forget_mesh() {
    on_gpu_.reset();
    schedule_ = {};
    problem_ = {};
    user_adjacency_ = {};
    locator_.reset();
  }

  void prepare_device(const Plan& plan, const HeldMetric& metric) {
    if (mesh_ == nullptr && !on_device_) on_device_.emplace(*tables_);
    const cuda::MetricInput metric_input =
        metric_ != nullptr ? cuda::MetricInput(*metric_) : cuda::MetricInput(*metric.device());
    if (on_gpu_ != nullptr && on_gpu_->set_metric(metric_input)) return;
    on_gpu_.reset();  // its memory may be needed
    const cuda::MeshInput<Corners> mesh_input =
        mesh_ != nullptr ? cuda::MeshInput<Corners>(*mesh_) : cuda::MeshInput<Corners>(*on_device_);
    notes_.clear();
    on_gpu_ = make_device_adapter<Corners>(mesh_input, metric_input, plan, options_, notes_);
  }

  /// Between the steps of preparing, of which each takes a share of a second on a mesh of millions.
  void stop_if_cancelled() const {
    if (options_.progress.cancelled()) throw Cancelled();
  }

  void prepare_order() {
    const bool keep =
        options_.reorder == Reorder::never || (options_.reorder == Reorder::automatic && locally_ordered(*mesh_));
    const KeepOrder keep_order = keep ? KeepOrder::yes : KeepOrder::no;
    const int threads = plan_->threads;
    if (plan_->precision == Precision::single_)
      problem_.template emplace<0>(prepare_topology<float>(*mesh_, keep_order, threads, for_pushes()));
    else problem_.template emplace<1>(prepare_topology<double>(*mesh_, keep_order, threads, for_pushes()));
  }

  [[nodiscard]] ForPushes for_pushes() const {
    if (const PaperMethod* paper = paper_method_on_meshes(plan_->method)) return paper->prepare_pushes;
    return plan_->method == Method::banded ? ForPushes::yes : ForPushes::no;
  }

  template <class T>
  void prepare_metric(SimplexProblem<T, Corners>& problem) {
    apply_metric(problem, *mesh_, *metric_, plan_->threads);
    problem.virtual_elements = {};
    if (plan_->split_obtuse && problem.obtuse_corners > 0)
      problem.virtual_elements = split_obtuse(problem, *mesh_, *metric_, SplitLimits{}, plan_->threads);
  }

  template <class T>
  Schedule<T, Corners> make_schedule(const SimplexProblem<T, Corners>& problem) const {
    if (const PaperMethod* paper = paper_method_on_meshes(plan_->method))
      return std::get<MakeMeshSchedule<T, Corners>>(paper->make_schedule)(problem, *mesh_, *metric_, options_);
    if (plan_->method == Method::active_list)
      return cuda::make_active_list(problem, *mesh_, *metric_, options_.paper.storage);
    return nullptr;
  }

  /// Incidences in the user's numbering. The internal ones serve when the order was kept.
  const Adjacency& user_adjacency() {
    const Adjacency* result = std::visit(
        [](const auto& problem) { return problem.order.identity() ? &problem.adjacency : nullptr; }, problem_);
    if (result != nullptr) return *result;
    if (user_adjacency_.offsets.empty()) user_adjacency_ = build_adjacency(*mesh_, plan_->threads);
    return user_adjacency_;
  }

  const SimplexMesh<Corners>* user_mesh_ = nullptr;  ///< null when the mesh is in device memory
  std::optional<ConductingMesh<Corners>> conducting_;
  const SimplexMesh<Corners>* mesh_ = nullptr;            ///< the part of it that conducts
  std::optional<DeviceMesh> tables_;                      ///< then these are its arrays, until they are copied
  std::optional<cuda::MeshOnDevice<Corners>> on_device_;  ///< and this is the copy
  MeshIds ids_;
  int gpu_ = -1;
  SolveOptions options_;
  const Plan* plan_ = nullptr;
  const Metric* metric_ = nullptr;
  bool ready_ = false, host_ready_ = false, mesh_chosen_ = false;
  std::optional<double> slowness_;  ///< the least, from the first check on
  std::unique_ptr<std::mutex> bounding_ = std::make_unique<std::mutex>();
  std::vector<std::string> notes_;
  std::unique_ptr<MeshDeviceAdapter> on_gpu_;  ///< when the GPU does everything: `push` also prepares there
  std::variant<Schedule<float, Corners>, Schedule<double, Corners>> schedule_;  ///< null: time bands
  std::variant<SimplexProblem<float, Corners>, SimplexProblem<double, Corners>> problem_;
  Adjacency user_adjacency_;
  std::unique_ptr<PointLocator<Corners>> locator_;  ///< from the first point source on
};

}  // namespace

template <int Corners>
std::unique_ptr<Engine> make_mesh_engine(const Domain& domain, SolveOptions options) {
  return std::make_unique<EngineOf<MeshAdapter<Corners>>>(MeshAdapter<Corners>(domain), domain.metric,
                                                          std::move(options));
}

template std::unique_ptr<Engine> make_mesh_engine<3>(const Domain&, SolveOptions);
template std::unique_ptr<Engine> make_mesh_engine<4>(const Domain&, SolveOptions);

}  // namespace isochron
