// The banded schedule on many threads: all threads push from the vertices of one bucket at a time.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "isochron/solve/schedules/banded/band_partition.h"
#include "isochron/solve/schedules/banded/banded.h"
#include "isochron/solve/schedules/banded/chunk_cursor.h"
#include "isochron/solve/schedules/banded/team_queue.h"
#include "isochron/solve/schedules/banded/thread_team.h"

namespace isochron {

/// For teams whose caller does not need to know which vertices are processed.
struct NoObserver {
  void operator()(int, std::uint32_t) const {}
};

/// One solve shared by a team. A phase is one pass over all threads' lists of one bucket: a thread begins with its own
/// and then steals from the others. What is queued for the same bucket meanwhile goes with the next phase, unless its
/// thread has time for it before the others are done. The leader decides between two phases which bucket comes next.
///
/// `Observer` is called with the thread and the vertex before that vertex is pushed from.
template <class Relax, class Observer = NoObserver>
class BandedTeam {
  using T = typename Relax::Scalar;

 public:
  static constexpr std::uint32_t none = TeamQueue<T>::none;
  /// Vertices for each thread that are worth a phase of their own; fewer wait for the next bucket.
  static constexpr std::size_t worth_a_phase = 32;

  BandedTeam(const Relax& relax, SolveState<T>& state, BandTuning tuning, int threads, Observer observer = {},
             std::size_t worth = worth_a_phase)
      : relax_(relax),
        state_(state),
        observer_(observer),
        horizon_(tuning.horizon),
        team_(threads),
        queue_(relax.problem().vertex_count, band_scale(tuning, relax.problem().mean_edge), team_.size()),
        partition_(team_.size()),
        workers_(team_.size()),
        min_repeats_(worth * team_.size()) {
    std::size_t next = 0;
    for (const std::uint32_t v : state.seeds) queue_.add_first(next++ % team_.size(), v, state.time[v]);
  }

  /// Runs to the fixed point, or gives up (`SolveState::gives_up_after`), and adds to the state's counters.
  void run() {
    lead([&] {
      for (std::uint32_t bucket = next_bucket(); bucket != none; bucket = next_bucket()) {
        if (state_.gives_up_after(counters().vertex_updates)) return;
        if (state_.progress.cancelled()) throw Cancelled();
        process(bucket);
        report();
      }
    });
    const Counters done = counters();
    state_.counters.local_solves += done.local_solves;
    state_.counters.vertex_updates += done.vertex_updates;
    state_.counters.rounds += done.rounds;
    if (state_.progress.report) state_.progress.report(1.0);
  }

  /// Calls `work` on the calling thread, which leads the others until it returns. The functions below may be called by
  /// `work` only.
  template <class Work>
  void lead(Work&& work) {
    team_.run(work, [&](std::size_t thread) {
      const Phase phase = phase_;
      take_part(thread, phase);
      team_.barrier(thread);
      if (phase.ahead) {
        finish_ahead(thread, phase);
        team_.barrier(thread);  // the leader reads that list
      } else {
        finish(thread, phase);  // nobody reads what it clears any more, and the leader writes no list of others
      }
    });
  }

  /// The bucket that should be processed next: the same again, a later one, or `none` when nothing waits. What is left
  /// of a bucket and is too little to keep the team busy for a phase goes with the next one: those vertices are a
  /// little late then, which costs a few pushes more; nothing is lost, since they are processed with a later horizon.
  [[nodiscard]] std::uint32_t next_bucket() const {
    const std::size_t repeats = queue_.repeat_count(phase_.parity);
    if (repeats > min_repeats_) return phase_.bucket;
    const std::uint32_t begin = opened_ ? phase_.bucket + 1 : phase_.bucket;
    const std::uint32_t first = queue_.first_bucket(begin, phase_.bucket + queue_.scale().buckets);
    return repeats > 0 ? std::min(first, phase_.bucket + 1) : first;
  }

  /// One phase: processes what waits in a bucket, not an earlier one than the last, and what was left of those before.
  void process(std::uint32_t bucket) {
    phase_.opens = !opened_ || bucket != phase_.bucket;
    plan_partition(bucket);
    phase_.bucket = phase_.ring_begin = bucket;
    opened_ = true;
    phase_.reach = std::max(phase_.reach, reach_of(bucket));
    const Phase phase = phase_;
    team_.barrier(0);
    take_part(0, phase);
    team_.barrier(0);
    finish(0, phase);
    phase_.parity ^= 1U;
    ++phases_;
    team_.rethrow_pending();
  }

