// The papers' patch scheme on the GPU against the CPU on the same problems. What needs a device skips itself where
// there is none.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "isochron/device.h"
#include "isochron/error.h"
#include "isochron/generate.h"
#include "isochron/papers/cuda/patch_data.h"
#include "isochron/papers/methods.h"
#include "isochron/solver.h"
#include "solve/samples.h"

namespace isochron {
namespace TEST_FILE {

constexpr PatchLayout both_layouts[] = {PatchLayout::one_ring_strip, PatchLayout::cell_assembly};

PaperOptions scheme(PatchLayout layout, int patch_vertices = 64, int inner_iterations = 0) {
  PaperOptions options;
  options.layout = layout;
  options.patch_vertices = patch_vertices;
  options.inner_iterations = inner_iterations;
  return options;
}

SolveOptions in_patches(const PaperOptions& how, Precision precision = Precision::double_) {
  SolveOptions options;
  options.method = Method::patch_fim;
  options.backend = Backend::cuda;
  options.precision = precision;
  options.paper = how;
  options.verify = Keep::yes;
  return options;
}

template <int Corners>
Arrival on_cpu(const SimplexMesh<Corners>& mesh, const Metric& metric, const Sources& sources,
               ObtuseSplit obtuse = ObtuseSplit::automatic) {
  SolveOptions strict;
  strict.tolerance = 1e-12;
  strict.backend = Backend::serial;
  strict.obtuse = obtuse;
  return solve(mesh, metric, sources, strict);
}

/// The times pass the residual check and are the CPU's, to the tolerance times the hops of so long edges.
template <int Corners>
void expect_times(const SimplexMesh<Corners>& mesh, const Arrival& arrival, const Arrival& reference, double edge = 1) {
  EXPECT_EQ(arrival.backend, Backend::cuda);
  EXPECT_EQ(arrival.method, Method::patch_fim);
  EXPECT_TRUE(arrival.converged);
  ASSERT_TRUE(arrival.residual.has_value());
  EXPECT_LE(arrival.residual->worst, arrival.residual->limit) << arrival.residual->worst_vertex.value;
  EXPECT_EQ(arrival.unreached, reference.unreached);
  const double hops = 3.0 * std::pow(static_cast<double>(mesh.vertex_count()), 1.0 / (Corners - 1));
  const double tolerance = (arrival.precision == Precision::single_ ? 1e-5 : 1e-6) * edge;
  for (std::size_t v = 0; v < mesh.vertex_count(); ++v) {
    if (std::isinf(reference.times[v])) {
      ASSERT_TRUE(std::isinf(arrival.times[v])) << v;
    } else {
      ASSERT_NEAR(arrival.times[v], reference.times[v], tolerance * hops) << v;
    }
  }
}

/// The layouts that take a metric.
std::vector<PatchLayout> layouts_for(const Metric& metric) {
  if (metric.isotropic()) return {PatchLayout::one_ring_strip, PatchLayout::cell_assembly};
  return {PatchLayout::cell_assembly};
}

/// All layouts in both precisions.
template <int Corners>
void expect_same(const SimplexMesh<Corners>& mesh, const Metric& metric, const Sources& sources) {
  const Arrival reference = on_cpu(mesh, metric, sources);
  const SampledEdges edges = sample_edges(mesh, metric, unit_sample(mesh.element_count()));
  for (const PatchLayout layout : layouts_for(metric))
    for (const Precision precision : {Precision::single_, Precision::double_}) {
      SCOPED_TRACE(layout == PatchLayout::cell_assembly ? "cell assembly" : "one-ring strip");
      const Arrival arrival = solve(mesh, metric, sources, in_patches(scheme(layout), precision));
      EXPECT_EQ(arrival.precision, precision);
      expect_times(mesh, arrival, reference, std::max(1.0, edges.sum / edges.count));
    }
}

Sources two_sources(std::uint32_t a, std::uint32_t b) {
  Sources sources;
  sources.vertices.push_back({VertexId(a), 0.5});
  sources.vertices.push_back({VertexId(b), 3});
  return sources;
}

Sources one_source(std::uint32_t v) {
  Sources sources;
  sources.vertices.push_back({VertexId(v), 0});
  return sources;
}

class DevicePatchFim : public ::testing::Test {
 protected:
  void SetUp() override {
    cuda::NoDevice why;
    if (!cuda::find_device(why)) GTEST_SKIP() << "there is no GPU to use";
  }
};

TEST_F(DevicePatchFim, AgreesOnCubes) {
  const TetMesh regular = generate_cube({.nx = 11, .ny = 10, .nz = 9, .extent = {10, 9, 8}});
  const TetMesh jittered = generate_cube({.nx = 10, .ny = 10, .nz = 10, .extent = {9, 9, 9}, .jitter = 0.25});
  for (const TetMesh& mesh : {regular, jittered}) {
    expect_same(mesh, Metric::isotropic(2), two_sources(0, 700));
    expect_same(mesh, Metric::constant(SymTensor3d::diagonal(1, 4, 9)), two_sources(500, 3));
    FiberMetric fibers;
    fibers.fiber = random_fibers(mesh, 1);
    fibers.velocities = {{3, 1, 1}};
    expect_same(mesh, Metric(std::move(fibers)), two_sources(500, 3));
  }
}

TEST_F(DevicePatchFim, AgreesOnSurfaces) {
  expect_same(generate_square({.n = 40, .extent = 39}), Metric(), two_sources(800, 0));
  expect_same(generate_square({.n = 33, .extent = 32, .jitter = 0.3}), Metric::constant(SymTensor3d::diagonal(1, 9, 1)),
              two_sources(500, 1000));
  expect_same(generate_sphere({.frequency = 10}), Metric::isotropic(3), two_sources(0, 700));
}

TEST_F(DevicePatchFim, AnyPatchSizeAndNumberOfSweepsGivesTheSame) {
  const TetMesh cube = generate_cube({.nx = 11, .ny = 11, .nz = 11, .extent = {10, 10, 10}, .jitter = 0.2});
  const TriangleMesh square = generate_square({.n = 35, .extent = 34, .jitter = 0.3});
  for (const Metric& metric : {Metric::constant(SymTensor3d::diagonal(1, 4, 2)), Metric::isotropic(2)}) {
    const Arrival in_cube = on_cpu(cube, metric, two_sources(5, 900));
    const Arrival in_square = on_cpu(square, metric, two_sources(5, 900));
    for (const PatchLayout layout : layouts_for(metric))
      for (const int size : {16, 33, 257, 1024})
        for (const int sweeps : {1, 4, 50}) {
          SCOPED_TRACE(testing::Message() << size << " vertices, " << sweeps << " sweeps");
          const SolveOptions options = in_patches(scheme(layout, size, sweeps), Precision::single_);
          expect_times(cube, solve(cube, metric, two_sources(5, 900), options), in_cube);
          expect_times(square, solve(square, metric, two_sources(5, 900), options), in_square);
        }
  }
}

/// Speeds by element, an irregular mesh and curved walls; far from the origin single precision has few digits left.
TEST_F(DevicePatchFim, AgreesWithSpeedsByElement) {
  TetMesh irregular = generate_irregular_cube({.n = 10, .extent = 9});
  expect_same(irregular, test::rough_speed(irregular), two_sources(7, 400));
  for (Vec3d& p : irregular.points) p = p + Vec3d{1e5, -1e5, 3e5};
  expect_same(irregular, Metric(), two_sources(7, 400));
  const TetMesh ventricle = generate_ventricle({.elements = 12000}).mesh;
  expect_same(ventricle, test::rough_speed(ventricle), two_sources(0, 300));
  const TriangleMesh sphere = generate_sphere({.frequency = 10});
  expect_same(sphere, test::rough_speed(sphere), two_sources(0, 700));
}

TEST_F(DevicePatchFim, StripsTakeLessMemoryThanCells) {
  for (const TetMesh& mesh : {generate_cube({.nx = 21, .ny = 21, .nz = 21, .extent = {20, 20, 20}}),
                              generate_irregular_cube({.n = 16, .extent = 15})}) {
    const auto bytes = [&](PatchLayout layout) {
      return solve(mesh, Metric(), one_source(0), in_patches(scheme(layout), Precision::single_))
          .counters.element_bytes;
    };
    const std::uint64_t strips = bytes(PatchLayout::one_ring_strip), cells = bytes(PatchLayout::cell_assembly);
    EXPECT_GT(strips, mesh.element_count() * 4 * (2 + 4));  // a word and a speed for each corner
    EXPECT_LT(strips, cells * 3 / 4);
  }
}

TEST_F(DevicePatchFim, StripsRefuseTensors) {
  const TetMesh mesh = generate_cube({.nx = 5, .ny = 5, .nz = 5});
  const SolveOptions options = in_patches(scheme(PatchLayout::one_ring_strip));
  EXPECT_THROW(solve(mesh, Metric::constant(SymTensor3d::diagonal(1, 4, 9)), one_source(0), options), UsageError);
  EXPECT_TRUE(solve(mesh, Metric::constant(SymTensor3d::diagonal(4, 4, 4)), one_source(0), options).residual->passed());
}

TEST_F(DevicePatchFim, VirtualElementsTakePart) {
  const TetMesh cube = generate_cube({.nx = 9, .ny = 9, .nz = 9, .extent = {8, 8, 8}, .jitter = 0.3});
  const TriangleMesh square = generate_square({.n = 30, .extent = 29, .jitter = 0.35});
  const Arrival in_cube = on_cpu(cube, Metric(), two_sources(0, 300), ObtuseSplit::split);
  const Arrival in_square = on_cpu(square, Metric(), two_sources(0, 300), ObtuseSplit::split);
  const Arrival unsplit = on_cpu(cube, Metric(), two_sources(0, 300), ObtuseSplit::none);
  EXPECT_NE(in_cube.times, unsplit.times);
  for (const PatchLayout layout : both_layouts)
    for (const Precision precision : {Precision::single_, Precision::double_}) {
      SolveOptions options = in_patches(scheme(layout, 32), precision);
      options.obtuse = ObtuseSplit::split;
      expect_times(cube, solve(cube, Metric(), two_sources(0, 300), options), in_cube);
      expect_times(square, solve(square, Metric(), two_sources(0, 300), options), in_square);
    }
}

TEST_F(DevicePatchFim, SolversOfDifferentSizesDoNotDisturbEachOther) {
  const TetMesh mesh = generate_cube({.nx = 12, .ny = 12, .nz = 12, .extent = {11, 11, 11}, .jitter = 0.2});
  const Metric metric;
  for (const PatchLayout layout : both_layouts) {
    Solver large({mesh, metric}, in_patches(scheme(layout, 1000), Precision::single_));
    Solver small({mesh, metric}, in_patches(scheme(layout, 16), Precision::single_));
    for (const std::uint32_t v : {0U, 1700U, 0U}) {
      const Arrival reference = on_cpu(mesh, metric, two_sources(v, 9));
      expect_times(mesh, large.solve(two_sources(v, 9)), reference);
      expect_times(mesh, small.solve(two_sources(v, 9)), reference);
    }
  }
}

TEST_F(DevicePatchFim, TakesOddMeshes) {
  TriangleMesh one;
  one.points = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {5, 5, 5}};  // and a vertex without an element
  one.elements = {{VertexId(0), VertexId(1), VertexId(2)}};
  expect_same(one, Metric(), one_source(0));
  TetMesh tet;
  tet.points = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {9, 9, 9}};
  tet.elements = {{VertexId(0), VertexId(1), VertexId(2), VertexId(3)}};
  expect_same(tet, Metric(), one_source(2));
  expect_same(test::disc_of_slivers(10000), Metric(),
              one_source(1));  // in double precision a patch's slots leave shared memory
}

