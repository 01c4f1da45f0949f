#include "isochron/mesh.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>

#include <fmt/format.h>

#include "isochron/core/parallel.h"
#include "isochron/core/stop.h"
#include "isochron/error.h"
#include "isochron/mesh/box_tree.h"
#include "isochron/mesh/locator.h"

namespace isochron {

namespace {

/// Squares of lengths must be numbers.
void check_extent(std::span<const Vec3d> points, int threads) {
  const auto [low, high] = box_of(points, threads);
  const double extent = std::max({high.x - low.x, high.y - low.y, high.z - low.z});
  if (extent > 0 && !(extent > 1e-150 && extent < 1e150))
    throw InputError(fmt::format(
        "the mesh is too large or too small to compute with (its extent is {:g}); change the unit", extent));
}

}  // namespace

template <int Corners>
void check_mesh(const SimplexMesh<Corners>& mesh, MeshIds ids, int threads) {
  constexpr auto kind = Corners == 3 ? "triangles" : "tetrahedra";
  if (mesh.points.empty()) throw InputError("the mesh has no points (there is nothing to solve on); give another");
  if (mesh.elements.empty())
    throw InputError(fmt::format("the mesh has no {} (there is nothing to solve on); give another", kind));
  if (mesh.points.size() > (1ULL << 31) || mesh.elements.size() > (1ULL << 30))
    throw InputError(fmt::format("{} points and {} {} are too many (ids have 31 bits, elements 30); split the mesh",
                                 mesh.points.size(), mesh.elements.size(), kind));
  const Faults points = count_faults(threads, mesh.points.size(), [&](std::size_t v) {
    const Vec3d& p = mesh.points[v];
    return !(std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z));
  });
  if (points.count > 0)
    throw InputError(fmt::format("coordinates are not finite at {} of {} points (first: point {}); repair the mesh",
                                 points.count, mesh.points.size(), points.first));
  check_extent(mesh.points, threads);
  if (ids == MeshIds::in_range) return;
  const Faults corners = count_faults(threads, mesh.elements.size(), [&](std::size_t e) {
    const auto& element = mesh.elements[e];
    return std::count_if(element.begin(), element.end(), [&](VertexId v) { return v.index() >= mesh.points.size(); });
  });
  if (corners.count > 0)
    throw InputError(fmt::format(
        "corners of elements name points that do not exist ({} times, first in element {}; there are {} points, "
        "counted from 0); repair the mesh",
        corners.count, corners.first, mesh.points.size()));
}

namespace {

template <int Corners>
double measure(const std::array<Vec3d, Corners>& p) {
  const Vec3d normal = cross(p[1] - p[0], p[2] - p[0]);
  if constexpr (Corners == 3) return norm(normal) / 2;
  else return dot(normal, p[3] - p[0]) / 6;
}

/// 1 for an equilateral element, 0 for a flat one. `size` is the area or the absolute volume.
template <int Corners>
double shape_quality(double size, double squared_edges) {
  if (!(squared_edges > 0)) return 0;
  if constexpr (Corners == 3) return 4 * std::sqrt(3.0) * size / squared_edges;
  else return 12 * std::cbrt(9 * size * size) / squared_edges;
}

/// True when every two edges that meet at a corner have a product of at least 0 in the metric.
template <int Corners>
bool acute(const std::array<Vec3d, Corners>& p, const SymTensor3d& m) {
  for (int at = 0; at < Corners; ++at)
    for (int a = 0; a < Corners; ++a)
      for (int b = a + 1; b < Corners; ++b) {
        if (a == at || b == at) continue;
        const Vec3d first = p[a] - p[at], second = p[b] - p[at];
        // A right angle is acute, and rounding must not make it obtuse.
        if (product(m, first, second) < -1e-12 * std::sqrt(squared_length(m, first) * squared_length(m, second)))
          return false;
      }
  return true;
}

/// What one thread finds in its elements.
struct Shapes {
  std::size_t inverted = 0, degenerate = 0, obtuse = 0;
  double min_squared_edge = std::numeric_limits<double>::infinity(), max_squared_edge = 0, edge_sum = 0;
  double min_quality = std::numeric_limits<double>::infinity(), quality_sum = 0;

