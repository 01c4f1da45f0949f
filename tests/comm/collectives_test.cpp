#include "isochron/comm/collectives.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <string>

#include <gtest/gtest.h>

#include "isochron/core/random.h"
#include "support/delayed_messages.h"

namespace isochron::test {
namespace TEST_FILE {

TEST(Collectives, GivesEveryMessageToItsRank) {
  for (const int ranks : {1, 2, 5, 8})
    run_delayed(ranks, {.looks = 4}, [&](Communicator& communicator) {
      const std::size_t me = communicator.index(), all = communicator.ranks();
      for (std::size_t round = 0; round < 3; ++round) {
        std::vector<std::vector<std::uint64_t>> lists(all);
        for (std::size_t r = 0; r < all; ++r) lists[r].assign((me + r + round) % 3, 100 * me + r);  // some are empty
        const auto received = exchange_values(communicator, lists);
        for (std::size_t r = 0; r < all; ++r)
          EXPECT_EQ(received[r], std::vector<std::uint64_t>((me + r + round) % 3, 100 * r + me));
      }
      std::vector<std::uint64_t> numbers{me, 1, 0};
      sum_over_ranks(communicator, numbers);
      EXPECT_EQ(numbers, (std::vector<std::uint64_t>{all * (all - 1) / 2, all, 0}));
      std::vector<double> reals{static_cast<double>(me), -static_cast<double>(me)};
      max_over_ranks(communicator, reals);
      EXPECT_EQ(reals, (std::vector<double>{static_cast<double>(all) - 1, 0}));
    });
}

TEST(MedianOfAll, IsThatOfAllNumbers) {
  for (const std::size_t count : {1U, 2U, 7U, 500U}) {
    Random random(count);
    std::vector<double> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(std::exp(20 * random.uniform() - 10));
    if (count > 5) all[3] = all[4] = all[5];
    std::vector<double> sorted = all;
    std::sort(sorted.begin(), sorted.end());
    run_on_threads(3, [&](Communicator& communicator) {
      std::vector<double> own;
      for (std::size_t i = communicator.index(); i < count; i += 3) own.push_back(all[i]);
      EXPECT_EQ(median_of_all(communicator, own), sorted[count / 2]);
    });
  }
  run_on_threads(2, [&](Communicator& communicator) { EXPECT_FALSE(median_of_all(communicator, {})); });
}

TEST(Agreement, AllThrowWhatTheFirstThatFailsThrows) {
  std::vector<std::string> said(4);
  std::vector<ErrorKind> kind(4, ErrorKind::cancelled);
  std::vector<int> together(4, 0);
  run_on_threads(4, [&](Communicator& communicator) {
    const std::size_t rank = communicator.index();
    all_or_none(communicator, [] {});
    try {
      all_or_none(communicator, [&] {
        if (rank == 2) throw InputError("two");
        if (rank == 3) throw RuntimeError("three");
      });
    } catch (const Error& error) {
      said[rank] = error.what();
      kind[rank] = error.kind();
      together[rank] = dynamic_cast<const ThrownTogether*>(&error) != nullptr ? 1 : 0;
    }
  });
  EXPECT_EQ(said, std::vector<std::string>(4, "two"));
  EXPECT_EQ(kind, std::vector<ErrorKind>(4, ErrorKind::input));
  EXPECT_EQ(together, std::vector<int>(4, 1));
}

TEST(Agreement, KeepsTheKindOfError) {
  const auto thrown = [](auto error) {
    std::optional<ErrorKind> kind;
    run_on_threads(2, [&](Communicator& communicator) {
      try {
        all_or_none(communicator, [&] {
          if (communicator.index() == 1) throw error;
        });
      } catch (const Error& got) {
        if (communicator.index() == 0) kind = got.kind();
      }
    });
    return kind;
  };
  EXPECT_EQ(thrown(UsageError("a")), ErrorKind::usage);
  EXPECT_EQ(thrown(NoAnswerError("a")), ErrorKind::no_answer);
  EXPECT_EQ(thrown(DeviceError("a")), ErrorKind::device);
  EXPECT_EQ(thrown(Cancelled()), ErrorKind::cancelled);
  EXPECT_EQ(thrown(std::bad_alloc()), ErrorKind::runtime);
  EXPECT_EQ(thrown(std::runtime_error("a")), ErrorKind::runtime);
}

TEST(ThreadsCommunicator, StopsRanksThatWaitForOneThatFailed) {
  const auto fail = [](Communicator& communicator) {
    if (communicator.rank() == 1) throw InputError("one");
    (void)all_values(communicator, 0);
  };
  EXPECT_THROW(run_on_threads(3, fail), InputError);
}

TEST(ThreadsCommunicator, SplitsByMembership) {
  run_delayed(5, {.looks = 3}, [](Communicator& communicator) {
    const bool odd = communicator.rank() % 2 == 1;
    const std::unique_ptr<Communicator> part = communicator.split(odd);
    ASSERT_EQ(part != nullptr, odd);
    if (odd) {
      EXPECT_EQ(all_values(*part, communicator.rank()), (std::vector<int>{1, 3}));
    }
    EXPECT_EQ(sum_before(communicator, 2), 2 * communicator.index());
  });
}

TEST(SelfCommunicator, IsAllRanks) {
  SelfCommunicator self;
  EXPECT_EQ(self.size(), 1);
  EXPECT_EQ(sum_of_all(self, 7), 7U);
  const std::vector<std::vector<int>> lists{{1, 2}};
  EXPECT_EQ(exchange_values(self, lists), lists);
  self.send(0, 5, Bytes(3));
  RankMessage message;
  EXPECT_FALSE(self.receive(4, message));
  EXPECT_TRUE(self.receive(5, message));
  EXPECT_EQ(message.bytes.size(), 3U);
  EXPECT_EQ(self.split(true)->size(), 1);
  EXPECT_EQ(self.split(false), nullptr);
  EXPECT_THROW(all_or_none(self, [] { throw UsageError("alone"); }), UsageError);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
