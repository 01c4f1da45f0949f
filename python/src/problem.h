// A mesh or grid and the metric on it, as handles that Python keeps.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "isochron/arrival.h"
#include "isochron/image.h"
#include "isochron/mesh.h"
#include "isochron/metric.h"
#include "isochron/options.h"
#include "isochron/sources.h"
#include "python/src/arrays.h"
#include "python/src/errors.h"

namespace isochron::python {

/// Where a front can run. Of a grid, `mask` is empty (everywhere) or has a value per voxel. Immutable once made.
struct Shape {
  std::variant<TriangleMesh, TetMesh, ImageGrid> of;
  Array<std::uint8_t> mask;
  Conversions converted;
  CallerWords words;  ///< those of the grid

  [[nodiscard]] std::size_t vertex_count() const;
  [[nodiscard]] std::size_t element_count() const;
  [[nodiscard]] bool is_grid() const { return std::holds_alternative<ImageGrid>(of); }
  /// The words of a caller who gave the metric by that argument.
  [[nodiscard]] CallerWords words_with(const std::string& metric_argument) const {
    return {metric_argument, words.dimensions, words.last_axis_fastest};
  }
};

/// A shape with the metric on it.
struct Problem {
  std::shared_ptr<const Shape> shape;
  Metric metric;
  std::string metric_argument;     ///< the name of what it was given by
  Conversions converted;           ///< those of the metric
  std::vector<std::string> notes;  ///< what the user of the times should know of it

  [[nodiscard]] CallerWords words() const { return shape->words_with(metric_argument); }
};

Backend backend_named(const std::string& name);

/// `Arrival.stats`: what a solve says of itself.
py::dict stats_of(const Arrival& arrival, std::size_t vertices, std::size_t elements);

}  // namespace isochron::python
