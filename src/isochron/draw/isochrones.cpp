#include "isochron/draw.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "isochron/dataset.h"
#include "isochron/error.h"
#include "isochron/mesh/direction_names.h"
#include "isochron/types.h"

namespace isochron {
namespace {

/// Collects new points a + t (b − a) on the edges of one mesh, with interpolated arrays. An edge is known by its two
/// ends, so an edge that is cut from both sides gives one point; call `next_level` before it is cut again elsewhere.
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

  /// Writes the points and all point arrays: real values linearly, directions without sign as if those of the two ends
  /// pointed the same way, whole numbers from the nearer end.
  void finish(Dataset& to) const {
    to.points.reserve(cuts_.size());
    for (std::size_t i = 0; i < cuts_.size(); ++i) to.points.push_back(position(VertexId(i)));
    for (const DataArray& array : from_.point_data.all()) {
      DataArray cut_array{array.name, array.components, {}};
      cut_array.values = std::visit([&](const auto& values) { return interpolate(values, array); }, array.values);
      to.point_data.set(std::move(cut_array));
    }
  }

 private:
  struct Cut {
    VertexId a, b;
    double t;
  };

  template <class T>
  DataArray::Values interpolate(const std::vector<T>& values, const DataArray& array) const {
    std::vector<T> result;
    const auto width = static_cast<std::size_t>(array.components);
    const bool directions = holds_directions(array);
    result.reserve(cuts_.size() * width);
    for (const Cut& c : cuts_) {
      const T* a = values.data() + c.a.index() * width;
      const T* b = values.data() + c.b.index() * width;
      const bool opposed = directions && std::inner_product(a, a + width, b, 0.0) < 0;
      for (std::size_t k = 0; k < width; ++k) {
        if constexpr (std::is_floating_point_v<T>) {
          // An end with weight 0 must not spoil the point, whatever its value.
          const T there = opposed ? -b[k] : b[k];
          result.push_back(c.t == 0 ? a[k] : c.t == 1 ? there : static_cast<T>((1 - c.t) * a[k] + c.t * there));
        } else {
          result.push_back(c.t < 0.5 ? a[k] : b[k]);
        }
      }
    }
    return result;
  }

  const Dataset& from_;
  std::vector<Cut> cuts_;
  std::unordered_map<std::uint64_t, VertexId> known_;
};

constexpr std::array<std::array<int, 3>, 4> tet_faces{{{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}};

// A face waiting for its twin: the two larger corners, and where it came from (tet · 4 + face).
struct FaceRecord {
  std::uint32_t middle, largest;
  std::uint64_t origin;
};

std::array<std::uint32_t, 3> sorted_corners(const TetMesh::Element& tet, int face) {
  std::array<std::uint32_t, 3> ids{};
  for (std::size_t i = 0; i < 3; ++i)
    ids[i] = tet[static_cast<std::size_t>(tet_faces[static_cast<std::size_t>(face)][i])].value;
  std::sort(ids.begin(), ids.end());
  return ids;
}

BoundaryFace outward_face(std::span<const Vec3d> points, const TetMesh::Element& tet, std::uint64_t origin) {
  const auto face = static_cast<std::size_t>(origin % 4);
  const auto corner = [&](std::size_t i) { return tet[static_cast<std::size_t>(tet_faces[face][i])]; };
  BoundaryFace result{{corner(0), corner(1), corner(2)}, ElementId(origin / 4)};
  const Vec3d& a = points[corner(0).index()];
  const Vec3d normal = cross(points[corner(1).index()] - a, points[corner(2).index()] - a);
  if (dot(normal, points[tet[face].index()] - a) > 0) std::swap(result.corners[1], result.corners[2]);
  return result;
}

// Faces of one smallest vertex, found by sorting them; equal neighbours are inside.
void keep_single(std::span<FaceRecord> faces, std::span<const Vec3d> points, std::span<const TetMesh::Element> tets,
                 std::vector<BoundaryFace>& found) {
  const auto same = [](const FaceRecord& a, const FaceRecord& b) {
    return a.middle == b.middle && a.largest == b.largest;
  };
  std::sort(faces.begin(), faces.end(), [](const FaceRecord& a, const FaceRecord& b) {
    return std::tie(a.middle, a.largest, a.origin) < std::tie(b.middle, b.largest, b.origin);
  });
  for (std::size_t i = 0; i < faces.size();) {
    std::size_t end = i + 1;
    while (end < faces.size() && same(faces[i], faces[end])) ++end;
    if (end == i + 1) found.push_back(outward_face(points, tets[faces[i].origin / 4], faces[i].origin));
    i = end;
  }
}

std::vector<double> scalar_values(const Dataset& dataset, std::string_view name) {
  const DataArray& array = dataset.point_data.require(name, "points");
  if (array.components != 1) {
    throw InputError(fmt::format("array '{}' has {} components (isochrones need one); choose a scalar array", name,
                                 array.components));
  }
  std::vector<double> values(array.tuple_count());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = array.at(i);
  return values;
}

template <std::size_t N>
bool all_finite(const std::array<VertexId, N>& cell, std::span<const double> values) {
  return std::all_of(cell.begin(), cell.end(), [&](VertexId v) { return std::isfinite(values[v.index()]); });
}

// For each level the cells that have corners below it and others that are not, in their order. Cells with a corner that
// is not finite are left out.
template <std::size_t N>
std::vector<std::vector<std::uint32_t>> crossed_cells(const std::vector<std::array<VertexId, N>>& cells,
                                                      std::span<const double> values, std::span<const double> levels) {
  std::vector<std::size_t> ascending(levels.size());
  std::iota(ascending.begin(), ascending.end(), std::size_t{0});
  std::sort(ascending.begin(), ascending.end(), [&](std::size_t a, std::size_t b) { return levels[a] < levels[b]; });
  std::vector<std::vector<std::uint32_t>> crossed(levels.size());
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (!all_finite(cells[c], values)) continue;
    double low = values[cells[c][0].index()];
    double high = low;
    for (const VertexId v : cells[c]) {
      low = std::min(low, values[v.index()]);
      high = std::max(high, values[v.index()]);
    }
    auto next = std::upper_bound(ascending.begin(), ascending.end(), low,
                                 [&](double value, std::size_t level) { return value < levels[level]; });
    for (; next != ascending.end() && levels[*next] <= high; ++next)
      crossed[*next].push_back(static_cast<std::uint32_t>(c));
  }
  return crossed;
}

// Joins segments end to end. Each point has at most two on a clean surface; where more meet, lines end.
class Chains {
 public:
  void add(VertexId a, VertexId b) { segments_.push_back({a, b}); }

