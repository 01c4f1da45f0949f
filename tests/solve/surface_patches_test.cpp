// Patches of a surface, as the GPU cuts them, against the CPU's records: every vertex has its place, all its records,
// and those who depend on it are known.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "isochron/generate.h"
#include "isochron/solve/simplex/cuda/surface_build.h"
#include "isochron/solve/simplex/obtuse_split.h"
#include "solve/samples.h"
#include "support/device_case.h"

namespace isochron::cuda {
namespace TEST_FILE {

/// A record by the user's vertices and the lengths it stands for.
struct Record {
  std::uint32_t a, b;
  float base, from_a, from_b;
  friend bool operator<(const Record& x, const Record& y) {
    return std::tie(x.a, x.b, x.base) < std::tie(y.a, y.b, y.base);
  }
};

SimplexProblem<float, 3> prepare(const TriangleMesh& mesh, const Metric& metric) {
  auto problem = prepare_topology<float>(mesh, KeepOrder::yes, 1);
  apply_metric(problem, mesh, metric, 1);
  if (problem.obtuse_corners > 0) problem.virtual_elements = split_obtuse(problem, mesh, metric);
  return problem;
}

std::vector<Record> records_of_problem(const SimplexProblem<float, 3>& problem, std::uint32_t v) {
  std::vector<Record> records;
  for (const auto& star : problem.star(v))
    records.push_back({star.a(), star.b(), star.ab, std::sqrt(star.xa), std::sqrt(star.xb)});
  for (const auto& record : problem.virtual_elements.records)
    if (record.target == v)
      records.push_back(
          {record.face[0], record.face[1], record.length[0], std::sqrt(record.length[1]), std::sqrt(record.length[2])});
  std::sort(records.begin(), records.end());
  return records;
}

template <class T>
std::vector<T> fetched(const DeviceArray<T>& array) {
  std::vector<T> values(array.size());
  array.download_to(std::span<T>(values));
  return values;
}

/// The tables of the patches, read as the kernel reads them.
struct Tables {
  explicit Tables(const SurfacePatches<float>& from)
      : shape(from.shape),
        count(from.count),
        vertex_at(fetched(from.vertex_at)),
        place_of(fetched(from.place_of)),
        ends(fetched(from.ends)),
        ghosts(fetched(from.ghosts)),
        reach(fetched(from.reach)),
        near(fetched(from.near)),
        far_offsets(fetched(from.far_offsets)),
        far(fetched(from.far)),
        extra_offsets(fetched(from.extra_offsets)),
        edge(fetched(from.edge)),
        lengths(fetched(from.lengths)),
        extras(fetched(from.extras)) {}

  [[nodiscard]] std::uint32_t patch_of(std::uint32_t place) const { return place / shape.vertices; }

  /// The records at a place, held and extra.
  [[nodiscard]] std::vector<Record> records(std::uint32_t place) const {
    const std::uint32_t patch = patch_of(place), own = place % shape.vertices;
    const auto vertex = [&](std::uint32_t local) {
      return vertex_at[local < shape.vertices ? patch * shape.vertices + local
                                              : ghosts[patch * shape.ghosts() + local - shape.vertices]];
    };
    std::vector<Record> result;
    for (std::uint32_t r = 0; r < shape.held; ++r)
      for (std::uint32_t lane = 0; lane < shape.lanes; ++lane) {
        const std::size_t row = std::size_t{patch} * shape.held + r, thread = own * shape.lanes + lane;
        const std::uint32_t both = ends[row * shape.threads() + thread];
        if ((both & 0xffffU) == shape.nowhere()) continue;
        const float* value = lengths.data() + row * 5 * shape.threads() + thread;
        result.push_back({vertex(both & 0xffffU), vertex(both >> 16), value[0], value[3 * shape.threads()],
                          value[4 * shape.threads()]});
      }
    if (!extras.empty())
      for (std::uint32_t i = extra_offsets[place]; i < extra_offsets[place + 1]; ++i)
        result.push_back({vertex_at[extras[i].a], vertex_at[extras[i].b], extras[i].edge.base, extras[i].edge.from_a,
                          extras[i].edge.from_b});
    std::sort(result.begin(), result.end());
    return result;
  }

  /// Whether a patch is told when the time at a place of another one falls.
  [[nodiscard]] bool tells(std::uint32_t place, std::uint32_t told) const {
    constexpr std::uint32_t near_count = SurfacePatches<float>::near_count;
    const std::uint32_t patch = patch_of(place);
    for (std::uint32_t k = 0; k < near_count; ++k)
      if (((reach[place] >> k) & 1U) != 0 && near[patch * (near_count + 1) + k] == told) return true;
    return (reach[place] >> near_count) != 0 &&
           std::count(far.begin() + far_offsets[patch], far.begin() + far_offsets[patch + 1], told) > 0;
  }

  PatchShape shape;
  std::uint32_t count;
  std::vector<std::uint32_t> vertex_at, place_of, ends, ghosts, reach, near, far_offsets, far, extra_offsets;
  std::vector<float> edge, lengths;
  std::vector<ExtraRecord<float>> extras;
};

Tables cut(const TriangleMesh& mesh, const Metric& metric, const PatchShape& shape) {
  const SurfaceTopology topology = build_surface_topology(mesh);
  const auto records = build_surface_records<float>(topology, mesh, metric, ObtuseSplit::automatic);
  return Tables(cut_into_patches(topology, records, shape));
}

void expect_same_records(const std::vector<Record>& got, const std::vector<Record>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].a, expected[i].a);
    ASSERT_EQ(got[i].b, expected[i].b);
    ASSERT_NEAR(got[i].base, expected[i].base, 1e-5F * (1 + expected[i].base));
    ASSERT_NEAR(got[i].from_a, expected[i].from_a, 1e-5F * (1 + expected[i].from_a));
    ASSERT_NEAR(got[i].from_b, expected[i].from_b, 1e-5F * (1 + expected[i].from_b));
  }
}

