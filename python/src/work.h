// Long work called from Python: without the interpreter's lock, with Ctrl-C and a progress callback.
#pragma once

#include <atomic>
#include <exception>
#include <utility>

#include <pybind11/pybind11.h>

#include "isochron/error.h"
#include "isochron/progress.h"
#include "python/src/errors.h"
#include "python/src/interpreter.h"

namespace isochron::python {

namespace py = pybind11;

/// While one is there, Ctrl-C also sets `flag`. Does nothing on threads other than Python's main one, to which alone
/// Python gives its KeyboardInterrupt. Made and ended with the interpreter's lock held.
class InterruptGuard {
 public:
  explicit InterruptGuard(std::atomic<bool>& flag);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  bool installed_ = false;
  std::atomic<bool>* outer_ = nullptr;
};

/// Calls work with a `Progress` to hand on, and turns what comes of it into what Python expects. A solver that keeps
/// its options keeps `progress()` of one of these and calls `run` for each solve.
class Work {
 public:
  Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  /// What the library is to be given. It stays valid as long as this object.
  [[nodiscard]] Progress progress();

  /// Calls `body()`, which is Python, with the interpreter's lock, on the work's behalf. Throws Cancelled where the
  /// interpreter is about to end.
  template <class Body>
  void call_back(Body&& body) {
    if (under_way_->abandoned()) throw Cancelled();
    with_lock(body);
  }

  /// Runs `body()` without the interpreter's lock; `callback` is None or takes the share done, from 0 to 1. An
  /// exception from it and KeyboardInterrupt end the work and are passed on. Errors are said in the caller's `words`.
  template <class Body>
  auto run(const py::object& callback, const CallerWords& words, Body&& body) {
    begin(callback);
    RunningWork under_way(cancel_);
    under_way_ = &under_way;
    const InterruptGuard guard(cancel_);
    try {
      auto result = unlocked([&] {
        const Leaving leaving{under_way};
        return body();
      });
      rethrow();
      return result;
    } catch (const Cancelled&) {
      rethrow();
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      throw;
    } catch (const Error& error) {
      throw WordedError(error, words);
    }
  }

 private:
  struct Leaving {
    RunningWork& work;
    ~Leaving() { work.leave(); }
  };

  void begin(const py::object& callback);
  void report(double fraction);
  /// Throws what the callback threw.
  void rethrow();

  std::atomic<bool> cancel_{false};
  py::handle callback_;  // the caller's, alive during the call
  std::exception_ptr error_;
  RunningWork* under_way_ = nullptr;  // during the call
};

/// The same in one line, for functions that take a Progress.
template <class Body>
auto run_work(const py::object& callback, Body&& body, const CallerWords& words = {}) {
  Work work;
  const Progress progress = work.progress();
  return work.run(callback, words, [&] { return body(progress); });
}

}  // namespace isochron::python
