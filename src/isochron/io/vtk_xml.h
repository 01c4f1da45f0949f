// VTK's XML files: the elements of the text, the arrays that the header announces with their values, and how such files
// are written.
#pragma once

#include <functional>

#include "isochron/io/values.h"

namespace isochron {

/// What comes next in an XML text.
struct XmlEvent {
  enum class Kind { open, close, end };
  Kind kind = Kind::end;
  std::string_view name;        ///< of the element
  std::string_view attributes;  ///< the text behind the name
  bool empty = false;           ///< an element that closes itself; no `close` follows

  /// The value of an attribute as it stands there.
  [[nodiscard]] std::optional<std::string_view> attribute(std::string_view wanted) const;
};

/// A cursor over a text that must outlive it. Comments, declarations and entities are passed over or left as they are.
/// Throws InputError about the file.
class XmlScanner {
 public:
  XmlScanner(const std::filesystem::path& path, std::string_view text) : path_(path), text_(text) {}

  /// The next tag; text between tags is passed over.
  XmlEvent next();
  /// The text from here to the next tag, without white space around it and without CDATA brackets.
  std::string_view text();

  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> problem, Args&&... args) const {
    damaged_file(path_, problem, std::forward<Args>(args)...);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::string_view up_to(std::string_view marker);  ///< Takes the text before the marker and the marker.
  std::string_view rest_of_tag();  ///< Takes the text up to the end of a tag, and that; values may have '>' in them.

  const std::filesystem::path& path_;
  std::string_view text_;
};

/// The type that VTK's files name; nothing for those that hold no numbers.
std::optional<ScalarType> vtk_type_named(std::string_view name);

/// A number in an attribute. Throws InputError about the file.
std::uint64_t whole_attribute(const XmlScanner& xml, const XmlEvent& element, std::string_view name);
/// Several numbers in an attribute, `count` of them. Throws InputError about the file.
std::vector<double> real_attribute(const XmlScanner& xml, const XmlEvent& element, std::string_view name,
                                   std::size_t count);

/// An array as a file announces it: its values are text, base64 or raw bytes, perhaps compressed.
struct XmlArray {
  std::string name;
  ScalarType type = ScalarType::float64;
  int components = 1;
  std::string_view format;   ///< "ascii", "binary" or "appended"
  std::uint64_t offset = 0;  ///< of appended values
  std::string_view inside;   ///< what stands inside the element
};

/// PointData, CellData, Points, Cells, Polys, …
struct XmlSection {
  XmlEvent element;
  std::vector<XmlArray> arrays;

  [[nodiscard]] const XmlArray* find(std::string_view name) const;
};

struct XmlPiece {
  XmlEvent element;
  std::vector<XmlSection> sections;

  [[nodiscard]] const XmlSection* find(std::string_view name) const;
};

/// Values of a file as bytes: a part of the file, or what was unpacked.
struct XmlBytes {
  std::unique_ptr<const std::string> own{};
  std::string_view text{};
  const FileBytes* file = nullptr;  ///< of a part that is read when it is asked for

  /// Gives stretches of items of so many bytes to `take`, on several threads.
  void read_items(std::size_t item_bytes, const TakeItems& take) const {
    if (file != nullptr) file->read_items(text, item_bytes, take);
    else take_items(text, item_bytes, take);
  }
};

/// How a file keeps the values of all its arrays.
struct XmlEncoding {
  Encoding order = native_encoding;
  bool packed = false;  ///< by zlib
};

class VtkXmlFile;

/// An array as it is stored in a file, for another one that takes it over.
struct StoredArray {
  const VtkXmlFile* file;
  const XmlArray* array;
  std::vector<std::uint64_t> numbers;  ///< in front of the values
  std::uint64_t bytes;                 ///< of the values, packed where the file is
};

/// A file and its header; appended values are read when they are asked for. zlib is the only compression that is
/// understood. Everything throws InputError about the file.
class VtkXmlFile {
 public:
  explicit VtkXmlFile(const std::filesystem::path& path);

  [[nodiscard]] std::string_view kind() const { return kind_; }       ///< "UnstructuredGrid"
  [[nodiscard]] const XmlEvent& element() const { return element_; }  ///< the element of that name
  [[nodiscard]] const std::vector<XmlPiece>& pieces() const { return pieces_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] const XmlScanner& xml() const { return xml_; }

