// Paper 003, "A fast iterative method for solving the eikonal equation on tetrahedral domains".
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "bench/paper/cases.h"
#include "bench/paper/tables.h"
#include "isochron/core/parallel.h"
#include "isochron/mesh/generate/blobs.h"
#include "isochron/mesh/generate/cube.h"
#include "isochron/mesh/generate/lens.h"

namespace isochron::bench {
namespace {

const SymTensor3d speed2 = SymTensor3d::diagonal(1, 4, 9);

/// The paper's L1 error: mean error of an element's corners times its volume, over the volume of the whole.
template <class Exact>
double l1_error(const TetMesh& mesh, const Arrival& arrival, Exact&& exact) {
  double sum = 0, volume = 0;
  for (const auto& element : mesh.elements) {
    const Vec3d o = mesh.point(element[0]);
    const double v =
        std::abs(dot(mesh.point(element[1]) - o, cross(mesh.point(element[2]) - o, mesh.point(element[3]) - o)));
    double error = 0;
    for (const VertexId c : element) error += 0.25 * std::abs(arrival.times[c.index()] - exact(mesh.point(c)));
    sum += v * error;
    volume += v;
  }
  return sum / volume;
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

/// The L1 error of one case, nothing when the residual failed.
std::optional<double> accuracy(const AccuracyCase& c, std::size_t n, int threads) {
  const TetMesh mesh = generate_cube({.nx = n, .ny = n, .nz = n, .extent = {256, 256, 256}, .diagonal = c.diagonal});
  const SymTensor3d m = c.speed == 1 ? SymTensor3d::identity() : speed2;
  const double edge = 256.0 / static_cast<double>(n - 1);
  const auto signed_time = [&](Vec3d p) { return std::sqrt(squared_length(m, p)) - 40; };
  SolveOptions options = paper_options({"", Method::banded, threads});
  Sources sources;
  if (c.init == SurfaceInit::factored) {
    options.source_init = SourceInit::factored;
    sources.points.push_back({{0, 0, 0}, -40});
  } else {
    for (std::size_t v = 0; v < mesh.vertex_count(); ++v) {
      const Vec3d p = mesh.points[v];
      // Distance from the surface along the ray from its centre, in edges.
      const double length = norm(p);
      const double away = length > 0 ? std::abs(signed_time(p)) / std::sqrt(squared_length(m, p / length)) / edge : 1e9;
      // At 17³ the surface lies half-way between vertices: rounding must not choose one of the two.
      if (c.init == SurfaceInit::nearest && away <= 0.5 + 1e-9) sources.vertices.push_back({VertexId(v), 0});
      if (c.init == SurfaceInit::exact && away <= 1.75)
        sources.vertices.push_back({VertexId(v), std::abs(signed_time(p))});
    }
  }
  const Arrival arrival = solve(mesh, Metric::constant(m), sources, options);
  if (!arrival.residual->passed()) return std::nullopt;
  return l1_error(mesh, arrival,
                  [&](Vec3d p) { return c.init == SurfaceInit::factored ? signed_time(p) : std::abs(signed_time(p)); });
}

struct VolumeRow {
  MethodCase method;
  std::array<std::optional<double>, 3> paper;  ///< Speeds 1 to 3
};

double seconds(const Arrival& arrival) { return arrival.solve_seconds; }

/// FMM, FSM, FIM and ours with the three speeds on one mesh.
int time_table(const std::string& name, int number, const std::vector<VolumeRow>& rows, const BenchOptions& options) {
  Report report(name, fmt::format("Paper 003 Table {}: seconds on {}", name.substr(10), volume_mesh_names[number]),
                options);
  report.note_on_paper("The paper's computer: i7 965, four threads.");
  const TetMesh mesh = volume_mesh(number, options.size);
  report.note(fmt::format("{} vertices, {} tetrahedra", mesh.vertex_count(), mesh.element_count()));
  const Sources sources = middle_source(mesh);
  for (const int speed : {1, 2, 3}) {
    const Metric metric = volume_metric(mesh, speed);
    for (const VolumeRow& row : rows) {
      if (row.method.method == Method::fmm && speed > 1)
        continue;  // the paper has none either: its order would not hold
      report.add(entry_of(fmt::format("Speed {}", speed), row.method.name, row.paper[speed - 1],
                          measure(mesh, metric, sources, row.method, options), "s", seconds));
    }
  }
  return report.finish(options);
}

std::vector<VolumeRow> volume_rows(const BenchOptions& options, std::array<std::optional<double>, 3> fmm,
                                   std::array<std::optional<double>, 3> fsm,
                                   std::array<std::optional<double>, 3> single,
                                   std::array<std::optional<double>, 3> multi) {
  const int threads = paper_threads(options);
  return {{{"FMM", Method::fmm, 1}, fmm},
          {{"FSM", Method::fsm, 1}, fsm},
          {{"tetFIM-ST", Method::fim, 1}, single},
          {{"tetFIM-MT", Method::fim, threads}, multi},
          {{"banded (ours)", Method::banded, 1}, {}},
          {{fmt::format("banded, {} threads", threads), Method::banded, threads}, {}}};
}

}  // namespace

int table_003_4_1(const BenchOptions& options) {
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

int table_003_4_2(const BenchOptions& options) {
  return time_table("003-table-4.2", 1,
                    volume_rows(options, {{69, {}, {}}}, {{213, 216, 680}}, {{80, 81, 107}}, {{27, 28, 41}}), options);
}
int table_003_4_3(const BenchOptions& options) {
  return time_table("003-table-4.3", 2,
                    volume_rows(options, {{42, {}, {}}}, {{407, 409, 674}}, {{60, 59, 175}}, {{22, 23, 55}}), options);
}
int table_003_4_4(const BenchOptions& options) {
  return time_table("003-table-4.4", 3,
                    volume_rows(options, {{71, {}, {}}}, {{807, 823, 1307}}, {{113, 122, 173}}, {{46, 48, 56}}),
                    options);
}

int table_003_4_8(const BenchOptions& options) {
  Report report("003-table-4.8",
                "Paper 003 Table 4.8: seconds on the lens (index 2.419) and the blobs (speeds 1 and 10)", options);
  const bool full = options.size == BenchSize::paper;
  const int threads = paper_threads(options);
  struct Row {
    MethodCase method;
    std::optional<double> lens, blobs;
  };
  const std::vector<Row> rows{{{"FMM", Method::fmm, 1}, 43, 51},
                              {{"FSM", Method::fsm, 1}, 378, 517},
                              {{"tetFIM-ST", Method::fim, 1}, 74, 62},
                              {{"tetFIM-MT", Method::fim, threads}, 22, 21},
                              {{"banded (ours)", Method::banded, 1}, {}, {}},
                              {{fmt::format("banded, {} threads", threads), Method::banded, threads}, {}, {}}};
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
    for (const Row& row : rows)
      report.add(entry_of(name, row.method.name, lens ? row.lens : row.blobs,
                          measure(model.mesh, metric, sources, row.method, options), "s", seconds));
  }
  return report.finish(options);
}

int table_003_4_9(const BenchOptions& options) {
  Report report("003-table-4.9", "Paper 003 Table 4.9: iterations and updates per vertex of tetFIM-ST", options,
                QuickRun::fewer_meshes);
  const std::array<std::array<double, 4>, 4> paper{
      {{37, 11, 44, 13}, {70, 12, 81, 15}, {139, 12, 170, 16}, {276, 11, 326, 15}}};
  const std::vector<std::size_t> sizes =
      options.size == BenchSize::paper ? std::vector<std::size_t>{17, 33, 65, 129} : std::vector<std::size_t>{17};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::size_t n = sizes[i];
    const double side = static_cast<double>(n - 1);
    const TetMesh mesh = generate_cube({.nx = n, .ny = n, .nz = n, .extent = {side, side, side}});
    const Sources sources = middle_source(mesh);
    for (const int speed : {2, 3}) {
      const Metric metric = volume_metric(mesh, speed);
      for (const bool fim : {true, false}) {
        const Measured m = measure(mesh, metric, sources, {"", fim ? Method::fim : Method::banded, 1}, options);
        const std::string row = fmt::format("{} Speed {} {}", n, speed, fim ? "tetFIM-ST" : "banded (ours)");
        const std::size_t k = speed == 2 ? 0 : 2;
        report.add(entry_of(row, "iterations", fim ? std::optional(paper[i][k]) : std::nullopt, m, "",
                            [](const Arrival& a) { return static_cast<double>(a.counters.rounds); }));
        report.add(entry_of(
            row, "updates", fim ? std::optional(paper[i][k + 1]) : std::nullopt, m, "per vertex", [](const Arrival& a) {
              return static_cast<double>(a.counters.vertex_updates) / static_cast<double>(a.times.size());
            }));
      }
    }
  }
  return report.finish(options);
}

}  // namespace isochron::bench
