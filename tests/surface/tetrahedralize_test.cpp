#include "isochron/tetrahedra.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <thread>

#include "isochron/error.h"
#include "isochron/generate.h"
#include "isochron/mesh.h"
#include "isochron/mesh_quality.h"
#include "isochron/surface/tetrahedra/programs.h"
#include "mesh/mesh_checks.h"
#include "support/surfaces.h"

namespace isochron {
namespace TEST_FILE {

using testing::HasSubstr;
using testing::ThrowsMessage;

TetOptions options_for(TetProgram program) {
  TetOptions options;
  options.program = program;
#ifdef ISOCHRON_NETGEN_PROGRAM
  if (program == TetProgram::netgen) options.executable = ISOCHRON_NETGEN_PROGRAM;
#endif
  return options;
}

TriangleMesh ball() { return generate_sphere({.frequency = 6}); }

TriangleMesh hollow_ball() { return together(ball(), reversed(generate_sphere({.frequency = 4, .radius = 0.5}))); }

/// The surface is the boundary, its points come first, and nothing is missing or doubled.
void expect_filled(const TriangleMesh& surface, const FilledSurface& filled, std::size_t spare_points = 0) {
  const TetMesh& mesh = filled.mesh;
  ASSERT_GE(mesh.vertex_count(), surface.vertex_count());
  for (std::size_t v = 0; v < surface.vertex_count(); ++v) ASSERT_EQ(mesh.points[v], surface.points[v]);
  for (const auto& tet : mesh.elements) ASSERT_GT(measure_of(mesh, tet), 0);
  EXPECT_NEAR(total_measure(mesh), surface_topology(surface).volume, 1e-9 * total_measure(mesh));
  const MeshReport report = validate(mesh);
  EXPECT_EQ(report.unreferenced_vertices, spare_points);
  EXPECT_EQ(report.duplicate_elements, 0U);
  EXPECT_EQ(report.non_manifold_facets, 0U);
  EXPECT_EQ(report.degenerate, 0U);
  std::map<std::array<VertexId, 3>, int> boundary;
  for (const auto& [face, count] : sub_simplices<3>(mesh))
    if (count == 1) boundary.emplace(face, 1);
  EXPECT_EQ(boundary, sub_simplices<3>(surface));
  EXPECT_EQ(filled.region, std::vector<std::int32_t>(mesh.element_count(), 1));
}

/// One tetrahedron around the origin.
TriangleMesh pyramid() {
  TriangleMesh mesh;
  mesh.points = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
  for (const auto& [a, b, c] : {std::array{0, 1, 2}, {0, 3, 1}, {0, 2, 3}, {1, 3, 2}})
    mesh.elements.push_back({VertexId(a), VertexId(b), VertexId(c)});
  return mesh;
}

class EachTetProgram : public testing::TestWithParam<TetProgram> {
 protected:
  void SetUp() override {
    options = options_for(GetParam());
    if (!has_tet_program(options.program, options.executable))
      GTEST_SKIP() << name_of(options.program) << " is not on this machine";
  }
  /// TetGen as some systems build it never ends (its exact arithmetic does not stand fused multiplications).
  void skip_if_it_hangs() {
    if (GetParam() != TetProgram::tetgen) return;
    TetOptions trial = options;
    trial.time_limit = 2;
    try {
      tetrahedralize(ball(), trial);
    } catch (const RuntimeError& error) {
      GTEST_SKIP() << error.what();
    }
  }
  TetOptions options;
};

TEST_P(EachTetProgram, FillsATetrahedron) { expect_filled(pyramid(), tetrahedralize(pyramid(), options)); }

TEST_P(EachTetProgram, FillsABall) {
  skip_if_it_hangs();
  if (!IsSkipped()) expect_filled(ball(), tetrahedralize(ball(), options));
}

TEST_P(EachTetProgram, LeavesCavitiesEmpty) {
  skip_if_it_hangs();
  if (IsSkipped()) return;
  const FilledSurface filled = tetrahedralize(hollow_ball(), options);
  expect_filled(hollow_ball(), filled);
  EXPECT_EQ(euler_characteristic(filled.mesh), 2);  // a thick sphere
}

TEST_P(EachTetProgram, FillsSeveralPieces) {
  skip_if_it_hangs();
  if (IsSkipped()) return;
  // Far from the origin, small, and with a point in front that no triangle has.
  TriangleMesh surface = together(ball(), moved(torus(3, 1, 18, 8), {8, 0, 0}));
  for (Vec3d& p : surface.points) p = 1e-3 * p + Vec3d{5, -7, 9};
  surface.points.insert(surface.points.begin(), Vec3d{1, 2, 3});
  for (auto& triangle : surface.elements)
    for (VertexId& v : triangle) v = VertexId(v.index() + 1);
  const FilledSurface filled = tetrahedralize(surface, options);
  EXPECT_EQ(filled.mesh.points[0], (Vec3d{1, 2, 3}));
  expect_filled(surface, filled, 1);
}

TEST_P(EachTetProgram, LargestSize) {
  skip_if_it_hangs();
  if (IsSkipped()) return;
  const FilledSurface coarse = tetrahedralize(ball(), options);
  options.largest = 0.12;
  const FilledSurface fine = tetrahedralize(ball(), options);
  expect_filled(ball(), fine);
  EXPECT_GT(fine.mesh.element_count(), 2 * coarse.mesh.element_count());
}

INSTANTIATE_TEST_SUITE_P(Tetrahedralize, EachTetProgram,
                         testing::Values(TetProgram::netgen, TetProgram::tetgen, TetProgram::gmsh),
                         [](const auto& one) { return std::string(name_of(one.param)); });

class NetgenTest : public testing::Test {
 protected:
  void SetUp() override {
    options = options_for(TetProgram::netgen);
    if (!has_tet_program(options.program, options.executable)) GTEST_SKIP() << "this build has no Netgen";
  }
  TetOptions options;
};

TEST_F(NetgenTest, SmoothShapesHaveGoodAngles) {
  const ShapeStatistics shape = shape_statistics(tetrahedralize(ball(), options).mesh);
  EXPECT_GT(shape.angles.min(), 10);
  EXPECT_GT(shape.radius_ratio.mean(), 0.7);
}

TEST_F(NetgenTest, SizesFollowTheField) {
  // Fine on the left, coarse on the right.
  const auto size = [](Vec3d p) { return 0.1 + 0.3 * std::max(0.0, p.x); };
  options.sizes = sample_sizes({-1, -1, -1}, {1, 1, 1}, size);
  const FilledSurface filled = tetrahedralize(ball(), options);
  expect_filled(ball(), filled);
  std::array<std::size_t, 2> count{};
  for (const auto& tet : filled.mesh.elements) {
    Vec3d middle;
    for (const VertexId v : tet) middle += 0.25 * filled.mesh.point(v);
    ++count[middle.x > 0 ? 1 : 0];
  }
  EXPECT_GT(count[0], 2 * count[1]);
}

TEST_F(NetgenTest, RegionsFitTogether) {
  // A ball in a ball: the inner surface is shared, the outer region is the shell.
  const TriangleMesh surface = together(ball(), generate_sphere({.frequency = 4, .radius = 0.5}));
  std::vector<RegionSides> sides(surface.element_count(), {2, 7});
  std::fill(sides.begin(), sides.begin() + static_cast<std::ptrdiff_t>(ball().element_count()), RegionSides{7, 0});
  const FilledSurface filled = tetrahedralize_regions(surface, sides, options);
  std::map<std::int32_t, double> volume;
  for (std::size_t t = 0; t < filled.mesh.element_count(); ++t) {
    volume[filled.region[t]] += measure_of(filled.mesh, filled.mesh.elements[t]);
    Vec3d middle;
    for (const VertexId v : filled.mesh.elements[t]) middle += 0.25 * filled.mesh.point(v);
    ASSERT_EQ(filled.region[t], norm(middle) < 0.49 ? 2 : (norm(middle) > 0.5 ? 7 : filled.region[t]));
  }
  const auto outer = surface_topology(ball()).volume;
  const auto inner = surface_topology(generate_sphere({.frequency = 4, .radius = 0.5})).volume;
  EXPECT_EQ(volume.size(), 2U);
  EXPECT_NEAR(volume[2], inner, 1e-9);
  EXPECT_NEAR(volume[7], outer - inner, 1e-9);
  const MeshReport report = validate(filled.mesh);
  EXPECT_EQ(report.boundary_facets, ball().element_count());
  EXPECT_EQ(report.non_manifold_facets, 0U);
  EXPECT_EQ(report.unmatched_facets, 0U);
  sides[0].behind = 2;
  EXPECT_THAT([&] { tetrahedralize_regions(surface, sides, options); },
              ThrowsMessage<InputError>(HasSubstr("region 2: the surface cannot be filled")));
}

TEST(Tetrahedralize, RefusesSurfacesWithoutAnInside) {
  const TetOptions options = options_for(TetProgram::netgen);
  const auto refused = [&](const TriangleMesh& surface, const char* why) {
    EXPECT_THAT([&] { tetrahedralize(surface, options); }, ThrowsMessage<InputError>(HasSubstr(why)));
  };
  TriangleMesh open = ball();
  open.elements.pop_back();
  refused(open, "3 edges have one triangle only");
  refused(reversed(ball()), "face inward");
  TriangleMesh mixed = ball();
  std::swap(mixed.elements[5][0], mixed.elements[5][1]);
  refused(mixed, "3 edges lie between triangles that face opposite ways");
  refused(TriangleMesh{}, "no points");
  EXPECT_THROW(tetrahedralize_regions(ball(), {}, options), UsageError);
  EXPECT_EQ(tet_program_of("gmsh"), TetProgram::gmsh);
  EXPECT_THAT([] { tet_program_of("cgal"); }, ThrowsMessage<UsageError>(HasSubstr("netgen, tetgen or gmsh")));
}

TEST(Tetrahedralize, SampledSizes) {
  const auto size = [](Vec3d p) { return 0.05 + 0.3 * std::abs(p.x); };
  const Vec3d low{-1, 0, 0}, high{1, 1, 0.5};
  const auto points = sample_sizes(low, high, size);
  EXPECT_GT(points.size(), 50U);
  // Every place has one within the size that is wanted there, times √3 for the diagonal.
  Random random(2);
  for (int i = 0; i < 300; ++i) {
    const Vec3d p{random.uniform(-1, 1), random.uniform(), random.uniform(0, 0.5)};
    const bool near = std::any_of(points.begin(), points.end(),
                                  [&](const SizePoint& s) { return norm(s.at - p) <= std::sqrt(3.0) * s.size; });
    EXPECT_TRUE(near);
  }
  EXPECT_THROW(sample_sizes(
                   low, high, [](Vec3d) { return 1e-4; }, 10000),
               UsageError);
  EXPECT_THROW(sample_sizes(low, high, [](Vec3d) { return 0.0; }), UsageError);
}

/// Scripts in place of the programs.
class OtherProgram : public testing::Test {
 protected:
  TetOptions script(const std::string& lines, TetProgram program = TetProgram::netgen) {
    const auto file = folder.path() / "isochron-netgen";
    std::ofstream(file) << "#!/bin/sh\n" << lines << "\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    TetOptions options;
    options.program = program;
    options.executable = file;
    return options;
  }
  void expect_error(const TetOptions& options, const char* message) {
    EXPECT_THAT([&] { tetrahedralize(ball(), options); }, ThrowsMessage<RuntimeError>(HasSubstr(message)));
  }
  WorkFolder folder;
};

TEST_F(OtherProgram, BecomesOneClearError) {
  expect_error(script("echo all is lost; echo; exit 3"), "failed with code 3, its last words: 'all is lost'");
  expect_error(script("kill -SEGV $$"), "isochron-netgen crashed (Segmentation fault)");
  expect_error(script("exit 0"), "not a whole file");
  expect_error(script("head -c 100 request > answer"), "not a whole file");
  TetOptions missing;
  missing.executable = folder.path() / "nowhere";
  expect_error(missing, "not a program");
  EXPECT_FALSE(has_tet_program(TetProgram::netgen, missing.executable));
  std::ofstream(folder.path() / "isochron-netgen") << "no program";
  TetOptions no_program;
  no_program.executable = folder.path() / "isochron-netgen";
  expect_error(no_program, "cannot be started");
}

// The four tetrahedra between the pyramid's sides and its middle, as TetGen and gmsh would write them.
TEST_F(OtherProgram, FilesOfTetgen) {
  const auto options = script(
      "grep -q '^3 0 3 1$' surface.smesh || exit 1\n"
      "printf '5 3 0 0\\n0 1 1 1\\n1 1 -1 -1\\n2 -1 1 -1\\n3 -1 -1 1\\n4 0 0 0\\n# by tetgen\\n' > surface.1.node\n"
      "printf '4 4 1\\n0 0 1 2 4 7\\n1 0 3 1 4 7\\n2 0 2 3 4 7\\n3 1 3 2 4 7\\n' > surface.1.ele",
      TetProgram::tetgen);
  const FilledSurface filled = tetrahedralize(pyramid(), options);
  expect_filled(pyramid(), filled);
  EXPECT_EQ(filled.mesh.element_count(), 4U);
  EXPECT_THAT([&] { tetrahedralize(pyramid(), script("echo 5 > surface.1.node", TetProgram::tetgen)); },
              ThrowsMessage<RuntimeError>(HasSubstr("surface.1.node: missing or not whole")));
}

TEST_F(OtherProgram, FilesOfGmsh) {
  const std::string nodes = "$Nodes\\n5\\n1 1 1 1\\n2 1 -1 -1\\n3 -1 1 -1\\n4 -1 -1 1\\n9 0 0 0\\n$EndNodes\\n";
  const auto with = [&](const std::string& last) {
    return script("printf '$MeshFormat\\n2.2 0 8\\n$EndMeshFormat\\n" + nodes +
                      "$Elements\\n6\\n1 15 2 0 1 1\\n2 2 2 1 1 1 2 3\\n3 4 2 1 1 1 2 3 9\\n4 4 2 1 1 1 4 2 9\\n"
                      "5 4 2 1 1 1 3 4 9\\n6 4 2 1 1 2 4 3 " +
                      last + "\\n$EndElements\\n' > filled.msh",
                  TetProgram::gmsh);
  };
  const FilledSurface filled = tetrahedralize(pyramid(), with("9"));
  expect_filled(pyramid(), filled);
  EXPECT_EQ(filled.mesh.element_count(), 4U);
  EXPECT_THAT([&] { tetrahedralize(pyramid(), with("77")); },
              ThrowsMessage<RuntimeError>(HasSubstr("names points that are not there")));
}

TEST_F(OtherProgram, DoesNotHang) {
  TetOptions options = script("exec sleep 100");
  options.time_limit = 0.2;
  expect_error(options, "did not finish within 0.2 s");
  std::atomic<bool> cancel{false};
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    cancel = true;
  });
  options.time_limit = 0;
  EXPECT_THROW(tetrahedralize(ball(), options, {.report = {}, .cancel = &cancel}), Cancelled);
  later.join();
}

