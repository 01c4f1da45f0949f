#include <cmath>
#include <map>

#include "isochron/image.h"
#include "isochron/io/file.h"
#include "isochron/io/image/formats.h"
#include "isochron/io/image/values.h"
#include "isochron/io/packed_blocks.h"

namespace isochron {
namespace {

/// The fields that matter here. Lists per axis are empty or have an entry for each axis, the fastest first. World
/// coordinates are RAS in mm already.
struct NrrdHeader {
  ScalarType type = ScalarType::float32;
  Encoding encoding = native_encoding;
  bool gzip = false;
  std::vector<std::int64_t> sizes;
  std::vector<std::string> kinds;  ///< lower case
  std::vector<double> spacings;
  std::vector<double> axis_mins;
  std::vector<std::optional<Vec3d>> directions;  ///< none for axes that are not in space
  std::optional<Vec3d> origin;
  /// From the frame of vectors and tensors to the world; without a measurement frame, from the file's space.
  FrameAxes frame;
  std::string content;
  std::string data_file;  ///< empty: behind the header
  std::int64_t line_skip = 0;
  std::int64_t byte_skip = 0;  ///< −1: the values are the file's last bytes
};

constexpr TypeNames type_names[] = {
    {ScalarType::int8, "signed char|int8|int8_t"},
    {ScalarType::uint8, "uint8|uint8_t|uchar|unsigned char"},
    {ScalarType::int16, "int16|int16_t|short|short int|signed short|signed short int"},
    {ScalarType::uint16, "uint16|uint16_t|ushort|unsigned short|unsigned short int"},
    {ScalarType::int32, "int32|int32_t|int|signed int"},
    {ScalarType::uint32, "uint32|uint32_t|uint|unsigned int"},
    {ScalarType::int64, "int64|int64_t|longlong|long long|long long int|signed long long|signed long long int"},
    {ScalarType::uint64, "uint64|uint64_t|ulonglong|unsigned long long|unsigned long long int"},
    {ScalarType::float32, "float"},
    {ScalarType::float64, "double"}};

/// Turns the fields of a header, by name, into what they mean.
class Fields {
 public:
  explicit Fields(ByteReader& reader) : reader_(reader) { read_lines(); }

  NrrdHeader parsed() {
    NrrdHeader h;
    const auto dimension = whole("dimension");
    if (dimension < 1 || dimension > 16) bad("dimension");
    axes_ = static_cast<std::size_t>(dimension);
    for (const double size : numbers("sizes")) {
      if (!(size >= 0 && size < 9e15 && size == std::floor(size))) bad("sizes");
      h.sizes.push_back(static_cast<std::int64_t>(size));
    }
    if (h.sizes.size() != axes_) bad("sizes");
    const auto type = type_named(type_names, lower_case(required("type")));
    if (!type) bad("type");
    h.type = *type;
    parse_encoding(h);
    parse_space();
    h.spacings = numbers("spacings");
    h.axis_mins = numbers("axis mins");
    h.directions = vectors("space directions");
    if (const auto origin = vectors("space origin"); origin.size() == 1) h.origin = origin[0];
    parse_frame(h);
    for (const std::string_view kind : words_of(text("kinds"))) h.kinds.push_back(lower_case(kind));
    check_per_axis(h.spacings, "spacings");
    check_per_axis(h.axis_mins, "axis mins");
    check_per_axis(h.directions, "space directions");
    check_per_axis(h.kinds, "kinds");
    h.content = text("content");
    h.data_file = text("data file");
    if (has("line skip")) h.line_skip = whole("line skip");
    if (has("byte skip")) h.byte_skip = whole("byte skip");
    if (h.line_skip < 0 || h.byte_skip < -1) reader_.fail("a number of skipped lines or bytes below zero");
    return h;
  }

 private:
  void read_lines() {
    const auto first = reader_.line();
    if (!first || !first->starts_with("NRRD000")) reader_.fail("is no NRRD file (its magic word is missing)");
    while (const auto line = reader_.line()) {
      if (line->empty()) return;
      if (line->front() == '#' || line->find(":=") != std::string_view::npos) continue;  // comments, keys of others
      const std::size_t colon = line->find(": ");
      if (colon == std::string_view::npos) reader_.fail("a header line without a field ({})", in_quotes(*line));
      std::string name = lower_case(line->substr(0, colon));
      for (const char* full : {"data file", "line skip", "byte skip", "axis mins"})  // the blank may be missing
        if (name == std::string(full, 4) + std::string(full + 5)) name = full;
      fields_[name] = trimmed(line->substr(colon + 2));
    }
  }

