#include "isochron/draw/display.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include "isochron/error.h"

namespace isochron {

namespace {

constexpr std::string_view cookie_kind = "MIT-MAGIC-COOKIE-1";
constexpr int start_timeout_ms = 30000;

[[noreturn]] void fail(const std::string& problem, const std::string& remedy) {
  throw RuntimeError(fmt::format("pictures need an X display: {}; {}", problem, remedy));
}

class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_, O_CLOEXEC) != 0) fail(fmt::format("no pipe ({})", std::strerror(errno)), "close other programs");
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  [[nodiscard]] int reading() const { return ends_[0]; }
  [[nodiscard]] int writing() const { return ends_[1]; }
  void close_end(int end) {
    if (ends_[end] >= 0) ::close(ends_[end]);
    ends_[end] = -1;
  }

 private:
  int ends_[2] = {-1, -1};
};

// Up to a line end or the end of the pipe.
std::string read_line(int descriptor) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(start_timeout_ms);
  std::string line;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd wait{descriptor, POLLIN, 0};
    const int ready = ::poll(&wait, 1, static_cast<int>(std::max<long long>(0, left.count())));
    if (ready < 0 && errno == EINTR) continue;
    char c = 0;
    if (ready <= 0 || ::read(descriptor, &c, 1) != 1 || c == '\n') return line;
    line += c;
  }
}

// A function of libX11. VTK has loaded the library; looking it up here spares a build dependency.
template <class Function>
Function* x_function(void* library, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(library, name));
}

}  // namespace

// A running Xvfb. Its files are gone as soon as it has started.
class OffscreenDisplay::Server {
 public:
  Server() : folder_(make_folder()) {
    try {
      write_cookie();
      start();
    } catch (...) {
      stop();
      throw;
    }
  }
  ~Server() { stop(); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// False when there is no Xvfb to run.
  [[nodiscard]] bool running() const { return child_ > 0; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& cookie() const { return cookie_; }

 private:
  static std::filesystem::path make_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "isochron-display-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      fail(fmt::format("no temporary folder ({})", std::strerror(errno)), "set TMPDIR");
    return name;
  }

  // The server lets in only who knows these 16 bytes. The file has one entry for any host and display.
  void write_cookie() {
    std::random_device random;
    for (int i = 0; i < 16; ++i) cookie_ += static_cast<char>(random());
    std::ofstream file(folder_ / "auth", std::ios::binary);
    const auto put = [&](std::string_view text) {
      file.put(static_cast<char>(text.size() >> 8)).put(static_cast<char>(text.size())) << text;
    };
    file << "\xff\xff";
    put("");
    put("");
    put(cookie_kind);
    put(cookie_);
    if (!file.flush()) fail("the temporary folder is full", "free some space or set TMPDIR");
  }

  void start() {
    Pipe number;
    Pipe exec_error;
    const std::string auth = (folder_ / "auth").string();
    const std::string descriptor = std::to_string(number.writing());
    std::vector<const char*> arguments{"Xvfb",  "-displayfd", descriptor.c_str(), "-screen",
                                       "0",     "640x480x24", "-nolisten",        "tcp",
                                       "-auth", auth.c_str(), "-noreset",         nullptr};
    const pid_t parent = ::getpid();
    child_ = ::fork();
    if (child_ < 0) fail(fmt::format("no new process ({})", std::strerror(errno)), "close other programs");
    if (child_ == 0) run_child(arguments, number.writing(), exec_error.writing(), parent);
    number.close_end(1);
    exec_error.close_end(1);
    int error_number = 0;
    if (::read(exec_error.reading(), &error_number, sizeof(error_number)) > 0) {
      stop();
      if (error_number != ENOENT)
        fail(fmt::format("Xvfb does not start ({})", std::strerror(error_number)), "check it");
      return;
    }
    const std::string display = read_line(number.reading());
    if (display.empty()) fail("Xvfb does not start", "try running 'Xvfb :99', or reinstall the package xvfb");
    name_ = ":" + display;
  }

  // After fork: only calls that are safe there.
  [[noreturn]] static void run_child(const std::vector<const char*>& arguments, int keep, int report, pid_t parent) {
#if defined(__linux__)
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(1);
#endif
    // Ctrl-C at the terminal is for the parent, which ends the server when it is done.
    ::setpgid(0, 0);
    const int null = ::open("/dev/null", O_RDWR);
    for (int i = 0; i <= 2; ++i) ::dup2(null, i);
    ::fcntl(keep, F_SETFD, 0);
    ::execvp(arguments[0], const_cast<char* const*>(arguments.data()));
    const int error_number = errno;
    [[maybe_unused]] const auto written = ::write(report, &error_number, sizeof(error_number));
    ::_exit(127);
  }

  void stop() noexcept {
    if (child_ > 0) {
      ::kill(child_, SIGTERM);
      // A server that does not listen within two seconds is ended the hard way.
      for (int i = 0; ::waitpid(child_, nullptr, WNOHANG) == 0; ++i) {
        if (i == 200) ::kill(child_, SIGKILL);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      child_ = -1;
    }
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::filesystem::path folder_;
  std::string cookie_;
  std::string name_;
  pid_t child_ = -1;
};

namespace {

// VTK ends the process when the server has no OpenGL, so this looks first.
void require_opengl(void* display) {
  void* library = ::dlopen("libGL.so.1", RTLD_NOW);
  if (library == nullptr) fail("libGL.so.1 is missing", "install the package libgl1");
  int error_base = 0;
  int event_base = 0;
  auto* query = x_function<int(void*, int*, int*)>(library, "glXQueryExtension");
  if (query(display, &error_base, &event_base) == 0) {
    fail("the one there is has no OpenGL", "install the package libgl1-mesa-dri");
  }
}

}  // namespace

OffscreenDisplay::OffscreenDisplay() : library_(::dlopen("libX11.so.6", RTLD_NOW)) {
  if (library_ == nullptr) fail("libX11.so.6 is missing", "install the package libx11-6");
  auto* open = x_function<void*(const char*)>(library_, "XOpenDisplay");
  auto* authorize = x_function<void(const char*, int, const char*, int)>(library_, "XSetAuthorization");
  server_ = std::make_unique<Server>();
  if (server_->running()) {
    authorize(cookie_kind.data(), static_cast<int>(cookie_kind.size()), server_->cookie().data(),
              static_cast<int>(server_->cookie().size()));
    handle_ = open(server_->name().c_str());
    authorize(nullptr, 0, nullptr, 0);
    if (handle_ == nullptr) fail("the Xvfb that was started does not answer", "reinstall the package xvfb");
  } else {
    const char* display = std::getenv("DISPLAY");
    if (display == nullptr || *display == '\0') fail("there is none and Xvfb is missing", "install the package xvfb");
    handle_ = open(display);
    if (handle_ == nullptr) fail(fmt::format("DISPLAY {} does not answer", display), "install the package xvfb");
  }
  try {
    require_opengl(handle_);
  } catch (...) {
    close();
    throw;
  }
}

OffscreenDisplay::~OffscreenDisplay() { close(); }

void OffscreenDisplay::close() noexcept {
  if (handle_ != nullptr) x_function<int(void*)>(library_, "XCloseDisplay")(handle_);
  handle_ = nullptr;
}

}  // namespace isochron
