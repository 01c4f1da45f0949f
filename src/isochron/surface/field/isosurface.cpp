#include "isochron/surface/field/isosurface.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "isochron/core/parallel.h"
#include "isochron/mesh/marching_cell.h"

namespace isochron {

TriangleMesh marching_tetrahedra(const Lattice& lattice, int times, int threads,
                                 const std::function<double(Vec3d)>& value) {
  Lattice fine = lattice;
  for (int a = 0; a < 3; ++a) {
    fine.shape[a] = times * (lattice.shape[a] - 1) + 1;
    fine.spacing[a] = lattice.spacing[a] / times;
  }
  return marching_tetrahedra(fine, values_on(fine, threads, value));
}

namespace {

using Index = std::array<int, 3>;

Index step(Index at, int bits, int by = 1) {
  for (int a = 0; a < 3; ++a) at[a] += (bits >> a & 1) * by;
  return at;
}

// Indices of cells and lattice points are "coarse", those of the points between are "fine": `parts` times as large.
class RefinedMarching {
 public:
  RefinedMarching(const SplineField& field, const std::vector<char>& refined, int parts, int threads)
      : lattice_(field.lattice()),
        view_(field.view()),
        refined_(refined),
        parts_(parts),
        threads_(threads),
        values_(values_at(field, field.lattice(), threads)) {}

  TriangleMesh run() {
    std::vector<Index> finer;
    for (int k = 0; k + 1 < lattice_.shape[2]; ++k)
      for (int j = 0; j + 1 < lattice_.shape[1]; ++j)
        for (int i = 0; i + 1 < lattice_.shape[0]; ++i) {
          if (refined_[lattice_.index(i, j, k)] != 0) finer.push_back({i, j, k});
          else march({i, j, k});
        }
    march_finely(finer);
    return std::move(mesh_);
  }

 private:
  [[nodiscard]] double value(Index point) const { return values_[lattice_.index(point[0], point[1], point[2])]; }

  [[nodiscard]] bool is_refined(Index cell) const {
    for (int a = 0; a < 3; ++a)
      if (cell[a] < 0 || cell[a] + 1 >= lattice_.shape[a]) return false;
    return refined_[lattice_.index(cell[0], cell[1], cell[2])] != 0;
  }

  // Whether all cells around a fine point, or around a coarse edge (by its middle in halves of cells), are refined.
  [[nodiscard]] bool all_refined(Index at, int per_cell) const {
    for (int side = 0; side < 8; ++side) {
      Index cell;
      for (int a = 0; a < 3; ++a) {
        const bool between = at[a] % per_cell == 0;
        cell[a] = at[a] / per_cell - (between ? side >> a & 1 : 0);
      }
      if (!is_refined(cell)) return false;
    }
    return true;
  }

  // Linear in each coarse tetrahedron: from corner to corner, along the axis that has the largest part first.
  [[nodiscard]] double linear(Index fine) const {
    Index from, part;
    for (int a = 0; a < 3; ++a) {
      from[a] = fine[a] / parts_;
      part[a] = fine[a] % parts_;
    }
    std::array<int, 3> order{0, 1, 2};
    std::sort(order.begin(), order.end(), [&](int a, int b) { return part[a] > part[b]; });
    double last = value(from), result = last;
    Index corner = from;
    for (int n = 0; n < 3 && part[order[n]] > 0; ++n) {
      ++corner[order[n]];
      if (n < 2 && part[order[n + 1]] == part[order[n]]) continue;
      const double next = value(corner);
      result += (next - last) * part[order[n]] / parts_;
      last = next;
    }
    return result;
  }

  [[nodiscard]] Vec3d position(Index fine) const {
    return {fine[0] * lattice_.spacing.x / parts_, fine[1] * lattice_.spacing.y / parts_,
            fine[2] * lattice_.spacing.z / parts_};
  }

  [[nodiscard]] double fine_value(Index fine) const {
    return all_refined(fine, parts_) ? view_.value(position(fine)) : linear(fine);
  }

