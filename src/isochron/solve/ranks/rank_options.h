// How ranks divide a solve between them, and the communication that it took.
#pragma once

#include <cstdint>

#include "isochron/dist/partition.h"
#include "isochron/solve/options.h"

namespace isochron::mpi {

/// How the ranks go about it.
enum class Pace {
  banded,       ///< band after band; what arrives is worked on at once
  sweeps,       ///< one pass over the active vertices, then all border values: paper 001 Algorithm 9
  local_solves  ///< each part to its end, then all border values: paper 001 Algorithm 10
};

struct RankOptions {
  /// Blocks of the mesh or image that each rank gets, from all over it: a front that moves through the mesh then finds
  /// work for every rank most of the time. More blocks balance better and have longer borders. 0: tuned
  /// (bench/NOTES.md), or a partition by time where the sources are known.
  int blocks_per_rank = 0;
  Partitioner partitioner = Partitioner::automatic;
  int threads = 1;
  /// Of each rank: of its own solves where each does some sets (`Division::sources`); of its part `cuda`, or
  /// `automatic` where every rank has a GPU, is on its GPU.
  Backend rank_backend = Backend::serial;
  int batch_threads = 1;
  /// Ranks of one machine that solve a part of a mesh as one (`RankGroups`), at most; 0: all that share a memory, 1:
  /// each has a part of its own. Not on GPUs.
  int group_size = 0;
};

/// What is divided between the ranks.
enum class Division {
  domain,  ///< the mesh or image: all work on one solve
  sources  ///< many solves: each rank does some by itself, on the whole
};

/// Communication of one solve, of all ranks together.
struct Traffic {
  int parts = 1;  ///< of the mesh or image: one a rank, or a group of ranks
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t halo_bytes = 0;  ///< what it would be with each time sent once to each rank that holds a copy
  std::uint64_t bands = 0;       ///< as the ranks went through them together
  std::uint64_t agreements = 0;  ///< reductions
  double idle_seconds = 0;       ///< mean over the ranks
  double min_idle_seconds = 0;   ///< of the busiest one
};

}  // namespace isochron::mpi