  /// When there is nothing else to do: processes about `max_vertices` of a bucket after the last one, those it has not
  /// taken before. What turns out to have come too early is queued again. False when it found nothing. For two buckets
  /// that follow each other at a time.
  bool process_ahead(std::uint32_t bucket, std::size_t max_vertices) {
    if (bucket - phase_.bucket >= queue_.scale().buckets) return false;
    if (std::exchange(ahead_of_[bucket & 1U], bucket) != bucket)
      for (Worker& worker : workers_) worker.ahead[bucket & 1U].reset();
    bool any = false;
    for (std::size_t thread = 0; thread < workers_.size(); ++thread)
      any = any || workers_[thread].ahead[bucket & 1U].has_left(queue_.bin(thread, bucket).size());
    if (!any) return false;
    phase_.reach = std::max(phase_.reach, reach_of(bucket));
    const Phase last = phase_;
    phase_.bucket = bucket;
    phase_.ahead = true;
    phase_.partition.kind = PartitionPlan::Kind::none;
    taken_ahead_.store(0, std::memory_order_relaxed);
    max_ahead_ = max_vertices;
    team_.barrier(0);
    take_part(0, phase_);
    team_.barrier(0);
    finish_ahead(0, phase_);
    team_.barrier(0);
    phase_ = last;
    team_.rethrow_pending();
    return true;
  }

  /// Calls `use(v)` for what would be processed of a bucket now, some of it perhaps twice.
  template <class Use>
  void each_waiting(std::uint32_t bucket, Use&& use) const {
    for (std::size_t thread = 0; thread < workers_.size(); ++thread) {
      queue_.each_waiting(queue_.repeats(thread, phase_.parity), bucket, use);
      if (!opened_ || bucket != phase_.bucket) queue_.each_waiting(queue_.bin(thread, bucket), bucket, use);
    }
  }

  /// The last bucket that was processed, but for those ahead.
  [[nodiscard]] std::uint32_t current() const { return phase_.bucket; }
  /// Queues a vertex whose time has been lowered from outside.
  void add(std::uint32_t v, T time) {
    if (opened_) queue_.add_between(0, v, time, phase_);
    else queue_.add_first(0, v, time);
  }

  [[nodiscard]] std::size_t threads() const { return team_.size(); }
  [[nodiscard]] Counters counters() const {
    Counters sum;
    for (const Worker& worker : workers_) {
      sum.local_solves += worker.solves;
      sum.vertex_updates += worker.updates;
    }
    sum.rounds = phases_;
    return sum;
  }
  /// That a thread has waited for the others, on average.
  [[nodiscard]] double waited_seconds() const { return team_.waited_seconds(); }

 private:
  struct Phase : BucketPhase {
    bool opens = false;  ///< whether the bucket's own lists are read, not just what was queued again or left before
    PartitionPlan partition;
    /// Acute corners ignore times from here on: those vertices are still queued. What was processed ahead is not, so
    /// this never goes back.
    T reach = 0;
  };
  /// In a phase, so that one that never settles still ends.
  static constexpr std::size_t max_own_repeats = 0x40000;
  struct alignas(128) Worker {
    ChunkCursor repeats, bin, received;     ///< into its lists; other threads steal
    std::array<ChunkCursor, 2> ahead;       ///< into the bins of buckets that are processed ahead, by their parity
    alignas(128) std::uint64_t solves = 0;  ///< from here on what the thread itself writes
    std::uint64_t updates = 0;
    ThreadPace pace_of_phase;
  };

  void take_part(std::size_t thread, const Phase& phase) {
    if (phase.partition.kind != PartitionPlan::Kind::none) split_bucket(thread, phase);
    team_.guarded([&] {
      if (phase.ahead) process_lists_ahead(thread, phase);
      else process_lists(thread, phase);
    });
  }
  void split_bucket(std::size_t thread, const Phase& phase) {
    if (phase.partition.kind == PartitionPlan::Kind::fresh_samples) {
      team_.guarded([&] { partition_.take_samples(thread, queue_.bin(thread, phase.bucket), phase.partition.stride); });
      team_.barrier(thread);
    }
    team_.guarded([&] { partition_.split(thread, queue_.bin(thread, phase.bucket)); });
  }
  void process_lists(std::size_t thread, const Phase& phase) {
    const std::uint64_t before = workers_[thread].updates;
    const bool partitioned = phase.partition.kind != PartitionPlan::Kind::none;
    each_worker(thread, [&](std::size_t of, ListEnd end) {
      drain(thread, phase, queue_.repeats(of, phase.parity), workers_[of].repeats, end);
    });
    if (phase.opens)
      each_worker(thread, [&](std::size_t of, ListEnd end) {
        if (partitioned) partition_.wait_for_split(of, team_, thread);
        drain(thread, phase, queue_.bin(of, phase.bucket), workers_[of].bin, end);
        if (partitioned) drain(thread, phase, partition_.gather(of, team_, thread), workers_[of].received, end);
      });
    process_own_repeats(thread, phase);
    workers_[thread].pace_of_phase = {static_cast<double>(workers_[thread].updates - before),
                                      team_.working_seconds(thread)};
  }
  void process_lists_ahead(std::size_t thread, const Phase& phase) {
    each_worker(thread, [&](std::size_t of, ListEnd) {
      drain(thread, phase, queue_.bin(of, phase.bucket), workers_[of].ahead[phase.bucket & 1U], ListEnd::front);
    });
  }
  /// Until the team waits for this thread: what it has itself queued for this bucket meanwhile, which no other thread
  /// reads before the next phase. Most of it needs no phase of its own then.
  void process_own_repeats(std::size_t thread, const Phase& phase) {
    std::vector<std::uint32_t>& repeats = queue_.repeats(thread, phase.parity ^ 1U);
    const T horizon = queue_.scale().horizon(phase.bucket);
    std::size_t done = 0;
    while (done < repeats.size() && done < max_own_repeats && !team_.is_waited_for()) {
      prepare_ahead(relax_, repeats, done);
      visit(thread, repeats[done++], horizon, phase);
    }
    repeats.erase(repeats.begin(), repeats.begin() + static_cast<std::ptrdiff_t>(done));
  }

