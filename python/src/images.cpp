// Diffusion tensors: their fit, pathways between regions, connectomes.
#include <algorithm>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "isochron/connect.h"
#include "isochron/core/parallel.h"
#include "isochron/diffusion.h"
#include "isochron/error.h"
#include "isochron/metric/bad_cells.h"
#include "isochron/metric/option_tables.h"
#include "python/src/bindings.h"
#include "python/src/datasets.h"
#include "python/src/interpreter.h"
#include "python/src/option_reader.h"
#include "python/src/work.h"

namespace isochron::python {
namespace {

std::vector<std::uint8_t> mask_of(const py::object& mask, const ImageGrid& grid) {
  if (mask.is_none()) return {};
  Conversions unseen;
  return rows_of<std::uint8_t>(mask, "mask", static_cast<py::ssize_t>(grid.voxel_count()), unseen);
}

Region region_of(const std::string& name, const py::array& ids, const ImageGrid& grid) {
  Conversions unseen;
  Region region{name, ids_of<VertexId>(ids, name, grid.voxel_count(), unseen)};
  std::sort(region.voxels.begin(), region.voxels.end());
  region.voxels.erase(std::unique(region.voxels.begin(), region.voxels.end()), region.voxels.end());
  if (region.voxels.empty()) throw InputError(fmt::format("{} has no voxels; give some", name));
  return region;
}

std::vector<Region> regions_of(const std::string& name, const py::list& all, const ImageGrid& grid) {
  std::vector<Region> regions;
  for (const py::handle ids : all) regions.push_back(region_of(name, ids.cast<py::array>(), grid));
  return regions;
}

py::dict work_stats(const Arrival& work, std::size_t solves) {
  py::dict stats;
  stats["solves"] = solves;
  stats["backend"] = name_of(work.backend);
  stats["threads"] = work.threads;
  stats["precision"] = name_of(work.precision);
  stats["setup_seconds"] = work.setup_seconds;
  stats["solve_seconds"] = work.solve_seconds;
  stats["local_solves"] = work.counters.local_solves;
  stats["converged"] = work.converged;
  stats["residual"] = work.residual ? py::object(py::float_(work.residual->worst)) : py::none();
  return stats;
}

py::dict counts_of(const DiffusionCounts& counts) {
  py::dict result;
  result["voxels"] = counts.voxels;
  for (const auto& [name, count] : counts.named()) result[py::str(name.data(), name.size())] = count;
  return result;
}

py::dict profile_of(const Path& path, const PathStatistics& statistics) {
  std::vector<double> distance, fa, md, local_cost;
  for (const PathSample& sample : statistics.profile) {
    distance.push_back(sample.distance);
    fa.push_back(sample.anisotropy);
    md.push_back(sample.diffusivity);
    local_cost.push_back(sample.local_cost);
  }
  py::dict result;
  result["distance"] = array_on(std::move(distance));
  result["fa"] = array_on(std::move(fa));
  result["md"] = array_on(std::move(md));
  result["local_cost"] = array_on(std::move(local_cost));
  result["cost"] = array_on(std::vector<double>(path.times));
  return result;
}

/// An image of diffusion tensors with the metric made of them.
class Tracts {
 public:
  Tracts(const GridArguments& grid, const py::array& tensors, const std::string& order, const std::string& frame,
         const py::object& mask, const std::string& metric, double alpha, double floor)
      : grid_(grid_of(grid)) {
    const DataArray array = data_array("tensors", tensors);
    const std::vector<std::uint8_t> inside = mask_of(mask, grid_);
    DiffusionMetricOptions options;
    options.kind = chosen("metric", metric, options.kind);
    options.alpha = alpha;
    options.floor = floor;
    options.threads = hardware_threads();
    const TensorOrder components = tensor_order_named(order);
    const TensorFrame axes = chosen("tensor_frame", frame, TensorFrame());
    unlocked([&] {
      tensors_ = world_tensors(array, components, grid_, axes, "tensors");
      check_symmetric(array, inside, "tensors");
      metric_ = diffusion_metric(tensors_, inside, options);
    });
  }

  py::dict connect(const py::array& from, const py::array& to, const py::list& waypoints, const py::list& exclude,
                   const py::list& stop, double epsilon, SolveOptions options, const py::object& callback) {
    ConnectQuery query;
    query.from = region_of("source", from, grid_);
    query.to = region_of("target", to, grid_);
    query.epsilon = epsilon;
    const auto passed = regions_of("waypoints", waypoints, grid_);
    const std::vector<std::uint8_t> mask = path_mask(metric_.usable, regions_of("exclude", exclude, grid_),
                                                     regions_of("stop", stop, grid_), query.from, query.to);
    query.from = inside_mask(query.from, grid_, mask);
    query.to = inside_mask(query.to, grid_, mask);
    for (const Region& region : passed) query.waypoints.push_back(inside_mask(region, grid_, mask));
    check_apart(query.from, query.to);
    PathStatistics statistics;
    Connection connection = run_work(callback, [&](const Progress& progress) {
      options.progress = progress;
      Connection answer = Connector({grid_, metric_.metric, mask}, options).connect(query);
      statistics = path_statistics(answer.path.points, {grid_, tensors_, mask}, metric_.metric);
      return answer;
    });
    return packed(std::move(connection), statistics);
  }

