// What a team of the banded schedule is made of: work stealing, the partition of a band, the queue, the phases.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "isochron/core/parallel.h"
#include "isochron/solve/schedules/banded/band_partition.h"
#include "isochron/solve/schedules/banded/chunk_cursor.h"
#include "isochron/solve/schedules/banded/team_queue.h"
#include "isochron/solve/schedules/banded/thread_team.h"

namespace isochron {
namespace TEST_FILE {

using List = std::vector<std::uint32_t>;
using Kind = PartitionPlan::Kind;

List numbers(std::uint32_t begin, std::uint32_t end) {
  List list(end - begin);
  std::iota(list.begin(), list.end(), begin);
  return list;
}

TEST(ChunkCursor, OwnerTakesFromTheFrontAndThievesFromTheBack) {
  ChunkCursor cursor;
  const auto first = cursor.take(100, ListEnd::front);
  EXPECT_EQ(first.begin, 0U);
  EXPECT_EQ(first.size(), 100U / 8);
  const auto last = cursor.take(100, ListEnd::back);
  EXPECT_EQ(last.end, 100U);
  EXPECT_EQ(last.size(), (100U - first.size()) / 4);
  EXPECT_EQ(cursor.take(100, ListEnd::front).begin, first.end);
  EXPECT_EQ(cursor.take(100, ListEnd::back).end, last.begin);
}

TEST(ChunkCursor, ChunksShrinkToTheirMinimumAndEndWithTheList) {
  ChunkCursor cursor;
  std::vector<std::size_t> sizes;
  for (auto chunk = cursor.take(1003, ListEnd::front); !chunk.empty(); chunk = cursor.take(1003, ListEnd::front))
    sizes.push_back(chunk.size());
  EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}), 1003U);
  EXPECT_EQ(sizes.front(), ChunkCursor::max_chunk);
  EXPECT_TRUE(std::is_sorted(sizes.rbegin(), sizes.rend()));
  EXPECT_GE(sizes[sizes.size() - 2], ChunkCursor::min_chunk);
  EXPECT_FALSE(cursor.has_left(1003));
  EXPECT_TRUE(cursor.has_left(1004));  // where the list has grown
  EXPECT_EQ(cursor.take(1004, ListEnd::front).begin, 1003U);
  cursor.reset();
  EXPECT_EQ(cursor.take(1003, ListEnd::front).begin, 0U);
}

TEST(ChunkCursor, GivesEachEntryOutOnce) {
  constexpr std::size_t size = 20000;
  std::vector<std::atomic<int>> taken(size);
  ChunkCursor cursor;
  parallel_region(4, [&](int thread, int) {
    const ListEnd end = thread == 0 ? ListEnd::front : ListEnd::back;
    for (auto chunk = cursor.take(size, end); !chunk.empty(); chunk = cursor.take(size, end))
      for (std::size_t i = chunk.begin; i < chunk.end; ++i) ++taken[i];
  });
  EXPECT_TRUE(std::all_of(taken.begin(), taken.end(), [](const auto& count) { return count == 1; }));
}

TEST(PartitionBounds, AreInProportionToSpeeds) {
  List samples(1000), bounds;
  for (std::uint32_t i = 0; i < 1000; ++i) samples[i] = (i * 7919) % 1000 + 50;
  partition_bounds(samples, std::vector<double>{1, 1, 1, 1}, bounds);
  EXPECT_EQ(bounds, (List{300, 550, 800}));
  partition_bounds(samples, std::vector<double>{2, 1, 4, 0, 1}, bounds);
  EXPECT_EQ(bounds, (List{300, 425, 925, 925}));
  partition_bounds(samples, std::vector<double>{3, 0}, bounds);
  EXPECT_EQ(bounds, List{1049});
  partition_bounds(samples, std::vector<double>{5}, bounds);
  EXPECT_TRUE(bounds.empty());
}

TEST(PartitionBounds, TakeAnySamples) {
  List few{9, 4}, same(40, 3), bounds;
  partition_bounds(few, std::vector<double>(7, 2.5), bounds);
  EXPECT_EQ(bounds, (List{4, 4, 4, 9, 9, 9}));
  partition_bounds(same, std::vector<double>(3, 1), bounds);
  EXPECT_EQ(bounds, (List{3, 3}));
  List far{0, 0xffffffffU};  // most of them between two that are far apart
  for (std::uint32_t i = 0; i < 98; ++i) far.push_back(1000 + (i * 41) % 98);
  partition_bounds(far, std::vector<double>(4, 1), bounds);
  EXPECT_EQ(bounds, (List{1024, 1049, 1074}));
}

