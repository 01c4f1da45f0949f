#include "apps/viewer/server/scenes.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/viewer/server/fields.h"
#include "io/io_test_support.h"
#include "isochron/error.h"
#include "isochron/io.h"
#include "isochron/mesh_quality.h"
#include "isochron/surface.h"
#include "isochron/surface/triangulate/delaunay.h"
#include "viewer/unpacked.h"

namespace isochron::viewer {
namespace TEST_FILE {

using testing::HasSubstr;

constexpr Vec3d centre{40, -10, 6};
constexpr double radius = 9;

/// A ball, on mirrored voxels: values fall from 100 in its middle by 5 a length.
VolumeImage ball_image() {
  VolumeImage image;
  image.grid.shape = {24, 26, 25};
  image.grid.axes = {Vec3d{0, 0, 1}, Vec3d{0, 1, 0}, Vec3d{1, 0, 0}};
  image.grid.origin = centre - Vec3d{12.2, 12.4, 11.7};
  for (std::size_t v = 0; v < image.grid.voxel_count(); ++v)
    image.values.push_back(static_cast<float>(100 - 5 * norm(image.grid.position(VertexId(v)) - centre)));
  return image;
}

const Json ball_level{{"isovalue", 100 - 5 * radius}, {"uniform", 1.5}};

TEST(SurfaceScene, HistogramCountsEveryValue) {
  VolumeImage image = ball_image();
  image.values[5] = std::numeric_limits<float>::quiet_NaN();
  const auto scene = make_surface_scene(image, {1});
  const Unpacked histogram = ask(*scene, "histogram");
  const auto counts = histogram.integers("counts");
  EXPECT_EQ(counts.size(), 256U);
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::size_t{0}), image.grid.voxel_count() - 1);
  EXPECT_GE(counts.back(), 1U);
  EXPECT_GE(counts.front(), 1U);
  EXPECT_EQ(histogram.meta()["not_finite"], 1);
  const double low = histogram.meta()["low"], high = histogram.meta()["high"];
  std::size_t below = 0;
  for (const float value : image.values)
    if (std::isfinite(value) && value < 0.5 * (low + high)) ++below;
  const std::size_t first_half = std::accumulate(counts.begin(), counts.begin() + 128, std::size_t{0});
  EXPECT_EQ(first_half, below);
  EXPECT_THAT(scene->describe()["warnings"].dump(), HasSubstr("1 voxels are NaN"));
}

TEST(SurfaceScene, ValuesComeAsTheyLie) {
  const VolumeImage image = ball_image();
  const auto scene = make_surface_scene(image, {1});
  const Unpacked volume = ask(*scene, "volume/values");
  EXPECT_EQ(volume.shape("values"), (std::vector<std::size_t>{25, 26, 24}));
  EXPECT_EQ(volume.floats("values"), image.values);
  EXPECT_EQ(scene->describe()["kind"], "volume");
}

TEST(SurfaceScene, SaysWhenParticlesHadNotSettled) {
  ExtractedSurface made;
  made.notes = {"a note"};
  made.iterations.resize(50);
  made.converged = true;
  EXPECT_THAT(surface_notes(made), testing::ElementsAre("a note"));
  made.converged = false;
  EXPECT_THAT(surface_notes(made), testing::ElementsAre("a note", HasSubstr("not settled after 50 iterations")));
}

class Surfaces : public testing::Test {
 protected:
  void SetUp() override {
    if (!delaunay_available()) GTEST_SKIP() << "this build has no CGAL";
  }
};

