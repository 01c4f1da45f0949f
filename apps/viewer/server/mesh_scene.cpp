#include "apps/viewer/server/scenes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "apps/viewer/server/file_export.h"
#include "apps/viewer/server/mesh_request.h"
#include "apps/viewer/server/scene_packing.h"
#include "isochron/core/timer.h"
#include "isochron/draw.h"
#include "isochron/error.h"
#include "isochron/mesh/box_tree.h"
#include "isochron/mesh/locator.h"
#include "isochron/path.h"
#include "isochron/solver.h"

namespace isochron::viewer {
namespace {

constexpr const char* time_array = "arrival_time";
/// A picked point may be this share of the mesh's diagonal away.
constexpr double reach = 0.01;
/// Settings that are solved side by side, each with a solver of its own.
constexpr std::size_t max_solvers = 2;
/// Results that are kept for paths and cuts: two slots of a few browsers.
constexpr std::size_t max_results = 8;
/// Later ones would be sent as infinity, which means that nothing arrives.
constexpr double max_time = 1e38;
/// Isochrones that are drawn at a time.
constexpr double max_levels = 500;
/// Surfaces of equal time that are drawn at a time.
constexpr std::size_t max_surfaces = 100;

Box bounds_of(const std::vector<Vec3d>& points) {
  if (points.empty()) return {};
  Box box{points.front(), points.front()};
  for (const Vec3d& p : points)
    for (int k = 0; k < 3; ++k) {
      box.low[k] = std::min(box.low[k], p[k]);
      box.high[k] = std::max(box.high[k], p[k]);
    }
  return box;
}

Json json_of(const Vec3d& p) { return {p.x, p.y, p.z}; }

/// Name, place and range; of vectors the range of their lengths.
Json describe_array(const DataArray& array, const char* on) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (std::size_t i = 0; i < array.tuple_count(); ++i) {
    double value = array.at(i);
    if (array.components > 1) {
      value *= value;
      for (int k = 1; k < array.components; ++k) value += array.at(i, k) * array.at(i, k);
      value = std::sqrt(value);
    }
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  return {{"name", array.name},
          {"on", on},
          {"components", array.components},
          {"low", finite_or_null(low)},
          {"high", finite_or_null(high)}};
}

/// Why no times can be computed; empty when they can.
std::string why_not_solvable(const Dataset& file, const Box& bounds) {
  if (file.triangles.cells.empty() && file.tets.cells.empty())
    return "there are no triangles and no tetrahedra (nothing to solve on); give a surface or volume mesh";
  const Vec3d size = bounds.high - bounds.low;
  const double widest = std::max({size.x, size.y, size.z});
  if (!(widest > 1e-100 && widest < 1e100))
    return fmt::format("the mesh is {:g} across (too large or too small to compute with); give it in another unit",
                       widest);
  return {};
}

/// Lines of equal time with the time of each.
void add_level_lines(Pack& pack, const Dataset& lines) {
  add_lines(pack, "iso", lines.points, lines.lines);
  const DataArray& level = lines.line_data.require(time_array, "isochrones");
  const std::span<float> place = pack.floats("iso_levels", {lines.lines.size()});
  for (std::size_t i = 0; i < place.size(); ++i) place[i] = static_cast<float>(level.at(i));
}

template <int Corners>
class MeshScene final : public Scene {
 public:
  MeshScene(Dataset&& file, const std::filesystem::path& path, const ComputeOptions& compute)
      : file_(std::move(file)),
        drawn_(draw_mesh(file_)),
        path_(path),
        compute_(compute),
        bounds_(bounds_of(file_.points)) {
    why_not_ = why_not_solvable(file_, bounds_);
    std::vector<std::string> warnings = file_.warnings;
    for (const auto& [kind, count] : file_.ignored_cells)
      warnings.push_back(fmt::format("{} cells of kind {} left out", count, kind));
    if (Corners == 4 && !file_.triangles.cells.empty())
      warnings.push_back(fmt::format("{} triangles are not shown (times are computed on the tetrahedra)",
                                     file_.triangles.cells.size()));
    describe_file(warnings);
    mesh_ = take_mesh<Corners>(file_);
  }

  [[nodiscard]] Json describe() const override { return description_; }

