// Random problems that are hard for a solver: bad meshes and images, extreme metrics, sources of all kinds.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "isochron/image.h"
#include "isochron/mesh.h"
#include "isochron/metric.h"
#include "isochron/options.h"
#include "isochron/sources.h"

namespace isochron::test {

struct MaskedImage {
  ImageGrid grid;
  std::vector<std::uint8_t> mask;  ///< empty: everywhere
};

/// One problem. The same seed and index give the same one on every platform.
struct Case {
  std::uint64_t seed = 0, index = 0;
  std::variant<TriangleMesh, TetMesh, MaskedImage> shape;
  Metric metric;
  Sources sources;
  SourceInit source_init = SourceInit::plain;
  ObtuseSplit obtuse = ObtuseSplit::none;    ///< of meshes
  GridScheme scheme = GridScheme::adaptive;  ///< of images
  int order = 1;                             ///< of images
  std::string kind;                          ///< "triangles", "tetrahedra", "image"
  std::vector<std::string> features;         ///< what was done to it: "grid", "needles", "slow elements", …

  [[nodiscard]] std::size_t vertex_count() const;
  [[nodiscard]] std::string description() const;  ///< in one line
};

Case make_case(std::uint64_t seed, std::uint64_t index);

}  // namespace isochron::test
