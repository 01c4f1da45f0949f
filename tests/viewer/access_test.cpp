#include "apps/viewer/server/access.h"

#include <gtest/gtest.h>

#include "apps/viewer/server/events.h"

namespace isochron::viewer {
namespace TEST_FILE {

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
  using namespace std::chrono_literals;
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
  using namespace std::chrono_literals;
  Events events;
  const auto first = events.open("a");
  for (std::size_t i = 1; i < Events::max_streams; ++i) EXPECT_NE(events.open("a"), nullptr);
  EXPECT_EQ(events.open("a"), nullptr);
  for (int i = 0; i < 10000; ++i) events.send("a", "progress", {{"i", i}});
  const std::string text = *first->next(0ms);
  EXPECT_LT(text.size(), 20000U);
  EXPECT_NE(text.find("9999"), std::string::npos);  // the last are kept
}

}  // namespace TEST_FILE
}  // namespace isochron::viewer
