#include "apps/isochron/console.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>

#include "apps/isochron/exit_code.h"
#include "isochron/core/parallel.h"
#include "isochron/core/timer.h"
#include "isochron/error.h"

namespace isochron::cli {
namespace {

std::atomic<bool> interrupted{false};
std::atomic<int> guards{0};
std::atomic<bool> silent_process{false};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

constexpr std::string_view clear_line = "\r\x1b[K";

extern "C" void on_signal(int) {
  interrupted.store(true);
  if (guards.load() > 0) return;
  constexpr std::string_view message = "isochron: error: interrupted\n";
  const int saved = errno;
  if (!silent_process.load()) [[maybe_unused]]
    const auto written = ::write(STDERR_FILENO, message.data(), message.size());
  errno = saved;
  ::_exit(exit_code(ErrorKind::cancelled));
}

void write_line(std::string_view kind, const std::string& message) {
  if (silent_process) return;
  std::string line = message;
  std::replace(line.begin(), line.end(), '\n', ' ');
  fmt::print(stderr, "{}isochron: {}: {}\n", ::isatty(STDERR_FILENO) != 0 ? clear_line : "", kind, line);
}

std::string duration(double seconds) {
  const auto whole = std::lround(seconds);
  if (whole >= 3600) return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
  if (whole >= 60) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} s", std::max(1L, whole));
}

}  // namespace

void Console::warn(const std::string& message) {
  warnings_.push_back(message);
  if (!options.quiet) write_line("warning", message);
}

void Console::warn_unused(bool given, std::string_view option, std::string_view partner) {
  if (given) warn(fmt::format("{} has no effect (it goes with {})", option, partner));
}

void Console::say(const std::string& text) const {
  if (!options.quiet && !options.json) print(text);
}

void Console::print(const std::string& text) const {
  if (!silent_process) std::fwrite(text.data(), 1, text.size(), stdout);
}

void Console::flush() const {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw RuntimeError(fmt::format("standard output cannot be written ({}); send it elsewhere", std::strerror(errno)));
}

int Console::threads() const { return options.threads > 0 ? options.threads : hardware_threads(); }

struct Activity::Line {
  std::string label, detail;
  bool visible = false;
  Timer since_start;
  double drawn = 0;  // seconds since the start
};

Activity::Activity(const Console& console, const std::string& label) : line_(std::make_unique<Line>()) {
  line_->label = label;
  line_->visible = !console.options.quiet && ::isatty(STDERR_FILENO) != 0;
  if (line_->visible) fmt::print(stderr, "{}{} …", clear_line, label);
}

Activity::~Activity() {
  if (line_->visible) fmt::print(stderr, "{}", clear_line);
}

void Activity::detail(const std::string& text) { line_->detail = " (" + text + ")"; }

Progress Activity::progress() {
  Progress result;
  result.cancel = &interrupted;
  if (!line_->visible) return result;
  result.report = [line = line_.get()](double fraction) {
    const double now = line->since_start.seconds();
    if (now < line->drawn + 0.1) return;
    line->drawn = now;
    std::string text = fmt::format("{}{}{} … {:.0f} %", clear_line, line->label, line->detail, 100 * fraction);
    if (now > 1 && fraction > 0.01) text += fmt::format(", about {} left", duration(now * (1 - fraction) / fraction));
    fmt::print(stderr, "{}", text);
  };
  return result;
}

void install_signal_handlers() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  struct sigaction at_hangup {};
  sigaction(SIGHUP, nullptr, &at_hangup);
  if (at_hangup.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);  // nohup has it ignored, and is obeyed
  std::signal(SIGXFSZ, SIG_IGN);  // too large a file is then a failed write, which leaves nothing behind
}

InterruptGuard::InterruptGuard() { guards.fetch_add(1); }

InterruptGuard::~InterruptGuard() { guards.fetch_sub(1); }

Progress interruptible() { return {.report = {}, .cancel = &interrupted}; }

void check_interrupted() {
  if (interrupted.load()) throw Cancelled();
}

void silence(bool silent) { silent_process = silent; }

void print_error(const std::string& message) { write_line("error", message); }

}  // namespace isochron::cli
