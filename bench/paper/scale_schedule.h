// The schedule of a distributed solve on paper: rank clocks, messages and reductions, round by round.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/paper/scale_model.h"

namespace isochron::bench {

enum class BandRule {
  wait,  ///< rounds of work, exchange and reduction, until no rank has work left in the band
  flow,  ///< values are worked on as they arrive; one reduction when all are done with the band (our solver)
  ahead  ///< a rank begins the next band once its neighbours' values are there; reductions are `lead` bands behind
};

/// What one rank does in a band.
struct RankWork {
  std::uint32_t rank;
  double vertices;  ///< that the band reaches and the rank owns
  double late;      ///< share of them that the band reaches through another rank
};

/// The border values that one rank sends another in a band.
struct RankMessage {
  std::uint32_t from, to;
  double values;
};

/// One band. Each rank and each pair of ranks occurs once; a rank that sends has work.
struct BandLoad {
  std::vector<RankWork> work;
  std::vector<RankMessage> messages;
  int crossings = 0;         ///< how many times a front passes from rank to rank within the band, at most
  double width = 0;          ///< in mean edges
  double parts_crossed = 0;  ///< width in sides of a part
  double weight = 1;         ///< bands that this one stands for

  void clear();
};

/// Seconds of a solve and where they went. They add up: `seconds` = `ideal` + what was lost.
struct Outcome {
  double seconds = 0;
  double ideal = 0;       ///< every vertex once, shared evenly
  double repeats = 0;     ///< vertices processed again, and received values pushed from
  double imbalance = 0;   ///< ranks that the front has reached wait for the busiest one
  double fill = 0;        ///< ranks that the front has not reached, or has left
  double latency = 0;     ///< messages as such: sending, flying, taking
  double bandwidth = 0;   ///< their bytes
  double reductions = 0;  ///< agreeing on the next band
  double bands = 0, rounds = 0, messages = 0, vertices = 0;
  double pairs = 0;   ///< of ranks that exchange something in a band, over all bands
  double values = 0;  ///< ghosts, each once
  double sent = 0;    ///< values sent, with those that were corrected

  [[nodiscard]] double efficiency() const { return seconds > 0 ? ideal / seconds : 1; }
  /// All of it times a factor: for a sample of the bands.
  void scale(double factor);
};

/// Plays bands one after the other. To see what each cost is worth it keeps further clocks that leave out reductions,
/// then bytes, then messages. With `ahead` bands must not be left out: their weights are 1.
class ScheduleClock {
 public:
  static constexpr std::size_t lead = 16;

  ScheduleClock(const Machine& machine, const Rework& rework, std::uint32_t ranks, BandRule rule);

  void play(const BandLoad& band);
  [[nodiscard]] Outcome outcome() const;

 private:
  /// One way of counting costs.
  struct Clock {
    Machine machine;
    double now = 0;              ///< end of the last reduction
    std::vector<double> ends;    ///< of the last `lead` reductions, in a ring
    double last = 0;             ///< latest that any rank was busy or any message arrived
    std::vector<double> free;    ///< by rank: when it has done its last band
    std::vector<double> filled;  ///< by rank: when the last message for it arrived
  };

  void play_together(Clock& clock, const BandLoad& band);
  void play_ahead(Clock& clock, const BandLoad& band);
  /// Fills `busy_` with each rank's pushes and `traffic_` with its messages.
  void gather(const BandLoad& band);
  void forget(const BandLoad& band);

  Rework rework_;
  std::uint32_t ranks_;
  BandRule rule_;
  double doublings_;
  std::vector<Clock> clocks_;
  std::vector<double> busy_, traffic_;  ///< by rank, zero between bands
  Outcome total_;
  std::size_t played_ = 0;
  double uneven_ = 0, idle_ = 0;  ///< pushes lost to imbalance and to empty ranks, if every band waited
};

}  // namespace isochron::bench
