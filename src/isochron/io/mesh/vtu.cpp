#include <atomic>

#include "isochron/io/mesh/formats.h"
#include "isochron/io/mesh/stored_mesh.h"

namespace isochron {
namespace {

/// Several pieces become one list of points, cells and values.
class MeshJoiner {
 public:
  MeshJoiner(const VtkXmlFile& file, Dataset& dataset, CornerOrder order)
      : file_(file), dataset_(dataset), sorter_(dataset, file.path(), order) {}

  void add_points(const XmlPiece& piece) {
    const std::uint64_t count = whole_attribute(file_.xml(), piece.element, "NumberOfPoints");
    const XmlSection* section = piece.find("Points");
    if (count == 0 && (section == nullptr || section->arrays.empty())) return;
    if (section == nullptr || section->arrays.empty()) file_.fail("the points are missing");
    const XmlArray& array = section->arrays[0];
    if (array.format == "ascii") return copy_points(file_.read(array, count));
    const XmlBytes bytes = file_.bytes(array);
    file_.check_fits(array, bytes.text.size() / size_of(array.type), count);
    check_coordinates(array.components);
    GrowingVector places(dataset_.points, count);
    with_type(array.type, [&]<class T>() {
      bytes.read_items(3 * sizeof(T), [&](std::size_t first, std::size_t some, const char* from) {
        Vec3d* const to = places.up_to(first + some) + first;
        for (std::size_t i = 0; i < some; ++i)
          for (int k = 0; k < 3; ++k, from += sizeof(T))
            to[i][k] = static_cast<double>(value_at<T>(from, file_.byte_order()));
      });
    });
  }

  /// The cells of a section, all of one kind or of those in the array `types`. `before` points are of earlier pieces.
  void add_cells(const XmlSection* section, int kind, std::size_t before) {
    if (section == nullptr || section->arrays.empty()) return;
    const XmlArray* ids = section->find("connectivity");
    const XmlArray* ends = section->find("offsets");
    if (ids == nullptr || ends == nullptr) file_.fail("the cells have no connectivity or no offsets");
    std::vector<std::uint8_t> kinds;
    if (kind == 0) {
      const XmlArray* types = section->find("types");
      if (types == nullptr) file_.fail("the cells have no types");
      std::visit([&](auto&& list) { kinds = cell_kinds_in(std::move(list)); }, file_.values(*types));
    }
    const XmlBytes id_bytes = file_.bytes(*ids), end_bytes = file_.bytes(*ends);
    const bool even = add_even<4>({*ids, id_bytes}, {*ends, end_bytes}, kinds, kind, before) ||
                      add_even<3>({*ids, id_bytes}, {*ends, end_bytes}, kinds, kind, before);
    if (even) return;
    std::visit(
        [&](const auto& id_values, const auto& end_values) {
          if constexpr (std::is_integral_v<typename std::decay_t<decltype(id_values)>::value_type>) {
            if (kind == 0 && kinds.size() != end_values.size())
              file_.fail("the numbers of cells and of cell types differ ({} and {})", end_values.size(), kinds.size());
            sorter_.reserve(kinds);
            add_runs(id_values, end_values, before, [&](std::size_t i) { return kind == 0 ? int{kinds[i]} : kind; });
          } else {
            file_.fail("the connectivity of the cells is no array of whole numbers");
          }
        },
        file_.values(*ids, id_bytes), file_.values(*ends, end_bytes));
  }

  CellSorter& sorter() { return sorter_; }

 private:
  /// Ids of points of a piece, as they are in the whole mesh. Others stay as they are, to be refused.
  [[nodiscard]] std::int64_t id_in_whole(std::int64_t id, std::size_t before) const {
    const bool known = id >= 0 && id < static_cast<std::int64_t>(dataset_.points.size());
    return known ? id + static_cast<std::int64_t>(before) : id;
  }

  void check_coordinates(int components) const {
    if (components != 3) file_.fail("the points do not have three coordinates");
  }
  void copy_points(const DataArray& array) {
    check_coordinates(array.components);
    for (std::size_t i = 0; i < array.tuple_count(); ++i)
      dataset_.points.push_back({array.at(i, 0), array.at(i, 1), array.at(i, 2)});
  }

  /// Whole numbers of a file that are not text.
  struct Numbers {
    const XmlArray& array;
    const XmlBytes& bytes;