  /// Makes the thread's own lists ready for the next phase.
  void finish(std::size_t thread, const Phase& phase) {
    Worker& own = workers_[thread];
    queue_.clear_processed(thread, phase, phase.opens);
    for (ChunkCursor* cursor : {&own.repeats, &own.bin, &own.received}) cursor->reset();
    partition_.reset(thread, own.pace_of_phase);
    team_.guarded(
        [&] { partition_.take_samples(thread, queue_.bin(thread, phase.bucket + 1), phase.partition.stride); });
  }
  void finish_ahead(std::size_t thread, const Phase& phase) {
    team_.guarded([&] { queue_.keep_repeats_ahead(thread, phase); });
  }

  void plan_partition(std::uint32_t bucket) {
    if (phase_.opens && team_.size() > 1)
      phase_.partition =
          phase_.partition.next(team_.size(), queue_.entry_count(bucket), opened_ && bucket == phase_.bucket + 1);
    else phase_.partition.kind = PartitionPlan::Kind::none;  // samples are taken as before
  }
  [[nodiscard]] T reach_of(std::uint32_t bucket) const {
    return horizon_ == Horizon::band ? queue_.scale().horizon(bucket) : std::numeric_limits<T>::infinity();
  }

  /// Each thread takes what it queued itself first: those vertices and their neighbours are in its own cache. Then it
  /// steals from the others, from the back, where their own threads do not work.
  template <class Use>
  void each_worker(std::size_t thread, Use&& use) {
    for (std::size_t k = 0; k < workers_.size(); ++k)
      use((thread + k) % workers_.size(), k == 0 ? ListEnd::front : ListEnd::back);
  }
  void drain(std::size_t thread, const Phase& phase, std::span<const std::uint32_t> list, ChunkCursor& cursor,
             ListEnd end) {
    const T horizon = queue_.scale().horizon(phase.bucket);
    while (true) {
      if (phase.ahead && taken_ahead_.load(std::memory_order_relaxed) >= max_ahead_) return;
      const ChunkCursor::Chunk chunk = cursor.take(list.size(), end);
      if (chunk.empty()) return;
      if (phase.ahead) taken_ahead_.fetch_add(chunk.size(), std::memory_order_relaxed);
      const auto entries = end == ListEnd::back ? list.first(chunk.end) : list;
      if (end == ListEnd::back || chunk.begin == 0) prepare_first(relax_, entries, chunk.begin);
      for (std::size_t i = chunk.begin; i < chunk.end; ++i) {
        prepare_ahead(relax_, entries, i);
        visit(thread, entries[i], horizon, phase);
      }
    }
  }

  void visit(std::size_t thread, std::uint32_t x, T horizon, const Phase& phase) {
    const bool may_be_parked = horizon < std::numeric_limits<T>::infinity();  // in the ring's last bucket
    if (phase.ahead && may_be_parked && relax_.times().load(x) >= horizon)
      return;  // stays there until its bucket opens
    if (!queue_.claim(x, phase.bucket)) return;
    const T time = relax_.times().load(x);
    if (may_be_parked && time >= horizon) {
      queue_.add(thread, x, time, phase);
      return;
    }
    Worker& own = workers_[thread];
    ++own.updates;
    observer_(static_cast<int>(thread), x);
    own.solves += relax_.push(x, phase.reach, [&](std::uint32_t target, T candidate) {
      const bool lowered = queue_.waits(target) ? relax_.times().lower(target, candidate, T(0))
                                                : lower_countably(relax_, state_, target, candidate);
      if (lowered) queue_.add(thread, target, candidate, phase);
    });
  }

  void report() const {
    if (!state_.progress.report || (phases_ & 15U) != 0) return;
    state_.progress.report(std::min(
        1.0, static_cast<double>(counters().vertex_updates) / static_cast<double>(relax_.problem().vertex_count)));
  }

  const Relax& relax_;
  SolveState<T>& state_;
  [[no_unique_address]] Observer observer_;
  Horizon horizon_;
  ThreadTeam team_;
  TeamQueue<T> queue_;
  BandPartition partition_;
  std::vector<Worker> workers_;
  std::size_t min_repeats_;  ///< that are worth a phase of their own
  Phase phase_;              ///< the last one, with the parity of the next
  bool opened_ = false;      ///< whether there was one
  std::uint64_t phases_ = 0;
  std::array<std::uint32_t, 2> ahead_of_{none, none};  ///< buckets that were processed ahead, by their parity
  std::atomic<std::size_t> taken_ahead_{0};
  std::size_t max_ahead_ = 0;
};

}  // namespace isochron
