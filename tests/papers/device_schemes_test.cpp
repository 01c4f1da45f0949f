// Paper 001's schemes on the GPU against the CPU's schedule on the same problems. Skips itself where there is no
// device.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <string>

#include "isochron/device.h"
#include "isochron/error.h"
#include "isochron/generate.h"
#include "isochron/solver.h"
#include "solve/samples.h"

namespace isochron {
namespace TEST_FILE {

struct Scheme {
  std::string name;
  Method method = Method::active_list;
  PaperOptions options;
};

Scheme active_list(ElementStorage storage, std::string name) {
  Scheme scheme{std::move(name), Method::active_list, {}};
  scheme.options.storage = storage;
  return scheme;
}

Scheme decomposed(int subdomains, SubdomainBlocks blocks) {
  const std::string how = blocks == SubdomainBlocks::one ? "one block" : "several blocks";
  Scheme scheme{how + ", " + std::to_string(subdomains) + " subdomains", Method::domain_decomposition, {}};
  scheme.options.subdomains = subdomains;
  scheme.options.subdomain_blocks = blocks;
  return scheme;
}

/// All that run on the mesh. Virtual elements have no coordinates.
template <int Corners>
std::vector<Scheme> schemes(const SimplexMesh<Corners>& mesh, ObtuseSplit obtuse = ObtuseSplit::automatic) {
  std::vector<Scheme> all{active_list(ElementStorage::gray_code, "gray code")};
  if (Corners == 4) all.push_back(active_list(ElementStorage::products, "products"));
  if (Corners == 4 && obtuse != ObtuseSplit::split)
    all.push_back(active_list(ElementStorage::coordinates, "coordinates"));
  const int more_than_vertices = static_cast<int>(mesh.vertex_count()) + 5;
  for (const SubdomainBlocks blocks : {SubdomainBlocks::one, SubdomainBlocks::several})
    for (const int subdomains : {0, 1, 7, 64, more_than_vertices}) all.push_back(decomposed(subdomains, blocks));
  return all;
}

SolveOptions options_of(const Scheme& scheme, Precision precision) {
  SolveOptions options;
  options.method = scheme.method;
  options.paper = scheme.options;
  options.backend = Backend::cuda;
  options.precision = precision;
  options.verify = Keep::yes;
  return options;
}

void expect_work(const Arrival& arrival, Method method) {
  EXPECT_EQ(arrival.backend, Backend::cuda);
  EXPECT_EQ(arrival.method, method);
  EXPECT_TRUE(arrival.converged);
  ASSERT_TRUE(arrival.residual.has_value());
  EXPECT_LE(arrival.residual->worst, arrival.residual->limit);
  EXPECT_GT(arrival.counters.rounds, 0U);
  EXPECT_GT(arrival.counters.local_solves, 0U);
  EXPECT_GT(arrival.counters.vertex_updates, 0U);
}

/// The GPU's times pass the residual check and are the CPU's, to the tolerance times the hops.
template <int Corners>
void expect_same(const SimplexMesh<Corners>& mesh, const Metric& metric, const Sources& sources,
                 ObtuseSplit obtuse = ObtuseSplit::automatic) {
  SolveOptions strict;
  strict.tolerance = 1e-12;
  strict.backend = Backend::serial;
  strict.obtuse = obtuse;
  const Arrival reference = solve(mesh, metric, sources, strict);
  const double hops = 3.0 * std::pow(static_cast<double>(mesh.vertex_count()), 1.0 / (Corners - 1));
  for (const Scheme& scheme : schemes(mesh, obtuse))
    for (const Precision precision : {Precision::single_, Precision::double_}) {
      SCOPED_TRACE(scheme.name + (precision == Precision::single_ ? ", single" : ", double"));
      SolveOptions options = options_of(scheme, precision);
      options.obtuse = obtuse;
      const Arrival arrival = solve(mesh, metric, sources, options);
      expect_work(arrival, scheme.method);
      EXPECT_EQ(arrival.precision, precision);
      EXPECT_EQ(arrival.unreached, reference.unreached);
      const double tolerance = precision == Precision::single_ ? 1e-5 : 1e-6;
      for (std::size_t v = 0; v < mesh.vertex_count(); ++v) {
        if (std::isinf(reference.times[v])) {
          ASSERT_TRUE(std::isinf(arrival.times[v])) << v;
        } else {
          ASSERT_NEAR(arrival.times[v], reference.times[v], tolerance * hops) << v;
        }
      }
    }
}

Sources two_sources(std::uint32_t a, std::uint32_t b) {
  Sources sources;
  sources.vertices.push_back({VertexId(a), 0.5});
  sources.vertices.push_back({VertexId(b), 3});
  return sources;
}

Sources one_source(std::uint32_t vertex) {
  Sources sources;
  sources.vertices.push_back({VertexId(vertex), 0});
  return sources;
}

class DeviceSchemes : public ::testing::Test {
 protected:
  void SetUp() override {
    cuda::NoDevice why;
    if (!cuda::find_device(why)) GTEST_SKIP() << "there is no GPU to use";
  }
};

TEST_F(DeviceSchemes, AgreeOnCubes) {
  const TetMesh regular = generate_cube({.nx = 9, .ny = 8, .nz = 7, .extent = {8, 7, 6}});
  const TetMesh jittered = generate_cube({.nx = 9, .ny = 9, .nz = 9, .extent = {8, 8, 8}, .jitter = 0.25});
  for (const TetMesh& mesh : {regular, jittered}) {
    expect_same(mesh, Metric::isotropic(2), two_sources(0, 400));
    expect_same(mesh, Metric::constant(SymTensor3d::diagonal(1, 4, 9)), two_sources(300, 3));
    FiberMetric fibers;
    fibers.fiber = random_fibers(mesh, 1);
    fibers.velocities = {{3, 1, 1}};
    expect_same(mesh, Metric(std::move(fibers)), two_sources(300, 3));
  }
}

TEST_F(DeviceSchemes, AgreeOnSurfaces) {
  expect_same(generate_square({.n = 30, .extent = 29}), Metric(), two_sources(450, 0));
  // Jitter and anisotropy make obtuse corners, which are split into virtual elements on triangles.
  expect_same(generate_square({.n = 25, .extent = 24, .jitter = 0.3}), Metric::constant(SymTensor3d::diagonal(1, 9, 1)),
              two_sources(200, 600));
  expect_same(generate_sphere({.frequency = 6}), Metric::isotropic(3), two_sources(0, 200));
}

TEST_F(DeviceSchemes, VirtualTetrahedraTakePart) {
  const TetMesh mesh = generate_cube({.nx = 7, .ny = 7, .nz = 7, .extent = {6, 6, 6}, .jitter = 0.3});
  expect_same(mesh, Metric(), two_sources(0, 200), ObtuseSplit::split);
}

TEST_F(DeviceSchemes, TakeOddMeshes) {
  TriangleMesh one;
  one.points = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {5, 5, 5}};  // and a vertex without an element
  one.elements = {{VertexId(0), VertexId(1), VertexId(2)}};
  expect_same(one, Metric(), one_source(0));
  TetMesh tet;
  tet.points = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {3, 3, 3}};
  tet.elements = {{VertexId(0), VertexId(1), VertexId(2), VertexId(3)}};
  expect_same(tet, Metric(), one_source(2));
}

