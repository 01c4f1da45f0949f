#include "differential/fixed_point.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <queue>
#include <utility>

#include "isochron/metric/conducting.h"
#include "isochron/solve/grid/grid_seeds.h"
#include "isochron/solve/simplex/obtuse_split.h"
#include "isochron/solve/simplex/seeds.h"
#include "local/simplex_reference.h"

namespace isochron::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double double_epsilon = std::numeric_limits<double>::epsilon();

/// A time that a rule gives its target, and the share of each vertex in it.
struct Candidate {
  double time = infinity;
  double since = 0;  ///< the earliest of the times it comes from
  std::array<FixedPoint::Share, 6> share{};
  std::uint32_t count = 0;
};

// What is solved is a list of rules: a rule gives a time to its target from the times of the vertices that it reads.

/// An element as one of its corners sees it.
template <int Corners>
struct FaceRule {
  static constexpr int n = Corners - 1;
  std::uint32_t target = 0;
  std::array<std::uint32_t, n> face{};
  std::array<Vec3d, n> corner{};  ///< from the target, where the metric is the identity
  double longest = 0;             ///< edge
  double inexact = 0;             ///< what rounding of the lengths in double can change a time by

  template <class Visit>
  void each_read(Visit&& visit) const {
    for (const std::uint32_t v : face) visit(v);
  }
  [[nodiscard]] Candidate candidate(const std::vector<double>& times) const {
    std::array<double, n> u;
    for (int i = 0; i < n; ++i) u[i] = times[face[i]];
    const auto earliest = FaceMinimum<n, double>(corner, u).earliest();
    Candidate result{earliest.time};
    for (int i = 0; i < n; ++i)
      if (earliest.weights[i] > 0) result.share[result.count++] = {face[i], earliest.weights[i]};
    return result;
  }
  /// The times through each corner alone: where one is earlier than it should be, the minimum can move there.
  template <class Visit>
  void each_alternative(const std::vector<double>& times, Visit&& visit) const {
    for (int i = 0; i < n; ++i)
      if (times[face[i]] < infinity) visit(Candidate{times[face[i]] + norm(corner[i]), 0, {{{face[i], 1}}}, 1});
  }
  /// Where the target is nearly in the face, its height is the root of a difference that is lost in rounding.
  [[nodiscard]] double rounding(const Candidate&) const { return 4 * longest; }
  /// The point of a short edge that is nearest to a far target is the quotient of a difference of two long ones.
  [[nodiscard]] double linear_rounding(const Candidate&) const {
    if constexpr (n == 3) return 0;
    const double length = norm(corner[1] - corner[0]);
    return length > 0 ? 4 * longest * longest / length : 0;
  }
  [[nodiscard]] double fixed_rounding(const Candidate&) const { return inexact; }
};

/// Upwind differences of a voxel: Σ weight max(0, u − m)² = 1, with m the earlier of two neighbours. With one term it
/// is a step from a neighbour.
struct StencilRule {
  struct Term {
    double weight = 0;
    std::array<std::int64_t, 2> neighbour{-1, -1};  ///< −1: none
  };
  std::uint32_t target = 0;
  std::vector<Term> terms;
  double inexact = 0;  ///< share of the time since the earliest neighbour

