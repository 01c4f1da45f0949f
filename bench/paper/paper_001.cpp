// Paper 001, "A massively parallel Eikonal solver on unstructured meshes".
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "bench/paper/cases.h"
#include "bench/paper/tables.h"
#include "isochron/core/parallel.h"
#include "isochron/core/timer.h"
#include "isochron/papers/fim.h"
#include "isochron/solve/common/limits.h"
#include "isochron/solve/simplex/coordinates.h"
#include "isochron/solve/simplex/finish.h"
#include "isochron/solve/simplex/pull_candidate.h"
#include "isochron/solve/simplex/relax.h"

namespace isochron::bench {
namespace {

// Section 3: the three ways to keep an element's geometry, as relax steps that only pull (what FIM needs).

/// 18 inner products an element: the six squared lengths and, for each corner, the three products of its edges.
struct EighteenProducts {
  std::vector<ProductRecord<float>> records;

  explicit EighteenProducts(const SimplexProblem<float, 4>& problem) {
    records.reserve(problem.elements.size());
    for (const auto& element : problem.elements) records.push_back(with_products(element));
  }

  template <class Times>
  float update(std::size_t e, int t, const Times& times) const {
    return candidate(records[e], t, times);
  }
};

/// Nothing precomputed: coordinates and M are read and the lengths formed at each update.
struct Coordinates {
  CoordinateStorage<float> storage;

  Coordinates(const SimplexProblem<float, 4>& problem, const TetMesh& mesh, const Metric& metric)
      : storage(coordinates_of(problem, mesh, metric)) {}

  template <class Times>
  float update(std::size_t e, int t, const Times& times) const {
    return candidate(storage.records[e], storage.points.data(), t, times);
  }
};

/// Pulls through a storage; everything else is the problem's.
template <class Storage, class Times>
class StorageRelaxer {
 public:
  using Scalar = float;
  StorageRelaxer(const SimplexProblem<float, 4>& problem, const Storage& storage, Times times)
      : problem_(problem), storage_(storage), times_(times) {}
  [[nodiscard]] const SimplexProblem<float, 4>& problem() const { return problem_; }
  [[nodiscard]] const Times& times() const { return times_; }
  float pull(std::uint32_t v, std::uint64_t& solves) const {
    float best = std::numeric_limits<float>::infinity();
    for (const std::uint32_t incidence : problem_.adjacency.at(VertexId(v))) {
      best = std::min(best, storage_.update(incidence >> 2, Adjacency::corner_of(incidence), times_));
      ++solves;
    }
    return best;
  }

 private:
  const SimplexProblem<float, 4>& problem_;
  const Storage& storage_;
  Times times_;
};

/// The ventricle with fibres, 0.6 along and 0.3 mm/ms across.
Heart paper_heart(std::size_t elements, int threads) { return heart(elements, 0.6, 0.3, threads); }

constexpr std::size_t coarse_tets = 3073529, fine_tets = 24400999, quick_tets = 20000;

/// FIM over one storage: its seconds, and how far the times are from a fixed point, in local edge travel times.
struct StorageRun {
  double seconds = 0;
  Residual own;       ///< by the storage's own update
  Residual ordinary;  ///< by the update from six lengths, which rounds differently

