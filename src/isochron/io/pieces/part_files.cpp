#include "isochron/io/pieces/part_files.h"

#include <sstream>

#include "isochron/comm/collectives.h"
#include "isochron/io/mesh/formats.h"
#include "isochron/io/pieces/mesh_pieces.h"
#include "isochron/mesh/tuples.h"

namespace isochron {
namespace {

namespace fs = std::filesystem;

DataArray id_array(const char* name, const std::vector<std::uint64_t>& ids) {
  return {name, 1, std::vector<std::int64_t>(ids.begin(), ids.end())};
}

/// Takes an array out of a data set.
DataArray taken(DataArrays& data, const char* name, const PieceIndex& index, std::size_t part) {
  const DataArray* array = data.find(name);
  if (array == nullptr) index.bad_piece(part, "has no array '{}' (the parts of a mesh need it)", name);
  DataArray result = *array;
  std::erase_if(data.all(), [&](const DataArray& one) { return one.name == name; });
  return result;
}

std::vector<std::uint64_t> taken_ids(DataArrays& data, const char* name, const PieceIndex& index, std::size_t part,
                                     std::uint64_t limit) {
  const std::vector<std::int64_t> ids = whole_numbers(taken(data, name, index, part));
  for (const std::int64_t id : ids)
    if (id < 0 || static_cast<std::uint64_t>(id) >= limit)
      index.bad_piece(part, "has the id {} in '{}' (the whole mesh has {})", id, name, limit);
  return {ids.begin(), ids.end()};
}

bool ascending(std::vector<std::uint64_t>::const_iterator begin, std::vector<std::uint64_t>::const_iterator end) {
  return std::adjacent_find(begin, end, [](std::uint64_t a, std::uint64_t b) { return a >= b; }) == end;
}

/// What must hold of every part.
template <int Corners>
bool is_sound(const MeshPart<Corners>& part) {
  const auto middle = part.global_vertex.begin() + static_cast<std::ptrdiff_t>(part.owned);
  if (!ascending(part.global_vertex.begin(), middle) || !ascending(middle, part.global_vertex.end())) return false;
  if (!ascending(part.global_element.begin(), part.global_element.end())) return false;
  return std::all_of(part.mesh.elements.begin(), part.mesh.elements.end(), [&](const auto& element) {
    return std::any_of(element.begin(), element.end(), [&](VertexId v) { return part.owns(v); });
  });
}

template <int Corners>
void add_bookkeeping(const MeshPart<Corners>& part, std::uint32_t number, DataArrays& points, DataArrays& cells) {
  const std::size_t vertices = part.mesh.vertex_count();
  std::vector<std::uint8_t> ghost(vertices, 1), foreign(part.mesh.element_count());
  std::fill_n(ghost.begin(), part.owned, std::uint8_t{0});
  for (std::size_t e = 0; e < foreign.size(); ++e) foreign[e] = part.counts(ElementId(e)) ? 0 : 1;
  std::vector<std::int32_t> owner(vertices, static_cast<std::int32_t>(number));
  std::copy(part.ghost_owner.begin(), part.ghost_owner.end(), owner.begin() + static_cast<std::ptrdiff_t>(part.owned));
  points.set(id_array(global_point_ids, part.global_vertex));
  points.set({owner_array, 1, std::move(owner)});
  points.set({ghost_array, 1, std::move(ghost)});
  cells.set(id_array(global_cell_ids, part.global_element));
  cells.set({ghost_array, 1, std::move(foreign)});
}

/// Pieces of a set from one on. Links stay, as when files are replaced.
void remove_pieces(const fs::path& path, std::size_t first) {
  std::error_code ignored;
  while (fs::remove(follow_links(piece_path(path, first)), ignored)) ++first;
}

/// All processes' texts, by rank.
std::vector<std::string> all_texts(Communicator& communicator, const std::string& own) {
  const std::vector<char> text(own.begin(), own.end());
  std::vector<std::string> result;
  for (const auto& one : exchange_values(communicator, std::vector(communicator.ranks(), text)))
    result.emplace_back(one.begin(), one.end());
  return result;
}

/// What all processes know of a file that one of them writes.
struct SharedFile {
  fs::path file;       ///< where its links lead
  fs::path temporary;  ///< empty when this process is not to write any
  FileIdentity written;

