#include "isochron/draw/legend.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <vtkActor2D.h>
#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkNew.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkPolyDataMapper2D.h>
#include <vtkProperty2D.h>
#include <vtkRenderer.h>
#include <vtkTextActor.h>
#include <vtkTextProperty.h>
#include <vtkTextRenderer.h>
#include <vtkUnsignedCharArray.h>

#include "isochron/draw.h"

namespace isochron {

namespace {

constexpr std::array<double, 3> ink{0.13, 0.14, 0.17};

enum class Anchor { left, right };

/// No text comes nearer to the right edge, as a part of the width.
constexpr double edge = 0.985;
constexpr int smallest_text = 9;

double text_width(const std::string& text, int size) {
  vtkNew<vtkTextProperty> property;
  property->SetFontFamilyToArial();
  property->SetFontSize(size);
  std::array<int, 4> box{};
  constexpr int dpi = 72;  // as the window
  vtkTextRenderer* measure = vtkTextRenderer::GetInstance();
  if (measure == nullptr || !measure->GetBoundingBox(property, text, box.data(), dpi)) return 0;
  return box[1] - box[0] + 1;
}

/// A text that is no wider than asked for: smaller, and cut off where it would become too small to read.
struct FittedText {
  std::string text;
  int size;
};
FittedText fitted(std::string text, int size, double width) {
  while (size > smallest_text && text_width(text, size) > width) --size;
  if (text_width(text, size) <= width) return {std::move(text), size};
  const auto inside_character = [&] {
    return !text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0U) == 0x80U;
  };
  while (!text.empty() && text_width(text + "…", size) > width) {
    while (inside_character()) text.pop_back();  // UTF-8: the bytes that follow the first one
    text.pop_back();
  }
  return {text + "…", size};
}

void add_text(vtkRenderer& renderer, const std::string& text, double x, double y, int size, Anchor anchor) {
  if (text.empty()) return;
  vtkNew<vtkTextActor> actor;
  actor->SetInput(text.c_str());
  vtkTextProperty* property = actor->GetTextProperty();
  property->SetFontFamilyToArial();
  property->SetFontSize(size);
  property->SetColor(ink[0], ink[1], ink[2]);
  property->SetVerticalJustificationToCentered();
  if (anchor == Anchor::left) property->SetJustificationToLeft();
  else property->SetJustificationToRight();
  actor->SetPosition(x, y);
  renderer.AddViewProp(actor);
}

// Rectangles in pixels, each of one colour.
class Rectangles {
 public:
  void add(double left, double bottom, double right, double top, Color color) {
    const vtkIdType first = points_->GetNumberOfPoints();
    points_->InsertNextPoint(left, bottom, 0);
    points_->InsertNextPoint(right, bottom, 0);
    points_->InsertNextPoint(right, top, 0);
    points_->InsertNextPoint(left, top, 0);
    const vtkIdType corners[4] = {first, first + 1, first + 2, first + 3};
    cells_->InsertNextCell(4, corners);
    colors_->InsertNextTypedTuple(color.data());
  }
  void show(vtkRenderer& renderer) {
    vtkNew<vtkPolyData> data;
    data->SetPoints(points_);
    data->SetPolys(cells_);
    data->GetCellData()->SetScalars(colors_);
    vtkNew<vtkPolyDataMapper2D> mapper;
    mapper->SetInputData(data);
    vtkNew<vtkActor2D> actor;
    actor->SetMapper(mapper);
    renderer.AddViewProp(actor);
  }
  Rectangles() { colors_->SetNumberOfComponents(3); }

