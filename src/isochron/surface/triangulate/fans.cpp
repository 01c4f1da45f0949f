#include "isochron/surface/triangulate/fans.h"

#include <algorithm>

namespace isochron {

Fans::Fans(std::span<const DelaunayFacet> facets, std::size_t id_count)
    : facets_(facets), start_(id_count + 1), list_(3 * facets.size()) {
  for (const DelaunayFacet& facet : facets)
    for (const VertexId v : facet.corners) ++start_[v.index() + 1];
  for (std::size_t i = 0; i < id_count; ++i) start_[i + 1] += start_[i];
  std::vector<std::uint32_t> next(start_.begin(), start_.end() - 1);
  for (std::size_t f = 0; f < facets.size(); ++f)
    for (const VertexId v : facets[f].corners) list_[next[v.index()]++] = static_cast<std::uint32_t>(f);
}

Fans::Fault Fans::fault(VertexId v) const {
  Fault worst = Fault::none;
  if (at(v).empty()) return worst;
  std::vector<int> labels;
  for (const std::uint32_t f : at(v))
    for (const int label : facets_[f].labels)
      if (std::find(labels.begin(), labels.end(), label) == labels.end()) labels.push_back(label);
  // With two materials the border of one is that of the other.
  if (labels.size() == 2) labels.pop_back();
  for (const int label : labels) worst = std::max(worst, fault_of(v, label));
  return worst;
}

Fans::Fault Fans::fault_of(VertexId v, int label) const {
  struct Spoke {
    VertexId to;
    std::uint32_t facet;
  };
  std::vector<Spoke> spokes;
  std::size_t facets = 0;
  for (const std::uint32_t f : at(v)) {
    if (facets_[f].labels[0] != label && facets_[f].labels[1] != label) continue;
    ++facets;
    for (const VertexId to : facets_[f].corners)
      if (to != v) spokes.push_back({to, f});
  }
  std::sort(spokes.begin(), spokes.end(),
            [](Spoke a, Spoke b) { return a.to < b.to || (a.to == b.to && a.facet < b.facet); });
  for (std::size_t i = 0; i < spokes.size(); i += 2) {
    const bool pair = i + 1 < spokes.size() && spokes[i].to == spokes[i + 1].to;
    if (!pair || (i + 2 < spokes.size() && spokes[i].to == spokes[i + 2].to)) return Fault::edge;
  }
  // Every spoke has two facets, so a walk from one to the next returns to where it began.
  std::size_t seen = 0, at = 0;
  do {
    const std::uint32_t across = spokes[at ^ 1].facet;
    std::size_t next = 0;
    while (spokes[next].facet != across || next == (at ^ 1)) ++next;
    at = next;
    ++seen;
  } while (at != 0);
  return seen == facets ? Fault::none : Fault::point;
}

}  // namespace isochron
