#include "isochron/papers/face_strips.h"

#include <algorithm>

namespace isochron {

template <int Corners>
auto StripMaker<Corners>::make(std::span<const Face> faces) -> const Strips& {
  faces_ = faces;
  const auto count = static_cast<std::uint32_t>(faces.size());
  result_.words.clear();
  result_.order.clear();
  list_faces();
  neighbour_.resize(count);
  free_.assign(count, 0);
  used_.assign(count, 0);
  for (auto& list : by_free_) list.clear();
  for (std::uint32_t f = 0; f < count; ++f)
    for (int side = 0; side < sides; ++side) {
      neighbour_[f][side] = face_across(f, side);
      if (neighbour_[f][side] != none) ++free_[f];
    }
  for (std::uint32_t f = count; f-- > 0;) by_free_[free_[f]].push_back(f);
  while (result_.order.size() < count) walk(next_start());
  for (const std::uint32_t v : touched_) count_[v] = 0;
  return result_;
}

template <int Corners>
void StripMaker<Corners>::list_faces() {
  touched_.clear();
  for (const Face& face : faces_)
    for (const std::uint32_t v : face) {
      if (v >= count_.size()) count_.resize(v + 1, 0), begin_.resize(v + 1, 0);
      if (count_[v]++ == 0) touched_.push_back(v);
    }
  std::uint32_t begin = 0;
  for (const std::uint32_t v : touched_) {
    begin_[v] = begin;
    begin += count_[v];
    count_[v] = 0;
  }
  list_.resize(begin);
  for (std::uint32_t f = 0; f < faces_.size(); ++f)
    for (const std::uint32_t v : faces_[f]) list_[begin_[v] + count_[v]++] = f;
}

/// The one other face with all vertices of `face` but the one opposite the side. It is looked for at the vertex with
/// the fewest faces: in a surface this takes a bounded number of steps a face on the average.
template <int Corners>
std::uint32_t StripMaker<Corners>::face_across(std::uint32_t face, int side) const {
  const Face& vertices = faces_[face];
  std::uint32_t rarest = vertices[(side + 1) % sides];
  for (int k = 0; k < sides; ++k)
    if (k != side && count_[vertices[k]] < count_[rarest]) rarest = vertices[k];
  std::uint32_t found = none;
  for (std::uint32_t i = begin_[rarest]; i < begin_[rarest] + count_[rarest]; ++i) {
    const std::uint32_t other = list_[i];
    if (other == face) continue;
    bool shares = true;
    for (int k = 0; k < sides; ++k)
      shares = shares && (k == side || std::ranges::find(faces_[other], vertices[k]) != faces_[other].end());
    if (!shares) continue;
    if (found != none) return none;
    found = other;
  }
  return found;
}

template <int Corners>
std::uint32_t StripMaker<Corners>::next_start() {
  for (std::size_t free = 0;; ++free)
    while (!by_free_[free].empty()) {
      const std::uint32_t face = by_free_[free].back();
      by_free_[free].pop_back();
      if (used_[face] == 0 && free_[face] == free) return face;
    }
}

template <int Corners>
void StripMaker<Corners>::use(std::uint32_t face) {
  used_[face] = 1;
  result_.order.push_back(face);
  for (const std::uint32_t other : neighbour_[face])
    if (other != none && used_[other] == 0) by_free_[--free_[other]].push_back(other);
}

/// The side of a face, of those whose bits are set, across which to go on; −1 where all neighbours are used.
template <int Corners>
int StripMaker<Corners>::best_side(std::uint32_t face, std::uint32_t allowed) const {
  int best = -1;
  for (int side = 0; side < sides; ++side) {
    const std::uint32_t other = neighbour_[face][side];
    if ((allowed >> side & 1U) == 0 || other == none || used_[other] != 0) continue;
    if (best < 0 || free_[other] < free_[neighbour_[face][best]]) best = side;
  }
  return best;
}

/// One strip, from a face on. The window holds the face's vertices, the newest last; what comes next replaces one of
/// the others.
template <int Corners>
void StripMaker<Corners>::walk(std::uint32_t face) {
  use(face);
  const int first = std::max(best_side(face, ~0U), 0);
  Face window;
  for (int k = 0; k < sides; ++k) {
    window[k] = faces_[face][(first + k) % sides];
    result_.words.push_back(static_cast<std::uint16_t>(window[k] | (k == 0 ? StripWord::start : 0U)));
  }
  for (;;) {
    std::uint32_t allowed = 0;
    for (int side = 0; side < sides; ++side)
      if (faces_[face][side] != window.back()) allowed |= 1U << side;
    const int side = best_side(face, allowed);
    if (side < 0) return;
    const std::uint32_t left = faces_[face][side];
    const bool turn = left != window[0];
    face = neighbour_[face][side];
    // What the two faces share cancels out.
    std::uint32_t next = left;
    for (const std::uint32_t v : window) next ^= v;
    for (const std::uint32_t v : faces_[face]) next ^= v;
    for (int k = turn ? 1 : 0; k + 1 < sides; ++k) window[k] = window[k + 1];
    window.back() = next;
    result_.words.push_back(static_cast<std::uint16_t>(next | (turn ? StripWord::turn : 0U)));
    use(face);
  }
}

template class StripMaker<3>;
template class StripMaker<4>;

}  // namespace isochron
