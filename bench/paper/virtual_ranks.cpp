#include "bench/paper/virtual_ranks.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <exception>
#include <limits>
#include <semaphore>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>

#include "isochron/parts.h"
#include "isochron/solve/common/limits.h"
#include "isochron/solve/ranks/banded_local.h"
#include "isochron/solve/ranks/bands.h"
#include "isochron/solve/ranks/part_problem.h"
#include "isochron/solve/simplex/relax.h"
#include "isochron/solve/simplex/run.h"

namespace isochron::bench {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// All ranks' boxes and clocks. Only the rank that runs touches them.
class World {
 public:
  World(int ranks, const RankCosts& costs, const std::function<double(int)>& spent)
      : costs_(costs), spent_(spent), ranks_(static_cast<std::size_t>(ranks)) {}

  std::vector<double> run(const std::function<void(Communicator&)>& work) {
    std::vector<double> ends(ranks_.size());
    std::vector<std::thread> threads;
    for (std::size_t r = 0; r < ranks_.size(); ++r)
      threads.emplace_back([&, r] {
        ranks_[r].turn.acquire();
        End end(*this, static_cast<int>(r));
        try {
          work(end);
        } catch (...) {
          if (!error_) error_ = std::current_exception();
        }
        end.account();
        ends[r] = ranks_[r].clock;
        ranks_[r].clock = ranks_[r].now = infinity;
        pass_on(r);
      });
    ranks_[0].turn.release();
    for (std::thread& thread : threads) thread.join();
    if (error_) std::rethrow_exception(error_);
    return ends;
  }

 private:
  struct Posted {
    int tag;
    double due;
    RankMessage message;
  };
  struct Rank {
    double now = 0;         ///< what it has lived through
    double clock = 0;       ///< when it goes on; infinite while it waits for something that nobody has done yet
    double known_work = 0;  ///< of `spent`, already on the clock
    std::deque<Posted> box;
    int tallies = 0;
    std::binary_semaphore turn{0};

    /// Something happens then: a rank that waits goes on, not before the time it has reached itself.
    void wake(double when) {
      if (clock > now) clock = std::min(clock, std::max(now, when));
    }
  };
  struct Collected {
    Tally tally;
    int contributions = 0;
    double ready = 0;
  };

  class End final : public Communicator {
   public:
    End(World& world, int rank) : world_(world), rank_(rank), own_(world.ranks_[static_cast<std::size_t>(rank)]) {}

    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return static_cast<int>(world_.ranks_.size()); }
    std::unique_ptr<Communicator> split(bool) override { return nullptr; }  // each has a machine of its own

    void send(int to, int tag, Bytes&& bytes) override {
      account();
      const double copying = world_.costs_.message + world_.costs_.byte * static_cast<double>(bytes.size());
      own_.clock += copying;
      Rank& other = world_.ranks_.at(static_cast<std::size_t>(to));
      other.box.push_back({tag, own_.clock + world_.costs_.latency, {rank_, std::move(bytes)}});
      other.wake(other.box.back().due);
    }

    bool receive(int tag, RankMessage& message) override {
      account();
      own_.clock += world_.costs_.look;
      own_.now = own_.clock;
      let_others_catch_up();
      const auto found = std::find_if(own_.box.begin(), own_.box.end(),
                                      [&](const Posted& p) { return p.tag == tag && p.due <= own_.clock; });
      if (found == own_.box.end()) return false;
      message = std::move(found->message);
      own_.box.erase(found);
      own_.clock += world_.costs_.message + world_.costs_.byte * static_cast<double>(message.bytes.size());
      return true;
    }

    void start_tally(const Tally& own) override {
      account();
      const auto number = static_cast<std::size_t>(own_.tallies++);
      if (number >= world_.tallies_.size()) world_.tallies_.emplace_back();
      Collected& all = world_.tallies_[number];
      all.tally.least = all.contributions++ > 0 ? std::min(all.tally.least, own.least) : own.least;
      for (std::size_t k = 0; k < own.sums.size(); ++k) all.tally.sums[k] += own.sums[k];
      const auto doublings = static_cast<double>(std::bit_width(world_.ranks_.size() - 1));
      all.ready = std::max(all.ready, own_.clock + world_.costs_.reduction * doublings);
      if (all.contributions == size())
        for (Rank& rank : world_.ranks_) rank.wake(all.ready);
    }
    bool tally_done(Tally& all) override {
      account();
      if (!(ready() <= own_.clock)) return false;
      all = world_.tallies_[static_cast<std::size_t>(own_.tallies - 1)].tally;
      return true;
    }

    /// Until a message comes or the reduction ends.
    void pause() override {
      account();
      own_.now = own_.clock;
      own_.clock = infinity;
      own_.wake(ready());
      for (const Posted& posted : own_.box)
        if (posted.due > own_.now) own_.wake(posted.due);
      let_others_catch_up();
    }
    [[noreturn]] void abort(int) override { throw std::runtime_error("aborted"); }

    /// Puts on the clock what the rank has worked since.
    void account() {
      const double spent = world_.spent_(rank_);
      own_.clock += spent - own_.known_work;
      own_.known_work = spent;
    }

   private:
    [[nodiscard]] double ready() const {
      const Collected& all = world_.tallies_[static_cast<std::size_t>(std::max(0, own_.tallies - 1))];
      return all.contributions == size() ? all.ready : infinity;
    }
    void let_others_catch_up() {
      if (world_.pass_on(static_cast<std::size_t>(rank_))) own_.turn.acquire();
      own_.now = own_.clock;
      if (world_.error_) throw std::runtime_error("another rank failed");
    }

    World& world_;
    int rank_;
    Rank& own_;
  };

