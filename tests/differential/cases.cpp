#include "differential/cases.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "isochron/core/random.h"

namespace isochron::test {
namespace {

/// Random decisions of one case.
class Dice {
 public:
  Dice(std::uint64_t seed, std::uint64_t index) : random_(Random(seed).bits() ^ Random(~index).bits()) {}

  double uniform(double low = 0, double high = 1) { return random_.uniform(low, high); }
  /// From `low` to `high`, both included.
  std::size_t number(std::size_t low, std::size_t high) { return low + random_.below(high - low + 1); }
  bool chance(double probability) { return random_.uniform() < probability; }
  /// 10 to a power between the two.
  double power(double low, double high) { return std::pow(10.0, uniform(low, high)); }
  Vec3d direction() {
    const Vec3d v{random_.normal(), random_.normal(), random_.normal()};
    const double length = norm(v);
    return length > 0 ? v / length : Vec3d{1, 0, 0};
  }
  Vec3d in_box() { return {uniform(), uniform(), uniform()}; }
  template <class Value>
  Value one_of(std::initializer_list<Value> values) {
    return values.begin()[random_.below(values.size())];
  }

 private:
  Random random_;
};

/// Orthonormal axes.
std::array<Vec3d, 3> random_frame(Dice& dice) {
  const Vec3d a = dice.direction();
  Vec3d b = cross(a, dice.direction());
  while (!(norm(b) > 1e-3)) b = cross(a, dice.direction());
  b = b / norm(b);
  return {a, b, cross(a, b)};
}

template <int Corners>
class MeshMaker {
 public:
  using Mesh = SimplexMesh<Corners>;
  using Element = typename Mesh::Element;

  MeshMaker(Dice& dice, std::vector<std::string>& features) : dice_(dice), features_(features) {}

  Mesh make() {
    Mesh mesh = base();
    if (dice_.chance(0.15)) add_part(mesh, base());
    if (dice_.chance(0.12)) stretch(mesh);
    if (dice_.chance(0.12)) flatten(mesh);
    if (dice_.chance(0.12)) remove_elements(mesh);
    if (dice_.chance(0.10)) cut_vertices(mesh);
    if (dice_.chance(0.10)) merge_points(mesh);
    if (dice_.chance(0.10)) repeat_elements(mesh);
    if (dice_.chance(0.08)) repeat_corners(mesh);
    if (dice_.chance(0.10)) add_loose_points(mesh);
    if (dice_.chance(0.60)) shuffle(mesh);
    place(mesh);
    return mesh;
  }

 private:
  static VertexId id(std::size_t v) { return VertexId(v); }
  void note(std::string feature) { features_.push_back(std::move(feature)); }
  std::size_t any_element(const Mesh& mesh) { return dice_.number(0, mesh.element_count() - 1); }
  std::size_t any_corner() { return dice_.number(0, Corners - 1); }

  Mesh base() {
    switch (dice_.number(0, 9)) {
      case 0: return fan();
      case 1: return soup();
      case 2: return few_elements();
      case 3: return strip();
      default: return lattice();
    }
  }

