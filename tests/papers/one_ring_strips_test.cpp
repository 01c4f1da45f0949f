// One-ring strips (paper 003) as the host makes them and as a thread walks them; the kernels call the same functions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "isochron/error.h"
#include "isochron/generate.h"
#include "isochron/papers/one_ring_strips.h"
#include "isochron/solve/common/state.h"
#include "isochron/solve/simplex/finish.h"
#include "isochron/solve/simplex/obtuse_split.h"
#include "isochron/solve/simplex/relax.h"
#include "isochron/solver.h"
#include "solve/samples.h"

namespace isochron {
namespace TEST_FILE {

template <int Corners>
using Face = typename StripMaker<Corners>::Face;

/// The faces that the words of a strip name, in their order.
template <int Corners>
std::vector<Face<Corners>> faces_in(const std::vector<std::uint16_t>& words) {
  const std::vector<double> times(StripWord::vertices);
  StripWindow<Corners, double> window;
  std::vector<Face<Corners>> faces;
  for (const std::uint16_t word : words) {
    EXPECT_NE(word, StripWord::end);
    if (!window.take(word, times.data())) continue;
    Face<Corners>& face = faces.emplace_back();
    std::copy(window.vertex, window.vertex + Corners - 1, face.begin());
  }
  return faces;
}

template <int Corners>
Face<Corners> sorted(Face<Corners> face) {
  std::sort(face.begin(), face.end());
  return face;
}

/// Every face is named exactly once, in the order that the maker says. Returns how many words it took.
template <int Corners>
std::size_t expect_covered(StripMaker<Corners>& maker, const std::vector<Face<Corners>>& faces) {
  const auto& strips = maker.make(faces);
  EXPECT_EQ(strips.order.size(), faces.size());
  const std::vector<Face<Corners>> named = faces_in<Corners>(strips.words);
  EXPECT_EQ(named.size(), faces.size());
  std::vector<int> seen(faces.size(), 0);
  for (std::size_t i = 0; i < std::min(named.size(), strips.order.size()); ++i) {
    ++seen.at(strips.order[i]);
    EXPECT_EQ(sorted<Corners>(named[i]), sorted<Corners>(faces.at(strips.order[i])));
  }
  EXPECT_EQ(seen, std::vector<int>(faces.size(), 1));
  return strips.words.size();
}

/// The faces opposite a vertex, with the vertices around it numbered in the order in which they are met.
template <int Corners>
std::vector<Face<Corners>> one_ring(const SimplexMesh<Corners>& mesh, const Adjacency& adjacency, VertexId v) {
  std::map<std::uint32_t, std::uint32_t> number;
  std::vector<Face<Corners>> faces;
  for (const std::uint32_t incidence : adjacency.at(v)) {
    Face<Corners>& face = faces.emplace_back();
    std::size_t k = 0;
    for (const VertexId corner : mesh.element(Adjacency::element_of(incidence)))
      if (corner != v)
        face[k++] = number.try_emplace(corner.value, static_cast<std::uint32_t>(number.size())).first->second;
  }
  return faces;
}

/// Words a face, over all vertices of a mesh.
template <int Corners>
double words_per_face(const SimplexMesh<Corners>& mesh) {
  const Adjacency adjacency = build_adjacency(mesh);
  StripMaker<Corners> maker;
  std::size_t words = 0;
  for (std::size_t v = 0; v < mesh.vertex_count(); ++v)
    words += expect_covered<Corners>(maker, one_ring(mesh, adjacency, VertexId(v)));
  return static_cast<double>(words) / static_cast<double>(mesh.element_count() * Corners);
}

/// One strip around every vertex has 2 words more than faces: of 20 to 24 faces inside, of 4 to 12 on the sides of the
/// cube, which is 1.1 and 1.3 a face. One strip more for each vertex is 1.2 and 1.6.
TEST(FaceStrips, CoverEachTetrahedronOfAVertexOnce) {
  const double regular = words_per_face(test::cube(12)),
               irregular = words_per_face(generate_irregular_cube({.n = 11, .extent = 10}));
  RecordProperty("regular", std::to_string(regular));
  RecordProperty("irregular", std::to_string(irregular));
  for (const double words : {regular, irregular}) {
    EXPECT_GT(words, 1);
    EXPECT_LT(words, 1.3);
  }
}

/// A closed chain of six has one word more than edges, and so has an open one: 7/6 inside.
TEST(FaceStrips, CoverEachTriangleOfAVertexOnce) {
  EXPECT_LT(words_per_face(test::square(30, 0.3)), 1.2);
  EXPECT_LT(words_per_face(generate_sphere({.frequency = 8})), 1.18);
  EXPECT_LT(words_per_face(generate_irregular_square({.n = 20, .extent = 19})), 1.2);
}

TEST(FaceStrips, TakeOddOneRings) {
  StripMaker<4> triangles;
  EXPECT_EQ(expect_covered<4>(triangles, {}), 0U);
  EXPECT_EQ(expect_covered<4>(triangles, {{7, 3, 16383}}), 3U);
  EXPECT_EQ(expect_covered<4>(triangles, {{0, 1, 2}, {0, 1, 2}}), 4U);                            // the same twice
  EXPECT_EQ(expect_covered<4>(triangles, {{0, 1, 2}, {3, 4, 5}}), 6U);                            // two parts
  EXPECT_EQ(expect_covered<4>(triangles, {{0, 1, 2}, {2, 3, 4}}), 6U);                            // share a vertex
  EXPECT_EQ(expect_covered<4>(triangles, {{0, 1, 2}, {1, 0, 3}, {0, 1, 4}}), 9U);                 // three at an edge
  EXPECT_EQ(expect_covered<4>(triangles, {{0, 1, 2}, {2, 1, 3}, {0, 1, 4}, {0, 2, 5}}), 5U + 3);  // a star of four
  StripMaker<3> edges;
  EXPECT_EQ(expect_covered<3>(edges, {{4, 5}}), 2U);
  EXPECT_EQ(expect_covered<3>(edges, {{0, 1}, {2, 1}, {2, 3}}), 4U);
  EXPECT_EQ(expect_covered<3>(edges, {{0, 1}, {1, 2}, {2, 0}}), 4U);
  EXPECT_EQ(expect_covered<3>(edges, {{0, 1}, {0, 2}, {0, 3}}), 6U);  // three at a vertex
}

/// Around an edge with very many tetrahedra one vertex has them all.
TEST(FaceStrips, OfTenThousandElementsAreOneStrip) {
  const TetMesh fan = test::fan_of_tets(10000);
  StripMaker<4> maker;
  EXPECT_EQ(expect_covered<4>(maker, one_ring(fan, build_adjacency(fan), VertexId(0))), 10002U);
}

/// What a block does, on the host: patches one after the other until none changes.
template <class T, int Corners>
struct HostPatches {
  SimplexProblem<T, Corners> problem;
  PatchPacking packing;
  OneRingStrips<T> strips;

