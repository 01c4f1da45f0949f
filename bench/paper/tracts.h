// Tracts by name, and how the pathway of one compares with streamlines.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/paper/brain.h"
#include "bench/paper/report.h"
#include "isochron/connect.h"

namespace isochron::bench {

struct Tract {
  std::string brain;  ///< which one it is in: `Brain::name`
  std::string name;
  SphereRegion from, to;
};

/// Lines of brain, name, and x, y, z, radius of either end, with commas between; those that start with # are comments.
/// Throws InputError, which names the line.
std::vector<Tract> read_tracts(std::string_view text);

/// Those of tracts.csv in a brain.
std::vector<Tract> tracts_of(const Brain& brain);
/// The one of this name; none where the file does not have it.
std::optional<Tract> tract_named(const Brain& brain, std::string_view name);

/// Says below a figure where its tracts' ends are from, and that the brain is a phantom where it is one.
void note_tracts(Report& report, const Brain& brain);

/// The question for the pathway of a tract.
ConnectQuery query_of(const Brain& brain, const Tract& tract, double epsilon);

/// A tract as a pathway.
struct FoundTract {
  ConnectQuery query;
  Connection found;
  std::optional<std::string> bad;  ///< why the pathway is no answer
};
/// `options` have to ask for the residual: an unchecked solve is no answer.
FoundTract find_tract(const Brain& brain, const Tract& tract, double epsilon, const SolveOptions& options);

/// A pathway beside the streamlines between the same ends. Distances are means of closest distances between points of
/// the best path and of the streamlines; sets of voxels are the pathway and those that the streamlines pass.
struct TractComparison {
  Connection found;
  std::size_t seeds = 0;           ///< of streamlines, in both ends
  std::size_t reaching = 0;        ///< streamlines that join the ends
  double path_to_lines = 0;        ///< mm
  double lines_to_path = 0;        ///< mm
  double dice = 0;                 ///< of both sets of voxels
  double lines_inside = 0;         ///< share of the streamlines' voxels that the pathway has
  std::optional<std::string> bad;  ///< why the pathway is no answer
};

/// Both ways to find a tract. Streamlines are tracked from n³ seeds a voxel in either end and compared between the ends
/// alone.
TractComparison compare_tract(const Brain& brain, const Tract& tract, int seeds_per_axis, const SolveOptions& options);

/// The mean over `points` of the distance to the nearest of `others`; not for empty ones.
double mean_closest_distance(const std::vector<Vec3d>& points, const std::vector<Vec3d>& others);

/// The shortest piece of a line from a point that is `in_from` to one that is `in_to`, or the other way; empty when it
/// does not join them.
std::vector<Vec3d> between_ends(const std::vector<Vec3d>& line, const std::vector<bool>& in_from,
                                const std::vector<bool>& in_to);

}  // namespace isochron::bench
