#include "isochron/io/pieces/part_input.h"

#include <sstream>

#include "isochron/comm/collectives.h"
#include "isochron/dist/id_places.h"
#include "isochron/io/mesh/cells.h"
#include "isochron/io/pieces/mesh_pieces.h"
#include "isochron/io/pieces/part_files.h"
#include "isochron/mesh/tuples.h"

namespace isochron {
namespace {

/// Of the largest share over the mean; more makes a process wait, and hold, too much.
constexpr double max_uneven = 1.3;
/// Blocks of fewer vertices have too long a border, and more than some do not pay (docs/internals/scale.md).
constexpr std::uint64_t min_block = 9000;
constexpr std::uint64_t max_blocks = 16;

/// What readers noticed, as lines of text: "i COUNT KIND" for cells that were left out, "c COUNT PIECES KIND" for those
/// that were cut, "w TEXT".
std::string noticed(const std::vector<Dataset>& pieces) {
  std::string text;
  for (const Dataset& piece : pieces) {
    for (const auto& [kind, count] : piece.ignored_cells) text += fmt::format("i {} {}\n", count, kind);
    for (const auto& [kind, cells, parts] : piece.cut_cells) text += fmt::format("c {} {} {}\n", cells, parts, kind);
    for (const std::string& warning : piece.warnings) text += fmt::format("w {}\n", warning);
  }
  return text;
}

void add_noticed(const std::string& text, OwnPieces& own) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(2));
    std::size_t cells = 0, parts = 0;
    std::string kind;
    if (line[0] == 'w') {
      own.warnings.push_back(line.substr(2));
    } else if (line[0] == 'c') {
      words >> cells >> parts >> kind;
      count_cut(own.cut_cells, kind, cells, parts);
    } else {
      words >> cells >> std::ws;
      std::getline(words, kind);
      count_ignored(own.ignored_cells, kind, cells);
    }
  }
}

void add_up(Communicator& communicator, OwnPieces& own) {
  std::array<std::uint64_t, 3> counts{};
  for (const Dataset& piece : own.pieces) {
    counts[0] += piece.triangles.cells.size();
    counts[1] += piece.tets.cells.size();
    counts[2] += piece.lines.size();
  }
  sum_over_ranks(communicator, counts);
  own.triangles = counts[0], own.tets = counts[1], own.lines = counts[2];
  const std::string text = noticed(own.pieces);
  std::vector<std::vector<char>> remarks(communicator.ranks());
  remarks[0].assign(text.begin(), text.end());
  for (const auto& remark : exchange_values(communicator, remarks)) add_noticed({remark.begin(), remark.end()}, own);
}

std::vector<std::uint64_t> ids_of(const DataArray& array, const OwnPieces& own, std::size_t piece) {
  const std::vector<std::int64_t> ids = whole_numbers(array);
  if (const auto wrong = std::find_if(ids.begin(), ids.end(), [](std::int64_t id) { return id < 0; });
      wrong != ids.end())
    own.index.bad_piece(own.numbers[piece], "has the id {} in '{}' (it is negative)", *wrong, array.name);
  return {ids.begin(), ids.end()};
}

/// Whether an array is in all pieces of all processes that have something it could be on.
template <class Lacks>
bool all_have(Communicator& communicator, const OwnPieces& own, Lacks&& lacks) {
  return sum_of_all(communicator, std::any_of(own.pieces.begin(), own.pieces.end(), lacks) ? 1 : 0) == 0;
}

/// All processes together: the numbers of vertices or elements by the ids that the pieces tell, which may leave some
/// out. `ids_in(piece)` is the array; null: there is nothing to number. Returns an id that is there twice, if any is.
template <class IdsIn>
std::optional<std::uint64_t> number_by_ids(Communicator& communicator, const OwnPieces& own, IdsIn&& ids_in,
                                           std::vector<std::vector<std::uint64_t>>& numbers) {
  numbers.resize(own.pieces.size());
  all_or_none(communicator, [&] {
    for (std::size_t p = 0; p < numbers.size(); ++p)
      if (const DataArray* ids = ids_in(own.pieces[p])) numbers[p] = ids_of(*ids, own, p);
  });
  const IdPlaces places = place_ids(communicator, numbers);
  for (std::size_t p = 0; p < numbers.size(); ++p)
    for (std::size_t i = 0; i < numbers[p].size(); ++i) numbers[p][i] = places.of[p][i].number;
  return places.repeated;
}

