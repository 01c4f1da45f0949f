// How rough a field of values by element is: what smoothing keeps small.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isochron/domain.h"
#include "isochron/invert.h"

namespace isochron {

/// Two elements that share a face (voxels: a side).
struct ElementPair {
  std::uint32_t a, b;
  double weight;  ///< area over distance: the sum of weight · difference² is the integral of the squared gradient
  double distance;
};

/// All pairs of elements that conduct, weights and volumes over their means.
struct ElementGraph {
  std::vector<ElementPair> pairs;
  std::vector<double> volumes;
};
template <int Corners>
ElementGraph element_graph(const SimplexMesh<Corners>& mesh, const Metric& metric);
ElementGraph element_graph(const MaskedGrid& image);

/// A penalty R(p) with R' = L p, where L may change with p (total variation).
class Roughness {
 public:
  Roughness(ElementGraph graph, Smoothing kind);

  [[nodiscard]] double value(std::span<const double> p) const;
  /// Makes L that of p.
  void take(std::span<const double> p);
  /// Adds scale · L p.
  void add_product(double scale, std::span<const double> p, std::span<double> result) const;
  /// The diagonal of L.
  [[nodiscard]] std::vector<double> diagonal() const;

 private:
  ElementGraph graph_;
  Smoothing kind_;
  std::vector<double> weights_;  ///< of the pairs, in L
};

}  // namespace isochron
