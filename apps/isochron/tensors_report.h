// The summary of `isochron tensors`.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "apps/isochron/console.h"
#include "isochron/mesh/image.h"
#include "isochron/metric/tensor_fit.h"

namespace isochron::cli {

struct TensorsSummary {
  std::filesystem::path file;
  std::array<std::uint32_t, 3> shape{};
  std::size_t volumes = 0;
  std::size_t volumes_left_out = 0;
  bool b_scaled = false;
  std::string fit;  ///< "wls" or "ols"
  TensorFitCounts counts{};
  double median_fa = 0;  ///< of fitted voxels
  double median_diffusivity = 0;
  std::vector<std::filesystem::path> written{};
  double read_seconds = 0;
  double fit_seconds = 0;
  double write_seconds = 0;
};

/// As text for people or as one JSON object, as asked for.
void print_summary(const TensorsSummary& summary, const Console& console);

}  // namespace isochron::cli