  /// A jittered lattice: right-angled at best, inverted at worst.
  Mesh lattice() {
    const bool large = dice_.chance(0.05);
    const std::size_t most = Corners == 3 ? (large ? 15 : 6) : large ? 5 : dice_.number(1, 3);
    const std::array<std::size_t, 3> cells{dice_.number(1, most), dice_.number(1, most),
                                           Corners == 3 ? 0 : dice_.number(1, most)};
    const double jitter = dice_.one_of({0.0, 0.2, 0.45, 0.8});
    const double height = Corners == 3 && dice_.chance(0.4) ? dice_.one_of({0.1, 0.7, 3.0}) : 0;
    note(fmt::format("lattice, jitter {}{}", jitter, height > 0 ? ", not flat" : ""));
    Mesh mesh;
    const auto vertex = [&](std::size_t i, std::size_t j, std::size_t k) {
      return id(i + (cells[0] + 1) * (j + (cells[1] + 1) * k));
    };
    for (std::size_t k = 0; k <= cells[2]; ++k)
      for (std::size_t j = 0; j <= cells[1]; ++j)
        for (std::size_t i = 0; i <= cells[0]; ++i) {
          const Vec3d at{static_cast<double>(i), static_cast<double>(j), static_cast<double>(k)};
          Vec3d moved = at + jitter * (dice_.in_box() - Vec3d{0.5, 0.5, 0.5});
          if (Corners == 3) moved.z = height * dice_.uniform();
          mesh.points.push_back(moved);
        }
    if constexpr (Corners == 3) {
      for (std::size_t j = 0; j < cells[1]; ++j)
        for (std::size_t i = 0; i < cells[0]; ++i) {
          const VertexId a = vertex(i, j, 0), b = vertex(i + 1, j, 0), c = vertex(i, j + 1, 0),
                         d = vertex(i + 1, j + 1, 0);
          if (dice_.chance(0.5)) mesh.elements.push_back({a, b, d}), mesh.elements.push_back({a, d, c});
          else mesh.elements.push_back({a, b, c}), mesh.elements.push_back({b, d, c});
        }
    } else {
      constexpr int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
      for (std::size_t k = 0; k < cells[2]; ++k)
        for (std::size_t j = 0; j < cells[1]; ++j)
          for (std::size_t i = 0; i < cells[0]; ++i)
            for (const auto& order : orders) {
              std::array<std::size_t, 3> at{i, j, k};
              Element element{vertex(i, j, k)};
              for (int step = 0; step < 3; ++step) {
                ++at[static_cast<std::size_t>(order[step])];
                element[step + 1] = vertex(at[0], at[1], at[2]);
              }
              mesh.elements.push_back(element);
            }
    }
    return mesh;
  }

  /// Elements around a vertex (tetrahedra: an edge), up to several times round.
  Mesh fan() {
    const std::size_t count = dice_.number(3, 40);
    const double turns = dice_.one_of({0.3, 0.9, 1.0, 2.5});
    const bool closed = turns == 1.0;
    note(fmt::format("fan of {}, {} turns", count, turns));
    Mesh mesh;
    mesh.points.push_back({0, 0, 0});
    for (std::size_t i = 0; i < count + (closed ? 0 : 1); ++i) {
      const double angle = 2 * std::numbers::pi * turns * static_cast<double>(i) / static_cast<double>(count);
      const double radius = dice_.chance(0.1) ? dice_.power(-3, 1) : 1;
      mesh.points.push_back({radius * std::cos(angle), radius * std::sin(angle), 0});
    }
    const std::size_t rim = mesh.vertex_count() - 1;
    if (Corners == 4) mesh.points.push_back({0, 0, dice_.one_of({1.0, 1e-2, 30.0})});
    for (std::size_t i = 0; i < count; ++i) {
      Element element{id(0), id(1 + i), id(1 + (i + 1) % rim)};
      if constexpr (Corners == 4) element[3] = id(mesh.vertex_count() - 1);
      mesh.elements.push_back(element);
    }
    return mesh;
  }

  /// Random elements between random points: they overlap and share anything.
  Mesh soup() {
    const std::size_t points = dice_.number(Corners + 1, 24), count = dice_.number(2, 40);
    note("soup");
    Mesh mesh;
    for (std::size_t v = 0; v < points; ++v) {
      Vec3d p = dice_.in_box();
      if (Corners == 3 && points % 2 == 0) p.z = 0;
      mesh.points.push_back(p);
    }
    for (std::size_t e = 0; e < count; ++e) {
      Element element{};
      for (int c = 0; c < Corners; ++c) {
        do element[c] = id(dice_.number(0, points - 1));
        while (std::find(element.begin(), element.begin() + c, element[c]) != element.begin() + c);
      }
      mesh.elements.push_back(element);
    }
    return mesh;
  }

