// Paths as files: polylines with arrays, or a table.
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/isochron/path.h"
#include "isochron/core/error.h"
#include "isochron/io/bytes.h"
#include "isochron/io/file.h"

namespace isochron::cli {
namespace {

bool is_table(const std::filesystem::path& file) { return FileName(file).extension == ".csv"; }

/// One line a path. A path that is one point, because it starts at the source, has it twice: a line has two ends.
Dataset as_lines(const std::vector<TracedTarget>& targets) {
  Dataset dataset;
  std::vector<double> times, lengths, travel_times;
  std::vector<std::int32_t> numbers, vertices, sources;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const auto& [target, path, why] = targets[i];
    if (!why.empty()) continue;
    auto& line = dataset.lines.emplace_back();
    const std::size_t count = std::max<std::size_t>(path.points.size(), 2);
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t from = std::min(k, path.points.size() - 1);
      line.emplace_back(dataset.points.size());
      dataset.points.push_back(path.points[from]);
      times.push_back(path.times[from]);
    }
    numbers.push_back(static_cast<std::int32_t>(i));
    vertices.push_back(target.vertex ? static_cast<std::int32_t>(target.vertex->value) : -1);
    sources.push_back(path.source);
    lengths.push_back(path.length);
    travel_times.push_back(path.travel_time);
  }
  dataset.point_data.set({"arrival_time", 1, std::move(times)});
  dataset.line_data.set({"path", 1, std::move(numbers)});
  dataset.line_data.set({"vertex", 1, std::move(vertices)});
  dataset.line_data.set({"source", 1, std::move(sources)});
  dataset.line_data.set({"length", 1, std::move(lengths)});
  dataset.line_data.set({"travel_time", 1, std::move(travel_times)});
  return dataset;
}

void write_table(const std::filesystem::path& target, const std::vector<TracedTarget>& targets) {
  AtomicFile file(target);
  ByteWriter sink({target, file.path()});
  sink.print("path,x,y,z,time\n");
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const Path& path = targets[i].path;
    for (std::size_t k = 0; k < path.points.size(); ++k) {
      const Vec3d& p = path.points[k];
      sink.print("{},{},{},{},{}\n", i, p.x, p.y, p.z, path.times[k]);
    }
  }
  sink.finish();
  file.commit();
}

}  // namespace

void check_path_output(const PathRequest& request) {
  if (is_table(request.output)) return check_output_file(request.output, request.overwrite());
  if (const FileName name(request.output); !is_mesh_file(request.output) && !name.gzip)
    throw UsageError(fmt::format("{}: unknown extension '{}' (it tells the format); use one of {} .csv",
                                 request.output.string(), name.extension,
                                 fmt::join(written_extensions(WrittenCells::lines), " ")));
  check_writable(request.output, request.overwrite());
  Dataset sample;
  sample.points = {{}, {}};
  sample.lines = {{VertexId(0), VertexId(1)}};
  check_holds(request.output, sample);
}

void write_paths(const PathRequest& request, const std::vector<TracedTarget>& targets) {
  if (is_table(request.output)) write_table(request.output, targets);
  else write_dataset(request.output, as_lines(targets), request.overwrite());
}

}  // namespace isochron::cli
