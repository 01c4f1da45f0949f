#include "isochron/generate.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "isochron/core/random.h"
#include "isochron/error.h"
#include "isochron/generate/check.h"
#include "isochron/generate/lattice.h"

namespace isochron {
namespace {

using Level = std::function<double(Vec3d)>;

/// Where a vertex stands: inside (−1), on the interface (0) or outside (1).
using Side = std::int8_t;

/// A box mesh and the interface to fit into it.
class Fitter {
 public:
  Fitter(const CubeOptions& box, const Level& level)
      : box_(box),
        level_(level),
        edge_(std::min({box.extent.x / static_cast<double>(box.nx - 1), box.extent.y / static_cast<double>(box.ny - 1),
                        box.extent.z / static_cast<double>(box.nz - 1)})) {}

  /// Moves vertices onto the interface where it passes close to them, nearest first and no two at one edge.
  void snap(TetMesh& mesh) const {
    std::vector<Vec3d> moves(mesh.vertex_count());
    std::vector<bool> snapped(mesh.vertex_count(), false);
    for (const CutEdge& cut : cut_edges(mesh)) {
      if (cut.share > 0.3F) break;
      if (snapped[cut.near.index()] || snapped[cut.far.index()]) continue;
      snapped[cut.near.index()] = true;
      const Vec3d& p = mesh.point(cut.near);
      moves[cut.near.index()] = way_to_interface(p);
    }
    displace(mesh, std::move(moves));
  }

  [[nodiscard]] std::vector<Side> sides(const TetMesh& mesh) const {
    std::vector<Side> result(mesh.vertex_count());
    for (std::size_t v = 0; v < result.size(); ++v) {
      const Vec3d& p = mesh.points[v];
      const double value = level_(p);
      result[v] = value < 0 ? -1 : 1;
      if (std::abs(value) < 4 * edge_ && std::abs(value) < 0.1 * edge_ * norm(gradient(p))) result[v] = 0;
    }
    return result;
  }

  /// Where the interface crosses the edge from a to b, which has its ends on different sides.
  [[nodiscard]] Vec3d crossing(const Vec3d& a, const Vec3d& b) const {
    double low = 0, high = 1;
    const bool starts_inside = level_(a) < 0;
    for (int i = 0; i < 12; ++i) {
      const double middle = 0.5 * (low + high);
      ((level_(a + middle * (b - a)) < 0) == starts_inside ? low : high) = middle;
    }
    return a + std::clamp(0.5 * (low + high), 0.1, 0.9) * (b - a);
  }

 private:
  /// An edge the interface crosses, and how far along it from its nearer end (at most half).
  struct CutEdge {
    float share;
    VertexId near, far;
    friend bool operator<(const CutEdge& a, const CutEdge& b) {
      return std::tie(a.share, a.near, a.far) < std::tie(b.share, b.near, b.far);
    }
  };

  [[nodiscard]] std::vector<CutEdge> cut_edges(const TetMesh& mesh) const {
    std::vector<double> level(mesh.vertex_count());
    for (std::size_t v = 0; v < level.size(); ++v) level[v] = level_(mesh.points[v]);
    std::vector<CutEdge> result;
    for (const auto& element : mesh.elements)
      for (const auto& [i, j] : edge_corners<4>()) {
        VertexId a = element[i], b = element[j];
        double la = level[a.index()], lb = level[b.index()];
        if ((la < 0) == (lb < 0)) continue;
        if (std::abs(la) > std::abs(lb) || (std::abs(la) == std::abs(lb) && b < a)) {
          std::swap(a, b);
          std::swap(la, lb);
        }
        result.push_back({static_cast<float>(la / (la - lb)), a, b});
      }
    std::sort(result.begin(), result.end());
    return result;
  }

  [[nodiscard]] Vec3d gradient(const Vec3d& p) const {
    const double h = 1e-4 * edge_;
    Vec3d result;
    for (int axis = 0; axis < 3; ++axis) {
      Vec3d ahead = p, behind = p;
      ahead[axis] += h;
      behind[axis] -= h;
      result[axis] = (level_(ahead) - level_(behind)) / (2 * h);
    }
    return result;
  }

  /// Along the gradient, but within the faces of the box that the point lies on.
  [[nodiscard]] Vec3d way_to_interface(const Vec3d& from) const {
    Vec3d at = from;
    for (int step = 0; step < 4; ++step) {
      Vec3d slope = gradient(at);
      for (int axis = 0; axis < 3; ++axis)
        if (from[axis] <= 0 || from[axis] >= box_.extent[axis]) slope[axis] = 0;
      const double squared = dot(slope, slope);
      if (!(squared > 0)) break;
      at -= (level_(at) / squared) * slope;
    }
    const Vec3d way = at - from;
    const double length = norm(way), reach = 0.5 * edge_;
    return length > reach ? (reach / length) * way : way;
  }

  const CubeOptions& box_;
  const Level& level_;
  double edge_;
};

/// Cuts the elements whose corners lie on both sides.
class Cutter {
 public:
  Cutter(TetMesh& mesh, std::vector<Side>& sides, const Fitter& fitter) : mesh_(mesh), sides_(sides), fitter_(fitter) {}

  void cut_all() {
    std::vector<TetMesh::Element> before = std::move(mesh_.elements);
    mesh_.elements.clear();
    mesh_.elements.reserve(before.size() + before.size() / 16);
    for (const auto& element : before) cut(element);
  }

