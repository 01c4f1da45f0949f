#include "apps/viewer/server/scenes.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "apps/viewer/server/file_export.h"
#include "apps/viewer/server/scene_packing.h"
#include "isochron/connect.h"
#include "isochron/core/join_text.h"
#include "isochron/core/parallel.h"
#include "isochron/core/timer.h"
#include "isochron/diffusion.h"
#include "isochron/draw/color_map.h"
#include "isochron/draw/image_isosurface.h"
#include "isochron/draw/shaded_mesh.h"
#include "isochron/error.h"

namespace isochron::viewer {
namespace {

/// Sharpenings that are ready at the same time: the slider is dragged to and fro.
constexpr std::size_t max_prepared = 3;
/// Pathways that are kept, of all clients: those not asked about for longest are dropped.
constexpr std::size_t max_pathways = 24;
constexpr std::size_t max_name_length = 100;
constexpr std::uint32_t max_glyphs = 50000;

double smallest_spacing(const ImageGrid& grid) {
  double result = std::min(grid.spacing(0), grid.spacing(1));
  if (!grid.flat()) result = std::min(result, grid.spacing(2));
  return result;
}

/// A metric and what is prepared for it; stays where it is, as the connector refers to it.
struct Prepared {
  double alpha = 0;
  DiffusionMetric metric;
  std::unique_ptr<Connector> connector;
  std::uint64_t used = 0;
};

/// Whose pathway, and which of them; the name is empty where it was not given.
struct PathwayName {
  std::string client, name;
  explicit PathwayName(Fields& fields) : client(fields.client()), name(fields.label("name", max_name_length)) {
    if (name.empty()) fields.check_spelling("name");
  }
  friend bool operator==(const PathwayName&, const PathwayName&) = default;
};

/// All voxels in a ball.
struct Ball {
  const char* which;
  SphereRegion sphere;
};

Ball parse_ball(Fields& fields, const char* which) {
  Fields asked = fields.object(which);
  const Ball ball{which, {asked.point("point"), asked.within("radius", 0, {0})}};
  asked.done();
  return ball;
}

/// What was found, as far as it is asked about again.
struct Pathway {
  PathwayName of;
  std::vector<float> cost{};
  std::vector<VertexId> voxels{};
  Path path{};
  PathStatistics statistics{};
  double least_cost = 0;
  std::uint64_t used = 0;
};

/// Negative in the pathway, and zero where the cost is that of its border; voxels beside it that are as cheap, but
/// belong to no way between the regions, have no value.
std::vector<float> around_pathway(const Connection& connection) {
  constexpr double min_inside = 1e-4;  // a voxel at the border is in the pathway all the same
  const double border = (1 + connection.pathway_epsilon) * connection.least_cost;
  std::vector<float> values(connection.cost.size(), std::numeric_limits<float>::quiet_NaN());
  for (std::size_t v = 0; v < values.size(); ++v) {
    const double beyond = connection.cost[v] / border - 1;
    if (connection.pathway[v] != 0) values[v] = static_cast<float>(std::min(beyond, -min_inside));
    else if (beyond > 0 && std::isfinite(beyond)) values[v] = static_cast<float>(beyond);
  }
  return values;
}

/// A client's name for something as a part of a file's name.
std::string plain_name(std::string name) {
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-') c = '_';
  return name;
}

void add_path(Pack& pack, const Path& path, const PathStatistics& statistics, double tube_radius,
              const std::string& units) {
  pack.add_points("path", path.points, units);
  const auto profile = [&](const char* name, auto value_of, const std::string& in) {
    const auto values = pack.floats(name, {statistics.profile.size()}, in);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(value_of(statistics.profile[i]));
  };
  profile(
      "profile_distance", [](const PathSample& s) { return s.distance; }, units);
  profile(
      "profile_fa", [](const PathSample& s) { return s.anisotropy; }, "");
  profile(
      "profile_cost", [](const PathSample& s) { return s.local_cost; }, "");
  pack.add_values("profile_total", path.times);
  const Tube tube = make_tube(path.points, {.radius = tube_radius});
  add_triangles(pack, "tube_", tube.mesh.points, tube.mesh.elements, units);
  add_vectors(pack, "tube_normals", tube.normals);
  pack.add_integers("tube_point", tube.point_of);
}

class TensorScene final : public Scene {
 public:
  TensorScene(TensorImage image, const ComputeOptions& compute)
      : grid_(image.grid),
        name_(std::move(image.name)),
        units_(std::move(image.units)),
        tensors_(std::move(image.tensors)),
        usable_(std::move(image.mask)),
        threads_(compute.threads > 0 ? compute.threads : hardware_threads()),
        backend_(compute.backend) {
    DiffusionMetricOptions options;
    options.threads = threads_;
    DiffusionMetric metric = diffusion_metric(tensors_, usable_, options);
    usable_ = metric.usable;
    for (std::size_t v = 0; v < tensors_.size(); ++v)
      if (usable_[v] == 0) tensors_[v] = {};
    describe_tensors(metric.counts, image.warnings);
    prepare(options.alpha);  // so that the first pick is answered as soon as the others
  }