TEST_F(Surfaces, ABallIsRoundAndItsParticlesAreSeen) {
  const auto scene = make_surface_scene(ball_image(), {2});
  std::size_t frames = 0, seen = 0;
  const Notify notify = [&](std::string_view event, const Json& data) {
    if (event != "particles") return;
    ++frames;
    EXPECT_EQ(data["iteration"], frames);
    const auto reply = scene->glance({"surface/particles", {{"client", "c"}}});
    ASSERT_TRUE(reply);
    const Unpacked now(reply->bytes);
    seen = now.points("points").size();
    EXPECT_EQ(data["count"], seen);
    EXPECT_EQ(now.floats("sizes").size(), seen);
    const auto normals = now.points("normals");
    for (std::size_t i = 0; i < seen; i += 17) {
      const Vec3d offset = now.points("points")[i] - centre;
      EXPECT_NEAR(norm(offset), radius, 0.2);
      EXPECT_GT(dot(offset / norm(offset), normals[i]), 0.95);
    }
  };
  const Unpacked made = ask(*scene, "surface", ball_level, notify);
  EXPECT_EQ(made.meta()["iterations"], frames);
  EXPECT_EQ(made.meta()["particles"], seen);
  const TriangleMesh mesh = made.mesh();
  for (const Vec3d& p : mesh.points) EXPECT_NEAR(norm(p - centre), radius, 0.1);
  const SurfaceTopology topology = surface_topology(mesh);
  EXPECT_TRUE(topology.closed() && topology.oriented());
  EXPECT_NEAR(topology.volume, 4 * std::numbers::pi / 3 * std::pow(radius, 3), 60);  // outward, in the world
  const auto quality = made.floats("quality");
  ASSERT_EQ(quality.size(), mesh.element_count());
  const auto histogram = made.integers("histogram");
  EXPECT_EQ(std::accumulate(histogram.begin(), histogram.end(), std::size_t{0}), quality.size());
  EXPECT_GT(made.meta()["quality"]["mean"].get<double>(), 0.9);
}

/// Labels 0 outside, 3 in the ball's lower half and 7 in its upper one.
VolumeImage label_image() {
  VolumeImage image = ball_image();
  for (std::size_t v = 0; v < image.values.size(); ++v) {
    const bool inside = image.values[v] >= 100 - 5 * radius;
    image.values[v] = !inside ? 0.F : image.grid.position(VertexId(v)).z < centre.z ? 3.F : 7.F;
  }
  return image;
}

TEST(SurfaceScene, LabelsAreListedWithTheirVoxels) {
  VolumeImage image = label_image();
  const auto voxels = [&](float label) { return std::count(image.values.begin(), image.values.end(), label); };
  const Json expected{{{"value", 0}, {"voxels", voxels(0)}},
                      {{"value", 3}, {"voxels", voxels(3)}},
                      {{"value", 7}, {"voxels", voxels(7)}}};
  const auto labels = [](const VolumeImage& of) { return make_surface_scene(of, {1})->describe()["labels"]; };
  EXPECT_EQ(labels(image), expected);
  EXPECT_EQ(labels(ball_image()), nullptr);
  image.values[9] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(labels(image).size(), 3U);
  image.values[10] = 2.5F;
  EXPECT_EQ(labels(image), nullptr);
  image.values.assign(image.values.size(), 5);
  EXPECT_EQ(labels(image), nullptr);
  for (std::size_t v = 0; v < image.values.size(); ++v) image.values[v] = static_cast<float>(v % 201);
  EXPECT_EQ(labels(image), nullptr);  // more than any map has
}

TEST_F(Surfaces, OneLabelOfAMap) {
  const VolumeImage image = label_image();
  const auto scene = make_surface_scene(image, {2});
  const auto voxels = static_cast<double>(std::count(image.values.begin(), image.values.end(), 7.F));
  const TriangleMesh upper = ask(*scene, "surface", {{"label", 7}, {"uniform", 1.5}}).mesh();
  EXPECT_TRUE(surface_topology(upper).closed());
  EXPECT_NEAR(surface_topology(upper).volume, voxels, 0.06 * voxels);  // voxels of volume 1, with rounded edges
  for (const Vec3d& p : upper.points) EXPECT_GT(p.z, centre.z - 1);
  const TriangleMesh lower = ask(*scene, "surface", {{"label", 3}, {"uniform", 1.5}}).mesh();
  for (const Vec3d& p : lower.points) EXPECT_LT(p.z, centre.z + 1);

  const auto refused = [&](const Json& body) { return refusal(*scene, "surface", body); };
  EXPECT_THAT(refused({{"label", 5}}), HasSubstr("3"));  // those that it has are listed
  EXPECT_THAT(refused({{"label", 1.5}}), HasSubstr("whole numbers"));
  EXPECT_THAT(refused({{"label", 3}, {"isovalue", 1}}), HasSubstr("exclude each other"));
  const auto ball = make_surface_scene(ball_image(), {1});
  EXPECT_THAT(refusal(*ball, "surface", {{"label", 3}}), HasSubstr("no label map"));
}