  void merge(const Shapes& other) {
    inverted += other.inverted;
    degenerate += other.degenerate;
    obtuse += other.obtuse;
    min_squared_edge = std::min(min_squared_edge, other.min_squared_edge);
    max_squared_edge = std::max(max_squared_edge, other.max_squared_edge);
    edge_sum += other.edge_sum;
    min_quality = std::min(min_quality, other.min_quality);
    quality_sum += other.quality_sum;
  }
};

template <int Corners>
void add_shape(Shapes& shapes, const std::array<Vec3d, Corners>& p, const SymTensor3d& m, bool flat_mesh) {
  double squared_edges = 0;
  for (const auto& [a, b] : edge_corners<Corners>()) {
    const double squared = dot(p[b] - p[a], p[b] - p[a]);
    squared_edges += squared;
    shapes.min_squared_edge = std::min(shapes.min_squared_edge, squared);
    shapes.max_squared_edge = std::max(shapes.max_squared_edge, squared);
    shapes.edge_sum += std::sqrt(squared);
  }
  const double size = measure<Corners>(p);
  const double quality = shape_quality<Corners>(std::abs(size), squared_edges);
  shapes.min_quality = std::min(shapes.min_quality, quality);
  shapes.quality_sum += quality;
  // Quality falls with height/edge (triangles) and (height/edge)^⅔ (tets): both limits are a height of about 1e-9
  // edges.
  constexpr double flat_limit = Corners == 3 ? 1e-9 : 1e-6;
  if (!(quality > flat_limit)) {
    ++shapes.degenerate;
    return;
  }
  const bool negative = Corners == 4 ? size < 0 : flat_mesh && cross(p[1] - p[0], p[2] - p[0]).z < 0;
  if (negative) ++shapes.inverted;
  if (!acute<Corners>(p, m)) ++shapes.obtuse;
}

template <int Corners>
void examine_shapes(const SimplexMesh<Corners>& mesh, const MetricOf& metric, int threads, MeshReport& report) {
  const bool flat_mesh = report.low.z == report.high.z;
  std::vector<Shapes> parts(threads);
  parallel_region(static_cast<int>(parts.size()), [&](int thread, int team) {
    Shapes shapes;
    const std::size_t count = mesh.element_count();
    for (std::size_t e = count * thread / team; e < count * (thread + 1) / team; ++e) {
      std::array<Vec3d, Corners> p;
      for (int k = 0; k < Corners; ++k) p[k] = mesh.point(mesh.elements[e][k]);
      add_shape<Corners>(shapes, p, metric ? metric(ElementId(e)) : SymTensor3d::identity(), flat_mesh);
    }
    parts[thread] = shapes;
  });
  Shapes all;
  for (const Shapes& part : parts) all.merge(part);
  const double elements = static_cast<double>(mesh.element_count());
  report.inverted = all.inverted;
  report.degenerate = all.degenerate;
  report.min_edge = std::sqrt(all.min_squared_edge);
  report.max_edge = std::sqrt(all.max_squared_edge);
  report.mean_edge = all.edge_sum / (elements * SimplexMesh<Corners>::edges);
  report.min_quality = all.min_quality;
  report.mean_quality = all.quality_sum / elements;
  report.obtuse_share = static_cast<double>(all.obtuse) / elements;
}

/// How often vertex sets occur.
struct SetCounts {
  std::size_t once = 0;     ///< sets that occur once
  std::size_t many = 0;     ///< sets that occur more than twice
  std::size_t repeats = 0;  ///< occurrences after the first
};

template <std::size_t Size>
using VertexSets = std::vector<std::array<std::uint32_t, Size>>;

/// Counts the sets of a group whose smallest ids lie in [low, low + width). `emit(element, add)` calls `add` with each
/// set of an element, ids ascending. Those that occur once are also added to `singles`, if given.
template <std::size_t Size, class Elements, class Emit>
SetCounts count_sets_between(const Elements& elements, std::uint32_t low, std::uint32_t width, Emit&& emit,
                             VertexSets<Size>* singles) {
  using Set = std::array<std::uint32_t, Size>;
  // One counting sort by the smallest id; what is left to sort is a handful of sets a vertex.
  const auto scan = [&](auto&& take) {
    for (const auto& element : elements)
      emit(element, [&](const Set& set) {
        if (set[0] - low < width) take(set[0] - low, set);
      });
  };
  std::vector<std::uint32_t> start(width + 1, 0);
  scan([&](std::uint32_t bucket, const Set&) { ++start[bucket + 1]; });
  std::partial_sum(start.begin(), start.end(), start.begin());
  std::vector<Set> sorted(start[width]);
  scan([&](std::uint32_t bucket, const Set& set) { sorted[start[bucket]++] = set; });

  SetCounts counts;
  std::size_t from = 0;
  for (std::uint32_t bucket = 0; bucket < width; ++bucket) {
    const std::size_t to = start[bucket];  // the cursor has moved to the bucket's end
    std::sort(sorted.begin() + static_cast<std::ptrdiff_t>(from), sorted.begin() + static_cast<std::ptrdiff_t>(to));
    for (std::size_t i = from, next = from; i < to; i = next) {
      while (next < to && sorted[next] == sorted[i]) ++next;
      counts.once += next - i == 1 ? 1 : 0;
      if (singles != nullptr && next - i == 1) singles->push_back(sorted[i]);
      counts.many += next - i > 2 ? 1 : 0;
      counts.repeats += next - i - 1;
    }
    from = to;
  }
  return counts;
}

/// Counts all sets, in passes by their smallest id so that only some millions are in memory at a time.
template <std::size_t Size, class Elements, class Emit>
SetCounts count_sets(const Elements& elements, std::size_t vertex_count, std::size_t sets_an_element, int threads,
                     Emit&& emit, VertexSets<Size>* singles = nullptr) {
  constexpr std::size_t sets_in_memory = 24'000'000;
  const std::size_t passes = 1 + elements.size() * sets_an_element * static_cast<std::size_t>(threads) / sets_in_memory;
  std::vector<SetCounts> parts(passes);
  std::vector<VertexSets<Size>> part_singles(passes);
  parallel_region(static_cast<int>(std::min<std::size_t>(threads, passes)), [&](int thread, int team) {
    for (std::size_t pass = thread; pass < passes; pass += team) {
      const auto low = static_cast<std::uint32_t>(vertex_count * pass / passes);
      const auto high = static_cast<std::uint32_t>(vertex_count * (pass + 1) / passes);
      parts[pass] =
          count_sets_between<Size>(elements, low, high - low, emit, singles != nullptr ? &part_singles[pass] : nullptr);
    }
  });
  SetCounts total;
  for (const SetCounts& part : parts) {
    total.once += part.once;
    total.many += part.many;
    total.repeats += part.repeats;
  }
  for (const VertexSets<Size>& part : part_singles)
    if (singles != nullptr) singles->insert(singles->end(), part.begin(), part.end());
  return total;
}

/// How many of the boundary faces have an element on both sides. A face of the true boundary has one side in the open.
std::size_t count_unmatched(const TetMesh& mesh, const VertexSets<3>& faces, int threads) {
  constexpr std::size_t max_tested = 100'000;
  constexpr double step = 1e-3;  // of the face's size; further off than rounding, nearer than any real gap
  const std::size_t stride = 1 + faces.size() / max_tested;
  const PointLocator<4> locator(mesh, threads);
  std::vector<std::uint8_t> unmatched(faces.size() / stride, 0);
  parallel_for(threads, unmatched.size(), [&](std::size_t i) {
    const auto& face = faces[i * stride];
    const Vec3d a = mesh.points[face[0]], b = mesh.points[face[1]], c = mesh.points[face[2]];
    const Vec3d normal = cross(b - a, c - a);
    if (!(norm(normal) > 0)) return;
    const Vec3d middle = (a + b + c) / 3.0;
    const Vec3d off = (step / std::sqrt(norm(normal))) * normal;  // |normal| is twice the area
    unmatched[i] = locator.locate(middle + off, 0) && locator.locate(middle - off, 0) ? 1 : 0;
  });
  return static_cast<std::size_t>(std::count(unmatched.begin(), unmatched.end(), 1));
}

template <int Corners>
void examine_facets(const SimplexMesh<Corners>& mesh, int threads, MeshReport& report) {
  using Set = std::array<std::uint32_t, Corners>;
  const auto whole = [](const typename SimplexMesh<Corners>::Element& element, auto&& add) {
    Set set;
    for (int k = 0; k < Corners; ++k) set[k] = element[k].value;
    for (int last = Corners - 1; last > 0; --last)
      for (int k = 0; k < last; ++k)
        if (set[k] > set[k + 1]) std::swap(set[k], set[k + 1]);
    add(set);
  };
  const auto facets = [&](const typename SimplexMesh<Corners>::Element& element, auto&& add) {
    whole(element, [&](const Set& set) {
      for (int without = 0; without < Corners; ++without) {
        std::array<std::uint32_t, Corners - 1> facet;
        for (int k = 0; k + 1 < Corners; ++k) facet[k] = set[k < without ? k : k + 1];
        add(facet);
      }
    });
  };
  const std::size_t vertices = mesh.vertex_count();
  VertexSets<Corners - 1> boundary;
  const SetCounts counts = count_sets<Corners - 1>(mesh.elements, vertices, Corners, threads, facets, &boundary);
  if constexpr (Corners == 4) report.unmatched_facets = count_unmatched(mesh, boundary, threads);
  report.boundary_facets = counts.once;
  report.non_manifold_facets = counts.many;
  report.duplicate_elements = count_sets<Corners>(mesh.elements, vertices, 1, threads, whole).repeats;
}

/// Valences, unreferenced vertices and connected components.
template <int Corners>
void examine_vertices(const SimplexMesh<Corners>& mesh, MeshReport& report) {
  std::vector<std::uint32_t> count(mesh.vertex_count(), 0);
  for (const auto& element : mesh.elements)
    for (const VertexId v : element) ++count[v.index()];
  report.max_valence = *std::max_element(count.begin(), count.end());
  std::fill(count.begin(), count.end(), 0U);
  for (const VertexId part : parts_of(mesh)) {
    if (part.valid()) ++count[part.index()];
    else ++report.unreferenced_vertices;
  }
  for (const std::uint32_t size : count) {
    if (size > 0) ++report.components;
    report.largest_component = std::max<std::size_t>(report.largest_component, size);
  }
}

std::size_t count_duplicate_points(std::span<const Vec3d> points) {
  std::vector<std::uint32_t> order(points.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Vec3d &p = points[a], &q = points[b];
    return p.x != q.x ? p.x < q.x : (p.y != q.y ? p.y < q.y : p.z < q.z);
  });
  std::size_t result = 0;
  for (std::size_t i = 1; i < order.size(); ++i)
    if (points[order[i]] == points[order[i - 1]]) ++result;
  return result;
}

}  // namespace

