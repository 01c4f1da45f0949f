#include "isochron/solve/simplex/obtuse_split.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "isochron/core/dual.h"
#include "isochron/core/parallel.h"
#include "isochron/core/stop.h"
#include "isochron/error.h"
#include "isochron/mesh/visibility.h"
#include "isochron/solve/simplex/obtuse_cones.h"
#include "isochron/solve/simplex/obtuse_unfold.h"

namespace isochron {
namespace {

double value_of(double x) { return x; }
template <int N>
double value_of(const Dual<N>& x) {
  return x.value;
}

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
  [[nodiscard]] std::uint32_t vertex(std::uint32_t i, int c) const { return record(i).vertex(c); }
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

  [[nodiscard]] std::uint32_t vertex(std::uint32_t i, int c) const { return input_.vertex(i, c); }
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

  [[nodiscard]] std::uint32_t vertex(std::uint32_t i, int c) const { return input_.vertex(i, c); }
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

template <class T>
class TetSplitter {
 public:
  TetSplitter(const SplitInput<T, 4>& input, std::vector<VirtualRecord<T, 4>>& out)
      : input_(input), splitter_(input_, input.limits().tet_levels, input.limits().metric_contrast), out_(out) {}

  void split(std::uint32_t i, int t) {
    splitter_.split(i, t, [&](const ConeOf<double>& c) {
      out_.push_back({input_.vertex(i, t),
                      c.face,
                      {static_cast<T>(c.far[0]), static_cast<T>(c.far[1]), static_cast<T>(c.far[2]),
                       static_cast<T>(c.near[0]), static_cast<T>(c.near[1]), static_cast<T>(c.near[2])}});
    });
  }

 private:
  const SplitInput<T, 4>& input_;
  ConeSplitter<SplitInput<T, 4>> splitter_;
  std::vector<VirtualRecord<T, 4>>& out_;
};

template <class T, int Corners>
using Splitter = std::conditional_t<Corners == 4, TetSplitter<T>, TriangleSplitter<T>>;

/// Tensors and points as variables, in the order in which they are asked for.
template <class T>
class VariableTets {
  static constexpr int most_elements = 5, most_vertices = 8;  // of a corner: behind it one, behind that three

 public:
  using Real = Dual<6 * most_elements + 3 * most_vertices>;

  explicit VariableTets(const SplitInput<T, 4>& input) : input_(input) {}

  [[nodiscard]] std::uint32_t vertex(std::uint32_t i, int c) const { return input_.vertex(i, c); }
  [[nodiscard]] int corner_of(std::uint32_t i, std::uint32_t v) const { return input_.corner_of(i, v); }
  [[nodiscard]] Behind behind(const std::array<std::uint32_t, 3>& face, std::uint32_t i) const {
    return input_.behind(face, i);
  }
  [[nodiscard]] bool one_metric() const { return input_.one_metric(); }
  [[nodiscard]] Vec3<Real> point(std::uint32_t v) const {
    const Vec3d p = input_.point(v);
    const int first = 6 * most_elements + 3 * place_of(v, vertices_, most_vertices);
    return {Real::variable(p.x, first), Real::variable(p.y, first + 1), Real::variable(p.z, first + 2)};
  }
  [[nodiscard]] SymTensor3<Real> tensor(std::uint32_t i) const {
    const SymTensor3d m = input_.tensor(i);
    const int first = 6 * place_of(i, elements_, most_elements);
    return {Real::variable(m.xx, first),     Real::variable(m.xy, first + 1), Real::variable(m.xz, first + 2),
            Real::variable(m.yy, first + 3), Real::variable(m.yz, first + 4), Real::variable(m.zz, first + 5)};
  }
  [[nodiscard]] std::array<Real, 6> lengths(std::uint32_t i) const {
    constexpr auto pairs = edge_corners<4>();
    const SymTensor3<Real> m = tensor(i);
    std::array<Real, 6> result;
    for (std::size_t k = 0; k < 6; ++k)
      result[k] = squared_length(m, point(vertex(i, pairs[k][1])) - point(vertex(i, pairs[k][0])));
    return result;
  }

