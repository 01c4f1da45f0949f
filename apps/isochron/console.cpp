#include "apps/isochron/console.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
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

/// Names from files may hold characters that a terminal would obey: they are spelled out, but for line ends and tabs.
std::string printable(std::string_view text) {
  const auto code = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool in_utf8 = code(i) == 0xc2 && code(i + 1) >= 0x80 && code(i + 1) < 0xa0;
    if (in_utf8) ++i;
    if (in_utf8 || (code(i) < 0x20 && text[i] != '\n' && text[i] != '\t') || code(i) == 0x7f)
      result += fmt::format("\\x{:02x}", code(i));
    else result += text[i];
  }
  return result;
}

/// Where standard error cannot be written there is nobody to tell; the work goes on.
void write_to_stderr(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

void write_line(std::string_view kind, const std::string& message) {
  if (silent_process) return;
  std::string line = printable(message);
  std::replace(line.begin(), line.end(), '\n', ' ');
  write_to_stderr(
      fmt::format("{}isochron: {}: {}\n", ::isatty(STDERR_FILENO) != 0 ? clear_line : "", kind, std::move(line)));
}

/// A file that is opened while a standard stream is closed would take its place, and messages would go into the file.
/// In the place of the stream is then one that cannot be written.
void occupy_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0 && errno == EBADF) (void)::open("/dev/null", O_RDONLY);
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
  if (silent_process) return;
  const std::string shown = printable(text);
  std::fwrite(shown.data(), 1, shown.size(), stdout);
}

void Console::flush() const {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw RuntimeError(fmt::format("standard output cannot be written ({}); send it elsewhere", std::strerror(errno)));
}

int Console::threads() const { return options.threads > 0 ? options.threads : hardware_threads(); }

struct Activity::Line {
  std::string label, detail;
  PartOfWork part;
  bool visible = false;
  Timer since_start;
  double drawn = 0;  // seconds since the start
};

Activity::Activity(const Console& console, const std::string& label, const PartOfWork& part)
    : line_(std::make_unique<Line>()) {
  line_->label = label;
  line_->part = part;
  line_->visible = !console.options.quiet && ::isatty(STDERR_FILENO) != 0;
  if (line_->visible) write_to_stderr(fmt::format("{}{} …", clear_line, printable(label)));
}

Activity::~Activity() {
  if (line_->visible) write_to_stderr(clear_line);
}

void Activity::detail(const std::string& text) { line_->detail = " (" + text + ")"; }

Progress Activity::progress() {
  Progress result;
  result.cancel = &interrupted;
  if (!line_->visible) return result;
  result.report = [line = line_.get()](double part_done) {
    if (line->since_start.seconds() < line->drawn + 0.1) return;
    line->drawn = line->since_start.seconds();
    const PartOfWork& part = line->part;
    const double now = part.seconds + line->drawn, fraction = part.from + (part.to - part.from) * part_done;
    std::string text =
        fmt::format("{}{} … {:.0f} %", clear_line, printable(line->label + line->detail), 100 * fraction);
    if (now > 1 && fraction > 0.01) text += fmt::format(", about {} left", duration(now * (1 - fraction) / fraction));
    write_to_stderr(text);
  };
  return result;
}

void prepare_process() {
  occupy_closed_streams();
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