    [[nodiscard]] std::size_t count() const { return bytes.text.size() / size_of(array.type); }
  };

  /// Adds the cells where all are triangles, or tetrahedra. False where they are not, or where they are text.
  template <int Corners>
  bool add_even(const Numbers& ids, const Numbers& ends, std::span<const std::uint8_t> kinds, int kind,
                std::size_t before) {
    const auto fits = [](int of_cell) {
      return Corners == 4 ? of_cell == kind_tetra : of_cell == kind_triangle || of_cell == kind_polygon;
    };
    const std::size_t cells = ends.count();
    if (cells == 0 || ids.count() != Corners * cells || (kind == 0 ? kinds.size() != cells : !fits(kind))) return false;
    const auto is_other = [&](std::size_t i) { return !fits(kinds[i]); };
    if (parallel_find(usual_threads(), kinds.size(), is_other) < kinds.size()) return false;
    std::atomic<bool> even{true};
    with_type(ends.array.type, [&]<class T>() {
      using Wide = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;
      ends.bytes.read_items(sizeof(T), [&](std::size_t first, std::size_t some, const char* from) {
        bool good = true;
        for (std::size_t i = 0; i < some; ++i, from += sizeof(T)) {
          const auto end = static_cast<Wide>(to_stored(value_at<T>(from, file_.byte_order())));
          good = good && end == static_cast<Wide>(Corners * (first + i + 1));
        }
        if (!good) even = false;
      });
    });
    if (!even) return false;
    return with_type(ids.array.type, [&]<class T>() {
      if constexpr (!std::is_integral_v<T>) {
        return false;
      } else {
        sorter_.add_simplices<Corners>(cells, [&](const auto& take) {
          ids.bytes.read_items(Corners * sizeof(T), [&](std::size_t first, std::size_t some, const char* from) {
            take(first, some, [&](std::size_t i, int k) {
              const T id =
                  value_at<T>(from + (Corners * i + static_cast<std::size_t>(k)) * sizeof(T), file_.byte_order());
              return id_in_whole(static_cast<std::int64_t>(to_stored(id)), before);
            });
          });
        });
        return true;
      }
    });
  }

  static std::vector<std::uint8_t> cell_kinds_in(std::vector<std::uint8_t> kinds) { return kinds; }
  template <class List>
  std::vector<std::uint8_t> cell_kinds_in(const List& list) {
    std::vector<std::uint8_t> kinds;
    kinds.reserve(list.size());
    for (const auto number : list) {
      const auto kind = converted<std::uint8_t>(number);
      if (!kind) file_.fail("cell {} is of type {}, which there is not", kinds.size(), number);
      kinds.push_back(*kind);
    }
    return kinds;
  }

  template <class Ids, class Ends, class KindOf>
  void add_runs(const Ids& ids, const Ends& ends, std::size_t before, KindOf&& kind_of) {
    std::vector<std::int64_t> cell;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      const auto end = converted<std::size_t>(ends[i]);
      if (!end || *end < begin || *end > ids.size())
        file_.fail("the offsets of cell {} do not fit the connectivity", i);
      cell.assign(ids.begin() + static_cast<std::ptrdiff_t>(begin), ids.begin() + static_cast<std::ptrdiff_t>(*end));
      for (std::int64_t& id : cell) id = id_in_whole(id, before);
      sorter_.add(kind_of(i), std::span<const std::int64_t>(cell));
      begin = *end;
    }
  }

