// The real volumes, where they are there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "isochron/io.h"
#include "isochron/surface/field/frame.h"
#include "isochron/surface/field/isosurface.h"
#include "isochron/surface/field/multi_label.h"
#include "isochron/surface/field/sizing.h"
#include "support/data_folder.h"

namespace isochron {
namespace TEST_FILE {

class RealVolumes : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = test::data_folder();
    if (!folder_) GTEST_SKIP() << "no ISOCHRON_DATA and no ../shared/data";
  }
  template <class T>
  std::vector<T> read(const std::string& name, ImageGrid& grid) const {
    const Image image = read_image(*folder_ / "vol" / name);
    grid = image.grid;
    std::vector<T> values;
    std::visit([&](const auto& data) { values.assign(data.begin(), data.end()); }, image.data.all()[0].values);
    return values;
  }

 private:
  std::optional<std::filesystem::path> folder_;
};

// Distances near the surface that are those to it.
double share_of_unit_slopes(const ImplicitSurface& surface, const TriangleMesh& mesh) {
  const SplineField field(surface.lattice, surface.distance, 2);
  std::size_t good = 0;
  for (const Vec3d& p : mesh.points) good += std::abs(norm(field.view().slope(p).gradient) - 1) < 0.1 ? 1 : 0;
  return static_cast<double>(good) / static_cast<double>(mesh.vertex_count());
}

TEST_F(RealVolumes, HeartMask) {
  ImageGrid grid;
  const auto labels = read<std::int32_t>("heart_mask_233x167x191.nii.gz", grid);
  const ImplicitSurface surface = from_labels(grid, labels, {1});
  ASSERT_EQ(surface.notes.size(), 1U);
  EXPECT_THAT(surface.notes[0], ::testing::HasSubstr("2 x 2 x 2"));
  const TriangleMesh mesh = marching_tetrahedra(surface.lattice, surface.distance);
  double volume = 0;
  for (const auto& [a, b, c] : mesh.elements) volume += dot(mesh.point(a), cross(mesh.point(b), mesh.point(c))) / 6;
  const auto voxels = static_cast<double>(std::count(labels.begin(), labels.end(), 1));
  const double exact = voxels * grid.spacing(0) * grid.spacing(1) * grid.spacing(2);
  EXPECT_NEAR(volume / exact, 1, 0.01);
  EXPECT_GT(share_of_unit_slopes(surface, mesh), 0.9);
  const SizeField size = sizes(SplineField(surface.lattice, surface.distance), surface);
  EXPECT_GT(particle_estimate(mesh, size), 1000);
  EXPECT_LT(particle_estimate(mesh, size), 10000);
}

TEST_F(RealVolumes, SlowEngineAtItsMetal) {
  ImageGrid grid;
  const auto values = read<float>("engine_256x256x128.nii.gz", grid);
  FieldOptions options;
  options.reach = 4;
  const ImplicitSurface surface = from_isovalue(grid, values, 100, options);
  const TriangleMesh mesh = marching_tetrahedra(surface.lattice, surface.distance);
  EXPECT_GT(share_of_unit_slopes(surface, mesh), 0.9);
  // The surface is where the image's spline has the isovalue, except where it is closed at the border.
  Lattice lattice;
  for (int a = 0; a < 3; ++a) {
    lattice.shape[a] = static_cast<int>(grid.shape[a]);
    lattice.spacing[a] = grid.spacing(a);
  }
  const SplineField image(lattice, values, 2);
  const LatticeFrame frame = frame_of(grid, "the image");
  std::vector<double> off;
  for (const Vec3d& point : mesh.points) {
    const Vec3d p = frame.to_lattice(surface.frame.to_world(point));
    bool inside = true;
    for (int a = 0; a < 3; ++a) inside = inside && p[a] > 0 && p[a] < (lattice.shape[a] - 1) * lattice.spacing[a];
    if (!inside) continue;
    const Jet<double> jet = image.view().slope(p);
    off.push_back(std::abs(jet.value - 100) / norm(jet.gradient) / lattice.smallest_spacing());
  }
  std::sort(off.begin(), off.end());
  EXPECT_LT(off[off.size() * 95 / 100], 0.05);
}

TEST_F(RealVolumes, FortyTwoLabels) {
  ImageGrid grid;
  const auto labels = read<std::int32_t>("labels_122x101x30.nii.gz", grid);
  const MultiLabelField field(grid, labels);
  EXPECT_EQ(field.labels().size(), 42U);
  EXPECT_LT(field.bytes(), 10 * field.lattice().point_count() * sizeof(float));
  std::size_t wrong = 0;
  for (std::size_t v = 0; v < labels.size(); ++v)
    wrong += field.label_at(field.frame().to_lattice(grid.position(VertexId(v)))) != labels[v] ? 1 : 0;
  EXPECT_EQ(wrong, 0U);
}

}  // namespace TEST_FILE
}  // namespace isochron