  // The point on an edge from a fine point on, `length` fine steps long, between two values.
  VertexId point_on(Index fine, int direction, int length, double a, double b) {
    std::uint64_t key = 0;
    for (int axis = 2; axis >= 0; --axis)
      key = key * static_cast<std::uint64_t>(parts_ * lattice_.shape[axis]) + static_cast<std::uint64_t>(fine[axis]);
    key = 16 * key + (length > 1 ? 8U : 0U) + static_cast<std::uint64_t>(direction);
    const auto [known, is_new] = points_.try_emplace(key, VertexId(mesh_.points.size()));
    if (is_new) {
      const double part = crossing(a, b);
      mesh_.points.push_back((1 - part) * position(fine) + part * position(step(fine, direction, length)));
    }
    return known->second;
  }

  VertexId point_on_coarse(Index point, int direction) {
    const Index fine{parts_ * point[0], parts_ * point[1], parts_ * point[2]};
    return point_on(fine, direction, parts_, value(point), value(step(point, direction)));
  }

  VertexId point_on_fine(Index fine, int direction, double a, double b) {
    // On a coarse edge that a cell outside has too, the field is linear and has one zero.
    int along = -1;
    bool on_edge = true;
    Index point, middle;
    for (int axis = 0; axis < 3; ++axis) {
      const int part = fine[axis] % parts_;
      if ((direction >> axis & 1) == 0) on_edge &= part == 0;
      else if (along < 0) along = part;
      else on_edge &= part == along;
      point[axis] = fine[axis] / parts_;
      middle[axis] = 2 * point[axis] + (direction >> axis & 1);
    }
    if (on_edge && !all_refined(middle, 2)) return point_on_coarse(point, direction);
    return point_on(fine, direction, 1, a, b);
  }

  void march(Index cell) {
    unsigned inside = 0;
    for (int c = 0; c < 8; ++c) inside |= value(step(cell, c)) < 0 ? 1U << c : 0U;
    const CellCase& here = cell_cases()[inside];
    for (int t = 0; t < here.count; ++t) {
      const CellTriangle& triangle = here.triangles[static_cast<std::size_t>(t)];
      polygon_.clear();
      for (std::size_t s = 0; s < 3; ++s) {
        const CellEdge &from = triangle[s], &to = triangle[(s + 1) % 3];
        polygon_.push_back(point_on_coarse(step(cell, from.corner), from.direction));
        if (is_beside_refined(cell, from, to)) add_points_between(cell, from, to);
      }
      add_polygon();
    }
  }

  // Whether the side of a triangle between points on two edges lies in a face behind which the cell is refined.
  [[nodiscard]] bool is_beside_refined(Index cell, const CellEdge& from, const CellEdge& to) const {
    const int in_all = from.corner & to.corner;
    const int in_any = from.corner | from.direction | to.corner | to.direction;
    for (int a = 0; a < 3; ++a) {
      Index other = cell;
      if ((in_all >> a & 1) != 0) ++other[a];
      else if ((in_any >> a & 1) == 0) --other[a];
      else continue;
      if (is_refined(other)) return true;
    }
    return false;
  }

  // The points that the refined cell behind that side has on it, in their order.
  void add_points_between(Index cell, const CellEdge& from, const CellEdge& to) {
    std::array<int, 4> corners{from.corner, from.corner | from.direction, to.corner, to.corner | to.direction};
    std::sort(corners.begin(), corners.end());
    const auto end = std::unique(corners.begin(), corners.end());
    const int lowest = corners[0], highest = *(end - 1), first = corners[1] ^ lowest, second = highest ^ corners[1];
    const Index lower = step(cell, lowest);
    const Index origin{parts_ * lower[0], parts_ * lower[1], parts_ * lower[2]};
    const Vec3d start = mesh_.point(polygon_.back());
    const Vec3d along = mesh_.point(point_on_coarse(step(cell, to.corner), to.direction)) - start;
    std::vector<std::pair<double, VertexId>> between;
    const auto look = [&](int u, int v, int direction) {
      const Index fine = step(step(origin, first, u), second, v);
      const double a = linear(fine), b = linear(step(fine, direction));
      if ((a < 0) == (b < 0)) return;
      const VertexId p = point_on_fine(fine, direction, a, b);
      between.emplace_back(dot(mesh_.point(p) - start, along), p);
    };
    for (int u = 0; u < parts_; ++u) {
      for (int v = 0; v <= u; ++v) {  // of the three edges from each point those that are not on the triangle's own
        if (v > 0) look(u, v, first);
        if (v < u) look(u, v, second);
        if (v < u) look(u, v, first | second);
      }
    }
    std::sort(between.begin(), between.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [at, p] : between) polygon_.push_back(p);
  }

