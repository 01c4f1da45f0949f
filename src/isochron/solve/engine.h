// What a solver hands its work to: one for each kind of domain, on one process or over ranks.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "isochron/arrival.h"
#include "isochron/domain.h"
#include "isochron/linearization.h"
#include "isochron/options.h"
#include "isochron/solver.h"
#include "isochron/sources.h"

namespace isochron {

class Communicator;

class Engine {
 public:
  virtual ~Engine() = default;
  virtual void set_metric(const AnyMetric& metric) = 0;
  virtual void solve_many(std::span<const Sources> source_sets, const TakeArrival& take) = 0;
  virtual Residual residual(const Arrival& arrival, const Sources& sources) = 0;
  /// Throws UsageError, unless the engine can.
  virtual Arrival update(const Arrival& before, const Sources& sources, const ProblemChange& change);
  /// Throws UsageError, unless the engine can.
  virtual std::vector<Linearization> linearize(std::span<const Arrival> arrivals, std::span<const Sources> source_sets);
};

template <int Corners>
std::unique_ptr<Engine> make_mesh_engine(const Domain& domain, SolveOptions options);
std::unique_ptr<Engine> make_image_engine(const Domain& domain, SolveOptions options);
std::unique_ptr<Engine> make_rank_engine(const Domain& domain, SolveOptions options, Communicator& communicator);

}  // namespace isochron
