#include "bench/page/chart.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "isochron/draw.h"

namespace isochron::bench {
namespace {

constexpr double chart_width = 760, chart_height = 454;
/// Where the frame is.
constexpr struct { double left = 74, right = 500, top = 58, bottom = 394; } box;
constexpr double legend_left = 520, legend_line = 21;
constexpr double letter_width = 7.5;

constexpr std::array series_colors{"#1b6ca8", "#c2571a", "#2f8f4e", "#8a4fa3",
                                   "#5a5a5a", "#b0305c", "#0f8b8d", "#8c6d1f"};

std::string superscript(int number) {
  constexpr std::array digits{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = number < 0 ? "⁻" : "";
  for (const char c : std::to_string(std::abs(number))) text += digits[static_cast<std::size_t>(c - '0')];
  return text;
}

/// 0.02, 500, 12,000 or 2·10⁶.
std::string tick_label(double value) {
  if (value == 0) return "0";
  const int power = static_cast<int>(std::floor(std::log10(std::abs(value)) + 1e-9));
  if (power >= -3 && power <= 4) return fmt::format("{:g}", value);
  const double factor = value / std::pow(10, power);
  return (std::abs(factor - 1) < 1e-9 ? "10" : fmt::format("{:.3g}·10", factor)) + superscript(power);
}

constexpr double max_ticks = 50;

/// Maps values to pixels.
class PixelAxis {
 public:
  PixelAxis(Scale scale, const std::vector<double>& values, double start, double end)
      : scale_(scale), start_(start), end_(end) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    low_ = at(*low), high_ = at(*high);
    if (scale == Scale::linear && *low >= 0 && low_ < 0.4 * high_) low_ = 0;
    const double size = std::max(std::abs(low_), std::abs(high_));
    const double margin = high_ - low_ > 1e-9 * size ? 0.04 * (high_ - low_) : std::max(0.5, 0.05 * size);
    if (low_ != 0 || scale != Scale::linear) low_ -= margin;
    high_ += margin;
  }

  [[nodiscard]] double operator()(double value) const {
    return start_ + (at(value) - low_) / (high_ - low_) * (end_ - start_);
  }
  [[nodiscard]] std::vector<Tick> marks() const {
    return scale_ == Scale::linear ? ticks(scale_, low_, high_)
                                   : ticks(scale_, std::pow(10, low_), std::pow(10, high_));
  }

 private:
  [[nodiscard]] double at(double value) const { return scale_ == Scale::linear ? value : std::log10(value); }

  Scale scale_;
  double start_, end_, low_, high_;
};

std::string line(double x1, double y1, double x2, double y2, std::string_view stroke, std::string_view more = "") {
  return fmt::format(R"(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="{}" {}/>)", x1, y1, x2, y2,
                     stroke, more);
}

std::string words(double x, double y, std::string_view text, std::string_view anchor, std::string_view more = "") {
  return fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}" {}>{}</text>)", x, y, anchor, more, escaped(text));
}

/// One of four shapes, so that series differ without their colours too.
std::string marker(std::size_t series, double x, double y) {
  const char* color = series_colors[series % series_colors.size()];
  switch ((series + series / series_colors.size()) % 4) {  // a colour that comes again has another shape
    case 0: return fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="4" fill="{}"/>)", x, y, color);
    case 1:
      return fmt::format(R"(<rect x="{:.1f}" y="{:.1f}" width="7.4" height="7.4" fill="{}"/>)", x - 3.7, y - 3.7,
                         color);
    case 2: return fmt::format(R"(<path d="M{:.1f} {:.1f}l5 5l-5 5l-5-5z" fill="{}"/>)", x, y - 5, color);
    default: return fmt::format(R"(<path d="M{:.1f} {:.1f}l4.8 8.4h-9.6z" fill="{}"/>)", x, y - 5.2, color);
  }
}

std::string stroke_of(std::size_t series, LineStyle style) {
  return fmt::format(R"(fill="none" stroke="{}" stroke-width="{}")", series_colors[series % series_colors.size()],
                     style == LineStyle::solid ? "1.8" : "1.3\" stroke-dasharray=\"6 4");
}

/// Two at most: what is longer is cut at the picture's edge.
std::vector<std::string> title_lines(const std::string& title) {
  constexpr std::size_t fits = 78;
  if (title.size() <= fits) return {title};
  const std::size_t blank = title.rfind(' ', fits);
  if (blank == std::string::npos) return {title};
  return {title.substr(0, blank), title.substr(blank + 1)};
}

