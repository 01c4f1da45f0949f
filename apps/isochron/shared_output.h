// Sets of pieces that all ranks of a job write together.
#pragma once

#include <cstdint>
#include <filesystem>
#include <utility>

#include "apps/isochron/console.h"
#include "apps/isochron/exit_code.h"
#include "isochron/comm/collectives.h"
#include "isochron/core/error.h"
#include "isochron/dist/block_partition.h"
#include "isochron/io/pieces/image_pieces.h"
#include "isochron/io/pieces/part_files.h"

namespace isochron::cli {

/// What a rank makes of something that ranks make in parts.
inline PartChoice part_of_rank(const Communicator& communicator) {
  return {static_cast<std::uint32_t>(communicator.rank()), static_cast<std::uint32_t>(communicator.size())};
}

/// All ranks together: calls `write()`. A signal ends the writing, and then nothing is left of it: a rank that waits
/// looks for signals too, because the launcher sends them to all when one rank is gone. One that alone gets a signal
/// ends the others.
template <class Write>
void write_together(Communicator& communicator, Write&& write) {
  const InterruptGuard guard;
  communicator.watch = check_interrupted;
  try {
    write();
  } catch (const ThrownTogether&) {
    throw;
  } catch (const Cancelled& cancelled) {
    if (communicator.rank() == 0) print_error(cancelled.what());
    communicator.abort(exit_code(cancelled.kind()));
  }
  communicator.watch = {};
}

template <int Corners>
void write_shared(Communicator& communicator, const std::filesystem::path& path, PartData<Corners> data) {
  write_together(communicator, [&] { write_parts(communicator, path, std::move(data)); });
}
inline void write_shared(Communicator& communicator, const std::filesystem::path& path, ImagePart part) {
  write_together(communicator, [&] { write_image_part(communicator, path, std::move(part)); });
}

}  // namespace isochron::cli
