// Events that the server sends to browsers: progress, changed files, particles.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/viewer/server/wire.h"

namespace isochron::viewer {

/// One browser's open stream. Old events are dropped when it does not keep up.
class EventStream {
 public:
  explicit EventStream(std::string client) : client_(std::move(client)) {}

  [[nodiscard]] const std::string& client() const { return client_; }
  /// The text of the events that came, in the form of server-sent events; empty when none came in time. None once the
  /// hub was closed.
  std::optional<std::string> next(std::chrono::milliseconds patience);

 private:
  friend class Events;
  static constexpr std::size_t max_kept = 256;

  std::string client_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> events_;
  bool closed_ = false;
};

/// Hands events to the streams. Any thread may call.
class Events {
 public:
  static constexpr std::size_t max_streams = 16;

  /// A new stream of a client; null when there are too many.
  std::shared_ptr<EventStream> open(const std::string& client);
  /// Takes it out.
  void close(const std::shared_ptr<EventStream>& stream);
  /// Whether the client has a stream.
  [[nodiscard]] bool has(const std::string& client);
  /// To one client, or to all when `client` is empty.
  void send(const std::string& client, std::string_view name, const Json& data);
  /// Ends all streams.
  void close_all();

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<EventStream>> streams_;
  bool closed_ = false;
};

}  // namespace isochron::viewer
