#include "isochron/solve/simplex/obtuse_split.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "isochron/core/dual.h"
#include "isochron/core/parallel.h"
#include "isochron/core/stop.h"
#include "isochron/error.h"
#include "isochron/local/simplex_update.h"
#include "isochron/solve/simplex/obtuse_unfold.h"

namespace isochron {
namespace {

constexpr double rounding = 1e-9;

/// What both splitters read. Lengths are computed afresh in double, in internal units.
template <class T, int Corners>
class SplitInput {
 public:
  static constexpr int edges = SimplexMesh<Corners>::edges;
  using Face = std::array<std::uint32_t, Corners - 1>;  // vertices, internal
  using Lengths = std::array<double, edges>;

  SplitInput(const SimplexProblem<T, Corners>& problem, const SimplexMesh<Corners>& mesh, const Metric& metric,
             const SplitLimits& limits)
      : problem_(problem), mesh_(mesh), metric_(metric), limits_(limits), scale_(1 / (problem.unit * problem.unit)) {}

  [[nodiscard]] const SimplexProblem<T, Corners>& problem() const { return problem_; }
  [[nodiscard]] const SplitLimits& limits() const { return limits_; }
  [[nodiscard]] const auto& record(std::uint32_t i) const { return problem_.elements[i]; }
  [[nodiscard]] Vec3d point(std::uint32_t v) const { return mesh_.point(problem_.user(v)); }
  [[nodiscard]] bool one_metric() const { return std::holds_alternative<UniformMetric>(metric_.kind()); }
  [[nodiscard]] SymTensor3d tensor(std::uint32_t i) const { return scale_ * metric_.tensor(problem_.user_element(i)); }
  [[nodiscard]] Lengths lengths(std::uint32_t i) const {
    Lengths result = squared_lengths(mesh_, metric_, problem_.user_element(i));
    for (double& l : result) l *= scale_;
    return result;
  }
  [[nodiscard]] int corner_of(std::uint32_t i, std::uint32_t vertex) const {
    for (int c = 0; c < Corners; ++c)
      if (record(i).vertex(c) == vertex) return c;
    return -1;
  }

  /// The one element that shares the face with element i; none at the boundary and where more than two meet.
  [[nodiscard]] Behind behind(const Face& face, std::uint32_t i) const {
    Behind found;
    const auto fewer = [&](std::uint32_t a, std::uint32_t b) {
      return problem_.adjacency.valence(VertexId(a)) < problem_.adjacency.valence(VertexId(b));
    };
    for (const std::uint32_t incidence :
         problem_.adjacency.at(VertexId(*std::min_element(face.begin(), face.end(), fewer)))) {
      const std::uint32_t other = incidence >> 2;
      if (other == i) continue;
      if (!std::all_of(face.begin(), face.end(), [&](std::uint32_t v) { return corner_of(other, v) >= 0; })) continue;
      if (found.apex >= 0) return {};
      found = Behind{other, 0};
    }
    if (found.apex < 0) return found;
    const auto in_face = [&](int c) {
      return std::find(face.begin(), face.end(), record(found.element).vertex(c)) != face.end();
    };
    while (found.apex < Corners && in_face(found.apex)) ++found.apex;
    return found.apex < Corners ? found : Behind{};
  }

 private:
  const SimplexProblem<T, Corners>& problem_;
  const SimplexMesh<Corners>& mesh_;
  const Metric& metric_;
  const SplitLimits& limits_;
  double scale_;
};

/// What `TriangleUnfolder` reads. It asks for the lengths of one triangle at a time, so these are kept.
template <class T>
class TriangleInput {
 public:
  explicit TriangleInput(const SplitInput<T, 3>& input) : input_(input) {}

  [[nodiscard]] std::uint32_t vertex(std::uint32_t i, int c) const { return input_.record(i).vertex(c); }
  [[nodiscard]] double length(std::uint32_t i, int a, int b) const {
    if (i != known_) lengths_ = input_.lengths(known_ = i);
    return lengths_[edge_index(a, b)];
  }
  [[nodiscard]] Behind behind(std::uint32_t a, std::uint32_t b, std::uint32_t i) const {
    return input_.behind({a, b}, i);
  }

