// Paper 002, Figures 6 and 9: meshes of the particles, with a part of each enlarged.
#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/page/scene_picture.h"
#include "bench/paper/cases.h"
#include "bench/paper/surface_cases.h"
#include "bench/paper/tables.h"
#include "isochron/core/parallel.h"
#include "isochron/mesh_quality.h"
#include "isochron/surface/triangulate/delaunay.h"

namespace isochron::bench {
namespace {

constexpr Vec3d eye{0.5, 0.85, 0.25};

int mesh_threads(const BenchOptions& options) { return options.threads > 0 ? options.threads : hardware_threads(); }

/// Whether there can be triangles; else a note says why not.
bool can_mesh(Report& report) {
  if (delaunay_available()) return true;
  report.note("Nothing is drawn: this build has no CGAL to make triangles of the particles with (libcgal-dev).");
  return false;
}

/// A square around the place that is nearest to the eye, some twenty triangles wide and not most of the mesh.
Zoom zoom_on(const TriangleMesh& mesh) {
  Vec3d low = mesh.point(mesh.elements.front()[0]), high = low, nearest = low;
  double sides = 0;
  for (const auto& element : mesh.elements) {
    sides += norm(mesh.point(element[1]) - mesh.point(element[0]));
    for (const VertexId v : element) {
      const Vec3d& p = mesh.point(v);
      for (int a = 0; a < 3; ++a) low[a] = std::min(low[a], p[a]), high[a] = std::max(high[a], p[a]);
      if (dot(p, eye) > dot(nearest, eye)) nearest = p;
    }
  }
  return {nearest, std::min(10 * sides / static_cast<double>(mesh.element_count()), 0.15 * norm(high - low))};
}

/// What is behind an upright plane through the middle, as the eye sees it: the inside of a box around a body.
TriangleMesh cut_open(const TriangleMesh& mesh) {
  const Vec3d toward{eye.x, eye.y, 0};
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const Vec3d& p : mesh.points) low = std::min(low, dot(p, toward)), high = std::max(high, dot(p, toward));
  TriangleMesh half{mesh.points, {}};
  for (const auto& element : mesh.elements) {
    const Vec3d sum = mesh.point(element[0]) + mesh.point(element[1]) + mesh.point(element[2]);
    if (dot(sum, toward) < 1.5 * (low + high)) half.elements.push_back(element);
  }
  return half;
}

std::vector<Color> ratio_colors(const TriangleMesh& mesh, int threads) {
  const std::vector<Color> map = color_map(256);
  std::vector<Color> colors;
  for (const double ratio : radius_ratios(mesh, threads))
    colors.push_back(map[static_cast<std::size_t>(255 * std::clamp(ratio, 0.0, 1.0))]);
  return colors;
}

PictureLegend ratio_legend(const TriangleMesh& mesh, int threads) {
  return {"radius ratio of the triangles, and how many have it", 0, 1, 0,
          shape_statistics(mesh, threads).radius_ratio.histogram(40)};
}

class MeshFigure {
 public:
  MeshFigure(const char* name, const char* title, const BenchOptions& options)
      : options_(options), threads_(mesh_threads(options)), report_(name, title, options) {}

  Report& report() { return report_; }
  [[nodiscard]] int threads() const { return threads_; }
  [[nodiscard]] bool full() const { return options_.size == BenchSize::paper; }

  /// Particles of a scheme as triangles in the world; none where something is wrong with them.
  std::optional<TriangleMesh> mesh(const SurfaceModel& model, const std::string& row, const ParticleOptions& particles,
                                   std::optional<double> paper_particles = {}) {
    return mesh(model, row, relaxed(model, particles).particles, particles.scheme, paper_particles);
  }
  std::optional<TriangleMesh> mesh(const SurfaceModel& model, const std::string& row, const Particles& particles,
                                   ParticleScheme scheme, std::optional<double> paper_particles = {}) {
    options_.progress.update(0);
    MeshedParticles made = meshed(model, particles, scheme, threads_);
    const auto add = [&](const char* column, std::optional<double> paper, double ours) {
      report_.add(checked_entry({row, column, model.beside(paper), ours, "", ""}, made.fault));
    };
    add("particles", paper_particles, static_cast<double>(made.particles));
    add("triangles", {}, static_cast<double>(made.mesh.element_count()));
    add("mean radius ratio", {}, shape_statistics(made.mesh, threads_).radius_ratio.mean());
    if (!made.fault.empty()) return std::nullopt;
    to_world(model.surface.frame, made.mesh);
    return std::move(made.mesh);
  }

  bool finish() { return report_.finish(options_); }

 private:
  const BenchOptions& options_;
  int threads_;
  Report report_;
};

ParticleOptions placed_by(ParticleScheme scheme, int threads, Backend backend = Backend::threads) {
  ParticleOptions options;
  options.scheme = scheme;
  options.backend = threads == 1 && backend == Backend::threads ? Backend::serial : backend;
  options.threads = threads;
  return options;
}

Scene scene_of(TriangleMesh mesh, std::vector<Color> colors) {
  Shape shape;
  shape.mesh = std::move(mesh);
  shape.colors = std::move(colors);
  shape.colors_of = shape.colors.size() == 1 ? Shape::ColorsOf::whole : Shape::ColorsOf::triangles;
  shape.edges = true;
  Scene scene;
  scene.add(std::move(shape));
  return scene;
}

constexpr Color bone{214, 203, 178};

}  // namespace