  [[nodiscard]] Json describe() const override { return description_; }

  [[nodiscard]] std::span<const Question> questions() const override {
    static constexpr Question all[]{{"volume/fa", Asked::get},   {"volume/direction", Asked::get},
                                    {"volume/cost", Asked::get}, {"connect", Asked::post},
                                    {"glyphs", Asked::post},     {"export", Asked::post},
                                    {"remove", Asked::post}};
    return all;
  }

  Reply handle(const Call& call, Job& job, const Notify& notify) override {
    Fields fields = call.fields();
    if (call.name == "volume/fa") return anisotropy(fields);
    if (call.name == "volume/direction") return directions(fields);
    if (call.name == "volume/cost") return cost(fields);
    if (call.name == "connect") return connect(fields, job, notify);
    if (call.name == "glyphs") return glyphs(fields);
    if (call.name == "export") return write(fields);
    if (call.name == "remove") return remove(fields);
    throw UnknownCall(call.name);
  }

  void forget(const std::string& client) override {
    std::erase_if(pathways_, [&](const auto& pathway) { return pathway->of.client == client; });
    if (!pathways_.empty()) return;
    // No slider is dragged any more: what the next first pick needs is enough.
    std::erase_if(prepared_, [](const auto& prepared) { return prepared->alpha != DiffusionMetricOptions{}.alpha; });
  }

 private:
  Prepared& prepare(double alpha) {
    const auto found = std::find_if(prepared_.begin(), prepared_.end(),
                                    [&](const auto& prepared) { return prepared->alpha == alpha; });
    if (found != prepared_.end()) {
      (*found)->used = ++clock_;
      return **found;
    }
    auto fresh = std::make_unique<Prepared>();
    fresh->alpha = alpha;
    DiffusionMetricOptions metric;
    metric.alpha = alpha;
    metric.threads = threads_;
    fresh->metric = diffusion_metric(tensors_, usable_, metric);
    SolveOptions options;
    options.threads = threads_;
    options.backend = backend_;
    options.expected_solves = ExpectedSolves::many;
    options.progress = {[this](double fraction) {
                          if (report_) report_(fraction);
                        },
                        &stop_};
    fresh->connector = std::make_unique<Connector>(GridDomain{grid_, fresh->metric.metric, usable_}, options);
    fresh->used = ++clock_;
    if (prepared_.size() >= max_prepared)
      prepared_.erase(std::min_element(prepared_.begin(), prepared_.end(),
                                       [](const auto& a, const auto& b) { return a->used < b->used; }));
    prepared_.push_back(std::move(fresh));
    return *prepared_.back();
  }

  [[nodiscard]] Region region(const Ball& ball, const Prepared& prepared) const {
    return inside_mask(make_region({ball.which, ball.sphere}, grid_, {}), grid_, prepared.metric.usable);
  }

  Pathway& pathway_of(const PathwayName& wanted) {
    if (wanted.name.empty())
      throw RequestError(fmt::format("'name' is missing (of which pathway?); {}", listed_pathways(wanted.client)));
    for (const auto& pathway : pathways_) {
      if (pathway->of != wanted) continue;
      pathway->used = ++clock_;
      return *pathway;
    }
    throw InputError(fmt::format("there is no pathway '{}' (or it was dropped for newer ones); {}", wanted.name,
                                 listed_pathways(wanted.client)));
  }

  /// What to do about a pathway whose name is not known.
  [[nodiscard]] std::string listed_pathways(const std::string& client) const {
    std::vector<std::string> names;
    for (const auto& pathway : pathways_)
      if (pathway->of.client == client) names.push_back(fmt::format("'{}'", pathway->of.name));
    return names.empty() ? "connect regions first" : fmt::format("this client has {}", join_text(names, ", "));
  }