std::string frame(const Chart& chart, const PixelAxis& x, const PixelAxis& y) {
  std::string svg;
  double line_at = 20;
  for (const std::string& text : title_lines(chart.title)) {
    svg += words(box.left, line_at, text, "start", R"(font-weight="bold")");
    line_at += 18;
  }
  for (const Tick& tick : x.marks()) {
    svg += line(x(tick.value), box.top, x(tick.value), box.bottom, "#e4e4e4");
    svg += words(x(tick.value), box.bottom + 18, tick.label, "middle");
  }
  for (const Tick& tick : y.marks()) {
    svg += line(box.left, y(tick.value), box.right, y(tick.value), "#e4e4e4");
    svg += words(box.left - 8, y(tick.value) + 4, tick.label, "end");
  }
  svg += fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="none" stroke="#777"/>)", box.left, box.top,
                     box.right - box.left, box.bottom - box.top);
  svg += words((box.left + box.right) / 2, box.bottom + 42, chart.x.label, "middle");
  const double middle = (box.top + box.bottom) / 2;
  svg += words(18, middle, chart.y.label, "middle", fmt::format(R"svg(transform="rotate(-90 18 {:.1f})")svg", middle));
  return svg;
}

bool can_be_drawn(const Chart& chart, const ChartPoint& p) {
  // Beyond these, powers and differences of values leave the range of doubles.
  constexpr double smallest = 1e-100, largest = 1e100;
  const auto fits = [](Scale scale, double value) {
    const double size = std::abs(value);
    return size <= largest &&
           (value > 0 ? value >= smallest : scale == Scale::linear && (value == 0 || size >= smallest));
  };
  return fits(chart.x.scale, p.x) && fits(chart.y.scale, p.y);
}

}  // namespace

std::string html_color(const Color& color) { return fmt::format("#{:02x}{:02x}{:02x}", color[0], color[1], color[2]); }

std::string escaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\'': result += "&#39;"; break;
      default: result += c;
    }
  }
  return result;
}

std::vector<Tick> ticks(Scale scale, double low, double high) {
  std::vector<Tick> result;
  if (scale == Scale::linear) {
    const double step = round_spacing(low, high, 6);
    if (!(step > 0)) return result;
    const double first = std::ceil(low / step - 1e-9);
    const double last = std::floor(high / step + 1e-9);
    if (!(last - first < max_ticks) || std::abs(first) > 1e12) return result;  // no round numbers between them
    for (int k = 0; first + k <= last; ++k) result.push_back({(first + k) * step, tick_label((first + k) * step)});
    return result;
  }
  const double slack = 1e-9;
  for (int power = static_cast<int>(std::floor(std::log10(low))); std::pow(10, power) <= high * (1 + slack); ++power)
    for (const int factor : {1, 2, 5}) {
      const double value = factor * std::pow(10, power);
      if (value >= low * (1 - slack) && value <= high * (1 + slack)) result.push_back({value, tick_label(value)});
    }
  if (result.size() > 8)
    for (Tick& tick : result) {
      const double power = std::log10(tick.value);
      if (std::abs(power - std::round(power)) > 1e-6) tick.label.clear();
    }
  return result;
}

std::optional<std::string> svg_of(const Chart& chart) {
  std::vector<Series> drawn;
  std::vector<double> xs, ys;
  for (const Series& series : chart.series) {
    Series kept{series.name, {}, series.style};
    for (const ChartPoint& p : series.points)
      if (can_be_drawn(chart, p)) {
        kept.points.push_back(p);
        xs.push_back(p.x);
        ys.push_back(p.y);
      }
    std::stable_sort(kept.points.begin(), kept.points.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
    if (!kept.points.empty()) drawn.push_back(std::move(kept));
  }
  if (drawn.empty()) return std::nullopt;
  const PixelAxis x(chart.x.scale, xs, box.left, box.right), y(chart.y.scale, ys, box.bottom, box.top);
  double width = chart_width;
  for (const Series& series : drawn)
    width = std::max(width, legend_left + 44 + letter_width * static_cast<double>(series.name.size()));
  const double total = std::max(chart_height, box.top + legend_line * static_cast<double>(drawn.size()) + 20);
  std::string svg = fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" )"
                                R"(height="{1}" font-family="sans-serif" font-size="13" role="img">)"
                                R"(<rect width="{0}" height="{1}" fill="white"/>)",
                                width, total) +
                    frame(chart, x, y);
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    std::string path;
    for (const ChartPoint& p : drawn[i].points)
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? 'M' : 'L', x(p.x), y(p.y));
    svg += fmt::format(R"(<path d="{}" {}/>)", path, stroke_of(i, drawn[i].style));
    const double at = box.top + 10 + legend_line * static_cast<double>(i);
    svg += fmt::format(R"(<path d="M{:.1f} {:.1f}h26" {}/>)", legend_left, at, stroke_of(i, drawn[i].style));
    if (drawn[i].style == LineStyle::solid) {
      for (const ChartPoint& p : drawn[i].points) svg += marker(i, x(p.x), y(p.y));
      svg += marker(i, legend_left + 13, at);
    }
    svg += words(legend_left + 34, at + 4.5, drawn[i].name, "start");
  }
  return svg + "</svg>";
}

}  // namespace isochron::bench