  [[nodiscard]] bool passed() const { return own.passed() && ordinary.passed(); }
};

template <class Storage>
StorageRun run_storage(const SimplexProblem<float, 4>& problem, const Storage& storage, std::uint32_t source,
                       int threads) {
  SolveState<float> state;
  state.time.assign(problem.vertex_count, std::numeric_limits<float>::infinity());
  state.time[source] = 0;
  state.seeds = {source};
  state.tolerance = static_cast<float>(default_tolerance(true));
  const SharedTimes<float> times{state.time.data()};
  const StorageRelaxer<Storage, SharedTimes<float>> relax(problem, storage, times);
  StorageRun result;
  const Timer timer;
  fim(relax, problem, state, threads);
  result.seconds = timer.seconds();
  std::vector<std::uint8_t> pinned(problem.vertex_count, 0);
  pinned[source] = 1;
  const double limit = residual_tolerances * default_tolerance(true);
  result.own = residual_pass(relax, pinned, {{source, 0.0F}}, limit, threads);
  const Relaxer<float, 4, PlainTimes<float>> check(problem, {state.time.data()});
  result.ordinary = residual_pass(check, pinned, {{source, 0.0F}}, limit, threads);
  return result;
}

/// The 6-length storage: the problem's own records.
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

/// Table 5's two sizes of the heart, with its seconds without and with the Gray code.
struct HeartSize {
  std::size_t tets;
  std::optional<double> without, with;          ///< OpenMP
  std::optional<double> gpu_without, gpu_with;  ///< CUDA
};

/// The three storages on the CPU. "Without Gray code" is the paper's old code: by its sections 3.1 and 7.1 it kept
/// coordinates and M, and formed the products at each update. The 18 products are its section 3.2.
void add_storages(Report& report, const std::string& row, const Heart& h, const Sources& sources, const HeartSize& size,
                  int threads) {
  SimplexProblem<float, 4> problem = prepare_topology<float>(h.mesh, KeepOrder::yes, threads);
  apply_metric(problem, h.mesh, h.metric, threads);
  const std::uint32_t source = problem.internal(sources.vertices[0].vertex.in_whole());
  const auto add = [&](const std::string& column, std::optional<double> paper, const StorageRun& run, double bytes) {
    const std::string remark = fmt::format(
        "{:.0f} bytes per tet; residual {:.1e} edges by its own update, {:.1e} by 6 "
        "lengths in the element's record",
        bytes, run.own.worst, run.ordinary.worst);
    report.add({row, column, paper, run.passed() ? std::optional(run.seconds) : std::nullopt, "s",
                Remark(run.passed() ? remark : failed_check.text + "; " + remark, !run.passed())});
  };
  {
    const Coordinates storage(problem, h.mesh, h.metric);
    add("FIM, coordinates and M", size.without, run_storage(problem, storage, source, threads),
        sizeof(MetricRecord<float>));
  }
  {
    const EighteenProducts storage(problem);
    add("FIM, 18 products", {}, run_storage(problem, storage, source, threads), sizeof(ProductRecord<float>));
  }
  add("FIM, 6 lengths", size.with, run_storage(problem, SixLengths{problem}, source, threads),
      sizeof(ElementRecord<float, 4>));
}

}  // namespace

bool table_001_5(const BenchOptions& options) {
  const int threads = options.threads > 0 ? options.threads : std::min(8, hardware_threads());
  Report report("001-table-5", fmt::format("Paper 001 Table 5: seconds, {} threads and the GPU", threads), options);
  const bool full = options.size == BenchSize::paper;
  for (const HeartSize& size :
       full ? std::vector<HeartSize>{{coarse_tets, 5.66, 3.65, 1.49, 0.73}, {fine_tets, 56.63, 36.43, 11.48, 5.16}}
            : std::vector<HeartSize>{{quick_tets, {}, {}, {}, {}}}) {
    const Heart h = paper_heart(size.tets, threads);
    const Sources sources = middle_source(h.mesh);
    const std::string row = fmt::format("{} tets", h.mesh.element_count());
    if (options.columns == BenchColumns::all) add_storages(report, row, h, sources, size, threads);
    const auto add_solver = [&](const MethodCase& method, std::optional<double> paper) {
      Measured m = measure(h.mesh, h.metric, sources, method, options);
      if (m.arrival.residual) {
        const std::string residual =
            fmt::format("residual {:.1e} by 6 lengths in the element's record", m.arrival.residual->worst);
        m.remark += m.valid ? residual : "; " + residual;
      }
      report.add(entry_of(row, method.name, paper, m, "s", seconds));
    };
    add_solver({"banded (ours), 6 lengths", Method::banded, threads}, {});
    add_solver(gpu_active_list("active list, GPU, coordinates and M", ElementStorage::coordinates), size.gpu_without);
    add_solver(gpu_active_list("active list, GPU, 18 products", ElementStorage::products), {});
    add_solver(gpu_active_list("active list, GPU, 6 lengths", ElementStorage::gray_code), size.gpu_with);
    add_solver(gpu_push(), {});
  }
  report.note_on_paper(
      "The paper's two rows are 'without' and 'with Gray-code' on a heart of that size, with 8 threads on an "
      "i7-4700MQ, and on a GTX 1080. 'With' is 6 lengths; 'without' is its old code, which kept coordinates and M (its "
      "sections 3.1 and 7.1). Its 18 products (section 3.2) have no row there.");
  report.note(
      "Single precision rounds coordinates and products where the lengths are formed from them: the times of each "
      "storage are checked by the update from 6 lengths too, to the same limit of 1e-4 edges.");
  note_gpu(report);
  return report.finish(options);
}

namespace {

struct SubdomainRow {
  int subdomains;
  std::optional<double> first, second;  ///< the paper's two schemes
};

/// Tables 6 and 7: seconds over the number of subdomains.
bool subdomain_table(Report report, std::size_t tets, const std::vector<SubdomainRow>& rows,
                     const BenchOptions& options) {
  note_gpu(report);
  report.note(
      "Each subdomain has copies of its vertices' times. First: one pass over all lists a round, then all copies of a "
      "vertex agree; the paper's blocks keep the data of their elements in shared memory, here the threads of a vertex "
      "exchange what they found through registers. Second: a block solves a subdomain to its end, with times and lists "
      "in shared memory; the paper "
      "leaves open in which order, here vertices that fell go on in the order of their times.");
  std::optional<Heart> h;
  Sources sources;
  if (has_gpu()) {
    h = paper_heart(tets, options.threads);
    sources = middle_source(h->mesh);
    report.note(fmt::format("The ventricle has {} tetrahedra.", h->mesh.element_count()));
  }
  const auto add = [&](const std::string& row, const MethodCase& method, std::optional<double> paper) {
    const Measured m = h ? measure(h->mesh, h->metric, sources, method, options) : without_gpu();
    report.add(entry_of(row, method.name, paper, m, "s", seconds));
  };
  for (const SubdomainRow& row : rows) {
    const std::string name = fmt::format("{} subdomains", row.subdomains);
    add(name, gpu_subdomains("first: several blocks each", SubdomainBlocks::several, row.subdomains), row.first);
    add(name, gpu_subdomains("second: one block each", SubdomainBlocks::one, row.subdomains), row.second);
  }
  add("whole", gpu_push(), {});
  return report.finish(options);
}

const std::vector<SubdomainRow> quick_subdomains{{4, {}, {}}, {8, {}, {}}};

}  // namespace

bool table_001_6(const BenchOptions& options) {
  const bool full = options.size == BenchSize::paper;
  return subdomain_table(
      {"001-table-6", "Paper 001 Table 6: seconds, GPU, coarse heart in subdomains", options},
      full ? coarse_tets : quick_tets,
      full ? std::vector<SubdomainRow>{{74, 0.48, 0.69}, {160, 0.52, 0.60}, {320, 0.58, 0.51}} : quick_subdomains,
      options);
}

bool table_001_7(const BenchOptions& options) {
  const bool full = options.size == BenchSize::paper;
  return subdomain_table(
      {"001-table-7", "Paper 001 Table 7: seconds, GPU, fine heart in subdomains", options},
      full ? fine_tets : quick_tets,
      full ? std::vector<SubdomainRow>{{2700, 5.96, 6.89}, {3000, 6.40, 7.55}, {4000, 7.55, 9.46}, {8000, 14.00, 14.74}}
           : quick_subdomains,
      options);
}

bool figure_001_8(const BenchOptions& options) {
  Report report("001-figure-8", "Paper 001 Figure 8: speed-up over threads", options);
  report.note_on_paper("The paper's is nearly linear to 64 threads on a Xeon Phi.");
  const Heart h = paper_heart(options.size == BenchSize::paper ? coarse_tets : quick_tets, hardware_threads());
  report.note(fmt::format("The ventricle has {} tetrahedra.", h.mesh.element_count()));
  const Sources sources = middle_source(h.mesh);
  report.plot({{"threads"}, {"speed-up"}, "over one thread", "linear"});
  const int most = options.threads > 0 ? options.threads : hardware_threads();
  for (const Method method : {Method::fim, Method::banded}) {
    double one = 0;
    for (int threads = 1; threads <= most; threads = threads < most ? std::min(2 * threads, most) : most + 1) {
      const Measured m = measure(h.mesh, h.metric, sources, {"", method, threads}, options, 3);
      const std::string row = fmt::format("{}, {} thread{}", name_of(method), threads, threads == 1 ? "" : "s");
      report.at(threads, std::string(name_of(method)));
      report.add(entry_of(row, "seconds", {}, m, "s", seconds));
      if (!m.valid) continue;
      if (threads == 1) one = m.arrival.solve_seconds;
      report.add({row, "speed-up", {}, one / m.arrival.solve_seconds, "over one thread", ""});
    }
  }
  return report.finish(options);
}

}  // namespace isochron::bench
