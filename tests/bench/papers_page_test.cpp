// Runs of several machines as JSON, and the page of the papers.
#include "bench/page/page.h"

#include <fstream>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/page/estimate.h"
#include "bench/page/papers.h"
#include "bench/page/png.h"
#include "isochron/error.h"

namespace isochron::bench {
namespace TEST_FILE {

using testing::HasSubstr;
using testing::Not;

TableResult table(const std::string& name, double ours) {
  TableResult result;
  result.name = name;
  result.title = "Title of " + name;
  result.entries = {{"Mesh 1", "FMM", 5.5, ours, "ms", ""}, {"Mesh 1", "banded (ours)", {}, ours / 4, "ms", "fast"}};
  result.notes = {"A note."};
  result.seconds = 1.5;
  return result;
}

MachineRun run(const std::string& label, std::vector<TableResult> tables) {
  return {{label, "some CPU", 2, "", "0.1"}, std::move(tables)};
}

class PapersJson : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& text) {
    std::ofstream(path_) << text;
    return path_;
  }
  std::string error_of(const std::string& text) {
    try {
      read_machine_runs(write(text));
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  }

  ~PapersJson() override { std::filesystem::remove(path_); }

  std::filesystem::path path_ =
      testing::TempDir() + "papers-" + testing::UnitTest::GetInstance()->current_test_info()->name() + ".json";
};

TEST_F(PapersJson, RunsComeBackAsTheyWere) {
  TableResult full = table("000-figure-3.3", 2);
  full.quick = true;
  full.comparable = false;
  full.entries[0].point = {"FMM", 0.25};
  full.entries[1].ours.reset();
  full.entries[1].remark = failed_run("\"quoted\" <text>\n");
  full.plot = Plot{{"h", Scale::logarithmic}, {"error"}, "ms", "slope 1", 1};
  full.pictures = {
      {"name", "caption", png_of(std::vector<Color>(6), 3), {"time", 0, 2.5, 0.5}},
      {"mesh", "another", png_of(std::vector<Color>(6), 3), {"", 0, 1, 0, {3, 0, 7}, {{"tract", {0, 128, 255}}}}}};
  full.files = {{"000-figure-3.3-points.csv", "x,y,z\n1,2,3\n"}};
  std::vector<MachineRun> runs{run("desk", {full}), run("cluster", {table("001-table-5", 3)})};
  runs[1].unfinished = true;
  EXPECT_EQ(read_machine_runs(write(json_of(runs))), runs);
}

TEST_F(PapersJson, NumbersThatAreNotFiniteAreMissing) {
  TableResult one = table("001-table-5", std::numeric_limits<double>::infinity());
  const auto runs = read_machine_runs(write(json_of(std::vector{run("desk", {one})})));
  EXPECT_FALSE(runs[0].tables[0].entries[0].ours);
}

TEST_F(PapersJson, BadLegendsAreRefused) {
  TableResult one = table("001-figure-2", 1);
  one.pictures = {{"a", "b", png_of(std::vector<Color>(1), 1), {"", 0, 1, 0, {77}, {{"text", {1, 2, 3}}}}}};
  const std::string good = json_of(std::vector{run("desk", {one})});
  EXPECT_EQ(error_of(good), "no error");
  const auto with = [&](const std::string& old_text, const std::string& text) {
    std::string changed = good;
    return error_of(changed.replace(changed.find(old_text), old_text.size(), text));
  };
  for (const char* color : {"\"red;x:url()\"", "\"\"", "\"#01020\"", "\"#01020345\"", "7"})
    EXPECT_THAT(with("\"#010203\"", color), HasSubstr("entries[0].color is not")) << color;
  EXPECT_THAT(with("77", "-1"), HasSubstr("histogram is not a list of counts"));
  EXPECT_THAT(with("77", "1e30"), HasSubstr("histogram is not a list of counts"));
}

TEST_F(PapersJson, BadFilesAreNamedWithWhatIsWrong) {
  EXPECT_THAT(error_of("{ not json"), HasSubstr("is no JSON"));
  EXPECT_THAT(error_of("{\"isochron_papers\": 1e999}"), HasSubstr("a number that is out of range"));
  EXPECT_THAT(error_of("[]"), HasSubstr("the whole is not an object"));
  EXPECT_THAT(error_of("{\"tables\": []}"), HasSubstr("has no runs of the papers"));
  EXPECT_THAT(error_of("{\"isochron_papers\": 99, \"runs\": []}"), HasSubstr("version 99"));
  EXPECT_THAT(error_of("{\"isochron_papers\": 1}"), HasSubstr("runs is missing"));
  EXPECT_THAT(error_of("{\"isochron_papers\": 1, \"runs\": 3}"), HasSubstr("runs is not a list"));
  EXPECT_THAT(error_of("{\"isochron_papers\": 1, \"runs\": [{}]}"), HasSubstr("runs[0].machine is missing"));
  std::string text = json_of(std::vector{run("desk", {table("001-table-5", 3)})});
  EXPECT_EQ(error_of(text), "no error");
  EXPECT_THAT(error_of(text.substr(0, text.size() / 2)), HasSubstr("is no JSON"));
  text.replace(text.find("\"FMM\""), 5, "12345");
  EXPECT_THAT(error_of(text), HasSubstr("runs[0].tables[0].entries[0].column is not text"));
}

TEST_F(PapersJson, APictureHasToBeOne) {
  TableResult one = table("001-figure-2", 1);
  one.pictures = {{"name", "caption", "no picture", {}}};
  EXPECT_THAT(error_of(json_of(std::vector{run("desk", {one})})), HasSubstr("png is not a PNG picture"));
}

TEST_F(PapersJson, FilesAreCalledAfterTheirTable) {
  const auto error_with = [&](const std::string& name) {
    TableResult one = table("002-table-1", 1);
    one.files = {{name, "x,y,z\n"}};
    return error_of(json_of(std::vector{run("desk", {one})}));
  };
  EXPECT_EQ(error_with("002-table-1-1-heart-ours.csv"), "no error");
  for (const char* name : {"papers.html", "../002-table-1-a.csv", "002-table-1-/../../a.csv", "/etc/passwd", ""})
    EXPECT_THAT(error_with(name), HasSubstr("files[0].name is not the name of a file of its table")) << name;
}

TEST(PapersRuns, PartsOfARunAreJoined) {
  const TableResult five = table("001-table-5", 3), six = table("001-table-6", 4), seven = table("001-table-7", 5);
  std::vector<MachineRun> runs{run("desk", {five}), run("lab", {five}), run("desk", {six}), run("desk", {six, seven})};
  join_parts(runs);
  EXPECT_EQ(runs, (std::vector{run("desk", {five, six}), run("lab", {five}), run("desk", {six, seven})}));
}

TEST(PapersRuns, OthersAreNotJoined) {
  TableResult quick = table("001-table-6", 4);
  quick.quick = true;
  MachineRun unfinished = run("desk", {table("001-table-7", 5)});
  unfinished.unfinished = true;
  const std::vector<MachineRun> apart{run("desk", {table("001-table-5", 3)}), run("desk", {quick}), unfinished};
  std::vector<MachineRun> runs = apart;
  join_parts(runs);
  EXPECT_EQ(runs, apart);
}

TEST(PapersRuns, EqualLabelsAreNumbered) {
  std::vector<MachineRun> runs{run("desk", {}), run("desk", {}), run("lab", {}), run("desk", {})};
  number_labels(runs);
  EXPECT_EQ(runs[0].computer.label, "desk");
  EXPECT_EQ(runs[1].computer.label, "desk (2)");
  EXPECT_EQ(runs[2].computer.label, "lab");
  EXPECT_EQ(runs[3].computer.label, "desk (3)");
}

TEST(PapersPage, HasEveryTableOfThePapersAndNoneOfOurs) {
  const std::vector<MachineRun> runs{run("desk", {table("000-table-3.1", 7)})};
  const std::string page = papers_page(runs);
  for (const PaperBench& bench : paper_benches())
    EXPECT_EQ(page.find("<h3 id=\"" + bench.name + "\"") != std::string::npos, !bench.paper_number().empty())
        << bench.name;
  for (const Paper& paper : papers())
    for (const PaperFigure& figure : paper.figures) EXPECT_THAT(page, HasSubstr(escaped(figure.shows)));
}

TEST(PapersPage, NamesOfFiguresAndDataAreOnesThatTheRegistryHas) {
  for (const Paper& paper : papers()) {
    for (const PaperFigure& figure : paper.figures) {
      const bool known = std::any_of(paper_benches().begin(), paper_benches().end(),
                                     [&](const PaperBench& b) { return b.name == figure.bench; });
      EXPECT_EQ(known, figure.why_not.empty()) << figure.bench << ": drawn, or the reason why not";
    }
  }
}

TEST(PapersPage, StandsAlone) {
  TableResult one = table("001-figure-2", 1);
  one.pictures = {{"name", "caption", png_of(std::vector<Color>(1), 1), {"time", 0, 1, 0}}};
  const std::string page = papers_page(std::vector{run("desk", {one})});
  EXPECT_THAT(page, HasSubstr("src=\"data:image/png;base64,iVBOR"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("<link")));
  EXPECT_THAT(page, Not(HasSubstr("src=\"http")));
  EXPECT_THAT(page, Not(HasSubstr("url(")));
}

TEST(PapersPage, TextOfRunsIsEscaped) {
  TableResult one = table("000-table-3.1", 1);
  one.title = "<script>title";
  one.entries[0] = {"<script>row", "<script>column", 1, 2, "<script>unit", "<script>remark"};
  one.notes = {"<script>note"};
  one.pictures = {{"name", "\"><script>caption", png_of(std::vector<Color>(1), 1), {"<script>label", 0, 1, 0}}};
  MachineRun other = run("<script>label", {one});
  other.computer.cpu = other.computer.gpu = other.computer.version = "<script>";
  const std::string page = papers_page(std::vector{run("desk", {one}), other});
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;remark"));
}

TEST(PapersPage, WhyANumberIsMissingIsSaidWhereNoMachineHasIt) {
  TableResult all = table("001-table-5", 8), without = all;
  all.entries.push_back({"Mesh 2", "FMM", 5, {}, "ms", "too large"});
  without.entries[0].ours.reset();
  without.entries[0].remark = "left out";
  const std::string page = papers_page(std::vector{run("desk", {all}), run("lab", {without})});
  EXPECT_THAT(page, Not(HasSubstr("left out")));
  EXPECT_THAT(page, HasSubstr("desk: too large"));
  EXPECT_THAT(page, Not(HasSubstr("ours, paper&#39;s method<br>lab")));
  EXPECT_THAT(page, Not(HasSubstr("ours, paper's method<br>lab")));
  EXPECT_THAT(page, HasSubstr("ours<br>lab"));
}

TEST(PapersPage, MachinesHaveColumnsOfTheirOwn) {
  TableResult more = table("000-table-3.1", 123456);
  more.entries.insert(more.entries.begin() + 1, {"Mesh 1", "patchFIM, GPU", 2, 0.25, "ms", ""});
  const std::string page = papers_page(std::vector{run("desk", {table("000-table-3.1", 7.125)}), run("lab", {more})});
  EXPECT_THAT(page, HasSubstr("ours<br>desk"));
  EXPECT_THAT(page, HasSubstr("ours<br>lab"));
  const auto paper = page.find(">5.500<"), desk = page.find(">7.125<"), lab = page.find(">123456<");
  ASSERT_NE(paper, std::string::npos);
  EXPECT_LT(paper, desk);
  EXPECT_LT(desk, lab);
  EXPECT_LT(lab, page.find("patchFIM, GPU"));
  EXPECT_LT(page.find("patchFIM, GPU"), page.find("banded (ours)"));
}

TEST(PapersPage, QuickRunsAreToldFromFullOnes) {
  TableResult quick = table("000-table-3.1", 3.25);
  quick.quick = true;
  quick.title = "Title (quick: smaller meshes)";
  quick.notes = {"A note of its own."};
  const std::string page = papers_page(std::vector{run("desk", {quick}), run("lab", {table("000-table-3.1", 7.125)})});
  EXPECT_THAT(page, HasSubstr("ours<br>desk, quick<"));
  EXPECT_THAT(page, HasSubstr("ours<br>lab<"));
  EXPECT_THAT(page, HasSubstr("desk, quick: fast"));
  EXPECT_THAT(page, HasSubstr("desk, quick: A note of its own."));
  EXPECT_THAT(page, HasSubstr("<small>Title of 000-table-3.1</small>"));
}

TEST(PapersPage, LegendsAreBarsOfColoursOrEntries) {
  TableResult one = table("001-figure-2", 1);
  const std::string png = png_of(std::vector<Color>(1), 1);
  one.pictures = {{"a", "bar", png, {"some ratio", 0, 1, 0, {5, 10, 0, 0}, {}}}};
  const std::string bar = papers_page(std::vector{run("desk", {one})});
  EXPECT_THAT(bar, HasSubstr("some ratio"));
  EXPECT_THAT(bar, HasSubstr("height=\"40.0\" fill=\"#7a7f87\""));  // the largest count
  EXPECT_THAT(bar, HasSubstr("height=\"20.0\" fill=\"#7a7f87\""));
  one.pictures = {{"a", "entries", png, {"", 0, 1, 0, {}, {{"GCC <&>", {0, 128, 255}}}}}};
  const std::string entries = papers_page(std::vector{run("desk", {one})});
  EXPECT_THAT(entries, HasSubstr("background:#0080ff\"></i>GCC &lt;&amp;&gt;</span>"));
  EXPECT_THAT(entries, Not(HasSubstr("#7a7f87")));
}

TEST(PapersPage, PicturesThatAreTheSameStandOnce) {
  const auto with_picture = [](Color color) {
    TableResult one = table("001-figure-2", 1);
    one.pictures = {{"name", "caption", png_of(std::vector<Color>(1, color), 1), {"time", 0, 1, 0}}};
    return one;
  };
  const auto pictures = [&](Color second) {
    const std::string page =
        papers_page(std::vector{run("desk", {with_picture({1, 2, 3})}), run("lab", {with_picture(second)})});
    std::size_t count = 0;
    for (std::size_t at = page.find("<img"); at != std::string::npos; at = page.find("<img", at + 1)) ++count;
    return count;
  };
  EXPECT_EQ(pictures({1, 2, 3}), 1U);
  EXPECT_EQ(pictures({1, 2, 4}), 2U);
}

TEST(PapersPage, OwnMethodsAreToldFromThePapers) {
  EXPECT_TRUE(is_ours(papers()[0], "000-table-3.1", "Mesh 1", "banded, 4 threads"));
  EXPECT_TRUE(is_ours(papers()[1], "001-figure-8", "banded, 2 threads", "seconds"));
  EXPECT_FALSE(is_ours(papers()[0], "000-table-3.1", "Mesh 1", "meshFIM-ST"));
  ASSERT_EQ(papers()[2].number, "002");
  EXPECT_TRUE(is_ours(papers()[2], "002-table-2", "blobs", "2 threads"));
  EXPECT_FALSE(is_ours(papers()[2], "002-table-2", "blobs", "paper's scheme, 2 threads"));
  EXPECT_FALSE(is_ours(papers()[2], "002-figure-6", "blobs, paper's scheme, epsilon 2, delta 1", "particles"));
  EXPECT_TRUE(is_ours(papers()[4], "004-figure-9", "brain, genu", "path"));
  EXPECT_TRUE(is_ours(papers()[4], "004-figure-6", "brain, genu", "pathway"));
}

TEST(PapersPage, TablesWithoutNumbersAreALine) {
  TableResult none = table("001-table-6", 1);
  for (Entry& entry : none.entries) {
    entry.paper.reset();
    entry.ours.reset();
    entry.remark = "no <GPU>";
  }
  EXPECT_THAT(papers_page(std::vector{run("desk", {none})}), HasSubstr("2 rows without numbers: no &lt;GPU&gt;."));
  none.entries[1].paper = 8.25;
  const std::string page = papers_page(std::vector{run("desk", {none})});
  EXPECT_THAT(page, HasSubstr(">8.250<"));
  EXPECT_THAT(page, Not(HasSubstr("without numbers")));
}

TEST(PapersPage, FailuresAreShownWithoutNumbers) {
  TableResult bad = table("000-table-3.1", 1);
  bad.entries[0].remark = failed_check;
  bad.entries[0].ours = 98765;  // even where there is one
  const std::string page = papers_page(std::vector{run("desk", {bad})});
  EXPECT_THAT(page, HasSubstr("Failed its check."));
  EXPECT_THAT(page, Not(HasSubstr("98765")));
}

TEST(PapersPage, DifferencesOfDataStandUnderTheirTables) {
  const Paper& paper = papers()[0];
  ASSERT_EQ(paper.number, "000");
  const auto said = differences_of(paper, "000-table-3.1");
  EXPECT_EQ(said.size(), 2U);
  EXPECT_TRUE(differences_of(paper, "000-figure-3.3").empty());
  for (const Paper& p : papers())
    for (const DataDifference& d : p.differences)
      for (const std::string_view bench : d.benches) EXPECT_TRUE(bench.starts_with(p.number)) << bench;
}

TEST(PapersEstimate, GoesFromNothingToAll) {
  WorkEstimate estimate({2, 3, 5});
  EXPECT_EQ(estimate.fraction(0), 0);
  EXPECT_NEAR(estimate.fraction(1), 0.1, 1e-12);
  estimate.finish(2);
  EXPECT_NEAR(estimate.fraction(0), 0.2, 1e-12);
  estimate.finish(3);
  EXPECT_NEAR(estimate.fraction(0), 0.5, 1e-12);
  EXPECT_LT(estimate.fraction(100), 1);  // later than expected is not done
  estimate.finish(5);
  EXPECT_EQ(estimate.fraction(0), 1);
}

TEST(PapersEstimate, LearnsHowFastTheMachineIs) {
  WorkEstimate estimate({10, 10, 10});
  estimate.finish(40);  // four times as slow: about 80 seconds are left
  EXPECT_NEAR(estimate.fraction(0), 40.0 / 120, 0.03);
}

TEST(PapersChart, EntriesOfTheUnitAreDrawnAtTheirPlaces) {
  BenchOptions options;
  Report report("000-figure-3.3", "title", options);
  report.plot({{"h"}, {"error"}, "error", "slope 1"});
  report.at(2);
  report.add({"16", "circles", 4, 8, "error", ""});
  report.add({"16", "circles: order", 1, 1, "", ""});
  report.at(1, "named");
  report.add({"32", "circles", {}, 4, "error", ""});
  report.off_chart();
  report.add({"32", "not drawn", {}, 9, "error", ""});
  const auto chart = chart_of(report.result());
  ASSERT_TRUE(chart);
  ASSERT_EQ(chart->series.size(), 4U);
  EXPECT_EQ(chart->series[0].name, "circles");
  EXPECT_EQ(chart->series[1].name, "circles, paper");
  EXPECT_EQ(chart->series[1].style, LineStyle::dashed);
  EXPECT_EQ(chart->series[2].name, "named");
  EXPECT_EQ(chart->series[3].points.front().y, 4);  // half of 8, at half the x
}

}  // namespace TEST_FILE
}  // namespace isochron::bench
