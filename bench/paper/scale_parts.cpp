#include "bench/paper/scale_parts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bench/paper/cases.h"
#include "isochron/comm/collectives.h"
#include "isochron/error.h"
#include "isochron/generate.h"
#include "isochron/mesh/ordering.h"

namespace isochron::bench {
namespace {

/// The eight nodes around a place with their weights.
struct Corner {
  std::size_t node;
  double weight;
};
std::array<Corner, 8> corners_at(const FieldPatch& patch, const std::array<double, 3>& at) {
  std::array<std::size_t, 3> low{};
  std::array<double, 3> part{};
  for (int a = 0; a < 3; ++a) {
    const double cells = static_cast<double>(patch.cells[a]), x = std::clamp(at[a], 0.0, 1.0) * cells;
    low[a] = std::min(static_cast<std::size_t>(x), patch.cells[a] - 1);
    part[a] = x - static_cast<double>(low[a]);
  }
  const std::size_t row = patch.cells[0] + 1, layer = row * (patch.cells[1] + 1);
  std::array<Corner, 8> corners{};
  for (unsigned c = 0; c < 8; ++c) {
    const std::size_t i = c & 1U, j = c >> 1U & 1U, k = c >> 2U;
    corners[c] = {
        low[0] + i + (low[1] + j) * row + (low[2] + k) * layer,
        (i != 0 ? part[0] : 1 - part[0]) * (j != 0 ? part[1] : 1 - part[1]) * (k != 0 ? part[2] : 1 - part[2])};
  }
  return corners;
}

/// Mean travel time of the elements' edges, the unit of band widths.
double mean_edge_time(const TetMesh& mesh, const Metric& metric) {
  double sum = 0;
  for (std::size_t e = 0; e < mesh.element_count(); ++e) {
    const SymTensor3d m = metric.tensor(ElementId(e));
    const auto& v = mesh.elements[e];
    for (const auto& [a, b] : edge_corners<4>()) {
      const Vec3d edge = mesh.point(v[b]) - mesh.point(v[a]);
      sum += std::sqrt(dot(edge, m * edge));
    }
  }
  return sum / (6 * static_cast<double>(mesh.element_count()));
}

/// A patch whose node (i, j, k) is the vertex that `vertex` names.
template <class VertexOf>
FieldPatch patch_of(const TetMesh& mesh, const std::vector<double>& times, double edge,
                    std::array<std::size_t, 3> cells, VertexOf&& vertex) {
  FieldPatch patch{cells, {}, {}};
  for (std::size_t k = 0; k <= cells[2]; ++k)
    for (std::size_t j = 0; j <= cells[1]; ++j)
      for (std::size_t i = 0; i <= cells[0]; ++i) {
        const std::size_t v = vertex(i, j, k);
        const Vec3d& p = mesh.points[v];
        patch.time.push_back(static_cast<float>(times[v] / edge));
        patch.place.push_back({static_cast<float>(p.x), static_cast<float>(p.y), static_cast<float>(p.z)});
      }
  return patch;
}

std::vector<double> coarse_times(const TetMesh& mesh, const Metric& metric, const Sources& sources, int threads) {
  SolveOptions options;
  options.threads = threads;
  options.backend = Backend::threads;
  options.verify = Keep::yes;
  Arrival arrival = solve(mesh, metric, sources, options);
  if (arrival.unreached > 0 || !arrival.residual->passed())
    throw RuntimeError("the coarse solve of the scale model failed its check; this is a fault of the solver");
  return std::move(arrival.times);
}

Sources inner_sites(const Ventricle& heart) {
  std::vector<std::uint32_t> inside;
  for (std::size_t v = 0; v < heart.mesh.vertex_count(); ++v)
    if (heart.transmural[v] == 0 && heart.apicobasal[v] < 0.8F) inside.push_back(static_cast<std::uint32_t>(v));
  Sources sources;
  constexpr std::size_t sites = 100;
  for (std::size_t s = 0; s < sites; ++s)
    sources.vertices.push_back({VertexId(inside[s * inside.size() / sites]), 0.0});
  return sources;
}

}  // namespace

double FieldPatch::time_at(double x, double y, double z) const {
  double sum = 0;
  for (const Corner& c : corners_at(*this, {x, y, z})) sum += c.weight * static_cast<double>(time[c.node]);
  return sum;
}

Vec3d FieldPatch::place_at(double x, double y, double z) const {
  Vec3d sum;
  for (const Corner& c : corners_at(*this, {x, y, z})) {
    const Vec3f& p = place[c.node];
    sum += c.weight * Vec3d{static_cast<double>(p.x), static_cast<double>(p.y), static_cast<double>(p.z)};
  }
  return sum;
}

ScaleField cube_field(std::size_t n, int threads) {
  const TetMesh mesh = generate_cube({.nx = n, .ny = n, .nz = n});
  const Metric metric = Metric::isotropic(1);
  const std::vector<double> times = coarse_times(mesh, metric, middle_source(mesh), threads);
  ScaleField field{"cube", FieldShape::box, {}, mesh.element_count(), isotropic_rework};
  field.patches.push_back(patch_of(mesh, times, mean_edge_time(mesh, metric), {n - 1, n - 1, n - 1},
                                   [n](std::size_t i, std::size_t j, std::size_t k) { return i + n * (j + n * k); }));
  return field;
}

ScaleField ventricle_field(std::size_t elements, Stimulus stimulus, int threads) {
  VentricleOptions options;
  options.elements = elements;
  options.threads = threads;
  const Ventricle heart = generate_ventricle(options);
  const TetMesh& mesh = heart.mesh;
  // The generator's counts, from those of vertices and elements: the disc has (m + 1)² + 4 m r vertices and m² + 4 m r
  // cells.
  const std::size_t column =
      1 + static_cast<std::size_t>(std::find(heart.transmural.begin(), heart.transmural.end(), 1.0F) -
                                   heart.transmural.begin());
  const std::size_t nodes = mesh.vertex_count() / column, disc_cells = mesh.element_count() / (6 * (column - 1));
  const std::size_t m = (nodes - disc_cells - 1) / 2, rings = (disc_cells - m * m) / (4 * m), row = m + 1;

  const Metric metric = fiber_metric(heart.fiber, 0.6, 0.2);
  const Sources sources = stimulus == Stimulus::one ? middle_source(mesh) : inner_sites(heart);
  const std::vector<double> times = coarse_times(mesh, metric, sources, threads);
  const double edge = mean_edge_time(mesh, metric);
  ScaleField field{stimulus == Stimulus::one ? "ventricle" : "ventricle, 100 sites",
                   FieldShape::ventricle,
                   {},
                   mesh.element_count(),
                   fiber_rework};
  field.patches.push_back(
      patch_of(mesh, times, edge, {m, m, column - 1},
               [&](std::size_t i, std::size_t j, std::size_t k) { return (j * row + i) * column + k; }));
  const auto rim = [m, row](std::size_t sector, std::size_t i) {
    switch (sector) {
      case 0: return i * row + m;
      case 1: return m * row + m - i;
      case 2: return (m - i) * row;
      default: return i;
    }
  };
  for (std::size_t sector = 0; sector < 4; ++sector)
    field.patches.push_back(
        patch_of(mesh, times, edge, {m, rings, column - 1}, [&](std::size_t i, std::size_t j, std::size_t k) {
          const std::size_t around = (sector * m + i) % (4 * m);
          const std::size_t base = j == 0 ? rim(around / m, around % m) : row * row + (j - 1) * 4 * m + around;
          return base * column + k;
        }));
  return field;
}

void BandLoad::clear() {
  work.clear();
  messages.clear();
  crossings = 0;
  width = parts_crossed = 0;
  weight = 1;
}

void Outcome::scale(double factor) {
  for (double* part : {&seconds, &ideal, &repeats, &imbalance, &fill, &latency, &bandwidth, &reductions, &bands,
                       &rounds, &messages, &vertices, &pairs, &values, &sent})
    *part *= factor;
}

ScheduleClock::ScheduleClock(const Machine& machine, const Rework& rework, std::uint32_t ranks, BandRule rule)
    : rework_(rework), ranks_(ranks), rule_(rule), doublings_(std::ceil(std::log2(static_cast<double>(ranks)))) {
  Machine cheaper = machine;
  const auto add_clock = [&] { clocks_.push_back({cheaper, 0, std::vector<double>(lead, 0), 0, {}, {}}); };
  add_clock();
  cheaper.reduction = 0;
  add_clock();
  cheaper.byte = 0;
  add_clock();
  cheaper.message = cheaper.latency = 0;
  add_clock();
  if (rule == BandRule::ahead)
    for (Clock& clock : clocks_) {
      clock.free.assign(ranks, 0);
      clock.filled.assign(ranks, 0);
    }
  busy_.assign(ranks, 0);
  traffic_.assign(ranks, 0);
}

void ScheduleClock::gather(const BandLoad& band) {
  const Machine& machine = clocks_.front().machine;
  const double x = band.parts_crossed;
  double pushes = 1;
  if (ranks_ > 1) pushes += rework_.early * x + (rule_ == BandRule::ahead ? rework_.late * x * x : 0);
  const double again = 1 + rework_.resend * band.width;
  double owned = 0;
  for (const RankWork& w : band.work) {
    busy_[w.rank] = w.vertices * pushes;
    owned += w.vertices;
  }
  for (const ModelMessage& m : band.messages) {
    busy_[m.to] += machine.ghost_push * again * m.values;
    const double any = std::min(1.0, m.values);  // less than a value on average: a message now and then
    traffic_[m.from] += machine.sends * any;
    traffic_[m.to] += machine.sends * any;
    total_.pairs += band.weight * any;
    total_.messages += band.weight * machine.sends * any;
    total_.values += band.weight * m.values;
    total_.sent += band.weight * again * m.values;
  }
  double sum = 0, most = 0;
  for (const RankWork& w : band.work) {
    sum += busy_[w.rank];
    most = std::max(most, busy_[w.rank]);
  }
  const double active = std::max<double>(1, static_cast<double>(band.work.size()));
  uneven_ += band.weight * (most - sum / active);
  idle_ += band.weight * (sum / active - sum / ranks_);
  total_.vertices += band.weight * owned;
  total_.ideal += band.weight * machine.push * owned / ranks_;
  total_.repeats += band.weight * machine.push * (sum - owned) / ranks_;
}

void ScheduleClock::forget(const BandLoad& band) {
  for (const RankWork& w : band.work) busy_[w.rank] = traffic_[w.rank] = 0;
  for (const ModelMessage& m : band.messages) busy_[m.to] = traffic_[m.to] = 0;
}

void ScheduleClock::play(const BandLoad& band) {
  gather(band);
  for (Clock& clock : clocks_)
    if (rule_ == BandRule::ahead) play_ahead(clock, band);
    else play_together(clock, band);
  forget(band);
  ++played_;
  total_.bands += band.weight;
  const int crossings = band.crossings > 0 ? band.crossings + rework_.echoes : 0;
  total_.rounds += band.weight * (rule_ == BandRule::wait ? 1 + crossings : 1);
}

/// All ranks begin a band together. First comes what it reaches from within each rank; what comes through other ranks
/// has to fly there, once for each border that is passed.
void ScheduleClock::play_together(Clock& clock, const BandLoad& band) {
  const Machine& m = clock.machine;
  double first = 0, later = 0, sent = 0;
  const int crossings = band.crossings > 0 ? band.crossings + rework_.echoes : 0;
  for (const RankWork& w : band.work) {
    const double late = crossings > 0 ? std::min(1.0, w.late) : 0;
    first = std::max(first, m.push * busy_[w.rank] * (1 - late) + m.message * traffic_[w.rank]);
    later = std::max(later, m.push * busy_[w.rank] * late);
  }
  const double value = m.byte * m.value_bytes * (1 + rework_.resend * band.width);
  for (const ModelMessage& message : band.messages) sent = std::max(sent, value * message.values);
  const double flight = band.messages.empty() ? 0 : m.latency;
  const double reductions = m.reduction * doublings_ * (rule_ == BandRule::wait ? 1 + crossings : 1);
  clock.now += band.weight * (first + later + sent + flight * (1 + crossings) + reductions);
  clock.last = clock.now;
}

/// A rank begins a band when it has done its last one, the values sent to it in the last band are there, and the
/// reduction that is `lead` bands old has come back.
void ScheduleClock::play_ahead(Clock& clock, const BandLoad& band) {
  const Machine& m = clock.machine;
  const double value = m.byte * m.value_bytes * (1 + rework_.resend * band.width);
  double& behind = clock.ends[played_ % lead];
  double end = 0;
  for (const RankWork& w : band.work) {
    const double start = std::max({clock.free[w.rank], clock.filled[w.rank], behind});
    clock.free[w.rank] = start + m.push * busy_[w.rank] + m.message * traffic_[w.rank];
    end = std::max(end, clock.free[w.rank]);
  }
  for (const ModelMessage& message : band.messages) {
    const double arrival = clock.free[message.from] + m.latency + value * message.values;
    clock.filled[message.to] = std::max(clock.filled[message.to], arrival);
    clock.last = std::max(clock.last, arrival);
  }
  clock.last = std::max(clock.last, end);
  clock.now = std::max(clock.now, end) + m.reduction * doublings_;
  behind = clock.now;
}

Outcome ScheduleClock::outcome() const {
  Outcome result = total_;
  std::vector<double> seconds;
  for (const Clock& clock : clocks_) seconds.push_back(std::max(clock.now, clock.last));
  result.seconds = seconds[0];
  result.reductions = seconds[0] - seconds[1];
  result.bandwidth = seconds[1] - seconds[2];
  result.latency = seconds[2] - seconds[3];
  // Without a network what is left beside the work is waiting for others: for the busiest, or for the front.
  const double waiting = std::max(0.0, seconds[3] - result.ideal - result.repeats);
  const double share = uneven_ + idle_ > 0 ? uneven_ / (uneven_ + idle_) : 0;
  result.imbalance = waiting * share;
  result.fill = waiting * (1 - share);
  return result;
}

namespace {

/// Blocks along the three kinds of axes: the side of the square patch (or x), along the ring (or y), through the wall
/// (or z).
struct Split {
  std::uint64_t side, ring, layer;
};

std::uint64_t parts_of(FieldShape shape, const Split& s) {
  return (shape == FieldShape::box ? s.side * s.ring : s.side * s.side + 4 * s.side * s.ring) * s.layer;
}

/// The split that wastes least: as many parts as there may be, as close to cubes as can be.
Split choose_split(FieldShape shape, const std::array<double, 3>& extent, std::uint64_t wanted) {
  const double volume = shape == FieldShape::box ? extent[0] * extent[1] * extent[2]
                                                 : (extent[0] + 4 * extent[1]) * extent[0] * extent[2];
  const double ideal = std::cbrt(volume / static_cast<double>(wanted));
  const auto range = [&](double length) {
    const double about = length / ideal;
    return std::array{static_cast<std::uint64_t>(std::max(1.0, std::floor(about * 0.6))),
                      static_cast<std::uint64_t>(std::min(std::max(1.0, length), std::ceil(about * 1.6) + 1))};
  };
  Split best{1, 1, 1};
  double best_score = 0;
  const auto [side_low, side_high] = range(extent[0]);
  const auto [ring_low, ring_high] = range(extent[1]);
  const auto max_layers = static_cast<std::uint64_t>(std::max(1.0, extent[2]));
  for (std::uint64_t side = side_low; side <= side_high; ++side)
    for (std::uint64_t ring = ring_low; ring <= ring_high; ++ring) {
      const std::uint64_t base = parts_of(shape, {side, ring, 1});
      if (base > wanted) continue;
      const Split split{side, ring, std::min(wanted / base, max_layers)};
      const std::array<double, 3> s{extent[0] / static_cast<double>(split.side),
                                    extent[1] / static_cast<double>(split.ring),
                                    extent[2] / static_cast<double>(split.layer)};
      const double surface = s[0] * s[1] + s[1] * s[2] + s[2] * s[0];
      const double compact = 3 * std::pow(s[0] * s[1] * s[2], 2.0 / 3) / surface;
      const double used = static_cast<double>(base * split.layer) / static_cast<double>(wanted);
      if (const double score = used * std::sqrt(compact); score > best_score) {
        best_score = score;
        best = split;
      }
    }
  return best;
}

/// Where a part's middle lies in its patch, 0 to 1 along each axis.
std::array<double, 3> middle_of(const PlannedPatch& patch, const BlockAt& at) {
  std::array<double, 3> x{};
  for (int a = 0; a < 3; ++a)
    x[a] = (0.5 * static_cast<double>(patch.begin(a, at.block[a]) + patch.begin(a, at.block[a] + 1) - 1) +
            static_cast<double>(patch.offset[a])) /
           static_cast<double>(patch.cells[a]);
  return x;
}

/// The parts in the order in which they are assigned.
std::vector<std::uint32_t> dealing_order(const ScaleField& field, const BlockPlan& plan, std::uint32_t parts) {
  std::vector<std::uint32_t> order(parts);
  std::iota(order.begin(), order.end(), 0U);
  if (plan.deal == Deal::arrival) {
    std::vector<double> time(parts);
    for (std::uint32_t part = 0; part < parts; ++part) {
      const BlockAt at = plan.at(part);
      const auto [x, y, z] = middle_of(plan.patches[at.patch], at);
      time[part] = field.patches[at.patch].time_at(x, y, z);
    }
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return time[a] < time[b]; });
    return order;
  }
  std::vector<Vec3d> place(parts);
  for (std::uint32_t part = 0; part < parts; ++part) {
    const BlockAt at = plan.at(part);
    const auto [x, y, z] = middle_of(plan.patches[at.patch], at);
    place[part] = field.patches[at.patch].place_at(x, y, z);
  }
  const Permutation curve = hilbert_order(place);
  return curve.identity() ? order : curve.new_to_old;
}

}  // namespace