  [[nodiscard]] std::span<const Question> questions() const override {
    static constexpr Question all[]{{"geometry", Asked::get}, {"array", Asked::get},      {"fibers", Asked::get},
                                    {"solve", Asked::post},   {"path", Asked::post},      {"clip", Asked::post},
                                    {"export", Asked::post},  {"isosurface", Asked::post}};
    return all;
  }

  [[nodiscard]] bool can_answer(std::string_view question) const override {
    if (question == "isosurface") return Corners == 4 && why_not_.empty();
    const bool about_times = question == "solve" || question == "path" || question == "export";
    return !about_times || why_not_.empty();
  }

  Reply handle(const Call& call, Job& job, const Notify& notify) override {
    Fields fields = call.fields();
    if (call.name == "geometry") return geometry(fields);
    if (call.name == "array") return array(fields);
    if (call.name == "fibers") return fibers(fields);
    if (call.name == "solve") return solve(fields, job, notify);
    if (call.name == "path") return path(fields);
    if (call.name == "clip") return clip(fields);
    if (call.name == "isosurface") return isosurface(fields);
    if (call.name == "export") return write(fields);
    throw UnknownCall(call.name);
  }

  void forget(const std::string& client) override {
    std::erase_if(results_, [&](const auto& result) { return result->place.client == client; });
  }

 private:
  using Mesh = SimplexMesh<Corners>;

  struct Prepared {
    std::string key;  ///< of the metric, as it was asked for
    std::shared_ptr<const Metric> metric;
    std::unique_ptr<Solver> solver;
    std::uint64_t used = 0;
  };
  /// Whose result, and which of them.
  struct Place {
    std::string client, slot;
    explicit Place(Fields& fields)
        : client(fields.client()), slot(fields.has("slot") ? fields.label("slot", 64) : "a") {}
    friend bool operator==(const Place&, const Place&) = default;
  };
  struct Result {
    Place place;
    std::shared_ptr<const Metric> metric{};
    Sources sources{};
    Arrival arrival{};
    std::unique_ptr<PathTracer<Corners>> tracer{};
    std::uint64_t used = 0;
  };

  /// While one lives the points and cells of the mesh are in a data set. Nothing else may use the mesh meanwhile.
  class Loan {
   public:
    Loan(Mesh& mesh, Dataset& to) : mesh_(mesh), to_(to) { restore_mesh<Corners>(to_, std::move(mesh_)); }
    ~Loan() { mesh_ = take_mesh<Corners>(to_); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

   private:
    Mesh& mesh_;
    Dataset& to_;
  };

  [[nodiscard]] FileArrays arrays() const { return {file_.point_data, file_.block<Corners>().data}; }

  void describe_file(const std::vector<std::string>& warnings) {
    Json listed = Json::array();
    Json fibers = Json::array();
    const auto list = [&](const DataArrays& arrays, const char* on) {
      for (const DataArray& array : arrays.all()) {
        listed.push_back(describe_array(array, on));
        if (array.components == 3 && std::find(fibers.begin(), fibers.end(), Json(array.name)) == fibers.end())
          fibers.push_back(array.name);
      }
    };
    list(file_.block<Corners>().data, "cells");
    list(file_.point_data, "points");
    const auto regions = find_regions(file_.block<Corners>().data);
    description_ = {{"kind", "mesh"},
                    {"points", file_.points.size()},
                    {"triangles", file_.triangles.cells.size()},
                    {"tets", file_.tets.cells.size()},
                    {"lines", file_.lines.size()},
                    {"bounds", {json_of(bounds_.low), json_of(bounds_.high)}},
                    {"units", ""},
                    {"arrays", std::move(listed)},
                    {"solvable", why_not_.empty()},
                    {"why", why_not_},
                    {"fibers", std::move(fibers)},
                    {"regions", regions ? Json{{"array", regions->array}, {"values", regions->values}} : Json(nullptr)},
                    {"warnings", warnings}};
  }

  auto make_metric(const Json& asked) const -> std::shared_ptr<const Metric> {
    return std::make_shared<const Metric>(
        metric_from_dataset<Corners>(mesh_, file_, parse_metric(asked, file_.block<Corners>().data)));
  }

