#include "apps/viewer/server/events.h"

#include <algorithm>

#include <fmt/format.h>

namespace isochron::viewer {

std::optional<std::string> EventStream::next(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [&] { return closed_ || !events_.empty(); });
  if (closed_) return std::nullopt;
  std::string text;
  for (const std::string& event : events_) text += event;
  events_.clear();
  return text;
}

std::shared_ptr<EventStream> Events::open(const std::string& client) {
  const std::lock_guard lock(mutex_);
  if (closed_ || streams_.size() >= max_streams) return nullptr;
  return streams_.emplace_back(std::make_shared<EventStream>(client));
}

void Events::close(const std::shared_ptr<EventStream>& stream) {
  const std::lock_guard lock(mutex_);
  std::erase(streams_, stream);
}

bool Events::has(const std::string& client) {
  const std::lock_guard lock(mutex_);
  return std::any_of(streams_.begin(), streams_.end(), [&](const auto& stream) { return stream->client() == client; });
}

void Events::send(const std::string& client, std::string_view name, const Json& data) {
  const std::string text = fmt::format("event: {}\ndata: {}\n\n", name, text_of(data));
  const std::lock_guard lock(mutex_);
  for (const auto& stream : streams_) {
    if (!client.empty() && stream->client() != client) continue;
    const std::lock_guard inner(stream->mutex_);
    if (stream->events_.size() >= EventStream::max_kept) stream->events_.pop_front();
    stream->events_.push_back(text);
    stream->changed_.notify_all();
  }
}

void Events::close_all() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (const auto& stream : streams_) {
    const std::lock_guard inner(stream->mutex_);
    stream->closed_ = true;
    stream->changed_.notify_all();
  }
}

}  // namespace isochron::viewer
