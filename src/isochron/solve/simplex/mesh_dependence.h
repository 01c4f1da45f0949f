// How the times at the vertices of a mesh depend on each other and on the metric.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "isochron/adjoint/rows.h"
#include "isochron/adjoint/shape_gradients.h"
#include "isochron/core/parallel.h"
#include "isochron/core/stop.h"
#include "isochron/mesh/closest_point.h"
#include "isochron/solve/common/start.h"
#include "isochron/solve/simplex/obtuse_split.h"
#include "isochron/solve/simplex/relax.h"

namespace isochron {

/// Writes how each vertex's time depends on others, from the times as they are (a row of `DependenceRows`). Of a front
/// that comes from the point Σ λ_k x_k of a face along p = x − Σ λ_k x_k, du = Σ λ_k du_k + pᵀ dM p / 2|p|: λ makes the
/// time least, so that its own change does not count. Of paths of equal time it takes the one through the element with
/// the smallest id.
template <class T, int Corners>
class MeshDependence {
  using Relax = Relaxer<T, Corners, PlainTimes<T>>;
  using Problem = SimplexProblem<T, Corners>;

 public:
  MeshDependence(const Problem& problem, const SimplexMesh<Corners>& mesh, const Metric& metric, const Relax& relax)
      : problem_(problem), mesh_(mesh), metric_(metric), relax_(relax) {}

  /// Element ids are those of the mesh.
  void add_row(std::uint32_t v, DependenceRows& rows) const {
    const Path path = find_path(v);
    if (path.virtual_record != none) return add_virtual_row(path, rows);
    Vec3d p = point(v);
    for (int k = 0; k < Corners - 1; ++k) {
      if (!(path.weight[k] > 0)) continue;
      rows.add_node(path.face[k], path.weight[k]);
      p = p - path.weight[k] * point(path.face[k]);
    }
    if (path.element != none) {
      const double time = std::sqrt(squared_length(metric_.tensor(ElementId(path.element)), p));
      rows.add_term(path.element, time > 0 ? SymTensor3d::outer(p, 0.5 / time) : SymTensor3d{});
    }
    rows.end_row();
  }

 private:
  static constexpr std::uint32_t none = VertexId::invalid_value;
  static constexpr T inf = std::numeric_limits<T>::infinity();

  struct Path {
    T time = inf;
    std::array<std::uint32_t, Corners - 1> face{};
    std::array<double, Corners - 1> weight{};
    std::uint32_t element = none;         ///< of the mesh, or …
    std::uint32_t virtual_record = none;  ///< … a virtual one of the problem
  };

  [[nodiscard]] Vec3d point(std::uint32_t v) const { return mesh_.point(problem_.user(v)); }

  /// What differs by less is taken for equal.
  static constexpr T rounding = 8 * std::numeric_limits<T>::epsilon();

  [[nodiscard]] Path find_path(std::uint32_t v) const {
    Path best;
    const T now = relax_.times().load(v);
    const auto keep = [&](const auto& candidate, const auto& face, std::uint32_t element, std::uint32_t record) {
      const T slack = rounding * std::abs(best.time);
      const bool equal = best.time < inf && std::abs(candidate.time - best.time) <= slack;
      if (equal ? element >= best.element : !(candidate.time < best.time)) return;
      best = {candidate.time, face, {}, element, record};
      for (int k = 0; k < Corners - 1; ++k) best.weight[k] = static_cast<double>(candidate.weight[k]);
    };
    // Nothing comes from a face without a corner that is earlier than the vertex.
    const auto earlier = [&](const auto& face) {
      return std::any_of(face.begin(), face.end(), [&](std::uint32_t c) { return relax_.times().load(c) < now; });
    };
    const std::uint32_t first = problem_.adjacency.offsets[v], last = problem_.adjacency.offsets[v + 1];
    for (std::uint32_t i = first; i < last; ++i) {
      const std::uint32_t incidence = problem_.adjacency.incidences[i];
      const std::uint32_t element = problem_.user_element(incidence >> 2).value;
      if constexpr (Corners == 4) {
        const auto& record = problem_.elements[incidence >> 2];
        const TetView& w = tet_views[Adjacency::corner_of(incidence)];
        const std::array<std::uint32_t, 3> face{record.vertex(w.a), record.vertex(w.b), record.vertex(w.c)};
        if (earlier(face)) keep(relax_.tet_candidate(record, w), face, element, none);
      } else {
        const StarRecord<T>& star = problem_.stars[i];
        const std::array<std::uint32_t, 2> face{star.a(), star.b()};
        if (earlier(face)) keep(relax_.triangle_candidate(star), face, element, none);
      }
    }
    const auto& extra = problem_.virtual_elements;
    if (!extra.empty())
      for (std::uint32_t i = extra.target_offsets[v]; i < extra.target_offsets[v + 1]; ++i) {
        const auto& record = extra.records[extra.target_list[i]];
        if (earlier(record.face)) keep(relax_.candidate(record), record.face, none, extra.target_list[i]);
      }
    return best;
  }

