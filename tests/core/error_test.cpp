#include "isochron/error.h"

#include <gtest/gtest.h>

namespace isochron {
namespace TEST_FILE {

InputError some_error() {
  return InputError(Subject::metric + Message(" is wrong at ") + Place{Place::Kind::voxel, {1, 2, 3}} + Advice() +
                        "use " + Setting{Option::method, "banded"} + " or leave " + Setting{Option::backend} +
                        " out, or " + Task::inspect_file,
                    "a.vtk");
}

TEST(Error, HasKindSubjectIndexAndFile) {
  const InputError error = some_error();
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_EQ(error.subject(), Subject::metric);
  ASSERT_TRUE(error.index());
  EXPECT_EQ(error.index()->index, (std::array<double, 3>{1, 2, 3}));
  EXPECT_EQ(error.file(), "a.vtk");
  EXPECT_STREQ(error.what(),
               "a.vtk: the metric is wrong at voxel 1,2,3; use method banded or leave backend out, "
               "or check the file");
}

TEST(Error, IsSaidInTheWordsOfAFrontEnd) {
  struct Flags final : Wording {
    [[nodiscard]] std::string setting(const Setting& setting) const override {
      return "--" + Wording::setting(setting);
    }
    [[nodiscard]] std::string subject(Subject) const override { return "speed"; }
    [[nodiscard]] std::string task(Task) const override { return "call info"; }
  };
  EXPECT_EQ(to_text(some_error(), Flags()),
            "a.vtk: speed is wrong at voxel 1,2,3; use --method banded or leave --backend out, or call info");
}

TEST(Error, KeepsTheProblemApartFromTheAdvice) {
  EXPECT_EQ(to_text(some_error().detail().problem()), "the metric is wrong at voxel 1,2,3");
  EXPECT_EQ(to_text(Message("no advice").problem()), "no advice");
}

TEST(Error, SurvivesThePassageToAnotherProcess) {
  Failure failure;
  try {
    throw some_error();
  } catch (...) {
    failure = unpack_failure(pack(current_failure()));
  }
  EXPECT_EQ(failure.kind, ErrorKind::input);
  EXPECT_EQ(failure.file, "a.vtk");
  EXPECT_THROW(throw_again(failure), InputError);
  EXPECT_EQ(to_text(failure), some_error().what());
}

TEST(Error, EveryKindIsThrownAsItsClass) {
  const auto again = [](ErrorKind kind) { throw_again({kind, "a"}); };
  EXPECT_THROW(again(ErrorKind::runtime), RuntimeError);
  EXPECT_THROW(again(ErrorKind::device), DeviceError);
  EXPECT_THROW(again(ErrorKind::usage), UsageError);
  EXPECT_THROW(again(ErrorKind::no_answer), NoAnswerError);
  EXPECT_THROW(again(ErrorKind::cancelled), Cancelled);
}

TEST(Error, EveryOptionHasAName) {
  for (int i = 0; i <= static_cast<int>(Option::replace); ++i) EXPECT_NE(option_name(static_cast<Option>(i)), "?") << i;
}

}  // namespace TEST_FILE
}  // namespace isochron