template <int Corners>
std::vector<VertexId> parts_of(const SimplexMesh<Corners>& mesh) {
  std::vector<VertexId> parent(mesh.vertex_count());  // invalid until an element names the vertex
  const auto root = [&](VertexId v) {
    if (!parent[v.index()].valid()) parent[v.index()] = v;
    while (parent[v.index()] != v) v = parent[v.index()] = parent[parent[v.index()].index()];
    return v;
  };
  for (const auto& element : mesh.elements) {
    VertexId low = root(element[0]);
    for (const VertexId v : element) {
      const VertexId other = root(v);
      parent[std::max(low.value, other.value)] = VertexId(std::min(low.value, other.value));
      low = VertexId(std::min(low.value, other.value));
    }
  }
  for (std::size_t v = 0; v < parent.size(); ++v)
    if (parent[v].valid()) parent[v] = root(VertexId(v));
  return parent;
}

template <int Corners>
MeshReport validate(const SimplexMesh<Corners>& mesh, const MetricOf& metric, int threads) {
  MeshReport report;
  threads = std::max(1, threads);
  report.vertices = mesh.vertex_count();
  report.elements = mesh.element_count();
  if (mesh.points.empty() || mesh.elements.empty()) return report;
  report.low = report.high = mesh.points[0];
  for (const Vec3d& p : mesh.points)
    for (int axis = 0; axis < 3; ++axis) {
      report.low[axis] = std::min(report.low[axis], p[axis]);
      report.high[axis] = std::max(report.high[axis], p[axis]);
    }
  examine_shapes(mesh, metric, threads, report);
  examine_facets(mesh, threads, report);
  examine_vertices(mesh, report);
  report.duplicate_points = count_duplicate_points(mesh.points);
  return report;
}

template void check_mesh<3>(const TriangleMesh&, MeshIds, int);
template void check_mesh<4>(const TetMesh&, MeshIds, int);
template std::vector<VertexId> parts_of<3>(const TriangleMesh&);
template std::vector<VertexId> parts_of<4>(const TetMesh&);
template MeshReport validate<3>(const TriangleMesh&, const MetricOf&, int);
template MeshReport validate<4>(const TetMesh&, const MetricOf&, int);

}  // namespace isochron
