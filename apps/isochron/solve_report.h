// The summary of `isochron solve`.
#pragma once

#include "apps/isochron/solve.h"

namespace isochron::cli {

/// The result without its arrays, and what happened around the solve.
struct SolveSummary {
  std::filesystem::path mesh;
  std::vector<std::filesystem::path> written;
  std::size_t vertices = 0;
  std::size_t elements = 0;
  int corners = 4;
  Unreached unreached;
  Arrival arrival;  ///< counts, times of the work and notes; its arrays are empty
  double solves_per_vertex = 0;
  double read_seconds = 0;
  double write_seconds = 0;
};

/// As text for people or as one JSON object, as asked for.
void print_summary(const SolveSummary& summary, const Console& console);

}  // namespace isochron::cli
