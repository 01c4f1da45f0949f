// Why vertices and voxels have no time: a part without a source, or no element at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isochron/dist/image_part.h"
#include "isochron/dist/mesh_part.h"
#include "isochron/mesh/image.h"
#include "isochron/mesh/simplex_mesh.h"

namespace isochron {

struct Unreached {
  std::size_t parts = 0;       ///< pieces of the mesh or image in which nothing was reached
  std::size_t in_parts = 0;    ///< their vertices
  std::size_t no_element = 0;  ///< points that are no corner of an element, voxels outside the mask
};

template <int Corners>
Unreached explain_unreached(const SimplexMesh<Corners>& mesh, const std::vector<double>& times);
/// The same of voxels: outside the mask (empty: none is), or in parts without a source, joined through faces.
Unreached unreached_voxels(const ImageGrid& grid, std::span<const std::uint8_t> mask, std::span<const double> times);

/// All ranks together: why vertices have no time, on the first rank. `times` has those of ghosts too.
template <int Corners>
Unreached explain_unreached(Communicator& communicator, const MeshPart<Corners>& part, std::span<const double> times);
/// The same of voxels, which are in parts where faces join them. `times` are those of the rank's box.
Unreached explain_unreached(Communicator& communicator, const ImagePart& part, std::span<const std::uint8_t> allowed,
                            std::span<const double> times);

}  // namespace isochron
