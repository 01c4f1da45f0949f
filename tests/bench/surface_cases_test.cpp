#include "bench/paper/surface_cases.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>

#include <unistd.h>

#include "bench/paper/tables.h"
#include "isochron/surface/triangulate/delaunay.h"
#include "isochron/surface/triangulate/triangulate.h"

namespace isochron::bench {
namespace TEST_FILE {

using ::testing::HasSubstr;

BenchOptions quick() {
  BenchOptions options;
  options.size = BenchSize::quick;
  options.threads = 2;
  return options;
}

class SurfaceCases : public ::testing::Test {
 protected:
  [[nodiscard]] std::string fault() const { return fault_of(model_, result_.particles, range_); }

  SurfaceModel model_ = surface_model(Organ::heart, quick());
  Relaxed result_ = relaxed(model_, {});
  CountRange range_ = about(model_.particles, count_share);
};

TEST_F(SurfaceCases, NothingIsWrongWithRelaxedParticles) {
  EXPECT_EQ(fault(), "");
  EXPECT_GT(result_.seeds, 100U);
  EXPECT_TRUE(model_.missing.empty());
}

TEST_F(SurfaceCases, AParticleOffTheSurfaceIsAFault) {
  result_.particles.positions[5] += 0.1 * result_.particles.normals[5];
  EXPECT_EQ(fault(), "1 particles off the surface");
}

TEST_F(SurfaceCases, HalfOfTheParticlesOrTwiceAsManyAreAFault) {
  std::vector<Vec3d>& positions = result_.particles.positions;
  const std::vector<Vec3d> all = positions;
  positions.resize(all.size() / 2);
  EXPECT_THAT(fault(), HasSubstr("particles, not"));
  positions = all;
  positions.insert(positions.end(), all.begin(), all.end());
  EXPECT_THAT(fault(), HasSubstr("particles, not"));
}

TEST_F(SurfaceCases, NoneIsAddedToTheSeeds) {
  const auto count = static_cast<double>(result_.particles.positions.size());
  range_ = {0, count};
  EXPECT_EQ(fault(), "");
  range_.max = count - 1;
  EXPECT_NE(fault(), "");
}

TEST_F(SurfaceCases, AnOpenMeshIsAFault) {
  if (!delaunay_available()) GTEST_SKIP() << "built without CGAL";
  TriangleMesh mesh =
      triangulate(model_.field, model_.size, result_.particles.positions, {.expected = &model_.isosurface});
  EXPECT_EQ(fault_of(mesh, 1), "");
  TriangleMesh turned = mesh;
  std::swap(turned.elements[3][0], turned.elements[3][1]);
  EXPECT_EQ(fault_of(turned, 1), "triangles face different sides");
  TriangleMesh crossing = mesh;
  crossing.points[0] = crossing.points[crossing.points.size() / 2];
  EXPECT_NE(fault_of(crossing, 1), "");
  mesh.elements.pop_back();
  EXPECT_EQ(fault_of(mesh, 1), "not a closed surface");
  EXPECT_EQ(fault_of(TriangleMesh{}, 1), "not a closed surface");
}

TEST_F(SurfaceCases, FaultyRunsHaveNoNumberAndFailTheTable) {
  Report report("t", "t", quick());
  report.add(checked_entry({"row", "good", {}, 3, "s", "2 iterations"}, ""));
  EXPECT_TRUE(report.result().sound());
  EXPECT_EQ(report.result().entries[0].ours, 3);
  EXPECT_EQ(report.result().entries[0].remark.text, "2 iterations");
  report.add(checked_entry({"row", "bad", {}, 3, "s", "2 iterations"}, "not a closed surface"));
  EXPECT_FALSE(report.result().sound());
  EXPECT_FALSE(report.result().entries[1].ours.has_value());
  EXPECT_EQ(report.result().entries[1].remark.text, "run FAILED: not a closed surface");
}

/// Sets a variable of the environment for a while.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value, 1);
  }
  ~Environment() {
    if (before_) setenv(name_, before_->c_str(), 1);
    else unsetenv(name_);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(SurfaceData, MissingFilesAreNamedAndBlobsStandIn) {
  const Environment nowhere("ISOCHRON_DATA", "/nonexistent");
  BenchOptions options;
  const SurfaceModel model = surface_model(Organ::lungs, options);
  EXPECT_EQ(model.missing, "ct_122x101x112.nii.gz");
  EXPECT_EQ(model.name, "blobs for air of a body CT");
  EXPECT_FALSE(model.beside(835.26).has_value());
  EXPECT_EQ(SurfaceModel{}.beside(835.26), 835.26);
  Report report("t", "t", options);
  note_missing(report, model);
  EXPECT_TRUE(more_models(options, report).empty());
  ASSERT_EQ(report.result().notes.size(), 3U);
  EXPECT_THAT(report.result().notes[0], HasSubstr("vol/ct_122x101x112.nii.gz is not in the data folder"));
  EXPECT_THAT(report.result().notes[2], HasSubstr("vol/mr_head_160x232x160.nii.gz"));
}

/// A folder with particles of Table 1's first model, as a run with a GPU writes them.
class StoredParticles : public SurfaceCases {
 protected:
  StoredParticles() { std::filesystem::create_directories(folder_); }
  ~StoredParticles() override { std::filesystem::remove_all(folder_); }

  void write(const std::vector<Vec3d>& positions) const {
    std::ofstream file(folder_ / "002-table-1-1-blobs-ours.csv");
    file << "x,y,z\n" << std::setprecision(9);
    for (const Vec3d& p : positions) file << p.x << ',' << p.y << ',' << p.z << '\n';
  }
  [[nodiscard]] TableResult table(bool (*bench)(const BenchOptions&) = table_002_1) const {
    BenchOptions options = quick();
    options.columns = BenchColumns::gpu;
    options.particles = folder_;
    TableResult result;
    options.take = [&](const TableResult& found) { result = found; };
    const bool passed = bench(options);
    EXPECT_EQ(passed, result.sound());
    return result;
  }

  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / fmt::format("isochron_stored_particles_{}", ::getpid());
};

TEST_F(StoredParticles, AreMadeAMeshOfWhereThereIsCgal) {
  write(result_.particles.positions);
  const TableResult found = table();
  EXPECT_TRUE(found.sound());
  ASSERT_FALSE(found.entries.empty());
  const Entry& first = found.entries.front();
  EXPECT_THAT(first.remark.text, HasSubstr("from 002-table-1-1-blobs-ours.csv"));
  ASSERT_TRUE(first.ours.has_value());
  if (delaunay_available()) {
    EXPECT_EQ(first.column, "GPU, mean radius ratio");
    EXPECT_GT(*first.ours, 0.95);
    EXPECT_EQ(found.entries.size(), 3U);
  } else {
    EXPECT_EQ(first.column, "GPU, particles");
    EXPECT_EQ(*first.ours, static_cast<double>(result_.particles.positions.size()));
    EXPECT_EQ(found.entries.size(), 1U);
  }
  EXPECT_THAT(found.notes, testing::Contains(HasSubstr("002-table-1-1-blobs-published.csv is not there")));
}

TEST_F(StoredParticles, AreDrawnWhereThereIsCgal) {
  write(result_.particles.positions);
  const TableResult found = table(figure_002_9);
  EXPECT_TRUE(found.sound());
  if (!delaunay_available()) {
    EXPECT_TRUE(found.pictures.empty());
    EXPECT_THAT(found.notes, testing::Contains(HasSubstr("no CGAL")));
    return;
  }
  std::vector<std::string> drawn;
  for (const Picture& picture : found.pictures) drawn.push_back(picture.name);
  EXPECT_THAT(drawn, testing::ElementsAre("002-figure-9-heart-paper", "002-figure-9-heart-ours",
                                          "002-figure-9-heart-ours-gpu"));
}

TEST_F(StoredParticles, OfAnotherSurfaceAreAFault) {
  std::vector<Vec3d> positions = result_.particles.positions;
  for (Vec3d& p : positions) p.x += 0.3;
  write(positions);
  const TableResult found = table();
  EXPECT_FALSE(found.sound());
  EXPECT_FALSE(found.entries.front().ours.has_value());
  EXPECT_THAT(found.entries.front().remark.text, HasSubstr("particles off the surface"));
}

TEST(ParticleTables, QuickOnesPassTheirChecksSlow) {
  for (const auto table : {table_002_1, table_002_2, table_002_3, table_002_4, goals_surface})
    EXPECT_TRUE(table(quick()));
}

}  // namespace TEST_FILE
}  // namespace isochron::bench
