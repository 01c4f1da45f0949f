// What `--backend auto` means, with and without a device.
#include "isochron/solve/choose_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace isochron {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::size_t gibibyte = std::size_t{1} << 30;
constexpr std::size_t small = 1000, medium = backend_thresholds.threads_elements, large = 5000000;
static_assert(small < medium && medium < backend_thresholds.cuda_elements && backend_thresholds.cuda_elements < large);

constexpr DeviceMemory roomy{80 * gibibyte, 3 * gibibyte};
constexpr DeviceMemory cramped{2 * gibibyte, 3 * gibibyte};

SolveOptions with(Method method, Backend backend = Backend::automatic) {
  SolveOptions options;
  options.method = method;
  options.backend = backend;
  return options;
}

TEST(ChooseBackend, LargeMeshesGoToTheGpu) {
  EXPECT_EQ(choose_backend({}, large, roomy).backend, Backend::cuda);
  EXPECT_EQ(choose_backend({}, backend_thresholds.cuda_elements, roomy).backend, Backend::cuda);
  EXPECT_EQ(choose_backend({}, backend_thresholds.cuda_elements - 1, roomy).backend, Backend::threads);
  EXPECT_EQ(choose_backend({}, small, roomy).backend, Backend::serial);
  EXPECT_EQ(choose_backend({}, large, roomy).note, "");
  SolveOptions exact;
  exact.precision = Precision::double_;
  EXPECT_EQ(choose_backend(exact, large, roomy).backend, Backend::cuda);
}

TEST(ChooseBackend, WithoutADeviceTheCpuIsNothingToTalkAbout) {
  EXPECT_EQ(choose_backend({}, large, std::nullopt).backend, Backend::threads);
  EXPECT_EQ(choose_backend({}, medium, std::nullopt).backend, Backend::threads);
  EXPECT_EQ(choose_backend({}, medium - 1, std::nullopt).backend, Backend::serial);
  EXPECT_EQ(choose_backend({}, large, std::nullopt).note, "");
}

TEST(ChooseBackend, WhatIsNamedIsKept) {
  for (const Backend backend : {Backend::serial, Backend::threads, Backend::cuda})
    for (const std::size_t elements : {small, large}) {
      EXPECT_EQ(choose_backend(with(Method::automatic, backend), elements, cramped).backend, backend);
      EXPECT_EQ(choose_backend(with(Method::automatic, backend), elements, std::nullopt).backend, backend);
      EXPECT_EQ(choose_backend(with(Method::automatic, backend), elements, cramped).note, "");
    }
}

TEST(ChooseBackend, OptionsOfTheCpuKeepTheCpu) {
  for (const Method method : {Method::banded, Method::fim, Method::fmm, Method::fsm, Method::relabel_sync})
    EXPECT_EQ(choose_backend(with(method), large, roomy).backend, Backend::threads);
  SolveOptions factored;
  factored.source_init = SourceInit::factored;
  EXPECT_EQ(choose_backend(factored, large, roomy).backend, Backend::threads);
}

TEST(ChooseBackend, AMethodOfTheGpuMeansTheGpu) {
  for (const Method method : {Method::push, Method::patch_fim, Method::active_list, Method::domain_decomposition}) {
    EXPECT_EQ(choose_backend(with(method), small, std::nullopt).backend, Backend::cuda);
    EXPECT_EQ(choose_backend(with(method), large, cramped).backend, Backend::cuda);
  }
}

TEST(ChooseBackend, TooLittleMemoryIsNoted) {
  const BackendChoice choice = choose_backend({}, large, cramped);
  EXPECT_EQ(choice.backend, Backend::threads);
  EXPECT_THAT(choice.note,
              AllOf(HasSubstr("on the CPU"), HasSubstr("3328 MiB needed, 2048 MiB free"), Not(HasSubstr("backend"))));
  const std::size_t exactly = 3 * gibibyte + backend_thresholds.cuda_spare_bytes;
  EXPECT_EQ(choose_backend({}, large, DeviceMemory{exactly, 3 * gibibyte}).backend, Backend::cuda);
  EXPECT_EQ(choose_backend({}, large, DeviceMemory{exactly - 1, 3 * gibibyte}).backend, Backend::threads);
}

TEST(ChooseBackend, AFailedDeviceIsNotedWithoutItsAdvice) {
  const BackendChoice choice = without_device(
      large, "the GPU failed at solving (cudaErrorIllegalAddress)" + Message(Advice()) + "solve elsewhere");
  EXPECT_EQ(choice.backend, Backend::threads);
  EXPECT_EQ(choice.note, "solved on the CPU: the GPU failed at solving (cudaErrorIllegalAddress)");
  EXPECT_EQ(without_device(small, "no advice").note, "solved on the CPU: no advice");
  EXPECT_EQ(without_device(small, "no advice").backend, Backend::serial);
}

TEST(ChooseBackend, TheDeviceIsLookedForOnlyWhereItMatters) {
  EXPECT_TRUE(asks_for_device({}, large));
  EXPECT_FALSE(asks_for_device({}, small));
  EXPECT_FALSE(asks_for_device(with(Method::fim), large));
  EXPECT_FALSE(asks_for_device(with(Method::automatic, Backend::threads), large));
  EXPECT_FALSE(asks_for_device(with(Method::automatic, Backend::cuda), large));
}

}  // namespace
}  // namespace isochron
