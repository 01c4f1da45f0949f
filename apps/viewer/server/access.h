// The rules that keep other pages and other users out.
#pragma once

#include <string>
#include <string_view>

namespace isochron::viewer {

/// 128 random bits in hex. Throws RuntimeError when the system has none.
std::string make_token();

/// Whether they are equal, in a time that does not depend on where they differ.
bool same_token(std::string_view given, std::string_view token);

/// Whether a Host header is ours; against names that resolve to the loopback.
bool own_host(std::string_view host, int port);
/// Whether an Origin header is ours; empty is: then it is no request of another page.
bool own_origin(std::string_view origin, int port);

}  // namespace isochron::viewer
