// Paper 003, "A fast iterative method for solving the eikonal equation on tetrahedral domains".
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "bench/paper/cases.h"
#include "bench/paper/tables.h"
#include "isochron/core/parallel.h"
#include "isochron/device.h"
#include "isochron/generate.h"
#include "isochron/solve/simplex/cuda/volume.h"

namespace isochron::bench {
namespace {

double in_gibibytes(double bytes) { return bytes / (1024.0 * 1024.0 * 1024.0); }

/// The first number in a small file; nothing when it has none ("max").
std::optional<std::size_t> number_in(const char* path) {
  std::ifstream file(path);
  std::size_t value = 0;
  if (file >> value) return value;
  return std::nullopt;
}

std::size_t available_by_system() {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  std::size_t kibibytes = 0;
  while (file >> name >> kibibytes) {
    if (name == "MemAvailable:") return kibibytes * 1024;
    std::getline(file, unit);
  }
  return 0;
}

/// Bytes that this process may still take, by what Linux and its control group say; 0 where they do not tell.
std::size_t available_host_bytes() {
  const std::size_t free = available_by_system();
  const auto most = number_in("/sys/fs/cgroup/memory.max"), used = number_in("/sys/fs/cgroup/memory.current");
  if (!most || !used) return free;
  return std::min(free, *most - std::min(*used, *most));
}

const SymTensor3d speed2 = SymTensor3d::diagonal(1, 4, 9);

SymTensor3d speed_tensor(int speed) { return speed == 1 ? SymTensor3d::identity() : speed2; }

/// The paper's L1 error: mean error of an element's corners times its volume, over the volume of the whole.
template <class Exact>
double l1_error(const TetMesh& mesh, const Arrival& arrival, Exact&& exact, int threads) {
  struct Sum {
    double error = 0, volume = 0;
  };
  std::vector<Sum> sums(static_cast<std::size_t>(threads));
  const std::size_t count = mesh.element_count();
  parallel_region(threads, [&](int thread, int team) {
    Sum sum;
    for (std::size_t e = count * thread / team; e < count * (thread + 1) / team; ++e) {
      const auto& element = mesh.elements[e];
      const Vec3d o = mesh.point(element[0]);
      const double v =
          std::abs(dot(mesh.point(element[1]) - o, cross(mesh.point(element[2]) - o, mesh.point(element[3]) - o)));
      double error = 0;
      for (const VertexId c : element) error += 0.25 * std::abs(arrival.times[c.index()] - exact(mesh.point(c)));
      sum.error += v * error;
      sum.volume += v;
    }
    sums[thread] = sum;
  });
  Sum all;
  for (const Sum& sum : sums) all = {all.error + sum.error, all.volume + sum.volume};
  return all.error / all.volume;
}

/// How the source surface √(xᵀMx) = 40 starts.
enum class SurfaceInit {
  nearest,  ///< as the paper: the vertices nearest to it start at 0
  exact,    ///< vertices within 1.75 edges start with their exact time
  factored  ///< the field's known centre is factored out: a point source at the corner that started 40 earlier
};

struct AccuracyCase {
  const char* name;
  int speed;
  KuhnDiagonal diagonal;
  SurfaceInit init;
  std::array<std::optional<double>, 5> paper{};
  double previous = 0;
};

TetMesh accuracy_cube(std::size_t n, KuhnDiagonal diagonal) {
  return generate_cube({.nx = n, .ny = n, .nz = n, .extent = {256, 256, 256}, .diagonal = diagonal});
}

/// Time from the source surface, negative inside.
double signed_time(const SymTensor3d& m, Vec3d p) { return std::sqrt(squared_length(m, p)) - 40; }

Sources surface_sources(const TetMesh& mesh, const SymTensor3d& m, SurfaceInit init) {
  Sources sources;
  if (init == SurfaceInit::factored) {
    sources.points.push_back({{0, 0, 0}, -40});
    return sources;
  }
  const double edge = norm(mesh.points[1] - mesh.points[0]);
  for (std::size_t v = 0; v < mesh.vertex_count(); ++v) {
    const Vec3d p = mesh.points[v];
    // Distance from the surface along the ray from its centre, in edges.
    const double length = norm(p);
    const double away =
        length > 0 ? std::abs(signed_time(m, p)) / std::sqrt(squared_length(m, p / length)) / edge : 1e9;
    // At 17³ the surface lies half-way between vertices: rounding must not choose one of the two.
    if (init == SurfaceInit::nearest && away <= 0.5 + 1e-9) sources.vertices.push_back({VertexId(v), 0});
    if (init == SurfaceInit::exact && away <= 1.75)
      sources.vertices.push_back({VertexId(v), std::abs(signed_time(m, p))});
  }
  return sources;
}

double surface_error(const TetMesh& mesh, const SymTensor3d& m, SurfaceInit init, const Arrival& arrival, int threads) {
  const auto exact = [&](Vec3d p) {
    return init == SurfaceInit::factored ? signed_time(m, p) : std::abs(signed_time(m, p));
  };
  return l1_error(mesh, arrival, exact, threads);
}

/// The L1 error of one case, nothing when the residual failed.
std::optional<double> accuracy(const AccuracyCase& c, std::size_t n, int threads) {
  const TetMesh mesh = accuracy_cube(n, c.diagonal);
  const SymTensor3d m = speed_tensor(c.speed);
  SolveOptions options = paper_options({"", Method::banded, threads});
  if (c.init == SurfaceInit::factored) options.source_init = SourceInit::factored;
  const Arrival arrival = solve(mesh, Metric::constant(m), surface_sources(mesh, m, c.init), options);
  if (!arrival.residual->passed()) return std::nullopt;
  return surface_error(mesh, m, c.init, arrival, threads);
}

/// Paper 003's agglomerates on the GPU, in its two layouts.
MethodCase strips_case() { return gpu_patches("tetFIM-A-ORS, GPU", PatchLayout::one_ring_strip); }
MethodCase cells_case() { return gpu_patches("tetFIM-A-CA, GPU", PatchLayout::cell_assembly); }

/// FMM, FSM, FIM and ours, with the paper's numbers of each; what else a table needs is added to its columns.
Table volume_table(const BenchOptions& options, PaperNumbers fmm, PaperNumbers fsm, PaperNumbers single,
                   PaperNumbers multi) {
  const int threads = paper_threads(options);
  return {{{{"FMM", Method::fmm, 1}, std::move(fmm)},
           {{"FSM", Method::fsm, 1}, std::move(fsm)},
           {{"tetFIM-ST", Method::fim, 1}, std::move(single)},
           {{"tetFIM-MT", Method::fim, threads}, std::move(multi)},
           {{"banded (ours)", Method::banded, 1}, {}},
           {{fmt::format("banded, {} threads", threads), Method::banded, threads}, {}},
           {with_split({"tetFIM-ST", Method::fim, 1}), {}},
           {with_split({"banded (ours)", Method::banded, 1}), {}}},
          "s",
          seconds};
}

/// The table with the three speeds on one mesh.
bool time_table(const std::string& name, int number, Table table, const BenchOptions& options) {
  Report report(name, fmt::format("Paper 003 Table {}: seconds on {}", name.substr(10), volume_mesh_names[number]),
                options);
  report.note_on_paper("The paper's computer: i7 965, four threads.");
  const TetMesh mesh = volume_mesh(number, options.size);
  report.note(fmt::format("{} vertices, {} tetrahedra", mesh.vertex_count(), mesh.element_count()));
  const Sources sources = middle_source(mesh);
  for (const int speed : {1, 2, 3}) {
    // Fast marching with Speed 1 only; the paper has no more either: its order would not hold.
    if (speed == 2) table.columns.erase(table.columns.begin());
    add_problem(report, table, fmt::format("Speed {}", speed), speed - 1, mesh, volume_metric(mesh, speed), sources,
                options);
  }
  return report.finish(options);
}

/// A speed on the paper's three meshes, with its numbers by mesh.
struct SpeedTable {
  int speed;
  Table table;
};

bool mesh_table(Report report, const std::vector<SpeedTable>& tables, const BenchOptions& options) {
  report.note_on_paper("The paper's computer: i7 965 and GTX 580, without transfers.");
  note_gpu(report);
  note_partitioner(report);
  for (const int number : {1, 2, 3}) {
    const TetMesh mesh = volume_mesh(number, options.size);
    const Sources sources = middle_source(mesh);
    for (const SpeedTable& t : tables)
      add_problem(report, t.table,
                  fmt::format("{} ({} tets), Speed {}", volume_mesh_names[number], mesh.element_count(), t.speed),
                  number - 1, mesh, volume_metric(mesh, t.speed), sources, options);
  }
  return report.finish(options);
}

}  // namespace

bool table_003_4_1(const BenchOptions& options) {
  Report report("003-table-4.1",
                "Paper 003 Table 4.1: L1 error on the 256-unit cube, source surface of radius 40 around a corner",
                options, QuickRun::fewer_meshes);
  using Paper = std::array<std::optional<double>, 5>;
  const Paper isotropic{8.073934, 4.688324, 2.606537, 1.396091, 0.721630};
  const Paper anisotropic{15.399447, 9.232588, 5.347424, 2.967363, 1.558972};
  std::vector<AccuracyCase> cases;
  for (const int speed : {1, 2}) {
    const Paper& paper = speed == 1 ? isotropic : anisotropic;
    cases.push_back({"nearest vertices, diagonal outward", speed, KuhnDiagonal::ppp, SurfaceInit::nearest, paper});
    cases.push_back({"nearest vertices, diagonal across", speed, KuhnDiagonal::npp, SurfaceInit::nearest, paper});
    cases.push_back({"exact start, diagonal outward", speed, KuhnDiagonal::ppp, SurfaceInit::exact, paper});
    cases.push_back({"exact start, diagonal across", speed, KuhnDiagonal::npp, SurfaceInit::exact, paper});
    cases.push_back({"factored", speed, KuhnDiagonal::ppp, SurfaceInit::factored, paper});
  }
  const bool full = options.size == BenchSize::paper;
  const int threads = options.threads > 0 ? options.threads : hardware_threads();
  const std::vector<std::size_t> sizes =
      full ? std::vector<std::size_t>{17, 33, 65, 129, 257} : std::vector<std::size_t>{17, 33};
  for (AccuracyCase& c : cases)
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (c.init == SurfaceInit::factored && sizes[i] > 65) continue;  // already exact to rounding at 17
      options.progress.update(0.5);
      const std::string row = fmt::format("Speed {} {}", c.speed, c.name);
      const auto error = accuracy(c, sizes[i], threads);
      report.add({row, fmt::format("{}", sizes[i]), c.paper[i], error, "L1 error", error ? "" : failed_check});
      if (error && c.previous > 0 && *error > 1e-6)
        report.add({row, fmt::format("{} order", sizes[i]), std::log2(*c.paper[i - 1] / *c.paper[i]),
                    std::log2(c.previous / *error), "", ""});
      c.previous = error.value_or(0);
    }
  report.note("The paper does not say how its cells are cut; the direction of the cell diagonal decides the error.");
  return report.finish(options);
}

