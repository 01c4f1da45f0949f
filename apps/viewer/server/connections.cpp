#include "apps/viewer/server/connections.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "apps/viewer/server/access.h"
#include "apps/viewer/server/wire.h"
#include "isochron/error.h"

namespace isochron::viewer {
namespace {

void send_refusal(int socket, std::string_view status, std::string_view message) {
  const std::string body = text_of(Json{{"error", message}});
  const std::string answer = fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n"
      "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\r\n{}",
      status, body.size(), body);
  ::send(socket, answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::shutdown(socket, SHUT_WR);
}

std::string_view trimmed_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

bool same_name(std::string_view a, std::string_view lower_case) {
  return std::equal(a.begin(), a.end(), lower_case.begin(), lower_case.end(),
                    [](char x, char y) { return std::tolower(static_cast<unsigned char>(x)) == y; });
}

}  // namespace

Header judge_header(std::string_view bytes) {
  constexpr std::string_view end = "\r\n\r\n";
  const std::size_t at = bytes.find(end);
  const std::string_view head = bytes.substr(0, at);
  const auto fields = static_cast<std::size_t>(std::count(head.begin(), head.end(), '\n'));  // and the request line
  if (head.size() > max_header_bytes || fields > max_header_fields) return Header::too_large;
  return at == std::string_view::npos ? Header::incomplete : Header::complete;
}

Sender sender_of(std::string_view header, std::string_view token) {
  header = header.substr(0, header.find("\r\n\r\n"));
  bool known = false, body = false;
  const std::string_view request = header.substr(0, header.find('\n'));
  constexpr std::string_view field = "token=";
  for (std::size_t at = request.find(field); at != std::string_view::npos; at = request.find(field, at + 1))
    known = known || same_token(request.substr(at + field.size()).substr(0, token.size()), token);
  while (!header.empty()) {
    const std::size_t end = std::min(header.find('\n'), header.size());
    const std::string_view line = header.substr(0, end);
    header.remove_prefix(std::min(header.size(), end + 1));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, colon), value = trimmed_blanks(line.substr(colon + 1));
    if (same_name(name, "x-isochron-token")) known = known || same_token(value, token);
    body = body || same_name(name, "transfer-encoding") || (same_name(name, "content-length") && value != "0");
  }
  return known ? Sender::known : body ? Sender::stranger_with_body : Sender::stranger;
}

Connections::Connections(Ready ready) : ready_(std::move(ready)) {
  if (::pipe(pipe_) != 0)
    throw RuntimeError("the system gives no pipe; close other programs that have many files open");
  for (const int end : pipe_) ::fcntl(end, F_SETFL, O_NONBLOCK);
  thread_ = std::thread([this] { run(); });
}

Connections::~Connections() {
  stop();
  for (const int end : pipe_) ::close(end);
}

void Connections::stop() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  wake();
  if (thread_.joinable()) thread_.join();
}

void Connections::add(int socket, std::string bytes) {
  {
    const std::lock_guard lock(mutex_);
    if (!over_) {
      arrived_.push_back({socket, std::move(bytes), Clock::now() + idle_time});
      socket = -1;
    }
  }
  if (socket >= 0) ::close(socket);
  else wake();
}

void Connections::wake() const { [[maybe_unused]] const auto written = ::write(pipe_[1], "", 1); }

void Connections::run() {
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (over_) break;
    }
    admit();
    poll_all();
  }
  const std::lock_guard lock(mutex_);
  for (const auto* list : {&waiting_, &arrived_})
    for (const Waiting& one : *list) ::close(one.socket);
}

void Connections::admit() {
  std::vector<Waiting> arrived;
  {
    const std::lock_guard lock(mutex_);
    arrived.swap(arrived_);
  }
  for (Waiting& one : arrived)
    if (one.bytes.empty() || look_at(one) == Fate::stays) waiting_.push_back(std::move(one));
  while (waiting_.size() > max_waiting) {
    ::close(waiting_.front().socket);
    waiting_.erase(waiting_.begin());
  }
}

void Connections::poll_all() {
  std::vector<pollfd> polled{{pipe_[0], POLLIN, 0}};
  for (const Waiting& one : waiting_) polled.push_back({one.socket, POLLIN, 0});
  constexpr int look_interval = 250;  // milliseconds
  if (::poll(polled.data(), polled.size(), look_interval) > 0 && polled[0].revents != 0) {
    std::array<char, 256> ignored;
    while (::read(pipe_[0], ignored.data(), ignored.size()) > 0) {
    }
  }
  std::vector<Waiting> staying;
  for (std::size_t i = 0; i < waiting_.size(); ++i)
    if (serve(waiting_[i], polled[i + 1].revents != 0) == Fate::stays) staying.push_back(std::move(waiting_[i]));
  waiting_ = std::move(staying);
}

Connections::Fate Connections::serve(Waiting& one, bool readable) {
  if (readable && read(one) == Fate::leaves) return Fate::leaves;
  if (Clock::now() < one.until) return Fate::stays;
  if (!one.refused && !one.bytes.empty())
    send_refusal(one.socket, "408 Request Timeout", "the header takes too long; send it at once");
  ::close(one.socket);
  return Fate::leaves;
}

Connections::Fate Connections::read(Waiting& one) {
  std::array<char, 16 << 10> buffer;
  const auto size = ::recv(one.socket, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return Fate::stays;
  if (size <= 0) {
    ::close(one.socket);
    return Fate::leaves;
  }
  if (one.refused) return Fate::stays;
  if (one.bytes.empty()) one.until = Clock::now() + header_time;
  one.bytes.append(buffer.data(), static_cast<std::size_t>(size));
  return look_at(one);
}

Connections::Fate Connections::look_at(Waiting& one) {
  switch (judge_header(one.bytes)) {
    case Header::incomplete: return Fate::stays;
    case Header::complete: ready_(one.socket, std::move(one.bytes)); return Fate::leaves;
    default:
      send_refusal(one.socket, "431 Request Header Fields Too Large",
                   fmt::format("the header is too large; send at most {} fields and {} bytes", max_header_fields,
                               max_header_bytes));
      one = {one.socket, {}, Clock::now() + drain_time, true};
      return Fate::stays;
  }
}

}  // namespace isochron::viewer
