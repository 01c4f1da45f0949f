// The engine of a domain that rank 0 has as a whole: it is partitioned over the ranks, or solved by all as one, or each
// rank gets a copy and solves some sets of sources.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "isochron/comm/collectives.h"
#include "isochron/core/timer.h"
#include "isochron/device.h"
#include "isochron/mesh.h"
#include "isochron/metric/conducting.h"
#include "isochron/solve/common/lower_bound.h"
#include "isochron/solve/common/virtual_elements.h"
#include "isochron/solve/grid/grid_seeds.h"
#include "isochron/solve/ranks/grid_part.h"
#include "isochron/solve/ranks/part_solver.h"
#include "isochron/solve/ranks/partition_by_time.h"
#include "isochron/solve/ranks/rank_device.h"
#include "isochron/solve/ranks/rank_engines.h"
#include "isochron/solve/ranks/rank_groups.h"
#include "isochron/solve/ranks/rank_seeds.h"
#include "isochron/solve/ranks/scatter.h"
#include "isochron/solve/ranks/solve_messages.h"
#include "isochron/solve/ranks/source_scheduler.h"
#include "isochron/solve/source_set.h"
#include "isochron/solver.h"

namespace isochron::ranks {
namespace {

/// A mesh as `WholeEngine` wants it. On ranks other than 0 there is none.
template <int Corners>
class WholeMesh {
 public:
  static constexpr DomainKind kind = Corners == 3 ? DomainKind::triangles : DomainKind::tetrahedra;
  static constexpr bool supports_groups = true;  ///< a part may be that of a group of ranks

  explicit WholeMesh(const Domain& domain) : whole_(*std::get<const SimplexMesh<Corners>*>(domain.shape)) {}

  /// Gives the metric of what is solved on: of the elements that conduct.
  [[nodiscard]] std::shared_ptr<const Metric> take(std::shared_ptr<const Metric> metric) {
    check_mesh(whole_);
    auto next = std::make_shared<const ConductingMesh<Corners>>(whole_, *metric);
    check_metric(next->metric(), next->mesh().element_count(), "the metric");
    conducting_ = std::move(next);
    if (conducting_->left_out() == 0) return metric;
    return {conducting_, &conducting_->metric()};
  }
  [[nodiscard]] std::size_t count() const { return whole_.vertex_count(); }
  [[nodiscard]] std::size_t left_out() const { return conducting_->left_out(); }
  [[nodiscard]] BoundGeometry bound_geometry(const Metric& metric) const {
    return {[this](std::size_t v) { return whole_.points[v]; }, least_slowness(metric)};
  }

  [[nodiscard]] std::vector<Seed> seeds(const Metric& metric, const Sources& sources,
                                        const SolveOptions& options) const {
    return find_where_it_conducts(left_out(), [&] { return whole_seeds(mesh(), metric, sources, options); });
  }

  void pack(Bytes& bytes) const {
    put_vector(bytes, mesh().points);
    put_vector(bytes, mesh().elements);
  }

  /// A mesh that came as bytes.
  class Copy {
   public:
    explicit Copy(Unpack& unpack) {
      mesh_.points = unpack.take_vector<Vec3d>();
      mesh_.elements = unpack.take_vector<typename SimplexMesh<Corners>::Element>();
    }
    [[nodiscard]] Domain domain(const Metric& metric) const { return {mesh_, metric}; }

   private:
    SimplexMesh<Corners> mesh_;
  };

  /// The rank of each vertex.
  using Cut = std::vector<std::uint32_t>;
  [[nodiscard]] Cut cut(const Metric& metric, std::span<const Seed> seeds, int parts, const SolveOptions& options,
                        int threads) const {
    RankOptions how = options.ranks;
    how.threads = threads;
    return parts > 1 && how.blocks_per_rank == 0 ? partition_by_time(mesh(), metric, seeds, parts, threads)
                                                 : partition_in_blocks(mesh(), parts, how);
  }