  void keep(const PathwayName& as, const Connection& connection, const PathStatistics& statistics) {
    auto kept = std::make_unique<Pathway>(Pathway{as});
    kept->cost.assign(connection.cost.begin(), connection.cost.end());
    for (std::size_t v = 0; v < connection.pathway.size(); ++v)
      if (connection.pathway[v] != 0) kept->voxels.emplace_back(v);
    kept->path = connection.path;
    kept->statistics = statistics;
    kept->least_cost = connection.least_cost;
    kept->used = ++clock_;
    std::erase_if(pathways_, [&](const auto& other) { return other->of == as; });
    if (pathways_.size() >= max_pathways)
      pathways_.erase(std::min_element(pathways_.begin(), pathways_.end(),
                                       [](const auto& a, const auto& b) { return a->used < b->used; }));
    pathways_.push_back(std::move(kept));
  }

  void describe_tensors(const DiffusionCounts& counts, const std::vector<std::string>& warnings) {
    description_ = describe_image(grid_, "tensors", units_);
    description_["voxels"] = counts.usable;
    description_["arrays"] = {{{"name", "fa"}, {"on", "points"}, {"components", 1}, {"low", 0}, {"high", 1}}};
    description_["solvable"] = true;
    description_["why"] = "";
    description_["warnings"] = warnings;
    if (counts.not_positive_definite > 0)
      description_["warnings"].push_back(
          fmt::format("{} of {} tensors are not positive definite; their eigenvalues were raised",
                      counts.not_positive_definite, counts.usable));
    if (counts.not_finite > 0)
      description_["warnings"].push_back(
          fmt::format("{} voxels with NaN or infinite tensors are left out", counts.not_finite));
  }

  [[nodiscard]] Reply anisotropy(Fields& fields) const {
    fields.done();
    Pack pack;
    const auto values = pack.floats("values", volume_shape(grid_));
    parallel_for(threads_, values.size(), [&](std::size_t v) {
      // Above 1 only where eigenvalues are negative, which is noise.
      values[v] = static_cast<float>(std::min(fractional_anisotropy(tensors_[v]), 1.0));
    });
    return Reply::of(pack);
  }

  [[nodiscard]] Reply directions(Fields& fields) const {
    fields.done();
    Pack pack;
    Pack::Shape shape = volume_shape(grid_);
    shape.push_back(3);
    const auto colors = pack.bytes("values", std::move(shape));
    parallel_for(threads_, tensors_.size(), [&](std::size_t v) {
      if (usable_[v] == 0) return;
      const Color color = direction_color(principal_direction(tensors_[v]), fractional_anisotropy(tensors_[v]));
      std::copy(color.begin(), color.end(), colors.begin() + static_cast<std::ptrdiff_t>(3 * v));
    });
    return Reply::of(pack);
  }

  Reply cost(Fields& fields) {
    const PathwayName name(fields);
    fields.done();
    const Pathway& pathway = pathway_of(name);
    Pack pack;
    add_volume(pack, "values", grid_, pathway.cost);
    double largest = pathway.least_cost;
    for (const float value : pathway.cost)
      if (std::isfinite(value)) largest = std::max(largest, static_cast<double>(value));
    pack.meta = {{"name", pathway.of.name}, {"low", pathway.least_cost}, {"high", largest}};
    return Reply::of(pack);
  }

  Reply connect(Fields& fields, Job& job, const Notify& notify) {
    const PathwayName name(fields);
    if (name.name.empty()) throw RequestError("'name' is missing (the pathway is kept by it); choose one");
    const Ball from = parse_ball(fields, "from"), to = parse_ball(fields, "to");
    DiffusionMetricOptions metric;
    ConnectQuery query;
    metric.alpha = fields.within("alpha", metric.alpha, {0, DiffusionMetricOptions::max_alpha});
    const double tube_radius =
        fields.has("tube_radius") ? fields.positive("tube_radius") : 0.5 * smallest_spacing(grid_);
    query.epsilon = fields.within("epsilon", query.epsilon, {0});
    fields.done();
    const Timer timer;
    const Job::Watch watch(job, stop_);
    const Reporting reporting(report_, notify, "connecting");
    Prepared& prepared = prepare(metric.alpha);
    query.from = region(from, prepared);
    query.to = region(to, prepared);
    const Connection connection = prepared.connector->connect(query);
    job.progress().update(1);
    const PathStatistics statistics =
        path_statistics(connection.path.points, {grid_, tensors_, usable_}, prepared.metric.metric);
    keep(name, connection, statistics);

    Pack pack;
    add_path(pack, connection.path, statistics, tube_radius, units_);
    const TriangleMesh around = image_isosurface(grid_, around_pathway(connection), 0, Enclose::below);
    add_triangles(pack, "pathway_", around.points, around.elements, units_);
    add_vectors(pack, "pathway_normals", vertex_normals(around));
    pack.meta = {{"seq", sequence_of(fields)},
                 {"name", name.name},
                 {"cost", connection.mean_cost()},
                 {"least_cost", connection.least_cost},
                 {"length", statistics.length},
                 {"mean_fa", finite_or_null(statistics.mean_anisotropy)},
                 {"least_fa", finite_or_null(statistics.min_anisotropy)},
                 {"voxels", connection.pathway_voxels},
                 {"volume", connection.pathway_volume},
                 {"epsilon", connection.pathway_epsilon},
                 {"converged", connection.work.converged},
                 {"backend", name_of(connection.work.backend)},
                 {"threads", connection.work.threads},
                 {"solve_milliseconds", 1000 * connection.work.solve_seconds},
                 {"milliseconds", 1000 * timer.seconds()},
                 {"notes", connection.notes}};
    return Reply::of(pack);
  }

