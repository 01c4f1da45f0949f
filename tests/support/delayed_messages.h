// Ranks that are threads, with messages that are delayed and reordered on their way.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "isochron/communicator.h"
#include "isochron/core/random.h"

namespace isochron::test {

struct Delays {
  std::uint64_t seed = 1;
  int looks = 0;       ///< that find nothing, at most, before a message or a result is there
  int slow_rank = -1;  ///< sleeps each time it looks
  int slow_micros = 0;
  bool device_memory = false;  ///< messages may lie in it
  int machine_ranks = 1;       ///< on each machine
};

class DelayingCommunicator final : public Communicator {
 public:
  DelayingCommunicator(std::unique_ptr<Communicator> owned, Communicator& inner, const Delays& delays)
      : owned_(std::move(owned)),
        inner_(inner),
        delays_(delays),
        random_(delays.seed + static_cast<std::uint64_t>(inner.rank()) * 1000) {}

  [[nodiscard]] int rank() const override { return inner_.rank(); }
  [[nodiscard]] int size() const override { return inner_.size(); }
  [[nodiscard]] int machine() const override { return rank() - rank() % delays_.machine_ranks; }

  std::unique_ptr<Communicator> split(bool member) override {
    std::unique_ptr<Communicator> part = inner_.split(member);
    if (part == nullptr) return nullptr;
    Communicator& inner = *part;
    return std::make_unique<DelayingCommunicator>(std::move(part), inner, delays_);
  }

  void send(int to, int tag, Bytes&& bytes) override { inner_.send(to, tag, std::move(bytes)); }

  bool receive(int tag, RankMessage& message) override {
    if (rank() == delays_.slow_rank) std::this_thread::sleep_for(std::chrono::microseconds(delays_.slow_micros));
    ++look_;
    std::vector<Waiting>& waiting = waiting_[tag];
    for (Waiting next; inner_.receive(tag, next.message); waiting.push_back(std::move(next)))
      next.due = look_ + up_to(delays_.looks);
    std::vector<std::size_t> there;
    for (std::size_t i = 0; i < waiting.size(); ++i)
      if (waiting[i].due <= look_) there.push_back(i);
    if (there.empty()) return false;
    const std::size_t chosen = there[up_to(static_cast<int>(there.size()) - 1)];
    message = std::move(waiting[chosen].message);
    waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(chosen));
    return true;
  }

  void start_tally(const Tally& own) override { inner_.start_tally(own); }
  bool tally_done(Tally& all) override { return up_to(delays_.looks) == 0 && inner_.tally_done(all); }

  [[nodiscard]] bool takes_device_memory() const override { return delays_.device_memory; }
  /// Delays are counted in looks, so most pauses go on looking: giving the core away each time takes long on a machine
  /// that is busy.
  void pause() override {
    constexpr int looks_in_a_row = 16;
    if (delays_.looks == 0 || ++pauses_ % looks_in_a_row == 0) inner_.pause();
  }
  [[noreturn]] void abort(int exit_code) override {
    while (true) inner_.abort(exit_code);  // once; the compiler does not believe a virtual function
  }

 private:
  struct Waiting {
    std::uint64_t due = 0;  ///< in looks of this rank
    RankMessage message;
  };

  std::uint64_t up_to(int most) { return most <= 0 ? 0 : random_.bits() % static_cast<std::uint64_t>(most + 1); }

  std::unique_ptr<Communicator> owned_;  ///< null where somebody else owns it
  Communicator& inner_;
  Delays delays_;
  Random random_;
  std::uint64_t look_ = 0;
  int pauses_ = 0;
  std::map<int, std::vector<Waiting>> waiting_;  ///< by tag
};

/// As `run_on_threads`, with delays.
inline void run_delayed(int ranks, const Delays& delays, const std::function<void(Communicator&)>& work) {
  run_on_threads(ranks, [&](Communicator& inner) {
    DelayingCommunicator communicator(nullptr, inner, delays);
    work(communicator);
  });
}

}  // namespace isochron::test
