#include "isochron/core/number_map.h"

#include <optional>
#include <unordered_map>

#include <gtest/gtest.h>

#include "isochron/core/random.h"

namespace isochron {
namespace {

TEST(NumberMap, NumbersKeysInTheOrderOfTheirFirstUse) {
  NumberMap map;
  std::unordered_map<std::uint32_t, std::uint32_t> expected;
  Random random(7);
  for (int i = 0; i < 20000; ++i) {
    // Few different keys, neighbours of each other and far apart, the largest one among them.
    const auto key = static_cast<std::uint32_t>(random.uniform(0, 3000)) * (i % 2 == 0 ? 1U : 0x10000U);
    const std::uint32_t used = i % 777 == 0 ? 0xfffffffeU : key;
    const auto [known, fresh] = expected.try_emplace(used, static_cast<std::uint32_t>(expected.size()));
    ASSERT_EQ(map.find(used), fresh ? std::nullopt : std::optional(known->second)) << used;
    const NumberMap::Found found = map.number_of(used);
    ASSERT_EQ(found.fresh, fresh) << used;
    ASSERT_EQ(found.number, known->second) << used;
  }
  EXPECT_EQ(map.size(), expected.size());
  EXPECT_GT(map.size(), 5000U);
}

}  // namespace
}  // namespace isochron
