// The interpreter's lock, its end, and processes made by fork. Daemon threads may be in a solve when the interpreter
// ends: one that asks for the lock so late is ended by Python in a way that C++ does not survive.
#pragma once

#include <cxxabi.h>

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include <pybind11/pybind11.h>

#include "isochron/error.h"

namespace isochron::python {

/// Whether another thread than this is ending the interpreter.
bool ending_elsewhere();

/// Sleeps until the process is gone.
[[noreturn]] void sleep_until_exit();

/// Makes running work stop when the interpreter ends. Called by the module itself.
void stop_work_at_exit();

/// Whether this process was made by fork since the module was loaded. Called first by the module itself.
bool forked();

/// Work that the end of the interpreter stops, for as long as one is there. Made and ended with the interpreter's lock.
class RunningWork {
 public:
  /// `cancel` is set to stop the work.
  explicit RunningWork(std::atomic<bool>& cancel);
  ~RunningWork();
  RunningWork(const RunningWork&) = delete;
  RunningWork& operator=(const RunningWork&) = delete;

  /// It was stopped for good: its result is not used, and it may not call Python any more.
  [[nodiscard]] bool abandoned() const { return state_->abandoned; }
  /// The library is done with it, well or not.
  void leave() { state_->left = true; }

  /// What the thread that stops it sees: the work itself may be gone by then.
  struct State {
    std::atomic<bool>* cancel = nullptr;
    std::atomic<bool> abandoned{false};
    std::atomic<bool> left{false};
  };

 private:
  std::shared_ptr<State> state_;
};

/// Releases the interpreter's lock for as long as one is there. A thread that would take it again when the interpreter
/// is ending sleeps instead.
class WithoutLock {
 public:
  WithoutLock();
  ~WithoutLock();
  WithoutLock(const WithoutLock&) = delete;
  WithoutLock& operator=(const WithoutLock&) = delete;

 private:
  PyThreadState* state_;
};

/// Calls `body()`, and sleeps where Python ends the thread in there.
template <class Body>
void or_sleep(Body&& body) {
  try {
    body();
  } catch (abi::__forced_unwind&) {
    sleep_until_exit();
  }
}

/// Calls `body()` with the interpreter's lock, from any thread.
template <class Body>
void with_lock(Body&& body) {
  or_sleep([&] {
    const pybind11::gil_scoped_acquire locked;
    or_sleep(body);  // before the lock would be given back, which the thread does not have then
  });
}

/// Calls `body()` on a thread of its own and waits; exceptions come out here.
template <class Body>
auto on_new_thread(Body&& body) {
  using Result = decltype(body());
  std::exception_ptr error;
  std::conditional_t<std::is_void_v<Result>, std::nullptr_t, std::optional<Result>> result{};
  std::thread([&] {
    try {
      if constexpr (std::is_void_v<Result>) body();
      else result.emplace(body());
    } catch (...) {
      error = std::current_exception();
    }
  }).join();
  if (error) std::rethrow_exception(error);
  if constexpr (!std::is_void_v<Result>) return std::move(*result);
}

/// Calls `body()` without the interpreter's lock. All that uses several threads runs in here: a process made by fork
/// does not have the threads that the old one's OpenMP waits for, but a thread that is new gets new ones.
template <class Body>
auto unlocked(Body&& body) {
  const WithoutLock released;
  return forked() ? on_new_thread(body) : body();
}

/// Threads that call one solver at once take turns.
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
