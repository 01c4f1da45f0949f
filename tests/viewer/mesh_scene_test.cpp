#include "apps/viewer/server/scenes.h"

#include <cmath>
#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "draw/draw_samples.h"
#include "isochron/error.h"
#include "isochron/io.h"
#include "isochron/solver.h"
#include "viewer/unpacked.h"

namespace isochron::viewer {
namespace TEST_FILE {

using testing::AnyOf;
using testing::Each;
using testing::FloatEq;
using testing::HasSubstr;

std::unique_ptr<Scene> scene_of(Dataset dataset) { return make_mesh_scene(std::move(dataset), "sample.vtu", {1}); }

Json from_vertex(std::uint32_t vertex) { return {{"sources", {{{"vertex", vertex}}}}}; }

/// The vertex that is nearest to a place.
std::size_t vertex_at(const Dataset& dataset, const Vec3d& p) {
  std::size_t best = 0;
  for (std::size_t i = 0; i < dataset.points.size(); ++i)
    if (norm(dataset.points[i] - p) < norm(dataset.points[best] - p)) best = i;
  return best;
}

TEST(MeshScene, SaysWhatItIs) {
  const auto scene = scene_of(sample_cube(3));
  const Json state = scene->describe();
  EXPECT_EQ(state["kind"], "mesh");
  EXPECT_EQ(state["points"], 64);
  EXPECT_EQ(state["tets"], 6 * 27);
  EXPECT_EQ(state["bounds"], Json::parse("[[0.0,0.0,0.0],[1.0,1.0,1.0]]"));
  EXPECT_EQ(state["solvable"], true);
  EXPECT_EQ(state["arrays"][0], Json::parse(R"({"name":"slab","on":"cells","components":1,"low":0.0,"high":2.0})"));
}

TEST(MeshScene, DrawsTheOutsideOfTetrahedra) {
  const Dataset cube = sample_cube(3);
  const auto scene = scene_of(cube);
  const Unpacked geometry = ask(*scene, "geometry");
  const TriangleMesh drawn = geometry.mesh();
  EXPECT_EQ(drawn.elements.size(), 6U * 9 * 2);
  EXPECT_EQ(drawn.points.size(), 64U - 8);
  const auto vertex = geometry.integers("vertex");
  double area = 0;
  for (std::size_t i = 0; i < vertex.size(); ++i) EXPECT_NEAR(norm(cube.points[vertex[i]] - drawn.points[i]), 0, 1e-6);
  for (const auto& t : drawn.elements) {
    const Vec3d normal = cross(drawn.point(t[1]) - drawn.point(t[0]), drawn.point(t[2]) - drawn.point(t[0]));
    area += 0.5 * norm(normal);
    EXPECT_GT(dot(normal, drawn.point(t[0]) - Vec3d{0.5, 0.5, 0.5}), 0);  // facing out
  }
  EXPECT_NEAR(area, 6, 1e-5);
}

TEST(MeshScene, ArraysFollowTheDrawnPlaces) {
  const auto scene = scene_of(sample_cube(3));
  const TriangleMesh drawn = ask(*scene, "geometry").mesh();
  const auto x = ask(*scene, "array", {{"name", "x"}, {"on", "points"}}).floats("values");
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], drawn.points[i].x, 1e-6);
  const auto slab = ask(*scene, "array", {{"name", "slab"}, {"on", "cells"}}).floats("values");
  ASSERT_EQ(slab.size(), drawn.elements.size());
  for (std::size_t t = 0; t < slab.size(); ++t) {
    double z = 0;
    for (const VertexId v : drawn.elements[t]) z += drawn.point(v).z / 3;
    EXPECT_NEAR(slab[t] / 3 + 1.0 / 6, z, 0.17);  // the layer that the triangle is in
  }
}

