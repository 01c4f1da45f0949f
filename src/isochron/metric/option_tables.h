// The options of metrics that are made of arrays or of diffusion tensors, and the names of their choices; see
// core/option_table.h.
#pragma once

#include <array>

#include "isochron/core/option_table.h"
#include "isochron/dataset.h"
#include "isochron/diffusion.h"
#include "isochron/image.h"
#include "isochron/metric_arrays.h"

namespace isochron {

constexpr auto choices_of(TensorOrder) {
  return std::array{Choice{"row", TensorOrder::row}, Choice{"vtk", TensorOrder::vtk},
                    Choice{"mrtrix", TensorOrder::mrtrix}, Choice{"lower", TensorOrder::lower}};
}
constexpr auto choices_of(TensorFrame) {
  return std::array{Choice{"world", TensorFrame::world}, Choice{"voxel", TensorFrame::voxel},
                    Choice{"fsl", TensorFrame::fsl}};
}
constexpr auto choices_of(DiffusionMetricKind) {
  return std::array{Choice{"sharpened", DiffusionMetricKind::sharpened},
                    Choice{"inverse", DiffusionMetricKind::inverse}, Choice{"adjugate", DiffusionMetricKind::adjugate}};
}
constexpr auto choices_of(TensorFitMethod) {
  return std::array{Choice{"wls", TensorFitMethod::wls}, Choice{"ols", TensorFitMethod::ols}};
}

/// One speed for all directions, or tensors.
template <class Visit>
void each_speed_option(MetricRequest& request, Visit&& visit) {
  visit({"speed", "S", "The same everywhere"}, request.speed);
  visit({"speed_array", "NAME", "Per cell, or per point (averaged)"}, request.speed_array);
  visit({"metric_array", "NAME", "Travel-time tensors M, 6 or 9 components"}, request.metric_array);
  visit({"velocity_tensor_array", "NAME", "Velocity tensors D = M⁻¹"}, request.velocity_tensor_array);
}

/// Speeds that differ along and across fibres, everywhere or by region.
template <class Visit>
void each_fiber_option(MetricRequest& request, Visit&& visit) {
  visit({"fibers", "NAME", "Fibre directions"}, request.fiber_array);
  visit({"sheets", "NAME", "Sheet directions, with <fibers>"}, request.sheet_array);
  visit({"velocity", "L,T[,N]", "Along the fibres, across (and normal to the sheets)"}, request.velocities);
  visit({"velocity_table", "ROWS|FILE", "Per region: '1:0.6,0.3;2:0.2,0.1', or a file of such rows"}, request.table);
  visit({"region_array", "NAME", "Regions of cells (region, gmsh:physical or medit:ref)"}, request.region_array);
  visit({"exclude_region", "IDS", "Regions that do not conduct: 13,20-25"}, request.excluded_regions);
}

/// What paths through diffusion tensors cost.
template <class Visit>
void each_option(DiffusionMetricOptions& options, Visit&& visit) {
  visit({"metric", "NAME", "sharpened (default), inverse or adjugate"}, options.kind);
  visit({"alpha", "A", "How much the sharpened metric prefers the fibres ({})"}, options.alpha);
  visit({"eigenvalue_floor", "SHARE", "Eigenvalues below this share of the median diffusivity are raised to it ({})"},
        options.floor);
}

}  // namespace isochron
