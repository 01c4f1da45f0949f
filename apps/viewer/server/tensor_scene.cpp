#include "apps/viewer/server/tensor_scene.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "apps/viewer/server/fields.h"
#include "apps/viewer/server/file_export.h"
#include "apps/viewer/server/image_pack.h"
#include "apps/viewer/server/reporting.h"
#include "apps/viewer/server/throttle.h"
#include "isochron/connect/connect.h"
#include "isochron/connect/path_data.h"
#include "isochron/connect/path_statistics.h"
#include "isochron/core/error.h"
#include "isochron/core/parallel.h"
#include "isochron/core/timer.h"
#include "isochron/draw/direction_color.h"
#include "isochron/draw/image_isosurface.h"
#include "isochron/draw/superquadric.h"
#include "isochron/draw/tube.h"
#include "isochron/metric/diffusion.h"

namespace isochron::viewer {
namespace {

/// Sharpenings that are ready at the same time: somebody drags the slider to and fro.
constexpr std::size_t most_prepared = 3;
/// Pathways that are kept, of all clients: those not asked about for longest are dropped.
constexpr std::size_t most_pathways = 24;
constexpr std::size_t longest_name = 100;
constexpr double most_glyphs = 50000;

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

/// What was found, as far as it is asked about again.
struct Pathway {
  std::string client, name;
  std::vector<float> cost;
  std::vector<VertexId> voxels;
  Path path;
  PathStatistics statistics;
  double least_cost = 0;
  std::uint64_t used = 0;
};

/// Negative in the pathway, and zero where the cost is that of its border; voxels beside it that are as cheap, but
/// belong to no way between the regions, have no value.
std::vector<float> around_pathway(const Connection& connection) {
  constexpr double least_inside = 1e-4;  // a voxel at the border is in the pathway all the same
  const double border = (1 + connection.pathway_epsilon) * connection.least_cost;
  std::vector<float> values(connection.cost.size(), std::numeric_limits<float>::quiet_NaN());
  for (std::size_t v = 0; v < values.size(); ++v) {
    const double beyond = connection.cost[v] / border - 1;
    if (connection.pathway[v] != 0) values[v] = static_cast<float>(std::min(beyond, -least_inside));
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

class TensorScene final : public Scene {
 public:
  TensorScene(TensorImage image, int threads);

  [[nodiscard]] Json describe() const override { return description_; }
  Reply handle(const Call& call, Job& job, const Tell& tell) override;
  void forget(const std::string& client) override {
    std::erase_if(pathways_, [&](const auto& pathway) { return pathway->client == client; });
    if (!pathways_.empty()) return;
    // Nobody drags a slider any more: what the next first pick needs is enough.
    std::erase_if(prepared_, [](const auto& prepared) { return prepared->alpha != DiffusionMetricOptions{}.alpha; });
  }

 private:
  Prepared& prepare(double alpha);
  [[nodiscard]] Region region(const Json& body, const char* which, const Prepared& prepared) const;
  Pathway& pathway_of(const Json& body);
  void keep(const Json& body, const Connection& connection, const PathStatistics& statistics);
  void describe_tensors(const DiffusionCounts& counts, const std::vector<std::string>& warnings);

  [[nodiscard]] Reply anisotropy() const;
  [[nodiscard]] Reply directions() const;
  Reply cost(const Json& body);
  Reply connect(const Json& body, Job& job, const Tell& tell);
  Reply glyphs(const Json& body);
  Reply write(const Json& body);
  Reply remove(const Json& body);

  ImageGrid grid_;
  std::string name_;
  std::vector<SymTensor3d> tensors_;
  std::vector<std::uint8_t> usable_;
  int threads_;
  std::vector<std::unique_ptr<Prepared>> prepared_;
  std::vector<std::unique_ptr<Pathway>> pathways_;
  std::uint64_t clock_ = 0;
  std::atomic<bool> stop_{false};  ///< the solvers look at it
  Reporting::Report report_;
  Json description_;
};

TensorScene::TensorScene(TensorImage image, int threads)
    : grid_(image.grid),
      name_(std::move(image.name)),
      tensors_(std::move(image.tensors)),
      usable_(std::move(image.mask)),
      threads_(threads > 0 ? threads : hardware_threads()) {
  DiffusionMetricOptions options;
  options.threads = threads_;
  DiffusionMetric metric = diffusion_metric(tensors_, usable_, options);
  usable_ = metric.usable;
  for (std::size_t v = 0; v < tensors_.size(); ++v)
    if (usable_[v] == 0) tensors_[v] = {};
  describe_tensors(metric.counts, image.warnings);
  prepare(options.alpha);  // so that the first pick is answered as soon as the others
}

void TensorScene::describe_tensors(const DiffusionCounts& counts, const std::vector<std::string>& warnings) {
  description_ = describe_image(grid_, "tensors");
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

Reply TensorScene::handle(const Call& call, Job& job, const Tell& tell) {
  if (call.name == "volume/fa") return anisotropy();
  if (call.name == "volume/direction") return directions();
  if (call.name == "volume/cost") return cost(call.body);
  if (call.name == "connect") return connect(call.body, job, tell);
  if (call.name == "glyphs") return glyphs(call.body);
  if (call.name == "export") return write(call.body);
  if (call.name == "remove") return remove(call.body);
  throw UnknownCall(call.name);
}

Reply TensorScene::anisotropy() const {
  Pack pack;
  const auto values = pack.floats("values", volume_shape(grid_));
  parallel_for(threads_, values.size(), [&](std::size_t v) {
    // Above 1 only where eigenvalues are negative, which is noise.
    values[v] = static_cast<float>(std::min(fractional_anisotropy(tensors_[v]), 1.0));
  });
  return Reply::of(pack);
}

Reply TensorScene::directions() const {
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

Prepared& TensorScene::prepare(double alpha) {
  const auto found =
      std::find_if(prepared_.begin(), prepared_.end(), [&](const auto& prepared) { return prepared->alpha == alpha; });
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
  GridOptions options;
  options.common.threads = threads_;
  options.common.progress = {[this](double fraction) {
                               if (report_) report_(fraction);
                             },
                             &stop_};
  fresh->connector = std::make_unique<Connector>(GridDomain{grid_, fresh->metric.metric, usable_}, options);
  fresh->used = ++clock_;
  if (prepared_.size() >= most_prepared)
    prepared_.erase(std::min_element(prepared_.begin(), prepared_.end(),
                                     [](const auto& a, const auto& b) { return a->used < b->used; }));
  prepared_.push_back(std::move(fresh));
  return *prepared_.back();
}

Region TensorScene::region(const Json& body, const char* which, const Prepared& prepared) const {
  const Json* asked = find_field(body, which);
  if (asked == nullptr) throw InputError(fmt::format("'{}' is missing; give a point and a radius", which));
  const SphereRegion sphere{point_field(*asked, "point"), number_field(*asked, "radius", 0)};
  if (!(sphere.radius >= 0)) throw InputError(fmt::format("the radius of '{}' is negative; give 0 or more", which));
  return inside_mask(make_region({which, sphere}, grid_, {}), grid_, prepared.metric.usable);
}

Pathway& TensorScene::pathway_of(const Json& body) {
  const std::string client = text_field(body, "client", ""), name = text_field(body, "name", "");
  for (const auto& pathway : pathways_) {
    if (pathway->client != client || pathway->name != name) continue;
    pathway->used = ++clock_;
    return *pathway;
  }
  throw InputError(
      fmt::format("there is no pathway '{}' (or it was dropped for newer ones); connect regions first", name));
}

void TensorScene::keep(const Json& body, const Connection& connection, const PathStatistics& statistics) {
  auto kept = std::make_unique<Pathway>();
  kept->client = text_field(body, "client", "");
  kept->name = text_field(body, "name", "");
  kept->cost.assign(connection.cost.begin(), connection.cost.end());
  for (std::size_t v = 0; v < connection.pathway.size(); ++v)
    if (connection.pathway[v] != 0) kept->voxels.emplace_back(v);
  kept->path = connection.path;
  kept->statistics = statistics;
  kept->least_cost = connection.least_cost;
  kept->used = ++clock_;
  std::erase_if(pathways_,
                [&](const auto& other) { return other->client == kept->client && other->name == kept->name; });
  if (pathways_.size() >= most_pathways)
    pathways_.erase(std::min_element(pathways_.begin(), pathways_.end(),
                                     [](const auto& a, const auto& b) { return a->used < b->used; }));
  pathways_.push_back(std::move(kept));
}

void add_path(Pack& pack, const Path& path, const PathStatistics& statistics, double tube_radius) {
  pack.add_points("path", path.points, "mm");
  const auto profile = [&](const char* name, auto value_of, const char* units) {
    const auto values = pack.floats(name, {statistics.profile.size()}, units);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(value_of(statistics.profile[i]));
  };
  profile(
      "profile_distance", [](const PathSample& s) { return s.distance; }, "mm");
  profile(
      "profile_fa", [](const PathSample& s) { return s.anisotropy; }, "");
  profile(
      "profile_cost", [](const PathSample& s) { return s.local_cost; }, "");
  pack.add_values("profile_total", path.times);
  const Tube tube = make_tube(path.points, {.radius = tube_radius});
  add_mesh(pack, "tube_", tube.mesh);
  add_vectors(pack, "tube_normals", tube.normals);
  pack.add_integers("tube_point", tube.point_of);
}

Reply TensorScene::connect(const Json& body, Job& job, const Tell& tell) {
  if (text_field(body, "name", "").size() > longest_name)
    throw InputError("the pathway's name is too long; give a shorter one");
  const Timer timer;
  const Job::Watch watch(job, stop_);
  Throttle throttle;
  const Reporting reporting(report_, [&](double fraction) {
    if (throttle.passes()) tell("progress", {{"stage", "connecting"}, {"fraction", fraction}});
  });
  Prepared& prepared = prepare(number_field(body, "alpha", DiffusionMetricOptions{}.alpha));
  ConnectQuery query;
  query.from = region(body, "from", prepared);
  query.to = region(body, "to", prepared);
  query.epsilon = number_field(body, "epsilon", query.epsilon);
  const Connection connection = prepared.connector->connect(query);
  job.progress().update(1);
  const PathStatistics statistics =
      path_statistics(connection.path.points, {grid_, tensors_, usable_}, prepared.metric.metric);
  keep(body, connection, statistics);

  Pack pack;
  add_path(pack, connection.path, statistics, number_field(body, "tube_radius", 0.5 * smallest_spacing(grid_)));
  const TriangleMesh around = image_isosurface(grid_, around_pathway(connection), 0, Enclose::below);
  add_mesh(pack, "pathway_", around);
  add_vectors(pack, "pathway_normals", vertex_normals(around));
  pack.meta = {{"seq", body.value("seq", Json())},
               {"name", text_field(body, "name", "")},
               {"least_cost", connection.least_cost},
               {"length", statistics.length},
               {"mean_fa", finite_or_null(statistics.mean_anisotropy)},
               {"least_fa", finite_or_null(statistics.least_anisotropy)},
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

Reply TensorScene::cost(const Json& body) {
  const Pathway& pathway = pathway_of(body);
  Pack pack;
  add_volume(pack, "values", grid_, pathway.cost);
  double largest = pathway.least_cost;
  for (const float value : pathway.cost)
    if (std::isfinite(value)) largest = std::max(largest, static_cast<double>(value));
  pack.meta = {{"name", pathway.name}, {"low", pathway.least_cost}, {"high", largest}};
  return Reply::of(pack);
}

Reply TensorScene::glyphs(const Json& body) {
  const Pathway& pathway = pathway_of(body);
  const double wanted = number_field(body, "most", 5000);
  if (!(wanted >= 1 && wanted <= most_glyphs))
    throw InputError(fmt::format("'most' is {:g}; give a number of glyphs from 1 to {:g}", wanted, most_glyphs));
  // Evenly spread where there are more voxels than glyphs.
  const std::size_t count = std::min(static_cast<std::size_t>(wanted), pathway.voxels.size());
  std::vector<TensorAt> chosen;
  for (std::size_t g = 0; g < count; ++g) {
    const VertexId voxel = pathway.voxels[g * pathway.voxels.size() / count];
    chosen.push_back({grid_.position(voxel), tensors_[voxel.index()]});
  }
  const ShadedMesh mesh = superquadric_glyphs(chosen, {.size = 0.475 * smallest_spacing(grid_), .threads = threads_});
  Pack pack;
  add_mesh(pack, "", mesh.mesh);
  add_vectors(pack, "normals", mesh.normals);
  const auto colors = pack.bytes("colors", {mesh.colors.size(), 3});
  for (std::size_t i = 0; i < colors.size(); ++i) colors[i] = mesh.colors[i / 3][i % 3];
  pack.meta = {{"name", pathway.name}, {"glyphs", count}, {"voxels", pathway.voxels.size()}};
  return Reply::of(pack);
}

Reply TensorScene::write(const Json& body) {
  static const std::vector<std::string> known{"tck", "vtp", "csv", "nii.gz"};
  const std::string format = text_field(body, "format");
  check_format(format, known);
  const Pathway& pathway = pathway_of(body);
  const std::string stem = pathway.name.empty() ? name_ : fmt::format("{}-{}", name_, plain_name(pathway.name));
  if (format == "csv")
    return {profile_csv(pathway.path, pathway.statistics), "text/csv", fmt::format("{}-profile.csv", stem)};
  if (format != "nii.gz")
    return mesh_file(path_dataset(pathway.path, pathway.statistics), fmt::format("{}-path.{}", stem, format));

  const std::string what = text_field(body, "what", "pathway");
  const std::string name = fmt::format("{}-{}.{}", stem, what, format);
  if (what == "cost") return image_file(grid_, {what, 1, pathway.cost}, name);
  if (what != "pathway") throw InputError(fmt::format("'what' is '{}'; give pathway or cost", what));
  std::vector<std::uint8_t> inside(grid_.voxel_count(), 0);
  for (const VertexId voxel : pathway.voxels) inside[voxel.index()] = 1;
  return image_file(grid_, {what, 1, std::move(inside)}, name);
}

Reply TensorScene::remove(const Json& body) {
  const Pathway* gone = &pathway_of(body);
  std::erase_if(pathways_, [&](const auto& pathway) { return pathway.get() == gone; });
  return Reply::of(Json::object());
}

}  // namespace

std::unique_ptr<Scene> make_tensor_scene(TensorImage image, int threads) {
  return std::make_unique<TensorScene>(std::move(image), threads);
}

}  // namespace isochron::viewer
