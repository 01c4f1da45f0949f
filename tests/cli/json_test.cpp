#include "apps/isochron/json.h"

#include <limits>

#include <gtest/gtest.h>

#include "support/failing_allocations.h"

namespace isochron::cli {
namespace TEST_FILE {

/// Lists and objects in one another.
Json summary() {
  Json result{{"file", "a rather long name of a file.vtu"}, {"points", 7U}, {"mask", nullptr}};
  Json& meshes = result["meshes"] = Json::array();
  for (int i = 0; i < 3; ++i)
    meshes.push_back(
        {{"number", i}, {"origin", Json::array({0.5, -1.0, 1e300})}, {"names", std::vector<std::string>{"a", "b"}}});
  result["choices"]["by name"] = true;
  result.update({{"points", 8}, {"late", 1.0}});
  return result;
}

TEST(Json, IsWrittenAMemberALine) {
  const Json value{{"a", 1}, {"b", Json::array()}, {"c", Json::object()}, {"d", {{"e", nullptr}}}, {"f", {1, false}}};
  EXPECT_EQ(value.dump(),
            "{\n  \"a\": 1,\n  \"b\": [],\n  \"c\": {},\n  \"d\": {\n    \"e\": null\n  },\n  \"f\": [\n    "
            "1,\n    false\n  ]\n}");
}

TEST(Json, WritesNumbersWithAllDigits) {
  EXPECT_EQ(Json(0.1).dump(), "0.1");
  EXPECT_EQ(Json(2.0).dump(), "2.0");
  EXPECT_EQ(Json(1e300).dump(), "1e+300");
  EXPECT_EQ(Json(std::numeric_limits<std::uint64_t>::max()).dump(), "18446744073709551615");
  EXPECT_EQ(Json(std::numeric_limits<double>::infinity()).dump(), "null");
}

TEST(Json, EscapesAndReplaces) {
  EXPECT_EQ(Json("\"\\\n\x01\x7f µ€😀").dump(), "\"\\\"\\\\\\n\\u0001\x7f µ€😀\"");
  const std::string bad = "\xef\xbf\xbd";
  EXPECT_EQ(Json("a\xff").dump(), "\"a" + bad + "\"");
  EXPECT_EQ(Json("\xe2\x82").dump(), "\"" + bad + bad + "\"");
  EXPECT_EQ(Json("\xed\xa0\x80").dump(), "\"" + bad + bad + bad + "\"");
}

TEST(Json, SurvivesAnEndOfMemory) {
  test::fail_each_allocation([] { static_cast<void>(summary().dump()); }, [] {});
}

}  // namespace TEST_FILE
}  // namespace isochron::cli
