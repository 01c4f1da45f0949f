#include "isochron/papers/one_ring_strips.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "isochron/core/parallel.h"
#include "isochron/error.h"

namespace isochron {
namespace {

/// What the times may change by the rounding of coordinates, in local edge travel times: in single precision 1.5e-5,
/// where the residual may be 1e-4.
template <class T>
constexpr double allowed_change = 128.0 * std::numeric_limits<T>::epsilon();

/// The least distance of the last corner from the line or plane of the others; 0 when that is not to be known.
template <class T>
double height(const T (&l)[3]) {
  const double base = l[0], foot = 0.5 * (base + l[1] - l[2]);
  return base > 0 ? std::sqrt(std::max(l[1] - foot * foot / base, 0.0)) : 0;
}
template <class T>
double height(const T (&l)[6]) {
  const detail::FaceGram<double> f(l[0], l[1], l[2]);
  if (!(f.det > 1e-6 * f.f11 * f.f22)) return 0;
  const double g1 = 0.5 * (f.f11 + l[5] - l[3]), g2 = 0.5 * (f.f22 + l[5] - l[4]);
  const double foot = (g1 * (f.f22 * g1 - f.f12 * g2) + g2 * (f.f11 * g2 - f.f12 * g1)) / f.det;
  return std::sqrt(std::max(l[5] - foot, 0.0));
}

template <class T, int Corners>
struct StripInput {
  const SimplexProblem<T, Corners>& problem;
  const SimplexMesh<Corners>& mesh;
  const Metric& metric;
  const PatchPacking& packing;
  const PatchHalos& halos;
  std::vector<std::uint32_t> vertex_at;  ///< by place
  double unit;                           ///< of the coordinates, a power of two near the mean edge
};

/// The strips of some patches that follow one another; where the layout has beginnings, `arrays` has sizes.
template <class T, int Corners>
class StripPart {
 public:
  StripArrays<T, HostArray> arrays;

  void add(const StripInput<T, Corners>& input, std::uint32_t patch) {
    input_ = &input;
    first_ = input.packing.vertex_begin[patch];
    own_ = input.packing.vertex_begin[patch + 1] - first_;
    halo_first_ = input.halos.begin[patch];
    halo_ = input.halos.begin[patch + 1] - halo_first_;
    add_points();
    for (std::uint32_t begin = 0; begin < own_; begin += strip_width) {
      const std::uint32_t width = std::min(own_ - begin, strip_width);
      for (std::uint32_t lane = 0; lane < width; ++lane) add_vertex(begin + lane, lane);
      interleave(words_, width, StripWord::end, arrays.word, arrays.word_begin);
      interleave(speeds_, width, T(0), arrays.speed, arrays.speed_begin);
    }
  }

 private:
  static constexpr int edges = SimplexMesh<Corners>::edges;
  using Simplex = PatchSimplex<std::uint32_t, T, Corners>;

  [[nodiscard]] std::uint32_t vertex(std::uint32_t local) const {
    return input_->vertex_at[local < own_ ? first_ + local : input_->halos.halo[halo_first_ + local - own_]];
  }
  [[nodiscard]] std::uint32_t local(std::uint32_t v) const {
    const std::uint32_t place = input_->packing.place_of[v];
    if (place >= first_ && place - first_ < own_) return place - first_;
    const auto begin = input_->halos.halo.begin() + halo_first_;
    return own_ + static_cast<std::uint32_t>(std::lower_bound(begin, begin + halo_, place) - begin);
  }
  [[nodiscard]] Vec3d position(std::uint32_t local) const {
    return input_->mesh.point(input_->problem.user(vertex(local)));
  }

  void add_points() {
    points_begin_ = arrays.point.size();
    if (own_ == 0) return;
    Vec3d low = position(0), high = low;
    for (std::uint32_t i = 1; i < own_; ++i) {
      const Vec3d p = position(i);
      for (int k = 0; k < 3; ++k) low[k] = std::min(low[k], p[k]), high[k] = std::max(high[k], p[k]);
    }
    const Vec3d middle = 0.5 * low + 0.5 * high;
    for (std::uint32_t i = 0; i < own_ + halo_; ++i) {
      const Vec3d p = (1 / input_->unit) * (position(i) - middle);
      for (int k = 0; k < 3; ++k) arrays.point.push_back(static_cast<T>(p[k]));
    }
  }

