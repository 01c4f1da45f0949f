// How several processes write the files of one set, so that all of them appear or none.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>

#include "isochron/comm/collectives.h"
#include "isochron/io/io.h"
#include "isochron/io/part_file.h"

namespace isochron {

/// Before any work: throws like `check_output_file` for the index and the first piece.
void check_set_writable(const std::filesystem::path& path, Overwrite overwrite);

struct SetWriters {
  std::size_t pieces = 1;  ///< written by the first so many processes, each the piece of its number
  std::size_t index = 0;   ///< the process that writes the index
};

/// All processes together: each calls `write` for its piece, and one of them writes the index. The set is there when
/// all have succeeded; otherwise nothing of it is, and all throw the same RuntimeError. An old set of this name is
/// replaced.
void write_set(Communicator& communicator, const std::filesystem::path& path, const PieceIndex& index,
               const SetWriters& writers, const std::function<void(PieceFile&)>& write);

/// Takes away a set that was written: its index, its pieces and their folder when nothing else is in it.
void remove_set(const std::filesystem::path& path);

}  // namespace isochron