  template <class Visit>
  void each_read(Visit&& visit) const {
    for (const Term& term : terms)
      for (const std::int64_t v : term.neighbour)
        if (v >= 0) visit(static_cast<std::uint32_t>(v));
  }
  /// The time is found by halving: the sum grows with it.
  [[nodiscard]] Candidate candidate(const std::vector<double>& times) const {
    struct Known {
      double time, weight;
      std::uint32_t vertex;
    };
    std::array<Known, 6> known{};
    std::size_t count = 0;
    double low = infinity, high = infinity;
    for (const Term& term : terms) {
      Known earlier{infinity, term.weight, 0};
      for (const std::int64_t v : term.neighbour)
        if (v >= 0 && times[static_cast<std::size_t>(v)] < earlier.time)
          earlier = {times[static_cast<std::size_t>(v)], term.weight, static_cast<std::uint32_t>(v)};
      if (!(earlier.time < infinity)) continue;
      known[count++] = earlier;
      low = std::min(low, earlier.time);
      high = std::min(high, earlier.time + 1 / std::sqrt(term.weight));
    }
    if (count == 0) return {};
    Candidate result{high, low};
    const auto sum_at = [&](double u) {
      double sum = 0;
      for (std::size_t i = 0; i < count; ++i)
        if (const double d = u - known[i].time; d > 0) sum += known[i].weight * d * d;
      return sum;
    };
    for (int halving = 0; halving < 60 && count > 1; ++halving) {
      const double middle = low + 0.5 * (high - low);
      if (!(middle > low && middle < high)) break;
      (sum_at(middle) < 1 ? low : high) = middle;
    }
    result.time = high;
    double total = 0;
    for (std::size_t i = 0; i < count; ++i)
      if (const double d = high - known[i].time; d > 0) {
        result.share[result.count++] = {known[i].vertex, known[i].weight * d};
        total += known[i].weight * d;
      }
    for (std::uint32_t i = 0; i < result.count; ++i) result.share[i].weight /= total;
    return result;
  }
  template <class Visit>
  void each_alternative(const std::vector<double>&, Visit&&) const {}
  [[nodiscard]] static double rounding(const Candidate& from) { return 4 * (from.time - from.since); }
  [[nodiscard]] static double linear_rounding(const Candidate&) { return 0; }
  [[nodiscard]] double fixed_rounding(const Candidate& from) const { return inexact * (from.time - from.since); }
};

template <class Rule>
struct Problem {
  std::vector<Rule> rules;
  std::vector<double> edge;  ///< local edge time of each vertex
  std::vector<Seed> seeds;
};

/// Earliest first; a vertex is processed again when its time falls.
template <class Rule>
class Solution {
 public:
  explicit Solution(const Problem<Rule>& problem) : problem_(problem), times_(problem.edge.size(), infinity) {
    first_reader_.assign(times_.size() + 1, 0);
    for (const Rule& rule : problem.rules) rule.each_read([&](std::uint32_t v) { ++first_reader_[v + 1]; });
    for (std::size_t v = 0; v < times_.size(); ++v) first_reader_[v + 1] += first_reader_[v];
    readers_.resize(first_reader_.back());
    std::vector<std::uint32_t> next(first_reader_.begin(), first_reader_.end() - 1);
    for (std::uint32_t r = 0; r < problem.rules.size(); ++r)
      problem.rules[r].each_read([&](std::uint32_t v) { readers_[next[v]++] = r; });
  }

  /// False when it takes too long.
  bool run() {
    for (const Seed& seed : problem_.seeds) lower(static_cast<std::uint32_t>(seed.vertex.index()), seed.time);
    std::size_t left = 2000 + 200 * times_.size();
    while (!queue_.empty()) {
      const auto [time, v] = queue_.top();
      queue_.pop();
      if (time > times_[v]) continue;
      if (left-- == 0) return false;
      for (std::uint32_t k = first_reader_[v]; k < first_reader_[v + 1]; ++k) {
        const Rule& rule = problem_.rules[readers_[k]];
        const double found = rule.candidate(times_).time;
        if (std::isnan(found)) return false;
        const double now = times_[rule.target];
        const double least =
            now < infinity ? 1e-13 * problem_.edge[rule.target] + 4 * double_epsilon * std::abs(now) : 0;
        if (found < now - least) lower(rule.target, found);
      }
    }
    return true;
  }

