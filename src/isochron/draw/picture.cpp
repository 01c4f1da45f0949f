#include "isochron/draw.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <vtkActor.h>
#include <vtkAutoInit.h>
#include <vtkCallbackCommand.h>
#include <vtkCamera.h>
#include <vtkCellArray.h>
#include <vtkDoubleArray.h>
#include <vtkLight.h>
#include <vtkLookupTable.h>
#include <vtkNew.h>
#include <vtkPNGWriter.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkPolyDataMapper.h>
#include <vtkPolyDataNormals.h>
#include <vtkProperty.h>
#include <vtkRenderWindow.h>
#include <vtkRenderer.h>
#include <vtkTubeFilter.h>
#include <vtkUnsignedCharArray.h>
#include <vtkWindowToImageFilter.h>

#include "isochron/core/vtk_messages.h"
#include "isochron/draw/color_map.h"
#include "isochron/draw/display.h"
#include "isochron/draw/legend.h"
#include "isochron/error.h"
#include "isochron/io/bytes.h"
#include "isochron/io/file.h"

// The modules that make VTK's render windows and texts must be named where they are used.
VTK_MODULE_INIT(vtkRenderingOpenGL2)
VTK_MODULE_INIT(vtkRenderingFreeType)

namespace isochron {

namespace {

constexpr int color_count = 256;

struct Axes {
  Vec3d right, up, toward;  // toward the eye
};

// What is to be drawn, before VTK comes in.
struct DrawnSurface {
  Dataset surface;
  std::vector<double> values;
  Dataset isolines;
  std::vector<double> levels;
  double low = 0;
  double high = 1;
  bool unreached = false;
};

Dataset surface_to_draw(const Dataset& dataset, const DataArray& array, const PictureOptions& options) {
  Dataset surface;
  if (dataset.tets.cells.empty()) {
    surface.points = dataset.points;
    surface.triangles.cells = dataset.triangles.cells;
    surface.point_data.set(array);
  } else {
    surface = boundary_surface(dataset);
  }
  if (dataset.tets.cells.empty() && dataset.triangles.cells.empty())
    throw InputError("there is nothing to draw (no triangles or tetrahedra); give a mesh with cells");
  if (options.cut) {
    check_cut(surface, *options.cut);
    surface = clip_surface(surface, *options.cut);
    if (!dataset.tets.cells.empty()) surface = merged_surfaces(surface, cut_face(dataset, *options.cut));
  }
  // Points that stay need not be corners of anything.
  if (surface.triangles.cells.empty())
    throw UsageError("there is nothing left to draw (the cut removes everything); move the cut plane");
  return surface;
}

DrawnSurface make_subject(const Dataset& dataset, const PictureOptions& options) {
  const DataArray& wanted = dataset.point_data.require(options.array, "points");
  if (wanted.components != 1) {
    throw InputError(fmt::format("array '{}' has {} components (a picture needs one); choose a scalar array",
                                 options.array, wanted.components));
  }
  DrawnSurface subject;
  subject.surface = surface_to_draw(dataset, wanted, options);
  const DataArray& array = subject.surface.point_data.require(options.array, "points");
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const auto& triangle : subject.surface.triangles.cells) {
    for (const VertexId v : triangle) {
      const double value = array.at(v.index());
      if (!std::isfinite(value)) {
        subject.unreached = true;
        continue;
      }
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  for (std::size_t i = 0; i < subject.surface.points.size(); ++i) subject.values.push_back(array.at(i));
  if (options.range) std::tie(low, high) = *options.range;
  if (!(low <= high)) std::tie(low, high) = std::pair(0.0, 1.0);
  if (low == high) high = low + std::max(1.0, std::abs(low)) * 1e-3;
  subject.low = low;
  subject.high = high;
  constexpr int about_levels = 14;
  subject.levels = options.isochrone_spacing ? spaced_levels(low, high, *options.isochrone_spacing)
                                             : round_levels(low, high, about_levels);
  subject.isolines = isolines(subject.surface, options.array, subject.levels);
  return subject;
}

Axes choose_axes(const Dataset& surface, const PictureOptions& options) {
  Vec3d low = surface.points.front();
  Vec3d high = low;
  for (const Vec3d& p : surface.points) {
    for (int i = 0; i < 3; ++i) {
      low[i] = std::min(low[i], p[i]);
      high[i] = std::max(high[i], p[i]);
    }
  }
  const Vec3d extent = high - low;
  Vec3d toward{0.55, -0.75, 0.45};
  constexpr double flat = 0.01;
  for (int i = 0; i < 3; ++i) {
    if (extent[i] <= flat * norm(extent)) toward = {i == 0 ? 1.0 : 0.0, i == 1 ? -1.0 : 0.0, i == 2 ? 1.0 : 0.0};
  }
  toward = options.view_direction.value_or(toward);
  toward = toward / norm(toward);
  Vec3d up = options.up.value_or(std::abs(toward.z) > 0.99 ? Vec3d{0, 1, 0} : Vec3d{0, 0, 1});
  Vec3d right = cross(up, toward);
  // An up along the view has no meaning; take the axis that lies most across.
  if (norm(right) < 1e-6 * norm(up)) right = cross(std::abs(toward.x) < 0.6 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0}, toward);
  right = right / norm(right);
  return {right, cross(toward, right), toward};
}

vtkSmartPointer<vtkPoints> vtk_points(const std::vector<Vec3d>& points) {
  vtkNew<vtkPoints> result;
  result->SetDataTypeToDouble();
  result->SetNumberOfPoints(static_cast<vtkIdType>(points.size()));
  for (std::size_t i = 0; i < points.size(); ++i) {
    result->SetPoint(static_cast<vtkIdType>(i), points[i].x, points[i].y, points[i].z);
  }
  return result;
}

template <class Cell>
void insert_cell(vtkCellArray& cells, const Cell& ids) {
  cells.InsertNextCell(static_cast<int>(ids.size()));
  for (const VertexId v : ids) cells.InsertCellPoint(static_cast<vtkIdType>(v.index()));
}

// The triangles with a value at every corner, or the others.
enum class Part { reached, unreached };

vtkSmartPointer<vtkPolyData> vtk_surface(const DrawnSurface& subject, Part part) {
  vtkNew<vtkCellArray> cells;
  for (const auto& triangle : subject.surface.triangles.cells) {
    const bool reached = std::all_of(triangle.begin(), triangle.end(),
                                     [&](VertexId v) { return std::isfinite(subject.values[v.index()]); });
    if (reached == (part == Part::reached)) insert_cell(*cells, triangle);
  }
  vtkNew<vtkDoubleArray> scalars;
  scalars->SetNumberOfValues(static_cast<vtkIdType>(subject.values.size()));
  for (std::size_t i = 0; i < subject.values.size(); ++i) {
    const double value = std::isfinite(subject.values[i]) ? subject.values[i] : subject.low;
    scalars->SetValue(static_cast<vtkIdType>(i), value);
  }
  vtkNew<vtkPolyData> data;
  data->SetPoints(vtk_points(subject.surface.points));
  data->SetPolys(cells);
  data->GetPointData()->SetScalars(scalars);
  return data;
}

vtkSmartPointer<vtkPolyData> vtk_lines(const Dataset& dataset) {
  vtkNew<vtkCellArray> cells;
  for (const auto& line : dataset.lines) insert_cell(*cells, line);
  vtkNew<vtkPolyData> data;
  data->SetPoints(vtk_points(dataset.points));
  data->SetLines(cells);
  return data;
}

void add_surface(vtkRenderer& renderer, const DrawnSurface& subject, Part part, vtkLookupTable& colors,
                 ElementEdges edges) {
  const auto data = vtk_surface(subject, part);
  if (data->GetNumberOfCells() == 0) return;
  vtkNew<vtkPolyDataNormals> normals;
  normals->SetInputData(data);
  normals->SetFeatureAngle(40);
  normals->ConsistencyOff();
  vtkNew<vtkPolyDataMapper> mapper;
  mapper->SetInputConnection(normals->GetOutputPort());
  vtkNew<vtkActor> actor;
  actor->SetMapper(mapper);
  if (part == Part::reached) {
    mapper->SetLookupTable(&colors);
    mapper->UseLookupTableScalarRangeOn();
    mapper->InterpolateScalarsBeforeMappingOn();
  } else {
    mapper->ScalarVisibilityOff();
    actor->GetProperty()->SetColor(unreached_color[0] / 255.0, unreached_color[1] / 255.0, unreached_color[2] / 255.0);
  }
  vtkProperty* property = actor->GetProperty();
  property->SetInterpolationToPhong();
  property->SetAmbient(0.50);
  property->SetDiffuse(0.54);
  property->SetSpecular(0.06);
  property->SetSpecularPower(20);
  if (edges == ElementEdges::show) {
    property->EdgeVisibilityOn();
    property->SetEdgeColor(0.16, 0.17, 0.20);
    property->SetLineWidth(0.6F);
  }
  renderer.AddActor(actor);
}

void add_tubes(vtkRenderer& renderer, const Dataset& lines, double radius, std::array<double, 3> color) {
  if (lines.lines.empty()) return;
  vtkNew<vtkTubeFilter> tubes;
  tubes->SetInputData(vtk_lines(lines));
  tubes->SetRadius(radius);
  tubes->SetNumberOfSides(8);
  tubes->CappingOn();
  vtkNew<vtkPolyDataMapper> mapper;
  mapper->SetInputConnection(tubes->GetOutputPort());
  mapper->ScalarVisibilityOff();
  vtkNew<vtkActor> actor;
  actor->SetMapper(mapper);
  actor->GetProperty()->SetColor(color[0], color[1], color[2]);
  actor->GetProperty()->LightingOff();
  renderer.AddActor(actor);
}

// Parallel projection, the object filling the frame. Gives the size of a pixel in the object's unit.
double aim_camera(vtkRenderer& renderer, const Dataset& surface, const Axes& axes, double width, double height) {
  const double infinity = std::numeric_limits<double>::infinity();
  Vec3d low{infinity, infinity, infinity};
  Vec3d high = -low;
  for (const auto& triangle : surface.triangles.cells) {
    for (const VertexId v : triangle) {
      const Vec3d& p = surface.points[v.index()];
      const Vec3d seen{dot(p, axes.right), dot(p, axes.up), dot(p, axes.toward)};
      for (int i = 0; i < 3; ++i) {
        low[i] = std::min(low[i], seen[i]);
        high[i] = std::max(high[i], seen[i]);
      }
    }
  }
  const Vec3d middle = 0.5 * (low + high);
  const Vec3d focus = middle.x * axes.right + middle.y * axes.up + middle.z * axes.toward;
  const double size = std::max(norm(high - low), std::numeric_limits<double>::min());
  const Vec3d eye = focus + (2 * size) * axes.toward;
  constexpr double margin = 1.08;
  const double half_height = 0.5 * margin * std::max({high.y - low.y, (high.x - low.x) * height / width, 1e-6 * size});
  vtkCamera* camera = renderer.GetActiveCamera();
  camera->ParallelProjectionOn();
  camera->SetFocalPoint(focus.x, focus.y, focus.z);
  camera->SetPosition(eye.x, eye.y, eye.z);
  camera->SetViewUp(axes.up.x, axes.up.y, axes.up.z);
  camera->SetParallelScale(half_height);
  camera->SetClippingRange(0.9 * size, 3.1 * size);
  return 2 * half_height / height;
}

void add_light(vtkRenderer& renderer, double right, double up, double intensity) {
  vtkNew<vtkLight> light;
  light->SetLightTypeToCameraLight();
  light->SetPosition(right, up, 1);
  light->SetFocalPoint(0, 0, 0);
  light->SetIntensity(intensity);
  renderer.AddLight(light);
}

vtkSmartPointer<vtkLookupTable> lookup_table(const std::vector<Color>& colors, double low, double high) {
  vtkNew<vtkLookupTable> table;
  table->SetNumberOfTableValues(static_cast<vtkIdType>(colors.size()));
  for (std::size_t i = 0; i < colors.size(); ++i) {
    table->SetTableValue(static_cast<vtkIdType>(i), colors[i][0] / 255.0, colors[i][1] / 255.0, colors[i][2] / 255.0);
  }
  table->SetTableRange(low, high);
  return table;
}

// Two layers: the page with legend and title, and over its left part the object.
struct Layers {
  vtkNew<vtkRenderer> page;
  vtkNew<vtkRenderer> scene;
};

void fill_layers(Layers& layers, const Dataset& dataset, const DrawnSurface& subject, const PictureOptions& options) {
  const std::array<double, 4> frame{0.0, 0.0, options.histogram.empty() ? 0.86 : LegendPlace::histogram_left - 0.01,
                                    0.93};
  const std::vector<Color> colors = color_map(color_count);
  layers.page->SetBackground(0.975, 0.978, 0.985);
  const std::string quantity = options.array == "arrival_time" ? "arrival time" : options.array;
  Legend legend{options.legend.empty() ? quantity : options.legend,
                options.units.empty() ? "" : fmt::format("({})", options.units),
                options.title,
                subject.low,
                subject.high,
                subject.levels,
                colors,
                subject.unreached,
                options.histogram};
  add_legend(*layers.page, legend, options.width, options.height);

  vtkRenderer& scene = *layers.scene;
  scene.SetLayer(1);
  scene.SetViewport(frame[0], frame[1], frame[2], frame[3]);
  scene.AutomaticLightCreationOff();
  add_light(scene, -0.3, 0.45, 0.85);
  add_light(scene, 0.6, -0.2, 0.25);
  const double pixel = aim_camera(scene, subject.surface, choose_axes(subject.surface, options),
                                  (frame[2] - frame[0]) * options.width, (frame[3] - frame[1]) * options.height);
  const auto table = lookup_table(colors, subject.low, subject.high);
  add_surface(scene, subject, Part::reached, *table, options.edges);
  add_surface(scene, subject, Part::unreached, *table, options.edges);
  const double stroke = std::max(1.0, std::min(options.width, options.height) / 900.0);
  add_tubes(scene, subject.isolines, 0.85 * stroke * pixel, {0.09, 0.10, 0.13});
  if (options.lines == LineCells::show) add_tubes(scene, dataset, 2.2 * stroke * pixel, {0.80, 0.16, 0.12});
}

// Renders and gives the PNG file's bytes.
vtkSmartPointer<vtkUnsignedCharArray> render(Layers& layers, int width, int height, const VtkMessages& messages) {
  const OffscreenDisplay display;
  vtkNew<vtkRenderWindow> window;
  // Without an observer VTK ends the process when it cannot get a graphics context.
  bool gave_up = false;
  vtkNew<vtkCallbackCommand> on_exit;
  on_exit->SetClientData(&gave_up);
  on_exit->SetCallback([](vtkObject*, unsigned long, void* flag, void*) { *static_cast<bool*>(flag) = true; });
  window->AddObserver(vtkCommand::ExitEvent, on_exit);
  window->SetDisplayId(display.handle());
  window->SetOffScreenRendering(1);
  window->SetDPI(72);
  window->SetMultiSamples(8);
  window->SetNumberOfLayers(2);
  window->SetSize(width, height);
  window->AddRenderer(layers.page);
  window->AddRenderer(layers.scene);
  const auto check = [&] {
    if (!gave_up && messages.errors().empty()) return;
    throw RuntimeError(fmt::format("the picture cannot be rendered ({}); install the package libgl1-mesa-dri",
                                   messages.errors().empty() ? "no graphics context" : messages.errors().front()));
  };
  window->Render();
  check();
  vtkNew<vtkWindowToImageFilter> grabber;
  grabber->SetInput(window);
  grabber->SetInputBufferTypeToRGB();
  grabber->ReadFrontBufferOff();
  vtkNew<vtkPNGWriter> writer;
  writer->WriteToMemoryOn();
  writer->SetInputConnection(grabber->GetOutputPort());
  writer->Write();
  check();
  return writer->GetResult();
}

}  // namespace

void check_picture_options(const PictureOptions& options) {
  constexpr int smallest = 100, largest = 16000;
  const auto [narrow, wide] = std::minmax(options.width, options.height);
  if (narrow < smallest || wide > largest) {
    throw UsageError(
        fmt::format("a picture of {} x {} pixels is not possible (too small to read or too large to draw); give "
                    "between {} and {} each way",
                    options.width, options.height, smallest, largest));
  }
  const auto zero = [](const std::optional<Vec3d>& v) { return v && !(norm(*v) > 0 && std::isfinite(norm(*v))); };
  if (zero(options.view_direction) || zero(options.up) || (options.cut && zero(options.cut->normal))) {
    throw UsageError("a direction for the picture has length zero (it points nowhere); give a vector that is not zero");
  }
  if (options.range && !(options.range->first < options.range->second && std::isfinite(options.range->second) &&
                         std::isfinite(options.range->first))) {
    throw UsageError(fmt::format("the colour range {} to {} is empty; give a lower and a higher value",
                                 options.range->first, options.range->second));
  }
  if (options.isochrone_spacing && !(*options.isochrone_spacing >= 0 && std::isfinite(*options.isochrone_spacing))) {
    throw UsageError(
        fmt::format("isochrones cannot be {} apart (distances are positive); give a positive spacing, or 0 for none",
                    *options.isochrone_spacing));
  }
}

void draw_picture(const std::filesystem::path& png, const Dataset& dataset, const PictureOptions& options,
                  const Progress& progress) {
  check_picture_options(options);
  const DrawnSurface subject = make_subject(dataset, options);
  progress.update(0.2);
  vtkSmartPointer<vtkUnsignedCharArray> bytes;
  {
    const VtkMessages messages;
    Layers layers;
    fill_layers(layers, dataset, subject, options);
    progress.update(0.5);
    bytes = render(layers, options.width, options.height, messages);
  }
  progress.update(0.9);
  AtomicFile file(png, options.overwrite);
  ByteWriter sink({png, file.path()});
  sink.write(std::string_view(reinterpret_cast<const char*>(bytes->GetPointer(0)),
                              static_cast<std::size_t>(bytes->GetNumberOfValues())));
  sink.finish();
  file.commit();
}

}  // namespace isochron
