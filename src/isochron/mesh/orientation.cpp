#include "isochron/mesh/orientation.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace isochron {

namespace {

constexpr double half_ulp = std::numeric_limits<double>::epsilon() / 2;

int sign(double x) { return x > 0 ? 1 : (x < 0 ? -1 : 0); }

/// A number as the exact sum of doubles that do not overlap, the smallest first.
template <std::size_t Most>
class ExactSum {
 public:
  void add(double x) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      const double sum = x + parts_[i];
      const double of_part = sum - x;
      const double error = (x - (sum - of_part)) + (parts_[i] - of_part);
      if (error != 0) parts_[kept++] = error;
      x = sum;
    }
    if (x != 0) parts_[kept++] = x;
    size_ = kept;
  }
  void add_product(double a, double b) {
    const double product = a * b;
    add(std::fma(a, b, -product));
    add(product);
  }
  void add_product(double a, double b, double c) {
    if (a == 0 || b == 0 || c == 0) return;
    const double product = a * b;
    add_product(std::fma(a, b, -product), c);
    add_product(product, c);
  }
  /// Parts do not overlap, so the largest decides.
  [[nodiscard]] int sign_of_sum() const { return size_ == 0 ? 0 : sign(parts_[size_ - 1]); }

 private:
  std::array<double, Most> parts_;
  std::size_t size_ = 0;
};

bool exact_difference(double a, double b) {
  const double difference = a - b;
  const double of_b = a - difference;
  return (a - (difference + of_b)) + (of_b - b) == 0;
}

bool exact_difference(Vec3d a, Vec3d b) {
  return exact_difference(a.x, b.x) && exact_difference(a.y, b.y) && exact_difference(a.z, b.z);
}

/// Adds `factor` (1 or −1) times the determinant of the rows p, q, r.
template <std::size_t Most>
void add_determinant(ExactSum<Most>& sum, double factor, Vec3d p, Vec3d q, Vec3d r) {
  p = factor * p;
  sum.add_product(p.x, q.y, r.z);
  sum.add_product(-p.x, q.z, r.y);
  sum.add_product(p.y, q.z, r.x);
  sum.add_product(-p.y, q.x, r.z);
  sum.add_product(p.z, q.x, r.y);
  sum.add_product(-p.z, q.y, r.x);
}

int exact_orientation(Vec3d a, Vec3d b, Vec3d c, Vec3d d) {
  // Each product of three numbers is a sum of four doubles.
  if (exact_difference(b, a) && exact_difference(c, a) && exact_difference(d, a)) {
    ExactSum<24> sum;
    add_determinant(sum, 1, b - a, c - a, d - a);
    return sum.sign_of_sum();
  }
  ExactSum<96> sum;
  add_determinant(sum, 1, b, c, d);
  add_determinant(sum, -1, a, c, d);
  add_determinant(sum, 1, a, b, d);
  add_determinant(sum, -1, a, b, c);
  return sum.sign_of_sum();
}

}  // namespace

int orientation(Vec3d a, Vec3d b, Vec3d c, Vec3d d) {
  const Vec3d p = b - a, q = c - a, r = d - a;
  const double yz = q.y * r.z, zy = q.z * r.y, zx = q.z * r.x, xz = q.x * r.z, xy = q.x * r.y, yx = q.y * r.x;
  const double volume = p.x * (yz - zy) + p.y * (zx - xz) + p.z * (xy - yx);
  const double size = std::abs(p.x) * (std::abs(yz) + std::abs(zy)) + std::abs(p.y) * (std::abs(zx) + std::abs(xz)) +
                      std::abs(p.z) * (std::abs(xy) + std::abs(yx));
  // Shewchuk's bound is 7 + 56 half-ulps.
  if (std::abs(volume) > 8 * half_ulp * size || size == 0) return sign(volume);
  return exact_orientation(a, b, c, d);
}

int orientation(double ax, double ay, double bx, double by, double cx, double cy) {
  const double left = (bx - ax) * (cy - ay), right = (by - ay) * (cx - ax);
  const double area = left - right;
  // Shewchuk's bound is 3 + 16 half-ulps.
  if (std::abs(area) > 4 * half_ulp * (std::abs(left) + std::abs(right))) return sign(area);
  // ab + bc + ca, each the determinant of two points.
  ExactSum<12> sum;
  sum.add_product(ax, by);
  sum.add_product(-ay, bx);
  sum.add_product(bx, cy);
  sum.add_product(-by, cx);
  sum.add_product(cx, ay);
  sum.add_product(-cy, ax);
  return sum.sign_of_sum();
}

}  // namespace isochron