double BlockPlan::vertices() const {
  double sum = 0;
  for (const PlannedPatch& p : patches)
    sum += static_cast<double>(p.vertices[0]) * static_cast<double>(p.vertices[1]) * static_cast<double>(p.vertices[2]);
  return sum;
}

BlockAt BlockPlan::at(std::uint32_t part) const {
  std::uint32_t p = 0;
  while (p + 1 < patches.size() && part >= patches[p + 1].first_part) ++p;
  const PlannedPatch& patch = patches[p];
  const auto i = static_cast<std::uint32_t>(part - patch.first_part), nx = static_cast<std::uint32_t>(patch.blocks[0]),
             ny = static_cast<std::uint32_t>(patch.blocks[1]);
  return {p, {i % nx, i / nx % ny, i / (nx * ny)}};
}

std::uint32_t BlockPlan::beside(const BlockAt& at, int axis, int way) const {
  const auto number = [this](std::uint32_t p, std::uint64_t i, std::uint64_t j, std::uint64_t k) {
    const PlannedPatch& patch = patches[p];
    return static_cast<std::uint32_t>(patch.first_part + i + patch.blocks[0] * (j + patch.blocks[1] * k));
  };
  const std::array<std::uint64_t, 3> n = patches[at.patch].blocks;
  std::array<std::uint32_t, 3> to = at.block;
  to[axis] += static_cast<std::uint32_t>(way);  // below 0 it wraps round and is too large
  if (to[axis] < n[axis]) return number(at.patch, to[0], to[1], to[2]);
  if (shape == FieldShape::box || axis == 2) return none;
  const auto [i, j, k] = at.block;
  const std::uint64_t last = patches[0].blocks[0] - 1;
  if (at.patch == 0) {  // out of the square into a sector
    if (axis == 0) return way > 0 ? number(1, j, 0, k) : number(3, last - j, 0, k);
    return way > 0 ? number(2, last - i, 0, k) : number(4, i, 0, k);
  }
  if (axis == 0) return number((at.patch + 3U + static_cast<std::uint32_t>(way)) % 4U + 1U, way > 0 ? 0 : last, j, k);
  if (way > 0) return none;  // the base
  switch (at.patch) {
    case 1: return number(0, last, i, k);
    case 2: return number(0, last - i, last, k);
    case 3: return number(0, 0, last - i, k);
    default: return number(0, i, 0, k);
  }
}

