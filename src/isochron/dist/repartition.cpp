#include "isochron/dist/curve_partition.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <limits>
#include <numeric>
#include <string>

#include <fmt/format.h>

#include "isochron/comm/collectives.h"
#include "isochron/core/random.h"
#include "isochron/dist/piece_border.h"
#include "isochron/error.h"
#include "isochron/mesh/ordering.h"
#include "isochron/mesh/tuples.h"

namespace isochron {
namespace {

/// The rank that compares the vertices at a place. Adding 0 makes one zero of both.
std::size_t keeper_of(const Vec3d& at, std::size_t ranks) {
  std::uint64_t mixed = 0;
  for (int d = 0; d < 3; ++d) mixed = Random(mixed ^ std::bit_cast<std::uint64_t>(at[d] + 0.0)).bits();
  return mixed % ranks;
}

void put_arrays(Bytes& bytes, const DataArrays& arrays) {
  put<std::uint64_t>(bytes, arrays.all().size());
  for (const DataArray& array : arrays.all()) {
    put_vector(bytes, array.name);
    put(bytes, array.components);
    put<std::uint64_t>(bytes, array.values.index());
    std::visit([&](const auto& values) { put_vector(bytes, values); }, array.values);
  }
}

template <std::size_t Kind = 0>
DataArray::Values take_values(Unpack& unpack, std::uint64_t kind) {
  if constexpr (Kind + 1 < std::variant_size_v<DataArray::Values>)
    if (kind != Kind) return take_values<Kind + 1>(unpack, kind);
  using List = std::variant_alternative_t<Kind, DataArray::Values>;
  return unpack.take_vector<typename List::value_type>();
}

DataArrays take_arrays(Unpack& unpack) {
  DataArrays result;
  for (auto left = unpack.take<std::uint64_t>(); left > 0; --left) {
    const std::vector<char> name = unpack.take_vector<char>();
    const int components = unpack.take<int>();
    result.set({{name.begin(), name.end()}, components, take_values(unpack, unpack.take<std::uint64_t>())});
  }
  return result;
}

/// Appends arrays that must be of the same kind; the first ones settle which.
void append_arrays(DataArrays& to, DataArrays&& more) {
  if (to.empty()) {
    to = std::move(more);
    return;
  }
  for (DataArray& array : to.all()) {
    const DataArray* other = more.find(array.name);
    if (other == nullptr || other->components != array.components || other->values.index() != array.values.index())
      throw InputError(
          fmt::format("array '{}' is not the same in all pieces (in some it is missing or of another kind); "
                      "write the pieces again",
                      array.name));
    std::visit(
        [&](auto& values) {
          const auto& tail = std::get<std::decay_t<decltype(values)>>(other->values);
          values.insert(values.end(), tail.begin(), tail.end());
        },
        array.values);
  }
}

struct SentVertex {
  std::uint64_t id;
  Vec3d at;
  std::uint32_t owner;
  std::uint32_t ghost;
};

/// Everything one process has for another.
template <int Corners>
struct Parcel {
  std::vector<SentVertex> vertices;
  std::vector<GlobalElement<Corners>> elements;
  DataArrays point_data, cell_data;
};

template <int Corners>
Bytes packed(const MeshPiece<Corners>& piece, const std::vector<std::uint32_t>& owner,
             const std::vector<std::uint32_t>& vertices, const std::vector<std::uint32_t>& elements) {
  Parcel<Corners> parcel;
  for (const std::uint32_t v : vertices)
    parcel.vertices.push_back(
        {piece.global_vertex[v], piece.mesh.points[v], owner[v], piece.ghost.empty() ? 0U : piece.ghost[v]});
  for (const std::uint32_t e : elements) {
    GlobalElement<Corners> sent{piece.global_element[e], {}};
    for (int k = 0; k < Corners; ++k) sent.corners[k] = piece.global_vertex[piece.mesh.elements[e][k].index()];
    parcel.elements.push_back(sent);
  }
  for (const DataArray& array : piece.point_data.all()) parcel.point_data.set(chosen_tuples(array, vertices));
  for (const DataArray& array : piece.cell_data.all()) parcel.cell_data.set(chosen_tuples(array, elements));
  Bytes bytes;
  put_vector(bytes, parcel.vertices);
  put_vector(bytes, parcel.elements);
  put_arrays(bytes, parcel.point_data);
  put_arrays(bytes, parcel.cell_data);
  return bytes;
}

/// Lets go of each message as soon as it is read.
template <int Corners>
Parcel<Corners> unpacked(std::vector<Bytes> messages) {
  Parcel<Corners> all;
  for (Bytes& message : messages) {
    for (Unpack unpack(message); unpack.left() > 0;) {
      const auto vertices = unpack.take_vector<SentVertex>();
      const auto elements = unpack.take_vector<GlobalElement<Corners>>();
      all.vertices.insert(all.vertices.end(), vertices.begin(), vertices.end());
      all.elements.insert(all.elements.end(), elements.begin(), elements.end());
      append_arrays(all.point_data, take_arrays(unpack));
      DataArrays cell_data = take_arrays(unpack);
      if (!elements.empty()) append_arrays(all.cell_data, std::move(cell_data));
    }
    message = {};
  }
  return all;
}

/// The places of a list in ascending order of what `id` says.
template <class Id>
std::vector<std::uint32_t> order_by(std::size_t count, Id&& id) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return id(a) < id(b); });
  return order;
}

