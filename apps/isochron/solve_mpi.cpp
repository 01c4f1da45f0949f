#include "apps/isochron/solve_mpi.h"

#include <string_view>

#include "apps/isochron/exit_code.h"
#include "apps/isochron/solve_parts.h"
#include "apps/isochron/wording.h"
#include "isochron/comm/collectives.h"
#include "isochron/comm/mpi_communicator.h"
#include "isochron/core/error.h"

namespace isochron::cli {
namespace {

/// Work that all ranks do together.
template <class Work>
auto as_one(Communicator& communicator, Work&& work) {
  try {
    return work();
  } catch (const ThrownTogether&) {
    throw;
  } catch (const RuntimeError&) {
    fail_all(communicator);
  } catch (const Error&) {  // wrong usage, input or an interruption: what one rank finds all do
    throw;
  } catch (...) {
    fail_all(communicator);
  }
}

int serve(Communicator& communicator, const SolveRequest& request) {
  SolveOptions options = request.options;
  const InterruptGuard guard;
  options.progress = interruptible();
  mpi::AfterServing next = mpi::AfterServing::end;
  try {
    next = mpi::serve(communicator, options);
  } catch (const Cancelled&) {
    return 0;  // all ranks do; the first one says so
  } catch (...) {
    fail_all(communicator);
  }
  if (next == mpi::AfterServing::write)
    as_one(communicator, [&] { help_to_write_pieces(communicator, request.output); });
  return 0;
}

}  // namespace

void fail_all(Communicator& communicator) {
  const Failure failure = current_failure();
  silence(false);
  print_error(to_text(failure, command_wording()));
  while (true) communicator.abort(exit_code(failure.kind));  // once; the compiler does not believe a virtual function
}

int run_on_all_ranks(const std::function<int(Communicator&)>& work) {
  const std::unique_ptr<Communicator> communicator = mpi::join_world();
  return as_one(*communicator, [&] { return work(*communicator); });
}

int run_over_ranks(const SolveRequest& request, const std::function<int(mpi::Ranks&)>& work) {
  const std::unique_ptr<Communicator> communicator = mpi::join_world();
  if (communicator->rank() > 0) return serve(*communicator, request);
  mpi::Ranks ranks(*communicator);
  try {
    return work(ranks);
  } catch (...) {
    if (!ranks.stranded()) throw;
    fail_all(*communicator);
  }
}

bool is_another_rank(int argc, const char* const* argv) {
  if (mpi::launched_rank() == 0) return false;
  for (int i = 1; i < argc; ++i)
    if (const std::string_view text = argv[i]; text == "mpi" || text == "--backend=mpi") return true;
  return false;
}

}  // namespace isochron::cli
