#include "isochron/solve/mpi/wire_solve.h"

namespace isochron::mpi {
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
  numbers.reached = arrival.reached;
  numbers.unreached = arrival.unreached;
  numbers.device_bytes = arrival.device_bytes;
  numbers.counters = arrival.counters;
  numbers.max_time = arrival.max_time;
  numbers.setup_seconds = arrival.setup_seconds;
  numbers.solve_seconds = arrival.solve_seconds;
  numbers.transfer_seconds = arrival.transfer_seconds;
  numbers.has_residual = arrival.residual ? 1 : 0;
  if (arrival.residual) {
    numbers.worst = arrival.residual->worst;
    numbers.limit = arrival.residual->limit;
    numbers.worst_vertex = arrival.residual->worst_vertex.value;
  }
  numbers.converged = arrival.converged ? 1 : 0;
  numbers.threads = static_cast<std::uint32_t>(arrival.threads);
  numbers.method = static_cast<std::uint32_t>(arrival.method);
  numbers.backend = static_cast<std::uint32_t>(arrival.backend);
  numbers.precision = static_cast<std::uint32_t>(arrival.precision);
  put(bytes, numbers);
  put_vector(bytes, arrival.times);
  put_vector(bytes, arrival.source);
  put<std::uint64_t>(bytes, arrival.notes.size());
  for (const std::string& note : arrival.notes) put_text(bytes, note);
}

Arrival take_arrival(Unpack& unpack) {
  const auto numbers = unpack.take<Numbers>();
  Arrival arrival;
  arrival.reached = numbers.reached;
  arrival.unreached = numbers.unreached;
  arrival.device_bytes = numbers.device_bytes;
  arrival.counters = numbers.counters;
  arrival.max_time = numbers.max_time;
  arrival.setup_seconds = numbers.setup_seconds;
  arrival.solve_seconds = numbers.solve_seconds;
  arrival.transfer_seconds = numbers.transfer_seconds;
  if (numbers.has_residual != 0) {
    Residual& residual = arrival.residual.emplace();
    residual.worst = numbers.worst;
    residual.limit = numbers.limit;
    residual.worst_vertex.value = numbers.worst_vertex;
  }
  arrival.converged = numbers.converged != 0;
  arrival.threads = static_cast<int>(numbers.threads);
  arrival.method = static_cast<Method>(numbers.method);
  arrival.backend = static_cast<Backend>(numbers.backend);
  arrival.precision = static_cast<Precision>(numbers.precision);
  arrival.times = unpack.take_vector<double>();
  arrival.source = unpack.take_vector<std::int32_t>();
  const auto notes = unpack.take<std::uint64_t>();
  for (std::uint64_t i = 0; i < notes; ++i) arrival.notes.push_back(take_text(unpack));
  return arrival;
}

}  // namespace isochron::mpi
