#include "apps/isochron/solve_mpi.h"

#include <string_view>

#include "apps/isochron/exit_code.h"
#include "apps/isochron/wording.h"
#include "isochron/comm/collectives.h"
#include "isochron/communicator.h"
#include "isochron/error.h"
#include "isochron/solver.h"

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

/// The steps of `isochron solve` on ranks other than the first.
int follow(SharedSteps& steps, const SolveRequest& request) {
  SolveOptions options = request.options;
  const InterruptGuard guard;
  options.progress = interruptible();
  try {
    steps.take([&] { Solver(Domain(), options, steps.communicator()).solve_many({}, {}); });
    if (request.to_pieces()) steps.take([&] { help_to_write_pieces(steps.communicator(), request); });
  } catch (const Cancelled&) {       // all ranks do; the first one says so
  } catch (const ThrownTogether&) {  // likewise
  } catch (...) {
    fail_all(steps.communicator());
  }
  return 0;
}

}  // namespace

void fail_all(Communicator& communicator) {
  const Failure failure = current_failure();
  silence(false);
  print_error(to_text(failure, command_wording()));
  while (true) communicator.abort(exit_code(failure.kind));  // once; the compiler does not believe a virtual function
}

void SharedSteps::give_up() {
  if (left_ == 0) return;
  left_ = 0;
  try {
    throw_together(communicator_, current_failure());
  } catch (const ThrownTogether&) {  // it is in flight here already
  }
}

int run_on_all_ranks(const std::function<int(Communicator&)>& work) {
  const std::unique_ptr<Communicator> communicator = mpi::join_world();
  return as_one(*communicator, [&] { return work(*communicator); });
}

int run_over_ranks(const SolveRequest& request, const std::function<int(SharedSteps&)>& work) {
  const std::unique_ptr<Communicator> communicator = mpi::join_world();
  SharedSteps steps(*communicator, request.to_pieces() ? 2 : 1);
  if (communicator->rank() > 0) return follow(steps, request);
  try {
    return work(steps);
  } catch (...) {
    if (steps.stranded()) fail_all(*communicator);
    steps.give_up();
    throw;
  }
}

bool is_another_rank(int argc, const char* const* argv) {
  if (mpi::launched_rank() == 0) return false;
  for (int i = 1; i < argc; ++i)
    if (const std::string_view text = argv[i]; text == "mpi" || text == "--backend=mpi") return true;
  return false;
}

}  // namespace isochron::cli