  /// One rank's part.
  class Part {
   public:
    /// All ranks together, of which the first has the whole and how it is cut.
    Part(Communicator& communicator, const WholeMesh* whole, const Metric* metric, std::optional<Cut>&& cut,
         const SolveOptions& options, int threads)
        : part_(scatter<Corners>(communicator, whole == nullptr ? nullptr : &whole->mesh(), metric,
                                 cut ? std::move(*cut) : Cut(), options.obtuse, threads)),
          solver_(make_part_solver<Corners>(communicator, part_.part, part_.metric, options, part_.virtual_elements)) {}
    Arrival solve(std::span<const Seed> seeds) { return solver_->solve(seeds); }
    [[nodiscard]] std::span<const std::uint64_t> own() const {
      return std::span(part_.part.global_vertex).first(part_.part.owned);
    }

   private:
    SolvePart<Corners> part_;
    std::unique_ptr<PartSolver> solver_;
  };

 private:
  [[nodiscard]] const SimplexMesh<Corners>& mesh() const { return conducting_->mesh(); }

  const SimplexMesh<Corners>& whole_;
  std::shared_ptr<const ConductingMesh<Corners>> conducting_;
};

/// The same for an image. It is not solved by several groups: each rank has blocks of its own then.
class WholeImage {
 public:
  static constexpr DomainKind kind = DomainKind::image;
  static constexpr bool supports_groups = false;

  explicit WholeImage(const Domain& domain) : grid_(std::get<MaskedGrid>(domain.shape)) {
    check_grid(*grid_.grid, "the image");
    cells_ = make_cells(*grid_.grid, grid_.mask);
  }

  [[nodiscard]] std::shared_ptr<const Metric> take(std::shared_ptr<const Metric> metric) const {
    check_grid_metric({*grid_.grid, *metric}, cells_);
    return metric;
  }
  [[nodiscard]] static std::size_t left_out() { return 0; }
  [[nodiscard]] BoundGeometry bound_geometry(const Metric& metric) const {
    const std::vector<ElementId> allowed = allowed_voxels(cells_);
    return {[this](std::size_t v) { return grid_.grid->position(VertexId(v)); }, least_slowness(metric, &allowed)};
  }
  [[nodiscard]] std::size_t count() const { return grid_.grid->voxel_count(); }

  [[nodiscard]] std::vector<Seed> seeds(const Metric& metric, const Sources& sources,
                                        const SolveOptions& options) const {
    const auto placed = place_grid_sources(*grid_.grid, cells_, sources);
    const int radius = limited_radius(options.ball_rings, placed.size(), *grid_.grid);
    return make_grid_seeds({*grid_.grid, metric}, cells_, placed, options.source_init, radius);
  }

  void pack(Bytes& bytes) const {
    put(bytes, *grid_.grid);
    put_vector(bytes, grid_.mask);
  }

  class Copy {
   public:
    explicit Copy(Unpack& unpack) : grid_(unpack.take<ImageGrid>()), mask_(unpack.take_vector<std::uint8_t>()) {}
    [[nodiscard]] Domain domain(const Metric& metric) const { return {grid_, metric, mask_}; }

   private:
    ImageGrid grid_;
    std::vector<std::uint8_t> mask_;
  };

  /// The image, and which rank gets which block.
  using Cut = WholeGrid;
  [[nodiscard]] Cut cut(const Metric& metric, std::span<const Seed> seeds, int ranks, const SolveOptions& options,
                        int threads) const {
    const VoxelMetric in_voxels{*grid_.grid, metric};
    WholeGrid whole{*grid_.grid, metric, cells_, plan_stencils(in_voxels, cells_, threads), {}, options.order};
    const Vec3i reach = options.order * stencil_reach(in_voxels, cells_, whole.plan, threads);
    whole.partition = partition_blocks(in_voxels, cells_, reach, seeds, ranks, options.ranks.blocks_per_rank);
    return whole;
  }

