// Closed surfaces filled with tetrahedra, by Netgen, TetGen or gmsh in processes of their own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "isochron/mesh.h"
#include "isochron/progress.h"
#include "isochron/types.h"

namespace isochron {

/// No element around this point should have edges longer than `size`.
struct SizePoint {
  Vec3d at;
  double size = 0;
};

/// Netgen (LGPL) is in the helper program isochron-netgen; the others are programs that users have or have not.
enum class TetProgram { netgen, tetgen, gmsh };

/// "netgen", "tetgen", "gmsh"; `tet_program_of` throws UsageError for any other name.
const char* name_of(TetProgram program);
TetProgram tet_program_of(const std::string& name);

struct TetOptions {
  TetProgram program = TetProgram::netgen;
  std::filesystem::path executable;                          ///< empty: beside the running program, then on PATH
  double largest = std::numeric_limits<double>::infinity();  ///< longest edge wanted, in the mesh's unit
  std::vector<SizePoint> sizes;                              ///< and at places; see `sample_sizes`
  double grading = 0.3;        ///< 0 … 1: how fast Netgen's sizes grow away from small ones
  int optimisation_steps = 3;  ///< rounds of Netgen's swapping and smoothing
  double time_limit = 0;       ///< seconds, 0 for none
};

/// Tetrahedra and which region each is in (1 everywhere for a plain surface). All have positive volume; the points of
/// the surface come first, unchanged and in their order.
struct FilledSurface {
  TetMesh mesh;
  std::vector<std::int32_t> region;
};

/// Whether the program is there.
bool has_tet_program(TetProgram program, const std::filesystem::path& executable = {});

/// Fills a closed surface, triangles seen counter-clockwise from outside; components whose triangles face inward are
/// cavities. The surface's triangles are exactly the mesh's boundary. Throws InputError for a surface that is open, not
/// manifold at edges, not oriented or inside out; RuntimeError when the program is missing or fails or its answer does
/// not fit the surface; Cancelled.
FilledSurface tetrahedralize(const TriangleMesh& surface, const TetOptions& options, const Progress& progress = {});

/// What lies on the two sides of a triangle: behind it, and where its corners are seen counter-clockwise from. 0 is
/// outside.
struct RegionSides {
  std::int32_t behind = 0, before = 0;
};

/// Fills each region (all labels but 0) of a surface with shared interfaces. The regions are filled one by one, and as
/// their common triangles stay, the whole fits together. Throws as `tetrahedralize`, naming the region.
FilledSurface tetrahedralize_regions(const TriangleMesh& surface, std::span<const RegionSides> sides,
                                     const TetOptions& options, const Progress& progress = {});

/// The triangles around and between regions, for boundary conditions. They name the points of the surface, which are
/// the first of a filled one.
struct RegionBoundary {
  std::vector<TriangleMesh::Element> triangles;  ///< seen counter-clockwise from outside of `region_a`
  std::vector<std::int32_t> region_a, region_b;  ///< the smaller label and the other one; 0 as b: outside
  std::vector<std::int32_t> tag;                 ///< one per pair of regions, above all labels
};
RegionBoundary region_boundary(const TriangleMesh& surface, std::span<const RegionSides> sides);

/// Points in a box, each some `size` from the next, with the size that is wanted there. Sizes are positive lengths and
/// should change slowly (by less than their own value across it). At most `most` points; throws UsageError where there
/// would be more.
std::vector<SizePoint> sample_sizes(Vec3d low, Vec3d high, const std::function<double(Vec3d)>& size,
                                    std::size_t most = 20'000'000);

}  // namespace isochron
