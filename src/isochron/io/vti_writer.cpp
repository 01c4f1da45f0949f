#include "isochron/io/vti_writer.h"

#include <array>

#include "isochron/dist/image_part.h"
#include "isochron/io/image_values.h"
#include "isochron/io/vtk_xml_file.h"

namespace isochron {
namespace {

VtkExtent extent_of(const IndexBox& box) {
  VtkExtent extent;
  for (int d = 0; d < 3; ++d) {
    extent[2 * d] = static_cast<std::int64_t>(box.low[d]);
    extent[2 * d + 1] = static_cast<std::int64_t>(box.high[d]) - 1;
  }
  return extent;
}

/// All arrays, with tensors of known order in VTK's.
struct WrittenArrays {
  explicit WrittenArrays(const Image& image) : first(image, TensorOrder::vtk) {
    if (!first.tensor()) return;
    turned = image.data;
    turned.set(first.array());
  }
  [[nodiscard]] const DataArrays& of(const Image& image) const { return first.tensor() ? turned : image.data; }

  ArrayToWrite first;
  DataArrays turned;
};

}  // namespace

void write_vti(const OutputFile& file, const Image& image) {
  write_vti_piece(file, image, image.grid, whole_box(image.grid));
}

void write_vti_piece(const OutputFile& file, const Image& piece, const ImageGrid& whole, const IndexBox& box) {
  const WrittenArrays arrays(piece);
  XmlFile xml(file, "ImageData", image_attributes({extent_of(whole_box(whole)), whole.origin, whole.axes}));
  xml.print("    <Piece Extent=\"{}\">\n", extent_text(extent_of(box)));
  const std::string tensors = fmt::format(" Tensors=\"{}\"", xml_escaped(arrays.first.array().name));
  const DataArrays& data = arrays.of(piece);
  xml.arrays("PointData", std::array{ArrayBlock{&data, box.count(), "points"}},
             arrays.first.tensor() ? tensors : std::string());
  xml.finish();
}

IndexBox shared_box(const IndexBox& box, const ImageGrid& whole) {
  IndexBox result = box;
  for (int d = 0; d < 3; ++d) result.high[d] = std::min<std::uint64_t>(box.high[d] + 1, whole.shape[d]);
  return result;
}

PieceIndex image_index(const Image& piece, const ImageGrid& whole, std::span<const IndexBox> boxes) {
  PieceIndex index;
  index.kind = PieceKind::image;
  index.frame = {extent_of(whole_box(whole)), whole.origin, whole.axes};
  for (const IndexBox& box : boxes) index.extents.push_back(extent_of(box));
  const WrittenArrays arrays(piece);
  index.point_arrays = piece_arrays(std::array{ArrayBlock{&arrays.of(piece), 1, "points"}});
  if (arrays.first.tensor()) index.tensors = arrays.first.array().name;
  return index;
}

}  // namespace isochron
