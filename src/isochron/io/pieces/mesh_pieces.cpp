#include "isochron/io/pieces/mesh_pieces.h"

#include <tuple>

#include "isochron/dist/piece_border.h"
#include "isochron/io/mesh/formats.h"
#include "isochron/mesh/tuples.h"

namespace isochron {
namespace {

/// VTK's flag for what another piece has too. Files of old versions count the layers of ghosts instead.
bool is_duplicate(const DataArray* ghosts, std::size_t tuple) {
  if (ghosts == nullptr) return false;
  const auto value = converted<std::uint32_t>(ghosts->at(tuple)).value_or(0);
  return ghosts->name == ghost_array ? (value & 1U) != 0 : value > 0;
}
const DataArray* find_ghosts(const DataArrays& data) {
  const DataArray* now = data.find(ghost_array);
  return now != nullptr ? now : data.find("vtkGhostLevels");
}

bool is_bookkeeping(std::string_view name) {
  return name == ghost_array || name == "vtkGhostLevels" || name == global_point_ids || name == global_cell_ids ||
         name == owner_array;
}

template <class Cells>
void keep_owned(Cells& cells, DataArrays& data) {
  const DataArray* ghosts = find_ghosts(data);
  if (ghosts == nullptr) return;
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < cells.size(); ++i)
    if (!is_duplicate(ghosts, i)) kept.push_back(i);
  if (kept.size() == cells.size()) return;
  Cells left;
  left.reserve(kept.size());
  for (const std::size_t i : kept) left.push_back(std::move(cells[i]));
  cells = std::move(left);
  for (DataArray& array : data.all()) array = chosen_tuples(array, kept);
}

/// A ghost counts only where a cell that is left needs it.
void keep_wanted_points(Dataset& piece) {
  if (find_ghosts(piece.point_data) == nullptr) return;
  std::vector<std::uint8_t> wanted = ghost_points(piece);
  for (std::uint8_t& one : wanted) one = one == 0 ? 1 : 0;
  const auto each_corner = [&](auto&& call) {
    for_each_block(piece, [&](CellKind, auto& cells, DataArrays&) {
      for (auto& cell : cells)
        for (VertexId& v : cell) call(v);
    });
  };
  each_corner([&](VertexId v) { wanted[v.index()] = 1; });
  std::vector<std::size_t> kept;
  std::vector<VertexId> number(wanted.size());
  for (std::size_t v = 0; v < wanted.size(); ++v) {
    if (wanted[v] == 0) continue;
    number[v] = VertexId(kept.size());
    kept.push_back(v);
  }
  if (kept.size() == wanted.size()) return;
  each_corner([&](VertexId& v) { v = number[v.index()]; });
  std::vector<Vec3d> points;
  points.reserve(kept.size());
  for (const std::size_t v : kept) points.push_back(piece.points[v]);
  piece.points = std::move(points);
  for (DataArray& array : piece.point_data.all()) array = chosen_tuples(array, kept);
}

/// Pieces on their way into one data set.
class Joiner {
 public:
  explicit Joiner(PieceIndex index) : index_(std::move(index)) {
    for (std::size_t i = 0; i < index_.pieces.size(); ++i) {
      pieces_.push_back(read_mesh_piece(index_, i));
      drop_ghosts(pieces_.back());
      number_.emplace_back(pieces_.back().points.size(), 0);
    }
  }

  Dataset join() {
    if (has_ids()) number_by_ids();
    else number_by_places();
    join_points();
    join_block<3>();
    join_block<4>();
    join_lines();
    for (const Dataset& piece : pieces_) {
      for (const auto& [kind, count] : piece.ignored_cells) count_ignored(whole_.ignored_cells, kind, count);
      for (const auto& [kind, cells, parts] : piece.cut_cells) count_cut(whole_.cut_cells, kind, cells, parts);
      whole_.warnings.insert(whole_.warnings.end(), piece.warnings.begin(), piece.warnings.end());
    }
    return std::move(whole_);
  }

