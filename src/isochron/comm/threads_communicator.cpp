#include "isochron/communicator.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "isochron/error.h"

namespace isochron {
namespace {

using Clock = std::chrono::steady_clock;

/// Ends a rank that waits for one that has failed.
struct Stopped {};

/// Set when a rank fails. The others go on for a moment, since all may be about to throw together.
class FailureTime {
 public:
  void set() {
    Clock::rep never = 0;
    at_.compare_exchange_strong(never, now());
  }
  void stop_if_long_ago() const {
    constexpr Clock::duration grace = std::chrono::milliseconds(300);
    const Clock::rep at = at_.load(std::memory_order_relaxed);
    if (at != 0 && now() > at + grace.count()) throw Stopped();
  }

 private:
  static Clock::rep now() { return Clock::now().time_since_epoch().count(); }
  std::atomic<Clock::rep> at_{0};
};

}  // namespace

/// What the ranks share.
class ThreadsWorld {
 public:
  explicit ThreadsWorld(int size, std::shared_ptr<FailureTime> failure = std::make_shared<FailureTime>())
      : boxes_(static_cast<std::size_t>(size)), failure_(std::move(failure)) {}

  [[nodiscard]] int size() const { return static_cast<int>(boxes_.size()); }
  FailureTime& failure() { return *failure_; }

  void send(int from, int to, int tag, Bytes&& bytes) {
    Box& box = boxes_.at(static_cast<std::size_t>(to));
    const std::lock_guard lock(box.mutex);
    box.posted.push_back({tag, {from, std::move(bytes)}});
  }

  bool receive(int rank, int tag, RankMessage& message) {
    Box& box = boxes_[static_cast<std::size_t>(rank)];
    const std::lock_guard lock(box.mutex);
    const auto found =
        std::find_if(box.posted.begin(), box.posted.end(), [&](const Posted& posted) { return posted.tag == tag; });
    if (found == box.posted.end()) return false;
    message = std::move(found->message);
    box.posted.erase(found);
    return true;
  }

  void contribute(const Tally& own) {
    const std::lock_guard lock(mutex_);
    if (contributed_ == 0) collecting_ = own;
    else collecting_.add(own);
    if (++contributed_ < size()) return;
    contributed_ = 0;
    result_ = collecting_;
    ++results_;
  }
  /// The result of the tally that is the `number`-th, from 1 on; the next one cannot end before all have taken it.
  bool result(int number, Tally& all) const {
    const std::lock_guard lock(mutex_);
    if (results_ < number) return false;
    all = result_;
    return true;
  }

  /// A rank's answer in the `number`-th split.
  void join_split(std::size_t number, int rank, bool member) {
    const std::lock_guard lock(mutex_);
    if (splits_.size() <= number) splits_.emplace_back().member.resize(boxes_.size());
    Split& split = splits_[number];
    split.member[static_cast<std::size_t>(rank)] = member;
    if (++split.answers < size()) return;
    const auto members = std::count(split.member.begin(), split.member.end(), true);
    split.world = std::make_shared<ThreadsWorld>(static_cast<int>(members), failure_);
  }
  /// The members' world and the rank in it, once all have answered; null before.
  std::pair<std::shared_ptr<ThreadsWorld>, int> split_world(std::size_t number, int rank) const {
    const std::lock_guard lock(mutex_);
    const Split& split = splits_[number];
    return {split.world, static_cast<int>(std::count(split.member.begin(), split.member.begin() + rank, true))};
  }

 private:
  struct Posted {
    int tag = 0;
    RankMessage message;
  };
  struct Box {
    std::mutex mutex;
    std::deque<Posted> posted;
  };
  struct Split {
    std::vector<bool> member;
    int answers = 0;
    std::shared_ptr<ThreadsWorld> world;
  };

  std::vector<Box> boxes_;  ///< by rank
  std::shared_ptr<FailureTime> failure_;
  mutable std::mutex mutex_;  ///< of what follows
  Tally collecting_, result_;
  int contributed_ = 0, results_ = 0;
  std::deque<Split> splits_;
};

ThreadsCommunicator::ThreadsCommunicator(std::shared_ptr<ThreadsWorld> world, int rank)
    : world_(std::move(world)), rank_(rank) {}

int ThreadsCommunicator::size() const { return world_->size(); }

std::unique_ptr<Communicator> ThreadsCommunicator::split(bool member) {
  const auto number = static_cast<std::size_t>(splits_++);
  world_->join_split(number, rank_, member);
  while (true) {
    auto [world, rank] = world_->split_world(number, rank_);
    if (world != nullptr) return member ? std::make_unique<ThreadsCommunicator>(std::move(world), rank) : nullptr;
    pause();
  }
}

void ThreadsCommunicator::send(int to, int tag, Bytes&& bytes) { world_->send(rank_, to, tag, std::move(bytes)); }

bool ThreadsCommunicator::receive(int tag, RankMessage& message) { return world_->receive(rank_, tag, message); }

void ThreadsCommunicator::start_tally(const Tally& own) {
  ++tallies_;
  world_->contribute(own);
}

bool ThreadsCommunicator::tally_done(Tally& all) { return world_->result(tallies_, all); }

void ThreadsCommunicator::pause() {
  world_->failure().stop_if_long_ago();
  std::this_thread::yield();
}

void ThreadsCommunicator::abort(int) { throw RuntimeError("a rank has ended all ranks"); }

void run_on_threads(int ranks, const std::function<void(Communicator&)>& work) {
  const auto world = std::make_shared<ThreadsWorld>(ranks);
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      ThreadsCommunicator communicator(world, rank);
      try {
        work(communicator);
      } catch (const Stopped&) {
      } catch (...) {
        failures[static_cast<std::size_t>(rank)] = std::current_exception();
        world->failure().set();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

SelfCommunicator::SelfCommunicator() : ThreadsCommunicator(std::make_shared<ThreadsWorld>(1), 0) {}

}  // namespace isochron