  void join(std::vector<std::vector<VertexId>>& lines) {
    std::unordered_map<std::uint32_t, std::vector<std::size_t>> at;
    for (std::size_t i = 0; i < segments_.size(); ++i) {
      for (const VertexId v : segments_[i]) at[v.value].push_back(i);
    }
    std::vector<bool> used(segments_.size());
    const auto follow = [&](std::size_t first, VertexId start) {
      std::vector<VertexId> line{start};
      for (std::size_t i = first;;) {
        used[i] = true;
        const VertexId end = segments_[i][0] == line.back() ? segments_[i][1] : segments_[i][0];
        line.push_back(end);
        const auto& here = at[end.value];
        if (here.size() != 2) break;
        const std::size_t next = here[0] == i ? here[1] : here[0];
        if (used[next]) break;
        i = next;
      }
      lines.push_back(std::move(line));
    };
    // Open lines first, from an end; what is left is closed.
    for (std::size_t i = 0; i < segments_.size(); ++i) {
      for (const VertexId v : segments_[i]) {
        if (!used[i] && at[v.value].size() != 2) follow(i, v);
      }
    }
    for (std::size_t i = 0; i < segments_.size(); ++i) {
      if (!used[i]) follow(i, segments_[i][0]);
    }
    segments_.clear();
  }

 private:
  std::vector<std::array<VertexId, 2>> segments_;
};

}  // namespace

std::vector<BoundaryFace> boundary_faces(std::span<const Vec3d> points, std::span<const TetMesh::Element> tets) {
  std::vector<std::uint32_t> counts(points.size());
  for (const TetMesh::Element& tet : tets) {
    for (int f = 0; f < 4; ++f) ++counts[sorted_corners(tet, f)[0]];
  }
  constexpr std::size_t faces_at_once = std::size_t{1} << 24;
  std::vector<BoundaryFace> found;
  for (std::size_t begin = 0; begin < points.size();) {
    // As many smallest vertices as fit in the memory allowed.
    std::vector<std::size_t> starts{0};
    std::size_t end = begin;
    while (end < points.size() && (end == begin || starts.back() + counts[end] <= faces_at_once)) {
      starts.push_back(starts.back() + counts[end++]);
    }
    std::vector<FaceRecord> faces(starts.back());
    std::vector<std::size_t> next(starts.begin(), starts.end() - 1);
    for (std::size_t t = 0; t < tets.size(); ++t) {
      for (int f = 0; f < 4; ++f) {
        const auto ids = sorted_corners(tets[t], f);
        if (ids[0] < begin || ids[0] >= end) continue;
        faces[next[ids[0] - begin]++] = {ids[1], ids[2], 4 * t + static_cast<std::uint64_t>(f)};
      }
    }
    for (std::size_t v = 0; v + 1 < starts.size(); ++v) {
      keep_single(std::span(faces).subspan(starts[v], starts[v + 1] - starts[v]), points, tets, found);
    }
    begin = end;
  }
  return found;
}

