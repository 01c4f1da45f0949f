// The papers' meshes, speeds and methods, and how a solve of them is measured.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/paper/registry.h"
#include "bench/paper/report.h"
#include "isochron/error.h"
#include "isochron/mesh.h"
#include "isochron/solver.h"

namespace isochron::bench {

/// Paper 000: 1 regular square, 2 irregular square, 3 sphere, 4 dragon (when the data folder has it).
std::optional<TriangleMesh> surface_mesh(int number, BenchSize size);
/// A row's label: the mesh and how large it really is.
std::string surface_label(int number, const TriangleMesh& mesh);
inline constexpr const char* surface_mesh_names[] = {"", "Mesh 1 square", "Mesh 2 irregular square", "Mesh 3 sphere",
                                                     "Mesh 4 dragon"};

/// Paper 003: 1 regular cube, 2 irregular cube, 3 the ventricle in place of the heart.
TetMesh volume_mesh(int number, BenchSize size);
inline constexpr const char* volume_mesh_names[] = {"", "Mesh 1 cube", "Mesh 2 irregular cube", "Mesh 3 ventricle"};

/// Paper 000's Speed 2: correlated random speeds, 0.1 to 1.
Metric random_speed_metric(const TriangleMesh& mesh);
/// The speeds of paper 000's Figure 3.2, one per triangle: white noise at the vertices, 0.1 to 1, smoothed and left so.
/// The more steps, the nearer they are to a constant.
std::vector<double> smoothed_white_noise(const TriangleMesh& mesh, int steps);
/// Paper 003's speeds: 1 constant, 2 M = diag(1,4,9), 3 correlated random tensors with eigenvalues 1 to 9.
Metric volume_metric(const TetMesh& mesh, int speed);

/// A vertex near the middle of the largest connected part: the papers' single source.
template <int Corners>
Sources middle_source(const SimplexMesh<Corners>& mesh);

/// A ventricle in place of the hearts of papers 003 and 001, with velocities along and across its fibres.
struct Heart {
  TetMesh mesh;
  Metric metric;
};
Heart heart(std::size_t elements, double along, double across, int threads);
Metric fiber_metric(std::vector<Vec3f> directions, double along, double across);

/// A cube of n³ vertices and cells with edges of 1.
TetMesh unit_cell_cube(std::size_t n, double jitter = 0);

/// A method as the papers name it, in single precision with plain source vertices, as they solved.
struct MethodCase {
  std::string name;
  Method method;
  int threads;
  std::optional<PaperOptions> gpu;         ///< runs on the GPU, and how
  ObtuseSplit obtuse = ObtuseSplit::none;  ///< none: one discretisation for all methods