TEST(MeshScene, TimesAreThoseOfTheSolver) {
  const Dataset square = sample_square(24);
  const auto scene = scene_of(square);
  const Unpacked answer = ask(*scene, "solve", with(with(from_vertex(7), "speed", 2), "seq", 41));
  const TriangleMesh mesh{square.points, square.triangles.cells};
  const Arrival expected = solve(mesh, Metric::isotropic(2), {{{VertexId(7), 0}}, {}, {}});
  const auto times = answer.floats("times");
  ASSERT_EQ(times.size(), expected.times.size());
  for (std::size_t v = 0; v < times.size(); ++v) EXPECT_FLOAT_EQ(times[v], static_cast<float>(expected.times[v]));
  EXPECT_EQ(answer.meta()["seq"], 41);
  EXPECT_EQ(answer.meta()["reached"], square.points.size());
  EXPECT_NEAR(answer.meta()["max_time"].get<double>(), expected.max_time, 1e-12);
  EXPECT_FALSE(answer.has("iso_points"));
}

TEST(MeshScene, APickedPointIsASourceOfItsOwn) {
  const auto scene = scene_of(sample_square(24));
  const TriangleMesh drawn = ask(*scene, "geometry").mesh();
  const Vec3d picked{0.513, 0.237, 0.004};  // a little off the surface, as a pick in single precision may be
  const auto times =
      ask(*scene, "solve", {{"sources", {{{"point", {picked.x, picked.y, picked.z}}, {"time", 3}}}}}).floats("times");
  for (std::size_t v = 0; v < times.size(); ++v)
    EXPECT_NEAR(times[v], 3 + norm(drawn.points[v] - Vec3d{picked.x, picked.y, 0}), 0.02);
}

TEST(MeshScene, IsochronesLieAtTheirTimes) {
  const Dataset cube = sample_cube(12);
  const auto scene = scene_of(cube);
  const Json from = from_vertex(static_cast<std::uint32_t>(vertex_at(cube, {0, 0, 0})));
  const Unpacked answer = ask(*scene, "solve", with(from, "isochrones", {{"spacing", 0.25}}));
  EXPECT_EQ(answer.meta()["spacing"], 0.25);
  const auto points = answer.points("iso_points");
  const auto offsets = answer.integers("iso_offsets");
  const auto levels = answer.floats("iso_levels");
  ASSERT_EQ(offsets.size(), levels.size() + 1);
  ASSERT_EQ(offsets.back(), points.size());
  std::set<float> seen(levels.begin(), levels.end());
  EXPECT_EQ(seen, (std::set<float>{0.25F, 0.5F, 0.75F, 1, 1.25F, 1.5F}));
  for (std::size_t line = 0; line < levels.size(); ++line)
    for (std::uint32_t i = offsets[line]; i < offsets[line + 1]; ++i) EXPECT_NEAR(norm(points[i]), levels[line], 0.05);
}

TEST(MeshScene, SpeedsOfRegions) {
  Dataset square = sample_square(20);
  std::vector<std::int32_t> region;
  for (const auto& t : square.triangles.cells) {
    double x = 0;
    for (const VertexId v : t) x += square.points[v.index()].x / 3;
    region.push_back(x < 0.5 ? 3 : 8);
  }
  square.triangles.data.set({"region", 1, region});
  const auto scene = scene_of(square);
  EXPECT_EQ(scene->describe()["regions"], Json::parse(R"({"array":"region","values":[3,8]})"));
  // From the whole left side: straight to the right, slow first.
  Json body{{"sources", Json::array()}, {"speed", 1}, {"regions", {{"array", "region"}, {"speeds", {{"3", 0.5}}}}}};
  for (std::size_t v = 0; v < square.points.size(); ++v)
    if (square.points[v].x == 0) body["sources"].push_back({{"vertex", v}});
  const auto times = ask(*scene, "solve", body).floats("times");
  for (std::size_t v = 0; v < times.size(); ++v) {
    const double x = square.points[v].x;
    EXPECT_NEAR(times[v], x < 0.5 ? 2 * x : 1 + (x - 0.5), 0.02);
  }
  body["regions"]["speeds"] = {{"3", {2, 1}}};
  EXPECT_THAT(refusal(*scene, "solve", body), HasSubstr("there are no fibres"));
}

