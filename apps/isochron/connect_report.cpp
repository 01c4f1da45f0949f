#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/isochron/connect.h"
#include "apps/isochron/json_text.h"
#include "apps/isochron/tensor_report.h"
#include "isochron/core/timer.h"

namespace isochron::cli {
namespace {

Json json_of(const Region& region) { return {{"region", region.name}, {"voxels", region.voxels.size()}}; }

Json json_of(const Vec3d& p) { return {p.x, p.y, p.z}; }

/// How far apart the costs of the two directions are, as a share of their mean; without discretisation they are equal.
double spread(const Connection& connection) {
  const double cost = connection.mean_cost();
  return cost > 0 ? std::abs(connection.forward_cost - connection.backward_cost) / cost : 0;
}

Json path_json(const ConnectSummary& summary) {
  const Path& path = summary.connection.path;
  const PathStatistics& statistics = summary.statistics;
  return {{"points", path.points.size()},
          {"start", json_of(path.points.front())},
          {"end", json_of(path.points.back())},
          {"complete", path.end == PathEnd::source},
          {"length_mm", statistics.length},
          {"mean_fa", finite_or_null(statistics.mean_anisotropy)},
          {"least_fa", finite_or_null(statistics.min_anisotropy)},
          {"mean_md", finite_or_null(statistics.mean_diffusivity)},
          {"cost_per_mm", statistics.cost_density},
          {"integrated_cost", statistics.cost}};
}

}  // namespace

std::string json_text_of(const ConnectSummary& summary, const Console& console) {
  const Connection& connection = summary.connection;
  Json object{{"tensors", summary.request.tensors.file.string()},
              {"shape", summary.input.grid.shape},
              {"mask_voxels", summary.mask_voxels},
              {"from", json_of(summary.query.from)},
              {"to", json_of(summary.query.to)},
              {"waypoints", Json::array()},
              {"cost", connection.mean_cost()},
              {"forward_cost", connection.forward_cost},
              {"backward_cost", connection.backward_cost},
              {"cost_spread", spread(connection)},
              {"least_sum", connection.least_cost},
              {"epsilon", summary.query.epsilon},
              {"pathway_epsilon", connection.pathway_epsilon},
              {"pathway_voxels", connection.pathway_voxels},
              {"pathway_volume_mm3", connection.pathway_volume},
              {"path", path_json(summary)},
              {"streamlines", nullptr},
              {"metric", metric_json(summary.request.tensors, summary.input)}};
  for (const Region& region : summary.query.waypoints) object["waypoints"].push_back(json_of(region));
  if (summary.streamlines)
    object["streamlines"] = {{"seeds", summary.streamlines->seeds},
                             {"lines", summary.streamlines->lines.size()},
                             {"reaching", summary.streamlines->reaching},
                             {"seconds", summary.track_seconds}};
  add_work_json(object, connection.work, connection.solves, summary.request.options);
  object["connect_seconds"] = summary.connect_seconds;
  object["read_seconds"] = summary.input.read_seconds;
  object["write_seconds"] = summary.write_seconds;
  object["peak_bytes"] = peak_resident_bytes();
  object["notes"] = connection.notes;
  for (const std::string& note : connection.work.notes) object["notes"].push_back(note);
  object["warnings"] = console.warnings();
  object["written"] = file_names(summary.written);
  return json_line(object);
}

std::string text_of(const ConnectSummary& summary) {
  const Connection& connection = summary.connection;
  const PathStatistics& statistics = summary.statistics;
  const auto& [nx, ny, nz] = summary.input.grid.shape;
  std::string text = fmt::format("{}: {} x {} x {} voxels, {} for paths\n", summary.request.tensors.file.string(), nx,
                                 ny, nz, grouped(summary.mask_voxels));
  const auto row = [&](const char* key, const std::string& value) { text += fmt::format("  {:<12}{}\n", key, value); };
  const auto region = [&](const char* key, const Region& r) {
    row(key, fmt::format("{}, {}", r.name, counted(r.voxels.size(), "voxel", "voxels")));
  };
  region("from", summary.query.from);
  for (const Region& waypoint : summary.query.waypoints) region("through", waypoint);
  region("to", summary.query.to);
  row("cost", fmt::format("{:.6g}, the mean of {:.6g} there and {:.6g} back ({} apart)", connection.mean_cost(),
                          connection.forward_cost, connection.backward_cost, percent(spread(connection))));
  row("pathway", fmt::format("{} ({:.4g} mm³) with u1 + u2 at most {} above its least, {:.6g}",
                             counted(connection.pathway_voxels, "voxel", "voxels"), connection.pathway_volume,
                             percent(connection.pathway_epsilon), connection.least_cost));
  row("path", fmt::format("{:.1f} mm, mean FA {:.3f}, cost per mm {:.4g}", statistics.length,
                          statistics.mean_anisotropy, statistics.cost_density));
  if (summary.streamlines)
    row("streamlines", fmt::format("{} of {} reach the other region", grouped(summary.streamlines->reaching),
                                   grouped(summary.streamlines->lines.size())));
  row("time",
      fmt::format("read {:.2f} s, connect {:.2f} s with {}, write {:.2f} s", summary.input.read_seconds,
                  summary.connect_seconds, counted(connection.solves, "solve", "solves"), summary.write_seconds));
  for (const std::string& note : connection.notes) row("note", note);
  for (const std::string& note : connection.work.notes) row("note", note);
  row("wrote", fmt::format("{}", fmt::join(file_names(summary.written), ", ")));
  return text;
}

}  // namespace isochron::cli
