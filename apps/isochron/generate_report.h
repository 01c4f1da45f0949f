// The summary of `isochron generate`.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "apps/isochron/console.h"

namespace isochron::cli {

struct GenerateSummary {
  std::string kind;
  std::filesystem::path file;
  std::uint64_t vertices = 0, triangles = 0, tetrahedra = 0;
  double generate_seconds = 0;
  double write_seconds = 0;
  std::vector<std::string> arrays{};  ///< that are in the file
};

struct ImageSummary {
  std::string kind;
  std::array<std::uint32_t, 3> shape{};
  std::vector<std::string> arrays{};             ///< one for each file
  std::vector<std::filesystem::path> written{};  ///< the named file first
  double generate_seconds = 0;
  double write_seconds = 0;
};

/// As text for people or as one JSON object, as asked for.
void print_summary(const ImageSummary& summary, const Console& console);
void print_summary(const GenerateSummary& summary, const Console& console);

}  // namespace isochron::cli
