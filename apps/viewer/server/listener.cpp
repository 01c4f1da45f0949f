#include "apps/viewer/server/listener.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <utility>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace isochron::viewer {
namespace {

/// What a stranger's request may keep waiting, in seconds.
constexpr int patience_with_strangers = 5;
/// A browser that is busy drawing may leave an answer for a while.
constexpr int patience = 60;
constexpr int body_patience = 5;
/// Strangers whose requests are not answered yet.
constexpr int max_strangers = 400;

/// A socket of which some bytes have been read.
class Stream : public httplib::Stream {
 public:
  Stream(socket_t socket, std::string ahead, Sender sender)
      : socket_(socket),
        ahead_(std::move(ahead)),
        write_seconds_(sender == Sender::known ? patience : patience_with_strangers),
        end_(std::chrono::steady_clock::now() + std::chrono::seconds(patience_with_strangers)),
        ends_(sender != Sender::known) {}

  [[nodiscard]] bool is_readable() const override { return at_ < ahead_.size() || ready_for(POLLIN, read_seconds()); }
  [[nodiscard]] bool is_writable() const override { return ready_for(POLLOUT, write_seconds_) && peer_is_there(); }
  /// What newer versions of the library ask as well.
  [[nodiscard]] bool wait_readable() const { return is_readable(); }
  [[nodiscard]] bool wait_writable() const { return is_writable(); }
  [[nodiscard]] bool is_peer_alive() const { return peer_is_there(); }
  [[nodiscard]] time_t duration() const { return 0; }

  ssize_t read(char* to, std::size_t size) override {
    if (at_ < ahead_.size()) {
      const std::size_t part = ahead_.copy(to, size, at_);
      at_ += part;
      return static_cast<ssize_t>(part);
    }
    if (!is_readable()) return -1;
    return repeated([&] { return ::recv(socket_, to, size, MSG_DONTWAIT); });
  }
  ssize_t write(const char* from, std::size_t size) override {
    if (!is_writable()) return -1;
    return repeated([&] { return ::send(socket_, from, size, MSG_NOSIGNAL | MSG_DONTWAIT); });
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const override { ip = loopback, port = 0; }
  void get_local_ip_and_port(std::string& ip, int& port) const override { ip = loopback, port = 0; }
  [[nodiscard]] socket_t socket() const override { return socket_; }

  /// What was read and belongs to the next request.
  [[nodiscard]] std::string rest() const { return ahead_.substr(at_); }

  static constexpr const char* loopback = "127.0.0.1";

 private:
  template <class Call>
  static ssize_t repeated(Call&& call) {
    ssize_t result = 0;
    do result = call();
    while (result < 0 && errno == EINTR);
    return result;
  }
  [[nodiscard]] bool ready_for(short what, int seconds) const {
    pollfd one{socket_, what, 0};
    return repeated([&] { return ::poll(&one, 1, 1000 * seconds); }) > 0;
  }
  [[nodiscard]] int read_seconds() const {
    if (!ends_) return body_patience;
    const auto left = std::chrono::duration_cast<std::chrono::seconds>(end_ - std::chrono::steady_clock::now());
    return static_cast<int>(std::max<std::int64_t>(0, left.count()));
  }
  [[nodiscard]] bool peer_is_there() const {
    char byte = 0;
    const auto size = ::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR));
  }

  socket_t socket_;
  std::string ahead_;
  std::size_t at_ = 0;
  int write_seconds_;
  std::chrono::steady_clock::time_point end_;  ///< of the reading of a stranger's request
  bool ends_;
};

void close_connection(int socket) {
  ::shutdown(socket, SHUT_RDWR);
  ::close(socket);
}

}  // namespace

/// The connections that wait, and the threads that answer.
struct Listener::Traffic {
  Traffic(Listener& of, const std::string& token, std::size_t known_threads)
      : listener(of),
        connections([this, token](int socket, std::string bytes) { pass_on(socket, std::move(bytes), token); }),
        pools{Pool(known_threads), Pool(strangers_threads), Pool(strangers_threads)} {}
  /// From here on nothing is passed to the threads, and what they give back is closed.
  ~Traffic() { connections.stop(); }
  Traffic(const Traffic&) = delete;
  Traffic& operator=(const Traffic&) = delete;

  void pass_on(int socket, std::string bytes, const std::string& token) {
    const Sender sender = sender_of(bytes, token);
    if (sender != Sender::known && ++strangers > max_strangers) {
      --strangers;
      return close_connection(socket);
    }
    auto work = [this, socket, bytes = std::move(bytes), sender]() mutable {
      answer(socket, std::move(bytes), sender);
      if (sender != Sender::known) --strangers;
    };
    pools[static_cast<std::size_t>(sender)].threads.enqueue(std::move(work));
  }

  /// One request of a connection, which is kept for the next or closed.
  void answer(int socket, std::string bytes, Sender sender) {
    Stream stream(socket, std::move(bytes), sender);
    bool closed = false;
    const auto process = [&](auto& server) {
      // Newer versions of the library are told the addresses.
      if constexpr (requires { server.process_request(stream, false, closed, nullptr); })
        return server.process_request(stream, false, closed, nullptr);
      else return server.process_request(stream, Stream::loopback, 0, Stream::loopback, 0, false, closed, nullptr);
    };
    if (process(listener) && !closed) connections.add(socket, stream.rest());
    else close_connection(socket);
  }

  struct Pool {
    explicit Pool(std::size_t count) : threads(count) {}
    ~Pool() { threads.shutdown(); }
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;
    httplib::ThreadPool threads;
  };
  static constexpr std::size_t strangers_threads = 8;

  Listener& listener;
  std::atomic<int> strangers{0};
  Connections connections;
  std::array<Pool, sender_kinds> pools;
};

void Listener::listen(const std::string& token, std::size_t known_threads) {
  new_task_queue = [] { return new httplib::ThreadPool(1); };  // it only passes connections on
  Traffic traffic(*this, token, known_threads);
  traffic_ = &traffic;
  listen_after_bind();
}

bool Listener::process_and_close_socket(socket_t socket) {
  traffic_->connections.add(socket);
  return true;
}

}  // namespace isochron::viewer
