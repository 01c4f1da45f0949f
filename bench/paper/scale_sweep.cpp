// The bands of a front that passes through blocks.
#include <algorithm>
#include <cmath>

#include "bench/paper/scale_parts.h"

namespace isochron::bench {
namespace {

/// Where a ghost layer lies in a cell: on its first or last vertices along some axes, across it along the others.
struct Layer {
  double low = 0, vertices = 1;
  std::array<double, 3> span{};
};

Layer layer_of(const FrontCell& cell, const std::array<int, 3>& offset) {
  Layer layer;
  layer.low = static_cast<double>(cell.low);
  for (int a = 0; a < 3; ++a) {
    const auto span = static_cast<double>(cell.span[a]), size = static_cast<double>(cell.size[a]);
    if (offset[a] == 0) {
      layer.span[a] = span;
      layer.vertices *= size;
    } else {  // a layer one vertex thick: its middle
      const bool late = (offset[a] > 0) != ((cell.falls >> a & 1U) != 0);
      layer.low += late ? span * (1 - 0.5 / size) : span * 0.5 / size;
    }
  }
  return layer;
}

/// True when the cell ends its part wherever the offset leads out.
bool leads_out(const FrontCell& cell, const std::array<int, 3>& offset) {
  for (int a = 0; a < 3; ++a) {
    if (offset[a] < 0 && (cell.ends >> a & 1U) == 0) return false;
    if (offset[a] > 0 && (cell.ends >> (3 + a) & 1U) == 0) return false;
  }
  return true;
}

/// How many borders in a row a front passes on its way out of the cell within a band that ends at `end`: near a
/// downwind edge or corner it passes two or three. `sides`: axes along which the part downwind is another rank's.
int borders_in_a_row(const FrontCell& cell, unsigned sides, double end) {
  std::array<double, 3> spans{HUGE_VAL, HUGE_VAL, HUGE_VAL};
  int count = 0;
  double rest = 0;
  for (int a = 0; a < 3; ++a) {
    if ((sides >> a & 1U) != 0) spans[count++] = static_cast<double>(cell.span[a]);
    else rest += static_cast<double>(cell.span[a]);
  }
  std::sort(spans.begin(), spans.end());
  // The edge (corner, face) where the sides meet is reached in this band if its earliest point is.
  while (count > 0 && static_cast<double>(cell.high()) - rest > end) rest += spans[--count];
  return count;
}

}  // namespace

double share_before(double time, std::array<double, 3> span) {
  const double whole = span[0] + span[1] + span[2], longest = std::max({span[0], span[1], span[2]});
  if (time <= 0) return 0;
  if (time >= whole) return 1;
  // Inclusion and exclusion over the corners of the box; axes without a rise only shift the rest.
  int n = 0;
  double volume = 1;
  for (const double d : span) {
    if (d < 1e-3 * longest) time -= 0.5 * d;
    else {
      span[n++] = d;
      volume *= d * n;
    }
  }
  double sum = 0;
  for (unsigned corner = 0; corner < 1U << n; ++corner) {
    double rest = time, sign = 1;
    for (int a = 0; a < n; ++a)
      if ((corner >> a & 1U) != 0) {
        rest -= span[a];
        sign = -sign;
      }
    if (rest <= 0) continue;
    double power = sign;
    for (int a = 0; a < n; ++a) power *= rest;
    sum += power;
  }
  return std::clamp(sum / volume, 0.0, 1.0);
}

BandSweep::BandSweep(const BlockPlan& plan, const std::vector<FrontCell>& cells, double width, std::int64_t stride)
    : plan_(plan),
      cells_(cells),
      width_(width),
      side_(std::cbrt(plan.vertices() / plan.parts())),
      stride_(stride),
      band_(stride / 2 - stride),
      work_of_(plan.ranks, -1),
      messages_of_(plan.ranks, -1) {}

bool BandSweep::next(BandLoad& band) {
  for (const RankWork& w : band.work) work_of_[w.rank] = messages_of_[w.rank] = -1;
  band.clear();
  next_message_.clear();
  while (true) {
    band_ += stride_;
    const double begin = static_cast<double>(band_) * width_, end = begin + width_;
    for (; started_ < cells_.size() && static_cast<double>(cells_[started_].low) < end; ++started_)
      active_.push_back(static_cast<std::uint32_t>(started_));
    for (std::size_t i = 0; i < active_.size();) {
      const FrontCell& cell = cells_[active_[i]];
      if (static_cast<double>(cell.high()) >= begin) reach(cell, band);
      if (static_cast<double>(cell.high()) < end) {
        active_[i] = active_.back();
        active_.pop_back();
      } else {
        ++i;
      }
    }
    if (!band.work.empty()) break;
    if (active_.empty() && started_ == cells_.size()) return false;
  }
  for (RankWork& w : band.work)
    if (w.vertices > 0) w.late = std::min(1.0, w.late / w.vertices);
  band.width = width_;
  band.parts_crossed = width_ / side_;
  band.weight = static_cast<double>(stride_);
  return true;
}

unsigned BandSweep::foreign_sides(const FrontCell& cell, const BlockAt& at) const {
  unsigned sides = 0;
  for (int a = 0; a < 3; ++a)
    for (const int way : {-1, 1}) {
      if ((cell.ends >> (way > 0 ? 3 + a : a) & 1U) == 0) continue;
      const std::uint32_t part = plan_.beside(at, a, way);
      if (part == BlockPlan::none || plan_.rank_of[part] == plan_.rank_of[cell.part]) continue;
      const bool downwind = (way > 0) != ((cell.falls >> a & 1U) != 0);
      sides |= 1U << (downwind ? 3 + a : a);
      // A front that runs along the border bends to both sides of it.
      if (cell.span[a] < 0.25F * cell.size[a]) sides |= 1U << (3 + a);
    }
  return sides;
}

void BandSweep::reach(const FrontCell& cell, BandLoad& band) {
  const double begin = static_cast<double>(band_) * width_, end = begin + width_, low = static_cast<double>(cell.low);
  const std::array<double, 3> span{static_cast<double>(cell.span[0]), static_cast<double>(cell.span[1]),
                                   static_cast<double>(cell.span[2])};
  const double size =
      static_cast<double>(cell.size[0]) * static_cast<double>(cell.size[1]) * static_cast<double>(cell.size[2]);
  // A cell without any rise of time is reached at once.
  const auto before = [&](double t) {
    return cell.high() > cell.low ? share_before(t - low, span) : t > low ? 1.0 : 0.0;
  };
  const double vertices = size * (before(end) - (begin > low ? before(begin) : 0));
  const std::uint32_t rank = plan_.rank_of[cell.part];
  if (work_of_[rank] < 0) {
    work_of_[rank] = static_cast<std::int32_t>(band.work.size());
    band.work.push_back({rank, 0, 0});
  }
  const BlockAt at = plan_.at(cell.part);
  const unsigned sides = foreign_sides(cell, at);
  RankWork& work = band.work[static_cast<std::size_t>(work_of_[rank])];
  work.vertices += vertices;
  if (sides == 0) return;
  double squares = 0, entered = 0, left = 0;
  for (const double d : span) squares += d * d;
  for (int a = 0; a < 3 && squares > 0; ++a) {
    // Along its characteristic the front passes a cell's length on this axis in squares / span.
    const double passed = width_ * span[a] / squares;
    if ((sides >> a & 1U) != 0) entered += 0.5 * passed;
    if ((sides >> (3 + a) & 1U) != 0) left += std::floor(passed);
  }
  work.late += vertices * std::min(1.0, entered);
  if (sides >> 3U != 0) {
    const int borders = borders_in_a_row(cell, sides >> 3U, end);
    if (borders > 0) band.crossings = std::max(band.crossings, borders + static_cast<int>(left));
  }
  send(cell, at, band);
}

void BandSweep::send(const FrontCell& cell, const BlockAt& at, BandLoad& band) {
  const double begin = static_cast<double>(band_) * width_, end = begin + width_;
  const std::uint32_t from = plan_.rank_of[cell.part];
  for (const auto& offset : ghost_offsets) {
    if (!leads_out(cell, offset)) continue;
    const Layer layer = layer_of(cell, offset);
    const double whole = layer.span[0] + layer.span[1] + layer.span[2];
    if (layer.low >= end || layer.low + whole < begin) continue;
    const auto before = [&](double t) {
      return whole > 0 ? share_before(t - layer.low, layer.span) : t > layer.low ? 1.0 : 0.0;
    };
    const double values = layer.vertices * (before(end) - before(begin));
    if (!(values > 0)) continue;
    const std::uint32_t part = plan_.beside(at, offset);
    if (part == BlockPlan::none || plan_.rank_of[part] == from) continue;
    add_message(from, plan_.rank_of[part], values, band);
  }
}

void BandSweep::add_message(std::uint32_t from, std::uint32_t to, double values, BandLoad& band) {
  for (std::int32_t i = messages_of_[from]; i >= 0; i = next_message_[static_cast<std::size_t>(i)])
    if (ModelMessage& known = band.messages[static_cast<std::size_t>(i)]; known.to == to) {
      known.values += values;
      return;
    }
  next_message_.push_back(messages_of_[from]);
  messages_of_[from] = static_cast<std::int32_t>(band.messages.size());
  band.messages.push_back({from, to, values});
}

Outcome simulate(const BlockPlan& plan, const std::vector<FrontCell>& cells, double width, const Machine& machine,
                 BandRule rule, std::int64_t samples) {
  std::int64_t stride = 1;
  if (rule != BandRule::ahead) {
    float last = 0;
    for (const FrontCell& cell : cells) last = std::max(last, cell.high());
    stride = std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(last) / width) / samples);
  }
  ScheduleClock clock(machine, plan.rework, plan.ranks, rule);
  BandSweep sweep(plan, cells, width, stride);
  for (BandLoad band; sweep.next(band);) clock.play(band);
  Outcome outcome = clock.outcome();
  if (stride > 1 && outcome.vertices > 0) outcome.scale(plan.vertices() / outcome.vertices);
  return outcome;
}

}  // namespace isochron::bench
