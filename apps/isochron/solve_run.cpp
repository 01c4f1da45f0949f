// `isochron solve` on a whole mesh or image.
#include <algorithm>
#include <cmath>

#include "apps/isochron/solve_steps.h"
#include "apps/isochron/tensor_input.h"
#include "isochron/communicator.h"
#include "isochron/core/timer.h"
#include "isochron/io.h"
#include "isochron/io/file.h"
#include "isochron/io/pieces/part_files.h"
#include "isochron/io/pieces/piece_index.h"
#include "isochron/metric/conducting.h"

namespace isochron::cli {
namespace {

/// Without an option a point may be this share of the diagonal away.
constexpr double reach_share = 0.01;

// ---- meshes

/// Says before the work what the output file will not hold; `result` is what was computed.
void warn_about_output(const SolveRequest& request, std::string_view result, const Dataset& dataset, Console& console) {
  if (request.to_pieces()) {
    if (!dataset.lines.empty())
      console.warn("{}: {} will not be in it (pieces are written without lines); write one file",
                   request.output.string(), counted(dataset.lines.size(), "line", "lines"));
    return;
  }
  const std::string extension = FileName(request.output).extension;
  for (const Format& format : formats()) {
    const bool ours =
        std::find(format.extensions.begin(), format.extensions.end(), extension) != format.extensions.end();
    if (ours && !format.keeps_arrays)
      console.warn("{}: the {} will not be in it ({} files have no place for them); use .vtu, .vtp, .vtk, .ply or .msh",
                   request.output.string(), result, format.name);
    const std::size_t lines = ours ? dropped_lines(request.output, dataset) : 0;
    if (lines > 0)
      console.warn("{}: {} will not be in it ({} files have no place for lines); use .vtu, .vtk or .msh",
                   request.output.string(), counted(lines, "line", "lines"), format.name);
  }
}

/// Refuses before the work a picture of an array that will not be there, or of nothing.
void check_picture_data(const PictureRequest& picture, const Dataset& dataset) {
#if defined(ISOCHRON_WITH_VTK)
  if (picture.file.empty()) return;
  if (picture.options.cut) check_cut(dataset, *picture.options.cut);
  const std::string& array = picture.options.array;
  const bool made_here = array.empty() || array == "arrival_time" || array == "source" || array == "reached";
  if (!made_here) (void)dataset.point_data.require(array, "points (--picture-array)");
#else
  static_cast<void>(picture), static_cast<void>(dataset);
#endif
}

/// A mesh and what becomes of it. Points and cells are moved along, not copied.
template <int Corners>
class MeshRun {
 public:
  static constexpr bool in_parts = false;
  MeshRun(const SolveRequest& request, MeshToKeep&& mesh)
      : request_(request), dataset_(std::move(mesh.dataset)), stored_(std::move(mesh.stored)) {}

  Sources sources(const SideInputs& inputs, Console& console) {
    Sources sources = gather_sources<Corners>(request_, inputs, dataset_, console);
    drop_other_cells<Corners>(request_, "arrival times", dataset_, console);
    mesh_ = take_mesh<Corners>(dataset_);
    check_size(box_of(mesh_.points, console.threads()));
    return sources;
  }
  [[nodiscard]] std::size_t vertex_count() const { return mesh_.vertex_count(); }

  Metric metric() {
    Metric metric = metric_from_dataset<Corners>(mesh_, dataset_, mesh_metric(request_));
    if (request_.unit) metric.change_unit(*request_.unit);  // coordinates stay as they are, in messages too
    const int threads = usual_threads();
    if (!metric.conducts_everywhere(threads))
      conducting_ = conducting_elements(metric, mesh_.element_count(), Subject::metric, threads);
    return metric;
  }
  [[nodiscard]] MeshDomain<Corners> domain(const Metric& metric) const { return {mesh_, metric}; }
  void warn_of_ranks(SharedSteps&, Console&) const {}

  std::vector<ProbeTime> probe(const std::vector<Vec3d>& points, const Arrival& arrival, Console& console) const {
    const double tolerance = request_.probe.tolerance.value_or(default_reach(box_of(mesh_.points, console.threads())));
    const auto probe_on = [&](const SimplexMesh<Corners>& mesh) {
      return probe_times(mesh, arrival.times, points, tolerance, console.threads());
    };
    std::vector<ProbeTime> probed =
        conducting_ ? probe_on(with_elements<Corners>(mesh_, *conducting_)) : probe_on(mesh_);
    warn_outside(request_.probe, probed, fmt::format("the mesh (further than {:.4g})", tolerance), console);
    return probed;
  }

