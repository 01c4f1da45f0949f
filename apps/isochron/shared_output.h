// Sets of pieces that all ranks of a job write together.
#pragma once

#include <cstdint>
#include <filesystem>
#include <utility>

#include "apps/isochron/console.h"
#include "apps/isochron/exit_code.h"
#include "isochron/core/error.h"
#include "isochron/io/pieces/image_pieces.h"
#include "isochron/io/pieces/part_files.h"
#include "isochron/mesh/agreement.h"
#include "isochron/mesh/block_cut.h"
#include "isochron/solve/mpi/rank_exchange.h"

namespace isochron::cli {

/// What a rank makes of something that ranks make in parts.
inline PartChoice part_of_rank(const mpi::Transport& transport) {
  return {static_cast<std::uint32_t>(transport.rank()), static_cast<std::uint32_t>(transport.size())};
}

/// All ranks together: calls `write(exchange)`. A signal ends the writing, and then nothing is left of it: a rank that
/// waits looks for signals too, because the launcher sends them to all when one rank is gone. One that is told by
/// itself ends the others.
template <class Write>
void write_together(mpi::Transport& transport, Write&& write) {
  const InterruptGuard guard;
  transport.watch = check_interrupted;
  mpi::RankExchange exchange(transport);
  try {
    write(exchange);
  } catch (const ThrownTogether&) {
    throw;
  } catch (const Cancelled& cancelled) {
    if (transport.rank() == 0) print_error(cancelled.what());
    transport.abort(exit_code(cancelled.kind()));
  }
  transport.watch = {};
}

template <int Corners>
void write_shared(mpi::Transport& transport, const std::filesystem::path& path, PartData<Corners> data) {
  write_together(transport, [&](Exchange& exchange) { write_parts(exchange, path, std::move(data)); });
}
inline void write_shared(mpi::Transport& transport, const std::filesystem::path& path, ImageShare share) {
  write_together(transport, [&](Exchange& exchange) { write_image_share(exchange, path, std::move(share)); });
}

}  // namespace isochron::cli
