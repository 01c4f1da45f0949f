#include "apps/viewer/server/surface_scene.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "apps/viewer/server/fields.h"
#include "apps/viewer/server/file_export.h"
#include "apps/viewer/server/image_pack.h"
#include "apps/viewer/server/throttle.h"
#include "isochron/core/error.h"
#include "isochron/core/parallel.h"
#include "isochron/core/timer.h"
#include "isochron/mesh/quality.h"
#include "isochron/surface/extract.h"
#include "isochron/surface/triangulate/delaunay.h"

namespace isochron::viewer {
namespace {

constexpr std::size_t histogram_bins = 256;
constexpr std::size_t quality_bins = 50;
constexpr std::size_t most_brushes = 500;
/// Clients whose particles and meshes are kept to be asked for.
constexpr std::size_t most_clients = 8;
/// More would keep a browser busy for minutes.
constexpr std::size_t most_particles = 400000;

/// How many finite values there are in equal parts of their range.
struct Histogram {
  std::vector<std::uint32_t> counts = std::vector<std::uint32_t>(histogram_bins, 0);
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  std::size_t not_finite = 0;

  explicit Histogram(const std::vector<float>& values) {
    for (const float value : values) {
      if (!std::isfinite(value)) {
        ++not_finite;
        continue;
      }
      low = std::min(low, static_cast<double>(value));
      high = std::max(high, static_cast<double>(value));
    }
    if (!(low < high)) return;
    for (const float value : values) {
      if (!std::isfinite(value)) continue;
      const double part = (static_cast<double>(value) - low) / (high - low);
      ++counts[std::min(static_cast<std::size_t>(part * histogram_bins), histogram_bins - 1)];
    }
  }
};

/// Where particles were at some moment, in the world.
struct ParticleFrame {
  std::vector<Vec3d> points;
  std::vector<Vec3f> normals;
  std::vector<double> sizes;
  std::size_t iteration = 0;
  double energy = 0;
};

ParticleFrame frame_of(std::span<const Particle<double>> particles, const LatticeFrame& frame) {
  ParticleFrame result;
  for (const Particle<double>& particle : particles) {
    const Vec3d normal = frame.to_world_direction(particle.normal);
    result.points.push_back(frame.to_world(particle.position));
    result.normals.push_back(
        {static_cast<float>(normal.x), static_cast<float>(normal.y), static_cast<float>(normal.z)});
    result.sizes.push_back(particle.size);
  }
  return result;
}

std::vector<SizeBrush> parse_brushes(const Json& body) {
  std::vector<SizeBrush> brushes;
  const Json* list = find_field(body, "brush");
  if (list == nullptr) return brushes;
  if (!list->is_array() || list->size() > most_brushes)
    throw InputError(fmt::format("'brush' is not a list of at most {} strokes; give one", most_brushes));
  for (const Json& stroke : *list)
    brushes.push_back({point_field(stroke, "point"), number_field(stroke, "radius"), number_field(stroke, "factor")});
  return brushes;
}

InsideIs parse_inside(const Json& body) {
  const std::string inside = text_field(body, "inside", "above");
  if (inside == "above") return InsideIs::above;
  if (inside == "below") return InsideIs::below;
  throw InputError(fmt::format("'inside' is '{}'; give above or below", inside));
}

/// By client, in place of what was kept for it before.
template <class Kept>
void keep(std::map<std::string, Kept>& all, const std::string& client, Kept kept) {
  if (all.size() >= most_clients && !all.contains(client)) all.clear();  // of clients that never took leave
  all[client] = std::move(kept);
}

/// With the arrays that the command gives its surfaces, and the quality.
Dataset dataset_of(ExtractedSurface surface, const std::vector<double>& quality) {
  Dataset dataset;
  restore_mesh(dataset, std::move(surface.mesh));
  dataset.point_data.set({"size", 1, std::vector<float>(surface.sizes.begin(), surface.sizes.end())});
  dataset.triangles.data.set({"radius_ratio", 1, std::vector<float>(quality.begin(), quality.end())});
  return dataset;
}

class SurfaceScene final : public Scene {
 public:
  SurfaceScene(VolumeImage image, int threads);

