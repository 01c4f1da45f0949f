#include "bench/paper/scale_schedule.h"

#include <algorithm>
#include <cmath>

namespace isochron::bench {

void BandLoad::clear() {
  work.clear();
  messages.clear();
  crossings = 0;
  width = parts_crossed = 0;
  weight = 1;
}

void Outcome::scale(double factor) {
  for (double* part : {&seconds, &ideal, &repeats, &imbalance, &fill, &latency, &bandwidth, &reductions, &bands,
                       &rounds, &messages, &vertices, &pairs, &values, &sent})
    *part *= factor;
}

ScheduleClock::ScheduleClock(const Machine& machine, const Rework& rework, std::uint32_t ranks, BandRule rule)
    : rework_(rework), ranks_(ranks), rule_(rule), doublings_(std::ceil(std::log2(static_cast<double>(ranks)))) {
  Machine cheaper = machine;
  const auto add_clock = [&] { clocks_.push_back({cheaper, 0, std::vector<double>(lead, 0), 0, {}, {}}); };
  add_clock();
  cheaper.reduction = 0;
  add_clock();
  cheaper.byte = 0;
  add_clock();
  cheaper.message = cheaper.latency = 0;
  add_clock();
  if (rule == BandRule::ahead)
    for (Clock& clock : clocks_) {
      clock.free.assign(ranks, 0);
      clock.filled.assign(ranks, 0);
    }
  busy_.assign(ranks, 0);
  traffic_.assign(ranks, 0);
}

void ScheduleClock::gather(const BandLoad& band) {
  const Machine& machine = clocks_.front().machine;
  const double x = band.parts_crossed;
  double pushes = 1;
  if (ranks_ > 1) pushes += rework_.early * x + (rule_ == BandRule::ahead ? rework_.late * x * x : 0);
  const double again = 1 + rework_.resend * band.width;
  double owned = 0;
  for (const RankWork& w : band.work) {
    busy_[w.rank] = w.vertices * pushes;
    owned += w.vertices;
  }
  for (const RankMessage& m : band.messages) {
    busy_[m.to] += machine.ghost_push * again * m.values;
    const double any = std::min(1.0, m.values);  // less than a value on average: a message now and then
    traffic_[m.from] += machine.sends * any;
    traffic_[m.to] += machine.sends * any;
    total_.pairs += band.weight * any;
    total_.messages += band.weight * machine.sends * any;
    total_.values += band.weight * m.values;
    total_.sent += band.weight * again * m.values;
  }
  double sum = 0, most = 0;
  for (const RankWork& w : band.work) {
    sum += busy_[w.rank];
    most = std::max(most, busy_[w.rank]);
  }
  const double active = std::max<double>(1, static_cast<double>(band.work.size()));
  uneven_ += band.weight * (most - sum / active);
  idle_ += band.weight * (sum / active - sum / ranks_);
  total_.vertices += band.weight * owned;
  total_.ideal += band.weight * machine.push * owned / ranks_;
  total_.repeats += band.weight * machine.push * (sum - owned) / ranks_;
}

void ScheduleClock::forget(const BandLoad& band) {
  for (const RankWork& w : band.work) busy_[w.rank] = traffic_[w.rank] = 0;
  for (const RankMessage& m : band.messages) busy_[m.to] = traffic_[m.to] = 0;
}

void ScheduleClock::play(const BandLoad& band) {
  gather(band);
  for (Clock& clock : clocks_)
    if (rule_ == BandRule::ahead) play_ahead(clock, band);
    else play_together(clock, band);
  forget(band);
  ++played_;
  total_.bands += band.weight;
  const int crossings = band.crossings > 0 ? band.crossings + rework_.echoes : 0;
  total_.rounds += band.weight * (rule_ == BandRule::wait ? 1 + crossings : 1);
}

/// All ranks begin a band together. First comes what it reaches from within each rank; what comes through other ranks
/// has to fly there, once for each border that is passed.
void ScheduleClock::play_together(Clock& clock, const BandLoad& band) {
  const Machine& m = clock.machine;
  double first = 0, later = 0, sent = 0;
  const int crossings = band.crossings > 0 ? band.crossings + rework_.echoes : 0;
  for (const RankWork& w : band.work) {
    const double late = crossings > 0 ? std::min(1.0, w.late) : 0;
    first = std::max(first, m.push * busy_[w.rank] * (1 - late) + m.message * traffic_[w.rank]);
    later = std::max(later, m.push * busy_[w.rank] * late);
  }
  const double value = m.byte * m.value_bytes * (1 + rework_.resend * band.width);
  for (const RankMessage& message : band.messages) sent = std::max(sent, value * message.values);
  const double flight = band.messages.empty() ? 0 : m.latency;
  const double reductions = m.reduction * doublings_ * (rule_ == BandRule::wait ? 1 + crossings : 1);
  clock.now += band.weight * (first + later + sent + flight * (1 + crossings) + reductions);
  clock.last = clock.now;
}

/// A rank begins a band when it has done its last one, the values sent to it in the last band are there, and the
/// reduction that is `lead` bands old has come back.
void ScheduleClock::play_ahead(Clock& clock, const BandLoad& band) {
  const Machine& m = clock.machine;
  const double value = m.byte * m.value_bytes * (1 + rework_.resend * band.width);
  double& behind = clock.ends[played_ % lead];
  double end = 0;
  for (const RankWork& w : band.work) {
    const double start = std::max({clock.free[w.rank], clock.filled[w.rank], behind});
    clock.free[w.rank] = start + m.push * busy_[w.rank] + m.message * traffic_[w.rank];
    end = std::max(end, clock.free[w.rank]);
  }
  for (const RankMessage& message : band.messages) {
    const double arrival = clock.free[message.from] + m.latency + value * message.values;
    clock.filled[message.to] = std::max(clock.filled[message.to], arrival);
    clock.last = std::max(clock.last, arrival);
  }
  clock.last = std::max(clock.last, end);
  clock.now = std::max(clock.now, end) + m.reduction * doublings_;
  behind = clock.now;
}

Outcome ScheduleClock::outcome() const {
  Outcome result = total_;
  std::vector<double> seconds;
  for (const Clock& clock : clocks_) seconds.push_back(std::max(clock.now, clock.last));
  result.seconds = seconds[0];
  result.reductions = seconds[0] - seconds[1];
  result.bandwidth = seconds[1] - seconds[2];
  result.latency = seconds[2] - seconds[3];
  // Without a network what is left beside the work is waiting for others: for the busiest, or for the front.
  const double waiting = std::max(0.0, seconds[3] - result.ideal - result.repeats);
  const double share = uneven_ + idle_ > 0 ? uneven_ / (uneven_ + idle_) : 0;
  result.imbalance = waiting * share;
  result.fill = waiting * (1 - share);
  return result;
}

}  // namespace isochron::bench
