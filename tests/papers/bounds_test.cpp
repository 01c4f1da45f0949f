// Schedules of the papers end although their updates never do.
#include <limits>

#include <gtest/gtest.h>

#include "isochron/papers/fim.h"
#include "isochron/papers/fsm.h"
#include "solve/samples.h"

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

}  // namespace TEST_FILE
}  // namespace isochron::test
