#include "isochron/surface/field/doubtful_cells.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "isochron/core/parallel.h"

namespace isochron {
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
