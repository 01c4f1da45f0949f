// The papers' meshes, speeds and methods, and how a solve of them is measured.
#pragma once

#include <optional>
#include <string>

#include "bench/paper/registry.h"
#include "bench/paper/report.h"
#include "isochron/mesh/generate/region_model.h"
#include "isochron/mesh/simplex_mesh.h"
#include "isochron/solve/solver.h"

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
Metric random_speed_metric(const TriangleMesh& mesh, int smoothing = 10);
/// Paper 003's speeds: 1 constant, 2 M = diag(1,4,9), 3 correlated random tensors with eigenvalues 1 to 9.
Metric volume_metric(const TetMesh& mesh, int speed);

/// A vertex near the middle of the largest connected part: the papers' single source.
template <int Corners>
Sources middle_source(const SimplexMesh<Corners>& mesh);

/// A method as the papers name it, in single precision with plain source vertices, as they solved.
struct MethodCase {
  std::string name;
  Method method;
  int threads;
};
SolveOptions paper_options(const MethodCase& method);

/// What one solve gave; `valid` only when its residual passed (or it is fast marching run unordered on purpose).
struct Measured {
  bool valid = false;
  std::string remark;
  Arrival arrival;
};

/// Solves `repeats` times and keeps the quickest.
template <int Corners>
Measured measure(const SimplexMesh<Corners>& mesh, const Metric& metric, const Sources& sources,
                 const MethodCase& method, const BenchOptions& options, int repeats = 1);

/// An entry from a measurement: `value(arrival)` is shown only when the result is valid.
template <class Value>
Entry entry_of(const std::string& row, const std::string& column, std::optional<double> paper, const Measured& measured,
               const std::string& unit, Value&& value) {
  Entry entry{row, column, paper, std::nullopt, unit, measured.remark};
  if (measured.valid) entry.ours = value(measured.arrival);
  return entry;
}

/// Threads to use for the papers' "MT" rows: what was asked for, else four as in the papers, but not more than there
/// are.
int paper_threads(const BenchOptions& options);

}  // namespace isochron::bench
