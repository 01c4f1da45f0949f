// The device and its memory: what is said when there is none or too little, and arrays that own what they hold.
#include "isochron/device.h"

#include <cstdint>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isochron/error.h"
#include "support/device_case.h"

namespace isochron::cuda {
namespace TEST_FILE {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::size_t mebibyte = std::size_t{1} << 20;

TEST(DeviceRules, AnOldDeviceIsRefusedByName) {
  const auto refused = too_old({"Quadro 5", 7, 5, 30});
  ASSERT_TRUE(refused.has_value());
  EXPECT_THAT(to_text(refused->reason),
              AllOf(HasSubstr("Quadro 5"), HasSubstr("7.5"), HasSubstr("8.0"), HasSubstr("backend threads")));
  EXPECT_FALSE(too_old({"A100", 8, 0, 108}).has_value());
  EXPECT_FALSE(too_old({"B200", 10, 0, 148}).has_value());
}

TEST(DeviceRules, AShortageNamesTheBytes) {
  const Message shortage = memory_shortage(3 * mebibyte + 1, mebibyte, "this mesh");
  EXPECT_EQ(to_text(shortage),
            "the GPU's memory is too small for this mesh (4 MiB needed, 1 MiB free); use a smaller mesh, or solve with "
            "backend threads");
  EXPECT_EQ(to_text(shortage.problem()), "the GPU's memory is too small for this mesh (4 MiB needed, 1 MiB free)");
  EXPECT_THAT(to_text(memory_shortage(SIZE_MAX, 0, "this mesh")), HasSubstr("17592186044416 MiB needed, 0 MiB free"));
}

TEST(DeviceRules, AMissingDeviceSaysWhatToDo) {
  if (test::no_device().empty()) return;  // the tests of the command line hide the device and look, too
  EXPECT_THAT(test::no_device(), AllOf(HasSubstr("GPU"), HasSubstr("backend threads")));
  EXPECT_EQ(test::failure([] { require_device(); }), test::no_device());
  EXPECT_THAT(test::failure([] { require_memory(1, "this mesh"); }), HasSubstr("backend threads"));
  EXPECT_THAT(test::failure([] { DeviceArray<int> one(1); }), HasSubstr("backend threads"));
}

TEST(DeviceRules, EmptyArraysNeedNoDevice) {
  DeviceArray<int> empty(std::span<const int>{});
  empty.clear();
  empty.download_to({});
  DeviceArray<int> other = std::move(empty);
  empty = std::move(other);
  EXPECT_EQ(empty.data(), nullptr);
  EXPECT_EQ(empty.bytes(), 0U);
}

using DeviceMemory = test::DeviceCase;

TEST_F(DeviceMemory, CallsGoToADeviceAndBack) {
  const int before = current_device();
  ASSERT_GE(before, 0);
  {
    const OnDevice here(before), nowhere(-1);
    EXPECT_EQ(current_device(), before);
  }
  EXPECT_THAT(test::failure([] { const OnDevice there(1000); }), HasSubstr("backend threads"));
  EXPECT_EQ(current_device(), before);
  DeviceArray<int> usable(10);
  usable.clear();
}

TEST_F(DeviceMemory, ArraysKeepWhatTheyAreGiven) {
  std::vector<std::uint32_t> host(1000);
  std::iota(host.begin(), host.end(), 7U);
  DeviceArray<std::uint32_t> array{std::span<const std::uint32_t>(host)};
  DeviceArray<std::uint32_t> moved = std::move(array);
  array = DeviceArray<std::uint32_t>(10);
  array.clear();
  std::vector<std::uint32_t> back(1000), zeros(10, 1);
  moved.download_to(back);
  array.download_to(zeros);
  EXPECT_EQ(back, host);
  EXPECT_EQ(zeros, std::vector<std::uint32_t>(10, 0));
  moved.upload_from(std::span<const std::uint32_t>(zeros));  // the first ten only
  moved.download_to(back);
  EXPECT_EQ(back[9], 0U);
  EXPECT_EQ(back[10], host[10]);
}

TEST_F(DeviceMemory, WhatDoesNotFitIsSaidBeforeAnythingIsTaken) {
  const std::size_t before = free_bytes();
  EXPECT_THAT(test::failure([&] { require_memory(before + 64 * mebibyte, "a mesh of 9 elements"); }),
              AllOf(HasSubstr("a mesh of 9 elements"), HasSubstr("MiB needed"), HasSubstr("backend threads")));
  EXPECT_EQ(test::failure([&] { require_memory(before / 2, "a mesh"); }), "");
  EXPECT_GE(free_bytes() + 4 * mebibyte, before);
}

TEST_F(DeviceMemory, AnAllocationThatFailsLeavesTheDeviceUsable) {
  EXPECT_THAT(test::failure([] { DeviceArray<char> more(free_bytes() + 1024 * mebibyte); }),
              AllOf(HasSubstr("MiB needed"), HasSubstr("MiB free")));
  const std::vector<int> host{1, 2, 3};
  const DeviceArray<int> array{std::span<const int>(host)};
  std::vector<int> back(3);
  array.download_to(back);
  EXPECT_EQ(back, host);
}

TEST_F(DeviceMemory, ReleasedMemoryComesBack) {
  { const DeviceArray<char> warm(mebibyte); }
  const std::size_t before = free_bytes();
  for (int i = 0; i < 20; ++i) {
    DeviceArray<char> one(512 * mebibyte), two(64 * mebibyte);
    one = std::move(two);
  }
  EXPECT_GE(free_bytes() + 4 * mebibyte, before);
}

}  // namespace TEST_FILE
}  // namespace isochron::cuda