  /// Elements in a row, each sharing one to all but one of its corners with the one before.
  Mesh few_elements() {
    note("chain of elements");
    Mesh mesh;
    const std::size_t count = dice_.number(1, 12);
    for (std::size_t e = 0; e < count; ++e) {
      const std::size_t shared = e == 0 ? 0 : dice_.number(1, Corners - 1);
      Element element{};
      for (std::size_t c = 0; c < Corners; ++c) {
        if (c < shared) {
          element[c] = mesh.elements[e - 1][Corners - 1 - c];
          continue;
        }
        element[c] = id(mesh.vertex_count());
        mesh.points.push_back(Vec3d{0.7 * static_cast<double>(e), 0, 0} + dice_.in_box());
      }
      mesh.elements.push_back(element);
    }
    return mesh;
  }

  /// A strip (tetrahedra: a column) of needles.
  Mesh strip() {
    const std::size_t count = dice_.number(2, 40);
    const double width = dice_.power(-5, 1);
    note(fmt::format("strip of width {:.1e}", width));
    Mesh mesh;
    for (std::size_t i = 0; i < count + Corners - 1; ++i) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(i % (Corners - 1)) / (Corners - 1);
      mesh.points.push_back({static_cast<double>(i), width * std::cos(angle), width * std::sin(angle)});
    }
    for (std::size_t i = 0; i < count; ++i) {
      Element element{};
      for (std::size_t c = 0; c < Corners; ++c) element[c] = id(i + c);
      mesh.elements.push_back(element);
    }
    return mesh;
  }

  /// Another part: apart, or sharing a vertex or an edge.
  void add_part(Mesh& mesh, const Mesh& other) {
    const std::size_t shared = dice_.number(0, 2);
    note(fmt::format("two parts that share {} vertices", shared));
    const std::size_t first = mesh.vertex_count();
    const Element here = mesh.elements[any_element(mesh)];
    const Element there = other.elements[any_element(other)];
    const Vec3d shift = shared == 0 ? Vec3d{50, 0, 0} : mesh.point(here[0]) - other.point(there[0]);
    for (const Vec3d& p : other.points) mesh.points.push_back(p + shift);
    for (Element element : other.elements) {
      for (VertexId& v : element) {
        VertexId renamed = id(first + v.index());
        for (std::size_t k = 0; k < shared; ++k)
          if (v == there[k]) renamed = here[k];
        v = renamed;
      }
      mesh.elements.push_back(element);
    }
  }

  void stretch(Mesh& mesh) {
    const double factor = dice_.power(-6, 6);
    note(fmt::format("stretched by {:.1e}", factor));
    const Vec3d axis = dice_.chance(0.5) ? Vec3d{1, 0, 0} : dice_.direction();
    for (Vec3d& p : mesh.points) p += ((factor - 1) * dot(p, axis)) * axis;
  }

  /// Moves some vertices into the plane (or onto the line) of others of an element: slivers.
  void flatten(Mesh& mesh) {
    const double left = dice_.one_of({0.0, 1e-12, 1e-8, 1e-5, 1e-3});
    note(fmt::format("slivers of height {}", left));
    for (std::size_t n = dice_.number(1, 6); n > 0; --n) {
      const Element& element = mesh.elements[any_element(mesh)];
      Vec3d inside{};
      double sum = 0;
      for (int c = 1; c < Corners; ++c) {
        const double weight = dice_.uniform(-0.3, 1);
        inside += weight * mesh.point(element[c]);
        sum += weight;
      }
      if (!(std::abs(sum) > 0.1)) continue;
      Vec3d& p = mesh.points[element[0].index()];
      p = inside / sum + left * (p - inside / sum);
    }
  }

  void remove_elements(Mesh& mesh) {
    note("holes");
    const double share = dice_.uniform(0, 0.5);
    Mesh rest{mesh.points, {}};
    for (const Element& element : mesh.elements)
      if (!dice_.chance(share)) rest.elements.push_back(element);
    if (rest.element_count() > 0) mesh = rest;
  }

  /// Some elements get a copy of a vertex at the same place: slits.
  void cut_vertices(Mesh& mesh) {
    note("slits");
    for (std::size_t n = dice_.number(1, 5); n > 0; --n) {
      const VertexId cut = mesh.elements[any_element(mesh)][any_corner()];
      const VertexId copy = id(mesh.vertex_count());
      mesh.points.push_back(Vec3d(mesh.point(cut)));
      for (Element& element : mesh.elements)
        for (VertexId& v : element)
          if (v == cut && dice_.chance(0.5)) v = copy;
    }
  }