bool table_003_4_2(const BenchOptions& options) {
  return time_table("003-table-4.2", 1, volume_table(options, {69}, {213, 216, 680}, {80, 81, 107}, {27, 28, 41}),
                    options);
}
bool table_003_4_3(const BenchOptions& options) {
  return time_table("003-table-4.3", 2, volume_table(options, {42}, {407, 409, 674}, {60, 59, 175}, {22, 23, 55}),
                    options);
}
bool table_003_4_4(const BenchOptions& options) {
  return time_table("003-table-4.4", 3, volume_table(options, {71}, {807, 823, 1307}, {113, 122, 173}, {46, 48, 56}),
                    options);
}

bool table_003_4_5(const BenchOptions& options) {
  const Table table{{{{"tetFIM-ST", Method::fim, 1}, {80, 60, 113}},
                     {{"tetFIM-MT", Method::fim, paper_threads(options)}, {27, 22, 46}},
                     {strips_case(), {0.396, 1.412, 2.694}},
                     {cells_case(), {0.587, 0.939, 1.911}},
                     {gpu_push(), {}},
                     {with_split(cells_case()), {}},
                     {cut_by_metis(cells_case()), {}}},
                    "s",
                    seconds,
                    1,
                    {{"tetFIM-A-ORS over -ST", 0, 2, {202, 42, 42}}, {"tetFIM-A-CA over -ST", 0, 3, {136, 64, 59}}}};
  return mesh_table({"003-table-4.5", "Paper 003 Table 4.5: seconds of CPU and GPU, isotropic", options}, {{1, table}},
                    options);
}