  [[nodiscard]] bool has(const std::string& name) const { return fields_.contains(name); }
  [[nodiscard]] std::string_view text(const std::string& name) const {
    const auto found = fields_.find(name);
    return found == fields_.end() ? std::string_view() : found->second;
  }
  [[nodiscard]] std::string_view required(const std::string& name) const {
    if (!has(name)) reader_.fail("the header has no field '{}'", name);
    return text(name);
  }
  [[noreturn]] void bad(const std::string& name) const {
    reader_.fail("the field '{}' makes no sense ({})", name, in_quotes(required(name)));
  }

  [[nodiscard]] std::int64_t whole(const std::string& name) const {
    const auto number = parse_number<std::int64_t>(required(name));
    if (!number) bad(name);
    return *number;
  }
  [[nodiscard]] double number(std::string_view word, const std::string& field) const {
    const auto value = parse_number<double>(without_plus(trimmed(word)));
    if (!value) bad(field);
    return *value;
  }
  [[nodiscard]] std::vector<double> numbers(const std::string& name) const {
    std::vector<double> result;
    for (const std::string_view word : words_of(text(name))) result.push_back(number(word, name));
    return result;
  }

  /// "(1,0,0) none (0,2.5,0)" in the world.
  [[nodiscard]] std::vector<std::optional<Vec3d>> vectors(const std::string& name) const {
    std::vector<std::optional<Vec3d>> result;
    std::string_view left = text(name);
    while (!(left = trimmed(left)).empty()) {
      if (lower_case(left.substr(0, 4)) == "none") {
        result.emplace_back(std::nullopt);
        left.remove_prefix(4);
        continue;
      }
      const std::size_t end = left.find(')');
      if (left.front() != '(' || end == std::string_view::npos) bad(name);
      result.emplace_back(in_world(vector(left.substr(1, end - 1), name)));
      left.remove_prefix(end + 1);
    }
    return result;
  }
  [[nodiscard]] Vec3d vector(std::string_view list, const std::string& field) const {
    Vec3d v{};
    for (int d = 0;; ++d) {
      const std::size_t comma = list.find(',');
      if (d > 2) bad(field);
      v[d] = number(list.substr(0, comma), field);
      if (comma == std::string_view::npos) return v;
      list.remove_prefix(comma + 1);
    }
  }
  [[nodiscard]] Vec3d in_world(const Vec3d& v) const {
    return unit_ * Vec3d{signs_.x * v.x, signs_.y * v.y, signs_.z * v.z};
  }

  void parse_encoding(NrrdHeader& h) {
    h.encoding = Encoding::text;
    const std::string name = lower_case(required("encoding"));
    if (name == "txt" || name == "text" || name == "ascii") return;
    if (name == "gz" || name == "gzip") h.gzip = true;
    else if (name != "raw")
      bad_file(reader_.path(), "an encoding that is not read ({}); store it raw, gzip or ascii", in_quotes(name));
    const std::string endian = size_of(h.type) == 1 ? "little" : lower_case(required("endian"));
    if (endian != "little" && endian != "big") bad("endian");
    h.encoding = endian == "little" ? Encoding::little_endian : Encoding::big_endian;
  }

  void parse_space() {
    const std::string space = lower_case(text("space"));
    if (space == "left-anterior-superior" || space == "las") signs_ = {-1, 1, 1};
    else if (space == "left-posterior-superior" || space == "lps") signs_ = {-1, -1, 1};
    const std::string_view units = text("space units");
    for (const auto& [unit, mm] : {std::pair{"\"m\"", 1000.0}, std::pair{"\"cm\"", 10.0}, std::pair{"\"um\"", 1e-3}})
      if (units.starts_with(unit)) unit_ = mm;
  }

