// Our own aims: what the solvers must reach in accuracy, work and speed, each with its residual checked.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "bench/paper/cases.h"
#include "bench/paper/tables.h"
#include "isochron/core/parallel.h"
#include "isochron/core/timer.h"
#include "isochron/generate.h"

namespace isochron::bench {
namespace {

/// The volume problems of the aims: a mesh, a metric and a name.
struct Problem {
  std::string name;
  TetMesh mesh;
  Metric metric;
};

std::vector<Problem> volume_problems(std::size_t n) {
  const Metric isotropic = Metric::isotropic(1), diagonal = Metric::constant(SymTensor3d::diagonal(1, 4, 9));
  const auto name = [n](const char* kind) { return fmt::format("{}^3 {}", n, kind); };
  std::vector<Problem> problems;
  problems.push_back({name("cube isotropic"), unit_cell_cube(n), isotropic});
  problems.push_back({name("cube diag(1,4,9)"), unit_cell_cube(n), diagonal});
  problems.push_back({name("jittered cube isotropic"), unit_cell_cube(n, 0.2), isotropic});
  problems.push_back({name("jittered cube diag(1,4,9)"), unit_cell_cube(n, 0.2), diagonal});
  problems.push_back({name("cube random fibres"), unit_cell_cube(n), {}});
  problems.back().metric = fiber_metric(random_fibers(problems.back().mesh, 1), 3, 1);
  problems.push_back({name("cube rotating fibres"), unit_cell_cube(n), {}});
  problems.back().metric = fiber_metric(rotating_fibers(problems.back().mesh, 1.0, 2), 3, 1);
  problems.push_back({name("cube random tensors"), unit_cell_cube(n), {}});
  problems.back().metric = volume_metric(problems.back().mesh, 3);
  return problems;
}

/// A regular square, as a row is called.
std::string square_name(const TriangleMesh& square) {
  const auto n = std::lround(std::sqrt(static_cast<double>(square.vertex_count())));
  return fmt::format("{} x {} square", n, n);
}

std::size_t side(const BenchOptions& options) { return options.size == BenchSize::paper ? 64 : 13; }

/// A call on one thread: its seconds have all that is done around the solve.
template <int Corners>
Measured median_call(const SimplexMesh<Corners>& mesh, const Metric& metric, const Sources& sources, SourceInit init) {
  SolveOptions options = paper_options({"", Method::banded, 1});
  options.source_init = init;
  options.verify = Keep::no;
  Solver solver({mesh, metric}, options);
  Arrival last = solver.solve(sources);
  std::vector<double> calls;
  while (calls.size() < 5) {
    const Timer timer;
    Arrival next = solver.solve(sources);
    calls.push_back(timer.seconds());
    last = std::move(next);
  }
  last.solve_seconds = median(std::move(calls));
  last.residual = solver.residual(last, sources);
  return checked(std::move(last));
}

double calls(const Arrival& arrival) { return arrival.solves_per_vertex(); }

}  // namespace

bool goals_work(const BenchOptions& options) {
  Report report("goals-work", "Local solves per vertex", options);
  report.note_on_paper(paper_is_the_aim);
  const auto square = surface_mesh(1, options.size);
  const Sources middle = middle_source(*square);
  struct Aim {
    Method method;
    double most;
  };
  for (const Aim& aim : {Aim{Method::fmm, 18}, Aim{Method::fim, 20}, Aim{Method::banded, 7}})
    report.add(entry_of(square_name(*square), std::string(name_of(aim.method)), aim.most,
                        measure(*square, Metric::isotropic(1), middle, {"", aim.method, 1}, options), "calls", calls));
  const std::vector<double> aims{36, 36, 50, 50, 60, 90, NAN};
  const auto problems = volume_problems(side(options));
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const Problem& p = problems[i];
    const Sources sources = middle_source(p.mesh);
    const Measured banded = measure(p.mesh, p.metric, sources, {"", Method::banded, 1}, options);
    const Measured fim = measure(p.mesh, p.metric, sources, {"", Method::fim, 1}, options);
    report.add(entry_of(p.name, "banded", std::isnan(aims[i]) ? std::nullopt : std::optional(aims[i]), banded, "calls",
                        calls));
    report.add(entry_of(p.name, "fim", {}, fim, "calls", calls));
    report.add(ratio_of(p.name, "banded over fim", {}, banded, fim, "", calls));
  }
  return report.finish(options);
}

