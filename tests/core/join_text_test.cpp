#include "isochron/core/join_text.h"

#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace isochron {
namespace TEST_FILE {

TEST(JoinText, TextsIntegersAndDoubles) {
  EXPECT_EQ(join_text(std::vector<std::string>{"a", "", "c"}, ", "), "a, , c");
  EXPECT_EQ(join_text(std::array<const char*, 2>{"x", "y"}, " or "), "x or y");
  EXPECT_EQ(join_text(std::vector<unsigned>{3, 40}, " x "), "3 x 40");
  EXPECT_EQ(join_text(std::vector<double>{0.1, -2, 1e300}, " "), "0.1 -2 1e+300");
  EXPECT_EQ(join_text(std::vector<int>(), ", "), "");
}

}  // namespace TEST_FILE
}  // namespace isochron