TEST_F(DevicePatchFim, WithoutElementsOrVerticesNothingHappens) {
  for (const PatchLayout layout : both_layouts)
    for (const std::size_t vertices : {0, 3}) {
      TriangleMesh mesh;
      mesh.points.resize(vertices);
      auto problem = prepare_topology<float>(mesh, KeepOrder::yes, 1);
      problem.edge.assign(vertices, 0);
      SolveState<float> state;
      state.time.assign(vertices, std::numeric_limits<float>::infinity());
      state.tolerance = 1e-5F;
      if (vertices > 0) {
        state.time[1] = 2;
        state.seeds.push_back(1);
      }
      std::vector<std::string> notes;
      cuda::make_patch_fim(problem, mesh, Metric(), in_patches(scheme(layout)))->run(state, 1, notes);
      for (std::size_t v = 0; v < vertices; ++v) EXPECT_EQ(state.time[v] == 2, v == 1) << v;
    }
}

TEST_F(DevicePatchFim, CountsItsWork) {
  const TriangleMesh mesh = generate_square({.n = 40, .extent = 39});
  for (const PatchLayout layout : both_layouts) {
    const Arrival arrival = solve(mesh, Metric(), one_source(0), in_patches(scheme(layout)));
    EXPECT_GT(arrival.counters.rounds, 1U);
    EXPECT_GE(arrival.counters.vertex_updates, mesh.vertex_count());
    EXPECT_GE(arrival.counters.local_solves, mesh.vertex_count() - 1);
    // No vertex has more than six triangles here.
    EXPECT_LE(arrival.counters.local_solves, 6 * arrival.counters.vertex_updates);
  }
}

