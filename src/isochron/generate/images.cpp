#include "isochron/generate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "isochron/core/random.h"
#include "isochron/error.h"
#include "isochron/generate/check.h"
#include "isochron/parts.h"
#include "isochron/types.h"

namespace isochron {
namespace {

void set_tensors(Image& image, std::string name, const std::vector<SymTensor3d>& tensors) {
  std::vector<float> values;
  values.reserve(6 * tensors.size());
  for (const SymTensor3d& t : tensors)
    for (const double value : {t.xx, t.xy, t.xz, t.yy, t.yz, t.zz}) values.push_back(static_cast<float>(value));
  image.data.set({std::move(name), 6, std::move(values)});
  image.tensor_order = TensorOrder::row;
}

/// The tensor with one eigenvalue along a unit direction and the other across it.
SymTensor3d along_direction(const Vec3d& direction, double along, double across) {
  return SymTensor3d::identity(across) + SymTensor3d::outer(direction, along - across);
}

double length_along(const ImageSize& size, std::size_t axis) { return (size.n[axis] - 1.0) * size.spacing; }

/// The smaller side across z.
double width(const ImageSize& size) { return std::min(length_along(size, 0), length_along(size, 1)); }

double helix_angle(const HelixTensorsOptions& options, double t) { return 2 * std::numbers::pi * options.turns * t; }

/// The place on the centre line nearest to p, when it is inside the tube.
std::optional<double> place_in_tube(const HelixTensorsOptions& options, const Vec3d& p) {
  const double tube = helix_tube_radius(options);
  const double height = length_along(options.size, 2);
  // Only places at about the same height can be near enough.
  const double low = std::clamp((p.z - tube) / height, 0.0, 1.0), high = std::clamp((p.z + tube) / height, 0.0, 1.0);
  const auto distance = [&](double t) { return norm(p - helix_point(options, t)); };
  const int samples = 8 + static_cast<int>(std::min(64 * options.turns * (high - low), 1e6));
  double step = (high - low) / samples, best = low, least = distance(low);
  const auto try_place = [&](double t) {
    if (!(t >= 0 && t <= 1)) return;
    if (const double d = distance(t); d < least) {
      least = d;
      best = t;
    }
  };
  for (int i = 1; i <= samples; ++i) try_place(low + i * step);
  for (; step > 1e-9; step /= 2) {
    try_place(best - step);
    try_place(best + step);
  }
  if (least > tube) return std::nullopt;
  return best;
}

/// The same for a voxel in whichever part it is made: its numbers are those that come after all voxels before it.
void add_noise(const CrossingFibersOptions& options, VertexId voxel, SymTensor3d& t) {
  constexpr std::uint64_t draws = 12;  // two for each of six normal numbers
  Random random(options.seed);
  random.skip(draws * voxel.index());
  for (double* component : {&t.xx, &t.xy, &t.xz, &t.yy, &t.yz, &t.zz})
    *component += options.noise * options.along * random.normal();
}

void check(const HelixTensorsOptions& options) {
  require_positive("helix radius", options.radius);
  require_positive("tube radius", options.tube);
  require_positive("number of turns", options.turns);
  require_positive("eigenvalue along the helix", options.along);
  require_positive("eigenvalue across the helix", options.across);
  if (options.radius + options.tube > 0.5)
    throw UsageError(
        fmt::format("the helix does not fit the box (radius {} and tube {} are shares of a side, together "
                    "at most 0.5); make one smaller",
                    options.radius, options.tube));
  if (options.size.n[2] < 2) throw UsageError("a helix cannot be flat; choose at least 2 slices");
}

}  // namespace

ImageGrid image_grid(const ImageSize& size) {
  require_positive("spacing", size.spacing);
  const double voxels = static_cast<double>(size.n[0]) * size.n[1] * size.n[2];
  if (size.n[0] < 2 || size.n[1] < 2 || size.n[2] < 1 || voxels >= VertexId::invalid_value)
    throw UsageError(fmt::format("an image cannot have {} x {} x {} voxels; choose at least 2 x 2 x 1 and below 2^32",
                                 size.n[0], size.n[1], size.n[2]));
  ImageGrid grid;
  grid.shape = size.n;
  grid.axes = {Vec3d{size.spacing, 0, 0}, Vec3d{0, size.spacing, 0}, Vec3d{0, 0, size.spacing}};
  return grid;
}

Image generate_diagonal_tensors(const DiagonalTensorsOptions& options) {
  return generate_diagonal_tensors_part(options, {}).image;
}

ImagePart generate_diagonal_tensors_part(const DiagonalTensorsOptions& options, const PartChoice& choice) {
  const double c = options.coupling;
  if (!(c > -0.5 && c < 1))
    throw UsageError(
        fmt::format("the coupling {} gives no positive definite tensor; choose one between -0.5 and 1", c));
  ImagePart part = empty_image_part(image_grid(options.size), choice);
  const std::size_t voxels = part.image.grid.voxel_count();
  set_tensors(part.image, "velocity_tensor", std::vector<SymTensor3d>(voxels, {1, c, c, 1, c, 1}));
  return part;
}

double helix_tube_radius(const HelixTensorsOptions& options) { return options.tube * width(options.size); }

Vec3d helix_point(const HelixTensorsOptions& options, double t) {
  const double radius = options.radius * width(options.size);
  const double angle = helix_angle(options, t);
  return {0.5 * length_along(options.size, 0) + radius * std::cos(angle),
          0.5 * length_along(options.size, 1) + radius * std::sin(angle), t * length_along(options.size, 2)};
}

Vec3d helix_tangent(const HelixTensorsOptions& options, double t) {
  const double radius = options.radius * width(options.size);
  const double angle = helix_angle(options, t), speed = helix_angle(options, 1);
  const Vec3d d{-radius * speed * std::sin(angle), radius * speed * std::cos(angle), length_along(options.size, 2)};
  return d / norm(d);
}

Image generate_helix_tensors(const HelixTensorsOptions& options) {
  return generate_helix_tensors_part(options, {}).image;
}

ImagePart generate_helix_tensors_part(const HelixTensorsOptions& options, const PartChoice& choice) {
  check(options);
  const ImageGrid grid = image_grid(options.size);
  ImagePart part = empty_image_part(grid, choice);
  std::vector<SymTensor3d> tensors(part.image.grid.voxel_count(), SymTensor3d::identity(options.across));
  const double tube = helix_tube_radius(options), radius = options.radius * width(options.size);
  const Vec3d middle = 0.5 * grid.position(VertexId(grid.voxel_count() - 1));
  for_own_voxels(part, choice, [&](std::size_t v, std::uint32_t i, std::uint32_t j, std::uint32_t k) {
    const Vec3d p = grid.position(grid.voxel(i, j, k));
    const double from_axis = std::hypot(p.x - middle.x, p.y - middle.y);
    if (std::abs(from_axis - radius) > tube) return;
    if (const auto t = place_in_tube(options, p))
      tensors[v] = along_direction(helix_tangent(options, *t), options.along, options.across);
  });
  set_tensors(part.image, "velocity_tensor", tensors);
  return part;
}

Image generate_crossing_fibers(const CrossingFibersOptions& options) {
  return generate_crossing_fibers_part(options, {}).image;
}

ImagePart generate_crossing_fibers_part(const CrossingFibersOptions& options, const PartChoice& choice) {
  require_positive("diffusivity along", options.along);
  require_positive("diffusivity across", options.across);
  require_positive("diffusivity of the background", options.background);
  require_positive("bundle radius", options.radius);
  if (!(options.noise >= 0 && options.noise < 1))
    throw UsageError(fmt::format("the noise {} cannot be used (it is a share); choose 0 to below 1", options.noise));
  if (!(options.angle > 0 && options.angle <= 90))
    throw UsageError(fmt::format("bundles cannot cross at {} degrees; choose above 0 and up to 90", options.angle));
  const ImageGrid grid = image_grid(options.size);
  const double radius = options.radius * width(options.size);
  const Vec3d middle = 0.5 * grid.position(VertexId(grid.voxel_count() - 1));
  const double half = options.angle * std::numbers::pi / 360;
  const std::array<Vec3d, 2> direction{Vec3d{std::cos(half), std::sin(half), 0},
                                       Vec3d{std::cos(half), -std::sin(half), 0}};
  ImagePart part = empty_image_part(grid, choice);
  std::vector<SymTensor3d> tensors(part.image.grid.voxel_count());
  std::vector<std::uint8_t> mask(tensors.size(), 0);
  std::vector<float> fa(tensors.size());
  for_own_voxels(part, choice, [&](std::size_t v, std::uint32_t i, std::uint32_t j, std::uint32_t k) {
    const VertexId voxel = grid.voxel(i, j, k);
    const Vec3d p = grid.position(voxel) - middle;
    SymTensor3d sum;
    int bundles = 0;
    for (const Vec3d& d : direction)
      if (norm(cross(p, d)) <= radius) {
        sum = sum + along_direction(d, options.along, options.across);
        ++bundles;
      }
    SymTensor3d& t = tensors[v];
    t = bundles > 0 ? (1.0 / bundles) * sum : SymTensor3d::identity(options.background);
    if (options.noise > 0) add_noise(options, voxel, t);
    mask[v] = bundles > 0 ? 1 : 0;
    fa[v] = static_cast<float>(fractional_anisotropy(t));
  });
  set_tensors(part.image, "tensor", tensors);
  part.image.data.set({"mask", 1, std::move(mask)});
  part.image.data.set({"fa", 1, std::move(fa)});
  return part;
}

namespace {

/// A few waves with random phases over a period of 1, between −1 and 1.
class RandomWave {
 public:
  RandomWave(Random& random, int first_frequency) : first_frequency_(first_frequency) {
    for (std::size_t m = 0; m < waves; ++m) {
      amplitude_[m] = random.uniform(0.2, 1);
      phase_[m] = 2 * std::numbers::pi * random.uniform();
      sum_ += amplitude_[m];
    }
  }
  [[nodiscard]] double operator()(double x) const {
    double value = 0;
    for (std::size_t m = 0; m < waves; ++m)
      value +=
          amplitude_[m] * std::sin(2 * std::numbers::pi * (first_frequency_ + static_cast<double>(m)) * x + phase_[m]);
    return value / sum_;
  }