/// The arrays with these tuples; lets go of each as soon as it is done.
DataArrays ordered(DataArrays arrays, const std::vector<std::uint32_t>& tuples) {
  DataArrays result;
  for (DataArray& array : arrays.all()) {
    result.set(chosen_tuples(array, tuples));
    array.values = {};
  }
  return result;
}

template <int Corners>
PartData<Corners> assembled(Parcel<Corners> all, std::uint32_t rank) {
  const std::vector<std::uint32_t> order = order_by(
      all.vertices.size(), [&](std::uint32_t i) { return std::pair(all.vertices[i].id, all.vertices[i].ghost); });
  std::vector<std::uint32_t> first;  // of each vertex
  std::vector<std::uint64_t> owned;
  for (const std::uint32_t i : order) {
    const SentVertex& vertex = all.vertices[i];
    if (!first.empty() && all.vertices[first.back()].id == vertex.id) {
      const SentVertex& other = all.vertices[first.back()];
      if (other.owner != vertex.owner || !same_place(other.at, vertex.at))
        throw InputError(
            fmt::format("vertex {} is at two places in different pieces (its id must mean one vertex); "
                        "write the pieces again",
                        vertex.id));
      continue;
    }
    first.push_back(i);
    if (vertex.owner == rank) owned.push_back(vertex.id);
  }
  const auto find = [&](std::uint64_t id) {
    return *std::lower_bound(first.begin(), first.end(), id,
                             [&](std::uint32_t i, std::uint64_t wanted) { return all.vertices[i].id < wanted; });
  };
  PartData<Corners> result;
  const std::vector<std::uint32_t> element_order =
      order_by(all.elements.size(), [&](std::uint32_t i) { return all.elements[i].id; });
  result.cell_data = ordered(std::move(all.cell_data), element_order);
  result.part = assemble_part(std::move(all.elements), std::move(owned),
                              [&](std::uint64_t id) { return all.vertices[find(id)].owner; });
  std::vector<std::uint32_t> from;
  for (const std::uint64_t id : result.part.global_vertex) from.push_back(find(id));
  for (std::size_t v = 0; v < from.size(); ++v) result.part.mesh.points[v] = all.vertices[from[v]].at;
  result.point_data = ordered(std::move(all.point_data), from);
  return result;
}

