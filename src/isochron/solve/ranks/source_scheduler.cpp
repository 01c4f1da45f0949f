#include "isochron/solve/ranks/source_scheduler.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "isochron/error.h"
#include "isochron/solve/ranks/solve_messages.h"
#include "isochron/solve/source_set.h"

namespace isochron::ranks {
namespace {

enum class Task : std::uint32_t { solve, end, cancel };

using Outcome = std::variant<Arrival, Failure>;

/// What `work` throws, if anything.
template <class Work>
std::optional<Failure> failure_of(Work&& work) {
  try {
    work();
  } catch (...) {
    return current_failure();
  }
  return std::nullopt;
}

/// Solves some sets; after a failure the rest has no outcome.
std::vector<Outcome> solve_chunk(std::span<const Sources> sets, const SolveMany& solve) {
  std::vector<Outcome> outcomes;
  const TakeArrival take = [&](std::size_t, Arrival&& arrival) { outcomes.emplace_back(std::move(arrival)); };
  std::optional<Failure> failure = failure_of([&] { solve(sets, take); });
  if (!failure) return outcomes;
  // Of several sets the message would name one by its place among these. Alone it is the message itself.
  if (failure->kind == ErrorKind::input && sets.size() > 1 && outcomes.size() < sets.size()) {
    const std::size_t failed = outcomes.size();
    if (auto alone = failure_of([&] { solve(sets.subspan(failed, 1), [](std::size_t, Arrival&&) {}); }))
      failure = std::move(alone);
  }
  outcomes.emplace_back(*std::move(failure));
  return outcomes;
}

Bytes packed(std::size_t first, const std::vector<Outcome>& outcomes) {
  Bytes bytes;
  put<std::uint64_t>(bytes, first);
  put<std::uint64_t>(bytes, outcomes.size());
  for (const Outcome& outcome : outcomes) {
    const auto* failure = std::get_if<Failure>(&outcome);
    put<std::uint8_t>(bytes, failure != nullptr ? 1 : 0);
    if (failure != nullptr) put_vector(bytes, pack(*failure));
    else put_arrival(bytes, std::get<Arrival>(outcome));
  }
  return bytes;
}

class SourceScheduler {
 public:
  SourceScheduler(Communicator& communicator, std::span<const Sources> sets, std::size_t chunk,
                  const Progress& progress)
      : communicator_(communicator),
        task_tag_(communicator.next_tag()),
        result_tag_(communicator.next_tag()),
        sets_(sets),
        chunk_(std::max<std::size_t>(1, chunk)),
        progress_(progress),
        working_(static_cast<std::size_t>(communicator.size()), 0),
        sent_(static_cast<std::size_t>(communicator.size()), 0) {}

  void run(const SolveMany& solve, const TakeArrival& take) {
    while (taken_ < sets_.size()) {
      if (progress_.cancelled()) throw Cancelled();
      receive();
      hand_out();
      if (take_next(take)) continue;
      if (may_start()) solve_own(solve);
      else communicator_.pause();
    }
  }

  /// Lets the others go; they finish the chunk that they are at. Waits for that.
  void end(Task how) {
    for (int rank = 1; rank < communicator_.size(); ++rank) {
      Bytes bytes;
      put(bytes, how);
      put<std::uint64_t>(bytes, sent_[static_cast<std::size_t>(rank)]);
      communicator_.send(rank, task_tag_, std::move(bytes));
    }
    while (std::any_of(working_.begin(), working_.end(), [](std::size_t chunks) { return chunks > 0; })) {
      receive();
      communicator_.pause();
    }
  }

 private:
  [[nodiscard]] bool may_start() const {
    const std::size_t ahead = chunks_ahead * chunk_ * static_cast<std::size_t>(communicator_.size());
    return started_ < sets_.size() && started_ < taken_ + ahead;
  }
  [[nodiscard]] std::span<const Sources> next_chunk() const {
    return sets_.subspan(started_, std::min(chunk_, sets_.size() - started_));
  }

  /// In rounds, so that all have one chunk before anybody has two.
  void hand_out() {
    for (std::size_t round = 1; round <= chunks_ahead; ++round)
      for (int rank = 1; rank < communicator_.size(); ++rank) {
        if (!may_start()) return;
        if (working_[static_cast<std::size_t>(rank)] >= round) continue;
        const std::span<const Sources> chunk = next_chunk();
        Bytes bytes;
        put(bytes, Task::solve);
        put<std::uint64_t>(bytes, started_);
        put<std::uint64_t>(bytes, chunk.size());
        for (const Sources& sources : chunk) put_sources(bytes, sources);
        communicator_.send(rank, task_tag_, std::move(bytes));
        ++working_[static_cast<std::size_t>(rank)];
        ++sent_[static_cast<std::size_t>(rank)];
        started_ += chunk.size();
      }
  }

