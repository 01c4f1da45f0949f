#include "isochron/solve/ranks/serve.h"

#include <algorithm>

#include "isochron/solve/ranks/rank_device.h"

namespace isochron::mpi {
namespace {

/// Sets that a rank solves side by side: one on each thread; on a GPU up to 64, as long as all ranks get some.
std::size_t chunk_of(const RankOptions& rank_options, std::size_t sets, int ranks) {
  if (rank_options.rank_backend != Backend::cuda) return static_cast<std::size_t>(rank_options.batch_threads);
  return std::clamp<std::size_t>(sets / (2 * chunks_ahead * static_cast<std::size_t>(ranks)), 1, 64);
}

}  // namespace

Ranks::Order next_order(Communicator& communicator) { return Unpack(broadcast(communicator, {})).take<Ranks::Order>(); }

SolveOptions own_options(SolveOptions options, const RankOptions& rank_options) {
  options.backend = rank_options.rank_backend;
  options.threads = rank_options.batch_threads;
  options.progress.report = nullptr;  // the batch as a whole reports
  return options;
}

SolveOptions on_threads(SolveOptions options) {
  options.threads = std::max(1, options.threads);
  options.backend = options.threads > 1 ? Backend::threads : Backend::serial;
  return options;
}

int own_device(const Communicator& communicator, const SolveOptions& own) {
  if (own.backend != Backend::cuda && own.backend != Backend::automatic) return -1;
  return rank_device(communicator);
}

SolveOptions part_options(Communicator& communicator, SolveOptions options, Backend wanted) {
  Bytes bytes;
  put(bytes, wanted);
  options.backend = agreed_backend(communicator, Unpack(broadcast(communicator, std::move(bytes))).take<Backend>());
  return options;
}

void solve_shared_sources(Ranks& ranks, Ranks::Order order, Bytes domain, std::span<const Sources> sets,
                          const RankOptions& rank_options, const SolveMany& own, const Progress& progress,
                          const TakeArrival& take) {
  std::exception_ptr failed;
  ranks.together(order, [&] {
    (void)broadcast(ranks.communicator(), std::move(domain));
    failed = kept_failure([&] {
      const std::size_t chunk = chunk_of(rank_options, sets.size(), ranks.communicator().size());
      schedule_sources(ranks.communicator(), sets, chunk, own, progress, [&](std::size_t set, Arrival&& arrival) {
        arrival.backend = Backend::mpi;
        take(set, std::move(arrival));
      });
    });
  });
  if (failed) std::rethrow_exception(failed);
}

void put_batch(Bytes& bytes, const RankOptions& rank_options) {
  put(bytes, rank_options.rank_backend);
  put(bytes, rank_options.batch_threads);
}

RankOptions take_batch(Unpack& unpack) {
  RankOptions rank_options;
  rank_options.rank_backend = unpack.take<Backend>();
  rank_options.batch_threads = unpack.take<int>();
  return rank_options;
}

}  // namespace isochron::mpi
