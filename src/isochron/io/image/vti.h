// VTK image files in pieces: where their points are, and how an image is put together from them.
#pragma once

#include "isochron/image.h"
#include "isochron/io/vtk_xml.h"
#include "isochron/partition.h"

namespace isochron {

/// First and last index along each axis.
using VtkExtent = std::array<std::int64_t, 6>;

/// Where the points of an image file are.
struct VtkImageFrame {
  VtkExtent whole{};
  Vec3d origin{};
  std::array<Vec3d, 3> axes{};
};

/// Throw InputError about the file.
VtkImageFrame read_image_frame(const XmlScanner& xml, const XmlEvent& element);
VtkExtent read_extent(const XmlScanner& xml, const XmlEvent& element, std::string_view attribute);

/// The same as text, and as the attributes of an element.
std::string extent_text(const VtkExtent& extent);
std::string image_attributes(const VtkImageFrame& frame);

/// Throws InputError: so many voxels are in no piece.
[[noreturn]] void fail_uncovered(const std::filesystem::path& path, std::uint64_t voxels);

/// Takes pieces in any order; where they overlap, which they do by a layer of points, the last one counts. Arrays may
/// be on points or on cells, which then are the voxels.
class ImageJoiner {
 public:
  /// `path` is the file that the user named.
  ImageJoiner(const VtkImageFrame& frame, std::filesystem::path path)
      : ImageJoiner(frame, std::move(path), frame.whole) {}
  /// The same for a part of the image; pieces must lie in it.
  ImageJoiner(const VtkImageFrame& frame, std::filesystem::path path, const VtkExtent& part)
      : frame_(frame), part_(part), path_(std::move(path)) {}

  /// Its arrays must be those of the first piece, and its points where the frame says, to a millionth of a spacing.
  /// Throws InputError.
  void add(const VtkXmlFile& file, const XmlPiece& piece);
  /// Throws InputError when there was no piece, or some voxel is in none.
  Image finish();

  // Once a piece is there:
  [[nodiscard]] bool on_cells() const { return on_cells_; }
  /// Of the whole image, and which of its voxels are the part.
  [[nodiscard]] ImageGrid whole() const { return grid_of(voxels(frame_.whole)); }
  [[nodiscard]] IndexBox box() const;

 private:
  /// First and last voxel of an extent.
  [[nodiscard]] VtkExtent voxels(const VtkExtent& points) const;
  [[nodiscard]] ImageGrid grid_of(const VtkExtent& voxels) const;
  void check_place(const VtkXmlFile& file) const;
  void start(const XmlPiece& piece);
  void place(const DataArray& from, const VtkExtent& extent, DataArray& to) const;
  [[noreturn]] void fail(std::string_view problem) const;

  VtkImageFrame frame_;
  VtkExtent part_;
  std::filesystem::path path_;
  Image image_;
  bool started_ = false;
  bool on_cells_ = false;
  std::vector<std::string> arrays_;
  std::vector<bool> known_;
};

VtkExtent extent_of(const IndexBox& box);

/// The arrays of an image as a file holds them: tensors of known order in VTK's.
class VtiArrays {
 public:
  explicit VtiArrays(const Image& image);
  [[nodiscard]] const DataArrays& data() const { return turned_ ? *turned_ : stored_; }
  /// The array that holds tensors; empty: none.
  [[nodiscard]] const std::string& tensors() const { return tensors_; }

 private:
  const DataArrays& stored_;
  std::optional<DataArrays> turned_;
  std::string tensors_;
};

/// Writes the voxels of `box`, a part of an image with the grid `whole`; `piece` has their values, and its grid is not
/// looked at. Pieces of one image share a layer of voxels, see `shared_box`. Throws RuntimeError.
void write_vti_piece(const OutputFile& file, const Image& piece, const ImageGrid& whole, const IndexBox& box);

/// The box of voxels with those behind its far sides, so that cells between boxes are in one of them.
IndexBox shared_box(const IndexBox& box, const ImageGrid& whole);

}  // namespace isochron
