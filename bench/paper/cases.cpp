#include "bench/paper/cases.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "isochron/core/parallel.h"
#include "isochron/core/random.h"
#include "isochron/core/timer.h"
#include "isochron/device.h"
#include "isochron/generate.h"
#include "isochron/generate/smoothing.h"
#include "isochron/io.h"
#include "isochron/partition.h"

namespace isochron::bench {
namespace {

std::optional<TriangleMesh> dragon() {
  const auto path = data_folder() / "surf" / "dragon_vrip.ply.gz";
  if (!std::filesystem::exists(path)) return std::nullopt;
  Dataset dataset = read_dataset(path);
  return take_mesh<3>(dataset);
}

/// Vertices of the largest part connected through elements, by union-find.
template <int Corners>
std::vector<std::uint8_t> largest_part(const SimplexMesh<Corners>& mesh) {
  std::vector<std::uint32_t> parent(mesh.vertex_count());
  std::iota(parent.begin(), parent.end(), 0U);
  const auto root = [&](std::uint32_t v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
  };
  for (const auto& element : mesh.elements)
    for (int c = 1; c < Corners; ++c) parent[root(element[c].value)] = root(element[0].value);
  std::vector<std::uint32_t> size(mesh.vertex_count(), 0);
  for (std::uint32_t v = 0; v < size.size(); ++v) ++size[root(v)];
  const auto biggest = static_cast<std::uint32_t>(std::max_element(size.begin(), size.end()) - size.begin());
  std::vector<std::uint8_t> inside(mesh.vertex_count());
  for (std::uint32_t v = 0; v < inside.size(); ++v) inside[v] = root(v) == biggest ? 1 : 0;
  return inside;
}

}  // namespace

std::optional<TriangleMesh> surface_mesh(int number, BenchSize size) {
  const bool full = size == BenchSize::paper;
  switch (number) {
    case 1: return generate_square({.n = full ? 1024U : 64U, .extent = full ? 1023.0 : 63.0});
    case 2: return generate_irregular_square({.n = full ? 1025U : 65U, .extent = full ? 1024.0 : 64.0});
    case 3: return generate_sphere({.frequency = full ? 320U : 20U, .radius = 100});
    default: return full ? dragon() : std::nullopt;
  }
}

std::string surface_label(int number, const TriangleMesh& mesh) {
  return fmt::format("{} ({} vertices)", surface_mesh_names[number], mesh.vertex_count());
}

TetMesh volume_mesh(int number, BenchSize size) {
  const bool full = size == BenchSize::paper;
  switch (number) {
    case 1: return unit_cell_cube(full ? 64 : 13);
    case 2: return generate_irregular_cube({.n = full ? 54U : 11U, .extent = full ? 53.0 : 10.0});
    default: {
      VentricleOptions options;
      options.elements = full ? 2306717 : 12000;
      return generate_ventricle(options).mesh;
    }
  }
}

Metric random_speed_metric(const TriangleMesh& mesh) {
  return Metric(SpeedMetric{random_speed(mesh, {0.1, 1}, {10, 1})});
}

std::vector<double> smoothed_white_noise(const TriangleMesh& mesh, int steps) {
  Random random(1);
  std::vector<double> at_vertices(mesh.vertex_count());
  for (double& speed : at_vertices) speed = random.uniform(0.1, 1);
  smooth_at_vertices(mesh, at_vertices, steps);
  std::vector<double> speeds;
  speeds.reserve(mesh.element_count());
  for (const auto& [a, b, c] : mesh.elements)
    speeds.push_back((at_vertices[a.index()] + at_vertices[b.index()] + at_vertices[c.index()]) / 3);
  return speeds;
}

Metric volume_metric(const TetMesh& mesh, int speed) {
  if (speed == 1) return Metric::isotropic(1);
  if (speed == 2) return Metric::constant(SymTensor3d::diagonal(1, 4, 9));
  return Metric(TensorMetric{random_tensors(mesh, {1, 9}, {10, 1})});
}

Heart heart(std::size_t elements, double along, double across, int threads) {
  VentricleOptions options;
  options.elements = elements;
  options.threads = threads > 0 ? threads : hardware_threads();
  Ventricle ventricle = generate_ventricle(options);
  return {std::move(ventricle.mesh), fiber_metric(std::move(ventricle.fiber), along, across)};
}

Metric fiber_metric(std::vector<Vec3f> directions, double along, double across) {
  FiberMetric fibers;
  fibers.fiber = std::move(directions);
  fibers.velocities = {{along, across, across}};
  return Metric(std::move(fibers));
}

TetMesh unit_cell_cube(std::size_t n, double jitter) {
  const double side = static_cast<double>(n - 1);
  return generate_cube({.nx = n, .ny = n, .nz = n, .extent = {side, side, side}, .jitter = jitter});
}

template <int Corners>
Sources middle_source(const SimplexMesh<Corners>& mesh) {
  const std::vector<std::uint8_t> inside = largest_part(mesh);
  Vec3d low{1e300, 1e300, 1e300}, high{-1e300, -1e300, -1e300};
  for (std::size_t v = 0; v < inside.size(); ++v)
    for (int k = 0; k < 3 && inside[v] != 0; ++k) {
      low[k] = std::min(low[k], mesh.points[v][k]);
      high[k] = std::max(high[k], mesh.points[v][k]);
    }
  const Vec3d middle = 0.5 * (low + high);
  std::size_t best = inside.size();
  for (std::size_t v = 0; v < inside.size(); ++v)
    if (inside[v] != 0 && (best == inside.size() || norm(mesh.points[v] - middle) < norm(mesh.points[best] - middle)))
      best = v;
  Sources sources;
  sources.vertices.push_back({VertexId(best), 0});
  return sources;
}

SolveOptions paper_options(const MethodCase& method) {
  SolveOptions options;
  options.method = method.method;
  options.precision = Precision::single_;
  options.threads = method.threads;
  options.backend = method.threads > 1 ? Backend::threads : Backend::serial;
  options.source_init = SourceInit::plain;
  options.unordered = Unordered::run;
  options.obtuse = method.obtuse;
  options.sources = Keep::no;
  options.verify = Keep::yes;
  if (method.gpu) {
    options.backend = Backend::cuda;
    options.paper = *method.gpu;
    options.verify = Keep::no;  // once, after the timing
  }
  return options;
}

namespace {

MethodCase gpu_case(std::string name, Method method, const PaperOptions& scheme = {}) {
  return {std::move(name), method, 0, scheme};
}

}  // namespace

SolveOptions solve_options(const MethodCase& method, const BenchOptions& options) {
  SolveOptions result = paper_options(method);
  if (method.gpu) result.threads = options.threads;
  result.progress.cancel = options.progress.cancel;
  return result;
}

MethodCase gpu_push() { return gpu_case("push (ours), GPU", Method::push); }
MethodCase gpu_patches(std::string name, PatchLayout layout) {
  return gpu_case(std::move(name), Method::patch_fim, {.layout = layout, .partitioner = Partitioner::curve});
}
MethodCase gpu_active_list(std::string name, ElementStorage storage) {
  return gpu_case(std::move(name), Method::active_list, {.storage = storage});
}
MethodCase gpu_subdomains(std::string name, SubdomainBlocks blocks, int subdomains) {
  return gpu_case(std::move(name), Method::domain_decomposition,
                  {.subdomains = subdomains, .subdomain_blocks = blocks, .partitioner = Partitioner::curve});
}

MethodCase with_split(MethodCase method) {
  method.name += ", obtuse split";
  method.obtuse = ObtuseSplit::split;
  return method;
}

MethodCase cut_by_metis(MethodCase method) {
  method.name += ", cut by METIS";
  method.gpu->partitioner = Partitioner::metis;
  return method;
}

bool is_right(const Arrival& arrival) { return arrival.converged && arrival.residual && arrival.residual->passed(); }

Measured checked(Arrival arrival) {
  Measured result;
  result.valid = is_right(arrival);
  if (!result.valid) result.remark = failed_check;
  result.arrival = std::move(arrival);
  return result;
}

Measured checked_out_of_order(Arrival arrival, const std::vector<double>& right) {
  constexpr double rounding = 1e-4;  // of single precision and tolerances, as a share of a time
  double late = 0, sum = 0;
  bool fits = arrival.times.size() == right.size();
  for (std::size_t v = 0; fits && v < right.size(); ++v) {
    const double time = arrival.times[v];
    if (time == right[v] && !std::isfinite(time)) continue;  // unreached by both
    fits = std::isfinite(right[v]) && time >= (1 - rounding) * right[v];
    late += time - right[v];
    sum += right[v];
  }
  Measured result;
  result.valid = fits && late <= max_mean_lateness * sum;
  if (result.valid)
    result.remark = fmt::format("unordered, residual {:.2g} edges, late by {:.2g} % on the mean",
                                arrival.residual ? arrival.residual->worst : 0, sum > 0 ? 100 * late / sum : 0);
  else result.remark = failed_check;
  result.arrival = std::move(arrival);
  return result;
}

template <int Corners>
Measured measure(const SimplexMesh<Corners>& mesh, const Metric& metric, const Sources& sources,
                 const MethodCase& method, const BenchOptions& options, int repeats) {
  if (method.gpu)
    return on_gpu([&] {
      Solver solver({mesh, metric}, solve_options(method, options));
      Measured result = median_solve(solver, sources, options);
      const std::uint64_t bytes = result.arrival.counters.element_bytes;
      if (result.valid && bytes > 0)
        result.timing +=
            fmt::format(", {:.0f} bytes per {}", static_cast<double>(bytes) / static_cast<double>(mesh.element_count()),
                        Corners == 4 ? "tetrahedron" : "triangle");
      return result;
    });
  if (options.columns == BenchColumns::gpu) return {false, "left out", {}};
  Solver solver({mesh, metric}, solve_options(method, options));
  std::optional<Measured> right;  // by another method, where fast marching is out of order
  const auto judged = [&](Arrival arrival) {
    if (arrival.method != Method::fmm || arrival.notes.empty() || is_right(arrival)) return checked(std::move(arrival));
    MethodCase banded{"", Method::banded, 1};
    banded.obtuse = method.obtuse;
    if (!right) right = checked(solve(mesh, metric, sources, solve_options(banded, options)));
    return right->valid ? checked_out_of_order(std::move(arrival), right->arrival.times)
                        : Measured{false, right->remark, {}};
  };
  Measured quickest = judged(solver.solve(sources));
  for (int i = 1; i < repeats && quickest.valid; ++i) {
    Measured next = judged(solver.solve(sources));
    if (!next.valid || next.arrival.solve_seconds < quickest.arrival.solve_seconds) quickest = std::move(next);
  }
  return quickest;
}

template <int Corners>
double median_set_up(const SimplexMesh<Corners>& mesh, const Metric& metric, const MethodCase& method,
                     const BenchOptions& options) {
  std::vector<double> set_ups;
  while (set_ups.size() < 3) {
    const Timer timer;
    const Solver solver({mesh, metric}, solve_options(method, options));
    set_ups.push_back(timer.seconds());
  }
  return median(std::move(set_ups));
}

Measured median_solve(Solver& solver, const Sources& sources, const BenchOptions& options) {
  constexpr std::size_t fewest = 3, wanted = 10;
  constexpr double patience = 20;  // seconds; a scheme that needs them is timed well enough by fewer runs
  const std::size_t runs = options.size == BenchSize::quick ? fewest : wanted;
  Arrival last;
  Residual worst;
  bool right = true;
  std::vector<double> solves, transfers;
  const Timer timer;
  while (solves.size() < runs && (solves.size() < fewest || timer.seconds() < patience)) {
    stop_if_cancelled(options);
    last = solver.solve(sources);
    solves.push_back(last.solve_seconds);
    transfers.push_back(last.transfer_seconds);
    last.residual = solver.residual(last, sources);
    right = right && is_right(last);
    if (solves.size() == 1 || !(last.residual->worst <= worst.worst)) worst = *last.residual;
  }
  last.solve_seconds = median(solves);
  last.transfer_seconds = median(transfers);
  last.residual = worst;
  Measured result{right, right ? Remark() : failed_check, std::move(last)};
  if (right)
    result.timing = fmt::format("median of {}, set-up {:.3f} s, transfer {:.2f} ms", solves.size(),
                                result.arrival.setup_seconds, 1e3 * result.arrival.transfer_seconds);
  return result;
}

Measured median_of_sets(Solver& solver, const std::vector<Sources>& sets, const BenchOptions& options,
                        double& whole_seconds) {
  const int runs = options.size == BenchSize::quick ? 3 : 10;
  std::vector<double> solves, transfers, wholes;
  Measured result;
  for (int run = 0; run < runs; ++run) {
    stop_if_cancelled(options);
    const Timer timer;
    std::vector<Arrival> all = solver.solve_many(sets);
    wholes.push_back(timer.seconds());
    double solve = 0, transfer = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      solve += all[i].solve_seconds;
      transfer += all[i].transfer_seconds;
      if (all[i].reached > 0 && all[i].converged && solver.residual(all[i], sets[i]).passed()) continue;
      result.remark = failed_check;
      return result;
    }
    solves.push_back(solve);
    transfers.push_back(transfer);
    result.arrival = std::move(all.front());
  }
  result.valid = true;
  result.timing = fmt::format("median of {}", runs);
  result.arrival.solve_seconds = median(solves);
  result.arrival.transfer_seconds = median(transfers);
  whole_seconds = median(wholes);
  return result;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n == 0 ? 0 : 0.5 * (values[(n - 1) / 2] + values[n / 2]);
}

