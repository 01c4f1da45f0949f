// The packed answer: a JSON header and raw little-endian arrays behind it, which a browser reads without parsing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "isochron/types.h"

namespace isochron::viewer {

using Json = nlohmann::ordered_json;  ///< keys stay in the order they are added

/// Arrays and what is to be said about them. The bytes are "ISO1", the length of the header (uint32), the header (JSON,
/// padded with spaces so that the arrays begin at a multiple of 8), then the arrays, each at a multiple of 8.
class Pack {
 public:
  Json meta = Json::object();

  using Shape = std::vector<std::size_t>;
  /// Add an array of this shape and give the place to write its values to, which is valid until the next array is
  /// added.
  std::span<float> floats(std::string_view name, Shape shape, std::string_view units = {});
  std::span<std::uint32_t> integers(std::string_view name, Shape shape);
  std::span<std::uint8_t> bytes(std::string_view name, Shape shape);

  /// The same with the values: n×3 floats, one float or one integer each.
  void add_points(std::string_view name, std::span<const Vec3d> points, std::string_view units = {});
  void add_values(std::string_view name, std::span<const double> values, std::string_view units = {});
  void add_integers(std::string_view name, std::span<const std::uint32_t> values);

  /// Everything, ready to be sent.
  [[nodiscard]] std::string packed() const;

  static constexpr std::string_view content_type = "application/x-isochron-pack";

 private:
  std::byte* add(std::string_view name, std::string_view type, std::size_t size, Shape shape, std::string_view units);

  Json arrays_ = Json::object();
  std::vector<std::byte> payload_;
};

/// A number, or null when it is not finite (JSON has no infinity).
Json finite_or_null(double value);

/// JSON as text. Bytes of names that are not UTF-8 are replaced.
std::string text_of(const Json& json);

}  // namespace isochron::viewer
