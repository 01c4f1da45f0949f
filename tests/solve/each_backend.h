// Tests that run on every back end; those of the GPU skip themselves where there is none.
#pragma once

#include <algorithm>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "isochron/solver.h"
#include "support/device_case.h"

namespace isochron::test {

/// Where a solve runs, and how exactly.
struct Place {
  const char* name;
  Backend backend;
  Precision precision;
};

inline void PrintTo(const Place& place, std::ostream* out) { *out << place.name; }

/// Each precision has its turn on the CPU.
inline auto all_places() {
  return ::testing::Values(
      Place{"serial", Backend::serial, Precision::double_}, Place{"threads", Backend::threads, Precision::single_},
      Place{"cuda", Backend::cuda, Precision::single_}, Place{"cuda_double", Backend::cuda, Precision::double_});
}

inline std::string place_name(const ::testing::TestParamInfo<Place>& of) { return of.param.name; }

/// The same tests everywhere.
class OnEachBackend : public ::testing::TestWithParam<Place> {
 protected:
  void SetUp() override {
    if (GetParam().backend == Backend::cuda && !no_device().empty()) GTEST_SKIP() << no_device();
  }

  static SolveOptions options() {
    SolveOptions options;
    options.backend = GetParam().backend;
    options.precision = GetParam().precision;
    options.threads = 2;
    return options;
  }

  template <int Corners>
  static Arrival solve_here(const SimplexMesh<Corners>& mesh, const Metric& metric, const Sources& sources) {
    return solve(mesh, metric, sources, options());
  }

  /// What a difference of times may be here that may be `in_double` in double precision, with its tolerance.
  static double limit(double in_double) {
    return GetParam().precision == Precision::double_ ? in_double : std::max(20 * in_double, 1e-5);
  }
};

}  // namespace isochron::test
