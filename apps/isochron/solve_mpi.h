// `isochron solve --backend mpi`: rank 0 reads, writes and speaks; the others solve with it.
#pragma once

#include <functional>
#include <memory>

#include "apps/isochron/solve.h"
#include "isochron/solve/mpi/ranked_solver.h"

namespace isochron::cli {

/// Joins the job. On rank 0 calls `work` with all ranks and gives its exit code; the others serve until that is done.
/// An error in the middle of a solve ends all ranks.
int run_over_ranks(const SolveRequest& request, const std::function<int(mpi::Ranks&)>& work);

/// True when the launcher started this process as another than the first, and all of them would say the same.
bool is_another_rank(int argc, const char* const* argv);

}  // namespace isochron::cli