  /// Two corners of an element at (nearly) the same place.
  void merge_points(Mesh& mesh) {
    note("edges without length");
    const double apart = dice_.one_of({0.0, 0.0, 1e-16, 1e-9});
    for (std::size_t n = dice_.number(1, 4); n > 0; --n) {
      const Element element = mesh.elements[any_element(mesh)];
      mesh.points[element[0].index()] = mesh.point(element[1]) + apart * dice_.direction();
    }
  }

  void repeat_elements(Mesh& mesh) {
    note("repeated elements");
    for (std::size_t n = dice_.number(1, 5); n > 0; --n)
      mesh.elements.push_back(Element(mesh.elements[any_element(mesh)]));
  }

  void repeat_corners(Mesh& mesh) {
    note("repeated corners");
    for (std::size_t n = dice_.number(1, 4); n > 0; --n) {
      Element& element = mesh.elements[any_element(mesh)];
      element[any_corner()] = element[any_corner()];
    }
  }

  void add_loose_points(Mesh& mesh) {
    note("unused vertices");
    for (std::size_t n = dice_.number(1, 5); n > 0; --n) mesh.points.push_back(5.0 * dice_.in_box());
  }

  /// New numbers for the vertices, other orders of elements and corners.
  void shuffle(Mesh& mesh) {
    std::vector<std::size_t> place(mesh.vertex_count());
    for (std::size_t v = 0; v < place.size(); ++v) place[v] = v;
    mix(place);
    Mesh mixed{Array<Vec3d>(mesh.vertex_count()), {}};
    for (std::size_t v = 0; v < place.size(); ++v) mixed.points[place[v]] = mesh.points[v];
    std::vector<Element> elements = mesh.elements.copy();
    for (Element& element : elements) {
      for (VertexId& v : element) v = id(place[v.index()]);
      mix(element);
    }
    mix(elements);
    mixed.elements = std::move(elements);
    mesh = std::move(mixed);
  }
  template <class Values>
  void mix(Values& values) {
    for (std::size_t k = values.size(); k > 1; --k) std::swap(values[k - 1], values[dice_.number(0, k - 1)]);
  }

  /// Another unit, far from the origin, turned.
  void place(Mesh& mesh) {
    if (dice_.chance(0.5)) {
      const auto frame = random_frame(dice_);
      for (Vec3d& p : mesh.points) p = {dot(frame[0], p), dot(frame[1], p), dot(frame[2], p)};
    }
    if (dice_.chance(0.15)) {
      const double distance = dice_.power(0, 8);
      note(fmt::format("{:.1e} from the origin", distance));
      const Vec3d shift = distance * dice_.direction();
      for (Vec3d& p : mesh.points) p += shift;
    }
    if (dice_.chance(0.25)) {
      const double unit = dice_.power(-30, 30);
      note(fmt::format("scaled by {:.1e}", unit));
      for (Vec3d& p : mesh.points) p = unit * p;
    }
  }

