// Ranks that are threads of one process, over a wire that delays and reorders messages.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "isochron/core/random.h"
#include "isochron/solve/mpi/collectives.h"
#include "isochron/solve/mpi/transport.h"

namespace isochron::test {

struct Weather {
  std::uint64_t seed = 1;
  int delay = 0;       ///< looks at the wire, at most, before a message is there
  int slow_rank = -1;  ///< sleeps each time it looks
  int slow_micros = 0;
  bool device_memory = false;  ///< the wire takes it
  int machine_ranks = 1;       ///< on each machine
};

class ThreadWorld {
 public:
  ThreadWorld(int size, Weather weather = {})
      : size_(size), weather_(weather), boxes_(static_cast<std::size_t>(size)) {}

  /// Calls `work` on every rank and waits; rethrows what the first of them threw.
  void run(const std::function<void(mpi::Transport&)>& work) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size_; ++rank)
      threads.emplace_back([&, rank] {
        End end(*this, rank);
        try {
          work(end);
        } catch (...) {
          const std::lock_guard lock(mutex_);
          if (!error_) error_ = std::current_exception();
        }
      });
    for (std::thread& thread : threads) thread.join();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  struct Posted {
    int tag = 0;
    std::uint64_t due = 0;  ///< in looks of the receiver
    mpi::Message message;
  };
  struct Box {
    std::uint64_t looks = 0;
    std::vector<Posted> posted;
  };

  class End final : public mpi::Transport {
   public:
    End(ThreadWorld& world, int rank)
        : world_(world), rank_(rank), random_(world.weather_.seed + static_cast<std::uint64_t>(rank) * 1000) {}

    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return world_.size_; }
    [[nodiscard]] int machine() const override { return rank_ - rank_ % world_.weather_.machine_ranks; }

    std::unique_ptr<mpi::Transport> split(bool member) override {
      int before = 0, members = 0;
      const std::vector<int> all = mpi::all_values(*this, member ? 1 : 0);
      for (int rank = 0; rank < size(); ++rank) {
        before += rank < rank_ ? all[static_cast<std::size_t>(rank)] : 0;
        members += all[static_cast<std::size_t>(rank)];
      }
      const std::lock_guard lock(world_.mutex_);
      const auto number = static_cast<std::size_t>(splits_++);
      if (world_.parts_.size() == number)
        world_.parts_.push_back(std::make_unique<ThreadWorld>(members, world_.weather_));
      if (!member) return nullptr;
      return std::make_unique<End>(*world_.parts_[number], before);
    }

    void send(int to, int tag, mpi::Bytes&& bytes) override {
      const std::lock_guard lock(world_.mutex_);
      Box& box = world_.boxes_.at(static_cast<std::size_t>(to));
      box.posted.push_back({tag, box.looks + some(world_.weather_.delay), {rank_, std::move(bytes)}});
    }

    bool receive(int tag, mpi::Message& message) override {
      if (rank_ == world_.weather_.slow_rank)
        std::this_thread::sleep_for(std::chrono::microseconds(world_.weather_.slow_micros));
      const std::lock_guard lock(world_.mutex_);
      world_.stop_if_failed();
      Box& box = world_.boxes_[static_cast<std::size_t>(rank_)];
      ++box.looks;
      std::vector<std::size_t> there;
      for (std::size_t i = 0; i < box.posted.size(); ++i)
        if (box.posted[i].tag == tag && box.posted[i].due <= box.looks) there.push_back(i);
      if (there.empty()) return false;
      const std::size_t chosen = there[some(static_cast<int>(there.size()) - 1)];
      message = std::move(box.posted[chosen].message);
      box.posted.erase(box.posted.begin() + static_cast<std::ptrdiff_t>(chosen));
      return true;
    }

    void start_tally(const mpi::Tally& own) override {
      const std::lock_guard lock(world_.mutex_);
      mpi::Tally& sum = world_.collecting_;
      sum.least = world_.contributed_ == 0 ? own.least : std::min(sum.least, own.least);
      for (std::size_t k = 0; k < sum.sums.size(); ++k)
        sum.sums[k] = (world_.contributed_ == 0 ? 0 : sum.sums[k]) + own.sums[k];
      ++tallies_;
      if (++world_.contributed_ < world_.size_) return;
      world_.contributed_ = 0;
      world_.result_ = sum;
      ++world_.results_;
    }
    bool tally_done(mpi::Tally& all) override {
      const std::lock_guard lock(world_.mutex_);
      world_.stop_if_failed();
      if (world_.results_ < tallies_ || some(world_.weather_.delay) > 0) return false;
      all = world_.result_;
      return true;
    }

    [[nodiscard]] bool takes_device_memory() const override { return world_.weather_.device_memory; }

    void pause() override { std::this_thread::yield(); }
    [[noreturn]] void abort(int) override { throw std::runtime_error("aborted"); }

   private:
    /// From 0 to `most`.
    std::uint64_t some(int most) { return most <= 0 ? 0 : random_.bits() % static_cast<std::uint64_t>(most + 1); }

    ThreadWorld& world_;
    int rank_;
    int tallies_ = 0, splits_ = 0;
    Random random_;
  };

  void stop_if_failed() const {
    if (error_) throw std::runtime_error("another rank failed");
  }

  int size_;
  Weather weather_;
  std::mutex mutex_;
  std::exception_ptr error_;
  std::vector<Box> boxes_;
  std::vector<std::unique_ptr<ThreadWorld>> parts_;  ///< by split
  mpi::Tally collecting_, result_;
  int contributed_ = 0, results_ = 0;
};

}  // namespace isochron::test
