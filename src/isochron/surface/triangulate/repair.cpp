#include "isochron/surface/triangulate/repair.h"

#include <algorithm>
#include <array>
#include <limits>

#include "isochron/mesh/quality.h"
#include "isochron/surface/triangulate/dual_edge.h"
#include "isochron/surface/triangulate/fans.h"
#include "isochron/surface/triangulate/smooth.h"

namespace isochron {
namespace {

// In edge lengths wanted. An equilateral triangle has the circumradius 0.58.
constexpr double largest_radius = 1.1;    // above it the surface is sampled too sparsely
constexpr double smallest_radius = 0.08;  // below it no more points are added: labels are changed in the end
constexpr double crowded = 0.5;           // an edge of a bad triangle below it loses an end
constexpr double step = 0.15;             // of walks along dual edges

// How bad a facet is: whole numbers are kinds, the worst ones first.
enum class Wrong { nothing, shape, size, crossings, tangled };

struct Finding {
  Wrong wrong = Wrong::nothing;
  double ratio = 1;
  double size = 0;  // edge length wanted
  DualCrossings dual;
};

class Repair {
 public:
  Repair(Delaunay& tets, const LabelField& field, const SizeView<double>& sizes, const TriangulateOptions& options,
         TriangulateReport& report)
      : tets_(tets), field_(field), sizes_(sizes), options_(options), report_(report) {}

  std::vector<DelaunayFacet> run(const Progress& progress) {
    for (int round = 0; round < options_.rounds; ++round) {
      progress.update(static_cast<double>(round) / options_.rounds);
      report_.rounds = round + 1;
      const bool only_add = 3 * round >= 2 * options_.rounds;
      look();
      if (round > 0 && !only_add) relax();
      examine();
      if (!act(only_add)) break;
    }
    look();
    untangle();
    examine();
    count_what_is_left();
    return std::move(facets_);
  }

 private:
  void look() {
    tets_.label(field_, options_.threads);
    facets_ = tets_.facets();
  }

  [[nodiscard]] std::array<Vec3d, 3> corners(const DelaunayFacet& facet) const {
    return {tets_.point(facet.corners[0]), tets_.point(facet.corners[1]), tets_.point(facet.corners[2])};
  }

  // Smooths around the facets that are new.
  void relax() {
    std::vector<VertexId> points;
    for (const DelaunayFacet& facet : facets_)
      if (!facet.approved) points.insert(points.end(), facet.corners.begin(), facet.corners.end());
    std::sort(points.begin(), points.end());
    points.erase(std::unique(points.begin(), points.end()), points.end());
    const std::size_t moved = smooth(tets_, facets_, points, field_, sizes_);
    report_.moved += moved;
    if (moved > 0) look();
  }

  // What is wrong with each facet. Those that were found good before are not looked at again.
  void examine() {
    findings_.assign(facets_.size(), {});
    parallel_for(options_.threads, facets_.size(), [&](std::size_t f) {
      if (!facets_[f].approved) findings_[f] = examined(facets_[f]);
    });
    mark_tangled();
    for (std::size_t f = 0; f < facets_.size(); ++f)
      if (findings_[f].wrong == Wrong::nothing && !facets_[f].approved) tets_.approve(facets_[f]);
  }

  [[nodiscard]] Finding examined(const DelaunayFacet& facet) const {
    Finding found;
    const std::array<Vec3d, 3> x = corners(facet);
    found.size = sizes_.size((x[0] + x[1] + x[2]) / 3);
    found.dual = dual_crossings(field_, facet, x[0], step * found.size);
    found.ratio = radius_ratio(x);
    if (found.dual.count > 1) found.wrong = Wrong::crossings;
    else if (found.dual.radius > largest_radius * found.size) found.wrong = Wrong::size;
    else if (badly_shaped(x, found.ratio)) found.wrong = Wrong::shape;
    return found;
  }

  [[nodiscard]] bool badly_shaped(const std::array<Vec3d, 3>& x, double ratio) const {
    if (ratio < options_.least_ratio) return true;
    if (ratio > 0.9) return false;  // no angle below 41 degrees
    const auto angles = shape_of(x).angles;
    return *std::min_element(angles.begin(), angles.end()) < options_.least_angle;
  }

