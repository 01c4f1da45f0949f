#include "isochron/mesh/marching_cell.h"

#include <algorithm>
#include <cmath>

namespace isochron {
namespace {

Vec3d corner_position(int corner) {
  return {static_cast<double>(corner & 1), static_cast<double>(corner >> 1 & 1), static_cast<double>(corner >> 2 & 1)};
}

Vec3d middle(const CellEdge& edge) {
  return 0.5 * (corner_position(edge.corner) + corner_position(edge.corner | edge.direction));
}

CellEdge edge_between(int a, int b) { return {a & b, a ^ b}; }

// Whether a triangle's corners, taken on the middles of their edges, turn so that it faces along `out`. Where on the
// edges they are makes no difference to that.
void add_facing(CellTriangle triangle, const Vec3d& out, CellCase& result) {
  const Vec3d a = middle(triangle[0]), b = middle(triangle[1]), c = middle(triangle[2]);
  if (dot(cross(b - a, c - a), out) < 0) std::swap(triangle[1], triangle[2]);
  result.triangles[static_cast<std::size_t>(result.count++)] = triangle;
}

void add_tetrahedron(const std::array<int, 4>& corners, unsigned inside, CellCase& result) {
  std::array<int, 4> in{}, out{};
  std::size_t ins = 0, outs = 0;
  for (const int corner : corners) {
    if ((inside >> corner & 1U) != 0) in[ins++] = corner;
    else out[outs++] = corner;
  }
  if (ins == 0 || outs == 0) return;
  Vec3d from, to;
  for (std::size_t i = 0; i < ins; ++i) from += corner_position(in[i]) / static_cast<double>(ins);
  for (std::size_t i = 0; i < outs; ++i) to += corner_position(out[i]) / static_cast<double>(outs);
  const Vec3d facing = to - from;
  if (ins == 2) {
    const CellEdge a = edge_between(in[0], out[0]), b = edge_between(in[0], out[1]);
    const CellEdge c = edge_between(in[1], out[1]), d = edge_between(in[1], out[0]);
    add_facing({a, b, c}, facing, result);
    add_facing({a, c, d}, facing, result);
  } else {
    const int tip = ins == 1 ? in[0] : out[0];
    const std::array<int, 4>& base = ins == 1 ? out : in;
    add_facing({edge_between(tip, base[0]), edge_between(tip, base[1]), edge_between(tip, base[2])}, facing, result);
  }
}

// What a cell holds, by which of its corners are inside.
std::array<CellCase, 256> make_cases() {
  constexpr std::array<std::array<int, 4>, 6> tetrahedra{
      {{0, 1, 3, 7}, {0, 1, 5, 7}, {0, 2, 3, 7}, {0, 2, 6, 7}, {0, 4, 5, 7}, {0, 4, 6, 7}}};
  std::array<CellCase, 256> cases;
  for (unsigned inside = 0; inside < 256; ++inside)
    for (const auto& corners : tetrahedra) add_tetrahedron(corners, inside, cases[inside]);
  return cases;
}

}  // namespace

const std::array<CellCase, 256>& cell_cases() {
  static const std::array<CellCase, 256> cases = make_cases();
  return cases;
}

double crossing(double a, double b) {
  constexpr double margin = 1e-3;
  return std::isfinite(a) && std::isfinite(b) ? std::clamp(a / (a - b), margin, 1 - margin) : 0.5;
}

}  // namespace isochron