  /// The derivative of a value by what it was computed from; that by tensors as in `InputValues::metric`.
  [[nodiscard]] VirtualGradient gradient(const Real& value) const {
    VirtualGradient result;
    const double* by = value.by.data();
    for (std::size_t k = 0; k < elements_.size(); ++k, by += 6)
      result.elements.emplace_back(elements_[k],
                                   SymTensor3d{by[0], 0.5 * by[1], 0.5 * by[2], by[3], 0.5 * by[4], by[5]});
    by = value.by.data() + std::size_t{6} * most_elements;
    for (std::size_t k = 0; k < vertices_.size(); ++k, by += 3)
      result.vertices.emplace_back(vertices_[k], Vec3d{by[0], by[1], by[2]});
    return result;
  }

 private:
  static int place_of(std::uint32_t id, std::vector<std::uint32_t>& known, int most) {
    const auto found = std::find(known.begin(), known.end(), id);
    const auto place = static_cast<int>(found - known.begin());
    if (found != known.end()) return place;
    if (place == most) throw RuntimeError("a virtual tetrahedron stands for more tetrahedra than there can be");
    known.push_back(id);
    return place;
  }

  const SplitInput<T, 4>& input_;
  mutable std::vector<std::uint32_t> elements_, vertices_;
};

/// How far a virtual tetrahedron is from a record of it; infinite where it is another one.
template <class T, class Real>
double distance_to(const VirtualRecord<T, 4>& record, const ConeOf<Real>& cone) {
  if (cone.face != record.face) return std::numeric_limits<double>::infinity();
  double sum = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    const Real far = cone.far[k] - static_cast<double>(record.length[k]);
    const Real near = cone.near[k] - static_cast<double>(record.length[k + 3]);
    sum += value_of(far < 0 ? -far : far) + value_of(near < 0 ? -near : near);
  }
  return sum;
}

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
  const SplitInput<T, Corners> input(problem, mesh, metric, limits);
  std::vector<std::vector<VirtualRecord<T, Corners>>> parts(static_cast<std::size_t>(std::max(1, threads)));
  const StoppableLoop loop;
  parallel_region(threads, [&](int thread, int team) {
    Splitter<T, Corners> splitter(input, parts[thread]);
    const std::size_t count = problem.elements.size();
    loop(count * thread / team, count * (thread + 1) / team, [&](std::size_t i) {
      for (int c = 0; c < Corners; ++c)
        if (!problem.elements[i].acute(c)) splitter.split(static_cast<std::uint32_t>(i), c);
    });
  });
  for (std::size_t k = 1; k < parts.size(); ++k) parts[0].insert(parts[0].end(), parts[k].begin(), parts[k].end());
  return index_virtual_elements(std::move(parts[0]), problem.vertex_count);
}

template <class T, int Corners>
void split_again(SimplexProblem<T, Corners>& problem, const SimplexMesh<Corners>& mesh, const Metric& metric,
                 std::span<const std::uint32_t> targets, const SplitLimits& limits) {
  std::vector<std::uint8_t> again(problem.vertex_count, 0);
  for (const std::uint32_t v : targets) again[v] = 1;
  std::vector<VirtualRecord<T, Corners>> records = std::move(problem.virtual_elements.records);
  std::erase_if(records, [&](const auto& record) { return again[record.target] != 0; });
  const SplitInput<T, Corners> input(problem, mesh, metric, limits);
  Splitter<T, Corners> splitter(input, records);
  const StoppableLoop loop;
  loop(0, targets.size(), [&](std::size_t k) {
    for (const std::uint32_t incidence : problem.adjacency.at(VertexId(targets[k])))
      if (const int c = Adjacency::corner_of(incidence); !problem.elements[incidence >> 2].acute(c))
        splitter.split(incidence >> 2, c);
  });
  problem.virtual_elements = index_virtual_elements(std::move(records), problem.vertex_count);
}

