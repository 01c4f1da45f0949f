// Meshes and images that are partitioned over ranks.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "isochron/communicator.h"
#include "isochron/dataset.h"
#include "isochron/image.h"
#include "isochron/mesh.h"
#include "isochron/partition.h"

namespace isochron {

// ---- One part of a mesh: the vertices that a rank owns, and its halo.

/// A mesh is cut by its vertices: each belongs to one part, its owner. A part holds every element that touches one of
/// its vertices, so that all that updates an owned vertex is there; the other vertices of those elements are its
/// ghosts. An element is kept by several parts and counted by one, the owner of its corner with the lowest global id.
template <int Corners>
struct MeshPart {
  SimplexMesh<Corners> mesh;                  ///< owned vertices first, then ghosts, each by ascending global id
  std::size_t owned = 0;                      ///< vertices that this part owns
  std::vector<std::uint64_t> global_vertex;   ///< id in the whole mesh of each vertex
  std::vector<std::uint64_t> global_element;  ///< id in the whole mesh of each element, ascending
  std::vector<std::uint32_t> ghost_owner;     ///< part of vertex `owned + i`
  std::uint64_t whole_vertices = 0;           ///< of the whole mesh
  std::uint64_t whole_elements = 0;

  [[nodiscard]] bool owns(VertexId v) const { return v.index() < owned; }
  /// True for the one part that counts and writes the element.
  [[nodiscard]] bool counts(ElementId e) const;
  /// The vertex of a global id; invalid when it is not here. Takes logarithmic time.
  [[nodiscard]] VertexId local_vertex(std::uint64_t global) const;
};

/// With the named arrays on it.
template <int Corners>
struct PartData {
  MeshPart<Corners> part;
  DataArrays point_data;  ///< one tuple for each vertex, ghosts too
  DataArrays cell_data;   ///< one tuple for each element
};

/// What of some elements and their vertices goes to which of several parts.
struct PartTargets {
  std::vector<std::vector<std::uint32_t>> owned;     ///< vertices by part, ascending
  std::vector<std::vector<std::uint32_t>> ghosts;    ///< likewise, each once
  std::vector<std::vector<std::uint32_t>> elements;  ///< likewise
};

/// One pass over the elements, on several threads. `part_of` names the part of every vertex.
template <int Corners>
PartTargets part_targets(std::span<const std::array<VertexId, Corners>> elements,
                         std::span<const std::uint32_t> part_of, std::size_t parts, int threads);

/// Cuts a mesh into parts, each in time and memory of its own size.
template <int Corners>
class PartCutter {
 public:
  /// Keeps a reference to the mesh. `part_of` names the part of every vertex, from 0 to `parts` − 1.
  PartCutter(const SimplexMesh<Corners>& mesh, std::vector<std::uint32_t> part_of, std::size_t parts, int threads = 1);

  /// By several threads at a time, too.
  [[nodiscard]] MeshPart<Corners> cut(std::uint32_t part) const;
  [[nodiscard]] const std::vector<std::uint32_t>& part_of() const { return part_of_; }