/// Ids that skip some, or mean two things far apart, show in the largest of them.
template <int Corners>
void check_ids(Communicator& communicator, std::span<const MeshPiece<Corners>> pieces, const MeshPart<Corners>& part) {
  std::array<double, 2> ends{0, 0};
  for (const auto& piece : pieces) {
    for (const std::uint64_t id : piece.global_vertex) ends[0] = std::max(ends[0], static_cast<double>(id) + 1);
    for (const std::uint64_t id : piece.global_element) ends[1] = std::max(ends[1], static_cast<double>(id) + 1);
  }
  max_over_ranks(communicator, ends);
  if (ends[0] != static_cast<double>(part.whole_vertices) || ends[1] != static_cast<double>(part.whole_elements))
    throw InputError(fmt::format(
        "the ids do not number the mesh from 0 (vertices: {}, largest id: {:.0f}; elements: {}, largest id: "
        "{:.0f}); write the pieces again",
        part.whole_vertices, ends[0] - 1, part.whole_elements, ends[1] - 1));
}

}  // namespace

template <int Corners>
void number_elements(Communicator& communicator, std::span<MeshPiece<Corners>> pieces) {
  std::uint64_t elements = 0;
  for (const auto& piece : pieces) elements += piece.mesh.element_count();
  std::uint64_t next = sum_before(communicator, elements);
  for (auto& piece : pieces) {
    piece.global_element.resize(piece.mesh.element_count());
    for (std::uint64_t& id : piece.global_element) id = next++;
  }
}

template <int Corners>
void number_vertices(Communicator& communicator, std::span<MeshPiece<Corners>> pieces) {
  const std::size_t ranks = communicator.ranks();
  const std::uint64_t first_piece = sum_before(communicator, pieces.size());
  struct Asked {
    std::size_t piece;
    VertexId vertex;
  };
  std::vector<std::vector<BorderVertex>> questions(ranks);
  std::vector<std::vector<Asked>> asked(ranks);
  for (std::size_t p = 0; p < pieces.size(); ++p)
    for (const VertexId v : pieces[p].border.empty() ? border_vertices(pieces[p].mesh) : pieces[p].border) {
      const Vec3d& at = pieces[p].mesh.point(v);
      const std::size_t keeper = keeper_of(at, ranks);
      questions[keeper].push_back({at, static_cast<std::uint32_t>(first_piece + p), v.index()});
      asked[keeper].push_back({p, v});
    }
  const auto received = exchange_values(communicator, questions);
  std::vector<BorderVertex> border;
  for (const auto& list : received) border.insert(border.end(), list.begin(), list.end());
  const std::vector<std::size_t> same = match_borders(border);

  // A vertex is counted where it comes first; the others learn its number from the rank that compared them.
  const auto answer = [&](auto&& value_of) {
    std::vector<std::vector<std::uint64_t>> answers(ranks);
    std::size_t at = 0;
    for (std::size_t r = 0; r < ranks; ++r)
      for (std::size_t i = 0; i < received[r].size(); ++i) answers[r].push_back(value_of(at++));
    return exchange_values(communicator, answers);
  };
  constexpr std::uint64_t elsewhere = ~std::uint64_t{0};
  const auto is_first = answer([&](std::size_t i) -> std::uint64_t { return same[i] == i ? 1 : 0; });
  for (auto& piece : pieces) piece.global_vertex.assign(piece.mesh.vertex_count(), 0);
  for (std::size_t r = 0; r < ranks; ++r)
    for (std::size_t i = 0; i < asked[r].size(); ++i)
      if (is_first[r][i] == 0) pieces[asked[r][i].piece].global_vertex[asked[r][i].vertex.index()] = elsewhere;
  std::uint64_t vertices = 0;
  for (const auto& piece : pieces)
    vertices += static_cast<std::uint64_t>(std::count(piece.global_vertex.begin(), piece.global_vertex.end(), 0U));
  std::uint64_t next_vertex = sum_before(communicator, vertices);
  for (auto& piece : pieces)
    for (std::uint64_t& id : piece.global_vertex)
      if (id != elsewhere) id = next_vertex++;
  std::vector<std::vector<std::uint64_t>> found_ids(ranks);
  for (std::size_t r = 0; r < ranks; ++r)
    for (const Asked& one : asked[r]) found_ids[r].push_back(pieces[one.piece].global_vertex[one.vertex.index()]);
  std::vector<std::uint64_t> ids;
  for (const auto& list : exchange_values(communicator, found_ids)) ids.insert(ids.end(), list.begin(), list.end());
  const auto learned = answer([&](std::size_t i) { return ids[same[i]]; });
  for (std::size_t r = 0; r < ranks; ++r)
    for (std::size_t i = 0; i < asked[r].size(); ++i)
      pieces[asked[r][i].piece].global_vertex[asked[r][i].vertex.index()] = learned[r][i];
}

