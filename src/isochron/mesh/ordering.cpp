#include "isochron/mesh/ordering.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <span>
#include <utility>

#include "isochron/core/parallel.h"
#include "isochron/core/radix_sort.h"
#include "isochron/core/stop.h"
#include "isochron/mesh/box_tree.h"

namespace isochron {
namespace {

template <int Dim, class Key>
void hilbert_keys(std::span<const Vec3d> points, const CurveFrame& frame, int threads,
                  BigVector<KeyedId<Key>>& entries) {
  static constexpr HilbertTable<Dim> table;
  stoppable_for(threads, points.size(), [&](std::size_t i) {
    entries[i] = {static_cast<Key>(frame.key(table, points[i])), static_cast<std::uint32_t>(i)};
  });
}

/// Sorts the points by keys of a type that holds all their bits.
template <class Key>
Permutation sort_by_key(std::span<const Vec3d> points, const CurveFrame& frame, int threads) {
  BigVector<KeyedId<Key>> entries(points.size());
  if (frame.dim == 2) hilbert_keys<2>(points, frame, threads, entries);
  else hilbert_keys<3>(points, frame, threads, entries);
  radix_sort(entries, frame.bits * frame.dim, threads);
  Permutation result;
  result.new_to_old.resize(points.size());
  result.old_to_new.resize(points.size());
  stoppable_for(threads, points.size(), [&](std::size_t i) {
    result.new_to_old[i] = entries[i].id;
    result.old_to_new[entries[i].id] = static_cast<std::uint32_t>(i);
  });
  return result;
}

}  // namespace

CurveFrame curve_frame(const Vec3d& low, const Vec3d& high, std::size_t count, CurveDetail detail) {
  CurveFrame frame{low, {0, 1, 2}, 3, 0, 0};
  const auto extent = [&](int axis) { return high[axis] - low[axis]; };
  std::stable_sort(std::begin(frame.axes), std::end(frame.axes), [&](int a, int b) { return extent(a) > extent(b); });
  const double longest = extent(frame.axes[0]);
  const bool flat = !(extent(frame.axes[2]) > 1e-6 * longest);

  // For points, cells about sixteen times finer than these are apart: finer ones cost time and change little. A block
  // of a flat mesh is four by four points or a little more; a surface in space fills few of its box's cells, which are
  // therefore as fine as if it filled them. The curve takes two levels a step, so the number is even.
  frame.dim = flat ? 2 : 3;
  int bits = (std::bit_width(count - 1) + frame.dim - 1) / frame.dim;
  if (detail == CurveDetail::points) bits = std::min(bits + 4 + bits % 2, flat ? 30 : 20);
  else if (flat) bits = std::max(bits - 2, 0) / 2 * 2;
  else bits += bits % 2;
  frame.bits = bits;
  frame.scale = longest > 0 ? static_cast<double>(1U << bits) / longest : 0;
  return frame;
}

Permutation hilbert_order(std::span<const Vec3d> points, CurveDetail detail, int threads) {
  if (points.empty()) return {};
  const Box box = box_of(points);
  const CurveFrame frame = curve_frame(box.low, box.high, points.size(), detail);
  return frame.bits * frame.dim <= 32 ? sort_by_key<std::uint32_t>(points, frame, threads)
                                      : sort_by_key<std::uint64_t>(points, frame, threads);
}

template <int Corners>
double mean_id_span(const SimplexMesh<Corners>& mesh) {
  constexpr std::size_t sample = 20000;
  const std::size_t count = std::min(sample, mesh.element_count());
  double total = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& element = mesh.elements[i * mesh.element_count() / count];
    const auto [low, high] = std::minmax_element(element.begin(), element.end());
    total += static_cast<double>(high->value - low->value);
  }
  return count == 0 ? 0 : total / static_cast<double>(count);
}

template <int Corners>
bool locally_ordered(const SimplexMesh<Corners>& mesh) {
  const double dim = Corners - 1;
  const double lattice_span = std::pow(static_cast<double>(mesh.vertex_count()), (dim - 1) / dim);
  // Long rows of a surface spread a front over more lines and pages than caches hold; up to here sorting takes longer
  // than one solve gains from it (bench/NOTES.md).
  const double longest_row = Corners == 3 ? 3000 : std::numeric_limits<double>::infinity();
  return mean_id_span(mesh) <= std::min(4 * lattice_span, longest_row);
}

template double mean_id_span<3>(const TriangleMesh&);
template double mean_id_span<4>(const TetMesh&);
template bool locally_ordered<3>(const TriangleMesh&);
template bool locally_ordered<4>(const TetMesh&);

}  // namespace isochron