 private:
  struct Source {
    std::uint32_t piece, tuple;
  };

  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> problem, Args&&... args) const {
    bad_file(index_.path, "{}; write the pieces again", fmt::format(problem, std::forward<Args>(args)...));
  }

  [[nodiscard]] bool has_ids() const {
    return std::all_of(pieces_.begin(), pieces_.end(), [](const Dataset& piece) {
      return piece.points.empty() || piece.point_data.find(global_point_ids) != nullptr;
    });
  }

  void number_by_ids() {
    struct Entry {
      std::int64_t id;
      bool ghost;
      Source from;
    };
    std::vector<Entry> entries;
    for (std::uint32_t p = 0; p < pieces_.size(); ++p) {
      if (pieces_[p].points.empty()) continue;
      const std::vector<std::int64_t> ids = whole_numbers(*pieces_[p].point_data.find(global_point_ids));
      const DataArray* ghosts = find_ghosts(pieces_[p].point_data);
      for (std::uint32_t v = 0; v < ids.size(); ++v) entries.push_back({ids[v], is_duplicate(ghosts, v), {p, v}});
    }
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::tie(a.id, a.ghost, a.from.piece, a.from.tuple) < std::tie(b.id, b.ghost, b.from.piece, b.from.tuple);
    });
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const Entry& entry = entries[i];
      if (i == 0 || entry.id != entries[i - 1].id) points_.push_back(entry.from);
      const Source first = points_.back();
      if (!same_place(pieces_[first.piece].points[first.tuple], pieces_[entry.from.piece].points[entry.from.tuple]))
        fail("vertex {} is at two places, in piece {} and in piece {} (its id must mean one vertex)", entry.id,
             first.piece, entry.from.piece);
      number_[entry.from.piece][entry.from.tuple] = static_cast<std::uint32_t>(points_.size() - 1);
    }
    if (index_.whole_points && *index_.whole_points != points_.size())
      fail("the pieces have {} vertices, not the {} of the whole mesh (their ids are wrong)", points_.size(),
           *index_.whole_points);
  }

  void number_by_places() {
    std::vector<BorderVertex> border;
    for (std::uint32_t p = 0; p < pieces_.size(); ++p)
      for (const VertexId v : border_of(pieces_[p])) border.push_back({pieces_[p].points[v.index()], p, v.index()});
    const std::vector<std::size_t> same = match_borders(border);
    std::size_t at = 0;
    for (std::uint32_t p = 0; p < pieces_.size(); ++p)
      for (std::uint32_t v = 0; v < number_[p].size(); ++v) {
        while (at < border.size() && std::tie(border[at].piece, border[at].vertex) < std::tuple(p, v)) ++at;
        const bool on_border = at < border.size() && border[at].piece == p && border[at].vertex == v;
        if (on_border && same[at] != at) {  // an earlier piece has it, so it has its number
          const BorderVertex& first = border[same[at]];
          number_[p][v] = number_[first.piece][first.vertex];
          continue;
        }
        number_[p][v] = static_cast<std::uint32_t>(points_.size());
        points_.push_back({p, v});
      }
  }

  void join_points() {
    whole_.points.reserve(points_.size());
    for (const Source& from : points_) whole_.points.push_back(pieces_[from.piece].points[from.tuple]);
    join_arrays_of(
        [](auto& piece) -> auto& { return piece.point_data; }, points_, index_.point_arrays);
  }

  template <int Corners>
  void join_block() {
    std::vector<Source> cells;
    bool ids = true;
    for (std::uint32_t p = 0; p < pieces_.size(); ++p) {
      const CellBlock<Corners>& block = pieces_[p].template block<Corners>();
      for (std::uint32_t c = 0; c < block.cells.size(); ++c) cells.push_back({p, c});
      ids = ids && (block.cells.empty() || block.data.find(global_cell_ids) != nullptr);
    }
    if (ids) order_by_ids<Corners>(cells);
    if (index_.whole_cells && !cells.empty() && *index_.whole_cells != cells.size())
      fail("the pieces have {} cells, not the {} of the whole mesh (their ids are wrong)", cells.size(),
           *index_.whole_cells);
    auto& target = whole_.template block<Corners>().cells;
    target.reserve(cells.size());
    for (const Source& from : cells) {
      auto cell = pieces_[from.piece].template block<Corners>().cells[from.tuple];
      for (VertexId& v : cell) v = VertexId(number_[from.piece][v.index()]);
      target.push_back(cell);
    }
    join_arrays_of(
        [](auto& piece) -> auto& { return piece.template block<Corners>().data; }, cells, index_.cell_arrays);
  }

  template <int Corners>
  void order_by_ids(std::vector<Source>& cells) const {
    std::vector<std::vector<std::int64_t>> ids(pieces_.size());
    for (std::size_t p = 0; p < pieces_.size(); ++p)
      if (const DataArray* array = pieces_[p].template block<Corners>().data.find(global_cell_ids))
        ids[p] = whole_numbers(*array);
    const auto id = [&](const Source& from) { return ids[from.piece][from.tuple]; };
    std::stable_sort(cells.begin(), cells.end(), [&](const Source& a, const Source& b) { return id(a) < id(b); });
    const auto twice = std::adjacent_find(cells.begin(), cells.end(),
                                          [&](const Source& a, const Source& b) { return id(a) == id(b); });
    if (twice != cells.end())
      fail("cell {} is in piece {} and in piece {} (one of them must mark it as a ghost)", id(*twice), twice->piece,
           (twice + 1)->piece);
  }

  void join_lines() {
    std::vector<Source> lines;
    for (std::uint32_t p = 0; p < pieces_.size(); ++p)
      for (std::uint32_t l = 0; l < pieces_[p].lines.size(); ++l) {
        lines.push_back({p, l});
        auto& line = whole_.lines.emplace_back(pieces_[p].lines[l]);
        for (VertexId& v : line) v = VertexId(number_[p][v.index()]);
      }
    join_arrays_of(
        [](auto& piece) -> auto& { return piece.line_data; }, lines, index_.cell_arrays);
  }

  /// `data_of` gives the arrays in question, of a piece or of the whole.
  template <class DataOf>
  void join_arrays_of(DataOf&& data_of, const std::vector<Source>& tuples, const std::vector<PieceArray>& announced) {
    if (tuples.empty()) return;
    for (const PieceArray& wanted : announced) {
      if (is_bookkeeping(wanted.name)) continue;
      std::vector<const DataArray*> sources;
      for (const Dataset& piece : pieces_) sources.push_back(data_of(piece).find(wanted.name));
      DataArray joined{wanted.name, wanted.components, {}};
      std::visit(
          [&](const auto& first) {
            using Values = std::decay_t<decltype(first)>;
            const auto step = static_cast<std::size_t>(wanted.components);
            Values values;
            values.reserve(tuples.size() * step);
            for (const Source& from : tuples) {
              const auto& all = std::get<Values>(sources[from.piece]->values);
              const auto begin = all.begin() + static_cast<std::ptrdiff_t>(from.tuple * step);
              values.insert(values.end(), begin, begin + static_cast<std::ptrdiff_t>(step));
            }
            joined.values = std::move(values);
          },
          sources[tuples[0].piece]->values);
      data_of(whole_).set(std::move(joined));
    }
  }

  PieceIndex index_;
  std::vector<Dataset> pieces_;
  std::vector<std::vector<std::uint32_t>> number_;  ///< of each piece's points in the whole
  std::vector<Source> points_;
  Dataset whole_;
};

