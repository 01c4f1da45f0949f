#include <algorithm>
#include <utility>

#include "isochron/core/timer.h"
#include "isochron/solve/grid/grid_seeds.h"
#include "isochron/solve/ranks/distributed_grid_solver.h"
#include "isochron/solve/ranks/packing.h"
#include "isochron/solve/ranks/ranked_solver.h"
#include "isochron/solve/ranks/serve.h"

namespace isochron::mpi {
namespace {

using Order = Ranks::Order;

SolveMany own_grid_solver(const Communicator& communicator, GridDomain domain, const SolveOptions& options) {
  return own_solver(own_device(communicator, options),
                    [domain, options] { return std::make_shared<Solver>(domain, options); });
}
Bytes packed_image(GridDomain domain, int order, const RankOptions& rank_options) {
  Bytes bytes;
  put_batch(bytes, rank_options);
  put(bytes, order);
  put(bytes, domain.grid);
  put_metric(bytes, domain.metric);
  put_vector(bytes, domain.mask);
  return bytes;
}

}  // namespace

void serve_image(Communicator& communicator, const SolveOptions& options) {
  const SolveOptions own_part = part_options(communicator, options, {});
  if (RankGroups groups(communicator, 0); groups.count() == 1) {
    serve_solves(communicator, [&](std::span<const GlobalSeed>) { groups.lead(options.progress, [] {}); });
    return;
  }
  DistributedGridSolver solver(communicator, scatter_grid(communicator, nullptr), own_part);
  serve_solves(communicator, [&](std::span<const GlobalSeed> seeds) {
    (void)gather_arrival(communicator, solver.own_voxels(), 0, solver.solve(seeds));
  });
}

void serve_whole_image(Communicator& communicator, const SolveOptions& options) {
  Bytes bytes = broadcast(communicator, {});
  Unpack unpack(bytes);
  const RankOptions rank_options = take_batch(unpack);
  SolveOptions grid_options = options;
  grid_options.order = unpack.take<int>();
  const auto grid = unpack.take<ImageGrid>();
  const Metric metric = take_metric(unpack);
  const auto mask = unpack.take_vector<std::uint8_t>();
  bytes = {};
  serve_sources(communicator,
                own_grid_solver(communicator, {grid, metric, mask}, own_options(grid_options, rank_options)));
}

RankedGridSolver::RankedGridSolver(Ranks& ranks, GridDomain domain, SolveOptions options,
                                   const RankOptions& rank_options)
    : ranks_(ranks), domain_(domain), options_(std::move(options)), rank_options_(rank_options) {
  const Timer timer;
  check_distributed_options(DomainKind::image, options_);
  check_grid(domain_.grid, "the image");
  cells_ = make_cells(domain_.grid, domain_.mask);
  check_grid_metric({domain_.grid, domain_.metric}, cells_);
  setup_seconds_ = timer.seconds();
}

RankedGridSolver::~RankedGridSolver() {
  if (!ranks_.stranded()) release();
}

void RankedGridSolver::release() {
  if (solver_ == nullptr && whole_ == nullptr) return;
  ranks_.together(Order::release, [] {});
  solver_.reset();
  whole_.reset();
  groups_.reset();
}

std::vector<GlobalSeed> RankedGridSolver::seeds_of(const Sources& sources) const {
  const auto placed = place_grid_sources(domain_.grid, cells_, sources);
  const int radius = limited_radius(options_.ball_rings, placed.size(), domain_.grid);
  std::vector<GlobalSeed> seeds;
  for (const Seed& seed : make_grid_seeds({domain_.grid, domain_.metric}, cells_, placed, options_.source_init, radius))
    seeds.push_back({seed.vertex.index(), seed.time, seed.source});
  return seeds;
}

WholeGrid RankedGridSolver::partition(std::span<const GlobalSeed> seeds) const {
  const VoxelMetric metric{domain_.grid, domain_.metric};
  WholeGrid whole{domain_.grid, domain_.metric, cells_, plan_stencils(metric, cells_, rank_options_.threads),
                  {},           options_.order};
  const Vec3i reach = options_.order * stencil_reach(metric, cells_, whole.plan, rank_options_.threads);
  whole.partition =
      partition_blocks(metric, cells_, reach, seeds, ranks_.communicator().size(), rank_options_.blocks_per_rank);
  return whole;
}

void RankedGridSolver::distribute(std::span<const GlobalSeed> seeds) {
  const Timer timer;
  ranks_.together(Order::image, [&] {
    Communicator& communicator = ranks_.communicator();
    const SolveOptions own = part_options(communicator, options_, rank_options_.rank_backend);
    groups_ = std::make_unique<RankGroups>(communicator, own.backend == Backend::cuda ? 1 : rank_options_.group_size);
    note_ = groups_->note();
    if (solves_as_one(*groups_, communicator, own.backend, rank_options_)) {
      if (rank_options_.blocks_per_rank > 0) note_ = no_pieces;
      whole_ = std::make_unique<Solver>(domain_, on_threads(groups_->options(own)));
      return;
    }
    if (rank_options_.group_size > 1 && note_.empty())
      note_ = "each rank has blocks of its own, since an image is solved by all ranks as one team or by none";
    groups_.reset();
    const WholeGrid whole = partition(seeds);
    solver_ = std::make_unique<DistributedGridSolver>(communicator, scatter_grid(communicator, &whole), own);
  });
  setup_seconds_ += timer.seconds();
}

Arrival RankedGridSolver::solve(const Sources& sources) {
  // What is wrong with the sources shows here, before the others are called.
  const std::vector<GlobalSeed> seeds = seeds_of(sources);
  if (solver_ == nullptr && whole_ == nullptr) distribute(seeds);
  division_ = Division::domain;
  Arrival arrival;
  if (whole_ != nullptr) {
    arrival = solve_as_one(ranks_, *groups_, *whole_, sources, options_.progress);
    traffic_ = traffic_of_one(arrival);
  } else {
    solve_together(ranks_, seeds, [&] { arrival = solve_blocks(seeds); });
  }
  arrival.setup_seconds = setup_seconds_;
  if (!note_.empty()) arrival.notes.push_back(note_);
  return arrival;
}

Arrival RankedGridSolver::solve_blocks(std::span<const GlobalSeed> seeds) {
  const DistributedArrival own = solver_->solve(seeds);
  traffic_ = own.traffic;
  return gather_arrival(ranks_.communicator(), solver_->own_voxels(), domain_.grid.voxel_count(), own);
}

void RankedGridSolver::solve_many(std::span<const Sources> source_sets, const TakeArrival& take) {
  if (!shares_sources(rank_options_, source_sets.size(), ranks_.communicator().size())) {
    solve_in_turn(*this, source_sets, take);
    return;
  }
  release();
  division_ = Division::sources;
  traffic_ = {};
  solve_shared_sources(
      ranks_, Order::whole_image, packed_image(domain_, options_.order, rank_options_), source_sets, rank_options_,
      own_grid_solver(ranks_.communicator(), domain_, own_options(options_, rank_options_)), options_.progress, take);
}

}  // namespace isochron::mpi
