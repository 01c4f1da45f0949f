#include "isochron/surface/field/spline.h"

#include <algorithm>
#include <cmath>

#include "isochron/core/parallel.h"
#include "isochron/surface/field/lattice.h"

namespace isochron {
namespace {

// Values along a line to coefficients, in place: two recursive passes with the pole of the cubic spline, mirrored at
// both ends (Unser, Aldroubi, Eden 1993).
void to_coefficients(std::vector<double>& line) {
  const double pole = std::sqrt(3.0) - 2;
  const std::size_t n = line.size();
  // The mirrored line has period 2n − 2; its tail is below rounding after some 30 terms.
  double first = line[0], power = pole;
  const std::size_t period = 2 * n - 2;
  for (std::size_t m = 1; m < 40; ++m, power *= pole) {
    const std::size_t at = m % period;
    first += power * line[at < n ? at : period - at];
  }
  line[0] = first;
  for (std::size_t i = 1; i < n; ++i) line[i] += pole * line[i - 1];
  line[n - 1] = pole / (pole * pole - 1) * (line[n - 1] + pole * line[n - 2]);
  for (std::size_t i = n - 1; i-- > 0;) line[i] = pole * (line[i + 1] - line[i]);
  for (double& value : line) value *= 6;
}

}  // namespace

SplineField::SplineField(const Lattice& lattice, std::span<const float> values, int threads) : lattice_(lattice) {
  const int padded[3] = {lattice.shape[0] + 2, lattice.shape[1] + 2, lattice.shape[2] + 2};
  const std::size_t step[3] = {1, static_cast<std::size_t>(padded[0]),
                               static_cast<std::size_t>(padded[0]) * static_cast<std::size_t>(padded[1])};
  coefficients_.resize(step[2] * static_cast<std::size_t>(padded[2]));
  for (int k = 0; k < lattice.shape[2]; ++k) {
    for (int j = 0; j < lattice.shape[1]; ++j) {
      const float* from = values.data() + lattice.index(0, j, k);
      float* to = coefficients_.data() + 1 + static_cast<std::size_t>(j + 1) * step[1] +
                  static_cast<std::size_t>(k + 1) * step[2];
      std::copy(from, from + lattice.shape[0], to);
    }
  }
  // Axis by axis; every pass also fills its axis' outer layers, so the last leaves none empty.
  for (int a = 0; a < 3; ++a) {
    const int b = (a + 1) % 3, c = (a + 2) % 3;
    const auto n = static_cast<std::size_t>(lattice.shape[a]);
    parallel_region(threads, [&](int thread, int team) {
      std::vector<double> line(n);
      const int begin = padded[c] * thread / team, end = padded[c] * (thread + 1) / team;
      for (int at_c = begin; at_c < end; ++at_c) {
        for (int at_b = 0; at_b < padded[b]; ++at_b) {
          float* start = coefficients_.data() + static_cast<std::size_t>(at_b) * step[b] +
                         static_cast<std::size_t>(at_c) * step[c];
          for (std::size_t i = 0; i < n; ++i) line[i] = start[(i + 1) * step[a]];
          to_coefficients(line);
          for (std::size_t i = 0; i < n; ++i) start[(i + 1) * step[a]] = static_cast<float>(line[i]);
          start[0] = static_cast<float>(line[1]);
          start[(n + 1) * step[a]] = static_cast<float>(line[n - 2]);
        }
      }
    });
  }
}

std::vector<float> values_at(const SplineField& field, const Lattice& lattice, int threads) {
  return values_on(lattice, threads, [view = field.view()](const Vec3d& p) { return view.value(p); });
}

}  // namespace isochron
