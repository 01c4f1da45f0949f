#include "bench/page/chart.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace isochron::bench {
namespace TEST_FILE {

using testing::HasSubstr;
using testing::Not;

std::vector<std::string> labels(const std::vector<Tick>& ticks) {
  std::vector<std::string> result;
  for (const Tick& tick : ticks) result.push_back(tick.label);
  return result;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Chart, LinearTicksAreRoundAndIncludeTheEnds) {
  EXPECT_EQ(labels(ticks(Scale::linear, 0, 10)), (std::vector<std::string>{"0", "2", "4", "6", "8", "10"}));
  for (const Tick& tick : ticks(Scale::linear, -0.31, 0.29)) {
    EXPECT_GE(tick.value, -0.31);
    EXPECT_LE(tick.value, 0.29);
    EXPECT_NEAR(tick.value * 10, std::round(tick.value * 10), 1e-9);
  }
  EXPECT_TRUE(ticks(Scale::linear, 3, 3).empty());
}

TEST(Chart, LogarithmicTicksAreOneTwoAndFive) {
  EXPECT_EQ(labels(ticks(Scale::logarithmic, 0.1, 10)),
            (std::vector<std::string>{"0.1", "0.2", "0.5", "1", "2", "5", "10"}));
}

TEST(Chart, OnlyPowersOfTenHaveLabelsWhenThereAreMany) {
  const auto many = ticks(Scale::logarithmic, 1e-2, 1e6);
  EXPECT_EQ(many.size(), 8U * 3 + 1);
  for (const Tick& tick : many) {
    const double power = std::log10(tick.value);
    EXPECT_EQ(tick.label.empty(), std::abs(power - std::round(power)) > 1e-6) << tick.value;
  }
  EXPECT_EQ(many.back().label, "10⁶");
}

TEST(Chart, LargeAndSmallNumbersHavePowers) {
  EXPECT_EQ(labels(ticks(Scale::linear, 0, 2.5e6)),
            (std::vector<std::string>{"0", "5·10⁵", "10⁶", "1.5·10⁶", "2·10⁶", "2.5·10⁶"}));
  EXPECT_EQ(ticks(Scale::logarithmic, 1e-5, 1e-4).front().label, "10⁻⁵");
}

TEST(Chart, EscapesText) {
  EXPECT_EQ(escaped("a<b & \"c\" > 'd'"), "a&lt;b &amp; &quot;c&quot; &gt; &#39;d&#39;");
  const auto svg = svg_of({"<title>", {"x & y"}, {"\"y\""}, {{"<script>", {{1, 1}, {2, 2}}}}});
  ASSERT_TRUE(svg);
  EXPECT_THAT(*svg, HasSubstr("&lt;title&gt;"));
  EXPECT_THAT(*svg, HasSubstr("x &amp; y"));
  EXPECT_THAT(*svg, Not(HasSubstr("<script>")));
}

TEST(Chart, EachPointOfASolidSeriesHasAMarker) {
  const auto svg =
      svg_of({"", {"x"}, {"y"}, {{"a", {{0, 1}, {1, 3}, {2, 2}}}, {"b", {{0, 1}, {1, 1}}, LineStyle::dashed}}});
  ASSERT_TRUE(svg);
  EXPECT_EQ(count(*svg, "<circle"), 3U + 1);  // and the legend
  EXPECT_EQ(count(*svg, "stroke-dasharray"), 2U);
}

TEST(Chart, WhatHasNoPlaceIsLeftOut) {
  const double inf = std::numeric_limits<double>::infinity();
  const Axis log{"", Scale::logarithmic};
  EXPECT_FALSE(svg_of({"", log, log, {{"a", {{0, 1}, {1, -2}, {inf, 1}, {1, NAN}}}}}));
  EXPECT_FALSE(svg_of({"", {}, {}, {}}));
  const auto svg = svg_of({"", log, log, {{"a", {{0, 1}, {1, 1}, {10, 100}}}}});
  ASSERT_TRUE(svg);
  EXPECT_EQ(count(*svg, "<circle"), 2U + 1);
  EXPECT_THAT(*svg, Not(HasSubstr("nan")));
  EXPECT_THAT(*svg, Not(HasSubstr("inf")));
}

TEST(Chart, ExtremeAxesEnd) {
  const Axis log{"", Scale::logarithmic};
  for (const auto& [low, high] :
       {std::pair{1e20, 1e20 + 65536}, {1.0, 1e308}, {5e-324, 1.0}, {1e-100, 1e100}, {0.0, 1e-320}})
    for (const Axis& axis : {Axis{}, log})
      for (const auto& svg : {svg_of({"", axis, axis, {{"a", {{low, low}, {high, high}}}}})})
        if (svg) {
          EXPECT_LT(svg->size(), 200000U) << low << " " << high;
          EXPECT_THAT(*svg, Not(HasSubstr("nan"))) << low << " " << high;
        }
  EXPECT_LT(ticks(Scale::logarithmic, 1e-100, 1e100).size(), 1000U);
}

TEST(Chart, LinesGoFromLeftToRight) {
  const auto sorted = svg_of({"", {"x"}, {"y"}, {{"a", {{1, 5}, {2, 3}, {3, 7}}}}});
  EXPECT_EQ(svg_of({"", {"x"}, {"y"}, {{"a", {{3, 7}, {1, 5}, {2, 3}}}}}), sorted);
}

TEST(Chart, IsWideEnoughForItsNames) {
  const auto svg = svg_of({"", {"x"}, {"y"}, {{std::string(60, 'a'), {{1, 5}, {2, 3}}}}});
  ASSERT_TRUE(svg);
  EXPECT_THAT(*svg, HasSubstr("viewBox=\"0 0 1014 "));
}

TEST(Chart, OnePointAloneIsDrawnInsideTheFrame) {
  const auto svg = svg_of({"", {"x"}, {"y"}, {{"a", {{2, 5}}}}});
  ASSERT_TRUE(svg);
  EXPECT_THAT(*svg, Not(HasSubstr("nan")));
}

}  // namespace TEST_FILE
}  // namespace isochron::bench
