#include "bench/paper/brain.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "bench/paper/cases.h"
#include "isochron/connect.h"
#include "isochron/core/random.h"
#include "isochron/error.h"
#include "isochron/image.h"
#include "isochron/io.h"

namespace isochron::bench {
namespace {

DiffusionMetric metric_of(const std::vector<SymTensor3d>& tensors, std::span<const std::uint8_t> mask, int threads) {
  DiffusionMetricOptions options;
  options.threads = threads;
  return diffusion_metric(tensors, mask, options);
}

/// Where the voxels of a .npy file are: the array does not say.
ImageGrid with_affine(ImageGrid grid, const std::filesystem::path& path) {
  const Image matrix = read_image(path);
  const DataArray& values = matrix.data.all().front();
  if (matrix.grid.shape != std::array<std::uint32_t, 3>{4, 4, 1} || values.components != 1)
    throw InputError(fmt::format("{}: not a 4 x 4 array; give the matrix from voxels to the world", path.string()));
  const auto column = [&](std::uint32_t j) {
    const auto at = [&](std::uint32_t i) { return values.at(matrix.grid.voxel(i, j, 0).index()); };
    return Vec3d{at(0), at(1), at(2)};
  };
  grid.axes = {column(0), column(1), column(2)};
  grid.origin = column(3);
  return grid;
}

// ---- the phantom; positions are shares of the box's half sides

/// Semi-axes of the head, and of the ventricles beside the middle.
constexpr Vec3d head{0.70, 0.78, 0.80};
constexpr Vec3d ventricle_axes{0.07, 0.30, 0.16};
constexpr double ventricle_aside = 0.13;
constexpr double cortex = 0.85;  ///< of the head's radius, from here on outwards

double radius_in(const Vec3d& p, const Vec3d& semi_axes) {
  return norm(Vec3d{p.x / semi_axes.x, p.y / semi_axes.y, p.z / semi_axes.z});
}

bool in_head(const Vec3d& p) {
  return radius_in(p, head) <= 1 && radius_in({std::abs(p.x) - ventricle_aside, p.y, p.z}, ventricle_axes) > 1;
}

/// The fibres: arches over the ventricles from half to half in the middle part, else bundles from front to back that
/// follow the surface.
Vec3d fiber_at(const Vec3d& p) {
  const bool arch = std::abs(p.y) < 0.45 && p.z > -0.25;
  return arch ? Vec3d{p.z + 0.35, 0, -p.x} : Vec3d{-p.y * std::copysign(0.4, p.x), 1, -0.5 * p.y * p.z};
}

SymTensor3d noisy_tensor(const Vec3d& p, Random& random) {
  const Vec3d noise{random.normal(), random.normal(), random.normal()};
  const bool inside = radius_in(p, head) < cortex;
  const Vec3d fiber = fiber_at(p);
  Vec3d along = inside ? fiber / norm(fiber) + 0.15 * noise : noise;
  along = along / norm(along);
  const double across = inside ? 0.35e-3 : 0.75e-3, more = inside ? 1.2e-3 : 0.15e-3;
  return SymTensor3d::identity(across * random.uniform(0.9, 1.1)) +
         SymTensor3d::outer(along, more * random.uniform(0.6, 1.2));
}

}  // namespace

std::optional<Brain> brain_in(const std::filesystem::path& folder, int threads) {
  for (const char* extension : {".nii.gz", ".nii", ".npy"}) {
    const auto named = [&](const char* name) { return folder / (std::string(name) + extension); };
    if (!std::filesystem::exists(named("tensor_mrtrix")) || !std::filesystem::exists(named("mask"))) continue;
    const Image image = read_image(named("tensor_mrtrix"));
    const auto mask = mask_of(read_image(named("mask")), image.grid, named("mask").string());
    Brain brain;
    brain.name = Brain::real_name;
    brain.grid = extension == std::string_view(".npy") ? with_affine(image.grid, folder / "affine.npy") : image.grid;
    brain.tensors = world_tensors(image.data.all().front(), TensorOrder::mrtrix, brain.grid, TensorFrame::world,
                                  named("tensor_mrtrix").string());
    brain.metric = metric_of(brain.tensors, mask, threads);
    brain.left = {-24, -37, -21};  // beside the ventricles, joined by the splenium
    brain.right = {24, -24, -18};
    brain.radius = 4;
    return brain;
  }
  return std::nullopt;
}

std::optional<Brain> real_brain(int threads) { return brain_in(data_folder() / "dti", threads); }

std::string missing_brain() {
  return fmt::format("dti/tensor_mrtrix and dti/mask (.nii.gz, .nii or .npy) are not in {}: set ISOCHRON_DATA",
                     data_folder().string());
}

VertexId white_matter_middle(const Brain& brain) {
  constexpr double white_matter = 0.25;  // of fractional anisotropy, from here on upwards
  std::vector<VertexId> voxels;
  Vec3d mean;
  for (std::size_t v = 0; v < brain.tensors.size(); ++v) {
    if (brain.metric.usable[v] == 0 || !(fractional_anisotropy(brain.tensors[v]) >= white_matter)) continue;
    voxels.push_back(VertexId(v));
    mean += brain.grid.position(VertexId(v));
  }
  if (voxels.empty())
    throw InputError(
        fmt::format("no voxel of the {} has an anisotropy of {} or more; give another image in ISOCHRON_DATA",
                    brain.name, white_matter));
  mean = mean / static_cast<double>(voxels.size());
  const auto far = [&](VertexId v) { return norm(brain.grid.position(v) - mean); };
  return *std::min_element(voxels.begin(), voxels.end(), [&](VertexId a, VertexId b) { return far(a) < far(b); });
}

GridModel brain_model(const Brain& brain) {
  return {brain.grid, brain.metric.metric, brain.metric.usable, brain.metric.counts.usable, white_matter_middle(brain)};
}

Brain phantom_brain(BenchSize size, int threads) {
  const std::array<std::uint32_t, 3> shape =
      size == BenchSize::paper ? std::array<std::uint32_t, 3>{82, 82, 48} : std::array<std::uint32_t, 3>{28, 28, 18};
  const double voxel = 2.7 * 82 / shape[0];
  Brain brain;
  brain.name = "phantom brain";
  const Vec3d half{0.5 * voxel * shape[0], 0.5 * voxel * shape[1], 0.5 * voxel * shape[2]};
  brain.grid = {shape, 0.5 * Vec3d{voxel, voxel, voxel} - half, {{{voxel, 0, 0}, {0, voxel, 0}, {0, 0, voxel}}}};
  std::vector<std::uint8_t> mask;
  Random random(4);
  for (std::size_t v = 0; v < brain.grid.voxel_count(); ++v) {
    const Vec3d at = brain.grid.position(VertexId(v));
    const Vec3d p{at.x / half.x, at.y / half.y, at.z / half.z};
    mask.push_back(in_head(p) ? 1 : 0);
    brain.tensors.push_back(noisy_tensor(p, random));
  }
  brain.metric = metric_of(brain.tensors, mask, threads);
  brain.left = {-0.4 * half.x, 0.15 * half.y, 0};
  brain.right = {0.4 * half.x, -0.1 * half.y, 0};
  brain.radius = 1.5 * voxel;
  return brain;
}

Brain real_or_phantom_brain(BenchSize size, int threads) {
  std::optional<Brain> real = real_brain(threads);
  return real ? std::move(*real) : phantom_brain(size, threads);
}

std::vector<ConnectQuery> dragged_queries(const Brain& brain, std::size_t count) {
  const auto region = [&](const Vec3d& at, const char* name) {
    return inside_mask(make_region({name, SphereRegion{at, brain.radius}}, brain.grid, {}), brain.grid,
                       brain.metric.usable);
  };
  const double voxel = brain.grid.spacing(0), turn = std::numbers::pi / 6;
  std::vector<ConnectQuery> queries(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double angle = turn * static_cast<double>(i);  // half a voxel from one to the next
    queries[i].from = region(brain.left + voxel * Vec3d{std::cos(angle), std::sin(angle), 0}, "left");
    queries[i].to = region(brain.right, "right");
  }
  return queries;
}

std::vector<LabelledRegion> brain_parcels(const Brain& brain, std::size_t count, const SolveOptions& options) {
  Image labels{brain.grid, {}, {}, {}};
  labels.data.set({"parcel", 1, make_parcels(brain.grid, brain.metric.usable, count, options)});
  return all_labels(labels, brain.grid, "parcels");
}

}  // namespace isochron::bench
