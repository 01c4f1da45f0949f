// The seeds of vertex sources from the mesh around them, without the adjacency of all of it.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "isochron/solve/simplex/seeds.h"

namespace isochron {

/// A mesh and its metric, wherever they are, of which parts are asked for.
template <int Corners>
struct MeshParts {
  std::size_t vertex_count = 0;
  /// The elements with a corner at most so many edges away from one of the vertices.
  std::function<std::vector<ElementId>(std::span<const VertexId>, int rings)> elements_near;
  std::function<std::vector<typename SimplexMesh<Corners>::Element>(std::span<const ElementId>)> elements;
  std::function<std::vector<Vec3d>(std::span<const VertexId>)> points;
  std::function<Metric(std::span<const ElementId>)> metric;
};

/// The adjacency of a part of a mesh that has all elements with a corner at most `rings` edges away from one of the
/// centres. It lists the vertices up to there, which have all their elements in the part; those beyond, at its edge,
/// have none listed, and `ball_times` throws PartTooSmall when it comes to one.
template <int Corners>
Adjacency inner_adjacency(const SimplexMesh<Corners>& part, std::span<const VertexId> centres, int rings);

/// The seeds of several sets of sources, which must be vertices only, as `make_seeds` would give them; checks as
/// `place_sources` does.
template <int Corners>
std::vector<std::vector<Seed>> seeds_near(const MeshParts<Corners>& mesh, std::span<const Sources> source_sets,
                                          SourceInit init, int ball_rings);

}  // namespace isochron
