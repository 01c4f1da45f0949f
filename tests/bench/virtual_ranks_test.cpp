#include "bench/paper/virtual_ranks.h"

#include <stdexcept>

#include <gtest/gtest.h>

#include "bench/paper/cases.h"
#include "isochron/comm/collectives.h"
#include "isochron/solve/ranks/partition_by_time.h"
#include "isochron/solve/ranks/rank_seeds.h"

namespace isochron::bench {
namespace TEST_FILE {

TEST(VirtualClocks, CountWorkAndMessages) {
  RankCosts costs;
  costs.look = costs.byte = 0;
  costs.message = 1, costs.latency = 10, costs.reduction = 100;
  std::vector<double> worked(2, 0);
  const auto ends = run_on_virtual_clocks(
      2, costs, [&](int rank) { return worked[static_cast<std::size_t>(rank)]; },
      [&](Communicator& communicator) {
        const int tag = communicator.next_tag();
        if (communicator.rank() == 0) {
          worked[0] = 1000;
          communicator.send(1, tag, Bytes(8));
        } else {
          RankMessage message;
          while (!communicator.receive(tag, message)) communicator.pause();
          EXPECT_EQ(message.rank, 0);
          EXPECT_EQ(message.bytes.size(), 8U);
        }
        (void)agree(communicator, {});
      });
  // 1000 of work, 1 to send, 10 on the way, 1 to take, and a reduction of two ranks.
  EXPECT_EQ(ends, (std::vector<double>{1112, 1112}));
}

TEST(VirtualClocks, EndWhenARankFails) {
  EXPECT_THROW(run_on_virtual_clocks(
                   3, {}, [](int) { return 0.0; },
                   [](Communicator& communicator) {
                     if (communicator.rank() == 1) throw std::logic_error("no more");
                     (void)agree(communicator, {});
                   }),
               std::logic_error);
}

TEST(VirtualSolve, GivesTheSerialTimesAndTheSameCountsEachTime) {
  const Heart heart = bench::heart(6000, 0.6, 0.3, 1);
  const Sources sources = middle_source(heart.mesh);
  SolveOptions options;
  options.backend = Backend::serial;
  const Arrival serial = solve(heart.mesh, heart.metric, sources, options);
  const auto seeds = ranks::whole_seeds(heart.mesh, heart.metric, sources, options);
  const auto rank_of = ranks::partition_by_time(heart.mesh, heart.metric, seeds, 4, 1);
  const VirtualSolve once = virtual_solve(heart.mesh, heart.metric, seeds, rank_of, 4, {});
  for (std::size_t v = 0; v < serial.times.size(); ++v) ASSERT_NEAR(once.times[v], serial.times[v], 1e-4) << v;
  const VirtualSolve again = virtual_solve(heart.mesh, heart.metric, seeds, rank_of, 4, {});
  EXPECT_EQ(once.seconds, again.seconds);
  EXPECT_EQ(once.updates, again.updates);
  EXPECT_EQ(once.traffic.messages, again.traffic.messages);
  EXPECT_GE(once.updates, 1);
  EXPECT_LE(once.busy, 1);
  const VirtualSolve one =
      virtual_solve(heart.mesh, heart.metric, seeds, std::vector<std::uint32_t>(rank_of.size(), 0), 1, {});
  EXPECT_EQ(one.traffic.messages, 0U);
  EXPECT_EQ(one.kept, 1);
  EXPECT_GT(one.seconds, once.seconds);
}

}  // namespace TEST_FILE
}  // namespace isochron::bench