bool table_003_4_6(const BenchOptions& options) {
  const auto table = [](PaperNumbers single, PaperNumbers cells, PaperNumbers speed_up) {
    return Table{{{{"tetFIM-ST", Method::fim, 1}, std::move(single)},
                  {cells_case(), std::move(cells)},
                  {gpu_push(), {}},
                  {with_split(cells_case()), {}},
                  {cut_by_metis(cells_case()), {}}},
                 "s",
                 seconds,
                 1,
                 {{"tetFIM-A-CA over -ST", 0, 1, std::move(speed_up)}}};
  };
  Report report("003-table-4.6", "Paper 003 Table 4.6: seconds of CPU and GPU, anisotropic", options);
  report.note_on_paper("tetFIM-ST on Mesh 3 with Speed 2: 113 s here, 122 s in the paper's Table 4.4.");
  return mesh_table(std::move(report),
                    {{2, table({81, 59, 113}, {0.580, 0.958, 1.986}, {140, 62, 57})},
                     {3, table({107, 175, 173}, {1.356, 2.079, 2.413}, {79, 84, 72})}},
                    options);
}

bool table_003_4_7(const BenchOptions& options) {
  Report report("003-table-4.7", "Paper 003 Table 4.7: seconds of set-up", options);
  report.note_on_paper(
      "The paper's are what the GPU does with a mesh that is cut into agglomerates: permuting it and making the lists "
      "for cell assembly. Ours of that begin when the mesh is on the GPU; set-up is everything from the raw mesh on.");
  note_gpu(report);
  const PaperNumbers paper{0.150, 0.120, 0.209};
  for (const int number : {1, 2, 3}) {
    const TetMesh mesh = volume_mesh(number, options.size);
    const Sources sources = middle_source(mesh);
    const std::string row = fmt::format("{} ({} tets)", volume_mesh_names[number], mesh.element_count());
    const Metric metric = Metric::isotropic(1);
    const auto add = [&](const MethodCase& method, const std::string& what, std::optional<double> in_paper,
                         const auto& seconds_of) {
      const Measured m = measure(mesh, metric, sources, method, options);  // only what solves has a set-up
      Entry entry{row, fmt::format("{}: {}", method.name, what), in_paper, {}, "s", m.remark};
      if (m.valid) {
        entry.ours = seconds_of(method);
        entry.remark = "median of 3";
      }
      report.add(std::move(entry));
    };
    const auto lists = [&](const MethodCase& method) {
      std::vector<double> seconds;
      while (seconds.size() < 3)
        seconds.push_back(
            Solver({mesh, metric}, solve_options(method, options)).solve(sources).counters.layout_seconds);
      return median(std::move(seconds));
    };
    const auto set_up = [&](const MethodCase& method) { return median_set_up(mesh, metric, method, options); };
    add(cells_case(), "lists", paper[number - 1], lists);
    for (const MethodCase& method :
         {cells_case(), strips_case(), gpu_push(), {"banded (ours), CPU", Method::banded, paper_threads(options)}})
      add(method, "set-up", {}, set_up);
  }
  return report.finish(options);
}