  const VtkXmlFile& file_;
  Dataset& dataset_;
  CellSorter sorter_;
};

struct Counted {
  const XmlPiece* piece;
  std::size_t tuples;
};

/// Whether an array has to be read.
using IsWanted = std::function<bool(ArrayPlace, std::string_view name)>;

/// The arrays of a section that are wanted and that every piece has; those that some lack are left out with a warning.
template <class Take>
void join_sections(const VtkXmlFile& file, ArrayPlace place, const std::vector<Counted>& pieces,
                   const IsWanted& is_wanted, std::vector<std::string>& warnings, Take&& take) {
  const std::string_view name = place == ArrayPlace::points ? "PointData" : "CellData";
  const XmlSection* first = pieces.empty() ? nullptr : pieces[0].piece->find(name);
  if (first == nullptr) return;
  for (const XmlArray& wanted : first->arrays) {
    if (!is_wanted(place, wanted.name)) continue;
    DataArray joined = file.read(wanted, pieces[0].tuples);
    bool everywhere = true;
    for (std::size_t i = 1; i < pieces.size(); ++i) {
      const XmlSection* section = pieces[i].piece->find(name);
      const XmlArray* array = section != nullptr ? section->find(wanted.name) : nullptr;
      everywhere = array != nullptr && array->components == wanted.components && array->type == wanted.type;
      if (!everywhere) break;
      const DataArray more = file.read(*array, pieces[i].tuples);
      std::visit(
          [&](auto& to) {
            const auto& from = std::get<std::decay_t<decltype(to)>>(more.values);
            to.insert(to.end(), from.begin(), from.end());
          },
          joined.values);
    }
    if (everywhere) take(std::move(joined));
    else warnings.push_back(fmt::format("array '{}' is left out (not every piece has it)", wanted.name));
  }
}

struct CellSection {
  const char* name;
  int kind;  // 0: see the types in it
};

constexpr std::array grid_sections{CellSection{"Cells", 0}};

/// `choose(dataset, cells)` tells which arrays are wanted, when there are all points and so many cells.
template <class Choose>
Dataset read_mesh(const VtkXmlFile& file, const char* kind, std::span<const CellSection> sections, CornerOrder order,
                  Choose&& choose) {
  file.expect_kind(kind);
  Dataset dataset;
  std::vector<Counted> with_points, with_cells;
  std::vector<std::size_t> before;
  MeshJoiner joiner(file, dataset, order);
  for (const XmlPiece& piece : file.pieces()) {
    before.push_back(dataset.points.size());
    joiner.add_points(piece);
    if (dataset.points.size() > before.back()) with_points.push_back({&piece, dataset.points.size() - before.back()});
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    const std::size_t cells = joiner.sorter().cell_count();
    const XmlPiece& piece = file.pieces()[i];
    for (const CellSection& section : sections) {
      const std::size_t others = joiner.sorter().cell_count();
      joiner.add_cells(piece.find(section.name), section.kind, before[i]);
      const std::string announced = fmt::format("NumberOf{}", section.name);
      if (!piece.element.attribute(announced)) continue;
      const std::uint64_t wanted = whole_attribute(file.xml(), piece.element, announced);
      if (const std::size_t found = joiner.sorter().cell_count() - others; found != wanted)
        file.fail("{} is {}, but there are {}", announced, wanted, found);
    }
    if (joiner.sorter().cell_count() > cells) with_cells.push_back({&piece, joiner.sorter().cell_count() - cells});
  }
  const IsWanted is_wanted = choose(std::as_const(dataset), joiner.sorter().cell_count());
  join_sections(file, ArrayPlace::points, with_points, is_wanted, dataset.warnings,
                [&](DataArray array) { add_named(dataset.point_data, std::move(array), "point_array"); });
  join_sections(file, ArrayPlace::cells, with_cells, is_wanted, dataset.warnings,
                [&](DataArray array) { joiner.sorter().add_array(std::move(array)); });
  return dataset;
}

// ---- writing ----

template <class Int, std::size_t Corners>
void write_ids(ByteWriter& writer, const std::vector<std::array<VertexId, Corners>>& cells) {
  if constexpr (sizeof(Int) == sizeof(VertexId)) {
    writer.write(cells.data(), cells.size() * sizeof(cells[0]));
  } else {
    write_each<Int>(writer, Corners * cells.size(), native_encoding,
                    [&](std::size_t i) { return cells[i / Corners][i % Corners].value; });
  }
}
template <class Int>
void write_ids(ByteWriter& writer, const std::vector<std::vector<VertexId>>& lines) {
  for (const auto& line : lines)
    for (const VertexId id : line) write_value(writer, static_cast<Int>(id.value), native_encoding);
}

template <class Int, std::size_t Corners>
void write_ends(ByteWriter& writer, const std::vector<std::array<VertexId, Corners>>& cells, std::uint64_t& end) {
  write_each<Int>(writer, cells.size(), native_encoding, [&](std::size_t i) { return end + Corners * (i + 1); });
  end += Corners * cells.size();
}
template <class Int>
void write_ends(ByteWriter& writer, const std::vector<std::vector<VertexId>>& lines, std::uint64_t& end) {
  for (const auto& line : lines) write_value(writer, static_cast<Int>(end += line.size()), native_encoding);
}

// connectivity and offsets of some of the blocks, one after the other.
template <class... Cells>
void cell_lists(VtkXmlWriter& xml, std::size_t points, const Cells&... blocks) {
  const std::size_t cells = (std::size_t{0} + ... + blocks.size());
  const std::size_t corners = (std::size_t{0} + ... + corner_count(blocks));
  const bool small = std::max(points, corners) <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
  const ScalarType type = small ? ScalarType::int32 : ScalarType::int64;
  with_type(type, [&]<class Int>() {
    if constexpr (std::is_integral_v<Int>) {
      xml.array("connectivity", type, 1, corners * sizeof(Int),
                [&blocks...](ByteWriter& writer) { (write_ids<Int>(writer, blocks), ...); });
      xml.array("offsets", type, 1, cells * sizeof(Int), [&blocks...](ByteWriter& writer) {
        std::uint64_t end = 0;
        (write_ends<Int>(writer, blocks, end), ...);
      });
    }
  });
}

/// Points and cells are those that are stored, where there are such.
void points_section(VtkXmlWriter& xml, const Dataset& dataset, ScalarType type, const StoredMesh* stored) {
  xml.print("      <Points>\n");
  if (stored != nullptr) xml.array(stored->points());
  else
    xml.array("Points", type, 3, 3 * dataset.points.size() * size_of(type),
              [&dataset, type](ByteWriter& writer) { write_points(writer, dataset.points, type, native_encoding); });
  xml.print("      </Points>\n");
}

void grid_lists(VtkXmlWriter& xml, const Dataset& dataset) {
  cell_lists(xml, dataset.points.size(), dataset.tets.cells, dataset.triangles.cells, dataset.lines);
  const std::size_t cells = dataset.tets.cells.size() + dataset.triangles.cells.size() + dataset.lines.size();
  xml.array("types", ScalarType::uint8, 1, cells, [&dataset](ByteWriter& writer) {
    for_each_block(dataset, [&](CellKind kind, const auto& block, const DataArrays&) {
      write_each<std::uint8_t>(writer, block.size(), native_encoding,
                               [&](std::size_t i) { return vtk_kind(kind, block[i].size()); });
    });
  });
}

void grid_cells(VtkXmlWriter& xml, const Dataset& dataset, const StoredMesh* stored) {
  xml.print("      <Cells>\n");
  if (stored == nullptr) grid_lists(xml, dataset);
  else
    for (const StoredArray& array : stored->cells()) xml.array(array);
  xml.print("      </Cells>\n");
}

void surface_cells(VtkXmlWriter& xml, const Dataset& dataset) {
  xml.print("      <Lines>\n");
  cell_lists(xml, dataset.points.size(), dataset.lines);
  xml.print("      </Lines>\n      <Polys>\n");
  cell_lists(xml, dataset.points.size(), dataset.triangles.cells);
  xml.print("      </Polys>\n");
}

/// Values on points or cells; an attribute names the array that holds the ids in a larger mesh, where there is one.
void data_section(VtkXmlWriter& xml, ArrayPlace place, std::span<const ArrayBlock> blocks, const DataArrays& data,
                  const StoredMesh* stored) {
  const bool on_points = place == ArrayPlace::points;
  const char* ids = on_points ? global_point_ids : global_cell_ids;
  const bool has_ids = data.find(ids) != nullptr || (stored != nullptr && stored->has(place, ids));
  xml.arrays(on_points ? "PointData" : "CellData", blocks, has_ids ? fmt::format(" GlobalIds=\"{}\"", ids) : "",
             stored != nullptr ? stored->arrays(place) : std::span<const StoredArray>());
}

void write_mesh(const OutputFile& file, const Dataset& dataset, PieceKind kind, ScalarType point_type,
                const StoredMesh* stored = nullptr) {
  const bool grid = kind == PieceKind::grid;
  VtkXmlWriter xml(file, grid ? "UnstructuredGrid" : "PolyData", {},
                   stored != nullptr ? stored->file().encoding() : XmlEncoding{});
  const std::size_t points = dataset.points.size(), lines = dataset.lines.size(),
                    triangles = dataset.triangles.cells.size(), tets = dataset.tets.cells.size();
  if (grid) xml.print("    <Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n", points, tets + triangles + lines);
  else
    xml.print(
        "    <Piece NumberOfPoints=\"{}\" NumberOfVerts=\"0\" NumberOfLines=\"{}\" NumberOfStrips=\"0\" "
        "NumberOfPolys=\"{}\">\n",
        points, lines, triangles);
  data_section(xml, ArrayPlace::points, std::array{point_block(dataset)}, dataset.point_data, stored);
  data_section(xml, ArrayPlace::cells, cell_blocks(dataset, kind), grid ? dataset.tets.data : dataset.triangles.data,
               stored);
  points_section(xml, dataset, point_type, stored);
  if (grid) grid_cells(xml, dataset, stored);
  else surface_cells(xml, dataset);
  xml.finish();
}

}  // namespace

