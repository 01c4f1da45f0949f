#include "isochron/adjoint/system.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "isochron/core/stop.h"
#include "isochron/error.h"

namespace isochron {
namespace {

constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

/// Strongly connected components by Tarjan's algorithm, those that others depend on first.
class Components {
 public:
  Components(const DependenceSystem& system, std::vector<std::uint32_t>& order, std::vector<std::uint32_t>& group_begin)
      : system_(system),
        order_(order),
        group_begin_(group_begin),
        found_(system.size(), none),
        low_(system.size(), 0),
        finished_(system.size(), 0) {}

  void find() {
    order_.reserve(system_.size());
    const StoppableLoop loop;
    loop(0, system_.size(), [&](std::size_t row) {
      if (found_[row] == none) visit(static_cast<std::uint32_t>(row));
    });
    group_begin_.push_back(static_cast<std::uint32_t>(order_.size()));
  }

 private:
  static constexpr std::uint32_t placed = none - 1;  // in `low_`: its component is complete

  void visit(std::uint32_t root) {
    enter(root);
    while (!calls_.empty()) {
      auto& [row, next] = calls_.back();
      if (next < system_.rows().node_end[row]) {
        const std::uint32_t to = system_.rows().node[next++];
        if (found_[to] == none) enter(to);
        else if (low_[to] != placed) low_[row] = std::min(low_[row], found_[to]);
        continue;
      }
      leave(row);
    }
  }

  void enter(std::uint32_t row) {
    found_[row] = low_[row] = discovered_++;
    open_.push_back(row);
    calls_.emplace_back(row, system_.node_begin(row));
  }

  void leave(std::uint32_t row) {
    finished_[row] = left_++;
    calls_.pop_back();
    if (!calls_.empty()) {
      const std::uint32_t caller = calls_.back().first;
      low_[caller] = std::min(low_[caller], low_[row]);
    }
    if (low_[row] != found_[row]) return;
    const std::size_t begin = order_.size();
    group_begin_.push_back(static_cast<std::uint32_t>(begin));
    for (std::uint32_t member = none; member != row; open_.pop_back()) {
      member = open_.back();
      low_[member] = placed;
      order_.push_back(member);
    }
    // So that a sweep meets most rows after those they depend on.
    if (order_.size() - begin > 1)
      std::sort(order_.begin() + static_cast<std::ptrdiff_t>(begin), order_.end(),
                [this](std::uint32_t a, std::uint32_t b) { return finished_[a] < finished_[b]; });
  }

  const DependenceSystem& system_;
  std::vector<std::uint32_t>& order_;
  std::vector<std::uint32_t>& group_begin_;
  std::vector<std::uint32_t> found_, low_, finished_;
  std::uint32_t discovered_ = 0, left_ = 0;
  std::vector<std::uint32_t> open_;
  std::vector<std::pair<std::uint32_t, std::size_t>> calls_;
};

/// Larger groups of rows than this are solved by sweeps, the others by elimination.
constexpr std::size_t max_eliminated = 200;

[[noreturn]] void refuse_circle(std::size_t rows) {
  throw RuntimeError(fmt::format(
      "the times of {} vertices depend on each other in a circle that leaves their derivatives open (edges of very "
      "different lengths are likely); repair the mesh there",
      rows));
}

/// Solves A x = b in place, without pivots: A is an M-matrix or the transpose of one, row by row.
void eliminate(std::vector<double>& a, std::vector<double>& b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    const double pivot = a[k * n + k];
    if (!(pivot > 1e-14)) refuse_circle(n);
    for (std::size_t row = k + 1; row < n; ++row) {
      const double factor = a[row * n + k] / pivot;
      if (factor == 0) continue;
      for (std::size_t c = k + 1; c < n; ++c) a[row * n + c] -= factor * a[k * n + c];
      b[row] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t c = k + 1; c < n; ++c) b[k] -= a[k * n + c] * b[c];
    b[k] /= a[k * n + k];
  }
}

/// Sweeps until the values stay what they are up to rounding. `sweep` gives the largest change and the largest value.
template <class Sweep>
void sweep_to_end(std::size_t rows, const Sweep& sweep) {
  constexpr std::size_t max_sweeps = 1'000'000;  // each takes away a share of what is left
  for (std::size_t k = 0; k < max_sweeps; ++k) {
    const auto [change, largest] = sweep();
    if (!(change > 2 * std::numeric_limits<double>::epsilon() * largest)) return;
  }
  refuse_circle(rows);
}

}  // namespace

void DependenceRows::append(const DependenceRows& others, std::uint32_t shared) {
  const std::size_t rows = size(), nodes = node.size(), terms = element.size();
  const std::uint32_t shift = current();
  const auto moved = [&](std::uint32_t row) { return row < shared ? row : row - shared + shift; };
  for (std::size_t i = 0; i < others.size(); ++i) {
    node_end.push_back(others.node_end[i] + nodes);
    term_end.push_back(others.term_end[i] + terms);
  }
  for (const std::uint32_t from : others.node) node.push_back(moved(from));
  weight.insert(weight.end(), others.weight.begin(), others.weight.end());
  element.insert(element.end(), others.element.begin(), others.element.end());
  by_metric.insert(by_metric.end(), others.by_metric.begin(), others.by_metric.end());
  const auto first = static_cast<std::uint32_t>(rows);
  for (Onset onset : others.onsets) onsets.push_back({onset.row + first, onset.source});
  for (const Position& moved_source : others.positions)
    positions.push_back({moved_source.row + first, moved_source.source, moved_source.gradient});
  for (const Level& level : others.levels) levels.push_back({level.row + first, level.vertex, level.weight});
  for (const Place& place : others.places)
    places.push_back({place.row + first, place.vertex, place.gradient, place.source});
}