  Dice& dice_;
  std::vector<std::string>& features_;
};

MaskedImage make_image(Dice& dice, std::vector<std::string>& features) {
  MaskedImage image;
  const bool flat = dice.chance(0.4);
  const auto most = static_cast<std::uint32_t>(dice.chance(0.1) ? 12 : 6);
  for (std::size_t d = 0; d < 3; ++d)
    image.grid.shape[d] = flat && d == 2 ? 1 : static_cast<std::uint32_t>(dice.number(1, flat ? 2 * most : most));
  features.push_back(fmt::format("{} voxels", fmt::join(image.grid.shape, "x")));
  if (dice.chance(0.5)) {
    for (Vec3d& axis : image.grid.axes) axis = dice.power(-1, 1) * axis;
    features.emplace_back("uneven spacing");
  }
  if (dice.chance(0.4)) {
    const auto frame = random_frame(dice);
    for (Vec3d& axis : image.grid.axes) axis = {dot(frame[0], axis), dot(frame[1], axis), dot(frame[2], axis)};
  }
  if (dice.chance(0.2)) {
    image.grid.axes[1] += dice.uniform(-1, 1) * image.grid.axes[0];
    features.emplace_back("slanted axes");
  }
  if (dice.chance(0.2)) image.grid.origin = dice.power(0, 6) * dice.direction();
  if (dice.chance(0.2)) {
    const double unit = dice.power(-30, 30);
    features.push_back(fmt::format("scaled by {:.1e}", unit));
    for (Vec3d& axis : image.grid.axes) axis = unit * axis;
    image.grid.origin = unit * image.grid.origin;
  }
  if (dice.chance(0.4)) {
    const double share = dice.uniform(0, 0.5);
    features.push_back(fmt::format("{:.0f} % masked out", 100 * share));
    for (std::size_t v = 0; v < image.grid.voxel_count(); ++v)
      image.mask.push_back(dice.chance(share) ? std::uint8_t{0} : static_cast<std::uint8_t>(dice.number(1, 255)));
  }
  return image;
}

/// Metrics of `count` elements or voxels.
class MetricMaker {
 public:
  MetricMaker(Dice& dice, std::vector<std::string>& features, std::size_t count, bool image)
      : dice_(dice), features_(features), count_(count), image_(image) {}

  Metric make() {
    unit_ = dice_.chance(0.2) ? dice_.power(-10, 10) : 1;
    switch (dice_.number(0, 6)) {
      case 0: return Metric::isotropic(unit_);
      case 1: return Metric::constant(tensor(ratio(6)));
      case 2:
      case 3: return speeds();
      case 4: return tensors();
      default: return fibers();
    }
  }

 private:
  /// Of the largest to the smallest speed, up to 10 to the power `most`. Long ratios make long stencils on images.
  double ratio(double most) {
    const double power =
        dice_.chance(0.3) ? dice_.uniform(0, image_ ? std::min(most, 2.5) : most) : dice_.uniform(0, 1);
    features_.push_back(fmt::format("ratio {:.1e}", std::pow(10, power)));
    return std::pow(10, power);
  }

  SymTensor3d tensor(double ratio) {
    const auto frame = random_frame(dice_);
    const double slow = 1 / (unit_ * unit_), fast = slow / (ratio * ratio);
    const double between = dice_.chance(0.5) ? slow : fast * std::pow(ratio, 2 * dice_.uniform());
    return SymTensor3d::outer(frame[0], fast) + SymTensor3d::outer(frame[1], between) +
           SymTensor3d::outer(frame[2], slow);
  }

  Metric speeds() {
    const double contrast = dice_.chance(0.3) ? dice_.uniform(0, 8) : dice_.uniform(0, 1);
    const bool two_values = dice_.chance(0.4);
    const double none = dice_.chance(0.25) && !image_ ? dice_.uniform(0, 0.4) : 0;
    features_.push_back(fmt::format("{} speeds, contrast {:.1e}{}", two_values ? "two" : "many", std::pow(10, contrast),
                                    none > 0 ? ", some 0" : ""));
    SpeedMetric metric;
    for (std::size_t e = 0; e < count_; ++e) {
      const double slower = two_values ? (dice_.chance(0.3) ? contrast : 0) : dice_.uniform(0, contrast);
      metric.speed.push_back(dice_.chance(none) ? 0 : unit_ * std::pow(10, -slower));
    }
    return Metric(std::move(metric));
  }

  Metric tensors() {
    const double most = ratio(2.5);
    features_.emplace_back("tensors");
    TensorMetric metric;
    const double none = dice_.chance(0.15) && !image_ ? dice_.uniform(0, 0.4) : 0;
    for (std::size_t e = 0; e < count_; ++e) {
      if (dice_.chance(none)) {
        constexpr float inf = std::numeric_limits<float>::infinity();
        metric.tensor.push_back({inf, 0, 0, inf, 0, inf});
      } else {
        metric.tensor.push_back(narrowed(tensor(std::pow(most, dice_.uniform()))));
      }
    }
    return Metric(std::move(metric));
  }

