#include <cmath>

#include "isochron/io/mesh/formats.h"

namespace isochron {
namespace {

constexpr TypeNames type_names[] = {{ScalarType::uint8, "UNSIGNED_CHAR"},
                                    {ScalarType::int8, "CHAR|SIGNED_CHAR"},
                                    {ScalarType::uint16, "UNSIGNED_SHORT"},
                                    {ScalarType::int16, "SHORT"},
                                    {ScalarType::uint32, "UNSIGNED_INT"},
                                    {ScalarType::int32, "INT|VTKIDTYPE"},
                                    {ScalarType::uint64, "UNSIGNED_LONG|VTKTYPEUINT64"},
                                    {ScalarType::int64, "VTKTYPEINT64|LONG"},
                                    {ScalarType::float32, "FLOAT"},
                                    {ScalarType::float64, "DOUBLE"}};

// Cells as the file lists them, before their kinds are known.
struct RawCells {
  std::vector<std::uint32_t> ids;
  std::vector<std::uint64_t> ends;
};

// What an array's type word means; bits and strings have no ScalarType.
struct FileType {
  enum Special { none, bit, string } special = none;
  ScalarType scalar = ScalarType::float64;
};

class LegacyReading {
 public:
  explicit LegacyReading(const std::filesystem::path& path) : reader_(path) {}

  Dataset run() {
    read_header();
    for (std::string word = upper_case(reader_.token()); !word.empty(); word = upper_case(reader_.token()))
      take_section(word);
    if (!have_points_) reader_.fail("the file has no POINTS");
    if (!sorter_) sort_cells();
    return std::move(dataset_);
  }

 private:
  enum class Attachment { nothing, points, cells };

  void read_header() {
    const auto first = reader_.line();
    constexpr std::string_view magic = "# vtk DataFile Version ";
    if (!first || !upper_case(*first).starts_with(upper_case(magic)))
      bad_file(reader_.path(),
               "this is no legacy VTK file (it does not begin with '# vtk DataFile Version'); check the extension");
    version5_ = first->size() > magic.size() && (*first)[magic.size()] >= '5';
    reader_.line();  // the title
    const std::string encoding = upper_case(reader_.require_token("ASCII or BINARY"));
    if (encoding != "ASCII" && encoding != "BINARY")
      reader_.fail("{} where ASCII or BINARY should be", in_quotes(encoding));
    encoding_ = encoding == "ASCII" ? Encoding::text : Encoding::big_endian;
    std::string word = upper_case(reader_.require_token("DATASET"));
    if (word == "FIELD") {  // VTK allows fields before the data set
      read_fields(Attachment::nothing);
      word = upper_case(reader_.require_token("DATASET"));
    }
    if (word != "DATASET") reader_.fail("{} where DATASET should be", in_quotes(word));
    const std::string kind = upper_case(reader_.require_token("the kind of data set"));
    if (kind != "POLYDATA" && kind != "UNSTRUCTURED_GRID")
      bad_file(reader_.path(),
               "the data set is of kind {}; give POLYDATA or UNSTRUCTURED_GRID (images go through .vti, .nii or .nrrd)",
               in_quotes(kind));
    grid_ = kind == "UNSTRUCTURED_GRID";
  }

  void take_section(const std::string& word) {
    if (word == "POINTS") read_points();
    else if (word == (grid_ ? "CELLS" : "VERTICES")) read_cells(cells_[0]);
    else if (word == "CELL_TYPES" && grid_) read_types();
    else if (word == "LINES" && !grid_) read_cells(cells_[1]);
    else if (word == "POLYGONS" && !grid_) read_cells(cells_[2]);
    else if (word == "TRIANGLE_STRIPS" && !grid_) read_cells(cells_[3]);
    else if (word == "METADATA") skip_metadata();
    else if (word == "POINT_DATA") start_data(Attachment::points);
    else if (word == "CELL_DATA") start_data(Attachment::cells);
    else if (word == "FIELD") read_fields(attachment_);
    else if (attachment_ != Attachment::nothing) take_attribute(word);
    else reader_.fail("unknown keyword {}", in_quotes(word));
  }

  // Binary values begin right behind the end of the line that announces them.
  void end_header_line() {
    if (encoding_ != Encoding::text) reader_.line();
  }

  std::size_t min_item_bytes() const { return encoding_ == Encoding::text ? 2 : 1; }

