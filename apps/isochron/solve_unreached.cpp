// Why vertices were not reached: a part without a source, or no element at all.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "apps/isochron/solve_parts.h"
#include "isochron/mesh/part_ghosts.h"
#include "isochron/mesh/validate.h"

namespace isochron::cli {

template <int Corners>
Unreached explain_unreached(const SimplexMesh<Corners>& mesh, const std::vector<double>& times) {
  const std::vector<VertexId> part = parts_of(mesh);
  std::vector<bool> started(part.size(), false);  // by the part's smallest vertex
  for (std::size_t v = 0; v < part.size(); ++v)
    if (part[v].valid() && std::isfinite(times[v])) started[part[v].index()] = true;
  Unreached result;
  for (std::size_t v = 0; v < part.size(); ++v) {
    if (!part[v].valid()) {
      ++result.no_element;
    } else if (!started[part[v].index()]) {
      ++result.in_parts;
      if (part[v] == VertexId(v)) ++result.parts;
    }
  }
  return result;
}

namespace {

/// A connected piece of a part: a vertex of it that all ranks know it by, and what the rank has of it.
struct Component {
  std::uint64_t label;
  std::uint64_t unreached;  ///< own vertices
  std::uint64_t started;    ///< 1 when a vertex was reached
};
/// Two labels of the same piece of the mesh.
struct Link {
  std::uint64_t a, b;
};

class Labels {
 public:
  std::uint64_t root(std::uint64_t label) {
    std::uint64_t up = label;
    for (auto at = parent_.find(up); at != parent_.end(); at = parent_.find(up)) up = at->second;
    while (label != up) label = std::exchange(parent_[label], up);
    return up;
  }
  void join(std::uint64_t a, std::uint64_t b) {
    if ((a = root(a)) != (b = root(b))) parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::unordered_map<std::uint64_t, std::uint64_t> parent_;
};

template <class T>
std::vector<T> on_first(Exchange& exchange, const std::vector<T>& values) {
  std::vector<std::vector<T>> to(exchange.ranks());
  to[0] = values;
  std::vector<T> all;
  for (const auto& list : exchange_values(exchange, to)) all.insert(all.end(), list.begin(), list.end());
  return all;
}

}  // namespace

template <int Corners>
Unreached explain_unreached(Exchange& exchange, const MeshPart<Corners>& part, std::span<const double> times) {
  constexpr std::uint64_t in_no_element = ~std::uint64_t{0};
  const std::vector<VertexId> component = parts_of(part.mesh);
  std::vector<std::uint64_t> label(component.size(), in_no_element);
  std::map<std::uint64_t, Component> components;
  std::uint64_t no_element = 0;
  for (std::size_t v = 0; v < label.size(); ++v) {
    if (component[v].valid()) label[v] = part.global_vertex[component[v].index()];
    if (v < part.owned && label[v] == in_no_element) ++no_element;
    if (label[v] == in_no_element) continue;
    Component& here = components.try_emplace(label[v], Component{label[v], 0, 0}).first->second;
    if (std::isfinite(times[v])) here.started = 1;
    else if (v < part.owned) ++here.unreached;
  }
  const auto owners = ghost_values(exchange, part, std::span<const std::uint64_t>(label).first(part.owned));
  std::set<std::pair<std::uint64_t, std::uint64_t>> pairs;
  for (std::size_t i = 0; i < owners.size(); ++i) pairs.emplace(label[part.owned + i], owners[i]);
  std::vector<Link> links;
  links.reserve(pairs.size());
  for (const auto& [a, b] : pairs) links.push_back({a, b});
  std::vector<Component> own;
  own.reserve(components.size());
  for (const auto& [known_by, here] : components) own.push_back(here);

  Labels labels;
  for (const Link& link : on_first(exchange, links)) labels.join(link.a, link.b);
  std::map<std::uint64_t, Component> whole;
  for (const Component& here : on_first(exchange, own)) {
    const std::uint64_t root = labels.root(here.label);
    Component& all = whole.try_emplace(root, Component{root, 0, 0}).first->second;
    all.unreached += here.unreached;
    all.started |= here.started;
  }
  Unreached result;
  result.no_element = sum_of_all(exchange, no_element);
  for (const auto& [root, all] : whole) {
    if (all.started != 0) continue;
    ++result.parts;
    result.in_parts += all.unreached;
  }
  return result;
}

template Unreached explain_unreached(Exchange&, const MeshPart<3>&, std::span<const double>);
template Unreached explain_unreached(Exchange&, const MeshPart<4>&, std::span<const double>);
template Unreached explain_unreached<3>(const SimplexMesh<3>&, const std::vector<double>&);
template Unreached explain_unreached<4>(const SimplexMesh<4>&, const std::vector<double>&);

}  // namespace isochron::cli
