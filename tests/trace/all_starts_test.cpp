// Paths from everywhere end at the source, whatever the mesh, the metric and the times.
#include "isochron/generate.h"
#include "isochron/metric_arrays.h"
#include "oracles/real_data.h"
#include "trace/trace_samples.h"

namespace isochron::test {
namespace TEST_FILE {

template <int Corners>
void expect_all_end(const Traced<Corners>& on, std::size_t stride, Shorten shorten) {
  const auto tracer = on.tracer(shorten);
  for (std::size_t v = 0; v < on.mesh.vertex_count(); v += stride) {
    if (!std::isfinite(on.arrival.times[v])) continue;
    const Path path = tracer.from(vertex(v));
    expect_sound(path);
    EXPECT_LT(norm(path.points.back() - on.mesh.point(on.sources.vertices[0].vertex.in_whole())), 1e-12)
        << "from " << v;
    if (::testing::Test::HasFailure()) FAIL() << "from " << v;
  }
}

TriangleMesh rough_sphere() {
  TriangleMesh mesh = generate_sphere({.frequency = 8});
  Random random(3);
  for (Vec3d& p : mesh.points) {
    p = p + 0.05 * Vec3d{random.normal(), random.normal(), random.normal()};
    p = p / norm(p);
  }
  return mesh;
}

TEST(AllStarts, OnARoughSphereWithRandomFibres) {
  TriangleMesh mesh = rough_sphere();
  Metric metric = rough_fibers(mesh, 5);
  const Traced<3> on{std::move(mesh), std::move(metric), from(vertex(17))};
  expect_all_end(on, 1, Shorten::no);
  expect_all_end(on, 11, Shorten::yes);
}

TEST(AllStarts, InAVentricleWithRandomFibres) {
  TetMesh mesh = generate_ventricle({.elements = 6000}).mesh;
  Metric metric = rough_fibers(mesh, 6);
  const Traced<4> on{std::move(mesh), std::move(metric), from(vertex(5))};
  expect_all_end(on, 1, Shorten::no);
  expect_all_end(on, 101, Shorten::yes);
}

TEST(AllStarts, WithEveryWayToStart) {
  for (const SourceInit init : {SourceInit::plain, SourceInit::ball, SourceInit::factored}) {
    Traced<4> on{cube(7, 0.3), Metric::constant(diag149), from(vertex(170))};
    SolveOptions options;
    options.source_init = init;
    on.arrival = solve(on.mesh, on.metric, on.sources, options);
    expect_all_end(on, 1, Shorten::no);
  }
}

TEST(AllStarts, InSinglePrecision) {
  Traced<3> on{square(21, 0.4), Metric{}, from(vertex(3), 1e4)};
  SolveOptions options;
  options.precision = Precision::single_;
  on.arrival = solve(on.mesh, on.metric, on.sources, options);
  for (double& t : on.arrival.times) t = static_cast<float>(t);
  expect_all_end(on, 1, Shorten::no);
}

TEST(AllStarts, AroundNeedles) {
  const Traced<3> on{disc_of_slivers(500), Metric{}, from(vertex(1))};
  expect_all_end(on, 7, Shorten::no);
}

/// Times that are no solution: every path ends, with a reason when not at the source.
void expect_an_end(const TetMesh& mesh, const std::vector<double>& times) {
  const Metric metric;
  const PathTracer<4> tracer({mesh, metric}, times, from(vertex(0)));
  for (std::size_t v = 0; v < mesh.vertex_count(); v += 5) {
    const Path path = tracer.from(vertex(v));
    EXPECT_EQ(path.end == PathEnd::source, path.why.empty());
    for (std::size_t i = 1; i < path.times.size(); ++i) ASSERT_LT(path.times[i], path.times[i - 1]);
  }
}

TEST(AllStarts, TimesThatAreNoSolution) {
  const TetMesh mesh = cube(7, 0.2);
  Random random(9);
  std::vector<double> times(mesh.vertex_count(), 4.0);
  expect_an_end(mesh, times);  // a plateau
  for (double& t : times) t = random.uniform();
  expect_an_end(mesh, times);
  for (double& t : times) t = -1e300 * random.uniform();
  expect_an_end(mesh, times);
  for (double& t : times) t = std::floor(3 * random.uniform());
  expect_an_end(mesh, times);
  for (std::size_t v = 0; v < times.size(); ++v) times[v] = -norm(mesh.points[v]);  // away from the source
  expect_an_end(mesh, times);
}

using RealSurface = RealData;

TEST_F(RealSurface, EveryStartOnTheBunnyEndsAtTheSource) {
  Dataset data = read("surf/bunny_zipper.ply");
  const Traced<3> on{take_mesh<3>(data), Metric{}, from(vertex(100))};
  expect_all_end(on, 31, Shorten::no);
  expect_all_end(on, 2401, Shorten::yes);
}

TEST_F(RealSurface, EveryStartOnAnAtriumWithFibresEndsAtTheSource) {
  Dataset data = read("atria/LA_endo_1.elem");
  MetricRequest request;
  request.fiber_array = "fiber";
  request.velocities = Velocities{1.2, 0.4, 0.4};
  Metric metric = metric_from_dataset<3>(data, request);
  const Traced<3> on{take_mesh<3>(data), std::move(metric), from(vertex(0))};
  expect_all_end(on, 41, Shorten::no);
  expect_all_end(on, 6001, Shorten::yes);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