TEST(MeshScene, Fibers) {
  Dataset square = sample_square(20);
  std::vector<float> fiber;
  for (std::size_t t = 0; t < square.triangles.cells.size(); ++t) fiber.insert(fiber.end(), {1, 0, 0});
  square.triangles.data.set({"fiber", 3, fiber});
  const auto scene = scene_of(square);
  EXPECT_EQ(scene->describe()["fibers"], Json{"fiber"});
  const Json body = with(from_vertex(0), "fibers", {{"array", "fiber"}, {"velocity", {4, 1}}});
  const auto times = ask(*scene, "solve", body).floats("times");
  EXPECT_NEAR(times[vertex_at(square, {1, 0, 0})], 0.25, 1e-4);
  EXPECT_NEAR(times[vertex_at(square, {0, 1, 0})], 1, 1e-4);

  const Unpacked drawn = ask(*scene, "fibers", {{"array", "fiber"}, {"count", "50"}});
  EXPECT_EQ(drawn.shape("segments"), (std::vector<std::size_t>{50, 2, 3}));
  const auto ends = drawn.points("segments");
  for (std::size_t i = 0; i < ends.size(); i += 2) {
    const Vec3d along = ends[i + 1] - ends[i];
    EXPECT_NEAR(norm(along), 0.8 * std::sqrt(1.0 / 50), 1e-5);
    EXPECT_NEAR(along.x, norm(along), 1e-5);
  }
  EXPECT_THAT(refusal(*scene, "fibers", {{"array", "x"}}), HasSubstr("components"));
}

TEST(MeshScene, PathsOfTwoSettings) {
  const Dataset square = sample_square(20);
  const auto scene = scene_of(square);
  const auto corner = [&](double x, double y) { return static_cast<std::uint32_t>(vertex_at(square, {x, y, 0})); };
  EXPECT_THAT(refusal(*scene, "path", {{"to", {{"vertex", 5}}}}), HasSubstr("set a source first"));
  (void)ask(*scene, "solve", with(from_vertex(corner(0, 0)), "slot", "a"));
  (void)ask(*scene, "solve", with(with(from_vertex(corner(0, 1)), "slot", "b"), "speed", 0.5));
  const Unpacked a = ask(*scene, "path", {{"slot", "a"}, {"to", {{"vertex", corner(1, 0)}}}});
  EXPECT_NEAR(a.meta()["length"].get<double>(), 1, 1e-6);
  EXPECT_NEAR(a.meta()["time"].get<double>(), 1, 1e-6);
  EXPECT_NEAR(norm(a.points("points").back()), 0, 1e-6);
  EXPECT_EQ(a.floats("times").size(), a.points("points").size());
  const Unpacked b = ask(*scene, "path", {{"slot", "b"}, {"to", {{"point", {1, 1, 0}}}}});
  EXPECT_NEAR(b.meta()["length"].get<double>(), 1, 1e-6);
  EXPECT_NEAR(b.meta()["time"].get<double>(), 2, 1e-6);
  EXPECT_THAT(refusal(*scene, "path", {{"to", {{"vertex", 100000}}}}), HasSubstr("out of range"));
  EXPECT_THAT(refusal(*scene, "path", {{"to", {{"point", {9, 9, 9}}}}}), HasSubstr("away"));
  scene->forget("c");
  EXPECT_THAT(refusal(*scene, "path", {{"to", {{"vertex", 5}}}}), HasSubstr("set a source first"));
}