  auto prepare(const Json& asked) -> Prepared& {
    const std::string key = text_of(asked);
    const auto same = [&](const auto& p) { return p->key == key; };
    if (const auto found = std::find_if(prepared_.begin(), prepared_.end(), same); found != prepared_.end()) {
      (*found)->used = ++clock_;
      return **found;
    }
    auto metric = make_metric(asked);
    if (prepared_.size() < max_solvers) {
      SolveOptions options;
      options.threads = compute_.threads;
      options.backend = compute_.backend;
      options.expected_solves = ExpectedSolves::many;
      options.progress.cancel = &stop_;
      options.progress.report = [this](double fraction) {
        if (report_) report_(fraction);
      };
      auto solver = std::make_unique<Solver>(MeshDomain<Corners>{mesh_, *metric}, options);
      prepared_.push_back(std::make_unique<Prepared>(Prepared{key, std::move(metric), std::move(solver), ++clock_}));
      return *prepared_.back();
    }
    const auto oldest =
        std::min_element(prepared_.begin(), prepared_.end(), [](auto& a, auto& b) { return a->used < b->used; });
    (*oldest)->solver->set_metric(*metric);
    (*oldest)->key = key;
    (*oldest)->metric = std::move(metric);
    (*oldest)->used = ++clock_;
    return **oldest;
  }

  /// The times for the sources with the metric that is asked for, from those that were shown last where they help.
  auto solve_on(const Place& place, const Json& asked, const Sources& sources) -> std::pair<Prepared*, Arrival> {
    const Result* last = find_result(place);
    Prepared* used = last != nullptr ? used_by(*last) : nullptr;
    const std::string key = text_of(asked);
    const bool known = std::any_of(prepared_.begin(), prepared_.end(), [&](const auto& p) { return p->key == key; });
    if (used == nullptr || (used->key != key && (known || shown_elsewhere(*last)))) {
      Prepared& prepared = prepare(asked);
      return {&prepared, prepared.solver->solve(sources)};
    }
    ProblemChange change;
    change.sources = sources;
    std::shared_ptr<const Metric> metric = used->metric;
    if (used->key != key) {
      metric = make_metric(asked);
      change.metric = *metric;
    }
    Arrival arrival = used->solver->update(last->arrival, last->sources, change);
    used->key = key;
    used->metric = std::move(metric);
    used->used = ++clock_;
    return {used, std::move(arrival)};
  }

  /// The solver that has the metric of a result; null when it has another one by now.
  auto used_by(const Result& result) -> Prepared* {
    for (const auto& prepared : prepared_)
      if (prepared->metric == result.metric) return prepared.get();
    return nullptr;
  }
  /// Whether another result has the metric of this one.
  [[nodiscard]] bool shown_elsewhere(const Result& result) const {
    return std::count_if(results_.begin(), results_.end(),
                         [&](const auto& other) { return other->metric == result.metric; }) > 1;
  }

  auto result_of(const Place& place) -> Result& {
    Result* result = find_result(place);
    if (result == nullptr) throw NoAnswerError("there are no times yet; set a source first");
    return *result;
  }

  auto find_result(const Place& place) -> Result* {
    for (const auto& result : results_)
      if (result->place == place) {
        result->used = ++clock_;
        return result.get();
      }
    return nullptr;
  }

  auto keep_result(const Place& place) -> Result& {
    if (Result* known = find_result(place)) return *known;
    if (results_.size() >= max_results)
      results_.erase(
          std::min_element(results_.begin(), results_.end(), [](auto& a, auto& b) { return a->used < b->used; }));
    results_.push_back(std::make_unique<Result>(Result{place}));
    results_.back()->used = ++clock_;
    return *results_.back();
  }

  void put_on_mesh(Sources& sources) {
    if (!locator_ && !sources.points.empty())
      locator_ = std::make_unique<PointLocator<Corners>>(mesh_, compute_.threads);
    std::vector<std::size_t> off;
    std::string why;
    for (std::size_t i = 0; i < sources.points.size(); ++i) {
      Vec3d& p = sources.points[i].position;
      const auto nearest = locator_->nearest(p);
      if (nearest.distance > reach * norm(bounds_.high - bounds_.low)) {
        if (off.empty())
          why = fmt::format("the point {:g},{:g},{:g} is {:g} away from the mesh; pick one on it", p.x, p.y, p.z,
                            nearest.distance);
        off.push_back(sources.vertices.size() + i);
      }
      p = nearest.point;
    }
    if (!off.empty()) throw OffMesh(why, std::move(off));
  }