  /// Through a virtual element, whose squared lengths depend on the elements it stands for.
  void add_virtual_row(const Path& path, DependenceRows& rows) const {
    const auto& record = problem_.virtual_elements.records[path.virtual_record];
    for (int k = 0; k < Corners - 1; ++k) rows.add_node(path.face[k], path.weight[k]);
    if constexpr (Corners == 3) add_virtual_triangle(path, record, rows);
    else add_virtual_tet(path, record, rows);
    rows.end_row();
  }

  void add_virtual_triangle(const Path& path, const VirtualRecord<T, 3>& record, DependenceRows& rows) const
      requires(Corners == 3) {
    const double a = path.weight[0], b = path.weight[1];
    const double ab = record.length[0], ax = record.length[1], bx = record.length[2];
    const double squared = a * ax + b * bx - a * b * ab;
    const double half = squared > 0 ? 0.5 / std::sqrt(squared) : 0;
    const std::array<double, 3> by_length{-a * b * half, a * half, b * half};
    for (const LengthChange& change : changes_of_virtual(problem_, mesh_, metric_, record)) {
      const ElementId e = problem_.user_element(change.triangle);
      constexpr auto pairs = edge_corners<3>();
      SymTensor3d by_metric{};
      for (std::size_t edge = 0; edge < 3; ++edge) {
        double share = 0;
        for (std::size_t k = 0; k < 3; ++k) share += by_length[k] * change.by[k][edge];
        const auto& corners = mesh_.element(e);
        const Vec3d along = mesh_.point(corners[pairs[edge][1]]) - mesh_.point(corners[pairs[edge][0]]);
        by_metric = by_metric + SymTensor3d::outer(along, share / problem_.unit);
      }
      rows.add_term(e.value, by_metric);
    }
  }

  /// A path that crosses a face between two metrics also changes with the place where it does so.
  void add_virtual_tet(const Path& path, const VirtualRecord<T, 4>& record, DependenceRows& rows) const
      requires(Corners == 4) {
    const auto& w = path.weight;
    const auto& l = record.length;
    const double squared =
        w[0] * l[3] + w[1] * l[4] + w[2] * l[5] - w[0] * w[1] * l[0] - w[0] * w[2] * l[1] - w[1] * w[2] * l[2];
    const double half = squared > 0 ? 0.5 * problem_.unit / std::sqrt(squared) : 0;
    VirtualGradient gradient = gradient_of_virtual(
        problem_, mesh_, metric_, record,
        {-w[0] * w[1] * half, -w[0] * w[2] * half, -w[1] * w[2] * half, w[0] * half, w[1] * half, w[2] * half});
    for (const auto& [element, by_metric] : gradient.elements) {
      const ElementId e = problem_.user_element(element);
      rows.add_term(e.value, by_metric);
      if (const auto shape = shape_gradients(corner_points(mesh_, e))) {
        const SymTensor3d m = metric_.tensor(e);
        for (auto& [vertex, by_position] : gradient.vertices)
          for (int k = 0; k < 4; ++k)
            if (mesh_.element(e)[k] == problem_.user(vertex)) by_position -= 2.0 * (m * (by_metric * (*shape)[k]));
      }
    }
    if (std::holds_alternative<UniformMetric>(metric_.kind())) return;
    for (const auto& [vertex, by_position] : gradient.vertices)
      rows.add_place(problem_.user(vertex).value, by_position);
  }

  const Problem& problem_;
  const SimplexMesh<Corners>& mesh_;
  const Metric& metric_;
  const Relax& relax_;
};

}  // namespace isochron
