// What an eye sees of triangles, in samples with depth: the nearer one hides the other. Without perspective.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "isochron/draw/color_map.h"
#include "isochron/types.h"

namespace isochron::bench {

/// Along each side of a pixel.
inline constexpr int samples_per_pixel = 3;

/// A square of a view: what is around a point.
struct Zoom {
  Vec3d center;
  double half_side = 1;
};

/// From where something is seen and how much of it. Places on the canvas are x to the right, y down, in samples, and z
/// towards the eye, in the unit of the points.
class Camera {
 public:
  /// Shows all the points, or what is in the square; the longer side has `size` pixels.
  Camera(const Vec3d& to_eye, int size, std::span<const Vec3d> points, const std::optional<Zoom>& zoom = {});

  [[nodiscard]] int width() const { return width_; }  ///< pixels
  [[nodiscard]] int height() const { return height_; }
  [[nodiscard]] int columns() const { return samples_per_pixel * width_; }
  [[nodiscard]] int rows() const { return samples_per_pixel * height_; }
  /// Samples per unit of the points.
  [[nodiscard]] double scale() const { return scale_; }
  [[nodiscard]] Vec3d place_of(const Vec3d& point) const {
    const Vec3d q = turned(point);
    return {margin_ + (q.x - left_) * scale_, margin_ + (top_ - q.y) * scale_, q.z};
  }
  [[nodiscard]] Vec3d point_at(const Vec3d& place) const {
    const double x = left_ + (place.x - margin_) / scale_, y = top_ - (place.y - margin_) / scale_;
    return x * axes_[0] + y * axes_[1] + place.z * axes_[2];
  }
  /// How bright a surface of this normal (of any length) is, 0.45 to 1: it is lit from the eye's side, a little from
  /// above and the left, on both of its sides.
  [[nodiscard]] float light_of(const Vec3d& normal) const;

 private:
  [[nodiscard]] Vec3d turned(const Vec3d& p) const { return {dot(p, axes_[0]), dot(p, axes_[1]), dot(p, axes_[2])}; }

  std::array<Vec3d, 3> axes_;  // right, up, to the eye
  double left_ = 0, top_ = 0, scale_ = 1, margin_ = 0;
  int width_ = 1, height_ = 1;
};

using Weights = std::array<double, 3>;  ///< of a triangle's corners

/// Samples of what is seen, each with a `Shade`.
template <class Shade>
class Canvas {
 public:
  struct Sample {
    double depth = -std::numeric_limits<double>::infinity();
    Shade shade{};

    [[nodiscard]] bool seen() const { return std::isfinite(depth); }
  };

  explicit Canvas(const Camera& camera)
      : camera_(camera), samples_(static_cast<std::size_t>(camera.columns()) * camera.rows()) {}

  [[nodiscard]] const Camera& camera() const { return camera_; }
  [[nodiscard]] const Sample& at(int x, int y) const { return samples_[index(x, y)]; }

  /// A triangle; `shade(weights)` gives what a sample of it keeps.
  template <class ShadeAt>
  void draw(const std::array<Vec3d, 3>& corners, ShadeAt&& shade) {
    std::array<Vec3d, 3> p;
    for (std::size_t c = 0; c < 3; ++c) p[c] = camera_.place_of(corners[c]);
    const double area = (p[1].x - p[0].x) * (p[2].y - p[0].y) - (p[2].x - p[0].x) * (p[1].y - p[0].y);
    if (!(std::abs(area) > 1e-12)) return;
    const auto [left, right] = std::minmax({p[0].x, p[1].x, p[2].x});
    const auto [top, bottom] = std::minmax({p[0].y, p[1].y, p[2].y});
    const auto first = [](double low) { return static_cast<int>(std::ceil(std::max(low, 0.0))); };
    const auto last = [](double high, int count) { return static_cast<int>(std::floor(std::min(high, count - 1.0))); };
    for (int y = first(top); y <= last(bottom, camera_.rows()); ++y)
      for (int x = first(left); x <= last(right, camera_.columns()); ++x) {
        Weights w{};
        for (std::size_t c = 0; c < 3; ++c) {
          const Vec3d &a = p[(c + 1) % 3], &b = p[(c + 2) % 3];
          w[c] = ((b.x - a.x) * (y - a.y) - (x - a.x) * (b.y - a.y)) / area;
        }
        if (w[0] < -1e-9 || w[1] < -1e-9 || w[2] < -1e-9) continue;
        const double depth = w[0] * p[0].z + w[1] * p[1].z + w[2] * p[2].z;
        Sample& sample = samples_[index(x, y)];
        if (depth > sample.depth) sample = {depth, shade(w)};
      }
  }

  /// Each pixel as the mean of its samples, whose colours `color(x, y)` gives.
  template <class ColorAt>
  [[nodiscard]] std::vector<Color> pixels(ColorAt&& color) const {
    constexpr int n = samples_per_pixel;
    std::vector<Color> pixels;
    pixels.reserve(static_cast<std::size_t>(camera_.width()) * camera_.height());
    for (int y = 0; y < camera_.height(); ++y)
      for (int x = 0; x < camera_.width(); ++x) {
        std::array<int, 3> sum{};
        for (int s = 0; s < n * n; ++s) {
          const Color one = color(n * x + s % n, n * y + s / n);
          for (std::size_t c = 0; c < 3; ++c) sum[c] += one[c];
        }
        Color mean{};
        for (std::size_t c = 0; c < 3; ++c) mean[c] = static_cast<std::uint8_t>(sum[c] / (n * n));
        pixels.push_back(mean);
      }
    return pixels;
  }

 private:
  [[nodiscard]] std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y) * camera_.columns() + static_cast<std::size_t>(x);
  }

  Camera camera_;
  std::vector<Sample> samples_;
};

inline Color darkened(Color color, double light) {
  for (std::uint8_t& c : color) c = static_cast<std::uint8_t>(std::lround(light * c));
  return color;
}

inline constexpr Color background{255, 255, 255};

}  // namespace isochron::bench
