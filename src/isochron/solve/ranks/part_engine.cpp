// Engines of domains that ranks have in parts.
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "isochron/comm/collectives.h"
#include "isochron/core/timer.h"
#include "isochron/mesh.h"
#include "isochron/metric/conducting.h"
#include "isochron/solve/engine.h"
#include "isochron/solve/ranks/grid_boxes.h"
#include "isochron/solve/ranks/part_solver.h"
#include "isochron/solve/ranks/part_split.h"
#include "isochron/solve/ranks/rank_device.h"
#include "isochron/solve/ranks/rank_engines.h"
#include "isochron/solve/ranks/rank_seeds.h"
#include "isochron/solve/source_set.h"

namespace isochron::ranks {
namespace {

/// What parts of meshes and images have in common: one set of sources is solved after the other.
class PartEngine : public Engine {
 public:
  PartEngine(DomainKind kind, SolveOptions options, Communicator& communicator)
      : communicator_(communicator), options_(std::move(options)) {
    check_rank_options(kind, options_);
    options_.backend = agreed_backend(communicator, options_.ranks.rank_backend);
  }

  void solve_many(std::span<const Sources> source_sets, const TakeArrival& take) final {
    for (std::size_t i = 0; i < source_sets.size(); ++i) {
      Arrival arrival = for_source_set(i, source_sets.size(), [&] { return solve(source_sets[i]); });
      all_or_none(communicator_, [&] { take(i, std::move(arrival)); });
    }
  }

  Residual residual(const Arrival& /*arrival*/, const Sources& /*sources*/) final {
    throw UsageError("given times are not checked in parts; ask for the residual with the solve, or check the whole");
  }

 protected:
  virtual Arrival solve(const Sources& sources) = 0;

  Communicator& communicator_;
  SolveOptions options_;
  double setup_seconds_ = 0;
};

template <int Corners>
class MeshPartEngine final : public PartEngine {
  static constexpr DomainKind kind = Corners == 3 ? DomainKind::triangles : DomainKind::tetrahedra;

 public:
  MeshPartEngine(const MeshPart<Corners>& part, const AnyMetric& metric, SolveOptions options,
                 Communicator& communicator)
      : PartEngine(kind, std::move(options), communicator), whole_part_(part) {
    if (Corners == 4 && options_.obtuse == ObtuseSplit::split)
      throw UsageError("virtual tetrahedra are not made on a mesh in parts; leave them out, or solve on the whole");
    set_metric(metric);
  }

  void set_metric(const AnyMetric& metric) override {
    const Timer timer;
    std::shared_ptr<const Metric> next;
    std::optional<std::vector<ElementId>> kept;
    all_or_none(communicator_, [&] {
      next = host_metric(metric);
      if (whole_part_.mesh.element_count() == 0) return;
      check_mesh(whole_part_.mesh);
      kept = conducting_elements(*next, whole_part_.mesh.element_count(), Subject::metric);
    });
    Reduced reduced = reduced_to(kept);
    solver_.reset();  // it refers to the part
    if (reduced.part || conducting_) adjacency_ = {};
    conducting_ = std::move(reduced.part);
    left_out_ = reduced.left_out;
    metric_ = kept ? std::make_shared<const Metric>(next->of(*kept)) : next;
    const std::vector<VirtualRecord<double, Corners>> virtual_elements = split();
    solver_ =
        make_part_solver<Corners>(communicator_, extended_ ? *extended_ : part(), *metric_, options_, virtual_elements);
    setup_seconds_ = timer.seconds();
  }

 private:
  Arrival solve(const Sources& sources) override {
    const Timer timer;
    if (adjacency_.offsets.empty()) adjacency_ = build_adjacency(part().mesh, wanted_threads(options_));
    const std::vector<Seed> seeds = part_seeds(communicator_, part(), adjacency_, *metric_, sources, options_);
    const double seconds = timer.seconds();
    Arrival arrival = solver_->solve(seeds);
    arrival.setup_seconds = setup_seconds_ + seconds;
    arrival.not_conducting = left_out_;
    return arrival;
  }

  /// The part that is solved on.
  [[nodiscard]] const MeshPart<Corners>& part() const { return conducting_ ? *conducting_ : whole_part_; }

