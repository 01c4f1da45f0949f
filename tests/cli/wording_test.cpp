#include "apps/isochron/wording.h"

#include <set>

#include <gtest/gtest.h>

#include "isochron/error.h"

namespace isochron::cli {
namespace TEST_FILE {

TEST(CommandWording, EveryOptionHasAFlagOfItsOwn) {
  std::set<std::string> flags;
  for (int i = 0; i <= static_cast<int>(Option::replace); ++i) {
    const std::string flag = flag_of(static_cast<Option>(i));
    EXPECT_NE(flag, "--?");
    EXPECT_TRUE(flag.starts_with("--")) << option_name(static_cast<Option>(i));
    EXPECT_TRUE(flags.insert(flag).second) << flag;
  }
}

TEST(CommandWording, SaysSettingsAsFlags) {
  const auto said = [](Option option, const char* value) { return to_text(Setting{option, value}, command_wording()); };
  EXPECT_EQ(said(Option::method, "banded"), "--method banded");
  EXPECT_EQ(said(Option::velocity, "L,T"), "--velocity L,T");
  EXPECT_EQ(said(Option::tetrahedra, "tetgen|gmsh"), "--tetrahedra=tetgen|gmsh");
  EXPECT_EQ(said(Option::replace, ""), "--force");
  EXPECT_EQ(said(Option::source, ""), "--source, --source-point, …");
  EXPECT_EQ(said(Option::unordered, "hand-over"), "--hand-over");
  EXPECT_EQ(said(Option::unordered, "run"), "--allow-unordered");
}

TEST(CommandWording, SaysTasksAsSubcommands) {
  EXPECT_EQ(to_text(InputError("no tensors; " + Message(Task::fit_tensors), "a.nrrd"), command_wording()),
            "a.nrrd: no tensors; fit tensors to diffusion images first with 'isochron tensors'");
  EXPECT_EQ(to_text(Task::inspect_file, command_wording()), "check the file with 'isochron info'");
}

}  // namespace TEST_FILE
}  // namespace isochron::cli