Dataset boundary_surface(const Dataset& dataset) {
  Dataset surface;
  EdgePoints kept(dataset);
  const auto faces = boundary_faces(dataset.points, dataset.tets.cells);
  for (const BoundaryFace& face : faces) {
    surface.triangles.cells.push_back(
        {kept.keep(face.corners[0]), kept.keep(face.corners[1]), kept.keep(face.corners[2])});
  }
  kept.finish(surface);
  for (const DataArray& array : dataset.tets.data.all()) {
    DataArray on_faces{array.name, array.components, {}};
    std::visit(
        [&](const auto& values) {
          std::decay_t<decltype(values)> picked;
          const auto width = static_cast<std::size_t>(array.components);
          picked.reserve(faces.size() * width);
          for (const BoundaryFace& face : faces) {
            for (std::size_t k = 0; k < width; ++k) picked.push_back(values[face.tet.index() * width + k]);
          }
          on_faces.values = std::move(picked);
        },
        array.values);
    surface.triangles.data.set(std::move(on_faces));
  }
  return surface;
}

std::vector<double> spaced_levels(double low, double high, double spacing) {
  if (!(low < high) || !std::isfinite(high - low) || !(spacing > 0)) return {};
  if ((high - low) / spacing > 1e4) {
    throw UsageError(
        fmt::format("a spacing of {:g} is too small (it gives more than 10000 isochrones between {:g} and {:g}); "
                    "choose a larger one",
                    spacing, low, high));
  }
  std::vector<double> levels;
  for (double k = std::floor(low / spacing) + 1; k * spacing < high; ++k) levels.push_back(k * spacing);
  return levels;
}

double round_spacing(double low, double high, int about) {
  if (!(low < high) || !std::isfinite(high - low) || about < 1) return 0;
  const double wanted = (high - low) / (about + 1);
  const double power = std::pow(10.0, std::floor(std::log10(wanted)));
  double best = power;
  for (const double step : {1.0, 2.0, 5.0, 10.0}) {
    if (std::abs(std::log(step * power / wanted)) < std::abs(std::log(best / wanted))) best = step * power;
  }
  return best;
}

std::vector<double> round_levels(double low, double high, int about) {
  return spaced_levels(low, high, round_spacing(low, high, about));
}

Dataset isolines(const Dataset& surface, std::string_view array, std::span<const double> levels) {
  const std::vector<double> values = scalar_values(surface, array);
  Dataset result;
  EdgePoints points(surface);
  std::vector<double> line_levels;
  const auto crossed = crossed_cells(surface.triangles.cells, values, levels);
  for (std::size_t k = 0; k < levels.size(); ++k) {
    const double level = levels[k];
    points.next_level();
    Chains chains;
    for (const std::uint32_t t : crossed[k]) {
      const auto& triangle = surface.triangles.cells[t];
      // An end that has the level counts as above, so a triangle is crossed at two edges or at none.
      std::array<VertexId, 2> ends;
      std::size_t count = 0;
      for (std::size_t i = 0; i < 3; ++i) {
        const VertexId a = triangle[i];
        const VertexId b = triangle[(i + 1) % 3];
        const double value_a = values[a.index()];
        const double value_b = values[b.index()];
        if ((value_a < level) != (value_b < level)) ends[count++] = points.cut(a, b, value_a, value_b, level);
      }
      if (count == 2) chains.add(ends[0], ends[1]);
    }
    chains.join(result.lines);
    line_levels.resize(result.lines.size(), level);
  }
  points.finish(result);
  result.line_data.set({std::string(array), 1, std::move(line_levels)});
  return result;
}