  class Part {
   public:
    Part(Communicator& communicator, const WholeImage* /*whole*/, const Metric* /*metric*/, std::optional<Cut>&& cut,
         const SolveOptions& options, int /*threads*/) {
      const GridPart part = scatter_grid(communicator, cut ? &*cut : nullptr);
      cut.reset();
      own_ = part.own_voxels();
      solver_ = make_part_solver(communicator, part, options);
    }
    Arrival solve(std::span<const Seed> seeds) { return solver_->solve(seeds); }
    [[nodiscard]] std::span<const std::uint64_t> own() const { return own_; }

   private:
    std::vector<std::uint64_t> own_;
    std::unique_ptr<PartSolver> solver_;
  };

 private:
  MaskedGrid grid_;
  GridCells cells_;
};

/// Sets that a rank solves side by side: one on each thread; on a GPU up to 64, as long as all ranks get some.
std::size_t chunk_of(const RankOptions& options, std::size_t sets, int ranks) {
  if (options.rank_backend != Backend::cuda) return static_cast<std::size_t>(options.batch_threads);
  return std::clamp<std::size_t>(sets / (2 * chunks_ahead * static_cast<std::size_t>(ranks)), 1, 64);
}

template <class Whole>
class WholeEngine final : public Engine {
 public:
  /// The domain is that of rank 0.
  WholeEngine(const Domain& domain, SolveOptions options, Communicator& communicator)
      : communicator_(communicator), root_(communicator.rank() == 0), options_(std::move(options)) {
    const Timer timer;
    all_or_none(communicator_, [&] {
      check_rank_options(Whole::kind, options_);
      if (!root_) return;
      domain_ = domain;
      whole_.emplace(domain);
      take_metric(domain.metric);
    });
    setup_seconds_ = timer.seconds();
  }

  void set_metric(const AnyMetric& metric) override {
    all_or_none(communicator_, [&] {
      if (root_) take_metric(metric);
    });
    release();
  }

  void solve_many(std::span<const Sources> source_sets, const TakeArrival& take) override {
    const auto sets = static_cast<std::size_t>(broadcast_value<std::uint64_t>(communicator_, source_sets.size()));
    if (communicator_.size() > 1 && options_.ranks.blocks_per_rank == 0 && sets >= communicator_.ranks()) {
      share_sources(source_sets, take);
      return;
    }
    for (std::size_t i = 0; i < sets; ++i) {
      Arrival arrival = solve(source_sets, i);
      all_or_none(communicator_, [&] {
        if (root_) take(i, std::move(arrival));
      });
    }
  }

  Residual residual(const Arrival& arrival, const Sources& sources) override {
    Residual result;
    all_or_none(communicator_, [&] {
      if (root_) result = Solver(domain_, on_threads(options_)).residual(arrival, sources);
    });
    return broadcast_value(communicator_, result);
  }

 private:
  /// The options of a solver of the whole, in place of those of parts.
  static SolveOptions on_threads(SolveOptions options) {
    options.threads = std::max(1, options.threads);
    options.backend = options.threads > 1 ? Backend::threads : Backend::serial;
    return options;
  }

  void take_metric(const AnyMetric& metric) {
    metric_ = whole_->take(host_metric(metric));
    domain_.metric = metric;
  }

  void release() {
    part_.reset();
    has_parts_ = false;
    whole_solver_.reset();
    groups_.reset();
  }