  FileType parse_type() {
    const std::string word = upper_case(reader_.require_token("a data type"));
    if (word == "BIT") return {FileType::bit, ScalarType::uint8};
    if (word == "STRING" || word == "UTF8_STRING") return {FileType::string, ScalarType::uint8};
    const auto type = type_named(type_names, word);
    if (!type) reader_.fail("unknown data type {}", in_quotes(word));
    return {FileType::none, *type};
  }

  void read_points() {
    if (have_points_) reader_.fail("there are two POINTS sections");
    have_points_ = true;
    const std::size_t count = reader_.count("the number of points", 3 * min_item_bytes());
    const FileType type = parse_type();
    if (type.special != FileType::none) reader_.fail("points must be numbers");
    end_header_line();
    reader_.require_room(count, 3 * min_bytes(type.scalar, encoding_));
    dataset_.points.resize(count);
    with_type(type.scalar, [&, i = std::size_t{0}]<class T>() mutable {
      for_each_value<T>(reader_, encoding_, 3 * count, [&](T value) {
        dataset_.points[i / 3][static_cast<int>(i % 3)] = static_cast<double>(value);
        ++i;
      });
    });
  }

  std::uint32_t checked_id(std::int64_t id) {
    if (id < 0 || id >= Id<VertexTag>::invalid_value) reader_.fail("{} is no point number", id);
    return static_cast<std::uint32_t>(id);
  }

  void read_cells(RawCells& cells) {
    if (sorter_) reader_.fail("the cells come after their arrays");
    if (!cells.ends.empty()) reader_.fail("there are two sections of the same cells");
    const std::size_t first = reader_.count("the number of cells", min_item_bytes());
    const std::size_t second = reader_.count("the size of the cell list", min_item_bytes());
    if (version5_) read_offset_cells(cells, first, second);
    else read_counted_cells(cells, first, second);
  }

  // Before version 5: each cell is its number of corners and the corners.
  void read_counted_cells(RawCells& cells, std::size_t count, std::size_t size) {
    end_header_line();
    if (size < count) reader_.fail("the cell list is shorter than the number of cells");
    cells.ends.reserve(count);
    cells.ids.reserve(size - count);
    std::int64_t left = 0;
    for_each_value<std::int32_t>(reader_, encoding_, size, [&](std::int32_t value) {
      if (left > 0) {
        cells.ids.push_back(checked_id(value));
        if (--left == 0) cells.ends.push_back(cells.ids.size());
        return;
      }
      if (value < 0) reader_.fail("a cell has {} corners", value);
      left = value;
      if (left == 0) cells.ends.push_back(cells.ids.size());
    });
    if (left != 0 || cells.ends.size() != count)
      reader_.fail("the cell list does not hold the announced number of cells");
  }

  // From version 5: all offsets, then all corners.
  void read_offset_cells(RawCells& cells, std::size_t offsets, std::size_t corners) {
    read_list("OFFSETS", offsets, cells.ends, [&](auto value) {
      const auto end = converted<std::uint64_t>(value);
      if (!end || *end > corners || (!cells.ends.empty() && *end < cells.ends.back()))
        reader_.fail("the cell offsets do not increase");
      return *end;
    });
    if (!cells.ends.empty()) {
      if (cells.ends.front() != 0 || cells.ends.back() != corners)
        reader_.fail("the cell offsets do not fit the cells");
      cells.ends.erase(cells.ends.begin());
    }
    read_list("CONNECTIVITY", corners, cells.ids, [&](auto value) {
      const auto id = converted<std::int64_t>(value);
      if (!id) reader_.fail("{} is no point number", value);
      return checked_id(*id);
    });
  }

  /// A keyword, a type, and so many numbers of it, each as `checked` returns it.
  template <class To, class Checked>
  void read_list(const std::string& keyword, std::size_t count, std::vector<To>& list, Checked&& checked) {
    expect_word(keyword);
    const ScalarType type = parse_type().scalar;
    end_header_line();
    reader_.require_room(count, min_bytes(type, encoding_));
    list.reserve(count);
    with_type(type, [&]<class T>() {
      for_each_value<T>(reader_, encoding_, count, [&](T value) { list.push_back(checked(value)); });
    });
  }