std::uint32_t BlockPlan::beside(const BlockAt& at, const std::array<int, 3>& offset) const {
  int moved = 0, axis = 0;
  for (int a = 0; a < 3; ++a)
    if (offset[a] != 0) {
      ++moved;
      axis = a;
    }
  if (moved == 1) return beside(at, axis, offset[axis]);
  const PlannedPatch& patch = patches[at.patch];
  std::array<std::uint64_t, 3> to{};
  for (int a = 0; a < 3; ++a) {
    to[a] = at.block[a] + static_cast<std::uint64_t>(static_cast<std::int64_t>(offset[a]));
    if (to[a] >= patch.blocks[a]) return none;
  }
  return static_cast<std::uint32_t>(patch.first_part + to[0] + patch.blocks[0] * (to[1] + patch.blocks[1] * to[2]));
}

BlockPlan plan_blocks(const ScaleField& field, double elements, std::uint32_t ranks, std::uint32_t parts_per_rank,
                      Deal deal) {
  BlockPlan plan{field.shape, {}, ranks, parts_per_rank, 1, field.rework, deal, {}};
  plan.refinement = std::cbrt(elements / static_cast<double>(field.elements));
  for (std::size_t p = 0; p < field.patches.size(); ++p) {
    PlannedPatch patch{};
    for (int a = 0; a < 3; ++a) {
      const double cells = std::round(static_cast<double>(field.patches[p].cells[a]) * plan.refinement);
      patch.cells[a] = static_cast<std::uint64_t>(std::max(1.0, cells));
      patch.vertices[a] = patch.cells[a] + 1;
    }
    if (p > 0) {  // a sector begins one ring outside the square and ends where the next one begins
      patch.vertices[0] = patch.cells[0];
      patch.vertices[1] = patch.cells[1];
      patch.offset[1] = 1;
    }
    plan.patches.push_back(patch);
  }
  const PlannedPatch& last = plan.patches.back();
  const Split split = choose_split(field.shape,
                                   {static_cast<double>(last.vertices[0]), static_cast<double>(last.vertices[1]),
                                    static_cast<double>(last.vertices[2])},
                                   static_cast<std::uint64_t>(ranks) * parts_per_rank);
  std::uint32_t parts = 0;
  for (std::size_t p = 0; p < plan.patches.size(); ++p) {
    PlannedPatch& patch = plan.patches[p];
    const bool square = field.shape == FieldShape::ventricle && p == 0;
    patch.blocks = {split.side, square ? split.side : split.ring, split.layer};
    patch.first_part = parts;
    parts += patch.parts();
  }
  const std::vector<std::uint32_t> order = dealing_order(field, plan, parts);
  plan.rank_of.resize(parts);
  for (std::uint32_t i = 0; i < parts; ++i) plan.rank_of[order[i]] = i % ranks;
  return plan;
}

