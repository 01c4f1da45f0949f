// The travel-time metric M of each element: crossing a vector e costs sqrt(eᵀ M e).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "isochron/error.h"
#include "isochron/mesh.h"
#include "isochron/types.h"

namespace isochron {

// ---- The tensor of one element from what a metric stores about it. For host and device.

/// Velocities along fibre, sheet and normal, in the caller's length over the caller's time.
struct Velocities {
  double fiber = 1;
  double sheet = 1;
  double normal = 1;
  friend bool operator==(const Velocities&, const Velocities&) = default;
};

ISOCHRON_HD inline SymTensor3d speed_tensor(double f) { return SymTensor3d::identity(1 / (f * f)); }

ISOCHRON_HD inline SymTensor3d widened(const SymTensor3f& m) { return {m.xx, m.xy, m.xz, m.yy, m.yz, m.zz}; }

ISOCHRON_HD inline SymTensor3f narrowed(const SymTensor3d& m) {
  return {static_cast<float>(m.xx), static_cast<float>(m.xy), static_cast<float>(m.xz),
          static_cast<float>(m.yy), static_cast<float>(m.yz), static_cast<float>(m.zz)};
}

/// See `FiberMetric`; `sheet` is null where there are none.
ISOCHRON_HD inline SymTensor3d fiber_tensor(const Velocities& v, Vec3f fiber, const Vec3f* sheet) {
  const double slow_f = 1 / (v.fiber * v.fiber);
  const double slow_s = 1 / (v.sheet * v.sheet);
  const double slow_n = 1 / (v.normal * v.normal);
  Vec3d f{fiber.x, fiber.y, fiber.z};
  const double length = norm(f);
  if (!(length > 0)) return SymTensor3d::identity(slow_s);
  f = f / length;
  if (sheet != nullptr) {
    const Vec3d given{sheet->x, sheet->y, sheet->z};
    const Vec3d s = given - dot(given, f) * f;  // data sets are orthogonal only to their printed digits
    const double across = norm(s);
    if (across > 1e-4 * norm(given))
      return SymTensor3d::identity(slow_n) + SymTensor3d::outer(f, slow_f - slow_n) +
             SymTensor3d::outer(s / across, slow_s - slow_n);
  }
  return SymTensor3d::identity(slow_s) + SymTensor3d::outer(f, slow_f - slow_s);
}

// ---- The travel-time metric M of each element: crossing a vector e costs sqrt(eᵀ M e).

/// The same M everywhere.
struct UniformMetric {
  SymTensor3d tensor = SymTensor3d::identity();
};

// Where a front cannot pass, the speed or all velocities are 0, or the diagonal of M is +inf: such an element does not
// conduct. A solve leaves it out.

/// Isotropic speed f per element: M = I/f².
struct SpeedMetric {
  Array<double> speed;
};

/// A full M per element, in single precision when there are many (24 bytes an element).
struct TensorMetric {
  Array<SymTensor3f> tensor;
};

/// Fibres (and sheets) with velocities: M = ffᵀ/v_f² + ssᵀ/v_s² + nnᵀ/v_n². Without sheets, or
/// where the sheet is zero or along the fibre, `sheet` is the velocity in all directions across the fibre. `region`
/// picks a row of `velocities`; empty means row 0 everywhere. A zero fibre makes the element isotropic at
/// `velocities[row].sheet`.
struct FiberMetric {
  Array<Vec3f> fiber;
  Array<Vec3f> sheet;
  Array<std::uint16_t> region;
  std::vector<Velocities> velocities{Velocities{}};
};

/// M for every element of a mesh; a plain value.
class Metric {
 public:
  using Kind = std::variant<UniformMetric, SpeedMetric, TensorMetric, FiberMetric>;

  Metric() = default;
  Metric(Kind kind) : kind_(std::move(kind)) {}  // NOLINT: a metric is any of its kinds

  static Metric isotropic(double speed) { return Metric(UniformMetric{SymTensor3d::identity(1.0 / (speed * speed))}); }
  static Metric constant(SymTensor3d m) { return Metric(UniformMetric{m}); }

