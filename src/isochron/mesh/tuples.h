// Picking tuples out of named arrays.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

#include "isochron/dataset.h"

namespace isochron {

/// The array with these tuples only, in this order.
template <class Index>
DataArray chosen_tuples(const DataArray& array, const std::vector<Index>& tuples) {
  DataArray result{array.name, array.components, {}};
  const auto step = static_cast<std::size_t>(array.components);
  std::visit(
      [&](const auto& all) {
        std::decay_t<decltype(all)> values;
        values.reserve(tuples.size() * step);
        for (const Index tuple : tuples) {
          const auto begin = all.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(tuple) * step);
          values.insert(values.end(), begin, begin + static_cast<std::ptrdiff_t>(step));
        }
        result.values = std::move(values);
      },
      array.values);
  return result;
}

/// The values of an array of whole numbers; those of others are cut, and what is too large or no number is the least.
inline std::vector<std::int64_t> whole_numbers(const DataArray& array) {
  const auto whole = [](auto value) {
    if constexpr (std::is_floating_point_v<decltype(value)>) {
      constexpr double limit = 0x1p63;
      if (!(value >= -limit && value < limit)) return std::numeric_limits<std::int64_t>::min();
    }
    return static_cast<std::int64_t>(value);
  };
  return std::visit(
      [&](const auto& values) {
        std::vector<std::int64_t> result(values.size());
        std::transform(values.begin(), values.end(), result.begin(), whole);
        return result;
      },
      array.values);
}

}  // namespace isochron
