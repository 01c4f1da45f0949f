#include "python/src/interpreter.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

namespace isochron::python {
namespace {

/// Longer than any work takes to see that it is to stop, but for one that waits in the caller's own function.
constexpr std::chrono::seconds max_wait{2};

std::atomic<bool> ending{false};
std::thread::id ended_by;  // written before `ending` is set
std::atomic<bool> in_fork{false};

/// Work of all threads; the interpreter's lock guards it.
std::vector<std::shared_ptr<RunningWork::State>>& all_work() {
  static std::vector<std::shared_ptr<RunningWork::State>> works;
  return works;
}

void stop_all() {
  ended_by = std::this_thread::get_id();
  ending = true;
  const auto works = all_work();
  for (const auto& work : works) {
    work->abandoned = true;
    *work->cancel = true;
  }
  const auto done = [&] {
    return std::all_of(works.begin(), works.end(), [](const auto& w) { return w->left.load(); });
  };
  const WithoutLock released;  // the work may be in the caller's function, which needs the lock to come back
  const auto start = std::chrono::steady_clock::now();
  while (!done() && std::chrono::steady_clock::now() - start < max_wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

bool ending_elsewhere() { return ending && ended_by != std::this_thread::get_id(); }

bool forked() {
  static const int watched = pthread_atfork(nullptr, nullptr, [] { in_fork = true; });
  return watched == 0 && in_fork;
}

void sleep_until_exit() {
  for (;;) pause();
}

void stop_work_at_exit() {
  all_work();
  pthread_atfork(nullptr, nullptr, [] { all_work().clear(); });  // the other threads are not in the new process
  pybind11::module_::import("atexit").attr("register")(pybind11::cpp_function(&stop_all));
}

RunningWork::RunningWork(std::atomic<bool>& cancel) : state_(std::make_shared<State>()) {
  state_->cancel = &cancel;
  all_work().push_back(state_);
}

RunningWork::~RunningWork() { std::erase(all_work(), state_); }

WithoutLock::WithoutLock() : state_(PyEval_SaveThread()) {
  if (ending_elsewhere()) sleep_until_exit();
}

WithoutLock::~WithoutLock() {
  if (ending_elsewhere()) sleep_until_exit();
  or_sleep([&] { PyEval_RestoreThread(state_); });
}

}  // namespace isochron::python
