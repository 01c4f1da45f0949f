// The schemes of paper 004 as references: the Godunov Hamiltonian solved by the fast iterative method (its Algorithm
// 4.1) or by fast sweeping, and Lax–Friedrichs sweeping. All read the neighbours along the axes alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <variant>
#include <vector>

#include "isochron/arrival.h"
#include "isochron/solve/common/label_spread.h"
#include "isochron/solve/common/start.h"
#include "isochron/solve/grid/stencils.h"

namespace isochron {

/// Whole tensors on the axes' neighbours. Its axis weights are the diagonal.
template <class T, int Dim>
struct TensorProblem : AxisProblem<T, Dim> {
  std::vector<SymTensor3<T>> tensors;  ///< D in voxels; one for all, or one per allowed cell
  BigVector<std::uint32_t> tensor_of;  ///< of each cell; empty when there is one for all

  [[nodiscard]] const SymTensor3<T>& tensor(std::uint32_t cell) const {
    return tensors[tensor_of.empty() ? 0 : tensor_of[cell]];
  }

  /// The cells that a cell's time is from. Fronts run along D ∇u, which need not be the side of an axis where the
  /// earlier cell is.
  [[nodiscard]] UpwindVertices<Dim> upwind(const T* time, std::uint32_t x) const {
    const T now = time[x];
    T slope[3] = {};
    for (int i = 0; i < Dim; ++i) {
      const std::ptrdiff_t step = this->cells->box.axis_step(i);
      const T back = time[x - step], ahead = time[x + step];
      slope[i] = back < ahead ? std::max(now - back, T(0)) : std::min(ahead - now, T(0));
    }
    const Vec3<T> front = tensor(x) * Vec3<T>{slope[0], slope[1], slope[2]};
    const T along[3] = {front.x, front.y, front.z};
    UpwindVertices<Dim> result;
    for (int i = 0; i < Dim; ++i) {
      const std::ptrdiff_t step = this->cells->box.axis_step(i);
      const auto from = static_cast<std::uint32_t>(along[i] > 0 ? x - step : x + step);
      if (time[from] < now) result.add(from, static_cast<float>(std::abs(along[i])));
    }
    return result;
  }
};

template <class T>
using AnyTensorProblem = std::variant<TensorProblem<T, 2>, TensorProblem<T, 3>>;

/// The tensors of a checked metric. Keeps a pointer to `cells`.
template <class T>
AnyTensorProblem<T> make_tensors(const VoxelMetric& metric, const GridCells& cells, int threads);

enum class AxisScheme { godunov_fim, godunov_fsm, lax_friedrichs_fsm };

/// How the Godunov schemes test a choice of derivatives (the paper's section 4.2).
enum class Validity {
  integers,     ///< as the paper: `godunov::IntegerTest`
  hamiltonians  ///< as those before it, to compare with: `godunov::HamiltonianTest`
};

/// Runs a scheme from the seeds until nothing changes by more than the tolerance. Times only fall, as in the paper.
/// `state.converged` tells whether it got there within a bound on rounds.
template <class T, int Dim>
void solve_axis_scheme(const TensorProblem<T, Dim>& problem, AxisScheme scheme, Start<T>& start,
                       Validity validity = Validity::integers);

/// How far a time is later than its update, or earlier than any update can have made it. Times only fall, so a cell
/// got its time when its neighbours were as late as now or later. The updates are not monotone (Godunov's compares the
/// sides of one axis at a time, Lax–Friedrichs extrapolates at edges), so what they give in the end may be later than
/// the time; but they have monotone lower bounds, and no time may be below those of its neighbours' times.
template <class T, int Dim>
Residual check_axis_scheme(const TensorProblem<T, Dim>& problem, AxisScheme scheme, const Start<T>& start, int threads,
                           double limit);

}  // namespace isochron