 private:
  const SplitInput<T, 3>& input_;
  mutable std::uint32_t known_ = VertexId::invalid_value;
  mutable std::array<double, 3> lengths_{};
};

/// The same with the lengths as variables, in the order in which their triangles are asked for.
template <class T>
class VariableTriangles {
 public:
  static constexpr int most = max_unfolds + 1;
  using Length = Dual<3 * most>;

  explicit VariableTriangles(const SplitInput<T, 3>& input) : input_(input) {}

  [[nodiscard]] std::uint32_t vertex(std::uint32_t i, int c) const { return input_.record(i).vertex(c); }
  [[nodiscard]] Length length(std::uint32_t i, int a, int b) const {
    const int edge = edge_index(a, b);
    return Length::variable(input_.lengths(i)[edge], 3 * place_of(i) + edge);
  }
  [[nodiscard]] Behind behind(std::uint32_t a, std::uint32_t b, std::uint32_t i) const {
    return input_.behind({a, b}, i);
  }

  void restart() { triangles_.clear(); }
  [[nodiscard]] const std::vector<std::uint32_t>& triangles() const { return triangles_; }

 private:
  int place_of(std::uint32_t i) const {
    const auto found = std::find(triangles_.begin(), triangles_.end(), i);
    const auto place = static_cast<int>(found - triangles_.begin());
    if (found == triangles_.end()) triangles_.push_back(i);
    return place;
  }

  const SplitInput<T, 3>& input_;
  mutable std::vector<std::uint32_t> triangles_;
};

template <class T>
class TriangleSplitter {
 public:
  TriangleSplitter(const SplitInput<T, 3>& input, std::vector<VirtualRecord<T, 3>>& out)
      : input_(input), unfolder_(input_, input.limits().metric_contrast), out_(out) {}

  void split(std::uint32_t i, int t) {
    unfolder_.split(i, t, [&](const VirtualTriangle& v) {
      out_.push_back(
          {input_.vertex(i, t), {v.a, v.b}, {static_cast<T>(v.ab), static_cast<T>(v.ax), static_cast<T>(v.bx)}});
    });
  }

 private:
  TriangleInput<T> input_;
  TriangleUnfolder<TriangleInput<T>> unfolder_;
  std::vector<VirtualRecord<T, 3>>& out_;
};

/// Joins an obtuse corner with the apex behind its opposite face: three virtual tetrahedra, split again where obtuse.
template <class T>
class TetSplitter {
 public:
  TetSplitter(const SplitInput<T, 4>& input, std::vector<VirtualRecord<T, 4>>& out) : input_(input), out_(out) {}

  void split(std::uint32_t i, int t) {
    const auto l = input_.lengths(i);
    const int a = (t + 1) & 3, b = (t + 2) & 3, c = (t + 3) & 3;
    const auto& record = input_.record(i);
    target_ = record.vertex(t);
    crossed_.clear();
    const Cone cone{{record.vertex(a), record.vertex(b), record.vertex(c)},
                    {l[edge_index(a, t)], l[edge_index(b, t)], l[edge_index(c, t)]},
                    {l[edge_index(a, b)], l[edge_index(a, c)], l[edge_index(b, c)]},
                    i};
    divide(cone);
  }

 private:
  /// The corner with a face it sees and the element in front of that face. Squared lengths; `far` is 01, 02, 12.
  struct Cone {
    std::array<std::uint32_t, 3> face;
    std::array<double, 3> near, far;
    std::uint32_t record;
  };
  struct Crossed {
    std::array<std::uint32_t, 3> face;
    std::uint32_t front;
  };

  static bool obtuse(const Cone& c) {
    const auto wide = [&](int i, int j) {
      return c.near[i] + c.near[j] - c.far[i + j - 1] < -rounding * (c.near[i] + c.near[j]);
    };
    return wide(0, 1) || wide(0, 2) || wide(1, 2);
  }

