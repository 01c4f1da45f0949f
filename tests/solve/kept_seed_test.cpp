#include "isochron/solve/grid/kept_seed.h"

#include <gtest/gtest.h>

#include "isochron/error.h"
#include "solve/grid_samples.h"

namespace isochron::test {
namespace TEST_FILE {

TEST(KeptSeed, GainsAsSmallAsRoundingDoNotCount) {
  EXPECT_TRUE(keeps_its_time(2.0, 2.0, 1.0));
  EXPECT_TRUE(keeps_its_time(2.0, 2.0 - 5e-5, 1.0));
  EXPECT_FALSE(keeps_its_time(2.0, 2.0 - 2e-4, 1.0));
  EXPECT_TRUE(keeps_its_time(2.0F, 2.0F - 2e-4F, 4.0F)) << "a share of the step";
  EXPECT_FALSE(keeps_its_time(2.0, 2.0 - 5e-5, 0.1));
}

// A source that the front of another reaches first gets the time of that front, at second order too.
TEST(KeptSeed, ASourceThatIsOvertakenIsSolvedFor) {
  const ImageGrid grid = flat_grid(21);
  const Metric metric = Metric::isotropic(1);
  SolveOptions options = checked_options();
  options.order = 2;
  options.source_init = SourceInit::plain;
  Sources sources = voxel_source(grid.voxel(3, 10, 0));
  sources.vertices.push_back({grid.voxel(13, 10, 0), 11.5});
  const Arrival both = solved(grid, metric, sources, options);
  const Arrival alone = solved(grid, metric, voxel_source(grid.voxel(3, 10, 0)), options);
  for (std::size_t v = 0; v < grid.voxel_count(); ++v) ASSERT_NEAR(both.times[v], alone.times[v], 1e-9);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