bool table_003_4_8(const BenchOptions& options) {
  Report report("003-table-4.8",
                "Paper 003 Table 4.8: seconds on the lens (index 2.419) and the blobs (speeds 1 and 10)", options);
  note_gpu(report);
  const bool full = options.size == BenchSize::paper;
  Table table = volume_table(options, {43, 51}, {378, 517}, {74, 62}, {22, 21});
  table.columns.push_back({strips_case(), {2.372, 2.032}});
  table.columns.push_back({cells_case(), {1.801, 1.538}});
  table.columns.push_back({gpu_push(), {}});
  const std::size_t strips = table.columns.size() - 3, cells = table.columns.size() - 2;
  table.speed_ups = {{"tetFIM-A-ORS over FMM", 0, strips, {18.1, 25.1}},
                     {"tetFIM-A-CA over FMM", 0, cells, {23.9, 33.2}}};
  for (const bool lens : {true, false}) {
    LensOptions lens_options;
    BlobsOptions blobs_options;
    if (!full) lens_options.n = blobs_options.n = 12;
    const RegionModel model = lens ? generate_lens(lens_options) : generate_blobs(blobs_options);
    // Both waves start on the side x = 0, as in the paper's figures 4.3 and 4.4.
    Sources sources;
    for (std::size_t v = 0; v < model.mesh.vertex_count(); ++v)
      if (model.mesh.points[v].x <= 1e-9) sources.vertices.push_back({VertexId(v), 0});
    const Metric metric(SpeedMetric{model.speed});
    const std::string name = fmt::format("{} ({} tets)", lens ? "lens" : "blobs", model.mesh.element_count());
    add_problem(report, table, name, lens ? 0 : 1, model.mesh, metric, sources, options);
  }
  return report.finish(options);
}

