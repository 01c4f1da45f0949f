// Where the compiler may not contract products and sums (ISOCHRON_SAME_BITS), the times of one thread are the same to
// the last bit at every level of optimisation. The file is from aarch64. Those who change them on purpose replace
// time_bits.txt by what the test prints.
#include <bit>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "isochron/core/random.h"
#include "isochron/solver.h"
#include "solve/samples.h"

namespace isochron::test {
namespace TEST_FILE {

/// FNV-1a of the bits of all times.
std::uint64_t hash_of(const std::vector<double>& times) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const double time : times)
    for (std::uint64_t bits = std::bit_cast<std::uint64_t>(time), k = 0; k < 8; ++k, bits >>= 8U)
      hash = (hash ^ (bits & 0xffU)) * 0x100000001b3ULL;
  return hash;
}

/// Multiples of 2⁻¹⁰: what the solver is given must not depend on how the compiler rounds.
double rounded(double value) { return std::floor(value * 1024) / 1024; }

template <class Mesh>
Mesh with_rounded_points(Mesh mesh) {
  for (Vec3d& p : mesh.points) p = {rounded(p.x), rounded(p.y), rounded(p.z)};
  return mesh;
}

enum class Medium { uniform, speeds, tensors, fibres };
constexpr std::pair<Medium, const char*> media[] = {
    {Medium::uniform, "uniform"}, {Medium::speeds, "speeds"}, {Medium::tensors, "tensors"}, {Medium::fibres, "fibres"}};

Metric metric_of(Medium medium, std::size_t count) {
  Random random(3);
  const auto between = [&](double low, double high) { return static_cast<float>(rounded(random.uniform(low, high))); };
  SpeedMetric speeds;
  TensorMetric tensors;
  FiberMetric fibers;
  fibers.velocities = {{3, 1, 1}};
  for (std::size_t e = 0; e < count; ++e) {
    speeds.speed.push_back(between(0.5, 2));
    tensors.tensor.push_back(
        {between(1, 3), between(-0.4, 0.4), between(-0.4, 0.4), between(1, 3), between(-0.4, 0.4), between(1, 3)});
    fibers.fiber.push_back({between(0.25, 1), between(-1, 1), between(-1, 1)});
  }
  if (medium == Medium::uniform) return Metric::constant({2, 0.25, -0.5, 1, 0.125, 3});
  if (medium == Medium::speeds) return Metric(std::move(speeds));
  if (medium == Medium::tensors) return Metric(std::move(tensors));
  return Metric(std::move(fibers));
}

struct Solved {
  std::string name;
  std::vector<double> times;
  bool single = false;
};

class All {
 public:
  All() {
    const TriangleMesh triangles = with_rounded_points(square(30, 0.3));
    const TetMesh tets = with_rounded_points(cube(10, 0.2));
    ImageGrid image;
    image.shape = {18, 14, 11};
    for (const auto& [medium, name] : media) {
      add(fmt::format("triangles {}", name), triangles, metric_of(medium, triangles.element_count()), 1);
      add(fmt::format("tetrahedra {}", name), tets, metric_of(medium, tets.element_count()), 1);
      add(fmt::format("image {}", name), image, metric_of(medium, image.voxel_count()), 1);
      add(fmt::format("image {} order 2", name), image, metric_of(medium, image.voxel_count()), 2);
    }
  }
  std::vector<Solved> solves;

 private:
  template <class Shape>
  void add(const std::string& name, const Shape& shape, const Metric& metric, int order) {
    for (const SourceInit init : {SourceInit::plain, SourceInit::ball, SourceInit::factored})
      for (const Precision precision : {Precision::double_, Precision::single_}) {
        const bool single = precision == Precision::single_;
        if (single && init == SourceInit::factored) continue;  // always in double precision
        SolveOptions options;
        options.backend = Backend::serial;
        options.precision = precision;
        options.source_init = init;
        options.order = order;
        options.ball_rings = 3;
        Sources sources = from(VertexId(300));
        sources.vertices.push_back({VertexId(7), 0.5});
        solves.push_back({fmt::format("{} {} {}", name, name_of(init), single ? "single" : "double"),
                          solve(shape, metric, sources, options).times, single});
      }
  }
};

struct Stored {
  double mean = 0;
  std::string hash;
};

std::map<std::string, Stored> stored() {
  std::map<std::string, Stored> result;
  std::ifstream file(ISOCHRON_SOURCE_DIR "/tests/solve/time_bits.txt");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    std::istringstream rest(line.substr(colon + 1));
    Stored& one = result[line.substr(0, colon)];
    rest >> one.mean >> one.hash;
  }
  return result;
}

double mean_of(const std::vector<double>& times) {
  double sum = 0;
  for (const double time : times) sum += time;
  return sum / static_cast<double>(times.size());
}

TEST(TimeBits, AreThoseOfTheFile) {
  std::map<std::string, Stored> file = stored();
  std::string lines;
  std::vector<std::string> other;
  for (const Solved& solved : All().solves) {
    const double mean = mean_of(solved.times);
    const std::string hash = fmt::format("{:016x}", hash_of(solved.times));
    EXPECT_NEAR(mean, file[solved.name].mean, (solved.single ? 1e-5 : 1e-6) * mean) << solved.name;
    if (file[solved.name].hash != hash) other.push_back(solved.name);
    lines += fmt::format("{}: {:.9g} {}\n", solved.name, mean, hash);
  }
#if defined(ISOCHRON_SAME_BITS)
  EXPECT_TRUE(other.empty()) << "other bits:\n" << lines;
#endif
}

}  // namespace TEST_FILE
}  // namespace isochron::test