  [[nodiscard]] Json describe() const override { return description_; }
  Reply handle(const Call& call, Job& job, const Tell& tell) override;
  std::optional<Reply> glance(const Call& call) override;
  void forget(const std::string& client) override {
    meshes_.erase(client);
    const std::lock_guard lock(mutex_);
    frames_.erase(client);
    if (frames_.empty()) object_.reset();  // nobody plays with it any more, and it is larger than the image
  }

 private:
  /// The object of the last isovalue: somebody plays with sizes and brushes next.
  struct Object {
    double isovalue = 0;
    InsideIs inside = InsideIs::above;
    ImplicitSurface surface;
  };

  const ImplicitSurface& object_of(const Json& body, const Progress& progress);
  void show(const std::string& client, ParticleFrame frame);
  Reply surface(const Json& body, Job& job, const Tell& tell);
  [[nodiscard]] Reply write(const Json& body) const;
  [[nodiscard]] Reply histogram() const;

  ImageGrid grid_;
  std::vector<float> values_;
  std::string name_;
  Histogram histogram_;
  int threads_;
  std::optional<Object> object_;
  Json description_;
  std::string why_not_;
  std::map<std::string, Dataset> meshes_;  ///< the last one of each client
  std::mutex mutex_;
  std::map<std::string, ParticleFrame> frames_;  ///< by client; guarded
};

SurfaceScene::SurfaceScene(VolumeImage image, int threads)
    : grid_(image.grid),
      values_(std::move(image.values)),
      name_(std::move(image.name)),
      histogram_(values_),
      threads_(threads > 0 ? threads : hardware_threads()) {
  if (!delaunay_available()) why_not_ = "surfaces are not in this build (CGAL was not found); build with CGAL";
  else if (grid_.flat()) why_not_ = "the image is flat (surfaces need three dimensions); give a volume";
  else if (!(histogram_.low < histogram_.high))
    why_not_ = "all values are the same, so there is no surface; give another";
  description_ = describe_image(grid_, "volume");
  description_["arrays"] = {{{"name", "values"},
                             {"on", "points"},
                             {"components", 1},
                             {"low", finite_or_null(histogram_.low)},
                             {"high", finite_or_null(histogram_.high)}}};
  description_["solvable"] = why_not_.empty();
  description_["why"] = why_not_;
  description_["warnings"] = image.warnings;
  if (histogram_.not_finite > 0)
    description_["warnings"].push_back(
        fmt::format("{} voxels are NaN or infinite; they count as outside", histogram_.not_finite));
}

Reply SurfaceScene::handle(const Call& call, Job& job, const Tell& tell) {
  if (call.name == "histogram") return histogram();
  if (call.name == "surface") return surface(call.body, job, tell);
  if (call.name == "export") return write(call.body);
  if (call.name == "volume/values") {
    Pack pack;
    add_volume(pack, "values", grid_, values_);
    return Reply::of(pack);
  }
  throw UnknownCall(call.name);
}

std::optional<Reply> SurfaceScene::glance(const Call& call) {
  if (call.name != "surface/particles") return std::nullopt;
  const std::string client = text_field(call.body, "client", "");
  ParticleFrame frame;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = frames_.find(client); found != frames_.end()) frame = found->second;
  }
  Pack pack;
  pack.add_points("points", frame.points, "mm");
  add_vectors(pack, "normals", frame.normals);
  pack.add_values("sizes", frame.sizes, "mm");
  pack.meta = {{"iteration", frame.iteration}, {"count", frame.points.size()}, {"energy", frame.energy}};
  return Reply::of(pack);
}

Reply SurfaceScene::histogram() const {
  Pack pack;
  pack.add_integers("counts", histogram_.counts);
  pack.meta = {{"low", finite_or_null(histogram_.low)},
               {"high", finite_or_null(histogram_.high)},
               {"not_finite", histogram_.not_finite}};
  return Reply::of(pack);
}