void expect_whole(const TriangleMesh& mesh, const Metric& metric, const PatchShape& shape) {
  const auto problem = prepare(mesh, metric);
  const Tables patches = cut(mesh, metric, shape);
  EXPECT_EQ(patches.count, (mesh.vertex_count() + shape.vertices - 1) / shape.vertices);
  EXPECT_EQ(std::count(patches.vertex_at.begin(), patches.vertex_at.end(), SurfacePatches<float>::none),
            static_cast<std::ptrdiff_t>(patches.count * shape.vertices - mesh.vertex_count()));
  for (std::uint32_t v = 0; v < mesh.vertex_count(); ++v) {
    SCOPED_TRACE(v);
    const std::uint32_t place = patches.place_of[v];
    ASSERT_EQ(patches.vertex_at[place], v);
    EXPECT_NEAR(patches.edge[place], problem.edge[v], 1e-5F * problem.edge[v]);
    const auto records = records_of_problem(problem, v);
    ASSERT_NO_FATAL_FAILURE(expect_same_records(patches.records(place), records));
    // Both ends of every record tell this vertex's patch, or are in it.
    for (const Record& record : records)
      for (const std::uint32_t end : {record.a, record.b}) {
        const std::uint32_t from = patches.place_of[end], patch = patches.patch_of(place);
        ASSERT_TRUE(patches.patch_of(from) == patch || patches.tells(from, patch));
      }
  }
}

using DeviceSurfacePatches = test::DeviceCase;

TEST_F(DeviceSurfacePatches, HoldEveryRecord) {
  const TriangleMesh square = generate_square({.n = 33, .extent = 32, .jitter = 0.3});
  expect_whole(square, Metric(), {64, 2, 3});
  expect_whole(square, test::rough_fibers(square, 3), {64, 4, 3});
  expect_whole(generate_sphere({.frequency = 9}), Metric::isotropic(2), {32, 4, 3});
  const TriangleMesh irregular = generate_irregular_square({.n = 20, .extent = 19});
  expect_whole(irregular, Metric::constant(SymTensor3d::diagonal(1, 4, 1)), {64, 2, 4});
  expect_whole(irregular, test::rough_speed(irregular), {512, 2, 3});
}

TEST_F(DeviceSurfacePatches, PutAsideWhatDoesNotFit) {
  // Each vertex has room for two records only; then patches of sixteen vertices with room for sixteen ghosts; then
  // both.
  const TriangleMesh square = generate_square({.n = 20, .extent = 19, .jitter = 0.2});
  expect_whole(square, Metric(), {32, 2, 1});
  const TriangleMesh irregular = generate_irregular_square({.n = 20, .extent = 19});
  expect_whole(irregular, Metric(), {16, 1, 16});
  expect_whole(irregular, Metric(), {16, 1, 4});
  // A hub among patches of 32: more neighbours than have a bit of their own.
  const TriangleMesh fan = test::disc_of_slivers(1500);
  expect_whole(fan, Metric(), {32, 2, 3});
  const Tables patches = cut(fan, Metric(), {32, 2, 3});
  EXPECT_FALSE(patches.far.empty());
  EXPECT_FALSE(patches.extras.empty());
}

TEST_F(DeviceSurfacePatches, TakeOddElements) {
  // A triangle that names a vertex twice, one that is there twice, a vertex of none, and three at one edge.
  TriangleMesh mesh = generate_square({.n = 6, .extent = 5});
  mesh.points.push_back({2.5, 2.5, 1});
  mesh.points.push_back({9, 9, 9});
  mesh.elements.push_back({VertexId(0), VertexId(1), VertexId(1)});
  mesh.elements.push_back(mesh.elements[0]);
  mesh.elements.push_back({VertexId(14), VertexId(15), VertexId(36)});
  expect_whole(mesh, Metric(), {16, 2, 3});
  TriangleMesh one = test::one_triangle();
  expect_whole(one, Metric(), {16, 2, 3});
}

TEST_F(DeviceSurfacePatches, CountsVerticesWithManyRecords) {
  const TriangleMesh mesh = generate_square({.n = 10, .extent = 9});
  const SurfaceTopology topology = build_surface_topology(mesh);
  const auto records = build_surface_records<float>(topology, mesh, Metric(), ObtuseSplit::automatic);
  EXPECT_EQ(vertices_beyond(topology, records, 6), 0U);
  EXPECT_EQ(vertices_beyond(topology, records, 5), 64U);
  EXPECT_EQ(vertices_beyond(topology, records, 0), 100U);
}

TEST_F(DeviceSurfacePatches, FollowTheHostsCurve) {
  for (const TriangleMesh& mesh : {test::square(30, 0.4), generate_sphere({.frequency = 7}), test::one_triangle()}) {
    const Permutation expected = hilbert_order(mesh.points);
    EXPECT_EQ(fetched(build_surface_topology(mesh).order.new_to_old), expected.new_to_old);
  }
}

}  // namespace TEST_FILE
}  // namespace isochron::cuda
