// From sources to the vertices that have a time before the solve starts.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "isochron/mesh/adjacency.h"
#include "isochron/mesh/locator.h"
#include "isochron/metric.h"
#include "isochron/options.h"
#include "isochron/solve/common/seed.h"
#include "isochron/solve/simplex/source_ball.h"
#include "isochron/sources.h"

namespace isochron {

/// All sources placed on one mesh.
struct PlacedSources {
  std::vector<PlacedSource> points;  ///< vertex sources first, then point sources
  bool level_set = false;
};

/// Whether a point's weight at a corner makes it that vertex: then all elements around it take part.
inline bool on_corner(double weight) { return weight > 1 - 1e-9; }

/// Throws InputError when the vertex is out of range or its onset time not finite.
void check_vertex_source(const VertexSource& source, std::size_t vertex_count);
/// Throws InputError: there is none.
[[noreturn]] void refuse_no_source();
/// Throws InputError: the source is not a vertex of any element.
[[noreturn]] void refuse_isolated(VertexId vertex);

/// Checks and places the sources. Throws InputError: none given, id out of range, not a vertex of any element, NaN or
/// infinite onset, point further than `reach` mean edges from the mesh. Points are looked for with `locator`; without
/// one it is made here.
template <int Corners>
PlacedSources place_sources(const SimplexMesh<Corners>& mesh, const Adjacency& adjacency, const Sources& sources,
                            const PointLocator<Corners>* locator = nullptr);

/// The seeds of the placed sources. `plain` sets a vertex source's vertex, or the corners of a point source's element;
/// `ball` adds the ball around sources that stand alone (no other source vertex beside them), within the limits. `rows`
/// gets how their times depend on the input.
template <int Corners>
std::vector<Seed> make_seeds(const SimplexMesh<Corners>& mesh, const Metric& metric, const Adjacency& adjacency,
                             const Sources& sources, const PlacedSources& placed, SourceInit init,
                             const BallLimits& limits, SeedRows* rows = nullptr);

/// The seeds of one placed source alone.
template <int Corners>
void add_seeds(const SimplexMesh<Corners>& mesh, const Metric& metric, const Adjacency& adjacency,
               const PlacedSource& source, SourceInit init, const BallLimits& limits, std::vector<Seed>& seeds,
               SeedRows* rows = nullptr);

}  // namespace isochron
