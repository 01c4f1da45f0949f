#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/isochron/info_parts.h"
#include "apps/isochron/values.h"

namespace isochron::cli {
namespace {

Json list_of(const Vec3d& v) { return Json::array({v.x, v.y, v.z}); }

Json affine_of(const ImageGrid& grid) {
  Json rows = Json::array();
  for (int d = 0; d < 3; ++d) rows.push_back({grid.axes[0][d], grid.axes[1][d], grid.axes[2][d], grid.origin[d]});
  rows.push_back({0, 0, 0, 1});
  return rows;
}

Json json_of(const TensorSummary& tensors) {
  Json coherence = Json::object();
  for (const AxesCandidate& candidate : tensors.coherence.candidates) coherence[candidate.name] = candidate.coherence;
  const AxesCandidate* better = tensors.coherence.better();
  return {{"array", tensors.array},
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
}

double share(std::size_t part, std::size_t of) {
  return of == 0 ? 0 : static_cast<double>(part) / static_cast<double>(of);
}

void append_tensors(std::string& text, const TensorSummary& tensors) {
  text += fmt::format("  tensors ({}, order {}, {} frame)\n", tensors.array, tensors.order, tensors.frame);
  text += fmt::format("    voxels       {} with a tensor, {} empty, {} not finite\n", grouped(tensors.voxels),
                      grouped(tensors.empty), grouped(tensors.not_finite));
  text += fmt::format("    anisotropy   FA {:.3g} … {:.3g}, mean {:.3g}; {} above 1\n", tensors.min_fa,
                      tensors.largest_fa, tensors.mean_fa, grouped(tensors.fa_above_one));
  text += fmt::format("    checks       {} not positive definite ({})\n",
                      percent(share(tensors.not_positive_definite, tensors.voxels)),
                      counted(tensors.not_positive_definite, "voxel", "voxels"));
  if (tensors.coherence.voxels == 0) return;
  std::vector<std::string> parts;
  for (const AxesCandidate& candidate : tensors.coherence.candidates)
    parts.push_back(fmt::format("{:.3f} {}", candidate.coherence, candidate.name));
  text += fmt::format("    coherence    {}\n", fmt::join(parts, ", "));
}

}  // namespace

Json json_of(const ImageInfo& info) {
  Json arrays = Json::array();
  for (std::size_t i = 0; i < info.arrays.size(); ++i) {
    Json array = json_of(info.arrays[i]);
    array["meaning"] = info.meanings[i];
    arrays.push_back(std::move(array));
  }
  return {{"file", info.file.string()},
          {"shape", info.grid.shape},
          {"voxels", info.grid.voxel_count()},
          {"spacing", list_of({info.grid.spacing(0), info.grid.spacing(1), info.grid.spacing(2)})},
          {"affine", affine_of(info.grid)},
          {"axes", info.axes},
          {"arrays", std::move(arrays)},
          {"tensors", info.tensors ? json_of(*info.tensors) : Json(nullptr)},
          {"warnings", info.warnings}};
}

std::string text_of(const ImageInfo& info) {
  const ImageGrid& grid = info.grid;
  std::string text = fmt::format("{}: image of {} × {} × {} voxels\n", info.file.string(), grid.shape[0], grid.shape[1],
                                 grid.shape[2]);
  text += fmt::format("    spacing      {:.6g} {:.6g} {:.6g}\n", grid.spacing(0), grid.spacing(1), grid.spacing(2));
  text += fmt::format("    axes         {}\n", info.axes);
  for (int d = 0; d < 3; ++d) {
    text += fmt::format("    {:<11}  {:>10.5g} {:>10.5g} {:>10.5g}  {:>10.6g}\n", d == 0 ? "affine" : "",
                        grid.axes[0][d], grid.axes[1][d], grid.axes[2][d], grid.origin[d]);
  }
  append_arrays(text, info.arrays);
  text += "  taken to be\n";
  for (std::size_t i = 0; i < info.arrays.size(); ++i)
    text += fmt::format("    {}: {}\n", info.arrays[i].name, info.meanings[i]);
  if (info.tensors) append_tensors(text, *info.tensors);
  return text;
}

}  // namespace isochron::cli
