// Typed indices, so that a vertex is never mistaken for an element, nor its number in a part for that in the whole.
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

/// The number of a vertex or voxel in the whole domain, as the user counts. A domain in parts may have more of them
/// than a `VertexId` can number.
struct GlobalVertexId {
  std::uint64_t value = invalid_value;

  static constexpr std::uint64_t invalid_value = std::numeric_limits<std::uint64_t>::max();

  constexpr GlobalVertexId() = default;
  constexpr explicit GlobalVertexId(std::uint64_t number) : value(number) {}
  /// Of a vertex of a whole mesh or image.
  constexpr GlobalVertexId(VertexId vertex)  // NOLINT(google-explicit-constructor)
      : value(vertex.valid() ? vertex.value : invalid_value) {}

  [[nodiscard]] constexpr bool valid() const { return value != invalid_value; }
  [[nodiscard]] constexpr std::size_t index() const { return static_cast<std::size_t>(value); }
  /// The vertex of a mesh or image that is whole.
  [[nodiscard]] constexpr VertexId in_whole() const { return VertexId(index()); }
  friend constexpr auto operator<=>(GlobalVertexId, GlobalVertexId) = default;
};

}  // namespace isochron

template <class Tag>
struct std::hash<isochron::Id<Tag>> {
  std::size_t operator()(isochron::Id<Tag> id) const noexcept { return id.value; }
};