TEST_F(OtherProgram, AnswersAreChecked) {
  const auto answer_with = [&](auto&& change) {
    TetAnswer answer;
    answer.points = ball().points;
    answer.points.push_back({0, 0, 0});
    // All triangles joined with the middle.
    for (const auto& t : ball().elements)
      answer.tets.push_back({t[0].value, t[1].value, t[2].value, static_cast<std::uint32_t>(ball().vertex_count())});
    change(answer);
    exchange::save(folder.path() / "prepared", answer);
    return script("cp " + (folder.path() / "prepared").string() + " answer");
  };
  EXPECT_NO_THROW(tetrahedralize(ball(), answer_with([](TetAnswer&) {})));
  expect_error(answer_with([](TetAnswer& a) { a.tets.clear(); }), "no tetrahedra were made");
  expect_error(answer_with([](TetAnswer& a) { a.tets.pop_back(); }), "do not fit the surface (4 faces");
  expect_error(answer_with([](TetAnswer& a) { a.points[3].x += 0.1; }), "moved or lost points");
  expect_error(answer_with([](TetAnswer& a) { a.tets[0][3] = 1000000; }), "names points that are not there");
  expect_error(answer_with([](TetAnswer& a) { a.points.back() = {2, 0, 0}; }), "the tetrahedra");
}

TEST(RegionBoundary, FacesOutOfTheSmallerLabelAndHasATagPerPair) {
  TriangleMesh surface;
  surface.points = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const std::array<VertexId, 3> triangle{VertexId(0), VertexId(1), VertexId(2)};
  const std::array<VertexId, 3> turned{VertexId(0), VertexId(2), VertexId(1)};
  surface.elements = {triangle, triangle, triangle, triangle, triangle};
  const std::vector<RegionSides> sides{{4, 0}, {0, 4}, {4, 7}, {7, 4}, {0, 7}};
  const RegionBoundary boundary = region_boundary(surface, sides);
  EXPECT_THAT(boundary.triangles, ::testing::ElementsAre(triangle, turned, triangle, turned, turned));
  EXPECT_THAT(boundary.region_a, ::testing::ElementsAre(4, 4, 4, 4, 7));
  EXPECT_THAT(boundary.region_b, ::testing::ElementsAre(0, 0, 7, 7, 0));
  EXPECT_THAT(boundary.tag, ::testing::ElementsAre(8, 8, 9, 9, 10));
}

}  // namespace TEST_FILE
}  // namespace isochron