template <int Corners>
PartData<Corners> redistribute(Communicator& communicator, std::span<const MeshPiece<Corners>> pieces,
                               std::span<const std::vector<std::uint32_t>> owner) {
  std::vector<Bytes> messages(communicator.ranks());
  std::uint64_t elements = 0;
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    elements += pieces[p].mesh.element_count();
    const PartTargets to = part_targets<Corners>(pieces[p].mesh.elements, owner[p], messages.size(), 1);
    for (std::size_t r = 0; r < messages.size(); ++r) {
      std::vector<std::uint32_t> vertices;
      std::merge(to.owned[r].begin(), to.owned[r].end(), to.ghosts[r].begin(), to.ghosts[r].end(),
                 std::back_inserter(vertices));
      if (vertices.empty()) continue;
      const Bytes more = packed(pieces[p], owner[p], vertices, to.elements[r]);
      messages[r].insert(messages[r].end(), more.begin(), more.end());
    }
  }
  std::vector<Bytes> received = all_to_all(communicator, std::move(messages));
  PartData<Corners> result;
  std::string problem;
  try {
    result = assembled(unpacked<Corners>(std::move(received)), static_cast<std::uint32_t>(communicator.index()));
  } catch (const InputError& error) {
    problem = error.what();
  }
  // All must learn of it, or the others would wait for this process.
  if (sum_of_all(communicator, problem.empty() ? 0 : 1) > 0)
    throw InputError(problem.empty() ? "the pieces contradict one another (other processes say how); write them again"
                                     : problem);
  result.part.whole_vertices = sum_of_all(communicator, result.part.owned);
  result.part.whole_elements = sum_of_all(communicator, elements);
  check_ids(communicator, pieces, result.part);
  return result;
}

template <int Corners>
PartData<Corners> repartition(Communicator& communicator, std::span<const MeshPiece<Corners>> pieces,
                              std::uint32_t blocks_per_part) {
  std::vector<Vec3d> points;
  for (const auto& piece : pieces) points.insert(points.end(), piece.mesh.points.begin(), piece.mesh.points.end());
  const CurveFrame frame = common_frame(communicator, points);
  const std::vector<std::uint64_t> keys = curve_keys(points, frame);
  const std::vector<std::uint64_t> splitters =
      curve_splitters(communicator, keys, frame, communicator.ranks() * blocks_per_part);
  std::vector<std::vector<std::uint32_t>> owner;
  std::size_t at = 0;
  for (const auto& piece : pieces) {
    std::vector<std::uint32_t>& own = owner.emplace_back(piece.mesh.vertex_count());
    for (std::uint32_t& rank : own)
      rank = static_cast<std::uint32_t>(interval_of_key(splitters, keys[at++]) % communicator.ranks());
  }
  return redistribute(communicator, pieces, owner);
}

