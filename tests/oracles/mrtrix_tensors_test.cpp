// The tensor fit on a real brain, against the one that MRtrix made of the same images.
#include <numbers>

#include "isochron/diffusion.h"
#include "isochron/io.h"
#include "isochron/io/tables.h"
#include "oracles/real_data.h"

namespace isochron::test {
namespace TEST_FILE {

class MrtrixTensors : public RealData {};

TEST_F(MrtrixTensors, DirectionsAndAnisotropyAgree) {
  const Image dwi = read_image(path_of("dti/dwi.nii.gz"));
  const Image stored = read_image(path_of("dti/tensor_mrtrix.nii.gz"));
  const Image brain = read_image(path_of("dti/mask.nii.gz"));
  ASSERT_TRUE(same_voxels(dwi.grid, stored.grid));
  ASSERT_TRUE(same_voxels(dwi.grid, brain.grid));
  const auto theirs =
      world_tensors(stored.data.all()[0], TensorOrder::mrtrix, stored.grid, TensorFrame::world, "tensors");
  std::vector<std::uint8_t> mask(theirs.size());
  for (std::size_t i = 0; i < mask.size(); ++i)
    mask[i] = brain.data.all()[0].at(i) > 0 && !(theirs[i] == SymTensor3d{}) ? 1 : 0;
  const auto gradients = world_gradients(read_gradients(path_of("dti/dwi.bval"), path_of("dti/dwi.bvec")), dwi.grid);
  EXPECT_FALSE(gradients.scaled);
  const TensorFit fit = fit_tensors(dwi.data.all()[0], gradients, mask, {.threads = 2});
  EXPECT_GT(fit.counts.fitted, 70000U);

  std::vector<double> angle, angle_in_fibres, anisotropy;
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if (mask[i] == 0) continue;
    const double cosine = std::abs(dot(principal_direction(fit.tensor[i]), principal_direction(theirs[i])));
    const double fa = fractional_anisotropy(theirs[i]);
    angle.push_back(std::acos(std::min(1.0, cosine)) * 180 / std::numbers::pi);
    if (fa > 0.3) angle_in_fibres.push_back(angle.back());
    anisotropy.push_back(std::abs(fractional_anisotropy(fit.tensor[i]) - fa));
  }
  for (auto* values : {&angle, &angle_in_fibres, &anisotropy}) std::sort(values->begin(), values->end());
  RecordProperty("median_angle", std::to_string(percentile(angle, 0.5)));
  RecordProperty("median_angle_in_fibres", std::to_string(percentile(angle_in_fibres, 0.5)));
  RecordProperty("median_anisotropy_difference", std::to_string(percentile(anisotropy, 0.5)));
  EXPECT_LT(percentile(angle, 0.5), 1);
  EXPECT_LT(percentile(angle_in_fibres, 0.5), 1);
  EXPECT_LT(percentile(anisotropy, 0.5), 0.01);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
