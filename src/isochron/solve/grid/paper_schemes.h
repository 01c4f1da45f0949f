// The schemes of paper 004 as references: the Godunov Hamiltonian solved by the fast iterative method (its Algorithm
// 4.1) or by fast sweeping, and Lax–Friedrichs sweeping. All read the neighbours along the axes alone.
#pragma once

#include "isochron/local/godunov_update.h"
#include "isochron/solve/grid/grid_start.h"
#include "isochron/solve/grid/stencils.h"

namespace isochron {

enum class PaperScheme { godunov_fim, godunov_fsm, lax_friedrichs_fsm };

/// Runs a scheme from the seeds until nothing changes by more than the tolerance. Times only fall, as in the paper.
/// `state.converged` tells whether it got there within a bound on rounds.
template <class T, int Dim>
void solve_paper_scheme(const TensorProblem<T, Dim>& problem, PaperScheme scheme, Start<T>& start);

/// How far an update would still lower a time. One-sided: at strong anisotropy these updates are not monotone, so a
/// time may be below what its neighbours give in the end.
template <class T, int Dim>
Residual check_paper_scheme(const TensorProblem<T, Dim>& problem, PaperScheme scheme, const Start<T>& start,
                            int threads, double limit);

}  // namespace isochron
