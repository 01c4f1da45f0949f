// Speeds, velocities and sources from measured arrival times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "isochron/domain.h"
#include "isochron/options.h"
#include "isochron/sources.h"
#include "isochron/types.h"

namespace isochron {

/// When a front was measured to arrive at a receiver.
struct Pick {
  std::uint32_t receiver = 0;  ///< index into `Measurements::receivers`
  double time = 0;
  double weight = 1;  ///< of the squared difference; 0 leaves it out
};

/// One front, and when it arrived: an earthquake, a blast, a paced beat.
struct Shot {
  Sources sources;  ///< vertices and points; where they are unknown, a guess
  std::vector<Pick> picks;
};

/// What was measured. Times at a receiver are interpolated between the vertices (or voxels) around it.
struct Measurements {
  std::vector<Vec3d> receivers;  ///< in or on the mesh, or in the image
  std::vector<Shot> shots;
};

/// What is looked for. At most one of the first three.
enum class Unknown : std::uint8_t {
  speed,              ///< of each element or voxel, of an isotropic metric
  tensor_scale,       ///< one factor for all velocities of an element, of any metric
  region_velocities,  ///< the rows of `FiberMetric::velocities`
  onsets,             ///< of each source of each shot
  source_positions    ///< likewise; sources at vertices become points
};

/// What smoothing keeps small, of the logarithm of the speeds (or factors) of neighbouring elements.
enum class Smoothing : std::uint8_t {
  gradient,        ///< squared first differences
  curvature,       ///< squared second differences
  total_variation  ///< first differences, so that jumps are as cheap as ramps
};

/// Where an inversion stands.
struct InversionStep {
  int iteration = 0;     ///< 0 is the start
  double misfit = 0;     ///< root of the mean of weight · difference², over times with weight
  double objective = 0;  ///< what is made small: half the weighted sum of squares, and the smoothing
  double step = 0;       ///< share of the Gauss–Newton step that was taken
  int products = 0;      ///< of the Gauss–Newton matrix
};

/// All unknowns as numbers, to go on from; for the same start and measured times only.
struct InversionState {
  double smoothing_weight = 0;
  double damping = 1e-3;  ///< of the next step, as a share of the Gauss–Newton matrix's diagonal
  double problem = 0;     ///< a number of the problem: its start and its measured times
  std::vector<double> values;
};

struct InversionOptions {
  std::vector<Unknown> unknowns;
  Smoothing smoothing_kind = Smoothing::gradient;
  /// Of speeds and factors: what the smoothing weighs against the measured times, whatever the units and the size of
  /// the mesh.
  double smoothing = 0.01;
  /// The least and largest speed, velocity or factor; the start must be between them. Without: a thousandth and a
  /// thousand times the start.
  std::optional<double> min_velocity, max_velocity;
  double noise = 0;  ///< standard deviation of times of weight 1: a misfit of that much is good enough
  int max_iterations = 30;
  double min_decrease = 5e-3;  ///< of the objective, as a share: less than that ends it
  /// How far receivers may be from the mesh or image, in its unit.
  double receiver_tolerance = 0;
  /// Of the times; first order. Without a tolerance 1e-9, without a precision double.
  SolveOptions solve;
  /// Instead of that of `solve`. By default plain where the speed, a factor or velocities are unknown: the extent of a
  /// ball depends on them, and times jump with it; else balls.
  std::optional<SourceInit> source_init;
  std::size_t max_bytes = std::size_t{4} << 30;  ///< of derivatives that are kept; what is beyond is computed again
  std::optional<InversionState> start;
  std::function<void(const InversionStep&, const InversionState&)> on_step;  ///< after each step, and at the start
};

enum class InversionEnd : std::uint8_t {
  noise_level,    ///< the misfit is that of the noise
  settled,        ///< the objective decreases no more, or the misfit is that of the solves' tolerance
  max_iterations  ///< before either
};

struct Inversion {
  Metric metric;
  std::vector<Sources> sources;            ///< of each shot
  std::vector<double> scale;               ///< of each element's velocities, with `Unknown::tensor_scale`
  std::vector<std::vector<double>> times;  ///< computed, of each pick of each shot
  std::vector<InversionStep> steps;        ///< the first is the start
  InversionEnd end = InversionEnd::settled;
  SourceInit source_init = SourceInit::plain;  ///< as it was used
};

/// Finds the unknowns that fit the measured times best: least squares of the weighted differences, and of the
/// smoothing. By projected Gauss–Newton steps with conjugate gradients and damping, from exact derivatives of the
/// discrete times; speeds, factors and velocities through their logarithms. `domain` and the sources are the start.
///
/// A source that would leave the mesh or image goes to the nearest place in it. A domain must be whole and on the host.
/// Throws UsageError when unknowns do not go together or do not fit the metric, and when there are more of them than
/// times without smoothing, or an option is out of range; InputError when there are no times, one is not finite, a
/// receiver is further away than the tolerance or unreached, a bound excludes the start, a state is that of
/// another problem, or as `Solver` does.
Inversion invert(const Domain& domain, const Measurements& measured, const InversionOptions& options);

}  // namespace isochron
