#include "isochron/generate/lattice.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace isochron {
namespace {

/// One run over a mesh, or over a piece of one. Moves only ever get shorter, and after enough halvings all are nothing.
template <int Corners>
class Displacement {
 public:
  using Element = typename SimplexMesh<Corners>::Element;

  /// `unsure` is empty for a whole mesh.
  Displacement(SimplexMesh<Corners>& mesh, std::vector<Vec3d> moves, std::vector<bool>& unsure, double keep)
      : mesh_(mesh), moves_(std::move(moves)), unsure_(unsure), keep_(keep), least_(mesh.element_count()) {
    // What each element must keep is asked of the mesh before it moves, in single precision to save memory.
    for (std::size_t e = 0; e < least_.size(); ++e)
      least_[e] = static_cast<float>(keep * signed_measure(mesh, mesh.elements[e]));
    for (std::size_t v = 0; v < mesh.vertex_count(); ++v) mesh.points[v] += moves_[v];
  }

  /// Returns how many elements were too flat at first.
  std::size_t run() {
    find_flat();
    const std::size_t shortened = flat_.size();
    // Shortening a move can flatten an element that shares the vertex, so each pass looks at all elements again.
    for (; !flat_.empty(); find_flat()) shorten();
    return shortened;
  }

 private:
  [[nodiscard]] bool moved(VertexId v) const { return !(moves_[v.index()] == Vec3d{}); }

  void find_flat() {
    if (!unsure_.empty()) spread_doubt();
    flat_.clear();
    for (std::size_t e = 0; e < least_.size(); ++e) {
      const Element& element = mesh_.elements[e];
      if (signed_measure(mesh_, element) > least_[e]) continue;
      if (!unsure_.empty() && doubts(element) > 0) continue;  // either never flat, or all its corners are unsure
      if (std::any_of(element.begin(), element.end(), [this](VertexId v) { return moved(v); }))
        flat_.push_back(static_cast<std::uint32_t>(e));
    }
  }

  void shorten() {
    done_.assign(mesh_.vertex_count(), false);
    for (const std::uint32_t e : flat_) {
      // The longest move of the corners gives way; one that is next to nothing is dropped, so that this ends.
      VertexId longest = mesh_.elements[e][0];
      for (const VertexId v : mesh_.elements[e])
        if (norm(moves_[v.index()]) > norm(moves_[longest.index()])) longest = v;
      if (done_[longest.index()]) continue;
      done_[longest.index()] = true;
      Vec3d& move = moves_[longest.index()];
      const bool worth_halving = norm(move) > 1e-9 * std::cbrt(std::abs(least_[e]) / keep_);
      const Vec3d shorter = worth_halving ? 0.5 * move : Vec3d{};
      mesh_.points[longest.index()] += shorter - move;
      move = shorter;
    }
  }

  [[nodiscard]] unsigned doubts(const Element& element) const {
    unsigned mask = 0;
    for (int k = 0; k < Corners; ++k)
      if (unsure_[element[k].index()]) mask |= 1U << k;
    return mask;
  }

  /// An element that outside changes can flatten makes all its corners unsure, and so on. An unsure vertex keeps the
  /// move it was last sure of; its true move is some share of it.
  void spread_doubt() {
    for (bool more = true; more;) {
      more = false;
      for (std::size_t e = 0; e < least_.size(); ++e) {
        const Element& element = mesh_.elements[e];
        const unsigned mask = doubts(element);
        if (mask == 0 || mask == (1U << Corners) - 1 || !may_be_flat(e, mask)) continue;
        for (const VertexId v : element) unsure_[v.index()] = true;
        more = true;
      }
    }
  }

  /// The measure is linear in the share of each move, so it is least where every share is 0 or 1.
  [[nodiscard]] bool may_be_flat(std::size_t e, unsigned mask) const {
    constexpr double rounding = 1e-6;
    const Element& element = mesh_.elements[e];
    std::array<Vec3d, Corners> points;
    for (unsigned still = mask;; still = (still - 1) & mask) {  // every subset of the unsure corners
      for (int k = 0; k < Corners; ++k)
        points[k] = mesh_.point(element[k]) - ((still >> k & 1U) != 0 ? moves_[element[k].index()] : Vec3d{});
      if (signed_measure(points) <= (1 + rounding) * static_cast<double>(least_[e])) return true;
      if (still == 0) return false;
    }
  }

  SimplexMesh<Corners>& mesh_;
  std::vector<Vec3d> moves_;
  std::vector<bool>& unsure_;
  double keep_;
  std::vector<float> least_;
  std::vector<std::uint32_t> flat_;
  std::vector<bool> done_;
};

}  // namespace

template <int Corners>
std::size_t displace(SimplexMesh<Corners>& mesh, std::vector<Vec3d> displacement, double keep) {
  std::vector<bool> none;
  return Displacement<Corners>(mesh, std::move(displacement), none, keep).run();
}

template <int Corners>
void displace_piece(SimplexMesh<Corners>& mesh, std::vector<Vec3d> displacement, std::vector<bool>& unsure,
                    double keep) {
  Displacement<Corners>(mesh, std::move(displacement), unsure, keep).run();
}

template std::size_t displace<3>(TriangleMesh&, std::vector<Vec3d>, double);
template std::size_t displace<4>(TetMesh&, std::vector<Vec3d>, double);
template void displace_piece<3>(TriangleMesh&, std::vector<Vec3d>, std::vector<bool>&, double);
template void displace_piece<4>(TetMesh&, std::vector<Vec3d>, std::vector<bool>&, double);

}  // namespace isochron