  // The facets at points where the surface touches itself.
  void mark_tangled() {
    const Fans fans(facets_, tets_.id_count());
    tangled_.clear();
    unused_.clear();
    for (std::size_t i = 0; i < tets_.id_count(); ++i) {
      const VertexId v(i);
      if (fans.at(v).empty()) {
        if (tets_.contains(v)) unused_.push_back(v);
        continue;
      }
      if (fans.fault(v) == Fans::Fault::none) continue;
      tangled_.push_back(v);
      for (const std::uint32_t f : fans.at(v)) {
        if (facets_[f].approved) findings_[f] = examined(facets_[f]);
        findings_[f].wrong = Wrong::tangled;
      }
    }
  }

  // Adds and removes points for the worst facets first; around each change everything else waits for the next round.
  bool act(bool only_add) {
    std::vector<std::uint32_t> order;
    for (std::size_t f = 0; f < facets_.size(); ++f)
      if (findings_[f].wrong != Wrong::nothing) order.push_back(static_cast<std::uint32_t>(f));
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      const Finding &p = findings_[a], &q = findings_[b];
      if (p.wrong != q.wrong) return p.wrong > q.wrong;
      const double by_p = p.wrong == Wrong::shape ? -p.ratio : p.dual.radius / p.size;
      const double by_q = q.wrong == Wrong::shape ? -q.ratio : q.dual.radius / q.size;
      return by_p > by_q || (by_p == by_q && a < b);
    });
    touched_.assign(tets_.id_count(), false);
    bool changed = false;
    for (const std::uint32_t f : order) {
      const auto& ids = facets_[f].corners;
      if (std::any_of(ids.begin(), ids.end(), [&](VertexId v) { return touched_[v.index()]; })) continue;
      if (findings_[f].wrong == Wrong::shape && !only_add ? reshape(f) : add_crossing(f)) {
        changed = true;
        for (const VertexId v : ids) touched_[v.index()] = true;
      }
    }
    return changed;
  }

  bool add_crossing(std::uint32_t f) {
    const Finding& found = findings_[f];
    if (found.dual.count == 0 || found.dual.radius < smallest_radius * found.size) return false;
    if (!tets_.insert(field_.project(found.dual.farthest), facets_[f].corners[0]).valid()) return false;
    ++report_.added;
    return true;
  }

  bool reshape(std::uint32_t f) {
    const DelaunayFacet& facet = facets_[f];
    const std::array<Vec3d, 3> x = corners(facet);
    int shortest = 0;
    double length = std::numeric_limits<double>::infinity();
    for (int k = 0; k < 3; ++k) {
      const double edge = norm(x[(k + 1) % 3] - x[k]);
      if (edge < length) {
        length = edge;
        shortest = k;
      }
    }
    if (length < crowded * findings_[f].size) {
      tets_.remove(facet.corners[shortest]);
      ++report_.removed;
      return true;
    }
    return add_crossing(f);
  }

  // The last resort for what the points could not mend: labels of whole tetrahedra.
  void untangle() {
    constexpr int passes = 50;
    for (int pass = 0; pass < passes; ++pass) {
      const Fans fans(facets_, tets_.id_count());
      std::vector<VertexId> points;
      for (std::size_t i = 0; i < tets_.id_count(); ++i)
        if (!fans.at(VertexId(i)).empty() && fans.fault(VertexId(i)) != Fans::Fault::none)
          points.push_back(VertexId(i));
      if (points.empty()) return;
      report_.relabelled += tets_.untangle(points);
      facets_ = tets_.facets();
    }
  }

  void count_what_is_left() {
    for (const Finding& found : findings_) {
      report_.bad_shapes += found.wrong == Wrong::shape ? 1 : 0;
      report_.bad_crossings += found.wrong == Wrong::crossings ? 1 : 0;
    }
    report_.singular_points = tangled_.size();
    report_.unused = unused_.size();
  }

  Delaunay& tets_;
  const LabelField& field_;
  const SizeView<double>& sizes_;
  const TriangulateOptions& options_;
  TriangulateReport& report_;
  std::vector<DelaunayFacet> facets_;
  std::vector<Finding> findings_;
  std::vector<VertexId> tangled_, unused_;
  std::vector<bool> touched_;
};

}  // namespace

std::vector<DelaunayFacet> repair(Delaunay& tets, const LabelField& field, const SizeView<double>& sizes,
                                  const TriangulateOptions& options, TriangulateReport& report,
                                  const Progress& progress) {
  return Repair(tets, field, sizes, options, report).run(progress);
}

}  // namespace isochron