  /// Brings back what was there before. All processes may do so at once.
  void restore() const {
    std::error_code failed;
    const fs::path old = AtomicFile::old_name(temporary);
    fs::rename(old, file, failed);
    if (!failed) fs::remove(old, failed);  // renaming one name of a file to another one leaves both
    if (identity_of(file) == written) fs::remove(file, failed);
  }
};

/// The files of a set that all processes write. When one process is killed, whoever is left brings back what was there
/// before. The set is there once the new index has its name, which is one step; until then the temporary index must be
/// there, and who removes it decides that the set does not appear. An old index is put aside before anything else
/// changes, and put back last: a set with an index is whole at any time.
class SetFiles {
 public:
  /// `piece` and `index` are those of this process; null when it has none.
  SetFiles(Communicator& communicator, const fs::path& path, PieceFile* piece, AtomicFile* index,
           const SetWriters& writers)
      : own_piece_(piece), own_index_(index), pieces_(writers.pieces) {
    const auto pieces = all_texts(communicator, piece != nullptr ? piece->temporary().string() : "");
    for (std::size_t p = 0; p < writers.pieces; ++p) pieces_[p] = {follow_links(piece_path(path, p)), pieces[p], {}};
    index_ = {
        follow_links(path), all_texts(communicator, index != nullptr ? index->path().string() : "")[writers.index], {}};
    writer_ = writers.index;
  }
  ~SetFiles() {
    if (kept_) return;
    std::error_code ignored;
    const bool undone = fs::remove(index_.temporary, ignored);
    for (const SharedFile& piece : pieces_) fs::remove(piece.temporary, ignored);
    if (!undone && fs::exists(index_.file, ignored)) {  // that of the new set, or another process has restored the old
      if (own_piece_ != nullptr && own_piece_->committed()) own_piece_->keep();
      return;
    }
    for (const SharedFile& piece : pieces_) piece.restore();
    index_.restore();
  }
  SetFiles(const SetFiles&) = delete;
  SetFiles& operator=(const SetFiles&) = delete;

  /// All processes together, when the temporary files are whole.
  void share_identities(Communicator& communicator) {
    const auto of = [](const fs::path& file) { return identity_of(file).value_or(FileIdentity{}); };
    const std::vector<FileIdentity> pieces =
        all_values(communicator, own_piece_ != nullptr ? of(own_piece_->temporary()) : FileIdentity{});
    for (std::size_t p = 0; p < pieces_.size(); ++p) pieces_[p].written = pieces[p];
    index_.written = all_values(communicator, own_index_ != nullptr ? of(own_index_->path()) : FileIdentity{})[writer_];
  }
  /// All processes together: old files get other names.
  void start_replacing(Communicator& communicator) {
    all_or_none(communicator, [&] {
      if (own_index_ != nullptr) own_index_->keep_old(OldFile::aside);
    });
    all_or_none(communicator, [&] {
      if (own_piece_ != nullptr) own_piece_->keep_old();
    });
  }
  void keep() {
    kept_ = true;
    if (own_piece_ != nullptr) own_piece_->keep();
  }

