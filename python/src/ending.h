// What is under way when the interpreter ends: daemon threads may be in a solve then. One that asks for the
// interpreter's lock so late is ended by Python in a way that C++ does not survive.
#pragma once

#include <cxxabi.h>

#include <atomic>
#include <memory>

#include <pybind11/pybind11.h>

namespace isochron::python {

/// Whether the interpreter is about to end, by another thread than this.
bool ending_elsewhere();

/// Sleeps until the process is gone.
[[noreturn]] void sleep_for_good();

/// Makes what is under way elsewhere stop when the interpreter is about to end. Called by the module itself.
void watch_the_end();

/// Work that the end of the interpreter stops, for as long as one is there. Made and ended with the interpreter's lock.
class UnderWay {
 public:
  /// `cancel` is set to stop the work.
  explicit UnderWay(std::atomic<bool>& cancel);
  ~UnderWay();
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;

  /// It was stopped for good: nobody waits for what comes of it, and it may not call Python any more.
  [[nodiscard]] bool abandoned() const { return state_->abandoned; }
  /// The library is done with it, well or not.
  void leave() { state_->left = true; }

  /// What is left of it for those who stop it: it may be gone by then.
  struct State {
    std::atomic<bool>* cancel = nullptr;
    std::atomic<bool> abandoned{false};
    std::atomic<bool> left{false};
  };

 private:
  std::shared_ptr<State> state_;
};

/// Lets go of the interpreter's lock for as long as one is there. A thread that would take it again when the
/// interpreter is about to end sleeps instead.
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
    sleep_for_good();
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

}  // namespace isochron::python