template <int Corners>
void number_vertices_by_ids(Communicator& communicator, const OwnPieces& own, NumberedPieces<Corners>& result) {
  std::vector<std::vector<std::uint64_t>> numbers;
  const auto ids_in = [](const Dataset& piece) {
    return piece.points.empty() ? nullptr : piece.point_data.find(global_point_ids);
  };
  number_by_ids(communicator, own, ids_in, numbers);
  for (std::size_t p = 0; p < numbers.size(); ++p) {
    result.pieces[p].global_vertex = std::move(numbers[p]);
    result.pieces[p].ghost = ghost_points(own.pieces[p]);
  }
}

template <int Corners>
void number_elements_by_ids(Communicator& communicator, const OwnPieces& own, NumberedPieces<Corners>& result) {
  std::vector<std::vector<std::uint64_t>> numbers;
  const auto ids_in = [](const Dataset& piece) {
    const auto& block = piece.block<Corners>();
    return block.cells.empty() ? nullptr : block.data.find(global_cell_ids);
  };
  if (const auto repeated = number_by_ids(communicator, own, ids_in, numbers))
    bad_file(own.index.path, "cell {} is in two pieces (one of them must mark it as a ghost); write the pieces again",
             *repeated);
  for (std::size_t p = 0; p < numbers.size(); ++p) result.pieces[p].global_element = std::move(numbers[p]);
}

/// The process that has a piece.
std::uint32_t reader_of(std::uint64_t piece, std::size_t pieces, std::size_t ranks) {
  return static_cast<std::uint32_t>(((piece + 1) * ranks - 1) / pieces);
}

/// Whose each vertex is when pieces stay where they are: as the files say, else of the lowest process that has it.
template <int Corners>
void find_owners(Communicator& communicator, const OwnPieces& own, NumberedPieces<Corners>& result) {
  const std::size_t pieces = own.index.pieces.size();
  if (own.parts_in_order && pieces >= communicator.ranks()) {
    all_or_none(communicator, [&] {
      for (std::size_t p = 0; p < own.pieces.size(); ++p) {
        std::vector<std::uint32_t>& owner = result.owner.emplace_back();
        if (result.pieces[p].mesh.points.empty()) continue;
        for (const std::uint64_t part : ids_of(own.pieces[p].point_data.require(owner_array, "points"), own, p)) {
          if (part >= pieces)
            own.index.bad_piece(own.numbers[p], "has vertices of a part {} (there are {})", part, pieces);
          owner.push_back(reader_of(part, pieces, communicator.ranks()));
        }
      }
    });
    return;
  }
  std::vector<std::vector<std::uint64_t>> ids;
  for (const auto& piece : result.pieces) ids.push_back(piece.global_vertex);
  for (const std::vector<IdPlace>& places : place_ids(communicator, ids).of) {
    std::vector<std::uint32_t>& owner = result.owner.emplace_back();
    for (const IdPlace& place : places) owner.push_back(static_cast<std::uint32_t>(place.rank));
  }
}

template <int Corners>
bool are_even(Communicator& communicator, const NumberedPieces<Corners>& own) {
  std::vector<std::uint64_t> counts(communicator.ranks(), 0);
  std::uint64_t& mine = counts[communicator.index()];
  for (const std::vector<std::uint32_t>& owner : own.owner)
    mine += static_cast<std::uint64_t>(std::count(owner.begin(), owner.end(), communicator.index()));
  sum_over_ranks(communicator, counts);
  std::uint64_t all = 0;
  for (const std::uint64_t count : counts) all += count;
  const double mean = static_cast<double>(all) / static_cast<double>(counts.size());
  return static_cast<double>(*std::max_element(counts.begin(), counts.end())) <= max_uneven * mean;
}

template <int Corners>
std::uint32_t paying_blocks(Communicator& communicator, std::span<const MeshPiece<Corners>> pieces) {
  std::uint64_t vertices = 0;
  for (const auto& piece : pieces) vertices += piece.mesh.vertex_count();
  const std::uint64_t share = sum_of_all(communicator, vertices) / communicator.ranks();
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(share / min_block, 1, max_blocks));
}

/// Whether the list names the pieces of parts in the order of the parts. A part's own vertices come first in its piece.
bool are_in_order(Communicator& communicator, const OwnPieces& own) {
  if (!holds_parts(own.index)) return false;
  std::uint64_t elsewhere = 0;
  for (std::size_t p = 0; p < own.pieces.size(); ++p) {
    const DataArray* owner = own.pieces[p].point_data.find(owner_array);
    if (owner != nullptr && owner->tuple_count() > 0 && owner->at(0) != static_cast<double>(own.numbers[p]))
      ++elsewhere;
  }
  return sum_of_all(communicator, elsewhere) == 0;
}

}  // namespace

