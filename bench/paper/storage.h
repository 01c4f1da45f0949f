// Paper 001 section 3: the three ways to keep an element's geometry, as relax steps that only pull (what FIM needs).
#pragma once

#include <array>
#include <vector>

#include "isochron/solve/simplex/pull_candidate.h"
#include "isochron/solve/simplex/relax.h"

namespace isochron::bench {

/// 18 inner products an element: the six squared lengths and, for each corner, the three products of its edges.
struct EighteenProducts {
  std::vector<ProductRecord<float>> records;

  explicit EighteenProducts(const SimplexProblem<float, 4>& problem) {
    records.reserve(problem.elements.size());
    for (const auto& element : problem.elements) records.push_back(with_products(element));
  }

  template <class Times>
  float update(std::size_t e, int t, const Times& times) const {
    return candidate(records[e], t, times);
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
