// The summary of `isochron generate`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/isochron/console.h"
#include "isochron/mesh/dataset.h"

namespace isochron::cli {

struct GenerateSummary {
  std::string kind;
  std::filesystem::path file;
  double generate_seconds = 0;
  double write_seconds = 0;
  std::vector<std::string> arrays{};  ///< that are in the file
};

/// As text for people or as one JSON object, as asked for.
void print_summary(const GenerateSummary& summary, const Dataset& dataset, const Console& console);

}  // namespace isochron::cli
