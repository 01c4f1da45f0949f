#include "isochron/io/vti_writer.h"

#include <array>

#include "isochron/io/image_values.h"
#include "isochron/io/vtk_xml_file.h"

namespace isochron {
namespace {

std::string extent_of(const ImageGrid& grid) {
  return fmt::format("0 {} 0 {} 0 {}", grid.shape[0] - 1, grid.shape[1] - 1, grid.shape[2] - 1);
}

/// The direction matrix has the axes as its columns and is written row by row.
std::string place_of(const ImageGrid& grid) {
  std::string text =
      fmt::format(" WholeExtent=\"{}\" Origin=\"{} {} {}\" Spacing=\"{} {} {}\" Direction=\"", extent_of(grid),
                  grid.origin.x, grid.origin.y, grid.origin.z, grid.spacing(0), grid.spacing(1), grid.spacing(2));
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 3; ++column) {
      const double value = grid.axes[static_cast<std::size_t>(column)][row] / grid.spacing(column);
      text += fmt::format("{}{}", row + column == 0 ? "" : " ", value);
    }
  }
  return text + "\"";
}

}  // namespace

void write_vti(const OutputFile& file, const Image& image) {
  const ArrayToWrite first(image, TensorOrder::vtk);
  DataArrays turned;  // the tensors in VTK's order, and the rest as it is
  if (first.tensor()) {
    turned = image.data;
    turned.set(first.array());
  }
  const DataArrays& data = first.tensor() ? turned : image.data;
  XmlFile xml(file, "ImageData", place_of(image.grid));
  xml.print("    <Piece Extent=\"{}\">\n", extent_of(image.grid));
  const std::string tensors = fmt::format(" Tensors=\"{}\"", xml_escaped(first.array().name));
  xml.arrays("PointData", std::array{ArrayBlock{&data, image.grid.voxel_count(), "points"}},
             first.tensor() ? tensors : std::string());
  xml.finish();
}

}  // namespace isochron
