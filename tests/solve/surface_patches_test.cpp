// Patches of a surface: every vertex has its place, all its records, and those who depend on it are known.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "isochron/mesh/generate/irregular_square.h"
#include "isochron/mesh/generate/sphere.h"
#include "isochron/mesh/generate/square.h"
#include "isochron/solve/simplex/cuda/surface_patches.h"
#include "isochron/solve/simplex/obtuse_split.h"
#include "solve/samples.h"

namespace isochron::cuda {
namespace {

/// A record by the internal vertices and lengths it stands for, in an order to compare by.
using Key = std::array<float, 5>;

SimplexProblem<float, 3> prepare(const TriangleMesh& mesh, KeepOrder keep_order) {
  auto problem = prepare_topology<float>(mesh, keep_order, 1);
  apply_metric(problem, mesh, Metric(), 1);
  if (problem.obtuse_corners > 0) problem.virtual_elements = split_obtuse(problem, mesh, Metric());
  return problem;
}

Key key_of(std::uint32_t a, std::uint32_t b, float base, float from_a, float from_b) {
  return {static_cast<float>(a), static_cast<float>(b), base, from_a, from_b};
}

std::vector<Key> records_of_problem(const SimplexProblem<float, 3>& problem, std::uint32_t v) {
  std::vector<Key> keys;
  for (const auto& star : problem.star(v))
    keys.push_back(key_of(star.a(), star.b(), star.ab, std::sqrt(star.xa), std::sqrt(star.xb)));
  for (const auto& record : problem.virtual_elements.records)
    if (record.target == v)
      keys.push_back(key_of(record.face[0], record.face[1], record.length[0], std::sqrt(record.length[1]),
                            std::sqrt(record.length[2])));
  std::sort(keys.begin(), keys.end());
  return keys;
}

/// The records at a place, held and extra, as the device would read them; ends as internal vertices.
std::vector<Key> records_of_patches(const SurfacePatches<float>& patches, std::uint32_t place) {
  const PatchShape& shape = patches.shape;
  const std::uint32_t patch = patches.patch_of(place), own = place % shape.vertices;
  const auto vertex = [&](std::uint32_t local) {
    const std::uint32_t at = local < shape.vertices ? patch * shape.vertices + local
                                                    : patches.ghosts[patch * shape.ghosts() + local - shape.vertices];
    return patches.vertex_at[at];
  };
  std::vector<Key> keys;
  for (std::uint32_t r = 0; r < shape.held; ++r)
    for (std::uint32_t lane = 0; lane < shape.lanes; ++lane) {
      const std::size_t row = std::size_t{patch} * shape.held + r, thread = own * shape.lanes + lane;
      const std::uint32_t ends = patches.ends[row * shape.threads() + thread];
      if ((ends & 0xffffU) == shape.nowhere()) continue;
      const float* value = patches.lengths.data() + row * 5 * shape.threads() + thread;
      keys.push_back(key_of(vertex(ends & 0xffffU), vertex(ends >> 16), value[0], value[3 * shape.threads()],
                            value[4 * shape.threads()]));
    }
  if (!patches.extras.empty())
    for (std::uint32_t i = patches.extra_offsets[place]; i < patches.extra_offsets[place + 1]; ++i) {
      const auto& extra = patches.extras[i];
      keys.push_back(key_of(patches.vertex_at[extra.a], patches.vertex_at[extra.b], extra.edge.base, extra.edge.from_a,
                            extra.edge.from_b));
    }
  std::sort(keys.begin(), keys.end());
  return keys;
}

void expect_whole(const TriangleMesh& mesh, const PatchShape& shape, KeepOrder keep_order) {
  const auto problem = prepare(mesh, keep_order);
  const auto patches = cut_into_patches(problem, mesh, shape, 2);
  EXPECT_EQ(patches.count, (mesh.vertex_count() + shape.vertices - 1) / shape.vertices);
  std::size_t placed = 0;
  for (const std::uint32_t v : patches.vertex_at) placed += v != patches.none ? 1 : 0;
  EXPECT_EQ(placed, mesh.vertex_count());
  for (std::uint32_t v = 0; v < mesh.vertex_count(); ++v) {
    const std::uint32_t place = patches.place_of[v];
    ASSERT_EQ(patches.vertex_at[place], v);
    EXPECT_EQ(patches.edge[place], problem.edge[v]);
    const auto keys = records_of_problem(problem, v);
    ASSERT_EQ(records_of_patches(patches, place), keys) << v;
    // Both ends of every record tell this vertex's patch, or are in it.
    for (const Key& key : keys)
      for (const float end : {key[0], key[1]}) {
        const std::uint32_t from = patches.place_of[static_cast<std::uint32_t>(end)];
        bool told = patches.patch_of(from) == patches.patch_of(place);
        patches.each_dependent(from, [&](std::uint32_t patch) { told = told || patch == patches.patch_of(place); });
        ASSERT_TRUE(told) << v;
      }
  }
}

TEST(SurfacePatches, HoldEveryRecord) {
  for (const KeepOrder keep_order : {KeepOrder::no, KeepOrder::yes}) {
    expect_whole(generate_square({.n = 33, .extent = 32, .jitter = 0.3}), {64, 2, 3}, keep_order);
    expect_whole(generate_sphere({.frequency = 9}), {32, 4, 3}, keep_order);
    expect_whole(generate_irregular_square({.n = 20, .extent = 19}), {64, 2, 4}, keep_order);
  }
}

TEST(SurfacePatches, PutAsideWhatDoesNotFit) {
  // Each vertex has room for two records only; then patches of sixteen vertices with room for sixteen ghosts.
  const TriangleMesh square = generate_square({.n = 20, .extent = 19, .jitter = 0.2});
  expect_whole(square, {32, 2, 1}, KeepOrder::no);
  expect_whole(generate_irregular_square({.n = 20, .extent = 19}), {16, 1, 16}, KeepOrder::no);
  // A hub among patches of 32: more neighbours than have a bit of their own.
  const TriangleMesh fan = test::disc_of_slivers(1500);
  expect_whole(fan, {32, 2, 3}, KeepOrder::yes);
  const auto patches = cut_into_patches(prepare(fan, KeepOrder::yes), fan, {32, 2, 3}, 1);
  EXPECT_FALSE(patches.far.empty());
  EXPECT_FALSE(patches.extras.empty());
}

TEST(SurfacePatches, CountsVerticesWithManyRecords) {
  const auto problem = prepare(generate_square({.n = 10, .extent = 9}), KeepOrder::yes);
  EXPECT_EQ(vertices_beyond(problem, 6), 0U);
  EXPECT_EQ(vertices_beyond(problem, 5), 64U);
  EXPECT_EQ(vertices_beyond(problem, 0), 100U);
}

}  // namespace
}  // namespace isochron::cuda
