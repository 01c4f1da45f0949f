// What rank 0 and the ranks that serve it do together, on meshes and images alike.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "isochron/comm/collectives.h"
#include "isochron/core/cuda/device.h"
#include "isochron/solve/ranks/distributed_arrival.h"
#include "isochron/solve/ranks/ranked_solver.h"
#include "isochron/solve/ranks/source_scheduler.h"
#include "isochron/solve/source_set.h"

namespace isochron::mpi {

/// Rank 0's end of one solve by all: `solve` from the seeds that all get.
template <class Solve>
void solve_together(Ranks& ranks, const std::vector<GlobalSeed>& seeds, const Solve& solve) {
  ranks.together(Ranks::Order::solve, [&] {
    Bytes bytes;
    put_vector(bytes, seeds);
    (void)broadcast(ranks.communicator(), std::move(bytes));
    solve();
  });
}

Ranks::Order next_order(Communicator& communicator);

/// The others' end, until the solver is released: `solve(seeds)`.
template <class Solve>
void serve_solves(Communicator& communicator, const Solve& solve) {
  while (next_order(communicator) == Ranks::Order::solve) {
    const Bytes seeds = broadcast(communicator, {});
    solve(Unpack(seeds).take_vector<GlobalSeed>());
  }
}

/// Whether the first rank solves the whole as one, where the others serve it alike: one group on CPUs, and not one rank
/// that was asked for blocks.
inline bool solves_as_one(const RankGroups& groups, const Communicator& communicator, Backend own,
                          const RankOptions& rank_options) {
  return groups.count() == 1 && own != Backend::cuda && (communicator.size() > 1 || rank_options.blocks_per_rank == 0);
}

/// The note then where blocks were asked for.
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

/// Rank 0's end of one solve by the only group, which it leads.
template <class Solver>
Arrival solve_as_one(Ranks& ranks, RankGroups& groups, Solver& solver, const Sources& sources,
                     const Progress& progress) {
  Arrival arrival;
  std::exception_ptr failed;
  solve_together(ranks, {}, [&] {
    groups.lead(progress, [&] { failed = kept_failure([&] { arrival = solver.solve(sources); }); });
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
inline bool shares_sources(const RankOptions& rank_options, std::size_t sets, int ranks) {
  return ranks > 1 && rank_options.blocks_per_rank == 0 && sets >= static_cast<std::size_t>(ranks);
}

/// The options of a rank's own solver: those of all, with the back end of batches in place of `mpi`.
SolveOptions own_options(SolveOptions options, const RankOptions& rank_options);

/// The GPU of a rank's own solver, −1 when it uses none.
int own_device(const Communicator& communicator, const SolveOptions& own);

/// All ranks together, as rank 0 wants it: the options of the solver of a part. Throws as `agreed_backend`.
SolveOptions part_options(Communicator& communicator, SolveOptions options, Backend wanted);

/// A rank's own solver as `schedule_sources` and `serve_sources` want it; `make` makes it when it is needed first.
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

/// Rank 0's end of a batch of which each rank solves some sets: gives the order, `domain` as bytes to all, and
/// schedules.
void solve_shared_sources(Ranks& ranks, Ranks::Order order, Bytes domain, std::span<const Sources> sets,
                          const RankOptions& rank_options, const SolveMany& own, const Progress& progress,
                          const TakeArrival& take);

/// On ranks other than 0: an image in parts, and one that every rank has.
void serve_image(Communicator& communicator, const SolveOptions& options);
void serve_whole_image(Communicator& communicator, const SolveOptions& options);

/// How ranks solve by themselves, as bytes.
void put_batch(Bytes& bytes, const RankOptions& rank_options);
RankOptions take_batch(Unpack& unpack);

}  // namespace isochron::mpi
