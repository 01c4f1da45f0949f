// Paper 001 section 3: the three ways to keep an element's geometry, as relax steps that only pull (what FIM needs).
#pragma once

#include <array>
#include <vector>

#include "isochron/solve/simplex/relax.h"

namespace isochron::bench {

/// 18 inner products an element: the six squared lengths and, for each corner, the three products of its edges.
struct EighteenProducts {
  struct Record {
    std::array<std::uint32_t, 4> corner;
    std::array<float, 6> length;
    std::array<std::array<float, 3>, 4> product;  ///< at corner c: of the edges to the others, without the k-th of them
  };
  std::vector<Record> records;

  explicit EighteenProducts(const SimplexProblem<float, 4>& problem) : records(problem.elements.size()) {
    for (std::size_t e = 0; e < records.size(); ++e) {
      const auto& from = problem.elements[e];
      for (int c = 0; c < 4; ++c) records[e].corner[c] = from.vertex(c);
      records[e].length = from.length;
      for (int c = 0; c < 4; ++c)
        for (int k = 0; k < 3; ++k) {
          const int a = (c + 1 + (k + 1) % 3) & 3, b = (c + 1 + (k + 2) % 3) & 3;
          records[e].product[c][k] =
              0.5F * (from.length[edge_index(c, a)] + from.length[edge_index(c, b)] - from.length[edge_index(a, b)]);
        }
    }
  }

  /// The product of the edges from c to the two corners that are neither c nor `without`.
  static float product_without(const Record& r, int c, int without) { return r.product[c][(without - c - 1 + 4) & 3]; }

  template <class Times>
  float update(std::size_t e, int t, const Times& times) const {
    const Record& r = records[e];
    const int a = (t + 1) & 3, b = (t + 2) & 3, c = (t + 3) & 3;  // c is the paper's common vertex
    const float ua = times.load(r.corner[a]), ub = times.load(r.corner[b]), uc = times.load(r.corner[c]);
    constexpr float inf = std::numeric_limits<float>::infinity();
    if (!(ua < inf) && !(ub < inf) && !(uc < inf)) return inf;
    const auto length = [&](int i, int j) { return r.length[edge_index(i, j)]; };
    const auto gram = detail::FaceGram<float>::with_product(length(a, c), length(b, c), product_without(r, c, t));
    auto s = detail::face_solution_from_products(ua, ub, uc, gram, product_without(r, c, b), product_without(r, c, a),
                                                 length(c, t));
    s.exists = s.exists && !gram.flat();
    if (s.exists && s.w1 >= 0 && s.w2 >= 0 && s.w3 >= 0) return s.time;
    float best = inf, lambda;
    if (!s.exists || s.w1 < 0)
      best = std::min(best, detail::edge_time(ub, uc, length(b, c), length(b, t), length(c, t), lambda));
    if (!s.exists || s.w2 < 0)
      best = std::min(best, detail::edge_time(ua, uc, length(a, c), length(a, t), length(c, t), lambda));
    if (!s.exists || s.w3 < 0)
      best = std::min(best, detail::edge_time(ua, ub, length(a, b), length(a, t), length(b, t), lambda));
    return best;
  }
};

/// Nothing precomputed: coordinates and the metric tensor are read and the lengths formed at each update.
struct Coordinates {
  struct Record {
    std::array<std::uint32_t, 4> corner;
    SymTensor3f metric;
  };
  std::vector<Record> records;
  std::vector<Vec3f> points;

  Coordinates(const SimplexProblem<float, 4>& problem, const TetMesh& mesh, const Metric& metric)
      : records(problem.elements.size()), points(problem.vertex_count) {
    const double scale = 1 / (problem.unit * problem.unit);
    for (std::size_t e = 0; e < records.size(); ++e) {
      for (int c = 0; c < 4; ++c) records[e].corner[c] = problem.elements[e].vertex(c);
      const SymTensor3d m = scale * metric.tensor(problem.user_element(e));
      const auto narrow = [](double v) { return static_cast<float>(v); };
      records[e].metric = {narrow(m.xx), narrow(m.xy), narrow(m.xz), narrow(m.yy), narrow(m.yz), narrow(m.zz)};
    }
    for (std::uint32_t v = 0; v < points.size(); ++v) {
      const Vec3d p = mesh.points[problem.user(v)];
      points[v] = {static_cast<float>(p.x), static_cast<float>(p.y), static_cast<float>(p.z)};
    }
  }

  template <class Times>
  float update(std::size_t e, int t, const Times& times) const {
    const Record& r = records[e];
    const int a = (t + 1) & 3, b = (t + 2) & 3, c = (t + 3) & 3;
    const float ua = times.load(r.corner[a]), ub = times.load(r.corner[b]), uc = times.load(r.corner[c]);
    constexpr float inf = std::numeric_limits<float>::infinity();
    if (!(ua < inf) && !(ub < inf) && !(uc < inf)) return inf;
    const auto length = [&](int i, int j) {
      return squared_length(r.metric, points[r.corner[j]] - points[r.corner[i]]);
    };
    return detail::tet_update_scaled(
               ua, ub, uc,
               TetLengths<float>{length(a, b), length(a, c), length(b, c), length(a, t), length(b, t), length(c, t)})
        .time;
  }
};

/// Pulls through a storage; everything else is the problem's.
template <class Storage, class Times>
class StorageRelaxer {
 public:
  using Scalar = float;
  StorageRelaxer(const SimplexProblem<float, 4>& problem, const Storage& storage, Times times)
      : problem_(problem), storage_(storage), times_(times) {}
  [[nodiscard]] const SimplexProblem<float, 4>& problem() const { return problem_; }
  [[nodiscard]] const Times& times() const { return times_; }
  float pull(std::uint32_t v, std::uint64_t& solves) const {
    float best = std::numeric_limits<float>::infinity();
    for (const std::uint32_t incidence : problem_.adjacency.at(VertexId(v))) {
      best = std::min(best, storage_.update(incidence >> 2, Adjacency::corner_of(incidence), times_));
      ++solves;
    }
    return best;
  }

 private:
  const SimplexProblem<float, 4>& problem_;
  const Storage& storage_;
  Times times_;
};

}  // namespace isochron::bench
