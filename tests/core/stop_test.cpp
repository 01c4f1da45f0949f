#include "isochron/core/stop.h"

#include <gtest/gtest.h>

#include <vector>

namespace isochron {
namespace TEST_FILE {

TEST(Stop, LoopsVisitEveryIndexOnce) {
  const std::atomic<bool> flag{false};
  const StopScope scope(&flag);
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{4096}, std::size_t{100001}}) {
    std::vector<int> visits(count, 0);
    const StoppableLoop loop;
    loop(count / 3, count, [&](std::size_t i) { ++visits[i]; });
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(visits[i], i < count / 3 ? 0 : 1);
    stoppable_for(3, count, [&](std::size_t i) { ++visits[i]; });
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(visits[i], i < count / 3 ? 1 : 2);
  }
}

TEST(Stop, ALoopEndsSoonAfterTheFlagIsSet) {
  std::atomic<bool> flag{false};
  const StopScope scope(&flag);
  std::size_t done = 0;
  const StoppableLoop loop;
  EXPECT_THROW(loop(0, 1000000,
                    [&](std::size_t i) {
                      ++done;
                      if (i == 5000) flag = true;
                    }),
               Cancelled);
  EXPECT_GT(done, 5000U);
  EXPECT_LT(done, 10000U);
}

TEST(Stop, AllThreadsOfATeamLook) {
  std::atomic<bool> flag{false};
  const StopScope scope(&flag);
  std::atomic<std::size_t> done{0};
  EXPECT_THROW(stoppable_for(4, 4000000,
                             [&](std::size_t) {
                               if (++done == 100000) flag = true;
                             }),
               Cancelled);
  EXPECT_LT(done, 100000U + 4 * 8192U);
}

TEST(Stop, WithoutAFlagTheOneAroundStays) {
  const std::atomic<bool> flag{true};
  const auto one = [] { StoppableLoop()(0, 1, [](std::size_t) {}); };
  EXPECT_NO_THROW(one());
  {
    const StopScope outer(&flag);
    const StopScope inner(nullptr);
    EXPECT_THROW(one(), Cancelled);
    const std::atomic<bool> go_on{false};
    const StopScope innermost(&go_on);
    EXPECT_NO_THROW(one());
  }
  EXPECT_NO_THROW(one());
}

}  // namespace TEST_FILE
}  // namespace isochron