TEST(MeshScene, CutsAndSurfacesOfEqualTime) {
  const Dataset cube = sample_cube(10);
  const auto scene = scene_of(cube);
  (void)ask(*scene, "solve", from_vertex(static_cast<std::uint32_t>(vertex_at(cube, {0, 0, 0}))));
  const Unpacked cut = ask(*scene, "clip", {{"point", {0.55, 0, 0}}, {"normal", {2, 0, 0}}});
  const TriangleMesh shown = cut.mesh();
  const auto times = cut.floats("times");
  ASSERT_EQ(times.size(), shown.points.size());
  double face = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_LE(shown.points[i].x, 0.55 + 1e-6);
    EXPECT_NEAR(times[i], norm(shown.points[i]), 0.05);
  }
  for (const auto& t : shown.elements) {
    const Vec3d normal = cross(shown.point(t[1]) - shown.point(t[0]), shown.point(t[2]) - shown.point(t[0]));
    if (normal.x > 0.999 * norm(normal)) face += 0.5 * norm(normal);
  }
  EXPECT_NEAR(face, 1, 1e-5);  // the cut is closed
  for (const double length : {1e-300, 1e300})
    EXPECT_EQ(ask(*scene, "clip", {{"point", {0.55, 0, 0}}, {"normal", {length, 0, 0}}}).points("points"),
              shown.points);

  const Unpacked lined = ask(*scene, "clip", {{"point", {0.55, 0, 0}}, {"normal", {1, 0, 0}}, {"levels", {0.6, 0.8}}});
  EXPECT_THAT(lined.floats("iso_levels"), Each(AnyOf(FloatEq(0.6F), FloatEq(0.8F))));
  std::size_t on_cut = 0;
  for (const Vec3d& p : lined.points("iso_points"))
    if (p.x > 0.55 - 1e-6) ++on_cut;
  EXPECT_GT(on_cut, 10U);

  const Unpacked surface = ask(*scene, "isosurface", {{"level", 0.7}});
  EXPECT_GT(surface.points("points").size(), 50U);
  for (const Vec3d& p : surface.points("points")) EXPECT_NEAR(norm(p), 0.7, 0.05);
  const Unpacked shells = ask(*scene, "isosurface", {{"levels", {0.4, 0.7}}});
  const TriangleMesh both = shells.mesh();
  const auto levels = shells.floats("levels");
  ASSERT_EQ(levels.size(), both.element_count());
  EXPECT_EQ(std::count(levels.begin(), levels.end(), 0.7F), surface.mesh().element_count());
  for (std::size_t t = 0; t < levels.size(); ++t)
    for (const VertexId v : both.elements[t]) EXPECT_NEAR(norm(both.point(v)), levels[t], 0.05);
  // The mesh is whole again afterwards.
  EXPECT_EQ(ask(*scene, "geometry").mesh().elements.size(), 6U * 100 * 2);
  EXPECT_THAT(refusal(*scene, "clip", {{"point", {0, 0, 0}}, {"normal", {0, 0, 0}}}), HasSubstr("no length"));
  EXPECT_TRUE(ask(*scene, "clip", {{"point", {-1, 0, 0}}, {"normal", {1, 0, 0}}}).points("points").empty());
}

TEST(MeshScene, Exports) {
  const Dataset cube = sample_cube(4);
  const auto scene = scene_of(cube);
  const Unpacked answer = ask(*scene, "solve", from_vertex(0));
  const auto written = [&](const std::string& format) { return reply_of(*scene, "export", {{"format", format}}); };
  const Reply csv = written("csv");
  EXPECT_EQ(csv.file_name, "sample-times.csv");
  EXPECT_TRUE(csv.bytes.starts_with("id,x,y,z,arrival_time\n0,"));
  EXPECT_EQ(std::count(csv.bytes.begin(), csv.bytes.end(), '\n'), 126);
  EXPECT_EQ(written("npy").bytes.size() % 64, (125 * 8) % 64U);

  const Reply vtk = written("vtk");
  const std::string name = testing::TempDir() + "viewer-export.vtk";
  std::ofstream(name, std::ios::binary) << vtk.bytes;
  const Dataset back = read_dataset(name);
  std::remove(name.c_str());
  EXPECT_EQ(back.tets.cells.size(), cube.tets.cells.size());
  EXPECT_NE(back.tets.data.find("slab"), nullptr);
  const DataArray& times = back.point_data.require("arrival_time", "points");
  const auto vertex = ask(*scene, "geometry").integers("vertex");
  for (std::size_t i = 0; i < vertex.size(); ++i)
    EXPECT_FLOAT_EQ(static_cast<float>(times.at(vertex[i])), answer.floats("times")[i]);
  // And nothing of it stays.
  EXPECT_THAT(refusal(*scene, "array", {{"name", "arrival_time"}, {"on", "points"}}), HasSubstr("arrival_time"));
  EXPECT_THAT(refusal(*scene, "export", {{"format", "../../x"}}), HasSubstr("no format"));
}