  /// The columns of the measurement frame are in the file's space; without it the values are there themselves.
  void parse_frame(NrrdHeader& h) {
    h.frame.axis = {Vec3d{signs_.x, 0, 0}, Vec3d{0, signs_.y, 0}, Vec3d{0, 0, signs_.z}};
    const auto columns = vectors("measurement frame");
    if (columns.empty()) return;
    if (columns.size() > 3) bad("measurement frame");
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (!columns[i]) return;
      const Vec3d axis = *columns[i] / unit_;
      if (!(std::abs(norm(axis) - 1) < 0.1)) bad("measurement frame");
      h.frame.axis[i] = axis;
    }
  }

  template <class T>
  void check_per_axis(const std::vector<T>& list, const std::string& name) const {
    if (!list.empty() && list.size() != axes_) bad(name);
  }

  ByteReader& reader_;
  std::map<std::string, std::string> fields_;
  std::size_t axes_ = 0;
  Vec3d signs_{1, 1, 1};
  double unit_ = 1;
};

/// Which axes are in space; the others hold components.
std::vector<bool> space_axes(const NrrdHeader& h, Image& image) {
  const std::size_t axes = h.sizes.size();
  std::vector<bool> result(axes, true);
  const auto by = [&](const auto& list, auto&& in_space) {
    std::transform(list.begin(), list.end(), result.begin(), in_space);
  };
  const auto informative = [](const std::string& kind) { return kind != "???" && kind != "none"; };
  const auto spatial = [](const std::string& kind) { return kind == "space" || kind == "domain"; };
  const auto finite = [](double spacing) { return std::isfinite(spacing); };
  if (!h.directions.empty()) {
    // Some programs write (0,0,0) or (nan,nan,nan) instead of none.
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const bool somewhere = h.directions[axis] && norm(*h.directions[axis]) > 0;
      result[axis] = somewhere || (h.directions[axis] && !h.kinds.empty() && spatial(h.kinds[axis]));
    }
  } else if (std::any_of(h.kinds.begin(), h.kinds.end(), informative)) {
    by(h.kinds, spatial);
  } else if (std::any_of(h.spacings.begin(), h.spacings.end(), finite)) {
    by(h.spacings, finite);
  } else if (axes > 3) {
    std::fill(result.begin(), result.end() - 3, false);
    image.warnings.emplace_back("the header does not say which axes are in space (no kinds); the last three are taken");
  }
  return result;
}

void place(const NrrdHeader& h, const std::vector<std::size_t>& space, Image& image) {
  ImageGrid& grid = image.grid;
  Vec3d mins{};
  for (std::size_t d = 0; d < space.size(); ++d) {
    const std::size_t axis = space[d];
    const auto number = [&](const std::vector<double>& list, double otherwise) {
      return !list.empty() && std::isfinite(list[axis]) ? list[axis] : otherwise;
    };
    const double spacing = number(h.spacings, 1);
    grid.axes[d] = h.directions.empty() ? (spacing == 0 ? 1 : spacing) * grid.axes[d] : *h.directions[axis];
    mins[static_cast<int>(d)] = number(h.axis_mins, 0);
  }
  if (h.directions.empty())
    image.warnings.emplace_back(
        "the affine is missing (no space directions); the image's axes are taken for x, y and z");
  grid.origin = h.origin ? *h.origin : mins;
  if (space.size() < 3) grid.axes[2] = {};
  if (space.size() < 2) grid.axes[1] = std::abs(grid.axes[0].y) < norm(grid.axes[0]) ? Vec3d{0, 1, 0} : Vec3d{1, 0, 0};
  complete_flat_axes(grid);
}

std::string rest_of(ByteReader& reader) {
  std::string rest;
  while (!reader.at_end()) {
    const std::string_view part = reader.peek(1 << 16);
    rest += part;
    reader.skip(part.size());
  }
  return rest;
}