 private:
  vtkNew<vtkPoints> points_;
  vtkNew<vtkCellArray> cells_;
  vtkNew<vtkUnsignedCharArray> colors_;
};

// Enough digits to tell neighbouring labels apart, and no more.
std::string label_text(double value, double spacing) {
  const double size = std::max(std::abs(value), spacing);
  if (size >= 1e6 || spacing < 1e-4) return fmt::format("{:.4g}", value);
  const int decimals = std::max(0, static_cast<int>(-std::floor(std::log10(spacing) + 1e-9)));
  return fmt::format("{:.{}f}", value == 0 ? 0.0 : value, decimals);
}

// Between the object and the picture's edge: in one line from the bar on, else in two lines that end at the edge.
void add_legend_title(vtkRenderer& renderer, const Legend& legend, double bar_top, int size, int width) {
  constexpr double object_ends = 0.865;
  const double left = LegendPlace::left * width;
  const std::string both = legend.units.empty() ? legend.title : legend.title + " " + legend.units;
  const double y = bar_top + 2.0 * size;
  if (left + text_width(both, size) <= edge * width) {
    add_text(renderer, both, left, y, size, Anchor::left);
    return;
  }
  const double room = (edge - object_ends) * width;
  const FittedText one_line = fitted(both, size, room);
  if (one_line.size >= 0.85 * size) {
    add_text(renderer, one_line.text, edge * width, y, one_line.size, Anchor::right);
    return;
  }
  const FittedText title = fitted(legend.title, size, room), units = fitted(legend.units, size, room);
  add_text(renderer, title.text, edge * width, legend.units.empty() ? y : y + 1.3 * size, title.size, Anchor::right);
  add_text(renderer, units.text, edge * width, y, units.size, Anchor::right);
}

/// Bars that grow from the colours to the left, each in the colour of its values.
void add_histogram(Rectangles& shapes, const Legend& legend, double pixel, int width, int height) {
  if (legend.histogram.empty()) return;
  const double most = static_cast<double>(*std::max_element(legend.histogram.begin(), legend.histogram.end()));
  const double right = LegendPlace::left * width - 3 * pixel;
  const double bottom = LegendPlace::bottom * height,
               step = (LegendPlace::top * height - bottom) / legend.histogram.size();
  for (std::size_t i = 0; i < legend.histogram.size(); ++i) {
    const double k = static_cast<double>(i);
    const double longest = right - LegendPlace::histogram_left * width;
    double length = most > 0 ? longest * static_cast<double>(legend.histogram[i]) / most : 0;
    if (legend.histogram[i] > 0) length = std::max(length, pixel);  // a single element shows too
    const auto color = static_cast<std::size_t>((k + 0.5) / legend.histogram.size() * legend.colors.size());
    shapes.add(right - length, bottom + k * step + 0.5 * pixel, right, bottom + (k + 1) * step - 0.5 * pixel,
               legend.colors[color]);
  }
}

}  // namespace

void add_legend(vtkRenderer& renderer, const Legend& legend, int width, int height) {
  const double left = LegendPlace::left * width;
  const double right = LegendPlace::right * width;
  const double bottom = LegendPlace::bottom * height;
  const double top = LegendPlace::top * height;
  const double pixel = std::max(1.0, std::round(std::min(width, height) / 700.0));
  const int text_size = std::max(9, static_cast<int>(std::lround(std::min(width / 1.4, double(height)) * 0.021)));
  constexpr Color frame{90, 92, 98};
  constexpr Color mark{33, 36, 43};

  Rectangles shapes;
  shapes.add(left - pixel, bottom - pixel, right + pixel, top + pixel, frame);
  const auto parts = static_cast<double>(legend.colors.size());
  for (std::size_t i = 0; i < legend.colors.size(); ++i) {
    const double k = static_cast<double>(i);
    shapes.add(left, bottom + (top - bottom) * k / parts, right, bottom + (top - bottom) * (k + 1) / parts,
               legend.colors[i]);
  }
  add_histogram(shapes, legend, pixel, width, height);
  const auto height_of = [&](double value) {
    return bottom + (top - bottom) * (value - legend.low) / (legend.high - legend.low);
  };
  for (const double value : legend.lines) {
    if (value <= legend.low || value >= legend.high || legend.lines.size() > 60) continue;
    shapes.add(left, height_of(value) - 0.5 * pixel, right, height_of(value) + 0.5 * pixel, mark);
  }
  std::vector<double> labels = round_levels(legend.low, legend.high, 6);
  const double spacing = labels.size() > 1 ? labels[1] - labels[0] : legend.high - legend.low;
  // The ends count as places for labels too when they are round.
  for (const double end : {legend.low, legend.high}) {
    if (std::abs(end - spacing * std::round(end / spacing)) < 1e-9 * spacing) labels.push_back(end);
  }
  for (const double value : labels) {
    shapes.add(right + pixel, height_of(value) - 0.5 * pixel, right + 6 * pixel, height_of(value) + 0.5 * pixel, mark);
    add_text(renderer, label_text(value, spacing), right + 10 * pixel, height_of(value), text_size, Anchor::left);
  }
  if (legend.unreached) {
    const double y = bottom - 2.6 * text_size;
    shapes.add(left - pixel, y - pixel, right + pixel, y + text_size + pixel, frame);
    shapes.add(left, y, right, y + text_size, unreached_color);
    const double from = right + 10 * pixel;
    const FittedText words = fitted("not reached", text_size, edge * width - from);
    add_text(renderer, words.text, from, y + 0.5 * text_size, words.size, Anchor::left);
  }
  shapes.show(renderer);
  add_legend_title(renderer, legend, top, text_size, width);
  const double margin = 0.025 * width;
  const FittedText title = fitted(legend.picture_title, static_cast<int>(1.5 * text_size), edge * width - margin);
  add_text(renderer, title.text, margin, 0.955 * height, title.size, Anchor::left);
}

}  // namespace isochron
