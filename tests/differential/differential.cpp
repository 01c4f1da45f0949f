// Long runs of random cases, in several processes: a crash or an endless loop ends one of them and is reported.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "differential/check.h"
#include "isochron/core/parallel.h"
#include "isochron/device.h"

namespace isochron::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* usage =
    R"(Solves random problems in every way that applies and compares the answers with each other and with a plain
reference, which is the fixed point of the same equations.

  differential [--cases N] [--seed S] [--first I] [--jobs J] [--seconds T] [--gpu] [--ranks] [--all-ways]

  --cases N     so many cases (1000)
  --seed S      another seed gives other cases (1)
  --first I     begin with case I (0)
  --jobs J      processes that work beside each other (all cores; with --gpu 4)
  --seconds T   begin no cases after T seconds
  --gpu         on the GPU too
  --ranks       over ranks, which are threads, too
  --all-ways    each case with 2 and 4 threads too, and in all ways of the GPU; not only some of them

The exit code is 0 when nothing failed, 1 when something did, and 2 for wrong arguments.
)";

struct Arguments {
  std::uint64_t cases = 1000, seed = 1, first = 0, seconds = 0;
  int jobs = 0;
  CheckRequest request;
};

[[noreturn]] void refuse(const std::string& why) {
  fmt::print(stderr, "differential: {}\n\n{}", why, usage);
  std::exit(2);
}

Arguments parse(int count, char** words) {
  Arguments result;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    const auto number = [&] {
      std::uint64_t value = 0;
      const std::string_view text = i + 1 < count ? words[++i] : "";
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc() || end != text.data() + text.size()) refuse(fmt::format("{} needs a number", word));
      return value;
    };
    if (word == "--cases") result.cases = number();
    else if (word == "--seed") result.seed = number();
    else if (word == "--first") result.first = number();
    else if (word == "--seconds") result.seconds = number();
    else if (word == "--jobs") result.jobs = static_cast<int>(number());
    else if (word == "--gpu") result.request.devices = Devices::gpu;
    else if (word == "--ranks") result.request.ranks = Ranks::some;
    else if (word == "--all-ways") result.request.ways = Ways::all;
    else if (word == "-h" || word == "--help") {
      fmt::print("{}", usage);
      std::exit(0);
    } else refuse(fmt::format("unknown argument '{}'", word));
  }
  if (result.jobs <= 0) result.jobs = result.request.devices == Devices::gpu ? 4 : hardware_threads();
  return result;
}

/// What a process sends: lines "case I", "failed TEXT" and "count N TEXT".
void work(const Arguments& arguments, std::uint64_t from, FILE* out) {
  if (arguments.request.devices == Devices::gpu) {
    cuda::NoDevice why;
    if (!cuda::find_device(why)) {
      fmt::print(out, "failed there is no GPU here\n");
      return;
    }
  }
  for (std::uint64_t k = from; k < arguments.cases; k += static_cast<std::uint64_t>(arguments.jobs)) {
    const std::uint64_t index = arguments.first + k;
    fmt::print(out, "case {}\n", k);
    std::fflush(out);
    const Findings found = check_case(make_case(arguments.seed, index), arguments.request);
    for (const std::string& failure : found.failures) fmt::print(out, "failed {}\n", failure);
    for (const auto& [what, number] : found.counts) fmt::print(out, "count {} {}\n", number, what);
  }
}

/// One process of its own and what has come from it.
struct Worker {
  pid_t process = -1;
  int pipe = -1;
  std::string text;                        ///< a line that is not complete
  std::optional<std::uint64_t> current;    ///< the case that it works on
  Clock::time_point since = Clock::now();  ///< it began with that
  bool killed = false;
};

class Run {
 public:
  explicit Run(const Arguments& arguments) : arguments_(arguments) {}

  int all() {
    for (int job = 0; job < arguments_.jobs; ++job) {
      Worker& worker = workers_.emplace_back();
      start(worker, static_cast<std::uint64_t>(job));
    }
    while (std::any_of(workers_.begin(), workers_.end(), [](const Worker& w) { return w.pipe >= 0; })) step();
    summarise();
    return found_.failures.empty() ? 0 : 1;
  }

 private:
  /// A case takes milliseconds; with sanitizers and all ways on a busy machine some seconds.
  static constexpr std::chrono::seconds max_time_of_case{120};

  void start(Worker& worker, std::uint64_t from) {
    int ends[2];
    if (from >= arguments_.cases || ::pipe(ends) != 0) return;
    worker.current.reset();
    worker.killed = false;
    worker.process = ::fork();
    if (worker.process == 0) {
      ::close(ends[0]);
      for (const Worker& other : workers_)
        if (other.pipe >= 0) ::close(other.pipe);
      FILE* out = ::fdopen(ends[1], "w");
      work(arguments_, from, out);
      std::fflush(out);
      std::fclose(out);
      std::_Exit(0);
    }
    ::close(ends[1]);
    worker.pipe = ends[0];
    worker.since = Clock::now();
  }