void stop_if_cancelled(const BenchOptions& options) {
  if (options.progress.cancelled()) throw Cancelled();
}

bool has_gpu() {
  cuda::NoDevice why;
  return cuda::find_device(why).has_value();
}

Measured without_gpu() { return {false, "no GPU", {}}; }

Measured ended_with(const Error& error) {
  const auto& parts = error.detail().parts();
  const bool about_metis = std::any_of(parts.begin(), parts.end(), [](const Message::Part& part) {
    const auto* setting = std::get_if<Setting>(&part);
    return setting != nullptr && setting->option == Option::partitioner;
  });
  if (error.kind() == ErrorKind::usage && about_metis) return {false, fmt::format("not run: {}", error.what()), {}};
  return {false, failed_run(error.what()), {}};
}

Measured on_gpu(const std::function<Measured()>& run) {
  if (!has_gpu()) return without_gpu();
  cuda::free_bytes();  // wakes the device, which is no part of a set-up
  try {
    return run();
  } catch (const Cancelled&) {
    throw;
  } catch (const Error& error) {
    return ended_with(error);
  }
}

void note_gpu(Report& report, const char* times) {
  cuda::NoDevice why;
  if (const auto device = cuda::find_device(why))
    report.note(
        fmt::format("GPU: {}, {} multiprocessors; its times are {}.", device->name, device->multiprocessors, times));
  else report.note(fmt::format("No GPU: {}.", to_text(why.reason.problem())));
}

