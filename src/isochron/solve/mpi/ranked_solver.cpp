#include "isochron/solve/mpi/ranked_solver.h"

#include <utility>

#include "isochron/core/timer.h"
#include "isochron/mesh/validate.h"
#include "isochron/solve/mpi/collectives.h"
#include "isochron/solve/mpi/deal_by_time.h"
#include "isochron/solve/mpi/root_seeds.h"
#include "isochron/solve/source_set.h"

namespace isochron::mpi {
namespace {

using Order = Ranks::Order;

Order next_order(Transport& transport) { return Unpack(broadcast(transport, {})).take<Order>(); }

/// Serves one solver, from the mesh to its release.
template <int Corners>
void serve_solver(Transport& transport, const SolveOptions& options) {
  const Share<Corners> share = scatter<Corners>(transport, nullptr, nullptr, {}, options.obtuse, 1);
  DistributedSolver<Corners> solver(transport, share.part, share.metric, options, Pace::banded, share.virtual_elements);
  while (next_order(transport) == Order::solve) {
    const Bytes seeds = broadcast(transport, {});
    (void)gather_arrival(transport, share.part, solver.solve(Unpack(seeds).take_vector<GlobalSeed>()));
  }
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
  while (true) switch (next_order(transport)) {
      case Order::triangles: serve_solver<3>(transport, options); break;
      case Order::tetrahedra: serve_solver<4>(transport, options); break;
      case Order::write: return AfterServing::write;
      default: return AfterServing::end;
    }
}

template <int Corners>
RankedSolver<Corners>::RankedSolver(Ranks& ranks, Domain<Corners> domain, SolveOptions options, const DealOptions& deal)
    : ranks_(ranks), domain_(domain), options_(std::move(options)), deal_(deal) {
  const Timer timer;
  check_mesh(domain.mesh);
  check_metric(domain.metric, domain.mesh.element_count(), "the metric");
  check_distributed_options(options_);
  setup_seconds_ = timer.seconds();
}

template <int Corners>
RankedSolver<Corners>::~RankedSolver() {
  if (solver_ != nullptr && !ranks_.stranded()) ranks_.together(Order::release, [] {});
}

template <int Corners>
void RankedSolver<Corners>::share_out(std::span<const GlobalSeed> seeds) {
  const Timer timer;
  const int size = ranks_.transport().size();
  std::vector<std::uint32_t> rank_of = size > 1 && deal_.pieces == 0
                                           ? deal_by_time(domain_.mesh, domain_.metric, seeds, size, deal_.threads)
                                           : deal_vertices(domain_.mesh, size, deal_);
  ranks_.together(Corners == 3 ? Order::triangles : Order::tetrahedra, [&] {
    Transport& transport = ranks_.transport();
    share_ =
        scatter<Corners>(transport, &domain_.mesh, &domain_.metric, std::move(rank_of), options_.obtuse, deal_.threads);
    solver_ = std::make_unique<DistributedSolver<Corners>>(transport, share_.part, share_.metric, options_,
                                                           Pace::banded, share_.virtual_elements);
  });
  setup_seconds_ += timer.seconds();
}

template <int Corners>
Arrival RankedSolver<Corners>::solve(const Sources& sources) {
  // What is wrong with the sources shows here, before the others are called.
  const std::vector<GlobalSeed> seeds = whole_seeds(domain_.mesh, domain_.metric, sources, options_);
  if (solver_ == nullptr) share_out(seeds);
  Arrival arrival;
  ranks_.together(Order::solve, [&] {
    Transport& transport = ranks_.transport();
    Bytes bytes;
    put_vector(bytes, seeds);
    (void)broadcast(transport, std::move(bytes));
    const DistributedArrival own = solver_->solve(seeds);
    traffic_ = own.traffic;
    arrival = gather_arrival(transport, share_.part, own);
  });
  arrival.setup_seconds = setup_seconds_;
  return arrival;
}

template <int Corners>
void RankedSolver<Corners>::solve_many(std::span<const Sources> source_sets, const TakeArrival& take) {
  for (std::size_t i = 0; i < source_sets.size(); ++i)
    take(i, for_source_set(i, source_sets.size(), [&] { return solve(source_sets[i]); }));
}

template class RankedSolver<3>;
template class RankedSolver<4>;

}  // namespace isochron::mpi