  /// Who solves with whom.
  void form_groups() {
    const Timer timer;
    part_options_ = options_;
    part_options_.backend = agreed_backend(communicator_, options_.ranks.rank_backend);
    const int most = part_options_.backend == Backend::cuda ? 1 : options_.ranks.group_size;
    groups_ = std::make_unique<RankGroups>(communicator_, most);
    note_ = groups_->note();
    solved_as_one_ = groups_->count() == 1 && part_options_.backend != Backend::cuda &&
                     (communicator_.size() > 1 || options_.ranks.blocks_per_rank == 0);
    if (solved_as_one_ && options_.ranks.blocks_per_rank > 0)
      note_ = "no pieces were made, since the ranks solve it as one";
    setup_seconds_ += timer.seconds();
    if (solved_as_one_ || Whole::supports_groups) return;
    if (options_.ranks.group_size > 1 && note_.empty())
      note_ = "each rank has blocks of its own, since an image is solved by all ranks as one team or by none";
    groups_.reset();  // gives the cores back
    groups_ = std::make_unique<RankGroups>(communicator_, 1);
  }

  /// All ranks together; the sets are those of rank 0.
  Arrival solve(std::span<const Sources> sets, std::size_t set) {
    if (groups_ == nullptr) form_groups();
    Arrival arrival = solved_as_one_ ? solve_as_one(sets, set) : solve_parts(sets, set);
    arrival.setup_seconds = setup_seconds_;
    if (root_) arrival.not_conducting = whole_->left_out();
    if (!note_.empty()) arrival.notes.push_back(note_);
    return arrival;
  }

  /// By the only group, which rank 0 leads.
  Arrival solve_as_one(std::span<const Sources> sets, std::size_t set) {
    all_or_none(communicator_, [&] {
      if (!root_ || whole_solver_ != nullptr) return;
      const Timer timer;
      whole_solver_ = std::make_unique<Solver>(domain_, on_threads(groups_->options(part_options_)));
      setup_seconds_ += timer.seconds();
    });
    Arrival arrival;
    groups_->lead(options_.progress,
                  [&] { arrival = for_source_set(set, sets.size(), [&] { return whole_solver_->solve(sets[set]); }); });
    arrival.backend = Backend::mpi;
    arrival.traffic.emplace().bands = arrival.counters.rounds;
    return arrival;
  }

  Arrival solve_parts(std::span<const Sources> sets, std::size_t set) {
    const Timer timer;
    const int threads = std::max(options_.ranks.threads, groups_->threads());
    std::vector<Seed> seeds;
    std::optional<typename Whole::Cut> cut;
    all_or_none(communicator_, [&] {
      if (!root_) return;
      seeds = for_source_set(set, sets.size(), [&] { return whole_->seeds(*metric_, sets[set], options_); });
      if (!has_parts_) cut.emplace(whole_->cut(*metric_, seeds, groups_->count(), options_, threads));
    });
    seeds = broadcast_values(communicator_, seeds);
    if (!has_parts_) {
      groups_->lead(options_.progress, [&] {
        part_ = std::make_unique<typename Whole::Part>(groups_->between(), root_ ? &*whole_ : nullptr, metric_.get(),
                                                       std::move(cut), groups_->options(part_options_), threads);
      });
      has_parts_ = true;
      setup_seconds_ += timer.seconds();
    }
    Arrival arrival;
    groups_->lead(options_.progress, [&] {
      arrival = gather_arrival(groups_->between(), part_->own(), root_ ? whole_->count() : 0, part_->solve(seeds));
    });
    if (root_ && arrival.residual) {
      const bool monotone = options_.order == 1 && !wants_split(options_.obtuse, Whole::kind);
      check_lower_bound(whole_->bound_geometry(*metric_), seeds, arrival.times, {}, max_share_below(monotone),
                        *arrival.residual);
      arrival.converged = arrival.converged && arrival.residual->passed();
    }
    return arrival;
  }