  FixedPoint take() {
    FixedPoint result;
    result.base = infinity;
    for (const Seed& seed : problem_.seeds) {
      const auto v = static_cast<std::uint32_t>(seed.vertex.index());
      result.dependences.push_back({v, seed.time - times_[v], 0, 0, 0, 0, 0});
      result.base = std::min(result.base, seed.time);
    }
    std::vector<std::pair<std::uint32_t, Candidate>> found;  // by rule
    for (std::uint32_t r = 0; r < problem_.rules.size(); ++r) {
      const Candidate c = problem_.rules[r].candidate(times_);
      if (!(c.time < infinity)) continue;
      found.emplace_back(r, c);
      problem_.rules[r].each_alternative(times_, [&](const Candidate& other) { found.emplace_back(r, other); });
    }
    std::sort(found.begin(), found.end(), [&](const auto& a, const auto& b) {
      return times_[problem_.rules[a.first].target] < times_[problem_.rules[b.first].target];
    });
    for (const auto& [r, from] : found) {
      const Rule& rule = problem_.rules[r];
      result.dependences.push_back({rule.target, std::max(0.0, from.time - times_[rule.target]), rule.rounding(from),
                                    rule.linear_rounding(from), rule.fixed_rounding(from),
                                    static_cast<std::uint32_t>(result.shares.size()), from.count});
      result.shares.insert(result.shares.end(), from.share.begin(), from.share.begin() + from.count);
    }
    result.times = std::move(times_);
    result.edge = problem_.edge;
    return result;
  }

 private:
  using Entry = std::pair<double, std::uint32_t>;

  void lower(std::uint32_t v, double time) {
    if (!(time < times_[v])) return;
    times_[v] = time;
    queue_.emplace(time, v);
  }

