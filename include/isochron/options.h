// What a solve can be asked for.
#pragma once

#include <optional>
#include <string_view>

#include "isochron/partition.h"
#include "isochron/progress.h"

namespace isochron {

enum class Method {
  automatic,    ///< banded; on the GPU push, or active_list for tetrahedra with virtual elements
  banded,       ///< time-band ordered label correcting, pushing through elements (ours; the default)
  fim,          ///< fast iterative method, paper 000 Algorithm 2.1
  fmm,          ///< fast marching with a heap
  fsm,          ///< fast sweeping over reference-point orders
  push,         ///< ours for the GPU and its default: rounds of pushes on tetrahedra, patches on triangles
  patch_fim,    ///< patches in shared memory, on the GPU: paper 000 Algorithms 2.2–2.5, paper 003 Algorithm 1; on
                ///< images blocks of voxels: paper 004 Algorithm 5.1
  active_list,  ///< compacted list of active vertices, on the GPU: paper 001 Algorithm 8
  domain_decomposition,  ///< subdomains in turn, on the GPU: paper 001 section 6
  relabel_sync,          ///< synchronous relabelling, the reference of paper 000 Table 2.1
  relabel_async          ///< asynchronous relabelling, likewise
};
enum class Backend { automatic, serial, threads, cuda, mpi };
enum class Precision { automatic, single_, double_ };
/// How the equation is discretised on images.
enum class GridScheme {
  automatic,      ///< adaptive
  adaptive,       ///< upwind along integer directions that follow the metric: right at any anisotropy
  godunov,        ///< paper 004's anisotropic Godunov Hamiltonian on the axes' neighbours; methods fim and fsm
  lax_friedrichs  ///< paper 004's reference, smeared but simple; method fsm
};
enum class SourceInit {
  plain,    ///< only the source itself (or its element's corners) is set
  ball,     ///< exact times in a metric ball of a few rings around isolated point sources
  factored  ///< additive factoring: the known singular part is taken out of the local update
};
/// Virtual elements at obtuse corners (papers 000 and 003). Automatic: on triangles, where they halve the error for
/// less than a finer mesh would cost, not on tetrahedra, where they do not pay (bench/NOTES.md has the measurement).
enum class ObtuseSplit { automatic, none, split };
/// What fast marching does on a mesh whose ordering assumption does not hold in the metric.
enum class Unordered {
  refuse,     ///< throw InputError with the reason
  hand_over,  ///< march, then let `banded` correct what came out of order: a true answer
  run         ///< march as the papers did; the result is labelled and may be wrong
};
enum class Reorder { automatic, always, never };
enum class Keep { no, yes };
/// How many solves a solver is made for. Many share what it costs to start a GPU, which then pays on smaller images.
enum class ExpectedSolves { few, many };
/// The memory that times and sources are left in.
enum class ResultMemory {
  automatic,  ///< where the arrays of the domain are
  host,
  device
};

/// Where the papers' patches find their elements.
enum class PatchLayout {
  /// Each vertex has the faces opposite it in strips, with a speed for each and the coordinates of all vertices (paper
  /// 003); UsageError where the metric is not isotropic.
  one_ring_strip,
  cell_assembly  ///< each element is stored once; its results are gathered by vertex (papers 000, 003)
};
/// How the active list keeps a tetrahedron's geometry (paper 001 section 3).
enum class ElementStorage {
  gray_code,   ///< six lengths, addressed by the Gray code of the corner; three on triangles
  products,    ///< eighteen products, three at each corner beside the lengths; refused on triangles
  coordinates  ///< M, and the coordinates of the vertices; refused on triangles and with virtual elements
};
enum class SubdomainBlocks {
  one,     ///< a thread block works on a subdomain of its own until nothing in it changes
  several  ///< several thread blocks share a subdomain; the interface vertices are synchronised after each round
};

/// Where the values of an image's blocks lie in device memory (paper 004 section 5.2.1).
enum class BlockOrder {
  rows,   ///< as in the image, row by row
  blocks  ///< the paper's packing: block by block, so that a block's values lie side by side
};
/// Where the neighbours of an image's block lie in shared memory (paper 004 section 5.2.2).
enum class BlockHalo {
  plain,  ///< one layer around the block's own cells
  banked  ///< the paper's: each at a bank that no other neighbour on its side has
};

/// How the papers' GPU methods run; by default with the papers' own numbers.
struct PaperOptions {
  int patch_vertices = 64;
  int inner_iterations = 0;  ///< 0: 7 on triangles, 3 on tetrahedra, 6 on images
  PatchLayout layout = PatchLayout::cell_assembly;
  ElementStorage storage = ElementStorage::gray_code;
  int subdomains = 0;  ///< 0: chosen by the size of the mesh
  SubdomainBlocks subdomain_blocks = SubdomainBlocks::one;
  Partitioner partitioner = Partitioner::automatic;  ///< METIS where the build has it
  BlockOrder block_order = BlockOrder::blocks;
  BlockHalo block_halo = BlockHalo::banked;
};

/// How ranks go about a solve.
enum class Pace {
  banded,       ///< band after band; what arrives is worked on at once
  sweeps,       ///< one pass over the active vertices, then all border values: paper 001 Algorithm 9
  local_solves  ///< each part to its end, then all border values: paper 001 Algorithm 10
};

/// How ranks divide a solve between them.
struct RankOptions {
  /// Blocks of the mesh or image that each rank gets, from all over it: a front that moves through the mesh then finds
  /// work for every rank most of the time. More blocks balance better and have longer borders. 0: tuned
  /// (bench/NOTES.md), or a partition by time where the sources are known.
  int blocks_per_rank = 0;
  Partitioner partitioner = Partitioner::automatic;
  int threads = 1;  ///< of rank 0 while it cuts the whole
  /// Of each rank: of its own solves where each does some sets (`Division::sources`); of its part `cuda`, or
  /// `automatic` where every rank has a GPU, is on its GPU.
  Backend rank_backend = Backend::serial;
  int batch_threads = 1;  ///< of each rank's own solves
  /// Ranks of one machine that solve a part of a mesh as one (`RankGroups`), at most; 0: all that share a memory, 1:
  /// each has a part of its own. Not on GPUs.
  int group_size = 0;
  Pace pace = Pace::banded;
};

/// On images tolerances and edge times are those of a cell's shortest step, and rings are voxels.
struct SolveOptions {
  Method method = Method::automatic;
  Backend backend = Backend::automatic;
  Precision precision = Precision::automatic;
  int threads = 0;                  ///< 0: all cores
  std::optional<double> tolerance;  ///< of the local edge travel time; default 1e-6 double, 1e-5 single
  SourceInit source_init = SourceInit::ball;
  int ball_rings = 8;  ///< the ball's largest radius, in rings of elements
  ObtuseSplit obtuse = ObtuseSplit::automatic;
  Unordered unordered = Unordered::refuse;
  Reorder reorder = Reorder::automatic;
  Keep sources = Keep::yes;  ///< fill Arrival::source
  Keep weights = Keep::no;   ///< fill Arrival::upwind
  Keep verify = Keep::no;    ///< run the residual pass
  ExpectedSolves expected_solves = ExpectedSolves::few;
  double band_width = 0;                      ///< banded and push: in mean edge travel times; 0: tuned
  GridScheme scheme = GridScheme::automatic;  ///< of images
  int order = 1;  ///< of images: 1, or 2: second-order differences where they are smooth (adaptive scheme)
  ResultMemory results = ResultMemory::automatic;
  PaperOptions paper;  ///< of the papers' GPU methods
  RankOptions ranks;   ///< of a solver with a communicator
  Progress progress;
};

std::string_view name_of(Method method);
std::string_view name_of(Backend backend);
std::string_view name_of(Precision precision);
std::string_view name_of(SourceInit init);
std::string_view name_of(GridScheme scheme);
/// By the names of the command line ("banded", "relabel-sync"); throws UsageError that lists them.
Method method_named(std::string_view name);
SourceInit source_init_named(std::string_view name);
GridScheme grid_scheme_named(std::string_view name);

}  // namespace isochron
