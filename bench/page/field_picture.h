// Pictures of values on surfaces and on slices of images, with lines of equal value. They need no VTK and no screen.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/paper/report.h"
#include "isochron/draw.h"
#include "isochron/image.h"
#include "isochron/mesh.h"

namespace isochron::bench {

struct FieldView {
  Vec3d to_eye{0.5, -0.8, 0.45};  ///< from the object to the eye
  int size = 520;                 ///< pixels of the longer side
  /// Values of the first and last colour; default: all finite values.
  std::optional<std::pair<double, double>> range = {};
  int lines = 14;  ///< about; 0: none
};

/// Triangles with a value a vertex: coloured, shaded, with lines of equal value. Places with a value that is not finite
/// are grey. The picture's legend has `label`.
Picture surface_picture(std::string name, std::string caption, std::string label, const TriangleMesh& mesh,
                        std::span<const double> values, const FieldView& view = {});

/// The outside of a volume and where it is cut open.
Picture volume_picture(std::string name, std::string caption, std::string label, const TetMesh& mesh,
                       std::span<const double> values, const std::optional<CutPlane>& cut, const FieldView& view = {});

/// A plane of voxels across an axis (0 to 2), seen along it; voxels outside the mask (0; empty: none) are left out.
struct Slice {
  int axis = 2;
  std::uint32_t index = 0;
};
Picture slice_picture(std::string name, std::string caption, std::string label, const ImageGrid& grid,
                      std::span<const double> values, std::span<const std::uint8_t> mask, const Slice& slice,
                      FieldView view = {});

/// Paper 000 Figure 3.3 (a).
Picture two_circles_picture(const TriangleMesh& mesh, const std::vector<double>& times);

}  // namespace isochron::bench
