#include "apps/viewer/server/access.h"

#include <array>
#include <cstdint>

#include <fmt/format.h>
#include <unistd.h>

#include "isochron/error.h"

namespace isochron::viewer {

std::string make_token() {
  std::array<std::uint8_t, 16> bytes{};
  if (::getentropy(bytes.data(), bytes.size()) != 0)
    throw RuntimeError("the system gives no random numbers (the page could not be kept private); try again");
  std::string token;
  for (const std::uint8_t byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

bool same_token(std::string_view given, std::string_view token) {
  if (given.size() != token.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < token.size(); ++i)
    difference |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(token[i]);
  return difference == 0;
}

bool own_host(std::string_view host, int port) {
  return host == fmt::format("127.0.0.1:{}", port) || host == fmt::format("localhost:{}", port);
}

bool own_origin(std::string_view origin, int port) {
  constexpr std::string_view scheme = "http://";
  return origin.empty() || (origin.starts_with(scheme) && own_host(origin.substr(scheme.size()), port));
}

}  // namespace isochron::viewer