 private:
  PieceFile* own_piece_;
  AtomicFile* own_index_;
  std::vector<SharedFile> pieces_;
  SharedFile index_;
  std::size_t writer_;
  bool kept_ = false;
};

/// The lowest process that has something an index can be made of.
template <int Corners>
std::size_t index_writer(Communicator& communicator, const PartData<Corners>& data) {
  std::vector<std::uint64_t> elements(communicator.ranks(), 0);
  elements[communicator.index()] = data.part.mesh.element_count();
  sum_over_ranks(communicator, elements);
  std::size_t writer = 0;
  while (writer + 1 < elements.size() && elements[writer] == 0) ++writer;
  return writer;
}

/// All processes together: the arrays that the writer of the index announces.
void share_announced(Communicator& communicator, std::size_t writer, PieceIndex& index) {
  std::string text;
  if (communicator.index() == writer)
    for (const auto* arrays : {&index.point_arrays, &index.cell_arrays})
      for (const PieceArray& array : *arrays)
        text += fmt::format("{} {} {} {}\n", arrays == &index.point_arrays ? 'p' : 'c', static_cast<int>(array.type),
                            array.components, array.name);
  const std::vector<char> bytes(text.begin(), text.end());
  const std::vector<char> listed = exchange_values(communicator, std::vector(communicator.ranks(), bytes))[writer];
  index.point_arrays.clear();
  index.cell_arrays.clear();
  std::istringstream lines(std::string(listed.begin(), listed.end()));
  char place = 0;
  int type = 0, components = 0;
  while (lines >> place >> type >> components) {
    std::string name;
    std::getline(lines.ignore(), name);
    (place == 'p' ? index.point_arrays : index.cell_arrays)
        .push_back({name, static_cast<ScalarType>(type), components});
  }
}

/// Arrays without values, for pieces that have no points or no cells: VTK wants all arrays in all pieces.
void add_missing(const std::vector<PieceArray>& announced, DataArrays& data) {
  for (const PieceArray& array : announced)
    if (data.find(array.name) == nullptr) data.set({array.name, array.components, empty_values(array.type)});
}

}  // namespace

template <int Corners>
Dataset piece_of(PartData<Corners> data, std::uint32_t part) {
  Dataset result;
  add_bookkeeping(data.part, part, data.point_data, data.cell_data);
  result.point_data = std::move(data.point_data);
  result.block<Corners>().data = std::move(data.cell_data);
  restore_mesh(result, std::move(data.part.mesh));
  return result;
}

bool holds_parts(const PieceIndex& index) {
  const auto has = [](const std::vector<PieceArray>& arrays, const char* name) {
    return std::any_of(arrays.begin(), arrays.end(), [&](const PieceArray& array) { return array.name == name; });
  };
  return index.whole_points && index.whole_cells && has(index.point_arrays, owner_array) &&
         has(index.point_arrays, global_point_ids) && has(index.cell_arrays, global_cell_ids);
}

template <int Corners>
PartData<Corners> part_of(const PieceIndex& index, std::uint32_t part, Dataset&& piece) {
  PartData<Corners> result;
  MeshPart<Corners>& own = result.part;
  own.whole_vertices = index.whole_points.value_or(0);
  own.whole_elements = index.whole_cells.value_or(0);
  result.point_data = std::move(piece.point_data);
  result.cell_data = std::move(piece.block<Corners>().data);
  own.mesh = take_mesh<Corners>(piece);
  if (own.mesh.vertex_count() == 0) return result;

  own.global_vertex = taken_ids(result.point_data, global_point_ids, index, part, own.whole_vertices);
  const std::vector<std::int64_t> owner = whole_numbers(taken(result.point_data, owner_array, index, part));
  if (own.mesh.element_count() > 0)
    own.global_element = taken_ids(result.cell_data, global_cell_ids, index, part, own.whole_elements);
  drop_bookkeeping(result.point_data);
  drop_bookkeeping(result.cell_data);
  const auto ghost = std::find_if(owner.begin(), owner.end(), [&](std::int64_t p) { return p != part; });
  own.owned = static_cast<std::size_t>(ghost - owner.begin());
  const auto known = [&](std::int64_t p) {
    return p >= 0 && static_cast<std::size_t>(p) < index.pieces.size() && p != part;
  };
  if (!std::all_of(ghost, owner.end(), known) || !is_sound(own))
    index.bad_piece(part,
                    "does not fit the list as part {} of {} (the list has lost a piece or has them in another order, "
                    "or ids and owners in the piece are wrong)",
                    part, index.pieces.size());
  own.ghost_owner.assign(ghost, owner.end());
  return result;
}

PieceFile::PieceFile(fs::path index, std::size_t piece, Overwrite overwrite)
    : index_(std::move(index)), target_(piece_path(index_, piece)) {
  std::error_code error;
  fs::create_directories(target_.parent_path(), error);  // another process may have been first, which is no error
  if (!fs::is_directory(target_.parent_path()))
    throw RuntimeError(fmt::format("the folder for its pieces cannot be made ({}: {}); choose another name",
                                   target_.parent_path().string(), error.message()),
                       index_.string());
  file_.emplace(target_, overwrite);
}

PieceFile::~PieceFile() {
  if (!kept_) file_->restore();
  file_.reset();
  std::error_code ignored;
  if (!kept_) fs::remove(target_.parent_path(), ignored);  // only when it is empty
}

void PieceFile::write(const Dataset& piece) {
  write_vtk_piece({target_, file_->path()}, piece, piece_kind_of(index_).value_or(PieceKind::grid));
}

void PieceFile::write(const Image& piece, const ImageGrid& whole, const IndexBox& box) {
  write_vti_piece({target_, file_->path()}, piece, whole, box);
}

void PieceFile::commit() {
  if (committed_) return;
  file_->commit();
  committed_ = true;
}

void write_set_index(const AtomicFile& file, const fs::path& path, PieceIndex index, std::size_t pieces) {
  index.path = path;
  index.pieces.clear();
  for (std::size_t piece = 0; piece < pieces; ++piece) index.pieces.push_back(piece_path(path, piece));
  write_piece_index({path, file.path()}, index);
}

template <int Corners>
PieceIndex part_index(const fs::path& path, const PartData<Corners>& data) {
  // The arrays of one vertex and one element tell all that an index says.
  const auto first_tuples = [](const DataArrays& from, DataArrays& to) {
    for (const DataArray& array : from.all()) to.set(chosen_tuples(array, std::vector<std::size_t>{0}));
  };
  PartData<Corners> sample;
  first_tuples(data.point_data, sample.point_data);
  first_tuples(data.cell_data, sample.cell_data);
  MeshPart<Corners>& tiny = sample.part;
  tiny.mesh.points.resize(1);
  tiny.mesh.elements.resize(1);
  for (VertexId& v : tiny.mesh.elements[0]) v = VertexId(0);
  tiny.owned = 1;
  tiny.global_vertex = tiny.global_element = {0};
  PieceIndex index = mesh_index(piece_of(std::move(sample), 0), piece_kind_of(path).value_or(PieceKind::grid));
  index.ghost_level = 1;
  index.whole_points = data.part.whole_vertices;
  index.whole_cells = data.part.whole_elements;
  return index;
}

template Dataset piece_of(PartData<3>, std::uint32_t);
template Dataset piece_of(PartData<4>, std::uint32_t);
template PartData<3> part_of(const PieceIndex&, std::uint32_t, Dataset&&);
template PartData<4> part_of(const PieceIndex&, std::uint32_t, Dataset&&);
template PieceIndex part_index(const fs::path&, const PartData<3>&);
template PieceIndex part_index(const fs::path&, const PartData<4>&);

void check_set_writable(const fs::path& path, Overwrite overwrite) {
  check_output_file(path, overwrite);
  std::error_code ignored;
  if (overwrite == Overwrite::no && fs::exists(piece_path(path, 0), ignored)) refuse_replacing(piece_path(path, 0));
}

void write_set(Communicator& communicator, const fs::path& path, const PieceIndex& index, const SetWriters& writers,
               Overwrite overwrite, const std::function<void(PieceFile&)>& write) {
  std::optional<PieceFile> file;
  std::optional<AtomicFile> index_file;
  all_or_none(communicator, [&] {
    if (communicator.index() < writers.pieces) file.emplace(path, communicator.index(), overwrite);
    if (communicator.index() == writers.index) index_file.emplace(path, overwrite);
  });
  SetFiles files(communicator, path, file ? &*file : nullptr, index_file ? &*index_file : nullptr, writers);
  all_or_none(communicator, [&] {
    if (file) write(*file);
    if (index_file) write_set_index(*index_file, path, index, writers.pieces);
  });
  files.share_identities(communicator);
  if (overwrite == Overwrite::yes) {
    files.start_replacing(communicator);
  } else {
    // Of two jobs at once the one with the first piece has the name; the other has nothing to remove but its own files.
    all_or_none(communicator, [&] {
      const fs::path piece = piece_path(path, communicator.index());
      if (file && communicator.index() == 0) file->commit();
      else if (file && fs::is_regular_file(piece)) refuse_replacing(piece);
    });
  }
  all_or_none(communicator, [&] {
    if (file) file->commit();
  });
  all_or_none(communicator, [&] {
    if (!index_file) return;
    if (!fs::exists(index_file->path())) throw Cancelled();  // another process was told to stop
    index_file->commit();
  });
  files.keep();
  if (index_file && overwrite == Overwrite::yes) remove_pieces(path, writers.pieces);
}

void remove_set(const fs::path& path) {
  std::error_code ignored;
  fs::remove(follow_links(path), ignored);
  remove_pieces(path, 0);
  fs::remove(piece_path(path, 0).parent_path(), ignored);
}

void check_set_name(const fs::path& path, Overwrite overwrite) {
  if (!is_mesh_set(path)) throw UsageError("is no set of pieces of a mesh; use .pvtu or .pvtp", path.string());
  check_set_writable(path, overwrite);
}

template <int Corners>
void check_set_holds(const fs::path& path) {
  if (Corners == 4 && piece_kind_of(path) == PieceKind::surface)
    throw UsageError(".pvtp files cannot hold tetrahedra; use .pvtu", path.string());
}

template <int Corners>
void write_parts(Communicator& communicator, const fs::path& path, PartData<Corners> data, Overwrite overwrite) {
  const std::size_t writer = index_writer(communicator, data);
  PieceIndex index;
  if (communicator.index() == writer) index = part_index(path, data);
  share_announced(communicator, writer, index);
  write_set(communicator, path, index, {communicator.ranks(), writer}, overwrite, [&](PieceFile& file) {
    Dataset piece = piece_of(std::move(data), static_cast<std::uint32_t>(communicator.index()));
    add_missing(index.point_arrays, piece.point_data);
    add_missing(index.cell_arrays, piece.block<Corners>().data);
    file.write(piece);
  });
}

template void check_set_holds<3>(const fs::path&);
template void check_set_holds<4>(const fs::path&);
template void write_parts(Communicator&, const fs::path&, PartData<3>, Overwrite);
template void write_parts(Communicator&, const fs::path&, PartData<4>, Overwrite);

}  // namespace isochron
