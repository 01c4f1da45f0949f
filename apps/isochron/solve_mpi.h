// Commands with `--backend mpi`: who does what on which rank, and what becomes of errors.
#pragma once

#include <functional>
#include <memory>

#include "apps/isochron/solve.h"
#include "isochron/solve/ranks/ranked_solver.h"

namespace isochron::cli {

/// Joins the job. On rank 0 calls `work` with all ranks and gives its exit code; the others serve until that is done.
/// An error in the middle of a solve ends all ranks.
int run_over_ranks(const SolveRequest& request, const std::function<int(mpi::Ranks&)>& work);

/// Joins the job and calls `work` on all ranks; gives the exit code of the first. What all of them throw only the first
/// one says; what one alone throws ends all.
int run_on_all_ranks(const std::function<int(Communicator&)>& work);

/// Says what the exception in flight says and ends all ranks: the others may be in the middle of something that this
/// one has left, and cannot go on without it.
[[noreturn]] void fail_all(Communicator& communicator);

/// True when the launcher started this process as another than the first, and all of them would say the same.
bool is_another_rank(int argc, const char* const* argv);

}  // namespace isochron::cli
