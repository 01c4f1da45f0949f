// Every way to solve one problem: schedules, precisions and thread counts of the CPU, and the GPU's with their options.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "isochron/solver.h"

namespace isochron::test {

/// Whose schedules a test runs.
enum class Where { cpu, cuda };
inline void PrintTo(Where where, std::ostream* out) { *out << (where == Where::cpu ? "cpu" : "cuda"); }

struct Way {
  Method method = Method::banded;
  Precision precision = Precision::double_;
  int threads = 1;
  PaperOptions paper = {};
  std::string detail = {};  ///< of the scheme
};

inline std::vector<Way> cpu_ways() {
  std::vector<Way> ways;
  for (const Precision precision : {Precision::double_, Precision::single_})
    for (const Method method :
         {Method::banded, Method::fim, Method::fmm, Method::fsm, Method::relabel_sync, Method::relabel_async})
      for (const int threads : {1, 2, 5})
        if (threads == 1 || method == Method::banded || method == Method::fim)
          ways.push_back({method, precision, threads});
  return ways;
}

/// On triangles or tetrahedra. Several patches and subdomains even on the small meshes of the tests.
inline std::vector<Way> device_ways(int corners) {
  std::vector<Way> ways;
  const auto add = [&](Way way, const char* detail) {
    way.detail = detail;
    for (const Precision precision : {Precision::single_, Precision::double_}) {
      way.precision = precision;
      ways.push_back(way);
    }
  };
  add({.method = Method::push}, "");
  Way patch{.method = Method::patch_fim};
  patch.paper.layout = PatchLayout::one_ring_strip;
  add(patch, "one-ring-strip");
  patch.paper.layout = PatchLayout::cell_assembly;
  add(patch, "cell-assembly");
  Way list{.method = Method::active_list};
  add(list, "gray-code");
  list.paper.storage = ElementStorage::products;
  if (corners == 4) add(list, "products");  // a triangle has none to store
  Way parts{.method = Method::domain_decomposition};
  parts.paper.subdomains = 5;
  add(parts, "one-block");
  parts.paper.subdomain_blocks = SubdomainBlocks::several;
  add(parts, "several-blocks");
  return ways;
}

/// Those that take virtual elements, where these are asked for: `push` has no virtual tetrahedra.
inline std::vector<Way> ways_on(Where where, int corners, ObtuseSplit obtuse = ObtuseSplit::automatic) {
  std::vector<Way> ways = where == Where::cpu ? cpu_ways() : device_ways(corners);
  if (corners == 4 && obtuse == ObtuseSplit::split)
    std::erase_if(ways, [](const Way& way) { return way.method == Method::push; });
  return ways;
}

/// Whether a way takes a metric: one-ring strips are for isotropic ones.
inline bool takes(const Way& way, const Metric& metric) {
  return way.method != Method::patch_fim || way.paper.layout != PatchLayout::one_ring_strip || metric.isotropic();
}

inline SolveOptions options_for(const Way& way) {
  SolveOptions options;
  options.method = way.method;
  options.precision = way.precision;
  options.threads = way.threads;
  options.backend = way.threads > 1 ? Backend::threads : Backend::serial;
  for (const Way& device_way : device_ways(4))
    if (way.method == device_way.method) options.backend = Backend::cuda;
  options.paper = way.paper;
  options.unordered = Unordered::hand_over;
  options.verify = Keep::yes;
  return options;
}

inline std::string name_of(const Way& way) {
  std::string name(isochron::name_of(way.method));
  if (!way.detail.empty()) name.append("-").append(way.detail);
  name.append("-").append(isochron::name_of(way.precision));
  if (way.threads > 1) name.append("-").append(std::to_string(way.threads)).append("-threads");
  return name;
}

inline void PrintTo(const Way& way, std::ostream* out) { *out << name_of(way); }

}  // namespace isochron::test