 private:
  static constexpr std::size_t waves = 3;
  std::array<double, waves> amplitude_{}, phase_{};
  double sum_ = 0;
  int first_frequency_;
};

void require_below_one(std::string_view name, double value) {
  if (!(value >= 0 && value < 1))
    throw UsageError(fmt::format("the {} cannot be {} (it is a share); choose 0 to below 1", name, value));
}

void check_speeds(double top, double bottom) {
  require_positive("speed on top", top);
  require_positive("speed at the bottom", bottom);
}

/// An image whose pixels get a speed and a label: `value(x, depth)`, both from 0 to 1 over the image, gives the pair.
template <class Value>
ImagePart flat_model(const std::array<std::uint32_t, 2>& n, double spacing, const PartChoice& choice, std::string label,
                     Value&& value) {
  ImagePart part = empty_image_part(image_grid({{n[0], n[1], 1}, spacing}), choice);
  std::vector<float> speed;
  std::vector<std::uint8_t> labels;
  for_own_voxels(part, choice, [&](std::size_t, std::uint32_t i, std::uint32_t j, std::uint32_t) {
    const auto [f, what] = value(i / (n[0] - 1.0), j / (n[1] - 1.0));
    speed.push_back(static_cast<float>(f));
    labels.push_back(what);
  });
  part.image.data.set({"speed", 1, std::move(speed)});
  part.image.data.set({std::move(label), 1, std::move(labels)});
  return part;
}

struct SpeedAndLabel {
  double speed;
  std::uint8_t label;
};

}  // namespace

Image generate_layers(const LayersOptions& options) { return generate_layers_part(options, {}).image; }

ImagePart generate_layers_part(const LayersOptions& options, const PartChoice& choice) {
  check_speeds(options.speed_top, options.speed_bottom);
  require_below_one("relief", options.relief);
  if (options.layers < 1 || options.layers > 255)
    throw UsageError(fmt::format("a model cannot have {} layers; choose 1 to 255", options.layers));
  Random random(options.seed);
  std::vector<RandomWave> interface;
  for (std::uint32_t k = 1; k < options.layers; ++k) interface.emplace_back(random, 1);
  const double step = options.layers > 1 ? (options.speed_bottom - options.speed_top) / (options.layers - 1.0) : 0;
  return flat_model(options.n, options.spacing, choice, "layer", [&](double x, double depth) {
    std::uint8_t layer = 0;
    while (layer < interface.size() && depth * options.layers >= layer + 1 + 0.5 * options.relief * interface[layer](x))
      ++layer;
    return SpeedAndLabel{options.speed_top + step * layer, layer};
  });
}

Image generate_salt(const SaltOptions& options) { return generate_salt_part(options, {}).image; }

ImagePart generate_salt_part(const SaltOptions& options, const PartChoice& choice) {
  check_speeds(options.speed_top, options.speed_bottom);
  require_positive("speed of the salt", options.speed_salt);
  require_positive("radius of the salt", options.radius);
  require_below_one("roughness", options.roughness);
  Random random(options.seed);
  const RandomWave outline(random, 2);
  const double aspect = (options.n[0] - 1.0) / std::max(1.0, options.n[1] - 1.0);
  return flat_model(options.n, options.spacing, choice, "salt", [&](double x, double depth) {
    const double across = (x - 0.5) * aspect, down = depth - 0.5;
    const double angle = std::atan2(down, across) / (2 * std::numbers::pi);
    const bool inside = std::hypot(across, down) <= options.radius * (1 + options.roughness * outline(angle));
    const double around = options.speed_top + depth * (options.speed_bottom - options.speed_top);
    return SpeedAndLabel{inside ? options.speed_salt : around, static_cast<std::uint8_t>(inside ? 1 : 0)};
  });
}

namespace {

constexpr double elongation = 1.4;

/// About how far p is from an ellipsoid around the origin, negative inside: exact to first order at its surface.
double ellipsoid_distance(const Vec3d& p, double across, double along) {
  const Vec3d unit{p.x / across, p.y / across, p.z / along};
  const double slope = norm(Vec3d{unit.x / across, unit.y / across, unit.z / along});
  return slope > 0 ? (dot(unit, unit) - 1) / (2 * slope) : -across;
}

double ring_distance(const Vec3d& p, double radius, double tube) {
  return std::hypot(std::hypot(p.x, p.y) - radius, p.z) - tube;
}

/// The part of a voxel at this distance from a surface that lies inside.
double share_inside(double distance, double voxel) { return std::clamp(0.5 - distance / voxel, 0.0, 1.0); }

void check(const PhantomOptions& options) {
  require_positive("radius", options.radius);
  require_positive("wall", options.wall);
  require_positive("tube", options.tube);
  if (!(options.wall < options.radius))
    throw UsageError("the phantom's wall is thicker than its radius (nothing would be inside); make it thinner");
  if (!(options.tube / 2 < options.wall))
    throw UsageError("the phantom's ring reaches through the wall; make the tube thinner or the wall thicker");
  if (!(std::max(elongation * options.radius, options.radius + 1.5 * options.tube) < 0.5))
    throw UsageError("the phantom is larger than the image; choose a smaller radius (0.28 fits)");
}

}  // namespace

Image generate_phantom(const PhantomOptions& options) { return generate_phantom_part(options, {}).image; }

ImagePart generate_phantom_part(const PhantomOptions& options, const PartChoice& choice) {
  check(options);
  const ImageGrid grid = image_grid(options.size);
  ImagePart part = empty_image_part(grid, choice);
  const auto& n = options.size.n;
  const double voxel = options.size.spacing;
  const double side = (std::min({n[0], n[1], n[2]}) - 1) * voxel;
  const Vec3d middle = 0.5 * voxel * Vec3d{n[0] - 1.0, n[1] - 1.0, n[2] - 1.0};
  const double outer = options.radius * side, inner = (options.radius - options.wall) * side;
  const double along_inner = elongation * outer - options.wall * side, tube = options.tube * side;

  const std::size_t count = part.image.grid.voxel_count();
  std::vector<std::uint8_t> labels(count, 0);
  std::vector<float> density(count, 0);
  for_own_voxels(part, choice, [&](std::size_t v, std::uint32_t i, std::uint32_t j, std::uint32_t k) {
    const Vec3d p = grid.position(grid.voxel(i, j, k)) - middle;
    // Later ones lie over earlier ones.
    const std::array<double, 3> distances{ellipsoid_distance(p, outer, elongation * outer),
                                          ellipsoid_distance(p, inner, along_inner),
                                          ring_distance(p, outer + tube / 2, tube)};
    double value = 0;
    for (std::size_t m = 0; m < 3; ++m) {
      if (distances[m] < 0) labels[v] = static_cast<std::uint8_t>(m + 1);
      value += share_inside(distances[m], voxel) * (100.0 * static_cast<double>(m + 1) - value);
    }
    density[v] = static_cast<float>(value);
  });
  part.image.data.set({"label", 1, std::move(labels)});
  part.image.data.set({"density", 1, std::move(density)});
  return part;
}

}  // namespace isochron