  /// True when the cone was replaced by what it emitted.
  bool divide(const Cone& cone) {
    if (static_cast<int>(crossed_.size()) >= input_.limits().tet_levels || !obtuse(cone)) return false;
    const Behind next = input_.behind(cone.face, cone.record);
    if (next.apex < 0) return false;
    const std::uint32_t apex = input_.record(next.element).vertex(next.apex);
    const Vec3d to_apex = input_.point(apex) - input_.point(target_);
    if (!crossing(to_apex, cone.face, true)) return false;
    const auto l = input_.lengths(next.element);
    std::array<int, 3> c;
    for (int k = 0; k < 3; ++k) c[k] = input_.corner_of(next.element, cone.face[k]);
    for (int i = 0; i < 3; ++i)
      for (int j = i + 1; j < 3; ++j)
        if (!alike(cone.far[i + j - 1], l[edge_index(c[i], c[j])], input_.limits().metric_contrast)) return false;

    crossed_.push_back({cone.face, cone.record});
    const double path = path_length(to_apex, next.element);
    for (int skip = 0; skip < 3; ++skip) {
      const int i = skip == 0 ? 1 : 0, j = skip == 2 ? 1 : 2;
      const Cone part{{cone.face[i], cone.face[j], apex},
                      {cone.near[i], cone.near[j], path * path},
                      {l[edge_index(c[i], c[j])], l[edge_index(c[i], next.apex)], l[edge_index(c[j], next.apex)]},
                      next.element};
      if (!divide(part)) emit(part);
    }
    crossed_.pop_back();
    return true;
  }

  /// From the corner to those of a face.
  [[nodiscard]] std::array<Vec3d, 3> to_corners(const std::array<std::uint32_t, 3>& face) const {
    std::array<Vec3d, 3> p;
    for (int k = 0; k < 3; ++k) p[k] = input_.point(face[k]) - input_.point(target_);
    return p;
  }

  /// Where the segment `d` from the corner meets a face, as a share of it. With `within`, only strictly inside.
  [[nodiscard]] std::optional<double> crossing(const Vec3d& d, const std::array<std::uint32_t, 3>& face,
                                               bool within) const {
    const std::array<Vec3d, 3> p = to_corners(face);
    // d as a combination of the three corners: all parts positive when it points into the cone over the face.
    std::array<double, 3> part;
    const double volume = dot(p[0], cross(p[1], p[2]));
    for (int k = 0; k < 3; ++k) part[k] = dot(d, cross(p[(k + 1) % 3], p[(k + 2) % 3])) / volume;
    const double sum = part[0] + part[1] + part[2];
    if (within && !(sum > 1 && std::min({part[0], part[1], part[2]}) > rounding * sum)) return std::nullopt;
    return 1 / sum;
  }

  /// The straight path `d` from the corner to a place in the element `last`, piece by piece.
  [[nodiscard]] double path_length(const Vec3d& d, std::uint32_t last) const {
    double sum = 0, before = 0;
    for (const Crossed& face : crossed_) {
      const double share = std::clamp(*crossing(d, face.face, false), before, 1.0);
      sum += (share - before) * std::sqrt(squared_length(input_.tensor(face.front), d));
      before = share;
    }
    return sum + (1 - before) * std::sqrt(squared_length(input_.tensor(last), d));
  }

  /// Lengths summed in different metrics need not be those of any tetrahedron, and an update through one that cannot
  /// exist is not monotone.
  static bool exists(const Cone& c) {
    constexpr double margin = 1e-6;
    const detail::FaceGram<double> f(c.far[0], c.far[1], c.far[2]);
    const double g1 = 0.5 * (f.f11 + c.near[2] - c.near[0]), g2 = 0.5 * (f.f22 + c.near[2] - c.near[1]);
    const double foot = g1 * g1 * f.f22 - 2 * g1 * g2 * f.f12 + g2 * g2 * f.f11;
    return f.det > margin * f.f11 * f.f22 && c.near[2] * f.det - foot > margin * c.near[2] * f.det;
  }