  Metric fibers() {
    FiberMetric metric;
    metric.velocities.clear();
    const std::size_t regions = dice_.number(1, 3);
    const bool sheets = dice_.chance(0.4);
    for (std::size_t r = 0; r < regions; ++r) {
      const double along = unit_ * dice_.power(-1, 1), slower = ratio(sheets ? 5 : 6);  // more cannot be computed with
      metric.velocities.push_back({along, along / slower, along / (dice_.chance(0.5) ? slower : std::sqrt(slower))});
    }
    if (regions > 1 && !image_ && dice_.chance(0.2)) metric.velocities.back() = {0, 0, 0};
    features_.push_back(sheets ? "fibres and sheets" : "fibres");
    for (std::size_t e = 0; e < count_; ++e) {
      metric.fiber.push_back(direction());
      if (sheets) metric.sheet.push_back(direction());
      if (regions > 1) metric.region.push_back(static_cast<std::uint16_t>(dice_.number(0, regions - 1)));
    }
    return Metric(std::move(metric));
  }
  Vec3f direction() {
    if (dice_.chance(0.03)) return {};
    const Vec3d d = dice_.chance(0.1) ? Vec3d{1, 0, 0} : dice_.direction();
    return {static_cast<float>(d.x), static_cast<float>(d.y), static_cast<float>(d.z)};
  }

