// Every table and figure we rerun, by paper.
#pragma once

#include "bench/paper/registry.h"

namespace isochron::bench {

// Paper 000: triangulated surfaces (2011).
bool table_000_2_1(const BenchOptions& options);
bool table_000_3_1(const BenchOptions& options);
bool table_000_3_2(const BenchOptions& options);
bool table_000_3_3(const BenchOptions& options);
bool table_000_3_4(const BenchOptions& options);
bool section_000_3_3_3(const BenchOptions& options);
bool cost_model_000(const BenchOptions& options);
bool figure_000_3_2(const BenchOptions& options);
bool figure_000_3_3(const BenchOptions& options);

// Paper 002: surfaces by a particle system (2012).
bool table_002_1(const BenchOptions& options);
bool table_002_2(const BenchOptions& options);
bool table_002_3(const BenchOptions& options);
bool table_002_4(const BenchOptions& options);

// Paper 003: tetrahedral domains (2013).
bool table_003_4_1(const BenchOptions& options);
bool table_003_4_2(const BenchOptions& options);
bool table_003_4_3(const BenchOptions& options);
bool table_003_4_4(const BenchOptions& options);
bool table_003_4_5(const BenchOptions& options);
bool table_003_4_6(const BenchOptions& options);
bool table_003_4_7(const BenchOptions& options);
bool table_003_4_8(const BenchOptions& options);
bool table_003_4_9(const BenchOptions& options);
bool section_003_4_5_2(const BenchOptions& options);
bool gpu_513(const BenchOptions& options);

// Paper 001: massively parallel, unstructured (2018).
bool table_001_5(const BenchOptions& options);
bool table_001_6(const BenchOptions& options);
bool table_001_7(const BenchOptions& options);
bool figure_001_8(const BenchOptions& options);

// Paper 004: image grids of tensors (2007).
bool table_004_1(const BenchOptions& options);
bool section_004_4_2(const BenchOptions& options);
bool section_004_5_2(const BenchOptions& options);
bool figure_004_9(const BenchOptions& options);
bool anisotropy_004(const BenchOptions& options);

// Pictures of meshes and times in the papers.
bool figure_000_3_1(const BenchOptions& options);
bool figure_001_2(const BenchOptions& options);
bool figure_003_4_2(const BenchOptions& options);
bool figure_003_4_3(const BenchOptions& options);
bool figure_003_4_4(const BenchOptions& options);
bool figure_002_6(const BenchOptions& options);
bool figure_002_9(const BenchOptions& options);
bool figure_004_2(const BenchOptions& options);
bool figure_004_6(const BenchOptions& options);
bool figure_004_7(const BenchOptions& options);
bool figure_004_8(const BenchOptions& options);

// Our own aims: accuracy, work and speed.
bool goals_work(const BenchOptions& options);
bool goals_speed(const BenchOptions& options);
bool goals_accuracy(const BenchOptions& options);
bool goals_grid(const BenchOptions& options);
bool goals_surface(const BenchOptions& options);
bool goals_grid_threads(const BenchOptions& options);
bool goals_connect(const BenchOptions& options);
bool goals_gradients(const BenchOptions& options);
bool goals_update(const BenchOptions& options);
bool goals_invert(const BenchOptions& options);
bool goals_end_to_end(const BenchOptions& options);
bool goals_mpi(const BenchOptions& options);
bool gpu_goals(const BenchOptions& options);
bool grid_gpu_goals(const BenchOptions& options);
bool tuning_bands(const BenchOptions& options);
bool tuning_backends(const BenchOptions& options);
bool tuning_ranks(const BenchOptions& options);

// Over many ranks, on paper.
bool scale(const BenchOptions& options);

}  // namespace isochron::bench
