// Small tables beside meshes and images: rows of numbers, vertex lists, timed sources, probe points, measured times and
// gradients read from text files, and tables written for NumPy.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isochron/image.h"
#include "isochron/io/bytes.h"
#include "isochron/types.h"

namespace isochron {

/// The numbers of each line that has some, separated by blanks or commas; '#' starts a comment. NaN and infinity are
/// numbers here. Throws InputError for words that are none, with the line.
std::vector<std::vector<double>> read_number_rows(const std::filesystem::path& path);

/// One row of a source file.
struct SourceRow {
  VertexId vertex;  ///< invalid where the row has a point
  std::optional<Vec3d> point;
  std::optional<double> time;  ///< in the caller's unit; absent where the file does not give one
};

/// A CARP .vtx file: the number of ids, a line "intra" or "extra", then 0-based ids. Throws InputError.
std::vector<VertexId> read_vtx(const std::filesystem::path& path);

/// Rows "id [time]", 0-based, or rows "x y z [time]" in the whole file; '#' comments; no time where it is not given. A
/// .vtx file is read as such. Throws InputError for a malformed row, a number that is not finite and a file without
/// rows; ids are not checked against any mesh.
std::vector<SourceRow> read_source_file(const std::filesystem::path& path);

/// Points and what they are called.
struct NamedPoints {
  std::vector<Vec3d> points;
  std::vector<std::string> names;  ///< one a point, empty where a row has none; no entry at all when no row has one
};

/// Rows "x y z" or "x y", separated by blanks, commas or semicolons, with '#' comments, one header line at most, and
/// optionally a name in front of each row or behind it. Of four numbers the first is the name, or the last when there
/// is a header that begins with x. Throws InputError.
NamedPoints read_points(const std::filesystem::path& path);

/// One row of a table of measured times, or of sources by shot.
struct ShotRow {
  std::string shot;  ///< empty where the table has no such column
  VertexId vertex;   ///< invalid where the row has a point
  std::optional<Vec3d> point;
  std::optional<double> time;  ///< always there in a table of measured times
  double weight = 1;
  std::string name;
  std::size_t line = 0;  ///< of the file, from 1 on
};

struct ShotTable {
  std::vector<ShotRow> rows;
  bool has_shots = false;            ///< there is a column of shots
  std::vector<std::string> ignored;  ///< columns of other names
};

enum class ShotTableKind {
  measured_times,  ///< needs times, may have shots, weights and names
  sources          ///< needs shots, may have times
};

/// A table whose first line names the columns, in any order and in small letters or capitals: `shot`, `x`, `y`, `z` (0
/// where it is missing) or `vertex` (0-based), `time`, `weight` (1), `name`; commas or semicolons between them, '#'
/// comments. Throws InputError with the line for columns that are missing or twice, a number that is none or not
/// finite, a negative weight and a table without rows; ids are not checked against any mesh.
ShotTable read_shot_table(const std::filesystem::path& path, ShotTableKind kind);

/// Reads FSL's pair: b-values in a row or a column; b-vectors in three rows with a column per volume, or in a row of
/// three per volume (three rows of three are taken as FSL's rows). Throws InputError: a file cannot be read, holds
/// something else, or the counts differ.
GradientTable read_gradients(const std::filesystem::path& bval, const std::filesystem::path& bvec);

/// A label of an image and what it is called.
struct LabelName {
  std::int64_t label = 0;
  std::string name;
};

/// The rows of a table of labels, in its order: FreeSurfer's and MRtrix's look-up tables (`id name r g b a`, `id name`,
/// '#' comments), ITK-SNAP's (`id r g b … "name"`), and tables with commas or tabs between the columns, with or without
/// a line of headings. Throws InputError: no rows, a row without a label, a label twice.
std::vector<LabelName> read_label_table(const std::filesystem::path& path);

/// The first bytes of a .npy file (format version 1.0) of this type ("f8") in the machine's byte order.
enum class NpyOrder { rows_first, columns_first };  // NumPy's C and Fortran order
std::string npy_header(std::string_view type, NpyOrder order, std::span<const std::size_t> shape);

/// Writes a table of 64-bit reals as a .npy file (format version 1.0, row after row), one row at a time: it need not
/// fit the memory. Throws RuntimeError like `ByteWriter`.
class NpyWriter {
 public:
  NpyWriter(const OutputFile& file, std::size_t rows, std::size_t columns);

  /// The next row, with as many values as there are columns.
  void row(std::span<const double> values);
  /// Must be called after the last row: only then is everything known to be written.
  void finish();

 private:
  ByteWriter out_;
  std::size_t rows_left_;
  [[maybe_unused]] std::size_t columns_;  ///< for assertions
};

}  // namespace isochron
