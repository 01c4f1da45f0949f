#include "isochron/mesh/marching_tetrahedra.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "isochron/error.h"
#include "isochron/mesh/marching_cell.h"

namespace isochron {
namespace {

class Marching {
 public:
  Marching(const ImageGrid& grid, std::span<const float> values)
      : grid_(grid),
        values_(values),
        shape_{static_cast<int>(grid.shape[0]), static_cast<int>(grid.shape[1]), static_cast<int>(grid.shape[2])},
        slice_(std::size_t{grid.shape[0]} * grid.shape[1]) {
    for (auto& layer : points_) layer.assign(7 * slice_, none);
  }

  TriangleMesh run() {
    for (int k = 0; k + 1 < shape_[2]; ++k) {
      for (int j = 0; j + 1 < shape_[1]; ++j) march_row(j, k);
      std::fill(points_[k & 1].begin(), points_[k & 1].end(), none);
    }
    if (dot(grid_.axes[0], cross(grid_.axes[1], grid_.axes[2])) < 0)
      for (auto& [a, b, c] : mesh_.elements) std::swap(b, c);
    return std::move(mesh_);
  }

 private:
  static constexpr std::uint32_t none = VertexId::invalid_value;

  void march_row(int j, int k) {
    const std::array<CellCase, 256>& cases = cell_cases();
    const float* rows[4] = {&values_[index(0, j, k)], &values_[index(0, j + 1, k)], &values_[index(0, j, k + 1)],
                            &values_[index(0, j + 1, k + 1)]};
    const auto signs = [&](int i) {  // of the four corners with the same first index, at their bits
      return (rows[0][i] < 0 ? 1U : 0U) | (rows[1][i] < 0 ? 4U : 0U) | (rows[2][i] < 0 ? 16U : 0U) |
             (rows[3][i] < 0 ? 64U : 0U);
    };
    unsigned lower = signs(0);
    for (int i = 0; i + 1 < shape_[0]; ++i) {
      const unsigned upper = signs(i + 1), inside = lower | upper << 1U;
      lower = upper;
      const CellCase& here = cases[inside];
      for (int t = 0; t < here.count; ++t) {
        const CellTriangle& triangle = here.triangles[static_cast<std::size_t>(t)];
        mesh_.elements.push_back(
            {point_on(triangle[0], i, j, k), point_on(triangle[1], i, j, k), point_on(triangle[2], i, j, k)});
      }
    }
  }

  VertexId point_on(const CellEdge& edge, int i, int j, int k) {
    i += edge.corner & 1;
    j += edge.corner >> 1 & 1;
    k += edge.corner >> 2 & 1;
    const std::size_t in_slice = index(i, j, 0);
    std::uint32_t& known = points_[k & 1][7 * in_slice + static_cast<std::size_t>(edge.direction) - 1];
    if (known == none) known = add_point(edge.direction, i, j, k);
    return VertexId(known);
  }

  std::uint32_t add_point(int direction, int i, int j, int k) {
    const int to[3] = {i + (direction & 1), j + (direction >> 1 & 1), k + (direction >> 2 & 1)};
    const double a = values_[index(i, j, k)], b = values_[index(to[0], to[1], to[2])];
    const double part = crossing(a, b);
    if (mesh_.points.size() >= none)
      throw InputError("the isosurface has more points than can be numbered; cut or coarsen the image");
    mesh_.points.push_back((1 - part) * position(i, j, k) + part * position(to[0], to[1], to[2]));
    return static_cast<std::uint32_t>(mesh_.points.size() - 1);
  }

  [[nodiscard]] std::size_t index(int i, int j, int k) const {
    return static_cast<std::size_t>(i) + grid_.shape[0] * static_cast<std::size_t>(j) +
           slice_ * static_cast<std::size_t>(k);
  }
  [[nodiscard]] Vec3d position(int i, int j, int k) const {
    return grid_.position(Vec3d{static_cast<double>(i), static_cast<double>(j), static_cast<double>(k)});
  }

  ImageGrid grid_;
  std::span<const float> values_;
  std::array<int, 3> shape_;
  std::size_t slice_;
  std::array<std::vector<std::uint32_t>, 2> points_;  // on the edges whose lower end is in this slice and the next
  TriangleMesh mesh_;
};

}  // namespace

TriangleMesh marching_tetrahedra(const ImageGrid& grid, std::span<const float> values) {
  return Marching(grid, values).run();
}

}  // namespace isochron
