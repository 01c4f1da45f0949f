#include "apps/isochron/solve_grid.h"

#include "apps/isochron/tensor_input.h"
#include "isochron/mesh/image_mask.h"

namespace isochron::cli {

void leave_out_own_mask(const SolveRequest& request, Image& image, std::vector<std::uint8_t>& mask) {
  const std::string& tensors =
      request.metric.metric_array.empty() ? request.metric.velocity_tensor_array : request.metric.metric_array;
  if (tensors.empty()) return;
  for (std::size_t i = 0; i < image.data.all().size(); ++i)
    if (image.data.all()[i].name == tensors) {
      split_confidence(image, i);
      break;
    }
  apply_own_mask(image, mask);
}

ImageMetric image_metric(const SolveRequest& request, const Image& image, std::vector<std::uint8_t> mask, int threads,
                         std::optional<double> median) {
  ImageMetric problem = metric_from_image(image, request.metric, request.tensors.order, std::move(mask),
                                          request.tensors.axes(), threads, median);
  if (request.unit) problem.metric.change_unit(*request.unit);
  return problem;
}

ImageMetric image_problem(const SolveRequest& request, Image& image, Console& console) {
  std::vector<std::uint8_t> mask = read_mask(request.mask, image.grid, console);
  leave_out_own_mask(request, image, mask);
  ImageMetric problem = image_metric(request, image, std::move(mask), console.threads());
  if (problem.tensors) warn_about_tensors(request.mesh.string(), *problem.tensors, console);
  return problem;
}

}  // namespace isochron::cli