/// Keeps what the index announces. Throws InputError when some of it is missing or of another kind.
void check_arrays(const PieceIndex& index, std::size_t piece, const std::vector<PieceArray>& announced,
                  std::size_t tuples, const char* where, DataArrays& data) {
  if (tuples == 0) return;
  for (const PieceArray& wanted : announced) {
    const DataArray* array = data.find(wanted.name);
    if (array == nullptr)
      index.bad_piece(piece, "has no array '{}' on its {} (the list announces it)", wanted.name, where);
    const bool same_type = with_type(
        wanted.type, [&]<class T>() { return std::holds_alternative<std::vector<Stored<T>>>(array->values); });
    if (array->components != wanted.components || !same_type)
      index.bad_piece(piece, "has an array '{}' of another kind than the list announces ({} components of {})",
                      wanted.name, wanted.components, vtk_type_name(wanted.type));
  }
  std::erase_if(data.all(), [&](const DataArray& array) {
    const auto called = [&](const PieceArray& wanted) { return wanted.name == array.name; };
    return !is_bookkeeping(array.name) && std::none_of(announced.begin(), announced.end(), called);
  });
}

/// Several cells that were one have its id, so that ids do not number them.
void drop_cell_ids(Dataset& dataset) {
  for_each_block(dataset, [](CellKind, auto&, DataArrays& data) {
    std::erase_if(data.all(), [](const DataArray& array) { return array.name == global_cell_ids; });
  });
}

}  // namespace

