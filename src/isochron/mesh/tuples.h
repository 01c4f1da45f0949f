// Picking tuples out of named arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
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

/// The values of an array of whole numbers; those of others are cut.
inline std::vector<std::int64_t> whole_numbers(const DataArray& array) {
  return std::visit([](const auto& values) { return std::vector<std::int64_t>(values.begin(), values.end()); },
                    array.values);
}

}  // namespace isochron
