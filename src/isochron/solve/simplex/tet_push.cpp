#include "isochron/solve/simplex/tet_push.h"

#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "isochron/solve/common/state.h"

namespace isochron {
namespace {

/// A target of an element: the other corners of the face that x is in, and where the six lengths are.
struct TargetView {
  std::uint8_t t, b, c;
  std::uint8_t xb, xc, bc, xt, bt, ct;
};
constexpr std::array<TargetView, 16> target_views = [] {
  const auto narrow = [](int value) { return static_cast<std::uint8_t>(value); };
  std::array<TargetView, 16> views{};
  for (int x = 0; x < 4; ++x)
    for (int t = 0; t < 4; ++t) {
      if (t == x) continue;
      int b = 0;
      while (b == x || b == t) ++b;
      const int c = 6 - x - t - b;
      views[static_cast<std::size_t>(4 * x + t)] = {narrow(t),
                                                    narrow(b),
                                                    narrow(c),
                                                    narrow(edge_index(x, b)),
                                                    narrow(edge_index(x, c)),
                                                    narrow(edge_index(b, c)),
                                                    narrow(edge_index(x, t)),
                                                    narrow(edge_index(b, t)),
                                                    narrow(edge_index(c, t))};
    }
  return views;
}();

/// The corners of a set, one in each 16 bits from the lowest on.
struct Corners {
  std::uint64_t list = 0;
  int count = 0;
};
constexpr std::array<Corners, 16> corners_of = [] {
  std::array<Corners, 16> result{};
  for (unsigned set = 0; set < 16; ++set)
    for (unsigned k = 0; k < 4; ++k)
      if (((set >> k) & 1U) != 0) result[set].list |= std::uint64_t{k} << (16 * result[set].count++);
  return result;
}();

/// What a push knows of its elements: the times of their corners, and the targets that can gain.
template <class T>
struct Picked {
  static constexpr std::size_t most = TetPush<T>::max_elements;
  alignas(64) T time[most][4];
  const ElementRecord<T, 4>* record[most];
  std::uint16_t target[3 * most + 4];  ///< element * 16 + corner of x * 4 + corner of the target
};

/// Picks the targets that are late enough to gain. Returns their number.
template <class T>
ISOCHRON_ALWAYS_INLINE int pick(const TetPush<T>& push, Picked<T>& picked) {
  int count = 0;
  for (std::size_t i = 0; i < push.incidences.size(); ++i) {
    const std::uint32_t incidence = push.incidences[i];
    const ElementRecord<T, 4>& record = push.elements[incidence >> 2];
    picked.record[i] = &record;
    unsigned late = 0;
    for (int k = 0; k < 4; ++k) {
      const std::uint32_t v = record.vertex(k);
      const T time = load_shared(push.times + v);
      picked.time[i][k] = time;
      const bool gains = time > push.ux + push.lead_step * static_cast<T>(push.leads[i].of_corner[k]);
      late |= static_cast<unsigned>(gains & (v < push.targets)) << k;
    }
    constexpr std::uint64_t each = 0x0001000100010001;
    const std::uint64_t targets = (16 * i + 4 * std::size_t{incidence & 3U}) * each + corners_of[late].list;
    static_assert(std::endian::native == std::endian::little);
    std::memcpy(picked.target + count, &targets, sizeof targets);
    count += corners_of[late].count;
  }
  return count;
}

/// Writes the picked targets into lanes.
template <class T>
ISOCHRON_ALWAYS_INLINE void fill_lanes(const Picked<T>& picked, int count, T horizon, FaceBatch<T>& lanes) {
  constexpr T inf = std::numeric_limits<T>::infinity();
  const T seen_until[2] = {inf, horizon};  // by whether the corner is acute: a branch would be guessed wrong
  for (int i = 0; i < count; ++i) {
    const unsigned code = picked.target[i];
    const TargetView& view = target_views[code & 15U];
    const ElementRecord<T, 4>& record = *picked.record[code >> 4];
    const T* time = picked.time[code >> 4];
    const T unseen = seen_until[static_cast<int>(record.acute(view.t))];
    const T ub = time[view.b], uc = time[view.c];
    lanes.ub[i] = ub < unseen ? ub : inf;
    lanes.uc[i] = uc < unseen ? uc : inf;
    lanes.lxb[i] = record.length[view.xb];
    lanes.lxc[i] = record.length[view.xc];
    lanes.lbc[i] = record.length[view.bc];
    lanes.lxt[i] = record.length[view.xt];
    lanes.lbt[i] = record.length[view.bt];
    lanes.lct[i] = record.length[view.ct];
  }
}

/// Keeps the best time of each target that gains: it is lowered once, where threads share the times.
template <class T>
ISOCHRON_ALWAYS_INLINE void keep_gains(const Picked<T>& picked, int count, T ux, const FaceBatch<T>& lanes,
                                       Offers<T>& offers) {
  offers.count = 0;
  for (int i = 0; i < count; ++i) {
    const unsigned code = picked.target[i];
    T time = lanes.time[i];
    if (lanes.thin[i] > T(0)) [[unlikely]]
      time = detail::any_push_time(ux, lanes.ub[i], lanes.uc[i], lanes.lxb[i], lanes.lxc[i], lanes.lbc[i], lanes.lxt[i],
                                   lanes.lbt[i], lanes.lct[i]);
    if (!(time < picked.time[code >> 4][code & 3U])) continue;
    const std::uint32_t target = picked.record[code >> 4]->vertex(static_cast<int>(code & 3U));
    int place = 0;
    while (place < offers.count && offers.target[place] != target) ++place;
    if (place == offers.count) {
      offers.target[place] = target;
      offers.time[place] = time;
      ++offers.count;
    } else {
      offers.time[place] = detail::smaller(offers.time[place], time);
    }
  }
}

template <class T>
ISOCHRON_ALWAYS_INLINE std::uint64_t push_in_lanes(const TetPush<T>& push, Offers<T>& offers) {
  Picked<T> picked;
  FaceBatch<T> lanes;
  const int count = pick(push, picked);
  fill_lanes(picked, count, push.horizon, lanes);
  solve_faces(lanes, push.ux, count);
  keep_gains(picked, count, push.ux, lanes, offers);
  return static_cast<std::uint64_t>(count);
}

// The same with the vectors that every processor of the kind has, and on x86-64, where those are two doubles, with the
// wider ones that most have.
template <class T>
std::uint64_t push_plain(const TetPush<T>& push, Offers<T>& offers) {
  return push_in_lanes(push, offers);
}
#if defined(__x86_64__) && defined(__GNUC__)
template <class T>
[[gnu::target("avx2,fma")]] std::uint64_t push_by_256_bits(const TetPush<T>& push, Offers<T>& offers) {
  return push_in_lanes(push, offers);
}
template <class T>
[[gnu::target("avx512f,avx512dq,avx512vl")]] std::uint64_t push_by_512_bits(const TetPush<T>& push, Offers<T>& offers) {
  return push_in_lanes(push, offers);
}
#endif

template <class T>
auto widest() {
#if defined(__x86_64__) && defined(__GNUC__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return push_by_512_bits<T>;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return push_by_256_bits<T>;
#endif
  return push_plain<T>;
}

template <class T>
std::uint64_t push_with_widest(const TetPush<T>& push, Offers<T>& offers) {
  static const auto run = widest<T>();
  return run(push, offers);
}

}  // namespace

std::uint64_t push_through(const TetPush<float>& push, Offers<float>& offers) { return push_with_widest(push, offers); }
std::uint64_t push_through(const TetPush<double>& push, Offers<double>& offers) {
  return push_with_widest(push, offers);
}

}  // namespace isochron
