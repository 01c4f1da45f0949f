#include "isochron/io/file.h"

#include "io/io_test_support.h"
#include "isochron/io/bytes.h"

namespace isochron::test {
namespace TEST_FILE {

void fill(const fs::path& path, const std::string& content) { std::ofstream(path) << content; }

TEST(AtomicFile, CommitReplacesTheTarget) {
  TemporaryFolder folder;
  const fs::path target = folder.file("a.msh.gz", "old");
  AtomicFile file(target);
  EXPECT_EQ(file.path().parent_path(), target.parent_path());
  EXPECT_TRUE(file.path().string().ends_with(".msh.gz"));
  fill(file.path(), "new");
  EXPECT_EQ(content_of(target), "old");
  file.commit();
  EXPECT_EQ(content_of(target), "new");
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(AtomicFile, NeedsNoNameUntilItIsWhole) {
  TemporaryFolder folder;
  const fs::path target = folder.file("a.npy", "old");
  {
    AtomicFile given_up(target, TemporaryName::none);
    fill(given_up.path(), "half");
    const bool named = given_up.path().parent_path() == target.parent_path();
    EXPECT_EQ(folder.entries(), named ? 2U : 1U);
  }
  AtomicFile file(target, TemporaryName::none);
  fill(file.path(), "new");
  EXPECT_EQ(content_of(target), "old");
  file.commit();
  EXPECT_EQ(content_of(target), "new");
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(AtomicFile, LeavesNothingOnAnException) {
  TemporaryFolder folder;
  const fs::path target = folder.path() / "a.vtu";
  const auto interrupted = [&] {
    AtomicFile file(target);
    fill(file.path(), "half");
    throw Cancelled();
  };
  EXPECT_THROW(interrupted(), Cancelled);
  EXPECT_EQ(folder.entries(), 0U);
}

TEST(AtomicFile, KeepsTheOldFileOnAnException) {
  TemporaryFolder folder;
  const fs::path target = folder.file("a.vtu", "old");
  {
    AtomicFile file(target);
    fill(file.path(), "half");
  }
  EXPECT_EQ(content_of(target), "old");
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(AtomicFile, TwoAtATimeDoNotMeet) {
  TemporaryFolder folder;
  const AtomicFile first(folder.path() / "a.off");
  const AtomicFile second(folder.path() / "a.off");
  EXPECT_NE(first.path(), second.path());
}

TEST(AtomicFile, WritesThroughALinkToAFileThatIsNotThereYet) {
  const TemporaryFolder folder;
  fs::create_symlink("real.txt", folder.path() / "link.txt");
  AtomicFile file(folder.path() / "link.txt");
  std::ofstream(file.path()) << "new";
  file.commit();
  EXPECT_TRUE(fs::is_symlink(folder.path() / "link.txt"));
  EXPECT_EQ(content_of(folder.path() / "real.txt"), "new");
}

TEST(AtomicFile, WritesThroughALink) {
  TemporaryFolder folder;
  const fs::path real = folder.file("real.off", "old");
  const fs::path link = folder.path() / "link.off";
  fs::create_symlink(real, link);
  AtomicFile file(link);
  fill(file.path(), "new");
  file.commit();
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(content_of(real), "new");
}

TEST(AtomicFile, CommitFailsWithoutContentOrOverAFolder) {
  TemporaryFolder folder;
  AtomicFile nothing(folder.path() / "a.off");
  EXPECT_THROW(nothing.commit(), RuntimeError);
  fs::create_directory(folder.path() / "b.off");
  {
    AtomicFile over(folder.path() / "b.off");
    fill(over.path(), "x");
    EXPECT_THROW(over.commit(), RuntimeError);
  }
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(AtomicFile, LongNamesFit) {
  TemporaryFolder folder;
  AtomicFile file(folder.path() / (std::string(240, 'n') + ".off"));
  fill(file.path(), "x");
  EXPECT_NO_THROW(file.commit());
}

TEST(ByteWriter, FullDiskIsARuntimeError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  for (const char* name : {"a.off", "a.off.gz"}) {
    const auto write = [&] {
      ByteWriter sink({name, "/dev/full"});
      for (int i = 0; i < 100000; ++i) sink.print("{} {}\n", i, 0.1 * i);
      sink.finish();
    };
    EXPECT_THROW(write(), RuntimeError) << name;
    const auto write_little = [&] {
      ByteWriter sink({name, "/dev/full"});
      sink.print("x\n");
      sink.finish();
    };
    EXPECT_THROW(write_little(), RuntimeError) << name;
  }
}

}  // namespace TEST_FILE
}  // namespace isochron::test
