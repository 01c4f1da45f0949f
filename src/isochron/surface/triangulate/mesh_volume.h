// The volumes that triangles enclose, and small moves of their corners that change them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "isochron/surface.h"

namespace isochron {

/// A volume per label.
using LabelVolumes = std::map<std::int32_t, double>;

/// What the triangles of each label enclose; `sides` are those of the triangles. Without 0.
LabelVolumes enclosed_volumes(const TriangleMesh& mesh, std::span<const RegionSides> sides);

/// Triangles are chords of what they stand for: those of small and thin objects enclose some percent less or more.
/// Moves their corners along the normals, by at most `max_move`, until labels that were off by more than 2 % enclose
/// what is wanted; all others keep what they have. Corners whose triangles would run through others stay where they
/// were.
void move_to_volumes(std::span<const RegionSides> sides, const LabelVolumes& wanted, double max_move, int threads,
                     TriangleMesh& mesh);

/// A relative difference of volumes that is worth a note.
constexpr double max_volume_change = 0.05;

/// A line about labels whose volume is off by more than that, those of a few voxels left aside; empty when there are
/// none.
std::string volume_note(const LabelVolumes& found, const LabelVolumes& wanted, double voxel);

}  // namespace isochron