Dataset read_vtu(const std::filesystem::path& path, const ArrayNames& wanted) {
  return read_vtk_piece(path, PieceKind::grid, CornerOrder::ids, wanted);
}
Dataset read_vtp(const std::filesystem::path& path, const ArrayNames& wanted) {
  return read_vtk_piece(path, PieceKind::surface, CornerOrder::ids, wanted);
}

Dataset read_vtk_piece(const std::filesystem::path& path, PieceKind kind, CornerOrder order, const ArrayNames& wanted) {
  const VtkXmlFile file(path);
  const auto choose = [&](const Dataset&, std::size_t) -> IsWanted {
    return [&](ArrayPlace, std::string_view name) { return may_be_wanted(name, wanted); };
  };
  if (kind == PieceKind::grid) return read_mesh(file, "UnstructuredGrid", grid_sections, order, choose);
  return read_mesh(file, "PolyData",
                   std::array{CellSection{"Verts", kind_poly_vertex}, CellSection{"Lines", kind_poly_line},
                              CellSection{"Polys", kind_polygon}, CellSection{"Strips", kind_triangle_strip}},
                   order, choose);
}

MeshToKeep read_vtu_to_keep(const std::filesystem::path& path, const ArrayUse& use) {
  const auto stored = std::make_shared<StoredMesh>(path);
  bool taken = false;
  const auto choose = [&](const Dataset& dataset, std::size_t cells) -> IsWanted {
    taken = stored->take(dataset, cells, use);
    if (!taken) return [names = use.names()](ArrayPlace, std::string_view name) { return may_be_wanted(name, names); };
    return [&](ArrayPlace place, std::string_view name) {
      return may_be_wanted(name, use.used) || (use.keeps(place, name) && !stored->has(place, name));
    };
  };
  MeshToKeep result{read_mesh(stored->file(), "UnstructuredGrid", grid_sections, CornerOrder::ids, choose), nullptr};
  if (!taken) return result;
  stored->forget_values();
  result.stored = stored;
  return result;
}

