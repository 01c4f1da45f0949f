#include "isochron/invert/roughness.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace isochron {
namespace {

/// Differences of logarithms that total variation takes for a jump, and that it rounds off.
constexpr double jump = 0.05, corner = 0.005;

template <int Corners>
double size_of(const SimplexMesh<Corners>& mesh, std::span<const VertexId> corners) {
  const auto edge = [&](std::size_t k) { return mesh.point(corners[k]) - mesh.point(corners[0]); };
  if (corners.size() == 2) return norm(edge(1));
  if (corners.size() == 3) return norm(cross(edge(1), edge(2))) / 2;
  return std::abs(dot(edge(1), cross(edge(2), edge(3)))) / 6;
}

template <int Corners>
Vec3d middle_of(const SimplexMesh<Corners>& mesh, std::uint32_t e) {
  Vec3d sum{};
  for (const VertexId v : mesh.elements[e]) sum += mesh.point(v);
  return sum / static_cast<double>(Corners);
}

/// Over their mean, so that no unit matters. Elements without size get none.
void divide_by_mean(std::span<double* const> values) {
  double sum = 0;
  std::size_t count = 0;
  for (const double* value : values)
    if (*value > 0) sum += *value, ++count;
  if (!(sum > 0)) return;
  const double mean = sum / static_cast<double>(count);
  for (double* value : values) *value /= mean;
}

void normalise(ElementGraph& graph) {
  std::vector<double*> values;
  for (ElementPair& pair : graph.pairs) values.push_back(&pair.weight);
  divide_by_mean(values);
  values.clear();
  for (ElementPair& pair : graph.pairs) values.push_back(&pair.distance);
  divide_by_mean(values);
  values.clear();
  for (double& volume : graph.volumes) values.push_back(&volume);
  divide_by_mean(values);
}

}  // namespace

template <int Corners>
ElementGraph element_graph(const SimplexMesh<Corners>& mesh, const Metric& metric) {
  struct Facet {
    std::array<VertexId, Corners - 1> corners;
    std::uint32_t element;
    bool operator<(const Facet& other) const {
      return std::pair(corners, element) < std::pair(other.corners, other.element);
    }
  };
  ElementGraph graph;
  graph.volumes.assign(mesh.element_count(), 0.0);
  std::vector<Facet> facets;
  for (std::size_t e = 0; e < mesh.element_count(); ++e) {
    if (!metric.conducts(ElementId(e))) continue;
    const auto& corners = mesh.elements[e];
    graph.volumes[e] = size_of(mesh, std::span<const VertexId>(corners));
    for (int without = 0; without < Corners; ++without) {
      Facet facet{{}, static_cast<std::uint32_t>(e)};
      for (int k = 0; k + 1 < Corners; ++k) facet.corners[k] = corners[k < without ? k : k + 1];
      std::sort(facet.corners.begin(), facet.corners.end());
      facets.push_back(facet);
    }
  }
  std::sort(facets.begin(), facets.end());
  for (std::size_t k = 0; k + 1 < facets.size(); ++k) {
    const Facet &first = facets[k], &second = facets[k + 1];
    if (first.corners != second.corners) continue;
    const double distance = norm(middle_of(mesh, second.element) - middle_of(mesh, first.element));
    const double area = size_of(mesh, std::span<const VertexId>(first.corners));
    if (distance > 0 && area > 0) graph.pairs.push_back({first.element, second.element, area / distance, distance});
  }
  normalise(graph);
  return graph;
}

template ElementGraph element_graph(const TriangleMesh&, const Metric&);
template ElementGraph element_graph(const TetMesh&, const Metric&);

ElementGraph element_graph(const MaskedGrid& image) {
  const ImageGrid& grid = *image.grid;
  const auto open = [&](VertexId v) { return image.mask.empty() || image.mask[v.index()] != 0; };
  ElementGraph graph;
  graph.volumes.assign(grid.voxel_count(), 1.0);
  for (std::size_t v = 0; v < grid.voxel_count(); ++v) {
    if (!open(VertexId(v))) continue;
    const auto at = grid.index(VertexId(v));
    for (int k = 0; k < 3; ++k) {
      if (at[k] + 1 >= grid.shape[k]) continue;
      auto next = at;
      ++next[k];
      const VertexId other = grid.voxel(next[0], next[1], next[2]);
      const double step = grid.spacing(k) / grid.spacing(0);
      if (open(other)) graph.pairs.push_back({static_cast<std::uint32_t>(v), other.value, 1 / (step * step), step});
    }
  }
  normalise(graph);
  return graph;
}

Roughness::Roughness(ElementGraph graph, Smoothing kind) : graph_(std::move(graph)), kind_(kind) {
  for (const ElementPair& pair : graph_.pairs) weights_.push_back(pair.weight);
}

double Roughness::value(std::span<const double> p) const {
  double sum = 0;
  if (kind_ == Smoothing::total_variation) {
    for (const ElementPair& pair : graph_.pairs) {
      const double difference = p[pair.b] - p[pair.a];
      sum += pair.weight * pair.distance * jump * (std::sqrt(difference * difference + corner * corner) - corner);
    }
    return sum;
  }
  std::vector<double> product(p.size(), 0.0);
  add_product(1, p, product);
  for (std::size_t e = 0; e < p.size(); ++e) sum += p[e] * product[e];
  return sum / 2;
}

void Roughness::take(std::span<const double> p) {
  if (kind_ != Smoothing::total_variation) return;
  for (std::size_t k = 0; k < weights_.size(); ++k) {
    const ElementPair& pair = graph_.pairs[k];
    const double difference = p[pair.b] - p[pair.a];
    weights_[k] = pair.weight * pair.distance * jump / std::sqrt(difference * difference + corner * corner);
  }
}

void Roughness::add_product(double scale, std::span<const double> p, std::span<double> result) const {
  const auto add_differences = [&](double factor, std::span<const double> from, std::span<double> to) {
    for (std::size_t k = 0; k < weights_.size(); ++k) {
      const auto [a, b, weight, distance] = graph_.pairs[k];
      const double flow = factor * weights_[k] * (from[b] - from[a]);
      to[a] -= flow;
      to[b] += flow;
    }
  };
  if (kind_ != Smoothing::curvature) return add_differences(scale, p, result);
  std::vector<double> curvature(p.size(), 0.0);
  add_differences(1, p, curvature);
  for (std::size_t e = 0; e < p.size(); ++e)
    curvature[e] = graph_.volumes[e] > 0 ? curvature[e] / graph_.volumes[e] : 0;
  add_differences(scale, curvature, result);
}

std::vector<double> Roughness::diagonal() const {
  const std::size_t count = graph_.volumes.size();
  std::vector<double> result(count, 0.0);
  for (std::size_t k = 0; k < weights_.size(); ++k) {
    result[graph_.pairs[k].a] += weights_[k];
    result[graph_.pairs[k].b] += weights_[k];
  }
  if (kind_ != Smoothing::curvature) return result;
  const auto share = [&](std::uint32_t e, double value) {
    return graph_.volumes[e] > 0 ? value / graph_.volumes[e] : 0;
  };
  std::vector<double> squares(count, 0.0);
  for (std::size_t e = 0; e < count; ++e) squares[e] = share(static_cast<std::uint32_t>(e), result[e] * result[e]);
  for (std::size_t k = 0; k < weights_.size(); ++k) {
    const auto [a, b, weight, distance] = graph_.pairs[k];
    squares[a] += share(b, weights_[k] * weights_[k]);
    squares[b] += share(a, weights_[k] * weights_[k]);
  }
  return squares;
}

}  // namespace isochron
