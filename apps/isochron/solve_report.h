// The summary of `isochron solve`.
#pragma once

#include "apps/isochron/solve.h"
#include "isochron/diffusion.h"

namespace isochron::cli {

/// `SolveSummary::corners` of an image.
inline constexpr int voxel_corners = 8;

/// "27 vertices, 48 tetrahedra", and of an image "64 voxels, 60 in the mask"; `corners` as in a summary.
std::string size_text(std::size_t vertices, std::size_t elements, int corners);
/// "triangle", "tet" or "voxel".
const char* element_kind(int corners);

/// What came of one source with --each-source.
struct SourceSummary {
  std::optional<VertexId> vertex;  ///< or a point
  Vec3d point{};
  double onset = 0;
  Arrival arrival{};  ///< its arrays are empty
};

/// The result without its arrays, and what happened around the solve.
struct SolveSummary {
  const SolveRequest& request;
  std::vector<std::filesystem::path> written{};
  std::size_t vertices = 0;
  std::size_t elements = 0;
  int corners = 4;
  std::vector<CutCells> cut_cells{};
  std::optional<DiffusionCounts> tensors{};  ///< of images whose metric is made of tensors
  Unreached unreached{};
  Arrival arrival{};  ///< counts, times of the work and notes; its arrays are empty. Of all solves with --each-source
  std::vector<SourceSummary> sources{};  ///< with --each-source
  int ranks = 0;                         ///< with --backend mpi
  std::uint64_t max_vertices = 0;        ///< in the largest part, with its ghosts, when no rank has the whole mesh
  std::uint64_t max_bytes = 0;           ///< memory of the rank that took most, then
  double solves_per_vertex = 0;
  double read_seconds = 0;
  double write_seconds = 0;
};

/// Draws the picture that was asked for, if any. Gives why it could not be drawn (no display), for after the other
/// results are written.
std::optional<RuntimeError> draw_result(const SolveRequest& request, const Dataset& dataset, SolveSummary& summary,
                                        const Console& console);

/// Says which vertices have no time, and why.
void warn_unreached(const SolveSummary& summary, const Arrival& arrival, Console& console);

/// The same of an image.
void warn_unreached_voxels(const SolveSummary& summary, Console& console);

/// What to try when a run on an image did not converge, for its message: what was not used already.
std::string better_grid_options(const Arrival& arrival, GridScheme scheme);

/// Exit code of a finished run, and its line on stderr when that is not 0.
int judge(const SolveSummary& summary);

/// As text for people or as one JSON object, as asked for.
void print_summary(const SolveSummary& summary, const Console& console);

}  // namespace isochron::cli