Dataset level_surfaces(const Dataset& volume, std::span<const double> values, std::span<const double> levels) {
  Dataset result;
  EdgePoints points(volume);
  std::vector<double> face_levels;
  const auto crossed = crossed_cells(volume.tets.cells, values, levels);
  for (std::size_t k = 0; k < levels.size(); ++k) {
    const double level = levels[k];
    points.next_level();
    for (const std::uint32_t t : crossed[k]) {
      const TetMesh::Element& tet = volume.tets.cells[t];
      // Corners below the level first; the cut separates them from those above.
      std::array<VertexId, 4> order = tet;
      const auto middle =
          std::stable_partition(order.begin(), order.end(), [&](VertexId v) { return values[v.index()] < level; });
      const auto below = static_cast<std::size_t>(middle - order.begin());
      if (below == 0 || below == 4) continue;
      const auto cut = [&](std::size_t a, std::size_t b) {
        return points.cut(order[a], order[b], values[order[a].index()], values[order[b].index()], level);
      };
      const Vec3d up = volume.points[order[3].index()] - volume.points[order[0].index()];
      const auto add = [&](VertexId a, VertexId b, VertexId c) {
        const Vec3d pa = points.position(a);
        const bool faces_up = dot(cross(points.position(b) - pa, points.position(c) - pa), up) >= 0;
        result.triangles.cells.push_back(faces_up ? std::array{a, b, c} : std::array{a, c, b});
      };
      if (below == 1) add(cut(0, 1), cut(0, 2), cut(0, 3));
      if (below == 3) add(cut(0, 3), cut(1, 3), cut(2, 3));
      if (below == 2) {
        add(cut(0, 2), cut(0, 3), cut(1, 3));
        add(cut(0, 2), cut(1, 3), cut(1, 2));
      }
    }
    face_levels.resize(result.triangles.cells.size(), level);
  }
  points.finish(result);
  result.triangles.data.set({"level", 1, std::move(face_levels)});
  return result;
}

Dataset isosurfaces(const Dataset& volume, std::string_view array, std::span<const double> levels) {
  Dataset result = level_surfaces(volume, scalar_values(volume, array), levels);
  result.triangles.data.all().front().name = array;
  return result;
}

// ---- Cutting a data set open with a plane.

namespace {

std::vector<double> heights(const Dataset& dataset, const CutPlane& plane) {
  std::vector<double> result;
  result.reserve(dataset.points.size());
  for (const Vec3d& p : dataset.points) result.push_back(dot(p - plane.point, plane.normal));
  return result;
}

}  // namespace

void check_cut(const Dataset& dataset, const CutPlane& plane) {
  const std::vector<double> height = heights(dataset, plane);
  if (std::none_of(height.begin(), height.end(), [](double h) { return h < 0; }))
    throw UsageError("there is nothing left to draw (the cut removes everything); move the cut plane or turn it round");
}

Dataset clip_surface(const Dataset& surface, const CutPlane& plane) {
  const std::vector<double> height = heights(surface, plane);
  Dataset result;
  EdgePoints points(surface);
  for (const auto& triangle : surface.triangles.cells) {
    // Walk round the triangle and collect what stays: at most four corners.
    std::vector<VertexId> polygon;
    for (std::size_t i = 0; i < 3; ++i) {
      const VertexId a = triangle[i];
      const VertexId b = triangle[(i + 1) % 3];
      const double height_a = height[a.index()];
      const double height_b = height[b.index()];
      if (height_a < 0) polygon.push_back(points.keep(a));
      if ((height_a < 0) != (height_b < 0)) polygon.push_back(points.cut(a, b, height_a, height_b, 0));
    }
    for (std::size_t i = 2; i < polygon.size(); ++i) {
      result.triangles.cells.push_back({polygon[0], polygon[i - 1], polygon[i]});
    }
  }
  points.finish(result);
  return result;
}

Dataset cut_face(const Dataset& volume, const CutPlane& plane) {
  const double level = 0;
  return level_surfaces(volume, heights(volume, plane), std::span(&level, 1));
}

Dataset merged_surfaces(const Dataset& first, const Dataset& second) {
  Dataset result;
  result.points = first.points;
  result.points.insert(result.points.end(), second.points.begin(), second.points.end());
  result.triangles.cells = first.triangles.cells;
  for (auto triangle : second.triangles.cells) {
    for (VertexId& v : triangle) v = VertexId(v.index() + first.points.size());
    result.triangles.cells.push_back(triangle);
  }
  for (const DataArray& array : first.point_data.all()) {
    const DataArray* other = second.point_data.find(array.name);
    if (other == nullptr || other->components != array.components || other->values.index() != array.values.index())
      continue;
    DataArray both = array;
    std::visit(
        [&](auto& values) {
          const auto& more = std::get<std::decay_t<decltype(values)>>(other->values);
          values.insert(values.end(), more.begin(), more.end());
        },
        both.values);
    result.point_data.set(std::move(both));
  }
  return result;
}

}  // namespace isochron