 private:
  /// Halves the element at its crossed edge with the smallest new vertex, and goes on with the halves. The order is the
  /// same in every element, so that neighbours cut their common face alike.
  void cut(const TetMesh::Element& element) {
    int from = 0, to = 0;
    VertexId first;
    for (const auto& [i, j] : edge_corners<4>()) {
      if (sides_[element[i].index()] * sides_[element[j].index()] >= 0) continue;
      const VertexId middle = vertex_on(element[i], element[j]);
      if (middle < first) {
        first = middle;
        from = i;
        to = j;
      }
    }
    if (!first.valid()) {
      mesh_.elements.push_back(element);
      return;
    }
    for (const int replaced : {from, to}) {
      TetMesh::Element half = element;
      half[replaced] = first;
      cut(half);
    }
  }

  VertexId vertex_on(VertexId a, VertexId b) {
    if (b < a) std::swap(a, b);
    const auto [entry, added] =
        on_edge_.try_emplace((static_cast<std::uint64_t>(a.value) << 32) | b.value, VertexId(mesh_.vertex_count()));
    if (added) {
      mesh_.points.push_back(fitter_.crossing(mesh_.point(a), mesh_.point(b)));
      sides_.push_back(0);
    }
    return entry->second;
  }

  TetMesh& mesh_;
  std::vector<Side>& sides_;
  const Fitter& fitter_;
  std::unordered_map<std::uint64_t, VertexId> on_edge_;
};

}  // namespace

RegionModel generate_region_model(const CubeOptions& box, const RegionSpeeds& speeds, const Level& level) {
  require_positive("speed outside", speeds.outside);
  require_positive("speed inside", speeds.inside);
  RegionModel model;
  model.mesh = generate_cube(box);
  const Fitter fitter(box, level);
  fitter.snap(model.mesh);
  std::vector<Side> sides = fitter.sides(model.mesh);
  Cutter(model.mesh, sides, fitter).cut_all();

  model.region.reserve(model.mesh.element_count());
  model.speed.reserve(model.mesh.element_count());
  for (const auto& element : model.mesh.elements) {
    int side = 0;
    Vec3d center;
    for (const VertexId v : element) {
      side += sides[v.index()];
      center += 0.25 * model.mesh.point(v);
    }
    const bool inside = side != 0 ? side < 0 : level(center) < 0;
    model.region.push_back(inside ? 1 : 0);
    model.speed.push_back(inside ? speeds.inside : speeds.outside);
  }
  return model;
}

RegionModel generate_lens(const LensOptions& options) {
  require_positive("extent", options.extent);
  require_positive("radius", options.radius);
  require_positive("refractive index", options.refractive_index);
  if (!(options.thickness > 0 && options.thickness < std::min(1.0, 2 * options.radius)))
    throw UsageError(
        fmt::format("the lens cannot be {} thick (it would be empty, or larger than its spheres or the cube); choose "
                    "more than 0 and less than {:g}",
                    options.thickness, std::min(1.0, 2 * options.radius)));
  const double size = options.extent, radius = options.radius * size;
  const double offset = radius - options.thickness * size / 2;
  const Vec3d center{size / 2, size / 2, size / 2}, aside{offset, 0, 0};
  const auto level = [=](const Vec3d& p) {
    return std::max(norm(p - (center - aside)), norm(p - (center + aside))) - radius;
  };
  CubeOptions box{.nx = options.n, .ny = options.n, .nz = options.n, .jitter = options.jitter, .seed = options.seed};
  box.extent = {size, size, size};
  return generate_region_model(box, {.outside = 1, .inside = 1 / options.refractive_index}, level);
}

RegionModel generate_blobs(const BlobsOptions& options) {
  require_positive("extent", options.extent);
  if (options.blobs < 1 || options.blobs > 1000)
    throw UsageError(
        fmt::format("{} blobs cannot be placed (none, or too many to tell apart); choose 1 to 1000", options.blobs));
  struct Ball {
    Vec3d center;
    double radius;
  };
  Random random(options.seed);
  // The balls' radii shrink with their number, so that they fill about the same part of the cube.
  const double size = options.extent / std::cbrt(static_cast<double>(options.blobs));
  std::vector<Ball> balls;
  for (std::size_t i = 0; i < options.blobs; ++i) {
    const Vec3d center{random.uniform(0.1, 0.9), random.uniform(0.1, 0.9), random.uniform(0.1, 0.9)};
    balls.push_back({options.extent * center, size * random.uniform(0.25, 0.5)});
  }
  // −log of the sum of bells grows about like a distance outwards, which the bells themselves do not.
  const auto level = [&](const Vec3d& p) {
    double sum = 1e-30;
    for (const Ball& ball : balls) {
      const Vec3d r = (p - ball.center) / ball.radius;
      sum += std::exp(-dot(r, r));
    }
    return size * (-0.7 - std::log(sum));
  };
  CubeOptions box{.nx = options.n, .ny = options.n, .nz = options.n, .jitter = options.jitter, .seed = options.seed};
  box.extent = {options.extent, options.extent, options.extent};
  return generate_region_model(box, {.outside = options.speed_outside, .inside = options.speed_inside}, level);
}

}  // namespace isochron
