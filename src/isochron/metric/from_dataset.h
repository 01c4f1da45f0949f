// The metric that named arrays of a data set describe.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isochron/mesh/dataset.h"
#include "isochron/mesh/tensor_order.h"
#include "isochron/metric/diffusion.h"
#include "isochron/metric/metric.h"
#include "isochron/metric/velocity_table.h"

namespace isochron {

enum class ZeroFibers {
  refuse,    ///< throw InputError
  isotropic  ///< such an element conducts at the transverse (sheet) velocity in every direction
};

/// What the metric is made of: one of speed, speed array, metric array, velocity tensor array, fibres, or a velocity
/// table alone. Nothing at all is speed 1.
struct MetricRequest {
  std::optional<double> speed{};
  std::string speed_array{};
  std::string metric_array{};           ///< M
  std::string velocity_tensor_array{};  ///< D = M⁻¹
  std::string fiber_array{};
  std::string sheet_array{};               ///< with fibres
  std::optional<Velocities> velocities{};  ///< with fibres, everywhere; without sheets `normal` is not used
  std::vector<RegionVelocities> table{};   ///< per region instead; without fibres its rows must be isotropic
  std::string region_array{};              ///< of the table; empty: the first of region, gmsh:physical, medit:ref
  TensorOrder tensor_order = TensorOrder::vtk;
  ZeroFibers zero_fibers = ZeroFibers::refuse;
  double eigenvalue_floor = default_eigenvalue_floor;  ///< of tensors of images: `metric_from_image`
};

/// Builds the metric for `cells`, to which the cell arrays of the data set's block belong. Arrays on the cells come
/// before arrays of the same name on the points, which are averaged over each cell's corners. Throws UsageError when
/// the request contradicts itself, and InputError when an array is missing (with the names there are), has the wrong
/// number of components or values that cannot be used (with their count and the first cell).
template <int Corners>
Metric metric_from_dataset(std::span<const std::array<VertexId, Corners>> cells, const Dataset& dataset,
                           const MetricRequest& request);

/// The same for a mesh that was taken out of the data set.
template <int Corners>
Metric metric_from_dataset(const SimplexMesh<Corners>& mesh, const Dataset& dataset, const MetricRequest& request) {
  return metric_from_dataset<Corners>(std::span<const std::array<VertexId, Corners>>(mesh.elements), dataset, request);
}
/// The same for the cells that are in the data set.
template <int Corners>
Metric metric_from_dataset(const Dataset& dataset, const MetricRequest& request) {
  return metric_from_dataset<Corners>(std::span<const std::array<VertexId, Corners>>(dataset.block<Corners>().cells),
                                      dataset, request);
}

}  // namespace isochron
