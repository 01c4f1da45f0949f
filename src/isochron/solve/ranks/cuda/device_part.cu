// How vertices of a mesh push: each offers its elements' other corners a better time.
#include "isochron/solve/ranks/cuda/device_part.h"

#include "isochron/local/push_batch.h"
#include "isochron/solve/ranks/cuda/part_rounds.h"
#include "isochron/solve/simplex/pull_candidate.h"

namespace isochron::ranks {
namespace {

using cuda::DeviceArray;

/// Thin faces are rare: kept out of the loop, they do not cost it registers.
template <class T>
__device__ __noinline__ T thin_push_time(T ux, T up, T uq, T xp, T xq, T pq, T xt, T pt, T qt) {
  return detail::any_push_time(ux, up, uq, xp, xq, pq, xt, pt, qt);
}

/// Where the elements of a part are.
template <class T, int Corners>
struct MeshView {
  std::uint32_t owned;
  const std::uint32_t* offsets;  ///< of each vertex's elements
  const std::uint32_t* incidences;
  const ElementRecord<T, Corners>* elements;
  const StarRecord<T>* stars;
  const std::uint32_t* face_offsets;  ///< of each vertex's virtual elements; null when there are none
  const std::uint32_t* face_list;
  const VirtualRecord<T, Corners>* virtual_records;
  const T* edge;
};

/// One thread's pushes from one vertex, through some of the vertex's elements.
template <class T, int Corners, class Offer>
class Pusher {
 public:
  __device__ Pusher(const MeshView<T, Corners>& view, const T* times, const Offer& offer)
      : v_(view), times_(times), offer_(offer) {}

  __device__ void push_element(std::uint32_t incidence, T ux) {
    if constexpr (Corners == 4) push_tet(v_.incidences[incidence], ux);
    else push_triangle(v_.stars[incidence], ux);
  }

  __device__ void push_virtual(const VirtualRecord<T, Corners>& record) {
    if (record.target >= v_.owned) return;
    const T now = time(record.target);
    const T u0 = time(record.face[0]), u1 = time(record.face[1]);
    const auto& l = record.length;
    if constexpr (Corners == 4) {
      const T u2 = time(record.face[2]);
      if (now <= detail::smaller(detail::smaller(u0, u1), u2)) return;
      ++solves_;
      offer_(record.target, now,
             detail::tet_update_scaled(u0, u1, u2, TetLengths<T>{l[0], l[1], l[2], l[3], l[4], l[5]}).time);
    } else {
      if (now <= detail::smaller(u0, u1)) return;
      ++solves_;
      offer_(record.target, now, detail::triangle_update_scaled(u0, u1, TriangleLengths<T>{l[0], l[1], l[2]}).time);
    }
  }

  [[nodiscard]] __device__ unsigned solves() const { return solves_; }

 private:
  /// Past the first-level cache, which others' writes do not reach.
  [[nodiscard]] __device__ T time(std::uint32_t v) const { return __ldcg(times_ + v); }

  __device__ void push_tet(std::uint32_t incidence, T ux) {
    const ElementRecord<T, 4>& record = v_.elements[incidence >> 2];
    const int x = static_cast<int>(incidence & 3U);
    const int a = (x + 1) & 3, b = (x + 2) & 3, c = (x + 3) & 3;
    const std::uint32_t corner[3] = {record.corner[a], record.corner[b], record.corner[c]};
    const T from_x[3] = {record.length[edge_index(x, a)], record.length[edge_index(x, b)],
                         record.length[edge_index(x, c)]};
    const T opposite[3] = {record.length[edge_index(b, c)], record.length[edge_index(a, c)],
                           record.length[edge_index(a, b)]};
    const T u[3] = {time(detail::vertex_at(corner[0])), time(detail::vertex_at(corner[1])),
                    time(detail::vertex_at(corner[2]))};
#pragma unroll
    for (int t = 0; t < 3; ++t) {
      const int p = (t + 1) % 3, q = (t + 2) % 3;
      const std::uint32_t target = detail::vertex_at(corner[t]);
      if (target >= v_.owned || !can_gain(corner[t], u[t], ux, detail::smaller(u[p], u[q]))) continue;
      ++solves_;
      bool thin;
      T found = detail::push_time_lane(ux, u[p], u[q], from_x[p], from_x[q], opposite[t], from_x[t], opposite[q],
                                       opposite[p], thin);
      if (thin)
        found = thin_push_time(ux, u[p], u[q], from_x[p], from_x[q], opposite[t], from_x[t], opposite[q], opposite[p]);
      offer_(target, u[t], found);
    }
  }

