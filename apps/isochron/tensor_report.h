// What the summaries of commands on tensor images have in common. Only *_report.cpp include this.
#pragma once

#include "apps/isochron/json_text.h"
#include "apps/isochron/tensor_input.h"

namespace isochron::cli {

inline void add_counts_json(Json& object, const DiffusionCounts& counts, double floor) {
  for (const auto& [name, count] : counts.named()) object[std::string(name) + "_voxels"] = count;
  object["eigenvalue_floor"] = floor;
}

inline Json metric_json(const TensorRequest& request, const TensorInput& input) {
  const auto kind = request.metric.kind;
  Json object{{"kind", kind == DiffusionMetricKind::sharpened ? "sharpened"
                       : kind == DiffusionMetricKind::inverse ? "inverse"
                                                              : "adjugate"}};
  if (kind == DiffusionMetricKind::sharpened) object["alpha"] = request.metric.alpha;
  add_counts_json(object, input.metric.counts, request.metric.floor);
  return object;
}

inline void add_work_json(Json& object, const Arrival& work, std::size_t solves, const SolveOptions& options) {
  object["scheme"] = name_of(options.scheme == GridScheme::automatic ? GridScheme::adaptive : options.scheme);
  object["order"] = options.order;
  object["method"] = name_of(work.method);
  object["backend"] = name_of(work.backend);
  object["threads"] = work.threads;
  object["precision"] = name_of(work.precision);
  object["solves"] = solves;
  object["setup_seconds"] = work.setup_seconds;
  object["solve_seconds"] = work.solve_seconds;
  object["transfer_seconds"] = work.transfer_seconds;
  object["converged"] = work.converged;
  object["residual"] = work.residual ? finite_or_null(work.residual->worst) : Json(nullptr);
}

}  // namespace isochron::cli