  Dice& dice_;
  std::vector<std::string>& features_;
  std::size_t count_;
  bool image_;
  double unit_ = 1;  ///< of speed
};

/// The median travel time of edges, or of steps between voxels: what onsets differ by.
template <int Corners>
double usual_time(const SimplexMesh<Corners>& mesh, const Metric& metric) {
  std::vector<double> times;
  for (std::size_t e = 0; e < mesh.element_count(); ++e)
    if (metric.conducts(ElementId(e)))
      for (const double l : squared_lengths(mesh, metric, ElementId(e))) times.push_back(std::sqrt(l));
  if (times.empty()) return 1;
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}
double usual_time(const MaskedImage& image, const Metric& metric) {
  std::vector<double> times;
  for (std::size_t v = 0; v < image.grid.voxel_count(); ++v)
    times.push_back(std::sqrt(squared_length(metric.tensor(ElementId(v)), image.grid.axes[0])));
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

/// A vertex of some element, mostly of one that conducts; a voxel, mostly one inside the mask.
template <int Corners>
VertexId source_vertex(Dice& dice, const SimplexMesh<Corners>& mesh, const Metric& metric) {
  std::size_t e = dice.number(0, mesh.element_count() - 1);
  for (int trial = 0; trial < 20 && !metric.conducts(ElementId(e)); ++trial)
    e = dice.number(0, mesh.element_count() - 1);
  return mesh.elements[e][dice.number(0, Corners - 1)];
}
VertexId source_vertex(Dice& dice, const MaskedImage& image, const Metric&) {
  std::size_t v = dice.number(0, image.grid.voxel_count() - 1);
  for (int trial = 0; trial < 20 && !image.mask.empty() && image.mask[v] == 0; ++trial)
    v = dice.number(0, image.grid.voxel_count() - 1);
  return VertexId(v);
}

/// A place in an element: inside, on its border or at a corner.
template <int Corners>
Vec3d source_point(Dice& dice, const SimplexMesh<Corners>& mesh) {
  const auto& element = mesh.elements[dice.number(0, mesh.element_count() - 1)];
  Vec3d p{};
  double sum = 0;
  std::array<double, Corners> weight{};
  for (double& w : weight) sum += w = dice.chance(0.2) ? 0 : dice.uniform();
  if (sum == 0) weight[0] = sum = 1;
  for (int c = 0; c < Corners; ++c) p += (weight[c] / sum) * mesh.point(element[c]);
  return p;
}
Vec3d source_point(Dice& dice, const MaskedImage& image) {
  const Vec3d at{static_cast<double>(image.grid.shape[0] - 1), static_cast<double>(image.grid.shape[1] - 1),
                 static_cast<double>(image.grid.shape[2] - 1)};
  const Vec3d share = dice.in_box();
  return image.grid.position({share.x * at.x, share.y * at.y, share.z * at.z});
}

template <int Corners>
void add_level_set(Dice& dice, const SimplexMesh<Corners>& mesh, std::vector<std::string>& features, Sources& sources) {
  if (!dice.chance(0.02)) return;
  features.emplace_back("level set");
  const Vec3d direction = dice.direction(), through = source_point(dice, mesh);
  for (const Vec3d& p : mesh.points) sources.level_set.push_back(dot(p - through, direction));
}
void add_level_set(Dice&, const MaskedImage&, std::vector<std::string>&, Sources&) {}

template <class Shape>
Sources make_sources(Dice& dice, const Shape& shape, const Metric& metric, std::vector<std::string>& features) {
  Sources sources;
  const std::size_t count = dice.chance(0.5) ? 1 : dice.number(2, 5);
  const double apart = dice.one_of({0.0, 1.0, 5.0}) * usual_time(shape, metric);
  const double first = dice.chance(0.2) ? apart * dice.uniform(-100, 100) : 0;
  for (std::size_t s = 0; s < count; ++s) {
    const double onset = first + apart * dice.uniform();
    if (dice.chance(0.75)) sources.vertices.push_back({source_vertex(dice, shape, metric), onset});
    else sources.points.push_back({source_point(dice, shape), onset});
  }
  add_level_set(dice, shape, features, sources);
  features.push_back(fmt::format("{} source vertices, {} points", sources.vertices.size(), sources.points.size()));
  return sources;
}

std::size_t element_count_of(const TriangleMesh& mesh) { return mesh.element_count(); }
std::size_t element_count_of(const TetMesh& mesh) { return mesh.element_count(); }
std::size_t element_count_of(const MaskedImage& image) { return image.grid.voxel_count(); }

template <class Shape>
void fill_case(Case& made, Dice& dice, Shape shape) {
  constexpr bool image = std::is_same_v<Shape, MaskedImage>;
  made.metric = MetricMaker(dice, made.features, element_count_of(shape), image).make();
  made.sources = make_sources(dice, shape, made.metric, made.features);
  made.source_init = dice.chance(0.08) ? SourceInit::factored : dice.chance(0.5) ? SourceInit::ball : SourceInit::plain;
  if (image) {
    if (dice.chance(0.15) && made.source_init != SourceInit::factored)
      made.scheme = dice.one_of({GridScheme::godunov, GridScheme::lax_friedrichs});
    else if (dice.chance(0.2)) made.order = 2;
  } else {
    made.obtuse = dice.one_of({ObtuseSplit::none, ObtuseSplit::none, ObtuseSplit::automatic, ObtuseSplit::split});
  }
  made.shape = std::move(shape);
}

}  // namespace

std::size_t Case::vertex_count() const {
  if (const auto* image = std::get_if<MaskedImage>(&shape)) return image->grid.voxel_count();
  if (const auto* triangles = std::get_if<TriangleMesh>(&shape)) return triangles->vertex_count();
  return std::get<TetMesh>(shape).vertex_count();
}

std::string Case::description() const {
  return fmt::format("{}: {} vertices, {}, sources {}{}", kind, vertex_count(), fmt::join(features, ", "),
                     name_of(source_init),
                     kind == "image" ? fmt::format(", scheme {}, order {}", name_of(scheme), order)
                                     : (obtuse == ObtuseSplit::none ? "" : ", virtual elements"));
}

Case make_case(std::uint64_t seed, std::uint64_t index) {
  Dice dice(seed, index);
  Case made;
  made.seed = seed;
  made.index = index;
  const double draw = dice.uniform();
  if (draw < 0.4) {
    made.kind = "triangles";
    fill_case(made, dice, MeshMaker<3>(dice, made.features).make());
  } else if (draw < 0.75) {
    made.kind = "tetrahedra";
    fill_case(made, dice, MeshMaker<4>(dice, made.features).make());
  } else {
    made.kind = "image";
    fill_case(made, dice, make_image(dice, made.features));
  }
  return made;
}

}  // namespace isochron::test
