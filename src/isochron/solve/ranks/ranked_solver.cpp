#include "isochron/solve/ranks/ranked_solver.h"

#include <algorithm>
#include <utility>

#include "isochron/comm/collectives.h"
#include "isochron/core/timer.h"
#include "isochron/mesh/validate.h"
#include "isochron/solve/ranks/packing.h"
#include "isochron/solve/ranks/partition_by_time.h"
#include "isochron/solve/ranks/rank_seeds.h"
#include "isochron/solve/ranks/serve.h"

namespace isochron::mpi {
namespace {

using Order = Ranks::Order;

/// Serves one solver, from the mesh to its release.
template <int Corners>
void serve_mesh(Communicator& communicator, const SolveOptions& options) {
  const SolveOptions own_part = part_options(communicator, options, {});
  RankGroups groups(communicator, 0);
  if (groups.count() > 1) all_or_none(communicator, [] {});  // rank 0 makes the seeds
  SolvePart<Corners> part;
  std::unique_ptr<DistributedSolver<Corners>> solver;
  if (groups.leads()) {
    part = scatter<Corners>(groups.between(), nullptr, nullptr, {}, options.obtuse, 1);
    solver = std::make_unique<DistributedSolver<Corners>>(
        groups.between(), part.part, part.metric, groups.options(own_part), Pace::banded, part.virtual_elements);
  }
  serve_solves(communicator, [&](std::span<const GlobalSeed> seeds) {
    groups.lead(options.progress, [&] { (void)gather_arrival(groups.between(), part.part, solver->solve(seeds)); });
  });
}

template <int Corners>
SolveMany own_mesh_solver(const Communicator& communicator, MeshDomain<Corners> domain, const SolveOptions& options) {
  return own_solver(own_device(communicator, options),
                    [domain, options] { return std::make_shared<Solver>(domain, options); });
}

template <int Corners>
Bytes packed_mesh(MeshDomain<Corners> domain, const RankOptions& rank_options) {
  Bytes bytes;
  put_batch(bytes, rank_options);
  put_vector(bytes, domain.mesh.points);
  put_vector(bytes, domain.mesh.elements);
  put_metric(bytes, domain.metric);
  return bytes;
}

template <int Corners>
void serve_whole_mesh(Communicator& communicator, const SolveOptions& options) {
  Bytes bytes = broadcast(communicator, {});
  Unpack unpack(bytes);
  const RankOptions rank_options = take_batch(unpack);
  SimplexMesh<Corners> mesh;
  mesh.points = unpack.take_vector<Vec3d>();
  mesh.elements = unpack.take_vector<typename SimplexMesh<Corners>::Element>();
  const Metric metric = take_metric(unpack);
  bytes = {};
  serve_sources(communicator,
                own_mesh_solver<Corners>(communicator, {mesh, metric}, own_options(options, rank_options)));
}

}  // namespace

Ranks::~Ranks() {
  if (!busy_ && !over_) give(Order::end);
}

void Ranks::give(Order order) {
  Bytes bytes;
  put(bytes, order);
  (void)broadcast(communicator_, std::move(bytes));
}

AfterServing serve(Communicator& communicator, const SolveOptions& options) {
  while (true) {
    const Order order = next_order(communicator);
    try {
      switch (order) {
        case Order::triangles: serve_mesh<3>(communicator, options); break;
        case Order::tetrahedra: serve_mesh<4>(communicator, options); break;
        case Order::image: serve_image(communicator, options); break;
        case Order::whole_triangles: serve_whole_mesh<3>(communicator, options); break;
        case Order::whole_tetrahedra: serve_whole_mesh<4>(communicator, options); break;
        case Order::whole_image: serve_whole_image(communicator, options); break;
        case Order::write: return AfterServing::write;
        default: return AfterServing::end;
      }
    } catch (const Cancelled&) {
      throw;
    } catch (const ThrownTogether&) {  // rank 0 has it too, and says what comes next
    }
  }
}

template <int Corners>
RankedSolver<Corners>::RankedSolver(Ranks& ranks, MeshDomain<Corners> domain, SolveOptions options,
                                    const RankOptions& rank_options)
    : ranks_(ranks), domain_(domain), options_(std::move(options)), rank_options_(rank_options) {
  const Timer timer;
  check_mesh(domain.mesh);
  check_metric(domain.metric, domain.mesh.element_count(), "the metric");
  check_distributed_options(Corners == 3 ? DomainKind::triangles : DomainKind::tetrahedra, options_);
  setup_seconds_ = timer.seconds();
}

template <int Corners>
RankedSolver<Corners>::~RankedSolver() {
  if (!ranks_.stranded()) release();
}

template <int Corners>
void RankedSolver<Corners>::release() {
  if (solver_ == nullptr && whole_ == nullptr) return;
  ranks_.together(Order::release, [] {});
  solver_.reset();
  whole_.reset();
  groups_.reset();
}

template <int Corners>
std::vector<GlobalSeed> RankedSolver<Corners>::seeds_of(const Sources& sources) const {
  return whole_seeds(domain_.mesh, domain_.metric, sources, options_);
}

template <int Corners>
std::vector<GlobalSeed> RankedSolver<Corners>::distribute(const Sources& sources) {
  const Timer timer;
  std::vector<GlobalSeed> seeds;
  ranks_.together(Corners == 3 ? Order::triangles : Order::tetrahedra, [&] {
    Communicator& communicator = ranks_.communicator();
    const SolveOptions own = part_options(communicator, options_, rank_options_.rank_backend);
    groups_ = std::make_unique<RankGroups>(communicator, own.backend == Backend::cuda ? 1 : rank_options_.group_size);
    if (solves_as_one(*groups_, communicator, own.backend, rank_options_)) {
      whole_ = std::make_unique<Solver>(domain_, on_threads(groups_->options(own)));
      return;
    }
    all_or_none(communicator, [&] { seeds = seeds_of(sources); });
    RankOptions rank_options = rank_options_;
    rank_options.threads = std::max(rank_options.threads, groups_->threads());
    part_ = scatter<Corners>(groups_->between(), &domain_.mesh, &domain_.metric, partition(seeds, rank_options),
                             options_.obtuse, rank_options.threads);
    solver_ = std::make_unique<DistributedSolver<Corners>>(groups_->between(), part_.part, part_.metric,
                                                           groups_->options(own), Pace::banded, part_.virtual_elements);
  });
  setup_seconds_ += timer.seconds();
  return seeds;
}

template <int Corners>
std::vector<std::uint32_t> RankedSolver<Corners>::partition(std::span<const GlobalSeed> seeds,
                                                            const RankOptions& rank_options) const {
  const int parts = groups_->count();
  return parts > 1 && rank_options.blocks_per_rank == 0
             ? partition_by_time(domain_.mesh, domain_.metric, seeds, parts, rank_options.threads)
             : partition_in_blocks(domain_.mesh, parts, rank_options);
}

template <int Corners>
Arrival RankedSolver<Corners>::solve(const Sources& sources) {
  // Of parts; a group's solver makes its own. What is wrong with them shows before the others are called.
  std::vector<GlobalSeed> seeds;
  if (solver_ == nullptr && whole_ == nullptr) seeds = distribute(sources);
  else if (whole_ == nullptr) seeds = seeds_of(sources);
  division_ = Division::domain;
  Arrival arrival;
  if (whole_ != nullptr) {
    arrival = solve_as_one(ranks_, *groups_, *whole_, sources, options_.progress);
    traffic_ = traffic_of_one(arrival);
  } else {
    solve_together(ranks_, seeds, [&] { groups_->lead(options_.progress, [&] { arrival = solve_parts(seeds); }); });
  }
  arrival.setup_seconds = setup_seconds_;
  if (!groups_->note().empty()) arrival.notes.push_back(groups_->note());
  if (whole_ != nullptr && rank_options_.blocks_per_rank > 0) arrival.notes.emplace_back(no_pieces);
  return arrival;
}

template <int Corners>
Arrival RankedSolver<Corners>::solve_parts(std::span<const GlobalSeed> seeds) {
  const DistributedArrival own = solver_->solve(seeds);
  traffic_ = own.traffic;
  return gather_arrival(groups_->between(), part_.part, own);
}

template <int Corners>
void RankedSolver<Corners>::solve_many(std::span<const Sources> source_sets, const TakeArrival& take) {
  if (!shares_sources(rank_options_, source_sets.size(), ranks_.communicator().size())) {
    solve_in_turn(*this, source_sets, take);
    return;
  }
  release();
  division_ = Division::sources;
  traffic_ = {};
  solve_shared_sources(ranks_, Corners == 3 ? Order::whole_triangles : Order::whole_tetrahedra,
                       packed_mesh(domain_, rank_options_), source_sets, rank_options_,
                       own_mesh_solver(ranks_.communicator(), domain_, own_options(options_, rank_options_)),
                       options_.progress, take);
}

template class RankedSolver<3>;
template class RankedSolver<4>;

}  // namespace isochron::mpi