TEST_F(Surfaces, ABrushAsksForMoreParticlesThere) {
  const auto scene = make_surface_scene(ball_image(), {2});
  const auto near = [&](const TriangleMesh& mesh, const Vec3d& direction) {
    return std::count_if(mesh.points.begin(), mesh.points.end(),
                         [&](const Vec3d& p) { return dot(p - centre, direction) > 0.9 * radius; });
  };
  const TriangleMesh plain = ask(*scene, "surface", ball_level).mesh();
  const Json stroke{{"point", {centre.x, centre.y + radius, centre.z}}, {"radius", 6}, {"factor", 0.4}};
  const TriangleMesh brushed = ask(*scene, "surface", with(ball_level, "brush", Json::array({stroke}))).mesh();
  EXPECT_GT(near(brushed, {0, 1, 0}), 2 * near(plain, {0, 1, 0}));
  EXPECT_NEAR(static_cast<double>(near(brushed, {0, -1, 0})), static_cast<double>(near(plain, {0, -1, 0})), 5);
  EXPECT_TRUE(surface_topology(brushed).closed());
}

TEST_F(Surfaces, TheLastMeshCanBeDownloaded) {
  const auto scene = make_surface_scene(ball_image(), {2});
  EXPECT_THAT(refusal(*scene, "export", {{"format", "ply"}}), HasSubstr("no surface yet"));
  const TriangleMesh mesh = ask(*scene, "surface", ball_level).mesh();
  const test::TemporaryFolder folder;
  for (const std::string format : {"ply", "stl", "obj", "off", "vtk", "msh", "mesh"}) {
    const Reply reply = reply_of(*scene, "export", {{"format", format}});
    EXPECT_EQ(reply.file_name, "volume-surface." + format);
    Dataset back = read_dataset(folder.file(reply.file_name, reply.bytes));
    EXPECT_EQ(back.triangles.cells.size(), mesh.element_count()) << format;
    if (format == "ply") {
      EXPECT_NE(back.point_data.find("size"), nullptr);
      EXPECT_NE(back.triangles.data.find("radius_ratio"), nullptr);
    }
    EXPECT_NEAR(surface_topology(take_mesh<3>(back)).volume, surface_topology(mesh).volume, 0.1) << format;
  }
  EXPECT_THAT(reply_of(*scene, "export", {{"format", "vtp"}}).bytes, HasSubstr("radius_ratio"));
  const std::string wrong = refusal(*scene, "export", {{"format", "elem"}});
  EXPECT_THAT(wrong, HasSubstr("vtp"));
  EXPECT_THAT(wrong, HasSubstr("stl"));
  EXPECT_THAT(refusal(*scene, "export", {{"format", "tck"}}), HasSubstr("no format 'tck'"));
  EXPECT_THAT(refusal(*scene, "export", {{"format", "ply"}, {"client", "d"}}), HasSubstr("no surface yet"));
  scene->forget("c");
  EXPECT_THAT(refusal(*scene, "export", {{"format", "ply"}}), HasSubstr("no surface yet"));
}

