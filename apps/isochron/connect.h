// What `isochron connect` was asked for, and its summary.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "apps/isochron/tensor_input.h"
#include "isochron/connect/connect.h"
#include "isochron/connect/path_statistics.h"
#include "isochron/connect/streamlines.h"

namespace isochron::cli {

struct ConnectRequest {
  TensorRequest tensors;
  std::optional<RegionRequest> from, to;
  std::vector<RegionRequest> waypoints, exclude, stop;
  double epsilon = 0.05;
  bool streamlines = false;
  StreamlineOptions tracking;
  std::vector<std::string> tracking_options;  ///< those given
  std::string prefix;
  bool force = false;
  bool verify = false;
  SolveOptions options;
};

/// Runs everything; gives the exit code.
int run_connect(const ConnectRequest& request, Console& console);

struct ConnectSummary {
  const ConnectRequest& request;
  const TensorInput& input;
  const ConnectQuery& query;
  const Connection& connection;
  const PathStatistics& statistics;
  std::optional<Streamlines> streamlines;
  std::size_t mask_voxels = 0;  ///< that paths may run through
  std::vector<std::filesystem::path> written;
  double connect_seconds = 0;  ///< set-up, solves and path, by the clock
  double track_seconds = 0;
  double write_seconds = 0;
};

/// One JSON object, ended by a line break.
std::string json_text_of(const ConnectSummary& summary, const Console& console);
std::string text_of(const ConnectSummary& summary);

}  // namespace isochron::cli