void note_partitioner(Report& report) {
  report.note(has_metis() ? "Patches are cut by the curve where a row does not say otherwise."
                          : "All patches are cut by the curve: this build has no METIS.");
}

double seconds(const Arrival& arrival) { return arrival.solve_seconds; }
double milliseconds(const Arrival& arrival) { return 1e3 * arrival.solve_seconds; }
double rounds(const Arrival& arrival) { return static_cast<double>(arrival.counters.rounds); }
double updates_per_vertex(const Arrival& arrival) {
  return static_cast<double>(arrival.counters.vertex_updates) / static_cast<double>(arrival.times.size());
}

template <int Corners>
void add_problem(Report& report, const Table& table, const std::string& row, std::size_t problem,
                 const SimplexMesh<Corners>& mesh, const Metric& metric, const Sources& sources,
                 const BenchOptions& options) {
  const auto paper = [&](const PaperNumbers& numbers) {
    return problem < numbers.size() ? numbers[problem] : std::nullopt;
  };
  std::vector<Entry> entries;
  for (const Column& column : table.columns)
    entries.push_back(entry_of(row, column.method.name, paper(column.paper),
                               measure(mesh, metric, sources, column.method, options, table.repeats), table.unit,
                               table.value));
  for (const SpeedUp& speed_up : table.speed_ups) {
    const Entry &slow = entries[speed_up.slow], &fast = entries[speed_up.fast];
    Entry entry{row, speed_up.name, paper(speed_up.paper), {}, "times", ""};
    if (slow.ours && fast.ours) entry.ours = *slow.ours / *fast.ours;
    else entry.remark = fast.ours ? slow.remark : fast.remark;
    entries.push_back(std::move(entry));
  }
  for (Entry& entry : entries) report.add(std::move(entry));
}

int paper_threads(const BenchOptions& options) {
  return options.threads > 0 ? options.threads : std::min(4, hardware_threads());
}

#define ISOCHRON_INSTANTIATE(Corners)                                                                                \
  template Sources middle_source(const SimplexMesh<Corners>&);                                                       \
  template Measured measure(const SimplexMesh<Corners>&, const Metric&, const Sources&, const MethodCase&,           \
                            const BenchOptions&, int);                                                               \
  template double median_set_up(const SimplexMesh<Corners>&, const Metric&, const MethodCase&, const BenchOptions&); \
  template void add_problem(Report&, const Table&, const std::string&, std::size_t, const SimplexMesh<Corners>&,     \
                            const Metric&, const Sources&, const BenchOptions&);
ISOCHRON_INSTANTIATE(3)
ISOCHRON_INSTANTIATE(4)
#undef ISOCHRON_INSTANTIATE

}  // namespace isochron::bench
