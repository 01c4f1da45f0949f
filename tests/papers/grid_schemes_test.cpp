// The schemes of paper 004 beside the adaptive one.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "solve/grid_samples.h"

namespace isochron::test {
namespace TEST_FILE {

SolveOptions with_scheme(GridScheme scheme, Method method) {
  SolveOptions options = checked_options();
  options.scheme = scheme;
  options.method = method;
  return options;
}

TEST(GridSchemes, AgreeOnMildAnisotropy) {
  const ImageGrid grid = cube_grid(15), flat = flat_grid(31);
  const SymTensor3d m = fiber_metric(1.5, {1, 0.5, 0.3});
  for (const ImageGrid& image : {grid, flat})
    for (const Metric& metric : {Metric::constant(m), varying(image, m)}) {
      const Arrival adaptive = solved(image, metric, centre_source(image), checked_options());
      for (const SolveOptions& options :
           {with_scheme(GridScheme::godunov, Method::fim), with_scheme(GridScheme::godunov, Method::fsm),
            with_scheme(GridScheme::lax_friedrichs, Method::fsm)}) {
        const Arrival arrival = solved(image, metric, centre_source(image), options);
        EXPECT_EQ(arrival.method, options.method);
        EXPECT_EQ(arrival.reached, image.voxel_count());
        const double allowed = options.scheme == GridScheme::godunov ? 0.06 : 0.2;
        for (std::size_t v = 0; v < image.voxel_count(); ++v)
          ASSERT_NEAR(arrival.times[v], adaptive.times[v], allowed * adaptive.max_time);
      }
    }
}

TEST(GridSchemes, SweepingAndIteratingSolveTheSameEquations) {
  const ImageGrid grid = cube_grid(17);
  const SymTensor3d m = fiber_metric(2, {1, 0.5, 0.3});
  const Arrival fim =
      solved(grid, Metric::constant(m), centre_source(grid), with_scheme(GridScheme::godunov, Method::fim));
  const Arrival fsm =
      solved(grid, Metric::constant(m), centre_source(grid), with_scheme(GridScheme::godunov, Method::fsm));
  for (std::size_t v = 0; v < grid.voxel_count(); ++v) ASSERT_NEAR(fim.times[v], fsm.times[v], 1e-4);
}

TEST(GridSchemes, GodunovIsTheAxisStencilForIsotropicSpeed) {
  const ImageGrid grid = cube_grid(17);
  const Arrival axis = solved(grid, Metric::isotropic(1), centre_source(grid), checked_options());
  const Arrival godunov =
      solved(grid, Metric::isotropic(1), centre_source(grid), with_scheme(GridScheme::godunov, Method::fim));
  for (std::size_t v = 0; v < grid.voxel_count(); ++v) ASSERT_NEAR(axis.times[v], godunov.times[v], 1e-4);
}

TEST(GridSchemes, PlantedTimesFailTheCheckInSpace) {
  const ImageGrid grid = cube_grid(9);
  for (const double ratio : {1.0, 2.0, 5.0})
    for (const SolveOptions& options :
         {with_scheme(GridScheme::godunov, Method::fim), with_scheme(GridScheme::godunov, Method::fsm),
          with_scheme(GridScheme::lax_friedrichs, Method::fsm)})
      expect_planted_times_are_found(grid, ratio, {1, 0.5, 0.3}, options);
}

TEST(GridSchemes, PlantedTimesFailTheCheckInThePlane) {
  const ImageGrid grid = flat_grid(17);
  for (const double ratio : {1.0, 2.0, 10.0})
    for (SolveOptions options :
         {with_scheme(GridScheme::godunov, Method::fim), with_scheme(GridScheme::godunov, Method::fsm),
          with_scheme(GridScheme::lax_friedrichs, Method::fsm)})
      for (const Precision precision : {Precision::single_, Precision::double_}) {
        options.precision = precision;
        expect_planted_times_are_found(grid, ratio, {1, 0.5, 0}, options);
      }
}

TEST(GridSchemes, TakeAsManyRoundsAsALongRowNeeds) {
  ImageGrid row;
  row.shape = {25000, 1, 1};
  const Arrival arrival =
      solved(row, Metric::isotropic(1), voxel_source(VertexId(0)), with_scheme(GridScheme::godunov, Method::fim));
  EXPECT_NEAR(arrival.max_time, 24999, 1);
  EXPECT_GT(arrival.counters.rounds, 20000U);
}

TEST(GridSchemes, StayInTheMask) {
  const ImageGrid grid = cube_grid(11);
  std::vector<std::uint8_t> mask(grid.voxel_count(), 1);
  for (std::uint32_t k = 0; k < 11; ++k)
    for (std::uint32_t j = 0; j < 11; ++j) mask[grid.voxel(5, j, k).index()] = 0;
  for (const SolveOptions& options :
       {with_scheme(GridScheme::godunov, Method::fim), with_scheme(GridScheme::godunov, Method::fsm),
        with_scheme(GridScheme::lax_friedrichs, Method::fsm)}) {
    const Arrival arrival =
        solved(grid, Metric::constant(fiber_metric(3, {1, 0.2, 0})), voxel_source(grid.voxel(2, 5, 5)), options, mask);
    EXPECT_EQ(arrival.reached, 5U * 11 * 11);
  }
}

}  // namespace TEST_FILE
}  // namespace isochron::test
