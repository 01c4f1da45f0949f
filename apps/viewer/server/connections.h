// Connections that wait for a request. One thread reads the headers of all of them, so that those that send nothing, or
// slowly, keep no other thread busy.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace isochron::viewer {

/// What a request's header may be.
inline constexpr std::size_t max_header_bytes = 32 << 10;
inline constexpr std::size_t max_header_fields = 100;

enum class Header { incomplete, complete, too_large };
/// How far the header at the front of some bytes has come.
Header judge_header(std::string_view bytes);

/// Who asks. Each has threads of its own: strangers can make one another wait, but nobody who has the token.
enum class Sender { known, stranger, stranger_with_body };
inline constexpr std::size_t sender_kinds = 3;

/// By the header of a request: whether it has the token, and whether a body comes behind it.
Sender sender_of(std::string_view header, std::string_view token);

class Connections {
 public:
  /// Gets the connections whose header is there, with all bytes read so far. It owns the socket and must not block.
  using Ready = std::function<void(int socket, std::string bytes)>;

  /// How long a connection may be without a request, how long a header may take, and how long is read after a refusal.
  static constexpr std::chrono::seconds idle_time{10}, header_time{3}, drain_time{2};
  /// Of more than these the one that waits longest is closed.
  static constexpr std::size_t max_waiting = 400;

  explicit Connections(Ready ready);
  ~Connections();
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  /// Takes a socket over, with bytes that were read from it already.
  void add(int socket, std::string bytes = {});
  /// Closes all that wait, and those that are added later.
  void stop();

 private:
  using Clock = std::chrono::steady_clock;
  struct Waiting {
    int socket = -1;
    std::string bytes;
    Clock::time_point until;
    bool refused = false;  ///< what still comes is thrown away: a close in the middle of it would lose the answer
  };
  enum class Fate { stays, leaves };

  void run();
  void admit();
  void poll_all();
  Fate serve(Waiting& one, bool readable);
  Fate read(Waiting& one);
  Fate look_at(Waiting& one);
  void wake() const;

  Ready ready_;
  std::mutex mutex_;
  std::vector<Waiting> arrived_;  ///< not looked at yet; of `mutex_`
  bool over_ = false;             ///< of `mutex_`
  std::vector<Waiting> waiting_;  ///< of the thread, the oldest first
  int pipe_[2] = {-1, -1};        ///< wakes the thread
  std::thread thread_;
};

}  // namespace isochron::viewer
