#include "isochron/parts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "isochron/comm/collectives.h"
#include "isochron/dist/ghost_values.h"
#include "isochron/mesh.h"

namespace isochron {

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
std::vector<T> on_first(Communicator& communicator, const std::vector<T>& values) {
  std::vector<std::vector<T>> to(communicator.ranks());
  to[0] = values;
  std::vector<T> all;
  for (const auto& list : exchange_values(communicator, to)) all.insert(all.end(), list.begin(), list.end());
  return all;
}

/// Counts what is left of pieces of the whole that ranks have parts of, on the first rank.
void add_pieces(Communicator& communicator, const std::vector<Link>& links, const std::vector<Component>& own,
                Unreached& result) {
  Labels labels;
  for (const Link& link : on_first(communicator, links)) labels.join(link.a, link.b);
  std::map<std::uint64_t, Component> whole;
  for (const Component& here : on_first(communicator, own)) {
    const std::uint64_t root = labels.root(here.label);
    Component& all = whole.try_emplace(root, Component{root, 0, 0}).first->second;
    all.unreached += here.unreached;
    all.started |= here.started;
  }
  for (const auto& [root, all] : whole) {
    if (all.started != 0) continue;
    ++result.parts;
    result.in_parts += all.unreached;
  }
}

/// Calls `visit(first, voxel)` for the voxels that may be entered and were not, piece by piece as faces join them.
template <class Visit>
void for_unreached(const ImageGrid& grid, std::span<const std::uint8_t> mask, std::span<const double> times,
                   Visit&& visit) {
  const auto left = [&](std::size_t v) { return (mask.empty() || mask[v] != 0) && !std::isfinite(times[v]); };
  std::vector<std::uint8_t> seen(times.size(), 0);
  std::vector<std::size_t> piece;
  for (std::size_t start = 0; start < times.size(); ++start) {
    if (seen[start] != 0 || !left(start)) continue;
    piece.assign(1, start);
    seen[start] = 1;
    while (!piece.empty()) {
      const VertexId voxel(piece.back());
      piece.pop_back();
      visit(start, voxel.index());
      const auto at = grid.index(voxel);
      for (std::size_t axis = 0; axis < 3; ++axis)
        for (const int side : {-1, 1}) {
          auto beside = at;
          beside[axis] += static_cast<std::uint32_t>(side);
          if (beside[axis] >= grid.shape[axis]) continue;  // below 0 it wraps to a large number
          const std::size_t v = grid.voxel(beside[0], beside[1], beside[2]).index();
          if (seen[v] != 0 || !left(v)) continue;
          seen[v] = 1;
          piece.push_back(v);
        }
    }
  }
}

std::size_t masked_out(std::span<const std::uint8_t> mask) {
  return static_cast<std::size_t>(std::count(mask.begin(), mask.end(), 0));
}

}  // namespace

Unreached unreached_voxels(const ImageGrid& grid, std::span<const std::uint8_t> mask, std::span<const double> times) {
  Unreached result;
  result.no_element = masked_out(mask);
  for_unreached(grid, mask, times, [&](std::size_t first, std::size_t voxel) {
    ++result.in_parts;
    if (voxel == first) ++result.parts;
  });
  return result;
}

Unreached explain_unreached(Communicator& communicator, const ImagePart& part, std::span<const std::uint8_t> allowed,
                            std::span<const double> times) {
  // A piece is known by its first voxel on this rank, with the numbers of all ranks one after the other.
  const std::uint64_t before = sum_before(communicator, times.size());
  std::vector<std::int64_t> label(times.size(), -1);
  std::map<std::uint64_t, Component> components;
  for_unreached(part.image.grid, allowed, times, [&](std::size_t first, std::size_t voxel) {
    label[voxel] = static_cast<std::int64_t>(before + first);
    ++components.try_emplace(before + first, Component{before + first, 0, 0}).first->second.unreached;
  });
  std::vector<IndexBox> wider = part.boxes;
  for (IndexBox& box : wider)  // by the next layer of voxels, where there is one
    for (int d = 0; d < 3 && !box.empty(); ++d)
      box.high[d] = std::min<std::uint64_t>(box.high[d] + 1, part.whole.shape[d]);
  const IndexBox &own = part.boxes[communicator.index()], &wide = wider[communicator.index()];
  std::vector<BoxData> boxes(1);
  boxes[0].box = own;
  boxes[0].data.set({"label", 1, std::move(label)});
  DataArrays kinds;
  kinds.set({"label", 1, std::vector<std::int64_t>()});
  const DataArrays moved = move_boxes(communicator, std::move(boxes), wider, kinds).data;
  const auto& labels = std::get<std::vector<std::int64_t>>(moved.all()[0].values);
  std::set<std::pair<std::uint64_t, std::uint64_t>> pairs;
  for (int axis = 0; axis < 3; ++axis) {
    if (wide.high[axis] == own.high[axis]) continue;
    IndexBox last = own;
    last.low[axis] = own.high[axis] - 1;
    for_each_index(last, [&](LatticeIndex at) {
      const std::int64_t here = labels[wide.offset(at)];
      ++at[axis];
      const std::int64_t behind = labels[wide.offset(at)];
      if (here >= 0 && behind >= 0) pairs.emplace(here, behind);
    });
  }
  std::vector<Link> links;
  links.reserve(pairs.size());
  for (const auto& [a, b] : pairs) links.push_back({a, b});
  std::vector<Component> found;
  found.reserve(components.size());
  for (const auto& [known_by, here] : components) found.push_back(here);
  Unreached result;
  result.no_element = sum_of_all(communicator, masked_out(allowed));
  add_pieces(communicator, links, found, result);
  return result;
}

template <int Corners>
Unreached explain_unreached(Communicator& communicator, const MeshPart<Corners>& part, std::span<const double> times) {
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
  const auto owners = ghost_values(communicator, part, std::span<const std::uint64_t>(label).first(part.owned));
  std::set<std::pair<std::uint64_t, std::uint64_t>> pairs;
  for (std::size_t i = 0; i < owners.size(); ++i) pairs.emplace(label[part.owned + i], owners[i]);
  std::vector<Link> links;
  links.reserve(pairs.size());
  for (const auto& [a, b] : pairs) links.push_back({a, b});
  std::vector<Component> own;
  own.reserve(components.size());
  for (const auto& [known_by, here] : components) own.push_back(here);

  Unreached result;
  result.no_element = sum_of_all(communicator, no_element);
  add_pieces(communicator, links, own, result);
  return result;
}

template Unreached explain_unreached(Communicator&, const MeshPart<3>&, std::span<const double>);
template Unreached explain_unreached(Communicator&, const MeshPart<4>&, std::span<const double>);
template Unreached explain_unreached<3>(const SimplexMesh<3>&, const std::vector<double>&);
template Unreached explain_unreached<4>(const SimplexMesh<4>&, const std::vector<double>&);

}  // namespace isochron