  /// Lets the rank that is behind all others run; false when that is the one that asks. When all wait, the one that has
  /// waited longest looks again.
  bool pass_on(std::size_t from) {
    std::size_t next = from;
    for (std::size_t r = 0; r < ranks_.size(); ++r)
      if (ranks_[r].clock < ranks_[next].clock) next = r;
    if (ranks_[next].clock == infinity) {
      for (std::size_t r = 0; r < ranks_.size(); ++r)
        if (ranks_[r].now < ranks_[next].now) next = r;
      if (ranks_[next].now < infinity) ranks_[next].clock = ranks_[next].now += costs_.look;
    }
    if (next == from) return false;
    ranks_[next].turn.release();
    return true;
  }

  const RankCosts& costs_;
  const std::function<double(int)>& spent_;
  std::vector<Rank> ranks_;
  std::deque<Collected> tallies_{Collected{}};
  std::exception_ptr error_;
};

using Relax = Relaxer<double, 4, PlainTimes<double>, FirstTargets>;

/// One rank of a solve.
class Player {
 public:
  void play(Communicator& communicator, const Metric& metric, std::span<const Seed> seeds) {
    std::vector<ElementId> elements;
    for (const std::uint64_t e : part.global_element) elements.emplace_back(static_cast<std::size_t>(e));
    const Metric own = metric.of(elements);
    const auto problem = ranks::prepare_part<double, 4>(communicator, part, own, {}, Reorder::automatic, 1);
    const Halo halo = make_halo<4>(communicator, part, [&](VertexId v) { return problem.internal(v); });
    SolveState<double> state;
    state.tolerance = default_tolerance(false);
    state.time.assign(problem.vertex_count, infinity);
    for (const Seed& seed : seeds)
      if (const VertexId v = part.local_vertex(seed.vertex.value); v.valid() && part.owns(v)) {
        state.seeds.push_back(problem.internal(v));
        state.time[problem.internal(v)] = seed.time / problem.unit;
      }
    const Relax relax(problem, PlainTimes<double>{state.time.data()},
                      FirstTargets{static_cast<std::uint32_t>(part.owned)});
    const int tag = communicator.next_tag();
    Outbox<double> out(communicator, halo, tag);
    ranks::BandedLocal<Relax> local(relax, state, halo, band_tuning(4, part.whole_vertices, 1, 0));
    const Progress progress;
    ranks::Bands<double> bands(communicator, local, out, tag, Pace::banded, progress);
    running_ = &local;
    bands.run();
    ended_ = local.counters();
    running_ = nullptr;
    traffic.messages = out.messages();
    traffic.bytes = out.bytes();
    traffic.halo_bytes = halo.copies.size() * Outbox<double>::value_bytes;
    traffic.bands = bands.counters().bands;
    traffic.agreements = bands.counters().agreements;
    for (std::size_t v = 0; v < part.owned; ++v)
      times.push_back(state.time[problem.internal(VertexId(v))] * problem.unit);
  }

  [[nodiscard]] Counters counters() const { return running_ != nullptr ? running_->counters() : ended_; }
  [[nodiscard]] double worked(const RankCosts& costs) const {
    const Counters now = counters();
    return costs.update * static_cast<double>(now.vertex_updates) + costs.solve * static_cast<double>(now.local_solves);
  }

  MeshPart<4> part;
  Traffic traffic;            ///< of this rank
  std::vector<double> times;  ///< of the part's own vertices

 private:
  const ranks::BandedLocal<Relax>* running_ = nullptr;
  Counters ended_;
};

}  // namespace

std::vector<double> run_on_virtual_clocks(int ranks, const RankCosts& costs, const std::function<double(int)>& spent,
                                          const std::function<void(Communicator&)>& work) {
  return World(ranks, costs, spent).run(work);
}

VirtualSolve virtual_solve(const TetMesh& mesh, const Metric& metric, const std::vector<Seed>& seeds,
                           const std::vector<std::uint32_t>& rank_of, int ranks, const RankCosts& costs) {
  std::vector<Player> players(static_cast<std::size_t>(ranks));
  {
    const PartCutter<4> cutter(mesh, rank_of, players.size());
    for (std::size_t r = 0; r < players.size(); ++r) players[r].part = cutter.cut(static_cast<std::uint32_t>(r));
  }
  const auto player = [&](int rank) -> Player& { return players[static_cast<std::size_t>(rank)]; };
  const std::vector<double> ends = run_on_virtual_clocks(
      ranks, costs, [&](int rank) { return player(rank).worked(costs); },
      [&](Communicator& communicator) { player(communicator.rank()).play(communicator, metric, seeds); });
  VirtualSolve result;
  result.seconds = *std::max_element(ends.begin(), ends.end());
  result.times.resize(mesh.vertex_count());
  double updates = 0;
  for (const Player& own : players) {
    result.busy += own.worked(costs) / (ranks * result.seconds);
    updates += static_cast<double>(own.counters().vertex_updates);
    result.kept = std::max(result.kept, static_cast<double>(own.part.mesh.element_count()) * ranks /
                                            static_cast<double>(mesh.element_count()));
    result.traffic.messages += own.traffic.messages;
    result.traffic.bytes += own.traffic.bytes;
    result.traffic.halo_bytes += own.traffic.halo_bytes;
    result.traffic.bands = own.traffic.bands;
    result.traffic.agreements = own.traffic.agreements;
    for (std::size_t v = 0; v < own.part.owned; ++v) result.times[own.part.global_vertex[v]] = own.times[v];
  }
  result.updates = updates / static_cast<double>(mesh.vertex_count());
  return result;
}

}  // namespace isochron::bench
