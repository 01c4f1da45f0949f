#include "apps/viewer/server/fields.h"

#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace isochron::viewer {
namespace TEST_FILE {

using testing::HasSubstr;

/// What is said against something; empty when nothing is.
template <class Ask>
std::string refusal(Ask&& ask) {
  try {
    ask();
  } catch (const RequestError& error) {
    return error.what();
  }
  return "";
}

TEST(Fields, GiveValuesByNameAndType) {
  const Json body = Json::parse(
      R"({"a": 1.5, "p": [1, 2, 3], "t": "x", "n": 7, "o": {"b": 2}, "l": [{"c": 1}, {"c": 2}], "z": null, "seq": -3})");
  Fields fields(body);
  EXPECT_EQ(fields.number("a"), 1.5);
  EXPECT_EQ(fields.number("z", 7), 7);  // null is as if it was not there
  EXPECT_EQ(fields.point("p"), (Vec3d{1, 2, 3}));
  EXPECT_EQ(fields.text("t", "y"), "x");
  EXPECT_EQ(fields.word("t", {"w", "x"}), "x");
  EXPECT_EQ(fields.word("other", {"w", "x"}), "w");
  EXPECT_EQ(fields.whole("n"), 7U);
  EXPECT_EQ(fields.number_or_numbers("n", 3), (std::vector<double>{7}));
  EXPECT_EQ(fields.number_or_numbers("p", 3).size(), 3U);
  EXPECT_EQ(fields.object("o").number("b"), 2);
  EXPECT_EQ(fields.objects("l", 2)[1].number("c"), 2);
  EXPECT_TRUE(fields.objects("none", 2).empty());
  EXPECT_EQ(fields.sequence(), -3);
  EXPECT_NO_THROW(fields.done());
}

TEST(Fields, RefuseOtherTypes) {
  const Json body = Json::parse(
      R"({"a": 1.5, "b": "2", "q": [1, null, 3], "two": [1, 2], "t": "x", "n": -1, "big": 1e10, "o": {"c": "d"}, "bell": "\u0007",
          "yes": true, "texts": [1, "2", 3]})");
  Fields fields(body);
  const auto said = [&](auto ask) { return refusal([&] { ask(fields); }); };
  EXPECT_THAT(said([](Fields& f) { f.number("b"); }), HasSubstr("'b' is text ('2'); give a number"));
  EXPECT_THAT(said([](Fields& f) { f.number("z"); }), HasSubstr("'z' is missing"));
  EXPECT_THAT(said([](Fields& f) { f.number("two"); }), HasSubstr("'two' is a list; give a number"));
  EXPECT_THAT(said([](Fields& f) { f.whole("yes"); }), HasSubstr("'yes' is true; give a number"));
  EXPECT_THAT(said([](Fields& f) { f.positive("o"); }), HasSubstr("'o' is an object; give a number"));
  EXPECT_THAT(said([](Fields& f) { f.point("q"); }), HasSubstr("'q' has null in it; give finite numbers"));
  EXPECT_THAT(said([](Fields& f) { f.point("texts"); }), HasSubstr("'texts' has text ('2') in it"));
  EXPECT_THAT(said([](Fields& f) { f.point("two"); }), HasSubstr("3 numbers"));
  EXPECT_THAT(said([](Fields& f) { f.point("a"); }), HasSubstr("'a'"));
  EXPECT_THAT(said([](Fields& f) { f.numbers("q", 2); }), HasSubstr("'q' has 3 numbers in it; give 1 to 2"));
  EXPECT_THAT(said([](Fields& f) { f.numbers("a", 2); }), HasSubstr("not a list of numbers; give one of up to 2"));
  EXPECT_THAT(said([](Fields& f) { f.within("n", {0, 5}); }), HasSubstr("give a number from 0 to 5"));
  EXPECT_THAT(said([](Fields& f) { f.choose({"x", "y"}); }), HasSubstr("'x' or 'y' is missing; give one of them"));
  EXPECT_THAT(said([](Fields& f) { f.text("bell"); }), HasSubstr("control"));
  for (const char* name : {"n", "a", "big"})
    EXPECT_THAT(said([&](Fields& f) { f.whole(name); }), HasSubstr("whole number from 0")) << name;
  EXPECT_THAT(said([](Fields& f) { f.positive("n"); }), HasSubstr("positive"));
  EXPECT_THAT(said([](Fields& f) { f.text("a"); }), HasSubstr("not a text"));
  EXPECT_THAT(said([](Fields& f) { f.word("t", {"above", "below"}); }), HasSubstr("'t' is 'x'; give above or below"));
  EXPECT_THAT(said([](Fields& f) { f.label("o", 9); }), HasSubstr("not a text"));
  EXPECT_THAT(said([](Fields& f) { f.label("bell", 9); }), HasSubstr("control"));
  EXPECT_THAT(said([](Fields& f) { f.label("b", 0); }), HasSubstr("too long"));
  EXPECT_THAT(said([](Fields& f) { f.object("t"); }), HasSubstr("not a JSON object"));
  EXPECT_THAT(said([](Fields& f) { f.object("o").number("c"); }), HasSubstr("'c' of 'o' is text ('d')"));
  EXPECT_THAT(said([](Fields& f) { f.objects("two", 1); }), HasSubstr("at most 1"));
  EXPECT_THAT(said([](Fields& f) { f.objects("two", 2); }), HasSubstr("two[0] is not a JSON object"));
  EXPECT_THAT(said([](Fields& f) { f.exclude({"a", "z", "b"}); }), HasSubstr("'a' and 'b' exclude each other"));
  EXPECT_THAT(refusal([] { Fields f(Json::array()); }), HasSubstr("not a JSON object"));
}

