#include "apps/viewer/server/scenes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "apps/viewer/server/file_export.h"
#include "apps/viewer/server/scene_packing.h"
#include "isochron/core/parallel.h"
#include "isochron/core/timer.h"
#include "isochron/error.h"
#include "isochron/mesh_quality.h"
#include "isochron/surface.h"
#include "isochron/surface/field/frame.h"
#include "isochron/surface/option_tables.h"
#include "isochron/surface/triangulate/delaunay.h"

namespace isochron::viewer {
namespace {

constexpr std::size_t histogram_bins = 256;
constexpr std::size_t quality_bins = 50;
constexpr std::size_t max_brushes = 500;
/// Clients whose particles and meshes are kept to be asked for.
constexpr std::size_t max_clients = 8;
/// More would keep a browser busy for minutes.
constexpr std::size_t max_particles = 400000;

/// How many finite values there are in equal parts of their range. Where all are the same that range is one point, and
/// all are counted in the first part.
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
    for (const float value : values) {
      if (!std::isfinite(value)) continue;
      const double part = low < high ? (static_cast<double>(value) - low) / (high - low) : 0;
      ++counts[std::min(static_cast<std::size_t>(part * histogram_bins), histogram_bins - 1)];
    }
  }
};

/// Maps of a whole brain have some 100 to 200; images of grey values in 8 bits have up to 256.
constexpr std::size_t max_labels = 200;

bool whole(float value) { return std::abs(value) < 0x1p31F && value == std::round(value); }

/// The labels of an image with how many voxels have each: its values, when these are whole numbers and few. Empty when
/// they are not. Voxels without a number have no label.
std::map<std::int32_t, std::size_t> label_counts(std::span<const float> values) {
  std::map<std::int32_t, std::size_t> counts;
  // Neighbours mostly have the same label, so most voxels need no search.
  auto last = counts.end();
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    if (!whole(value)) return {};
    const auto label = static_cast<std::int32_t>(value);
    if (last == counts.end() || last->first != label) last = counts.try_emplace(label, 0).first;
    ++last->second;
    if (counts.size() > max_labels) return {};
  }
  return counts;
}

/// The values as labels; voxels without a number get the least integer. Throws InputError when a value is not whole.
std::vector<std::int32_t> as_labels(std::span<const float> values) {
  std::vector<std::int32_t> labels;
  labels.reserve(values.size());
  for (const float value : values) {
    if (std::isfinite(value) && !whole(value))
      throw InputError(
          fmt::format("the image is no label map (voxel {} is {}); give an isovalue", labels.size(), value));
    labels.push_back(std::isfinite(value) ? static_cast<std::int32_t>(value)
                                          : std::numeric_limits<std::int32_t>::min());
  }
  return labels;
}

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

std::vector<SizeBrush> parse_brushes(Fields& fields) {
  std::vector<SizeBrush> brushes;
  for (Fields& stroke : fields.objects("brush", max_brushes)) {
    const double factor = stroke.within("factor", {SizeBrush::smallest_factor, SizeBrush::largest_factor});
    brushes.push_back({stroke.point("point"), stroke.positive("radius"), factor});
    stroke.done();
  }
  return brushes;
}

/// Reads the options of a table that the page offers: lengths, which are positive.
struct ReadFields {
  Fields& fields;

  void operator()(const OptionText& text, double& field) const {
    if (fields.has(text.name)) field = fields.positive(text.name);
  }
  void operator()(const OptionText&, SizeRange) const {}
  void operator()(const OptionText& text, InsideIs& side) const {
    constexpr auto sides = choices_of(InsideIs());
    side = fields.word(text.name, {sides[0].name, sides[1].name}) == sides[0].name ? sides[0].value : sides[1].value;
  }
};

/// How large the triangles are to be.
SizingOptions parse_sizing(Fields& fields) {
  SizingOptions sizing;
  fields.exclude({"uniform", "epsilon"});
  fields.exclude({"uniform", "delta"});
  each_option(sizing, ReadFields{fields});
  sizing.brushes = parse_brushes(fields);
  return sizing;
}

/// A whole number; empty when it is not given.
std::optional<std::int32_t> parse_label(Fields& fields) {
  if (!fields.has("label")) return std::nullopt;
  const double label = fields.number("label");
  if (label != std::round(label) || std::abs(label) > std::numeric_limits<std::int32_t>::max())
    throw RequestError(fmt::format("'label' is {} (labels are whole numbers); give one of the image", label));
  return static_cast<std::int32_t>(label);
}

/// Where the surface is: around a label, or else where values pass an isovalue.
struct Level {
  std::optional<std::int32_t> label;
  double isovalue = 0;
  InsideIs inside = InsideIs::above;

  explicit Level(Fields& fields) : label(parse_label(fields)) {
    fields.choose({"label", "isovalue"});
    fields.exclude({"label", "inside"});  // labels have no order
    if (label) return;
    isovalue = fields.number("isovalue");
    FieldOptions field;
    each_level_option(field, ReadFields{fields});
    inside = field.inside;
  }
  friend bool operator==(const Level&, const Level&) = default;
};

