#include "isochron/io/part_output.h"

#include <sstream>
#include <system_error>

#include <fmt/format.h>

#include "isochron/core/error.h"
#include "isochron/io/part_file.h"
#include "isochron/io/piece_index.h"
#include "isochron/mesh/agreement.h"

namespace isochron {
namespace {

namespace fs = std::filesystem;

/// The lowest process that has something an index can be made of.
template <int Corners>
std::size_t index_writer(Exchange& exchange, const PartData<Corners>& data) {
  std::vector<std::uint64_t> elements(exchange.ranks(), 0);
  elements[exchange.rank()] = data.part.mesh.element_count();
  exchange.sum(elements);
  std::size_t writer = 0;
  while (writer + 1 < elements.size() && elements[writer] == 0) ++writer;
  return writer;
}

/// All processes together: the arrays that the writer of the index announces.
void share_announced(Exchange& exchange, std::size_t writer, PieceIndex& index) {
  std::string text;
  if (exchange.rank() == writer)
    for (const auto* arrays : {&index.point_arrays, &index.cell_arrays})
      for (const PieceArray& array : *arrays)
        text += fmt::format("{} {} {} {}\n", arrays == &index.point_arrays ? 'p' : 'c', static_cast<int>(array.type),
                            array.components, array.name);
  const std::vector<char> bytes(text.begin(), text.end());
  const std::vector<char> told = exchange_values(exchange, std::vector(exchange.ranks(), bytes))[writer];
  index.point_arrays.clear();
  index.cell_arrays.clear();
  std::istringstream lines(std::string(told.begin(), told.end()));
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
    if (data.find(array.name) == nullptr)
      data.set({array.name, array.components,
                with_type(array.type, []<class T>() -> DataArray::Values { return std::vector<Stored<T>>(); })});
}

/// Pieces of an old set that had more.
void remove_old_pieces(const fs::path& path, std::size_t first) {
  std::error_code ignored;
  while (fs::remove(piece_path(path, first), ignored)) ++first;
}

/// The files of a set that all processes write. Whoever is left removes all of them when one process is killed.
class SetFiles {
 public:
  /// `own` is where this process writes first.
  SetFiles(Exchange& exchange, const fs::path& index, const fs::path& own) : index_(index) {
    const std::string name = own.string();
    const std::vector<char> text(name.begin(), name.end());
    for (const auto& told : exchange_values(exchange, std::vector(exchange.ranks(), text)))
      files_.emplace_back(std::string(told.begin(), told.end()));
  }
  ~SetFiles() {
    std::error_code ignored;
    for (const fs::path& file : files_) fs::remove(file, ignored);
  }
  SetFiles(const SetFiles&) = delete;
  SetFiles& operator=(const SetFiles&) = delete;

  /// From now on pieces have their own names, and there may be an index. That is the first to go: it stands for all.
  void start_renaming() {
    const std::size_t pieces = files_.size();
    files_.insert(files_.begin(), index_);
    for (std::size_t piece = 0; piece < pieces; ++piece) files_.push_back(piece_path(index_, piece));
  }
  void keep() { files_.clear(); }

 private:
  fs::path index_;
  std::vector<fs::path> files_;
};

}  // namespace

void check_set_name(const fs::path& path, Overwrite overwrite) {
  if (!is_mesh_set(path))
    throw UsageError(fmt::format("{}: is no set of pieces of a mesh; use .pvtu or .pvtp", path.string()));
  check_output_file(path, overwrite);
  std::error_code ignored;
  if (overwrite == Overwrite::no && fs::exists(piece_path(path, 0), ignored))
    throw InputError(
        fmt::format("{}: exists already (it would be replaced); allow that (--force) or choose another name",
                    piece_path(path, 0).string()));
}

template <int Corners>
void check_set_holds(const fs::path& path) {
  if (Corners == 4 && piece_kind_of(path) == PieceKind::surface)
    throw UsageError(fmt::format("{}: .pvtp files cannot hold tetrahedra; use .pvtu", path.string()));
}

template <int Corners>
void write_parts(Exchange& exchange, const fs::path& path, PartData<Corners> data) {
  const std::size_t writer = index_writer(exchange, data);
  PieceIndex index;
  if (exchange.rank() == writer) index = part_index(path, data);
  std::optional<PieceFile> file;
  all_or_none(exchange, [&] { file.emplace(path, exchange.rank()); });
  SetFiles files(exchange, path, file->temporary());
  share_announced(exchange, writer, index);
  all_or_none(exchange, [&] {
    Dataset piece = piece_of(std::move(data), static_cast<std::uint32_t>(exchange.rank()));
    add_missing(index.point_arrays, piece.point_data);
    add_missing(index.cell_arrays, piece.block<Corners>().data);
    file->write(piece);
  });
  // Pieces replace old ones one by one, so that the old set is none from here on.
  all_or_none(exchange, [&] {
    std::error_code ignored;
    if (exchange.rank() == writer) fs::remove(path, ignored);
  });
  files.start_renaming();
  all_or_none(exchange, [&] { file->commit(); });
  all_or_none(exchange, [&] {
    if (exchange.rank() == writer) commit_piece_index(path, std::move(index), exchange.ranks());
  });
  file->keep();
  files.keep();
  if (exchange.rank() == writer) remove_old_pieces(path, exchange.ranks());
}

template void check_set_holds<3>(const fs::path&);
template void check_set_holds<4>(const fs::path&);
template void write_parts(Exchange&, const fs::path&, PartData<3>);
template void write_parts(Exchange&, const fs::path&, PartData<4>);

}  // namespace isochron
