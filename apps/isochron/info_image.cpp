#include "apps/isochron/info.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "isochron/diffusion.h"
#include "isochron/types.h"

namespace isochron::cli {
namespace {

/// The tensors of an image, summed up over the voxels that have one.
struct TensorSummary {
  std::string array;
  std::string order;  ///< "row", "mrtrix", …; "matrix" of nine components
  std::string frame;  ///< "world", "voxel", "fsl"
  std::size_t voxels = 0;
  std::size_t empty = 0;                  ///< all components zero: background
  std::size_t not_finite = 0;             ///< voxels with NaN or infinity
  std::size_t not_positive_definite = 0;  ///< of `voxels`
  std::size_t fa_above_one = 0;
  double min_fa = 0, mean_fa = 0, largest_fa = 0;
  FiberCoherence coherence;
};

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

void report_tensors(Report& report, const TensorSummary& tensors) {
  const AxesCandidate* better = tensors.coherence.better();
  Json coherence = Json::object();
  std::vector<std::string> shown;
  for (const AxesCandidate& candidate : tensors.coherence.candidates) {
    coherence[candidate.name] = candidate.coherence;
    shown.push_back(fmt::format("{:.3f} {}", candidate.coherence, candidate.name));
  }
  report.object()["tensors"] = {{"array", tensors.array},
                                {"order", tensors.order},
                                {"frame", tensors.frame},
                                {"voxels", tensors.voxels},
                                {"empty", tensors.empty},
                                {"not_finite", tensors.not_finite},
                                {"not_positive_definite", tensors.not_positive_definite},
                                {"fa_above_one", tensors.fa_above_one},
                                {"min_fa", tensors.min_fa},
                                {"mean_fa", tensors.mean_fa},
                                {"max_fa", tensors.largest_fa},
                                {"coherence", std::move(coherence)},
                                {"better_axes", better != nullptr ? Json(better->name) : Json(nullptr)}};
  report.line(fmt::format("  tensors ({}, order {}, {} frame)", tensors.array, tensors.order, tensors.frame));
  report.row("voxels", "{} with a tensor, {} empty, {} not finite", grouped(tensors.voxels), grouped(tensors.empty),
             grouped(tensors.not_finite));
  report.row("anisotropy", "FA {:.3g} … {:.3g}, mean {:.3g}; {} above 1", tensors.min_fa, tensors.largest_fa,
             tensors.mean_fa, grouped(tensors.fa_above_one));
  const double share = tensors.voxels == 0
                           ? 0
                           : static_cast<double>(tensors.not_positive_definite) / static_cast<double>(tensors.voxels);
  report.row("checks", "{} not positive definite ({})", percent(share),
             counted(tensors.not_positive_definite, "voxel", "voxels"));
  if (tensors.coherence.voxels > 0) report.row("coherence", "{}", fmt::join(shown, ", "));
}

void report_grid(Report& report, const ImageGrid& grid) {
  const Vec3d spacing{grid.spacing(0), grid.spacing(1), grid.spacing(2)};
  const std::string axes = axis_letters(grid);
  report.add({{"shape", grid.shape},
              {"voxels", grid.voxel_count()},
              {"spacing", json_of(spacing)},
              {"axes", axes},
              {"affine", Json::array()}});
  report.row("spacing", "{:.6g} {:.6g} {:.6g}", spacing.x, spacing.y, spacing.z);
  report.row("axes", "{}", axes);
  for (int d = 0; d < 3; ++d) {
    const double x = grid.axes[0][d], y = grid.axes[1][d], z = grid.axes[2][d], origin = grid.origin[d];
    report.object()["affine"].push_back({x, y, z, origin});
    report.row(d == 0 ? "affine" : "", "{:>10.5g} {:>10.5g} {:>10.5g}  {:>10.6g}", x, y, z, origin);
  }
  report.object()["affine"].push_back({0, 0, 0, 1});
}

}  // namespace

FileReport examine_image(const std::filesystem::path& file, const Image& image, const TensorLayout& layout) {
  FileReport info{.file = file, .warnings = image.warnings};
  Report& report = info.report;
  const DataArray* tensors = find_tensors(image, layout);
  if (tensors == nullptr && layout.order) {
    throw InputError(
        "there are no tensors (arrays have 1 component or another number than 6 and 9); leave out --tensor-order, or "
        "fit tensors first",
        file.string());
  }
  std::optional<TensorSummary> found;
  std::vector<ArraySummary> arrays;
  std::vector<std::string> meanings;
  for (const DataArray& array : image.data.all()) {
    arrays.push_back(summarize(array, "voxels"));
    if (&array != tensors) {
      meanings.push_back(meaning_of(arrays.back()));
      continue;
    }
    // The user knows better than the file; nine components have one order.
    const TensorOrder order = layout.order.value_or(image.tensor_order.value_or(TensorOrder::row));
    found = sum_up_tensors(image, array, order, layout.axes());
    meanings.push_back(fmt::format("tensor, order {}, {} frame", found->order, found->frame));
    warn_about(*found, info.warnings);
  }
  const auto& shape = image.grid.shape;
  report.title("file", file.string(), fmt::format("image of {} × {} × {} voxels", shape[0], shape[1], shape[2]));
  report_grid(report, image.grid);
  report_arrays(report, arrays);
  report.line("  taken to be");
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    report.object()["arrays"][i]["meaning"] = meanings[i];
    report.line(fmt::format("    {}: {}", arrays[i].name, meanings[i]));
  }
  report.object()["tensors"] = nullptr;
  if (found) report_tensors(report, *found);
  return info;
}

}  // namespace isochron::cli