double halo_values(const BlockPlan& plan) {
  // Ghosts of a rank: a vertex that several parts of one rank see is there once. Parts of a rank rarely touch, so the
  // sum over parts of what other ranks own is taken, each receiving rank once for a part's vertex layer.
  double sum = 0;
  for (std::uint32_t part = 0; part < plan.parts(); ++part) {
    const BlockAt at = plan.at(part);
    const PlannedPatch& patch = plan.patches[at.patch];
    for (const auto& offset : ghost_offsets) {
      const std::uint32_t to = plan.beside(at, offset);
      if (to == BlockPlan::none || plan.rank_of[to] == plan.rank_of[part]) continue;
      double values = 1;
      for (int a = 0; a < 3; ++a)
        if (offset[a] == 0)
          values *= static_cast<double>(patch.begin(a, at.block[a] + 1) - patch.begin(a, at.block[a]));
      sum += values;
    }
  }
  return sum;
}

std::vector<FrontCell> front_cells(const ScaleField& field, const BlockPlan& plan, std::size_t wanted) {
  const double each = std::cbrt(static_cast<double>(wanted) / plan.parts());
  const auto pieces = static_cast<std::uint64_t>(std::max(1.0, std::round(each)));
  std::vector<FrontCell> cells;
  for (std::uint32_t part = 0; part < plan.parts(); ++part) {
    const BlockAt at = plan.at(part);
    const PlannedPatch& patch = plan.patches[at.patch];
    const FieldPatch& times = field.patches[at.patch];
    std::array<std::uint64_t, 3> begin{}, count{}, cut{};
    for (int a = 0; a < 3; ++a) {
      begin[a] = patch.begin(a, at.block[a]);
      count[a] = patch.begin(a, at.block[a] + 1) - begin[a];
      cut[a] = std::min(pieces, count[a]);
    }
    for (std::uint64_t piece = 0; piece < cut[0] * cut[1] * cut[2]; ++piece) {
      const std::array<std::uint64_t, 3> i{piece % cut[0], piece / cut[0] % cut[1], piece / (cut[0] * cut[1])};
      FrontCell cell{part, 0, {}, {}, 0, 0};
      std::array<double, 3> middle{}, half{};
      for (int a = 0; a < 3; ++a) {
        const std::uint64_t from = begin[a] + i[a] * count[a] / cut[a], to = begin[a] + (i[a] + 1) * count[a] / cut[a];
        cell.size[a] = static_cast<float>(to - from);
        const double scale = 1 / static_cast<double>(patch.cells[a]);
        middle[a] = (0.5 * static_cast<double>(from + to - 1) + static_cast<double>(patch.offset[a])) * scale;
        half[a] = 0.5 * static_cast<double>(to - from) * scale;
        if (i[a] == 0) cell.ends |= static_cast<std::uint8_t>(1U << a);
        if (i[a] + 1 == cut[a]) cell.ends |= static_cast<std::uint8_t>(8U << a);
      }
      double low = times.time_at(middle[0], middle[1], middle[2]) * plan.refinement;
      for (int a = 0; a < 3; ++a) {
        std::array<double, 3> up = middle, down = middle;
        up[a] = std::min(1.0, middle[a] + half[a]);
        down[a] = std::max(0.0, middle[a] - half[a]);
        const double over = 2 * half[a] / (up[a] - down[a]);  // at the mesh's surface half an edge is missing
        const double rise =
            (times.time_at(up[0], up[1], up[2]) - times.time_at(down[0], down[1], down[2])) * plan.refinement * over;
        if (rise < 0) cell.falls |= static_cast<std::uint8_t>(1U << a);
        cell.span[a] = static_cast<float>(std::abs(rise));
        low -= 0.5 * std::abs(rise);
      }
      cell.low = static_cast<float>(std::max(0.0, low));
      cells.push_back(cell);
    }
  }
  std::sort(cells.begin(), cells.end(), [](const FrontCell& a, const FrontCell& b) { return a.low < b.low; });
  return cells;
}

}  // namespace isochron::bench
