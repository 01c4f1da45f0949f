#include "isochron/surface/triangulate/smooth.h"

#include <algorithm>
#include <array>
#include <vector>

#include "isochron/core/parallel.h"
#include "isochron/mesh_quality.h"

namespace isochron {

Fans::Fans(std::span<const DelaunayFacet> facets, std::size_t id_count)
    : facets_(facets), start_(id_count + 1), list_(3 * facets.size()) {
  for (const DelaunayFacet& facet : facets)
    for (const VertexId v : facet.corners) ++start_[v.index() + 1];
  for (std::size_t i = 0; i < id_count; ++i) start_[i + 1] += start_[i];
  std::vector<std::uint32_t> next(start_.begin(), start_.end() - 1);
  for (std::size_t f = 0; f < facets.size(); ++f)
    for (const VertexId v : facets[f].corners) list_[next[v.index()]++] = static_cast<std::uint32_t>(f);
}

Fans::Fault Fans::fault(VertexId v) const {
  Fault worst = Fault::none;
  if (at(v).empty()) return worst;
  std::vector<int> labels;
  for (const std::uint32_t f : at(v))
    for (const int label : facets_[f].labels)
      if (std::find(labels.begin(), labels.end(), label) == labels.end()) labels.push_back(label);
  // With two materials the border of one is that of the other.
  if (labels.size() == 2) labels.pop_back();
  for (const int label : labels) worst = std::max(worst, fault_of(v, label));
  return worst;
}

Fans::Fault Fans::fault_of(VertexId v, int label) const {
  struct Spoke {
    VertexId to;
    std::uint32_t facet;
  };
  std::vector<Spoke> spokes;
  std::size_t facets = 0;
  for (const std::uint32_t f : at(v)) {
    if (facets_[f].labels[0] != label && facets_[f].labels[1] != label) continue;
    ++facets;
    for (const VertexId to : facets_[f].corners)
      if (to != v) spokes.push_back({to, f});
  }
  std::sort(spokes.begin(), spokes.end(),
            [](Spoke a, Spoke b) { return a.to < b.to || (a.to == b.to && a.facet < b.facet); });
  for (std::size_t i = 0; i < spokes.size(); i += 2) {
    const bool pair = i + 1 < spokes.size() && spokes[i].to == spokes[i + 1].to;
    if (!pair || (i + 2 < spokes.size() && spokes[i].to == spokes[i + 2].to)) return Fault::edge;
  }
  // Every spoke has two facets, so a walk from one to the next returns to where it began.
  std::size_t seen = 0, at = 0;
  do {
    const std::uint32_t across = spokes[at ^ 1].facet;
    std::size_t next = 0;
    while (spokes[next].facet != across || next == (at ^ 1)) ++next;
    at = next;
    ++seen;
  } while (at != 0);
  return seen == facets ? Fault::none : Fault::point;
}

namespace {

constexpr double good_enough = 0.75;  // radius ratio above which a triangle's corners stay
constexpr int smoothing_sweeps = 4;
constexpr double over_step = 1;  // of the way to the mean

class Smoother {
 public:
  Smoother(const Delaunay& tets, std::span<const DelaunayFacet> facets, const LabelField& field,
           const LocalSizes& sizes)
      : facets_(facets), fans_(facets, tets.id_count()), field_(field), sizes_(sizes), place_(tets.id_count()) {
    for (std::size_t i = 0; i < place_.size(); ++i)
      if (tets.contains(VertexId(i))) place_[i] = tets.point(VertexId(i));
  }

  // One step towards the mean of the triangles around, if that helps the worst of them.
  void step(VertexId v) {
    const double before = ratios(v, place_[v.index()]).worst;
    if (before > good_enough) return;
    const Vec3d here = place_[v.index()], there = target(v);
    for (const double part : {1.0, 0.5, 0.25}) {
      const Vec3d candidate = field_.project(here + part * (there - here));
      if (ratios(v, candidate).worst > before) {
        place_[v.index()] = candidate;
        return;
      }
    }
  }