  void sum_up(Arrival& arrival, SolveSummary& summary, Console& console) const {
    if (!request_.each_source && request_.options.backend == Backend::threads && arrival.threads == 1 &&
        console.threads() > 1)
      arrival.notes.push_back(fmt::format("{} runs on one thread, whatever --backend says", name_of(arrival.method)));
    note_unused_fibers(request_.metric, arrival.notes);
    summary.elements = mesh_.element_count();
    summary.corners = Corners;
    if (arrival.unreached > 0)
      summary.unreached = conducting_ ? explain_unreached(with_elements<Corners>(mesh_, *conducting_), arrival.times)
                                      : explain_unreached(mesh_, arrival.times);
    if (arrival.unreached > 0 && arrival.reached > 0) warn_unreached(summary, arrival, console);
  }

  /// Puts the results into the data that is written, and draws them.
  std::optional<RuntimeError> add_results(Arrival& arrival, EachSource* each, SolveSummary& summary,
                                          const Console& console) {
    restore_mesh<Corners>(dataset_, std::move(mesh_));
    drop_results(dataset_.point_data);
    if (each != nullptr) each->add_arrays(dataset_.point_data);
    else add_result(arrival, dataset_.point_data);
    auto not_drawn = draw_result(request_, dataset_, summary, console);
    leave_out_arrays(request_, dataset_.point_data);
    for (DataArrays* data : {&dataset_.triangles.data, &dataset_.tets.data, &dataset_.line_data})
      keep_arrays(request_.arrays, *data);
    return not_drawn;
  }
  void write(SharedSteps* ranks, OutputFiles& files) {
    if (request_.to_pieces()) write_in_pieces<Corners>(*ranks, request_, std::move(dataset_));
    else if (request_.to_vertex_values())
      write_vertex_results(
          request_, dataset_.point_data, [&](std::size_t v) { return dataset_.points[v]; }, files);
    else write_kept(files, request_.output, dataset_, stored_.get());
  }

 private:
  const SolveRequest& request_;
  Dataset dataset_;
  std::shared_ptr<const StoredMesh> stored_;  ///< what the output takes over from the input, where it does
  SimplexMesh<Corners> mesh_;
  std::optional<std::vector<ElementId>> conducting_;  ///< where not all elements do
};

// ---- images

/// Times from all sources as one array with a component for each, where a format holds no more than one.
DataArray side_by_side(const std::vector<DataArray>& arrays) {
  const std::size_t sources = arrays.size();
  return std::visit(
      [&](const auto& first) -> DataArray {
        using Values = std::decay_t<decltype(first)>;
        Values values(sources * first.size());
        for (std::size_t i = 0; i < sources; ++i)
          for (std::size_t v = 0; v < first.size(); ++v)
            values[v * sources + i] = static_cast<typename Values::value_type>(arrays[i].at(v));
        return {"arrival_time", static_cast<int>(sources), std::move(values)};
      },
      arrays.front().values);
}

/// A flat image as a surface, with the centres of its pixels as vertices; none between pixels outside the mask.
Dataset flat_surface(const Image& image, std::span<const std::uint8_t> mask) {
  Dataset surface;
  surface.point_data = image.data;
  const ImageGrid& grid = image.grid;
  for (std::size_t v = 0; v < grid.voxel_count(); ++v) surface.points.push_back(grid.position(VertexId(v)));
  const auto add = [&](VertexId a, VertexId b, VertexId c) {
    const auto inside = [&](VertexId v) { return mask.empty() || mask[v.index()] != 0; };
    if (inside(a) && inside(b) && inside(c)) surface.triangles.cells.push_back({a, b, c});
  };
  for (std::uint32_t j = 0; j + 1 < grid.shape[1]; ++j)
    for (std::uint32_t i = 0; i + 1 < grid.shape[0]; ++i) {
      add(grid.voxel(i, j, 0), grid.voxel(i + 1, j, 0), grid.voxel(i + 1, j + 1, 0));
      add(grid.voxel(i, j, 0), grid.voxel(i + 1, j + 1, 0), grid.voxel(i, j + 1, 0));
    }
  return surface;
}

void check_picture_of(const SolveRequest& request, const ImageGrid& grid) {
  if (request.picture.file.empty() || grid.flat()) return;
  throw usage_error("--picture draws flat images ({} has {} slices); leave it out, and open the result in a viewer",
                    request.mesh.string(), grid.shape[2]);
}

/// An image and what becomes of it.
class ImageRun {
 public:
  static constexpr bool in_parts = false;
  ImageRun(const SolveRequest& request, Image&& image, ImageMetric&& problem)
      : request_(request), image_(std::move(image)), problem_(std::move(problem)) {}

