// What tests on real files share: skipping without them, and looking at fields of times.
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include <gtest/gtest.h>

#include "isochron/io.h"
#include "isochron/solver.h"
#include "support/data_folder.h"

namespace isochron::test {

/// A test that is skipped, with a message, where the real files are not there.
class RealData : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!data_folder()) GTEST_SKIP() << "no test data; set ISOCHRON_DATA";
  }
  [[nodiscard]] static std::filesystem::path path_of(const char* name) { return *data_folder() / name; }
  [[nodiscard]] static Dataset read(const char* name) { return read_dataset(path_of(name)); }
};

inline Sources from_vertex(VertexId v) {
  Sources sources;
  sources.vertices.push_back({v, 0});
  return sources;
}

/// One thread, double precision, with the residual pass.
inline SolveOptions verified(SourceInit init = SourceInit::ball, Method method = Method::banded) {
  SolveOptions options;
  options.method = method;
  options.backend = Backend::serial;
  options.precision = Precision::double_;
  options.source_init = init;
  options.verify = Keep::yes;
  return options;
}

inline void expect_fixed_point(const Arrival& arrival) {
  EXPECT_TRUE(arrival.converged);
  ASSERT_TRUE(arrival.residual.has_value());
  EXPECT_LE(arrival.residual->worst, arrival.residual->limit) << "at vertex " << arrival.residual->worst_vertex.value;
}

/// |a − b| at every vertex that both reach, in ascending order.
inline std::vector<double> sorted_differences(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> result;
  for (std::size_t v = 0; v < a.size(); ++v)
    if (std::isfinite(a[v]) && std::isfinite(b[v])) result.push_back(std::abs(a[v] - b[v]));
  std::sort(result.begin(), result.end());
  return result;
}

/// The value below which `share` of the (ascending) values lie.
inline double percentile(const std::vector<double>& sorted, double share) {
  return sorted.at(static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1)));
}

inline double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace isochron::test