  /// Where the metric changes, the face may have to be smaller than it is, so that the paths through the virtual
  /// tetrahedron are not clearly shorter than those through the elements it stands for; this is seen to at the middles
  /// of the face and of its edges.
  void shrink_face(Cone& c) const {
    const std::array<Vec3d, 3> p = to_corners(c.face);
    const auto squared_path = [&](const Vec3d& d) {
      const double path = path_length(d, c.record);
      return squared_shortcut * path * path;
    };
    for (int i = 0; i < 3; ++i)
      for (int j = i + 1; j < 3; ++j)
        c.far[i + j - 1] =
            std::min(c.far[i + j - 1], 2 * (c.near[i] + c.near[j]) - 4 * squared_path(0.5 * (p[i] + p[j])));
    const double corners = (c.near[0] + c.near[1] + c.near[2]) / 3, face = (c.far[0] + c.far[1] + c.far[2]) / 9;
    const double factor = (corners - squared_path((1.0 / 3) * (p[0] + p[1] + p[2]))) / face;
    if (factor < 1)
      for (double& length : c.far) length *= factor;
  }

  void emit(Cone c) {
    if (!input_.one_metric()) shrink_face(c);
    if (!exists(c)) return;
    out_.push_back({target_,
                    c.face,
                    {static_cast<T>(c.far[0]), static_cast<T>(c.far[1]), static_cast<T>(c.far[2]),
                     static_cast<T>(c.near[0]), static_cast<T>(c.near[1]), static_cast<T>(c.near[2])}});
  }