DataArray::Values read_block(ByteReader& reader, const NrrdHeader& h, std::size_t count, bool attached) {
  for (std::int64_t line = 0; line < h.line_skip; ++line)
    if (!reader.line()) reader.fail("the file ends in the lines to be skipped");
  if (h.gzip && attached) {
    const std::string packed = rest_of(reader);
    // Bytes are skipped behind the unpacking.
    const auto skip = static_cast<std::size_t>(std::max<std::int64_t>(0, h.byte_skip));
    // Few bytes cannot stand for many; so the sizes below do not overflow.
    const std::size_t most = (packed.size() + 1) * max_deflate_gain;
    if (skip > most || count > (most - skip) / size_of(h.type)) reader.fail("it is shorter than its header says");
    const std::string bytes = unpacked(packed, skip + count * size_of(h.type), reader.path());
    return values_of_bytes(std::string_view(bytes).substr(skip), h.type, h.encoding);
  }
  std::int64_t skip = h.byte_skip;
  if (skip == -1) {
    std::error_code error;
    const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(reader.path(), error));
    skip = bytes - static_cast<std::int64_t>(count * size_of(h.type));
    const bool known_size = !error && !attached && !h.gzip && h.encoding != Encoding::text;
    if (!known_size || skip < 0) reader.fail("the values cannot be counted from the file's end");
  }
  reader.skip(static_cast<std::size_t>(skip));
  DataArray::Values values = read_values(reader, h.type, h.encoding, count);
  if (h.encoding == Encoding::text) reader.require_end("values", count);
  return values;
}

DataArray::Values read_data(ByteReader& header_reader, const NrrdHeader& h, std::size_t count) {
  if (h.data_file.empty()) return read_block(header_reader, h, count, true);
  if (h.data_file.starts_with("LIST") || h.data_file.find('%') != std::string::npos)
    bad_file(header_reader.path(), "the values are in several files; join them in one, for example with unu save");
  const std::filesystem::path file = header_reader.path().parent_path() / h.data_file;
  refuse_special_file(file, header_reader.path());
  ByteReader values(file);
  values.require_room(count, min_bytes(h.type, h.encoding));
  return read_block(values, h, count, false);
}

/// Turns a matrix, which need not be symmetric: first its rows, then its columns.
void turn_matrix(std::vector<double>& m, const FrameAxes& frame) {
  for (const unsigned step : {1U, 3U})
    for (unsigned line = 0; line < 3; ++line) {
      const unsigned begin = line * (4 - step);
      const Vec3d v = rotate_to_world(Vec3d{m[begin], m[begin + step], m[begin + 2 * step]}, frame);
      for (unsigned k = 0; k < 3; ++k) m[begin + k * step] = v[static_cast<int>(k)];
    }
}

/// Turns 3-vectors, or tensors of six (in row order) or nine components, into the world.
template <class T>
void turn(std::vector<T>& values, int components, const FrameAxes& frame) {
  const auto size = static_cast<std::size_t>(components);
  std::vector<double> tuple(size);
  for (std::size_t begin = 0; begin + size <= values.size(); begin += size) {
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(begin), size, tuple.begin());
    if (size == 3) {
      const Vec3d v = rotate_to_world(Vec3d{tuple[0], tuple[1], tuple[2]}, frame);
      tuple = {v.x, v.y, v.z};
    } else if (size == 6) {
      const SymTensor3d t = rotate_to_world(tensor_of(tuple, TensorOrder::row), frame);
      tuple = {t.xx, t.xy, t.xz, t.yy, t.yz, t.zz};
    } else {
      turn_matrix(tuple, frame);
    }
    std::transform(tuple.begin(), tuple.end(), values.begin() + static_cast<std::ptrdiff_t>(begin),
                   [](double v) { return static_cast<T>(v); });
  }
}

void turn(DataArray& array, const FrameAxes& frame) {
  if (frame.axis == FrameAxes{}.axis) return;
  if (!std::holds_alternative<std::vector<float>>(array.values))
    array.values = scaled(array.values, ScalarType::float64, 1, 0);
  std::visit(
      [&](auto& values) {
        if constexpr (std::is_floating_point_v<typename std::decay_t<decltype(values)>::value_type>)
          turn(values, array.components, frame);
      },
      array.values);
}

