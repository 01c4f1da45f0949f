// What `isochron surface` is asked for, and what it did.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "apps/isochron/image_input.h"
#include "apps/isochron/mesh_quality.h"
#include "isochron/io/io.h"
#include "isochron/surface/extract.h"
#include "isochron/surface/tetrahedra/tetrahedralize.h"

namespace isochron::cli {

struct SurfaceRequest {
  std::filesystem::path image;
  RawRequest raw;
  std::string array;  ///< of an image with several; empty: the first
  std::optional<double> isovalue;
  std::vector<std::int32_t> labels;
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

struct SurfaceSummary {
  ExtractedSurface surface;
  MeshQuality quality;
  std::optional<TetMesh> tets;
  std::optional<MeshQuality> tet_quality;
  double tetrahedra_seconds = 0;
  double read_seconds = 0, field_seconds = 0, write_seconds = 0;
  std::vector<std::filesystem::path> written;
};

/// In builds with VTK; else the check throws RuntimeError.
void check_quality_picture(const SurfaceRequest& request);
void write_quality_picture(const SurfaceRequest& request, const SurfaceSummary& summary);

void print_summary(const SurfaceRequest& request, const SurfaceSummary& summary, const Console& console);

}  // namespace isochron::cli
