// isochron connect: the white-matter pathway between two regions of a tensor image.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/isochron/commands.h"
#include "apps/isochron/shared_output.h"
#include "apps/isochron/tensor_input.h"
#include "isochron/connect/option_tables.h"
#include "isochron/core/join_text.h"
#include "isochron/core/timer.h"
#include "isochron/io.h"
#include "isochron/io/mesh/formats.h"

namespace isochron::cli {
namespace {

using FilePath = std::filesystem::path;

struct ConnectRequest {
  TensorRequest tensors;
  std::optional<RegionRequest> from, to;
  std::vector<RegionRequest> waypoints, exclude, stop;
  ConnectQuery query;  ///< without regions
  bool streamlines = false;
  StreamlineOptions tracking;
  std::vector<std::string> tracking_options;  ///< those given
  std::string output;                         ///< a prefix, or a file for the path
  Overwrite overwrite = Overwrite::no;
  GridMethod method;
};

/// What the path alone can be written to.
constexpr std::array<std::string_view, 3> path_extensions{".tck", ".trk", ".vtp"};

bool is_path_file(const FilePath& output) {
  const std::string extension = FileName(output).full_extension();
  return std::find(path_extensions.begin(), path_extensions.end(), extension) != path_extensions.end();
}

/// The names of all files, in the order they are listed; those that are not written are empty.
struct ConnectFiles {
  FilePath cost, pathway, path, surface, profile, streamlines, summary;

  /// `output` is a prefix, or the file of the path.
  ConnectFiles(const std::string& output, bool with_streamlines) {
    if (is_path_file(output)) {
      path = output;
      if (with_streamlines) streamlines = FileName(output).beside("_streamlines");
      return;
    }
    cost = output + "_cost.nii.gz";
    pathway = output + "_pathway.nii.gz";
    path = output + "_path.tck";
    surface = output + "_path.vtp";
    profile = output + "_profile.csv";
    if (with_streamlines) streamlines = output + "_streamlines.tck";
    summary = output + ".json";
  }