TEST(ThreadSpeeds, AreThoseMeasuredOrTheMean) {
  std::vector<double> speeds;
  thread_speeds(std::vector<ThreadPace>(2), speeds);
  EXPECT_EQ(speeds, (std::vector<double>{1, 1}));
  thread_speeds(std::vector<ThreadPace>{{3e6, 1}, {1e6, 1}, {}}, speeds);
  EXPECT_NEAR(speeds[0], 3e6, 1e4);
  EXPECT_NEAR(speeds[1], 1e6, 1e4);
  EXPECT_NEAR(speeds[2], 2e6, 1e4);
  ThreadPace pace{100, 1};
  pace.add({10, 3}, 0.5);
  EXPECT_DOUBLE_EQ(pace.updates, 60);
  EXPECT_DOUBLE_EQ(pace.seconds, 3.5);
}

TEST(PartitionPlans, KeepSamplesThatFitTheBucket) {
  constexpr std::size_t threads = 4, samples = PartitionPlan::samples_each * threads;
  const PartitionPlan first = PartitionPlan{}.next(threads, 8 * samples, false);
  EXPECT_EQ(first.kind, Kind::fresh_samples);
  EXPECT_EQ(first.stride, 8U);
  EXPECT_EQ(first.next(threads, 9 * samples, true).kind, Kind::kept_samples);
  EXPECT_EQ(first.next(threads, 9 * samples, true).stride, 9U);
  EXPECT_EQ(first.next(threads, 9 * samples, false).kind, Kind::fresh_samples);  // not the bucket of the samples
  EXPECT_EQ(first.next(threads, 32 * samples, true).kind, Kind::fresh_samples);  // too few for it
  EXPECT_EQ(first.next(threads, 2 * samples, true).kind, Kind::fresh_samples);   // too many
  const PartitionPlan small = first.next(threads, PartitionPlan::min_entries * threads - 1, true);
  EXPECT_EQ(small.kind, Kind::none);
  EXPECT_EQ(small.stride, 0U);
  EXPECT_EQ(small.next(threads, 8 * samples, true).kind, Kind::fresh_samples);
}

/// Partitions lists, one a thread, and gives the parts: what each thread keeps and then receives.
std::vector<List> parts_of(BandPartition& partition, std::vector<List> lists, std::size_t stride) {
  ThreadTeam team(1);  // the flags are all set where one thread does all in order
  for (std::size_t k = 0; k < lists.size(); ++k) partition.take_samples(k, lists[k], stride);
  for (std::size_t k = 0; k < lists.size(); ++k) partition.split(k, lists[k]);
  for (std::size_t k = 0; k < lists.size(); ++k)
    for (const std::uint32_t v : partition.gather(k, team, 0)) lists[k].push_back(v);
  return lists;
}

TEST(BandPartition, GivesEachThreadARangeOfVertices) {
  List odd, even;
  for (std::uint32_t v = 0; v < 600; ++v) (v % 2 == 1 ? odd : even).push_back(v);
  BandPartition partition(3);
  std::vector<List> parts = parts_of(partition, {odd, even, {}}, 1);
  std::size_t smallest = 600;
  for (List& part : parts) {
    smallest = std::min(smallest, part.size());
    std::sort(part.begin(), part.end());
  }
  EXPECT_EQ(smallest, 200U);
  EXPECT_EQ(parts[0], numbers(0, 200));
  EXPECT_EQ(parts[1], numbers(200, 400));
  EXPECT_EQ(parts[2], numbers(400, 600));
}

TEST(BandPartition, KeepsTheOrderOfWhatStays) {
  BandPartition partition(2);
  const std::vector<List> parts = parts_of(partition, {{1, 9, 0, 2}, {8, 3, 7, 6}}, 1);
  EXPECT_EQ(parts[0], (List{1, 0, 2, 3}));
  EXPECT_EQ(parts[1], (List{8, 7, 6, 9}));
}

