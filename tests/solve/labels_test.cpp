// Which source was first, beside the line between two regions.
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "isochron/generate.h"
#include "isochron/solve/common/label_mix.h"
#include "isochron/solve/common/label_spread.h"
#include "isochron/solve/grid/by_bands.h"
#include "isochron/solver.h"
#include "solve/grid_samples.h"
#include "solve/samples.h"
#include "support/device_case.h"

namespace isochron::test {
namespace TEST_FILE {

/// Two points in the unit square or cube and a constant metric. The line between the regions is where both are first.
struct TwoSources {
  std::string name;
  Vec3d first, second;
  double later = 0;  ///< onset of the second
  SymTensor3d m = SymTensor3d::identity(1);

  [[nodiscard]] Sources sources() const {
    Sources result = point_source(first);
    result.points.push_back({second, later});
    return result;
  }
  /// How much later the first one arrives at p.
  [[nodiscard]] double lead(const Vec3d& p) const {
    return std::sqrt(squared_length(m, p - first)) - std::sqrt(squared_length(m, p - second)) - later;
  }
  /// From p to the line, nearly.
  [[nodiscard]] double distance(const Vec3d& p) const {
    constexpr double step = 1e-6;
    const double here = lead(p);
    const Vec3d slope{lead(p + Vec3d{step, 0, 0}) - here, lead(p + Vec3d{0, step, 0}) - here,
                      lead(p + Vec3d{0, 0, step}) - here};
    return std::abs(here) * step / norm(slope);
  }
};

/// Fronts that meet, and fronts that run side by side at an angle to the axes.
std::vector<TwoSources> two_sources(double depth) {
  const Vec3d a{0.2, 0.3, 0.6 * depth}, b{0.7, 0.6, 0.4 * depth};
  const Vec3d c{0.15, 0.18, 0.6 * depth}, d{0.25, 0.13, 0.5 * depth};
  return {{"apart", a, b},
          {"apart, with an onset", a, b, 0.2},
          {"side by side", c, d},
          {"side by side, with an onset", c, d, -0.06},
          {"tensor", a, b, 0, fiber_metric(3, {1, 0.6, 0.4 * depth})},
          {"strong tensor", a, b, 0.1, fiber_metric(8, {0.3, 1, 0.2 * depth})}};
}

struct WrongLabels {
  double share = 0;
  double farthest = 0;  ///< from the line
};

WrongLabels wrong_labels(const TwoSources& problem, const Arrival& arrival,
                         const std::function<Vec3d(VertexId)>& position) {
  WrongLabels wrong;
  for (std::size_t v = 0; v < arrival.source.size(); ++v) {
    const Vec3d p = position(VertexId(v));
    const double lead = problem.lead(p);
    if (std::abs(lead) < 1e-9 || arrival.source[v] == (lead < 0 ? 0 : 1)) continue;
    wrong.share += 1 / static_cast<double>(arrival.source.size());
    wrong.farthest = std::max(wrong.farthest, problem.distance(p));
  }
  return wrong;
}

WrongLabels on_image(const TwoSources& problem, std::uint32_t n, bool flat, SolveOptions options) {
  ImageGrid grid = flat ? flat_grid(n + 1) : cube_grid(n + 1);
  const double h = 1.0 / n;
  grid.axes = {Vec3d{h, 0, 0}, Vec3d{0, h, 0}, Vec3d{0, 0, h}};
  const Arrival arrival = solve(grid, Metric::constant(problem.m), problem.sources(), options);
  return wrong_labels(problem, arrival, [&](VertexId v) { return grid.position(v); });
}

template <class Mesh>
WrongLabels on_mesh(const TwoSources& problem, const Mesh& mesh, SolveOptions options = {}) {
  const Arrival arrival = solve(mesh, Metric::constant(problem.m), problem.sources(), options);
  return wrong_labels(problem, arrival, [&](VertexId v) { return mesh.point(v); });
}

/// Wrong ones are within `cells` of the line, in a band of vertices that is narrower the finer the mesh is.
void expect_near_line(const WrongLabels& wrong, double n, double cells) {
  EXPECT_LE(wrong.farthest * n, cells);
  EXPECT_LE(wrong.share, cells / n);
}

TEST(Labels, OnImagesTheRegionsAreThoseOfTheMetric) {
  for (const TwoSources& problem : two_sources(0))
    for (const int order : {1, 2})
      for (const Backend backend : {Backend::serial, Backend::threads})
        for (const std::uint32_t n : {64U, 128U, 256U}) {
          SCOPED_TRACE(problem.name + " " + std::to_string(n));
          SolveOptions options = checked_options(backend);
          options.order = order;
          expect_near_line(on_image(problem, n, true, options), n, 2.5);
        }
  for (const TwoSources& problem : two_sources(1))
    for (const std::uint32_t n : {32U, 64U}) {
      SCOPED_TRACE(problem.name + " " + std::to_string(n));
      expect_near_line(on_image(problem, n, false, {}), n, 2.5);
    }
}

TEST(Labels, OnImagesWithTheSchemesOfPaper004) {
  for (const TwoSources& problem : two_sources(0))
    for (const std::uint32_t n : {64U, 128U}) {
      SCOPED_TRACE(problem.name + " " + std::to_string(n));
      SolveOptions options;
      options.scheme = GridScheme::godunov;
      expect_near_line(on_image(problem, n, true, options), n, 2.5);
    }
}

TEST(Labels, OnMeshesTheRegionsAreThoseOfTheMetric) {
  for (const TwoSources& problem : two_sources(0))
    for (const double jitter : {0.0, 0.2})
      for (const std::size_t n : {64, 128, 256}) {
        SCOPED_TRACE(problem.name + " " + std::to_string(n));
        const TriangleMesh mesh = generate_square({.n = n + 1, .jitter = jitter});
        expect_near_line(on_mesh(problem, mesh), static_cast<double>(n), 2.5);
      }
  for (const TwoSources& problem : two_sources(1)) {
    SCOPED_TRACE(problem.name);
    const TetMesh mesh = generate_cube({.nx = 33, .ny = 33, .nz = 33, .jitter = 0.2});
    expect_near_line(on_mesh(problem, mesh), 32, 2.5);
  }
}

TEST(Labels, ZeroLengthEdgesShareTheirSource) {
  // Nothing takes time in a strip of triangles across the square's middle.
  const TriangleMesh mesh = generate_square({.n = 21, .extent = 20});
  Sources sources = voxel_source(VertexId(21 * 10));
  sources.vertices.push_back({VertexId(21 * 11 - 1), 0});
  TriangleMesh flat = mesh;
  for (std::size_t v = 0; v < flat.points.size(); ++v) {
    Vec3d& p = flat.points[v];
    if (p.x > 4 && p.x < 8) p.x = 6;
  }
  const Arrival arrival = solve(flat, Metric::isotropic(1), sources);
  for (std::size_t v = 0; v < flat.vertex_count(); ++v) {
    const double x = flat.points[v].x;
    EXPECT_TRUE(std::abs(x - 10) <= 1 || arrival.source[v] == (x < 10 ? 0 : 1)) << v;
  }
}

/// Vertex v has its label from `from[v]`.
struct Table {
  static constexpr int most = 2;
  std::vector<std::vector<std::uint32_t>> from;

