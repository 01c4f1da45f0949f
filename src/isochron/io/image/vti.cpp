#include <cmath>

#include "isochron/io/image/formats.h"
#include "isochron/io/image/values.h"
#include "isochron/io/image/vti.h"
#include "isochron/parts.h"

namespace isochron {
namespace {

/// Where an extent begins along an axis, and its last place.
std::int64_t first(const VtkExtent& extent, std::size_t axis) { return extent[2 * axis]; }
std::int64_t last(const VtkExtent& extent, std::size_t axis) { return extent[2 * axis + 1]; }

std::size_t length(const VtkExtent& extent, std::size_t axis) {
  return static_cast<std::size_t>(std::max<std::int64_t>(0, last(extent, axis) - first(extent, axis) + 1));
}
std::size_t count(const VtkExtent& extent) { return length(extent, 0) * length(extent, 1) * length(extent, 2); }

bool inside(const VtkExtent& piece, const VtkExtent& whole) {
  for (std::size_t d = 0; d < 3; ++d)
    if (first(piece, d) < first(whole, d) || last(piece, d) > last(whole, d)) return false;
  return true;
}

/// Calls `body(begin)` for each row of an extent along the first axis: where it begins in the list of the places of
/// `whole`.
template <class Body>
void for_each_row(const VtkExtent& extent, const VtkExtent& whole, Body&& body) {
  for (std::int64_t k = extent[4]; k <= extent[5]; ++k)
    for (std::int64_t j = extent[2]; j <= extent[3]; ++j)
      body(static_cast<std::size_t>(extent[0] - whole[0]) +
           length(whole, 0) *
               (static_cast<std::size_t>(j - whole[2]) + length(whole, 1) * static_cast<std::size_t>(k - whole[4])));
}

/// Where an element says that its points are; what it does not say stays as it is.
void read_place(const XmlScanner& xml, const XmlEvent& element, VtkImageFrame& frame) {
  const auto numbers = [&](std::string_view name, const std::vector<double>& otherwise) {
    return element.attribute(name) ? real_attribute(xml, element, name, otherwise.size()) : otherwise;
  };
  std::vector<double> spacing, direction;
  for (const Vec3d& axis : frame.axes) spacing.push_back(norm(axis));
  for (int row = 0; row < 3; ++row)  // the axes are the columns
    for (int d = 0; d < 3; ++d) direction.push_back(frame.axes[d][row] / spacing[d]);
  const std::vector<double> origin = numbers("Origin", {frame.origin.x, frame.origin.y, frame.origin.z});
  spacing = numbers("Spacing", spacing);
  direction = numbers("Direction", direction);
  frame.origin = {origin[0], origin[1], origin[2]};
  for (int d = 0; d < 3; ++d) frame.axes[d] = spacing[d] * Vec3d{direction[d], direction[3 + d], direction[6 + d]};
}

bool same_place(const VtkImageFrame& a, const VtkImageFrame& b) {
  double least = norm(a.axes[0]);
  for (const Vec3d& axis : a.axes) least = std::min(least, norm(axis));
  const auto near = [&](const Vec3d& p, const Vec3d& q) { return !(norm(p - q) > 1e-6 * least); };
  return near(a.origin, b.origin) && std::equal(a.axes.begin(), a.axes.end(), b.axes.begin(), near);
}

std::string place_text(const VtkImageFrame& frame) {
  const auto text = [](const Vec3d& v) { return fmt::format("{} {} {}", v.x, v.y, v.z); };
  return fmt::format("origin {}, axes {}, {} and {}", text(frame.origin), text(frame.axes[0]), text(frame.axes[1]),
                     text(frame.axes[2]));
}

}  // namespace

VtkExtent read_extent(const XmlScanner& xml, const XmlEvent& element, std::string_view attribute) {
  const std::vector<double> numbers = real_attribute(xml, element, attribute, 6);
  VtkExtent extent;
  for (int i = 0; i < 6; ++i) {
    if (std::abs(numbers[i]) > 1e9 || numbers[i] != std::floor(numbers[i]))
      xml.fail("{} has {} in it, which is no index", attribute, numbers[i]);
    extent[i] = static_cast<std::int64_t>(numbers[i]);
  }
  return extent;
}

VtkImageFrame read_image_frame(const XmlScanner& xml, const XmlEvent& element) {
  VtkImageFrame frame;
  frame.whole = read_extent(xml, element, "WholeExtent");
  frame.axes = {Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}};
  read_place(xml, element, frame);
  return frame;
}

