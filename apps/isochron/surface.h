// What `isochron surface` is asked for, and what it did.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/isochron/image_input.h"
#include "apps/isochron/mesh_quality.h"
#include "isochron/io/io.h"
#include "isochron/surface/extract.h"
#include "isochron/surface/extract_materials.h"
#include "isochron/surface/tetrahedra/tetrahedralize.h"

namespace isochron::cli {

struct SurfaceRequest {
  std::filesystem::path image;
  RawRequest raw;
  std::string array;  ///< of an image with several; empty: the first
  std::optional<double> isovalue;
  std::vector<std::int32_t> labels;
  std::optional<std::set<std::int32_t>> materials;  ///< for a mesh of them all; empty set: all there are
  std::vector<std::string> of_varying_sizes;        ///< options given that say how edge lengths vary
  std::filesystem::path output;
  std::filesystem::path picture;
  FieldOptions field;
  ExtractOptions extract;
  std::optional<std::vector<double>> size_range;
  std::optional<TetProgram> tetrahedra;
  bool report = false;
  bool force = false;

  [[nodiscard]] Overwrite overwrite() const { return force ? Overwrite::yes : Overwrite::no; }
};

/// What came of one object or of several materials.
struct CommonSummary {
  MeshQuality quality;
  std::optional<MeshQuality> tet_quality;
  double tetrahedra_seconds = 0, read_seconds = 0, field_seconds = 0, write_seconds = 0;
  std::vector<std::filesystem::path> written;
};

struct SurfaceSummary : CommonSummary {
  ExtractedSurface surface;
  std::optional<TetMesh> tets;
};

/// What came of `--materials`.
struct MaterialsSummary : CommonSummary {
  ExtractedMaterials surface;
  std::vector<SurfaceTopology> borders;  ///< of each of the materials
  std::optional<FilledSurface> filled;
};

/// The array with one value a voxel that the surface is taken from.
const DataArray& chosen_array(const Image& image, const SurfaceRequest& request);
/// Its values as labels; `no_number` for those that are not finite, with a warning.
std::vector<std::int32_t> as_labels(const DataArray& array, const std::string& file, std::int32_t no_number,
                                    Console& console);

/// Shows the name of each stage while it runs.
void show_stages(const Console& console, ExtractOptions& options);

/// The sizes of a surface in the world for the tetrahedra inside it too.
TetOptions tet_options(const SurfaceRequest& request, const TriangleMesh& surface, const SizeField& sizes,
                       const LatticeFrame& frame);

/// "the component of area … is lost", for a warning.
std::string described(const SurfaceDifference& difference);

/// Warns of the first few of some lines about what the mesh does not show as the image does.
void warn_of_differences(const SurfaceRequest& request, const std::vector<std::string>& lines, Console& console);

/// Meshes all materials and writes them. `read_seconds` is for the summary.
int run_materials(const SurfaceRequest& request, Image image, double read_seconds, Console& console);

/// In builds with VTK; else the check throws RuntimeError. Draws the tetrahedra if there are some, else the triangles.
void check_quality_picture(const SurfaceRequest& request);
void write_quality_picture(const SurfaceRequest& request, const TriangleMesh& surface, const TetMesh* tets);

void print_summary(const SurfaceRequest& request, const SurfaceSummary& summary, const Console& console);
void print_summary(const SurfaceRequest& request, const MaterialsSummary& summary, const Console& console);

}  // namespace isochron::cli
