// A mesh or grid and the metric on it, as handles that Python keeps.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "isochron/mesh/image.h"
#include "isochron/mesh/simplex_mesh.h"
#include "isochron/metric/metric.h"
#include "isochron/solve/sources.h"
#include "python/src/arrays.h"

namespace isochron::python {

/// Where a front can run. Of a grid, `mask` is empty (everywhere) or has a value per voxel. Immutable once made.
struct Shape {
  std::variant<TriangleMesh, TetMesh, ImageGrid> of;
  Array<std::uint8_t> mask;
  Conversions converted;

  [[nodiscard]] std::size_t vertex_count() const;
  [[nodiscard]] std::size_t element_count() const;
  [[nodiscard]] bool is_grid() const { return std::holds_alternative<ImageGrid>(of); }
};

/// A shape with the metric on it.
struct Problem {
  std::shared_ptr<const Shape> shape;
  Metric metric;
  Conversions converted;           ///< those of the metric
  std::vector<std::string> notes;  ///< what the user of the times should know of it
};

}  // namespace isochron::python
