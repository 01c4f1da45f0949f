// Paths against exact rays and geodesics.
#include "isochron/error.h"
#include "isochron/generate.h"
#include "trace/trace_samples.h"

namespace isochron::test {
namespace TEST_FILE {

constexpr std::size_t n = 41;

double from_straight(const Path& path, Vec3d p) {
  return distance_to_segment(p, path.points.front(), path.points.back());
}

template <int Corners>
PathErrors straight_errors(const Traced<Corners>& on, std::size_t stride, Shorten shorten = Shorten::yes) {
  const Vec3d source = on.mesh.point(on.sources.vertices[0].vertex.in_whole());
  const SymTensor3d m = on.metric.tensor(ElementId(0));
  return path_errors(
      on, stride, [&](VertexId v) { return std::sqrt(squared_length(m, on.mesh.point(v) - source)); }, from_straight,
      shorten);
}

TEST(SimplexPath, StraightOnAFlatSquare) {
  const Traced<3> on{square(n, 0.3), Metric{}, from(vertex(20 * n + 20))};
  const PathErrors errors = straight_errors(on, 17);
  EXPECT_LT(errors.worst_excess, 5e-3);
  EXPECT_LT(errors.mean_excess, 1e-3);
  EXPECT_LT(errors.worst_distance, 0.5);
  EXPECT_LT(errors.mean_distance, 0.15);
}

TEST(SimplexPath, CharacteristicsAloneStayWithinAnEdge) {
  const Traced<3> on{square(n, 0.3), Metric{}, from(vertex(20 * n + 20))};
  const PathErrors errors = straight_errors(on, 3, Shorten::no);
  EXPECT_LT(errors.mean_excess, 0.02);
  EXPECT_LT(errors.worst_distance, 1);
}

TEST(SimplexPath, StraightWhereTheMetricIsConstant) {
  const SymTensor3d tilted{1, 1.2, 0, 4, 0, 9};
  const Traced<3> on{square(n, 0.3), Metric::constant(tilted), from(vertex(20 * n + 20))};
  const PathErrors errors = straight_errors(on, 17);
  EXPECT_LT(errors.mean_excess, 3e-3);
  EXPECT_LT(errors.worst_distance, 0.7);
}

TEST(SimplexPath, StraightInACube) {
  const Traced<4> on{cube(13, 0.2), Metric::constant(diag149), from(vertex(0))};
  const PathErrors errors = straight_errors(on, 23);
  EXPECT_LT(errors.mean_excess, 3e-3);
  EXPECT_LT(errors.worst_distance, 0.7);
}

TEST(SimplexPath, GreatCirclesOnASphere) {
  const Traced<3> on{generate_sphere({.frequency = 16}), Metric{}, from(vertex(0))};
  const Vec3d source = on.mesh.point(vertex(0));
  const double edge = 1.1 / 16;
  const PathErrors errors = path_errors(
      on, 61,
      [&](VertexId v) {
        const double angle = std::acos(std::clamp(dot(on.mesh.point(v), source), -1.0, 1.0));
        return angle < 2.5 ? angle : 0;  // any way leads to the antipode
      },
      [&](const Path& path, Vec3d p) {
        const Vec3d plane = cross(path.points.front(), path.points.back());
        return norm(plane) > 1e-9 ? std::abs(dot(p, plane)) / norm(plane) : 0;
      });
  EXPECT_LT(std::abs(errors.mean_excess), 3e-3);  // chords are shorter than arcs
  EXPECT_LT(errors.worst_distance, 1.5 * edge);
  EXPECT_LT(errors.mean_distance, edge / 2);
}

// In a medium whose speed is linear in depth rays are arcs of circles around a centre at the height of no speed.
TEST(SimplexPath, CircularArcsWhereSpeedIsLinear) {
  TriangleMesh mesh = square(n, 0.3);
  const double v0 = 1, k = 0.1;
  SpeedMetric speed;
  for (const auto& e : mesh.elements) {
    double y = 0;
    for (const VertexId v : e) y += mesh.point(v).y / 3;
    speed.speed.push_back(v0 + k * y);
  }
  const Traced<3> on{std::move(mesh), Metric(std::move(speed)), from(vertex(0))};
  const Vec3d source = on.mesh.point(vertex(0));
  const PathErrors errors = path_errors(
      on, 19,
      [&](VertexId v) {
        const Vec3d x = on.mesh.point(v);
        const double d2 = dot(x - source, x - source);
        return std::acosh(1 + k * k * d2 / (2 * v0 * (v0 + k * x.y))) / k;
      },
      [&](const Path& path, Vec3d p) {
        const Vec3d a = path.points.back(), b = path.points.front();
        if (std::abs(b.x - a.x) < 1e-9) return std::abs(p.x - a.x);
        const double h = -v0 / k;  // |a − c| = |b − c| for c = (x, h)
        const double x = (b.x * b.x - a.x * a.x + (b.y - h) * (b.y - h) - (a.y - h) * (a.y - h)) / (2 * (b.x - a.x));
        const Vec3d centre{x, h, 0};
        return std::abs(norm(p - centre) - norm(a - centre));
      });
  // A path of the medium that the elements are: it is a little faster than the ray of the smooth one, because it can
  // keep to the faster of two elements.
  EXPECT_LT(std::abs(errors.mean_excess), 6e-3);
  EXPECT_LT(errors.worst_distance, 1.7);
  EXPECT_LT(errors.mean_distance, 0.6);
}

// Two layers: the path bends where the straight pieces of least time do (Snell's law).
TEST(SimplexPath, RefractsAtAnInterface) {
  TriangleMesh mesh = square(n);
  SpeedMetric speed;
  for (const auto& e : mesh.elements) {
    double y = 0;
    for (const VertexId v : e) y += mesh.point(v).y / 3;
    speed.speed.push_back(y < 20 ? 1 : 2.5);
  }
  const Traced<3> on{std::move(mesh), Metric(std::move(speed)), from(vertex(5))};
  const Path path = on.tracer().from(vertex(40 * n + 35));
  expect_sound(path);
  const auto time = [](double x) { return std::hypot(x - 5, 20) / 1 + std::hypot(35 - x, 20) / 2.5; };
  double low = 5, high = 35;
  for (int i = 0; i < 200; ++i) {
    const double a = low + (high - low) / 3, b = high - (high - low) / 3;
    (time(a) < time(b) ? high : low) = time(a) < time(b) ? b : a;
  }
  EXPECT_NEAR(path.travel_time, time(low), 1e-3 * time(low));
  double crossing = -1;
  for (std::size_t i = 1; i < path.points.size(); ++i) {
    const Vec3d a = path.points[i - 1], b = path.points[i];
    if (a.y >= 20 && b.y < 20) crossing = a.x + (a.y - 20) / (a.y - b.y) * (b.x - a.x);
  }
  EXPECT_NEAR(crossing, low, 0.5);
}

TEST(SimplexPath, TravelTimeIsTheArrivalTime) {
  TriangleMesh mesh = square(n, 0.3);
  const Metric metric = rough_speed(mesh);
  const Traced<3> on{std::move(mesh), metric, from(vertex(0), 2)};
  const auto tracer = on.tracer();
  for (std::size_t v = 50; v < on.mesh.vertex_count(); v += 161) {
    const Path path = tracer.from(vertex(v));
    expect_sound(path);
    EXPECT_EQ(path.times.front(), on.arrival.times[v]);
    EXPECT_EQ(path.times.back(), 2);
    EXPECT_NEAR(path.travel_time / (on.arrival.times[v] - 2), 1, 0.03);
    EXPECT_LE(path.travel_time, on.tracer(Shorten::no).from(vertex(v)).travel_time * (1 + 1e-12));
  }
}

TEST(SimplexPath, StartsAndEndsAtPointsInsideElements) {
  Sources sources;
  sources.points.push_back({{7.3, 11.6, 0}, 0.5});
  const Traced<3> on{square(n, 0.2), Metric{}, sources};
  const Vec3d start{31.21, 30.07, 0};
  const Path path = on.tracer().from(start, 1e-6);
  expect_sound(path);
  EXPECT_LT(norm(path.points.front() - start), 1e-9);
  EXPECT_LT(norm(path.points.back() - sources.points[0].position), 1e-9);
  EXPECT_EQ(path.times.back(), 0.5);
  EXPECT_LT(bend(path), 0.3);
  EXPECT_NEAR(path.travel_time, norm(start - sources.points[0].position), 0.02);
}

TEST(SimplexPath, StartBesideAPointSourceInTheSameElement) {
  Sources sources;
  sources.points.push_back({{0.25, 0.25, 0.25}, 0});
  const Traced<4> on{cube(3), Metric{}, sources};
  const Path path = on.tracer().from({0.26, 0.26, 0.25}, 1e-6);
  expect_sound(path);
  EXPECT_LT(norm(path.points.back() - sources.points[0].position), 1e-12);
}

TEST(SimplexPath, EndsOnALevelSet) {
  Traced<3> on{square(n, 0.2), Metric{}, {}, {}};
  const Vec3d normal{0.6, 0.8, 0};
  for (const Vec3d& p : on.mesh.points) on.sources.level_set.push_back(dot(normal, p) - 13.37);
  on.arrival = solve(on.mesh, on.metric, on.sources);
  const auto tracer = on.tracer();
  for (std::size_t v = 7; v < on.mesh.vertex_count(); v += 131) {
    const Path path = tracer.from(vertex(v));
    expect_sound(path);
    EXPECT_NEAR(dot(normal, path.points.back()), 13.37, 1e-9) << v;
    EXPECT_EQ(path.source, 0);
    EXPECT_NEAR(path.travel_time, on.arrival.times[v], 0.05 + 0.02 * on.arrival.times[v]) << v;
  }
}

TEST(SimplexPath, FindsTheSourceThatCameFirst) {
  const Traced<3> on{square(n, 0.2), Metric{}, from_two(0, n * n - 1)};
  const auto tracer = on.tracer();
  std::size_t other = 0;
  for (std::size_t v = 0; v < on.mesh.vertex_count(); v += 23) {
    const Path path = tracer.from(vertex(v));
    expect_sound(path);
    if (path.source != on.arrival.source[v]) ++other;  // where both come at the same time
    else EXPECT_EQ(path.times.back(), on.sources.vertices[static_cast<std::size_t>(path.source)].time);
  }
  EXPECT_LE(other, 2U);
}

TEST(SimplexPath, FromTheSourceIsOnePoint) {
  const Traced<4> on{cube(4), Metric{}, from(vertex(21), 3)};
  const Path path = on.tracer().from(vertex(21));
  expect_sound(path);
  EXPECT_EQ(path.points.size(), 1U);
  EXPECT_EQ(path.travel_time, 0);
  EXPECT_EQ(path.source, 0);
}

TEST(SimplexPath, SaysWhatIsWrong) {
  const TetMesh one = cube(3);
  const Traced<4> on{beside(one, one), Metric{}, from(vertex(0))};
  const auto tracer = on.tracer();
  EXPECT_THROW((void)tracer.from(vertex(one.vertex_count())), NoAnswerError);
  EXPECT_THROW((void)tracer.from({100.5, 0.5, 0.5}, 0.1), NoAnswerError);
  EXPECT_THROW((void)tracer.from(vertex(10'000)), InputError);
  EXPECT_THROW((void)tracer.from({50, 0, 0}, 0.1), InputError);
  EXPECT_THROW((void)tracer.from({std::nan(""), 0, 0}, 0.1), InputError);
  std::vector<double> times(5);
  EXPECT_THROW(PathTracer<4>({on.mesh, on.metric}, times, on.sources), InputError);
  times.assign(on.mesh.vertex_count(), std::nan(""));
  EXPECT_THROW(PathTracer<4>({on.mesh, on.metric}, times, on.sources), InputError);
  EXPECT_THROW(PathTracer<4>({on.mesh, on.metric}, on.arrival.times, Sources{}), InputError);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
