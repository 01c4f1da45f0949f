#include "isochron/io/image_values.h"
#include "isochron/io/nrrd_file.h"

namespace isochron {
namespace {

const char* type_name(ScalarType type) {
  switch (type) {
    case ScalarType::uint8: return "uint8";
    case ScalarType::int32: return "int32";
    case ScalarType::int64: return "int64";
    case ScalarType::float32: return "float";
    default: return "double";
  }
}

void write_header(ByteWriter& writer, const ImageGrid& grid, const DataArray& array, bool tensor) {
  const bool several = array.components > 1;
  const std::string sizes = several ? fmt::format("{} ", array.components) : "";
  const char* kind = !several ? "" : !tensor ? "list " : array.components == 6 ? "3D-symmetric-matrix " : "3D-matrix ";
  writer.print("NRRD0005\n");
  if (array.name != unnamed_array) writer.print("content: {}\n", array.name);
  const ScalarType type = scalar_type(array.values);
  writer.print("type: {}\ndimension: {}\nspace: right-anterior-superior\n", type_name(type), several ? 4 : 3);
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

void write_nrrd(const OutputFile& file, const Image& image) {
  const ArrayToWrite to_write(image, TensorOrder::row);
  const DataArray& array = to_write.array();
  ByteWriter writer(file);
  write_header(writer, image.grid, array, to_write.tensor());
  std::visit([&](const auto& values) { writer.write(values.data(), values.size() * sizeof(values[0])); }, array.values);
  writer.finish();
}

}  // namespace isochron
