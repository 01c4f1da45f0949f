#include "isochron/solve/ranks/packing.h"

#include <utility>

namespace isochron::ranks {
namespace {

/// Everything of an arrival that is a plain number. No gaps: it travels as bytes.
struct Numbers {
  std::uint64_t reached, unreached, device_bytes;
  Counters counters;
  double max_time, setup_seconds, solve_seconds, transfer_seconds;
  double worst, limit;
  std::uint32_t worst_vertex, has_residual;
  std::uint32_t converged, threads;
  std::uint32_t method, backend, precision, unused;
};

/// Between an arrival and its numbers, either way.
template <class From, class To>
void copy_plain(const From& from, To& to) {
  to.reached = from.reached;
  to.unreached = from.unreached;
  to.device_bytes = from.device_bytes;
  to.counters = from.counters;
  to.max_time = from.max_time;
  to.setup_seconds = from.setup_seconds;
  to.solve_seconds = from.solve_seconds;
  to.transfer_seconds = from.transfer_seconds;
  to.converged = from.converged != 0;
  to.threads = static_cast<decltype(to.threads)>(from.threads);
  to.method = static_cast<decltype(to.method)>(from.method);
  to.backend = static_cast<decltype(to.backend)>(from.backend);
  to.precision = static_cast<decltype(to.precision)>(from.precision);
}

template <class T>
void append(Array<T>& values, const Array<T>& more) {
  values.insert(values.end(), more.begin(), more.end());
}

}  // namespace

void put_text(Bytes& bytes, const std::string& text) { put_vector(bytes, text); }
std::string take_text(Unpack& unpack) {
  const auto text = unpack.take_vector<char>();
  return {text.begin(), text.end()};
}

void put_sources(Bytes& bytes, const Sources& sources) {
  put<std::uint64_t>(bytes, sources.vertices.size());
  for (const VertexSource& source : sources.vertices) {
    put<std::uint64_t>(bytes, source.vertex.value);
    put(bytes, source.time);
  }
  put_vector(bytes, sources.points);
  put_vector(bytes, sources.level_set);
}

Sources take_sources(Unpack& unpack) {
  Sources sources;
  const auto count = unpack.take<std::uint64_t>();
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto vertex = unpack.take<std::uint64_t>();
    sources.vertices.push_back({VertexId(static_cast<std::size_t>(vertex)), unpack.take<double>()});
  }
  sources.points = unpack.take_vector<PointSource>();
  sources.level_set = unpack.take_vector<double>();
  return sources;
}

void put_arrival(Bytes& bytes, const Arrival& arrival) {
  Numbers numbers{};
  copy_plain(arrival, numbers);
  numbers.has_residual = arrival.residual ? 1 : 0;
  if (arrival.residual) {
    numbers.worst = arrival.residual->worst;
    numbers.limit = arrival.residual->limit;
    numbers.worst_vertex = arrival.residual->worst_vertex.value;
  }
  put(bytes, numbers);
  put_vector(bytes, arrival.times);
  put_vector(bytes, arrival.source);
  put<std::uint64_t>(bytes, arrival.notes.size());
  for (const std::string& note : arrival.notes) put_text(bytes, note);
}

Arrival take_arrival(Unpack& unpack) {
  const auto numbers = unpack.take<Numbers>();
  Arrival arrival;
  copy_plain(numbers, arrival);
  if (numbers.has_residual != 0) {
    Residual& residual = arrival.residual.emplace();
    residual.worst = numbers.worst;
    residual.limit = numbers.limit;
    residual.worst_vertex.value = numbers.worst_vertex;
  }
  arrival.times = unpack.take_vector<double>();
  arrival.source = unpack.take_vector<std::int32_t>();
  const auto notes = unpack.take<std::uint64_t>();
  for (std::uint64_t i = 0; i < notes; ++i) arrival.notes.push_back(take_text(unpack));
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