  Sources sources(const SideInputs& inputs, Console& console) {
    Sources found = gather_voxel_sources(request_, inputs, image_);
    std::vector<VertexId> voxels;
    for (const VertexSource& source : found.vertices) voxels.push_back(source.vertex.in_whole());
    for (const PointSource& source : found.points)
      if (const auto voxel = image_.grid.voxel_at(source.position)) voxels.push_back(*voxel);
    warn_about_tensors_at(bad_tensors(voxels, problem_.indefinite), "at the sources", request_.mesh.string(), console);
    return found;
  }
  [[nodiscard]] std::size_t vertex_count() const { return image_.grid.voxel_count(); }

  Metric metric() { return std::move(problem_.metric); }
  [[nodiscard]] GridDomain domain(const Metric& metric) const { return {image_.grid, metric, problem_.mask}; }
  void warn_of_ranks(SharedSteps& ranks, Console& console) const {
    if (request_.options.threads > 1 && ranks.communicator().size() > 1 && !request_.each_source)
      console.warn("--threads has no effect on an image over several ranks (those of one machine have a thread each)");
  }

  std::vector<ProbeTime> probe(const std::vector<Vec3d>& points, const Arrival& arrival, Console& console) const {
    const ImageGrid& grid = image_.grid;
    const double tolerance = request_.probe.tolerance.value_or(default_reach(grid));
    std::vector<ProbeTime> probed = probe_times(grid, problem_.mask, arrival.times, points, tolerance);
    warn_outside(request_.probe, probed, fmt::format("the mask or the image (further than {:.4g})", tolerance),
                 console);
    return probed;
  }

  void sum_up(Arrival& arrival, SolveSummary& summary, Console& console) const {
    arrival.not_conducting = problem_.not_conducting;
    const std::vector<std::uint8_t>& mask = problem_.mask;
    summary.elements = mask.empty() ? vertex_count() : mask.size() - std::count(mask.begin(), mask.end(), 0);
    summary.corners = voxel_corners;
    summary.tensors = problem_.tensors;
    if (arrival.unreached > 0) summary.unreached = unreached_voxels(image_.grid, mask, arrival.times);
    warn_unreached_voxels(summary, console);
  }

  /// Draws the results, and puts them beside the input's arrays or, where the format has room for one, the times alone
  /// in their place.
  std::optional<RuntimeError> add_results(Arrival& arrival, EachSource* each, SolveSummary& summary,
                                          const Console& console) {
    auto not_drawn = draw(arrival, summary, console);
    const bool many = request_.output.empty() || request_.to_vertex_values() || holds_many_arrays(request_.output);
    DataArrays& data = image_.data;
    if (!many || (!data.empty() && made_by_solve(data.all().front().name))) image_.tensor_order.reset();
    drop_results(data);
    if (!many) data = {};
    if (each != nullptr) each->add_arrays(data);
    else add_result(arrival, data);
    leave_out_arrays(request_, data);
    if (many || data.empty()) return not_drawn;
    if (each != nullptr) {
      DataArray times = side_by_side(data.all());
      data = {};
      data.set(std::move(times));
    } else {
      std::erase_if(data.all(), [](const DataArray& array) { return array.name != "arrival_time"; });
    }
    return not_drawn;
  }
  void write(SharedSteps* ranks, OutputFiles& files) {
    if (request_.to_pieces()) write_in_pieces(*ranks, request_, std::move(image_));
    else if (request_.to_vertex_values())
      write_vertex_results(
          request_, image_.data, [&](std::size_t v) { return image_.grid.position(VertexId(v)); }, files);
    else write_image(files.add(request_.output), image_);
  }

 private:
  std::optional<RuntimeError> draw(const Arrival& found, SolveSummary& summary, const Console& console) const {
    if (request_.picture.file.empty()) return std::nullopt;
    Arrival arrival = found;
    Dataset surface = flat_surface(image_, problem_.mask);
    drop_results(surface.point_data);
    add_result(arrival, surface.point_data);
    return draw_result(request_, surface, summary, console);
  }

