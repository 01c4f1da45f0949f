// What readers and writers of PLY files share.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "isochron/io/values.h"

namespace isochron {

/// The comment of a file that says which properties are an array.
inline constexpr std::string_view array_marker = "array";

// Arrays that the format has property names for.
using PlyGroup = std::pair<std::string, std::vector<std::string>>;
inline const std::vector<PlyGroup>& known_groups() {
  static const std::vector<PlyGroup> groups{{"Normals", {"nx", "ny", "nz"}},
                                            {"RGBA", {"red", "green", "blue", "alpha"}},
                                            {"RGB", {"red", "green", "blue"}},
                                            {"TCoords", {"s", "t"}},
                                            {"TCoords", {"u", "v"}}};
  return groups;
}

inline constexpr TypeNames ply_types[] = {
    {ScalarType::int8, "char|int8"},        {ScalarType::uint8, "uchar|uint8"},     {ScalarType::int16, "short|int16"},
    {ScalarType::uint16, "ushort|uint16"},  {ScalarType::int32, "int|int32"},       {ScalarType::uint32, "uint|uint32"},
    {ScalarType::float32, "float|float32"}, {ScalarType::float64, "double|float64"}};

}  // namespace isochron