TEST(MeshScene, BadQuestions) {
  const auto scene = scene_of(sample_square(8));
  const auto solve_with = [&](const char* text) { return refusal(*scene, "solve", Json::parse(text)); };
  EXPECT_THAT(solve_with("{}"), HasSubstr("no sources"));
  EXPECT_THAT(solve_with(R"({"sources": []})"), HasSubstr("no sources"));
  EXPECT_THAT(solve_with(R"({"sources": [{}]})"), HasSubstr("'point' of sources[0] is missing"));
  EXPECT_THAT(solve_with(R"({"sources": [5]})"), HasSubstr("sources[0] is not a JSON object"));
  EXPECT_THAT(solve_with(R"({"sources": [{"vertex": 81}]})"), HasSubstr("out of range"));
  EXPECT_THAT(solve_with(R"({"sources": [{"vertex": -1}]})"), HasSubstr("whole number"));
  EXPECT_THAT(solve_with(R"({"sources": [{"point": [0, 0]}]})"), HasSubstr("3 numbers"));
  EXPECT_THAT(solve_with(R"({"sources": [{"point": ["nan", 0, 0]}]})"), HasSubstr("text ('nan')"));
  EXPECT_THAT(solve_with(R"({"sources": [{"point": [1e300, 0, 0]}]})"), HasSubstr("away from the mesh"));
  EXPECT_THAT(solve_with(R"({"sources": [{"point": [5, 5, 5]}]})"), HasSubstr("away from the mesh"));
  EXPECT_THAT(solve_with(R"({"sources": [{"vertex": 1, "time": "x"}]})"), HasSubstr("'time'"));
  EXPECT_THAT(solve_with(R"({"sources": [{"vertex": 1}], "speed": 0})"), HasSubstr("positive"));
  EXPECT_THAT(solve_with(R"({"sources": [{"vertex": 1}], "speed_array": "cv"})"), HasSubstr("'cv'"));
  EXPECT_THAT(solve_with(R"({"sources": [{"vertex": 1}], "fibers": {"array": "f", "velocity": 1}})"), HasSubstr("'f'"));
  EXPECT_THAT(solve_with(R"({"sources": [{"vertex": 1}], "regions": {"array": "r", "speeds": {}}})"), HasSubstr("'r'"));
  EXPECT_THAT(solve_with(R"({"sources": [{"vertex": 1}], "isochrones": {"spacing": 1e-9}})"), HasSubstr("too small"));
  EXPECT_THAT(solve_with(R"({"sources": [{"vertex": 1}], "isochrones": {"spacing": -1}})"), HasSubstr("positive"));
  EXPECT_THAT(solve_with(R"({"sources": [{"vertex": 1, "time": 1e300}]})"), HasSubstr("leave no digits"));
  EXPECT_THAT(refusal(*scene, "isosurface", {{"level", 1}}), HasSubstr("no tetrahedra"));
  EXPECT_THAT(refusal(*scene, "isosurface", {{"levels", Json::array()}}), HasSubstr("'levels'"));
  EXPECT_THAT(refusal(*scene, "array", {{"name", "x"}, {"on", "lines"}}), HasSubstr("points or cells"));
  EXPECT_THROW((void)ask(*scene, "nothing"), UnknownCall);
  // It still works.
  EXPECT_EQ(ask(*scene, "solve", from_vertex(0)).meta()["unreached"], 0);
}