bool table_003_4_9(const BenchOptions& options) {
  Report report("003-table-4.9", "Paper 003 Table 4.9: iterations and updates per vertex", options,
                QuickRun::fewer_meshes);
  note_gpu(report);
  struct Row {
    MethodCase method;
    std::array<PaperNumbers, 2> iterations, updates;  ///< Speeds 2 and 3, by size
  };
  const std::vector<Row> rows{
      {{"tetFIM-ST", Method::fim, 1},
       {{{37, 70, 139, 276}, {44, 81, 170, 326}}},
       {{{11, 12, 12, 11}, {13, 15, 16, 15}}}},
      {cells_case(), {{{48, 103, 206, 403}, {69, 119, 265, 510}}}, {{{29, 29, 32, 31}, {51, 49, 51, 50}}}},
      {{"banded (ours)", Method::banded, 1}, {}, {}},
      {gpu_push(), {}, {}}};
  const std::vector<std::size_t> sizes =
      options.size == BenchSize::paper ? std::vector<std::size_t>{17, 33, 65, 129} : std::vector<std::size_t>{17};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const TetMesh mesh = unit_cell_cube(sizes[i]);
    const Sources sources = middle_source(mesh);
    for (const int speed : {2, 3}) {
      const Metric metric = volume_metric(mesh, speed);
      const auto paper = [&](const std::array<PaperNumbers, 2>& numbers) {
        const PaperNumbers& of_speed = numbers[speed - 2];
        return i < of_speed.size() ? of_speed[i] : std::nullopt;
      };
      for (const Row& r : rows) {
        const Measured m = measure(mesh, metric, sources, r.method, options);
        const std::string row = fmt::format("{} Speed {} {}", sizes[i], speed, r.method.name);
        report.add(entry_of(row, "iterations", paper(r.iterations), m, "", rounds));
        report.add(entry_of(row, "updates", paper(r.updates), m, "per vertex", updates_per_vertex));
      }
    }
  }
  return report.finish(options);
}

