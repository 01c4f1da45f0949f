#include "isochron/solve/simplex/seeds.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "isochron/error.h"
#include "isochron/mesh/visibility.h"

namespace isochron {
namespace {

void check_onset(double time, const std::string& what) {
  if (!std::isfinite(time)) throw InputError(fmt::format("{} has onset time {}; give a finite number", what, time));
}

template <int Corners>
PlacedSource place_vertex(const SimplexMesh<Corners>& mesh, const Adjacency& adjacency, const VertexSource& source) {
  check_vertex_source(source, mesh.vertex_count());
  const VertexId v = source.vertex.in_whole();
  PlacedSource placed{mesh.point(v), v, true, elements_at(adjacency, v), source.time};
  if (placed.elements.empty()) refuse_isolated(v);
  return placed;
}

/// Mean edge length over a sample: the scale for "near the mesh".
template <int Corners>
double typical_edge(const SimplexMesh<Corners>& mesh) {
  double sum = 0;
  std::size_t samples = 0;
  for (std::size_t e = 0; e < mesh.element_count(); e += 1 + mesh.element_count() / 1024, ++samples)
    sum += norm(mesh.point(mesh.elements[e][1]) - mesh.point(mesh.elements[e][0]));
  return samples > 0 ? sum / static_cast<double>(samples) : 0;
}

template <int Corners>
PlacedSource place_point(const SimplexMesh<Corners>& mesh, const Adjacency& adjacency,
                         const PointLocator<Corners>& locator, double reach, const PointSource& source) {
  const Vec3d p = source.position;
  const std::string what = fmt::format("source point {},{},{}", p.x, p.y, p.z);
  if (!std::isfinite(p.x + p.y + p.z)) throw InputError(fmt::format("{} is not finite; give three numbers", what));
  check_onset(source.time, what);
  const auto found = locator.locate(p, reach);
  if (!found) {
    const auto nearest = locator.nearest(p);
    throw InputError(
        fmt::format("{} is {:.4g} away from the mesh (nearest point {:.6g},{:.6g},{:.6g}); give a point in or "
                    "on the mesh, in the mesh's unit",
                    what, nearest.distance, nearest.point.x, nearest.point.y, nearest.point.z));
  }
  for (int c = 0; c < Corners; ++c)
    if (on_corner(found->weights[c])) {
      const VertexId v = mesh.element(found->element)[c];
      return {mesh.point(v), v, true, elements_at(adjacency, v), source.time};
    }
  return {found->point, VertexId(), false, {found->element}, source.time};
}

}  // namespace

void check_vertex_source(const VertexSource& source, std::size_t vertex_count) {
  if (source.vertex.index() >= vertex_count)
    throw InputError(
        fmt::format("source vertex {} is out of range (the mesh has vertices 0 to {}); give an id of the mesh",
                    source.vertex.value, vertex_count - 1));
  check_onset(source.time, fmt::format("source vertex {}", source.vertex.value));
}

void refuse_no_source() {
  throw InputError("no source given; say where the front starts (" + Message(Setting{Option::source}) + ")");
}

void refuse_isolated(VertexId vertex) {
  throw InputError(
      fmt::format("source vertex {} is not a vertex of any element that conducts; choose one that is", vertex.value));
}

template <int Corners>
PlacedSources place_sources(const SimplexMesh<Corners>& mesh, const Adjacency& adjacency, const Sources& sources,
                            const PointLocator<Corners>* locator) {
  if (sources.empty()) refuse_no_source();
  PlacedSources placed;
  std::int32_t index = 0;
  for (const VertexSource& source : sources.vertices) {
    placed.points.push_back(place_vertex(mesh, adjacency, source));
    placed.points.back().source = index++;
  }
  if (!sources.points.empty()) {
    std::optional<PointLocator<Corners>> own;
    if (locator == nullptr) locator = &own.emplace(mesh);
    const double reach = 0.5 * typical_edge(mesh);
    for (const PointSource& source : sources.points) {
      placed.points.push_back(place_point(mesh, adjacency, *locator, reach, source));
      placed.points.back().source = index++;
    }
  }
  drop_repeated(placed.points);
  placed.level_set = !sources.level_set.empty();
  return placed;
}

template <int Corners>
void add_seeds(const SimplexMesh<Corners>& mesh, const Metric& metric, const Adjacency& adjacency,
               const PlacedSource& source, SourceInit init, const BallLimits& limits, std::vector<Seed>& seeds,
               SeedRows* rows) {
  if (source.vertex.valid()) {
    seeds.push_back({source.vertex, source.time, source.source});
    if (rows != nullptr) rows->add_onset(source.source);
  }
  if (source.vertex.valid() && init != SourceInit::ball) return;
  ball_times<Corners>(mesh, metric, adjacency, source.position, source.elements, source.time,
                      init == SourceInit::ball ? limits : BallLimits{},
                      [&](VertexId v, double time, SeedKind kind) {
                        const bool around_vertex = kind == SeedKind::own || source.vertex.valid();
                        seeds.push_back({v, time, source.source, around_vertex ? kind : SeedKind::free_ball});
                      },
                      {rows, source.source});
}

template <int Corners>
std::vector<Seed> make_seeds(const SimplexMesh<Corners>& mesh, const Metric& metric, const Adjacency& adjacency,
                             const Sources& sources, const PlacedSources& placed, SourceInit init,
                             const BallLimits& limits, SeedRows* rows) {
  // A vertex beside another source vertex samples a curve or a surface: balls around each would be wasted work.
  std::vector<std::uint8_t> is_source;
  if (init == SourceInit::ball && placed.points.size() > 1) {
    is_source.assign(mesh.vertex_count(), 0);
    for (const PlacedSource& source : placed.points)
      if (source.vertex.valid()) is_source[source.vertex.index()] = 1;
  }
  const auto alone = [&](const PlacedSource& source) {
    if (is_source.empty()) return true;
    for (const ElementId e : source.elements)
      for (const VertexId v : mesh.element(e))
        if (v != source.vertex && is_source[v.index()] != 0) return false;
    return true;
  };
  std::vector<Seed> seeds;
  for (const PlacedSource& source : placed.points)
    add_seeds(mesh, metric, adjacency, source, init == SourceInit::ball && !alone(source) ? SourceInit::plain : init,
              limits, seeds, rows);
  if (placed.level_set) {
    const auto number = static_cast<std::int32_t>(sources.count() - 1);
    levelset_times<Corners>(mesh, metric, adjacency, sources.level_set,
                            [&](VertexId v, double time) {
                              seeds.push_back({v, time, number, SeedKind::level_set});
                            },
                            {rows, number});
  }
  return seeds;
}

template PlacedSources place_sources(const SimplexMesh<3>&, const Adjacency&, const Sources&, const PointLocator<3>*);
template PlacedSources place_sources(const SimplexMesh<4>&, const Adjacency&, const Sources&, const PointLocator<4>*);
template void add_seeds(const SimplexMesh<3>&, const Metric&, const Adjacency&, const PlacedSource&, SourceInit,
                        const BallLimits&, std::vector<Seed>&, SeedRows*);
template void add_seeds(const SimplexMesh<4>&, const Metric&, const Adjacency&, const PlacedSource&, SourceInit,
                        const BallLimits&, std::vector<Seed>&, SeedRows*);
template std::vector<Seed> make_seeds(const SimplexMesh<3>&, const Metric&, const Adjacency&, const Sources&,
                                      const PlacedSources&, SourceInit, const BallLimits&, SeedRows*);
template std::vector<Seed> make_seeds(const SimplexMesh<4>&, const Metric&, const Adjacency&, const Sources&,
                                      const PlacedSources&, SourceInit, const BallLimits&, SeedRows*);

}  // namespace isochron
