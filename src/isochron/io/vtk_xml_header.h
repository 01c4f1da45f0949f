// Reads VTK's XML files: what the header announces, and the values of one array at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isochron/io/file_bytes.h"
#include "isochron/io/scalar_type.h"
#include "isochron/io/xml_scanner.h"
#include "isochron/mesh/dataset.h"

namespace isochron {

/// The type that VTK's files name; nothing for those that hold no numbers.
std::optional<ScalarType> vtk_type_named(std::string_view name);

/// A number in an attribute. Throws InputError that begins with the path.
std::uint64_t whole_attribute(const XmlScanner& xml, const XmlEvent& element, std::string_view name);
/// Several numbers in an attribute, `count` of them. Throws InputError that begins with the path.
std::vector<double> real_attribute(const XmlScanner& xml, const std::filesystem::path& path, const XmlEvent& element,
                                   std::string_view name, std::size_t count);

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

/// A whole file and its header. zlib is the only compression that is understood. Everything throws InputError that
/// begins with the path.
class VtkXmlFile {
 public:
  explicit VtkXmlFile(const std::filesystem::path& path);

  [[nodiscard]] std::string_view kind() const { return kind_; }       ///< "UnstructuredGrid"
  [[nodiscard]] const XmlEvent& element() const { return element_; }  ///< the element of that name
  [[nodiscard]] const std::vector<XmlPiece>& pieces() const { return pieces_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] const XmlScanner& xml() const { return xml_; }

  /// All values of an array.
  [[nodiscard]] DataArray::Values values(const XmlArray& array) const;
  /// The same, which must be `tuples` tuples.
  [[nodiscard]] DataArray read(const XmlArray& array, std::size_t tuples) const;
  [[noreturn]] void fail(std::string_view problem) const { xml_.fail(problem); }

 private:
  void read_header();
  void start_file(const XmlEvent& element);
  void start_appended(const XmlEvent& element);
  void read_array(const XmlEvent& element);
  [[nodiscard]] std::string bytes(const XmlArray& array) const;
  [[nodiscard]] DataArray::Values text_values(const XmlArray& array) const;

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
  bool appended_base64_ = false;
};

}  // namespace isochron