  HostPatches(const SimplexMesh<Corners>& mesh, const Metric& metric, int patch_vertices, bool split = false)
      : problem(prepare_topology<T>(mesh, KeepOrder::no, 1)) {
    apply_metric(problem, mesh, metric, 1);
    if (split) problem.virtual_elements = split_obtuse(problem, mesh, metric);
    PaperOptions options;
    options.patch_vertices = patch_vertices;
    packing = pack_vertices(problem, mesh, options);
    strips = make_one_ring_strips(problem, mesh, metric, packing, 1);
  }

  static constexpr T tolerance = std::is_same_v<T, float> ? T(1e-5) : T(1e-9);

  /// Times from vertex 0, which must be a fixed point of the update from the elements' records.
  [[nodiscard]] std::vector<double> solve() const {
    std::vector<T> time(packing.vertices(), std::numeric_limits<T>::infinity());
    const std::uint32_t source = problem.internal(VertexId(0));
    time[packing.place_of[source]] = 0;
    const std::vector<std::uint32_t> vertex_at = packing.vertices_by_place();
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t p = 0; p < packing.patches(); ++p) changed = update(p, time, vertex_at) || changed;
    }
    std::vector<T> internal(time.size());
    for (std::uint32_t place = 0; place < time.size(); ++place) internal[vertex_at[place]] = time[place];
    expect_settled(internal, source);
    std::vector<double> times(time.size());
    for (std::uint32_t v = 0; v < time.size(); ++v)
      times[problem.user(v).index()] = static_cast<double>(internal[v]) * problem.unit;
    return times;
  }

  [[nodiscard]] double spelled_share() const {
    const std::size_t spelled = strips.arrays.spelled_face.size() / (Corners - 1);
    return static_cast<double>(spelled) / static_cast<double>(problem.elements.size() * Corners);
  }

 private:
  void expect_settled(std::vector<T>& time, std::uint32_t source) const {
    std::vector<std::uint8_t> pinned(time.size(), 0);
    pinned[source] = 1;
    const Relaxer<T, Corners, PlainTimes<T>> relax(problem, {time.data()});
    const Residual residual =
        residual_pass(relax, pinned, {{source, T(0)}}, residual_tolerances * static_cast<double>(tolerance), 1);
    EXPECT_LE(residual.worst, residual.limit);
  }

