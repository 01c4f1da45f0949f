#include "isochron/trace/shorten.h"

#include <cmath>
#include <limits>
#include <unordered_set>

#include "isochron/trace/lattice_search.h"
#include "isochron/trace/straighten.h"

namespace isochron {
namespace {

/// A chain is searched in windows of so many points, so that the work grows with its length alone.
constexpr std::size_t window = 48;
/// Sweeps of straightening stop when one gains less than this share, or after so many.
constexpr double min_gain = 1e-6;
constexpr int max_sweeps = 20;
/// The chain is searched again, now around its new place, while a round gains more than this share.
constexpr double worth_a_round = 1e-3;
constexpr int max_rounds = 6;

template <int Corners>
using Chain = std::vector<MeshPoint<Corners>>;

template <int Corners>
double total_cost(const TimedMesh<Corners>& on, const Chain<Corners>& chain) {
  double sum = 0;
  for (std::size_t i = 1; i < chain.size(); ++i) {
    const auto piece = piece_between(on, chain[i - 1], chain[i]);
    sum += piece ? piece->cost : std::numeric_limits<double>::infinity();
  }
  return sum;
}

/// The elements at the vertices of the chain's carriers.
template <int Corners>
std::vector<ElementId> elements_around(const TimedMesh<Corners>& on, const Chain<Corners>& chain) {
  std::unordered_set<std::uint32_t> seen;
  std::vector<ElementId> result;
  for (const auto& point : chain)
    for (const VertexId v : point.carrier())
      for (const std::uint32_t incidence : on.adjacency.at(v))
        if (seen.insert(Adjacency::element_of(incidence).value).second)
          result.push_back(Adjacency::element_of(incidence));
  return result;
}

/// Searches the chain in windows that begin at `first`, `first` + window and so on.
template <int Corners>
void search_windows(const TimedMesh<Corners>& on, Chain<Corners>& chain, std::size_t first) {
  Chain<Corners> result(chain.begin(),
                        chain.begin() + static_cast<std::ptrdiff_t>(std::min(first, chain.size() - 1)) + 1);
  while (first + 1 < chain.size()) {
    const std::size_t last = std::min(first + window, chain.size() - 1);
    Chain<Corners> part(chain.begin() + static_cast<std::ptrdiff_t>(first),
                        chain.begin() + static_cast<std::ptrdiff_t>(last) + 1);
    LatticeSearch<Corners> search(on, elements_around(on, part));
    Chain<Corners> found = search.run(part);
    if (!found.empty() && total_cost(on, found) < total_cost(on, part)) part = std::move(found);
    result.insert(result.end(), part.begin() + 1, part.end());
    first = last;
  }
  chain = std::move(result);
}

/// Drops points between two that lie in one element, where the straight piece is no slower.
template <int Corners>
void drop_needless(const TimedMesh<Corners>& on, Chain<Corners>& chain) {
  Chain<Corners> kept{chain.front()};
  for (std::size_t i = 1; i + 1 < chain.size(); ++i) {
    const auto straight = piece_between(on, kept.back(), chain[i + 1]);
    const auto before = piece_between(on, kept.back(), chain[i]), after = piece_between(on, chain[i], chain[i + 1]);
    if (straight && before && after && straight->cost <= before->cost + after->cost) continue;
    kept.push_back(chain[i]);
  }
  kept.push_back(chain.back());
  chain = std::move(kept);
}

}  // namespace

template <int Corners>
std::optional<Piece> piece_between(const TimedMesh<Corners>& on, const MeshPoint<Corners>& a,
                                   const MeshPoint<Corners>& b) {
  std::array<VertexId, 2 * Corners> both;
  const auto middle = std::copy(a.carrier().begin(), a.carrier().end(), both.begin());
  const auto end = std::copy_if(b.carrier().begin(), b.carrier().end(), middle,
                                [&](VertexId v) { return std::find(both.begin(), middle, v) == middle; });
  if (end - both.begin() > Corners) return std::nullopt;
  const Vec3d d = position(on.mesh, b) - position(on.mesh, a);
  std::optional<Piece> best;
  for_elements_sharing(on.mesh, on.adjacency, std::span<const VertexId>(both.begin(), end), [&](ElementId e) {
    const double cost = std::sqrt(squared_length(on.metric.tensor(e), d));
    if (!best || cost < best->cost) best = Piece{e, cost};
  });
  return best;
}

template <int Corners>
void shorten(const TimedMesh<Corners>& on, std::vector<MeshPoint<Corners>>& chain) {
  double cost = total_cost(on, chain);
  for (int round = 0; round < max_rounds; ++round) {
    // Every other round begins within a window, for the places where windows met before.
    search_windows(on, chain, round % 2 == 1 && chain.size() > window ? window / 2 : 0);
    Straightener<Corners> straightener(on, chain);
    for (int sweep = 0; sweep < max_sweeps && straightener.sweep() > min_gain;) ++sweep;
    drop_needless(on, chain);
    const double before = cost;
    cost = total_cost(on, chain);
    if (!(cost < (1 - worth_a_round) * before) && (round > 0 || chain.size() <= window)) break;
  }
}

template std::optional<Piece> piece_between(const TimedMesh<3>&, const MeshPoint<3>&, const MeshPoint<3>&);
template std::optional<Piece> piece_between(const TimedMesh<4>&, const MeshPoint<4>&, const MeshPoint<4>&);
template void shorten(const TimedMesh<3>&, std::vector<MeshPoint<3>>&);
template void shorten(const TimedMesh<4>&, std::vector<MeshPoint<4>>&);

}  // namespace isochron
