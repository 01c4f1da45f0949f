// Cubic B-splines through values on a lattice: value, gradient and Hessian anywhere.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "isochron/surface.h"
#include "isochron/surface/field/lattice.h"
#include "isochron/types.h"

namespace isochron {

/// A field's value and derivatives at a point.
template <class T>
struct Jet {
  T value{};
  Vec3<T> gradient{};
  SymTensor3<T> hessian{};
};

/// What evaluating a spline needs, on host or device. The coefficients have one more layer on every side than the
/// lattice has points. Positions outside the lattice count as the nearest inside.
template <class T>
struct SplineView {
  const float* coefficients = nullptr;
  LatticeView<T> lattice;

  ISOCHRON_HD T value(Vec3<T> p) const {
    Weights w[3];
    const float* base = weigh(p, w);
    T sum = 0;
    for (int k = 0; k < 4; ++k) {
      for (int j = 0; j < 4; ++j) {
        const float* row = base + offset(j, k);
        T along = 0;
        for (int i = 0; i < 4; ++i) along += w[0].value[i] * T(row[i]);
        sum += w[2].value[k] * w[1].value[j] * along;
      }
    }
    return sum;
  }

  /// Value and gradient; the Hessian stays zero.
  ISOCHRON_HD Jet<T> slope(Vec3<T> p) const {
    Weights w[3];
    const float* base = weigh(p, w);
    Jet<T> jet;
    for (int k = 0; k < 4; ++k) {
      for (int j = 0; j < 4; ++j) {
        const float* row = base + offset(j, k);
        T along = 0, slope = 0;
        for (int i = 0; i < 4; ++i) {
          along += w[0].value[i] * T(row[i]);
          slope += w[0].first[i] * T(row[i]);
        }
        const T y = w[1].value[j], z = w[2].value[k];
        jet.value += y * z * along;
        jet.gradient += Vec3<T>{y * z * slope, w[1].first[j] * z * along, y * w[2].first[k] * along};
      }
    }
    jet.gradient = in_lengths(jet.gradient);
    return jet;
  }

  ISOCHRON_HD Jet<T> jet(Vec3<T> p) const {
    Weights w[3];
    const float* base = weigh(p, w);
    Jet<T> jet;
    for (int k = 0; k < 4; ++k) {
      for (int j = 0; j < 4; ++j) {
        const float* row = base + offset(j, k);
        T along = 0, slope = 0, bend = 0;
        for (int i = 0; i < 4; ++i) {
          along += w[0].value[i] * T(row[i]);
          slope += w[0].first[i] * T(row[i]);
          bend += w[0].second[i] * T(row[i]);
        }
        const T y = w[1].value[j], z = w[2].value[k], dy = w[1].first[j], dz = w[2].first[k];
        jet.value += y * z * along;
        jet.gradient += Vec3<T>{y * z * slope, dy * z * along, y * dz * along};
        jet.hessian = jet.hessian + SymTensor3<T>{y * z * bend,    dy * z * slope,
                                                  y * dz * slope,  w[1].second[j] * z * along,
                                                  dy * dz * along, y * w[2].second[k] * along};
      }
    }
    jet.gradient = in_lengths(jet.gradient);
    const Vec3<T> s = lattice.per_spacing;
    SymTensor3<T>& h = jet.hessian;
    h = {h.xx * s.x * s.x, h.xy * s.x * s.y, h.xz * s.x * s.z, h.yy * s.y * s.y, h.yz * s.y * s.z, h.zz * s.z * s.z};
    return jet;
  }

 private:
  struct Weights {
    T value[4], first[4], second[4];
  };

  ISOCHRON_HD static Weights weights_at(T t) {
    const T s = 1 - t, sixth = T(1) / 6;
    Weights w;
    w.value[0] = sixth * s * s * s;
    w.value[1] = sixth * (3 * t * t * (t - 2) + 4);
    w.value[2] = sixth * (3 * s * s * (s - 2) + 4);
    w.value[3] = sixth * t * t * t;
    w.first[0] = T(-0.5) * s * s;
    w.first[1] = T(0.5) * t * (3 * t - 4);
    w.first[2] = T(-0.5) * s * (3 * s - 4);
    w.first[3] = T(0.5) * t * t;
    w.second[0] = s;
    w.second[1] = 3 * t - 2;
    w.second[2] = 3 * s - 2;
    w.second[3] = t;
    return w;
  }

  // The first of the 4³ coefficients at p, and the weights along each axis.
  ISOCHRON_HD const float* weigh(Vec3<T> p, Weights* w) const {
    const auto place = lattice.place(p);
    for (int a = 0; a < 3; ++a) w[a] = weights_at(place.part[a]);
    return coefficients + place.from[0] + offset(place.from[1], place.from[2]);
  }
  ISOCHRON_HD std::ptrdiff_t offset(int j, int k) const {
    return (lattice.shape[0] + 2) * (j + (lattice.shape[1] + 2) * static_cast<std::ptrdiff_t>(k));
  }
  ISOCHRON_HD Vec3<T> in_lengths(Vec3<T> g) const {
    return {g.x * lattice.per_spacing.x, g.y * lattice.per_spacing.y, g.z * lattice.per_spacing.z};
  }
};

/// Owns the coefficients of the spline that takes the given values at the lattice points. At least 2 points along each
/// axis; the values are mirrored at the border.
class SplineField {
 public:
  SplineField() = default;
  SplineField(const Lattice& lattice, std::span<const float> values, int threads = 1);

  [[nodiscard]] const Lattice& lattice() const { return lattice_; }
  [[nodiscard]] std::span<const float> coefficients() const { return coefficients_; }
  [[nodiscard]] SplineView<double> view() const { return {coefficients_.data(), LatticeView<double>(lattice_)}; }

 private:
  Lattice lattice_;
  std::vector<float> coefficients_;
};

/// The field at the points of a lattice, its own or another in the same frame.
std::vector<float> values_at(const SplineField& field, const Lattice& lattice, int threads);

/// Trilinear values on a lattice: the sizing field.
template <class T>
struct SizeView {
  const float* values = nullptr;
  LatticeView<T> lattice;

  ISOCHRON_HD T size(Vec3<T> p) const {
    const auto at = lattice.place(p);
    T sum = 0;
    for (int corner = 0; corner < 8; ++corner) {
      T weight = 1;
      std::ptrdiff_t index = 0;
      for (int a = 2; a >= 0; --a) {
        const int far = corner >> a & 1;
        weight *= far ? at.part[a] : 1 - at.part[a];
        index = index * lattice.shape[a] + at.from[a] + far;
      }
      sum += weight * T(values[index]);
    }
    return sum;
  }
};

inline SizeView<double> SizeField::view() const { return {values.data(), LatticeView<double>(lattice)}; }

}  // namespace isochron
