// Tests of derivatives that need no second solve.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isochron/adjoint/system.h"
#include "isochron/core/random.h"
#include "isochron/error.h"
#include "isochron/linearization.h"

namespace isochron {
namespace {

double of_size(Random& random, double size) { return random.uniform(-size, size); }
Vec3d of_size(Random& random, const Vec3d& size) {
  return {of_size(random, size.x), of_size(random, size.y), of_size(random, size.z)};
}

/// The larger one; what is no number stays, so that no limit holds for it.
double worse(double a, double b) { return b <= a || std::isnan(a) ? a : b; }

double largest_of(std::span<const double> times) {
  double largest = 0;
  for (const double t : times)
    if (std::isfinite(t)) largest = std::max(largest, std::abs(t));
  return largest;
}

/// Parts of all kinds, of which each changes times by about their own size.
InputValues random_direction(Random& random, const Metric& metric, const InputValues& gradient, double time) {
  InputValues result;
  result.metric.assign(gradient.metric.size(), {});
  double slowness = 0, conducting = 0;
  for (std::size_t e = 0; e < result.metric.size(); ++e) {
    const ElementId id(e);
    if (!usable_on(metric, id)) continue;  // a voxel outside the mask may have anything
    const SymTensor3d m = metric.tensor(id);
    const double size = (m.xx + m.yy + m.zz) / 3;
    const Vec3d diagonal = of_size(random, Vec3d{size, size, size}), beside = of_size(random, Vec3d{size, size, size});
    result.metric[e] = {diagonal.x, beside.x, beside.y, diagonal.y, beside.z, diagonal.z};
    slowness += std::sqrt(size);
    ++conducting;
  }
  const double length = slowness > 0 ? time * conducting / slowness : 1;
  const Vec3d lengths{length, length, length};
  for (std::size_t s = 0; s < gradient.onset.size(); ++s) {
    result.onset.push_back(of_size(random, time));
    result.position.push_back(gradient.position[s] ? std::optional(of_size(random, lengths)) : std::nullopt);
  }
  for (std::size_t v = 0; v < gradient.vertex.size(); ++v) result.vertex.push_back(of_size(random, lengths));
  double steepest = 0;
  for (const double by_value : gradient.level_set) steepest = std::max(steepest, std::abs(by_value));
  for (std::size_t v = 0; v < gradient.level_set.size(); ++v)
    result.level_set.push_back(of_size(random, steepest > 0 ? time / steepest : 1));
  return result;
}

double product(const InputValues& a, const InputValues& b) {
  double sum = 0;
  for (std::size_t e = 0; e < a.metric.size(); ++e) sum += contraction(a.metric[e], b.metric[e]);
  for (std::size_t s = 0; s < a.onset.size(); ++s) {
    sum += a.onset[s] * b.onset[s];
    if (a.position[s] && b.position[s]) sum += dot(*a.position[s], *b.position[s]);
  }
  for (std::size_t v = 0; v < a.vertex.size(); ++v) sum += dot(a.vertex[v], b.vertex[v]);
  for (std::size_t v = 0; v < a.level_set.size(); ++v) sum += a.level_set[v] * b.level_set[v];
  return sum;
}

double transpose_error(const Linearization& linear, std::span<const double> times, const Metric& metric, double largest,
                       Random& random) {
  std::vector<double> cotangent;
  for (const double t : times) cotangent.push_back(std::isfinite(t) ? of_size(random, 1) : 0);
  const InputValues gradient = linear.vjp(cotangent);
  const InputValues direction = random_direction(random, metric, gradient, largest);
  const std::vector<double> change = linear.jvp(direction);
  double forwards = 0, scale = 0;
  for (std::size_t v = 0; v < change.size(); ++v) {
    forwards += cotangent[v] * change[v];
    scale += std::abs(cotangent[v] * change[v]);
  }
  const double error = std::abs(forwards - product(gradient, direction));
  return error == 0 ? 0 : error / scale;
}

}  // namespace

DerivativeCheck Linearization::verify(std::span<const double> times, const Metric& metric, std::uint64_t seed) const {
  const DependenceSystem::Shape& shape = system_->shape();
  const DependenceRows& rows = system_->rows();
  if (times.size() != shape.vertices)
    throw InputError(fmt::format("{} times for derivatives of {} vertices; give the times that were linearised",
                                 times.size(), shape.vertices));
  check_metric_form(metric, shape.elements, Subject::metric);
  const double largest = largest_of(times);
  DerivativeCheck result;
  result.max_misfit = shape.accuracy;
  Random random(seed);
  result.transpose = transpose_error(*this, times, metric, largest, random);

  InputValues slower;  // all slownesses and onsets in proportion
  slower.onset = shape.onset;
  for (std::size_t e = 0; e < shape.elements; ++e)
    slower.metric.push_back(usable_on(metric, ElementId(e)) ? 2.0 * metric.tensor(ElementId(e)) : SymTensor3d{});
  const std::vector<double> added = added_by(slower);
  std::vector<double> values = added;
  system_->solve(values);
  for (std::size_t row = 0; row < shape.user.size(); ++row) {
    if (shape.user[row] == VertexId::invalid_value) continue;
    const double time = times[shape.user[row]];
    result.scaling = worse(result.scaling, std::abs(values[row] - time));
    values[row] = time;  // the values of seeds' rows stay
  }
  for (std::size_t row = 0; row < shape.user.size(); ++row) {
    if (shape.user[row] == VertexId::invalid_value) continue;
    double sum = added[row];
    for (std::size_t k = system_->node_begin(row); k < rows.node_end[row]; ++k)
      sum += rows.weight[k] * values[rows.node[k]];
    result.fixed_point = worse(result.fixed_point, std::abs(values[row] - sum));
  }
  if (largest > 0) result.scaling /= largest, result.fixed_point /= largest;
  return result;
}

}  // namespace isochron
