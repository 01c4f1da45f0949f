#include "isochron/solve/cuda/device_metric.h"

#include <array>
#include <string_view>

#include <fmt/format.h>

#include "isochron/error.h"

namespace isochron::cuda {
namespace {

constexpr std::array<int, 1> alone{0};
constexpr std::array<int, 3> three{0, 1, 2};
constexpr std::array<int, 6> six{0, 1, 2, 3, 4, 5};
constexpr std::array<int, 6> upper_triangle{0, 1, 2, 4, 5, 8};

void check_columns(const DeviceTable& table, std::size_t columns, const Message& what) {
  if (table.columns != columns)
    throw InputError(what + fmt::format(" has {} numbers for each element; give {}", table.columns, columns));
}

/// A copy of the table as values of so many numbers.
template <class Value>
DeviceArray<Value> copied(const DeviceTable& table, std::span<const int> columns) {
  using Number = std::conditional_t<std::is_same_v<Value, double>, double, float>;
  DeviceArray<Value> values(table.rows());
  copy_columns(table, columns, reinterpret_cast<Number*>(values.data()));
  return values;
}

template <class Value>
const Value* sent(DeviceArray<Value>& place, std::span<const std::type_identity_t<Value>> values) {
  place = DeviceArray<Value>(values);
  return place.data();
}

}  // namespace

DeviceMetric::DeviceMetric(const Metric& metric, std::size_t elements) : elements_(elements) { send(metric); }

DeviceMetric::DeviceMetric(const AnyMetric& metric, std::size_t elements) : elements_(elements) {
  std::visit(
      [&](const auto& kind) {
        if constexpr (std::is_same_v<decltype(kind), const std::shared_ptr<const Metric>&>) send(*kind);
        else copy(kind);
      },
      static_cast<const AnyMetric::variant&>(metric));
}

void DeviceMetric::send(const Metric& metric) {
  check_metric_form(metric, elements_, Subject::metric);
  view_.kind = static_cast<int>(metric.kind().index());
  if (const auto* uniform = std::get_if<UniformMetric>(&metric.kind())) view_.uniform = uniform->tensor;
  if (const auto* speeds = std::get_if<SpeedMetric>(&metric.kind())) view_.speed = sent(speed_, speeds->speed);
  if (const auto* tensors = std::get_if<TensorMetric>(&metric.kind())) view_.tensor = sent(tensor_, tensors->tensor);
  if (const auto* fibers = std::get_if<FiberMetric>(&metric.kind())) {
    view_.fiber = sent(fiber_, fibers->fiber);
    view_.sheet = sent(sheet_, fibers->sheet);
    view_.region = sent(region_, fibers->region);
    set_velocities(fibers->velocities);
  }
}

void DeviceMetric::copy(const DeviceSpeed& metric) {
  check_columns(metric.speed, 1, "the speed");
  check_rows(metric.speed);
  speed_ = copied<double>(metric.speed, alone);
  view_.kind = 1;
  view_.speed = speed_.data();
}

void DeviceMetric::copy(const DeviceTensor& metric) {
  const bool whole = metric.tensor.columns == 9;
  if (!whole) check_columns(metric.tensor, 6, Subject::metric);
  check_rows(metric.tensor);
  tensor_ = copied<SymTensor3f>(metric.tensor, whole ? std::span<const int>(upper_triangle) : six);
  view_.kind = 2;
  view_.tensor = tensor_.data();
}

void DeviceMetric::copy(const DeviceFiber& metric) {
  check_columns(metric.fiber, 3, "the fibre");
  check_rows(metric.fiber);
  const bool sheets = metric.sheet.rows() > 0;
  if (sheets) {
    check_columns(metric.sheet, 3, "the sheet");
    check_rows(metric.sheet);
  }
  FiberMetric form;  // velocities are checked as on the host
  form.velocities = {metric.velocities};
  check_metric_form(Metric(form), 0, Subject::metric);
  fiber_ = copied<Vec3f>(metric.fiber, three);
  if (sheets) sheet_ = copied<Vec3f>(metric.sheet, three);
  view_.kind = 3;
  view_.fiber = fiber_.data();
  view_.sheet = sheet_.data();
  set_velocities(form.velocities);
}

void DeviceMetric::check_rows(const DeviceTable& table) const {
  if (table.rows() != elements_)
    throw InputError(Subject::metric +
                     Message(fmt::format(" does not fit the mesh (values: {}, elements: {}); give one per element",
                                         table.rows(), elements_)));
}

void DeviceMetric::set_velocities(const std::vector<Velocities>& velocities) {
  rows_ = velocities;
  view_.velocities = sent(velocities_, rows_);
}

Metric DeviceMetric::fetch() const {
  switch (view_.kind) {
    case 0: return Metric(UniformMetric{view_.uniform});
    case 1: return Metric(SpeedMetric{fetch_all(speed_)});
    case 2: return Metric(TensorMetric{fetch_all(tensor_)});
    default: return Metric(FiberMetric{fetch_all(fiber_), fetch_all(sheet_), fetch_all(region_), rows_});
  }
}

Metric DeviceMetric::fetch(std::span<const std::uint32_t> elements) const {
  switch (view_.kind) {
    case 0: return Metric(UniformMetric{view_.uniform});
    case 1: return Metric(SpeedMetric{fetch_some(speed_.data(), elements)});
    case 2: return Metric(TensorMetric{fetch_some(tensor_.data(), elements)});
    default: break;
  }
  FiberMetric fibers;
  fibers.velocities = rows_;
  fibers.fiber = fetch_some(fiber_.data(), elements);
  if (sheet_.size() > 0) fibers.sheet = fetch_some(sheet_.data(), elements);
  if (region_.size() > 0) {
    const std::vector<std::uint16_t> all = fetch_all(region_);  // of two bytes, which are not fetched one by one
    for (const std::uint32_t e : elements) fibers.region.push_back(all[e]);
  }
  return Metric(fibers);
}

}  // namespace isochron::cuda
