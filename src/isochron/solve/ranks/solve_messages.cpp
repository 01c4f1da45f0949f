#include "isochron/solve/ranks/solve_messages.h"

#include <utility>

namespace isochron::ranks {
namespace {

template <class Object>
void visit_sources(Archive archive, Object& sources) {
  archive(sources.vertices, sources.points, sources.level_set);
}

template <class Object>
void visit_arrival(Archive archive, Object& a) {
  archive(a.times, a.source, a.notes, a.reached, a.unreached, a.device_bytes, a.counters, a.max_time, a.setup_seconds,
          a.solve_seconds, a.transfer_seconds, a.residual, a.converged, a.threads, a.method, a.source_init,
          a.point_sources, a.source_balls, a.backend, a.precision);
}

template <class T>
void append(Array<T>& values, const Array<T>& more) {
  values.insert(values.end(), more.begin(), more.end());
}

}  // namespace

void put_sources(Bytes& bytes, const Sources& sources) { visit_sources(Archive(bytes), sources); }
Sources take_sources(Unpack& unpack) {
  Sources sources;
  visit_sources(Archive(unpack), sources);
  return sources;
}

void put_arrival(Bytes& bytes, const Arrival& arrival) { visit_arrival(Archive(bytes), arrival); }
Arrival take_arrival(Unpack& unpack) {
  Arrival arrival;
  visit_arrival(Archive(unpack), arrival);
  return arrival;
}

void put_metric(Bytes& bytes, const Metric& metric) {
  put<std::uint64_t>(bytes, metric.kind().index());
  if (const auto* uniform = std::get_if<UniformMetric>(&metric.kind())) put(bytes, uniform->tensor);
  if (const auto* speeds = std::get_if<SpeedMetric>(&metric.kind())) put_vector(bytes, speeds->speed);
  if (const auto* tensors = std::get_if<TensorMetric>(&metric.kind())) put_vector(bytes, tensors->tensor);
  if (const auto* fibers = std::get_if<FiberMetric>(&metric.kind())) {
    put_vector(bytes, fibers->fiber);
    put_vector(bytes, fibers->sheet);
    put_vector(bytes, fibers->region);
    put_vector(bytes, fibers->velocities);
  }
}

Metric take_metric(Unpack& unpack) {
  switch (unpack.take<std::uint64_t>()) {
    case 1: return Metric(SpeedMetric{unpack.take_vector<double>()});
    case 2: return Metric(TensorMetric{unpack.take_vector<SymTensor3f>()});
    case 3: {
      FiberMetric fibers;
      fibers.fiber = unpack.take_vector<Vec3f>();
      fibers.sheet = unpack.take_vector<Vec3f>();
      fibers.region = unpack.take_vector<std::uint16_t>();
      fibers.velocities = unpack.take_vector<Velocities>();
      return Metric(std::move(fibers));
    }
    default: return Metric(UniformMetric{unpack.take<SymTensor3d>()});
  }
}

Metric joined(std::span<const Metric> parts) {
  if (parts.empty()) return {};
  if (std::holds_alternative<SpeedMetric>(parts[0].kind())) {
    SpeedMetric all;
    for (const Metric& part : parts) append(all.speed, std::get<SpeedMetric>(part.kind()).speed);
    return Metric(std::move(all));
  }
  if (std::holds_alternative<TensorMetric>(parts[0].kind())) {
    TensorMetric all;
    for (const Metric& part : parts) append(all.tensor, std::get<TensorMetric>(part.kind()).tensor);
    return Metric(std::move(all));
  }
  if (const auto* first = std::get_if<FiberMetric>(&parts[0].kind())) {
    FiberMetric all;
    all.velocities = first->velocities;
    for (const Metric& part : parts) {
      const auto& fibers = std::get<FiberMetric>(part.kind());
      append(all.fiber, fibers.fiber);
      append(all.sheet, fibers.sheet);
      append(all.region, fibers.region);
    }
    return Metric(std::move(all));
  }
  return parts[0];
}

}  // namespace isochron::ranks