/// Values and numbers of voxels; null for an image that is no label map, or has one label.
Json describe_labels(std::span<const float> values) {
  Json labels = Json::array();
  for (const auto& [label, voxels] : label_counts(values)) labels.push_back({{"value", label}, {"voxels", voxels}});
  return labels.size() < 2 ? Json(nullptr) : labels;
}

/// By client, in place of what was kept for it before.
template <class Kept>
void keep(std::map<std::string, Kept>& all, const std::string& client, Kept kept) {
  if (all.size() >= max_clients && !all.contains(client)) all.clear();  // of clients that never took leave
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

/// Empty when surfaces can be made.
std::string why_no_surface(const ImageGrid& grid, const Histogram& histogram) {
  if (histogram.not_finite == grid.voxel_count())
    return "no voxel has a number (all are NaN or infinite, so there is nothing to see); give another image";
  if (grid.flat()) return "the image is flat (surfaces need three dimensions); give a volume";
  if (histogram.low == histogram.high)
    return fmt::format("all values are {:g}, so no surface lies between them; give another image", histogram.low);
  if (!delaunay_available()) return "surfaces are not in this build (CGAL was not found); build with CGAL";
  return {};
}

Json quality_of(const ShapeStatistics& shape) {
  return {{"mean", shape.radius_ratio.mean()},
          {"min", shape.radius_ratio.min()},
          {"smallest_angle", shape.smallest_angle.min()},
          {"largest_angle", shape.largest_angle.max()}};
}

class SurfaceScene final : public Scene {
 public:
  SurfaceScene(VolumeImage image, const ComputeOptions& compute)
      : grid_(image.grid),
        values_(std::move(image.values)),
        name_(std::move(image.name)),
        units_(std::move(image.units)),
        histogram_(values_),
        threads_(compute.threads > 0 ? compute.threads : hardware_threads()),
        backend_(compute.backend) {
    why_not_ = why_no_surface(grid_, histogram_);
    description_ = describe_image(grid_, "volume", units_);
    description_["arrays"] = {{{"name", "values"},
                               {"on", "points"},
                               {"components", 1},
                               {"low", finite_or_null(histogram_.low)},
                               {"high", finite_or_null(histogram_.high)}}};
    description_["labels"] = describe_labels(values_);
    description_["solvable"] = why_not_.empty();
    description_["why"] = why_not_;
    description_["warnings"] = image.warnings;
    if (histogram_.not_finite > 0 && histogram_.not_finite < values_.size())
      description_["warnings"].push_back(
          fmt::format("{} voxels are NaN or infinite; they count as outside", histogram_.not_finite));
  }

  [[nodiscard]] Json describe() const override { return description_; }

  [[nodiscard]] std::span<const Question> questions() const override {
    static constexpr Question all[]{{"histogram", Asked::get},
                                    {"volume/values", Asked::get},
                                    {"surface/particles", Asked::get},
                                    {"surface", Asked::post},
                                    {"export", Asked::post}};
    return all;
  }

  [[nodiscard]] bool can_answer(std::string_view question) const override {
    return why_not_.empty() || question == "histogram" || question == "volume/values";
  }

  Reply handle(const Call& call, Job& job, const Notify& notify) override {
    Fields fields = call.fields();
    if (call.name == "histogram") return histogram(fields);
    if (call.name == "volume/values") return values(fields);
    if (call.name == "surface") return surface(fields, job, notify);
    if (call.name == "export") return write(fields);
    throw UnknownCall(call.name);
  }

  std::optional<Reply> glance(const Call& call) override {
    if (call.name != "surface/particles") return std::nullopt;
    Fields fields = call.fields();
    const std::string client = fields.client();
    fields.done();
    ParticleFrame frame;
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = frames_.find(client); found != frames_.end()) frame = found->second;
    }
    Pack pack;
    pack.add_points("points", frame.points, units_);
    add_vectors(pack, "normals", frame.normals);
    pack.add_values("sizes", frame.sizes, units_);
    pack.meta = {{"iteration", frame.iteration}, {"count", frame.points.size()}, {"energy", frame.energy}};
    return Reply::of(pack);
  }

  void forget(const std::string& client) override {
    meshes_.erase(client);
    const std::lock_guard lock(mutex_);
    frames_.erase(client);
    if (frames_.empty()) object_.reset();  // it is not needed any more, and it is larger than the image
  }

 private:
  /// The object of the last isovalue or label: sizes and brushes mostly change next.
  struct Object {
    Level level;
    ImplicitSurface surface;
  };

  const ImplicitSurface& object_of(const Level& level, const Progress& progress) {
    if (object_ && object_->level == level) return object_->surface;
    object_.reset();
    FieldOptions options;
    options.threads = threads_;
    options.backend = backend_;
    options.inside = level.inside;
    object_ = Object{level, level.label ? from_labels(grid_, as_labels(values_), {*level.label}, options, progress)
                                        : from_isovalue(grid_, values_, level.isovalue, options, progress)};
    return object_->surface;
  }

  void show(const std::string& client, ParticleFrame frame) {
    const std::lock_guard lock(mutex_);
    keep(frames_, client, std::move(frame));
  }

  Reply surface(Fields& fields, Job& job, const Notify& notify) {
    if (!why_not_.empty()) throw InputError(why_not_);
    const Timer timer;
    const Level level(fields);
    ExtractOptions options;
    options.sizing = parse_sizing(fields);
    fields.done();
    Throttle throttle;
    const auto stage = [&](const std::string& name) {
      notify("progress", {{"stage", name}, {"fraction", 0}});
      return job.progress([&, name](double fraction) {
        if (throttle.passes()) notify("progress", {{"stage", name}, {"fraction", fraction}});
      });
    };
    options.threads = threads_;
    options.backend = backend_;
    options.max_particles = max_particles;
    options.begin_stage = stage;
    const ImplicitSurface& object = object_of(level, stage("distances"));
    options.particles.show = [&, count = std::size_t{0}](const RelaxIteration& iteration,
                                                         std::span<const Particle<double>> now) mutable {
      ParticleFrame frame = frame_of(now, object.frame);
      frame.iteration = ++count;
      frame.energy = iteration.energy;
      show(job.client(), std::move(frame));
      notify("particles", {{"iteration", count}, {"count", now.size()}, {"energy", iteration.energy}});
    };
    ExtractedSurface made = extract_surface(object, options);
    const ShapeStatistics shape = shape_statistics(made.mesh, threads_);

    Pack pack;
    add_triangles(pack, "", made.mesh.points, made.mesh.elements, units_);
    const std::vector<double> quality = radius_ratios(made.mesh, threads_);
    pack.add_values("quality", quality);
    pack.add_values("sizes", made.sizes, units_);
    const auto bins = shape.radius_ratio.histogram(quality_bins);
    pack.add_integers("histogram", std::vector<std::uint32_t>(bins.begin(), bins.end()));
    pack.meta = {{"seq", sequence_of(fields)},
                 {"vertices", made.mesh.vertex_count()},
                 {"triangles", made.mesh.element_count()},
                 {"particles", made.particles},
                 {"iterations", made.iterations.size()},
                 {"converged", made.converged},
                 {"quality", quality_of(shape)},
                 {"differences", made.triangulation.differences.size()},
                 {"backend", name_of(made.backend)},
                 {"relax_milliseconds", 1000 * made.times.relaxing},
                 {"milliseconds", 1000 * timer.seconds()},
                 {"notes", surface_notes(made)}};
    keep(meshes_, job.client(), dataset_of(std::move(made), quality));
    return Reply::of(pack);
  }

  [[nodiscard]] Reply write(Fields& fields) const {
    const std::string format = fields.text("format");
    fields.done();
    check_format(format, mesh_formats(WrittenCells::elements));
    const auto found = meshes_.find(fields.client());
    if (found == meshes_.end())
      throw InputError("there is no surface yet (or it was dropped for newer ones); ask for one first");
    return mesh_file(found->second, fmt::format("{}-surface.{}", name_, format));
  }

  [[nodiscard]] Reply histogram(Fields& fields) const {
    fields.done();
    Pack pack;
    pack.add_integers("counts", histogram_.counts);
    pack.meta = {{"low", finite_or_null(histogram_.low)},
                 {"high", finite_or_null(histogram_.high)},
                 {"not_finite", histogram_.not_finite}};
    return Reply::of(pack);
  }

  [[nodiscard]] Reply values(Fields& fields) const {
    fields.done();
    Pack pack;
    add_volume(pack, "values", grid_, values_);
    return Reply::of(pack);
  }

  ImageGrid grid_;
  std::vector<float> values_;
  std::string name_, units_;
  Histogram histogram_;
  int threads_;
  Backend backend_;
  std::optional<Object> object_;
  Json description_;
  std::string why_not_;
  std::map<std::string, Dataset> meshes_;  ///< the last one of each client
  std::mutex mutex_;
  std::map<std::string, ParticleFrame> frames_;  ///< by client; guarded
};

}  // namespace

std::vector<std::string> surface_notes(const ExtractedSurface& made) {
  std::vector<std::string> notes = made.notes;
  if (!made.converged)
    notes.push_back(fmt::format(
        "the particles had not settled after {} iterations, so triangles may be uneven; look at their quality, or ask "
        "for more iterations with 'isochron surface --iterations'",
        made.iterations.size()));
  return notes;
}

std::unique_ptr<Scene> make_surface_scene(VolumeImage image, const ComputeOptions& compute) {
  return std::make_unique<SurfaceScene>(std::move(image), compute);
}

}  // namespace isochron::viewer