std::string extent_text(const VtkExtent& e) {
  return fmt::format("{} {} {} {} {} {}", e[0], e[1], e[2], e[3], e[4], e[5]);
}

std::string image_attributes(const VtkImageFrame& frame) {
  std::string direction;  // the axes are its columns, and it is written row by row
  std::array<double, 3> spacing;
  for (int d = 0; d < 3; ++d) spacing[d] = norm(frame.axes[d]);
  for (int row = 0; row < 3; ++row)
    for (int column = 0; column < 3; ++column)
      direction += fmt::format("{}{}", row + column == 0 ? "" : " ", frame.axes[column][row] / spacing[column]);
  return fmt::format(" WholeExtent=\"{}\" Origin=\"{} {} {}\" Spacing=\"{} {} {}\" Direction=\"{}\"",
                     extent_text(frame.whole), frame.origin.x, frame.origin.y, frame.origin.z, spacing[0], spacing[1],
                     spacing[2], direction);
}

void fail_uncovered(const std::filesystem::path& path, std::uint64_t voxels) {
  bad_file(path, "the pieces do not cover the image (voxels in none: {}); get or write it again", voxels);
}

void ImageJoiner::fail(std::string_view problem) const { bad_file(path_, "{}; get or write it again", problem); }

VtkExtent ImageJoiner::voxels(const VtkExtent& points) const {
  VtkExtent result = points;
  for (int d = 0; d < 3; ++d)
    if (on_cells_ && length(frame_.whole, d) > 1) --result[2 * d + 1];
  return result;
}

ImageGrid ImageJoiner::grid_of(const VtkExtent& voxels) const {
  ImageGrid grid;
  grid.axes = frame_.axes;
  grid.origin = frame_.origin;
  for (int d = 0; d < 3; ++d) {
    grid.shape[d] = static_cast<std::uint32_t>(length(voxels, d));
    const bool between = on_cells_ && length(frame_.whole, d) > 1;
    grid.origin += (static_cast<double>(first(voxels, d)) + (between ? 0.5 : 0.0)) * frame_.axes[d];
  }
  return grid;
}

IndexBox ImageJoiner::box() const {
  const VtkExtent part = voxels(part_), whole = voxels(frame_.whole);
  IndexBox box;
  for (std::size_t d = 0; d < 3; ++d) {
    box.low[d] = static_cast<std::uint64_t>(first(part, d) - first(whole, d));
    box.high[d] = box.low[d] + length(part, d);
  }
  return box;
}

void ImageJoiner::start(const XmlPiece& piece) {
  const auto has_arrays = [&](std::string_view name) {
    const XmlSection* section = piece.find(name);
    return section != nullptr && !section->arrays.empty();
  };
  on_cells_ = !has_arrays("PointData") && has_arrays("CellData");
  if (!on_cells_ && has_arrays("CellData"))
    image_.warnings.emplace_back("the arrays on cells are left out (there are arrays on points)");
  const VtkExtent whole = voxels(frame_.whole);
  double all = 1;
  for (int d = 0; d < 3; ++d) all *= static_cast<double>(length(whole, d));
  if (all >= static_cast<double>(VertexId::invalid_value)) fail("the extent has more voxels than can be numbered");
  if (count(whole) == 0) bad_file(path_, "there is nothing in the image (an axis has length 0); give one with voxels");
  image_.grid = grid_of(voxels(part_));
  const XmlSection* section = piece.find(on_cells_ ? "CellData" : "PointData");
  if (section != nullptr) {
    for (const XmlArray& array : section->arrays) arrays_.push_back(array.name);
    const auto tensors = std::find(arrays_.begin(), arrays_.end(), section->element.attribute("Tensors").value_or(""));
    if (tensors != arrays_.end()) {
      std::rotate(arrays_.begin(), tensors, tensors + 1);
      image_.tensor_order = TensorOrder::vtk;
    }
  }
  started_ = true;
}

void ImageJoiner::place(const DataArray& from, const VtkExtent& extent, DataArray& to) const {
  const auto components = static_cast<std::size_t>(from.components);
  const std::size_t row = length(extent, 0) * components;
  std::visit(
      [&](const auto& source) {
        auto& target = std::get<std::decay_t<decltype(source)>>(to.values);
        auto at = source.begin();
        for_each_row(extent, voxels(part_), [&](std::size_t begin) {
          std::copy_n(at, row, target.begin() + static_cast<std::ptrdiff_t>(begin * components));
          at += static_cast<std::ptrdiff_t>(row);
        });
      },
      from.values);
}

