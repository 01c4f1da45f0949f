#include "isochron/mesh/ordering.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "isochron/core/parallel.h"

namespace isochron {
namespace {

/// The Hilbert curve as a state machine (Hamilton and Rau-Chaplin 2007). A state is where the curve enters a cell and
/// along which axis it leaves; one step takes `levels` bits of each coordinate to as many groups of key bits.
template <int Dim>
struct HilbertTable {
  static constexpr int levels = 2;
  static constexpr unsigned states = Dim << Dim;
  static constexpr unsigned cells = 1U << (levels * Dim);
  struct Step {
    std::uint8_t key;
    std::uint8_t state;
  };
  std::array<std::array<Step, cells>, states> step{};

  static constexpr unsigned mask = (1U << Dim) - 1;
  static constexpr unsigned rotate_left(unsigned x, unsigned by) {
    by %= Dim;
    return ((x << by) | (x >> (Dim - by))) & mask;
  }

  /// One level: `cell` has one bit per axis.
  static constexpr Step advance(unsigned state, unsigned cell) {
    unsigned entry = state / Dim;
    const unsigned axis = state % Dim;
    const unsigned gray = rotate_left(cell ^ entry, Dim - (axis + 1) % Dim);
    unsigned rank = gray;
    for (unsigned shift = 1; shift < Dim; ++shift) rank ^= gray >> shift;
    const unsigned even = rank == 0 ? 0 : (rank - 1) / 2 * 2;
    entry ^= rotate_left(even ^ (even >> 1), axis + 1);
    const unsigned turned = rank == 0 ? 0 : (rank % 2 == 0 ? rank - 1 : rank);
    const unsigned turn = static_cast<unsigned>(std::countr_one(turned)) % Dim;
    return {static_cast<std::uint8_t>(rank), static_cast<std::uint8_t>(entry * Dim + (axis + turn + 1) % Dim)};
  }

  constexpr HilbertTable() {
    for (unsigned state = 0; state < states; ++state)
      for (unsigned cell = 0; cell < cells; ++cell) {
        unsigned key = 0, now = state;
        for (int level = levels - 1; level >= 0; --level) {
          unsigned bits = 0;
          for (int axis = 0; axis < Dim; ++axis) bits |= ((cell >> (axis * levels + level)) & 1U) << axis;
          const Step one = advance(now, bits);
          key = (key << Dim) | one.key;
          now = one.state;
        }
        step[state][cell] = {static_cast<std::uint8_t>(key), static_cast<std::uint8_t>(now)};
      }
  }

