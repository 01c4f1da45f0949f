#include "apps/isochron/console.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <limits>
#include <new>
#include <optional>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "apps/isochron/exit_code.h"
#include "isochron/core/parallel.h"
#include "isochron/core/timer.h"
#include "isochron/error.h"

namespace isochron::cli {
namespace {

std::atomic<bool> interrupted{false};
std::atomic<bool> signalled{false};  // by somebody, not by the clock
std::atomic<int> guards{0};
std::atomic<bool> silent_process{false};
int stdout_error = 0;  // why the first write to standard output failed
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

constexpr std::string_view clear_line = "\r\x1b[K";

/// What is said at the end of a limit is written beforehand: a signal handler and a process without memory format
/// nothing.
struct LimitMessage {
  char text[160] = "";
  [[nodiscard]] std::string_view view() const { return text; }
};
LimitMessage out_of_time;
LimitMessage out_of_memory{"out of memory; give it less to do, or use a machine with more memory"};
std::string memory_advice = "give it less to do";
std::optional<std::uint64_t> memory_limit;

constexpr std::string_view error_start = "isochron: error: ";

/// Whether it is the clock that has stopped the process. Ranks of a job stop together, some a moment before their time.
bool time_is_up() { return !out_of_time.view().empty() && !signalled.load(); }

/// Without buffers and allocations.
void write_at_once(std::string_view text) {
  if (!silent_process.load()) [[maybe_unused]]
    const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

void write_error_at_once(std::string_view message) {
  write_at_once(error_start);
  write_at_once(message);
  write_at_once("\n");
}

extern "C" void on_signal(int number) {
  if (number != SIGALRM) signalled.store(true);
  interrupted.store(true);
  if (guards.load() > 0) return;
  write_error_at_once(time_is_up() ? out_of_time.view() : "interrupted");
  ::_exit(time_is_up() ? exit_out_of_time : exit_code(ErrorKind::cancelled));
}

std::terminate_handler usual_end = std::abort;

/// Some destructors of libraries allocate, and end the process where they cannot.
[[noreturn]] void on_terminate() {
  try {
    if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    write_error_at_once(out_of_memory.view());
    ::_exit(exit_code(ErrorKind::runtime));
  } catch (...) {
    usual_end();
  }
  std::abort();
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

/// Whoever has read as much as they want (`head`) is no error: the process ends as others do then.
void end_by_closed_pipe() {
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
}

/// Memory that counts against RLIMIT_DATA; nothing where the system does not say.
std::optional<std::uint64_t> data_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t pages = 0, ignored = 0;
  for (int i = 0; i < 5; ++i) file >> ignored;  // size, resident, shared, text, lib
  if (!(file >> pages)) return std::nullopt;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// Also writes the end of the text.
template <class... Values>
void set_message(LimitMessage& message, fmt::format_string<Values...> text, Values&&... values) {
  *fmt::format_to_n(message.text, sizeof message.text - 1, text, std::forward<Values>(values)...).out = '\0';
}

void set_out_of_memory() {
  if (memory_limit)
    set_message(out_of_memory, "out of memory (limited to {:g} GB); allow more with --memory-limit, or {}",
                static_cast<double>(*memory_limit) / 1e9, memory_advice);
  else set_message(out_of_memory, "out of memory; {}, or use a machine with more memory", memory_advice);
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
  if (std::fwrite(shown.data(), 1, shown.size(), stdout) < shown.size() && stdout_error == 0) stdout_error = errno;
}

void Console::flush() const {
  if (std::fflush(stdout) != 0 && stdout_error == 0) stdout_error = errno;
  if (stdout_error == EPIPE) end_by_closed_pipe();
  if (stdout_error != 0)
    throw RuntimeError(
        fmt::format("standard output cannot be written ({}); send it elsewhere", std::strerror(stdout_error)));
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
  usual_end = std::set_terminate(on_terminate);
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGALRM, &action, nullptr);
  struct sigaction at_hangup {};
  sigaction(SIGHUP, nullptr, &at_hangup);
  if (at_hangup.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);  // nohup has it ignored, and is obeyed
  std::signal(SIGPIPE, SIG_IGN);  // warnings that nobody reads any more must not end the work
  std::signal(SIGXFSZ, SIG_IGN);  // too large a file is then a failed write, which leaves nothing behind
}

void limit_time(double seconds) {
  set_message(out_of_time,
              "not done within {:g} s (the time limit); allow more with --time-limit, or give it less to do", seconds);
  constexpr double micro = 1e6, at_least = 1;  // 0 would switch it off
  const double most = static_cast<double>(std::numeric_limits<std::int32_t>::max());
  const auto microseconds = std::llround(std::max(at_least, micro * std::min(seconds, most)));
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(microseconds / 1'000'000);
  timer.it_value.tv_usec = static_cast<suseconds_t>(microseconds % 1'000'000);
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

void limit_memory(std::uint64_t bytes, int threads) {
  parallel_region(threads, [](int, int) {});  // their stacks are there from now on
  rlimit now{};
  const auto there = data_bytes();
  if (!there || ::getrlimit(RLIMIT_DATA, &now) != 0)
    throw RuntimeError("--memory-limit does not work on this system; use a container or a job with a limit");
  now.rlim_cur = std::min<rlim_t>(now.rlim_max, *there + bytes);
  ::setrlimit(RLIMIT_DATA, &now);
  memory_limit = bytes;
  set_out_of_memory();
}

void advise_when_out_of_memory(std::string_view advice) {
  memory_advice = advice;
  set_out_of_memory();
}

InterruptGuard::InterruptGuard() { guards.fetch_add(1); }

InterruptGuard::~InterruptGuard() { guards.fetch_sub(1); }

Progress interruptible() { return {.report = {}, .cancel = &interrupted}; }

void check_interrupted() {
  if (interrupted.load()) throw Cancelled();
}

int report_stopped() {
  print_error(time_is_up() ? out_of_time.text : Cancelled().what());
  return time_is_up() ? exit_out_of_time : exit_code(ErrorKind::cancelled);
}

void silence(bool silent) { silent_process = silent; }

void print_error(const std::string& message) { write_line("error", message); }

void print_out_of_memory() {
  if (::isatty(STDERR_FILENO) != 0) write_at_once(clear_line);
  write_error_at_once(out_of_memory.view());
}

}  // namespace isochron::cli