  void expect_word(const std::string& expected) {
    const std::string word = upper_case(reader_.require_token(expected));
    if (word == "METADATA") {
      skip_metadata();
      return expect_word(expected);
    }
    if (word != expected) reader_.fail("{} where {} should be", in_quotes(word), expected);
  }

  void read_types() {
    const std::size_t count = reader_.count("the number of cell types", min_item_bytes());
    end_header_line();
    types_.reserve(count);
    for_each_value<std::int32_t>(reader_, encoding_, count, [&](std::int32_t value) {
      types_.push_back(value >= 0 && value < 256 ? static_cast<std::uint8_t>(value) : 255);
    });
  }

  // Information about an array (component names, units): lines up to a blank one.
  void skip_metadata() {
    reader_.line();
    for (auto line = reader_.line(); line && !words_of(*line).empty(); line = reader_.line()) {
    }
  }

  // Puts all cells in the data set; arrays on cells need that first.
  void sort_cells() {
    if (!have_points_) reader_.fail("the cells' arrays come before the POINTS");
    sorter_.emplace(dataset_, reader_.path().string());
    if (grid_) {
      if (types_.size() != cells_[0].ends.size())
        reader_.fail("the numbers of cells and of cell types differ ({} and {})", cells_[0].ends.size(), types_.size());
      sorter_->reserve(types_);
      add_cells(cells_[0], [&](std::size_t i) { return int{types_[i]}; });
    } else {
      // VTK numbers polygonal cells in this order, whatever the order in the file.
      constexpr std::array polygonal{kind_poly_vertex, kind_poly_line, kind_polygon, kind_triangle_strip};
      sorter_->reserve(kind_triangle, cells_[2].ends.size());
      for (std::size_t k = 0; k < polygonal.size(); ++k)
        add_cells(cells_[k], [&](std::size_t) { return int{polygonal[k]}; });
    }
  }

  template <class KindOf>
  void add_cells(RawCells& cells, KindOf&& kind_of) {
    sorter_->add_runs(cells.ids, cells.ends, kind_of);
    cells = {};
  }

  void start_data(Attachment attachment) {
    attachment_ = attachment;
    const std::size_t announced = reader_.count("the number of values", 0);
    end_header_line();
    if (attachment == Attachment::cells && !sorter_) sort_cells();
    tuples_ = attachment == Attachment::points ? dataset_.points.size() : sorter_->cell_count();
    if (announced != tuples_)
      reader_.fail("{} is announced for another number of items than there are ({} and {})",
                   attachment == Attachment::points ? "POINT_DATA" : "CELL_DATA", announced, tuples_);
  }

  void take_attribute(const std::string& word) {
    const auto named = [&] { return percent_decoded(reader_.require_token("an array name")); };
    constexpr std::array<std::pair<std::string_view, std::size_t>, 7> plain{{{"VECTORS", 3},
                                                                             {"NORMALS", 3},
                                                                             {"TENSORS", 9},
                                                                             {"TENSORS6", 6},
                                                                             {"GLOBAL_IDS", 1},
                                                                             {"PEDIGREE_IDS", 1},
                                                                             {"EDGE_FLAGS", 1}}};
    const auto known = std::find_if(plain.begin(), plain.end(), [&](const auto& row) { return row.first == word; });
    if (known != plain.end()) {
      read_array(attachment_, named(), known->second, tuples_);
    } else if (word == "SCALARS") {
      read_scalars(named());
    } else if (word == "TEXTURE_COORDINATES") {
      const std::string name = named();
      const std::size_t components = reader_.count("the number of texture coordinates", 0);
      read_array(attachment_, name, components, tuples_);
    } else if (word == "COLOR_SCALARS") {
      read_colours(named());
    } else if (word == "LOOKUP_TABLE") {
      named();
      const std::size_t size = reader_.count("the size of a lookup table", 4 * min_item_bytes());
      end_header_line();
      if (encoding_ == Encoding::text) for_each_value<double>(reader_, encoding_, 4 * size, [](double) {});
      else reader_.skip(4 * size);
    } else {
      reader_.fail("unknown keyword {}", in_quotes(word));
    }
  }

  void read_scalars(const std::string& name) {
    const FileType type = parse_type();
    const auto rest = words_of(reader_.line().value_or(""));
    const auto components = rest.empty() ? std::size_t{1} : parse_number<std::size_t>(rest[0]);
    if (!components) reader_.fail("{} where the number of components should be", in_quotes(rest[0]));
    if (upper_case(reader_.require_token("LOOKUP_TABLE")) != "LOOKUP_TABLE") reader_.fail("LOOKUP_TABLE is missing");
    reader_.require_token("a lookup table name");
    read_typed(attachment_, name, *components, tuples_, type);
  }

