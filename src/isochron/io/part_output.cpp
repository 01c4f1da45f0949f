#include "isochron/io/part_output.h"

#include <sstream>

#include <fmt/format.h>

#include "isochron/comm/collectives.h"
#include "isochron/core/error.h"
#include "isochron/io/part_file.h"
#include "isochron/io/piece_index.h"
#include "isochron/io/set_files.h"

namespace isochron {
namespace {

namespace fs = std::filesystem;

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
  const std::vector<char> told = exchange_values(communicator, std::vector(communicator.ranks(), bytes))[writer];
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

}  // namespace

void check_set_name(const fs::path& path, Overwrite overwrite) {
  if (!is_mesh_set(path))
    throw UsageError(fmt::format("{}: is no set of pieces of a mesh; use .pvtu or .pvtp", path.string()));
  check_set_writable(path, overwrite);
}

template <int Corners>
void check_set_holds(const fs::path& path) {
  if (Corners == 4 && piece_kind_of(path) == PieceKind::surface)
    throw UsageError(fmt::format("{}: .pvtp files cannot hold tetrahedra; use .pvtu", path.string()));
}

template <int Corners>
void write_parts(Communicator& communicator, const fs::path& path, PartData<Corners> data) {
  const std::size_t writer = index_writer(communicator, data);
  PieceIndex index;
  if (communicator.index() == writer) index = part_index(path, data);
  share_announced(communicator, writer, index);
  write_set(communicator, path, index, {communicator.ranks(), writer}, [&](PieceFile& file) {
    Dataset piece = piece_of(std::move(data), static_cast<std::uint32_t>(communicator.index()));
    add_missing(index.point_arrays, piece.point_data);
    add_missing(index.cell_arrays, piece.block<Corners>().data);
    file.write(piece);
  });
}

template void check_set_holds<3>(const fs::path&);
template void check_set_holds<4>(const fs::path&);
template void write_parts(Communicator&, const fs::path&, PartData<3>);
template void write_parts(Communicator&, const fs::path&, PartData<4>);

}  // namespace isochron
