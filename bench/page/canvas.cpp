#include "bench/page/canvas.h"

namespace isochron::bench {
namespace {

std::array<Vec3d, 3> axes_of(const Vec3d& to_eye) {
  const Vec3d eye = to_eye / norm(to_eye);
  const Vec3d up = std::abs(eye.z) > 0.999 ? Vec3d{0, 1, 0} : Vec3d{0, 0, 1};
  const Vec3d across = cross(up, eye);
  const Vec3d right = across / norm(across);
  return {right, cross(eye, right), eye};
}

}  // namespace

Camera::Camera(const Vec3d& to_eye, int size, std::span<const Vec3d> points, const std::optional<Zoom>& zoom)
    : axes_(axes_of(to_eye)), margin_(zoom ? 0 : 4.0 * samples_per_pixel) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  double low[2]{inf, inf}, high[2]{-inf, -inf};
  const auto include = [&](const Vec3d& q, double around) {
    for (int a = 0; a < 2; ++a) low[a] = std::min(low[a], q[a] - around), high[a] = std::max(high[a], q[a] + around);
  };
  if (zoom) include(turned(zoom->center), zoom->half_side);
  else
    for (const Vec3d& p : points) include(turned(p), 0);
  const double extent = std::max(high[0] - low[0], high[1] - low[1]);
  scale_ = extent > 0 ? (samples_per_pixel * size - 2 * margin_) / extent : 1;
  left_ = low[0];
  top_ = high[1];
  const auto pixels = [&](int a) {
    const double samples = (high[a] - low[a]) * scale_ + 2 * margin_;
    return std::max(1, static_cast<int>(std::ceil(samples / samples_per_pixel - 1e-9)));
  };
  if (extent >= 0) width_ = pixels(0), height_ = pixels(1);
}

float Camera::light_of(const Vec3d& normal) const {
  const Vec3d seen = turned(normal);
  const double length = norm(seen);
  if (!(length > 0)) return 1;
  const Vec3d facing = (seen.z < 0 ? -1.0 : 1.0) / length * seen;
  return static_cast<float>(std::clamp(0.5 + 0.5 * dot(facing, {-0.25, 0.35, 0.9}), 0.45, 1.0));
}

}  // namespace isochron::bench