 private:
  const SimplexMesh<Corners>& mesh_;
  std::vector<std::uint32_t> part_of_;
  PartTargets targets_;
};

/// One part of a mesh whose vertices belong to the parts named by `part_of`, one for each vertex.
template <int Corners>
MeshPart<Corners> cut_part(const SimplexMesh<Corners>& mesh, std::span<const std::uint32_t> part_of,
                           std::uint32_t part);

/// An element as all parts know it.
template <int Corners>
struct GlobalElement {
  std::uint64_t id = 0;
  std::array<std::uint64_t, Corners> corners{};
  friend bool operator<(const GlobalElement& a, const GlobalElement& b) { return a.id < b.id; }
  friend bool operator==(const GlobalElement& a, const GlobalElement& b) { return a.id == b.id; }
};

/// Local ids have 32 bits, and lists of elements at vertices must be able to count them. Throws UsageError.
void check_part_size(std::uint64_t vertices);

/// The part that owns the vertices `owned`, from all elements that touch them (any order, repeated ones too).
/// `owner_of(id)` names the part of any other vertex. The points are left for the caller: there is room for them.
template <int Corners, class OwnerOf>
MeshPart<Corners> assemble_part(std::vector<GlobalElement<Corners>> elements, std::vector<std::uint64_t> owned,
                                OwnerOf&& owner_of) {
  std::sort(elements.begin(), elements.end());
  elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
  std::sort(owned.begin(), owned.end());
  MeshPart<Corners> part;
  part.owned = owned.size();
  part.global_vertex = std::move(owned);
  auto& ids = part.global_vertex;
  const auto owns = [&](std::uint64_t id) {
    return std::binary_search(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(part.owned), id);
  };
  std::vector<std::uint64_t> ghosts;
  for (const auto& element : elements)
    for (const std::uint64_t id : element.corners)
      if (!owns(id)) ghosts.push_back(id);
  std::sort(ghosts.begin(), ghosts.end());
  ghosts.erase(std::unique(ghosts.begin(), ghosts.end()), ghosts.end());
  for (const std::uint64_t id : ghosts) part.ghost_owner.push_back(owner_of(id));
  ids.insert(ids.end(), ghosts.begin(), ghosts.end());
  part.mesh.points.resize(ids.size());

  part.global_element.reserve(elements.size());
  part.mesh.elements.reserve(elements.size());
  for (const auto& element : elements) {
    typename SimplexMesh<Corners>::Element local;
    for (int k = 0; k < Corners; ++k) local[k] = part.local_vertex(element.corners[k]);
    part.global_element.push_back(element.id);
    part.mesh.elements.push_back(local);
  }
  return part;
}

/// Where a part has a vertex of the whole; none when it does not own it.
template <int Corners>
std::optional<std::size_t> owned_place(const MeshPart<Corners>& part, std::uint64_t global) {
  const auto end = part.global_vertex.begin() + static_cast<std::ptrdiff_t>(part.owned);
  const auto found = std::lower_bound(part.global_vertex.begin(), end, global);
  if (found == end || *found != global) return std::nullopt;
  return static_cast<std::size_t>(found - part.global_vertex.begin());
}

/// All ranks together, each with the part of its number: throws InputError on all of them unless the parts are
/// parts of one mesh: every ghost is a vertex of the part that is said to own it, at the same place, and all vertices
/// and elements of the whole mesh are there once.
template <int Corners>
void check_parts(Communicator& communicator, const MeshPart<Corners>& part);

// ---- Meshes that come to the ranks in pieces, cut in whatever way: numbering them, and partitioning them anew.

/// Some elements of a mesh and their vertices. Each element of the mesh is in one piece; vertices may be in several.
template <int Corners>
struct MeshPiece {
  SimplexMesh<Corners> mesh;
  DataArrays point_data, cell_data;
  std::vector<std::uint64_t> global_vertex;   ///< empty: not numbered yet
  std::vector<std::uint64_t> global_element;  ///< likewise
  std::vector<VertexId> border;     ///< where other pieces may meet it, ascending; empty: see `border_vertices`
  std::vector<std::uint8_t> ghost;  ///< by vertex: another piece has it too, and the values that count; empty: none
};

/// Numbers the vertices of pieces that say nothing about ids: piece by piece, those of a lower rank first, vertices
/// at the same place on borders being one (see `match_borders`). These are the numbers that reading all pieces on one
/// process gives. Every rank hands in its own pieces, in order; it may have none.
template <int Corners>
void number_vertices(Communicator& communicator, std::span<MeshPiece<Corners>> pieces);
/// The same for the elements.
template <int Corners>
void number_elements(Communicator& communicator, std::span<MeshPiece<Corners>> pieces);

/// Sends every vertex to the rank that owns it, with all elements that touch it, and their arrays. `owner[i]` names
/// the rank of each vertex of the i-th piece; all pieces must agree on it, and on the arrays. Throws InputError on
/// every rank when pieces disagree, or
/// when the ids are not 0 to one less than there are vertices or elements.
template <int Corners>
PartData<Corners> redistribute(Communicator& communicator, std::span<const MeshPiece<Corners>> pieces,
                               std::span<const std::vector<std::uint32_t>> owner);

/// Partitions numbered pieces by a Hilbert curve through the vertices: it is cut into intervals, of which ranks get
/// `blocks_per_part` each, in turn.
template <int Corners>
PartData<Corners> repartition(Communicator& communicator, std::span<const MeshPiece<Corners>> pieces,
                              std::uint32_t blocks_per_part = 1);

// ---- An image that is partitioned over ranks by boxes.

/// One rank's box of an image.
struct ImagePart {
  ImageGrid whole;
  std::vector<IndexBox> boxes;  ///< of all ranks; they cover the image once, and those of the last may be empty
  Image image;                  ///< this rank's box as an image of its own
};

/// Boxes of about the same size. An image that is not flat has none with one slice, which would be taken for flat.
std::vector<IndexBox> partition_boxes(const ImageGrid& whole, std::size_t ranks);

/// All voxels, and the voxels of a box as an image of their own.
IndexBox whole_box(const ImageGrid& grid);
ImageGrid grid_of_box(const ImageGrid& whole, const IndexBox& box);

/// Copies the tuples of a region, which lies in both boxes.
template <class From, class To>
void copy_region(const From* from, const IndexBox& from_box, To* to, const IndexBox& to_box, const IndexBox& region,
                 std::size_t components = 1) {
  for_each_row(region, [&](const LatticeIndex& first, std::uint64_t length) {
    std::copy_n(from + from_box.offset(first) * components, length * components,
                to + to_box.offset(first) * components);
  });
}

/// Values on a box of an image.
struct BoxData {
  IndexBox box;
  DataArrays data;
};

/// All ranks together: what rank `root` knows of an image, without the values of its arrays.
Image broadcast_header(Communicator& communicator, std::size_t root, const Image& own);

struct MovedBoxes {
  DataArrays data;
  std::uint64_t missing = 0;  ///< voxels of the wanted box that were in no box; their values are 0
};
/// All ranks together: the values on the box that each of them wants. All boxes have the arrays of `kinds`, in that
/// order. Where boxes overlap, the last one of the last rank counts.
MovedBoxes move_boxes(Communicator& communicator, std::vector<BoxData> own, std::span<const IndexBox> wanted,
                      const DataArrays& kinds);

/// All ranks together: sends each rank its box of the image of rank 0; the others give none.
ImagePart scatter_image(Communicator& communicator, Image&& whole);

/// One part of an image, without arrays. Throws UsageError unless the part is one of the parts.
ImagePart empty_image_part(const ImageGrid& whole, const PartChoice& choice);

/// Calls `body(v, i, j, k)` for the part's voxels in their order: the number in its box, and the indices in the whole
/// image. Values that are made from the latter are the same whatever the parts.
template <class Body>
void for_own_voxels(const ImagePart& part, const PartChoice& choice, Body&& body) {
  std::size_t v = 0;
  for_each_index(part.boxes[choice.part], [&](const LatticeIndex& at) {
    body(v++, static_cast<std::uint32_t>(at[0]), static_cast<std::uint32_t>(at[1]), static_cast<std::uint32_t>(at[2]));
  });
}

// ---- Why vertices and voxels have no time: a part without a source, or no element at all.

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
