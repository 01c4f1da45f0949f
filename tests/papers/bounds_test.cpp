// Schedules of the papers end although their updates never do, or take more rounds than allowed.
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "isochron/papers/fim.h"
#include "isochron/papers/fsm.h"
#include "isochron/papers/methods.h"
#include "solve/samples.h"
#include "support/device_case.h"

namespace isochron::test {
namespace TEST_FILE {

/// Every update is earlier than the one before, as none should be.
struct EndlessRelax {
  using Scalar = double;
  const SimplexProblem<double, 3>& whole;
  double* time;

  [[nodiscard]] const SimplexProblem<double, 3>& problem() const { return whole; }
  [[nodiscard]] PlainTimes<double> times() const { return {time}; }
  double pull(std::uint32_t v, std::uint64_t& solves) const {
    ++solves;
    return time[v] < std::numeric_limits<double>::infinity() ? time[v] - 1 : 0;
  }
};

TEST(Bounds, SchedulesOfThePapersGiveUp) {
  const TriangleMesh mesh = square(3);
  auto problem = prepare_topology<double>(mesh, KeepOrder::yes, 1);
  apply_metric(problem, mesh, Metric::isotropic(1), 1);
  const auto gives_up = [&](const auto& run) {
    SolveState<double> state;
    state.time.assign(mesh.vertex_count(), std::numeric_limits<double>::infinity());
    state.time[0] = 0;
    state.seeds = {0};
    run(EndlessRelax{problem, state.time.data()}, state);
    return !state.converged;
  };
  using Relax = EndlessRelax;
  using State = SolveState<double>;
  EXPECT_TRUE(gives_up([&](const Relax& relax, State& state) { fim(relax, problem, state, 1); }));
  EXPECT_TRUE(
      gives_up([&](const Relax& relax, State& state) { fsm(relax, state, sweep_orders(problem, mesh.points)); }));
  for (const Relabelling mode : {Relabelling::synchronous, Relabelling::asynchronous})
    EXPECT_TRUE(gives_up([&](const Relax& relax, State& state) { relabel(relax, problem, state, mode); }));
}

/// The papers' schedules of meshes on the GPU.
template <class T, int Corners>
std::vector<std::unique_ptr<MeshSchedule<T, Corners>>> device_schedules(const SimplexProblem<T, Corners>& problem,
                                                                        const SimplexMesh<Corners>& mesh,
                                                                        const Metric& metric) {
  std::vector<std::unique_ptr<MeshSchedule<T, Corners>>> schedules;
  SolveOptions options;
  for (const PatchLayout layout : {PatchLayout::one_ring_strip, PatchLayout::cell_assembly}) {
    options.paper.layout = layout;
    schedules.push_back(cuda::make_patch_fim(problem, mesh, metric, options));
  }
  options.paper.subdomains = 7;
  for (const SubdomainBlocks blocks : {SubdomainBlocks::one, SubdomainBlocks::several}) {
    options.paper.subdomain_blocks = blocks;
    schedules.push_back(cuda::make_domain_decomposition(problem, mesh, options));
  }
  schedules.push_back(cuda::make_active_list(problem, mesh, metric, ElementStorage::gray_code));
  return schedules;
}

/// After one round there is work left; without a limit the same schedule comes to its end.
template <class T, int Corners>
void expect_device_schedules_give_up(const SimplexMesh<Corners>& mesh) {
  auto problem = prepare_topology<T, Corners>(mesh, KeepOrder::no, 1);
  const Metric metric = Metric::isotropic(1);
  apply_metric(problem, mesh, metric, 1);
  const auto schedules = device_schedules(problem, mesh, metric);
  for (std::size_t i = 0; i < schedules.size(); ++i)
    for (const std::uint32_t limit : {1U, 0U}) {
      SCOPED_TRACE("schedule " + std::to_string(i) + ", limit " + std::to_string(limit));
      SolveState<T> state;
      state.time.assign(mesh.vertex_count(), std::numeric_limits<T>::infinity());
      state.time[0] = 0;
      state.seeds = {0};
      state.tolerance = T(1e-5);
      state.limit_of_rounds = limit;
      std::vector<std::string> notes;
      schedules[i]->run(state, 1, notes);
      EXPECT_EQ(state.converged, limit == 0);
      EXPECT_TRUE(limit == 0 ? state.counters.rounds > 1 : state.counters.rounds <= 2) << state.counters.rounds;
    }
}

class DeviceBounds : public DeviceCase {};

TEST_F(DeviceBounds, SchedulesOfThePapersGiveUp) {
  expect_device_schedules_give_up<float>(square(41));
  expect_device_schedules_give_up<double>(square(41));
  expect_device_schedules_give_up<float>(cube(12));
  expect_device_schedules_give_up<double>(cube(12));
}

}  // namespace TEST_FILE
}  // namespace isochron::test