TEST_F(DevicePatchFim, CanBeCancelledAndRefusesWhatItCannotDo) {
  const TriangleMesh mesh = generate_square({.n = 20});
  SolveOptions options = in_patches(scheme(PatchLayout::cell_assembly));
  const std::atomic<bool> cancel = true;
  options.progress.cancel = &cancel;
  EXPECT_THROW(solve(mesh, Metric(), one_source(0), options), Cancelled);
  options.progress.cancel = nullptr;
  for (const int size : {-1, 0, 15, 1025}) {
    options.paper.patch_vertices = size;
    EXPECT_THROW(solve(mesh, Metric(), one_source(0), options), UsageError) << size;
  }
  options.paper = scheme(PatchLayout::one_ring_strip, 64, -1);
  EXPECT_THROW(solve(mesh, Metric(), one_source(0), options), UsageError);
}

/// All lengths differ, so that a wrong turn shows.
TEST(PatchSimplex, TurnsEdgesWithTheirCorners) {
  const auto expect_turned = [](auto simplex) {
    constexpr int corners = std::size(decltype(simplex.node){});
    const auto length = [](int a, int b) { return 100.0 * std::min(a, b) + std::max(a, b); };
    for (int k = 0; k < corners; ++k) simplex.node[k] = k;
    for (int a = 0; a < corners; ++a)
      for (int b = a + 1; b < corners; ++b) simplex.length[edge_index(a, b)] = length(a, b);
    for (int turns = 1; turns <= corners; ++turns) {
      simplex.turn();
      EXPECT_EQ(simplex.node[corners - 1], turns - 1);
      for (int a = 0; a < corners; ++a)
        for (int b = a + 1; b < corners; ++b)
          EXPECT_EQ(simplex.length[edge_index(a, b)], length(simplex.node[a], simplex.node[b]));
    }
  };
  expect_turned(PatchSimplex<int, double, 3>{});
  expect_turned(PatchSimplex<int, double, 4>{});
}

