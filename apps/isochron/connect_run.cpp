// The steps of `isochron connect`: read, connect, write.
#include <algorithm>

#include <fmt/format.h>

#include "apps/isochron/connect.h"
#include "apps/isochron/exit_code.h"
#include "apps/isochron/output_files.h"
#include "apps/isochron/solve_grid.h"
#include "isochron/connect/path_statistics.h"
#include "isochron/core/error.h"
#include "isochron/core/timer.h"
#include "isochron/io/image_io.h"

namespace isochron::cli {
namespace {

using FilePath = std::filesystem::path;

/// The names of all files, in the order they are listed.
struct ConnectFiles {
  FilePath cost, pathway, tracks, surface, profile, summary, streamlines;

  explicit ConnectFiles(const std::string& prefix)
      : cost(prefix + "_cost.nii.gz"),
        pathway(prefix + "_pathway.nii.gz"),
        tracks(prefix + "_path.tck"),
        surface(prefix + "_path.vtp"),
        profile(prefix + "_profile.csv"),
        summary(prefix + ".json"),
        streamlines(prefix + "_streamlines.tck") {}

  [[nodiscard]] std::vector<FilePath> all(bool with_streamlines) const {
    std::vector<FilePath> files{cost, pathway, tracks, surface, profile};
    if (with_streamlines) files.push_back(streamlines);
    files.push_back(summary);
    return files;
  }
};

std::vector<FilePath> inputs_of(const ConnectRequest& request) {
  std::vector<FilePath> files{request.tensors.file};
  if (!request.tensors.mask.file.empty()) files.push_back(request.tensors.mask.file);
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
  const std::string name = FilePath(request.prefix).filename().string();
  if (name.empty())
    throw UsageError(fmt::format("'{}' is no prefix of file names (it ends in a folder); give one like results/tract",
                                 request.prefix));
  if (!(request.epsilon >= 0))
    throw UsageError(
        fmt::format("--epsilon: {} is negative (it is a share of the least cost); give 0 or more, usually "
                    "0.05",
                    request.epsilon));
  check_output_files(ConnectFiles(request.prefix).all(request.streamlines), inputs_of(request),
                     request.force ? Overwrite::yes : Overwrite::no);
}

std::vector<Region> regions_of(const std::vector<RegionRequest>& requests, const ImageGrid& grid, ImageFiles& files) {
  std::vector<Region> regions;
  regions.reserve(requests.size());
  for (const RegionRequest& request : requests)
    regions.push_back(
        make_region(request, grid, [&](const FilePath& path) -> const Image& { return files.get(path); }));
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
  ConnectQuery query;
  query.from = inside_mask(at[0], input.grid, mask);
  query.to = inside_mask(at[1], input.grid, mask);
  for (const Region& region : regions_of(request.waypoints, input.grid, files))
    query.waypoints.push_back(inside_mask(region, input.grid, mask));
  query.epsilon = request.epsilon;
  check_apart(query.from, query.to);
  return query;
}

Image image_like(const ImageGrid& grid, DataArray array) {
  Image image{grid, {}, {}, {}};
  image.data.set(std::move(array));
  return image;
}

void write_text(const OutputFile& file, const std::string& text) {
  ByteWriter sink(file);
  sink.print("{}", text);
  sink.finish();
}

/// Writes everything but the summary, which comes last and has their names.
void write_results(const ConnectFiles& names, const ConnectSummary& summary, OutputFiles& files) {
  const Connection& connection = summary.connection;
  const auto image = [&](const FilePath& name, DataArray array) {
    write_image(files.add(name), image_like(summary.input.grid, std::move(array)));
  };
  image(names.cost, {"cost", 1, std::vector<float>(connection.cost.begin(), connection.cost.end())});
  image(names.pathway, {"pathway", 1, connection.pathway});
  const Dataset path = path_dataset(connection.path, summary.statistics);
  write_dataset(files.add(names.tracks).where, path, Overwrite::yes);
  write_dataset(files.add(names.surface).where, path, Overwrite::yes);
  write_text(files.add(names.profile), profile_csv(connection.path, summary.statistics));
  if (!summary.streamlines) return;
  Dataset lines;
  for (const Streamline& line : summary.streamlines->lines) add_line(lines, line.points);
  write_dataset(files.add(names.streamlines).where, lines, Overwrite::yes);
}

int judge(const ConnectSummary& summary) {
  const Arrival& work = summary.connection.work;
  if (work.converged && (!work.residual || work.residual->passed())) return 0;
  print_error(fmt::format("{}: not converged ({}); the output was written all the same: treat it with care, and {}",
                          summary.request.tensors.file.string(),
                          work.converged ? "the check of the costs failed" : "updates were still above the tolerance",
                          better_grid_options(work, summary.request.options.scheme)));
  return exit_not_converged;
}

}  // namespace

int run_connect(const ConnectRequest& request, Console& console) {
  check_request(request, console);
  const TensorInput input = read_tensors(request.tensors, console);
  std::vector<std::uint8_t> mask;
  const ConnectQuery query = make_query(request, input, mask, console);
  const GridDomain domain{input.grid, input.metric.metric, mask};
  const InterruptGuard guard;
  Connection connection;
  Timer timer;
  {
    Activity activity(console, "connecting");
    SolveOptions options = request.options;
    options.threads = console.options.threads;
    options.verify = request.verify ? Keep::yes : Keep::no;
    options.progress = activity.progress();
    connection = Connector(domain, options).connect(query);
  }
  const TensorField field{input.grid, input.tensors, mask};
  const PathStatistics statistics = path_statistics(connection.path.points, field, input.metric.metric);
  ConnectSummary summary{request, input, query, connection, statistics, {}, 0, {}, timer.seconds(), 0, 0};
  summary.mask_voxels = static_cast<std::size_t>(std::count(mask.begin(), mask.end(), 1));
  if (request.streamlines) {
    timer.restart();
    StreamlineOptions tracking = request.tracking;
    tracking.threads = console.threads();
    summary.streamlines = track_streamlines(field, query.from, query.to, tracking);
    summary.track_seconds = timer.seconds();
  }
  check_interrupted();
  timer.restart();
  const ConnectFiles names(request.prefix);
  OutputFiles files;
  write_results(names, summary, files);
  summary.written = names.all(request.streamlines);
  summary.write_seconds = timer.seconds();
  const std::string json = json_text_of(summary, console);
  write_text(files.add(names.summary), json);
  check_interrupted();
  files.commit();
  if (console.options.json) console.print(json);
  else console.say(text_of(summary));
  return judge(summary);
}

}  // namespace isochron::cli
