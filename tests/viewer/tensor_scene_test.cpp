#include "apps/viewer/server/scenes.h"

#include <algorithm>
#include <cmath>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/io_test_support.h"
#include "isochron/core/timer.h"
#include "isochron/diffusion.h"
#include "isochron/error.h"
#include "isochron/image.h"
#include "isochron/io.h"
#include "isochron/mesh_quality.h"
#include "isochron/types.h"
#include "support/data_folder.h"
#include "viewer/unpacked.h"

namespace isochron::viewer {
namespace TEST_FILE {

using testing::HasSubstr;

SymTensor3d fiber(const Vec3d& along) {
  return SymTensor3d::identity(0.2e-3) + SymTensor3d::outer(along / norm(along), 1.5e-3);
}

/// Fibres in circles around the z axis of the world, on voxels that are turned against it; a corner is empty.
TensorImage ring_image() {
  TensorImage image;
  image.grid.shape = {28, 26, 9};
  image.grid.axes = {Vec3d{0, 2, 0}, Vec3d{-2, 0, 0}, Vec3d{0, 0, 2.5}};
  image.grid.origin = {25, -27, -10};
  for (std::size_t v = 0; v < image.grid.voxel_count(); ++v) {
    const Vec3d p = image.grid.position(VertexId(v));
    image.tensors.push_back(fiber({-p.y, p.x, 0}));
  }
  image.tensors.front() = {};
  return image;
}

Json ends(double radius = 3) {
  return {{"name", "ring"},
          {"from", {{"point", {14, 0, 0}}, {"radius", radius}}},
          {"to", {{"point", {0, 14, 0}}, {"radius", radius}}}};
}

TEST(TensorScene, SaysWhatItIs) {
  const auto scene = make_tensor_scene(ring_image(), {1});
  const Json state = scene->describe();
  EXPECT_EQ(state["kind"], "tensors");
  EXPECT_EQ(state["shape"], Json({28, 26, 9}));
  EXPECT_EQ(state["voxels"], 28 * 26 * 9 - 1);
  EXPECT_EQ(state["affine"], Json({0, -2, 0, 25, 2, 0, 0, -27, 0, 0, 2.5, -10, 0, 0, 0, 1}));
  EXPECT_EQ(state["bounds"], Json({{-26, -28, -11.25}, {26, 28, 11.25}}));
  EXPECT_TRUE(state["solvable"].get<bool>());
}

TEST(TensorScene, VolumesHaveTheAnisotropyAndItsColours) {
  const TensorImage image = ring_image();
  const auto scene = make_tensor_scene(image, {1});
  const Unpacked fa = ask(*scene, "volume/fa"), direction = ask(*scene, "volume/direction");
  EXPECT_EQ(fa.shape("values"), (std::vector<std::size_t>{9, 26, 28}));
  EXPECT_EQ(direction.shape("values"), (std::vector<std::size_t>{9, 26, 28, 3}));
  const auto values = fa.floats("values");
  const auto colors = direction.bytes("values");
  EXPECT_EQ(values[0], 0);
  EXPECT_EQ(colors[0] + colors[1] + colors[2], 0);
  const double exact = fractional_anisotropy(fiber({1, 0, 0}));
  for (std::size_t v = 1; v < values.size(); ++v) {
    ASSERT_NEAR(values[v], exact, 1e-6);
    const Vec3d p = image.grid.position(VertexId(v));
    ASSERT_NEAR(colors[3 * v], 255 * exact * std::abs(p.y) / std::hypot(p.x, p.y), 0.51);
    ASSERT_NEAR(colors[3 * v + 1], 255 * exact * std::abs(p.x) / std::hypot(p.x, p.y), 0.51);
    ASSERT_EQ(colors[3 * v + 2], 0);
  }
}

TEST(TensorScene, PathwayFollowsTheFibres) {
  const TensorImage image = ring_image();
  const auto scene = make_tensor_scene(image, {2});
  const Unpacked found = ask(*scene, "connect", ends());
  const auto path = found.points("path");
  ASSERT_GT(path.size(), 5U);
  for (const Vec3d& p : path) {
    EXPECT_NEAR(std::hypot(p.x, p.y), 14, 4);
    EXPECT_GT(p.x, -4);
    EXPECT_GT(p.y, -4);
  }
  for (const char* name : {"profile_distance", "profile_fa", "profile_cost", "profile_total"})
    EXPECT_EQ(found.floats(name).size(), path.size()) << name;
  EXPECT_NEAR(found.floats("profile_distance").back(), found.meta()["length"].get<double>(), 1e-3);
  EXPECT_NEAR(found.meta()["mean_fa"].get<double>(), fractional_anisotropy(fiber({1, 0, 0})), 0.1);
  EXPECT_TRUE(found.meta()["converged"].get<bool>());

  const TriangleMesh tube = found.mesh("tube_"), around = found.mesh("pathway_");
  EXPECT_TRUE(surface_topology(tube).closed());
  EXPECT_EQ(found.points("tube_normals").size(), tube.vertex_count());
  EXPECT_EQ(found.points("pathway_normals").size(), around.vertex_count());
  const SurfaceTopology topology = surface_topology(around);
  EXPECT_TRUE(topology.closed() && topology.oriented());
  EXPECT_EQ(topology.components.size(), 1U);
  EXPECT_GT(topology.volume, 0.3 * found.meta()["volume"].get<double>());
  EXPECT_LT(topology.volume, 1.5 * found.meta()["volume"].get<double>());

  // The cost of the answer is that of the pathway: its smallest value, and all voxels of it within epsilon.
  const Unpacked cost = ask(*scene, "volume/cost", {{"name", "ring"}});
  const auto values = cost.floats("values");
  EXPECT_TRUE(std::isinf(values[0]));
  const double least = found.meta()["least_cost"].get<double>();
  EXPECT_NEAR(*std::min_element(values.begin(), values.end()), least, 1e-4 * least);
  const double most = least * (1 + found.meta()["epsilon"].get<double>());
  const auto within = std::count_if(values.begin(), values.end(), [&](float c) { return c <= most * (1 + 1e-6); });
  EXPECT_GE(static_cast<double>(within), found.meta()["voxels"].get<double>());
}

TEST(TensorScene, SlidersChangeWhatIsFound) {
  const auto scene = make_tensor_scene(ring_image(), {1});
  const auto found = [&](double alpha, double epsilon) {
    return ask(*scene, "connect", with(with(ends(), "alpha", alpha), "epsilon", epsilon)).meta();
  };
  EXPECT_LT(found(1, 0.05)["voxels"].get<int>(), found(1, 0.5)["voxels"].get<int>());
  // Without sharpening the way is shorter: straight through the ring.
  EXPECT_LT(found(0, 0.05)["length"].get<double>(), found(4, 0.05)["length"].get<double>());
  // Sharpenings come back, also after more of them than are kept.
  const double first = found(1, 0.05)["least_cost"].get<double>();
  for (const double alpha : {2.0, 3.0, 4.0, 5.0}) found(alpha, 0.05);
  EXPECT_EQ(found(1, 0.05)["least_cost"].get<double>(), first);
}

TEST(TensorScene, GlyphsFillThePathway) {
  const auto scene = make_tensor_scene(ring_image(), {2});
  const Unpacked found = ask(*scene, "connect", ends());
  const auto voxels = found.meta()["voxels"].get<std::size_t>();
  const Unpacked all = ask(*scene, "glyphs", {{"name", "ring"}});
  EXPECT_EQ(all.meta()["glyphs"], voxels);
  EXPECT_EQ(surface_topology(all.mesh()).components.size(), voxels);
  EXPECT_EQ(all.bytes("colors").size(), all.floats("normals").size());
  const Unpacked few = ask(*scene, "glyphs", {{"name", "ring"}, {"most", 7}});
  EXPECT_EQ(surface_topology(few.mesh()).components.size(), 7U);
  EXPECT_THROW(ask(*scene, "glyphs", {{"name", "ring"}, {"most", 0}}), RequestError);
  EXPECT_THROW(ask(*scene, "glyphs", {{"name", "another"}}), InputError);
}

TEST(TensorScene, PathwaysBelongToTheirClientAndName) {
  const auto scene = make_tensor_scene(ring_image(), {1});
  Json other = ends();
  other["name"] = "second";
  other["to"]["point"] = {-14, 0, 0};
  ask(*scene, "connect", ends());
  ask(*scene, "connect", other);
  const auto least = [&](const char* name) {
    return ask(*scene, "volume/cost", {{"name", name}}).meta()["low"].get<double>();
  };
  EXPECT_GT(least("second"), 1.5 * least("ring"));
  EXPECT_THROW(ask(*scene, "volume/cost", {{"name", "ring"}, {"client", "d"}}), InputError);
  Job job("c");
  scene->handle({"remove", {{"client", "c"}, {"name", "ring"}}}, job, {});
  EXPECT_THROW(ask(*scene, "volume/cost", {{"name", "ring"}}), InputError);
  scene->forget("c");
  EXPECT_THROW(ask(*scene, "volume/cost", {{"name", "second"}}), InputError);
}

TEST(TensorScene, PathwaysCanBeDownloaded) {
  const TensorImage image = ring_image();
  const auto scene = make_tensor_scene(image, {1});
  EXPECT_THAT(refusal(*scene, "export", {{"name", "ring"}, {"format", "tck"}}), HasSubstr("no pathway 'ring'"));
  const Unpacked found = ask(*scene, "connect", ends());
  const auto path = found.points("path");
  const test::TemporaryFolder folder;
  const auto saved = [&](Json body, const std::string& name) {
    body["name"] = "ring";
    const Reply reply = reply_of(*scene, "export", std::move(body));
    EXPECT_EQ(reply.file_name, name);
    EXPECT_EQ(reply.bytes.starts_with("\x1f\x8b"), name.ends_with(".gz")) << name;
    return folder.file(name, reply.bytes);
  };
  const Dataset lines = read_dataset(saved({{"format", "tck"}}, "tensors-ring-path.tck"));
  ASSERT_EQ(lines.points.size(), path.size());
  for (std::size_t i = 0; i < path.size(); ++i) EXPECT_LT(norm(lines.points[i] - path[i]), 1e-4);
  const Reply csv = reply_of(*scene, "export", {{"name", "ring"}, {"format", "csv"}});
  EXPECT_TRUE(csv.bytes.starts_with("x,y,z,distance,cost,fa,md,local_cost\n"));
  EXPECT_EQ(static_cast<std::size_t>(std::count(csv.bytes.begin(), csv.bytes.end(), '\n')), path.size() + 1);
  EXPECT_THAT(reply_of(*scene, "export", {{"name", "ring"}, {"format", "vtp"}}).bytes, HasSubstr("local_cost"));

  const Image voxels = read_image(saved({{"format", "nii.gz"}}, "tensors-ring-pathway.nii.gz"));
  EXPECT_TRUE(same_voxels(voxels.grid, image.grid));
  std::size_t inside = 0;
  for (std::size_t v = 0; v < voxels.grid.voxel_count(); ++v) inside += voxels.data.all().front().at(v) == 1 ? 1 : 0;
  EXPECT_EQ(inside, found.meta()["voxels"].get<std::size_t>());
  const Image cost = read_image(saved({{"format", "nii.gz"}, {"what", "cost"}}, "tensors-ring-cost.nii.gz"));
  const auto exact = ask(*scene, "volume/cost", {{"name", "ring"}}).floats("values");
  EXPECT_EQ(std::get<std::vector<float>>(cost.data.all().front().values), exact);

  EXPECT_THAT(refusal(*scene, "export", {{"name", "ring"}, {"format", "../x"}}), HasSubstr("tck, vtp, csv, nii.gz"));
  EXPECT_THAT(refusal(*scene, "export", {{"name", "ring"}}), HasSubstr("'format' is missing"));
  EXPECT_THAT(refusal(*scene, "export", {{"name", "ring"}, {"format", "nii.gz"}, {"what", "fa"}}),
              HasSubstr("pathway or cost"));
  EXPECT_THAT(refusal(*scene, "export", {{"name", "ring"}, {"format", "csv"}, {"client", "d"}}),
              HasSubstr("no pathway"));
}

TEST(TensorScene, FilesHavePlainNames) {
  const auto scene = make_tensor_scene(ring_image(), {1});
  const Json body = with(ends(), "name", "../left \"tract\" 1");
  ask(*scene, "connect", body);
  const Reply reply = reply_of(*scene, "export", {{"name", body["name"]}, {"format", "tck"}});
  EXPECT_EQ(reply.file_name, "tensors-___left__tract__1-path.tck");
}

TEST(TensorScene, SaysWhatIsWrong) {
  const auto scene = make_tensor_scene(ring_image(), {1});
  const auto message = [&](const char* field, Json value) {
    return refusal(*scene, "connect", with(ends(), field, std::move(value)));
  };
  EXPECT_THAT(message("from", nullptr), HasSubstr("'from' is missing"));
  EXPECT_THAT(message("from", {{"radius", 2}}), HasSubstr("'point'"));
  EXPECT_THAT(message("from", {{"point", {1e9, 0, 0}}, {"radius", 2}}), HasSubstr("from"));
  EXPECT_THAT(message("from", {{"point", {14, 0, 0}}, {"radius", -2}}), HasSubstr("0 or more"));
  EXPECT_THAT(message("to", {{"point", {14, 0, 0}}, {"radius", 2}}), HasSubstr("overlap"));
  EXPECT_THAT(message("alpha", 99), HasSubstr("alpha"));
  EXPECT_THAT(message("epsilon", -1), HasSubstr("epsilon"));
  EXPECT_THAT(message("epsilon", "much"), HasSubstr("epsilon"));
  EXPECT_THAT(message("tube_radius", 0), HasSubstr("tube"));
  EXPECT_THAT(message("name", std::string(1000, 'x')), HasSubstr("too long"));
  EXPECT_THAT(message("tube_radius", "1"), HasSubstr("text ('1')"));
  EXPECT_THAT(message("radius", 1), HasSubstr("no field 'radius'"));
  EXPECT_THAT(message("slot", "a"), HasSubstr("no field 'slot'"));
  EXPECT_THAT(message("from", {{"point", {14, 0, 0}}, {"radus", 2}}), HasSubstr("did you mean 'radius'?"));
  EXPECT_TRUE(badly_put(*scene, "volume/fa", {{"name", "ring"}}, "no field 'name'"));
  EXPECT_TRUE(badly_put(*scene, "export", {{"format", "csv"}, {"what", "cost"}}, "'what' is for nii.gz"));
  EXPECT_THAT(unknown_questions(*scene), testing::IsEmpty());
  EXPECT_THROW(ask(*scene, "solve"), UnknownCall);
  EXPECT_EQ(message("epsilon", 0.1), "no refusal");  // nothing of this leaves the scene unusable
}

TEST(TensorScene, StopsWhenCancelled) {
  const auto scene = make_tensor_scene(ring_image(), {1});
  Job job("c");
  job.cancel();
  EXPECT_THROW(scene->handle({"connect", ends()}, job, {}), Cancelled);
  const Json unnamed = with(ends(), "name", std::string(1000, 'x'));
  EXPECT_THROW(scene->handle({"connect", unnamed}, job, {}), RequestError);  // known before anything is solved
  EXPECT_NO_THROW(ask(*scene, "connect", ends()));
}

TEST(TensorScene, RefusesWhatAreNoDiffusionTensors) {
  TensorImage image = ring_image();
  for (SymTensor3d& tensor : image.tensors) tensor = SymTensor3d::identity(-1);
  EXPECT_THROW(make_tensor_scene(std::move(image), {1}), InputError);
}

// Picks on a real brain, from one side to the other; the first one prepares the solver.
TEST(TensorScene, RealBrainAnswersAtOnceSlow) {
  const auto folder = test::data_folder();
  if (!folder || !std::filesystem::exists(*folder / "dti")) GTEST_SKIP() << "no test data; set ISOCHRON_DATA";
  Image file = read_image(*folder / "dti" / "tensor_mrtrix.nii.gz");
  TensorImage image{file.grid, {}, mask_of(read_image(*folder / "dti" / "mask.nii.gz"), file.grid, "mask"), {}};
  image.tensors = image_tensors(std::move(file), TensorOrder::mrtrix, TensorFrame::world, "tensors");
  const auto scene = make_tensor_scene(std::move(image), {2});
  double quickest = 1e9;
  for (int pick = 0; pick < 5; ++pick) {
    const Timer timer;
    const Unpacked found = ask(*scene, "connect",
                               {{"name", "callosum"},
                                {"from", {{"point", {-24, -37 + pick, -21}}, {"radius", 4}}},
                                {"to", {{"point", {24, -24, -18}}, {"radius", 4}}}});
    quickest = std::min(quickest, timer.seconds());
    RecordProperty("milliseconds_" + std::to_string(pick), std::to_string(1000 * timer.seconds()));
    EXPECT_GT(found.meta()["mean_fa"].get<double>(), 0.4);
    EXPECT_TRUE(surface_topology(found.mesh("pathway_")).closed());
  }
  EXPECT_LT(quickest, 2);  // a fifth of that on an idle machine
}

}  // namespace TEST_FILE
}  // namespace isochron::viewer