  void add_polygon() {
    if (polygon_.size() == 3) {
      mesh_.elements.push_back({polygon_[0], polygon_[1], polygon_[2]});
      return;
    }
    Vec3d middle;
    for (const VertexId p : polygon_) middle += mesh_.point(p) / static_cast<double>(polygon_.size());
    const VertexId centre(mesh_.points.size());
    mesh_.points.push_back(middle);
    for (std::size_t s = 0; s < polygon_.size(); ++s)
      mesh_.elements.push_back({centre, polygon_[s], polygon_[(s + 1) % polygon_.size()]});
  }

  void march_finely(const std::vector<Index>& cells) {
    constexpr std::size_t at_once = 65536;  // enough for many threads
    const std::size_t side = static_cast<std::size_t>(parts_) + 1, each = side * side * side;
    std::vector<double> values(std::min(cells.size(), at_once) * each);
    for (std::size_t first = 0; first < cells.size(); first += at_once) {
      const std::size_t count = std::min(at_once, cells.size() - first);
      parallel_for(threads_, count, [&](std::size_t c) { fill(cells[first + c], &values[c * each]); });
      for (std::size_t c = 0; c < count; ++c) march_finely(cells[first + c], &values[c * each]);
    }
  }

  [[nodiscard]] std::size_t offset(int i, int j, int k) const {
    return static_cast<std::size_t>(i + (parts_ + 1) * (j + (parts_ + 1) * k));
  }
  [[nodiscard]] Index fine_index(Index cell, int i, int j, int k) const {
    return {parts_ * cell[0] + i, parts_ * cell[1] + j, parts_ * cell[2] + k};
  }

  void fill(Index cell, double* values) const {
    for (int k = 0; k <= parts_; ++k)
      for (int j = 0; j <= parts_; ++j)
        for (int i = 0; i <= parts_; ++i) values[offset(i, j, k)] = fine_value(fine_index(cell, i, j, k));
  }

  void march_finely(Index cell, const double* values) {
    for (int k = 0; k < parts_; ++k)
      for (int j = 0; j < parts_; ++j)
        for (int i = 0; i < parts_; ++i) {
          std::array<double, 8> at;
          unsigned inside = 0;
          for (int c = 0; c < 8; ++c) {
            at[c] = values[offset(i + (c & 1), j + (c >> 1 & 1), k + (c >> 2 & 1))];
            inside |= at[c] < 0 ? 1U << c : 0U;
          }
          const CellCase& here = cell_cases()[inside];
          for (int t = 0; t < here.count; ++t) {
            const CellTriangle& triangle = here.triangles[static_cast<std::size_t>(t)];
            std::array<VertexId, 3> ids;
            for (std::size_t s = 0; s < 3; ++s) {
              const auto [corner, direction] = triangle[s];
              ids[s] =
                  point_on_fine(step(fine_index(cell, i, j, k), corner), direction, at[corner], at[corner | direction]);
            }
            mesh_.elements.push_back(ids);
          }
        }
  }

  Lattice lattice_;
  SplineView<double> view_;
  const std::vector<char>& refined_;
  int parts_, threads_;
  std::vector<float> values_;
  std::unordered_map<std::uint64_t, VertexId> points_;
  std::vector<VertexId> polygon_;
  TriangleMesh mesh_;
};

}  // namespace

TriangleMesh refined_isosurface(const SplineField& field, const std::vector<char>& refined, int parts, int threads) {
  return RefinedMarching(field, refined, parts, threads).run();
}

namespace {

using Set = std::uint32_t;  // of a cell's points, a bit each

// Points in a cell, `side` along each axis, and which of them are neighbours in marching tetrahedra.
class CellPoints {
 public:
  explicit CellPoints(int side) : side_(side) {
    for (int p = 0; p < side * side * side; ++p) {
      const int at[3] = {p % side, p / side % side, p / (side * side)};
      for (int direction = 1; direction < 8; ++direction) add_neighbours(p, at, direction);
      for (int a = 0; a < 3; ++a) {
        if (at[a] == 0) faces_[2 * a] |= Set{1} << p;
        if (at[a] == side - 1) faces_[2 * a + 1] |= Set{1} << p;
      }
    }
    for (const Set face : faces_) all_ |= face;
    if (side > 2) all_ |= Set{1} << (side * side * side / 2);
  }

