// Makes the labelled tetrahedra's surface manifold, faithful to the field and well shaped, by changing points.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "isochron/progress.h"
#include "isochron/surface/triangulate/delaunay.h"
#include "isochron/surface/triangulate/smooth.h"
#include "isochron/surface/triangulate/triangulate.h"

namespace isochron {

/// Where the dual edge of a facet crosses the surface of a field.
struct DualCrossings {
  int count = 0;
  Vec3d farthest;     ///< the crossing farthest from the facet's corners
  double radius = 0;  ///< how far it is from each of them
};

/// Walks along the dual edge of a facet with corner `corner`, in steps of the field's clearance but no shorter than
/// `finest`: pairs of crossings closer than that can be missed.
DualCrossings dual_crossings(const LabelField& field, const DelaunayFacet& facet, Vec3d corner, double finest);

/// Helps particles that no triangle uses, because what they lie on is thinner or smaller than the tetrahedra can tell:
/// adds points around them, in closer and closer rings; gives up after a few tries. Points it added itself
/// and points that were not there at the start get no help.
class Rescues {
 public:
  Rescues(Delaunay& tets, const LabelField& field, LocalSizes& sizes)
      : tets_(tets), field_(field), sizes_(sizes), tries_(tets.id_count()) {}

  /// Returns how many points were added.
  std::size_t help(std::span<const VertexId> unused);

 private:
  std::size_t help(VertexId v);
  bool add(Vec3d p, VertexId near, double apart, double factor);

  Delaunay& tets_;
  const LabelField& field_;
  LocalSizes& sizes_;
  std::vector<unsigned char> tries_;
};

/// Repairs in rounds: finds what is wrong, adds or removes points there, and smooths around them. `run` may be called
/// again after more points were added.
class Repair {
 public:
  /// Keeps references to all of them. The first `fixed` points stay as they are.
  Repair(Delaunay& tets, const LabelField& field, LocalSizes& sizes, const TriangulateOptions& options,
         TriangulateReport& report, std::size_t fixed = 0)
      : tets_(tets),
        field_(field),
        sizes_(sizes),
        options_(options),
        report_(report),
        fixed_(fixed),
        rescues_(tets, field, sizes) {}

  /// Returns the facets of the surface. Throws Cancelled.
  std::vector<DelaunayFacet> run(const Progress& progress);

 private:
  enum class Wrong { nothing, shape, size, crossings, tangled };  // the worst last

  struct Finding {
    Finding() = default;
    explicit Finding(const DelaunayFacet& of) : facet(of) {}

    DelaunayFacet facet;
    Wrong wrong = Wrong::nothing;
    double ratio = 1;
    double size = 0;  // edge length wanted
    DualCrossings dual;

    // How urgent it is among those of the same kind.
    [[nodiscard]] double badness() const { return wrong == Wrong::shape ? -ratio : dual.radius / size; }
  };

  bool make_round(int round);
  void look();
  void relax();
  void examine();
  void inspect(Finding& found) const;
  [[nodiscard]] bool badly_shaped(const std::array<Vec3d, 3>& x, double ratio) const;
  void find_hidden();
  [[nodiscard]] bool compact(const DelaunayFacet& facet) const;
  [[nodiscard]] std::vector<VertexId> tangled_points(const Fans& fans);
  void untangle_easily();
  void find_tangled();
  bool act(bool only_add);
  bool add_crossing(const Finding& found);
  bool reshape(const Finding& found);
  void untangle();
  void count_what_is_left();
  [[nodiscard]] std::array<Vec3d, 3> corners(const DelaunayFacet& facet) const;

  Delaunay& tets_;
  const LabelField& field_;
  LocalSizes& sizes_;
  const TriangulateOptions& options_;
  TriangulateReport& report_;
  std::size_t fixed_;
  Rescues rescues_;
  std::vector<VertexId> active_;       // where anything changed or is left to do
  std::vector<VertexId> unused_;       // points of those that no facet has
  std::vector<DelaunayFacet> facets_;  // all those at active points
  std::vector<Finding> findings_;
  std::vector<bool> touched_;
};

}  // namespace isochron
