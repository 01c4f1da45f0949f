// The papers' parameter studies of patches on the GPU: how many vertices a patch has and how often it is updated while
// it lies in shared memory (paper 000 section 3.3.3, paper 003 section 4.5.2).
#include <fmt/format.h>

#include "bench/paper/cases.h"
#include "bench/paper/tables.h"

namespace isochron::bench {
namespace {

/// One parameter is varied while the other stays at the paper's best.
struct Study {
  std::vector<int> patch_vertices, inner_iterations;
  int best_vertices, best_iterations;
  std::vector<MethodCase> layouts;
};

template <int Corners>
void add_study(Report& report, const Study& study, const std::string& problem, const SimplexMesh<Corners>& mesh,
               const Metric& metric, const BenchOptions& options) {
  const Sources sources = middle_source(mesh);
  const auto add = [&](MethodCase method, int vertices, int iterations) {
    method.gpu->patch_vertices = vertices;
    method.gpu->inner_iterations = iterations;
    const Measured m = measure(mesh, metric, sources, method, options);
    const std::string row = fmt::format("{}, {}", problem, method.name);
    Entry entry = entry_of(row, fmt::format("patch of {}, {} inner", vertices, iterations), {}, m, "ms", milliseconds);
    if (m.valid) entry.remark += fmt::format(", {:.1f} calls a vertex", m.arrival.solves_per_vertex());
    report.add(std::move(entry));
  };
  for (const MethodCase& layout : study.layouts) {
    for (const int vertices : study.patch_vertices) add(layout, vertices, study.best_iterations);
    for (const int iterations : study.inner_iterations)
      if (iterations != study.best_iterations) add(layout, study.best_vertices, iterations);
  }
}

MethodCase cells_case() { return gpu_patches("cell assembly", PatchLayout::cell_assembly); }
MethodCase strips_case() { return gpu_patches("one-ring strips", PatchLayout::one_ring_strip); }

}  // namespace

bool section_000_3_3_3(const BenchOptions& options) {
  Report report("000-section-3.3.3", "Paper 000 section 3.3.3: patches on surfaces by size and inner iterations",
                options);
  report.note_on_paper("The paper found 64 vertices and 7 iterations best, and more than 7 hardly slower.");
  note_gpu(report);
  const Study study{{16, 32, 64, 128, 256}, {1, 2, 3, 5, 7, 9, 12, 16}, 64, 7, {cells_case()}};
  for (const int number : {1, 2, 3}) {
    const auto mesh = surface_mesh(number, options.size);
    add_study(report, study, surface_label(number, *mesh), *mesh, Metric::isotropic(1), options);
    if (number == 3) add_study(report, study, "Mesh 3, Speed 2", *mesh, random_speed_metric(*mesh), options);
  }
  return report.finish(options);
}

bool section_003_4_5_2(const BenchOptions& options) {
  Report report("003-section-4.5.2", "Paper 003 section 4.5.2: agglomerates by size and inner iterations", options);
  report.note_on_paper("The paper found 64 vertices and 3 iterations best.");
  note_gpu(report);
  const Study study{{16, 32, 64, 128}, {1, 2, 3, 4, 5, 7}, 64, 3, {cells_case(), strips_case()}};
  for (const int number : {1, 2, 3}) {
    const TetMesh mesh = volume_mesh(number, options.size);
    const std::string name = fmt::format("{} ({} tets)", volume_mesh_names[number], mesh.element_count());
    add_study(report, study, name, mesh, Metric::isotropic(1), options);
  }
  return report.finish(options);
}

}  // namespace isochron::bench
