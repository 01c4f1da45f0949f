#include "isochron/io/tables.h"

#include <cstring>
#include <limits>

#include "io/io_test_support.h"

namespace isochron::test {
namespace {

std::string written(const fs::path& path, std::size_t columns, const std::vector<std::vector<double>>& rows) {
  NpyWriter writer({path, path}, rows.size(), columns);
  for (const auto& row : rows) writer.row(row);
  writer.finish();
  return content_of(path);
}

TEST(NpyFile, HasTheHeaderThatNumPyExpects) {
  const TemporaryFolder folder;
  for (const std::size_t columns : {0U, 1U, 9U, 10U, 99U, 100U, 12345678U}) {
    const std::string bytes = written(folder.path() / "a.npy", columns, {});
    ASSERT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
    const std::size_t length = static_cast<unsigned char>(bytes[8]) + 256U * static_cast<unsigned char>(bytes[9]);
    EXPECT_EQ(bytes.size(), 10 + length) << "no row, no number";
    EXPECT_EQ(bytes.size() % 64, 0U);
    EXPECT_EQ(bytes.back(), '\n');
    const std::string shape = "'shape': (0, " + std::to_string(columns) + "), }";
    EXPECT_THAT(bytes, ::testing::HasSubstr("{'descr': '<f8', 'fortran_order': False, " + shape));
  }
}

TEST(NpyFile, HoldsTheNumbersRowByRow) {
  const TemporaryFolder folder;
  const double inf = std::numeric_limits<double>::infinity();
  const std::string bytes = written(folder.path() / "a.npy", 3, {{0, 0.1, inf}, {-1e300, 5e-324, 2}});
  std::vector<double> numbers(6);
  ASSERT_EQ(bytes.size(), 128 + 48U);
  std::memcpy(numbers.data(), bytes.data() + 128, 48);
  EXPECT_EQ(numbers, (std::vector<double>{0, 0.1, inf, -1e300, 5e-324, 2}));
}

TEST(NpyFile, AFullDiskIsAnError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  EXPECT_THROW(written("/dev/full", 4, {{1, 2, 3, 4}}), RuntimeError);
}

}  // namespace
}  // namespace isochron::test
