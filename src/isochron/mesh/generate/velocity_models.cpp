#include "isochron/mesh/generate/velocity_models.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include <fmt/format.h>

#include "isochron/core/error.h"
#include "isochron/core/random.h"
#include "isochron/dist/image_part.h"
#include "isochron/mesh/generate/check.h"
#include "isochron/mesh/generate/tensor_images.h"

namespace isochron {
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

}  // namespace isochron