bool goals_speed(const BenchOptions& options) {
  Report report("goals-speed", "Seconds on one thread in single precision, plain sources", options);
  report.note_on_paper(paper_is_the_aim);
  const auto aim = [](double value) { return std::isnan(value) ? std::nullopt : std::optional(value); };
  const int threads = options.threads > 0 ? options.threads : hardware_threads();
  const auto compare = [&](const std::string& name, const auto& mesh, const Metric& metric, double most,
                           double fmm_most, bool isotropic) {
    const Sources sources = middle_source(mesh);
    const Measured banded = measure(mesh, metric, sources, {"", Method::banded, 1}, options, 5);
    report.add(entry_of(name, "banded", aim(most), banded, "s", seconds));
    const double set_up = median_set_up(mesh, metric, {"", Method::banded, 1}, options);
    report.add({name, "banded set-up", {}, set_up, "s", fmt::format("the first {:.3f}", banded.arrival.setup_seconds)});
    if (isotropic) {
      const Measured fmm = measure(mesh, metric, sources, {"", Method::fmm, 1}, options, 3);
      report.add(entry_of(name, "fmm", aim(fmm_most), fmm, "s", seconds));
    }
    const Measured fim = measure(mesh, metric, sources, {"", Method::fim, 1}, options, 1);
    report.add(entry_of(name, "fim", {}, fim, "s", seconds));
    report.add(ratio_of(name, "fim over banded", {}, fim, banded, "times", seconds));
    if (threads > 1) {
      const Measured many = measure(mesh, metric, sources, {"", Method::banded, threads}, options, 5);
      report.add(entry_of(name, fmt::format("banded, {} threads", threads), {}, many, "s", seconds));
      report.add(ratio_of(name, "speed-up", {}, banded, many, "times", seconds));
    }
    Entry ball = ratio_of(name, "ball over plain", 1.3, median_call(mesh, metric, sources, SourceInit::ball),
                          median_call(mesh, metric, sources, SourceInit::plain), "times", seconds);
    if (ball.ours) ball.remark = "the whole call, without set-up";
    report.add(std::move(ball));
    SolveOptions in_double = paper_options({"", Method::banded, 1});
    in_double.precision = Precision::double_;
    const Measured twice = checked(solve(mesh, metric, sources, in_double));
    report.add(ratio_of(name, "double over single", aim(1.4), twice, banded, "times", seconds));
  };
  const auto square = surface_mesh(1, options.size);
  compare(square_name(*square), *square, Metric::isotropic(1), 0.15, 0.5, true);
  const std::vector<double> aims{0.35, 0.35, 0.56, 0.64, 0.75, 1.1, NAN};
  const auto problems = volume_problems(side(options));
  for (std::size_t i = 0; i < problems.size(); ++i)
    compare(problems[i].name, problems[i].mesh, problems[i].metric, aims[i], NAN, i == 0 || i == 2);
  return report.finish(options);
}

bool tuning_bands(const BenchOptions& options) {
  Report report("tuning-bands", "Banded over the width of its bands, in mean edge travel times", options);
  const int threads = options.threads > 0 ? options.threads : hardware_threads();
  const auto sweep = [&](const std::string& name, const auto& mesh, const Metric& metric,
                         const std::vector<double>& widths) {
    const Sources sources = middle_source(mesh);
    for (const int team : {1, threads})
      for (const double width : widths) {
        SolveOptions solve_options = paper_options({"", Method::banded, team});
        solve_options.band_width = width;
        Solver solver({mesh, metric}, solve_options);
        Arrival best = solver.solve(sources);
        for (int i = 0; i < 3; ++i)
          if (Arrival again = solver.solve(sources); again.solve_seconds < best.solve_seconds) best = std::move(again);
        const std::string row = fmt::format("{}, {} threads, width {}", name, team, width);
        if (!best.residual->passed()) report.add({row, "seconds", {}, {}, "s", failed_check});
        else
          report.add({row,
                      "seconds",
                      {},
                      best.solve_seconds,
                      "s",
                      fmt::format("{:.1f} calls, {:.2f} pushes a vertex, {} rounds", calls(best),
                                  updates_per_vertex(best), best.counters.rounds)});
      }
  };
  const auto square = surface_mesh(1, options.size);
  sweep(square_name(*square), *square, Metric::isotropic(1), {0.5, 1, 2, 4, 8});
  for (const Problem& p : volume_problems(side(options))) sweep(p.name, p.mesh, p.metric, {0.125, 0.25, 0.5, 1, 2});
  return report.finish(options);
}