  const Problem<Rule>& problem_;
  std::vector<double> times_;
  std::vector<std::uint32_t> first_reader_, readers_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

template <class Rule>
std::optional<FixedPoint> fixed_point_of(const Problem<Rule>& problem) {
  Solution<Rule> solution(problem);
  if (!solution.run()) return std::nullopt;
  return solution.take();
}

// ---- Meshes.

template <int Corners>
void add_element(const SimplexMesh<Corners>& mesh, const Metric& metric, ElementId e,
                 std::vector<FaceRule<Corners>>& rules) {
  const SymTensor3d m = metric.tensor(e);
  const auto frame = metric_factor<double>(m);
  const auto& element = mesh.element(e);
  double longest = 0, farthest = 0;
  for (const auto& [a, b] : edge_corners<Corners>()) {
    const Vec3d d = mesh.point(element[b]) - mesh.point(element[a]);
    longest = std::max(longest, norm(in_frame(frame, d)));
    farthest = std::max(farthest, norm(d));
  }
  const double inexact = 4 * std::sqrt(double_epsilon) * std::sqrt(m.xx + m.yy + m.zz) * farthest;
  for (int x = 0; x < Corners; ++x) {
    FaceRule<Corners>& rule = rules.emplace_back();
    rule.target = element[x].value;
    rule.longest = longest;
    rule.inexact = inexact;
    for (int k = 0; k < Corners - 1; ++k) {
      const VertexId v = element[(x + 1 + k) % Corners];
      rule.face[k] = v.value;
      rule.corner[k] = in_frame(frame, mesh.point(v) - mesh.point(element[x]));
    }
  }
}

/// The corners of a face at their distances from the origin and from each other, all squared.
template <int Corners>
std::array<Vec3d, Corners - 1> placed_corners(const std::array<double, SimplexMesh<Corners>::edges>& length) {
  constexpr int x = Corners - 1;
  const auto product = [&](int a, int b) {
    return 0.5 * (length[edge_index(a, x)] + length[edge_index(b, x)] - (a == b ? 0 : length[edge_index(a, b)]));
  };
  std::array<Vec3d, Corners - 1> y{};
  for (int a = 0; a < Corners - 1; ++a) {
    double rest = length[edge_index(a, x)];
    for (int k = 0; k < a; ++k) {
      double value = product(a, k);
      for (int j = 0; j < k; ++j) value -= y[a][j] * y[k][j];
      y[a][k] = y[k][k] > 0 ? value / y[k][k] : 0;
      rest -= y[a][k] * y[a][k];
    }
    y[a][a] = std::sqrt(std::max(0.0, rest));
  }
  return y;
}

/// Virtual elements are those of the library, which has tests of its own for them.
template <int Corners>
void add_virtual_elements(const SimplexMesh<Corners>& mesh, const Metric& metric,
                          std::vector<FaceRule<Corners>>& rules) {
  auto prepared = prepare_topology<double>(mesh, KeepOrder::yes, 1, ForPushes::no);
  apply_metric(prepared, mesh, metric, 1);
  if (prepared.obtuse_corners == 0) return;
  for (const auto& record : split_obtuse(prepared, mesh, metric).records) {
    FaceRule<Corners>& rule = rules.emplace_back();
    rule.target = record.target;
    rule.face = record.face;
    rule.corner = placed_corners<Corners>(record.length);
    for (const double length : record.length) rule.longest = std::max(rule.longest, std::sqrt(length) * prepared.unit);
    rule.inexact = 4 * std::sqrt(double_epsilon) * rule.longest;
    for (Vec3d& corner : rule.corner) corner = prepared.unit * corner;
  }
}

/// The mean over a vertex's elements of their longest edge there, or twice that of the fastest one: at least the local
/// edge time of the library.
template <int Corners>
std::vector<double> local_edges(std::size_t vertex_count, const std::vector<FaceRule<Corners>>& rules) {
  struct Sum {
    double sum = 0, count = 0, fastest = infinity;
  };
  std::vector<Sum> sums(vertex_count);
  for (const FaceRule<Corners>& rule : rules) {
    double longest = 0;
    for (const Vec3d& corner : rule.corner) longest = std::max(longest, norm(corner));
    Sum& at = sums[rule.target];
    at.sum += longest;
    ++at.count;
    if (longest > 0) at.fastest = std::min(at.fastest, longest);
  }
  std::vector<double> edge;
  edge.reserve(vertex_count);
  for (const Sum& at : sums) edge.push_back(at.count > 0 ? std::min(at.sum / at.count, 2 * at.fastest) : 0);
  return edge;
}

template <int Corners>
std::optional<FixedPoint> mesh_fixed_point(const SimplexMesh<Corners>& whole, const Case& asked) {
  const ConductingMesh<Corners> conducting(whole, asked.metric);
  const SimplexMesh<Corners>& mesh = conducting.mesh();
  const Metric& metric = conducting.metric();
  check_metric(metric, mesh.element_count(), Subject::metric);
  Problem<FaceRule<Corners>> problem;
  for (std::size_t e = 0; e < mesh.element_count(); ++e) add_element(mesh, metric, ElementId(e), problem.rules);
  problem.edge = local_edges<Corners>(mesh.vertex_count(), problem.rules);
  if (asked.obtuse == ObtuseSplit::split || (asked.obtuse == ObtuseSplit::automatic && Corners == 3))
    add_virtual_elements(mesh, metric, problem.rules);

  const Adjacency adjacency = build_adjacency(mesh);
  const PlacedSources placed = place_sources(mesh, adjacency, asked.sources);
  if (asked.source_init == SourceInit::plain && asked.sources.points.empty() && !placed.level_set) {
    for (const VertexSource& source : asked.sources.vertices) problem.seeds.push_back({source.vertex, source.time});
  } else {
    const BallLimits limits =
        ball_limits(SolveOptions().ball_rings, placed.points.size(), mesh.vertex_count(), Corners - 1);
    problem.seeds = make_seeds(mesh, metric, adjacency, asked.sources, placed, asked.source_init, limits);
  }
  return fixed_point_of(problem);
}

// ---- Images.

/// The image's voxels and which may be entered.
class Voxels {
 public:
  explicit Voxels(const MaskedImage& image) : image_(image) {
    for (int d = 0; d < 3; ++d) shape_[d] = static_cast<int>(image.grid.shape[static_cast<std::size_t>(d)]);
  }
  [[nodiscard]] bool may_enter(const Vec3i& at) const {
    for (int d = 0; d < 3; ++d)
      if (at[d] < 0 || at[d] >= shape_[d]) return false;
    return image_.mask.empty() || image_.mask[static_cast<std::size_t>(number(at))] != 0;
  }
  [[nodiscard]] std::int64_t number(const Vec3i& at) const { return at.x + shape_.x * (at.y + shape_.y * at.z); }

