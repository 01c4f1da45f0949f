#include "isochron/metric.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "isochron/core/parallel.h"
#include "isochron/core/stop.h"
#include "isochron/error.h"

namespace isochron {
namespace {

constexpr Velocities standstill{0, 0, 0};

bool usable(const Velocities& v) {
  if (v == standstill) return true;
  return v.fiber > 0 && v.sheet > 0 && v.normal > 0 && std::isfinite(v.fiber + v.sheet + v.normal);
}

/// In the direction of the largest speed.
double slowness_of(const SymTensor3d& m) { return std::sqrt(std::max(0.0, eigen_system(m).values[2])); }

Place element_place(std::size_t e) { return {Place::Kind::element, {static_cast<double>(e)}}; }

/// Sizes, rows and velocities; whatever would make `fiber_tensor` read out of bounds or give nonsense everywhere.
void check_fibers(const FiberMetric& fibers, const Message& what) {
  const std::size_t count = fibers.fiber.size();
  if (!fibers.sheet.empty() && fibers.sheet.size() != count)
    throw InputError(what + fmt::format(" has sheets that do not fit (sheets: {}, fibres: {}); give one per element",
                                        fibers.sheet.size(), count));
  if (!fibers.region.empty() && fibers.region.size() != count)
    throw InputError(what + fmt::format(" has regions that do not fit (regions: {}, fibres: {}); give one per element",
                                        fibers.region.size(), count));
  if (fibers.velocities.empty()) throw InputError(what + " has no velocities; give at least one row");
  for (std::size_t e = 0; e < fibers.region.size(); ++e)
    if (fibers.region[e] >= fibers.velocities.size())
      throw InputError(what + ": " + element_place(e) +
                       " is in a region without velocities; add it to the velocity table");
  for (const Velocities& v : fibers.velocities)
    if (!usable(v))
      throw InputError(
          what + fmt::format(": velocities {}, {}, {} cannot be used (each must be positive and finite, or all are 0 "
                             "where nothing conducts); give others",
                             v.fiber, v.sheet, v.normal));
}

}  // namespace

SymTensor3d Metric::varying_tensor(ElementId e) const {
  const std::size_t i = e.index();
  switch (kind_.index()) {
    case 1: return speed_tensor(std::get<SpeedMetric>(kind_).speed[i]);
    case 2: return widened(std::get<TensorMetric>(kind_).tensor[i]);
    default: {
      const auto& fibers = std::get<FiberMetric>(kind_);
      return fiber_tensor(fibers.velocities[fibers.region.empty() ? 0 : fibers.region[i]], fibers.fiber[i],
                          fibers.sheet.empty() ? nullptr : &fibers.sheet[i]);
    }
  }
}

void Metric::change_unit(double length) {
  if (auto* uniform = std::get_if<UniformMetric>(&kind_)) uniform->tensor = length * length * uniform->tensor;
  if (auto* speeds = std::get_if<SpeedMetric>(&kind_))
    for (double& f : speeds->speed) f /= length;
  if (auto* tensors = std::get_if<TensorMetric>(&kind_))
    for (SymTensor3f& m : tensors->tensor) m = static_cast<float>(length * length) * m;
  if (auto* fibers = std::get_if<FiberMetric>(&kind_))
    for (Velocities& v : fibers->velocities) v = {v.fiber / length, v.sheet / length, v.normal / length};
}

Metric Metric::of(std::span<const ElementId> elements) const {
  const auto pick = [&](const auto& values) {
    std::decay_t<decltype(values)> some;
    if (values.empty()) return some;
    some.reserve(elements.size());
    for (const ElementId e : elements) some.push_back(values[e.index()]);
    return some;
  };
  if (const auto* speeds = std::get_if<SpeedMetric>(&kind_)) return Metric(SpeedMetric{pick(speeds->speed)});
  if (const auto* tensors = std::get_if<TensorMetric>(&kind_)) return Metric(TensorMetric{pick(tensors->tensor)});
  if (const auto* fibers = std::get_if<FiberMetric>(&kind_))
    return Metric(FiberMetric{pick(fibers->fiber), pick(fibers->sheet), pick(fibers->region), fibers->velocities});
  return *this;
}

std::size_t Metric::element_count() const {
  switch (kind_.index()) {
    case 1: return std::get<SpeedMetric>(kind_).speed.size();
    case 2: return std::get<TensorMetric>(kind_).tensor.size();
    case 3: return std::get<FiberMetric>(kind_).fiber.size();
    default: return 0;
  }
}

std::size_t Metric::bytes_per_element() const {
  if (std::holds_alternative<SpeedMetric>(kind_)) return sizeof(double);
  if (std::holds_alternative<TensorMetric>(kind_)) return sizeof(SymTensor3f);
  const auto* fibers = std::get_if<FiberMetric>(&kind_);
  if (fibers == nullptr) return 0;
  return sizeof(Vec3f) + (fibers->sheet.empty() ? 0 : sizeof(Vec3f)) +
         (fibers->region.empty() ? 0 : sizeof(std::uint16_t));
}

bool Metric::conducts(ElementId e) const {
  const std::size_t i = e.index();
  switch (kind_.index()) {
    case 1: return std::get<SpeedMetric>(kind_).speed[i] != 0;
    case 2: {
      const SymTensor3f& m = std::get<TensorMetric>(kind_).tensor[i];
      return !std::isinf(m.xx) || !std::isinf(m.yy) || !std::isinf(m.zz);
    }
    case 3: {
      const auto& fibers = std::get<FiberMetric>(kind_);
      return fibers.velocities[fibers.region.empty() ? 0 : fibers.region[i]] != standstill;
    }
    default: return true;
  }
}

bool Metric::conducts_everywhere(int threads) const {
  if (const auto* fibers = std::get_if<FiberMetric>(&kind_))
    return std::find(fibers->velocities.begin(), fibers->velocities.end(), standstill) == fibers->velocities.end();
  std::atomic<bool> everywhere = true;
  parallel_chunks(threads, element_count(), [&](std::size_t begin, std::size_t end) {
    bool here = true;
    for (std::size_t e = begin; e < end; ++e) here = conducts(ElementId(e)) && here;
    if (!here) everywhere = false;
  });
  return everywhere;
}

bool Metric::isotropic() const {
  if (kind_.index() == 1) return true;
  if (kind_.index() != 0) return false;
  const SymTensor3d& m = std::get<UniformMetric>(kind_).tensor;
  return m == SymTensor3d::identity(m.xx);
}

bool usable_on(const Metric& metric, ElementId element) {
  const std::size_t e = element.index();
  if (const auto* speeds = std::get_if<SpeedMetric>(&metric.kind())) {
    const double speed = speeds->speed[e], square = speed * speed;
    return speed > 0 && square > 1e-307 && square < 1e307;  // its inverse is a number too
  }
  if (const auto* fibers = std::get_if<FiberMetric>(&metric.kind()))
    if (!is_finite(fibers->fiber[e]) || (!fibers->sheet.empty() && !is_finite(fibers->sheet[e]))) return false;
  return positive_definite(metric.tensor(element));
}

std::vector<ElementId> differing_elements(const Metric& before, const Metric& after, std::size_t element_count,
                                          int threads) {
  const auto* old_speeds = std::get_if<SpeedMetric>(&before.kind());
  const auto* new_speeds = std::get_if<SpeedMetric>(&after.kind());
  const auto differs = [&](std::size_t i) {
    if (old_speeds != nullptr && new_speeds != nullptr) return old_speeds->speed[i] != new_speeds->speed[i];
    return before.tensor(ElementId(i)) != after.tensor(ElementId(i));
  };
  std::vector<std::vector<ElementId>> parts(static_cast<std::size_t>(std::max(1, threads)));
  const StoppableLoop loop;
  parallel_region(threads, [&](int thread, int team) {
    loop(element_count * thread / team, element_count * (thread + 1) / team, [&](std::size_t i) {
      if (differs(i)) parts[thread].emplace_back(i);
    });
  });
  for (std::size_t k = 1; k < parts.size(); ++k) parts[0].insert(parts[0].end(), parts[k].begin(), parts[k].end());
  return std::move(parts[0]);
}

double least_slowness(const Metric& metric, const std::vector<ElementId>* some) {
  if (const auto* uniform = std::get_if<UniformMetric>(&metric.kind())) return slowness_of(uniform->tensor);
  if (const auto* fibers = std::get_if<FiberMetric>(&metric.kind())) {
    double fastest = 0;
    for (const Velocities& v : fibers->velocities) fastest = std::max({fastest, v.fiber, v.sheet, v.normal});
    return fastest > 0 ? 1 / fastest : 0;
  }
  const std::size_t count = some != nullptr ? some->size() : metric.element_count();
  double least = std::numeric_limits<double>::infinity();
  const StoppableLoop loop;
  loop(0, count, [&](std::size_t i) {
    const ElementId e = some != nullptr ? (*some)[i] : ElementId(i);
    if (!metric.conducts(e)) return;
    if (const auto* speeds = std::get_if<SpeedMetric>(&metric.kind()))
      least = std::min(least, 1 / speeds->speed[e.index()]);
    else least = std::min(least, slowness_of(metric.tensor(e)));
  });
  return std::isfinite(least) ? least : 0;
}

const char* fault_of(const Metric& metric) {
  if (std::holds_alternative<SpeedMetric>(metric.kind()))
    return "not a positive finite number, or too large or too small a one";
  if (std::holds_alternative<FiberMetric>(metric.kind()))
    return "not finite, or its sheets or velocities cannot be used";
  return "not a positive definite tensor, or too large or too small a one";
}

void check_metric_form(const Metric& metric, std::size_t element_count, const Message& what) {
  const std::size_t have = metric.element_count();
  if (std::holds_alternative<UniformMetric>(metric.kind())) {
    if (!usable_on(metric, ElementId(0)))
      throw InputError(what + fmt::format(" is {} (times cannot be computed from it); give another", fault_of(metric)));
  } else if (have != element_count) {
    throw InputError(what + fmt::format(" does not fit the mesh (values: {}, elements: {}); give one per element", have,
                                        element_count));
  }
  if (const auto* fibers = std::get_if<FiberMetric>(&metric.kind())) check_fibers(*fibers, what);
}

namespace {

/// Throws InputError unless `right` holds on all elements.
template <class Right>
void check_elements(const Metric& metric, const Message& what, int threads, const Right& right) {
  const std::size_t to_check = metric.element_count();
  const Faults bad = count_faults(threads, to_check, [&](std::size_t e) { return !right(ElementId(e)); });
  if (bad.count == 0) return;
  const bool tensors = std::holds_alternative<TensorMetric>(metric.kind());
  throw InputError(what + fmt::format(" is {} on {} of {} elements (first: ", fault_of(metric), bad.count, to_check) +
                   element_place(bad.first) + "); " +
                   (tensors ? "repair the tensors or their component order" : "repair the array or choose another"));
}

}  // namespace

void check_metric(const Metric& metric, std::size_t element_count, const Message& what, int threads) {
  check_metric_form(metric, element_count, what);
  check_elements(metric, what, threads, [&](ElementId e) { return usable_on(metric, e); });
}

std::optional<std::vector<ElementId>> conducting_elements(const Metric& metric, std::size_t element_count,
                                                          const Message& what, int threads) {
  check_metric_form(metric, element_count, what);
  check_elements(metric, what, threads, [&](ElementId e) { return !metric.conducts(e) || usable_on(metric, e); });
  if (metric.conducts_everywhere(threads)) return std::nullopt;
  std::vector<ElementId> kept;
  for (std::size_t e = 0; e < element_count; ++e)
    if (metric.conducts(ElementId(e))) kept.emplace_back(e);
  if (kept.size() == element_count) return std::nullopt;
  return kept;
}

}  // namespace isochron