  void add_isochrones(Pack& pack, const IsochroneRequest& wanted, const Arrival& arrival) {
    const double low = *std::min_element(arrival.times.begin(), arrival.times.end());
    if (wanted.spacing > 0 && (arrival.max_time - low) / wanted.spacing > max_levels)
      throw InputError(
          fmt::format("a spacing of {:g} is too small (it gives more than {} isochrones); choose a larger one",
                      wanted.spacing, max_levels));
    const double spacing = wanted.spacing > 0 ? wanted.spacing : round_spacing(low, arrival.max_time, wanted.about);
    add_level_lines(pack, isolines(drawn_.surface, time_array, spaced_levels(low, arrival.max_time, spacing)));
    pack.meta["spacing"] = spacing > 0 ? Json(spacing) : Json(nullptr);
  }

  void set_drawn_times(const std::vector<double>& times) {
    drawn_.surface.point_data.set({time_array, 1, drawn_.at_points(times)});
  }

  Reply geometry(Fields& fields) {
    fields.done();
    return Reply::of(pack_geometry(drawn_, mesh_.points, file_.lines));
  }

  Reply array(Fields& fields) {
    const std::string name = fields.text("name"), on = fields.word("on", {"points", "cells"});
    fields.done();
    return Reply::of(pack_array(drawn_, arrays(), name, on));
  }

  Reply fibers(Fields& fields) {
    const std::string name = fields.text("array");
    const std::size_t count = fields.whole("count", 2000, {1, 100000});
    fields.done();
    return Reply::of(pack_vectors(drawn_, arrays(), name, count));
  }

  Reply solve(Fields& fields, Job& job, const Notify& notify) {
    if (!why_not_.empty()) throw InputError(why_not_);
    const Timer timer;
    const Place place(fields);
    Sources sources = parse_sources(fields, mesh_.vertex_count());
    const auto isochrones = parse_isochrones(fields);
    const Json metric = metric_fields(fields);
    fields.done();
    const Reporting reporting(report_, notify, "solve");
    const Job::Watch watch(job, stop_);
    put_on_mesh(sources);
    auto [prepared, arrival] = solve_on(place, metric, sources);
    if (job.cancelled()) throw Cancelled();
    if (arrival.max_time > max_time)
      throw InputError(
          fmt::format("times go up to {:g} (single precision ends before); choose other units", arrival.max_time));
    set_drawn_times(arrival.times);
    Pack pack;
    pack.add_values("times", std::get<std::vector<double>>(drawn_.surface.point_data.find(time_array)->values));
    const std::span<std::uint32_t> source = pack.integers("source", {drawn_.vertex.size()});
    for (std::size_t i = 0; i < source.size(); ++i)
      source[i] = static_cast<std::uint32_t>(arrival.source[drawn_.vertex[i].index()]);
    pack.meta = {{"seq", sequence_of(fields)},
                 {"milliseconds", 0},
                 {"solve_milliseconds", 1e3 * arrival.solve_seconds},
                 {"max_time", arrival.max_time},
                 {"reached", arrival.reached},
                 {"unreached", arrival.unreached},
                 {"backend", name_of(arrival.backend)},
                 {"threads", arrival.threads},
                 {"method", name_of(arrival.method)},
                 {"notes", arrival.notes}};
    if (isochrones) add_isochrones(pack, *isochrones, arrival);
    Result& result = keep_result(place);
    result.tracer.reset();
    result.metric = prepared->metric;
    result.sources = std::move(sources);
    result.arrival = std::move(arrival);
    pack.meta["milliseconds"] = 1e3 * timer.seconds();
    return Reply::of(pack);
  }