  const SplitInput<T, 4>& input_;
  std::vector<VirtualRecord<T, 4>>& out_;
  std::uint32_t target_ = 0;
  std::vector<Crossed> crossed_;
};

/// Turns (key, value) pairs into compressed lists; `each(call)` calls `call(key, value)` for all of them, twice.
template <class Each>
void compress(std::size_t keys, Each&& each, std::vector<std::uint32_t>& offsets, std::vector<std::uint32_t>& list) {
  offsets.assign(keys + 1, 0);
  each([&](std::uint32_t key, std::uint32_t) { ++offsets[key + 1]; });
  for (std::size_t k = 0; k < keys; ++k) offsets[k + 1] += offsets[k];
  list.resize(offsets.back());
  std::vector<std::uint32_t> next(offsets.begin(), offsets.end() - 1);
  each([&](std::uint32_t key, std::uint32_t value) { list[next[key]++] = value; });
}

}  // namespace

template <class T, int Corners>
VirtualElements<T, Corners> index_virtual_elements(std::vector<VirtualRecord<T, Corners>> records,
                                                   std::size_t vertex_count) {
  VirtualElements<T, Corners> result;
  if (records.empty()) return result;
  const auto count = static_cast<std::uint32_t>(records.size());
  compress(
      vertex_count,
      [&](auto&& call) {
        for (std::uint32_t i = 0; i < count; ++i) call(records[i].target, i);
      },
      result.target_offsets, result.target_list);
  compress(
      vertex_count,
      [&](auto&& call) {
        for (std::uint32_t i = 0; i < count; ++i)
          for (std::uint32_t k = 0; k + 1 < Corners; ++k) call(records[i].face[k], i * 4 + k);
      },
      result.face_offsets, result.face_list);
  result.records = std::move(records);
  return result;
}

template <class T, int Corners>
VirtualElements<T, Corners> split_obtuse(const SimplexProblem<T, Corners>& problem, const SimplexMesh<Corners>& mesh,
                                         const Metric& metric, const SplitLimits& limits, int threads) {
  using Splitter = std::conditional_t<Corners == 4, TetSplitter<T>, TriangleSplitter<T>>;
  const SplitInput<T, Corners> input(problem, mesh, metric, limits);
  std::vector<std::vector<VirtualRecord<T, Corners>>> parts(static_cast<std::size_t>(std::max(1, threads)));
  const StoppableLoop loop;
  parallel_region(threads, [&](int thread, int team) {
    Splitter splitter(input, parts[thread]);
    const std::size_t count = problem.elements.size();
    loop(count * thread / team, count * (thread + 1) / team, [&](std::size_t i) {
      for (int c = 0; c < Corners; ++c)
        if (!problem.elements[i].acute(c)) splitter.split(static_cast<std::uint32_t>(i), c);
    });
  });
  for (std::size_t k = 1; k < parts.size(); ++k) parts[0].insert(parts[0].end(), parts[k].begin(), parts[k].end());
  return index_virtual_elements(std::move(parts[0]), problem.vertex_count);
}

template <class T>
std::vector<LengthChange> changes_of_virtual(const SimplexProblem<T, 3>& problem, const TriangleMesh& mesh,
                                             const Metric& metric, const VirtualRecord<T, 3>& record) {
  const SplitLimits limits;
  const SplitInput<T, 3> input(problem, mesh, metric, limits);
  VariableTriangles<T> variables(input);
  using Length = typename VariableTriangles<T>::Length;
  TriangleUnfolder<VariableTriangles<T>, Length> unfolder(variables, limits.metric_contrast);
  std::vector<LengthChange> result;
  // The corner that it comes from is not kept: it is one of those at the target, the one with the nearest lengths.
  double least = std::numeric_limits<double>::infinity();
  for (const std::uint32_t incidence : problem.adjacency.at(VertexId(record.target))) {
    const std::uint32_t i = incidence >> 2;
    const int corner = Adjacency::corner_of(incidence);
    if (problem.elements[i].acute(corner)) continue;
    variables.restart();
    unfolder.split(i, corner, [&](const VirtualTriangleOf<Length>& v) {
      const std::array<const Length*, 3> lengths{&v.ab, &v.ax, &v.bx};
      if (v.a != record.face[0] || v.b != record.face[1]) return;
      double difference = 0;
      for (std::size_t k = 0; k < 3; ++k)
        difference += std::abs(lengths[k]->value - static_cast<double>(record.length[k]));
      if (!(difference < least)) return;
      least = difference;
      result.clear();
      for (std::size_t t = 0; t < variables.triangles().size(); ++t) {
        LengthChange change{variables.triangles()[t], {}};
        for (std::size_t k = 0; k < 3; ++k)
          for (std::size_t edge = 0; edge < 3; ++edge) change.by[k][edge] = lengths[k]->by[3 * t + edge];
        result.push_back(change);
      }
    });
  }
  if (result.empty()) throw RuntimeError("a virtual triangle stands for no triangle");
  return result;
}

template std::vector<LengthChange> changes_of_virtual(const SimplexProblem<float, 3>&, const TriangleMesh&,
                                                      const Metric&, const VirtualRecord<float, 3>&);
template std::vector<LengthChange> changes_of_virtual(const SimplexProblem<double, 3>&, const TriangleMesh&,
                                                      const Metric&, const VirtualRecord<double, 3>&);
template VirtualElements<float, 3> index_virtual_elements(std::vector<VirtualRecord<float, 3>>, std::size_t);
template VirtualElements<float, 4> index_virtual_elements(std::vector<VirtualRecord<float, 4>>, std::size_t);
template VirtualElements<double, 3> index_virtual_elements(std::vector<VirtualRecord<double, 3>>, std::size_t);
template VirtualElements<double, 4> index_virtual_elements(std::vector<VirtualRecord<double, 4>>, std::size_t);
template VirtualElements<float, 3> split_obtuse(const SimplexProblem<float, 3>&, const SimplexMesh<3>&, const Metric&,
                                                const SplitLimits&, int);
template VirtualElements<float, 4> split_obtuse(const SimplexProblem<float, 4>&, const SimplexMesh<4>&, const Metric&,
                                                const SplitLimits&, int);
template VirtualElements<double, 3> split_obtuse(const SimplexProblem<double, 3>&, const SimplexMesh<3>&, const Metric&,
                                                 const SplitLimits&, int);
template VirtualElements<double, 4> split_obtuse(const SimplexProblem<double, 4>&, const SimplexMesh<4>&, const Metric&,
                                                 const SplitLimits&, int);

}  // namespace isochron