  UpwindVertices<most> operator()(std::uint32_t v) const {
    UpwindVertices<most> result;
    for (const std::uint32_t w : from[v]) result.add(w, 1);
    return result;
  }
};

TEST(Labels, ThoseThatWaitGetTheirsWhenTheOthersDo) {
  for (const int threads : {1, 3}) {
    std::vector<std::int32_t> label{7, 4, -1, -1, -1, -1, -1, -1};
    LabelSpread spread(label, Table{{{}, {}, {0, 1}, {}, {2, 3}, {4}, {}, {6, 5}}});
    spread.leave_out(3);
    spread.run(
        8, [](std::size_t k) { return static_cast<std::uint32_t>(7 - k); }, threads);
    EXPECT_EQ(spread.mix(2).first, 4) << "the lower of two";
    EXPECT_LT(spread.mix(5).first, 0);
    spread.give(3, {7, -1, 0});
    EXPECT_EQ(spread.mix(5).first, 7);
    EXPECT_EQ(spread.mix(5).second, 4);
    EXPECT_EQ(spread.mix(5).second_share, 0.25F);
    EXPECT_LT(spread.mix(7).first, 0);
    spread.give(6, {1, -1, 0});
    spread.finish();
    EXPECT_EQ(label, (std::vector<std::int32_t>{7, 4, 4, 7, 7, 7, 1, 1}));
  }
}

TEST(Labels, ThoseLeftOutWaitForWhatTheyAreGiven) {
  std::vector<std::int32_t> label{0, -1, -1, -1};
  LabelSpread spread(label, Table{{{}, {}, {0, 1}, {2}}});
  spread.leave_out(0);
  EXPECT_EQ(spread.mix(0).first, 0) << "one that has a label keeps it";
  spread.leave_out(1);
  spread.run(
      4, [](std::size_t k) { return static_cast<std::uint32_t>(k); }, 1);
  EXPECT_LT(spread.mix(3).first, 0);
  spread.give(1, {3, 0, 0.25F});
  for (const std::uint32_t v : {2U, 3U}) {
    EXPECT_EQ(spread.mix(v).first, 0);
    EXPECT_EQ(spread.mix(v).second, 3);
    EXPECT_EQ(spread.mix(v).second_share, 0.375F);
  }
  spread.finish();
  EXPECT_EQ(label, (std::vector<std::int32_t>{0, 3, 0, 0}));
}

TEST(Labels, ManyMayWaitForOne) {
  std::vector<std::int32_t> label(6, -1);
  LabelSpread spread(label, Table{{{}, {0}, {0}, {0}, {1, 2}, {4, 3}}});
  spread.leave_out(0);
  spread.run(
      6, [](std::size_t k) { return static_cast<std::uint32_t>(k); }, 1);
  for (std::uint32_t v = 0; v < 6; ++v) EXPECT_LT(spread.mix(v).first, 0);
  spread.give(0, {3, -1, 0});
  spread.finish();
  EXPECT_EQ(label, std::vector<std::int32_t>(6, 3));
}

/// Vertices in a row, each beside the next.
struct Row {
  std::vector<double> times;