  bool update(std::uint32_t p, std::vector<T>& time, const std::vector<std::uint32_t>& vertex_at) const {
    const std::uint32_t first = packing.vertex_begin[p], own = packing.vertex_begin[p + 1] - first;
    const std::uint32_t halo_first = strips.halos.begin[p], halo = strips.halos.begin[p + 1] - halo_first;
    std::vector<T> local(time.begin() + first, time.begin() + first + own);
    for (std::uint32_t i = 0; i < halo; ++i) local.push_back(time[strips.halos.halo[halo_first + i]]);
    const T* point = strips.arrays.point.data() + std::size_t{3} * (first + halo_first);
    bool changed = false;
    for (std::uint32_t i = 0; i < own; ++i) {
      unsigned long long solves = 0;
      const StripVertex<T> vertex{p, first + i, own, i, local.data(), point};
      const T best = earliest_from_strips<Corners>(strips.arrays.view(), vertex, solves);
      const T now = time[first + i];
      const T least = now < std::numeric_limits<T>::infinity()
                          ? countable_gain(tolerance, problem.edge[vertex_at[first + i]], now)
                          : T(0);
      if (!(best < now - least)) continue;
      time[first + i] = best;
      changed = true;
    }
    return changed;
  }
};

template <class T, int Corners>
void expect_reference(const SimplexMesh<Corners>& mesh, const Metric& metric, double max_spelled,
                      ObtuseSplit obtuse = ObtuseSplit::none) {
  SolveOptions strict;
  strict.tolerance = 1e-12;
  strict.backend = Backend::serial;
  strict.obtuse = obtuse;
  strict.source_init = SourceInit::plain;
  const Arrival reference = solve(mesh, metric, test::from(VertexId(0)), strict);
  const HostPatches<T, Corners> patches(mesh, metric, 32, obtuse == ObtuseSplit::split);
  EXPECT_GT(patches.packing.patches(), 1U);
  EXPECT_LE(patches.spelled_share(), max_spelled);
  const std::vector<double> times = patches.solve();
  const double hops = 3.0 * std::pow(static_cast<double>(mesh.vertex_count()), 1.0 / (Corners - 1));
  const double edge = static_cast<double>(patches.problem.mean_edge) * patches.problem.unit;
  const double tolerance = (std::is_same_v<T, float> ? 1e-5 : 1e-9) * hops * edge;
  for (std::size_t v = 0; v < times.size(); ++v) {
    if (std::isinf(reference.times[v])) ASSERT_TRUE(std::isinf(times[v])) << v;
    else ASSERT_NEAR(times[v], reference.times[v], tolerance) << v;
  }
}

template <int Corners>
void expect_reference(const SimplexMesh<Corners>& mesh, const Metric& metric, double max_spelled = 0,
                      ObtuseSplit obtuse = ObtuseSplit::none) {
  expect_reference<float>(mesh, metric, max_spelled, obtuse);
  expect_reference<double>(mesh, metric, max_spelled, obtuse);
}

template <int Corners>
SimplexMesh<Corners> moved(SimplexMesh<Corners> mesh, Vec3d by) {
  for (Vec3d& p : mesh.points) p = p + by;
  return mesh;
}

TEST(OneRingStrips, GiveTheTimesOfTheReference) {
  expect_reference(test::cube(9), Metric::isotropic(2));
  expect_reference(test::cube(9, 0.25), Metric::isotropic(2), 0.02);
  const TetMesh irregular = generate_irregular_cube({.n = 9, .extent = 8});
  expect_reference(irregular, test::rough_speed(irregular), 0.05);
  const TetMesh ventricle = generate_ventricle({.elements = 8000}).mesh;
  expect_reference(ventricle, Metric::isotropic(0.6), 0.05);
  expect_reference(test::square(20, 0.3), Metric::isotropic(3));
  const TriangleMesh sphere = generate_sphere({.frequency = 8});
  expect_reference(sphere, test::rough_speed(sphere));
}

/// Coordinates are those of the patch, and lengths in any unit.
TEST(OneRingStrips, GiveThemFarFromTheOriginAndInAnyUnit) {
  expect_reference(moved(test::cube(8, 0.2), {1e6, -2e6, 3e5}), Metric::isotropic(1), 0.02);
  TetMesh small = test::cube(8, 0.2);
  for (Vec3d& p : small.points) p = 1e-9 * p;
  expect_reference(small, Metric::isotropic(1e-3), 0.02);
}

