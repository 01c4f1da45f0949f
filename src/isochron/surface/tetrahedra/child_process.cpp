#include "isochron/surface/tetrahedra/programs.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

#include <fmt/format.h>

#include "isochron/error.h"

namespace isochron {

namespace {

bool executable(const std::filesystem::path& file) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(file, ignored) && ::access(file.c_str(), X_OK) == 0;
}

/// The last line with something in it, cut where it gets long.
std::string last_line(const std::filesystem::path& log) {
  std::ifstream file(log);
  std::string line, last;
  while (std::getline(file, line))
    if (line.find_first_not_of(" \t\r") != std::string::npos) last = line;
  constexpr std::size_t longest = 200;
  if (last.size() > longest) last.resize(longest);
  return last;
}

/// What the child does between fork and its new life; only calls that are safe there.
[[noreturn]] void become(const char* program, char* const* arguments, const char* folder, int log, int report,
                         [[maybe_unused]] pid_t parent) {
#if defined(__linux__)
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // it was already too late
#endif
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (::chdir(folder) == 0 && ::dup2(nothing, 0) >= 0 && ::dup2(log, 1) >= 0 && ::dup2(log, 2) >= 0)
    ::execv(program, arguments);
  const int reason = errno;
  [[maybe_unused]] const auto written = ::write(report, &reason, sizeof reason);
  ::_exit(127);
}

/// Starts the program; the report pipe closes by itself when that worked and carries the reason when it did not.
pid_t start(const std::filesystem::path& program, const std::vector<std::string>& arguments,
            const std::filesystem::path& folder, const std::filesystem::path& log) {
  const auto give_up = [&](int reason) {
    throw RuntimeError(fmt::format("{} cannot be started ({}); check that it is a program you may run",
                                   program.string(), std::strerror(reason)));
  };
  std::vector<std::string> words{program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  int report[2];
  if (::pipe(report) != 0) give_up(errno);
  ::fcntl(report[0], F_SETFD, FD_CLOEXEC);
  ::fcntl(report[1], F_SETFD, FD_CLOEXEC);
  const int log_file = ::open(log.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  const int fork_error = errno;
  if (child == 0) become(words[0].c_str(), pointers.data(), folder.c_str(), log_file, report[1], parent);
  ::close(report[1]);
  if (log_file >= 0) ::close(log_file);
  int reason = child < 0 ? fork_error : 0;
  if (child > 0) {
    while (::read(report[0], &reason, sizeof reason) < 0 && errno == EINTR) {
    }
  }
  ::close(report[0]);
  if (reason != 0) {
    if (child > 0) ::waitpid(child, nullptr, 0);
    give_up(reason);
  }
  return child;
}

/// The child's status once it has ended; kills it when the work is cancelled or takes too long.
int wait_for(pid_t child, const Progress& progress, double time_limit, bool& too_long) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  auto pause = std::chrono::milliseconds(1);
  bool killed = false;
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR) return 0;
    too_long = too_long || (time_limit > 0 && std::chrono::duration<double>(Clock::now() - begin).count() > time_limit);
    if (!killed && (too_long || progress.cancelled())) {
      ::kill(child, SIGKILL);
      killed = true;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(50));
  }
}

}  // namespace

WorkFolder::WorkFolder() {
  std::error_code error;
  std::string name = (std::filesystem::temp_directory_path(error) / "isochron-XXXXXX").string();
  if (error || ::mkdtemp(name.data()) == nullptr)
    throw RuntimeError(
        fmt::format("a folder for temporary files cannot be made ({}); set TMPDIR to a folder you may "
                    "write to",
                    error ? error.message() : std::strerror(errno)));
  path_ = name;
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path find_program(const std::string& name, const std::filesystem::path& named) {
  if (!named.empty()) return executable(named) ? named : std::filesystem::path();
  std::error_code ignored;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  if (!self.empty() && executable(self.parent_path() / name)) return self.parent_path() / name;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (!folder.empty() && executable(std::filesystem::path(folder) / name))
      return std::filesystem::absolute(std::filesystem::path(folder) / name, ignored);
  return {};
}

void run_program(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                 const std::filesystem::path& folder, const Progress& progress, double time_limit) {
  if (progress.cancelled()) throw Cancelled();
  const std::filesystem::path log = folder / "log";
  const pid_t child = start(program, arguments, folder, log);
  bool too_long = false;
  const int status = wait_for(child, progress, time_limit, too_long);
  // Before anything else: an interrupt from the keyboard ends the child too.
  if (progress.cancelled()) throw Cancelled();
  const std::string name = program.filename().string();
  if (too_long)
    throw RuntimeError(
        fmt::format("{} did not finish within {:g} s; allow more time or a coarser mesh", name, time_limit));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  const std::string last = last_line(log);
  const std::string how = WIFSIGNALED(status) ? fmt::format("crashed ({})", ::strsignal(WTERMSIG(status)))
                                              : fmt::format("failed with code {}", WEXITSTATUS(status));
  throw RuntimeError(fmt::format("{} {}{}; try another program (", name, how,
                                 last.empty() ? "" : fmt::format(", its last words: '{}'", last)) +
                     Setting{Option::tetrahedra, "netgen|tetgen|gmsh"} + ") or a finer surface");
}

}  // namespace isochron