  // Whether these inside points and the rest are each in one part, in the cell and on its border.
  [[nodiscard]] bool simple(Set inside) const {
    if (inside == 0 || inside == all_) return true;
    if (!both_connected(inside, all_)) return false;
    for (int f = 0; f < 6; ++f) {
      if (!both_connected(inside, faces_[f])) return false;
      for (int g = (f | 1) + 1; g < 6; ++g)
        if (!both_connected(inside, faces_[f] & faces_[g])) return false;  // an edge
    }
    return true;
  }

 private:
  void add_neighbours(int p, const int (&at)[3], int direction) {
    int other = 0, scale = 1;
    for (int a = 0; a < 3; ++a) {
      const int to = at[a] + (direction >> a & 1);
      if (to == side_) return;
      other += to * scale;
      scale *= side_;
    }
    neighbours_[p] |= Set{1} << other;
    neighbours_[other] |= Set{1} << p;
  }

  [[nodiscard]] bool both_connected(Set inside, Set among) const {
    return connected(inside & among) && connected(~inside & among);
  }

  [[nodiscard]] bool connected(Set points) const {
    Set reached = points & (~points + 1), fresh = reached;
    while (fresh != 0) {
      Set next = 0;
      for (; fresh != 0; fresh &= fresh - 1) next |= neighbours_[std::countr_zero(fresh)];
      fresh = next & points & ~reached;
      reached |= fresh;
    }
    return reached == points;
  }

  int side_;
  Set all_ = 0;
  Set faces_[6] = {};
  Set neighbours_[27] = {};
};

}  // namespace

std::vector<char> doubtful_cells(const SplineField& field, int threads) {
  static const CellPoints corners(2), halves(3);
  const Lattice& lattice = field.lattice();
  const SplineView<double> view = field.view();
  const std::vector<float> values = values_at(field, field.lattice(), threads);
  // Values are distances: a cell whose corners are all farther away holds nothing.
  const double reach = 0.6 * norm(lattice.spacing);
  const auto is_doubtful = [&](int i, int j, int k) {
    Set inside = 0;
    double nearest = reach;
    for (int c = 0; c < 8; ++c) {
      const float value = values[lattice.index(i + (c & 1), j + (c >> 1 & 1), k + (c >> 2 & 1))];
      inside |= value < 0 ? Set{1} << c : 0;
      nearest = std::min(nearest, std::abs(static_cast<double>(value)));
    }
    if (nearest >= reach) return false;
    if (!corners.simple(inside)) return true;
    inside = 0;
    for (int p = 0; p < 27; ++p) {
      const Vec3d at{(i + 0.5 * (p % 3)) * lattice.spacing.x, (j + 0.5 * (p / 3 % 3)) * lattice.spacing.y,
                     (k + 0.5 * (p / 9)) * lattice.spacing.z};
      inside |= view.value(at) < 0 ? Set{1} << p : 0;
    }
    return !halves.simple(inside);
  };
  std::vector<char> doubtful(lattice.point_count()), result(lattice.point_count());
  const auto each_cell = [&](auto&& body) {
    parallel_region(threads, [&](int thread, int team) {
      const int slices = lattice.shape[2] - 1;
      for (int k = slices * thread / team; k < slices * (thread + 1) / team; ++k)
        for (int j = 0; j + 1 < lattice.shape[1]; ++j)
          for (int i = 0; i + 1 < lattice.shape[0]; ++i) body(i, j, k);
    });
  };
  each_cell([&](int i, int j, int k) { doubtful[lattice.index(i, j, k)] = is_doubtful(i, j, k) ? 1 : 0; });
  each_cell([&](int i, int j, int k) {
    for (int n = 0; n < 27; ++n) {
      const int at[3] = {i + n % 3 - 1, j + n / 3 % 3 - 1, k + n / 9 - 1};
      bool there = true;
      for (int a = 0; a < 3; ++a) there = there && at[a] >= 0 && at[a] + 1 < lattice.shape[a];
      if (there && doubtful[lattice.index(at[0], at[1], at[2])] != 0) result[lattice.index(i, j, k)] = 1;
    }
  });
  return result;
}

}  // namespace isochron
