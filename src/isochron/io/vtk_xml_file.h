// What VTK's XML files have in common: a header that announces arrays, and their raw values behind it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isochron/io/joined_arrays.h"

namespace isochron {

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
const char* vtk_type_name(ScalarType type);

/// Collects what the header announces and writes it behind the header in the same order.
class XmlFile {
 public:
  /// Starts a file of a kind ("PolyData"), whose element has these attributes (each with a blank in front). Throws
  /// RuntimeError.
  XmlFile(const OutputFile& file, const char* kind, std::string_view attributes = {});

  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    writer_.print(format, std::forward<Args>(args)...);
  }
  /// Announces an array whose values `write` will append.
  void array(const std::string& name, ScalarType type, int components, std::size_t bytes,
             std::function<void(ByteWriter&)> write);
  /// Announces all arrays of some blocks in an element of their own.
  void arrays(const char* tag, std::span<const ArrayBlock> blocks, std::string_view attributes = {});
  /// Ends the piece and the header, and writes the values.
  void finish();

 private:
  struct Block {
    std::size_t bytes;
    std::function<void(ByteWriter&)> write;
  };
  ByteWriter writer_;
  const char* kind_;
  std::uint64_t offset_ = 0;
  std::vector<Block> blocks_;
};

}  // namespace isochron
