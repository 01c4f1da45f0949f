#include "isochron/core/delimited_text.h"

#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace isochron {
namespace TEST_FILE {

TEST(SplitText, PartsBetweenSeparatorsMayBeEmpty) {
  using Parts = std::vector<std::string_view>;
  EXPECT_EQ(split_text("a,b;,c", ",;"), (Parts{"a", "b", "", "c"}));
  EXPECT_EQ(split_text("a,", ","), (Parts{"a", ""}));
  EXPECT_EQ(split_text(",a", ","), (Parts{"", "a"}));
  EXPECT_EQ(split_text("a b", ","), (Parts{"a b"}));
  EXPECT_EQ(split_text("", ","), (Parts{""}));
}

TEST(CsvQuoted, QuotesInsideAreDoubled) {
  EXPECT_EQ(csv_quoted("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_quoted("say \"b\"\n"), "\"say \"\"b\"\"\n\"");
  EXPECT_EQ(csv_quoted(""), "\"\"");
}

}  // namespace TEST_FILE
}  // namespace isochron