/// What the kind of the component axis makes of the array.
void interpret(const NrrdHeader& h, const std::vector<std::size_t>& others, DataArray array, Image& image) {
  const std::string kind = others.size() == 1 && !h.kinds.empty() ? h.kinds[others[0]] : "";
  const bool masked = kind == "3d-masked-symmetric-matrix" || kind == "3d-masked-matrix";
  const int parts = array.components - (masked ? 1 : 0);
  const bool tensor = (kind.ends_with("symmetric-matrix") && kind.starts_with("3d-") && parts == 6) ||
                      ((kind == "3d-matrix" || kind == "3d-masked-matrix") && parts == 9);
  const bool vector = parts == 3 && (kind == "vector" || kind == "covariant-vector" || kind == "3-vector" ||
                                     kind == "3-gradient" || kind == "3-normal");
  std::optional<DataArray> mask;
  if (tensor && masked) mask = split_confidence(array);
  if (tensor || vector) turn(array, h.frame);
  if (tensor) image.tensor_order = TensorOrder::row;
  if (mask && array.name == mask->name) array.name = "tensor";
  image.data.set(std::move(array));
  if (mask) image.data.set(std::move(*mask));
}

// ---- writing ----

void write_header(ByteWriter& writer, const ImageGrid& grid, const DataArray& array, bool tensor) {
  const bool several = array.components > 1;
  const std::string sizes = several ? fmt::format("{} ", array.components) : "";
  const char* kind = !several ? "" : !tensor ? "list " : array.components == 6 ? "3D-symmetric-matrix " : "3D-matrix ";
  writer.print("NRRD0005\n");
  if (array.name != unnamed_array) writer.print("content: {}\n", array.name);
  const ScalarType type = scalar_type(array.values);
  writer.print("type: {}\ndimension: {}\nspace: right-anterior-superior\n", name_of(type_names, type), several ? 4 : 3);
  writer.print("sizes: {}{} {} {}\n", sizes, grid.shape[0], grid.shape[1], grid.shape[2]);
  writer.print("space directions:{}", several ? " none" : "");
  for (const Vec3d& axis : grid.axes) writer.print(" ({},{},{})", axis.x, axis.y, axis.z);
  writer.print("\nkinds: {}space space space\n", kind);
  if (type != ScalarType::uint8)
    writer.print("endian: {}\n", native_encoding == Encoding::little_endian ? "little" : "big");
  writer.print("encoding: raw\nspace origin: ({},{},{})\n", grid.origin.x, grid.origin.y, grid.origin.z);
  if (tensor) writer.print("measurement frame: (1,0,0) (0,1,0) (0,0,1)\n");
  writer.print("\n");
}

}  // namespace

Image read_nrrd(const std::filesystem::path& path) {
  ByteReader reader(path);
  const NrrdHeader h = Fields(reader).parsed();
  Image image;
  const std::vector<bool> in_space = space_axes(h, image);
  std::vector<std::size_t> space, others;
  for (std::size_t axis = 0; axis < h.sizes.size(); ++axis) (in_space[axis] ? space : others).push_back(axis);
  if (space.empty() || space.size() > 3)
    bad_file(path, "{} axes in space (an image has 1 to 3); cut it into images", space.size());
  const auto sizes_of = [&](const std::vector<std::size_t>& axes) {
    std::vector<std::int64_t> sizes;
    sizes.reserve(axes.size());
    for (const std::size_t axis : axes) sizes.push_back(h.sizes[axis]);
    return sizes;
  };
  // Detached values are measured where they are.
  const ImageExtents extents = checked_extents(reader, sizes_of(space), sizes_of(others), 0);
  if (h.data_file.empty() && !h.gzip) reader.require_room(extents.value_count(), min_bytes(h.type, h.encoding));
  image.grid.shape = extents.shape;
  place(h, space, image);

  std::vector<ValueAxis> axes(h.sizes.size());
  std::size_t stride = 1;
  for (const auto* list : {&others, &space})
    for (const std::size_t axis : *list) {
      axes[axis] = {static_cast<std::size_t>(h.sizes[axis]), stride};
      stride *= axes[axis].extent;
    }
  DataArray array{array_name(h.content), extents.components,
                  reordered(read_data(reader, h, extents.value_count()), axes)};
  interpret(h, others, std::move(array), image);
  return image;
}

void write_nrrd(const OutputFile& file, const Image& image) {
  const ArrayToWrite to_write(image, TensorOrder::row);
  const DataArray& array = to_write.array();
  ByteWriter writer(file);
  write_header(writer, image.grid, array, to_write.tensor());
  std::visit([&](const auto& values) { writer.write(values.data(), values.size() * sizeof(values[0])); }, array.values);
  writer.finish();
}

}  // namespace isochron