void drop_ghosts(Dataset& piece) {
  for_each_block(piece, [](CellKind, auto& cells, DataArrays& data) { keep_owned(cells, data); });
  keep_wanted_points(piece);
}

std::vector<std::uint8_t> ghost_points(const Dataset& piece) {
  const DataArray* ghosts = find_ghosts(piece.point_data);
  std::vector<std::uint8_t> result(piece.points.size());
  for (std::size_t v = 0; v < result.size(); ++v) result[v] = is_duplicate(ghosts, v) ? 1 : 0;
  return result;
}

std::vector<VertexId> border_of(Dataset& piece) {
  std::vector<VertexId> border;
  const auto add = [&](const std::vector<VertexId>& more) { border.insert(border.end(), more.begin(), more.end()); };
  TetMesh tets = take_mesh<4>(piece);
  add(border_vertices(tets));
  restore_mesh(piece, std::move(tets));
  TriangleMesh triangles = take_mesh<3>(piece);
  add(border_vertices(triangles));
  restore_mesh(piece, std::move(triangles));
  for (const auto& line : piece.lines) add(line);
  std::sort(border.begin(), border.end());
  border.erase(std::unique(border.begin(), border.end()), border.end());
  return border;
}

void drop_bookkeeping(DataArrays& data) {
  std::erase_if(data.all(), [](const DataArray& array) { return is_bookkeeping(array.name); });
}

Dataset read_mesh_piece(const PieceIndex& index, std::size_t piece) {
  Dataset dataset = index.read_piece(piece, [&](const std::filesystem::path& file) {
    Dataset read = read_vtk_piece(file, index.kind, CornerOrder::places);
    check_dataset(file, read);
    return read;
  });
  check_arrays(index, piece, index.point_arrays, dataset.points.size(), "points", dataset.point_data);
  check_arrays(index, piece, index.cell_arrays, dataset.triangles.cells.size(), "cells", dataset.triangles.data);
  check_arrays(index, piece, index.cell_arrays, dataset.tets.cells.size(), "cells", dataset.tets.data);
  check_arrays(index, piece, index.cell_arrays, dataset.lines.size(), "cells", dataset.line_data);
  if (!dataset.cut_cells.empty()) drop_cell_ids(dataset);
  return dataset;
}

Dataset read_mesh_pieces(const std::filesystem::path& path) { return Joiner(read_piece_index(path)).join(); }

Image read_image_pieces(const std::filesystem::path& path) {
  const PieceIndex index = read_piece_index(path);
  ImageJoiner joiner(index.frame, path);
  for (std::size_t i = 0; i < index.pieces.size(); ++i)
    index.read_piece(i, [&](const std::filesystem::path& piece_file) {
      const VtkXmlFile file(piece_file);
      for (const XmlPiece& piece : file.pieces()) joiner.add(file, piece);
    });
  return joiner.finish();
}

}  // namespace isochron