  /// A part without the elements that do not conduct.
  struct Reduced {
    std::optional<MeshPart<Corners>> part;  ///< none where all elements of this rank conduct
    std::uint64_t left_out = 0;             ///< elements, of all ranks
  };
  /// All ranks together.
  Reduced reduced_to(const std::optional<std::vector<ElementId>>& kept) const {
    Reduced reduced;
    if (sum_of_all(communicator_, kept ? 1 : 0) == 0) return reduced;
    std::uint64_t own = 0, conducting = 0;
    for (std::size_t e = 0; e < whole_part_.mesh.element_count(); ++e) own += whole_part_.counts(ElementId(e)) ? 1 : 0;
    conducting = own;
    if (kept) {
      reduced.part.emplace(whole_part_);
      reduced.part->mesh = with_elements<Corners>(whole_part_.mesh, *kept);
      reduced.part->global_element.clear();
      conducting = 0;
      for (const ElementId e : *kept) {
        reduced.part->global_element.push_back(whole_part_.global_element[e.index()]);
        conducting += whole_part_.counts(e) ? 1 : 0;
      }
    }
    const std::uint64_t all_conducting = sum_of_all(communicator_, conducting);
    reduced.left_out = sum_of_all(communicator_, own) - all_conducting;
    all_or_none(communicator_, [&] {
      if (all_conducting == 0) refuse_standstill();
    });
    return reduced;
  }

  /// The vertices that virtual elements need are ghosts of a copy: the caller's part stays as it is.
  std::vector<VirtualRecord<double, Corners>> split() {
    std::vector<VirtualRecord<double, Corners>> records;
    if constexpr (Corners == 3) {
      if (options_.obtuse == ObtuseSplit::none) return records;
      records = split_part(communicator_, extended_.emplace(part()), *metric_);
      if (records.empty()) extended_.reset();
    }
    return records;
  }

  const MeshPart<Corners>& whole_part_;
  std::optional<MeshPart<Corners>> conducting_;  ///< where elements do not conduct
  std::uint64_t left_out_ = 0;                   ///< such elements, of all ranks
  Adjacency adjacency_;                          ///< of the part that is solved on
  std::shared_ptr<const Metric> metric_;
  std::optional<MeshPart<Corners>> extended_;
  std::unique_ptr<PartSolver> solver_;
};

/// Results are brought from the blocks that ranks solve on to their boxes. Blocks are made for the first sources.
class BoxEngine final : public PartEngine {
 public:
  BoxEngine(const BoxedGrid& grid, const AnyMetric& metric, SolveOptions options, Communicator& communicator)
      : PartEngine(DomainKind::image, std::move(options), communicator), grid_(grid) {
    set_metric(metric);
  }

  void set_metric(const AnyMetric& metric) override {
    const Timer timer;
    std::shared_ptr<const Metric> next;
    all_or_none(communicator_, [&] { next = host_metric(metric); });
    boxes_ = std::make_unique<GridBoxes>(communicator_, *grid_.whole, *grid_.boxes, *next,
                                         std::vector<std::uint8_t>(grid_.mask.begin(), grid_.mask.end()));
    metric_ = next;
    solver_.reset();
    setup_seconds_ = timer.seconds();
  }

 private:
  Arrival solve(const Sources& sources) override {
    const Timer timer;
    const std::vector<Seed> seeds = boxes_->seeds(sources, options_);
    if (solver_ == nullptr) {
      part_ = boxes_->partition(seeds, options_.order, options_.ranks.blocks_per_rank);
      solver_ = make_part_solver(communicator_, part_, options_);
      part_.metric = {};
      setup_seconds_ += timer.seconds();
    }
    Arrival arrival = solver_->solve(seeds);
    arrival.setup_seconds = setup_seconds_;
    arrival.unreached = grid_.whole->voxel_count() - arrival.reached;
    arrival.times = boxes_->gather_to_boxes(part_, std::span<const double>(std::exchange(arrival.times, {})),
                                            std::numeric_limits<double>::infinity());
    if (options_.sources == Keep::yes)
      arrival.source = boxes_->gather_to_boxes(part_, std::span<const std::int32_t>(std::exchange(arrival.source, {})),
                                               std::int32_t{-1});
    return arrival;
  }

  BoxedGrid grid_;
  std::shared_ptr<const Metric> metric_;
  std::unique_ptr<GridBoxes> boxes_;
  GridPart part_;
  std::unique_ptr<PartSolver> solver_;
};

}  // namespace

std::shared_ptr<const Metric> host_metric(const AnyMetric& metric) {
  std::shared_ptr<const Metric> host = metric.host();
  if (host == nullptr)
    throw UsageError("a metric in the memory of a GPU is not solved with over ranks; give it on the host");
  return host;
}

std::unique_ptr<Engine> make_part_engine(const Domain& domain, SolveOptions options, Communicator& communicator) {
  if (const auto* triangles = std::get_if<const MeshPart<3>*>(&domain.shape))
    return std::make_unique<MeshPartEngine<3>>(**triangles, domain.metric, std::move(options), communicator);
  if (const auto* tetrahedra = std::get_if<const MeshPart<4>*>(&domain.shape))
    return std::make_unique<MeshPartEngine<4>>(**tetrahedra, domain.metric, std::move(options), communicator);
  return std::make_unique<BoxEngine>(std::get<BoxedGrid>(domain.shape), domain.metric, std::move(options),
                                     communicator);
}

}  // namespace isochron::ranks
