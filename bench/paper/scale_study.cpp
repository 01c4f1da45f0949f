#include "bench/paper/scale_study.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace isochron::bench {
namespace {

const char* rule_name(BandRule rule) {
  switch (rule) {
    case BandRule::wait: return "wait";
    case BandRule::flow: return "flow";
    default: return "ahead";
  }
}

/// Bands that build on one another cannot be sampled: only where that takes seconds.
bool can_play_all(const BlockPlan& plan, const std::vector<FrontCell>& cells, double width) {
  double visits = 0;
  for (const FrontCell& cell : cells) visits += 1 + static_cast<double>(cell.high() - cell.low) / width;
  return visits < 3e6 && plan.ranks > 1;
}

}  // namespace

double ScaleResult::efficiency(const Machine& one_core) const {
  // `ideal` counts each vertex at the cost of this rank's team; all of them on one core would take this long:
  const double alone = one_core.push * outcome.vertices;
  return outcome.seconds > 0 ? alone / (outcome.seconds * problem.cores) : 1;
}

Machine ScaleStudy::machine_of(std::uint32_t threads) const {
  Machine result = machine;
  if (threads > 1) {
    result.push /= team_speed_up;
    result.byte /= threads;  // one rank has the share of all its cores
  }
  return result;
}

std::vector<ScaleResult> study_case(const ScaleStudy& study, const ScaleCase& problem) {
  std::vector<ScaleResult> results;
  const Machine machine = study.machine_of(problem.threads);
  double halo = 0;  // of the plan at hand
  const auto play = [&](const BlockPlan& plan, const std::vector<FrontCell>& cells, double width, BandRule rule) {
    ScaleResult r{problem, plan.parts_per_rank, plan.parts(), width, rule, plan.deal, halo, {}};
    const std::int64_t samples = plan.parts() > 300000 ? study.samples / 2 : study.samples;
    r.outcome = simulate(plan, cells, width, machine, rule, samples);
    results.push_back(r);
  };
  const double vertices = problem.elements / 6;
  for (const Deal deal : {Deal::curve, Deal::arrival}) {
    for (const std::uint32_t k : study.parts_per_rank) {
      const std::uint64_t parts = static_cast<std::uint64_t>(problem.ranks()) * k;
      if (k > 1 && (parts > study.max_parts || vertices / static_cast<double>(parts) < study.min_part)) break;
      const BlockPlan plan = plan_blocks(*problem.field, problem.elements, problem.ranks(), k, deal);
      halo = halo_values(plan) / plan.vertices();
      play(plan, front_cells(*problem.field, plan, study.cells), 1, BandRule::flow);
    }
    const std::uint32_t k = best_of(results, deal).parts_per_rank;
    const BlockPlan plan = plan_blocks(*problem.field, problem.elements, problem.ranks(), k, deal);
    const std::vector<FrontCell> cells = front_cells(*problem.field, plan, study.cells);
    halo = halo_values(plan) / plan.vertices();
    for (const double width : study.widths)
      if (width != 1) play(plan, cells, width, BandRule::flow);
    const double width = best_of(results, deal).width;
    play(plan, cells, width, BandRule::wait);
    if (can_play_all(plan, cells, width)) play(plan, cells, width, BandRule::ahead);
  }
  return results;
}

const ScaleResult& best_of(const std::vector<ScaleResult>& results, Deal deal) {
  return *std::min_element(results.begin(), results.end(), [deal](const ScaleResult& a, const ScaleResult& b) {
    const auto order = [deal](const ScaleResult& r) {
      return std::array{r.rule == BandRule::flow && r.deal == deal ? 0.0 : 1.0, r.halo <= max_halo ? 0.0 : 1.0,
                        r.outcome.seconds};
    };
    return order(a) < order(b);
  });
}

std::string limit_of(const Outcome& o) {
  const std::array<std::pair<double, const char*>, 6> losses{{{o.repeats, "repeated work"},
                                                              {o.imbalance, "imbalance"},
                                                              {o.fill, "ranks without front"},
                                                              {o.latency, "latency"},
                                                              {o.bandwidth, "bandwidth"},
                                                              {o.reductions, "reductions"}}};
  const auto worst =
      std::max_element(losses.begin(), losses.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return worst->first < 0.1 * o.seconds ? "work" : worst->second;
}

std::string results_csv(const std::vector<ScaleResult>& results, const ScaleStudy& study) {
  std::string text =
      "mesh,elements,cores,threads,parts_per_rank,parts,band_width,rule,deal,seconds,efficiency,halo,ideal,repeats,"
      "imbalance,"
      "fill,latency,bandwidth,reductions,bands,rounds,messages,bytes\n";
  for (const ScaleResult& r : results) {
    const Outcome& o = r.outcome;
    text += fmt::format("\"{}\",{:g},{},{},{},{},{:g},{},{},{:.6g},{:.4f},{:.4f},", r.problem.field->name,
                        r.problem.elements, r.problem.cores, r.problem.threads, r.parts_per_rank, r.parts, r.width,
                        rule_name(r.rule), r.deal == Deal::curve ? "curve" : "arrival", o.seconds,
                        r.efficiency(study.machine), r.halo);
    text += fmt::format("{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g}\n", o.ideal,
                        o.repeats, o.imbalance, o.fill, o.latency, o.bandwidth, o.reductions, o.bands, o.rounds,
                        o.messages, o.sent * study.machine.value_bytes);
  }
  return text;
}

}  // namespace isochron::bench
