// What rank 0 and the ranks that serve it do together, on meshes and images alike.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "isochron/core/cuda/device.h"
#include "isochron/solve/mpi/collectives.h"
#include "isochron/solve/mpi/distributed_arrival.h"
#include "isochron/solve/mpi/ranked_solver.h"
#include "isochron/solve/mpi/source_dealer.h"
#include "isochron/solve/source_set.h"

namespace isochron::mpi {

/// Rank 0's end of one solve by all: `solve` from the seeds that all get.
template <class Solve>
void solve_together(Ranks& ranks, const std::vector<GlobalSeed>& seeds, const Solve& solve) {
  ranks.together(Ranks::Order::solve, [&] {
    Bytes bytes;
    put_vector(bytes, seeds);
    (void)broadcast(ranks.transport(), std::move(bytes));
    solve();
  });
}

Ranks::Order next_order(Transport& transport);

/// The others' end, until the solver is released: `solve(seeds)`.
template <class Solve>
void serve_solves(Transport& transport, const Solve& solve) {
  while (next_order(transport) == Ranks::Order::solve) {
    const Bytes seeds = broadcast(transport, {});
    solve(Unpack(seeds).take_vector<GlobalSeed>());
  }
}

/// Whether the first rank solves the whole as one, where the others serve it alike: one team on CPUs, and not one rank
/// that was asked for pieces.
inline bool solves_as_one(const Teams& teams, const Transport& transport, Backend own, const DealOptions& deal) {
  return teams.count() == 1 && own != Backend::cuda && (transport.size() > 1 || deal.pieces == 0);
}

/// What to say then where pieces were asked for.
inline constexpr const char* no_pieces = "no pieces were made, since the ranks solve it as one";

/// The options of a solver of the whole, in place of those of parts.
SolveOptions on_threads(SolveOptions options);

/// Does it, and keeps what it throws for when the others are free again; Cancelled goes through.
template <class Work>
std::exception_ptr kept_failure(Work&& work) {
  try {
    std::forward<Work>(work)();
  } catch (const Cancelled&) {
    throw;
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

/// Rank 0's end of one solve by the only team, which it leads.
template <class Solver>
Arrival solve_as_one(Ranks& ranks, Teams& teams, Solver& solver, const Sources& sources, const Progress& progress) {
  Arrival arrival;
  std::exception_ptr failed;
  solve_together(ranks, {}, [&] {
    teams.lead(progress, [&] { failed = kept_failure([&] { arrival = solver.solve(sources); }); });
  });
  if (failed) std::rethrow_exception(failed);
  arrival.backend = Backend::mpi;
  return arrival;
}

/// Of such a solve.
inline Traffic traffic_of_one(const Arrival& arrival) {
  Traffic traffic;
  traffic.bands = arrival.counters.rounds;
  return traffic;
}

/// One set after the other, each by all ranks.
template <class Solver>
void solve_in_turn(Solver& solver, std::span<const Sources> sets, const TakeArrival& take) {
  for (std::size_t i = 0; i < sets.size(); ++i)
    take(i, for_source_set(i, sets.size(), [&] { return solver.solve(sets[i]); }));
}

/// Whether each rank is to solve some of the sets by itself.
inline bool shares_sources(const DealOptions& deal, std::size_t sets, int ranks) {
  return ranks > 1 && deal.pieces == 0 && sets >= static_cast<std::size_t>(ranks);
}

/// The options of a rank's own solver: those of all, with the back end of batches in place of `mpi`.
SolveOptions own_options(SolveOptions options, const DealOptions& deal);

/// The GPU of a rank's own solver, −1 when it uses none.
int own_device(const Transport& transport, const SolveOptions& own);

/// All ranks together, as rank 0 wants it: the options of the solver of a part. Throws as `agreed_backend`.
SolveOptions part_options(Transport& transport, SolveOptions options, Backend wanted);

/// A rank's own solver as `deal_sources` and `serve_sources` want it; `make` makes it when it is needed first.
template <class Make>
SolveMany own_solver(int device, Make make) {
  using Solver = typename decltype(make())::element_type;
  return [device, make, solver = std::shared_ptr<Solver>()](std::span<const Sources> sets,
                                                            const TakeArrival& take) mutable {
    const cuda::OnDevice here(device);
    if (solver == nullptr) solver = make();
    solver->solve_many(sets, take);
  };
}

/// Rank 0's end of a batch whose sources are shared out: gives the order, `domain` as bytes to all, and deals.
void solve_shared_sources(Ranks& ranks, Ranks::Order order, Bytes domain, std::span<const Sources> sets,
                          const DealOptions& deal, const SolveMany& own, const Progress& progress,
                          const TakeArrival& take);

/// On ranks other than 0: an image that is shared out, and one that everybody has.
void serve_image(Transport& transport, const SolveOptions& options);
void serve_whole_image(Transport& transport, const SolveOptions& options);

/// How ranks solve by themselves, as bytes.
void put_batch(Bytes& bytes, const DealOptions& deal);
DealOptions take_batch(Unpack& unpack);

}  // namespace isochron::mpi
