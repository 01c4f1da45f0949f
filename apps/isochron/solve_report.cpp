#include "apps/isochron/solve_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/isochron/json_text.h"
#include "apps/isochron/tensor_report.h"
#include "isochron/core/timer.h"

namespace isochron::cli {
namespace {

Json json_of(const SourceSummary& source) {
  Json object;
  if (source.vertex) object["vertex"] = source.vertex->value;
  else object["point"] = {source.point.x, source.point.y, source.point.z};
  object["onset"] = source.onset;
  object["reached"] = source.reached;
  object["unreached"] = source.unreached;
  object["max_time"] = finite_or_null(source.max_time);
  object["solve_seconds"] = source.solve_seconds;
  object["converged"] = source.converged;
  object["residual"] = source.residual ? finite_or_null(source.residual->worst) : Json(nullptr);
  return object;
}

Traffic traffic_of(const SolveSummary& summary) { return summary.arrival.traffic.value_or(Traffic()); }

std::string_view split_name(const SolveSummary& summary) {
  if (traffic_of(summary).division == Division::sources) return "sources";
  return summary.corners == voxel_corners ? "image" : "mesh";
}

std::string text_of_ranks(const SolveSummary& summary) {
  const Traffic traffic = traffic_of(summary);
  if (traffic.division == Division::sources)
    return fmt::format("{}, the sources shared out between them", summary.ranks);
  const bool teams = traffic.parts < summary.ranks;
  std::string ranks = teams ? fmt::format("{} in {}", summary.ranks, counted(traffic.parts, "team", "teams"))
                            : std::to_string(summary.ranks);
  if (traffic.parts == 1) return ranks;
  return fmt::format(
      "{}, the {} shared out between them, {}, {:.1f} MB sent ({:.2f} times the least), idle for {:.2f} s", ranks,
      split_name(summary), counted(traffic.bands, "band", "bands"), static_cast<double>(traffic.bytes) / 1e6,
      traffic.bytes == 0 ? 1.0 : static_cast<double>(traffic.bytes) / static_cast<double>(traffic.halo_bytes),
      traffic.idle_seconds);
}

Json json_of(const SolveSummary& summary, const Console& console) {
  const Arrival& arrival = summary.arrival;
  Json object{{"mesh", summary.mesh.string()},
              {"written", file_names(summary.written)},
              {"vertices", summary.vertices},
              {"elements", summary.elements},
              {"element_kind", summary.corners == voxel_corners ? "voxel"
                               : summary.corners == 4           ? "tet"
                                                                : "triangle"},
              {"method", name_of(arrival.method)},
              {"backend", name_of(arrival.backend)},
              {"threads", arrival.threads},
              {"precision", name_of(arrival.precision)},
              {"setup_seconds", arrival.setup_seconds},
              {"solve_seconds", arrival.solve_seconds},
              {"transfer_seconds", arrival.transfer_seconds},
              {"read_seconds", summary.read_seconds},
              {"write_seconds", summary.write_seconds},
              {"solves_per_vertex", summary.solves_per_vertex},
              {"rounds", arrival.counters.rounds},
              {"reached", arrival.reached},
              {"unreached", arrival.unreached},
              {"unreached_parts", summary.unreached.parts},
              {"unreached_in_parts", summary.unreached.in_parts},
              {"unreached_in_no_element", summary.unreached.no_element},
              {"max_time", finite_or_null(arrival.max_time)},
              {"converged", arrival.converged},
              {"residual", nullptr},
              {"residual_limit", nullptr},
              {"peak_bytes", peak_resident_bytes()},
              {"notes", arrival.notes},
              {"warnings", console.warnings()}};
  if (arrival.residual) {
    object["residual"] = finite_or_null(arrival.residual->worst);
    object["residual_limit"] = arrival.residual->limit;
  }
  if (summary.corners == voxel_corners) {
    object["scheme"] = name_of(summary.scheme);
    object["order"] = summary.order;
    object["tensors"] = nullptr;
    if (summary.tensors)
      add_counts_json(object["tensors"] = Json::object(), *summary.tensors, summary.eigenvalue_floor);
  }
  if (summary.ranks > 0) {
    const Traffic traffic = traffic_of(summary);
    object["mpi"] = {
        {"ranks", summary.ranks},       {"parts", traffic.parts},           {"split", split_name(summary)},
        {"messages", traffic.messages}, {"bytes", traffic.bytes},           {"least_bytes", traffic.halo_bytes},
        {"bands", traffic.bands},       {"agreements", traffic.agreements}, {"idle_seconds", traffic.idle_seconds}};
    if (summary.max_vertices > 0) {
      object["mpi"]["most_vertices"] = summary.max_vertices;
      object["mpi"]["most_peak_bytes"] = summary.max_bytes;
    }
  }
  if (!summary.sources.empty()) {
    object["sources"] = Json::array();
    for (const SourceSummary& source : summary.sources) object["sources"].push_back(json_of(source));
  }
  return object;
}

std::string text_of(const DiffusionCounts& counts, double floor) {
  std::string text = fmt::format("{} used", grouped(counts.usable));
  if (counts.left_out() > 0)
    text += fmt::format(", {} left out ({} zero, {} not finite)", grouped(counts.left_out()), grouped(counts.empty),
                        grouped(counts.not_finite));
  if (counts.not_positive_definite > 0)
    text += fmt::format("; {} not positive definite: eigenvalues raised to {:g} of the median",
                        grouped(counts.not_positive_definite), floor);
  return text;
}

std::string text_of(const SolveSummary& summary) {
  const Arrival& arrival = summary.arrival;
  const bool image = summary.corners == voxel_corners;
  const auto points = [&](std::size_t n) {
    return image ? counted(n, "voxel", "voxels") : counted(n, "vertex", "vertices");
  };
  std::string text = fmt::format("{}: {}, {}\n", summary.mesh.string(), points(summary.vertices),
                                 image                  ? fmt::format("{} in the mask", grouped(summary.elements))
                                 : summary.corners == 4 ? counted(summary.elements, "tetrahedron", "tetrahedra")
                                                        : counted(summary.elements, "triangle", "triangles"));
  const auto row = [&](const char* key, const std::string& value) { text += fmt::format("  {:<12}{}\n", key, value); };
  row("method", fmt::format("{}, {}, {} precision", name_of(arrival.method),
                            counted(arrival.threads, "thread", "threads"), name_of(arrival.precision)));
  if (summary.ranks > 0) row("ranks", text_of_ranks(summary));
  if (!summary.sources.empty()) row("sources", fmt::format("{}, each on its own", grouped(summary.sources.size())));
  if (summary.tensors) row("tensors", text_of(*summary.tensors, summary.eigenvalue_floor));
  row("reached", arrival.unreached == 0 ? (image ? "all voxels" : "all vertices")
                                        : fmt::format("{}; {} unreached", points(arrival.reached),
                                                      counted(arrival.unreached, "stays", "stay")));
  if (arrival.reached > 0) row("last time", fmt::format("{:.6g}", arrival.max_time));
  row("work", fmt::format("{:.1f} local solves a {}, {}", summary.solves_per_vertex, image ? "voxel" : "vertex",
                          counted(arrival.counters.rounds, "round", "rounds")));
  if (arrival.residual) {
    row("residual", fmt::format("{:.2g} of an edge, limit {:.2g}: {}", arrival.residual->worst, arrival.residual->limit,
                                arrival.residual->passed() ? "passed" : "FAILED"));
  }
  if (!arrival.converged && !arrival.residual) row("converged", "NO");
  row("time", fmt::format("read {:.2f} s, set-up {:.2f} s, solve {:.2f} s, write {:.2f} s", summary.read_seconds,
                          arrival.setup_seconds, arrival.solve_seconds, summary.write_seconds));
  row("memory", fmt::format("{:.0f} MB at most", static_cast<double>(peak_resident_bytes()) / 1e6));
  for (const std::string& note : arrival.notes) row("note", note);
  if (!summary.written.empty()) row("wrote", fmt::format("{}", fmt::join(file_names(summary.written), ", ")));
  return text;
}

}  // namespace

void print_summary(const SolveSummary& summary, const Console& console) {
  if (console.options.json) print_json(json_of(summary, console), console);
  else console.say(text_of(summary));
}

}  // namespace isochron::cli
