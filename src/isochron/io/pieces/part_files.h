// The parts of a mesh as the pieces of a PVTU or PVTP set, and how several processes write the files of a set, so that
// all of them appear or none.
#pragma once

#include <functional>

#include "isochron/communicator.h"
#include "isochron/io.h"
#include "isochron/io/file.h"
#include "isochron/io/pieces/piece_index.h"
#include "isochron/parts.h"

namespace isochron {

/// The part as a piece's file holds it: ghost vertices and the elements that other parts count are marked the way VTK
/// does (vtkGhostType), with the ids in the whole mesh and the owner of each vertex.
template <int Corners>
Dataset piece_of(PartData<Corners> data, std::uint32_t part);

/// Whether the set was made of parts, so that each piece can be read as one.
bool holds_parts(const PieceIndex& index);

/// A piece that was read, of a set that `holds_parts`, as the part it was made of. Throws InputError about the list:
/// ids or owners that cannot be.
template <int Corners>
PartData<Corners> part_of(const PieceIndex& index, std::uint32_t part, Dataset&& piece);

/// The file of one piece of a set. All processes `write`; when all have, all `commit`; then one commits the index; then
/// all `keep`. Whoever lets go earlier leaves all as it was: no new file, and an old one
/// where there was one and `keep_old` came before `commit`.
class PieceFile {
 public:
  /// Makes the folder for the pieces. Throws RuntimeError.
  PieceFile(std::filesystem::path index, std::size_t piece, Overwrite overwrite);
  ~PieceFile();
  PieceFile(const PieceFile&) = delete;
  PieceFile& operator=(const PieceFile&) = delete;

  /// Both throw RuntimeError (full disk).
  void write(const Dataset& piece);
  void write(const Image& piece, const ImageGrid& whole, const IndexBox& box);
  /// As `AtomicFile::keep_old`.
  void keep_old() { file_->keep_old(); }
  void commit();
  [[nodiscard]] bool committed() const { return committed_; }
  void keep() { kept_ = true; }
  /// Where it is written first.
  [[nodiscard]] const std::filesystem::path& temporary() const { return file_->path(); }

 private:
  std::filesystem::path index_;
  std::filesystem::path target_;
  std::optional<AtomicFile> file_;
  bool committed_ = false;
  bool kept_ = false;
};

/// Writes the index, with the names of `pieces` pieces, to its temporary place. Throws RuntimeError.
void write_set_index(const AtomicFile& file, const std::filesystem::path& path, PieceIndex index, std::size_t pieces);

/// The index of a set of parts, from a part that is not empty.
template <int Corners>
PieceIndex part_index(const std::filesystem::path& path, const PartData<Corners>& data);

/// Before any work: throws like `check_output_file` for the index and the first piece.
void check_set_writable(const std::filesystem::path& path, Overwrite overwrite);

struct SetWriters {
  std::size_t pieces = 1;  ///< written by the first so many processes, each the piece of its number
  std::size_t index = 0;   ///< the process that writes the index
};

/// All processes together: each calls `write` for its piece, and one of them writes the index. The set is there when
/// all have succeeded; otherwise all is as it was, and all throw the same error: InputError when there is a set of this
/// name and it may not be replaced, even if another job made it a moment ago, and RuntimeError.
void write_set(Communicator& communicator, const std::filesystem::path& path, const PieceIndex& index,
               const SetWriters& writers, Overwrite overwrite, const std::function<void(PieceFile&)>& write);

/// Takes away a set that was written: its index, its pieces and their folder when nothing else is in it.
void remove_set(const std::filesystem::path& path);

/// Before any work: throws UsageError unless the name is that of a set that can hold such elements (.pvtu, or .pvtp for
/// triangles), and like `check_output_file` for the index and the first piece.
void check_set_name(const std::filesystem::path& path, Overwrite overwrite);
template <int Corners>
void check_set_holds(const std::filesystem::path& path);

/// All processes together, as `write_set`: each writes its part as the piece of its number, and one of them the index.
template <int Corners>
void write_parts(Communicator& communicator, const std::filesystem::path& path, PartData<Corners> data,
                 Overwrite overwrite);

}  // namespace isochron
