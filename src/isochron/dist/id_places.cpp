#include "isochron/dist/id_places.h"

#include "isochron/comm/collectives.h"

#include <algorithm>

namespace isochron {
namespace {

/// Which rank looks after an id.
class Ranges {
 public:
  Ranges(Communicator& communicator, std::span<const std::vector<std::uint64_t>> lists) {
    double largest = 0;
    for (const auto& list : lists)
      for (const std::uint64_t id : list) largest = std::max(largest, static_cast<double>(id));
    max_over_ranks(communicator, {&largest, 1});
    last_ = communicator.ranks() - 1;
    width_ = static_cast<std::uint64_t>(largest / static_cast<double>(communicator.ranks())) + 1;
  }
  [[nodiscard]] std::size_t keeper(std::uint64_t id) const {
    return static_cast<std::size_t>(std::min<std::uint64_t>(id / width_, last_));
  }

 private:
  std::uint64_t width_ = 1, last_ = 0;
};

/// An id and the lowest rank that has it.
struct Held {
  std::uint64_t id, rank;
};

std::vector<Held> lowest_holders(const std::vector<std::vector<std::uint64_t>>& received, bool& repeated,
                                 std::uint64_t& example) {
  std::vector<Held> all;
  for (std::size_t r = 0; r < received.size(); ++r)
    for (const std::uint64_t id : received[r]) all.push_back({id, r});
  std::stable_sort(all.begin(), all.end(), [](const Held& a, const Held& b) { return a.id < b.id; });
  const auto same = [](const Held& a, const Held& b) { return a.id == b.id; };
  const auto twice = std::adjacent_find(all.begin(), all.end(), same);
  repeated = twice != all.end();
  if (repeated) example = twice->id;
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
  return all;
}

}  // namespace

IdPlaces place_ids(Communicator& communicator, std::span<const std::vector<std::uint64_t>> lists) {
  const Ranges ranges(communicator, lists);
  std::vector<std::vector<std::uint64_t>> questions(communicator.ranks());
  for (const auto& list : lists)
    for (const std::uint64_t id : list) questions[ranges.keeper(id)].push_back(id);
  const auto received = exchange_values(communicator, questions);
  bool repeated = false;
  std::uint64_t example = 0;
  const std::vector<Held> held = lowest_holders(received, repeated, example);
  const std::uint64_t before = sum_before(communicator, held.size());
  std::vector<std::vector<IdPlace>> answers(communicator.ranks());
  for (std::size_t r = 0; r < received.size(); ++r)
    for (const std::uint64_t id : received[r]) {
      const auto at = std::lower_bound(held.begin(), held.end(), id,
                                       [](const Held& h, std::uint64_t wanted) { return h.id < wanted; });
      answers[r].push_back({before + static_cast<std::uint64_t>(at - held.begin()), at->rank});
    }
  const auto received_places = exchange_values(communicator, answers);

  IdPlaces result;
  std::vector<std::size_t> next(received_places.size(), 0);
  for (const auto& list : lists) {
    std::vector<IdPlace>& places = result.of.emplace_back();
    for (const std::uint64_t id : list) {
      const std::size_t keeper = ranges.keeper(id);
      places.push_back(received_places[keeper][next[keeper]++]);
    }
  }
  std::vector<std::uint64_t> examples(2 * communicator.ranks(), 0);
  if (repeated) examples[2 * communicator.index()] = 1, examples[2 * communicator.index() + 1] = example;
  sum_over_ranks(communicator, examples);
  for (std::size_t r = 0; r < communicator.ranks() && !result.repeated; ++r)
    if (examples[2 * r] > 0) result.repeated = examples[2 * r + 1];
  return result;
}

}  // namespace isochron
