// What an element offers one of its corners, for schedules that only pull, from the three ways of paper 001 section 3
// to keep its geometry: coordinates and M, eighteen products, or six lengths addressed through the Gray code. For host
// and device.
#pragma once

#include "isochron/local/simplex_update.h"
#include "isochron/solve/simplex/problem.h"
#include "isochron/types.h"

namespace isochron {

/// A tetrahedron with all its products: the six squared lengths and, at each corner, the three products of its edges.
template <class T>
struct ProductRecord {
  std::array<std::uint32_t, 4> corner;  ///< as in `ElementRecord`
  std::array<T, 6> length;
  std::array<std::array<T, 3>, 4> product;  ///< at corner c: of the edges to the others, without the k-th of them

  /// The product of the edges from c to the two corners that are neither c nor `without`.
  [[nodiscard]] ISOCHRON_HD T product_without(int c, int without) const {
    return product[c][(without - c - 1 + 4) & 3];
  }
};

template <class T>
ISOCHRON_HD inline ProductRecord<T> with_products(const ElementRecord<T, 4>& from) {
  ProductRecord<T> record{};
  record.corner = from.corner;
  record.length = from.length;
  for (int c = 0; c < 4; ++c)
    for (int k = 0; k < 3; ++k) {
      const int a = (c + 1 + (k + 1) % 3) & 3, b = (c + 1 + (k + 2) % 3) & 3;
      record.product[c][k] =
          T(0.5) * (from.length[edge_index(c, a)] + from.length[edge_index(c, b)] - from.length[edge_index(a, b)]);
    }
  return record;
}

/// A tetrahedron with nothing precomputed: M, and the coordinates of its corners elsewhere.
template <class T>
struct MetricRecord {
  std::array<std::uint32_t, 4> corner;  ///< as in `ElementRecord`
  SymTensor3<T> metric;                 ///< in the problem's units
};

namespace detail {

inline constexpr std::uint32_t corner_flags = 0x80000000U;

/// The vertex at a record's corner, without the flag.
ISOCHRON_HD constexpr std::uint32_t vertex_at(std::uint32_t corner) { return corner & ~corner_flags; }

/// The lengths seen from corner t, with the three after it in turn as the face.
template <class Lengths>
ISOCHRON_HD inline auto lengths_at(const Lengths& l, int t) {
  const int a = (t + 1) & 3, b = (t + 2) & 3, c = (t + 3) & 3;
  using T = std::remove_cvref_t<decltype(l[0])>;
  return TetLengths<T>{l[edge_index(a, b)], l[edge_index(a, c)], l[edge_index(b, c)],
                       l[edge_index(a, t)], l[edge_index(b, t)], l[edge_index(c, t)]};
}

}  // namespace detail

/// The earliest arrival at corner t of a tetrahedron from its other three, whose times are `times.load(vertex)`.
template <class T, class Times>
ISOCHRON_HD inline T candidate(const ElementRecord<T, 4>& record, int t, const Times& times) {
  const T ua = times.load(detail::vertex_at(record.corner[(t + 1) & 3])),
          ub = times.load(detail::vertex_at(record.corner[(t + 2) & 3])),
          uc = times.load(detail::vertex_at(record.corner[(t + 3) & 3]));
  constexpr T inf = detail::infinity<T>();
  if (!(ua < inf) && !(ub < inf) && !(uc < inf)) return inf;
  return detail::tet_update_scaled(ua, ub, uc, detail::lengths_at(record.length, t)).time;
}

/// The same of a triangle.
template <class T, class Times>
ISOCHRON_HD inline T candidate(const ElementRecord<T, 3>& record, int t, const Times& times) {
  const int a = (t + 1) % 3, b = (t + 2) % 3;
  const T ua = times.load(detail::vertex_at(record.corner[a])), ub = times.load(detail::vertex_at(record.corner[b]));
  constexpr T inf = detail::infinity<T>();
  if (!(ua < inf) && !(ub < inf)) return inf;
  const auto& l = record.length;
  const TriangleLengths<T> lengths{l[edge_index(a, b)], l[edge_index(a, t)], l[edge_index(b, t)]};
  return detail::triangle_update_scaled(ua, ub, lengths).time;
}

/// The same of a tetrahedron with products. The paper's common vertex is the corner before t. A thin face is solved
/// from its widest angle, for which there is no stored product: there the lengths serve.
template <class T, class Times>
ISOCHRON_HD inline T candidate(const ProductRecord<T>& r, int t, const Times& times) {
  const int a = (t + 1) & 3, b = (t + 2) & 3, c = (t + 3) & 3;
  const T ua = times.load(detail::vertex_at(r.corner[a])), ub = times.load(detail::vertex_at(r.corner[b])),
          uc = times.load(detail::vertex_at(r.corner[c]));
  constexpr T inf = detail::infinity<T>();
  if (!(ua < inf) && !(ub < inf) && !(uc < inf)) return inf;
  const auto length = [&r](int i, int j) { return r.length[edge_index(i, j)]; };
  const auto gram = detail::FaceGram<T>::with_product(length(a, c), length(b, c), r.product_without(c, t));
  if (gram.thin()) return detail::tet_update_scaled(ua, ub, uc, detail::lengths_at(r.length, t)).time;
  const auto s = detail::face_solution_from_products(ua, ub, uc, gram, r.product_without(c, b), r.product_without(c, a),
                                                     length(c, t));
  if (s.inside()) return s.time;
  T best = inf, lambda;
  const auto keep = [&](T time) { best = detail::smaller(best, time); };
  if (!s.exists || s.w1 < T(0)) keep(detail::edge_time(ub, uc, length(b, c), length(b, t), length(c, t), lambda));
  if (!s.exists || s.w2 < T(0)) keep(detail::edge_time(ua, uc, length(a, c), length(a, t), length(c, t), lambda));
  if (!s.exists || s.w3 < T(0)) keep(detail::edge_time(ua, ub, length(a, b), length(a, t), length(b, t), lambda));
  return best;
}

/// The same of a tetrahedron with coordinates: the six lengths are formed anew.
template <class T, class Times>
ISOCHRON_HD inline T candidate(const MetricRecord<T>& r, const Vec3<T>* points, int t, const Times& times) {
  const std::uint32_t a = detail::vertex_at(r.corner[(t + 1) & 3]), b = detail::vertex_at(r.corner[(t + 2) & 3]),
                      c = detail::vertex_at(r.corner[(t + 3) & 3]), x = detail::vertex_at(r.corner[t]);
  const T ua = times.load(a), ub = times.load(b), uc = times.load(c);
  constexpr T inf = detail::infinity<T>();
  if (!(ua < inf) && !(ub < inf) && !(uc < inf)) return inf;
  const auto length = [&](std::uint32_t i, std::uint32_t j) { return squared_length(r.metric, points[j] - points[i]); };
  return detail::tet_update_scaled(
             ua, ub, uc,
             TetLengths<T>{length(a, b), length(a, c), length(b, c), length(a, x), length(b, x), length(c, x)})
      .time;
}

}  // namespace isochron
