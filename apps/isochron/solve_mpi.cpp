#include "apps/isochron/solve_mpi.h"

#include <string_view>

#include "isochron/core/error.h"
#include "isochron/solve/mpi/mpi_transport.h"

namespace isochron::cli {
namespace {

/// Says what the exception in flight says and ends all ranks: the others may be in the middle of something that this
/// one has left, and cannot go on without it.
[[noreturn]] void fail_all(mpi::Transport& transport) {
  std::string message = "unknown failure; please report it";
  int code = 1;
  try {
    throw;
  } catch (const Error& error) {
    message = error.what();
    code = error.exit_code();
  } catch (const std::exception& error) {
    message = error.what();
  } catch (...) {
    code = 1;
  }
  silence(false);
  print_error(message);
  while (true) transport.abort(code);  // once; the compiler does not believe a virtual function
}

int serve(mpi::Transport& transport, const SolveRequest& request) {
  SolveOptions options = request.options;
  const InterruptGuard guard;
  options.progress = interruptible();
  try {
    mpi::serve(transport, options);
  } catch (const Cancelled&) {
    return 0;  // all ranks do; the first one says so
  } catch (...) {
    fail_all(transport);
  }
  return 0;
}

}  // namespace

int run_over_ranks(const SolveRequest& request, const std::function<int(mpi::Ranks&)>& work) {
  const std::unique_ptr<mpi::Transport> transport = mpi::join_world();
  if (transport->rank() > 0) return serve(*transport, request);
  mpi::Ranks ranks(*transport);
  try {
    return work(ranks);
  } catch (...) {
    if (!ranks.stranded()) throw;
    fail_all(*transport);
  }
}

bool is_another_rank(int argc, const char* const* argv) {
  if (mpi::launched_rank() == 0) return false;
  for (int i = 1; i < argc; ++i)
    if (const std::string_view text = argv[i]; text == "mpi" || text == "--backend=mpi") return true;
  return false;
}

}  // namespace isochron::cli