bool figure_002_6(const BenchOptions& options) {
  MeshFigure figure("002-figure-6", "Paper 002 Figure 6: meshes of one data set with more and more particles", options);
  if (!can_mesh(figure.report())) return figure.finish();
  SurfaceModel model = surface_model(Organ::ribcage, options);
  note_missing(figure.report(), model);
  figure.report().note(
      "Particles by the paper's scheme, triangles through them as they are. Sizes by epsilon and delta times one "
      "factor: "
      "the densest mesh asks for the paper's number of particles where the meshes are not small ones.");
  const auto sizing = [&](double epsilon, double delta) {
    return SizingOptions{.epsilon = epsilon, .delta = delta, .threads = figure.threads()};
  };
  model.set_sizes(sizing(0.125, 0.125), 1);
  const double factor = model.ask_for(figure.full() ? 468623 : 900);
  struct Part {
    const char* letter;
    double epsilon, delta, particles;
  };
  std::optional<Zoom> zoom;
  std::vector<Picture> pictures;  // from the densest mesh, whose triangles say what is enlarged
  for (const auto& [letter, epsilon, delta, particles] :
       {Part{"d", 0.125, 0.125, 468623}, {"c", 0.5, 0.5, 405097}, {"b", 2.0, 1.0, 384531}}) {
    model.set_sizes(sizing(epsilon, delta), factor);
    const std::string row = fmt::format("{}, paper's scheme, epsilon {:g}, delta {:g}", model.name, epsilon, delta);
    std::optional<TriangleMesh> mesh =
        figure.mesh(model, row, placed_by(ParticleScheme::published, figure.threads()), particles);
    if (!mesh) continue;
    const std::string size =
        fmt::format("{}: {} points, {} triangles", row, mesh->vertex_count(), mesh->element_count());
    const bool first = !zoom;
    if (first) zoom = zoom_on(*mesh);
    const Scene scene = scene_of(std::move(*mesh), {bone});
    SceneView view{.to_eye = eye, .size = 420};
    if (first)
      pictures.push_back(picture_of("002-figure-6-a", fmt::format("(a) {}; what is enlarged is in the frame", size),
                                    scene.drawn_with_frame(view, *zoom)));
    view.zoom = zoom;
    pictures.push_back(
        picture_of(fmt::format("002-figure-6-{}", letter), fmt::format("({}) {}", letter, size), scene.drawn(view)));
  }
  std::sort(pictures.begin(), pictures.end(), [](const Picture& a, const Picture& b) { return a.name < b.name; });
  for (Picture& picture : pictures) figure.report().picture(std::move(picture));
  return figure.finish();
}

namespace {

/// How the particles of a mesh of Figure 9 are placed.
struct MeshWay {
  const char* name;
  const char* file;
  ParticleScheme scheme;
  Backend backend;
};
constexpr MeshWay mesh_ways[] = {{"paper's scheme", "paper", ParticleScheme::published, Backend::threads},
                                 {"paper's scheme, GPU", "paper-gpu", ParticleScheme::published, Backend::cuda},
                                 {"ours", "ours", ParticleScheme::ours, Backend::threads},
                                 {"ours, GPU", "ours-gpu", ParticleScheme::ours, Backend::cuda}};

/// Those of a model: on a GPU those that Table 1 stored, else placed here; none where there is neither.
std::optional<Particles> particles_of(const SurfaceModel& model, int number, const MeshWay& way, int threads,
                                      const BenchOptions& options) {
  const bool on_gpu = way.backend == Backend::cuda;
  if (on_gpu && !options.particles.empty())
    return stored_particles(options.particles / particle_file(number, model, way.scheme));
  if (on_gpu && !has_gpu()) return std::nullopt;
  return relaxed(model, placed_by(way.scheme, threads, way.backend)).particles;
}

}  // namespace

bool figure_002_9(const BenchOptions& options) {
  MeshFigure figure("002-figure-9", "Paper 002 Figure 9: meshes of heart, lungs and ribcage", options);
  if (!can_mesh(figure.report())) return figure.finish();
  std::vector<std::pair<Organ, const char*>> organs{
      {Organ::heart, "heart"}, {Organ::lungs, "lungs"}, {Organ::ribcage, "ribcage"}};
  if (!figure.full()) organs.resize(1);  // all are the same small blobs
  int number = 0;
  for (const auto& [organ, file] : organs) {
    const SurfaceModel model = surface_model(organ, options);
    note_missing(figure.report(), model);
    ++number;
    std::optional<Zoom> zoom;
    for (const MeshWay& way : mesh_ways) {
      const auto particles = particles_of(model, number, way, figure.threads(), options);
      if (!particles) continue;
      const std::string row = fmt::format("{}, {}", model.name, way.name);
      const std::optional<TriangleMesh> mesh = figure.mesh(model, row, *particles, way.scheme);
      if (!mesh) continue;
      const bool cut = organ == Organ::lungs && model.missing.empty();  // air: the outer side is that of the image
      const TriangleMesh shown = cut ? cut_open(*mesh) : *mesh;
      if (!zoom) zoom = zoom_on(shown);
      const std::string caption =
          fmt::format("{}: {} triangles{}; a part of it enlarged", row, mesh->element_count(), cut ? ", cut open" : "");
      const Scene scene = scene_of(shown, ratio_colors(shown, figure.threads()));
      figure.report().picture(picture_of(fmt::format("002-figure-9-{}-{}", file, way.file), caption,
                                         scene.drawn_with_zoom({.to_eye = eye, .size = 420}, *zoom),
                                         ratio_legend(*mesh, figure.threads())));
    }
  }
  return figure.finish();
}

}  // namespace isochron::bench
