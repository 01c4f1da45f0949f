// What the user sees while a command runs, and how it is interrupted.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "isochron/error.h"
#include "isochron/progress.h"

namespace isochron::cli {

/// Errors with formatted messages.
template <class... Values>
UsageError usage_error(fmt::format_string<Values...> text, Values&&... values) {
  return UsageError(fmt::format(text, std::forward<Values>(values)...));
}
template <class... Values>
InputError input_error(fmt::format_string<Values...> text, Values&&... values) {
  return InputError(fmt::format(text, std::forward<Values>(values)...));
}

/// Options that every command has.
struct CommonOptions {
  bool json = false;
  bool quiet = false;
  int threads = 0;  ///< 0: all cores
  std::optional<std::uint64_t> max_bytes;
};

/// Speaks for one command. Results go to stdout; progress, warnings and errors to stderr.
class Console {
 public:
  CommonOptions options;

  /// One line on stderr unless --quiet; kept for the JSON summary.
  void warn(const std::string& message);
  template <class... Values>
  void warn(fmt::format_string<Values...> text, Values&&... values) requires(sizeof...(Values) > 0) {
    warn(fmt::format(text, std::forward<Values>(values)...));
  }
  /// Warns of an option that was given without its partner and so does nothing.
  void warn_unused(bool given, std::string_view option, std::string_view partner);
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

  /// Text for people, left out with --quiet and --json.
  void say(const std::string& text) const;
  /// Text on stdout in any case.
  void print(const std::string& text) const;
  /// Throws RuntimeError when stdout could not take everything.
  void flush() const;

  /// Threads that work is spread over.
  [[nodiscard]] int threads() const;

 private:
  std::vector<std::string> warnings_;
};

/// Which part of longer work an activity is, as shares of its time, and the seconds that it has taken so far.
struct PartOfWork {
  double from = 0, to = 1;
  double seconds = 0;
};

/// Shows "reading mesh.vtu" on a terminal while it lives; with fractions also the share done and, after a second, the
/// time left: those of all the work where it is a part of some.
class Activity {
 public:
  Activity(const Console& console, const std::string& label, const PartOfWork& part = {});
  ~Activity();
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

  /// Adds how far the work has come in its own terms, behind the label.
  void detail(const std::string& text);
  /// Reports here, and is cancelled by these signals. Valid while this lives.
  [[nodiscard]] Progress progress();

 private:
  struct Line;
  std::unique_ptr<Line> line_;
};

/// Comes first in a process: makes closed standard streams harmless, and says what SIGINT, SIGTERM and SIGHUP do. At
/// first they end the process at once with 130: there is nothing to clean up while reading. An end of memory where no
/// exception may pass ends it with 1.
void prepare_process();

/// From now on the process has so many seconds. Then it is stopped as by a signal, with another message and exit code.
void limit_time(double seconds);

/// From now on the process may allocate so many bytes; what is more fails as if there were no more memory. The stacks
/// of the threads that work is spread over do not count. Throws RuntimeError where the system has no such limit.
void limit_memory(std::uint64_t bytes, int threads);

/// What to do when the memory ends ("use a smaller mesh"), where the command knows something better than less work.
void advise_when_out_of_memory(std::string_view advice);

/// While one lives, signals only set the flag of `Activity::progress`: there is something to finish or to clean up.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
};

/// Reports nowhere, and is cancelled by these signals.
Progress interruptible();

/// Throws Cancelled when a signal has come.
void check_interrupted();

/// Says why the work was stopped, by a signal or by a limit, and gives the exit code.
int report_stopped();

/// Keeps this process from saying anything, errors too: it is one of several that would all say the same.
void silence(bool silent);

/// The one line of an error.
void print_error(const std::string& message);
template <class... Values>
void print_error(fmt::format_string<Values...> text, Values&&... values) requires(sizeof...(Values) > 0) {
  print_error(fmt::format(text, std::forward<Values>(values)...));
}
/// That of a process without memory. It allocates nothing.
void print_out_of_memory();

}  // namespace isochron::cli
