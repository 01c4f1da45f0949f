// The last piece of a path: from a point beside a source straight to it.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "isochron/solve/simplex/seeds.h"
#include "isochron/trace/descent.h"

namespace isochron {

template <int Corners>
struct Finish {
  MeshPoint<Corners> to;
  double onset = 0;
  double cost = 0;  ///< travel time from where the path was
  std::int32_t source = -1;
};

/// How well a straight last piece must explain the time of the point it starts at.
enum class FinishRule {
  first_arrival,  ///< nothing else may reach the point earlier
  nearest         ///< for want of another way: any source in an element at the point
};

/// Knows the elements at sources.
template <int Corners>
class PathEnds {
 public:
  /// Keeps references. Throws InputError like `place_sources`.
  PathEnds(const TimedMesh<Corners>& on, const Sources& sources);

  /// The way to a source in one of the elements that hold the point; the earliest if there are several.
  [[nodiscard]] std::optional<Finish<Corners>> find(const MeshPoint<Corners>& from, FinishRule rule) const;

 private:
  void offer_points(ElementId e, Vec3d from, std::optional<Finish<Corners>>& best) const;
  void offer_level_set(ElementId e, Vec3d from, std::optional<Finish<Corners>>& best) const;

  const TimedMesh<Corners>& on_;
  PlacedSources placed_;
  std::vector<double> level_set_;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> sources_of_;  // element -> places in placed_.points
};

extern template class PathEnds<3>;
extern template class PathEnds<4>;

}  // namespace isochron
