#include "apps/isochron/image_input.h"

#include <algorithm>
#include <cmath>

#include "isochron/io/image_io.h"
#include "isochron/io/raw_image.h"

namespace isochron::cli {
namespace {

RawLayout layout_of(const RawRequest& raw) {
  const bool whole = std::all_of(raw.shape.begin(), raw.shape.end(),
                                 [](double n) { return n >= 1 && n < 4294967295.0 && n == std::floor(n); });
  if (!whole || raw.shape.size() < 2 || raw.shape.size() > 4 || (raw.shape.size() == 4 && raw.shape[3] > 1e6))
    throw UsageError("--raw-shape: is no shape (two to four positive whole numbers); say NX,NY,NZ[,COMPONENTS]");
  RawLayout layout;
  for (std::size_t d = 0; d < std::min<std::size_t>(3, raw.shape.size()); ++d)
    layout.shape[d] = static_cast<std::uint32_t>(raw.shape[d]);
  if (raw.shape.size() == 4) layout.components = static_cast<int>(raw.shape[3]);
  std::tie(layout.type, layout.encoding) = parse_raw_type(raw.type);
  if (raw.spacing.empty()) return layout;
  const std::size_t axes = std::min<std::size_t>(3, raw.shape.size());
  const bool positive = std::all_of(raw.spacing.begin(), raw.spacing.end(), [](double s) { return s > 0; });
  if (!positive || (raw.spacing.size() != 1 && raw.spacing.size() != axes))
    throw UsageError("--raw-spacing: does not fit the shape (one positive number, or one an axis); say SX,SY,SZ");
  for (int d = 0; d < 3; ++d) {
    const auto last = std::min<std::size_t>(static_cast<std::size_t>(d), raw.spacing.size() - 1);
    layout.spacing[d] = raw.spacing[last];
  }
  return layout;
}

}  // namespace

void declare_tensor_layout(Command& command, TensorLayout& layout) {
  command.option("--tensor-order", "NAME",
                 "Of 6 components: fsl (xx,xy,xz,yy,yz,zz along FSL's axes), row (the same along world axes), mrtrix, "
                 "vtk, lower",
                 [&layout](const std::string& text) {
                   TensorOrder order{};
                   one_of(order, {{"fsl", TensorOrder::row},
                                  {"row", TensorOrder::row},
                                  {"mrtrix", TensorOrder::mrtrix},
                                  {"vtk", TensorOrder::vtk},
                                  {"lower", TensorOrder::lower}})(text);
                   layout.order = order;
                   if (text == "fsl" && !layout.frame) layout.frame = TensorFrame::fsl;
                 });
  command.option(
      "--tensor-frame", "NAME", "The tensors' axes: world, voxel or fsl", [&layout](const std::string& text) {
        TensorFrame frame{};
        one_of(frame, {{"world", TensorFrame::world}, {"voxel", TensorFrame::voxel}, {"fsl", TensorFrame::fsl}})(text);
        layout.frame = frame;
      });
}

void leave_out_masked(const Image& image, std::vector<SymTensor3d>& tensors) {
  const DataArray* mask = image.data.find("mask");
  if (mask == nullptr || mask->components != 1 || mask->tuple_count() != tensors.size()) return;
  for (std::size_t v = 0; v < tensors.size(); ++v)
    if (!(mask->at(v) > 0)) tensors[v] = {};
}

void declare_raw(Command& command, RawRequest& raw) {
  command.option("--raw-shape", "NX,NY[,NZ[,C]]", "Read files of unknown extension as bare numbers, x fastest",
                 into(raw.shape));
  command.option("--raw-type", "TYPE", "Their type: uint8, int16, float32, …, with le or be for the byte order",
                 into(raw.type));
  command.option("--raw-spacing", "S | SX,SY[,SZ]", "The size of their voxels", into(raw.spacing));
}

bool is_image(const std::filesystem::path& file, const RawRequest& raw) {
  return is_image_file(file) || !raw.shape.empty();
}

Image load_image(const std::filesystem::path& file, const RawRequest& raw) {
  return is_image_file(file) || raw.shape.empty() ? read_image(file) : read_raw_image(file, layout_of(raw));
}

}  // namespace isochron::cli
