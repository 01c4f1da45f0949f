// What `isochron connectome` was asked for, and its summary.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/isochron/tensor_input.h"
#include "isochron/connect/connectome.h"

namespace isochron::cli {

struct ConnectomeRequest {
  TensorRequest tensors;
  std::filesystem::path labels;
  std::size_t parcels = 0;             ///< instead of labels: cut the mask into so many regions
  std::filesystem::path parcels_file;  ///< where to write them
  std::filesystem::path output;
  bool force = false;
  bool verify = false;
  SolveOptions options;
};

struct ConnectomeSummary {
  const ConnectomeRequest& request;
  const TensorInput& input;
  const Connectome& connectome;
  std::size_t outside_mask = 0;  ///< labels without a voxel in the mask
  std::vector<std::filesystem::path> written;
  double parcel_seconds = 0;
  double connect_seconds = 0;  ///< solves, paths and matrices, by the clock
  double write_seconds = 0;
};

/// As text for people or as one JSON object, as asked for.
void print_summary(const ConnectomeSummary& summary, const Console& console);

}  // namespace isochron::cli