  py::dict connect_labels(const py::array& labels, SolveOptions options, const py::object& callback) {
    Image image{grid_, {}, {}, {}};
    image.data.set(data_array("labels", labels));
    const std::vector<LabelledRegion> regions = all_labels(image, grid_, "labels");
    Connectome answer = run_work(callback, [&](const Progress& progress) {
      options.progress = progress;
      const TensorField field{grid_, tensors_, metric_.usable};
      return connect_all({grid_, metric_.metric, metric_.usable}, regions, options, &field);
    });
    const auto n = static_cast<py::ssize_t>(answer.size());
    const auto square = [n](std::vector<double>&& values) { return array_on(std::move(values)).attr("reshape")(n, n); };
    py::dict result;
    result["stats"] = work_stats(answer.work, answer.solves);
    result["labels"] = array_on(std::move(answer.labels));
    result["cost"] = square(std::move(answer.cost));
    result["length"] = square(std::move(answer.length));
    result["normalised"] = square(std::move(answer.normalised));
    result["fa"] = square(std::move(answer.anisotropy));
    result["unconnected"] = answer.unconnected;
    result["unfinished"] = answer.unfinished;
    result["asymmetry"] = answer.asymmetry;
    return result;
  }

  [[nodiscard]] py::dict counts() const { return counts_of(metric_.counts); }

 private:
  static py::dict packed(Connection&& answer, const PathStatistics& statistics) {
    py::dict result;
    result["profile"] = profile_of(answer.path, statistics);
    result["stats"] = work_stats(answer.work, answer.solves);
    result["cost"] = array_on(std::move(answer.cost));
    result["pathway"] = array_on(std::move(answer.pathway));
    result["path"] = dict_of(std::move(answer.path));
    result["least_cost"] = answer.least_cost;
    result["epsilon"] = answer.pathway_epsilon;
    result["volume"] = answer.pathway_volume;
    result["forward_cost"] = answer.forward_cost;
    result["backward_cost"] = answer.backward_cost;
    result["mean_fa"] = statistics.mean_anisotropy;
    result["mean_md"] = statistics.mean_diffusivity;
    result["notes"] = answer.notes;
    return result;
  }

  ImageGrid grid_;
  std::vector<SymTensor3d> tensors_;
  DiffusionMetric metric_;
};

py::dict tensor_fit(const GridArguments& grid_arguments, const py::array& signal, const py::array& bvals,
                    const py::array& bvecs, const std::string& frame, const py::object& mask, const std::string& method,
                    int threads, const py::object& callback) {
  const ImageGrid grid = grid_of(grid_arguments);
  if (method != "wls" && method != "ols")
    throw UsageError(fmt::format("unknown method '{}'; choose wls (weighted) or ols (ordinary)", method));
  Conversions unseen;
  const GradientTable table{rows_of<double>(bvals, "bvals", -1, unseen),
                            rows_of<Vec3d>(bvecs, "bvecs", bvals.size(), unseen)};
  WorldGradients gradients;
  if (frame == "fsl") {
    gradients = world_gradients(table, grid);
  } else if (frame == "world") {
    // The same rules for lengths and missing directions, on axes along which FSL's frame is the world's.
    ImageGrid straight;
    straight.axes[0].x = -1;
    gradients = world_gradients(table, straight);
    for (Vec3d& direction : gradients.direction) direction.x = -direction.x;
  } else {
    throw UsageError(fmt::format("unknown frame '{}'; choose fsl (as .bvec files) or world", frame));
  }
  const DataArray values = data_array("signal", signal);
  const std::vector<std::uint8_t> inside = mask_of(mask, grid);
  TensorFit fit = run_work(callback, [&](const Progress& progress) {
    TensorFitOptions options;
    options.method = method == "wls" ? TensorFitMethod::wls : TensorFitMethod::ols;
    options.threads = threads > 0 ? threads : hardware_threads();
    options.progress = progress;
    return fit_tensors(values, gradients, inside, options);
  });
  std::vector<double> fa, md;
  for (const SymTensor3d& tensor : fit.tensor) {
    fa.push_back(fractional_anisotropy(tensor));
    md.push_back(mean_diffusivity(tensor));
  }
  py::dict counts;
  counts["voxels"] = fit.counts.voxels;
  counts["fitted"] = fit.counts.fitted;
  counts["empty"] = fit.counts.empty;
  counts["failed"] = fit.counts.failed;
  counts["missing_signals"] = fit.counts.missing_signals;
  counts["not_positive_definite"] = fit.counts.not_positive_definite;
  py::dict result;
  result["tensors"] = array_on_rows<double>(std::move(fit.tensor));
  result["fa"] = array_on(std::move(fa));
  result["md"] = array_on(std::move(md));
  result["counts"] = counts;
  return result;
}

}  // namespace

void bind_images(py::module_& module) {
  using namespace py::literals;
  py::class_<Tracts>(module, "Tracts", "An image of diffusion tensors, ready for pathways.")
      .def(py::init<const GridArguments&, const py::array&, const std::string&, const std::string&, const py::object&,
                    const std::string&, double, double>(),
           "grid"_a, "tensors"_a, "order"_a, "frame"_a, "mask"_a, "metric"_a, "alpha"_a, "floor"_a)
      .def("connect", &Tracts::connect, "source"_a, "target"_a, "waypoints"_a, "exclude"_a, "stop"_a, "epsilon"_a,
           "options"_a, "progress"_a = py::none(), "The pathway between two regions.")
      .def("connect_labels", &Tracts::connect_labels, "labels"_a, "options"_a, "progress"_a = py::none(),
           "All pairs of labels.")
      .def_property_readonly("counts", &Tracts::counts, "What was found in the tensors.");
  module.def("tensor_fit", &tensor_fit, "grid"_a, "signal"_a, "bvals"_a, "bvecs"_a, "frame"_a, "mask"_a, "method"_a,
             "threads"_a, "progress"_a = py::none(), "Tensors of a diffusion-weighted image.");
}

}  // namespace isochron::python