  /// Throws unless the file is of this kind.
  void expect_kind(std::string_view kind) const;
  /// The values of an array as bytes; none of one that is text.
  [[nodiscard]] XmlBytes bytes(const XmlArray& array) const;
  [[nodiscard]] Encoding byte_order() const { return order_; }
  [[nodiscard]] XmlEncoding encoding() const { return {order_, compressed_}; }
  /// An array of exactly so many values that can be taken over as it is stored. Nothing where it is text, or where the
  /// numbers in front or the first bytes of its blocks are not as they should be: reading it says what is wrong.
  [[nodiscard]] std::optional<StoredArray> stored(const XmlArray& array, std::uint64_t values) const;
  /// Writes the values of an array as they are stored, but not as base64.
  void write_stored(const XmlArray& array, ByteWriter& writer) const;
  /// Gives back the memory of values; those that are not text can be asked for again.
  void forget_values();
  /// Throws when the file was written to since it was opened.
  void require_unchanged() const { file_.require_unchanged(); }
  /// All values of an array; `bytes` are its own.
  [[nodiscard]] DataArray::Values values(const XmlArray& array) const { return values(array, bytes(array)); }
  [[nodiscard]] DataArray::Values values(const XmlArray& array, const XmlBytes& bytes) const;
  /// Throws unless an array of so many values has `tuples` tuples.
  void check_fits(const XmlArray& array, std::size_t values, std::size_t tuples) const;
  /// The same, which must be `tuples` tuples.
  [[nodiscard]] DataArray read(const XmlArray& array, std::size_t tuples) const;
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> problem, Args&&... args) const {
    xml_.fail(problem, std::forward<Args>(args)...);
  }

 private:
  void fetch_header() const;
  void read_header();
  void start_file(const XmlEvent& element);
  void start_appended(const XmlEvent& element);
  void read_array(const XmlEvent& element);
  /// The text or bytes of its values; appended ones end where those of another array begin.
  [[nodiscard]] std::string_view place_of(const XmlArray& array) const;
  /// Calls `body(source, front)` where its values begin.
  template <class Body>
  auto with_values(const XmlArray& array, const Body& body) const;

  std::filesystem::path path_;
  FileBytes file_;
  XmlScanner xml_;
  std::string_view kind_;
  XmlEvent element_;
  std::vector<XmlPiece> pieces_;
  Encoding order_ = Encoding::little_endian;
  std::size_t header_bytes_ = 4;  // of each number in front of the values
  bool compressed_ = false;
  std::string_view appended_;
  std::vector<std::uint64_t> offsets_;  // of appended arrays, in ascending order
  bool appended_base64_ = false;
  bool forgotten_ = false;  // the values inside of elements
};

/// What a file, or a set of files, holds: VTU any cells, VTP triangles and lines, VTI an image.
enum class PieceKind { grid, surface, image };

/// Arrays by which pieces of a mesh say what is theirs: ghosts as VTK marks them, ids in the whole mesh, and the piece
/// that owns a vertex.
inline constexpr const char* ghost_array = "vtkGhostType";
inline constexpr const char* global_point_ids = "GlobalPointIds";
inline constexpr const char* global_cell_ids = "GlobalCellIds";
inline constexpr const char* owner_array = "isochron:part";

/// `text` fit for an attribute's value.
std::string xml_escaped(std::string_view text);

/// The text that `xml_escaped` was given.
std::string xml_unescaped(std::string_view text);

/// The name that VTK's files have for a type.
std::string_view vtk_type_name(ScalarType type);

/// Writes the first lines of a file of a kind.
void start_vtk_file(ByteWriter& writer, const char* kind, const XmlEncoding& encoding = {});

/// Collects what the header announces and writes it behind the header, the last array first. (meshio 5 gives arrays new
/// offsets one by one, by their old ones; an array further back in the header is then never mistaken for one before
/// it.)
class VtkXmlWriter {
 public:
  /// Starts a file of a kind ("PolyData"), whose element has these attributes (each with a blank in front). Throws
  /// RuntimeError.
  VtkXmlWriter(const OutputFile& file, const char* kind, std::string_view attributes = {}, XmlEncoding encoding = {});

  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(header_), format, std::forward<Args>(args)...);
  }
  /// Announces an array whose values `write` will append, in the byte order of the file.
  void array(const std::string& name, ScalarType type, int components, std::size_t bytes,
             std::function<void(ByteWriter&)> write);
  /// The same for one that is taken over from a file of the same encoding, which must outlive this.
  void array(const StoredArray& stored);
  /// Announces arrays that are taken over and all of some blocks in an element of their own. Of two of one name that of
  /// a block is left out.
  void arrays(const char* tag, std::span<const ArrayBlock> blocks, std::string_view attributes = {},
              std::span<const StoredArray> stored = {});
  /// Ends the piece and the header, and writes the values.
  void finish();

 private:
  struct Block {
    std::size_t place;                   // in the header, where its offset belongs
    std::vector<std::uint64_t> numbers;  // in front of the values
    std::uint64_t bytes;
    std::function<void(ByteWriter&)> write;

    [[nodiscard]] std::uint64_t all_bytes() const { return numbers.size() * sizeof(std::uint64_t) + bytes; }
  };
  void announce(const std::string& name, ScalarType type, int components, Block block);
  void write_header();

  ByteWriter writer_;
  const char* kind_;
  XmlEncoding encoding_;
  std::string header_;
  std::vector<Block> blocks_;
};

}  // namespace isochron
