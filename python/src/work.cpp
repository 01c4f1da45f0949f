#include "python/src/work.h"

#include <csignal>

namespace isochron::python {
namespace {

static_assert(std::atomic<std::atomic<bool>*>::is_always_lock_free, "a signal handler reads it");
std::atomic<std::atomic<bool>*> interrupted_work{nullptr};
struct sigaction pythons_action {};

/// Stops the work, then lets Python note the signal as ever.
void on_interrupt(int signal) {
  if (std::atomic<bool>* flag = interrupted_work.load()) flag->store(true, std::memory_order_relaxed);
  pythons_action.sa_handler(signal);
}

bool on_main_thread() {
  const py::module_ threading = py::module_::import("threading");
  return threading.attr("current_thread")().is(threading.attr("main_thread")());
}

}  // namespace

InterruptGuard::InterruptGuard(std::atomic<bool>& flag) {
  if (!on_main_thread()) return;
  outer_ = interrupted_work.load();
  if (outer_ == nullptr) {
    // A signal that is not handled, or not by Python's own handler, stays as it is.
    if (sigaction(SIGINT, nullptr, &pythons_action) != 0) return;
    if ((pythons_action.sa_flags & SA_SIGINFO) != 0 || pythons_action.sa_handler == SIG_IGN ||
        pythons_action.sa_handler == SIG_DFL)
      return;
    struct sigaction ours = pythons_action;
    ours.sa_handler = on_interrupt;
    interrupted_work.store(&flag);
    if (sigaction(SIGINT, &ours, nullptr) != 0) {
      interrupted_work.store(nullptr);
      return;
    }
  } else {
    interrupted_work.store(&flag);  // work inside a progress callback of other work
  }
  installed_ = true;
}

InterruptGuard::~InterruptGuard() {
  if (!installed_) return;
  if (outer_ == nullptr) sigaction(SIGINT, &pythons_action, nullptr);
  interrupted_work.store(outer_);
}

Progress Work::progress() {
  return {[this](double fraction) { report(fraction); }, &cancel_};
}

void Work::begin(const py::object& callback) {
  cancel_ = false;
  error_ = nullptr;
  callback_ = callback.is_none() ? py::handle() : py::handle(callback);
}

void Work::report(double fraction) {
  if (!callback_ || error_ || under_way_->abandoned()) return;
  with_lock([&] {
    try {
      or_sleep([&] { callback_(fraction); });
    } catch (...) {  // it must not leave through the library's threads
      error_ = std::current_exception();
      cancel_ = true;
    }
  });
}

void Work::rethrow() {
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

}  // namespace isochron::python