  /// Each rank gets the whole and solves some sets by itself.
  void share_sources(std::span<const Sources> sets, const TakeArrival& take) {
    release();
    Bytes bytes;
    if (root_) {
      whole_->pack(bytes);
      put_metric(bytes, *metric_);
    }
    bytes = broadcast(communicator_, std::move(bytes));
    std::optional<typename Whole::Copy> copy;
    Metric metric;
    if (!root_) {
      Unpack unpack(bytes);
      copy.emplace(unpack);
      metric = ranks::take_metric(unpack);
    }
    bytes = Bytes();
    SolveOptions own = options_;
    own.backend = options_.ranks.rank_backend;
    own.threads = options_.ranks.batch_threads;
    own.progress.report = nullptr;  // the batch as a whole reports
    const bool may_use_device = own.backend == Backend::cuda || own.backend == Backend::automatic;
    const int device = may_use_device ? rank_device(communicator_) : -1;
    std::unique_ptr<Solver> solver;
    const SolveMany solve_some = [&](std::span<const Sources> some, const TakeArrival& take_one) {
      const cuda::OnDevice here(device);
      if (solver == nullptr) solver = std::make_unique<Solver>(root_ ? domain_ : copy->domain(metric), own);
      solver->solve_many(some, take_one);
    };
    if (!root_) serve_sources(communicator_, solve_some);
    std::optional<Failure> failed;
    try {
      if (root_)
        schedule_sources(communicator_, sets, chunk_of(options_.ranks, sets.size(), communicator_.size()), solve_some,
                         options_.progress, [&](std::size_t set, Arrival&& arrival) {
                           arrival.backend = Backend::mpi;
                           arrival.traffic.emplace().division = Division::sources;
                           take(set, std::move(arrival));
                         });
    } catch (const Cancelled&) {
      throw;
    } catch (...) {
      failed = current_failure();
    }
    throw_together(communicator_, failed);
  }

  Communicator& communicator_;
  bool root_;
  SolveOptions options_;

  // On rank 0 alone.
  Domain domain_;
  std::optional<Whole> whole_;
  std::shared_ptr<const Metric> metric_;

  // Made by the first solve that needs them.
  std::unique_ptr<RankGroups> groups_;
  SolveOptions part_options_;  ///< of this rank's part
  bool solved_as_one_ = false;
  std::unique_ptr<Solver> whole_solver_;        ///< where they do, on rank 0
  bool has_parts_ = false;                      ///< where they do not solve as one
  std::unique_ptr<typename Whole::Part> part_;  ///< on ranks that lead a group
  std::string note_;
  double setup_seconds_ = 0;
};

}  // namespace

std::unique_ptr<Engine> make_whole_engine(const Domain& domain, SolveOptions options, Communicator& communicator) {
  DomainKind kind{};
  all_or_none(communicator, [&] {
    if (communicator.rank() != 0) return;
    if (std::holds_alternative<std::monostate>(domain.shape) || domain.on_device())
      throw UsageError("rank 0 has no domain on the host; give it the whole, or each rank a part");
    kind = domain.kind();
  });
  switch (broadcast_value(communicator, kind)) {
    case DomainKind::triangles:
      return std::make_unique<WholeEngine<WholeMesh<3>>>(domain, std::move(options), communicator);
    case DomainKind::tetrahedra:
      return std::make_unique<WholeEngine<WholeMesh<4>>>(domain, std::move(options), communicator);
    case DomainKind::image: break;
  }
  return std::make_unique<WholeEngine<WholeImage>>(domain, std::move(options), communicator);
}

}  // namespace isochron::ranks

namespace isochron {

std::unique_ptr<Engine> make_rank_engine(const Domain& domain, SolveOptions options, Communicator& communicator) {
  const std::vector<std::size_t> shapes = all_values(communicator, domain.in_parts() ? domain.shape.index() : 0);
  all_or_none(communicator, [&] {
    if (std::count(shapes.begin(), shapes.end(), shapes[0]) != communicator.size())
      throw UsageError("some ranks have a part of the domain, others none or one of another kind; give each its part");
  });
  return domain.in_parts() ? ranks::make_part_engine(domain, std::move(options), communicator)
                           : ranks::make_whole_engine(domain, std::move(options), communicator);
}

}  // namespace isochron
