#include "apps/viewer/server/wire.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace isochron::viewer {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are sent as they lie in memory");

constexpr std::size_t alignment = 8;

constexpr std::size_t aligned(std::size_t size) { return (size + alignment - 1) / alignment * alignment; }

std::size_t count_of(const Pack::Shape& shape) {
  std::size_t count = 1;
  for (const std::size_t n : shape) count *= n;
  return count;
}

template <class T>
std::span<T> as_span(std::byte* place, std::size_t count) {
  return {reinterpret_cast<T*>(place), count};  // NOLINT: the payload is aligned to 8 bytes
}

}  // namespace

std::byte* Pack::add(std::string_view name, std::string_view type, std::size_t size, Shape shape,
                     std::string_view units) {
  const std::size_t offset = payload_.size();
  payload_.resize(offset + aligned(count_of(shape) * size));
  Json described{{"dtype", type}, {"shape", std::move(shape)}, {"offset", offset}};
  if (!units.empty()) described["units"] = units;
  arrays_[std::string(name)] = std::move(described);
  return payload_.data() + offset;
}

std::span<float> Pack::floats(std::string_view name, Shape shape, std::string_view units) {
  const std::size_t count = count_of(shape);
  return as_span<float>(add(name, "float32", sizeof(float), std::move(shape), units), count);
}

std::span<std::uint32_t> Pack::integers(std::string_view name, Shape shape) {
  const std::size_t count = count_of(shape);
  return as_span<std::uint32_t>(add(name, "uint32", sizeof(std::uint32_t), std::move(shape), {}), count);
}

std::span<std::uint8_t> Pack::bytes(std::string_view name, Shape shape) {
  const std::size_t count = count_of(shape);
  return as_span<std::uint8_t>(add(name, "uint8", sizeof(std::uint8_t), std::move(shape), {}), count);
}

void Pack::add_points(std::string_view name, std::span<const Vec3d> points, std::string_view units) {
  const std::span<float> place = floats(name, {points.size(), 3}, units);
  for (std::size_t i = 0; i < points.size(); ++i)
    for (int k = 0; k < 3; ++k) place[3 * i + static_cast<std::size_t>(k)] = static_cast<float>(points[i][k]);
}

void Pack::add_values(std::string_view name, std::span<const double> values, std::string_view units) {
  const std::span<float> place = floats(name, {values.size()}, units);
  std::transform(values.begin(), values.end(), place.begin(), [](double v) { return static_cast<float>(v); });
}

void Pack::add_integers(std::string_view name, std::span<const std::uint32_t> values) {
  std::copy(values.begin(), values.end(), integers(name, {values.size()}).begin());
}

std::string Pack::packed() const {
  constexpr std::string_view magic = "ISO1";
  std::string header = text_of(Json{{"meta", meta}, {"arrays", arrays_}});
  const std::size_t before = magic.size() + sizeof(std::uint32_t);
  header.resize(aligned(before + header.size()) - before, ' ');
  const auto length = static_cast<std::uint32_t>(header.size());
  std::string result;
  result.reserve(before + header.size() + payload_.size());
  result.append(magic);
  result.append(reinterpret_cast<const char*>(&length), sizeof(length));  // NOLINT: bytes of a number
  result.append(header);
  result.append(reinterpret_cast<const char*>(payload_.data()), payload_.size());  // NOLINT: bytes of numbers
  return result;
}

Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace isochron::viewer