ArrayBlock point_block(const Dataset& d) { return {&d.point_data, d.points.size(), "points"}; }

std::vector<ArrayBlock> cell_blocks(const Dataset& d, PieceKind kind) {
  const ArrayBlock tets{&d.tets.data, d.tets.cells.size(), "tets"};
  const ArrayBlock triangles{&d.triangles.data, d.triangles.cells.size(), "triangles"};
  const ArrayBlock lines{&d.line_data, d.lines.size(), "lines"};
  if (kind == PieceKind::surface) return {lines, triangles};
  return {tets, triangles, lines};
}

void write_vtu(std::span<const OutputFile> files, const Dataset& dataset) {
  write_mesh(files[0], dataset, PieceKind::grid, smallest_type(dataset.points));
}

void write_vtu(const OutputFile& file, const Dataset& dataset, const StoredMesh& stored) {
  stored.file().require_unchanged();
  write_mesh(file, dataset, PieceKind::grid, ScalarType::float64, &stored);
  stored.file().require_unchanged();
}

void write_vtp(std::span<const OutputFile> files, const Dataset& dataset) {
  write_mesh(files[0], dataset, PieceKind::surface, smallest_type(dataset.points));
}

void write_vtk_piece(const OutputFile& file, const Dataset& dataset, PieceKind kind) {
  write_mesh(file, dataset, kind, ScalarType::float64);
}

}  // namespace isochron
