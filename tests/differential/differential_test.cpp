// Some random cases each time; the program `differential` runs as many as wanted.
#include <gtest/gtest.h>

#include "differential/check.h"

namespace isochron::test {
namespace {

constexpr std::uint64_t seed = 1;

void expect_no_failures(std::uint64_t first, std::uint64_t count, const CheckRequest& request) {
  for (std::uint64_t index = first; index < first + count; ++index)
    for (const std::string& failure : check_case(make_case(seed, index), request).failures) ADD_FAILURE() << failure;
}

TEST(Differential, EveryMethodFindsTheFixedPoint) { expect_no_failures(0, 1000, {}); }

TEST(Differential, ThreadsFindTheFixedPoint) { expect_no_failures(1000, 40, {.ways = Ways::all}); }

TEST(Differential, RanksFindTheFixedPoint) { expect_no_failures(2000, 100, {.ranks = Ranks::some}); }

}  // namespace
}  // namespace isochron::test