TEST(PatchPacking, PutsThePatchesSideBySide) {
  const TriangleMesh mesh = generate_square({.n = 21, .jitter = 0.3});
  const auto problem = prepare_topology<float>(mesh, KeepOrder::no, 1);
  const PatchPacking packing = pack_vertices(problem, mesh, scheme(PatchLayout::cell_assembly, 32));
  EXPECT_EQ(packing.patches(), 14U);
  ASSERT_EQ(packing.vertices(), mesh.vertex_count());
  EXPECT_EQ(packing.vertex_begin.back(), mesh.vertex_count());
  std::vector<int> seen(mesh.vertex_count(), 0);
  for (const std::uint32_t place : packing.place_of) ++seen.at(place);
  EXPECT_EQ(seen, std::vector<int>(mesh.vertex_count(), 1));
  const auto part_of = partition_vertices(mesh, packing.patches(), Partitioner::automatic);
  for (std::uint32_t v = 0; v < mesh.vertex_count(); ++v) {
    const std::uint32_t place = packing.place_of[v], patch = packing.patch_of[place];
    EXPECT_EQ(patch, part_of[problem.user(v).index()]);
    EXPECT_GE(place, packing.vertex_begin[patch]);
    EXPECT_LT(place, packing.vertex_begin[patch + 1]);
  }
}

}  // namespace TEST_FILE
}  // namespace isochron
