// Sets of pieces that all ranks of a job write together.
#pragma once

#include <filesystem>
#include <utility>

#include "apps/isochron/console.h"
#include "isochron/io/part_output.h"
#include "isochron/solve/mpi/rank_exchange.h"

namespace isochron::cli {

/// All ranks together. A signal ends the writing, and then nothing is left of it: a rank that waits looks for signals
/// too, because the launcher sends them to all when one rank is gone.
template <int Corners>
void write_shared(mpi::Transport& transport, const std::filesystem::path& path, PartData<Corners> data) {
  const InterruptGuard guard;
  transport.watch = check_interrupted;
  mpi::RankExchange exchange(transport);
  write_parts(exchange, path, std::move(data));
  transport.watch = {};
}

}  // namespace isochron::cli
