#include "isochron/io/vtk/vti_reader.h"

#include <vtkCellData.h>
#include <vtkImageData.h>
#include <vtkInformation.h>
#include <vtkMatrix3x3.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkStreamingDemandDrivenPipeline.h>
#include <vtkXMLImageDataReader.h>

#include "isochron/core/error.h"
#include "isochron/io/cell_sorter.h"
#include "isochron/io/packed_bytes.h"
#include "isochron/io/vtk/vtk_arrays.h"

namespace isochron {
namespace {

/// VTK allocates what the extent asks for; a damaged one must not ask for more than the file can hold.
void check_extent(vtkXMLImageDataReader& reader, const std::string& path) {
  const VtkMessages messages;
  reader.UpdateInformation();
  if (!messages.errors().empty()) vtk_damaged(path, fmt::format("VTK cannot read it ({})", messages.errors().front()));
  const int* extent = reader.GetOutputInformation(0)->Get(vtkStreamingDemandDrivenPipeline::WHOLE_EXTENT());
  if (extent == nullptr) vtk_damaged(path, "there is no extent");
  double points = 1;
  for (int d = 0; d < 3; ++d) points *= static_cast<double>(extent[2 * d + 1]) - extent[2 * d] + 1;
  const auto most_points =
      static_cast<double>(most_deflate_gain) * static_cast<double>(std::filesystem::file_size(path));
  if (points == 0)
    throw InputError(
        fmt::format("{}: there is nothing in the image (an axis has length 0); give one with voxels", path));
  if (!(points >= 1 && points <= most_points))
    vtk_damaged(path, fmt::format("the file is too short for its extent ({:.0f} points)", points));
}

ImageGrid grid_of(vtkImageData& image, bool on_cells) {
  ImageGrid grid;
  const int* extent = image.GetExtent();
  const double* origin = image.GetOrigin();
  grid.origin = {origin[0], origin[1], origin[2]};
  for (int d = 0; d < 3; ++d) {
    const auto i = static_cast<std::size_t>(d);
    const int points = extent[2 * d + 1] - extent[2 * d] + 1;
    const bool cells = on_cells && points > 1;
    grid.shape[i] = static_cast<std::uint32_t>(cells ? points - 1 : points);
    for (int row = 0; row < 3; ++row)
      grid.axes[i][row] = image.GetSpacing()[d] * image.GetDirectionMatrix()->GetElement(row, d);
    grid.origin += (extent[2 * d] + (cells ? 0.5 : 0.0)) * grid.axes[i];
  }
  return grid;
}

}  // namespace

Image read_vti(const std::filesystem::path& path) {
  const std::string name = path.string();
  Image image;
  vtkNew<vtkXMLImageDataReader> reader;
  reader->SetFileName(name.c_str());
  check_extent(*reader, name);
  run_vtk_reader(*reader, name, image.warnings);
  vtkImageData& file = *reader->GetOutput();
  const bool on_cells = file.GetPointData()->GetNumberOfArrays() == 0 && file.GetCellData()->GetNumberOfArrays() > 0;
  if (!on_cells && file.GetCellData()->GetNumberOfArrays() > 0)
    image.warnings.emplace_back("the arrays on cells are left out (there are arrays on points)");
  image.grid = grid_of(file, on_cells);
  vtkDataSetAttributes* attributes = file.GetPointData();
  if (on_cells) attributes = file.GetCellData();
  std::vector<ArrayPointer> arrays;
  if (vtkDataArray* tensors = attributes->GetTensors()) {
    arrays.emplace_back(tensors);
    image.tensor_order = TensorOrder::vtk;
  }
  take_arrays(attributes, arrays);
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (i > 0 && arrays[i] == arrays[0] && image.tensor_order) continue;
    check_tuples(*arrays[i], image.grid.voxel_count(), name);
    add_named(image.data, converted_array(*arrays[i]), "point_array");
  }
  return image;
}

}  // namespace isochron
