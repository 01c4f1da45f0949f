#include "isochron/surface/field/isosurface.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "isochron/core/random.h"
#include "isochron/mesh_quality.h"
#include "surface/sampled.h"

namespace isochron {
namespace TEST_FILE {

long euler(const SurfaceTopology& topology) {
  long sum = 0;
  for (const SurfaceComponent& component : topology.components) sum += component.euler_characteristic();
  return sum;
}

double volume(const SurfaceTopology& topology) {
  double sum = 0;
  for (const SurfaceComponent& component : topology.components) sum += component.volume;
  return sum;
}

SurfaceTopology expect_sound(const TriangleMesh& mesh) {
  SurfaceTopology topology = surface_topology(mesh);
  EXPECT_TRUE(topology.closed() && topology.manifold() && topology.oriented());
  return topology;
}

TriangleMesh finer(const SplineField& field, int parts) {
  Lattice lattice = field.lattice();
  for (int a = 0; a < 3; ++a) {
    lattice.shape[a] = parts * (lattice.shape[a] - 1) + 1;
    lattice.spacing[a] /= parts;
  }
  return marching_tetrahedra(lattice, values_at(field, lattice, 2));
}

// Random values, positive at the border: pieces, handles and thin places everywhere.
SplineField noise(const Lattice& lattice) {
  Random random(3);
  std::vector<float> values(lattice.point_count(), 1);
  for (int k = 2; k + 2 < lattice.shape[2]; ++k)
    for (int j = 2; j + 2 < lattice.shape[1]; ++j)
      for (int i = 2; i + 2 < lattice.shape[0]; ++i)
        values[lattice.index(i, j, k)] = static_cast<float>(random.normal());
  return {lattice, values};
}

const Lattice small{{13, 12, 14}, {1, 1.1, 0.9}};

TEST(RefinedIsosurface, WithoutRefinedCellsItIsTheCoarseOne) {
  const SplineField field = noise(small);
  const TriangleMesh mesh = refined_isosurface(field, std::vector<char>(small.point_count()), 4, 2);
  const TriangleMesh coarse = finer(field, 1);
  EXPECT_EQ(mesh.element_count(), coarse.element_count());
  EXPECT_EQ(mesh.vertex_count(), coarse.vertex_count());
  EXPECT_EQ(euler(expect_sound(mesh)), euler(surface_topology(coarse)));
}

TEST(RefinedIsosurface, WithAllCellsButTheOuterItIsTheFineOne) {
  const SplineField field = noise(small);
  std::vector<char> refined(small.point_count());
  for (int k = 1; k + 2 < small.shape[2]; ++k)
    for (int j = 1; j + 2 < small.shape[1]; ++j)
      for (int i = 1; i + 2 < small.shape[0]; ++i) refined[small.index(i, j, k)] = 1;
  const TriangleMesh mesh = refined_isosurface(field, refined, 3, 2);
  const SurfaceTopology topology = expect_sound(mesh), whole = surface_topology(finer(field, 3));
  EXPECT_NEAR(volume(topology), volume(whole), 0.02 * volume(whole));
}

TEST(RefinedIsosurface, IsClosedAndManifoldWhateverCellsAreRefined) {
  const SplineField field = noise(small);
  Random random(11);
  for (const int parts : {2, 3, 4}) {
    std::vector<char> refined(small.point_count());
    for (char& flag : refined) flag = random.uniform() < 0.4 ? 1 : 0;
    const SurfaceTopology topology = expect_sound(refined_isosurface(field, refined, parts, 2));
    EXPECT_GT(topology.components.size(), 1U);
  }
}

// Only where it just reaches through a face, some of a few hundred.
TEST(DoubtfulCells, AreFewOnABall) {
  const Lattice lattice{{20, 20, 20}, {1, 1, 1}};
  const SplineField field(lattice, sampled(lattice, [](Vec3d p) { return ball(p, {9.4, 9.6, 9.7}, 6); }));
  const std::vector<char> doubtful = doubtful_cells(field, 2);
  EXPECT_LT(std::count(doubtful.begin(), doubtful.end(), 1), 150);
}

TEST(DoubtfulCells, AreWhereTwoSheetsShareACell) {
  const Lattice lattice{{20, 20, 20}, {1, 1, 1}};
  // A plate thinner than a voxel between lattice planes, thick enough for half of them.
  const SplineField field(lattice, sampled(lattice, [](Vec3d p) {
                            return std::max(std::abs(p.z - 9.5) - 0.4, std::hypot(p.x - 9.6, p.y - 9.4) - 6);
                          }));
  const std::vector<char> doubtful = doubtful_cells(field, 2);
  EXPECT_EQ(doubtful[lattice.index(9, 9, 9)], 1);
  EXPECT_EQ(doubtful[lattice.index(9, 9, 3)], 0);
  const auto resolved = [&](int parts) { return volume(expect_sound(refined_isosurface(field, doubtful, parts, 2))); };
  EXPECT_GT(resolved(4), 0);
  EXPECT_EQ(finer(field, 1).element_count(), 0U);  // the lattice alone sees nothing of it
}

// What is doubtful decides: refining the rest as well changes nothing.
TEST(DoubtfulCells, HoldAllThatTheLatticeGetsWrong) {
  const Lattice lattice{{30, 30, 30}, {1, 1, 1}};
  Random random(5);
  std::vector<Vec3d> along;
  for (int w = 0; w < 12; ++w)
    along.push_back({random.normal() * 0.35, random.normal() * 0.35, random.normal() * 0.35});
  const SplineField field(lattice, sampled(lattice, [&](Vec3d p) {
                            double sum = 0.8;
                            for (const Vec3d& wave : along) sum += std::sin(dot(wave, p)) / 4;
                            return std::max(sum, ball(p, {14.5, 14.5, 14.5}, 11));
                          }));
  const std::vector<char> doubtful = doubtful_cells(field, 2);
  const SurfaceTopology here = expect_sound(refined_isosurface(field, doubtful, 4, 2));
  const SurfaceTopology everywhere = surface_topology(finer(field, 4));
  EXPECT_LT(std::count(doubtful.begin(), doubtful.end(), 1), 15000);
  EXPECT_EQ(here.components.size(), everywhere.components.size());
  EXPECT_EQ(euler(here), euler(everywhere));
}

}  // namespace TEST_FILE
}  // namespace isochron
