// Where the fields of NIfTI headers are, and the numbers in them. https://nifti.nimh.nih.gov
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "isochron/io/scalar_type.h"

namespace isochron::nifti {

/// Version 1: `Dim` and `Code` are 16-bit, `Real` is float.
struct Version1 {
  using Dim = std::int16_t;
  using Real = float;
  using Offset = float;
  using Code = std::int16_t;
  using Units = std::uint8_t;
  static constexpr std::int32_t size = 348;
  static constexpr std::size_t magic = 344, datatype = 70, bitpix = 72, dim = 40, intent_p1 = 56, intent_code = 68,
                               intent_name = 328, pixdim = 76, vox_offset = 108, slope = 112, intercept = 116,
                               units = 123, qform = 252, sform = 254, quaternion = 256, qoffset = 268, srow = 280;
};

/// Version 2: everything wider.
struct Version2 {
  using Dim = std::int64_t;
  using Real = double;
  using Offset = std::int64_t;
  using Code = std::int32_t;
  using Units = std::int32_t;
  static constexpr std::int32_t size = 540;
  static constexpr std::size_t magic = 4, datatype = 12, bitpix = 14, dim = 16, intent_p1 = 80, intent_code = 504,
                               intent_name = 508, pixdim = 104, vox_offset = 168, slope = 176, intercept = 184,
                               units = 500, qform = 344, sform = 348, quaternion = 352, qoffset = 376, srow = 400;
};

constexpr std::size_t intent_name_size = 16;
constexpr int intent_matrix = 1004, intent_symmetric_matrix = 1005;
constexpr int unit_metre = 1, unit_mm = 2, unit_micron = 3, space_unit_bits = 7;
constexpr int rgb24 = 128, rgba32 = 2304;

constexpr std::array<std::pair<int, ScalarType>, 10> datatypes{{{2, ScalarType::uint8},
                                                                {4, ScalarType::int16},
                                                                {8, ScalarType::int32},
                                                                {16, ScalarType::float32},
                                                                {64, ScalarType::float64},
                                                                {256, ScalarType::int8},
                                                                {512, ScalarType::uint16},
                                                                {768, ScalarType::uint32},
                                                                {1024, ScalarType::int64},
                                                                {1280, ScalarType::uint64}}};

}  // namespace isochron::nifti
