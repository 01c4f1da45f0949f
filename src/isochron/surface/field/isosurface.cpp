#include "isochron/surface/field/isosurface.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "isochron/core/error.h"
#include "isochron/surface/field/marching_cell.h"

namespace isochron {
namespace {

class Marching {
 public:
  Marching(const Lattice& lattice, std::span<const float> values)
      : lattice_(lattice),
        values_(values),
        slice_(static_cast<std::size_t>(lattice.shape[0]) * static_cast<std::size_t>(lattice.shape[1])) {
    for (auto& layer : points_) layer.assign(7 * slice_, none);
  }

  TriangleMesh run() {
    for (int k = 0; k + 1 < lattice_.shape[2]; ++k) {
      for (int j = 0; j + 1 < lattice_.shape[1]; ++j) march_row(j, k);
      std::fill(points_[k & 1].begin(), points_[k & 1].end(), none);
    }
    return std::move(mesh_);
  }

 private:
  static constexpr std::uint32_t none = VertexId::invalid_value;

  void march_row(int j, int k) {
    const std::array<CellCase, 256>& cases = cell_cases();
    const float* rows[4] = {&values_[lattice_.index(0, j, k)], &values_[lattice_.index(0, j + 1, k)],
                            &values_[lattice_.index(0, j, k + 1)], &values_[lattice_.index(0, j + 1, k + 1)]};
    const auto signs = [&](int i) {  // of the four corners with the same first index, at their bits
      return (rows[0][i] < 0 ? 1U : 0U) | (rows[1][i] < 0 ? 4U : 0U) | (rows[2][i] < 0 ? 16U : 0U) |
             (rows[3][i] < 0 ? 64U : 0U);
    };
    unsigned lower = signs(0);
    for (int i = 0; i + 1 < lattice_.shape[0]; ++i) {
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
    const std::size_t in_slice = static_cast<std::size_t>(i) + static_cast<std::size_t>(lattice_.shape[0]) * j;
    std::uint32_t& known = points_[k & 1][7 * in_slice + static_cast<std::size_t>(edge.direction) - 1];
    if (known == none) known = add_point(edge.direction, i, j, k);
    return VertexId(known);
  }

  std::uint32_t add_point(int direction, int i, int j, int k) {
    const int to[3] = {i + (direction & 1), j + (direction >> 1 & 1), k + (direction >> 2 & 1)};
    const double a = values_[lattice_.index(i, j, k)], b = values_[lattice_.index(to[0], to[1], to[2])];
    const double part = crossing(a, b);
    if (mesh_.points.size() >= none)
      throw InputError("the isosurface has more points than can be numbered; cut or coarsen the image");
    mesh_.points.push_back((1 - part) * lattice_.position(i, j, k) + part * lattice_.position(to[0], to[1], to[2]));
    return static_cast<std::uint32_t>(mesh_.points.size() - 1);
  }

  Lattice lattice_;
  std::span<const float> values_;
  std::size_t slice_;
  std::array<std::vector<std::uint32_t>, 2> points_;  // on the edges whose lower end is in this slice and the next
  TriangleMesh mesh_;
};

}  // namespace

TriangleMesh marching_tetrahedra(const Lattice& lattice, std::span<const float> values) {
  return Marching(lattice, values).run();
}

}  // namespace isochron