  const SolveRequest& request_;
  Image image_;
  ImageMetric problem_;
};

/// All steps on one process, or on the first of several that solve together.
int run_whole(const SolveRequest& request, SharedSteps* ranks, Console& console) {
  check_request(request);
  const SideInputs inputs = read_side_inputs(request);
  SolveSummary summary{request};
  if (ranks != nullptr) summary.ranks = ranks->communicator().size();
  const Timer reading;
  const auto finish = [&](auto&& run) {
    return solve_and_write(request, std::forward<decltype(run)>(run), inputs, ranks, summary, console);
  };
  if (request.on_image()) {
    Image image = read_reported(request.mesh, request.raw, console);
    check_picture_of(request, image.grid);
    about_file(request.mesh, [&] { check_array_names(kept_input_arrays(request), image.data.names()); });
    ImageMetric problem = about_file(request.mesh, [&] { return image_problem(request, image, console); });
    summary.read_seconds = reading.seconds();
    return finish(ImageRun(request, std::move(image), std::move(problem)));
  }
  MeshToKeep mesh = read_mesh_to_keep(request, console);
  summary.cut_cells = mesh.dataset.cut_cells;
  summary.read_seconds = reading.seconds();
  const int corners = about_file(request.mesh, [&] {
    check_picture_data(request.picture, mesh.dataset);
    check_array_names(kept_input_arrays(request), mesh.array_names());
    return pick_elements(request, mesh.dataset);
  });
  return corners == 3 ? finish(MeshRun<3>(request, std::move(mesh))) : finish(MeshRun<4>(request, std::move(mesh)));
}

}  // namespace

SideInputs read_side_inputs(const SolveRequest& request) {
  SideInputs inputs;
  for (const auto& file : request.sources.files) inputs.source_rows.push_back(read_source_file(file));
  if (!request.probe.points.empty()) inputs.probes = read_points(request.probe.points);
  return inputs;
}

template <int Corners>
void drop_other_cells(const SolveRequest& request, std::string_view result, Dataset& dataset, Console& console) {
  auto& other = dataset.block < Corners == 3 ? 4 : 3 > ();
  const std::size_t dropped = other.cells.size();
  other = {};
  if (request.to_pieces()) check_set_holds<Corners>(request.output);
  else if (request.to_mesh()) check_holds(request.output, dataset);
  warn_left_out<Corners>(request, dropped, dataset.lines.size(), console);
  if (request.to_mesh()) warn_about_output(request, result, dataset, console);
}
template void drop_other_cells<3>(const SolveRequest&, std::string_view, Dataset&, Console&);
template void drop_other_cells<4>(const SolveRequest&, std::string_view, Dataset&, Console&);

double default_reach(const Box& box) { return reach_share * norm(box.high - box.low); }
double default_reach(const ImageGrid& grid) {
  const Vec3d last{grid.shape[0] - 1.0, grid.shape[1] - 1.0, grid.shape[2] - 1.0};
  return reach_share * norm(grid.position(last) - grid.position(Vec3d{}));
}

void check_size(const Box& box) {
  const auto& [low, high] = box;
  const double size = std::max({high.x - low.x, high.y - low.y, high.z - low.z});
  if (size > 1e100 || (size > 0 && size < 1e-100))
    throw input_error("the mesh is {:g} across (too large or too small to compute with); give it in another unit",
                      size);
}

int run_solve(const SolveRequest& request, Console& console) {
  const bool over_ranks = request.options.backend == Backend::mpi;
  if (!over_ranks && mpi::launched_rank() == 0 && mpi::launched_ranks() > 1)
    console.warn(
        "{} ranks were launched, and each does the same by itself; add --backend mpi to solve over them together",
        mpi::launched_ranks());
  if (!request.on_image() && is_image_file(request.output) && FileName(request.output).extension != ".npy")
    refuse_image_output(request);
  if (!over_ranks) return run_whole(request, nullptr, console);
  if (goes_by_parts(request))
    return run_on_all_ranks(
        [&](Communicator& communicator) { return run_solve_parts(request, communicator, console); });
  return run_over_ranks(request, [&](SharedSteps& ranks) { return run_whole(request, &ranks, console); });
}

}  // namespace isochron::cli