  __device__ void push_triangle(const StarRecord<T>& star, T ux) {
    const std::uint32_t a = detail::vertex_at(star.corner_a), b = detail::vertex_at(star.corner_b);
    const T ua = time(a), ub = time(b);
    T lambda;
    if (a < v_.owned && can_gain(star.corner_a, ua, ux, ub)) {
      ++solves_;
      offer_(a, ua, detail::edge_time(ub, ux, star.xb, star.ab, star.xa, lambda));
    }
    if (b < v_.owned && can_gain(star.corner_b, ub, ux, ua)) {
      ++solves_;
      offer_(b, ub, detail::edge_time(ua, ux, star.xa, star.ab, star.xb, lambda));
    }
  }

  /// An acute corner gains from x when it is later than x, another from any earlier corner.
  __device__ static bool can_gain(std::uint32_t corner, T now, T ux, T others) {
    return now > ux || ((corner & detail::corner_flags) != 0 && now > others);
  }

  const MeshView<T, Corners>& v_;
  const T* times_;
  const Offer& offer_;
  unsigned solves_ = 0;
};

template <class T, int Corners>
struct MeshRule {
  /// A vertex has about 24 tetrahedra or 6 triangles.
  static constexpr unsigned lanes = Corners == 4 ? 32 : 8;
  MeshView<T, Corners> view;

  [[nodiscard]] __device__ T edge(std::uint32_t v) const { return view.edge[v]; }
  template <class Offer>
  __device__ unsigned push(const T* times, std::uint32_t x, T ux, unsigned lane, const Offer& offer) const {
    Pusher<T, Corners, Offer> pusher(view, times, offer);
    for (std::uint32_t i = view.offsets[x] + lane; i < view.offsets[x + 1]; i += lanes) pusher.push_element(i, ux);
    if (view.face_offsets != nullptr)
      for (std::uint32_t i = view.face_offsets[x] + lane; i < view.face_offsets[x + 1]; i += lanes)
        pusher.push_virtual(view.virtual_records[view.face_list[i] >> 2]);
    return pusher.solves();
  }
};

template <class T, int Corners>
class MeshArrays {
 public:
  using Rule = MeshRule<T, Corners>;

  MeshArrays(const SimplexProblem<T, Corners>& problem, std::uint32_t owned)
      : owned_(owned),
        offsets_(std::span<const std::uint32_t>(problem.adjacency.offsets)),
        edge_(std::span<const T>(problem.edge)) {
    if constexpr (Corners == 4) {
      incidences_ = DeviceArray<std::uint32_t>(std::span<const std::uint32_t>(problem.adjacency.incidences));
      elements_ = DeviceArray<ElementRecord<T, 4>>(std::span<const ElementRecord<T, 4>>(problem.elements));
    } else {
      stars_ = DeviceArray<StarRecord<T>>(std::span<const StarRecord<T>>(problem.stars));
    }
    const auto& extra = problem.virtual_elements;
    if (extra.empty()) return;
    face_offsets_ = DeviceArray<std::uint32_t>(std::span<const std::uint32_t>(extra.face_offsets));
    face_list_ = DeviceArray<std::uint32_t>(std::span<const std::uint32_t>(extra.face_list));
    virtual_records_ =
        DeviceArray<VirtualRecord<T, Corners>>(std::span<const VirtualRecord<T, Corners>>(extra.records));
  }

  [[nodiscard]] Rule rule() const {
    return {{owned_, offsets_.data(), incidences_.data(), elements_.data(), stars_.data(), face_offsets_.data(),
             face_list_.data(), virtual_records_.data(), edge_.data()}};
  }

 private:
  std::uint32_t owned_;
  DeviceArray<std::uint32_t> offsets_, incidences_;
  DeviceArray<ElementRecord<T, Corners>> elements_;
  DeviceArray<StarRecord<T>> stars_;
  DeviceArray<std::uint32_t> face_offsets_, face_list_;
  DeviceArray<VirtualRecord<T, Corners>> virtual_records_;
  DeviceArray<T> edge_;
};

}  // namespace

template <class T, int Corners>
std::unique_ptr<DevicePart<T>> make_device_part(const SimplexProblem<T, Corners>& problem, std::uint32_t owned,
                                                const Halo& halo) {
  const cuda::Device device = cuda::require_device();
  return std::make_unique<PartOnDevice<T, MeshArrays<T, Corners>>>(device, MeshArrays<T, Corners>(problem, owned),
                                                                   problem.vertex_count, halo);
}

template std::unique_ptr<DevicePart<float>> make_device_part(const SimplexProblem<float, 3>&, std::uint32_t,
                                                             const Halo&);
template std::unique_ptr<DevicePart<float>> make_device_part(const SimplexProblem<float, 4>&, std::uint32_t,
                                                             const Halo&);
template std::unique_ptr<DevicePart<double>> make_device_part(const SimplexProblem<double, 3>&, std::uint32_t,
                                                              const Halo&);
template std::unique_ptr<DevicePart<double>> make_device_part(const SimplexProblem<double, 4>&, std::uint32_t,
                                                              const Halo&);

}  // namespace isochron::ranks