  MethodCase(std::string label, Method which, int team, std::optional<PaperOptions> scheme = {})
      : name(std::move(label)), method(which), threads(team), gpu(scheme) {}
};
/// The same with virtual elements at obtuse corners.
MethodCase with_split(MethodCase method);
SolveOptions paper_options(const MethodCase& method);
/// The same, with the threads asked for around the GPU and a way to stop.
SolveOptions solve_options(const MethodCase& method, const BenchOptions& options);

/// Our default on the GPU, and the papers' schemes there.
MethodCase gpu_push();
MethodCase gpu_patches(std::string name, PatchLayout layout);
MethodCase gpu_active_list(std::string name, ElementStorage storage);
MethodCase gpu_subdomains(std::string name, SubdomainBlocks blocks, int subdomains);
/// The same with patches cut by METIS instead of along a space-filling curve; not run in builds without it.
MethodCase cut_by_metis(MethodCase method);
/// Says below a table what cuts its patches or subdomains.
void note_partitioner(Report& report);

/// What one solve gave; `valid` only when it passed its check.
struct Measured {
  bool valid = false;
  Remark remark;
  Arrival arrival;
  std::string timing = {};  ///< how the times came about, on the GPU
};

/// Converged, with a residual that passed.
bool is_right(const Arrival& arrival);
/// What one solve gave, if it is right.
Measured checked(Arrival arrival);
/// Where its order does not hold, fast marching is late: by this share of all times at most, on the mean.
inline constexpr double max_mean_lateness = 0.01;
/// What it gave there, if it reached what the right times reach, none of them earlier, and is not later than that.
Measured checked_out_of_order(Arrival arrival, const std::vector<double>& right);

/// Solves `repeats` times, each checked, and keeps the quickest. On the GPU: the median of ten, see `median_solve`;
/// where there is no GPU the remark says so. CPU methods are left out when only the GPU was asked for.
template <int Corners>
Measured measure(const SimplexMesh<Corners>& mesh, const Metric& metric, const Sources& sources,
                 const MethodCase& method, const BenchOptions& options, int repeats = 1);

/// Preparing a solver from the mesh, in seconds: the first of several also has the system find the memory.
template <int Corners>
double median_set_up(const SimplexMesh<Corners>& mesh, const Metric& metric, const MethodCase& method,
                     const BenchOptions& options);

/// Solves ten times (fewer when that takes long or the run is quick) on a prepared solver and checks every answer.
/// Gives the last one, with the worst residual of all and the median times of solve and transfer.
Measured median_solve(Solver& solver, const Sources& sources, const BenchOptions& options);
/// Solves all sets in one go, ten times (three when the run is quick), and checks every answer. Times are medians of
/// the sums over the sets, the rest is of the first set. `whole_seconds` also has the results on the host.
Measured median_of_sets(Solver& solver, const std::vector<Sources>& sets, const BenchOptions& options,
                        double& whole_seconds);

double median(std::vector<double> values);

/// Throws Cancelled when the user has had enough.
void stop_if_cancelled(const BenchOptions& options);

/// Whether this build and machine have a GPU that we can use.
bool has_gpu();
/// The measurement that cannot be made here.
Measured without_gpu();
/// What a table has of a run that ended with an error: a failure, unless METIS is missing or too small for the mesh.
Measured ended_with(const Error& error);
/// What `run` measures; where it ends with an error, what `ended_with` makes of that.
Measured on_gpu(const std::function<Measured()>& run);
/// Says below a table which GPU it used and what its times are, or why none.
void note_gpu(Report& report, const char* times = "medians, without set-up and transfer");

/// An entry from a measurement: `value(arrival)` is shown only when the result is valid. Times say how they came about.
template <class Value>
Entry entry_of(const std::string& row, const std::string& column, std::optional<double> paper, const Measured& measured,
               const std::string& unit, Value&& value) {
  Entry entry{row, column, paper, std::nullopt, unit, measured.remark};
  if (measured.valid) entry.ours = value(measured.arrival);
  if ((unit == "s" || unit == "ms") && !measured.timing.empty())
    entry.remark += (entry.remark.text.empty() ? "" : "; ") + measured.timing;
  return entry;
}

/// A value of one result over that of another. Without a number where one of them is not valid, with its remark.
template <class Value>
Entry ratio_of(const std::string& row, const std::string& column, std::optional<double> paper, const Measured& over,
               const Measured& under, const std::string& unit, Value&& value) {
  Entry entry{row, column, paper, std::nullopt, unit, over.valid ? under.remark : over.remark};
  if (over.valid && under.valid) entry.ours = value(over.arrival) / value(under.arrival);
  return entry;
}

/// What tables show of a result.
double seconds(const Arrival& arrival);
double milliseconds(const Arrival& arrival);
double rounds(const Arrival& arrival);
double updates_per_vertex(const Arrival& arrival);

/// Below tables that show our own aims.
inline constexpr const char* paper_is_the_aim = "'paper' is the aim (at most).";

/// A table as data: which methods run on each of its problems, and the paper's numbers, by problem.
using PaperNumbers = std::vector<std::optional<double>>;
struct Column {
  MethodCase method;
  PaperNumbers paper;
};
/// How many times faster one column is than another.
struct SpeedUp {
  std::string name;
  std::size_t slow, fast;  ///< columns
  PaperNumbers paper;
};
struct Table {
  std::vector<Column> columns;
  std::string unit;
  double (*value)(const Arrival&);
  int repeats = 1;
  std::vector<SpeedUp> speed_ups = {};
};

/// Measures all columns on one problem, the `problem`-th of the paper's numbers.
template <int Corners>
void add_problem(Report& report, const Table& table, const std::string& row, std::size_t problem,
                 const SimplexMesh<Corners>& mesh, const Metric& metric, const Sources& sources,
                 const BenchOptions& options);

/// Threads to use for the papers' "MT" rows: what was asked for, else four as in the papers, but not more than there
/// are.
int paper_threads(const BenchOptions& options);

/// The folder that ISOCHRON_DATA names, else `../shared/data` seen from where the user is. It need not be there.
inline std::filesystem::path data_folder() {
  const char* named = std::getenv("ISOCHRON_DATA");
  return named != nullptr ? named : "../shared/data";
}

}  // namespace isochron::bench