DependenceSystem::DependenceSystem(DependenceRows rows, Shape shape)
    : rows_(std::move(rows)), shape_(std::move(shape)) {
  Components(*this, order_, group_begin_).find();
  place_.resize(order_.size());
  for (std::size_t k = 0; k < order_.size(); ++k) place_[order_[k]] = static_cast<std::uint32_t>(k);
}

void DependenceSystem::solve(std::span<double> values) const {
  const auto from_others = [&](std::uint32_t row, std::size_t begin, std::size_t end) {
    double sum = 0;
    for (std::size_t k = node_begin(row); k < rows_.node_end[row]; ++k) {
      const std::uint32_t place = place_[rows_.node[k]];
      if (place >= begin && place < end) sum += rows_.weight[k] * values[rows_.node[k]];
    }
    return sum;
  };
  const StoppableLoop loop;
  loop(0, group_begin_.size() - 1, [&](std::size_t group) {
    const std::size_t begin = group_begin_[group], end = group_begin_[group + 1];
    for (std::size_t k = begin; k < end; ++k) values[order_[k]] += from_others(order_[k], 0, begin);
    if (end - begin < 2) return;
    if (end - begin <= max_eliminated) return solve_small(begin, end, false, values);
    const std::vector<std::uint32_t> members(order_.begin() + static_cast<std::ptrdiff_t>(begin),
                                             order_.begin() + static_cast<std::ptrdiff_t>(end));
    std::vector<double> own;
    own.reserve(members.size());
    for (const std::uint32_t row : members) own.push_back(values[row]);
    sweep_to_end(members.size(), [&] {
      double change = 0, largest = 0;
      for (std::size_t i = 0; i < members.size(); ++i) {
        const double now = own[i] + from_others(members[i], begin, end);
        change = std::max(change, std::abs(now - values[members[i]]));
        largest = std::max(largest, std::abs(now));
        values[members[i]] = now;
      }
      return std::pair(change, largest);
    });
  });
}

void DependenceSystem::solve_small(std::size_t begin, std::size_t end, bool transposed,
                                   std::span<double> values) const {
  const std::size_t n = end - begin;
  std::vector<double> a(n * n, 0.0), b(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t row = order_[begin + i];
    b[i] = values[row];
    a[i * n + i] += 1;
    for (std::size_t k = node_begin(row); k < rows_.node_end[row]; ++k) {
      const std::uint32_t place = place_[rows_.node[k]];
      if (place < begin || place >= end) continue;
      const std::size_t j = place - begin;
      a[transposed ? j * n + i : i * n + j] -= rows_.weight[k];
    }
  }
  eliminate(a, b);
  for (std::size_t i = 0; i < n; ++i) values[order_[begin + i]] = b[i];
}

void DependenceSystem::solve_transposed(std::span<double> values) const {
  const StoppableLoop loop;
  const std::size_t groups = group_begin_.size() - 1;
  loop(0, groups, [&](std::size_t k) { pass_back(group_begin_[groups - 1 - k], group_begin_[groups - k], values); });
}

void DependenceSystem::pass_back(std::size_t begin, std::size_t end, std::span<double> values) const {
  const auto pass = [&](std::uint32_t row, double value, std::size_t first, std::size_t last) {
    for (std::size_t k = node_begin(row); k < rows_.node_end[row]; ++k) {
      const std::uint32_t place = place_[rows_.node[k]];
      if (place >= first && place < last) values[rows_.node[k]] += rows_.weight[k] * value;
    }
  };
  if (end - begin > 1 && end - begin <= max_eliminated) {
    solve_small(begin, end, true, values);
  } else if (end - begin > 1) {
    // What a row has received is passed on at once; `values` holds what is still to be passed on.
    std::vector<double> total(end - begin, 0.0);
    sweep_to_end(end - begin, [&] {
      double change = 0, largest = 0;
      for (std::size_t i = end - begin; i-- > 0;) {
        const std::uint32_t row = order_[begin + i];
        const double gained = std::exchange(values[row], 0.0);
        if (gained != 0) pass(row, gained, begin, end);
        total[i] += gained;
        change = std::max(change, std::abs(gained));
        largest = std::max(largest, std::abs(total[i]));
      }
      return std::pair(change, largest);
    });
    for (std::size_t i = 0; i < total.size(); ++i) values[order_[begin + i]] += total[i];
  }
  for (std::size_t k = begin; k < end; ++k)
    if (const double value = values[order_[k]]; value != 0) pass(order_[k], value, 0, begin);
}

std::size_t DependenceSystem::group_of(std::uint32_t place) const {
  return static_cast<std::size_t>(std::upper_bound(group_begin_.begin(), group_begin_.end(), place) -
                                  group_begin_.begin()) -
         1;
}

std::vector<std::uint32_t> DependenceSystem::ancestors(std::uint32_t row) const {
  std::vector<std::uint32_t> found{row};
  std::vector<bool> met(size(), false);
  met[row] = true;
  for (std::size_t k = 0; k < found.size(); ++k)
    for (std::size_t i = node_begin(found[k]); i < rows_.node_end[found[k]]; ++i)
      if (const std::uint32_t from = rows_.node[i]; !met[from]) {
        met[from] = true;
        found.push_back(from);
      }
  for (std::uint32_t& place : found) place = place_[place];
  std::sort(found.begin(), found.end(), std::greater<>());
  return found;
}

}  // namespace isochron