  /// Whether the line from the centre of one voxel to that of another touches none that may not be entered, not even at
  /// a corner.
  [[nodiscard]] bool sees(const Vec3i& from, const Vec3i& offset) const {
    if (!may_enter(from + offset)) return false;
    if (image_.mask.empty()) return true;
    const auto low = [&](int d) { return std::min(0, offset[d]); };
    const auto high = [&](int d) { return std::max(0, offset[d]); };
    for (int k = low(2); k <= high(2); ++k)
      for (int j = low(1); j <= high(1); ++j)
        for (int i = low(0); i <= high(0); ++i)
          if (touches(offset, {i, j, k}) && !may_enter(from + Vec3i{i, j, k})) return false;
    return true;
  }

 private:
  static bool touches(const Vec3i& end, const Vec3i& voxel) {
    double enter = 0, leave = 1;
    for (int d = 0; d < 3; ++d) {
      if (end[d] == 0) continue;  // the voxel is in the box of the line
      const double a = (voxel[d] - 0.5) / end[d], b = (voxel[d] + 0.5) / end[d];
      enter = std::max(enter, std::min(a, b));
      leave = std::min(leave, std::max(a, b));
    }
    return enter <= leave + 1e-12;
  }

  const MaskedImage& image_;
  Vec3i shape_;
};

struct IntegerTerm {
  Vec3i offset;
  double weight;
};

/// D = Σ weight e eᵀ by Selling's algorithm, with all products computed anew in each step.
class Decomposition {
 public:
  using Real = long double;
  using Matrix = std::array<std::array<Real, 3>, 3>;

  static std::vector<IntegerTerm> in_plane(const Matrix& d) {
    std::array<Vec3i, 3> b{Vec3i{1, 0, 0}, Vec3i{0, 1, 0}, Vec3i{-1, -1, 0}};
    const Real rounding = 1e-15L * (d[0][0] + d[1][1]);
    for (int i = 0; i < 3; ++i) {
      const Vec3i& p = b[i];
      const Vec3i& q = b[(i + 1) % 3];
      if (!(product(d, p, q) > rounding)) continue;
      b = {-p, q, p - q};
      i = -1;
    }
    std::vector<IntegerTerm> terms;
    for (int i = 0; i < 3; ++i) {
      const Vec3i& left_out = b[(i + 2) % 3];
      const Real weight = -product(d, b[i], b[(i + 1) % 3]);
      if (weight > rounding) terms.push_back({{-left_out.y, left_out.x, 0}, static_cast<double>(weight)});
    }
    return terms;
  }

  static std::vector<IntegerTerm> in_space(const Matrix& d) {
    std::array<Vec3i, 4> b{Vec3i{1, 0, 0}, Vec3i{0, 1, 0}, Vec3i{0, 0, 1}, Vec3i{-1, -1, -1}};
    const Real rounding = 1e-15L * (d[0][0] + d[1][1] + d[2][2]);
    constexpr std::array<std::array<int, 4>, 6> pairs{
        {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 3, 1, 2}, {1, 2, 0, 3}, {1, 3, 0, 2}, {2, 3, 0, 1}}};
    for (std::size_t n = 0; n < pairs.size(); ++n) {
      const auto [i, j, k, l] = pairs[n];
      if (!(product(d, b[i], b[j]) > rounding)) continue;
      b = {-b[i], b[j], b[k] + b[i], b[l] + b[i]};
      n = static_cast<std::size_t>(-1);
    }
    std::vector<IntegerTerm> terms;
    for (const auto& [i, j, k, l] : pairs)
      if (const Real weight = -product(d, b[i], b[j]); weight > rounding)
        terms.push_back({cross(b[k], b[l]), static_cast<double>(weight)});
    return terms;
  }