TEST(OneRingStrips, SpellOutWhatCoordinatesDoNotDescribe) {
  expect_reference(test::cube(7, 0.3), Metric(), 1, ObtuseSplit::split);
  expect_reference(test::square(15, 0.35), Metric(), 1, ObtuseSplit::split);
  // The plane part of a needle is lost where its ends are far apart.
  expect_reference(test::disc_of_slivers(2000), Metric(), 1);
  EXPECT_GT((HostPatches<float, 3>(test::disc_of_slivers(2000), Metric(), 32).spelled_share()), 0);
  const HostPatches<float, 3> slivers(test::disc_of_slivers(20000), Metric(), 1024);
  EXPECT_GT(slivers.spelled_share(), 0.5);  // 20,000 vertices are more than a word can number
}

/// Elements that share an edge or a vertex only, parts without a source, vertices without an element.
TEST(OneRingStrips, TakeMeshesThatAreNoManifolds) {
  TetMesh mesh = test::beside(test::cube(4, 0.2), test::one_tet());
  const auto apex = static_cast<std::uint32_t>(mesh.vertex_count());
  mesh.points.push_back({-1, -1, -1});
  mesh.points.push_back({-2, -1, -1});
  mesh.points.push_back({-1, -2, -1});
  mesh.elements.push_back({VertexId(0), VertexId(apex), VertexId(apex + 1), VertexId(apex + 2)});
  expect_reference(mesh, Metric(), 0.02);
}

TEST(OneRingStrips, TakeFlatAndRepeatedElements) {
  TriangleMesh flat = test::square(12, 0.2);
  flat.elements[30][1] = flat.elements[30][0];
  flat.elements.push_back(flat.elements[50]);
  flat.points[40] = flat.points[41];
  expect_reference(flat, Metric(), 0.1);
  TetMesh solid = test::cube(6, 0.2);
  solid.elements[30][1] = solid.elements[30][0];
  solid.elements.push_back(solid.elements[50]);
  solid.points[40] = solid.points[41];
  expect_reference(solid, Metric(), 0.1);
}

TEST(OneRingStrips, DoNotDependOnTheNumberOfThreads) {
  const TetMesh mesh = test::cube(9, 0.3);
  const HostPatches<float, 4> one(mesh, Metric(), 32, true);
  const auto many = make_one_ring_strips(one.problem, mesh, Metric(), one.packing, 5);
  EXPECT_EQ(one.strips.halos.halo, many.halos.halo);
  EXPECT_EQ(one.strips.halos.dependent, many.halos.dependent);
  EXPECT_EQ(one.strips.arrays.word_begin, many.arrays.word_begin);
  EXPECT_EQ(one.strips.arrays.word, many.arrays.word);
  EXPECT_EQ(one.strips.arrays.speed, many.arrays.speed);
  EXPECT_EQ(one.strips.arrays.point, many.arrays.point);
  EXPECT_EQ(one.strips.arrays.spelled_begin, many.arrays.spelled_begin);
}

TEST(OneRingStrips, RefuseAnisotropicMetrics) {
  try {
    const HostPatches<float, 4> patches(test::cube(4), Metric::constant(test::diag149), 32);
    FAIL() << "tensors were accepted";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "one-ring strips hold a speed for each element and no tensor, and the metric is anisotropic; use "
                 "layout cell-assembly");
  }
}

/// Cell assembly has for each element and patch four vertices and six lengths, and for each corner a slot to gather
/// from, of four bytes.
std::size_t least_bytes_of_cells(const HostPatches<float, 4>& patches) {
  std::size_t cells = 0;
  for (const auto& element : patches.problem.elements) {
    std::set<std::uint32_t> owners;
    for (int k = 0; k < 4; ++k) owners.insert(patches.packing.patch_of[patches.packing.place_of[element.vertex(k)]]);
    cells += owners.size();
  }
  return (cells * (4 + 6) + patches.problem.elements.size() * 4) * 4;
}

TEST(OneRingStrips, TakeLessMemoryThanCellAssembly) {
  for (const TetMesh& mesh : {test::cube(17), generate_irregular_cube({.n = 13, .extent = 12}),
                              generate_ventricle({.elements = 30000}).mesh}) {
    const HostPatches<float, 4> patches(mesh, Metric(), 64);
    const auto& arrays = patches.strips.arrays;
    const std::size_t strips = arrays.bytes(), cells = least_bytes_of_cells(patches);
    const auto per_tet = [&](std::size_t bytes) {
      return static_cast<double>(bytes) / static_cast<double>(mesh.element_count());
    };
    SCOPED_TRACE(testing::Message() << per_tet(strips) << " and " << per_tet(cells) << " bytes per tetrahedron; words "
                                    << per_tet(arrays.word.size() * 2) << ", speeds "
                                    << per_tet(arrays.speed.size() * 4) << ", points "
                                    << per_tet(arrays.point.size() * 4) << ", spelled out " << patches.spelled_share());
    EXPECT_LT(strips, cells * 3 / 4);
  }
}

}  // namespace TEST_FILE
}  // namespace isochron
