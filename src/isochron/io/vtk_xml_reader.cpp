#include "isochron/io/vtk_xml_reader.h"

#include <array>
#include <span>

#include <fmt/format.h>

#include "isochron/io/cell_sorter.h"
#include "isochron/io/image_joiner.h"
#include "isochron/io/text_scanner.h"

namespace isochron {
namespace {

void expect_kind(const VtkXmlFile& file, std::string_view kind) {
  if (file.kind() != kind)
    file.fail(fmt::format("is a VTK file of another kind ({}, not {})", in_quotes(file.kind()), kind));
}

/// Several pieces become one list of points, cells and values.
class MeshJoiner {
 public:
  MeshJoiner(const VtkXmlFile& file, Dataset& dataset)
      : file_(file), dataset_(dataset), sorter_(dataset, file.path().string()) {}

  void add_points(const XmlPiece& piece) {
    const std::uint64_t count = whole_attribute(file_.xml(), piece.element, "NumberOfPoints");
    const XmlSection* section = piece.find("Points");
    if (count == 0 && (section == nullptr || section->arrays.empty())) return;
    if (section == nullptr || section->arrays.empty()) file_.fail("the points are missing");
    const DataArray array = file_.read(section->arrays[0], count);
    if (array.components != 3) file_.fail("the points do not have three coordinates");
    dataset_.points.reserve(dataset_.points.size() + count);
    std::visit(
        [&](const auto& v) {
          for (std::size_t i = 0; i + 2 < v.size(); i += 3)
            dataset_.points.push_back(
                {static_cast<double>(v[i]), static_cast<double>(v[i + 1]), static_cast<double>(v[i + 2])});
        },
        array.values);
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
      std::visit([&](const auto& v) { kinds.assign(v.begin(), v.end()); }, file_.values(*types));
      std::array<std::size_t, 256> counts{};
      for (const std::uint8_t one : kinds) ++counts[one];
      for (int k = 0; k < 256; ++k) sorter_.reserve(k, counts[static_cast<std::size_t>(k)]);
    }
    std::visit(
        [&](const auto& id_values, const auto& end_values) {
          if constexpr (std::is_integral_v<typename std::decay_t<decltype(id_values)>::value_type>) {
            if (kind == 0 && kinds.size() != end_values.size())
              file_.fail(fmt::format("the numbers of cells and of cell types differ ({} and {})", end_values.size(),
                                     kinds.size()));
            add_runs(id_values, end_values, before, [&](std::size_t i) { return kind == 0 ? int{kinds[i]} : kind; });
          } else {
            file_.fail("the connectivity of the cells is no array of whole numbers");
          }
        },
        file_.values(*ids), file_.values(*ends));
  }

  CellSorter& sorter() { return sorter_; }

 private:
  template <class Ids, class Ends, class KindOf>
  void add_runs(const Ids& ids, const Ends& ends, std::size_t before, KindOf&& kind_of) {
    std::vector<std::int64_t> cell;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      const auto end = static_cast<std::size_t>(ends[i]);
      if (ends[i] < 0 || end < begin || end > ids.size())
        file_.fail(fmt::format("the offsets of cell {} do not fit the connectivity", i));
      cell.assign(ids.begin() + static_cast<std::ptrdiff_t>(begin), ids.begin() + static_cast<std::ptrdiff_t>(end));
      for (std::int64_t& id : cell)
        if (id >= 0) id += static_cast<std::int64_t>(before);
      sorter_.add(kind_of(i), std::span<const std::int64_t>(cell));
      begin = end;
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

/// The arrays of a section that every piece has; those that some lack are left out with a warning.
template <class Take>
void join_sections(const VtkXmlFile& file, std::string_view name, const std::vector<Counted>& pieces,
                   std::vector<std::string>& warnings, Take&& take) {
  const XmlSection* first = pieces.empty() ? nullptr : pieces[0].piece->find(name);
  if (first == nullptr) return;
  for (const XmlArray& wanted : first->arrays) {
    DataArray joined = file.read(wanted, pieces[0].tuples);
    bool everywhere = true;
    for (std::size_t i = 1; i < pieces.size() && everywhere; ++i) {
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

Dataset read_mesh(const std::filesystem::path& path, const char* kind, std::span<const CellSection> sections) {
  const VtkXmlFile file(path);
  expect_kind(file, kind);
  Dataset dataset;
  std::vector<Counted> with_points, with_cells;
  std::vector<std::size_t> before;
  MeshJoiner joiner(file, dataset);
  for (const XmlPiece& piece : file.pieces()) {
    before.push_back(dataset.points.size());
    joiner.add_points(piece);
    if (dataset.points.size() > before.back()) with_points.push_back({&piece, dataset.points.size() - before.back()});
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    const std::size_t cells = joiner.sorter().cell_count();
    for (const CellSection& section : sections)
      joiner.add_cells(file.pieces()[i].find(section.name), section.kind, before[i]);
    if (joiner.sorter().cell_count() > cells)
      with_cells.push_back({&file.pieces()[i], joiner.sorter().cell_count() - cells});
  }
  joiner.sorter().finish();
  join_sections(file, "PointData", with_points, dataset.warnings,
                [&](DataArray array) { add_named(dataset.point_data, std::move(array), "point_array"); });
  join_sections(file, "CellData", with_cells, dataset.warnings,
                [&](DataArray array) { joiner.sorter().add_array(std::move(array)); });
  return dataset;
}

}  // namespace

Dataset read_vtu(const std::filesystem::path& path) {
  return read_mesh(path, "UnstructuredGrid", std::array{CellSection{"Cells", 0}});
}

Dataset read_vtp(const std::filesystem::path& path) {
  return read_mesh(path, "PolyData",
                   std::array{CellSection{"Verts", kind_poly_vertex}, CellSection{"Lines", kind_poly_line},
                              CellSection{"Polys", kind_polygon}, CellSection{"Strips", kind_triangle_strip}});
}

Image read_vti(const std::filesystem::path& path) {
  const VtkXmlFile file(path);
  expect_kind(file, "ImageData");
  ImageJoiner joiner(read_image_frame(file.xml(), path, file.element()), path);
  for (const XmlPiece& piece : file.pieces()) joiner.add(file, piece);
  return joiner.finish();
}

}  // namespace isochron