  void add_vertex(std::uint32_t target, std::uint32_t lane) {
    const SimplexProblem<T, Corners>& problem = input_->problem;
    const std::uint32_t v = vertex(target);
    faces_.clear();
    face_speeds_.clear();
    spelled_ = 0;
    for (const std::uint32_t incidence : problem.adjacency.at(VertexId(v))) {
      const auto& record = problem.elements[incidence >> 2];
      Simplex simplex;
      for (int k = 0; k < Corners; ++k) simplex.node[k] = local(record.vertex(k));
      std::copy(record.length.begin(), record.length.end(), simplex.length);
      for (int k = 0; k <= Adjacency::corner_of(incidence); ++k) simplex.turn();
      add_element(simplex, speed_of(incidence >> 2), problem.edge[v]);
    }
    const auto& extra = problem.virtual_elements;
    if (!extra.empty())
      for (std::uint32_t i = extra.target_offsets[v]; i < extra.target_offsets[v + 1]; ++i) {
        const auto& record = extra.records[extra.target_list[i]];
        Simplex simplex;
        for (int k = 0; k + 1 < Corners; ++k) simplex.node[k] = local(record.face[k]);
        std::copy(record.length.begin(), record.length.end(), simplex.length);
        spell_out(simplex);
      }
    arrays.spelled_begin.push_back(spelled_);
    const auto& strips = maker_.make(faces_);
    words_[lane] = strips.words;
    speeds_[lane].clear();
    for (const std::uint32_t face : strips.order) speeds_[lane].push_back(face_speeds_[face]);
  }

  [[nodiscard]] T speed_of(std::size_t record) const {
    const double scale = input_->unit / input_->problem.unit;
    return static_cast<T>(input_->metric.tensor(input_->problem.user_element(record)).xx * scale * scale);
  }

  /// An element with the vertex of the strip as its last corner.
  void add_element(const Simplex& simplex, T speed, T edge) {
    if (own_ + halo_ > StripWord::vertices || !described(simplex, speed, edge)) {
      spell_out(simplex);
      return;
    }
    auto& face = faces_.emplace_back();
    std::copy(simplex.node, simplex.node + Corners - 1, face.begin());
    face_speeds_.push_back(speed);
  }

  /// Whether an arrival is the same from coordinates as from lengths. The squared distance from the last corner to a
  /// point of the face with weights w is the sum of w_i l_ix less that of w_i w_j l_ij, and the second weights sum up
  /// to 1/3 at most (1/4 on an edge): its change over twice the height bounds the change of the earliest arrival.
  [[nodiscard]] bool described(const Simplex& simplex, T speed, T edge) const {
    T formed[edges];
    lengths_from_points<T, Corners>(arrays.point.data() + points_begin_, simplex.node, speed, formed);
    double in_face = 0, to_target = 0;
    for (int b = 1; b < Corners; ++b)
      for (int a = 0; a < b; ++a) {
        const int e = edge_index(a, b);
        const double change = std::abs(static_cast<double>(formed[e]) - static_cast<double>(simplex.length[e]));
        if (!std::isfinite(change)) return false;
        double& most = b == Corners - 1 ? to_target : in_face;
        most = std::max(most, change);
      }
    const double change = to_target + in_face / (Corners == 4 ? 3 : 4);
    return change < 2 * height(simplex.length) * allowed_change<T> * static_cast<double>(edge);
  }

  void spell_out(const Simplex& simplex) {
    ++spelled_;
    arrays.spelled_face.insert(arrays.spelled_face.end(), simplex.node, simplex.node + Corners - 1);
    arrays.spelled_length.insert(arrays.spelled_length.end(), simplex.length, simplex.length + edges);
  }

  /// A slice of lists, all as long as the longest.
  template <class Value>
  static void interleave(const std::array<std::vector<Value>, strip_width>& lists, std::uint32_t width, Value padding,
                         std::vector<Value>& values, std::vector<std::uint64_t>& sizes) {
    std::size_t longest = 0;
    for (std::uint32_t lane = 0; lane < width; ++lane) longest = std::max(longest, lists[lane].size());
    const std::size_t begin = values.size();
    values.resize(begin + longest * width, padding);
    for (std::uint32_t lane = 0; lane < width; ++lane)
      for (std::size_t j = 0; j < lists[lane].size(); ++j) values[begin + j * width + lane] = lists[lane][j];
    sizes.push_back(longest * width);
  }

