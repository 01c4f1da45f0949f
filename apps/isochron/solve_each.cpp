#include "apps/isochron/solve_each.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isochron/error.h"
#include "isochron/io/bytes.h"
#include "isochron/io/file.h"
#include "isochron/io/tables.h"
#include "isochron/io/vertex_values.h"
#include "isochron/solve/common/arrival_parts.h"

namespace isochron::cli {
namespace {

std::vector<Sources> one_by_one(const Sources& sources) {
  std::vector<Sources> sets;
  for (const VertexSource& source : sources.vertices) sets.emplace_back().vertices.push_back(source);
  for (const PointSource& source : sources.points) sets.emplace_back().points.push_back(source);
  return sets;
}

SourceSummary summary_of(const Sources& source) {
  if (source.points.empty())
    return {.vertex = source.vertices.front().vertex.in_whole(), .onset = source.vertices.front().time};
  return {.vertex = {}, .point = source.points.front().position, .onset = source.points.front().time};
}

/// For sources with points, of which some may come from files that are read late.
void refuse_matrix_of_points(const SolveRequest& request) {
  if (!request.matrix.empty())
    throw UsageError(
        "--matrix has a column for each source vertex (points of --source-point and of files give none); use --source");
}

}  // namespace

bool SolveRequest::to_rows() const {
  return each_source && is_vertex_values_file(output) && FileName(output).extension == ".npy";
}
bool SolveRequest::to_vertex_values() const {
  return is_table_file(output) || (!on_image() && !to_rows() && is_vertex_values_file(output));
}
bool SolveRequest::holds_input_arrays() const { return to_mesh() && (!on_image() || holds_many_arrays(output)); }

void check_each_source(const SolveRequest& request) {
  if (!request.each_source) {
    if (!request.matrix.empty())
      throw UsageError("--matrix is for several solves (a row is one source alone); add --each-source");
    return;
  }
  const auto refuse = [](bool given, std::string_view option) {
    if (given) throw usage_error("{} goes with one solve (--each-source makes many); leave one of them out", option);
  };
  if (request.to_vertex_values() && !is_table_file(request.output))
    throw usage_error("{}: holds the times of one solve (--each-source makes many); use .npy, .csv or .vtu",
                      request.output.string());
  refuse(!request.probe.output.empty(), "--probe");
  refuse(!request.picture.file.empty(), "--picture");
  refuse(request.options.weights == Keep::yes, "--weights");
  if (!request.sources.level_set.empty())
    throw UsageError(
        "--source-levelset is one source (--each-source needs several); leave out --each-source, or solve from the "
        "others alone");
  if (!request.matrix.empty() && FileName(request.matrix).extension != ".csv")
    throw usage_error("{}: a matrix is written as text with commas; name it .csv or .csv.gz", request.matrix.string());
  if (!request.sources.points.empty()) refuse_matrix_of_points(request);
}

/// A row of times for each source.
struct EachSource::TimesFile {
  NpyWriter writer;

  TimesFile(const SolveRequest& request, std::size_t rows, std::size_t columns, OutputFiles& files)
      : writer(files.add(request.output), rows, columns) {}
};

/// The times of each source at all source vertices.
struct EachSource::MatrixFile {
  ByteWriter sink;

  MatrixFile(const SolveRequest& request, std::span<const Sources> sets, OutputFiles& files)
      : sink(files.add(request.matrix)) {
    sink.print("{}", request.on_image() ? "voxel" : "vertex");
    for (const Sources& to : sets) sink.print(",{}", to.vertices.front().vertex.value);
    sink.print("\n");
  }
  void row(const Sources& from, std::span<const Sources> sets, const std::vector<double>& times) {
    sink.print("{}", from.vertices.front().vertex.value);
    for (const Sources& to : sets) sink.print(",{}", times[to.vertices.front().vertex.index()]);
    sink.print("\n");
  }
};

EachSource::EachSource(const SolveRequest& request, const Sources& sources, std::size_t vertices, OutputFiles& files)
    : request_(request), sets_(one_by_one(sources)) {
  if (sets_.size() < 2)
    throw UsageError("there is only one source (--each-source needs several); leave out --each-source");
  if (!sources.points.empty()) refuse_matrix_of_points(request);
  if (request.to_rows()) times_ = std::make_unique<TimesFile>(request, sets_.size(), vertices, files);
  if (!request.matrix.empty()) matrix_ = std::make_unique<MatrixFile>(request, sets_, files);
}

EachSource::~EachSource() = default;

void EachSource::take(std::size_t i, Arrival&& arrival) {
  summaries_.push_back(summary_of(sets_[i]));
  if (times_ != nullptr) times_->writer.row(arrival.times);
  if (matrix_ != nullptr) matrix_->row(sets_[i], sets_, arrival.times);
  add_up(arrival);
  if (!request_.output.empty() && !request_.to_rows())
    arrays_.push_back(times_array(fmt::format("arrival_time_{}", i), arrival));
  arrival.times = {}, arrival.source = {}, arrival.upwind = {};
  summaries_.back().arrival = std::move(arrival);
}

void EachSource::add_up(const Arrival& arrival) {
  if (summaries_.size() == 1) {
    all_ = arrival;
    return;
  }
  for (std::size_t v = 0; v < all_.times.size(); ++v) all_.times[v] = std::min(all_.times[v], arrival.times[v]);
  all_.max_time = std::max(all_.max_time, arrival.max_time);
  all_.traffic = arrival.traffic;
  all_.point_sources += arrival.point_sources;
  all_.source_balls += arrival.source_balls;
  all_.transfer_seconds += arrival.transfer_seconds;
  all_.counters.local_solves += arrival.counters.local_solves;
  all_.counters.rounds += arrival.counters.rounds;
  all_.converged = all_.converged && arrival.converged;
  if (arrival.residual) take_worse(*arrival.residual, *all_.residual);
  for (const std::string& note : arrival.notes)
    if (std::find(all_.notes.begin(), all_.notes.end(), note) == all_.notes.end()) all_.notes.push_back(note);
}

Arrival EachSource::take_all() {
  all_.source = {};
  all_.reached = static_cast<std::size_t>(
      std::count_if(all_.times.begin(), all_.times.end(), [](double time) { return std::isfinite(time); }));
  all_.unreached = all_.times.size() - all_.reached;
  all_.counters.local_solves /= sets_.size();
  all_.counters.rounds /= sets_.size();
  all_.solve_seconds = seconds_;
  return std::move(all_);
}

void EachSource::add_arrays(DataArrays& data) {
  for (DataArray& array : arrays_) data.set(std::move(array));
  arrays_.clear();
}

void EachSource::finish() {
  if (times_ != nullptr) times_->writer.finish();
  if (matrix_ != nullptr) matrix_->sink.finish();
}

}  // namespace isochron::cli