  [[nodiscard]] double time(std::uint32_t v) const { return times[v]; }
  [[nodiscard]] bool owns(std::uint32_t v) const { return v < times.size(); }
  template <class Visit>
  void for_givers(std::uint32_t v, Visit&& visit) const {
    if (v > 0) visit(v - 1);
    if (v + 1 < times.size()) visit(v + 1);
  }
  template <class Visit>
  void for_takers(std::uint32_t v, Visit&& visit) const {
    for_givers(v, visit);
  }
};

TEST(Labels, WithNobodyUpwindANeighbourGivesItsOwn) {
  constexpr double never = std::numeric_limits<double>::infinity();
  std::vector<std::int32_t> label{5, -1, -1, -1, -1, -1};
  LabelSpread spread(label, Table{{{}, {}, {}, {2}, {}, {}}});
  spread.run(
      6, [](std::size_t k) { return static_cast<std::uint32_t>(k); }, 1);
  EXPECT_TRUE(spread.adopt(Adopting::sure, Row{{1, 1, 1, 2, never, 1}})) << "nobody gives the last one a label";
  spread.finish();
  EXPECT_EQ(label, (std::vector<std::int32_t>{5, 5, 5, 5, -1, -1}));
}

TEST(Labels, TheEarliestByRoundingTakesThatOfALaterOne) {
  // The second one has its time from the first, up to rounding, but is earlier; the third waits for it.
  std::vector<std::int32_t> label{5, -1, -1};
  LabelSpread spread(label, Table{{{}, {}, {1}}});
  const Row row{{1, 1 - 1e-16, 1}};
  spread.run(
      3, [](std::size_t k) { return static_cast<std::uint32_t>(k); }, 1);
  EXPECT_TRUE(spread.adopt(Adopting::sure, row));
  EXPECT_FALSE(spread.adopt(Adopting::any, row));
  spread.finish();
  EXPECT_EQ(label, (std::vector<std::int32_t>{5, 5, 5}));
}

TEST(Labels, OneThatWaitsMayTakeAndGiveBack) {
  // The last but one waits for the one before it, which nobody with a label is beside.
  std::vector<std::int32_t> label{-1, -1, 5};
  LabelSpread spread(label, Table{{{}, {0}, {}}});
  const Row row{{1 - 1e-16, 1, 1}};
  spread.run(
      3, [](std::size_t k) { return static_cast<std::uint32_t>(k); }, 1);
  EXPECT_TRUE(spread.adopt(Adopting::sure, row));
  EXPECT_FALSE(spread.adopt(Adopting::any, row));
  spread.finish();
  EXPECT_EQ(label, (std::vector<std::int32_t>{5, 5, 5}));
}

TEST(Bands, HoldTimesThatNoSchemeShouldGive) {
  const std::vector<double> times{3, -5, std::numeric_limits<double>::infinity(), 0.5, std::nan("")};
  EXPECT_EQ(by_bands<double>({0, 1, 2, 3, 4}, times.data(), 1.0), (std::vector<std::uint32_t>{1, 3, 0}));
}

using DeviceLabels = DeviceCase;

TEST_F(DeviceLabels, AreThoseOfTheMetric) {
  for (const Precision precision : {Precision::single_, Precision::double_}) {
    SolveOptions options;
    options.backend = Backend::cuda;
    options.precision = precision;
    for (const TwoSources& problem : two_sources(0))
      for (const std::size_t n : {64, 256}) {
        SCOPED_TRACE(problem.name + " " + std::to_string(n));
        const TriangleMesh mesh = generate_square({.n = n + 1, .jitter = 0.2});
        expect_near_line(on_mesh(problem, mesh, options), static_cast<double>(n), 2.5);
      }
    for (const TwoSources& problem : two_sources(1)) {
      SCOPED_TRACE(problem.name);
      const TetMesh mesh = generate_cube({.nx = 33, .ny = 33, .nz = 33, .jitter = 0.2});
      expect_near_line(on_mesh(problem, mesh, options), 32, 2.5);
      SolveOptions grid;
      grid = options;
      expect_near_line(on_image(problem, 32, false, grid), 32, 2.5);
    }
  }
}

/// Where edges take no time, a vertex can be earlier than all others by rounding, and still has a source.
TEST(Labels, AreThereWhereEdgesTakeNoTime) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    TetMesh mesh = cube(3, 0.45, seed);
    Random random(seed);
    for (int merged = 0; merged < 4; ++merged) {
      const auto& element = mesh.elements[random.below(mesh.element_count())];
      mesh.points[element[0].index()] = mesh.points[element[1].index()];
    }
    SolveOptions options;
    options.method = Method::fim;
    options.source_init = SourceInit::plain;
    const Arrival arrival = solve(mesh, rough_fibers(mesh, seed, 8), from_two(0, 20), options);
    for (std::size_t v = 0; v < mesh.vertex_count(); ++v) ASSERT_GE(arrival.source[v], 0) << seed << " " << v;
  }
}