TEST(BandPartition, FollowsTheSpeedsOfThreads) {
  BandPartition partition(2);
  partition.reset(0, {3e6, 1});
  partition.reset(1, {1e6, 1});
  const std::vector<List> parts = parts_of(partition, {numbers(0, 500), numbers(500, 1000)}, 5);
  EXPECT_NEAR(static_cast<double>(parts[0].size()), 750, 10);
  EXPECT_NEAR(static_cast<double>(parts[1].size()), 250, 10);
}

TEST(BandPartition, WithoutSamplesAllStaysWhereItIs) {
  BandPartition partition(2);
  EXPECT_EQ(parts_of(partition, {{5, 1}, {3}}, 0), (std::vector<List>{{5, 1}, {3}}));
  const List many = numbers(0, 8 * PartitionPlan::samples_each * 2);  // too many for a stride of one
  for (std::size_t thread = 0; thread < 2; ++thread) partition.reset(thread, {});
  EXPECT_EQ(parts_of(partition, {many, {}}, 1), (std::vector<List>{many, {}}));
}

TEST(BandPartition, LosesNothingBetweenThreads) {
  ThreadTeam team(4);
  BandPartition partition(team.size());
  std::vector<List> lists(team.size()), received(team.size());
  for (std::uint32_t v = 0; v < 4000; ++v) lists[(v / 7) % lists.size()].push_back(v);
  const auto phase = [&](std::size_t thread) {
    partition.take_samples(thread, lists[thread], 10);
    team.barrier(thread);
    partition.split(thread, lists[thread]);
    for (std::size_t k = 0; k < team.size(); ++k) {  // the next thread's first, as one that steals
      const std::size_t of = (thread + 1 + k) % team.size();
      const auto list = partition.gather(of, team, thread);
      if (of == thread) received[thread].assign(list.begin(), list.end());
    }
    team.barrier(thread);
  };
  team.run(
      [&] {
        team.barrier(0);
        phase(0);
      },
      phase);
  List all;
  for (std::size_t k = 0; k < lists.size(); ++k) {
    all.insert(all.end(), lists[k].begin(), lists[k].end());
    all.insert(all.end(), received[k].begin(), received[k].end());
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, numbers(0, 4000));
}

class TeamQueues : public ::testing::Test {
 protected:
  /// The vertices of a list that its phase would process.
  List waiting(std::span<const std::uint32_t> list, std::uint32_t bucket) const {
    List result;
    queue_.each_waiting(list, bucket, [&](std::uint32_t v) { result.push_back(v); });
    return result;
  }

  TeamQueue<double> queue_{10, band_scale<double>({.width = 1, .buckets = 8}, 1), 2};
};

TEST_F(TeamQueues, NameTheEarliestBucketOfAVertex) {
  queue_.add_first(0, 3, 2.5);
  queue_.add_first(1, 3, 1.5);
  queue_.add_first(1, 3, 1.2);  // the same bucket: no second entry
  EXPECT_EQ(queue_.first_bucket(0, 8), 1U);
  EXPECT_EQ(queue_.entry_count(1), 1U);
  EXPECT_EQ(queue_.entry_count(2), 1U);  // stale
  EXPECT_TRUE(queue_.waits(3));
  EXPECT_TRUE(queue_.claim(3, 1));
  EXPECT_FALSE(queue_.waits(3));
  EXPECT_FALSE(queue_.claim(3, 2));
  EXPECT_TRUE(waiting(queue_.bin(0, 2), 2).empty());
}

TEST_F(TeamQueues, AnEntryIsNotClaimedBeforeItsBucket) {
  queue_.add_first(0, 4, 5.5);
  EXPECT_FALSE(queue_.claim(4, 4));
  EXPECT_TRUE(queue_.waits(4));
  EXPECT_TRUE(queue_.claim(4, 6));  // a later one takes what is left of those before
}

TEST_F(TeamQueues, WhatComesBackIntoItsBucketIsListedForTheNextPhase) {
  const BucketPhase phase{.bucket = 3, .ring_begin = 3, .parity = 1};
  queue_.add(0, 5, 3.5, phase);
  queue_.add(1, 6, 0.5, phase);  // earlier than the bucket
  queue_.add(1, 5, 3.2, phase);  // waits already
  EXPECT_EQ(queue_.repeats(0, 0), List{5});
  EXPECT_EQ(queue_.repeats(1, 0), List{6});
  EXPECT_EQ(queue_.repeat_count(0), 2U);
  EXPECT_EQ(queue_.repeat_count(1), 0U);
  queue_.add(0, 7, 4.5, phase);
  EXPECT_EQ(queue_.bin(0, 4), List{7});
  queue_.add_between(0, 8, 3.5, {.bucket = 3, .ring_begin = 3, .parity = 0});
  EXPECT_EQ(queue_.repeats(0, 0), (List{5, 8}));
}