TEST(MeshScene, BadlyPutQuestions) {
  Dataset square = sample_square(8);
  const std::size_t cells = square.triangles.cells.size();
  square.triangles.data.set({"region", 1, std::vector<std::int32_t>(cells, 3)});
  square.triangles.data.set({"fiber", 3, std::vector<float>(3 * cells, 1)});
  const auto scene = scene_of(square);
  const auto solve_with = [&](const char* field, const char* text, const char* words) {
    const Json body = with(from_vertex(0), field, Json::parse(text));
    EXPECT_TRUE(badly_put(*scene, "solve", body, words))
        << field << " " << text << ": " << refusal(*scene, "solve", body);
  };
  solve_with("sped", "2", "did you mean 'speed'?");
  solve_with("name", R"("x")", "no field 'name'");
  solve_with("speed", R"("2")", "'speed' is text ('2'); give a number");
  solve_with("speed", "[2, 1]", "'speed' is a list; give a number");
  solve_with("speed", "0", "positive");
  solve_with("speed_array", R"("")", "empty");
  solve_with("fibers", R"({"array": "", "velocity": 1})", "empty");
  solve_with("sources", R"([{"vertex": 0, "point": [0, 0, 0]}])", "exclude each other");
  solve_with("sources", R"([{"vertex": 0, "onset": 1}])", "no field 'onset'");
  solve_with("sources", R"([{"vertex": "0"}])", "text ('0')");
  solve_with("sources", "7", "'sources'");
  solve_with("isochrones", R"({"spacing": 1, "about": 3})", "exclude each other");
  solve_with("isochrones", R"({"about": 0})", "from 1 to 200");
  solve_with("isochrones", R"({"levels": [1]})", "no field 'levels'");
  solve_with("isochrones", "true", "JSON object");
  solve_with("fibers", R"({"array": "fiber"})", "'velocity' of 'fibers' is missing");
  solve_with("fibers", R"({"array": "fiber", "velocity": [1, 2, 3, 4]})", "'velocity'");
  solve_with("fibers", R"({"array": "fiber", "velocities": [1, 2], "velocity": 1})", "no field 'velocities'");
  solve_with("regions", R"({"array": "region", "speeds": {"3": 1, "03": 2}})", "region 3 is there twice");
  solve_with("regions", R"({"array": "region", "speeds": {"three": 1}})", "'three'");
  solve_with("regions", R"({"array": "region", "speeds": {"3": "1"}})", "text ('1')");
  solve_with("regions", R"({"array": "region", "speeds": {"3": -1}})", "positive");
  solve_with("regions", R"({"array": "region"})", "'speeds' of 'regions' is missing");
  solve_with("seq", R"("1")", "text ('1')");
  solve_with("seq", "1.5", "whole");
  solve_with("slot", "1", "not a text");
  const Json along{{"array", "fiber"}, {"velocity", {2, 1}}};
  const Json both = with(with(from_vertex(0), "fibers", along), "speed", 1);
  EXPECT_TRUE(badly_put(*scene, "solve", both, "'speed' and 'fibers' exclude each other"));
  const Json seventh = with(from_vertex(0), "regions", {{"array", "region"}, {"speeds", {{"7", 2}}}});
  EXPECT_THAT(refusal(*scene, "solve", seventh), HasSubstr("names 7 (array 'region' has no such"));
  EXPECT_TRUE(badly_put(*scene, "fibers", {{"array", "fiber"}, {"count", "-3"}}, "from 1 to 100000"));
  EXPECT_TRUE(badly_put(*scene, "geometry", {{"x", "1"}}, "no field 'x'"));
  EXPECT_TRUE(badly_put(*scene, "path", {{"to", {{"vertex", 0}, {"point", {0, 0, 0}}}}}, "exclude each other"));
  EXPECT_TRUE(badly_put(*scene, "clip", {{"point", {0, 0, 0}}, {"normal", {0, 0, 1}}, {"level", 1}}, "'levels'?"));
  EXPECT_TRUE(badly_put(*scene, "export", {{"format", "vtk"}, {"what", "cost"}}, "no field 'what'"));
  EXPECT_THAT(unknown_questions(*scene), testing::IsEmpty());
}

TEST(MeshScene, WhatCannotBeSolvedCanBeSeen) {
  Dataset lines;
  lines.points = {{0, 0, 0}, {1, 0, 0}, {1, 2, 0}};
  lines.lines = {{VertexId(0), VertexId(1), VertexId(2)}, {VertexId(2), VertexId(0)}};
  const auto scene = scene_of(lines);
  EXPECT_EQ(scene->describe()["solvable"], false);
  EXPECT_THAT(scene->describe()["why"].get<std::string>(), HasSubstr("no triangles and no tetrahedra"));
  const Unpacked geometry = ask(*scene, "geometry");
  EXPECT_EQ(geometry.integers("line_offsets"), (std::vector<std::uint32_t>{0, 3, 5}));
  EXPECT_EQ(geometry.points("line_points")[2], (Vec3d{1, 2, 0}));
  EXPECT_THAT(refusal(*scene, "solve", from_vertex(0)), HasSubstr("nothing to solve on"));
}

TEST(MeshScene, ACancelledJobIsNotSolved) {
  const auto scene = scene_of(sample_square(8));
  Job job("c");
  job.cancel();
  EXPECT_THROW((void)scene->handle({"solve", from_vertex(0)}, job, [](std::string_view, const Json&) {}), Cancelled);
  EXPECT_EQ(ask(*scene, "solve", from_vertex(0)).meta()["unreached"], 0);
}

}  // namespace TEST_FILE
}  // namespace isochron::viewer
