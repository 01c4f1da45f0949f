#include "apps/isochron/info_image.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "isochron/core/eigen3.h"
#include "isochron/metric/diffusion.h"
#include "isochron/metric/tensor_image.h"

namespace isochron::cli {
namespace {

/// For each voxel axis the world direction that it follows most: Right, Left, Anterior, Posterior, Superior, Inferior.
std::string axis_letters(const ImageGrid& grid) {
  constexpr std::array<std::string_view, 3> letters{"LR", "PA", "IS"};
  std::string result;
  for (const Vec3d& axis : grid.axes) {
    int main = 0;
    for (int d = 1; d < 3; ++d)
      if (std::abs(axis[d]) > std::abs(axis[main])) main = d;
    result += letters[static_cast<std::size_t>(main)][axis[main] > 0 ? 1 : 0];
  }
  return result;
}

const char* name_of(TensorOrder order) {
  switch (order) {
    case TensorOrder::vtk: return "vtk";
    case TensorOrder::row: return "row";
    case TensorOrder::mrtrix: return "mrtrix";
    default: return "lower";
  }
}

const char* name_of(TensorFrame frame) {
  switch (frame) {
    case TensorFrame::world: return "world";
    case TensorFrame::voxel: return "voxel";
    default: return "fsl";
  }
}

/// What the components are taken to be, where they are no tensor of known order.
std::string meaning_of(const ArraySummary& array) {
  if (array.components == 1) {
    if (array.distinct == 0 || !array.whole) return "scalar";
    const bool mask = array.distinct <= 2 && array.low == 0 && array.high <= 1;
    return mask ? "mask" : array.low >= 0 ? "labels" : "scalar";
  }
  if (array.components == 3) return "vector";
  if (array.components == 7 && !array.integer_type) return "series of 7 volumes, or a tensor behind a confidence";
  if (array.components == 6 && !array.integer_type) return "tensor of unknown order: give --tensor-order";
  return fmt::format("series of {} volumes, no tensor", array.components);
}

void count(const SymTensor3d& t, TensorSummary& summary) {
  const double all[] = {t.xx, t.xy, t.xz, t.yy, t.yz, t.zz};
  if (!std::all_of(std::begin(all), std::end(all), [](double v) { return std::isfinite(v); })) {
    ++summary.not_finite;
    return;
  }
  if (largest_component(t) == 0) {
    ++summary.empty;
    return;
  }
  const double fa = fractional_anisotropy(t);
  ++summary.voxels;
  summary.not_positive_definite += positive_definite(t) ? 0 : 1;
  summary.fa_above_one += fa > 1 ? 1 : 0;
  summary.min_fa = std::min(summary.min_fa, fa);
  summary.largest_fa = std::max(summary.largest_fa, fa);
  summary.mean_fa += fa;
}

TensorSummary sum_up_tensors(const Image& image, const DataArray& array, TensorOrder order, TensorFrame frame) {
  TensorSummary summary;
  summary.array = array.name;
  summary.order = array.components == 9 ? "matrix" : name_of(order);
  summary.frame = name_of(frame);
  std::vector<SymTensor3d> tensors = world_tensors(array, order, image.grid, frame, array.name);
  leave_out_masked(image, tensors);
  summary.min_fa = std::numeric_limits<double>::infinity();
  for (const SymTensor3d& t : tensors) count(t, summary);
  if (summary.voxels > 0) summary.mean_fa /= static_cast<double>(summary.voxels);
  else summary.min_fa = 0;
  summary.coherence = fiber_coherence(image.grid, tensors, frame);
  return summary;
}

/// The array that holds tensors: the file's own, one of nine components, or one of six when the user gives an order.
const DataArray* find_tensors(const Image& image, const TensorLayout& layout) {
  const auto& arrays = image.data.all();
  if (image.tensor_order && !arrays.empty()) return &arrays.front();
  const auto found = std::find_if(arrays.begin(), arrays.end(), [&](const DataArray& a) {
    return a.components == 9 || (a.components == 6 && layout.order.has_value());
  });
  return found == arrays.end() ? nullptr : &*found;
}

void warn_about(const TensorSummary& tensors, std::vector<std::string>& warnings) {
  if (const AxesCandidate* better = tensors.coherence.better()) {
    warnings.push_back(fmt::format(
        "the fibres hang together better with {} (coherence {:.3f} instead of {:.3f}); the tensors' axes may have been "
        "mixed up, check --tensor-order and --tensor-frame",
        better->name, better->coherence, tensors.coherence.candidates.front().coherence));
  }
  if (mostly_wrong(tensors.not_positive_definite, tensors.voxels))
    warnings.emplace_back("most tensors are not positive definite; the order of their components is probably another");
  if (tensors.not_finite > 0)
    warnings.push_back(
        fmt::format("{} with tensors that are not finite", counted(tensors.not_finite, "voxel", "voxels")));
}

}  // namespace

ImageInfo examine_image(const std::filesystem::path& file, const Image& image, const TensorLayout& layout) {
  ImageInfo info;
  info.file = file;
  info.grid = image.grid;
  info.axes = axis_letters(image.grid);
  info.warnings = image.warnings;
  const DataArray* tensors = find_tensors(image, layout);
  if (tensors == nullptr && layout.order) {
    throw InputError(
        "there are no tensors (arrays have 1 component or another number than 6 and 9); leave out --tensor-order, or "
        "fit tensors first",
        file.string());
  }
  for (const DataArray& array : image.data.all()) {
    info.arrays.push_back(summarize(array, "voxels"));
    if (&array != tensors) {
      info.meanings.push_back(meaning_of(info.arrays.back()));
      continue;
    }
    // The user knows better than the file; nine components have one order.
    const TensorOrder order = layout.order.value_or(image.tensor_order.value_or(TensorOrder::row));
    info.tensors = sum_up_tensors(image, array, order, layout.axes());
    info.meanings.push_back(fmt::format("tensor, order {}, {} frame", info.tensors->order, info.tensors->frame));
    warn_about(*info.tensors, info.warnings);
  }
  return info;
}

}  // namespace isochron::cli
