#include <gtest/gtest.h>

#include <cstdint>

#include "isochron/error.h"
#include "isochron/generate.h"
#include "isochron/parts.h"

namespace isochron {
namespace TEST_FILE {

/// Boxes of parts cover the image once, and their values are those of the image, bit by bit.
template <class Options, class Generate, class GeneratePart>
void expect_parts(const Options& options, Generate&& generate, GeneratePart&& generate_part) {
  const Image whole = generate(options);
  for (const std::uint32_t parts : {1U, 2U, 3U, 7U, 12U}) {
    std::size_t covered = 0;
    for (std::uint32_t part = 0; part < parts; ++part) {
      const ImagePart share = generate_part(options, PartChoice{part, parts});
      EXPECT_EQ(share.whole, whole.grid);
      EXPECT_EQ(share.boxes, partition_boxes(whole.grid, parts));
      const IndexBox& box = share.boxes[part];
      EXPECT_EQ(share.image.grid, grid_of_box(whole.grid, box));
      EXPECT_EQ(share.image.data.names(), whole.data.names());
      EXPECT_EQ(share.image.tensor_order, whole.tensor_order);
      covered += box.count();
      for (std::size_t a = 0; a < whole.data.all().size(); ++a) {
        const DataArray& own = share.image.data.all()[a];
        DataArray expected = own;
        std::visit(
            [&](auto& values) {
              using Values = std::decay_t<decltype(values)>;
              copy_region(std::get<Values>(whole.data.all()[a].values).data(), whole_box(whole.grid), values.data(),
                          box, box, static_cast<std::size_t>(own.components));
            },
            expected.values);
        EXPECT_EQ(own.tuple_count(), box.count());
        EXPECT_EQ(own.values, expected.values) << own.name << " of part " << part << " of " << parts;
      }
    }
    EXPECT_EQ(covered, whole.grid.voxel_count());
  }
}

TEST(ImagePart, IsTheSerialImageCut) {
  const ImageSize size{{9, 8, 5}, 0.7};
  expect_parts(DiagonalTensorsOptions{.size = size}, generate_diagonal_tensors, generate_diagonal_tensors_part);
  expect_parts(HelixTensorsOptions{.size = {{13, 12, 11}, 0.3}}, generate_helix_tensors, generate_helix_tensors_part);
  expect_parts(CrossingFibersOptions{.size = size, .noise = 0.1, .seed = 5}, generate_crossing_fibers,
               generate_crossing_fibers_part);
  expect_parts(PhantomOptions{.size = size}, generate_phantom, generate_phantom_part);
  expect_parts(LayersOptions{.n = {23, 11}}, generate_layers, generate_layers_part);
  expect_parts(SaltOptions{.n = {17, 19}}, generate_salt, generate_salt_part);
}

TEST(ImagePart, ImagesSmallerThanTheNumberOfPartsHaveEmptyOnes) {
  expect_parts(PhantomOptions{.size = {{2, 2, 2}, 1}}, generate_phantom, generate_phantom_part);
  expect_parts(LayersOptions{.n = {2, 2}}, generate_layers, generate_layers_part);
}

TEST(ImagePart, RefusesPartsThatAreNone) {
  EXPECT_THROW((void)generate_phantom_part({}, PartChoice{3, 3}), UsageError);
  EXPECT_THROW((void)generate_layers_part({}, PartChoice{0, 0}), UsageError);
}

}  // namespace TEST_FILE
}  // namespace isochron
