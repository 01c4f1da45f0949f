#include "isochron/path.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace isochron {

Sources sources_by_label(const DataArray& label, const std::vector<double>& times) {
  std::map<double, VertexId> first;
  for (std::size_t v = 0; v < times.size(); ++v) {
    if (!(label.at(v) >= 0) || !std::isfinite(times[v])) continue;
    const auto [found, fresh] = first.try_emplace(label.at(v), v);
    if (!fresh && times[v] < times[found->second.index()]) found->second = VertexId(v);
  }
  Sources sources;
  for (const auto& [name, v] : first) sources.vertices.push_back({v, times[v.index()]});
  return sources;
}

template <int Corners>
Sources sources_at_minima(const SimplexMesh<Corners>& mesh, const std::vector<double>& times) {
  std::vector<bool> minimum(times.size(), false);
  for (const auto& e : mesh.elements)
    for (const VertexId v : e) minimum[v.index()] = std::isfinite(times[v.index()]);
  for (const auto& e : mesh.elements)
    for (const VertexId v : e)
      for (const VertexId w : e)
        if (times[w.index()] < times[v.index()]) minimum[v.index()] = false;
  Sources sources;
  for (std::size_t v = 0; v < times.size(); ++v)
    if (minimum[v]) sources.vertices.push_back({VertexId(v), times[v]});
  return sources;
}

Sources sources_at_minima(const ImageGrid& grid, const std::vector<double>& times) {
  const auto is_minimum = [&](VertexId v) {
    const auto at = grid.index(v);
    const auto first = [&](int k) { return at[k] - (at[k] > 0 ? 1U : 0U); };
    const auto last = [&](int k) { return std::min(at[k] + 1, grid.shape[k] - 1); };
    for (std::uint32_t z = first(2); z <= last(2); ++z)
      for (std::uint32_t y = first(1); y <= last(1); ++y)
        for (std::uint32_t x = first(0); x <= last(0); ++x)
          if (times[grid.voxel(x, y, z).index()] < times[v.index()]) return false;
    return true;
  };
  Sources sources;
  for (std::size_t v = 0; v < times.size(); ++v)
    if (std::isfinite(times[v]) && is_minimum(VertexId(v))) sources.vertices.push_back({VertexId(v), times[v]});
  return sources;
}

template Sources sources_at_minima(const TriangleMesh&, const std::vector<double>&);
template Sources sources_at_minima(const TetMesh&, const std::vector<double>&);

}  // namespace isochron
