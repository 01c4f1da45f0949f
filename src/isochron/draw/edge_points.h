// New points on mesh edges, each made once, with interpolated arrays.
#pragma once

#include <cmath>
#include <unordered_map>
#include <variant>
#include <vector>

#include "isochron/core/ids.h"
#include "isochron/mesh/dataset.h"

namespace isochron {

/// Collects points a + t (b − a) on the edges of one mesh. An edge is known by its two ends, so an edge that is cut
/// from both sides gives one point; call `next_level` before it is cut again elsewhere.
class EdgePoints {
 public:
  explicit EdgePoints(const Dataset& from) : from_(from) {}

  /// The new point where a value that is `value_a` at a and `value_b` at b is `level`, which must lie between.
  VertexId cut(VertexId a, VertexId b, double value_a, double value_b, double level) {
    if (b < a) {
      std::swap(a, b);
      std::swap(value_a, value_b);
    }
    const auto [it, fresh] = known_.try_emplace(std::uint64_t{a.value} << 32 | b.value, VertexId(cuts_.size()));
    if (fresh) cuts_.push_back({a, b, (level - value_a) / (value_b - value_a)});
    return it->second;
  }
  /// The old vertex v as a point of the new data set.
  VertexId keep(VertexId v) { return cut(v, v, 0, 1, 0); }
  void next_level() { known_.clear(); }
  [[nodiscard]] Vec3d position(VertexId v) const {
    const Cut& c = cuts_[v.index()];
    const Vec3d& a = from_.points[c.a.index()];
    return a + c.t * (from_.points[c.b.index()] - a);
  }

  /// Writes the points and all point arrays: real values linearly, whole numbers from the nearer end.
  void finish(Dataset& to) const {
    to.points.reserve(cuts_.size());
    for (std::size_t i = 0; i < cuts_.size(); ++i) to.points.push_back(position(VertexId(i)));
    for (const DataArray& array : from_.point_data.all()) {
      DataArray cut_array{array.name, array.components, {}};
      cut_array.values =
          std::visit([&](const auto& values) { return interpolate(values, array.components); }, array.values);
      to.point_data.set(std::move(cut_array));
    }
  }

 private:
  struct Cut {
    VertexId a, b;
    double t;
  };

  template <class T>
  DataArray::Values interpolate(const std::vector<T>& values, int components) const {
    std::vector<T> result;
    const auto width = static_cast<std::size_t>(components);
    result.reserve(cuts_.size() * width);
    for (const Cut& c : cuts_) {
      for (std::size_t k = 0; k < width; ++k) {
        const T a = values[c.a.index() * width + k];
        const T b = values[c.b.index() * width + k];
        if constexpr (std::is_floating_point_v<T>) {
          // An end with weight 0 must not spoil the point, whatever its value.
          result.push_back(c.t == 0 ? a : c.t == 1 ? b : static_cast<T>((1 - c.t) * a + c.t * b));
        } else {
          result.push_back(c.t < 0.5 ? a : b);
        }
      }
    }
    return result;
  }

  const Dataset& from_;
  std::vector<Cut> cuts_;
  std::unordered_map<std::uint64_t, VertexId> known_;
};

}  // namespace isochron