  void step() {
    std::vector<pollfd> waits;
    for (const Worker& worker : workers_) waits.push_back({worker.pipe, POLLIN, 0});
    ::poll(waits.data(), waits.size(), 500);
    for (std::size_t k = 0; k < workers_.size(); ++k)
      if (waits[k].revents != 0) read(workers_[k]);
    const auto now = Clock::now();
    for (Worker& worker : workers_) {
      if (worker.pipe < 0) continue;
      const bool out_of_time = arguments_.seconds > 0 && now - began_ > std::chrono::seconds(arguments_.seconds);
      if (now - worker.since > max_time_of_case && worker.current && !worker.killed) {
        worker.killed = true;
        ::kill(worker.process, SIGKILL);
      } else if (out_of_time && !worker.killed) {
        if (worker.current && now - worker.since > std::chrono::seconds(10))
          note_failure(fmt::format("case {}: had not ended after {:.0f} s", arguments_.first + *worker.current,
                                   std::chrono::duration<double>(now - worker.since).count()));
        worker.killed = ended_ = true;
        ::kill(worker.process, SIGKILL);
      }
    }
    if (now - told_ > std::chrono::seconds(10)) report_progress();
  }

  void read(Worker& worker) {
    char buffer[1 << 16];
    const ssize_t size = ::read(worker.pipe, buffer, sizeof buffer);
    if (size > 0) {
      worker.text.append(buffer, static_cast<std::size_t>(size));
      std::size_t begin = 0;
      for (std::size_t end = 0; (end = worker.text.find('\n', begin)) != std::string::npos; begin = end + 1)
        take_line(worker, std::string_view(worker.text).substr(begin, end - begin));
      worker.text.erase(0, begin);
      return;
    }
    ::close(worker.pipe);
    worker.pipe = -1;
    worker.text.clear();
    int status = 0;
    ::waitpid(worker.process, &status, 0);
    if (ended_ || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) return;
    if (!worker.current) return note_failure("a process ended before its first case");
    const std::uint64_t index = arguments_.first + *worker.current;
    note_failure(worker.killed ? fmt::format("case {}: did not end within {} s", index, max_time_of_case.count())
                 : WIFSIGNALED(status) ? fmt::format("case {}: ended with signal {}", index, WTERMSIG(status))
                                       : fmt::format("case {}: ended with exit code {}", index, WEXITSTATUS(status)));
    start(worker, *worker.current + static_cast<std::uint64_t>(arguments_.jobs));
  }

  void take_line(Worker& worker, std::string_view line) {
    const auto rest_after = [&](std::string_view word) -> std::optional<std::string_view> {
      if (line.substr(0, word.size()) != word) return std::nullopt;
      return line.substr(word.size());
    };
    if (const auto number = rest_after("case ")) {
      std::uint64_t index = 0;
      std::from_chars(number->data(), number->data() + number->size(), index);
      worker.current = index;
      worker.since = Clock::now();
      ++begun_;
    } else if (const auto failure = rest_after("failed ")) {
      note_failure(std::string(*failure));
    } else if (const auto counted = rest_after("count ")) {
      std::uint64_t times = 0;
      const auto [end, error] = std::from_chars(counted->data(), counted->data() + counted->size(), times);
      const std::string_view what = counted->substr(static_cast<std::size_t>(end - counted->data()));
      if (error == std::errc() && !what.empty()) found_.counts[std::string(what.substr(1))] += times;
    }
  }

  void note_failure(const std::string& text) {
    constexpr std::size_t most_shown = 40;
    found_.failures.push_back(text);
    if (found_.failures.size() > most_shown) return;
    fmt::print("{}\n", text);
    if (text.substr(0, 5) == "case ")
      fmt::print("  repeat: differential --seed {} --first {} --cases 1 --jobs 1{}{}{}\n", arguments_.seed,
                 std::strtoull(text.c_str() + 5, nullptr, 10),
                 arguments_.request.devices == Devices::gpu ? " --gpu" : "",
                 arguments_.request.ranks == Ranks::some ? " --ranks" : "",
                 arguments_.request.ways == Ways::all ? " --all-ways" : "");
    std::fflush(stdout);
  }

  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

  void report_progress() {
    told_ = Clock::now();
    fmt::print(stderr, "{} of {} cases, {:.0f} s, {} failures\n", begun_, arguments_.cases, seconds(),
               found_.failures.size());
  }

  void summarise() const {
    fmt::print("\n{:>10}  {}\n", "count", "of");
    for (const auto& [what, number] : found_.counts) fmt::print("{:>10}  {}\n", number, what);
    fmt::print("{} cases from seed {} in {:.1f} s ({:.0f} per second), {} failures\n", begun_, arguments_.seed,
               seconds(), static_cast<double>(begun_) / seconds(), found_.failures.size());
  }

  const Arguments& arguments_;
  std::vector<Worker> workers_;
  Findings found_;
  std::uint64_t begun_ = 0;
  bool ended_ = false;
  Clock::time_point began_ = Clock::now(), told_ = began_;
};

}  // namespace
}  // namespace isochron::test

int main(int count, char** words) {
  const isochron::test::Arguments arguments = isochron::test::parse(count, words);
  return isochron::test::Run(arguments).all();
}