const ImplicitSurface& SurfaceScene::object_of(const Json& body, const Progress& progress) {
  const double isovalue = number_field(body, "isovalue");
  FieldOptions options;
  options.inside = parse_inside(body);
  options.threads = threads_;
  if (!object_ || object_->isovalue != isovalue || object_->inside != options.inside) {
    object_.reset();
    object_ = Object{isovalue, options.inside, from_isovalue(grid_, values_, isovalue, options, progress)};
  }
  return object_->surface;
}

void SurfaceScene::show(const std::string& client, ParticleFrame frame) {
  const std::lock_guard lock(mutex_);
  keep(frames_, client, std::move(frame));
}

Json quality_of(const ShapeStatistics& shape) {
  return {{"mean", shape.radius_ratio.mean()},
          {"min", shape.radius_ratio.min()},
          {"smallest_angle", shape.smallest_angle.min()},
          {"largest_angle", shape.largest_angle.max()}};
}

Reply SurfaceScene::surface(const Json& body, Job& job, const Tell& tell) {
  if (!why_not_.empty()) throw InputError(why_not_);
  const Timer timer;
  Throttle throttle;
  const auto stage = [&](const std::string& name) {
    tell("progress", {{"stage", name}, {"fraction", 0}});
    return job.progress([&, name](double fraction) {
      if (throttle.passes()) tell("progress", {{"stage", name}, {"fraction", fraction}});
    });
  };
  ExtractOptions options;
  options.threads = threads_;
  options.most_particles = most_particles;
  options.sizing.epsilon = number_field(body, "epsilon", options.sizing.epsilon);
  options.sizing.delta = number_field(body, "delta", options.sizing.delta);
  options.sizing.uniform = number_field(body, "uniform", 0);
  options.sizing.brushes = parse_brushes(body);
  options.begin_stage = stage;
  const ImplicitSurface& object = object_of(body, stage("distances"));
  options.particles.show = [&, count = std::size_t{0}](const RelaxIteration& iteration,
                                                       std::span<const Particle<double>> now) mutable {
    ParticleFrame frame = frame_of(now, object.frame);
    frame.iteration = ++count;
    frame.energy = iteration.energy;
    show(job.client(), std::move(frame));
    tell("particles", {{"iteration", count}, {"count", now.size()}, {"energy", iteration.energy}});
  };
  ExtractedSurface made = extract_surface(object, options);
  const ShapeStatistics shape = shape_statistics(made.mesh, threads_);

  Pack pack;
  add_mesh(pack, "", made.mesh);
  const std::vector<double> quality = radius_ratios(made.mesh, threads_);
  pack.add_values("quality", quality);
  pack.add_values("sizes", made.sizes, "mm");
  const auto bins = shape.radius_ratio.histogram(quality_bins);
  pack.add_integers("histogram", std::vector<std::uint32_t>(bins.begin(), bins.end()));
  pack.meta = {{"seq", body.value("seq", Json())},       {"vertices", made.mesh.vertex_count()},
               {"triangles", made.mesh.element_count()}, {"particles", made.particles},
               {"iterations", made.iterations.size()},   {"converged", made.converged},
               {"quality", quality_of(shape)},           {"differences", made.triangulation.differences.size()},
               {"backend", name_of(made.backend)},       {"relax_milliseconds", 1000 * made.times.relaxing},
               {"milliseconds", 1000 * timer.seconds()}, {"notes", made.notes}};
  keep(meshes_, job.client(), dataset_of(std::move(made), quality));
  return Reply::of(pack);
}

Reply SurfaceScene::write(const Json& body) const {
  const std::string format = text_field(body, "format");
  check_format(format, mesh_formats(WrittenCells::elements));
  const auto found = meshes_.find(text_field(body, "client", ""));
  if (found == meshes_.end())
    throw InputError("there is no surface yet (or it was dropped for newer ones); ask for one first");
  return mesh_file(found->second, fmt::format("{}-surface.{}", name_, format));
}

}  // namespace

std::unique_ptr<Scene> make_surface_scene(VolumeImage image, int threads) {
  return std::make_unique<SurfaceScene>(std::move(image), threads);
}

}  // namespace isochron::viewer
