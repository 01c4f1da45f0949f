// Extreme meshes and metrics: elements that are far slower or larger than the others are refused, or leave the times of
// the others alone; very many elements at a vertex are no trouble.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "isochron/error.h"
#include "solve/samples.h"
#include "solve/ways.h"
#include "support/device_case.h"

namespace isochron::test {
namespace TEST_FILE {

/// Speed 1, and `slow` in the elements for which `in_scar` holds.
template <int Corners, class InScar>
Metric scarred(const SimplexMesh<Corners>& mesh, double slow, InScar&& in_scar) {
  SpeedMetric speed;
  for (std::size_t e = 0; e < mesh.element_count(); ++e) speed.speed.push_back(in_scar(e) ? slow : 1);
  return Metric(std::move(speed));
}

/// A block of elements in the middle of a mesh as wide as `side`.
template <int Corners>
auto in_the_middle(const SimplexMesh<Corners>& mesh, double side) {
  return [&mesh, side](std::size_t e) {
    Vec3d centre{};
    for (const VertexId v : mesh.elements[e]) centre = centre + (1.0 / Corners) * mesh.point(v);
    const auto inside = [side](double x) { return std::abs(x - side / 2) < side / 5; };
    return inside(centre.x) && inside(centre.y) && (Corners == 3 || inside(centre.z));
  };
}

/// The vertices of elements outside the scar.
template <int Corners, class InScar>
std::vector<bool> healthy_vertices(const SimplexMesh<Corners>& mesh, InScar&& in_scar) {
  std::vector<bool> healthy(mesh.vertex_count(), false);
  for (std::size_t e = 0; e < mesh.element_count(); ++e)
    if (!in_scar(e))
      for (const VertexId v : mesh.elements[e]) healthy[v.index()] = true;
  return healthy;
}

template <int Corners>
void expect_ways_agree_around_a_scar(const SimplexMesh<Corners>& mesh, double side, Where where = Where::cpu) {
  const auto in_scar = in_the_middle(mesh, side);
  const std::vector<bool> healthy = healthy_vertices(mesh, in_scar);
  for (const double slow : {1e-2, 1e-4, 1e-6, 1e-8}) {
    const Metric metric = scarred(mesh, slow, in_scar);
    SolveOptions strict = options_for({Method::banded, Precision::double_, 1});
    strict.tolerance = 1e-12;
    const Arrival reference = solve(mesh, metric, from(vertex(0)), strict);
    for (const Way& way : ways_on(where, Corners)) {
      const Arrival arrival = solve(mesh, metric, from(vertex(0)), options_for(way));
      EXPECT_TRUE(arrival.converged);
      double worst = 0;
      for (std::size_t v = 0; v < mesh.vertex_count(); ++v)
        if (healthy[v]) worst = std::max(worst, std::abs(arrival.times[v] - reference.times[v]));
      const std::string name(name_of(way.method));
      EXPECT_LT(worst, way.precision == Precision::single_ && slow > 1e-3 ? 1e-3 : 1e-4)
          << name << ", " << way.threads << " threads, speed " << slow;
    }
  }
}

TEST(Contrast, AllMethodsAgreeAroundAScar) {
  expect_ways_agree_around_a_scar(cube(11, 0.2), 10);
  expect_ways_agree_around_a_scar(square(31, 0.2), 30);
}

using DeviceContrast = DeviceCase;

TEST_F(DeviceContrast, AllMethodsAgreeAroundAScar) {
  expect_ways_agree_around_a_scar(cube(11, 0.2), 10, Where::cuda);
  expect_ways_agree_around_a_scar(square(31, 0.2), 30, Where::cuda);
}

/// The times at the first vertices are as they are without what was added, or the input is refused.
template <int Corners>
void expect_same_or_refused(const SimplexMesh<Corners>& mesh, const Metric& metric, const std::vector<double>& times,
                            bool& refused) {
  for (const Method method : {Method::banded, Method::fim, Method::fsm}) {
    SolveOptions options = options_for({method, Precision::automatic, 1});
    options.source_init = SourceInit::plain;
    try {
      const Arrival arrival = solve(mesh, metric, from(vertex(0)), options);
      for (std::size_t v = 0; v < times.size(); ++v)
        ASSERT_NEAR(arrival.times[v], times[v], 1e-3) << name_of(method) << ", vertex " << v;
    } catch (const InputError&) {
      refused = true;
    }
  }
}

template <int Corners>
void expect_stray_vertices_do_no_harm(const SimplexMesh<Corners>& mesh) {
  SolveOptions plain;
  plain.source_init = SourceInit::plain;
  const std::vector<double> times = solve(mesh, Metric::isotropic(1), from(vertex(0)), plain).times;
  const auto last = mesh.elements.back();
  for (int power = 2; power <= 300; power += power < 40 ? 1 : 20) {
    SCOPED_TRACE("a vertex at 1e" + std::to_string(power));
    SimplexMesh<Corners> more = mesh;
    more.points.push_back({std::pow(10.0, power), std::pow(10.0, power), 0.5});
    auto element = last;
    element[0] = vertex(mesh.vertex_count());
    more.elements.push_back(element);
    bool refused = false;
    expect_same_or_refused(more, Metric::isotropic(1), times, refused);
    EXPECT_TRUE(power > 10 || !refused);
    EXPECT_TRUE(power < 14 || refused);
  }
}

TEST(Contrast, StrayVerticesDoNoHarm) {
  expect_stray_vertices_do_no_harm(cube(5, 0.2));
  expect_stray_vertices_do_no_harm(square(9, 0.2));
}

template <int Corners>
void expect_slow_elements_do_no_harm(const SimplexMesh<Corners>& mesh) {
  const std::size_t slow = mesh.element_count() / 2;
  SimplexMesh<Corners> without = mesh;
  without.elements[slow] = without.elements[slow - 1];  // twice the same is as good as once
  SolveOptions plain;
  plain.source_init = SourceInit::plain;  // a ball would not reach across the slow element
  const std::vector<double> times = solve(without, Metric::isotropic(1), from(vertex(0)), plain).times;
  for (int power = 5; power <= 140; power += power < 40 ? 1 : 10) {
    SCOPED_TRACE("speed 1e-" + std::to_string(power));
    bool refused = false;
    expect_same_or_refused(mesh, scarred(mesh, std::pow(10.0, -power), [&](std::size_t e) { return e == slow; }), times,
                           refused);
    EXPECT_TRUE(power > 25 || !refused);
    EXPECT_TRUE(power < 33 || refused);
  }
}

TEST(Contrast, SlowElementsDoNoHarm) {
  expect_slow_elements_do_no_harm(cube(5, 0.2));
  expect_slow_elements_do_no_harm(square(9, 0.2));
}

/// Nearly equal points are no reason to refuse a mesh: their edges are short, and so are the errors.
TEST(Contrast, NearlyEqualPointsAreTaken) {
  TetMesh mesh = cube(5, 0.2);
  const std::size_t twin = mesh.vertex_count();
  mesh.points.push_back(mesh.points[30] + Vec3d{1e-17, 6e-17, 0});
  for (std::size_t e = 0; e < mesh.element_count(); e += 2)
    for (VertexId& v : mesh.elements[e])
      if (v == vertex(30)) v = vertex(twin);
  auto thin = mesh.elements[0];
  for (const auto& element : mesh.elements)
    if (element[0] == vertex(30) || element[1] == vertex(30)) thin = element;
  for (VertexId& v : thin)
    if (v != vertex(30)) {
      v = vertex(twin);
      break;
    }
  mesh.elements.push_back(thin);
  const Arrival arrival = solve(mesh, Metric::isotropic(1), from(vertex(0)), options_for({}));
  EXPECT_TRUE(arrival.converged);
  EXPECT_EQ(arrival.unreached, 0U);
}

/// What looks for neighbours at a vertex must not go through all elements there for each of them.
TEST(Contrast, VeryManyElementsAtAVertexTakeNoLongerThanElsewhereSlow) {
  const std::size_t count = 200000;
  for (const TriangleMesh& mesh : {disc_of_slivers(count), fan_of_triangles(count)}) {
    const Arrival arrival = solve(mesh, Metric::isotropic(1), from(vertex(0)), options_for({}));
    EXPECT_TRUE(arrival.converged);
    for (std::size_t v = 1; v < mesh.vertex_count(); ++v) ASSERT_NEAR(arrival.times[v], 1, 1e-9) << v;
  }
}

}  // namespace TEST_FILE
}  // namespace isochron::test