  Reply glyphs(Fields& fields) {
    const PathwayName name(fields);
    const std::size_t most = fields.whole("most", 5000, {1, max_glyphs});
    fields.done();
    const Pathway& pathway = pathway_of(name);
    // Evenly spread where there are more voxels than glyphs.
    const std::size_t count = std::min(most, pathway.voxels.size());
    std::vector<TensorAt> chosen;
    for (std::size_t g = 0; g < count; ++g) {
      const VertexId voxel = pathway.voxels[g * pathway.voxels.size() / count];
      chosen.push_back({grid_.position(voxel), tensors_[voxel.index()]});
    }
    const ShadedMesh mesh = superquadric_glyphs(chosen, {.size = 0.475 * smallest_spacing(grid_), .threads = threads_});
    Pack pack;
    add_triangles(pack, "", mesh.mesh.points, mesh.mesh.elements, units_);
    add_vectors(pack, "normals", mesh.normals);
    const auto colors = pack.bytes("colors", {mesh.colors.size(), 3});
    for (std::size_t i = 0; i < colors.size(); ++i) colors[i] = mesh.colors[i / 3][i % 3];
    pack.meta = {{"name", pathway.of.name}, {"glyphs", count}, {"voxels", pathway.voxels.size()}};
    return Reply::of(pack);
  }

  Reply write(Fields& fields) {
    static const std::vector<std::string> known{"tck", "vtp", "csv", "nii.gz"};
    const PathwayName name(fields);
    const std::string format = fields.text("format");
    check_format(format, known);
    const bool said = fields.has("what");
    const std::string what = fields.word("what", {"pathway", "cost"});
    fields.done();
    if (said && format != "nii.gz") throw RequestError("'what' is for nii.gz (the others hold the path); leave it out");
    const Pathway& pathway = pathway_of(name);
    const std::string stem = fmt::format("{}-{}", name_, plain_name(name.name));
    if (format == "csv")
      return {profile_csv(pathway.path, pathway.statistics), "text/csv", fmt::format("{}-profile.csv", stem)};
    if (format != "nii.gz")
      return mesh_file(path_dataset(pathway.path, pathway.statistics), fmt::format("{}-path.{}", stem, format));

    const std::string file = fmt::format("{}-{}.{}", stem, what, format);
    if (what == "cost") return image_file(grid_, {what, 1, pathway.cost}, file);
    std::vector<std::uint8_t> inside(grid_.voxel_count(), 0);
    for (const VertexId voxel : pathway.voxels) inside[voxel.index()] = 1;
    return image_file(grid_, {what, 1, std::move(inside)}, file);
  }

  Reply remove(Fields& fields) {
    const PathwayName name(fields);
    fields.done();
    const Pathway* gone = &pathway_of(name);
    std::erase_if(pathways_, [&](const auto& pathway) { return pathway.get() == gone; });
    return Reply::of(Json::object());
  }

  ImageGrid grid_;
  std::string name_, units_;
  std::vector<SymTensor3d> tensors_;
  std::vector<std::uint8_t> usable_;
  int threads_;
  Backend backend_;
  std::vector<std::unique_ptr<Prepared>> prepared_;
  std::vector<std::unique_ptr<Pathway>> pathways_;
  std::uint64_t clock_ = 0;
  std::atomic<bool> stop_{false};  ///< the solvers look at it
  Reporting::Report report_;
  Json description_;
};

}  // namespace

std::unique_ptr<Scene> make_tensor_scene(TensorImage image, const ComputeOptions& compute) {
  return std::make_unique<TensorScene>(std::move(image), compute);
}

}  // namespace isochron::viewer
