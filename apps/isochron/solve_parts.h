// `isochron solve --backend mpi` from pieces to pieces: every rank reads, solves on and writes its own part.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "apps/isochron/solve_mpi.h"
#include "isochron/communicator.h"
#include "isochron/parts.h"

namespace isochron::cli {

struct SolveSummary;

/// The first thing asked for that only a rank with the whole mesh or image can do.
std::optional<std::string> what_needs_whole(const SolveRequest& request);

/// From pieces to pieces, with nothing that needs the whole.
bool goes_by_parts(const SolveRequest& request);

/// All ranks together, on a mesh or an image; gives the exit code. The first rank speaks.
int run_solve_parts(const SolveRequest& request, Communicator& communicator, Console& console);

/// The sources on a mesh in parts, numbered as reading it on one rank does. `Pieces` list what this rank has.
template <int Corners>
struct TaggedPiece {
  const DataArrays& point_data;
  std::span<const std::uint64_t> global_vertex;
  TaggedCells<Corners> cells;
  TaggedCells<7 - Corners> other_cells;
};
/// All ranks together: the vertices that a tag marks, ascending. Throws InputError on all of them.
template <int Corners>
std::vector<std::uint64_t> tagged_vertices(Communicator& communicator, const NameValue& tag,
                                           std::span<const TaggedPiece<Corners>> pieces);

/// All ranks together: adds the largest part, of which this rank has so many vertices, and the most memory of a rank.
void add_largest(Communicator& communicator, std::size_t vertices, SolveSummary& summary);

/// Shares out the mesh of the first rank and lets every rank write a piece. The others call `help_to_write_pieces`.
template <int Corners>
void write_in_pieces(SharedSteps& ranks, const std::filesystem::path& path, Dataset&& dataset);
void write_in_pieces(SharedSteps& ranks, const std::filesystem::path& path, Image&& image);
void help_to_write_pieces(Communicator& communicator, const std::filesystem::path& path);

}  // namespace isochron::cli