  void read_colours(const std::string& name) {
    const std::size_t components = reader_.count("the number of colour components", 0);
    if (encoding_ != Encoding::text) {
      read_typed(attachment_, name, components, tuples_, {FileType::none, ScalarType::uint8});
      return;
    }
    // Text files give colours from 0 to 1, binary ones from 0 to 255.
    check_components(components, name);
    std::vector<std::uint8_t> values;
    for_each_value<double>(reader_, encoding_, components * tuples_, [&](double value) {
      values.push_back(
          static_cast<std::uint8_t>(std::lround(255 * std::clamp(std::isnan(value) ? 0 : value, 0.0, 1.0))));
    });
    keep(attachment_, {name, static_cast<int>(components), std::move(values)});
  }

  void read_fields(Attachment attachment) {
    reader_.require_token("a field name");
    const std::size_t arrays = reader_.count("the number of arrays", min_item_bytes());
    for (std::size_t i = 0; i < arrays; ++i) {
      std::string word(reader_.require_token("an array name"));
      if (upper_case(word) == "METADATA") {
        skip_metadata();
        word = reader_.require_token("an array name");
      }
      if (word == "NULL_ARRAY") continue;
      const std::size_t components = reader_.count("the number of components", 0);
      const std::size_t tuples = reader_.count("the number of tuples", 0);
      const bool fits = attachment == Attachment::nothing || tuples == tuples_;
      if (!fits)
        dataset_.warnings.push_back(fmt::format("array {} was left out: it does not fit (tuples: {}, items: {})",
                                                in_quotes(word), tuples, tuples_));
      read_array(fits ? attachment : Attachment::nothing, percent_decoded(word), components, tuples);
    }
  }

  void check_components(std::size_t components, const std::string& name) {
    if (components >= 1 && components <= 1000000) return;
    reader_.fail("array {} has {} components", in_quotes(name), components);
  }

  void read_array(Attachment attachment, const std::string& name, std::size_t components, std::size_t tuples) {
    read_typed(attachment, name, components, tuples, parse_type());
  }

  void read_typed(Attachment attachment, const std::string& name, std::size_t components, std::size_t tuples,
                  FileType type) {
    end_header_line();
    if (tuples == 0) return;
    check_components(components, name);
    if (type.special == FileType::string) return skip_strings(components * tuples);
    if (type.special != FileType::bit) reader_.require_room(tuples, components * min_item_bytes());
    DataArray array{name, static_cast<int>(components), {}};
    if (type.special == FileType::bit && encoding_ != Encoding::text) array.values = read_bits(components * tuples);
    else array.values = read_values(reader_, type.scalar, encoding_, components * tuples);
    keep(attachment, std::move(array));
  }

  std::vector<std::uint8_t> read_bits(std::size_t count) {
    reader_.require_room((count + 7) / 8, 1);
    std::vector<std::uint8_t> bits(count);
    std::uint8_t byte = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (i % 8 == 0) reader_.read(&byte, 1);
      bits[i] = (byte >> (7 - i % 8)) & 1;
    }
    return bits;
  }

  // Text: one string a line. Binary: the length, whose first two bits tell how long it is itself, then the characters.
  void skip_strings(std::size_t count) {
    if (encoding_ == Encoding::text) reader_.line();
    for (std::size_t i = 0; i < count; ++i) {
      if (encoding_ == Encoding::text) {
        if (!reader_.line()) reader_.fail("the file ends in the middle of its strings");
        continue;
      }
      const auto first = read_value<std::uint8_t>(reader_, encoding_);
      constexpr std::array more_bytes{7, 3, 1, 0};
      std::uint64_t length = first & 0x3f;
      for (int k = 0; k < more_bytes[first >> 6]; ++k)
        length = 256 * length + read_value<std::uint8_t>(reader_, encoding_);
      reader_.skip(length);
    }
  }

  void keep(Attachment attachment, DataArray array) {
    if (attachment == Attachment::points) add_named(dataset_.point_data, std::move(array), "point_array");
    else if (attachment == Attachment::cells) sorter_->add_array(std::move(array));
  }

