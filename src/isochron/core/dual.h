// Numbers that carry their derivatives.
#pragma once

#include <array>
#include <cmath>

namespace isochron {

/// A value and its derivatives by N variables. Comparisons are of the values.
template <int N>
struct Dual {
  double value = 0;
  std::array<double, N> by{};

  Dual() = default;
  Dual(double constant) : value(constant) {}  // NOLINT(google-explicit-constructor)
  static Dual variable(double value, int number) {
    Dual result(value);
    result.by[static_cast<std::size_t>(number)] = 1;
    return result;
  }

  friend Dual operator+(const Dual& a, const Dual& b) { return combined(a.value + b.value, a, 1, b, 1); }
  friend Dual operator-(const Dual& a, const Dual& b) { return combined(a.value - b.value, a, 1, b, -1); }
  friend Dual operator*(const Dual& a, const Dual& b) { return combined(a.value * b.value, a, b.value, b, a.value); }
  friend Dual operator/(const Dual& a, const Dual& b) {
    const double quotient = a.value / b.value;
    return combined(quotient, a, 1 / b.value, b, -quotient / b.value);
  }
  friend Dual operator-(const Dual& a) { return Dual(0) - a; }
  Dual& operator+=(const Dual& b) { return *this = *this + b; }
  friend Dual sqrt(const Dual& a) {
    const double root = std::sqrt(a.value);
    return combined(root, a, root > 0 ? 0.5 / root : 0, a, 0);
  }
  friend Dual fabs(const Dual& a) { return a.value < 0 ? -a : a; }
  friend bool operator<(const Dual& a, const Dual& b) { return a.value < b.value; }
  friend bool operator>(const Dual& a, const Dual& b) { return a.value > b.value; }
  friend bool operator<=(const Dual& a, const Dual& b) { return a.value <= b.value; }
  friend bool operator>=(const Dual& a, const Dual& b) { return a.value >= b.value; }

 private:
  static Dual combined(double value, const Dual& a, double by_a, const Dual& b, double by_b) {
    Dual result(value);
    for (std::size_t k = 0; k < N; ++k) result.by[k] = by_a * a.by[k] + by_b * b.by[k];
    return result;
  }
};

}  // namespace isochron