 private:
  static Real product(const Matrix& d, const Vec3i& a, const Vec3i& b) {
    Real sum = 0;
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) sum += static_cast<Real>(a[r]) * static_cast<Real>(b[c]) * d[r][c];
    return sum;
  }
};

/// The metric of a voxel in voxels, and its inverse in the plane or in space.
struct VoxelTensors {
  Decomposition::Matrix travel{}, velocity{};
  double condition = 1;

  VoxelTensors(const ImageGrid& grid, const SymTensor3d& m) {
    using Real = Decomposition::Real;
    const int dim = grid.flat() ? 2 : 3;
    const auto wide = [](const Vec3d& v) { return Vec3<Real>{v.x, v.y, v.z}; };
    const SymTensor3<Real> metric{m.xx, m.xy, m.xz, m.yy, m.yz, m.zz};
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c)
        travel[r][c] = r < dim && c < dim ? product(metric, wide(grid.axes[r]), wide(grid.axes[c])) : Real(r == c);
    Real size = 0, inverse_size = 0;
    for (int d = 0; d < dim; ++d) size += travel[d][d];
    if (dim == 2) travel[2][2] = size;
    const auto& t = travel;
    Real determinant = 0;
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) {
        const int r1 = (r + 1) % 3, r2 = (r + 2) % 3, c1 = (c + 1) % 3, c2 = (c + 2) % 3;
        velocity[c][r] = t[r1][c1] * t[r2][c2] - t[r1][c2] * t[r2][c1];
      }
    for (int c = 0; c < 3; ++c) determinant += t[0][c] * velocity[c][0];
    for (auto& row : velocity)
      for (Real& value : row) value /= determinant;
    for (int d = 0; d < dim; ++d) inverse_size += velocity[d][d];
    condition = static_cast<double>(size * inverse_size);
  }
};

/// The rules of one voxel. False where it hangs on rounding whether a neighbour takes part.
bool add_voxel(const Voxels& voxels, const ImageGrid& grid, const Vec3i& at, const SymTensor3d& m,
               Problem<StencilRule>& problem) {
  const VoxelTensors tensors(grid, m);
  const int dim = grid.flat() ? 2 : 3;
  const std::vector<IntegerTerm> terms =
      dim == 2 ? Decomposition::in_plane(tensors.velocity) : Decomposition::in_space(tensors.velocity);
  double all = 0, largest = 0;
  for (const IntegerTerm& term : terms) all += term.weight, largest = std::max(largest, term.weight);
  const auto target = static_cast<std::uint32_t>(voxels.number(at));
  // The library keeps weights in single precision and inverts the metric in double.
  const double inexact = 1e-6 + 4 * double_epsilon * tensors.condition;
  StencilRule stencil{target, {}, inexact};
  bool cut = false;
  for (const IntegerTerm& term : terms) {
    if (term.weight < 1e-8 * all && tensors.condition < 1e5 && term.weight > 1e-14 * all) return false;
    StencilRule::Term& added = stencil.terms.emplace_back(StencilRule::Term{term.weight});
    for (int side = 0; side < 2; ++side) {
      const Vec3i offset = side == 0 ? -term.offset : term.offset;
      if (voxels.sees(at, offset)) added.neighbour[static_cast<std::size_t>(side)] = voxels.number(at + offset);
      else cut = true;
    }
  }
  problem.rules.push_back(std::move(stencil));
  problem.edge[target] = 1 / std::sqrt(largest);
  for (int axis = 0; cut && axis < dim; ++axis) {
    StencilRule step{target, {StencilRule::Term{static_cast<double>(1 / tensors.travel[axis][axis])}}, inexact};
    Vec3i offset{};
    offset[axis] = 1;
    if (voxels.may_enter(at - offset)) step.terms[0].neighbour[0] = voxels.number(at - offset);
    if (voxels.may_enter(at + offset)) step.terms[0].neighbour[1] = voxels.number(at + offset);
    problem.rules.push_back(std::move(step));
  }
  return true;
}

