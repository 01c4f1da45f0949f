// From the metric to what it is made of.
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "isochron/core/sandwich.h"
#include "isochron/error.h"
#include "isochron/linearization.h"

namespace isochron {
namespace {

void check_sizes(std::string_view what, std::size_t given, std::size_t elements) {
  if (given != elements) throw InputError(fmt::format("{} has {} values for {} elements", what, given, elements));
}

double trace(const SymTensor3d& m) { return m.xx + m.yy + m.zz; }

Vec3d widened(const Vec3f& v) { return {v.x, v.y, v.z}; }

/// M of an element with fibres as a sum of three tensors, one for each velocity: M = Σ part / velocity². See
/// `fiber_tensor`.
struct FiberParts {
  SymTensor3d fiber, sheet, normal;
  Vec3d f{}, s{};     ///< unit vectors; 0 where there is none
  double length = 0;  ///< of the fibre as given
  double across = 0;  ///< of the sheet as given, across the fibre
  Vec3d sheet_given{};
};

FiberParts parts_of(const FiberMetric& metric, std::size_t e) {
  FiberParts parts;
  const SymTensor3d all = SymTensor3d::identity();
  const Vec3d fiber = widened(metric.fiber[e]);
  parts.length = norm(fiber);
  if (!(parts.length > 0)) {
    parts.sheet = all;
    return parts;
  }
  parts.f = fiber / parts.length;
  parts.fiber = SymTensor3d::outer(parts.f);
  if (!metric.sheet.empty()) {
    parts.sheet_given = widened(metric.sheet[e]);
    const Vec3d s = parts.sheet_given - dot(parts.sheet_given, parts.f) * parts.f;
    const double across = norm(s);
    if (across > 1e-4 * norm(parts.sheet_given)) {
      parts.across = across;
      parts.s = s / across;
      parts.sheet = SymTensor3d::outer(parts.s);
      parts.normal = all - parts.fiber - parts.sheet;
      return parts;
    }
  }
  parts.sheet = all - parts.fiber;
  return parts;
}

void check_fibers(const FiberMetric& metric, std::size_t elements) {
  check_sizes("the fibres", metric.fiber.size(), elements);
  if (!metric.sheet.empty()) check_sizes("the sheets", metric.sheet.size(), elements);
  if (!metric.region.empty()) check_sizes("the regions", metric.region.size(), elements);
  for (std::size_t e = 0; e < metric.region.size(); ++e)
    if (metric.region[e] >= metric.velocities.size())
      throw InputError(fmt::format("region {} of element {} has no velocities", metric.region[e], e));
}

std::size_t region_of(const FiberMetric& metric, std::size_t e) { return metric.region.empty() ? 0 : metric.region[e]; }

double slowness_change(double velocity) { return -2 / (velocity * velocity * velocity); }
double squared_slowness(double velocity) { return 1 / (velocity * velocity); }

}  // namespace

std::vector<double> gradient_by_speed(std::span<const SymTensor3d> gradient, std::span<const double> speed) {
  check_sizes("the speed", speed.size(), gradient.size());
  std::vector<double> result(speed.size(), 0.0);
  for (std::size_t e = 0; e < speed.size(); ++e)
    if (speed[e] > 0) result[e] = slowness_change(speed[e]) * trace(gradient[e]);
  return result;
}

std::vector<SymTensor3d> metric_change_of_speed(std::span<const double> speed, std::span<const double> change) {
  check_sizes("the change of the speed", change.size(), speed.size());
  std::vector<SymTensor3d> result(speed.size());
  for (std::size_t e = 0; e < speed.size(); ++e)
    if (speed[e] > 0) result[e] = SymTensor3d::identity(slowness_change(speed[e]) * change[e]);
  return result;
}

std::vector<SymTensor3d> gradient_by_velocity_tensor(std::span<const SymTensor3d> gradient, const Metric& metric) {
  if (metric.element_count() > 0) check_sizes("the gradient", gradient.size(), metric.element_count());
  std::vector<SymTensor3d> result(gradient.size());
  for (std::size_t e = 0; e < gradient.size(); ++e)
    if (metric.conducts(ElementId(e))) result[e] = -1.0 * sandwich(metric.tensor(ElementId(e)), gradient[e]);
  return result;
}

std::vector<SymTensor3d> metric_change_of_velocity_tensor(const Metric& metric, std::span<const SymTensor3d> change) {
  return gradient_by_velocity_tensor(change, metric);  // dM = −M dD M, and so is its transpose
}

std::vector<Velocities> gradient_by_velocities(std::span<const SymTensor3d> gradient, const FiberMetric& metric) {
  check_fibers(metric, gradient.size());
  std::vector<Velocities> result(metric.velocities.size(), Velocities{0, 0, 0});
  for (std::size_t e = 0; e < gradient.size(); ++e) {
    const std::size_t region = region_of(metric, e);
    const Velocities& v = metric.velocities[region];
    if (!(v.fiber > 0)) continue;
    const FiberParts parts = parts_of(metric, e);
    result[region].fiber += slowness_change(v.fiber) * contraction(gradient[e], parts.fiber);
    result[region].sheet += slowness_change(v.sheet) * contraction(gradient[e], parts.sheet);
    result[region].normal += slowness_change(v.normal) * contraction(gradient[e], parts.normal);
  }
  return result;
}

std::vector<SymTensor3d> metric_change_of_velocities(const FiberMetric& metric, std::size_t element_count,
                                                     std::span<const Velocities> change) {
  check_fibers(metric, element_count);
  if (change.size() != metric.velocities.size())
    throw InputError(fmt::format("the change of the velocities has {} rows for {} regions", change.size(),
                                 metric.velocities.size()));
  std::vector<SymTensor3d> result(element_count);
  for (std::size_t e = 0; e < element_count; ++e) {
    const std::size_t region = region_of(metric, e);
    const Velocities &v = metric.velocities[region], &dv = change[region];
    if (!(v.fiber > 0)) continue;
    const FiberParts parts = parts_of(metric, e);
    result[e] = slowness_change(v.fiber) * dv.fiber * parts.fiber + slowness_change(v.sheet) * dv.sheet * parts.sheet +
                slowness_change(v.normal) * dv.normal * parts.normal;
  }
  return result;
}

std::vector<Vec3d> gradient_by_fibers(std::span<const SymTensor3d> gradient, const FiberMetric& metric) {
  check_fibers(metric, gradient.size());
  std::vector<Vec3d> result(gradient.size());
  for (std::size_t e = 0; e < gradient.size(); ++e) {
    const Velocities& v = metric.velocities[region_of(metric, e)];
    const FiberParts parts = parts_of(metric, e);
    if (!(parts.length > 0) || !(v.fiber > 0)) continue;
    const bool sheets = parts.across > 0;
    const double rest = squared_slowness(sheets ? v.normal : v.sheet);
    Vec3d by_unit = 2 * (squared_slowness(v.fiber) - rest) * (gradient[e] * parts.f);
    if (sheets) {  // the sheet turns with the fibre: it is what is given, made orthogonal
      const Vec3d by_sheet = 2 * (squared_slowness(v.sheet) - rest) * (gradient[e] * parts.s);
      const Vec3d r = (by_sheet - dot(parts.s, by_sheet) * parts.s) / parts.across;
      by_unit = by_unit - dot(parts.f, r) * parts.sheet_given - dot(parts.sheet_given, parts.f) * r;
    }
    result[e] = (by_unit - dot(parts.f, by_unit) * parts.f) / parts.length;
  }
  return result;
}

}  // namespace isochron
