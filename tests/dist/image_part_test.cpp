#include "isochron/parts.h"

#include <gtest/gtest.h>

#include "isochron/communicator.h"
#include "isochron/core/random.h"

namespace isochron::test {
namespace TEST_FILE {

ImageGrid grid_of(std::uint32_t i, std::uint32_t j, std::uint32_t k) {
  ImageGrid grid;
  grid.shape = {i, j, k};
  grid.origin = {1, 2, 3};
  grid.axes = {Vec3d{0.5, 0, 0}, Vec3d{0.1, 1, 0}, Vec3d{0, 0, 2}};
  return grid;
}

double value_at(const LatticeIndex& at) {
  return static_cast<double>(at[0]) + 100 * static_cast<double>(at[1]) + 10000 * static_cast<double>(at[2]);
}

DataArrays values_on(const IndexBox& box) {
  std::vector<double> first;
  std::vector<std::int32_t> pairs;
  for_each_index(box, [&](const LatticeIndex& at) {
    first.push_back(value_at(at));
    pairs.insert(pairs.end(), {static_cast<std::int32_t>(at[0]), static_cast<std::int32_t>(at[2])});
  });
  DataArrays data;
  data.set({"value", 1, std::move(first)});
  data.set({"pair of indices", 2, std::move(pairs)});
  return data;
}

TEST(ShareBoxes, CoverTheImageOnce) {
  for (const ImageGrid& grid : {grid_of(7, 6, 5), grid_of(9, 4, 1), grid_of(1, 1, 6), grid_of(2, 2, 2)})
    for (const std::size_t processes : {1U, 2U, 3U, 5U, 16U, 70U}) {
      const std::vector<IndexBox> boxes = partition_boxes(grid, processes);
      ASSERT_EQ(boxes.size(), processes);
      std::vector<int> times(grid.voxel_count(), 0);
      bool empty_before = false;
      for (const IndexBox& box : boxes) {
        EXPECT_FALSE(empty_before && !box.empty());
        empty_before = box.empty();
        EXPECT_TRUE(box.empty() || grid.flat() || box.length(2) >= 2);
        for_each_index(box, [&](const LatticeIndex& at) { ++times[whole_box(grid).offset(at)]; });
      }
      EXPECT_TRUE(std::all_of(times.begin(), times.end(), [](int n) { return n == 1; }));
    }
}

TEST(ShareImage, GivesEachProcessItsBox) {
  Image whole;
  whole.grid = grid_of(7, 6, 5);
  whole.tensor_order = TensorOrder::vtk;
  whole.data = values_on(whole_box(whole.grid));
  run_on_threads(4, [&](Communicator& communicator) {
    const ImagePart share = scatter_image(communicator, communicator.index() == 0 ? Image(whole) : Image());
    const IndexBox& box = share.boxes[communicator.index()];
    EXPECT_EQ(share.whole, whole.grid);
    EXPECT_EQ(share.image.tensor_order, TensorOrder::vtk);
    ASSERT_EQ(share.image.data.names(), (std::vector<std::string>{"value", "pair of indices"}));
    for_each_index(box, [&](const LatticeIndex& at) {
      const auto voxel = static_cast<std::size_t>(box.offset(at));
      EXPECT_EQ(share.image.data.all()[0].at(voxel), value_at(at));
      EXPECT_EQ(share.image.data.all()[1].at(voxel, 1), static_cast<double>(at[2]));
      const Vec3d there = whole.grid.position(VertexId(static_cast<std::size_t>(whole_box(whole.grid).offset(at))));
      EXPECT_NEAR(norm(share.image.grid.position(VertexId(voxel)) - there), 0, 1e-12);
    });
  });
}

TEST(MoveBoxes, TellsWhatIsMissingAndTakesTheLast) {
  const IndexBox whole{{}, {4, 3, 2}};
  run_on_threads(3, [&](Communicator& communicator) {
    // The first rank has nothing, the others overlap, and nobody has the last column.
    std::vector<BoxData> own;
    if (communicator.index() > 0) {
      const IndexBox box{{}, {communicator.index() == 1 ? 3U : 2U, 3, 2}};
      own.push_back({box, values_on(box)});
      if (communicator.index() == 2) std::get<std::vector<double>>(own[0].data.all()[0].values)[0] = -1;
    }
    const std::vector<IndexBox> wanted{whole, {}, whole};
    const MovedBoxes moved = move_boxes(communicator, std::move(own), wanted, values_on({}));
    EXPECT_EQ(moved.missing, communicator.index() == 1 ? 0U : 6U);
    if (communicator.index() == 1) return;
    EXPECT_EQ(moved.data.all()[0].at(0), -1);
    EXPECT_EQ(moved.data.all()[0].at(2), 2);
    EXPECT_EQ(moved.data.all()[0].at(3), 0);
  });
}

}  // namespace TEST_FILE
}  // namespace isochron::test
