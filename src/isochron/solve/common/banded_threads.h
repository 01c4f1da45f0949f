// The banded schedule on many threads: all threads push from the vertices of one bucket at a time.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <exception>
#include <limits>
#include <mutex>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "isochron/core/timer.h"
#include "isochron/solve/common/banded.h"

namespace isochron {

/// Where shares begin that are as large as `speeds` say, by samples of what is shared out: the first number of each
/// share but the first, ascending. There is one of these at least, and one speed.
inline void find_shares(std::span<const std::uint32_t> samples, std::span<const double> speeds,
                        std::vector<std::uint32_t>& begins) {
  // Sorted by their leading bits; inside a bin only where a share begins.
  constexpr int bits = 8;
  std::uint32_t least = samples[0], most = samples[0];
  for (const std::uint32_t v : samples) {
    least = std::min(least, v);
    most = std::max(most, v);
  }
  const int shift = std::max(0, static_cast<int>(std::bit_width(most - least)) - bits);
  std::array<std::size_t, (1U << bits) + 1> ends{};  // of bins; the first one is before all
  for (const std::uint32_t v : samples) ++ends[((v - least) >> shift) + 1];
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::vector<std::uint32_t> sorted(samples.size());
  std::array<std::size_t, (1U << bits) + 1> next = ends;
  for (const std::uint32_t v : samples) sorted[next[(v - least) >> shift]++] = v;

  const double all = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  const auto at = [&](std::size_t i) { return sorted.begin() + static_cast<std::ptrdiff_t>(i); };
  double before = 0;
  begins.clear();
  for (const double speed : speeds.first(speeds.size() - 1)) {
    before += speed;
    const auto wanted = static_cast<std::size_t>(static_cast<double>(sorted.size()) * (before / all));
    const std::size_t place = std::min(wanted, sorted.size() - 1);
    const auto end = std::upper_bound(ends.begin(), ends.end(), place);
    std::nth_element(at(*(end - 1)), at(place), at(*end));
    begins.push_back(sorted[place]);
  }
}

/// Nobody else needs to know which vertices are processed.
struct NoWatch {
  void operator()(int, std::uint32_t) const {}
};

/// One solve shared by a team. Each thread queues into its own bins; a phase is one pass over all threads' bins of one
/// bucket, and what is queued for the same bucket meanwhile goes with the next phase, unless its thread has time for it
/// before the others are done. The first thread leads: it alone looks at the bins of others between two phases, and
/// says which bucket comes next.
///
/// `Watch` is told by which thread a vertex is processed, before its times are pushed.
template <class Relax, class Watch = NoWatch>
class BandedTeam {
  using T = typename Relax::Scalar;
  static constexpr std::size_t smallest_chunk = 8, largest_chunk = 64;  ///< vertices taken at a time
  /// Vertices for each thread that are worth sharing out anew, and those of them that tell where the shares begin.
  static constexpr std::size_t worth_dealing = 64, samples_each = 64;

 public:
  static constexpr std::uint32_t none = 0xffffffffU;
  /// Vertices for each thread that are worth a phase of their own; fewer wait for the next bucket.
  static constexpr std::size_t worth_a_phase = 32;

  BandedTeam(const Relax& relax, SolveState<T>& state, BandTuning tuning, int threads, Watch watch = {},
             std::size_t worth = worth_a_phase)
      : relax_(relax),
        state_(state),
        watch_(watch),
        scale_(band_scale(tuning, relax.problem().mean_edge)),
        horizon_(tuning.horizon),
        slot_(relax.problem().vertex_count),
        workers_(static_cast<std::size_t>(granted_threads(threads))),
        worth_(worth * workers_.size()),
        barrier_(static_cast<int>(workers_.size())) {
    parallel_chunks(threads, slot_.size(), [&](std::size_t begin, std::size_t end) {
      std::fill(slot_.begin() + static_cast<std::ptrdiff_t>(begin), slot_.begin() + static_cast<std::ptrdiff_t>(end),
                none);
    });
    for (Worker& worker : workers_) {
      worker.ring.resize(tuning.buckets);
      worker.for_others.resize(workers_.size());
    }
    std::size_t next = 0;
    for (const std::uint32_t v : state.seeds) queue(workers_[next++ % workers_.size()], v, state.time[v]);
  }

