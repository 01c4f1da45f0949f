// Files as bytes and text: written whole or not at all, unpacked within limits, and scanned.
#include "isochron/io/file.h"

#include "io/image_samples.h"
#include "isochron/io/bytes.h"
#include "isochron/io/packed_blocks.h"

namespace isochron::test {
namespace TEST_FILE {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

void fill(const fs::path& path, const std::string& content) { std::ofstream(path) << content; }

TEST(AtomicFile, CommitReplacesTheTarget) {
  TemporaryFolder folder;
  const fs::path target = folder.file("a.msh.gz", "old");
  AtomicFile file(target, Overwrite::yes);
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
    AtomicFile given_up(target, Overwrite::yes, TemporaryName::none);
    fill(given_up.path(), "half");
    const bool named = given_up.path().parent_path() == target.parent_path();
    EXPECT_EQ(folder.entries(), named ? 2U : 1U);
  }
  AtomicFile file(target, Overwrite::yes, TemporaryName::none);
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
    AtomicFile file(target, Overwrite::yes);
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
    AtomicFile file(target, Overwrite::yes);
    fill(file.path(), "half");
  }
  EXPECT_EQ(content_of(target), "old");
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(AtomicFile, TwoAtATimeDoNotMeet) {
  TemporaryFolder folder;
  const AtomicFile first(folder.path() / "a.off", Overwrite::yes);
  const AtomicFile second(folder.path() / "a.off", Overwrite::yes);
  EXPECT_NE(first.path(), second.path());
}

TEST(AtomicFile, WritesThroughALinkToAFileThatIsNotThereYet) {
  const TemporaryFolder folder;
  fs::create_symlink("real.txt", folder.path() / "link.txt");
  AtomicFile file(folder.path() / "link.txt", Overwrite::yes);
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
  AtomicFile file(link, Overwrite::yes);
  fill(file.path(), "new");
  file.commit();
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(content_of(real), "new");
}

TEST(AtomicFile, CommitFailsWithoutContentOrOverAFolder) {
  TemporaryFolder folder;
  AtomicFile nothing(folder.path() / "a.off", Overwrite::yes);
  EXPECT_THROW(nothing.commit(), RuntimeError);
  fs::create_directory(folder.path() / "b.off");
  {
    AtomicFile over(folder.path() / "b.off", Overwrite::yes);
    fill(over.path(), "x");
    EXPECT_THROW(over.commit(), RuntimeError);
  }
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(AtomicFile, OneOfTwoGetsANewName) {
  const TemporaryFolder folder;
  for (const TemporaryName name : {TemporaryName::beside, TemporaryName::none}) {
    const fs::path target = folder.path() / (name == TemporaryName::none ? "a.npy" : "a.vtu");
    AtomicFile first(target, Overwrite::no, name), second(target, Overwrite::no, name);
    fill(first.path(), "first");
    fill(second.path(), "second");
    second.commit();
    EXPECT_THAT([&] { first.commit(); }, ThrowsMessage<InputError>(HasSubstr("exists already")));
    EXPECT_EQ(content_of(target), "second");
  }
  EXPECT_EQ(folder.entries(), 2U);
}

TEST(AtomicFile, RefusesLinksInACircle) {
  const TemporaryFolder folder;
  fs::create_symlink("b.off", folder.path() / "a.off");
  fs::create_symlink("a.off", folder.path() / "b.off");
  EXPECT_THROW(AtomicFile(folder.path() / "a.off", Overwrite::yes), InputError);
  EXPECT_THROW(check_output_file(folder.path() / "a.off", Overwrite::yes), InputError);
}

TEST(CheckOutputFile, LooksAtWhatALinkLeadsTo) {
  const TemporaryFolder folder;
  const auto link = [&](const char* name, const char* to) {
    fs::create_symlink(to, folder.path() / name);
    return folder.path() / name;
  };
  EXPECT_NO_THROW(check_output_file(link("new.off", "real.off"), Overwrite::no));
  EXPECT_THROW(check_output_file(link("lost.off", "no/such/folder.off"), Overwrite::yes), RuntimeError);
  EXPECT_THROW(check_output_file(link("device.off", "/dev/null"), Overwrite::yes), InputError);
  EXPECT_THROW(check_output_file(link("stream.off", "/dev/stdout"), Overwrite::yes), InputError);
}

/// Two files of a set, with a folder in the place of the third, so that it cannot be renamed.
void expect_nothing_changes(const TemporaryFolder& folder, Overwrite overwrite) {
  fs::create_directory(folder.path() / "c.lon");
  const std::size_t before = folder.entries();
  {
    OutputFiles files(overwrite);
    for (const char* name : {"a.pts", "b.elem", "c.lon"}) fill(files.add(folder.path() / name).where, "new");
    EXPECT_ANY_THROW(files.commit());
  }
  EXPECT_EQ(folder.entries(), before);
}

TEST(OutputFiles, PutBackWhatWasThereWhenOneFails) {
  const TemporaryFolder folder;
  const fs::path old = folder.file("a.pts", "old");
  expect_nothing_changes(folder, Overwrite::yes);
  EXPECT_EQ(content_of(old), "old");
  EXPECT_FALSE(fs::exists(folder.path() / "b.elem"));
}

TEST(OutputFiles, RemoveWhatIsNewWhenOneFails) {
  const TemporaryFolder folder;
  expect_nothing_changes(folder, Overwrite::no);
  EXPECT_FALSE(fs::exists(folder.path() / "a.pts"));
}

TEST(OutputFiles, ReplaceTheWholeSet) {
  const TemporaryFolder folder;
  for (const char* name : {"a.pts", "a.elem", "a.lon"}) folder.put(name, "old");
  {
    OutputFiles files(Overwrite::yes);
    for (const char* name : {"a.pts", "a.elem"}) fill(files.add(folder.path() / name).where, "new");
    static_cast<void>(files.add(folder.path() / "a.lon"));  // not written: no longer part of the set
    files.commit();
  }
  EXPECT_EQ(content_of(folder.path() / "a.pts"), "new");
  EXPECT_EQ(content_of(folder.path() / "a.elem"), "new");
  EXPECT_EQ(folder.entries(), 2U);
}

TEST(AtomicFile, LongNamesFit) {
  TemporaryFolder folder;
  AtomicFile file(folder.path() / (std::string(240, 'n') + ".off"), Overwrite::yes);
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

constexpr std::uint64_t mega = 1'000'000;

/// A grid of 100³ zeros as float: 4 MB in a few kilobytes.
Image zeros() {
  Image image;
  image.grid.shape = {100, 100, 100};
  image.data.set({"values", 1, std::vector<float>(image.grid.voxel_count(), 0.0F)});
  return image;
}

TEST(UnpackLimit, HoldsForCompressedImages) {
  const TemporaryFolder folder;
  for (const char* name : {"a.nii.gz", "a.npy.gz", "a.mgz"}) {
    const auto path = folder.path() / name;
    write_image(path, zeros(), Overwrite::no);
    ASSERT_LT(std::filesystem::file_size(path), 50'000U) << name;
    {
      const UnpackLimit enough(4 * mega + 2000);
      EXPECT_EQ(read_image(path).grid.voxel_count(), 1'000'000U) << name;
      EXPECT_LT(UnpackLimit::left(), 2000U) << "everything is counted";
      EXPECT_THROW(static_cast<void>(read_image(path)), UnpackedTooLarge) << "all files together";
    }
    const UnpackLimit limit(3 * mega);
    EXPECT_THAT([&] { static_cast<void>(read_image(path)); },
                ThrowsMessage<UnpackedTooLarge>(HasSubstr(std::string(name) + ": unpacks to more than 3000000 bytes")));
    EXPECT_GT(UnpackLimit::left(), mega) << "known from the header: no more than a buffer was unpacked";
  }
}

TEST(UnpackLimit, HoldsForFilesThatAreUnpackedAsAWhole) {
  const TemporaryFolder folder;
  Dataset mesh = surface_mesh();
  mesh.points.resize(100'000);
  const auto path = folder.path() / "a.off.gz";
  write_dataset(path, mesh, Overwrite::no);
  const std::uint64_t bytes = [&] {
    const UnpackLimit none(std::numeric_limits<std::uint64_t>::max());
    static_cast<void>(read_dataset(path));
    return std::numeric_limits<std::uint64_t>::max() - UnpackLimit::left();
  }();
  ASSERT_GT(bytes, 500'000U);
  {
    const UnpackLimit just_enough(bytes);
    EXPECT_EQ(read_dataset(path).points.size(), mesh.points.size());
    EXPECT_EQ(UnpackLimit::left(), 0U);
  }
  const UnpackLimit one_too_few(bytes - 1);
  EXPECT_THROW(static_cast<void>(read_dataset(path)), UnpackedTooLarge);
}

TEST(UnpackLimit, HoldsForDataInsideOtherFiles) {
  const std::string plain(10'000, 'x');
  const std::string packed = zipped(plain);
  const UnpackLimit limit(15'000);
  EXPECT_EQ(unpacked(packed, plain.size(), "a.vtu"), plain);
  EXPECT_THROW(unpacked(packed, plain.size(), "a.vtu"), UnpackedTooLarge);
}

TEST(UnpackLimit, LetsPlainFilesAlone) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "a.npy";
  write_image(path, zeros(), Overwrite::no);
  const UnpackLimit limit(10);
  EXPECT_EQ(read_image(path).grid.voxel_count(), 1'000'000U);
}

TEST(UnpackLimit, EndsWithItsScope) {
  EXPECT_EQ(UnpackLimit::left(), std::numeric_limits<std::uint64_t>::max());
  const UnpackLimit outer(10);
  {
    const UnpackLimit inner(20);
    UnpackLimit::take(5, "a");
    EXPECT_EQ(UnpackLimit::left(), 15U);
  }
  EXPECT_EQ(UnpackLimit::left(), 10U);
  EXPECT_THROW(UnpackLimit::take(11, "a"), UnpackedTooLarge);
  EXPECT_EQ(UnpackLimit::left(), 10U);
}

TextScanner scan(std::string_view text) { return {"f", text, {.hash_comments = true, .separators = ","}}; }

std::string message_of(const std::function<void()>& body) {
  return input_error("f", [&] {
    body();
    return 0;
  });
}

TEST(TextScanner, ReadsUnusualNumbers) {
  TextScanner in = scan("+1.5, -2 3D2 1e-400 inf nan .5 5. -0");
  EXPECT_EQ(in.real("x"), 1.5);
  EXPECT_EQ(in.integer<int>("x"), -2);
  EXPECT_EQ(in.real("x"), 300);
  EXPECT_EQ(in.real("x"), 0);
  EXPECT_EQ(in.real("x"), INFINITY);
  EXPECT_TRUE(std::isnan(in.real("x")));
  EXPECT_EQ(in.real("x"), 0.5);
  EXPECT_EQ(in.real("x"), 5);
  EXPECT_TRUE(std::signbit(in.real("x")));
  EXPECT_TRUE(in.at_end());
}

TEST(TextScanner, RefusesWhatIsNoNumber) {
  for (const char* text : {"1x", "x", "+", "1.5.2", "--1", "1e", "d", "1e400", "-1e400"}) {
    EXPECT_THAT(message_of([&] { scan(text).real("a time"); }), HasSubstr("a time was expected")) << text;
  }
  for (const char* text : {"1.0", "x", "99999999999", "-"}) {
    EXPECT_THAT(message_of([&] { scan(text).integer<int>("an id"); }), HasSubstr("an id was expected")) << text;
  }
}

TEST(NumberFrom, IsAsTheStandardLibrarys) {
  const auto expect_same = [](const std::string& text, auto zero) {
    auto ours = zero, expected = zero;
    const char* const end = text.data() + text.size();
    const auto found = number_from(text.data(), end, ours), wanted = std::from_chars(text.data(), end, expected);
    EXPECT_EQ(found.ec, wanted.ec) << text;
    EXPECT_EQ(found.ptr - text.data(), wanted.ptr - text.data()) << text;
    EXPECT_EQ(ours, expected) << text;
  };
  for (const char* digits :
       {"", "0", "7x", "007", "127", "128", "129", "4294967295", "4294967296", "x", "999999999999999999",
        "9999999999999999999", "9223372036854775807", "9223372036854775808", "9223372036854775809",
        "18446744073709551615", "18446744073709551616", "0000000000000000000000012", "99999999999999999999999999999"})
    for (const char* sign : {"", "-", "+", "--"}) {
      expect_same(std::string(sign) + digits, std::int8_t{});
      expect_same(std::string(sign) + digits, std::int32_t{});
      expect_same(std::string(sign) + digits, std::uint32_t{});
      expect_same(std::string(sign) + digits, std::int64_t{});
      expect_same(std::string(sign) + digits, std::uint64_t{});
    }
}

TEST(TextScanner, CountsLinesAndSkipsComments) {
  TextScanner in = scan("1 # one\n# nothing\n\n2 word\n");
  EXPECT_EQ(in.integer<int>("x"), 1);
  EXPECT_FALSE(in.more_on_line());
  EXPECT_EQ(in.integer<int>("x"), 2);
  EXPECT_TRUE(in.more_on_line());
  EXPECT_EQ(message_of([&] { in.integer<int>("an id"); }).substr(0, 11), "f: line 4: ");
  EXPECT_EQ(in.word("x"), "word");
  EXPECT_THAT(message_of([&] { in.word("the rest"); }), HasSubstr("ends early (the rest was expected)"));
}

TEST(TextScanner, RefusesCountsTheFileCannotHold) {
  EXPECT_EQ(scan("2 1 2").count("rows", 2), 2U);
  EXPECT_THAT(message_of([] { scan("4000000000 1 2").count("rows", 2); }), HasSubstr("cannot be right"));
  EXPECT_THAT(message_of([] { scan("-1").count("rows", 2); }), HasSubstr("rows was expected"));
}

TEST(TextScanner, MessagesStayOnOnePrintableLine) {
  std::string text(100, '\x80');
  text.push_back('\n');
  const std::string message = message_of([&] { scan(text).real("x"); });
  EXPECT_LT(message.size(), 160U);
  for (const char c : message) EXPECT_TRUE(c >= ' ' && c <= '~');
}

}  // namespace TEST_FILE
}  // namespace isochron::test