bool goals_accuracy(const BenchOptions& options) {
  const std::size_t n = side(options);
  Report report(
      "goals-accuracy",
      fmt::format("Mean error of a point source in edges, unless said in the middle of the jittered {}^3 cube", n),
      options);
  report.note_on_paper(paper_is_the_aim);
  const TetMesh mesh = unit_cell_cube(n, 0.2);
  const Sources sources = middle_source(mesh);
  const Vec3d s = mesh.point(sources.vertices[0].vertex.in_whole());
  const double v0 = 1, gradient = 2.0 / static_cast<double>(n - 1);
  std::vector<double> speed;
  for (const auto& element : mesh.elements) {
    double z = 0;
    for (const VertexId v : element) z += 0.25 * mesh.point(v).z;
    speed.push_back(v0 + gradient * z);
  }
  const Metric linear(SpeedMetric{speed});
  const auto straight = [&](Vec3d p) { return norm(p - s); };
  // Arcs of circles: t = acosh(1 + g²|x−s|²/(2 v(x) v(s)))/g.
  const auto curved = [&](Vec3d p) {
    const double d = norm(p - s);
    return std::acosh(1 + gradient * gradient * d * d / (2 * (v0 + gradient * p.z) * (v0 + gradient * s.z))) / gradient;
  };
  const auto run = [&report](const std::string& name, const auto& domain, const Metric& metric, const Sources& start,
                             const auto& exact, std::vector<std::optional<double>> aims, double edge) {
    double plain = 0;
    std::size_t i = 0;
    for (const SourceInit init : {SourceInit::plain, SourceInit::ball, SourceInit::factored}) {
      SolveOptions solve_options;
      solve_options.source_init = init;
      solve_options.verify = Keep::yes;
      solve_options.sources = Keep::no;
      const Arrival arrival = solve(domain, metric, start, solve_options);
      const std::string column(name_of(init));
      const std::optional<double> aim = aims[i++];
      if (!is_right(arrival)) {
        report.add({name, column, aim, {}, "edges", failed_check});
        continue;
      }
      double sum = 0;
      for (std::size_t v = 0; v < domain.vertex_count(); ++v)
        sum += std::abs(arrival.times[v] - exact(domain.points[v]));
      const double error = sum / edge / static_cast<double>(domain.vertex_count());
      if (init == SourceInit::plain) plain = error;
      const std::string share = plain > 0 ? fmt::format("{:.3f} of plain, ", error / plain) : "";
      report.add({name, column, aim, error, "edges", share + fmt::format("{:.2f} s", arrival.solve_seconds)});
    }
  };
  run("constant", mesh, Metric::isotropic(1), sources, straight, {0.83, 0.415, 1e-3}, 1);
  run("linear velocity", mesh, linear, sources, curved, {{}, {}, {}}, 1);

  // Fibres that turn by half a circle, against a mesh with edges a quarter as long that holds all vertices.
  const std::size_t few = 17, many = 4 * (few - 1) + 1;
  const auto lattice = [&](std::size_t side) { return generate_cube({.nx = side, .ny = side, .nz = side}); };
  const auto turning = [](const TetMesh& cube) { return fiber_metric(rotating_fibers(cube, 0.5, 2), 3, 1); };
  const TetMesh coarse = lattice(few), fine = lattice(many);
  SolveOptions best;
  best.source_init = SourceInit::factored;
  best.obtuse = ObtuseSplit::split;
  best.verify = Keep::yes;
  const Measured reference = checked(solve(fine, turning(fine), middle_source(fine), best));
  const auto on_fine = [&](Vec3d p) {
    const auto index = [&](double x) {
      return static_cast<std::size_t>(std::lround(x * static_cast<double>(many - 1)));
    };
    return reference.arrival.times[(index(p.z) * many + index(p.y)) * many + index(p.x)];
  };
  const std::string fibres = "turning fibres 3:1, 17^3";
  if (!reference.valid) report.add({fibres, "reference", {}, {}, "edges", reference.remark});
  else run(fibres, coarse, turning(coarse), middle_source(coarse), on_fine, {{}, {}, {}}, 1.0 / 16);

  const std::size_t frequency = 40;
  const TriangleMesh sphere = generate_sphere({.frequency = frequency});
  const Vec3d pole = sphere.points[0];
  Sources from_pole;
  from_pole.vertices.push_back({VertexId(0), 0});
  const auto great_circle = [&](Vec3d p) { return std::acos(std::clamp(dot(p, pole), -1.0, 1.0)); };
  run("unit sphere, frequency 40", sphere, Metric::isotropic(1), from_pole, great_circle, {{}, {}, {}},
      1.1 / static_cast<double>(frequency));
  return report.finish(options);
}

}  // namespace isochron::bench
