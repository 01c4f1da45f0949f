#include "isochron/solve/mpi/serve.h"

#include <algorithm>

#include "isochron/solve/mpi/rank_device.h"

namespace isochron::mpi {
namespace {

/// Sets that a rank solves side by side: one on each thread; on a GPU up to 64, as long as all ranks get some.
std::size_t chunk_of(const DealOptions& deal, std::size_t sets, int ranks) {
  if (deal.rank_backend != Backend::cuda) return static_cast<std::size_t>(deal.batch_threads);
  return std::clamp<std::size_t>(sets / (2 * chunks_ahead * static_cast<std::size_t>(ranks)), 1, 64);
}

}  // namespace

Ranks::Order next_order(Transport& transport) { return Unpack(broadcast(transport, {})).take<Ranks::Order>(); }

SolveOptions own_options(SolveOptions options, const DealOptions& deal) {
  options.backend = deal.rank_backend;
  options.threads = deal.batch_threads;
  options.progress.report = nullptr;  // the batch as a whole reports
  return options;
}

SolveOptions on_threads(SolveOptions options) {
  options.threads = std::max(1, options.threads);
  options.backend = options.threads > 1 ? Backend::threads : Backend::serial;
  return options;
}

int own_device(const Transport& transport, const SolveOptions& own) {
  if (own.backend != Backend::cuda && own.backend != Backend::automatic) return -1;
  return rank_device(transport);
}

SolveOptions part_options(Transport& transport, SolveOptions options, Backend wanted) {
  Bytes bytes;
  put(bytes, wanted);
  options.backend = agreed_backend(transport, Unpack(broadcast(transport, std::move(bytes))).take<Backend>());
  return options;
}

void solve_shared_sources(Ranks& ranks, Ranks::Order order, Bytes domain, std::span<const Sources> sets,
                          const DealOptions& deal, const SolveMany& own, const Progress& progress,
                          const TakeArrival& take) {
  std::exception_ptr failed;
  ranks.together(order, [&] {
    (void)broadcast(ranks.transport(), std::move(domain));
    failed = kept_failure([&] {
      const std::size_t chunk = chunk_of(deal, sets.size(), ranks.transport().size());
      deal_sources(ranks.transport(), sets, chunk, own, progress, [&](std::size_t set, Arrival&& arrival) {
        arrival.backend = Backend::mpi;
        take(set, std::move(arrival));
      });
    });
  });
  if (failed) std::rethrow_exception(failed);
}

void put_batch(Bytes& bytes, const DealOptions& deal) {
  put(bytes, deal.rank_backend);
  put(bytes, deal.batch_threads);
}

DealOptions take_batch(Unpack& unpack) {
  DealOptions deal;
  deal.rank_backend = unpack.take<Backend>();
  deal.batch_threads = unpack.take<int>();
  return deal;
}

}  // namespace isochron::mpi
