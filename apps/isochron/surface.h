// What `isochron surface` is asked for, and its steps.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/isochron/image_input.h"
#include "isochron/io.h"
#include "isochron/surface.h"
#include "isochron/tetrahedra.h"

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

/// In builds with VTK; else throws RuntimeError.
void check_quality_picture(const SurfaceRequest& request);

/// Makes the mesh of an image, writes it and reports on it; gives the exit code.
int make_surface(const SurfaceRequest& request, Image image, double read_seconds, Console& console);

}  // namespace isochron::cli
