#include "isochron/core/parallel_in_order.h"

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace isochron {
namespace TEST_FILE {

using Stop = std::atomic<bool>;

/// Some results take longer than others, so that they are ready out of order.
void dawdle(std::size_t i) {
  if (i % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
}

TEST(ParallelInOrder, EveryResultComesOnceAndInOrderOnTheCallersThread) {
  for (const int threads : {1, 2, 5})
    for (const std::size_t count : {0U, 1U, 2U, 7U, 100U}) {
      const auto caller = std::this_thread::get_id();
      std::size_t next = 0;
      parallel_in_order<std::string>(
          threads, count,
          [](std::size_t i, const Stop&) {
            dawdle(i);
            return std::to_string(i);
          },
          [&](std::size_t i, std::string&& result) {
            EXPECT_EQ(i, next++);
            EXPECT_EQ(result, std::to_string(i));
            EXPECT_EQ(std::this_thread::get_id(), caller);
          });
      EXPECT_EQ(next, count);
    }
}

TEST(ParallelInOrder, FewResultsWait) {
  std::atomic<int> alive = 0, most = 0;
  parallel_in_order<int>(
      3, 60,
      [&](std::size_t, const Stop&) {
        const int now = ++alive;
        int known = most;
        while (known < now && !most.compare_exchange_weak(known, now)) {
        }
        return 0;
      },
      [&](std::size_t i, int&&) {
        if (i % 10 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        --alive;
      });
  EXPECT_LE(most, 7);  // six being made or waiting, and the one that is taken
}

TEST(ParallelInOrder, TheFirstErrorInOrderIsThrownAfterEarlierResults) {
  for (const int threads : {1, 4}) {
    std::size_t taken = 0;
    try {
      parallel_in_order<int>(
          threads, 50,
          [](std::size_t i, const Stop&) {
            dawdle(i);
            if (i >= 20) throw std::out_of_range("bad " + std::to_string(i));
            return 0;
          },
          [&](std::size_t, int&&) { ++taken; });
      FAIL() << "nothing was thrown";
    } catch (const std::out_of_range& error) {
      EXPECT_STREQ(error.what(), "bad 20");
    }
    EXPECT_EQ(taken, 20U);
  }
}

TEST(ParallelInOrder, WhatTakeThrowsStopsTheOthersAndComesBackUnchanged) {
  for (const int threads : {1, 4}) {
    std::atomic<int> working = 0;
    try {
      parallel_in_order<int>(
          threads, 1000,
          [&](std::size_t i, const Stop& stop) {
            ++working;
            if (i > 10) {  // ends only when told to
              while (!stop) std::this_thread::yield();
              --working;
              throw std::runtime_error("stopped");
            }
            --working;
            return 0;
          },
          [](std::size_t i, int&&) {
            if (i == 1) throw 42;
          });
      FAIL() << "nothing was thrown";
    } catch (const int thrown) {
      EXPECT_EQ(thrown, 42);
    }
    EXPECT_EQ(working, 0);
  }
}

}  // namespace TEST_FILE
}  // namespace isochron
