#include "isochron/surface/field/volume.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "isochron/core/parallel.h"

namespace isochron {
namespace {

// Of the cubic B-spline at the beginning, the middle and the end of a cell.
constexpr float weights[3][4] = {{1.0F / 6, 4.0F / 6, 1.0F / 6, 0},
                                 {1.0F / 48, 23.0F / 48, 23.0F / 48, 1.0F / 48},
                                 {0, 1.0F / 6, 4.0F / 6, 1.0F / 6}};

float weighted(const float* w, const float* values, std::ptrdiff_t step) {
  return w[0] * values[0] + w[1] * values[step] + w[2] * values[2 * step] + w[3] * values[3 * step];
}

/// The share of a tetrahedron where the linear function with these values at its corners is negative.
double tetrahedron_share(std::array<float, 4> v) {
  const auto positive = std::partition(v.begin(), v.end(), [](float value) { return value < 0; });
  const auto cut = [&](int from, int to) {  // how far along an edge from a negative corner the sign changes
    return static_cast<double>(v[from]) / (static_cast<double>(v[from]) - v[to]);
  };
  switch (positive - v.begin()) {
    case 0: return 0;
    case 1: return cut(0, 1) * cut(0, 2) * cut(0, 3);
    case 2: {
      const double p = cut(0, 2), q = cut(0, 3), r = cut(1, 2), s = cut(1, 3);
      return r * s + p * q * (1 - s) + p * (1 - r) * s;
    }
    case 3: return 1 - (1 - cut(0, 3)) * (1 - cut(1, 3)) * (1 - cut(2, 3));
    default: return 1;
  }
}

}  // namespace

CellValues cell_values(const SplineField& field, int i, int j, int k) {
  const std::ptrdiff_t row = field.lattice().shape[0] + 2, slice = row * (field.lattice().shape[1] + 2);
  const float* base = field.coefficients().data() + i + j * row + k * slice;
  float along_x[4][4][3], along_xy[4][3][3];
  for (int c = 0; c < 4; ++c)
    for (int b = 0; b < 4; ++b)
      for (int a = 0; a < 3; ++a) along_x[c][b][a] = weighted(weights[a], base + b * row + c * slice, 1);
  for (int c = 0; c < 4; ++c)
    for (int b = 0; b < 3; ++b)
      for (int a = 0; a < 3; ++a) along_xy[c][b][a] = weighted(weights[b], &along_x[c][0][a], 3);
  CellValues values;
  for (int c = 0; c < 3; ++c)
    for (int b = 0; b < 3; ++b)
      for (int a = 0; a < 3; ++a) values[a + 3 * (b + 3 * c)] = weighted(weights[c], &along_xy[0][b][a], 9);
  return values;
}

double negative_share(const CellValues& values) {
  // The six ways from the lowest to the highest corner along three edges.
  constexpr int step[3] = {1, 3, 9};
  constexpr int orders[6][2] = {{0, 1}, {0, 2}, {1, 0}, {1, 2}, {2, 0}, {2, 1}};
  double sum = 0;
  for (int eighth = 0; eighth < 8; ++eighth) {
    const int from = (eighth & 1) * step[0] + (eighth >> 1 & 1) * step[1] + (eighth >> 2) * step[2];
    for (const auto& [first, second] : orders) {
      const int one = from + step[first], two = one + step[second];
      sum += tetrahedron_share({values[from], values[one], values[two], values[from + 13]});
    }
  }
  return sum / 48;
}

double negative_volume(const SplineField& field, std::span<const float> values, int threads) {
  const Lattice& lattice = field.lattice();
  const int cells[3] = {lattice.shape[0] - 1, lattice.shape[1] - 1, lattice.shape[2] - 1};
  std::vector<double> slices(static_cast<std::size_t>(cells[2]), 0);  // added up in order, whatever the threads
  parallel_for(threads, slices.size(), [&](std::size_t slice) {
    const int k = static_cast<int>(slice);
    for (int j = 0; j < cells[1]; ++j)
      for (int i = 0; i < cells[0]; ++i) {
        int negative = 0;
        for (int corner = 0; corner < 8; ++corner)
          negative += values[lattice.index(i + (corner & 1), j + (corner >> 1 & 1), k + (corner >> 2))] < 0 ? 1 : 0;
        if (negative == 0) continue;
        slices[slice] += negative == 8 ? 1 : negative_share(cell_values(field, i, j, k));
      }
  });
  double sum = 0;
  for (const double one : slices) sum += one;
  return sum;
}

double offset_for_volume(double target, double most, const std::function<double(double)>& volume_at) {
  constexpr int max_steps = 12;
  double offset = 0, off = volume_at(0) - target;
  double low = -most, high = most;  // too small and too large
  double before = 0, off_before = 0;
  for (int step = 0; step < max_steps && std::abs(off) > volume_tolerance * target; ++step) {
    (off < 0 ? low : high) = offset;
    double next = step == 0 ? (off < 0 ? 0.1 : -0.1) * most : offset - off * (offset - before) / (off - off_before);
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    before = std::exchange(offset, next);
    off_before = std::exchange(off, volume_at(next) - target);
  }
  return offset;
}

// Jacobi's method, damped: the areas are estimates anyway.
std::vector<double> offsets_for_growth(std::span<const SharedBorder> borders, std::size_t outside,
                                       const std::vector<double>& growth) {
  constexpr int sweeps = 30;
  constexpr double nothing = 1e-9;  // so that labels without borders stay
  std::vector<double> areas(growth.size(), nothing), sums(growth.size()), offsets(growth.size(), 0);
  for (const auto& [a, b, area] : borders) {
    areas[a] += area;
    areas[b] += area;
  }
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    sums = growth;
    for (const auto& [a, b, area] : borders) {
      sums[a] += area * offsets[b];
      sums[b] += area * offsets[a];
    }
    for (std::size_t i = 0; i < offsets.size(); ++i)
      if (i != outside) offsets[i] = 0.5 * (offsets[i] + sums[i] / areas[i]);
  }
  return offsets;
}

}  // namespace isochron