  [[nodiscard]] std::uint64_t key(const std::array<std::uint32_t, Dim>& cell, int bits) const {
    std::uint64_t result = 0;
    unsigned state = 0;
    for (int shift = bits - levels; shift >= 0; shift -= levels) {
      unsigned index = 0;
      for (int axis = 0; axis < Dim; ++axis) index |= ((cell[axis] >> shift) & 3U) << (axis * levels);
      const Step next = step[state][index];
      result = (result << (levels * Dim)) | next.key;
      state = next.state;
    }
    return result;
  }
};

template <class Key>
struct Entry {
  Key key;
  std::uint32_t id;
};

struct Box {
  Vec3d low, high;
};

Box bounding_box(std::span<const Vec3d> points) {
  Box box{points[0], points[0]};
  for (const Vec3d& p : points)
    for (int axis = 0; axis < 3; ++axis) {
      box.low[axis] = std::min(box.low[axis], p[axis]);
      box.high[axis] = std::max(box.high[axis], p[axis]);
    }
  return box;
}

/// Keys of `bits` bits per axis along the given axes, in one cubic frame.
template <int Dim, class Key>
void hilbert_keys(std::span<const Vec3d> points, const Box& box, const std::array<int, 3>& axes, int bits, int threads,
                  std::vector<Entry<Key>>& entries) {
  static constexpr HilbertTable<Dim> table;
  const double size = box.high[axes[0]] - box.low[axes[0]];
  const double last = static_cast<double>((1U << bits) - 1);
  const double scale = size > 0 ? (last + 1) / size : 0;
  parallel_for(threads, points.size(), [&](std::size_t i) {
    std::array<std::uint32_t, Dim> cell{};
    for (int k = 0; k < Dim; ++k) {
      const double x = (points[i][axes[k]] - box.low[axes[k]]) * scale;
      cell[k] = x > 0 ? static_cast<std::uint32_t>(std::min(x, last)) : 0;  // a NaN goes to 0
    }
    entries[i] = {static_cast<Key>(table.key(cell, bits)), static_cast<std::uint32_t>(i)};
  });
}

/// Stable radix sort by the lowest `bits` bits of the keys.
template <class Key>
void radix_sort(std::vector<Entry<Key>>& entries, int bits, int threads) {
  constexpr int digit_bits = 12;
  constexpr std::size_t digits = 1U << digit_bits;
  std::vector<Entry<Key>> other(entries.size());
  const int team = granted_threads(static_cast<int>(std::min<std::size_t>(threads, 1 + entries.size() / 65536)));
  std::vector<std::array<std::uint32_t, digits>> places(team);
  const auto part = [&](int thread) { return entries.size() * thread / team; };
  for (int shift = 0; shift < bits; shift += digit_bits) {
    parallel_region(team, [&](int thread, int) {
      places[thread].fill(0);
      for (std::size_t i = part(thread); i < part(thread + 1); ++i)
        ++places[thread][(entries[i].key >> shift) & (digits - 1)];
    });
    std::uint32_t total = 0;
    for (std::size_t digit = 0; digit < digits; ++digit)
      for (auto& counts : places) total += std::exchange(counts[digit], total);
    parallel_region(team, [&](int thread, int) {
      for (std::size_t i = part(thread); i < part(thread + 1); ++i)
        other[places[thread][(entries[i].key >> shift) & (digits - 1)]++] = entries[i];
    });
    entries.swap(other);
  }
}

/// Sorts the points by keys of a type that holds `dim * bits` bits.
template <class Key>
Permutation sort_by_key(std::span<const Vec3d> points, const Box& box, const std::array<int, 3>& axes, int dim,
                        int bits, int threads) {
  std::vector<Entry<Key>> entries(points.size());
  if (dim == 2) hilbert_keys<2>(points, box, axes, bits, threads, entries);
  else hilbert_keys<3>(points, box, axes, bits, threads, entries);
  radix_sort(entries, bits * dim, threads);
  Permutation result;
  result.new_to_old.resize(points.size());
  result.old_to_new.resize(points.size());
  parallel_for(threads, points.size(), [&](std::size_t i) {
    result.new_to_old[i] = entries[i].id;
    result.old_to_new[entries[i].id] = static_cast<std::uint32_t>(i);
  });
  return result;
}

}  // namespace

Permutation hilbert_order(std::span<const Vec3d> points, CurveDetail detail, int threads) {
  if (points.empty()) return {};
  const Box box = bounding_box(points);
  std::array<int, 3> axes{0, 1, 2};
  const auto extent = [&](int axis) { return box.high[axis] - box.low[axis]; };
  std::stable_sort(axes.begin(), axes.end(), [&](int a, int b) { return extent(a) > extent(b); });
  const bool flat = !(extent(axes[2]) > 1e-6 * extent(axes[0]));

  // For points, cells about sixteen times finer than these are apart: finer ones cost time and change little. A block
  // of a flat mesh is four by four points or a little more; a surface in space fills few of its box's cells, which are
  // therefore as fine as if it filled them. The curve takes two levels a step, so the number is even.
  const int dim = flat ? 2 : 3;
  int bits = (std::bit_width(points.size() - 1) + dim - 1) / dim;
  if (detail == CurveDetail::points) bits = std::min(bits + 4 + bits % 2, flat ? 30 : 20);
  else if (flat) bits = std::max(bits - 2, 0) / 2 * 2;
  else bits += bits % 2;
  return bits * dim <= 32 ? sort_by_key<std::uint32_t>(points, box, axes, dim, bits, threads)
                          : sort_by_key<std::uint64_t>(points, box, axes, dim, bits, threads);
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