  [[nodiscard]] const Kind& kind() const { return kind_; }
  /// Makes the metric fit coordinates in another unit, of which one is `length` of the old ones: crossing e then costs
  /// what `length`·e did.
  void change_unit(double length);
  /// M of one element.
  [[nodiscard]] SymTensor3d tensor(ElementId e) const {
    if (const auto* uniform = std::get_if<UniformMetric>(&kind_)) return uniform->tensor;
    return varying_tensor(e);
  }
  /// The metric of some of the elements, in their order.
  [[nodiscard]] Metric of(std::span<const ElementId> elements) const;
  /// How many elements the metric describes; 0 when it is the same for any number.
  [[nodiscard]] std::size_t element_count() const;
  /// Memory of what the metric stores for each element.
  [[nodiscard]] std::size_t bytes_per_element() const;
  /// False where the front cannot pass.
  [[nodiscard]] bool conducts(ElementId e) const;
  /// Whether it can be seen at once that all elements conduct, whatever else may be wrong with them.
  [[nodiscard]] bool conducts_everywhere(int threads = 1) const;
  /// True when M is a multiple of the identity everywhere by construction.
  [[nodiscard]] bool isotropic() const;

 private:
  [[nodiscard]] SymTensor3d varying_tensor(ElementId e) const;

  Kind kind_ = UniformMetric{};
};

/// Whether M is positive definite and finite on an element. The metric's form must be right.
bool usable_on(const Metric& metric, ElementId element);

/// The part of `check_metric` that does not look at every element: counts, velocities, a uniform tensor.
void check_metric_form(const Metric& metric, std::size_t element_count, const Message& what);

/// The elements that conduct; none where all do. Throws InputError as `check_metric` does for the others.
std::optional<std::vector<ElementId>> conducting_elements(const Metric& metric, std::size_t element_count,
                                                          const Message& what, int threads = 1);

/// The elements on which two metrics of as many elements differ, ascending.
std::vector<ElementId> differing_elements(const Metric& before, const Metric& after, std::size_t element_count,
                                          int threads = 1);

/// The least time that a unit of length takes on any element, or on any of some; with fibres, what the largest velocity
/// takes, whether it is used or not.
double least_slowness(const Metric& metric, const std::vector<ElementId>* some = nullptr);

/// What a metric is on an element that it cannot be used on, for messages: "not a positive definite tensor, …".
const char* fault_of(const Metric& metric);

/// Throws InputError unless `metric` fits `element_count` elements and is positive definite, finite and non-zero on
/// each of them; the message has the count and the first bad element. `what` names the data ("speed array 'cv'").
void check_metric(const Metric& metric, std::size_t element_count, const Message& what, int threads = 1);

/// The squared lengths of the element's edges in the metric, in the order of `edge_corners`.
template <int Corners>
std::array<double, SimplexMesh<Corners>::edges> squared_lengths(const SimplexMesh<Corners>& mesh, const Metric& metric,
                                                                ElementId e) {
  constexpr auto pairs = edge_corners<Corners>();
  const SymTensor3d m = metric.tensor(e);
  const auto& element = mesh.element(e);
  std::array<double, SimplexMesh<Corners>::edges> result{};
  for (std::size_t k = 0; k < pairs.size(); ++k)
    result[k] = squared_length(m, mesh.point(element[pairs[k][1]]) - mesh.point(element[pairs[k][0]]));
  return result;
}

// ---- Conduction velocities as people write them down.

/// The velocities of one region.
struct RegionVelocities {
  std::int64_t region = 0;
  Velocities velocities{};
  friend bool operator==(const RegionVelocities&, const RegionVelocities&) = default;
};

/// "v", "fibre,transverse" or "fibre,sheet,normal"; what is left out equals the number before it. Throws UsageError
/// unless all are positive and finite, or all are 0.
Velocities parse_velocities(std::string_view text);

/// Rows "region:fibre,transverse[,normal]" on lines of their own or separated by semicolons; '#' starts a comment.
/// Throws InputError naming the row that cannot be read or names a region again.
std::vector<RegionVelocities> parse_velocity_table(std::string_view text);

/// The same from a file. Throws InputError when it cannot be read or holds no row.
std::vector<RegionVelocities> read_velocity_table(const std::string& path);

/// Regions for a message: "1, 2, 5", after twenty of them "… and 7 more".
std::string region_list(std::span<const double> regions);

}  // namespace isochron