TEST_F(DeviceSchemes, TakeAVertexOfTenThousandElements) {
  constexpr std::uint32_t count = 10000;
  Sources rim;  // many, or the front would need thousands of rounds to walk round it
  for (std::uint32_t i = 1; i <= count; i += 250) rim.vertices.push_back({VertexId(i), 0.01 * (i % 7)});
  expect_same(test::disc_of_slivers(count), Metric(), rim);
}

TEST_F(DeviceSchemes, SubdomainsMayBeLargerThanSharedMemory) {
  const TetMesh mesh = generate_cube({.nx = 34, .ny = 34, .nz = 34, .extent = {33, 33, 33}, .jitter = 0.2});
  const Metric metric = Metric::constant(SymTensor3d::diagonal(1, 4, 9));
  SolveOptions strict;
  strict.tolerance = 1e-12;
  strict.backend = Backend::serial;
  const Arrival reference = solve(mesh, metric, two_sources(0, 20000), strict);
  for (const int subdomains : {1, 2, 3})
    for (const Precision precision : {Precision::single_, Precision::double_}) {
      SCOPED_TRACE(subdomains);
      const SolveOptions options = options_of(decomposed(subdomains, SubdomainBlocks::one), precision);
      const Arrival arrival = solve(mesh, metric, two_sources(0, 20000), options);
      expect_work(arrival, Method::domain_decomposition);
      for (std::size_t v = 0; v < mesh.vertex_count(); ++v)
        ASSERT_NEAR(arrival.times[v], reference.times[v], precision == Precision::single_ ? 2e-3 : 1e-4) << v;
    }
}

TEST_F(DeviceSchemes, SolveAgainWithOtherSources) {
  const TetMesh mesh = generate_cube({.nx = 8, .ny = 8, .nz = 8, .extent = {7, 7, 7}, .jitter = 0.2});
  const Metric metric;
  for (const Scheme& scheme : schemes(mesh)) {
    SCOPED_TRACE(scheme.name);
    Solver solver({mesh, metric}, options_of(scheme, Precision::double_));
    const Arrival first = solver.solve(two_sources(0, 9));
    solver.solve(two_sources(500, 3));
    const Arrival again = solver.solve(two_sources(0, 9));
    for (std::size_t v = 0; v < mesh.vertex_count(); ++v) ASSERT_NEAR(first.times[v], again.times[v], 1e-4);
  }
}

TEST_F(DeviceSchemes, AreCancelled) {
  const TetMesh mesh = generate_cube({.nx = 5, .ny = 5, .nz = 5});
  const std::atomic<bool> cancel{true};
  for (const Scheme& scheme : schemes(mesh)) {
    SolveOptions options = options_of(scheme, Precision::single_);
    options.progress.cancel = &cancel;
    EXPECT_THROW(solve(mesh, Metric(), one_source(0), options), Cancelled) << scheme.name;
  }
}

TEST_F(DeviceSchemes, RefuseWhatCannotBe) {
  const TriangleMesh mesh = generate_square({.n = 5});
  for (const ElementStorage storage : {ElementStorage::products, ElementStorage::coordinates})
    EXPECT_THROW(solve(mesh, Metric(), one_source(0), options_of(active_list(storage, ""), Precision::single_)),
                 UsageError);
  SolveOptions split = options_of(active_list(ElementStorage::coordinates, ""), Precision::single_);
  split.obtuse = ObtuseSplit::split;
  const TetMesh obtuse = generate_cube({.nx = 5, .ny = 5, .nz = 5, .extent = {4, 4, 4}, .jitter = 0.3});
  EXPECT_THROW(solve(obtuse, Metric(), one_source(0), split), UsageError);
  const SolveOptions negative = options_of(decomposed(-1, SubdomainBlocks::one), Precision::single_);
  EXPECT_THROW(solve(mesh, Metric(), one_source(0), negative), UsageError);
}

}  // namespace TEST_FILE
}  // namespace isochron
