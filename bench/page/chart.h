// Line charts as SVG: axes with ticks, a legend, a marker a point. They need nothing else to be shown.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isochron/draw/color_map.h"

namespace isochron::bench {

/// Text for HTML and SVG: what has a meaning there is spelled out.
std::string escaped(std::string_view text);

/// A colour as HTML and SVG have it: #0080ff.
std::string html_color(const Color& color);

enum class Scale { linear, logarithmic };

struct Axis {
  std::string label;
  Scale scale = Scale::linear;

  friend bool operator==(const Axis&, const Axis&) = default;
};

struct ChartPoint {
  double x = 0, y = 0;
};

enum class LineStyle {
  solid,  ///< what was measured, with markers
  dashed  ///< what it is compared with, without
};

struct Series {
  std::string name;
  std::vector<ChartPoint> points;
  LineStyle style = LineStyle::solid;
};

struct Chart {
  std::string title;
  Axis x, y;
  std::vector<Series> series;
};

struct Tick {
  double value = 0;
  std::string label;  ///< empty: a mark alone
};

/// Where an axis has marks between low and high: round steps, or on a logarithmic one 1, 2 and 5 times the powers of
/// ten, of which only the powers have labels when there are many.
std::vector<Tick> ticks(Scale scale, double low, double high);

/// The chart as an <svg> element. Points that are not finite, or not positive on a logarithmic axis, are left out; none
/// when no point is left.
std::optional<std::string> svg_of(const Chart& chart);

}  // namespace isochron::bench
