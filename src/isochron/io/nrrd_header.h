// The text in front of NRRD images. https://teem.sourceforge.net/nrrd/format.html
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "isochron/io/byte_reader.h"
#include "isochron/io/scalar_type.h"
#include "isochron/mesh/tensor_frame.h"

namespace isochron {

enum class NrrdPacking { none, gzip };

/// The fields that matter here. Lists per axis are empty or have an entry for each axis, the fastest first. World
/// coordinates are RAS in mm already.
struct NrrdHeader {
  ScalarType type = ScalarType::float32;
  Encoding encoding = native_encoding;
  NrrdPacking packing = NrrdPacking::none;
  std::vector<std::int64_t> sizes;
  std::vector<std::string> kinds;  ///< lower case
  std::vector<double> spacings;
  std::vector<double> axis_mins;
  std::vector<std::optional<Vec3d>> directions;  ///< none for axes that are not in space
  std::optional<Vec3d> origin;
  /// From the frame of vectors and tensors to the world; without a measurement frame, from the file's space.
  FrameAxes frame;
  std::string content;
  std::string data_file;  ///< empty: behind the header
  std::int64_t line_skip = 0;
  std::int64_t byte_skip = 0;  ///< −1: the values are the file's last bytes
};

/// Reads up to the empty line or the end of the file. Throws InputError.
NrrdHeader read_nrrd_header(ByteReader& reader);

}  // namespace isochron
