#include "isochron/core/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace isochron {
namespace TEST_FILE {

TEST(Parallel, ForVisitsEveryIndexOnce) {
  for (const int threads : {1, 2, 3})
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{5000}, std::size_t{100001}}) {
      std::vector<int> visits(count, 0);
      parallel_for(threads, count, [&](std::size_t i) { ++visits[i]; });
      for (const int n : visits) ASSERT_EQ(n, 1);
    }
}

TEST(Parallel, ChunksAreContiguousAndCoverTheRange) {
  std::atomic<std::size_t> total = 0;
  parallel_chunks(4, 50000, [&](std::size_t begin, std::size_t end) {
    EXPECT_LE(begin, end);
    total += end - begin;
  });
  EXPECT_EQ(total, 50000U);
}

TEST(Parallel, TasksRunOnceAndTheFirstErrorIsRethrown) {
  for (const int threads : {1, 2, 3}) {
    std::vector<std::atomic<int>> runs(1000);
    parallel_tasks(threads, runs.size(), [&](std::size_t i) { ++runs[i]; });
    for (const auto& n : runs) ASSERT_EQ(n, 1);
    parallel_tasks(threads, 0, [](std::size_t) { FAIL(); });
    try {
      parallel_tasks(threads, runs.size(), [](std::size_t i) {
        if (i >= 400) throw std::runtime_error(std::to_string(i));
      });
      FAIL() << "no error";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "400");
    }
  }
}

TEST(Parallel, FindsTheFirst) {
  for (const int threads : {1, 2, 3}) {
    EXPECT_EQ(parallel_find(threads, 100'000, [](std::size_t i) { return i % 30'000 == 29'999; }), 29'999U);
    EXPECT_EQ(parallel_find(threads, 100'000, [](std::size_t i) { return i == 99'999; }), 99'999U);
    EXPECT_EQ(parallel_find(threads, 100'000, [](std::size_t) { return false; }), 100'000U);
    EXPECT_EQ(parallel_find(threads, 0, [](std::size_t) { return true; }), 0U);
  }
}

TEST(Parallel, RegionRunsEachThreadOnce) {
  std::vector<int> runs(3, 0);
  int team_size = 0;
  parallel_region(3, [&](int thread, int team) {
    ++runs[thread];
    if (thread == 0) team_size = team;
  });
  for (int thread = 0; thread < team_size; ++thread) EXPECT_EQ(runs[thread], 1);
}

TEST(Parallel, ExceptionsComeBackToTheCaller) {
  for (const int threads : {1, 2})
    EXPECT_THROW(parallel_for(threads, 100000,
                              [](std::size_t i) {
                                if (i == 77777) throw std::runtime_error("stop");
                              }),
                 std::runtime_error);
}

TEST(SpinBarrier, NobodyPassesBeforeTheLastOne) {
  // In every other round one comes so late that the others have gone to sleep.
  constexpr int threads = 6, rounds = 24;
  SpinBarrier barrier(threads);
  std::atomic<int> arrived = 0, early = 0;
  std::vector<std::thread> team;
  team.reserve(threads);
  for (int thread = 0; thread < threads; ++thread)
    team.emplace_back([&, thread] {
      for (int round = 0; round < rounds; ++round) {
        if (round % 2 == 0 && round / 2 % threads == thread) std::this_thread::sleep_for(std::chrono::milliseconds(20));
        ++arrived;
        barrier.arrive_and_wait();
        if (arrived < threads * (round + 1)) ++early;
      }
    });
  for (std::thread& thread : team) thread.join();
  EXPECT_EQ(arrived, threads * rounds);
  EXPECT_EQ(early, 0);
}

}  // namespace TEST_FILE
}  // namespace isochron