TEST_F(Surfaces, SaysWhatIsWrong) {
  const auto scene = make_surface_scene(ball_image(), {1});
  const auto message = [&](const char* field, Json value) {
    try {
      ask(*scene, "surface", with(ball_level, field, std::move(value)));
    } catch (const Error& error) {
      return to_text(error, FieldWording());
    }
    return std::string();
  };
  EXPECT_THAT(message("isovalue", nullptr), HasSubstr("'isovalue' is missing"));
  EXPECT_THAT(message("isovalue", 1e6), HasSubstr("leaves nothing inside"));
  EXPECT_THAT(message("inside", "left"), HasSubstr("above or below"));
  EXPECT_THAT(message("epsilon", -1), HasSubstr("epsilon"));
  EXPECT_THAT(message("brush", 3), HasSubstr("'brush'"));
  EXPECT_THAT(message("brush", {{{"point", {0, 0, 0}}, {"radius", 1}, {"factor", 0}}}), HasSubstr("factor"));
  EXPECT_THAT(message("brush", {{{"radius", 1}, {"factor", 0.5}}}), HasSubstr("'point'"));
  EXPECT_THAT(message("uniform", 0.001), HasSubstr("allow more with --most-particles of isochron surface"));
  for (const char* field : {"epsilon", "delta"})
    EXPECT_THAT(message(field, 0.5), HasSubstr(fmt::format("'uniform' and '{}' exclude each other", field)));
  EXPECT_THAT(message("isovalu", 3), HasSubstr("did you mean 'isovalue'?"));
  EXPECT_THAT(message("isovalue", "3"), HasSubstr("text ('3')"));
  EXPECT_THAT(message("brush", {{{"point", {0, 0, 0}}, {"radius", 1}, {"factor", 1}, {"size", 2}}}),
              HasSubstr("brush[0] has no field 'size'"));
  EXPECT_THAT(unknown_questions(*scene), testing::IsEmpty());
  EXPECT_THROW(ask(*scene, "connect"), UnknownCall);
}

TEST_F(Surfaces, StopsWhenCancelledInTheMiddle) {
  const auto scene = make_surface_scene(ball_image(), {1});
  Job job("c");
  const Notify notify = [&](std::string_view event, const Json&) {
    if (event == "particles") job.cancel();
  };
  EXPECT_THROW(scene->handle({"surface", with(ball_level, "client", "c")}, job, notify), Cancelled);
  EXPECT_NO_THROW(ask(*scene, "surface", ball_level));
  scene->forget("c");
  const auto reply = scene->glance({"surface/particles", {{"client", "c"}}});
  EXPECT_EQ(Unpacked(reply->bytes).meta()["count"], 0);
}

TEST(SurfaceScene, WithoutASurfaceItCanStillBeLookedAt) {
  VolumeImage image = ball_image();
  std::fill(image.values.begin(), image.values.end(), 3.0F);
  const auto scene = make_surface_scene(std::move(image), {1});
  EXPECT_FALSE(scene->describe()["solvable"].get<bool>());
  EXPECT_THAT(scene->describe()["why"].get<std::string>(), HasSubstr("all values are 3,"));
  EXPECT_THROW(ask(*scene, "surface", ball_level), InputError);
  EXPECT_NO_THROW(ask(*scene, "volume/values"));
  const Unpacked histogram = ask(*scene, "histogram");
  EXPECT_EQ(histogram.integers("counts")[0], 24U * 26 * 25);
  EXPECT_EQ(histogram.meta()["low"], 3);
  EXPECT_EQ(histogram.meta()["high"], 3);
}

TEST(SurfaceScene, SaysThatThereAreNoNumbers) {
  VolumeImage image = ball_image();
  std::fill(image.values.begin(), image.values.end(), std::numeric_limits<float>::quiet_NaN());
  image.units = "";
  const auto scene = make_surface_scene(std::move(image), {1});
  EXPECT_THAT(scene->describe()["why"].get<std::string>(), HasSubstr("no voxel has a number"));
  EXPECT_TRUE(scene->describe()["warnings"].empty());  // that says it all
  EXPECT_EQ(scene->describe()["units"], "");
  EXPECT_THROW(ask(*scene, "surface", ball_level), InputError);
  const Unpacked histogram = ask(*scene, "histogram");
  EXPECT_THAT(histogram.integers("counts"), testing::Each(0U));
  EXPECT_TRUE(histogram.meta()["low"].is_null());
  EXPECT_EQ(histogram.meta()["not_finite"], 24 * 26 * 25);
}

}  // namespace TEST_FILE
}  // namespace isochron::viewer