TEST(LabelMix, KeepsTheTwoLargestShares) {
  const LabelMix one{5, -1, 0}, two{3, 5, 0.25F}, three{9, -1, 0};
  const LabelMix equal = blend<3>({one, three, {}}, {1, 1, 0}, 2);
  EXPECT_EQ(equal.first, 5) << "the lower of two";
  EXPECT_EQ(equal.second, 9);
  EXPECT_EQ(equal.second_share, 0.5F);
  const LabelMix all = blend<3>({one, two, three}, {1, 2, 0.1F}, 3);
  EXPECT_EQ(all.first, 3);
  EXPECT_EQ(all.second, 5);
  EXPECT_EQ(all.second_share, 0.5F);
  const LabelMix trace = blend<2>({one, three}, {1, 1e-6F}, 2);
  EXPECT_EQ(trace.first, 5);
  EXPECT_EQ(trace.second, -1);
}

TEST(LabelMix, OfOneLabelIsThatLabel) {
  const LabelMix one{5, -1, 0};
  const LabelMix same = blend<2>({one, one}, {1, 2}, 2);
  EXPECT_EQ(same.first, 5);
  EXPECT_EQ(same.second, -1);
  const LabelMix zero = blend<1>({{2, 0, 0.25F}}, {1}, 1);
  EXPECT_EQ(zero.first, 2);
  EXPECT_EQ(zero.second, 0) << "a label too";
  EXPECT_EQ(zero.second_share, 0.25F);
}

TEST(LabelMix, OfEqualSharesTheLowestLabelsStay) {
  const std::int32_t orders[6][3] = {{3, 4, 5}, {3, 5, 4}, {4, 3, 5}, {4, 5, 3}, {5, 3, 4}, {5, 4, 3}};
  for (const auto& [a, b, c] : orders) {
    const LabelMix lowest = blend<3>({{a, -1, 0}, {b, -1, 0}, {c, -1, 0}}, {1, 1, 1}, 3);
    EXPECT_EQ(lowest.first, 3);
    EXPECT_EQ(lowest.second, 4);
  }
}

}  // namespace TEST_FILE
}  // namespace isochron::test
