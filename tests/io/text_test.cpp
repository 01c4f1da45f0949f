#include "isochron/io/text.h"

#include <cmath>

#include "io/io_test_support.h"

namespace isochron::test {
namespace TEST_FILE {

using ::testing::HasSubstr;

TextScanner scan(std::string_view text) { return {"f", text, {.hash_comments = true, .separators = ","}}; }

std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(TextScanner, ReadsUnusualNumbers) {
  TextScanner in = scan("+1.5, -2 3D2 1e400 1e-400 inf nan .5 5. -0");
  EXPECT_EQ(in.real("x"), 1.5);
  EXPECT_EQ(in.integer<int>("x"), -2);
  EXPECT_EQ(in.real("x"), 300);
  EXPECT_EQ(in.real("x"), INFINITY);
  EXPECT_EQ(in.real("x"), 0);
  EXPECT_EQ(in.real("x"), INFINITY);
  EXPECT_TRUE(std::isnan(in.real("x")));
  EXPECT_EQ(in.real("x"), 0.5);
  EXPECT_EQ(in.real("x"), 5);
  EXPECT_TRUE(std::signbit(in.real("x")));
  EXPECT_TRUE(in.at_end());
}

TEST(TextScanner, RefusesWhatIsNoNumber) {
  for (const char* text : {"1x", "x", "+", "1.5.2", "--1", "1e", "d"}) {
    EXPECT_THAT(message_of([&] { scan(text).real("a time"); }), HasSubstr("a time was expected")) << text;
  }
  for (const char* text : {"1.0", "x", "99999999999", "-"}) {
    EXPECT_THAT(message_of([&] { scan(text).integer<int>("an id"); }), HasSubstr("an id was expected")) << text;
  }
}

TEST(TextScanner, CountsLinesAndSkipsComments) {
  TextScanner in = scan("1 # one\n# nothing\n\n2 word\n");
  EXPECT_EQ(in.integer<int>("x"), 1);
  EXPECT_FALSE(in.more_on_line());
  EXPECT_EQ(in.integer<int>("x"), 2);
  EXPECT_TRUE(in.more_on_line());
  EXPECT_EQ(message_of([&] { in.integer<int>("an id"); }).substr(0, 11), "f: line 4: ");
  EXPECT_EQ(in.word("x"), "word");
  EXPECT_THAT(message_of([&] { in.word("the rest"); }), HasSubstr("ends early (the rest was expected)"));
}

TEST(TextScanner, RefusesCountsTheFileCannotHold) {
  EXPECT_EQ(scan("2 1 2").count("rows", 2), 2U);
  EXPECT_THAT(message_of([] { scan("4000000000 1 2").count("rows", 2); }), HasSubstr("cannot be right"));
  EXPECT_THAT(message_of([] { scan("-1").count("rows", 2); }), HasSubstr("rows was expected"));
}

TEST(TextScanner, MessagesStayOnOnePrintableLine) {
  std::string text(100, '\x80');
  text.push_back('\n');
  const std::string message = message_of([&] { scan(text).real("x"); });
  EXPECT_LT(message.size(), 160U);
  for (const char c : message) EXPECT_TRUE(c >= ' ' && c <= '~');
}

}  // namespace TEST_FILE
}  // namespace isochron::test
