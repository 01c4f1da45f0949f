// The travel-time metric M of each element: crossing a vector e costs sqrt(eᵀ M e).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "isochron/core/array.h"
#include "isochron/core/message.h"
#include "isochron/core/vec.h"
#include "isochron/mesh/simplex_mesh.h"
#include "isochron/metric/element_tensor.h"

namespace isochron {

/// The same M everywhere.
struct UniformMetric {
  SymTensor3d tensor = SymTensor3d::identity();
};

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

/// What a metric is on an element that it cannot be used on, for messages: "not a positive definite tensor, …".
const char* fault_of(const Metric& metric);

/// Throws InputError unless `metric` fits `element_count` elements and is positive definite, finite and non-zero on
/// each of them; the message has the count and the first bad element. `what` names the data ("speed array 'cv'").
void check_metric(const Metric& metric, std::size_t element_count, const Message& what);

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

}  // namespace isochron
