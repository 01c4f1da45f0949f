// MRtrix track files.
#include <bit>
#include <cstring>
#include <limits>

#include "io/io_test_support.h"
#include "isochron/core/random.h"

namespace isochron::test {
namespace TEST_FILE {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Dataset two_paths() {
  Dataset d;
  d.points = {{0, 0, 0}, {1.5, -2, 3}, {0.25, 7, -9}, {4, 4, 4}, {5, 5, 5}};
  d.lines = {{VertexId(2), VertexId(1), VertexId(0)}, {VertexId(3), VertexId(4)}};
  return d;
}

template <class T>
void put(std::string& bytes, T value, bool swap) {
  std::string one(sizeof(T), '\0');
  std::memcpy(one.data(), &value, sizeof(T));
  if (swap) std::reverse(one.begin(), one.end());
  bytes += one;
}

/// A file as others write it: one streamline of two points, more header lines.
template <class T>
std::string foreign_file(const std::string& datatype, bool swap) {
  std::string head = "mrtrix tracks\nmethod: iFOD2\ntimestamp: 1234.5\ndatatype: " + datatype +
                     "\ncount: 0000000001\nfile: . 100\nEND\n";
  head.resize(100, ' ');
  constexpr T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  for (const T value : {T(1), T(2), T(3), T(4), T(5), T(6), nan, nan, nan, inf, inf, inf}) put(head, value, swap);
  return head;
}

TEST(Tck, KeepsLinesInTheirOrder) {
  TemporaryFolder folder;
  write_dataset(folder.path() / "a.tck", two_paths(), Overwrite::no);
  const Dataset again = read_dataset(folder.path() / "a.tck");
  ASSERT_EQ(again.lines.size(), 2U);
  EXPECT_EQ(again.points[again.lines[0][0].index()], (Vec3d{0.25, 7, -9}));
  EXPECT_EQ(again.points[again.lines[0][2].index()], (Vec3d{0, 0, 0}));
  EXPECT_EQ(again.points[again.lines[1][1].index()], (Vec3d{5, 5, 5}));
  EXPECT_TRUE(again.warnings.empty());
}

TEST(Tck, ReadsAllTypesOfReals) {
  constexpr bool little = std::endian::native == std::endian::little;
  TemporaryFolder folder;
  for (const std::string& bytes :
       {foreign_file<float>("Float32LE", !little), foreign_file<float>("Float32BE", little),
        foreign_file<double>("Float64LE", !little), foreign_file<double>("Float64BE", little)}) {
    const Dataset d = read_dataset(folder.file("a.tck", bytes));
    EXPECT_THAT(d.points, ElementsAre(Vec3d{1, 2, 3}, Vec3d{4, 5, 6}));
    EXPECT_EQ(d.lines.size(), 1U);
  }
}

TEST(Tck, SaysWhatIsWrong) {
  TemporaryFolder folder;
  const std::string good = foreign_file<float>("Float32LE", false);
  EXPECT_THAT(reading_error(folder.file("a.tck", "solid\n")), HasSubstr("not a track file"));
  EXPECT_THAT(reading_error(folder.file("a.tck", "mrtrix tracks\ncount: 1\n")), HasSubstr("no END"));
  EXPECT_THAT(reading_error(folder.file("a.tck", "mrtrix tracks\ndatatype: Float32LE\nEND\n")), HasSubstr("no place"));
  EXPECT_THAT(reading_error(folder.file("a.tck", "mrtrix tracks\nfile: other.dat 10\nEND\n")), HasSubstr("'file'"));
  EXPECT_THAT(reading_error(folder.file("a.tck", foreign_file<float>("Int16", false))), HasSubstr("datatype 'Int16'"));
  EXPECT_THAT(reading_error(folder.file("a.tck", good.substr(0, good.size() - 12))), HasSubstr("cut off"));
  std::string more = good;
  more.replace(more.find("0000000001"), 10, "0000000007");
  EXPECT_THAT(read_dataset(folder.file("a.tck", more)).warnings, ElementsAre(HasSubstr("counts 7")));
}

TEST(Tck, HoldsLinesAlone) {
  TemporaryFolder folder;
  EXPECT_THROW(write_dataset(folder.path() / "a.tck", mixed_mesh(), Overwrite::no), UsageError);
  EXPECT_THROW(write_dataset(folder.path() / "a.tck", surface_mesh(), Overwrite::no), UsageError);
  EXPECT_EQ(dropped_lines(folder.path() / "a.tck", two_paths()), 0U);
  Dataset d = two_paths();
  d.point_data.set({"arrival_time", 1, std::vector<double>(5)});
  EXPECT_THAT(kept_arrays(folder.path() / "a.tck", d).dropped, ElementsAre("arrival_time"));
}

TEST(Tck, DamagedFilesAreInputErrors) {
  TemporaryFolder folder;
  const std::string good = foreign_file<float>("Float32LE", false);
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    std::string damaged = good.substr(0, random.below(4) == 0 ? random.below(good.size()) : good.size());
    if (!damaged.empty()) damaged[random.below(damaged.size())] = static_cast<char>(random.bits());
    try {
      EXPECT_FALSE(read_dataset(folder.file("a.tck", damaged)).points.empty());
    } catch (const InputError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with(folder.path().string())) << error.what();
    }
  }
}

}  // namespace TEST_FILE
}  // namespace isochron::test
