#include "bench/page/tract_pictures.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "isochron/mesh_quality.h"

namespace isochron::bench {
namespace TEST_FILE {

SolveOptions checked() {
  SolveOptions options;
  options.verify = Keep::yes;
  options.threads = 1;
  return options;
}

TEST(TractPictures, SurfacesOfPathwaysAreClosedAndReachBothEnds) {
  const Brain brain = phantom_brain(BenchSize::quick, 1);
  for (const Tract& tract : tracts_of(brain)) {
    const FoundTract found = find_tract(brain, tract, 0.25, checked());
    ASSERT_FALSE(found.bad) << *found.bad;
    EXPECT_GE(found.found.pathway_epsilon, 0.25 - 1e-9);
    const TriangleMesh surface = pathway_surface(brain, found.found);
    const SurfaceTopology topology = surface_topology(surface);
    EXPECT_TRUE(topology.closed() && topology.manifold() && topology.oriented());
    EXPECT_GT(topology.volume, 0);
    EXPECT_LT(topology.volume, found.found.pathway_volume) << "between voxels of the pathway and those outside";
    for (const SphereRegion& end : {tract.from, tract.to})
      EXPECT_TRUE(std::any_of(surface.points.begin(), surface.points.end(), [&](const Vec3d& p) {
        return norm(p - end.center) < end.radius;
      })) << tract.name;
  }
}

TEST(TractPictures, AWiderThresholdHasALargerSurface) {
  const Brain brain = phantom_brain(BenchSize::quick, 1);
  const Tract tract = tracts_of(brain).front();
  const auto volume = [&](double epsilon) {
    return surface_topology(pathway_surface(brain, find_tract(brain, tract, epsilon, checked()).found)).volume;
  };
  EXPECT_LT(1.2 * volume(0.2), volume(0.8));
}

TEST(TractPictures, PathwayAndStreamlinesStandApart) {
  const Brain brain = phantom_brain(BenchSize::quick, 1);
  Report report("t", "t", {});
  add_tract_and_streamlines(report, brain, 1, checked());
  EXPECT_TRUE(report.result().sound());
  const std::vector<Picture>& pictures = report.result().pictures;
  ASSERT_EQ(pictures.size(), 2U);
  for (const Picture& picture : pictures) {
    EXPECT_TRUE(picture.caption.find("phantom brain") != std::string::npos) << picture.caption;
    EXPECT_GT(picture.png.size(), 5000U) << "not one colour";
  }
  EXPECT_EQ(pictures[0].legend.entries.size(), 4U);  // ends, pathway, path
  EXPECT_EQ(pictures[1].legend.entries.size(), 2U);
  EXPECT_NE(pictures[0].png, pictures[1].png);
}

TEST(TractPictures, WhatCannotBeDrawnIsAFailure) {
  const Brain brain = phantom_brain(BenchSize::quick, 1);
  Report unchecked("t", "t", {});
  add_tract_and_streamlines(unchecked, brain, 1, {});
  EXPECT_FALSE(unchecked.result().sound());
  EXPECT_TRUE(unchecked.result().pictures.empty());

  Brain other = brain;
  other.name = "another brain";  // no tract of the file is in it
  Report missing("t", "t", {});
  add_tract_and_streamlines(missing, other, 1, checked());
  EXPECT_FALSE(missing.result().sound());
  EXPECT_TRUE(missing.result().pictures.empty());
}

}  // namespace TEST_FILE
}  // namespace isochron::bench
