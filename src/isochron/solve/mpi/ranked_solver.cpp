#include "isochron/solve/mpi/ranked_solver.h"

#include <algorithm>
#include <utility>

#include "isochron/core/timer.h"
#include "isochron/mesh/agreement.h"
#include "isochron/mesh/validate.h"
#include "isochron/solve/mpi/deal_by_time.h"
#include "isochron/solve/mpi/rank_exchange.h"
#include "isochron/solve/mpi/root_seeds.h"
#include "isochron/solve/mpi/serve.h"
#include "isochron/solve/mpi/wire_metric.h"

namespace isochron::mpi {
namespace {

using Order = Ranks::Order;

/// All ranks together, before parts are dealt out: rank 0 makes the seeds, and what is wrong with them all throw.
template <class Make>
void seeds_or_none(Transport& transport, Make&& make) {
  RankExchange exchange(transport);
  all_or_none(exchange, std::forward<Make>(make));
}

/// Serves one solver, from the mesh to its release.
template <int Corners>
void serve_mesh(Transport& transport, const SolveOptions& options) {
  const SolveOptions own_part = part_options(transport, options, {});
  Teams teams(transport, 0);
  if (teams.count() > 1) seeds_or_none(transport, [] {});
  Share<Corners> share;
  std::unique_ptr<DistributedSolver<Corners>> solver;
  if (teams.leads()) {
    share = scatter<Corners>(teams.between(), nullptr, nullptr, {}, options.obtuse, 1);
    solver = std::make_unique<DistributedSolver<Corners>>(
        teams.between(), share.part, share.metric, teams.options(own_part), Pace::banded, share.virtual_elements);
  }
  serve_solves(transport, [&](std::span<const GlobalSeed> seeds) {
    teams.lead(options.progress, [&] { (void)gather_arrival(teams.between(), share.part, solver->solve(seeds)); });
  });
}

template <int Corners>
SolveMany own_mesh_solver(const Transport& transport, MeshDomain<Corners> domain, const SolveOptions& options) {
  return own_solver(own_device(transport, options),
                    [domain, options] { return std::make_shared<Solver>(domain, options); });
}

template <int Corners>
Bytes packed_mesh(MeshDomain<Corners> domain, const DealOptions& deal) {
  Bytes bytes;
  put_batch(bytes, deal);
  put_vector(bytes, domain.mesh.points);
  put_vector(bytes, domain.mesh.elements);
  put_metric(bytes, domain.metric);
  return bytes;
}

template <int Corners>
void serve_whole_mesh(Transport& transport, const SolveOptions& options) {
  Bytes bytes = broadcast(transport, {});
  Unpack unpack(bytes);
  const DealOptions deal = take_batch(unpack);
  SimplexMesh<Corners> mesh;
  mesh.points = unpack.take_vector<Vec3d>();
  mesh.elements = unpack.take_vector<typename SimplexMesh<Corners>::Element>();
  const Metric metric = take_metric(unpack);
  bytes = {};
  serve_sources(transport, own_mesh_solver<Corners>(transport, {mesh, metric}, own_options(options, deal)));
}

}  // namespace

Ranks::~Ranks() {
  if (!busy_ && !over_) give(Order::end);
}

void Ranks::give(Order order) {
  Bytes bytes;
  put(bytes, order);
  (void)broadcast(transport_, std::move(bytes));
}

AfterServing serve(Transport& transport, const SolveOptions& options) {
  while (true) {
    const Order order = next_order(transport);
    try {
      switch (order) {
        case Order::triangles: serve_mesh<3>(transport, options); break;
        case Order::tetrahedra: serve_mesh<4>(transport, options); break;
        case Order::image: serve_image(transport, options); break;
        case Order::whole_triangles: serve_whole_mesh<3>(transport, options); break;
        case Order::whole_tetrahedra: serve_whole_mesh<4>(transport, options); break;
        case Order::whole_image: serve_whole_image(transport, options); break;
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
                                    const DealOptions& deal)
    : ranks_(ranks), domain_(domain), options_(std::move(options)), deal_(deal) {
  const Timer timer;
  check_mesh(domain.mesh);
  check_metric(domain.metric, domain.mesh.element_count(), Subject::metric);
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
  teams_.reset();
}

template <int Corners>
std::vector<GlobalSeed> RankedSolver<Corners>::seeds_of(const Sources& sources) const {
  return whole_seeds(domain_.mesh, domain_.metric, sources, options_);
}

template <int Corners>
std::vector<GlobalSeed> RankedSolver<Corners>::share_out(const Sources& sources) {
  const Timer timer;
  std::vector<GlobalSeed> seeds;
  ranks_.together(Corners == 3 ? Order::triangles : Order::tetrahedra, [&] {
    Transport& transport = ranks_.transport();
    const SolveOptions own = part_options(transport, options_, deal_.rank_backend);
    teams_ = std::make_unique<Teams>(transport, own.backend == Backend::cuda ? 1 : deal_.team);
    if (solves_as_one(*teams_, transport, own.backend, deal_)) {
      whole_ = std::make_unique<Solver>(domain_, on_threads(teams_->options(own)));
      return;
    }
    seeds_or_none(transport, [&] { seeds = seeds_of(sources); });
    DealOptions deal = deal_;
    deal.threads = std::max(deal.threads, teams_->threads());
    share_ = scatter<Corners>(teams_->between(), &domain_.mesh, &domain_.metric, dealt(seeds, deal), options_.obtuse,
                              deal.threads);
    solver_ = std::make_unique<DistributedSolver<Corners>>(teams_->between(), share_.part, share_.metric,
                                                           teams_->options(own), Pace::banded, share_.virtual_elements);
  });
  setup_seconds_ += timer.seconds();
  return seeds;
}

template <int Corners>
std::vector<std::uint32_t> RankedSolver<Corners>::dealt(std::span<const GlobalSeed> seeds,
                                                        const DealOptions& deal) const {
  const int parts = teams_->count();
  return parts > 1 && deal.pieces == 0 ? deal_by_time(domain_.mesh, domain_.metric, seeds, parts, deal.threads)
                                       : deal_vertices(domain_.mesh, parts, deal);
}

template <int Corners>
Arrival RankedSolver<Corners>::solve(const Sources& sources) {
  // Of parts; a team's solver makes its own. What is wrong with them shows before the others are called.
  std::vector<GlobalSeed> seeds;
  if (solver_ == nullptr && whole_ == nullptr) seeds = share_out(sources);
  else if (whole_ == nullptr) seeds = seeds_of(sources);
  split_ = Split::domain;
  Arrival arrival;
  if (whole_ != nullptr) {
    arrival = solve_as_one(ranks_, *teams_, *whole_, sources, options_.progress);
    traffic_ = traffic_of_one(arrival);
  } else {
    solve_together(ranks_, seeds, [&] { teams_->lead(options_.progress, [&] { arrival = solve_parts(seeds); }); });
  }
  arrival.setup_seconds = setup_seconds_;
  if (!teams_->note().empty()) arrival.notes.push_back(teams_->note());
  if (whole_ != nullptr && deal_.pieces > 0) arrival.notes.emplace_back(no_pieces);
  return arrival;
}

template <int Corners>
Arrival RankedSolver<Corners>::solve_parts(std::span<const GlobalSeed> seeds) {
  const DistributedArrival own = solver_->solve(seeds);
  traffic_ = own.traffic;
  return gather_arrival(teams_->between(), share_.part, own);
}

template <int Corners>
void RankedSolver<Corners>::solve_many(std::span<const Sources> source_sets, const TakeArrival& take) {
  if (!shares_sources(deal_, source_sets.size(), ranks_.transport().size())) {
    solve_in_turn(*this, source_sets, take);
    return;
  }
  release();
  split_ = Split::sources;
  traffic_ = {};
  solve_shared_sources(
      ranks_, Corners == 3 ? Order::whole_triangles : Order::whole_tetrahedra, packed_mesh(domain_, deal_), source_sets,
      deal_, own_mesh_solver(ranks_.transport(), domain_, own_options(options_, deal_)), options_.progress, take);
}

template class RankedSolver<3>;
template class RankedSolver<4>;

}  // namespace isochron::mpi
