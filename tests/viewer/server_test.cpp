#include <chrono>
#include <string>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "apps/viewer/server/http.h"
#include "isochron/core/error.h"

namespace isochron::viewer {
namespace TEST_FILE {

using namespace std::chrono_literals;

int port_of(const Server& server) {
  const std::string url = server.url();
  return std::stoi(url.substr(url.find(':', 5) + 1));
}

/// As when the system takes it away.
void close_port(int port) {
  for (int descriptor = 3; descriptor < 256; ++descriptor) {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) == 0 && address.sin_family == AF_INET &&
        ntohs(address.sin_port) == port)
      ::shutdown(descriptor, SHUT_RDWR);
  }
}

TEST(Server, SaysWhenItHearsNoMore) {
  Server server({});
  const int port = port_of(server);
  const auto end = std::chrono::steady_clock::now() + 10s;
  const auto ended = [&] {
    close_port(port);
    return std::chrono::steady_clock::now() > end;
  };
  EXPECT_THROW(server.run(ended), RuntimeError);
}

TEST(Server, EndsInOrderWhenTheLoopFails) {
  Server server({});
  EXPECT_THROW(server.run([]() -> bool { throw InputError("bad"); }), InputError);
}

}  // namespace TEST_FILE
}  // namespace isochron::viewer