OwnPieces read_own_pieces(Communicator& communicator, const std::filesystem::path& path) {
  OwnPieces own;
  all_or_none(communicator, [&] {
    own.index = read_piece_index(path);
    own.numbers = pieces_of_rank(own.index, communicator.ranks(), communicator.index());
    for (const std::size_t piece : own.numbers) own.pieces.push_back(read_mesh_piece(own.index, piece));
  });
  own.parts_in_order = are_in_order(communicator, own);
  own.ready_parts = own.parts_in_order && own.index.pieces.size() == communicator.ranks();
  if (!own.ready_parts)
    for (Dataset& piece : own.pieces) drop_ghosts(piece);
  add_up(communicator, own);
  return own;
}

template <int Corners>
NumberedPieces<Corners> number_pieces(Communicator& communicator, OwnPieces&& own) {
  if (own.ready_parts)  // to be cut anew
    for (Dataset& piece : own.pieces) drop_ghosts(piece);
  NumberedPieces<Corners> result;
  result.announced_vertices = own.index.whole_points;
  result.announced_elements = own.index.whole_cells;
  result.pieces.resize(own.pieces.size());
  const bool vertex_ids = all_have(communicator, own, [](const Dataset& piece) {
    return !piece.points.empty() && piece.point_data.find(global_point_ids) == nullptr;
  });
  const bool element_ids = all_have(communicator, own, [](const Dataset& piece) {
    const auto& block = piece.block<Corners>();
    return !block.cells.empty() && block.data.find(global_cell_ids) == nullptr;
  });
  if (vertex_ids) number_vertices_by_ids(communicator, own, result);
  if (element_ids) number_elements_by_ids(communicator, own, result);
  for (std::size_t p = 0; p < own.pieces.size(); ++p) {
    if (!vertex_ids) result.pieces[p].border = border_of(own.pieces[p]);
    result.pieces[p].mesh = take_mesh<Corners>(own.pieces[p]);
  }
  const std::span<MeshPiece<Corners>> pieces(result.pieces);
  if (!vertex_ids) number_vertices(communicator, pieces);
  if (!element_ids) number_elements(communicator, pieces);
  find_owners(communicator, own, result);
  for (std::size_t p = 0; p < own.pieces.size(); ++p) {
    Dataset& piece = own.pieces[p];
    pieces[p].point_data = std::move(piece.point_data);
    pieces[p].cell_data = std::move(piece.block<Corners>().data);
    drop_bookkeeping(pieces[p].point_data);
    drop_bookkeeping(pieces[p].cell_data);
    result.others.push_back(std::move(piece.block<7 - Corners>()));
  }
  return result;
}

template <int Corners>
PartData<Corners> part_of_pieces(Communicator& communicator, const NumberedPieces<Corners>& own, std::uint32_t blocks) {
  const std::span<const MeshPiece<Corners>> pieces(own.pieces);
  PartData<Corners> result =
      blocks == 0 && are_even(communicator, own)
          ? redistribute(communicator, pieces, std::span<const std::vector<std::uint32_t>>(own.owner))
          : repartition(communicator, pieces, blocks > 0 ? blocks : paying_blocks(communicator, pieces));
  const std::uint64_t vertices = result.part.whole_vertices, elements = result.part.whole_elements;
  if (own.announced_vertices.value_or(vertices) != vertices || own.announced_elements.value_or(elements) != elements)
    throw InputError(fmt::format(
        "the pieces have {} vertices and {} cells, not the {} and {} of the whole mesh (their "
        "ids are wrong); write the pieces again",
        vertices, elements, own.announced_vertices.value_or(vertices), own.announced_elements.value_or(elements)));
  return result;
}

template <int Corners>
PartData<Corners> take_ready_part(Communicator& communicator, OwnPieces&& own) {
  PartData<Corners> result;
  all_or_none(communicator, [&] {
    const auto number = static_cast<std::uint32_t>(own.numbers[0]);
    result = part_of<Corners>(own.index, number, std::move(own.pieces[0]));
  });
  check_parts(communicator, result.part);
  return result;
}

template NumberedPieces<3> number_pieces(Communicator&, OwnPieces&&);
template NumberedPieces<4> number_pieces(Communicator&, OwnPieces&&);
template PartData<3> part_of_pieces(Communicator&, const NumberedPieces<3>&, std::uint32_t);
template PartData<4> part_of_pieces(Communicator&, const NumberedPieces<4>&, std::uint32_t);
template PartData<3> take_ready_part(Communicator&, OwnPieces&&);
template PartData<4> take_ready_part(Communicator&, OwnPieces&&);

}  // namespace isochron