CurveFrame common_frame(Communicator& communicator, std::span<const Vec3d> points) {
  constexpr double nothing = -std::numeric_limits<double>::infinity();
  std::array<double, 6> box;  // minus the low corner, and the high one
  box.fill(nothing);
  for (const Vec3d& p : points)
    for (int d = 0; d < 3; ++d) {
      box[d] = std::max(box[d], -p[d]);
      box[3 + d] = std::max(box[3 + d], p[d]);
    }
  max_over_ranks(communicator, box);
  if (box[0] == nothing) box.fill(0);
  const std::uint64_t count = std::max<std::uint64_t>(1, sum_of_all(communicator, points.size()));
  return curve_frame({-box[0], -box[1], -box[2]}, {box[3], box[4], box[5]}, count, CurveDetail::points);
}

std::vector<std::uint64_t> curve_keys(std::span<const Vec3d> points, const CurveFrame& frame) {
  static constexpr HilbertTable<2> flat;
  static constexpr HilbertTable<3> solid;
  std::vector<std::uint64_t> keys(points.size());
  for (std::size_t i = 0; i < points.size(); ++i)
    keys[i] = frame.dim == 2 ? frame.key(flat, points[i]) : frame.key(solid, points[i]);
  return keys;
}

std::vector<std::uint64_t> curve_splitters(Communicator& communicator, std::vector<std::uint64_t> keys,
                                           const CurveFrame& frame, std::size_t intervals) {
  std::sort(keys.begin(), keys.end());
  const std::uint64_t all = sum_of_all(communicator, keys.size());
  const std::uint64_t slack = all / intervals / 200;
  struct Search {
    std::uint64_t low, high;  // the splitter is above `low` and not above `high`
    std::uint64_t wanted;     // keys below it
  };
  std::vector<Search> searches;
  const std::uint64_t end = std::uint64_t{1} << (frame.bits * frame.dim);
  for (std::size_t i = 1; i < intervals; ++i) searches.push_back({0, end, i * all / intervals});
  std::vector<std::uint64_t> below(searches.size());
  for (bool open = !searches.empty(); open;) {
    const auto middle = [](const Search& s) { return s.low + (s.high - s.low) / 2; };
    for (std::size_t i = 0; i < searches.size(); ++i)
      below[i] =
          static_cast<std::uint64_t>(std::lower_bound(keys.begin(), keys.end(), middle(searches[i])) - keys.begin());
    sum_over_ranks(communicator, below);
    open = false;  // all ranks see the same numbers, so they end together
    for (std::size_t i = 0; i < searches.size(); ++i) {
      Search& s = searches[i];
      if (s.high - s.low <= 1) continue;
      const std::uint64_t gap = below[i] > s.wanted ? below[i] - s.wanted : s.wanted - below[i];
      if (gap <= slack) s = {middle(s) - 1, middle(s), s.wanted};
      else if (below[i] < s.wanted) s.low = middle(s);
      else s.high = middle(s);
      open = open || s.high - s.low > 1;
    }
  }
  std::vector<std::uint64_t> splitters;
  for (const Search& s : searches) splitters.push_back(s.high);
  // Searches that ended early can pass one another.
  std::sort(splitters.begin(), splitters.end());
  return splitters;
}

std::size_t interval_of_key(std::span<const std::uint64_t> splitters, std::uint64_t key) {
  return static_cast<std::size_t>(std::upper_bound(splitters.begin(), splitters.end(), key) - splitters.begin());
}

template void number_elements(Communicator&, std::span<MeshPiece<3>>);
template void number_elements(Communicator&, std::span<MeshPiece<4>>);
template void number_vertices(Communicator&, std::span<MeshPiece<3>>);
template void number_vertices(Communicator&, std::span<MeshPiece<4>>);
template PartData<3> redistribute(Communicator&, std::span<const MeshPiece<3>>,
                                  std::span<const std::vector<std::uint32_t>>);
template PartData<4> redistribute(Communicator&, std::span<const MeshPiece<4>>,
                                  std::span<const std::vector<std::uint32_t>>);
template PartData<3> repartition(Communicator&, std::span<const MeshPiece<3>>, std::uint32_t);
template PartData<4> repartition(Communicator&, std::span<const MeshPiece<4>>, std::uint32_t);

}  // namespace isochron
