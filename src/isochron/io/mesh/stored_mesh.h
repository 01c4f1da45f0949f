// VTU files that are written again with other arrays: what does not change is taken over as it is stored, without being
// decoded and encoded again.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "isochron/dataset.h"
#include "isochron/io.h"
#include "isochron/io/mesh/cells.h"
#include "isochron/io/vtk_xml.h"

namespace isochron {

/// What becomes of the arrays of a file whose mesh is written again.
struct ArrayUse {
  ArrayNames used;                                    ///< those whose values are looked at
  ArrayNames kept;                                    ///< those that the output has too
  bool (*replaced)(std::string_view name) = nullptr;  ///< those on points that it never takes from the file

  [[nodiscard]] bool keeps(ArrayPlace place, std::string_view name) const;
  /// Those that are used or kept.
  [[nodiscard]] ArrayNames names() const;
};

/// An open file, and those of its arrays that another one takes over.
class StoredMesh {
 public:
  /// Throws InputError.
  explicit StoredMesh(const std::filesystem::path& path) : file_(path) {}

  /// Decides what can be taken over: nothing, unless the points and cells of the data set are those of the file, one by
  /// one and all of one kind, and are stored as bytes. `cells` are in the file. False for nothing.
  bool take(const Dataset& dataset, std::size_t cells, const ArrayUse& use);
  /// To be called when everything is read.
  void forget_values() { file_.forget_values(); }

  [[nodiscard]] const VtkXmlFile& file() const { return file_; }
  [[nodiscard]] const StoredArray& points() const { return geometry_[0]; }
  /// Connectivity, offsets and types.
  [[nodiscard]] std::span<const StoredArray> cells() const { return std::span(geometry_).subspan(1); }
  [[nodiscard]] std::span<const StoredArray> arrays(ArrayPlace place) const {
    return arrays_[static_cast<std::size_t>(place)];
  }
  [[nodiscard]] bool has(ArrayPlace place, std::string_view name) const;

 private:
  bool take_geometry(const XmlPiece& piece, std::size_t points, std::size_t cells, std::size_t corners);

  VtkXmlFile file_;
  std::vector<StoredArray> geometry_;
  std::array<std::vector<StoredArray>, 2> arrays_;
};

/// A mesh that is to be written again.
struct MeshToKeep {
  Dataset dataset;                           ///< without arrays that are only taken over
  std::shared_ptr<const StoredMesh> stored;  ///< null where nothing is taken over

  /// The names of all arrays, of both, each once: those on points first.
  [[nodiscard]] std::vector<std::string> array_names() const;
};

/// Reads a mesh whose points and cells will be written to `output` as they are. Throws as `read_dataset`, which it
/// is where the output can take nothing over.
MeshToKeep read_to_keep(const std::filesystem::path& path, const std::filesystem::path& output, const ArrayUse& use);
/// Writes as `write_dataset` does. Where arrays are taken over, points and cells of the data set must be as they were
/// read. Throws InputError too: about the file that they are taken from.
void write_kept(OutputFiles& outputs, const std::filesystem::path& path, const Dataset& dataset,
                const StoredMesh* stored);

/// The same of formats that are VTU.
MeshToKeep read_vtu_to_keep(const std::filesystem::path& path, const ArrayUse& use);
void write_vtu(const OutputFile& file, const Dataset& dataset, const StoredMesh& stored);

}  // namespace isochron