  ByteReader reader_;
  Dataset dataset_;
  Encoding encoding_ = Encoding::text;
  bool version5_ = false;
  bool grid_ = false;
  bool have_points_ = false;
  std::array<RawCells, 4> cells_;  // a grid's; or vertices, lines, polygons and strips
  std::vector<std::uint8_t> types_;
  std::optional<CellSorter> sorter_;
  Attachment attachment_ = Attachment::nothing;
  std::size_t tuples_ = 0;
};

// ---- writing ----

constexpr Encoding order = Encoding::big_endian;  // the format's

// Words that the format itself has in the places of names are no longer themselves with a letter encoded.
std::string encoded_name(const std::string& name) {
  const std::string word = upper_case(name);
  if (word == "METADATA" || word == "NULL_ARRAY") return percent_code(name[0]) + name.substr(1);
  return percent_encoded(name);
}

std::string type_name(ScalarType type) { return lower_case(name_of(type_names, type)); }

template <class Cells>
void write_cells(ByteWriter& writer, const Cells& cells) {
  for (const auto& cell : cells) {
    write_value(writer, static_cast<std::int32_t>(cell.size()), order);
    for (const VertexId id : cell) write_value(writer, static_cast<std::int32_t>(id.value), order);
  }
}

template <class Cells>
void write_section(ByteWriter& writer, const char* keyword, const Cells& cells) {
  if (cells.empty()) return;
  writer.print("{} {} {}\n", keyword, cells.size(), cells.size() + corner_count(cells));
  write_cells(writer, cells);
  writer.print("\n");
}

void write_grid_cells(ByteWriter& writer, const Dataset& dataset) {
  std::size_t cells = 0, corners = 0;
  for_each_block(dataset, [&](CellKind, const auto& block, const DataArrays&) {
    cells += block.size();
    corners += corner_count(block);
  });
  writer.print("CELLS {} {}\n", cells, cells + corners);
  for_each_block(dataset, [&](CellKind, const auto& block, const DataArrays&) { write_cells(writer, block); });
  writer.print("\nCELL_TYPES {}\n", cells);
  for_each_block(dataset, [&](CellKind kind, const auto& block, const DataArrays&) {
    for (const auto& cell : block) write_value(writer, std::int32_t{vtk_kind(kind, cell.size())}, order);
  });
  writer.print("\n");
}

void write_arrays(ByteWriter& writer, const char* keyword, std::span<const ArrayBlock> blocks) {
  const auto arrays = join_arrays(blocks);
  if (arrays.empty()) return;
  std::size_t tuples = 0;
  for (const ArrayBlock& block : blocks) tuples += block.tuples;
  writer.print("{} {}\nFIELD FieldData {}\n", keyword, tuples, arrays.size());
  for (const JoinedArray& array : arrays) {
    writer.print("{} {} {} {}\n", encoded_name(array.name), array.components, tuples, type_name(array.type));
    write_values(writer, array, order);
    writer.print("\n");
  }
}

}  // namespace

Dataset read_legacy_vtk(const std::filesystem::path& path) { return LegacyReading(path).run(); }

void write_legacy_vtk(std::span<const OutputFile> files, const Dataset& dataset) {
  if (dataset.points.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    throw UsageError("there are too many points (legacy VTK files hold at most 2147483647); write .vtu",
                     files[0].target.string());
  const ScalarType point_type = smallest_type(dataset.points);
  const bool grid = !dataset.tets.cells.empty();
  ByteWriter writer(files[0]);
  writer.print("# vtk DataFile Version 3.0\nwritten by Isochron\nBINARY\nDATASET {}\nPOINTS {} {}\n",
               grid ? "UNSTRUCTURED_GRID" : "POLYDATA", dataset.points.size(), type_name(point_type));
  write_points(writer, dataset.points, point_type, order);
  writer.print("\n");
  if (grid) {
    write_grid_cells(writer, dataset);
  } else {
    write_section(writer, "LINES", dataset.lines);
    write_section(writer, "POLYGONS", dataset.triangles.cells);
  }
  write_arrays(writer, "CELL_DATA", cell_blocks(dataset, grid ? PieceKind::grid : PieceKind::surface));
  write_arrays(writer, "POINT_DATA", std::array{point_block(dataset)});
  writer.finish();
}

}  // namespace isochron