  void solve_own(const SolveMany& solve) {
    const std::span<const Sources> chunk = next_chunk();
    const std::size_t first = started_;
    started_ += chunk.size();
    keep(first, solve_chunk(chunk, solve));
  }

  void receive() {
    RankMessage message;
    while (communicator_.receive(result_tag_, message)) {
      --working_[static_cast<std::size_t>(message.rank)];
      Unpack unpack(message.bytes);
      const auto first = unpack.take<std::uint64_t>();
      const auto count = unpack.take<std::uint64_t>();
      std::vector<Outcome> outcomes;
      for (std::uint64_t i = 0; i < count; ++i) {
        const bool failed = unpack.take<std::uint8_t>() != 0;
        if (failed) {
          const auto text = unpack.take_vector<char>();
          outcomes.emplace_back(unpack_failure({text.data(), text.size()}));
        } else outcomes.emplace_back(take_arrival(unpack));
      }
      keep(first, std::move(outcomes));
    }
  }
  void keep(std::size_t first, std::vector<Outcome> outcomes) {
    for (std::size_t i = 0; i < outcomes.size(); ++i) kept_.emplace(first + i, std::move(outcomes[i]));
  }

  /// True when the next result was there.
  bool take_next(const TakeArrival& take) {
    const auto found = kept_.find(taken_);
    if (found == kept_.end()) return false;
    if (const auto* failure = std::get_if<Failure>(&found->second))
      for_source_set(taken_, sets_.size(), [&] { throw_again(*failure); });
    take(taken_, std::get<Arrival>(std::move(found->second)));
    kept_.erase(found);
    ++taken_;
    progress_.update(static_cast<double>(taken_) / static_cast<double>(sets_.size()));
    return true;
  }

  Communicator& communicator_;
  int task_tag_, result_tag_;
  std::span<const Sources> sets_;
  std::size_t chunk_;
  const Progress& progress_;
  std::vector<std::size_t> working_;     ///< by rank: chunks that it has
  std::vector<std::uint64_t> sent_;      ///< by rank: chunks that it has had, too
  std::map<std::size_t, Outcome> kept_;  ///< results whose turn has not come
  std::size_t started_ = 0, taken_ = 0;  ///< sets that somebody has, sets whose results were taken
};

}  // namespace

void schedule_sources(Communicator& communicator, std::span<const Sources> sets, std::size_t chunk,
                      const SolveMany& solve, const Progress& progress, const TakeArrival& take) {
  SourceScheduler scheduler(communicator, sets, chunk, progress);
  try {
    scheduler.run(solve, take);
  } catch (const Cancelled&) {
    scheduler.end(Task::cancel);
    throw;
  } catch (...) {
    scheduler.end(Task::end);
    throw;
  }
  scheduler.end(Task::end);
}

void serve_sources(Communicator& communicator, const SolveMany& solve) {
  const int task_tag = communicator.next_tag(), result_tag = communicator.next_tag();
  std::deque<Bytes> waiting;  // chunks
  std::uint64_t answered = 0;
  // The end may come before chunks that were sent earlier, so it says how many there are. Those are answered, not
  // solved.
  std::optional<std::pair<Task, std::uint64_t>> end;
  while (true) {
    RankMessage message;
    while (communicator.receive(task_tag, message)) {
      Unpack unpack(message.bytes);
      const auto task = unpack.take<Task>();
      if (task == Task::solve) waiting.push_back(std::move(message.bytes));
      else end.emplace(task, unpack.take<std::uint64_t>());
    }
    if (end && end->second == answered) break;
    if (waiting.empty()) {
      communicator.pause();
      continue;
    }
    Unpack unpack(waiting.front());
    (void)unpack.take<Task>();
    const auto first = unpack.take<std::uint64_t>();
    const auto count = unpack.take<std::uint64_t>();
    std::vector<Sources> sets;
    for (std::uint64_t i = 0; i < count; ++i) sets.push_back(take_sources(unpack));
    waiting.pop_front();
    communicator.send(0, result_tag, packed(first, end ? std::vector<Outcome>{} : solve_chunk(sets, solve)));
    ++answered;
  }
  if (end->first == Task::cancel) throw Cancelled();
}

}  // namespace isochron::ranks