std::optional<FixedPoint> image_fixed_point(const MaskedImage& image, const Case& asked) {
  if (asked.scheme != GridScheme::adaptive || asked.order != 1) return std::nullopt;
  const GridCells cells = make_cells(image.grid, image.mask);
  const VoxelMetric metric{image.grid, asked.metric};
  check_grid_metric(metric, cells);
  Problem<StencilRule> problem;
  problem.edge.assign(image.grid.voxel_count(), 0);
  const Voxels voxels(image);
  for (std::size_t v = 0; v < image.grid.voxel_count(); ++v) {
    const auto [i, j, k] = image.grid.index(VertexId(v));
    const Vec3i at{static_cast<int>(i), static_cast<int>(j), static_cast<int>(k)};
    if (voxels.may_enter(at) && !add_voxel(voxels, image.grid, at, asked.metric.tensor(ElementId(v)), problem))
      return std::nullopt;
  }
  const std::vector<PlacedSource> placed = place_grid_sources(image.grid, cells, asked.sources);
  if (asked.source_init == SourceInit::plain && asked.sources.points.empty()) {
    for (const VertexSource& source : asked.sources.vertices) problem.seeds.push_back({source.vertex, source.time});
  } else {
    const int radius = limited_radius(SolveOptions().ball_rings, placed.size(), image.grid);
    problem.seeds = make_grid_seeds(metric, cells, placed, asked.source_init, radius);
  }
  return fixed_point_of(problem);
}

}  // namespace

FixedPoint::Bounds FixedPoint::bounds(const Exactness& exactness) const {
  const double root = std::sqrt(exactness.epsilon);
  const auto carried = [&](const Dependence& d, const std::vector<double>& errors) {
    double error = root * d.rounding + exactness.epsilon * d.linear_rounding + d.fixed_rounding;
    for (std::uint32_t k = d.first; k < d.first + d.count; ++k) error += shares[k].weight * errors[shares[k].vertex];
    return error;
  };
  std::vector<double> rounding;
  for (const double time : times)
    rounding.push_back(time < infinity ? 8 * exactness.epsilon * (time - base) + 8 * double_epsilon * std::abs(time)
                                       : 0);

  // An answer cannot be later than any of the candidates, up to its tolerance, so the smallest sum counts.
  Bounds result{std::vector<double>(times.size(), infinity), rounding};
  for (int sweep = 0; sweep < 100; ++sweep) {
    bool settled = true;
    for (const Dependence& d : dependences) {
      double& late = result.late[d.vertex];
      const double error = rounding[d.vertex] + exactness.share * edge[d.vertex] + d.gap + carried(d, result.late);
      if (error < 0.999 * late) settled = false;
      late = std::min(late, error);
    }
    if (settled) break;
  }
  // Too early is what comes from a candidate that is, so the largest counts. Times only fall while they are computed: a
  // vertex has no error from those that have theirs from it, so that a few passes in the order of the times are enough.
  for (int pass = 0; pass < 8; ++pass)
    for (const Dependence& d : dependences) {
      double& early = result.early[d.vertex];
      early = std::max(early, rounding[d.vertex] + carried(d, result.early) - d.gap);
    }
  return result;
}

std::optional<FixedPoint> find_fixed_point(const Case& problem) {
  if (problem.source_init == SourceInit::factored) return std::nullopt;
  if (const auto* image = std::get_if<MaskedImage>(&problem.shape)) return image_fixed_point(*image, problem);
  if (const auto* triangles = std::get_if<TriangleMesh>(&problem.shape)) return mesh_fixed_point(*triangles, problem);
  return mesh_fixed_point(std::get<TetMesh>(problem.shape), problem);
}

}  // namespace isochron::test
