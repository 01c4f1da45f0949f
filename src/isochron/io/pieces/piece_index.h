// PVTU, PVTP and PVTI files: small text files that list the pieces of a mesh or an image and what is in them.
#pragma once

#include "isochron/io/image/vti.h"

namespace isochron {

/// An array that every piece has.
struct PieceArray {
  std::string name;
  ScalarType type = ScalarType::float64;
  int components = 1;
  friend bool operator==(const PieceArray&, const PieceArray&) = default;
};

struct PieceIndex {
  std::filesystem::path path;
  PieceKind kind = PieceKind::grid;
  std::vector<std::filesystem::path> pieces;
  std::vector<PieceArray> point_arrays, cell_arrays;
  int ghost_level = 0;
  /// Of the whole mesh; only our own files tell.
  std::optional<std::uint64_t> whole_points, whole_cells;
  VtkImageFrame frame;             ///< of images
  std::vector<VtkExtent> extents;  ///< of the pieces of images
  std::string tensors;             ///< the array of an image that holds tensors

  /// The piece as a message names it: "piece 3 of 8 (heart/heart_0003.vtu)".
  [[nodiscard]] std::string piece_name(std::size_t piece) const;
  /// Calls `read` with the path of a piece. When that throws InputError or the file is not there, throws InputError
  /// that names the list and the piece.
  template <class Read>
  auto read_piece(std::size_t piece, Read&& read) const {
    require_piece(piece);
    try {
      return read(pieces[piece]);
    } catch (const InputError& error) {
      fail_piece(piece, error);
    }
  }

  /// Throws InputError about the list: something in the piece does not fit.
  template <class... Args>
  [[noreturn]] void bad_piece(std::size_t piece, fmt::format_string<Args...> problem, Args&&... args) const {
    bad_file(path, "{} {}; write the pieces again", piece_name(piece),
             fmt::format(problem, std::forward<Args>(args)...));
  }

 private:
  void require_piece(std::size_t piece) const;
  [[noreturn]] void fail_piece(std::size_t piece, const InputError& error) const;
};

/// Throws InputError about the file.
PieceIndex read_piece_index(const std::filesystem::path& path);

/// The kind that an extension means: .pvtu, .pvtp or .pvti.
std::optional<PieceKind> piece_kind_of(const std::filesystem::path& path);

/// Whether the extension is that of a mesh in pieces.
bool is_mesh_set(const std::filesystem::path& path);

/// Throws UsageError: one process is asked to write a set.
[[noreturn]] void refuse_set_output(const std::filesystem::path& path);

/// Where a piece of a set is written: for heart.pvtu heart/heart_0003.vtu.
std::filesystem::path piece_path(const std::filesystem::path& index, std::size_t piece);

/// The arrays of some blocks as files hold them, for an index.
std::vector<PieceArray> piece_arrays(std::span<const ArrayBlock> blocks);

/// The index of a set whose pieces have the arrays of this one; without the pieces.
PieceIndex mesh_index(const Dataset& dataset, PieceKind kind);

/// Writes the text of an index; its pieces are named as `piece_path` does when they lie there. Throws RuntimeError.
void write_piece_index(const OutputFile& file, const PieceIndex& index);

/// The pieces that a process reads: every piece goes to one process, pieces that follow one another stay together. Some
/// processes have none when there are fewer pieces than processes.
std::vector<std::size_t> pieces_of_rank(const PieceIndex& index, std::size_t ranks, std::size_t rank);

}  // namespace isochron
