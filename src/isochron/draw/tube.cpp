#include "isochron/draw/tube.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "isochron/core/error.h"

namespace isochron {
namespace {

/// Where the path turns back on itself the plane that halves the angle runs along it; corners go no farther than this,
/// in radii.
constexpr double longest_mitre = 2;

/// The rotation about a × b that takes a to b, both unit vectors, for a vector across a.
Vec3d carried(const Vec3d& v, const Vec3d& a, const Vec3d& b) {
  const double sum = 1 + dot(a, b);
  return sum > 1e-12 ? v - (dot(v, b) / sum) * (a + b) : v;  // straight back: v lies across both
}

Vec3d across(const Vec3d& direction) {
  const Vec3d size{std::abs(direction.x), std::abs(direction.y), std::abs(direction.z)};
  const Vec3d far = size.x <= size.y && size.x <= size.z ? Vec3d{1, 0, 0}
                    : size.y <= size.z                   ? Vec3d{0, 1, 0}
                                                         : Vec3d{0, 0, 1};
  const Vec3d v = cross(direction, far);
  return v / norm(v);
}

/// The points of the path that differ from the one before.
std::vector<std::uint32_t> distinct_points(std::span<const Vec3d> path, double nearest) {
  std::vector<std::uint32_t> result;
  for (std::size_t i = 0; i < path.size(); ++i)
    if (result.empty() || norm(path[i] - path[result.back()]) > nearest)
      result.push_back(static_cast<std::uint32_t>(i));
  return result;
}

class TubeMaker {
 public:
  TubeMaker(std::span<const Vec3d> path, const TubeOptions& options)
      : path_(path), radius_(options.radius), sides_(options.sides), cap_rings_(std::max(2, options.sides / 4)) {}

  Tube run() {
    const auto at = distinct_points(path_, 1e-6 * radius_);
    if (at.empty()) return {};
    const auto direction = [&](std::size_t piece) {
      const Vec3d step = path_[at[piece + 1]] - path_[at[piece]];
      return step / norm(step);
    };
    const std::size_t pieces = at.size() - 1;
    Vec3d along = pieces > 0 ? direction(0) : Vec3d{0, 0, 1};
    start_frame(along);
    add_vertex(at[0], path_[at[0]] - radius_ * along, -along);
    for (int ring = cap_rings_ - 1; ring >= 0; --ring) add_cap_ring(at[0], -along, ring);
    for (std::size_t i = 1; i < pieces; ++i) {
      const Vec3d next = direction(i);
      turn(at[i], along, next);
      along = next;
    }
    for (int ring = pieces > 0 ? 0 : 1; ring < cap_rings_; ++ring) add_cap_ring(at[pieces], along, ring);
    add_vertex(at[pieces], path_[at[pieces]] + radius_ * along, along);
    join_poles();
    return std::move(tube_);
  }

 private:
  /// Offsets of the corners from the path, across the first piece.
  void start_frame(const Vec3d& along) {
    const Vec3d u = across(along), v = cross(along, u);
    for (int s = 0; s < sides_; ++s) {
      const double angle = 2 * std::numbers::pi * s / sides_;
      corners_.push_back(radius_ * (std::cos(angle) * u + std::sin(angle) * v));
    }
  }

  /// Slides the corners along the piece into the plane that halves the angle to the next one.
  void turn(std::uint32_t at, const Vec3d& along, const Vec3d& next) {
    const Vec3d sum = along + next;
    const bool straight_back = norm(sum) < 1e-6;
    for (Vec3d& corner : corners_) {
      Vec3d mitred = corner;
      if (!straight_back) mitred -= (dot(corner, sum) / dot(along, sum)) * along;
      const double length = norm(mitred);
      if (length > longest_mitre * radius_) mitred = (longest_mitre * radius_ / length) * mitred;
      const Vec3d before = corner;
      corner = carried(corner, along, next);
      add_vertex(at, path_[at] + mitred, before + corner);
    }
    join_ring();
  }

  /// Of the half ball around an end of the path; ring 0 is its base.
  void add_cap_ring(std::uint32_t at, const Vec3d& outward, int ring) {
    const double angle = std::numbers::pi / 2 * ring / cap_rings_;
    for (const Vec3d& corner : corners_) {
      const Vec3d offset = std::cos(angle) * corner + (std::sin(angle) * radius_) * outward;
      add_vertex(at, path_[at] + offset, offset);
    }
    join_ring();
  }

  void add_vertex(std::uint32_t at, const Vec3d& position, const Vec3d& normal) {
    const Vec3d unit = normal / norm(normal);
    tube_.mesh.points.push_back(position);
    tube_.normals.push_back({static_cast<float>(unit.x), static_cast<float>(unit.y), static_cast<float>(unit.z)});
    tube_.point_of.push_back(at);
  }

  /// The band between the last ring and the one before, if there is one.
  void join_ring() {
    const std::size_t upper = tube_.mesh.points.size() - corners_.size(), lower = upper - corners_.size();
    if (upper == 1) return;
    for (std::size_t s = 0; s < corners_.size(); ++s) {
      const std::size_t next = (s + 1) % corners_.size();
      tube_.mesh.elements.push_back({VertexId(lower + s), VertexId(lower + next), VertexId(upper + next)});
      tube_.mesh.elements.push_back({VertexId(lower + s), VertexId(upper + next), VertexId(upper + s)});
    }
  }

  void join_poles() {
    const std::size_t pole = tube_.mesh.points.size() - 1, last = pole - corners_.size();
    for (std::size_t s = 0; s < corners_.size(); ++s) {
      const std::size_t next = (s + 1) % corners_.size();
      tube_.mesh.elements.push_back({VertexId(0), VertexId(1 + next), VertexId(1 + s)});
      tube_.mesh.elements.push_back({VertexId(last + s), VertexId(last + next), VertexId(pole)});
    }
  }

  std::span<const Vec3d> path_;
  double radius_;
  int sides_;
  int cap_rings_;
  std::vector<Vec3d> corners_;  // offsets from the path, across the current piece
  Tube tube_;
};

}  // namespace

Tube make_tube(std::span<const Vec3d> path, const TubeOptions& options) {
  if (!(options.radius > 0 && std::isfinite(options.radius)))
    throw UsageError(fmt::format("a tube of radius {} cannot be drawn; give a positive length", options.radius));
  if (options.sides < 3)
    throw UsageError(fmt::format("a tube of {} sides has no inside; give 3 or more", options.sides));
  for (const Vec3d& p : path)
    if (!(std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z)))
      throw UsageError("a path has a point that is not finite, so no tube can be drawn around it; leave it out");
  return TubeMaker(path, options).run();
}

}  // namespace isochron
