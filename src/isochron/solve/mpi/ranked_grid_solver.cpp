#include <algorithm>
#include <utility>

#include "isochron/core/timer.h"
#include "isochron/solve/grid/grid_seeds.h"
#include "isochron/solve/mpi/distributed_grid_solver.h"
#include "isochron/solve/mpi/ranked_solver.h"
#include "isochron/solve/mpi/serve.h"
#include "isochron/solve/mpi/wire_metric.h"

namespace isochron::mpi {
namespace {

using Order = Ranks::Order;

SolveMany own_grid_solver(const Transport& transport, GridDomain domain, const SolveOptions& options) {
  return own_solver(own_device(transport, options),
                    [domain, options] { return std::make_shared<Solver>(domain, options); });
}

SolveOptions own_grid_options(SolveOptions options, const DealOptions& deal) {
  options = own_options(std::move(options), deal);
  return options;
}

Bytes packed_image(GridDomain domain, int order, const DealOptions& deal) {
  Bytes bytes;
  put_batch(bytes, deal);
  put(bytes, order);
  put(bytes, domain.grid);
  put_metric(bytes, domain.metric);
  put_vector(bytes, domain.mask);
  return bytes;
}

}  // namespace

void serve_image(Transport& transport, const SolveOptions& options) {
  const SolveOptions own_part = part_options(transport, options, {});
  if (Teams teams(transport, 0); teams.count() == 1) {
    serve_solves(transport, [&](std::span<const GlobalSeed>) { teams.lead(options.progress, [] {}); });
    return;
  }
  DistributedGridSolver solver(transport, scatter_grid(transport, nullptr), own_part);
  serve_solves(transport, [&](std::span<const GlobalSeed> seeds) {
    (void)gather_arrival(transport, solver.own_voxels(), 0, solver.solve(seeds));
  });
}

void serve_whole_image(Transport& transport, const SolveOptions& options) {
  Bytes bytes = broadcast(transport, {});
  Unpack unpack(bytes);
  const DealOptions deal = take_batch(unpack);
  SolveOptions grid_options;
  grid_options = options;
  grid_options.order = unpack.take<int>();
  const auto grid = unpack.take<ImageGrid>();
  const Metric metric = take_metric(unpack);
  const auto mask = unpack.take_vector<std::uint8_t>();
  bytes = {};
  serve_sources(transport, own_grid_solver(transport, {grid, metric, mask}, own_grid_options(grid_options, deal)));
}

RankedGridSolver::RankedGridSolver(Ranks& ranks, GridDomain domain, SolveOptions options, const DealOptions& deal)
    : ranks_(ranks), domain_(domain), options_(std::move(options)), deal_(deal) {
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
  teams_.reset();
}

std::vector<GlobalSeed> RankedGridSolver::seeds_of(const Sources& sources) const {
  const auto placed = place_grid_sources(domain_.grid, cells_, sources);
  const int radius = limited_radius(options_.ball_rings, placed.size(), domain_.grid);
  std::vector<GlobalSeed> seeds;
  for (const Seed& seed : make_grid_seeds({domain_.grid, domain_.metric}, cells_, placed, options_.source_init, radius))
    seeds.push_back({seed.vertex.index(), seed.time, seed.source});
  return seeds;
}

WholeGrid RankedGridSolver::dealt(std::span<const GlobalSeed> seeds) const {
  const VoxelMetric metric{domain_.grid, domain_.metric};
  WholeGrid whole{domain_.grid, domain_.metric, cells_, plan_stencils(metric, cells_, deal_.threads),
                  {},           options_.order};
  const Vec3i reach = options_.order * stencil_reach(metric, cells_, whole.plan, deal_.threads);
  whole.deal = deal_blocks(metric, cells_, reach, seeds, ranks_.transport().size(), deal_.pieces);
  return whole;
}

void RankedGridSolver::share_out(std::span<const GlobalSeed> seeds) {
  const Timer timer;
  ranks_.together(Order::image, [&] {
    Transport& transport = ranks_.transport();
    const SolveOptions own = part_options(transport, options_, deal_.rank_backend);
    teams_ = std::make_unique<Teams>(transport, own.backend == Backend::cuda ? 1 : deal_.team);
    note_ = teams_->note();
    if (solves_as_one(*teams_, transport, own.backend, deal_)) {
      if (deal_.pieces > 0) note_ = no_pieces;
      SolveOptions options = options_;
      options = on_threads(teams_->options(own));
      whole_ = std::make_unique<Solver>(domain_, options);
      return;
    }
    if (deal_.team > 1 && note_.empty())
      note_ = "each rank has blocks of its own, since an image is solved by all ranks as one team or by none";
    teams_.reset();
    const WholeGrid whole = dealt(seeds);
    solver_ = std::make_unique<DistributedGridSolver>(transport, scatter_grid(transport, &whole), own);
  });
  setup_seconds_ += timer.seconds();
}

Arrival RankedGridSolver::solve(const Sources& sources) {
  // What is wrong with the sources shows here, before the others are called.
  const std::vector<GlobalSeed> seeds = seeds_of(sources);
  if (solver_ == nullptr && whole_ == nullptr) share_out(seeds);
  split_ = Split::domain;
  Arrival arrival;
  if (whole_ != nullptr) {
    arrival = solve_as_one(ranks_, *teams_, *whole_, sources, options_.progress);
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
  return gather_arrival(ranks_.transport(), solver_->own_voxels(), domain_.grid.voxel_count(), own);
}

void RankedGridSolver::solve_many(std::span<const Sources> source_sets, const TakeArrival& take) {
  if (!shares_sources(deal_, source_sets.size(), ranks_.transport().size())) {
    solve_in_turn(*this, source_sets, take);
    return;
  }
  release();
  split_ = Split::sources;
  traffic_ = {};
  solve_shared_sources(ranks_, Order::whole_image, packed_image(domain_, options_.order, deal_), source_sets, deal_,
                       own_grid_solver(ranks_.transport(), domain_, own_grid_options(options_, deal_)),
                       options_.progress, take);
}

}  // namespace isochron::mpi
