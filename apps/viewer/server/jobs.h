// Scheduling: one thread a data set, the latest request of a client wins, and work that is no longer waited for is
// stopped.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "isochron/error.h"
#include "isochron/progress.h"

namespace isochron::viewer {

/// A newer request of the same client took this one's place, or the client left.
class Superseded : public Error {
 public:
  Superseded() : Error(ErrorKind::cancelled, "superseded") {}
};

/// More requests wait than the server is ready to keep.
class TooBusy : public Error {
 public:
  TooBusy() : Error(ErrorKind::runtime, "too many requests are waiting; try again later") {}
};

/// One request while it waits and is worked on.
class Job {
 public:
  explicit Job(std::string client) : client_(std::move(client)) {}

  [[nodiscard]] const std::string& client() const { return client_; }
  [[nodiscard]] bool cancelled() const { return cancelled_.load(); }
  void cancel();

  /// For work that takes a new Progress each time.
  [[nodiscard]] Progress progress(std::function<void(double)> report = {}) const {
    return {std::move(report), &cancelled_};
  }

  /// While one lives, `flag` says whether the job is cancelled: for a solver, which keeps one flag for all its solves.
  class Watch {
   public:
    Watch(Job& job, std::atomic<bool>& flag);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    Job& job_;
  };

 private:
  std::string client_;
  std::atomic<bool> cancelled_{false};
  std::mutex mutex_;
  std::atomic<bool>* watched_ = nullptr;
};

/// What the request is for: of requests with the same client and channel only the one with the highest number counts.
struct JobKey {
  std::string client;  ///< without line ends
  std::string channel;
  std::optional<std::int64_t> sequence{};  ///< none: every request counts
};

/// Runs jobs one after another on a thread of its own, in the order they come.
class Jobs {
 public:
  Jobs();
  ~Jobs();
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  /// Waits until `work` is done. Passes on what it throws; throws Superseded when it was cancelled, and TooBusy.
  void run(const JobKey& key, const std::function<void(Job&)>& work);
  /// Cancels all that is done or waits for a client, and begins again with its numbers. Those that wait are answered at
  /// once.
  void cancel(const std::string& client);
  /// Cancels everything and takes nothing more.
  void stop();

  static constexpr std::size_t max_waiting = 256;

 private:
  struct Task;
  void work();
  void admit(const JobKey& key, const std::shared_ptr<Task>& task);
  void answer_cancelled();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Task>> waiting_;
  std::shared_ptr<Task> running_;
  std::map<std::string, std::int64_t> latest_;  ///< number by client and channel
  bool stopped_ = false;
  std::thread worker_;
};

}  // namespace isochron::viewer