TEST_F(TeamQueues, ALaterTimeThanTheRingHoldsWaitsInTheLastBucket) {
  queue_.add(0, 1, 100.0, {.bucket = 3, .ring_begin = 3});
  EXPECT_EQ(queue_.first_bucket(4, 11), 10U);
  queue_.add(1, 2, 100.0, {.bucket = 5, .ring_begin = 3, .ahead = true});  // the ring begins before the bucket
  EXPECT_EQ(queue_.bin(1, 10), List{2});
  EXPECT_EQ(queue_.first_bucket(4, 10), TeamQueue<double>::none);
}

TEST_F(TeamQueues, ABucketAheadKeepsItsRepeats) {
  const BucketPhase ahead{.bucket = 5, .ring_begin = 3, .ahead = true};
  queue_.add_first(0, 1, 5.5);
  EXPECT_TRUE(queue_.claim(1, 5));
  queue_.add(1, 1, 5.2, ahead);
  queue_.add_first(0, 2, 3.5);
  queue_.add(1, 2, 5.2, ahead);  // waits in an earlier bucket, which its slot goes on naming
  EXPECT_EQ(queue_.repeat_count(0) + queue_.repeat_count(1), 0U);
  queue_.keep_repeats_ahead(1, ahead);
  EXPECT_EQ(queue_.bin(1, 5), List{1});
  EXPECT_EQ(waiting(queue_.bin(0, 3), 3), List{2});
  EXPECT_EQ(waiting(queue_.bin(1, 5), 5), List{1});
}

TEST_F(TeamQueues, ProcessedListsAreCleared) {
  const BucketPhase phase{.bucket = 2, .ring_begin = 2, .parity = 0};
  queue_.add_first(0, 1, 2.5);
  queue_.add_between(0, 2, 2.5, phase);
  queue_.clear_processed(0, phase, false);
  EXPECT_EQ(queue_.repeat_count(0), 0U);
  EXPECT_EQ(queue_.entry_count(2), 1U);
  queue_.clear_processed(0, phase, true);
  EXPECT_EQ(queue_.entry_count(2), 0U);
}

TEST_F(TeamQueues, OneOfManyThreadsClaimsAVertex) {
  for (int round = 0; round < 200; ++round) {
    queue_.add_first(0, 1, 0.5);
    std::atomic<int> claims = 0;
    parallel_region(4, [&](int, int) { claims += queue_.claim(1, 0) ? 1 : 0; });
    ASSERT_EQ(claims, 1);
  }
}

TEST(ThreadTeams, DoOnePhaseAfterTheOther) {
  ThreadTeam team(3);
  std::atomic<int> done = 0;
  const auto phase = [&](std::size_t thread) {
    ++done;
    team.barrier(thread);
  };
  team.run(
      [&] {
        for (int count = 1; count <= 50; ++count) {
          team.barrier(0);
          phase(0);
          ASSERT_EQ(done, count * static_cast<int>(team.size()));
        }
      },
      phase);
  EXPECT_GE(team.waited_seconds(), 0);
}

TEST(ThreadTeams, RethrowWhatAPhaseHasThrownWhenItHasEnded) {
  ThreadTeam team(2);
  const auto phase = [&](std::size_t thread) {
    team.guarded([&] {
      if (thread + 1 == team.size()) throw std::out_of_range("phase");
    });
    team.barrier(thread);
  };
  bool after = false;
  EXPECT_THROW(team.run(
                   [&] {
                     team.barrier(0);
                     phase(0);
                     team.rethrow_pending();
                     after = true;
                   },
                   phase),
               std::out_of_range);
  EXPECT_FALSE(after);
}

TEST(ThreadTeams, EndWhenTheLeaderThrows) {
  ThreadTeam team(3);
  EXPECT_THROW(team.run([] { throw std::out_of_range("leader"); }, [](std::size_t) {}), std::out_of_range);
}

}  // namespace TEST_FILE
}  // namespace isochron