template <int Corners>
std::vector<ElementId> elements_split_by(const SimplexMesh<Corners>& mesh, const Adjacency& adjacency,
                                         std::span<const ElementId> elements, const SplitLimits& limits) {
  const int steps = Corners == 3 ? max_unfolds : limits.tet_levels;
  std::vector<std::uint8_t> found(mesh.element_count(), 0);
  std::vector<ElementId> result;
  const auto add = [&](ElementId e) {
    if (found[e.index()] == 0) result.push_back(e);
    found[e.index()] = 1;
  };
  for (const ElementId e : elements) add(e);
  std::size_t begin = 0;  // of the last step's elements
  for (int step = 0; step < steps; ++step)
    for (const std::size_t end = result.size(); begin < end; ++begin)
      for_face_neighbours(mesh, adjacency, ElementId(result[begin]), [&](ElementId neighbour, int) { add(neighbour); });
  return result;
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

template <class T>
VirtualGradient gradient_of_virtual(const SimplexProblem<T, 4>& problem, const TetMesh& mesh, const Metric& metric,
                                    const VirtualRecord<T, 4>& record, const std::array<double, 6>& by_length) {
  const SplitLimits limits;
  const SplitInput<T, 4> input(problem, mesh, metric, limits);
  // The corner that it comes from is not kept: it is one of those at the target, the one with the nearest lengths.
  ConeSplitter<SplitInput<T, 4>> splitter(input, limits.tet_levels, limits.metric_contrast);
  double least = std::numeric_limits<double>::infinity();
  std::uint32_t nearest = 0;
  for (const std::uint32_t incidence : problem.adjacency.at(VertexId(record.target))) {
    if (problem.elements[incidence >> 2].acute(Adjacency::corner_of(incidence))) continue;
    splitter.split(incidence >> 2, Adjacency::corner_of(incidence), [&](const ConeOf<double>& cone) {
      const double distance = distance_to(record, cone);
      if (distance < least) least = distance, nearest = incidence;
    });
  }
  if (!(least < std::numeric_limits<double>::infinity()))
    throw RuntimeError("a virtual tetrahedron stands for no tetrahedron");
  const VariableTets<T> variables(input);
  using Real = typename VariableTets<T>::Real;
  Real sum(0);
  least = std::numeric_limits<double>::infinity();
  ConeSplitter<VariableTets<T>, Real>(variables, limits.tet_levels, limits.metric_contrast)
      .split(nearest >> 2, Adjacency::corner_of(nearest), [&](const ConeOf<Real>& cone) {
        const double distance = distance_to(record, cone);
        if (!(distance < least)) return;
        least = distance;
        sum = Real(0);
        for (std::size_t k = 0; k < 3; ++k) sum += by_length[k] * cone.far[k] + by_length[k + 3] * cone.near[k];
      });
  if (!(least < std::numeric_limits<double>::infinity()))
    throw RuntimeError("a virtual tetrahedron stands for no tetrahedron");
  VirtualGradient result = variables.gradient(sum);
  for (auto& [element, by_tensor] : result.elements) by_tensor = (1 / (problem.unit * problem.unit)) * by_tensor;
  return result;
}

template void split_again(SimplexProblem<float, 3>&, const SimplexMesh<3>&, const Metric&,
                          std::span<const std::uint32_t>, const SplitLimits&);
template void split_again(SimplexProblem<float, 4>&, const SimplexMesh<4>&, const Metric&,
                          std::span<const std::uint32_t>, const SplitLimits&);
template void split_again(SimplexProblem<double, 3>&, const SimplexMesh<3>&, const Metric&,
                          std::span<const std::uint32_t>, const SplitLimits&);
template void split_again(SimplexProblem<double, 4>&, const SimplexMesh<4>&, const Metric&,
                          std::span<const std::uint32_t>, const SplitLimits&);
template std::vector<ElementId> elements_split_by(const SimplexMesh<3>&, const Adjacency&, std::span<const ElementId>,
                                                  const SplitLimits&);
template std::vector<ElementId> elements_split_by(const SimplexMesh<4>&, const Adjacency&, std::span<const ElementId>,
                                                  const SplitLimits&);
template VirtualGradient gradient_of_virtual(const SimplexProblem<float, 4>&, const TetMesh&, const Metric&,
                                             const VirtualRecord<float, 4>&, const std::array<double, 6>&);
template VirtualGradient gradient_of_virtual(const SimplexProblem<double, 4>&, const TetMesh&, const Metric&,
                                             const VirtualRecord<double, 4>&, const std::array<double, 6>&);
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