void ImageJoiner::check_place(const VtkXmlFile& file) const {
  VtkImageFrame own = frame_;
  read_place(file.xml(), file.element(), own);
  if (same_place(frame_, own)) return;
  bad_file(file.path(), "lies elsewhere than the list says ({}; in the list {}); write the pieces again",
           place_text(own), place_text(frame_));
}

void ImageJoiner::add(const VtkXmlFile& file, const XmlPiece& piece) {
  check_place(file);
  if (!started_) start(piece);
  const VtkExtent points = read_extent(file.xml(), piece.element, "Extent");
  if (!inside(points, frame_.whole)) file.fail("a piece of the image lies outside the whole extent");
  const VtkExtent extent = voxels(points), whole = voxels(part_);
  const std::size_t here = count(extent), all = count(whole);
  if (here == 0 || arrays_.empty()) return;
  const XmlSection* section = piece.find(on_cells_ ? "CellData" : "PointData");
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    const XmlArray* announced = section != nullptr ? section->find(arrays_[i]) : nullptr;
    if (announced == nullptr) file.fail("array '{}' is missing, which other pieces have", arrays_[i]);
    DataArray array = file.read(*announced, here);
    auto& placed = image_.data.all();
    const bool fresh = i >= placed.size();
    if (fresh && here != all) {
      DataArray whole_array{array.name, array.components, {}};
      std::visit([&](const auto& v) { whole_array.values = std::decay_t<decltype(v)>(all * array.components); },
                 array.values);
      add_named(image_.data, std::move(whole_array), "point_array");
    } else if (fresh) {
      add_named(image_.data, std::move(array), "point_array");
      continue;
    }
    if (placed[i].components != array.components || placed[i].values.index() != array.values.index())
      file.fail("array '{}' is of another kind than in other pieces", arrays_[i]);
    place(array, extent, placed[i]);
  }
  if (known_.empty()) known_.resize(all);
  for_each_row(extent, whole, [&](std::size_t begin) {
    std::fill_n(known_.begin() + static_cast<std::ptrdiff_t>(begin), length(extent, 0), true);
  });
}

Image ImageJoiner::finish() {
  if (!started_) fail("there is no piece of an image in it");
  if (arrays_.empty()) return std::move(image_);
  const auto missing = static_cast<std::size_t>(std::count(known_.begin(), known_.end(), false));
  const std::size_t in_none = known_.empty() ? count(voxels(part_)) : missing;
  if (in_none > 0) fail_uncovered(path_, in_none);
  return std::move(image_);
}

Image read_vti(const std::filesystem::path& path) {
  const VtkXmlFile file(path);
  file.expect_kind("ImageData");
  ImageJoiner joiner(read_image_frame(file.xml(), file.element()), path);
  for (const XmlPiece& piece : file.pieces()) joiner.add(file, piece);
  return joiner.finish();
}

void write_vti(const OutputFile& file, const Image& image) {
  write_vti_piece(file, image, image.grid, whole_box(image.grid));
}

VtkExtent extent_of(const IndexBox& box) {
  VtkExtent extent;
  for (int d = 0; d < 3; ++d) {
    extent[2 * d] = static_cast<std::int64_t>(box.low[d]);
    extent[2 * d + 1] = static_cast<std::int64_t>(box.high[d]) - 1;
  }
  return extent;
}

VtiArrays::VtiArrays(const Image& image) : stored_(image.data) {
  if (!holds_tensor(image)) return;
  const ArrayToWrite first(image, TensorOrder::vtk);
  turned_ = image.data;
  turned_->set(first.array());
  tensors_ = first.array().name;
}

void write_vti_piece(const OutputFile& file, const Image& piece, const ImageGrid& whole, const IndexBox& box) {
  const VtiArrays arrays(piece);
  VtkXmlWriter xml(file, "ImageData", image_attributes({extent_of(whole_box(whole)), whole.origin, whole.axes}));
  xml.print("    <Piece Extent=\"{}\">\n", extent_text(extent_of(box)));
  const std::string& tensors = arrays.tensors();
  xml.arrays("PointData", std::array{ArrayBlock{&arrays.data(), box.count(), "points"}},
             tensors.empty() ? std::string() : fmt::format(" Tensors=\"{}\"", xml_escaped(tensors)));
  xml.finish();
}

IndexBox shared_box(const IndexBox& box, const ImageGrid& whole) {
  IndexBox result = box;
  for (int d = 0; d < 3; ++d) result.high[d] = std::min<std::uint64_t>(box.high[d] + 1, whole.shape[d]);
  return result;
}

}  // namespace isochron
