// Threads that call one solver at once take turns.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#include "isochron/core/error.h"
#include "python/src/ending.h"

namespace isochron::python {

/// Who has the turn.
class Turns {
 public:
  /// Holds the turn for one call; waits for it without the interpreter's lock, which the other call needs to end.
  class Turn {
   public:
    explicit Turn(Turns& turns) : turns_(turns) {
      if (turns.owner_.load() == std::this_thread::get_id())
        throw UsageError("the solver is at work and its progress callback calls it again; use another solver there");
      const WithoutLock released;
      turns_.lock_.lock();
      turns_.owner_ = std::this_thread::get_id();
    }
    ~Turn() {
      turns_.owner_ = std::thread::id();
      turns_.lock_.unlock();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Turns& turns_;
  };

 private:
  std::mutex lock_;
  std::atomic<std::thread::id> owner_{};
};

}  // namespace isochron::python
