// Paper 001, "A massively parallel Eikonal solver on unstructured meshes": its OpenMP results.
#include <cmath>

#include <fmt/format.h>

#include "bench/paper/cases.h"
#include "bench/paper/storage.h"
#include "bench/paper/tables.h"
#include "isochron/core/parallel.h"
#include "isochron/core/timer.h"
#include "isochron/mesh/generate/ventricle.h"
#include "isochron/solve/simplex/fim.h"
#include "isochron/solve/simplex/finish.h"

namespace isochron::bench {
namespace {

struct Heart {
  TetMesh mesh;
  Metric metric;
};

/// The ventricle with fibres, 0.6 along and 0.3 mm/ms across, in place of the paper's heart.
Heart heart(std::size_t elements, int threads) {
  VentricleOptions options;
  options.elements = elements;
  options.threads = threads;
  Ventricle ventricle = generate_ventricle(options);
  FiberMetric fibers;
  fibers.fiber = std::move(ventricle.fiber);
  fibers.velocities = {{0.6, 0.3, 0.3}};
  return {std::move(ventricle.mesh), Metric(std::move(fibers))};
}

/// Seconds of FIM over one storage, nothing when the result is not a fixed point of the ordinary update.
template <class Storage>
std::optional<double> time_storage(const SimplexProblem<float, 4>& problem, const Storage& storage,
                                   std::uint32_t source, int threads) {
  SolveState<float> state;
  state.time.assign(problem.vertex_count, std::numeric_limits<float>::infinity());
  state.time[source] = 0;
  state.seeds = {source};
  state.tolerance = 1e-5F;
  const Timer timer;
  fim(StorageRelaxer<Storage, SharedTimes<float>>(problem, storage, {state.time.data()}), problem, state, threads);
  const double seconds = timer.seconds();
  std::vector<std::uint8_t> pinned(problem.vertex_count, 0);
  pinned[source] = 1;
  const Relaxer<float, 4, PlainTimes<float>> check(problem, {state.time.data()});
  // The storages round differently: their results may differ from the check's update by a few 1e-4 of an edge.
  if (!residual_pass(check, pinned, 2e-3, threads).passed()) return std::nullopt;
  return seconds;
}

/// The 6-length storage as a Storage: the problem's own records.
struct SixLengths {
  const SimplexProblem<float, 4>& problem;
  template <class Times>
  float update(std::size_t e, int t, const Times& times) const {
    const auto& r = problem.elements[e];
    const TetView& w = tet_views[t];
    const float ua = times.load(r.vertex(w.a)), ub = times.load(r.vertex(w.b)), uc = times.load(r.vertex(w.c));
    constexpr float inf = std::numeric_limits<float>::infinity();
    if (!(ua < inf) && !(ub < inf) && !(uc < inf)) return inf;
    return detail::tet_update_scaled(ua, ub, uc, lengths_from(r.length, w)).time;
  }
};

}  // namespace

int table_001_5(const BenchOptions& options) {
  const int threads = options.threads > 0 ? options.threads : std::min(8, hardware_threads());
  Report report("001-table-5", fmt::format("Paper 001 Table 5, OpenMP: seconds, {} threads", threads), options);
  const bool full = options.size == BenchSize::paper;
  struct Size {
    std::size_t tets;
    double without, with;
  };
  for (const Size& size : full ? std::vector<Size>{{3073529, 5.66, 3.65}, {24400999, 56.63, 36.43}}
                               : std::vector<Size>{{20000, 5.66, 3.65}}) {
    const Heart h = heart(size.tets, threads);
    const Sources sources = middle_source(h.mesh);
    SimplexProblem<float, 4> problem = prepare_topology<float>(h.mesh, KeepOrder::yes, threads);
    apply_metric(problem, h.mesh, h.metric, threads);
    const std::uint32_t source = problem.internal(sources.vertices[0].vertex);
    const std::string row = fmt::format("{} tets", h.mesh.element_count());
    const auto add = [&](const std::string& column, std::optional<double> paper, std::optional<double> ours,
                         double bytes) {
      report.add({row, column, paper, ours, "s", ours ? fmt::format("{:.0f} bytes per tet", bytes) : failed_check});
    };
    {
      const EighteenProducts storage(problem);
      add("FIM, 18 products", size.without, time_storage(problem, storage, source, threads),
          sizeof(ProductRecord<float>));
    }
    {
      const Coordinates storage(problem, h.mesh, h.metric);
      add("FIM, nothing precomputed", {}, time_storage(problem, storage, source, threads), sizeof(Coordinates::Record));
    }
    add("FIM, 6 lengths", size.with, time_storage(problem, SixLengths{problem}, source, threads),
        sizeof(ElementRecord<float, 4>));
    const Measured ours = measure(h.mesh, h.metric, sources, {"", Method::banded, threads}, options);
    report.add(
        entry_of(row, "banded (ours), 6 lengths", {}, ours, "s", [](const Arrival& a) { return a.solve_seconds; }));
  }
  report.note_on_paper(
      "The paper's two rows are 'without' (18 products) and 'with Gray-code' (6 lengths) on a heart of that size, with "
      "8 "
      "threads on an i7-4700MQ.");
  return report.finish(options);
}

int figure_001_8(const BenchOptions& options) {
  Report report("001-figure-8", "Paper 001 Figure 8: speed-up over threads", options);
  report.note_on_paper("The paper's is nearly linear to 64 threads on a Xeon Phi.");
  const Heart h = heart(options.size == BenchSize::paper ? 3073529 : 20000, hardware_threads());
  report.note(fmt::format("The ventricle has {} tetrahedra.", h.mesh.element_count()));
  const Sources sources = middle_source(h.mesh);
  const int most = options.threads > 0 ? options.threads : hardware_threads();
  for (const Method method : {Method::fim, Method::banded}) {
    double one = 0;
    for (int threads = 1; threads <= most; threads = threads < most ? std::min(2 * threads, most) : most + 1) {
      const Measured m = measure(h.mesh, h.metric, sources, {"", method, threads}, options, 3);
      const std::string row = fmt::format("{}, {} threads", name_of(method), threads);
      report.add(entry_of(row, "seconds", {}, m, "s", [](const Arrival& a) { return a.solve_seconds; }));
      if (!m.valid) continue;
      if (threads == 1) one = m.arrival.solve_seconds;
      else report.add({row, "speed-up", {}, one / m.arrival.solve_seconds, "over one thread", ""});
    }
  }
  return report.finish(options);
}

}  // namespace isochron::bench
