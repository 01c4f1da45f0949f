// Surfaces whose topology is known: the reports on them must say so.
#include <utility>

#include "isochron/mesh/self_intersections.h"
#include "isochron/mesh_quality.h"
#include "oracles/real_data.h"

namespace isochron::test {
namespace TEST_FILE {

class SurfaceQuality : public RealData {
 protected:
  static TriangleMesh surface(const char* name) {
    Dataset dataset = read(name);
    return {std::move(dataset.points), std::move(dataset.triangles.cells)};
  }
};

TEST_F(SurfaceQuality, FertilityHasFourHandles) {
  const TriangleMesh mesh = surface("surf/fertility_igl.off");
  const SurfaceTopology found = surface_topology(mesh);
  EXPECT_TRUE(found.closed() && found.manifold() && found.oriented());
  EXPECT_EQ(found.components.size(), 1U);
  EXPECT_EQ(found.genus(), 4);
  EXPECT_GT(found.volume, 0);
  EXPECT_TRUE(self_intersections(mesh, 2).empty());
}

TEST_F(SurfaceQuality, BunnyHasFiveHoles) {
  const TriangleMesh mesh = surface("surf/bunny_zipper.ply");
  const SurfaceTopology found = surface_topology(mesh);
  EXPECT_TRUE(found.manifold() && found.oriented());
  EXPECT_FALSE(found.closed());
  EXPECT_EQ(found.euler_characteristic(), 2 - 5);
  EXPECT_FALSE(found.genus().has_value());
  EXPECT_TRUE(self_intersections(mesh, 2).empty());
}

}  // namespace TEST_FILE
}  // namespace isochron::test
