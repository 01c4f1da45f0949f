#include "bench/paper/registry.h"

#include <algorithm>
#include <iterator>

#include "bench/paper/tables.h"

namespace isochron {

std::string_view PaperBench::paper_number() const {
  if (!paper.empty()) return paper;
  return name.starts_with("00") ? std::string_view(name).substr(0, 3) : std::string_view();
}

bool PaperBench::has_gpu_columns() const {
  constexpr std::string_view without[] = {
      "000-table-2.1",   "000-table-3.1",  "000-table-3.2",  "000-cost-model", "000-figure-3.1", "000-figure-3.2",
      "000-figure-3.3",  "002-figure-6",   "003-table-4.1",  "003-table-4.2",  "003-table-4.3",  "003-table-4.4",
      "003-figure-4.2",  "003-figure-4.3", "003-figure-4.4", "001-figure-2",   "001-figure-8",   "004-anisotropy",
      "004-section-4.2", "004-figure-2",   "004-figure-6",   "004-figure-7",   "004-figure-8",   "004-figure-9"};
  return std::find(std::begin(without), std::end(without), name) == std::end(without);
}

const std::vector<PaperBench>& paper_benches() {
  static const std::vector<PaperBench> benches{
      {"000-table-2.1", "Solver calls per vertex: FMM, two relabellings, FIM", bench::table_000_2_1},
      {"000-table-3.1", "Times of FMM and FIM on four surfaces", bench::table_000_3_1},
      {"000-table-3.2", "Times on the sphere with constant and random speed", bench::table_000_3_2},
      {"000-table-3.3", "Times and speed-ups of FMM, FIM and patches on the GPU", bench::table_000_3_3},
      {"000-table-3.4", "Solver calls per vertex on four surfaces", bench::table_000_3_4},
      {"000-section-3.3.3", "Patches on the GPU by size and inner iterations, surfaces", bench::section_000_3_3_3},
      {"000-cost-model", "Section 3.3.1: FIM over FMM, predicted from heap sizes and measured", bench::cost_model_000},
      {"000-figure-3.1", "The sphere and the dragon, with distances on them", bench::figure_000_3_1},
      {"000-figure-3.2", "Solver calls over mesh size for smoother and rougher speeds", bench::figure_000_3_2},
      {"000-figure-3.3", "Distance from two circles, and error over resolution for circles and points",
       bench::figure_000_3_3},
      {"002-table-1", "Mean and smallest radius ratio of the particles' triangles, CPU and GPU", bench::table_002_1},
      {"002-table-2", "Times to place particles on three objects, CPU and GPU", bench::table_002_2},
      {"002-table-3", "Times over the number of seeds, none added, CPU and GPU (Figure 7)", bench::table_002_3},
      {"002-table-4", "Times over the number of particles by epsilon and delta, CPU and GPU (Figure 8)",
       bench::table_002_4},
      {"002-figure-6", "Meshes of one data set with more and more particles", bench::figure_002_6},
      {"002-figure-9", "Meshes of heart, lungs and ribcage by the paper's scheme and ours, CPU and GPU",
       bench::figure_002_9},
      {"003-table-4.1", "Error and order on the cube, isotropic and anisotropic", bench::table_003_4_1},
      {"003-table-4.2", "Times on the regular cube", bench::table_003_4_2},
      {"003-table-4.3", "Times on the irregular cube", bench::table_003_4_3},
      {"003-table-4.4", "Times on the ventricle (the paper: a heart)", bench::table_003_4_4},
      {"003-table-4.5", "Times and speed-ups of FIM and agglomerates on the GPU, isotropic", bench::table_003_4_5},
      {"003-table-4.6", "Times and speed-ups of FIM and agglomerates on the GPU, anisotropic", bench::table_003_4_6},
      {"003-table-4.7", "Set-up for the GPU", bench::table_003_4_7},
      {"003-table-4.8", "Times and speed-ups on the lens and the blobs, CPU and GPU", bench::table_003_4_8},
      {"003-table-4.9", "Iterations and updates over mesh size, CPU and GPU", bench::table_003_4_9},
      {"003-figure-4.2", "Level curves on the cube and the ventricle", bench::figure_003_4_2},
      {"003-figure-4.3", "Level curves on the lens", bench::figure_003_4_3},
      {"003-figure-4.4", "Level curves on the blobs", bench::figure_003_4_4},
      {"003-section-4.5.2", "Patches on the GPU by size and inner iterations, tetrahedra", bench::section_003_4_5_2},
      {"001-table-5", "FIM with coordinates and M, 18 products and 6 lengths per element, CPU and GPU",
       bench::table_001_5},
      {"001-table-6", "Subdomains on the GPU, coarse heart", bench::table_001_6},
      {"001-table-7", "Subdomains on the GPU, fine heart", bench::table_001_7},
      {"001-figure-2", "Arrival time on the ventricle", bench::figure_001_2},
      {"001-figure-8", "Speed-up over threads", bench::figure_001_8},
      {"004-table-1", "Times on tensor images: two schemes by sweeping, ours, and the GPU", bench::table_004_1},
      {"004-section-4.2", "The integer validity test against three Hamiltonians", bench::section_004_4_2},
      {"004-section-5.2", "Packing and shared memory of the blocks on the GPU, against plain layouts",
       bench::section_004_5_2},
      {"004-anisotropy", "Error over anisotropy for the four schemes on images", bench::anisotropy_004},
      {"004-figure-2", "Costs from the two ends of a brain's genu, and their sum", bench::figure_004_2},
      {"004-figure-6", "Pathways of named tracts as a cloud of costs and as surfaces", bench::figure_004_6},
      {"004-figure-7", "Glyphs of the tensors in pathways", bench::figure_004_7},
      {"004-figure-8", "Distance from a seed in the three examples, and paths to it in the helix", bench::figure_004_8},
      {"004-figure-9", "Named tracts, as pathways and by streamlines", bench::figure_004_9},
      {"goals-work", "Our aims: local solves per vertex", bench::goals_work},
      {"goals-speed", "Our aims: seconds, set-up and ratios in one run", bench::goals_speed},
      {"goals-accuracy", "Our aims: errors of plain, ball and factored sources", bench::goals_accuracy},
      {"goals-grid", "Our aims on image grids: errors and CPU seconds of the schemes", bench::goals_grid},
      {"goals-grid-threads", "Our aims on image grids: one thread against all of them", bench::goals_grid_threads},
      {"goals-end-to-end", "From a mesh file to a file with times: read, set-up, solve, write, beside a copy",
       bench::goals_end_to_end},
      {"goals-gradients", "Our aims for derivatives of times: what they cost beside the solve", bench::goals_gradients},
      {"goals-update", "Our aims for solving again after a small change, beside the solve", bench::goals_update},
      {"goals-invert", "Our aims for inversions: what is found from times, and how fast", bench::goals_invert},
      {"goals-connect", "Our aims on a brain: region to region and the connectome, CPU and GPU", bench::goals_connect},
      {"goals-surface", "Our aims for surfaces from images: fields, particles, triangles", bench::goals_surface},
      {"goals-mpi", "Our aims over MPI ranks, under mpirun (scripts/bench_mpi.sh)", bench::goals_mpi},
      {"gpu-goals", "Our aims on the GPU: set-up, transfer, solve and work", bench::gpu_goals},
      {"gpu-grid-goals", "Our aims for images on the GPU: set-up, transfer, solve and work", bench::grid_gpu_goals},
      {"gpu-513", "Error order and memory up to the 513^3 cube (805 million tetrahedra) on the GPU", bench::gpu_513,
       "003"},
      {"tuning-bands", "Work and seconds over the band width", bench::tuning_bands},
      {"tuning-backends", "From what size of mesh on the GPU pays", bench::tuning_backends},
      {"tuning-ranks", "Counts of ranks on clocks of their own: updates, balance, messages", bench::tuning_ranks},
      {"scale", "Time of a solve on 2 to 100 000 cores: model, fit and simulation", bench::scale},
  };
  return benches;
}

}  // namespace isochron