namespace {

/// About what the host needs for each tetrahedron that the GPU solves: the mesh and some arrays of times.
constexpr double host_bytes_per_tet = 32;

/// Which memory is too small for a cube of n³ vertices; empty when all is well.
std::string missing_memory(std::size_t n) {
  const std::size_t tets = 6 * (n - 1) * (n - 1) * (n - 1);
  const auto lacks = [](const char* whose, double needed, std::size_t free) {
    return needed <= static_cast<double>(free)
               ? std::string()
               : fmt::format("not run: about {:.0f} GiB of {} memory needed and {:.0f} free", in_gibibytes(needed),
                             whose, in_gibibytes(static_cast<double>(free)));
  };
  const auto on_device = static_cast<double>(cuda::volume_bytes(n * n * n, tets, sizeof(float), 0));
  const std::string device = lacks("the GPU's", on_device, cuda::free_bytes());
  return device.empty() ? lacks("the host's", host_bytes_per_tet * static_cast<double>(tets), available_host_bytes())
                        : device;
}

/// Error and times of one size and speed.
struct CubeResult {
  Measured measured;
  double error = 0;
};

CubeResult solve_cube(const TetMesh& mesh, int speed, const BenchOptions& options) {
  const SymTensor3d m = speed_tensor(speed);
  const Metric metric = Metric::constant(m);
  CubeResult result;
  result.measured = on_gpu([&] {
    const Sources sources = surface_sources(mesh, m, SurfaceInit::nearest);
    Solver solver({mesh, metric}, solve_options(gpu_push(), options));
    return median_solve(solver, sources, options);
  });
  const int threads = options.threads > 0 ? options.threads : hardware_threads();
  if (result.measured.valid)
    result.error = surface_error(mesh, m, SurfaceInit::nearest, result.measured.arrival, threads);
  return result;
}

}  // namespace

bool gpu_513(const BenchOptions& options) {
  Report report("gpu-513", "Paper 003 Table 4.1 up to 513 on the GPU: L1 error, nearest vertices, diagonal across",
                options, QuickRun::fewer_meshes);
  note_gpu(report);
  struct Size {
    std::size_t n;
    std::array<double, 2> paper;  ///< Speeds 1 and 2
  };
  const std::vector<Size> sizes =
      options.size == BenchSize::paper
          ? std::vector<Size>{{129, {1.396091, 2.967363}}, {257, {0.721630, 1.558972}}, {513, {0.362584, 0.789725}}}
          : std::vector<Size>{{17, {8.073934, 15.399447}}, {33, {4.688324, 9.232588}}};
  std::array<double, 2> previous{};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Size& size = sizes[i];
    const std::string missing = has_gpu() ? missing_memory(size.n) : without_gpu().remark.text;
    std::optional<TetMesh> mesh;
    if (missing.empty()) mesh = accuracy_cube(size.n, KuhnDiagonal::npp);
    for (const int speed : {1, 2}) {
      const std::string row = fmt::format("{}^3 Speed {}", size.n, speed);
      const double paper = size.paper[speed - 1];
      if (!mesh) {
        report.add({row, "L1 error", paper, {}, "", missing});
        continue;
      }
      const CubeResult r = solve_cube(*mesh, speed, options);
      const Measured& m = r.measured;
      report.add(entry_of(row, "L1 error", paper, m, "", [&](const Arrival&) { return r.error; }));
      if (!m.valid) continue;
      if (previous[speed - 1] > 0)
        report.add({row, "order", std::log2(sizes[i - 1].paper[speed - 1] / paper),
                    std::log2(previous[speed - 1] / r.error), "", ""});
      report.add(entry_of(row, "solve", {}, m, "ms", milliseconds));
      report.add({row,
                  "GPU memory",
                  {},
                  in_gibibytes(static_cast<double>(m.arrival.device_bytes)),
                  "GiB",
                  fmt::format("{} tets", mesh->element_count())});
      previous[speed - 1] = r.error;
    }
  }
  return report.finish(options);
}

}  // namespace isochron::bench
