// Many solves on one mesh or image that every rank has as a whole: each rank solves some of the sets of
// sources by itself.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "isochron/arrival.h"
#include "isochron/communicator.h"
#include "isochron/progress.h"
#include "isochron/sources.h"

namespace isochron::ranks {

/// Solves from some sets and gives the results in order, as `Solver::solve_many` does.
using SolveMany = std::function<void(std::span<const Sources>, const TakeArrival&)>;

/// Chunks of sets that a rank has at most: one that it solves, and one to go on with.
inline constexpr std::size_t chunks_ahead = 2;

/// Rank 0's end: solves all sets with the help of the other ranks and gives every result to `take`, in order. Sets go
/// out in chunks of `chunk`, to whoever is done with the last ones; none is more than `chunks_ahead` chunks a rank
/// ahead of the next result to be taken, so that no more results than that are ever held here. What a solve throws is
/// thrown here when its turn comes, with the other ranks done: an InputError names its set, Cancelled is thrown on all
/// ranks.
void schedule_sources(Communicator& communicator, std::span<const Sources> sets, std::size_t chunk,
                      const SolveMany& solve, const Progress& progress, const TakeArrival& take);

/// The other ranks' end, until there is nothing left to do.
void serve_sources(Communicator& communicator, const SolveMany& solve);

}  // namespace isochron::ranks
