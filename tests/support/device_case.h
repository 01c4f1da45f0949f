// Tests that need a GPU skip themselves where there is none.
#pragma once

#include <gtest/gtest.h>

#include "isochron/device.h"
#include "isochron/error.h"

namespace isochron::test {

/// Why there is no device to use; empty when there is one.
inline const std::string& no_device() {
  static const std::string reason = [] {
    cuda::NoDevice why;
    return cuda::find_device(why) ? std::string() : to_text(why.reason);
  }();
  return reason;
}

/// The message of the RuntimeError that `action` throws; empty when it throws none.
template <class Action>
std::string failure(const Action& action) {
  try {
    action();
  } catch (const RuntimeError& error) {
    return error.what();
  }
  return {};
}

class DeviceCase : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!no_device().empty()) GTEST_SKIP() << no_device();
  }
};

}  // namespace isochron::test
