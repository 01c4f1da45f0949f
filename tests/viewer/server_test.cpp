// The server itself, and its small parts: access, events and the packed answer.
#include <chrono>
#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "apps/viewer/server/access.h"
#include "apps/viewer/server/connections.h"
#include "apps/viewer/server/events.h"
#include "apps/viewer/server/http.h"
#include "isochron/error.h"
#include "viewer/unpacked.h"

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

TEST(Connections, HeadersAreJudgedAsTheyCome) {
  EXPECT_EQ(judge_header("GET / HTTP/1.1\r\nHost: a\r\n"), Header::incomplete);
  EXPECT_EQ(judge_header("GET / HTTP/1.1\r\nHost: a\r\n\r\nbody"), Header::complete);
  std::string many = "GET / HTTP/1.1\r\n";
  for (std::size_t i = 0; i < max_header_fields; ++i) many += "A: b\r\n";
  EXPECT_EQ(judge_header(many + "\r\n"), Header::complete);
  EXPECT_EQ(judge_header(many + "A: b\r\n"), Header::too_large);
  EXPECT_EQ(judge_header(std::string(max_header_bytes + 1, 'a')), Header::too_large);
  EXPECT_EQ(judge_header("\r\n\r\n" + std::string(2 * max_header_bytes, 'a')), Header::complete);
}

TEST(Connections, WhoAsksIsKnownByTheHeader) {
  const std::string token = "0123456789abcdef0123456789abcdef";
  const auto sender = [&](const std::string& header) { return sender_of(header + "\r\n\r\n", token); };
  EXPECT_EQ(sender("GET /api/state?client=a&token=" + token + " HTTP/1.1\r\nHost: a"), Sender::known);
  EXPECT_EQ(sender("GET /api/state HTTP/1.1\r\nx-Isochron-TOKEN:  " + token + " \r\nHost: a"), Sender::known);
  EXPECT_EQ(sender("GET / HTTP/1.1\r\nX-Isochron-Token: " + token.substr(1)), Sender::stranger);
  EXPECT_EQ(sender("GET / HTTP/1.1\r\nContent-Length: 0"), Sender::stranger);
  EXPECT_EQ(sender("POST / HTTP/1.1\r\nContent-Length: 10"), Sender::stranger_with_body);
  EXPECT_EQ(sender("POST / HTTP/1.1\r\ntransfer-encoding: chunked"), Sender::stranger_with_body);
  EXPECT_EQ(sender_of("POST / HTTP/1.1\r\n\r\nX-Isochron-Token: " + token, token), Sender::stranger);
  EXPECT_EQ(sender_of("", token), Sender::stranger);
}

