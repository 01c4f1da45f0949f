#include "apps/viewer/server/data_set.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/io_test_support.h"
#include "isochron/error.h"

namespace isochron::viewer {
namespace TEST_FILE {

using testing::HasSubstr;

namespace fs = std::filesystem;

constexpr const char* triangle = "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";

TEST(DataSet, ReportsEachChangeOfItsFileOnce) {
  const test::TemporaryFolder folder;
  const fs::path path = folder.file("triangle.off", triangle);
  const fs::path aside = path.parent_path() / "aside.off";
  DataSet data(path, {});
  EXPECT_EQ(data.describe()["file"], "as read");
  EXPECT_EQ(data.describe()["changed"], false);
  EXPECT_EQ(data.look_again(), std::nullopt);

  fs::rename(path, aside);
  EXPECT_EQ(data.look_again(), FileState::deleted);
  EXPECT_EQ(data.look_again(), std::nullopt);
  EXPECT_EQ(data.describe()["file"], "deleted");
  EXPECT_EQ(data.describe()["changed"], true);

  fs::create_directory(path);
  EXPECT_EQ(data.look_again(), FileState::unreadable);
  fs::remove(path);
  fs::create_symlink(path.filename(), path);  // leads to itself
  EXPECT_EQ(data.look_again(), std::nullopt);
  EXPECT_EQ(data.describe()["file"], "unreadable");
  fs::remove(path);

  fs::rename(aside, path);
  EXPECT_EQ(data.look_again(), FileState::as_read);
  EXPECT_EQ(data.describe()["changed"], false);

  // Another file of the same size and date in its place.
  const auto date = fs::last_write_time(path);
  fs::copy_file(path, aside);
  fs::last_write_time(aside, date);
  fs::rename(aside, path);
  EXPECT_EQ(data.look_again(), FileState::written);
  fs::last_write_time(path, date + std::chrono::seconds(2));
  EXPECT_EQ(data.look_again(), FileState::written);
  EXPECT_EQ(data.look_again(), std::nullopt);
}

TEST(DataSet, KnowsHowItsQuestionsAreAsked) {
  const test::TemporaryFolder folder;
  const DataSet data(folder.file("triangle.off", triangle), {});
  EXPECT_EQ(data.asked("geometry"), Asked::get);
  EXPECT_EQ(data.asked("solve"), Asked::post);
  EXPECT_EQ(data.asked("cancel"), Asked::post);
  EXPECT_EQ(data.asked("reload"), Asked::post);
  EXPECT_EQ(data.asked("histogram"), std::nullopt);
  EXPECT_EQ(data.asked(""), std::nullopt);
  const Json listed = data.describe()["questions"];
  EXPECT_EQ(listed.front(), "GET geometry");
  EXPECT_EQ(listed.back(), "POST cancel");
  EXPECT_EQ(listed.size() + 1, data.questions().size());  // there are no surfaces of equal time in a surface
  EXPECT_EQ(std::count(listed.begin(), listed.end(), Json("POST isosurface")), 0);
}

TEST(DataSet, SizesAreInPowersOfTen) {
  EXPECT_EQ(size_text(512), "512 bytes");
  EXPECT_EQ(size_text(999'999), "999999 bytes");
  EXPECT_EQ(size_text(1'500'000), "1.5 MB");
  EXPECT_EQ(size_text(OpenOptions{}.max_bytes), "8.0 GB");
  EXPECT_EQ(size_text(10'700'000'000), "10.7 GB");
}

TEST(DataSet, RefusesMoreThanTheLimitPackedOrNot) {
  const test::TemporaryFolder folder;
  const fs::path plain = folder.file("triangle.off", triangle);
  const fs::path packed = folder.path() / "packed.off.gz";
  write_dataset(packed, read_dataset(plain), Overwrite::no);
  const auto refused = [](const fs::path& path, std::uintmax_t most) -> std::string {
    OpenOptions options;
    options.max_bytes = most;
    try {
      const DataSet opened(path, options);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  const std::uintmax_t bytes = fs::file_size(plain);
  EXPECT_EQ(refused(plain, bytes), "");
  EXPECT_THAT(refused(plain, bytes - 1), HasSubstr("triangle.off: has 36 bytes (the viewer opens files up to 35"));
  EXPECT_EQ(refused(packed, 200), "");
  Dataset many = read_dataset(plain);
  many.points.resize(5000);
  write_dataset(packed, many, Overwrite::yes);
  ASSERT_LT(fs::file_size(packed), 4000U);
  EXPECT_THAT(refused(packed, 4000), HasSubstr("packed.off.gz: unpacks to more (the viewer"));
}

}  // namespace TEST_FILE
}  // namespace isochron::viewer
