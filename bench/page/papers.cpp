#include "bench/page/papers.h"

#include <algorithm>
#include <iterator>

namespace isochron::bench {
namespace {

// Paper 000, section 3: its meshes.
const DataDifference squares_and_sphere{
    {"000-table-2.1", "000-table-3.1", "000-table-3.2", "000-table-3.3", "000-table-3.4", "000-section-3.3.3",
     "000-cost-model", "000-figure-3.1"},
    "Meshes 2 and 3: the paper has an irregular square of 1,181,697 vertices and a sphere of 1,023,260 (section 3); "
    "ours are generated and of about that size. Speed 2 is random noise of our own: the paper's is not published."};
const DataDifference dragon{
    {"000-table-2.1", "000-table-3.1", "000-table-3.3", "000-table-3.4", "000-figure-3.1"},
    "Mesh 4: the paper's dragon has 631,187 vertices (section 3). Ours is the one that Stanford publishes as "
    "dragon_vrip, of 437,645 vertices, where the file is; tables have it in full runs alone."};

const DataDifference laplacian_experiment{
    {"000-figure-3.2"},
    "The paper prints neither the meshes, N, the step of its Laplacian nor the interval of the noise (section 3.3.1). "
    "Ours are regular squares, N of 0 to 100, half a step to the mean of the neighbours, and speeds of 0.1 to 1."};

// Paper 003, section 4: its meshes.
const DataDifference heart_003{
    {"003-table-4.4", "003-table-4.5", "003-table-4.6", "003-table-4.7", "003-section-4.5.2", "003-figure-4.2"},
    "Mesh 3: the paper's heart (437,355 vertices, 2,306,717 tetrahedra, section 4) is not published. Ours is a "
    "generated ventricle of about as many tetrahedra."};
const DataDifference irregular_cube{
    {"003-table-4.3", "003-table-4.5", "003-table-4.6", "003-table-4.7", "003-section-4.5.2"},
    "Mesh 2: the paper's irregular cube (197,561 vertices, 1,122,304 tetrahedra, section 4) is not published; ours is "
    "generated, of about that size. Speed 3 is random tensors of our own."};
const DataDifference regions_003{
    {"003-table-4.8", "003-figure-4.3", "003-figure-4.4"},
    "Meshes 4 and 5: the paper's lens (1,561,642 tetrahedra) and blobs (section 4) are not published; ours are "
    "generated after its description and its Figures 1.1 and 4.1."};

std::vector<Paper> make_papers() {
  return {
      {"000",
       "A fast iterative method for solving the eikonal equation on triangulated surfaces",
       {{"3.1", "Meshes 3 and 4, a sphere and the dragon", "000-figure-3.1"},
        {"3.2", "Solver calls over vertices for speeds of different smoothness", "000-figure-3.2"},
        {"3.3 (a)", "Level sets of the distance from two circles", "000-figure-3.3"},
        {"3.3 (b)", "Error over resolution", "000-figure-3.3"}},
       {squares_and_sphere, dragon, laplacian_experiment}},
      {"001",
       "A massively parallel Eikonal solver on unstructured meshes",
       {{"2", "Arrival time on a heart", "001-figure-2"}, {"8", "Speed-up over threads", "001-figure-8"}},
       {{{"001-table-5", "001-table-6", "001-table-7", "001-figure-2", "001-figure-8"},
         "The paper's heart (3,073,529 and 24,400,999 tetrahedra, section 7) is not published; ours is a generated "
         "ventricle of about as many tetrahedra."}}},
      {"002",
       "Dynamic particle system for mesh extraction on the GPU",
       {{"6", "Three meshes of the ribcage, with more and more particles", "002-figure-6"},
        {"7", "Seconds over particles, synthetic test (graph of Table 3)", "002-table-3"},
        {"8", "Seconds over particles, real test (graph of Table 4)", "002-table-4"},
        {"9", "Heart, lungs and ribcage, by CPU and GPU", "002-figure-9"}},
       {{{"002-table-1", "002-table-2", "002-table-3", "002-table-4", "002-figure-6", "002-figure-9"},
         "The paper's volumes (heart, lungs and ribcage of 268 x 129 x 177 voxels, section 6) are not published. Ours "
         "are a heart mask and a body CT where the data folder has them, else blobs that we make; the row says "
         "which."}},
       "paper's scheme"},
      {"003",
       "A fast iterative method for solving the eikonal equation on tetrahedral domains",
       {{"4.2", "Level curves on the cube with Speed 2 and on the heart with Speed 1", "003-figure-4.2"},
        {"4.3", "Level curves on the lens", "003-figure-4.3"},
        {"4.4", "Level curves on the blobs", "003-figure-4.4"}},
       {heart_003, irregular_cube, regions_003}},
      {"004",
       "Interactive visualization of volumetric white matter connectivity in DT-MRI using a parallel-hardware "
       "Hamilton-Jacobi solver",
       {{"2", "Costs from each end of the genu, and their sum", "004-figure-2"},
        {"6", "Volumetric pathways of the corticospinal tract, callosum and cingulum", "004-figure-6"},
        {"7", "Superquadric glyphs of the tensors along a pathway", "004-figure-7"},
        {"8", "Distance from a seed in the three examples, and paths to it in the helix", "004-figure-8"},
        {"9", "The arcuate fasciculus beside streamlines", "004-figure-9"}},
       {{{"004-table-1", "004-section-5.2", "004-figure-8"},
         "Example 3: the paper's brain (256 x 256 x 100 voxels, 196 thousand in its mask, section 5) is not published; "
         "the row says what stands in for it."},
        {{"004-table-1", "004-section-5.2", "004-figure-8"},
         "Example 2: the paper prints neither the size of its helix nor the tensors around it (section 5); ours has "
         "two "
         "turns in a tube, with the small eigenvalue in all directions outside."},
        {{"004-figure-2", "004-figure-6", "004-figure-7", "004-figure-9"},
         "The paper's brain is not published; ours is the one in the data folder, else a generated phantom. Rows or "
         "captions say which."}}},
  };
}

struct Expected {
  std::string_view bench;
  double quick, full;
};

// Measured on two cores (quick), and rough (full): the estimate learns how far off they are while it goes.
constexpr Expected expected[] = {
    {"000-table-2.1", 0.3, 60}, {"000-table-3.1", 2, 60},    {"000-table-3.2", 0.5, 40}, {"000-table-3.3", 0.5, 30},
    {"000-table-3.4", 1, 30},   {"000-cost-model", 0.5, 30}, {"000-figure-3.1", 4, 10},  {"000-figure-3.2", 0.3, 10},
    {"000-figure-3.3", 1, 5},   {"002-table-1", 4, 120},     {"002-table-2", 6, 400},    {"002-table-3", 3, 900},
    {"002-table-4", 3, 1500},   {"002-figure-6", 2, 600},    {"002-figure-9", 2, 300},   {"004-figure-6", 5, 5},
    {"004-figure-7", 3, 3},     {"003-table-4.1", 6, 600},   {"003-table-4.2", 2, 120},  {"003-table-4.3", 2, 150},
    {"003-table-4.4", 3, 300},  {"003-table-4.5", 1, 30},    {"003-table-4.6", 1, 60},   {"003-table-4.7", 1, 20},
    {"003-table-4.8", 2, 120},  {"003-table-4.9", 1, 60},    {"003-figure-4.2", 2, 15},  {"003-figure-4.3", 1, 10},
    {"003-figure-4.4", 1, 15},  {"001-table-5", 2, 400},     {"001-figure-2", 2, 30},    {"001-figure-8", 2, 60},
    {"004-table-1", 6, 200},    {"004-anisotropy", 2, 60},   {"004-figure-2", 3, 5},     {"004-figure-8", 6, 20},
    {"004-figure-9", 4, 20},    {"004-section-4.2", 3, 900},
};

}  // namespace

const std::vector<Paper>& papers() {
  static const std::vector<Paper> all = make_papers();
  return all;
}

std::vector<std::string_view> differences_of(const Paper& paper, std::string_view bench) {
  std::vector<std::string_view> result;
  for (const DataDifference& d : paper.differences)
    if (std::find(d.benches.begin(), d.benches.end(), bench) != d.benches.end()) result.push_back(d.text);
  return result;
}

bool is_ours(const Paper& paper, std::string_view bench, std::string_view row, std::string_view column) {
  // These have nothing but our solver.
  constexpr std::string_view alone[] = {"004-figure-6", "004-figure-7", "004-figure-9", "gpu-513"};
  if (std::find(std::begin(alone), std::end(alone), bench) != std::end(alone)) return true;
  const auto has = [&](std::string_view words) {
    return row.find(words) != std::string_view::npos || column.find(words) != std::string_view::npos;
  };
  if (!paper.published.empty()) return !has(paper.published);
  constexpr std::string_view own[] = {"(ours)",         "banded",      "push",         "adaptive", "factored",
                                      "exact sub-cell", "exact start", "points, ball", "order 1",  "order 2"};
  return std::any_of(std::begin(own), std::end(own), has);
}

double expected_seconds(std::string_view bench, bool quick) {
  const auto found =
      std::find_if(std::begin(expected), std::end(expected), [&](const Expected& e) { return e.bench == bench; });
  if (found == std::end(expected)) return quick ? 0.5 : 5;
  return quick ? found->quick : found->full;
}

}  // namespace isochron::bench
