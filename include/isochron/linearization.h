// How arrival times change with what they were computed from: derivatives of the discrete solution.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "isochron/mesh.h"
#include "isochron/metric.h"
#include "isochron/types.h"

namespace isochron {

/// The input of a solve, as a direction or as a gradient.
struct InputValues {
  /// Of the travel-time metric M of each element (of each voxel of an image). As a direction: the change dM. As a
  /// gradient: the G with du = Σ contraction(G, dM).
  std::vector<SymTensor3d> metric;
  std::vector<double> onset;  ///< of the time of each source: vertices first, then points, then the level set
  /// Of the position of each source; none where it is a vertex or voxel, or lies on one: that cannot be moved.
  std::vector<std::optional<Vec3d>> position;
  /// Of the position of each vertex of a mesh, apart from what the lengths of its elements' edges change: those are in
  /// `metric`. See `gradient_by_vertices`. Empty on images.
  std::vector<Vec3d> vertex;
  std::vector<double> level_set;  ///< of the level set's value at each vertex; empty where it is no source
};

/// Rows of a sparse matrix: row r has the entries from offsets[r] to offsets[r + 1].
struct MetricJacobian {
  std::vector<std::size_t> offsets;
  std::vector<ElementId> elements;  ///< ascending in each row
  std::vector<SymTensor3d> values;  ///< the derivative by M of that element, as in `InputValues::metric`
};

/// How well derivatives pass the tests that need no second solve.
struct DerivativeCheck {
  /// |v · J d − Jᵀ v · d| for random d and v, as a share of Σ |v_i (J d)_i|.
  double transpose = 0;
  /// Times scale as slowness and onsets do together (Euler's identity): the largest misfit of a time and what `jvp`
  /// gives for dM = 2 M and the onsets themselves, as a share of the largest time.
  double scaling = 0;
  /// The largest misfit of a time and its row, u = W u + c, as a share of the largest time.
  double fixed_point = 0;
  double max_transpose = 1e-12;  ///< what counts as passed
  double max_misfit = 1e-12;     ///< of `scaling` and `fixed_point`

  [[nodiscard]] bool passed() const {
    return transpose <= max_transpose && scaling <= max_misfit && fixed_point <= max_misfit;
  }
};

class DependenceSystem;

/// The derivative of first-arrival times at one solution, exact for what the solver computes. A time depends on those
/// of the face it comes through, and on M in the element it crosses last: u = W u + c. Products with the derivative
/// solve that sparse system once, forwards or backwards.
///
/// Where the front reaches a vertex from two sides at once the times have a kink; then this is the derivative from one
/// of them (outside balls, on meshes: through the element with the smaller id). What a solve chooses is taken as fixed:
/// which vertices have their times from the ball around a source, and by which of its formulas.
class Linearization {
 public:
  explicit Linearization(std::shared_ptr<const DependenceSystem> system);

  /// One value a vertex (or voxel) of the solved domain.
  [[nodiscard]] std::size_t vertex_count() const;
  [[nodiscard]] std::size_t element_count() const;
  [[nodiscard]] std::size_t source_count() const;
  /// Of memory that it holds.
  [[nodiscard]] std::size_t bytes() const;

  /// Adjoint product: the gradient of Σ cotangent · times. Unreached vertices must have cotangent 0. Throws InputError
  /// unless there is one finite value a vertex.
  [[nodiscard]] InputValues vjp(std::span<const double> cotangent) const;

  /// Tangent product: the change of the times in a direction; 0 at unreached vertices. Parts of the direction that are
  /// empty are 0. Throws InputError when another size or a value is wrong, or when a source is moved that
  /// cannot be.
  [[nodiscard]] std::vector<double> jvp(const InputValues& direction) const;

  /// The derivative of the times at some vertices by M. Throws InputError for a vertex that is out of range or
  /// unreached.
  [[nodiscard]] MetricJacobian metric_jacobian(std::span<const VertexId> vertices) const;

  /// Checks the derivatives with the times and the metric that they are of. Misfits may be ten times the tolerance of
  /// the solve, and at least 1e-12; 1e-5 on images whose metric varies, as their weights are in single precision; 1e-4
  /// in single precision. Throws InputError unless there is a time for each vertex and M for each element.
  [[nodiscard]] DerivativeCheck verify(std::span<const double> times, const Metric& metric,
                                       std::uint64_t seed = 1) const;

 private:
  /// Throws InputError.
  void check_direction(const InputValues& direction) const;
  /// What a direction adds to each row: c of u = W u + c. Throws InputError.
  [[nodiscard]] std::vector<double> added_by(const InputValues& direction) const;
  /// The users' values among those of all rows.
  [[nodiscard]] std::vector<double> of_vertices(std::span<const double> values) const;

  std::shared_ptr<const DependenceSystem> system_;
};

// ---- From M to what it is made of. `gradient` is that of `InputValues::metric`; the functions whose names begin with
// `metric_change` give the direction that belongs to it.

/// M = I / speed²: the derivative by the speed of each element.
std::vector<double> gradient_by_speed(std::span<const SymTensor3d> gradient, std::span<const double> speed);
std::vector<SymTensor3d> metric_change_of_speed(std::span<const double> speed, std::span<const double> change);

/// M = D⁻¹: the derivative by the velocity tensor D of each element, from its M.
std::vector<SymTensor3d> gradient_by_velocity_tensor(std::span<const SymTensor3d> gradient, const Metric& metric);
std::vector<SymTensor3d> metric_change_of_velocity_tensor(const Metric& metric, std::span<const SymTensor3d> change);

/// By the velocities along and across fibres, one row a region.
std::vector<Velocities> gradient_by_velocities(std::span<const SymTensor3d> gradient, const FiberMetric& metric);
std::vector<SymTensor3d> metric_change_of_velocities(const FiberMetric& metric, std::size_t element_count,
                                                     std::span<const Velocities> change);

/// By the positions of the mesh's vertices, while each element keeps its M and the points of sources keep their places:
/// from a gradient as `Linearization::vjp` gives it. A displacement x → x + A x within an element changes squared
/// lengths as dM = AᵀM + MA does.
template <int Corners>
std::vector<Vec3d> gradient_by_vertices(const InputValues& gradient, const SimplexMesh<Corners>& mesh,
                                        const Metric& metric);
/// The direction that belongs to a displacement of each vertex.
template <int Corners>
InputValues change_of_vertices(const SimplexMesh<Corners>& mesh, const Metric& metric,
                               std::span<const Vec3d> displacement);

/// By the components of the fibre vectors as they are given (not of unit length); 0 where there is no fibre.
std::vector<Vec3d> gradient_by_fibers(std::span<const SymTensor3d> gradient, const FiberMetric& metric);

}  // namespace isochron
