// Vertices or voxels that have a time before a solve starts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isochron/sources.h"
#include "isochron/types.h"

namespace isochron {

/// A source at a vertex or point, as found on a mesh or in an image.
struct PlacedSource {
  Vec3d position;                   ///< of an image in voxels; may lie between them
  VertexId vertex;                  ///< where the source is one; of an image the nearest voxel
  bool centred = true;              ///< of an image: at that voxel's centre
  std::vector<ElementId> elements;  ///< of a mesh: those that hold it
  double time = 0;
  std::int32_t source = 0;
};

/// Leaves one of several sources of the same place and time, the first.
void drop_repeated(std::vector<PlacedSource>& placed);

enum class SeedKind : std::int32_t {
  own,        ///< of the source itself, or of the element or voxels that hold it
  ball,       ///< of the ball around a vertex
  free_ball,  ///< of the ball around a point between vertices, or in an image: its times may be before those of `own`
  level_set   ///< beside the zero set
};

/// A vertex or voxel that starts with a time, and the source it has it from.
struct Seed {
  GlobalVertexId vertex;
  double time = 0;
  std::int32_t source = 0;
  SeedKind kind = SeedKind::own;  ///< leaves no gap: seeds travel as bytes
};

/// Seeds in internal units.
struct StartSeeds {
  std::vector<Seed> seeds;  ///< in the order they were given, the earliest of each vertex; times from `base` on
  double base = 0;          ///< user's time that is 0 inside
};

/// The number of sources at vertices and points that have seeds, and of those that got a ball.
struct BallCount {
  std::size_t sources = 0;
  std::size_t balls = 0;
};
BallCount count_balls(std::span<const Seed> seeds);

/// Sources at vertices and points, those of the same place and time once.
std::size_t count_distinct(const Sources& sources);

/// How many vertices or voxels the ball around each of several sources may hold: together a quarter of the mesh or
/// image, or 100,000.
double ball_share(std::size_t sources, std::size_t vertex_count);

/// The radius of balls in an image of `dim` dimensions, in voxels, that keeps to `ball_share`.
int limited_rings(int ball_rings, std::size_t sources, std::size_t vertex_count, int dim);

}  // namespace isochron