  Reply path(Fields& fields) {
    const Place place(fields);
    Fields target = fields.object("to");
    const auto to = parse_place(target);
    target.done();
    fields.done();
    Result& result = result_of(place);
    if (!result.tracer)
      result.tracer = std::make_unique<PathTracer<Corners>>(MeshDomain<Corners>{mesh_, *result.metric},
                                                            result.arrival.times, result.sources);
    const auto* vertex = std::get_if<VertexId>(&to);
    const Path path = vertex != nullptr
                          ? result.tracer->from(*vertex)
                          : result.tracer->from(std::get<Vec3d>(to), reach * norm(bounds_.high - bounds_.low));
    if (path.end != PathEnd::source) throw NoAnswerError(fmt::format("there is no path: {}", path.why));
    Pack pack;
    pack.add_points("points", path.points);
    pack.add_values("times", path.times);
    pack.meta = {{"length", path.length}, {"time", path.times.front()}, {"source", path.source}};
    return Reply::of(pack);
  }

  Reply clip(Fields& fields) {
    const Place place(fields);
    const Vec3d normal = fields.point("normal");
    const double longest = std::max({std::abs(normal.x), std::abs(normal.y), std::abs(normal.z)});
    const CutPlane plane{fields.point("point"), normal / longest};  // so that its length is a number
    std::vector<double> levels;
    if (fields.has("levels")) levels = fields.numbers("levels", static_cast<std::size_t>(max_levels) + 1);
    fields.done();
    if (!(longest > 0)) throw RequestError("'normal' has no length; give a direction");
    const Result* result = find_result(place);
    drawn_.surface.point_data = {};
    if (result != nullptr) set_drawn_times(result->arrival.times);
    Dataset shown = clip_surface(drawn_.surface, plane);
    if constexpr (Corners == 4) {
      Dataset volume;
      if (result != nullptr) volume.point_data.set({time_array, 1, result->arrival.times});
      const Loan loan(mesh_, volume);
      shown = merged_surfaces(shown, cut_face(volume, plane));
    }
    Pack pack;
    add_triangles(pack, "", shown.points, shown.triangles.cells);
    if (const DataArray* times = shown.point_data.find(time_array)) {
      pack.add_values("times", std::get<std::vector<double>>(times->values));
      if (!levels.empty()) add_level_lines(pack, isolines(shown, time_array, levels));
    }
    return Reply::of(pack);
  }

  Reply isosurface(Fields& fields) {
    const Place place(fields);
    fields.choose({"level", "levels"});
    const std::vector<double> levels =
        fields.has("levels") ? fields.numbers("levels", max_surfaces) : std::vector{fields.number("level")};
    fields.done();
    Pack pack;
    if constexpr (Corners == 4) {
      Dataset volume;
      volume.point_data.set({time_array, 1, result_of(place).arrival.times});
      const Loan loan(mesh_, volume);
      const Dataset found = isosurfaces(volume, time_array, levels);
      add_triangles(pack, "", found.points, found.triangles.cells);
      const DataArray& level = found.triangles.data.require(time_array, "surfaces of equal time");
      const std::span<float> times = pack.floats("levels", {found.triangles.cells.size()});
      for (std::size_t i = 0; i < times.size(); ++i) times[i] = static_cast<float>(level.at(i));
    } else {
      throw InputError("there are no tetrahedra (surfaces of equal time lie in volumes); use isochrones");
    }
    return Reply::of(pack);
  }

  Reply write(Fields& fields) {
    const Place place(fields);
    const std::string format = fields.text("format");
    fields.done();
    const Result& result = result_of(place);
    const Loan loan(mesh_, file_);
    return export_times(file_, result.arrival.times, path_, format);
  }

  Dataset file_;  ///< without the points and the cells that are solved on
  Mesh mesh_;
  DrawnMesh drawn_;
  std::filesystem::path path_;
  ComputeOptions compute_;
  Box bounds_;
  std::string why_not_;
  Json description_;
  std::unique_ptr<PointLocator<Corners>> locator_;
  std::atomic<bool> stop_{false};  ///< the solvers look at it
  Reporting::Report report_;
  std::vector<std::unique_ptr<Prepared>> prepared_;
  std::vector<std::unique_ptr<Result>> results_;
  std::uint64_t clock_ = 0;
};

}  // namespace

std::unique_ptr<Scene> make_mesh_scene(Dataset&& file, const std::filesystem::path& path,
                                       const ComputeOptions& compute) {
  if (file.tets.cells.empty()) return std::make_unique<MeshScene<3>>(std::move(file), path, compute);
  return std::make_unique<MeshScene<4>>(std::move(file), path, compute);
}

}  // namespace isochron::viewer