  [[nodiscard]] Paths all() const {
    Paths files{cost, pathway, path, surface, profile, streamlines, summary};
    std::erase(files, FilePath());
    return files;
  }
};

/// A name with the extension of some other file is no prefix that anyone means.
void check_output_name(const std::string& output) {
  if (FilePath(output).filename().empty())
    throw usage_error("'{}' is no prefix of file names (it ends in a folder); give one like results/tract", output);
  const std::string extension = FileName(output).extension;
  const bool table = extension == ".csv" || extension == ".json" || extension == ".txt";
  if (is_path_file(output) || !(table || is_mesh_file("x" + extension) || is_image_file(output))) return;
  throw usage_error("{}: the path is not written as '{}'; give a name that ends in {}, or a prefix without extension",
                    output, FileName(output).full_extension(), join_text(path_extensions, ", "));
}

Paths inputs_of(const ConnectRequest& request) {
  Paths files = tensor_files(request.tensors);
  const auto add = [&](const RegionRequest& region) {
    if (const auto* label = std::get_if<LabelRegion>(&region.what)) files.push_back(label->file);
    if (const auto* mask = std::get_if<MaskRegion>(&region.what)) files.push_back(mask->file);
  };
  add(*request.from);
  add(*request.to);
  for (const auto* list : {&request.waypoints, &request.exclude, &request.stop})
    for (const RegionRequest& region : *list) add(region);
  return files;
}

void check_request(const ConnectRequest& request, Console& console) {
  check_tensor_request(request.tensors, console);
  for (const std::string& option : request.tracking_options)
    console.warn_unused(!request.streamlines, option, "--streamlines");
  check_output_name(request.output);
  if (!(request.query.epsilon >= 0))
    throw usage_error("--epsilon: {} is negative (it is a share of the least cost); give 0 or more, usually 0.05",
                      request.query.epsilon);
  check_output_files(ConnectFiles(request.output, request.streamlines).all(), inputs_of(request), request.overwrite);
}

std::vector<Region> regions_of(const std::vector<RegionRequest>& requests, const ImageGrid& grid, ImageFiles& files) {
  std::vector<Region> regions;
  regions.reserve(requests.size());
  for (const RegionRequest& request : requests)
    regions.push_back(
        make_region(request, grid, [&](const FilePath& path) -> const Image& { return files.get(path, grid); }));
  return regions;
}

/// The regions of the query inside the mask that all of them leave to paths.
ConnectQuery make_query(const ConnectRequest& request, const TensorInput& input, std::vector<std::uint8_t>& mask,
                        Console& console) {
  ImageFiles files(console);
  const auto at = regions_of({*request.from, *request.to}, input.grid, files);
  const auto exclude = regions_of(request.exclude, input.grid, files);
  const auto stop = regions_of(request.stop, input.grid, files);
  mask = path_mask(input.metric.usable, exclude, stop, at[0], at[1]);
  ConnectQuery query = request.query;
  query.from = inside_mask(at[0], input.grid, mask);
  query.to = inside_mask(at[1], input.grid, mask);
  for (const Region& region : regions_of(request.waypoints, input.grid, files))
    query.waypoints.push_back(inside_mask(region, input.grid, mask));
  check_apart(query.from, query.to);
  return query;
}

void check_regions(const ConnectQuery& query, const TensorRequest& request, const TensorInput& input) {
  std::vector<VertexId> voxels = query.from.voxels;
  const auto add = [&](const Region& region) {
    voxels.insert(voxels.end(), region.voxels.begin(), region.voxels.end());
  };
  add(query.to);
  for (const Region& waypoint : query.waypoints) add(waypoint);
  refuse_bad_tensors(bad_tensors(voxels, input.metric.indefinite), "in the regions", request.file.string());
}

void check_path(const Path& path, const TensorRequest& request, const TensorInput& input, Console& console) {
  const BadTensors tensors = bad_tensors(voxels_at(input.grid, path.points), input.metric.indefinite);
  refuse_bad_tensors(tensors, "along the path", request.file.string());
  warn_about_tensors_at(tensors, "along the path", request.file.string(), console);
}

/// Everything that one run finds.
struct Connected {
  Connection connection;
  PathStatistics statistics;
  std::optional<Streamlines> streamlines;
};

/// Writes everything but the summary, which comes last and has their names.
void write_results(const ConnectFiles& names, const ImageGrid& grid, const Connected& found, OutputFiles& files) {
  const Connection& connection = found.connection;
  const auto image = [&](const FilePath& name, DataArray array) {
    if (!name.empty()) write_image(files.add(name), image_of(grid, std::move(array)));
  };
  image(names.cost, {"cost", 1, std::vector<float>(connection.cost.begin(), connection.cost.end())});
  image(names.pathway, {"pathway", 1, connection.pathway});
  const Dataset path = path_dataset(connection.path, found.statistics);
  write_lines(names.path, path, grid, files);
  if (!names.surface.empty()) write_lines(names.surface, path, grid, files);
  if (!names.profile.empty()) write_text(files.add(names.profile), profile_csv(connection.path, found.statistics));
  if (!found.streamlines) return;
  Dataset lines;
  for (const Streamline& line : found.streamlines->lines) add_line(lines, line.points);
  write_lines(names.streamlines, lines, grid, files);
}

void report_regions(Report& report, const ConnectQuery& query) {
  const auto region = [&](const char* label, const Region& one) {
    report.row(label, "{}, {}", one.name, counted(one.voxels.size(), "voxel", "voxels"));
    return Json{{"region", one.name}, {"voxels", one.voxels.size()}};
  };
  report.object()["from"] = region("from", query.from);
  Json& waypoints = report.object()["waypoints"] = Json::array();
  for (const Region& waypoint : query.waypoints) waypoints.push_back(region("through", waypoint));
  report.object()["to"] = region("to", query.to);
}

void report_costs(Report& report, const Connection& connection, double epsilon) {
  // Without discretisation the costs of the two directions are equal.
  const double cost = connection.mean_cost();
  const double spread = cost > 0 ? std::abs(connection.forward_cost - connection.backward_cost) / cost : 0;
  report.add({{"cost", cost},
              {"forward_cost", connection.forward_cost},
              {"backward_cost", connection.backward_cost},
              {"cost_spread", spread},
              {"least_sum", connection.least_cost},
              {"epsilon", epsilon},
              {"pathway_epsilon", connection.pathway_epsilon},
              {"pathway_voxels", connection.pathway_voxels},
              {"pathway_volume_mm3", connection.pathway_volume}});
  report.row("cost", "{:.6g}, the mean of {:.6g} there and {:.6g} back ({} apart)", cost, connection.forward_cost,
             connection.backward_cost, percent(spread));
  report.row("pathway", "{} ({:.4g} mm³) with u1 + u2 at most {} above its least, {:.6g}",
             counted(connection.pathway_voxels, "voxel", "voxels"), connection.pathway_volume,
             percent(connection.pathway_epsilon), connection.least_cost);
}

void report_path(Report& report, const Path& path, const PathStatistics& statistics) {
  report.object()["path"] = {{"points", path.points.size()},           {"start", json_of(path.points.front())},
                             {"end", json_of(path.points.back())},     {"complete", path.end == PathEnd::source},
                             {"length_mm", statistics.length},         {"mean_fa", statistics.mean_anisotropy},
                             {"least_fa", statistics.min_anisotropy},  {"mean_md", statistics.mean_diffusivity},
                             {"cost_per_mm", statistics.cost_density}, {"integrated_cost", statistics.cost}};
  report.row("path", "{:.1f} mm, mean FA {:.3f}, cost per mm {:.4g}", statistics.length, statistics.mean_anisotropy,
             statistics.cost_density);
}

void report_streamlines(Report& report, const std::optional<Streamlines>& streamlines, double seconds) {
  report.object()["streamlines"] = nullptr;
  if (!streamlines) return;
  report.object()["streamlines"] = {{"seeds", streamlines->seeds},
                                    {"lines", streamlines->lines.size()},
                                    {"reaching", streamlines->reaching},
                                    {"seconds", seconds}};
  report.row("streamlines", "{} of {} reach the other region", grouped(streamlines->reaching),
             grouped(streamlines->lines.size()));
}

int run_connect(const ConnectRequest& request, Console& console) {
  check_request(request, console);
  const TensorInput input = read_tensors(request.tensors, console);
  std::vector<std::uint8_t> mask;
  const ConnectQuery query = make_query(request, input, mask, console);
  check_regions(query, request.tensors, input);
  const GridDomain domain{input.grid, input.metric.metric, mask};
  const InterruptGuard guard;
  Connected found;
  Timer timer;
  {
    Activity activity(console, "connecting");
    found.connection = Connector(domain, request.method.options_for(console, activity.progress())).connect(query);
  }
  check_path(found.connection.path, request.tensors, input, console);
  const TensorField field{input.grid, input.tensors, mask};
  found.statistics = path_statistics(found.connection.path.points, field, input.metric.metric);
  const double connect_seconds = timer.seconds();
  timer.restart();
  if (request.streamlines) {
    StreamlineOptions tracking = request.tracking;
    tracking.threads = console.threads();
    found.streamlines = track_streamlines(field, query.from, query.to, tracking);
  }
  const double track_seconds = timer.seconds();
  check_interrupted();
  timer.restart();
  const ConnectFiles names(request.output, request.streamlines);
  Report report;  // ends after the files do: without memory its end is that of the process
  OutputFiles files(request.overwrite);
  write_results(names, input.grid, found, files);
  const double write_seconds = timer.seconds();

  const Connection& connection = found.connection;
  const auto passable = std::count(mask.begin(), mask.end(), 1);
  const auto& [nx, ny, nz] = input.grid.shape;
  report.title("tensors", request.tensors.file.string(),
               fmt::format("{} x {} x {} voxels, {} for paths", nx, ny, nz, grouped(passable)));
  report.add({{"shape", input.grid.shape}, {"mask_voxels", passable}});
  report_regions(report, query);
  report_costs(report, connection, query.epsilon);
  report_path(report, connection.path, found.statistics);
  report_streamlines(report, found.streamlines, track_seconds);
  add_metric(report, request.tensors, input);
  add_work(report, connection.work, connection.solves, request.method);
  report.add(
      {{"connect_seconds", connect_seconds}, {"read_seconds", input.read_seconds}, {"write_seconds", write_seconds}});
  report.row("time", "read {:.2f} s, connect {:.2f} s with {}, write {:.2f} s", input.read_seconds, connect_seconds,
             counted(connection.solves, "solve", "solves"), write_seconds);
  report.notes(connection.notes);
  report.notes(connection.work.notes);
  report.written(names.all());
  if (!names.summary.empty()) write_text(files.add(names.summary), json_line(report.with_warnings(console)));
  check_interrupted();
  files.commit();
  report.print(console);
  const bool converged = connection.work.converged;
  return judge_costs(request.tensors, connection.work, request.method,
                     converged ? " (the check of the costs failed)" : " (updates were still above the tolerance)");
}

Take into_region(std::optional<RegionRequest>& region) {
  return [&region](const std::string& text) { region = parse_region(text); };
}

Take append_region(std::vector<RegionRequest>& regions) {
  return [&regions](const std::string& text) { regions.push_back(parse_region(text)); };
}

void declare_streamlines(Command& command, ConnectRequest& request) {
  command.group("Streamlines, to compare with");
  command.flag("--streamlines", "Also track them from --from, by the principal directions", request.streamlines);
  each_option(request.tracking, DeclareNoted{{command}, request.tracking_options});
}

}  // namespace

void declare_connect(Command& root, Console& console) {
  Command command = root.subcommand("connect", "The white-matter pathway between two regions of a tensor image",
                                    "isochron connect tensors.nii.gz --tensor-order mrtrix --from sphere:-24,-37,-21,4 "
                                    "--to sphere:24,-24,-18,4 -o callosal");
  const auto request = std::make_shared<ConnectRequest>();
  declare_tensor_image(command, request->tensors);
  command.group("Where paths run; R is sphere:X,Y,Z,RADIUS (RAS mm), label:FILE:VALUE, mask:FILE or voxels:i,j,k;…");
  command.option("--from", "R", "Where they begin", into_region(request->from), Need::required);
  command.option("--to", "R", "Where they end", into_region(request->to), Need::required);
  command.repeated("--waypoint", "R", "They pass this on the way; several in the order given",
                   append_region(request->waypoints));
  command.repeated("--exclude", "R", "They keep out of this", append_region(request->exclude));
  command.repeated("--stop", "R", "They may end in this but not go on from it", append_region(request->stop));
  each_option(request->query, DeclareOptions{command});
  declare_grid_method(command, request->method);
  declare_streamlines(command, *request);
  command.group("Output");
  command.option("-o,--output", "PREFIX",
                 "Writes PREFIX_cost.nii.gz, _pathway.nii.gz, _path.tck, _path.vtp, _profile.csv and PREFIX.json; or, "
                 "ending in .tck, .trk or .vtp, the path alone",
                 into(request->output), Need::required);
  command.flag("--force", "Replace existing files", request->overwrite, Overwrite::yes);
  declare_common(command, console);
  command.action([request, &console] { return run_connect(*request, console); });
}

}  // namespace isochron::cli
