#include "isochron/solver.h"

#include <utility>

#include <fmt/format.h>

#include "isochron/solve/engine.h"

namespace isochron {
namespace {

std::unique_ptr<Engine> make_engine(const Domain& domain, SolveOptions options) {
  if (domain.in_parts() || std::holds_alternative<std::monostate>(domain.shape))
    throw UsageError("a domain in parts is solved over ranks; give the solver a communicator, or the whole domain");
  switch (domain.kind()) {
    case DomainKind::triangles: return make_mesh_engine<3>(domain, std::move(options));
    case DomainKind::tetrahedra: return make_mesh_engine<4>(domain, std::move(options));
    case DomainKind::image: break;
  }
  return make_image_engine(domain, std::move(options));
}

}  // namespace

Solver::Solver(const Domain& domain, SolveOptions options) : engine_(make_engine(domain, std::move(options))) {}
Solver::Solver(const Domain& domain, SolveOptions options, Communicator& communicator)
    : engine_(make_rank_engine(domain, std::move(options), communicator)) {}
Solver::~Solver() = default;
Solver::Solver(Solver&&) noexcept = default;
Solver& Solver::operator=(Solver&&) noexcept = default;

Arrival Solver::solve(const Sources& sources) {
  Arrival result;
  engine_->solve_many({&sources, 1}, [&](std::size_t, Arrival&& arrival) { result = std::move(arrival); });
  return result;
}

void Solver::solve_many(std::span<const Sources> source_sets, const TakeArrival& take) {
  engine_->solve_many(source_sets, take);
}

std::vector<Arrival> Solver::solve_many(std::span<const Sources> source_sets) {
  std::vector<Arrival> result(source_sets.size());
  engine_->solve_many(source_sets, [&](std::size_t i, Arrival&& arrival) { result[i] = std::move(arrival); });
  return result;
}

void Solver::set_metric(const AnyMetric& metric) { engine_->set_metric(metric); }

Arrival Solver::update(const Arrival& before, const Sources& sources, const ProblemChange& change) {
  return engine_->update(before, sources, change);
}

Residual Solver::residual(const Arrival& arrival, const Sources& sources) {
  return engine_->residual(arrival, sources);
}

Linearization Solver::linearize(const Arrival& arrival, const Sources& sources) {
  return std::move(engine_->linearize({&arrival, 1}, {&sources, 1})[0]);
}

std::vector<Linearization> Solver::linearize_many(std::span<const Arrival> arrivals,
                                                  std::span<const Sources> source_sets) {
  if (arrivals.size() != source_sets.size())
    throw UsageError(
        fmt::format("{} solutions for {} sets of sources; give one each", arrivals.size(), source_sets.size()));
  return engine_->linearize(arrivals, source_sets);
}

Arrival Engine::update(const Arrival& /*before*/, const Sources& /*sources*/, const ProblemChange& /*change*/) {
  throw UsageError("times are not updated over ranks; set the metric and solve again");
}

std::vector<Linearization> Engine::linearize(std::span<const Arrival> /*arrivals*/,
                                             std::span<const Sources> /*source_sets*/) {
  throw UsageError("derivatives are those of meshes and of images with the adaptive scheme, not over ranks");
}

}  // namespace isochron
