// Patches in paper 003's one-ring strips (section 3.2.1): for each vertex the faces opposite it in triangle strips, one
// speed an element in the order of the strip, and the coordinates of the patch's vertices. The lengths of an element
// are formed where they are needed. What the coordinates do not describe is spelled out, with lengths: virtual
// elements, and elements that are so thin that rounding the coordinates would show in the times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "isochron/mesh.h"
#include "isochron/papers/face_strips.h"
#include "isochron/papers/patch_simplex.h"
#include "isochron/papers/vertex_parts.h"

namespace isochron {

/// The strips of at most so many vertices lie interleaved, so that the threads of a warp read side by side.
inline constexpr std::uint32_t strip_width = 32;

/// Inside a patch a vertex has a local number: first the patch's own vertices, then its halo. A slice is the next
/// `strip_width` vertices of a patch, or what is left of them: n. Word j of its vertex i is entry word_begin[slice] +
/// j * n + i, the speed of that vertex's k-th face entry speed_begin[slice] + k * n + i. Places are those of the
/// packing.
template <class T>
struct StripView {
  const std::uint32_t* slice_begin;  ///< by patch
  const std::uint64_t* word_begin;   ///< by slice
  const std::uint64_t* speed_begin;  ///< by slice
  const std::uint16_t* word;
  const T* speed;  ///< as paper 003 stores it, squared and in the problem's units: travel time² a squared length
  const T* point;  ///< coordinates of each patch's vertices in local order, from its middle
  const std::uint32_t* spelled_begin;  ///< by place; null when nothing is spelled out
  const std::uint32_t* spelled_face;   ///< local numbers, those of one element side by side
  const T* spelled_length;             ///< squared metric lengths, likewise, with the place's vertex last
};

/// The arrays of the layout, on the host (`std::vector`) or the device.
template <class T, template <class> class Array>
struct StripArrays {
  Array<std::uint32_t> slice_begin;
  Array<std::uint64_t> word_begin, speed_begin;
  Array<std::uint16_t> word;
  Array<T> speed, point;
  Array<std::uint32_t> spelled_begin, spelled_face;
  Array<T> spelled_length;

  [[nodiscard]] StripView<T> view() const {
    return {slice_begin.data(),
            word_begin.data(),
            speed_begin.data(),
            word.data(),
            speed.data(),
            point.data(),
            spelled_begin.size() == 0 ? nullptr : spelled_begin.data(),
            spelled_face.data(),
            spelled_length.data()};
  }
  [[nodiscard]] std::size_t bytes() const {
    const auto of = [](const auto&... arrays) {
      return (std::size_t{0} + ... + (arrays.size() * sizeof(*arrays.data())));
    };
    return of(slice_begin, word_begin, speed_begin, word, speed, point, spelled_begin, spelled_face, spelled_length);
  }
};

template <class T>
using HostArray = std::vector<T>;

template <class T>
struct OneRingStrips {
  PatchHalos halos;
  StripArrays<T, HostArray> arrays;
};

/// Made by the host. Throws UsageError when the metric is not isotropic. The result does not depend on `threads`.
template <class T, int Corners>
OneRingStrips<T> make_one_ring_strips(const SimplexProblem<T, Corners>& problem, const SimplexMesh<Corners>& mesh,
                                      const Metric& metric, const PatchPacking& packing, int threads);

/// What an update of a patch works on: times of its vertices and its halo, an arrival at each vertex, and coordinates.
constexpr std::uint64_t strip_room(std::uint64_t own, std::uint64_t halo) { return 4 * (own + halo) + own; }

/// The squared metric lengths of an element from the coordinates of its corners, three for each local number.
template <class T, int Corners>
ISOCHRON_HD inline void lengths_from_points(const T* point, const std::uint32_t (&corner)[Corners], T speed,
                                            T (&length)[Corners * (Corners - 1) / 2]) {
  for (int b = 1; b < Corners; ++b)
    for (int a = 0; a < b; ++a) {
      const T* const p = point + std::size_t{3} * corner[a];
      const T* const q = point + std::size_t{3} * corner[b];
      const T x = q[0] - p[0], y = q[1] - p[1], z = q[2] - p[2];
      length[edge_index(a, b)] = speed * (x * x + y * y + z * z);
    }
}

/// A vertex of a patch of `own` vertices whose times and coordinates are at hand, by local number.
template <class T>
struct StripVertex {
  std::uint32_t patch, place, own, local;
  const T* time;
  const T* point;
};

/// The earliest arrival at a vertex through its spelled-out elements, if that is before `best`.
template <int Corners, class T>
ISOCHRON_HD inline T earliest_spelled_out(const StripView<T>& strips, const StripVertex<T>& v, T best,
                                          unsigned long long& solves) {
  if (strips.spelled_begin == nullptr) return best;
  const std::uint32_t end = strips.spelled_begin[v.place + 1];
  for (std::uint32_t i = strips.spelled_begin[v.place]; i < end; ++i) {
    PatchSimplex<T, T, Corners> simplex;
    for (int k = 0; k + 1 < Corners; ++k)
      simplex.node[k] = v.time[strips.spelled_face[std::size_t{i} * (Corners - 1) + k]];
    if (!(earliest_of_face(simplex) < best)) continue;
    for (int e = 0; e < simplex.edges; ++e)
      simplex.length[e] = strips.spelled_length[std::size_t{i} * simplex.edges + e];
    ++solves;
    best = detail::smaller(best, arrival_at_last(simplex));
  }
  return best;
}

/// The earliest arrival at a vertex from its one-ring, or its time if that is earlier. Adds to `solves`.
template <int Corners, class T>
ISOCHRON_HD inline T earliest_from_strips(const StripView<T>& strips, const StripVertex<T>& v,
                                          unsigned long long& solves) {
  const std::uint32_t slice = strips.slice_begin[v.patch] + v.local / strip_width, lane = v.local % strip_width;
  const std::uint32_t left = v.own - (v.local - lane), width = left < strip_width ? left : strip_width;
  const std::uint64_t end = strips.word_begin[slice + 1];
  std::uint64_t speed = strips.speed_begin[slice] + lane;
  T best = v.time[v.local];
  StripWindow<Corners, T> window;
  std::uint64_t at = strips.word_begin[slice] + lane;
  const auto read = [&]() -> std::uint16_t {
    if (at < end) return strips.word[at];
    return StripWord::end;
  };
  for (std::uint16_t word = read(), next; word != StripWord::end; word = next) {
    at += width;
    next = read();  // on its way while this one is worked on
    if (!window.take(word, v.time)) continue;
    PatchSimplex<T, T, Corners> simplex;
    std::uint32_t corner[Corners];
    for (int k = 0; k + 1 < Corners; ++k) {
      simplex.node[k] = window.time[k];
      corner[k] = window.vertex[k];
    }
    if (earliest_of_face(simplex) < best) {
      corner[Corners - 1] = v.local;
      lengths_from_points<T, Corners>(v.point, corner, strips.speed[speed], simplex.length);
      ++solves;
      best = detail::smaller(best, arrival_at_last(simplex));
    }
    speed += width;
  }
  return earliest_spelled_out<Corners>(strips, v, best, solves);
}

}  // namespace isochron