  // One step of all at once, where it helps the mean and does not harm the worst.
  void step_all(int threads, std::size_t fixed) {
    std::vector<Vec3d> next = place_;
    parallel_for(threads, place_.size(), [&](std::size_t i) {
      const VertexId v(i);
      if (i < fixed || fans_.at(v).empty()) return;
      const Ratios before = ratios(v, place_[i]);
      const Vec3d candidate = field_.project(place_[i] + over_step * (target(v) - place_[i]));
      const Ratios after = ratios(v, candidate);
      if (after.sum > before.sum && after.worst > std::min(before.worst, good_enough)) next[i] = candidate;
    });
    place_ = std::move(next);
  }

  [[nodiscard]] Vec3d place(VertexId v) const { return place_[v.index()]; }
  std::vector<Vec3d> take_places() { return std::move(place_); }

 private:
  [[nodiscard]] std::array<Vec3d, 3> corners(const DelaunayFacet& facet) const {
    return {place_[facet.corners[0].index()], place_[facet.corners[1].index()], place_[facet.corners[2].index()]};
  }

  struct Ratios {
    double worst = 1, sum = 0;
  };
  // The radius ratios around a point if it were there. A triangle that turns over is worse than any.
  [[nodiscard]] Ratios ratios(VertexId v, Vec3d at) const {
    Ratios result;
    for (const std::uint32_t f : fans_.at(v)) {
      std::array<Vec3d, 3> x = corners(facets_[f]);
      const Vec3d normal = cross(x[1] - x[0], x[2] - x[0]);
      for (int k = 0; k < 3; ++k)
        if (facets_[f].corners[k] == v) x[k] = at;
      const double ratio = dot(normal, cross(x[1] - x[0], x[2] - x[0])) > 0 ? radius_ratio(x) : -1;
      result.worst = std::min(result.worst, ratio);
      result.sum += ratio;
    }
    return result;
  }

  // Mean of the triangles' centres, weighted with the number of points that belong in each.
  [[nodiscard]] Vec3d target(VertexId v) const {
    Vec3d sum;
    double weights = 0;
    for (const std::uint32_t f : fans_.at(v)) {
      const std::array<Vec3d, 3> x = corners(facets_[f]);
      const Vec3d centre = (x[0] + x[1] + x[2]) / 3;
      const double size = sizes_.size(facets_[f], x);
      const double weight = norm(cross(x[1] - x[0], x[2] - x[0])) / (size * size);
      sum += weight * centre;
      weights += weight;
    }
    return weights > 0 ? sum / weights : place_[v.index()];
  }

  std::span<const DelaunayFacet> facets_;
  Fans fans_;
  const LabelField& field_;
  const LocalSizes& sizes_;
  std::vector<Vec3d> place_;
};

}  // namespace

std::size_t smooth(Delaunay& tets, std::span<const DelaunayFacet> facets, std::span<const VertexId> points,
                   const LabelField& field, const LocalSizes& sizes) {
  Smoother smoother(tets, facets, field, sizes);
  for (int sweep = 0; sweep < smoothing_sweeps; ++sweep)
    for (const VertexId v : points) smoother.step(v);
  std::size_t moved = 0;
  for (const VertexId v : points) {
    if (smoother.place(v) == tets.point(v)) continue;
    tets.move(v, smoother.place(v));
    ++moved;
  }
  return moved;
}

std::vector<Vec3d> evened_out(const Delaunay& tets, std::span<const DelaunayFacet> facets, const LabelField& field,
                              const LocalSizes& sizes, int threads, std::size_t fixed) {
  Smoother smoother(tets, facets, field, sizes);
  for (int sweep = 0; sweep < smoothing_sweeps; ++sweep) smoother.step_all(threads, fixed);
  return smoother.take_places();
}

}  // namespace isochron
