// Typed 32-bit indices, so that a vertex is never mistaken for an element.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace isochron {

/// A 0-based index into one kind of array. `Tag` only separates the kinds.
template <class Tag>
struct Id {
  using value_type = std::uint32_t;
  value_type value = invalid_value;

  static constexpr value_type invalid_value = std::numeric_limits<value_type>::max();

  constexpr Id() = default;
  constexpr explicit Id(std::size_t index) : value(static_cast<value_type>(index)) {}

  [[nodiscard]] constexpr bool valid() const { return value != invalid_value; }
  [[nodiscard]] constexpr std::size_t index() const { return value; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

struct VertexTag {};
struct ElementTag {};
using VertexId = Id<VertexTag>;
using ElementId = Id<ElementTag>;

}  // namespace isochron

template <class Tag>
struct std::hash<isochron::Id<Tag>> {
  std::size_t operator()(isochron::Id<Tag> id) const noexcept { return id.value; }
};
