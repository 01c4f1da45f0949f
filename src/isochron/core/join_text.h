// Lists in messages and reports.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace isochron {

/// The fewest digits that mean this number and no other.
std::string shortest_text(double number);

/// Texts, integers or doubles one after another, with `between` between two.
template <class Values>
std::string join_text(const Values& values, std::string_view between) {
  std::string text;
  bool first = true;
  for (const auto& value : values) {
    using Value = std::decay_t<decltype(value)>;
    if (!std::exchange(first, false)) text += between;
    if constexpr (std::is_convertible_v<const Value&, std::string_view>) {
      text += std::string_view(value);
    } else if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool> && !std::is_same_v<Value, char>) {
      text += std::to_string(value);
    } else {
      static_assert(std::is_same_v<Value, double>);
      text += shortest_text(value);
    }
  }
  return text;
}

}  // namespace isochron
