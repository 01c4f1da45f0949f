#include <cmath>
#include <exception>
#include <mutex>

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

// Where all cells have as many corners: their ids follow one another, each cell's behind `gap` other numbers.
struct EvenCells {
  BigVector<std::int32_t> list;
  std::size_t corners = 0;
  std::size_t gap = 0;
  std::size_t count = 0;

  template <int Corners>
  void add_to(CellSorter& sorter) const {
    sorter.add_simplices<Corners>(count, [&](const auto& take) {
      constexpr std::size_t stretch = 8192;
      parallel_stretches(usual_threads(), count, stretch, [&](std::size_t first, std::size_t some) {
        const std::int32_t* const ids = &list[first * (gap + Corners)] + gap;
        take(first, some, [&](std::size_t i, int k) { return ids[i * (gap + Corners) + static_cast<std::size_t>(k)]; });
      });
    });
  }
};

// What an array's type word means; bits and strings have no ScalarType.
struct FileType {
  enum Special { none, bit, string } special = none;
  ScalarType scalar = ScalarType::float64;
};

class LegacyReading {
 public:
  LegacyReading(const std::filesystem::path& path, const ArrayNames& wanted) : reader_(path), wanted_(wanted) {}

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
    else if (word == (grid_ ? "CELLS" : "VERTICES")) read_cells(0);
    else if (word == "CELL_TYPES" && grid_) read_types();
    else if (word == "LINES" && !grid_) read_cells(1);
    else if (word == "POLYGONS" && !grid_) read_cells(2);
    else if (word == "TRIANGLE_STRIPS" && !grid_) read_cells(3);
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
    make_room(dataset_.points, count);
    dataset_.points.resize(count);
    with_type(type.scalar, [&]<class T>() {
      for_each_tuple<T, 3>(reader_, encoding_, count, [&](std::size_t i, const std::array<T, 3>& p) {
        dataset_.points[i] = {static_cast<double>(p[0]), static_cast<double>(p[1]), static_cast<double>(p[2])};
      });
    });
  }

  std::uint32_t checked_id(std::int64_t id) {
    if (id < 0 || id >= Id<VertexTag>::invalid_value) reader_.fail("{} is no point number", id);
    return static_cast<std::uint32_t>(id);
  }

  /// So many numbers of a file's type, each a T.
  template <class T>
  BigVector<T> read_list(std::size_t count, ScalarType type) {
    reader_.require_room(count, min_bytes(type, encoding_));
    BigVector<T> list(count);
    for_each_tuple<T>(reader_, encoding_, count,
                      [&](std::size_t i, const std::array<T, 1>& value) { list[i] = value[0]; });
    return list;
  }

  /// The next words as numbers. What comes before an error is right.
  struct FirstError {
    std::size_t place;
    std::exception_ptr what;
  };
  template <class T>
  FirstError read_words_into(std::span<T> list) {
    FirstError error{list.size(), nullptr};
    std::mutex mutex;
    read_words(reader_, list.size(), 1, [&](std::size_t first, std::size_t words, std::string_view text) {
      std::size_t i = first;
      try {
        for (; i < first + words; ++i) list[i] = next_value<T>(reader_, text);
      } catch (const InputError&) {
        const std::lock_guard lock(mutex);
        if (i < error.place) error = {i, std::current_exception()};
      }
    });
    return error;
  }

  /// Calls `take(value)` for so many numbers one after the other, and before that, when the file can hold them,
  /// `prepare`. Of those in text only a piece is kept at a time.
  template <class T, class Take, class Prepare>
  void for_each_in_order(std::size_t count, ScalarType type, Take&& take, Prepare&& prepare) {
    if (encoding_ != Encoding::text) {
      const BigVector<T> list = read_list<T>(count, type);
      prepare();
      std::for_each(list.begin(), list.end(), take);
      return;
    }
    reader_.require_room(count, min_bytes(type, encoding_));
    prepare();
    constexpr std::size_t piece = std::size_t{1} << 19;
    for (std::size_t done = 0; done < count; done += std::min(piece, count - done)) {
      std::vector<T> list(std::min(piece, count - done));
      const FirstError error = read_words_into(std::span(list));
      std::for_each(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(error.place), take);
      if (error.what) std::rethrow_exception(error.what);
    }
  }

  void read_cells(std::size_t section) {
    RawCells& cells = cells_[section];
    if (sorter_) reader_.fail("the cells come after their arrays");
    if (!cells.ends.empty() || even_[section].count > 0) reader_.fail("there are two sections of the same cells");
    const std::size_t first = reader_.count("the number of cells", min_item_bytes());
    const std::size_t second = reader_.count("the size of the cell list", min_item_bytes());
    if (version5_) read_offset_cells(cells, first, second);
    else read_counted_cells(section, first, second);
  }

  // Before version 5: each cell is its number of corners and the corners.
  void read_counted_cells(std::size_t section, std::size_t count, std::size_t size) {
    end_header_line();
    if (size < count) reader_.fail("the cell list is shorter than the number of cells");
    RawCells& cells = cells_[section];
    std::int64_t left = 0;
    const auto take = [&](std::int32_t value) {
      if (left > 0) {
        cells.ids.push_back(checked_id(value));
        if (--left == 0) cells.ends.push_back(cells.ids.size());
        return;
      }
      if (value < 0) reader_.fail("a cell has {} corners", value);
      left = value;
      if (left == 0) cells.ends.push_back(cells.ids.size());
    };
    reader_.require_room(size, min_bytes(ScalarType::int32, encoding_));
    BigVector<std::int32_t> list(encoding_ == Encoding::text ? size : 0);
    FirstError error{size, nullptr};
    if (encoding_ == Encoding::text) error = read_words_into(std::span(list));
    else list = read_list<std::int32_t>(size, ScalarType::int32);
    const std::size_t each = count == 0 || size % count != 0 ? 0 : size / count;
    const auto is_other = [&](std::size_t i) { return std::cmp_not_equal(list[i * each], each - 1); };
    if (each > 1 && !error.what && parallel_find(usual_threads(), count, is_other) == count) {
      even_[section] = {std::move(list), each - 1, 1, count};
      return;
    }
    cells.ends.reserve(count);
    cells.ids.reserve(size - count);
    std::for_each(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(error.place), take);
    if (error.what) std::rethrow_exception(error.what);
    if (left != 0 || cells.ends.size() != count)
      reader_.fail("the cell list does not hold the announced number of cells");
  }

  // From version 5: all offsets, then all corners.
  void read_offset_cells(RawCells& cells, std::size_t offsets, std::size_t corners) {
    read_listed("OFFSETS", offsets, cells.ends, [&](auto value) {
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
    read_listed("CONNECTIVITY", corners, cells.ids, [&](auto value) {
      const auto id = converted<std::int64_t>(value);
      if (!id) reader_.fail("{} is no point number", value);
      return checked_id(*id);
    });
  }

  /// A keyword, a type, and so many numbers of it, each as `checked` returns it.
  template <class To, class Checked>
  void read_listed(const std::string& keyword, std::size_t count, std::vector<To>& list, Checked&& checked) {
    expect_word(keyword);
    const ScalarType type = parse_type().scalar;
    end_header_line();
    with_type(type, [&]<class T>() {
      for_each_in_order<T>(
          count, type, [&](T value) { list.push_back(checked(value)); }, [&] { list.reserve(count); });
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
    reader_.require_room(count, min_bytes(ScalarType::int32, encoding_));
    types_.resize(count);
    for_each_tuple<std::int32_t>(
        reader_, encoding_, count, [&](std::size_t i, const std::array<std::int32_t, 1>& value) {
          types_[i] = value[0] >= 0 && value[0] < 256 ? static_cast<std::uint8_t>(value[0]) : 255;
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
      const std::size_t cells = cells_[0].ends.size() + even_[0].count;
      if (types_.size() != cells)
        reader_.fail("the numbers of cells and of cell types differ ({} and {})", cells, types_.size());
      const auto is_other = [&](std::size_t i) { return types_[i] != types_[0]; };
      const bool one_kind = cells > 0 && parallel_find(usual_threads(), cells, is_other) == cells;
      if (!one_kind || !add_even(0, types_[0])) {
        sorter_->reserve(types_);
        add_cells(0, [&](std::size_t i) { return int{types_[i]}; });
      }
    } else {
      // VTK numbers polygonal cells in this order, whatever the order in the file.
      constexpr std::array polygonal{kind_poly_vertex, kind_poly_line, kind_polygon, kind_triangle_strip};
      for (std::size_t k = 0; k < polygonal.size(); ++k) {
        if (add_even(k, polygonal[k])) continue;
        if (polygonal[k] == kind_polygon) sorter_->reserve(kind_triangle, cells_[k].ends.size());
        add_cells(k, [&](std::size_t) { return int{polygonal[k]}; });
      }
    }
  }

  // Adds the cells of a section where they are all triangles or all tetrahedra. False where they are not.
  bool add_even(std::size_t section, int kind) {
    EvenCells& cells = even_[section];
    if (kind == kind_tetra && cells.corners == 4) cells.add_to<4>(*sorter_);
    else if ((kind == kind_triangle || kind == kind_polygon) && cells.corners == 3) cells.add_to<3>(*sorter_);
    else return false;
    cells = {};
    return true;
  }

  template <class KindOf>
  void add_cells(std::size_t section, KindOf&& kind_of) {
    const EvenCells& even = even_[section];
    std::size_t place = even.gap;
    for (std::size_t i = 0; i < even.count; ++i, place += even.gap + even.corners) {
      const std::span<const std::int32_t> ids(even.list.data() + place, even.corners);
      for (const std::int32_t id : ids) static_cast<void>(checked_id(id));
      sorter_->add(kind_of(i), ids);
    }
    sorter_->add_runs(cells_[section].ids, cells_[section].ends, kind_of);
    cells_[section] = {};
    even_[section] = {};
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
      if (encoding_ == Encoding::text)
        for_each_in_order<double>(
            4 * size, ScalarType::float64, [](double) {}, [] {});
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
    const auto take = [&](double value) {
      values.push_back(
          static_cast<std::uint8_t>(std::lround(255 * std::clamp(std::isnan(value) ? 0 : value, 0.0, 1.0))));
    };
    for_each_in_order<double>(components * tuples_, ScalarType::float64, take, [] {});
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
    if (attachment != Attachment::nothing && !may_be_wanted(name, wanted_))
      return skip_values(components * tuples, type);
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

  void skip_values(std::size_t count, FileType type) {
    if (encoding_ == Encoding::text)
      for (std::size_t i = 0; i < count; ++i) reader_.require_token("a number");
    else reader_.skip(type.special == FileType::bit ? (count + 7) / 8 : count * size_of(type.scalar));
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
  const ArrayNames& wanted_;
  Dataset dataset_;
  Encoding encoding_ = Encoding::text;
  bool version5_ = false;
  bool grid_ = false;
  bool have_points_ = false;
  std::array<RawCells, 4> cells_;  // a grid's; or vertices, lines, polygons and strips
  std::array<EvenCells, 4> even_;  // those that have as many corners each
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

template <std::size_t Corners>
void write_cells(ByteWriter& writer, const std::vector<std::array<VertexId, Corners>>& cells) {
  using Record = std::array<std::int32_t, Corners + 1>;
  writer.write_items(cells.size(), sizeof(Record), [&](std::size_t first, std::size_t some, char* to) {
    for (const auto& cell : std::span(cells).subspan(first, some)) {
      put_value(to, static_cast<std::int32_t>(Corners), order);
      for (std::size_t k = 0; k < Corners; ++k)
        put_value(to + 4 * (k + 1), static_cast<std::int32_t>(cell[k].value), order);
      to += sizeof(Record);
    }
  });
}
void write_cells(ByteWriter& writer, const std::vector<std::vector<VertexId>>& lines) {
  for (const auto& line : lines) {
    write_value(writer, static_cast<std::int32_t>(line.size()), order);
    for (const VertexId id : line) write_value(writer, static_cast<std::int32_t>(id.value), order);
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
    write_each<std::int32_t>(writer, block.size(), order,
                             [&](std::size_t i) { return vtk_kind(kind, block[i].size()); });
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

Dataset read_legacy_vtk(const std::filesystem::path& path, const ArrayNames& wanted) {
  return LegacyReading(path, wanted).run();
}

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