  /// Runs to the fixed point and adds to the state's counters.
  void run() {
    lead([&] {
      for (std::uint32_t bucket = next_bucket(); bucket != none; bucket = next_bucket()) {
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

  /// Calls `work` on the calling thread, with the others at its service until it returns. The functions below are for
  /// it alone.
  template <class Work>
  void lead(Work&& work) {
    const auto wanted = static_cast<int>(workers_.size());
    int granted = wanted;
    std::exception_ptr failed;
    phase_.ends = false;
    parallel_region(wanted, [&](int thread, int team) {
      if (team != wanted) {  // with fewer, the barrier would wait for ever
        if (thread == 0) granted = team;
      } else if (thread > 0) {
        serve(workers_[static_cast<std::size_t>(thread)]);
      } else {
        try {
          work();
        } catch (...) {
          failed = std::current_exception();
        }
        phase_.ends = true;
        wait(workers_[0]);
      }
    });
    if (failed) std::rethrow_exception(failed);
    throw_what_went_wrong();
    if (granted != wanted)
      throw RuntimeError("the system took threads away (" + std::to_string(granted) + " of " + std::to_string(wanted) +
                         " are left); ask for fewer (--threads), or unset OMP_DYNAMIC");
  }

  /// The bucket that should be processed next: the same again, a later one, or `none` when nothing waits. What is left
  /// of a bucket and is too little to keep the team busy for a phase goes with the next one: those vertices are a
  /// little late then, which costs a few pushes more; nothing is lost, since they are processed with a later horizon.
  [[nodiscard]] std::uint32_t next_bucket() const {
    const std::size_t left = left_over();
    if (left > worth_) return phase_.bucket;
    std::uint32_t first = next_in_rings();
    return left > 0 ? std::min(first, phase_.bucket + 1) : first;
  }

  /// One phase: processes what waits in a bucket, not an earlier one than the last, and what was left of those before.
  void process(std::uint32_t bucket) {
    phase_.opens = !opened_ || bucket != phase_.bucket;
    plan_deal(bucket);
    phase_.bucket = phase_.first = bucket;
    opened_ = true;
    phase_.reach = std::max(phase_.reach, reach_of(bucket));
    const Phase phase = phase_;
    wait(workers_[0]);
    take_part(workers_[0], phase);
    wait(workers_[0]);
    tidy(workers_[0], phase);
    phase_.parity ^= 1U;
    ++phases_;
    throw_what_went_wrong();
  }

  /// When there is nothing else to do: processes about `most` vertices of a bucket after the last one, those it has not
  /// taken before. What turns out to have come too early is queued again. False when it found nothing. For two buckets
  /// that follow each other at a time.
  bool process_ahead(std::uint32_t bucket, std::size_t most) {
    if (bucket - phase_.bucket >= scale_.buckets) return false;
    if (std::exchange(ahead_of_[bucket & 1U], bucket) != bucket)
      for (Worker& worker : workers_) worker.ahead[bucket & 1U].store(0, std::memory_order_relaxed);
    bool any = false;
    for (Worker& worker : workers_)
      any = any || worker.ahead[bucket & 1U].load(std::memory_order_relaxed) < bin(worker, bucket).size();
    if (!any) return false;
    phase_.reach = std::max(phase_.reach, reach_of(bucket));
    const Phase last = phase_;
    phase_.bucket = bucket;
    phase_.ahead = true;
    phase_.deal = Deal::none;
    taken_ahead_.store(0, std::memory_order_relaxed);
    max_ahead_ = most;
    wait(workers_[0]);
    take_part(workers_[0], phase_);
    wait(workers_[0]);
    tidy_ahead(workers_[0], phase_);
    wait(workers_[0]);
    phase_ = last;
    throw_what_went_wrong();
    return true;
  }

  /// Calls `use(v)` for what would be processed of a bucket now, some of it perhaps twice.
  template <class Use>
  void each_waiting(std::uint32_t bucket, Use&& use) const {
    const auto look = [&](const std::vector<std::uint32_t>& list) {
      for (const std::uint32_t v : list)
        if (slot_[v] <= bucket) use(v);
    };
    for (const Worker& worker : workers_) {
      look(worker.again[phase_.parity]);
      if (!opened_ || bucket != phase_.bucket) look(worker.ring[bucket & (scale_.buckets - 1)]);
    }
  }

  [[nodiscard]] bool waiting(std::uint32_t v) const { return slot_[v] != none; }
  /// The last bucket that was processed, but for those ahead.
  [[nodiscard]] std::uint32_t current() const { return phase_.bucket; }
  /// Queues a vertex whose time has been lowered from outside.
  void add(std::uint32_t v, T time) {
    if (opened_) queue_again(workers_[0], v, time, phase_, workers_[0].again[phase_.parity]);
    else queue(workers_[0], v, time);
  }

  [[nodiscard]] std::size_t threads() const { return workers_.size(); }
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
  [[nodiscard]] double waited_seconds() const {
    double sum = 0;
    for (const Worker& worker : workers_) sum += worker.waited;
    return sum / static_cast<double>(workers_.size());
  }

 private:
  /// What nobody has taken of a list: how many entries are taken from its beginning (the low half) and from its end.
  using Cursor = std::atomic<std::uint64_t>;
  /// How quick a thread is: cores that share what they have with somebody may take twice as long as others. What is
  /// long ago counts less.
  struct Pace {
    double updates = 0, seconds = 0;
    void add(const Pace& next, double kept = 1) {
      updates = kept * updates + next.updates;
      seconds = kept * seconds + next.seconds;
    }
  };
  struct alignas(128) Worker {
    std::array<Cursor, 3> cursor{};  ///< into its `again`, its bin and `handed`; others help
    std::array<Cursor, 2> ahead{};   ///< into the bins of buckets that are processed ahead, by their parity
    /// Its bin is without what others get; somebody puts together what others hand to it; that is done.
    std::atomic<bool> has_split = false, handing = false, has_all = false;
    /// From here on what the thread itself writes while it works (but `handed`); others look at it once a phase at
    /// most.
    alignas(128) std::vector<std::vector<std::uint32_t>> ring;
    std::array<std::vector<std::uint32_t>, 2> again;     ///< queued for the bucket being processed, by phase parity
    std::vector<std::uint32_t> samples, seen;            ///< of its bin, and of all bins
    std::vector<std::uint32_t> begins;                   ///< the first vertex of each share but the first
    std::vector<double> speeds;                          ///< of all threads
    std::vector<std::vector<std::uint32_t>> for_others;  ///< by thread: entries of its bin that are in that one's share
    std::vector<std::uint32_t> handed;                   ///< entries of its share that were in the bins of others
    std::vector<std::uint32_t> again_ahead;              ///< as `again` while a bucket is processed ahead
    std::uint64_t solves = 0, updates = 0;
    Pace pace, pace_of_phase;
    Timer since_barrier;
    double waited = 0;   ///< seconds
    double held_up = 0;  ///< of them, since the barrier
  };
  /// What a phase does before its bins are read: nothing, each thread keeps what it queued; or `deal_out`, by the
  /// samples that were taken after the phase before, or by new ones.
  enum class Deal : std::uint8_t { none, by_samples, by_new_samples };
  /// A phase reads what was queued again for its bucket or left of those before, and the bucket's own bins when they
  /// are opened.
  struct Phase {
    std::uint32_t bucket = 0;
    std::uint32_t first = 0;  ///< of the ring: the same, or where a bucket is processed ahead, the last that was not
    unsigned parity = 0;
    bool opens = false, ends = false, ahead = false;
    Deal deal = Deal::none;
    std::size_t stride = 0;  ///< one entry in so many is a sample; 0: there are none
    /// Acute corners ignore times from here on: those vertices are still queued. What was processed ahead is not, so
    /// this never goes back.
    T reach = 0;
  };
  struct List {
    std::span<const std::uint32_t> entries;
    Cursor& cursor;
  };
  enum class End : std::uint8_t { front, back };
  struct Stretch {
    std::size_t begin, end;
  };

  void wait(Worker& own) {
    const Timer timer;
    barrier_.arrive_and_wait();
    own.waited += timer.seconds();
    own.since_barrier.restart();
    own.held_up = 0;
  }

  /// What the others do: they take part in every phase until they are let go.
  void serve(Worker& own) {
    while (true) {
      wait(own);
      const Phase phase = phase_;
      if (phase.ends) return;
      take_part(own, phase);
      wait(own);
      if (phase.ahead) {
        tidy_ahead(own, phase);
        wait(own);  // the leader looks at that bin
      } else {
        tidy(own, phase);  // nobody reads what it clears any more; of others' bins, the leader writes none
      }
    }
  }

  void take_part(Worker& own, const Phase& phase) {
    if (phase.deal != Deal::none) deal_out(own, phase);
    guarded([&] {
      if (phase.ahead) {
        each_worker(own, [&](Worker& worker) {
          drain(own, phase, {bin(worker, phase.bucket), worker.ahead[phase.bucket & 1U]}, End::front);
        });
        return;
      }
      const std::uint64_t before = own.updates;
      // Somebody else's from the back, where its own thread does not work.
      const auto end_of = [&](const Worker& worker) { return &worker == &own ? End::front : End::back; };
      each_worker(own, [&](Worker& worker) {
        drain(own, phase, {worker.again[phase.parity], worker.cursor[0]}, end_of(worker));
      });
      if (phase.opens)
        each_worker(own, [&](Worker& worker) {
          if (phase.deal != Deal::none) wait_for(own, worker.has_split);
          drain(own, phase, {bin(worker, phase.bucket), worker.cursor[1]}, end_of(worker));
          if (phase.deal == Deal::none) return;
          hand_over(own, worker);
          drain(own, phase, {worker.handed, worker.cursor[2]}, end_of(worker));
        });
      go_on_alone(own, phase);
      own.pace_of_phase = {static_cast<double>(own.updates - before), own.since_barrier.seconds() - own.held_up};
    });
  }
  /// Until a quarter of the team waits for the rest: what a thread itself has queued for this bucket meanwhile, which
  /// nobody else looks at before the next phase. Most of it needs no phase of its own then, and comes in its turn.
  void go_on_alone(Worker& own, const Phase& phase) {
    std::vector<std::uint32_t>& queued = own.again[phase.parity ^ 1U];
    const T horizon = scale_.horizon(phase.bucket);
    std::size_t done = 0;
    while (done < queued.size() && 4 * static_cast<std::size_t>(barrier_.waiting()) < workers_.size()) {
      prepare_ahead(relax_, queued, done);
      visit(own, queued[done++], horizon, phase);
    }
    queued.erase(queued.begin(), queued.begin() + static_cast<std::ptrdiff_t>(done));
  }
  void tidy(Worker& own, const Phase& phase) {
    own.again[phase.parity].clear();
    if (phase.opens) bin(own, phase.bucket).clear();
    own.handed.clear();
    for (auto& cursor : own.cursor) cursor.store(0, std::memory_order_relaxed);
    for (auto* done : {&own.has_split, &own.handing, &own.has_all}) done->store(false, std::memory_order_relaxed);
    constexpr double kept = 0.95;
    own.pace.add(own.pace_of_phase, kept);
    guarded([&] { take_samples(own, phase.bucket + 1, phase.stride); });
  }

  /// Says how the bucket that comes next is shared out. Its samples are there if it follows the last one, and are of
  /// use if there are about as many as there should be: fronts grow little from band to band, but onsets may be
  /// anywhere.
  void plan_deal(std::uint32_t bucket) {
    phase_.deal = Deal::none;
    if (!phase_.opens || workers_.size() == 1) return;
    std::size_t sum = 0;
    for (const Worker& worker : workers_) sum += worker.ring[bucket & (scale_.buckets - 1)].size();
    const std::size_t samples = samples_each * workers_.size(), taken = std::exchange(phase_.stride, 0);
    if (sum < worth_dealing * workers_.size()) return;
    const bool of_use =
        opened_ && bucket == phase_.bucket + 1 && sum < 4 * samples * taken && 4 * sum > samples * taken;
    phase_.deal = of_use ? Deal::by_samples : Deal::by_new_samples;
    phase_.stride = std::max<std::size_t>(1, sum / samples);
  }
  void take_samples(Worker& own, std::uint32_t bucket, std::size_t stride) {
    const std::vector<std::uint32_t>& entries = bin(own, bucket);
    own.samples.clear();
    if (stride == 0 || entries.size() / stride > 4 * samples_each * workers_.size()) return;  // of no use
    for (std::size_t i = 0; i < entries.size(); i += stride) own.samples.push_back(entries[i]);
  }

  /// All threads together: shares the bucket's entries out by vertex number, in proportion to the threads' speeds.
  /// Numbers run along a curve, so each thread gets a compact region, about the one it had before. Without this, what a
  /// thread has queued while it helped others lies scattered between theirs, and goes on as such from band to band.
  ///
  /// Each thread keeps what it has of its own share in its bin, and may work on that at once; the rest is for
  /// `hand_over`.
  void deal_out(Worker& own, const Phase& phase) {
    if (phase.deal == Deal::by_new_samples) {
      guarded([&] { take_samples(own, phase.bucket, phase.stride); });
      wait(own);
    }
    guarded([&] {
      own.seen.clear();
      for (const Worker& worker : workers_)
        own.seen.insert(own.seen.end(), worker.samples.begin(), worker.samples.end());
      for (std::vector<std::uint32_t>& list : own.for_others) list.clear();
      if (own.seen.empty()) return;
      note_speeds(own);
      find_shares(own.seen, own.speeds, own.begins);  // the same on all of them
      split(own, bin(own, phase.bucket));
    });
    own.has_split.store(true, std::memory_order_release);
    own.has_split.notify_all();
  }
  void split(Worker& own, std::vector<std::uint32_t>& entries) {
    const std::size_t number = number_of(own);
    const std::uint64_t first = number > 0 ? own.begins[number - 1] : 0;
    const std::uint64_t last = number < own.begins.size() ? own.begins[number] : std::uint64_t{1} << 32U;
    std::size_t kept = 0;
    for (const std::uint32_t v : entries) {
      if (v >= first && v < last) {
        entries[kept++] = v;
        continue;
      }
      const auto next = std::upper_bound(own.begins.begin(), own.begins.end(), v);
      own.for_others[static_cast<std::size_t>(next - own.begins.begin())].push_back(v);
    }
    entries.resize(kept);
  }
  /// Puts together what others have for a thread, by whoever comes first: itself, or one that has nothing else to do.
  void hand_over(Worker& own, Worker& to) {
    if (to.has_all.load(std::memory_order_acquire)) return;
    if (to.handing.exchange(true, std::memory_order_relaxed)) return wait_for(own, to.has_all);
    guarded([&] {
      for (const Worker& from : workers_) {
        wait_for(own, from.has_split);
        const std::vector<std::uint32_t>& list = from.for_others[number_of(to)];
        to.handed.insert(to.handed.end(), list.begin(), list.end());
      }
    });
    to.has_all.store(true, std::memory_order_release);
    to.has_all.notify_all();
  }
  /// As long as little is known of a thread it counts as quick as the others.
  void note_speeds(Worker& own) {
    constexpr double little = 1e-3;  // seconds
    Pace all;
    for (const Worker& worker : workers_) all.add(worker.pace);
    const double mean = all.updates > 0 && all.seconds > 0 ? all.updates / all.seconds : 1;
    own.speeds.clear();
    for (const Worker& worker : workers_)
      own.speeds.push_back((worker.pace.updates + mean * little) / (worker.pace.seconds + little));
  }
  static void wait_for(Worker& own, const std::atomic<bool>& done) {
    if (done.load(std::memory_order_acquire)) return;
    const Timer timer;
    done.wait(false, std::memory_order_acquire);
    own.waited += timer.seconds();
    own.held_up += timer.seconds();
  }
  [[nodiscard]] std::size_t number_of(const Worker& worker) const {
    return static_cast<std::size_t>(&worker - workers_.data());
  }

  /// Others wait for this thread: what goes wrong is kept until the phase has ended.
  template <class Work>
  void guarded(Work&& work) {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(error_mutex_);
      if (!error_) error_ = std::current_exception();
    }
  }
  void throw_what_went_wrong() {
    const std::lock_guard lock(error_mutex_);  // others may still be tidying
    if (error_) std::rethrow_exception(error_);
  }

  void tidy_ahead(Worker& own, const Phase& phase) {
    guarded([&] {
      std::vector<std::uint32_t>& later = bin(own, phase.bucket);
      later.insert(later.end(), own.again_ahead.begin(), own.again_ahead.end());
      own.again_ahead.clear();
    });
  }

  [[nodiscard]] T reach_of(std::uint32_t bucket) const {
    return horizon_ == Horizon::band ? scale_.horizon(bucket) : std::numeric_limits<T>::infinity();
  }

  std::vector<std::uint32_t>& bin(Worker& worker, std::uint32_t bucket) {
    return worker.ring[bucket & (scale_.buckets - 1)];
  }

  /// Before anything runs.
  void queue(Worker& worker, std::uint32_t v, T time) {
    const std::uint32_t bucket = scale_.place(time, 0);
    if (slot_[v] == bucket) return;
    slot_[v] = bucket;
    bin(worker, bucket).push_back(v);
  }
  /// Later: in its bin, or in `again` if that is the one of the phase.
  void queue_again(Worker& worker, std::uint32_t v, T time, const Phase& phase, std::vector<std::uint32_t>& again) {
    const std::uint32_t last = phase.first + scale_.buckets - 1;
    const std::uint32_t bucket = std::min(scale_.place(time, phase.bucket), last);
    const std::atomic_ref<std::uint32_t> slot(slot_[v]);
    if (bucket == phase.bucket) {
      // Released after the time was lowered: a thread that takes the entry over in this phase sees that time.
      std::uint32_t waits_for = slot.load(std::memory_order_relaxed);
      if (!phase.ahead) waits_for = slot.exchange(bucket, std::memory_order_release);
      else  // an entry that comes up before this bucket has to be named as long as it is there
        while (!slot.compare_exchange_weak(waits_for, std::min(waits_for, bucket), std::memory_order_release,
                                           std::memory_order_relaxed)) {
        }
      if (waits_for > bucket) again.push_back(v);
      return;
    }
    // Nobody takes entries of a later bucket before the next barrier. Two threads may both queue v: the entry that its
    // slot does not name is stale, and if that was the earlier one, v is late, which costs pushes and nothing else.
    if (slot.load(std::memory_order_relaxed) == bucket) return;
    slot.store(bucket, std::memory_order_relaxed);
    bin(worker, bucket).push_back(v);
  }

  [[nodiscard]] std::size_t left_over() const {
    std::size_t sum = 0;
    for (const Worker& worker : workers_) sum += worker.again[phase_.parity].size();
    return sum;
  }
  [[nodiscard]] std::uint32_t next_in_rings() const {
    const std::uint32_t first = opened_ ? phase_.bucket + 1 : phase_.bucket;
    for (std::uint32_t bucket = first; bucket < phase_.bucket + scale_.buckets; ++bucket)
      for (const Worker& worker : workers_)
        if (!worker.ring[bucket & (scale_.buckets - 1)].empty()) return bucket;
    return none;
  }

  /// Each thread takes what it queued itself first: those vertices and their neighbours are in its own cache. Then it
  /// helps the others.
  template <class Use>
  void each_worker(const Worker& own, Use&& use) {
    const std::size_t first = number_of(own);
    for (std::size_t k = 0; k < workers_.size(); ++k) use(workers_[(first + k) % workers_.size()]);
  }
  void drain(Worker& own, const Phase& phase, const List& list, End end) {
    const T horizon = scale_.horizon(phase.bucket);
    while (true) {
      if (phase.ahead && taken_ahead_.load(std::memory_order_relaxed) >= max_ahead_) return;
      const Stretch stretch = take(list, end);
      if (stretch.begin == stretch.end) return;
      if (phase.ahead) taken_ahead_.fetch_add(stretch.end - stretch.begin, std::memory_order_relaxed);
      const auto entries = end == End::back ? list.entries.first(stretch.end) : list.entries;
      if (end == End::back || stretch.begin == 0) prepare_first(relax_, entries, stretch.begin);
      for (std::size_t i = stretch.begin; i < stretch.end; ++i) {
        prepare_ahead(relax_, entries, i);
        visit(own, entries[i], horizon, phase);
      }
    }
  }
  /// Takes from the beginning or the end of a list; nothing when nothing is left.
  static Stretch take(const List& list, End side) {
    const bool from_end = side == End::back;
    std::uint64_t taken = list.cursor.load(std::memory_order_relaxed);
    while (true) {
      const std::size_t begin = taken & 0xffffffffU, end = list.entries.size() - (taken >> 32U);
      if (begin >= end) return {0, 0};
      // Ever smaller ones: all should be done at the same time.
      const std::size_t left = end - begin;
      const std::size_t count = std::min(left, std::clamp(left / (from_end ? 4 : 8), smallest_chunk, largest_chunk));
      if (list.cursor.compare_exchange_weak(taken, taken + (from_end ? std::uint64_t{count} << 32U : count),
                                            std::memory_order_relaxed))
        return from_end ? Stretch{end - count, end} : Stretch{begin, begin + count};
    }
  }

  void visit(Worker& own, std::uint32_t x, T horizon, const Phase& phase) {
    // Clearing the slot before reading times: whoever lowers x after this queues it again. Who queues it at this moment
    // counts on this entry, so one more look at the slot.
    const std::atomic_ref<std::uint32_t> slot(slot_[x]);
    const bool may_be_parked = horizon < std::numeric_limits<T>::infinity();  // in the ring's last bucket
    if (phase.ahead && may_be_parked && relax_.times().load(x) >= horizon)
      return;  // stays there until its bucket opens
    std::uint32_t waits_for = slot.load(std::memory_order_relaxed);
    do {
      if (waits_for > phase.bucket) return;
    } while (!slot.compare_exchange_weak(waits_for, none, std::memory_order_acquire, std::memory_order_relaxed));
    const T time = relax_.times().load(x);
    if (may_be_parked && time >= horizon) {
      requeue(own, x, time, phase);
      return;
    }
    ++own.updates;
    watch_(static_cast<int>(number_of(own)), x);
    own.solves += relax_.push(x, phase.reach, [&](std::uint32_t target, T candidate) {
      const bool waits = std::atomic_ref<std::uint32_t>(slot_[target]).load(std::memory_order_relaxed) != none;
      const bool lowered =
          waits ? relax_.times().lower(target, candidate, T(0)) : lower_countably(relax_, state_, target, candidate);
      if (lowered) requeue(own, target, candidate, phase);
    });
  }
  void requeue(Worker& own, std::uint32_t v, T time, const Phase& phase) {
    queue_again(own, v, time, phase, phase.ahead ? own.again_ahead : own.again[phase.parity ^ 1U]);
  }

  void report() const {
    if (!state_.progress.report || (phases_ & 15U) != 0) return;
    state_.progress.report(std::min(
        1.0, static_cast<double>(counters().vertex_updates) / static_cast<double>(relax_.problem().vertex_count)));
  }

  const Relax& relax_;
  SolveState<T>& state_;
  [[no_unique_address]] Watch watch_;
  BandScale<T> scale_;
  Horizon horizon_;
  BigVector<std::uint32_t> slot_;
  std::vector<Worker> workers_;
  std::size_t worth_;
  SpinBarrier barrier_;
  Phase phase_;          ///< the last one, with the parity of the next
  bool opened_ = false;  ///< whether there was one
  std::uint64_t phases_ = 0;
  std::array<std::uint32_t, 2> ahead_of_{none, none};  ///< buckets that were processed ahead, by their parity
  std::atomic<std::size_t> taken_ahead_{0};
  std::size_t max_ahead_ = 0;
  std::mutex error_mutex_;
  std::exception_ptr error_;
};

}  // namespace isochron
