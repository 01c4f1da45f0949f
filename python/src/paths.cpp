// Rays and geodesics back to the source, and times between vertices.
#include <limits>
#include <type_traits>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "isochron/core/parallel.h"
#include "isochron/core/parallel_in_order.h"
#include "isochron/error.h"
#include "isochron/path.h"
#include "python/src/bindings.h"
#include "python/src/datasets.h"
#include "python/src/interpreter.h"
#include "python/src/problem.h"
#include "python/src/work.h"

namespace isochron::python {

py::dict dict_of(Path&& path) {
  py::dict result;
  result["points"] = array_on_rows<double>(std::move(path.points));
  result["times"] = array_on(std::move(path.times));
  result["length"] = path.length;
  result["travel_time"] = path.travel_time;
  result["source"] = path.source;
  result["why"] = path.end == PathEnd::source ? std::string() : path.why;
  return result;
}

namespace {

/// Where paths start: ids, or points that may be `tolerance` away from the mesh.
struct Starts {
  std::vector<VertexId> vertices;
  std::vector<Vec3d> points;
  double tolerance = 0;

  [[nodiscard]] std::size_t count() const { return vertices.size() + points.size(); }
};

/// How paths are asked for.
struct PathWork {
  PathOptions options;
  int threads = 1;
  const Progress& progress;
};

/// A path, or why there is none: targets that nothing reached do not end the others.
template <class Trace>
std::vector<Path> trace_all(const Starts& starts, const Problem& problem, const PathWork& work, const Trace& trace) {
  const std::size_t count = starts.count();
  std::vector<Path> paths;
  parallel_in_order<Path>(
      work.threads, count,
      [&](std::size_t i, const std::atomic<bool>&) {
        if (work.progress.cancelled()) throw Cancelled();
        try {
          return trace(i);
        } catch (const NoAnswerError& error) {
          Path none;
          none.end = PathEnd::unended;
          none.why = to_text(error, PythonWording(problem.words()));
          return none;
        }
      },
      [&](std::size_t i, Path&& path) {
        paths.push_back(std::move(path));
        work.progress.update(static_cast<double>(i + 1) / static_cast<double>(count));
      });
  return paths;
}

template <int Corners>
std::vector<Path> trace_on(const SimplexMesh<Corners>& mesh, const Problem& problem, std::span<const double> times,
                           const Sources& sources, const Starts& starts, const PathWork& work) {
  const PathTracer<Corners> tracer({mesh, problem.metric}, times, sources, work.options);
  return trace_all(starts, problem, work, [&](std::size_t i) {
    return i < starts.vertices.size() ? tracer.from(starts.vertices[i])
                                      : tracer.from(starts.points[i - starts.vertices.size()], starts.tolerance);
  });
}

std::vector<Path> trace_on(const ImageGrid& grid, const Problem& problem, std::span<const double> times,
                           const Sources& sources, const Starts& starts, const PathWork& work) {
  const GridPathTracer tracer(grid, problem.metric, problem.shape->mask, times, sources);
  return trace_all(starts, problem, work, [&](std::size_t i) {
    const Vec3d from =
        i < starts.vertices.size() ? grid.position(starts.vertices[i]) : starts.points[i - starts.vertices.size()];
    const auto voxel = grid.voxel_at(from);
    const auto& mask = problem.shape->mask;
    if (voxel && !mask.empty() && mask[voxel->index()] == 0)
      throw NoAnswerError(
          fmt::format("nothing arrives at point {:g},{:g},{:g} (it is outside the mask); choose a place "
                      "that is reached",
                      from.x, from.y, from.z));
    return tracer.from(from, work.options);
  });
}

py::list trace_paths(const std::shared_ptr<Problem>& problem, const py::array& times, const Sources& sources,
                     const py::object& vertices, const py::object& points, double tolerance, bool shorten, int threads,
                     const py::object& callback) {
  Conversions unseen;
  const auto count = static_cast<py::ssize_t>(problem->shape->vertex_count());
  const auto field = rows_of<double>(times, "times", count, unseen);
  Starts starts;
  starts.tolerance = tolerance;
  if (!vertices.is_none()) starts.vertices = ids_of<VertexId>(vertices, "to", problem->shape->vertex_count(), unseen);
  if (!points.is_none()) starts.points = rows_of<Vec3d>(points, "to", -1, unseen);
  const PathOptions options{shorten ? Shorten::yes : Shorten::no};
  const auto trace = [&](const Progress& progress) {
    const PathWork work{options, threads > 0 ? threads : hardware_threads(), progress};
    return std::visit([&](const auto& on) { return trace_on(on, *problem, field, sources, starts, work); },
                      problem->shape->of);
  };
  std::vector<Path> paths = run_work(callback, trace, problem->words());
  py::list result;
  for (Path& path : paths) result.append(dict_of(std::move(path)));
  return result;
}

/// Times at points, NaN where the mesh or the open part of the grid is further away than the tolerance.
py::array_t<double> probe_at(const std::shared_ptr<Shape>& shape, const py::array& times, const py::array& points,
                             double tolerance) {
  Conversions unseen;
  const auto field = rows_of<double>(times, "times", static_cast<py::ssize_t>(shape->vertex_count()), unseen);
  const auto places = rows_of<Vec3d>(points, "points", -1, unseen);
  std::vector<double> result;
  unlocked([&] {
    const auto probed = [&](const auto& on) {
      if constexpr (std::is_same_v<std::decay_t<decltype(on)>, ImageGrid>)
        return probe_times(on, shape->mask, field, places, tolerance);
      else return probe_times(on, field, places, tolerance, hardware_threads());
    };
    for (const ProbeTime& one : std::visit(probed, shape->of))
      result.push_back(one.time.value_or(std::numeric_limits<double>::quiet_NaN()));
  });
  return array_on(std::move(result));
}

}  // namespace

void bind_paths(py::module_& module) {
  using namespace py::literals;
  module.def("probe_times", &probe_at, "shape"_a, "times"_a, "points"_a, "tolerance"_a,
             "Times at points, linear in their elements; NaN outside.");
  module.def("trace_paths", &trace_paths, "problem"_a, "times"_a, "sources"_a, "vertices"_a, "points"_a, "tolerance"_a,
             "shorten"_a, "threads"_a, "progress"_a = py::none(), "Paths back to the source, one for each start.");
}

}  // namespace isochron::python