TEST(Access, TokensAreLongAndNeverTheSame) {
  const std::string token = make_token();
  EXPECT_EQ(token.size(), 32U);
  EXPECT_EQ(token.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(token, make_token());
  EXPECT_TRUE(same_token(token, token));
  std::string other = token;
  other.back() = other.back() == '0' ? '1' : '0';
  EXPECT_FALSE(same_token(other, token));
  EXPECT_FALSE(same_token("", token));
  EXPECT_FALSE(same_token(token.substr(1), token));
}

TEST(Access, OnlyTheLoopbackOnOurPortIsUs) {
  EXPECT_TRUE(own_host("127.0.0.1:80", 80));
  EXPECT_TRUE(own_host("localhost:80", 80));
  for (const char* host : {"", "127.0.0.1", "127.0.0.1:8080", "evil.example:80", "127.0.0.1:80.evil.example"})
    EXPECT_FALSE(own_host(host, 80)) << host;
  EXPECT_TRUE(own_origin("", 80));
  EXPECT_TRUE(own_origin("http://localhost:80", 80));
  for (const char* origin : {"null", "https://localhost:80", "http://evil.example", "http://localhost:81"})
    EXPECT_FALSE(own_origin(origin, 80)) << origin;
}

TEST(Events, GoToWhomTheyAreFor) {
  Events events;
  const auto a = events.open("a");
  const auto b = events.open("b");
  events.send("a", "progress", {{"fraction", 0.5}});
  events.send("", "changed", {{"dataset", 0}});
  EXPECT_EQ(*a->next(0ms), "event: progress\ndata: {\"fraction\":0.5}\n\nevent: changed\ndata: {\"dataset\":0}\n\n");
  EXPECT_EQ(*b->next(0ms), "event: changed\ndata: {\"dataset\":0}\n\n");
  EXPECT_EQ(*b->next(1ms), "");
  const auto again = events.open("a");
  events.close(a);
  EXPECT_TRUE(events.has("a"));  // by another stream
  events.close(again);
  EXPECT_FALSE(events.has("a"));
  events.close_all();
  EXPECT_EQ(b->next(1s), std::nullopt);
}

TEST(Events, AreLimited) {
  Events events;
  const auto first = events.open("a");
  for (std::size_t i = 1; i < Events::max_streams; ++i) EXPECT_NE(events.open("a"), nullptr);
  EXPECT_EQ(events.open("a"), nullptr);
  for (int i = 0; i < 10000; ++i) events.send("a", "progress", {{"i", i}});
  const std::string text = *first->next(0ms);
  EXPECT_LT(text.size(), 20000U);
  EXPECT_NE(text.find("9999"), std::string::npos);  // the last are kept
}

TEST(Wire, ArraysComeBack) {
  Pack pack;
  pack.meta["name"] = "äöü";
  pack.add_points("points", std::vector<Vec3d>{{1, 2, 3}, {-4, 5.5, 1e30}}, "mm");
  const auto odd = pack.bytes("odd", {3});
  for (std::size_t i = 0; i < 3; ++i) odd[i] = static_cast<std::uint8_t>(250 + i);
  const std::vector<std::uint32_t> ids{0, 4294967295U};
  pack.add_integers("ids", ids);
  const double infinity = std::numeric_limits<double>::infinity();
  pack.add_values("times", std::vector<double>{0.5, infinity});
  (void)pack.floats("nothing", {0, 3});

  const Unpacked read(pack.packed());  // which checks that every array begins at a multiple of 8
  EXPECT_EQ(read.meta()["name"], "äöü");
  EXPECT_EQ(read.floats("points"), (std::vector<float>{1, 2, 3, -4, 5.5F, 1e30F}));
  EXPECT_EQ(read.shape("points"), (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(read.bytes("odd"), (std::vector<std::uint8_t>{250, 251, 252}));
  EXPECT_EQ(read.integers("ids"), ids);
  EXPECT_EQ(read.floats("times")[1], std::numeric_limits<float>::infinity());
  EXPECT_TRUE(read.floats("nothing").empty());
}

TEST(Wire, LayoutIsAsDocumented) {
  Pack pack;
  pack.add_integers("n", std::vector<std::uint32_t>{7});
  const std::string bytes = pack.packed();
  EXPECT_EQ(bytes.substr(0, 4), "ISO1");
  const auto length = static_cast<unsigned char>(bytes[4]) + 256U * static_cast<unsigned char>(bytes[5]);
  EXPECT_EQ((8 + length) % 8, 0U);
  const Json header = Json::parse(bytes.substr(8, length));
  EXPECT_EQ(header["arrays"]["n"], (Json{{"dtype", "uint32"}, {"shape", {1}}, {"offset", 0}}));
  EXPECT_EQ(bytes.size(), 8 + length + 8);  // arrays are padded too
  EXPECT_EQ(bytes[8 + length], 7);
}

TEST(Wire, NamesThatAreNotUtf8AreReplaced) {
  EXPECT_EQ(text_of(Json{{"a", "x\xff"}}), "{\"a\":\"x\uFFFD\"}");
  EXPECT_TRUE(finite_or_null(std::nan("")).is_null());
  EXPECT_EQ(finite_or_null(2.5), 2.5);
}

}  // namespace TEST_FILE
}  // namespace isochron::viewer
