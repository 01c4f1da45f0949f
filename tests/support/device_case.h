// Tests that need a GPU skip themselves where there is none.
#pragma once

#include <gtest/gtest.h>

#include "isochron/core/cuda/device.h"

namespace isochron::test {

/// Why there is no device to use; empty when there is one.
inline const std::string& no_device() {
  static const std::string reason = [] {
    cuda::NoDevice why;
    return cuda::find_device(why) ? std::string() : why.reason;
  }();
  return reason;
}

class DeviceCase : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!no_device().empty()) GTEST_SKIP() << no_device();
  }
};

}  // namespace isochron::test
