#include "isochron/draw/color_map.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "isochron/types.h"

namespace isochron {

namespace {

struct Stop {
  double lightness, chroma, hue;  // OKLab in polar form, hue in degrees
};

// The hue runs the short way from violet through blue and green to yellow; chroma stays inside what screens can show.
constexpr std::array<Stop, 6> stops{{{0.30, 0.140, 298},
                                     {0.43, 0.135, 268},
                                     {0.56, 0.105, 230},
                                     {0.69, 0.108, 184},
                                     {0.82, 0.150, 140},
                                     {0.94, 0.160, 106}}};

// A smooth curve through four neighbouring values (Catmull and Rom).
double spline(double a, double b, double c, double d, double t) {
  return b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
}

Vec3d lab_at(double position) {
  const double scaled = position * static_cast<double>(stops.size() - 1);
  const int k = std::min(static_cast<int>(scaled), static_cast<int>(stops.size()) - 2);
  const auto stop = [&](int i) {
    return stops[static_cast<std::size_t>(std::clamp(i, 0, static_cast<int>(stops.size()) - 1))];
  };
  const double t = scaled - k;
  const Stop a = stop(k - 1), b = stop(k), c = stop(k + 1), d = stop(k + 2);
  const double lightness = b.lightness + t * (c.lightness - b.lightness);
  const double chroma = spline(a.chroma, b.chroma, c.chroma, d.chroma, t);
  const double hue = spline(a.hue, b.hue, c.hue, d.hue, t) * std::numbers::pi / 180;
  return {lightness, chroma * std::cos(hue), chroma * std::sin(hue)};
}

std::uint8_t encoded(double linear) {
  const double c = std::clamp(linear, 0.0, 1.0);
  const double s = c <= 0.0031308 ? 12.92 * c : 1.055 * std::pow(c, 1 / 2.4) - 0.055;
  return static_cast<std::uint8_t>(std::lround(255 * s));
}

// OKLab to sRGB (B. Ottosson, "A perceptual color space for image processing", 2020).
Color to_srgb(const Vec3d& lab) {
  const double l = std::pow(lab.x + 0.3963377774 * lab.y + 0.2158037573 * lab.z, 3);
  const double m = std::pow(lab.x - 0.1055613458 * lab.y - 0.0638541728 * lab.z, 3);
  const double s = std::pow(lab.x - 0.0894841775 * lab.y - 1.2914855480 * lab.z, 3);
  return {encoded(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          encoded(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          encoded(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

}  // namespace

std::vector<Color> color_map(int count) {
  // Walk the path in small steps and place the colours at equal distances along it.
  constexpr int samples = 2000;
  std::vector<double> length{0};
  for (int i = 1; i <= samples; ++i) {
    length.push_back(length.back() + norm(lab_at(i / double{samples}) - lab_at((i - 1) / double{samples})));
  }
  std::vector<Color> colors;
  for (int i = 0; i < count; ++i) {
    const double wanted = length.back() * (count > 1 ? i / (count - 1.0) : 0.5);
    const auto at = std::lower_bound(length.begin(), length.end(), wanted) - length.begin();
    colors.push_back(to_srgb(lab_at(static_cast<double>(at) / samples)));
  }
  return colors;
}

}  // namespace isochron
