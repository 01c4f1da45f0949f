// A metric as an engine keeps it.
#pragma once

#include <cstddef>
#include <memory>
#include <variant>

#include "isochron/domain.h"
#include "isochron/solve/cuda/device_metric.h"

namespace isochron {

/// The host's by reference, one in device memory in a copy of its own.
class HeldMetric {
 public:
  HeldMetric() = default;
  HeldMetric(const AnyMetric& metric, std::size_t elements)
      : host_(metric.host()),
        device_(host_ != nullptr ? nullptr : std::make_shared<cuda::DeviceMetric>(metric, elements)),
        speeds_(std::holds_alternative<DeviceSpeed>(metric)) {}

  /// Null when it is in device memory; `device` is null when it is on the host.
  [[nodiscard]] const Metric* host() const { return host_.get(); }
  [[nodiscard]] const cuda::DeviceMetric* device() const { return device_.get(); }
  /// Speeds in device memory.
  [[nodiscard]] bool device_speeds() const { return speeds_; }

 private:
  std::shared_ptr<const Metric> host_;
  std::shared_ptr<cuda::DeviceMetric> device_;
  bool speeds_ = false;
};

}  // namespace isochron