TEST(Fields, OfAQueryReadNumbersFromTexts) {
  const Json query{{"count", "12"}, {"bad", "12x"}, {"nan", "nan"}, {"huge", "1e999"}, {"empty", ""}};
  Fields fields(query, "the request", Fields::Values::texts);
  EXPECT_EQ(fields.whole("count"), 12U);
  for (const char* name : {"bad", "nan", "huge", "empty"})
    EXPECT_EQ(refusal([&] { fields.number(name); }),
              fmt::format("'{}' is {}; give a finite number", name, text_of(query[name])));
}

TEST(Fields, RefuseWhatNobodyAskedFor) {
  const auto left = [](const char* name) {
    const Json body{{name, 1}, {"speed", 2}};
    Fields fields(body);
    (void)fields.number("speed");
    (void)fields.has("isochrones");
    return refusal([&] { fields.done(); });
  };
  EXPECT_EQ(left("sped"), "the request has no field 'sped'; did you mean 'speed'?");
  EXPECT_THAT(left("Speed"), HasSubstr("did you mean 'speed'?"));
  EXPECT_THAT(left("isochrone"), HasSubstr("did you mean 'isochrones'?"));
  EXPECT_EQ(left("color"), "the request has no field 'color'; use speed, isochrones");
  EXPECT_LT(left(std::string(100000, 'x').c_str()).size(), 200U);
  const Json none{{"x", nullptr}};
  EXPECT_THAT(refusal([&] { Fields(none).done(); }), HasSubstr("'x'"));
}

TEST(Fields, NameWhatIsMisspelledRatherThanWhatIsMissing) {
  const auto missing = [](const char* given) {
    const Json body{{given, "x"}, {"on", "cells"}};
    Fields fields(body);
    return refusal([&] { fields.text("name"); });
  };
  EXPECT_EQ(missing("nme"), "the request has no field 'nme'; did you mean 'name'?");
  EXPECT_EQ(missing("Names"), "the request has no field 'Names'; did you mean 'name'?");
  EXPECT_EQ(missing("color"), "'name' is missing; give it");
  const Json body{{"name", nullptr}};
  EXPECT_EQ(refusal([&] { Fields(body).text("name"); }), "'name' is missing; give it");
}

TEST(FieldWording, NamesOptionsThatAreFields) {
  const InputError error("there is no " + Message(Setting{Option::source}) + "; give one, or " +
                         Setting{Option::speed, "2"} + " or " + Setting{Option::method, "banded"});
  EXPECT_EQ(to_text(error, FieldWording()), "there is no 'sources'; give one, or 'speed' 2 or method banded");
}

TEST(ParseObject, TakesObjectsAlone) {
  EXPECT_EQ(parse_object(R"({"a": {"a": [1, {"a": 2}]}, "b": {"a": 3}})")["b"]["a"], 3);
  for (const char* text : {"", "{", "[]", "5", "null", "\"x\"", "{}}", "{\"a\": NaN}", "\xff", "{\"\xff\": 1}"})
    EXPECT_THAT(refusal([&] { parse_object(text); }), HasSubstr("JSON")) << text;
  EXPECT_THAT(refusal([] { parse_object(R"({"a": 1e999})"); }), HasSubstr("too large"));
  EXPECT_THAT(refusal([] { parse_object(R"({"a": 1, "b": {"c": 1, "c": 2}})"); }), HasSubstr("'c' is there twice"));
}

TEST(ParseObject, RefusesDeepNests) {
  const auto nested = [](std::size_t depth) {
    return "{\"a\": " + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  EXPECT_NO_THROW(parse_object(nested(10)));
  for (const std::size_t depth : {20, 400000})
    EXPECT_THAT(refusal([&] { parse_object(nested(depth)); }), HasSubstr("nested too deeply"));
}

}  // namespace TEST_FILE
}  // namespace isochron::viewer
