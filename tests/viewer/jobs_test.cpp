#include "apps/viewer/server/jobs.h"

#include <chrono>
#include <future>
#include <vector>

#include <gtest/gtest.h>

namespace isochron::viewer {
namespace TEST_FILE {

using namespace std::chrono_literals;

/// Work that goes on until it is cancelled, and says when it has begun.
struct Endless {
  std::promise<void> begun;
  void operator()(Job& job) {
    begun.set_value();
    const Progress progress = job.progress();
    while (true) {
      progress.update(0);
      std::this_thread::sleep_for(1ms);
    }
  }
};

/// Work of that key that is under way; `get` waits for its end.
struct Busy {
  Busy(Jobs& jobs, const JobKey& key)
      : done(std::async(std::launch::async, [&jobs, key, this] { jobs.run(key, [&](Job& job) { endless(job); }); })) {
    endless.begun.get_future().wait();
  }
  Endless endless;
  std::future<void> done;
};

TEST(Jobs, PassesOnWhatTheWorkThrows) {
  Jobs jobs;
  int done = 0;
  jobs.run({"a", "solve"}, [&](Job&) { ++done; });
  EXPECT_THROW(jobs.run({"a", "solve"}, [](Job&) { throw InputError("bad"); }), InputError);
  jobs.run({"a", "solve"}, [&](Job&) { ++done; });
  EXPECT_EQ(done, 2);
}

TEST(Jobs, TheLatestRequestStopsTheOneBefore) {
  Jobs jobs;
  Busy first(jobs, {"a", "solve", 1});
  bool done = false;
  jobs.run({"a", "solve", 2}, [&](Job&) { done = true; });
  EXPECT_TRUE(done);
  EXPECT_THROW(first.done.get(), Superseded);
}

TEST(Jobs, AnOlderNumberIsRefusedAtOnce) {
  Jobs jobs;
  jobs.run({"a", "solve", 5}, [](Job&) {});
  bool done = false;
  EXPECT_THROW(jobs.run({"a", "solve", 4}, [&](Job&) { done = true; }), Superseded);
  EXPECT_FALSE(done);
  jobs.run({"b", "solve", 4}, [&](Job&) { done = true; });  // another client counts for itself
  jobs.run({"a", "clip", 1}, [&](Job&) { done = true; });   // and another channel
  EXPECT_TRUE(done);
}

TEST(Jobs, OfManyWaitingOnlyTheLastIsDone) {
  Jobs jobs;
  std::promise<void> begun, go;
  auto busy = std::async(std::launch::async, [&] {
    jobs.run({"other", "solve"}, [&](Job&) {
      begun.set_value();
      go.get_future().wait();
    });
  });
  begun.get_future().wait();
  std::atomic<int> done{0};
  std::vector<std::future<void>> all;
  for (int i = 0; i < 20; ++i) {
    all.push_back(std::async(std::launch::async, [&, i] { jobs.run({"a", "solve", i}, [&](Job&) { ++done; }); }));
  }
  // All but one are answered while the worker is still busy: they do not wait for it.
  const auto answered = [&] {
    int count = 0;
    for (auto& one : all) count += one.wait_for(0s) == std::future_status::ready ? 1 : 0;
    return count;
  };
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (answered() < 19 && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(answered(), 19);
  go.set_value();
  int superseded = 0;
  for (auto& one : all) {
    try {
      one.get();
    } catch (const Superseded&) {
      ++superseded;
    }
  }
  EXPECT_EQ(done, 1);
  EXPECT_EQ(superseded, 19);
}

TEST(Jobs, AClientThatLeavesEndsItsWorkAndNoOther) {
  Jobs jobs;
  Busy first(jobs, {"a", "solve"});
  auto second = std::async(std::launch::async, [&] { jobs.run({"b", "solve"}, [](Job&) {}); });
  EXPECT_EQ(second.wait_for(20ms), std::future_status::timeout);
  jobs.cancel("a");
  EXPECT_THROW(first.done.get(), Superseded);
  EXPECT_NO_THROW(second.get());
}

TEST(Jobs, ThoseThatWaitAreAnsweredWhenTheyAreCancelled) {
  Jobs jobs;
  Busy busy(jobs, {"a", "solve"});
  auto waiting = std::async(std::launch::async, [&] { jobs.run({"b", "solve"}, [](Job&) {}); });
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (waiting.wait_for(1ms) != std::future_status::ready && std::chrono::steady_clock::now() < end) jobs.cancel("b");
  EXPECT_EQ(waiting.wait_for(0s), std::future_status::ready);
  EXPECT_EQ(busy.done.wait_for(0s), std::future_status::timeout);
  jobs.cancel("a");
  EXPECT_THROW(waiting.get(), Superseded);
  EXPECT_THROW(busy.done.get(), Superseded);
}

TEST(Jobs, NumbersOfAClientThatEndsItsWorkAreForgotten) {
  Jobs jobs;
  jobs.run({"a", "solve", 5}, [](Job&) {});
  jobs.run({"ab", "solve", 5}, [](Job&) {});
  jobs.cancel("a");
  EXPECT_NO_THROW(jobs.run({"a", "solve", 1}, [](Job&) {}));
  EXPECT_THROW(jobs.run({"ab", "solve", 1}, [](Job&) {}), Superseded);
}

TEST(Jobs, TooManyWaitingAreRefused) {
  Jobs jobs;
  Busy busy(jobs, {"x", "y"});
  std::vector<std::future<void>> waiting;
  std::atomic<int> refused{0};
  for (std::size_t i = 0; i < Jobs::max_waiting + 3; ++i) {
    waiting.push_back(std::async(std::launch::async, [&] {
      try {
        jobs.run({"a", "b"}, [](Job&) {});
      } catch (const TooBusy&) {
        ++refused;
      }
    }));
  }
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (refused < 3 && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(refused, 3);
  jobs.cancel("x");
  for (auto& one : waiting) one.get();
  EXPECT_THROW(busy.done.get(), Superseded);
}

TEST(Jobs, StoppingEndsEverything) {
  Jobs jobs;
  Busy first(jobs, {"a", "solve"});
  auto second = std::async(std::launch::async, [&] { jobs.run({"b", "solve"}, [](Job&) {}); });
  jobs.stop();
  EXPECT_THROW(first.done.get(), Superseded);
  EXPECT_THROW(second.get(), Superseded);
  EXPECT_THROW(jobs.run({"a", "solve"}, [](Job&) {}), Superseded);
}

TEST(Jobs, AWatchedFlagFollowsTheJob) {
  std::atomic<bool> flag{true};
  Job job("a");
  {
    const Job::Watch watch(job, flag);
    EXPECT_FALSE(flag);
    job.cancel();
    EXPECT_TRUE(flag);
  }
  Job cancelled("a");
  cancelled.cancel();
  flag = false;
  const Job::Watch watch(cancelled, flag);
  EXPECT_TRUE(flag);
}

}  // namespace TEST_FILE
}  // namespace isochron::viewer