  const StripInput<T, Corners>* input_ = nullptr;
  std::uint32_t first_ = 0, own_ = 0, halo_first_ = 0, halo_ = 0, spelled_ = 0;
  std::size_t points_begin_ = 0;
  StripMaker<Corners> maker_;
  std::vector<typename StripMaker<Corners>::Face> faces_;
  std::vector<T> face_speeds_;
  std::array<std::vector<std::uint16_t>, strip_width> words_;  ///< by vertex of the slice
  std::array<std::vector<T>, strip_width> speeds_;
};

template <class Value>
void append(std::vector<Value>& all, std::vector<Value>& part) {
  if (all.empty()) all = std::move(part);
  else all.insert(all.end(), part.begin(), part.end());
  part = {};
}

/// Sizes to beginnings, with the end behind.
template <class Number>
void sum_up(std::vector<Number>& sizes) {
  sizes.push_back(0);
  std::exclusive_scan(sizes.begin(), sizes.end(), sizes.begin(), Number{0});
}

}  // namespace

template <class T, int Corners>
OneRingStrips<T> make_one_ring_strips(const SimplexProblem<T, Corners>& problem, const SimplexMesh<Corners>& mesh,
                                      const Metric& metric, const PatchPacking& packing, int threads) {
  if (!metric.isotropic())
    throw UsageError(
        "one-ring strips hold a speed for each element and no tensor, and the metric is anisotropic; use " +
        Message(Setting{Option::layout, "cell-assembly"}));
  OneRingStrips<T> result;
  result.halos = find_halos(problem, packing, threads);
  const double unit = time_unit(sample_edges(mesh, Metric::isotropic(1), unit_sample(mesh.element_count())));
  const StripInput<T, Corners> input{problem, mesh, metric, packing, result.halos, packing.vertices_by_place(), unit};
  const std::size_t patches = packing.patches();
  std::vector<StripPart<T, Corners>> parts(static_cast<std::size_t>(threads));
  parallel_region(threads, [&](int thread, int team) {
    for (std::size_t p = patches * thread / team; p < patches * (thread + 1) / team; ++p)
      parts[thread].add(input, static_cast<std::uint32_t>(p));
  });
  auto& arrays = result.arrays;
  arrays.slice_begin.push_back(0);
  for (std::uint32_t p = 0; p < patches; ++p) {
    const std::uint32_t own = packing.vertex_begin[p + 1] - packing.vertex_begin[p];
    arrays.slice_begin.push_back(arrays.slice_begin.back() + (own + strip_width - 1) / strip_width);
  }
  for (auto& part : parts) {
    append(arrays.word_begin, part.arrays.word_begin);
    append(arrays.speed_begin, part.arrays.speed_begin);
    append(arrays.word, part.arrays.word);
    append(arrays.speed, part.arrays.speed);
    append(arrays.point, part.arrays.point);
    append(arrays.spelled_begin, part.arrays.spelled_begin);
    append(arrays.spelled_face, part.arrays.spelled_face);
    append(arrays.spelled_length, part.arrays.spelled_length);
  }
  sum_up(arrays.word_begin);
  sum_up(arrays.speed_begin);
  if (arrays.spelled_face.empty()) arrays.spelled_begin = {};
  else sum_up(arrays.spelled_begin);
  return result;
}

#define ISOCHRON_INSTANTIATE(T, corners)                                                                         \
  template OneRingStrips<T> make_one_ring_strips(const SimplexProblem<T, corners>&, const SimplexMesh<corners>&, \
                                                 const Metric&, const PatchPacking&, int);
ISOCHRON_INSTANTIATE(float, 3)
ISOCHRON_INSTANTIATE(float, 4)
ISOCHRON_INSTANTIATE(double, 3)
ISOCHRON_INSTANTIATE(double, 4)
#undef ISOCHRON_INSTANTIATE

}  // namespace isochron
