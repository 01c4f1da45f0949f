#include "bench/paper/scale_model.h"

#include <cmath>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "isochron/error.h"

namespace isochron::bench {
namespace TEST_FILE {

MeasuredRun made_up(double ranks, double rounds, double messages, double bytes) {
  MeasuredRun run;
  run.mesh = "cube";
  run.ranks = ranks;
  run.pushes = 1e6;
  run.rounds = rounds;
  run.messages = messages;
  run.bytes = bytes;
  // 1 us a push, 0.02 us more for each further rank; 2 us a message, 1 ns a byte, 3 us a round and doubling.
  run.work_seconds = 1e6 * (1e-6 + 0.02e-6 * (ranks - 1)) / ranks;
  run.critical_seconds = 1.25 * run.work_seconds;
  run.solve_seconds = *run.critical_seconds;
  if (ranks > 1)
    run.solve_seconds +=
        2 * 2e-6 * messages / ranks + 1e-9 * bytes / ranks + 3e-6 * rounds * std::ceil(std::log2(ranks));
  else run.critical_seconds = run.solve_seconds = run.work_seconds;
  return run;
}

TEST(ScaleModel, FindsTheCostsOfAMachineThatFollowsTheModel) {
  const std::vector<MeasuredRun> runs{made_up(1, 900, 0, 0),        made_up(2, 900, 4000, 1e6),
                                      made_up(4, 700, 30000, 5e6),  made_up(8, 1500, 40000, 3e7),
                                      made_up(16, 400, 90000, 6e7), made_up(16, 2500, 20000, 1e7)};
  const MachineFit fit = fit_machine(runs);
  EXPECT_NEAR(fit.push_alone, 1e-6, 1e-12);
  EXPECT_NEAR(fit.push_crowded, 1.3e-6, 1e-12);
  EXPECT_NEAR(fit.message, 2e-6, 1e-10);
  EXPECT_NEAR(fit.byte, 1e-9, 1e-13);
  EXPECT_NEAR(fit.round, 3e-6, 1e-10);
  EXPECT_LT(fit.worst_error, 1e-6);
}

TEST(ScaleModel, SaysHowFarOffItIs) {
  std::vector<MeasuredRun> runs{made_up(1, 900, 0, 0), made_up(2, 900, 4000, 1e6), made_up(4, 700, 30000, 5e6)};
  runs[0].solve_seconds *= 1.25;  // work that nothing explains
  const MachineFit fit = fit_machine(runs);
  EXPECT_NEAR(fit.predicted[0] / runs[0].solve_seconds, 0.8, 1e-3);
  EXPECT_NEAR(fit.worst_error, 0.2, 1e-3);
}

TEST(ScaleModel, NeedsARunOfOneRank) { EXPECT_THROW(fit_machine({made_up(2, 9, 9, 9)}), InputError); }

TEST(ScaleModel, CostsAreSetByName) {
  Machine machine;
  set_costs(machine, "latency=1e-6, byte=2e-9");
  EXPECT_EQ(machine.latency, 1e-6);
  EXPECT_EQ(machine.byte, 2e-9);
  EXPECT_EQ(machine.push, Machine{}.push);
  set_costs(machine, "");
  for (const char* wrong : {"latency", "latency=", "latency=fast", "latency=-1", "speed=1"})
    EXPECT_THROW(set_costs(machine, wrong), UsageError) << wrong;
}

TEST(ScaleModel, NoCostIsBelowZero) {
  // Plain least squares would take −1 for the second column.
  const auto x = nonnegative_least_squares({{1, 1}, {1, 0}, {2, 1}}, {0, 1, 1});
  ASSERT_EQ(x.size(), 2U);
  EXPECT_NEAR(x[0], 0.5, 1e-12);
  EXPECT_EQ(x[1], 0);
}

class RunsFile : public testing::Test {
 protected:
  void write(const std::string& text) { std::ofstream(path_) << text; }
  void TearDown() override { std::filesystem::remove(path_); }
  std::string problem() {
    try {
      read_runs(path_);
    } catch (const InputError& e) {
      return e.what();
    }
    return "";
  }
  std::filesystem::path path_ =
      std::filesystem::temp_directory_path() /
      (std::string("isochron_") + testing::UnitTest::GetInstance()->current_test_info()->name() + ".csv");
  const std::string head_ =
      "solve_seconds,mesh,ranks,parts_per_rank,vertices,elements,bands,rounds,messages,bytes,pushes,work_seconds,"
      "critical_seconds,machine\n";
};

TEST_F(RunsFile, ReadsColumnsInAnyOrderAndLeavesOutEmptyOnes) {
  write("# a comment\n" + head_ + "0.5,cube,2,4,1000,6000,10,12,40,4800,1010,0.4,,fast\n\n");
  const auto runs = read_runs(path_);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].mesh, "cube");
  EXPECT_EQ(runs[0].solve_seconds, 0.5);
  EXPECT_EQ(runs[0].parts_per_rank, 4);
  EXPECT_EQ(runs[0].bytes, 4800);
  EXPECT_FALSE(runs[0].critical_seconds.has_value());
  EXPECT_EQ(runs[0].longest_work(), 0.4);
}

TEST_F(RunsFile, ReadsWhatWasWritten) {
  MeasuredRun run;
  run.mesh = "heart", run.ranks = 16, run.parts_per_rank = 0, run.vertices = 4e6, run.elements = 24e6;
  run.bands = 300, run.rounds = 302, run.messages = 5e5, run.bytes = 7e7, run.pushes = 6e6;
  run.work_seconds = 0.6, run.solve_seconds = 0.8125, run.work_max_seconds = 0.7;
  write(runs_csv({run, run}));
  const auto runs = read_runs(path_);
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[1].mesh, "heart");
  EXPECT_EQ(runs[1].ranks, 16);
  EXPECT_EQ(runs[1].pushes, 6e6);
  EXPECT_EQ(runs[1].solve_seconds, 0.8125);
  EXPECT_EQ(runs[1].longest_work(), 0.7);
  EXPECT_FALSE(runs[1].idle_seconds.has_value());
}

TEST_F(RunsFile, NamesTheLineThatIsWrong) {
  write(head_ + "0.5,cube,two,4,1000,6000,10,12,40,4800,1010,0.4,,\n");
  EXPECT_NE(problem().find(":2: ranks is 'two'"), std::string::npos) << problem();
  write(head_ + "0.5,cube,2,4,1000\n");
  EXPECT_NE(problem().find(":2: no elements"), std::string::npos) << problem();
  write(head_);
  EXPECT_NE(problem().find("no runs in it"), std::string::npos) << problem();
  std::filesystem::remove(path_);
  EXPECT_NE(problem().find("cannot be read"), std::string::npos) << problem();
}

}  // namespace TEST_FILE
}  // namespace isochron::bench
