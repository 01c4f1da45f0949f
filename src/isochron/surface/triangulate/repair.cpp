#include "isochron/surface/triangulate/repair.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "isochron/mesh_quality.h"
#include "isochron/surface/triangulate/smooth.h"

namespace isochron {
namespace {

// The part of a segment in the box where labels can differ from 0; false when there is none. One end may be very far.
bool clip(Vec3d& from, Vec3d& to, Vec3d extent) {
  double begin = 0, end = 1;
  const Vec3d step = to - from;
  for (int a = 0; a < 3; ++a) {
    if (step[a] == 0) {
      if (from[a] < 0 || from[a] > extent[a]) return false;
      continue;
    }
    const double low = -from[a] / step[a], high = (extent[a] - from[a]) / step[a];
    begin = std::max(begin, std::min(low, high));
    end = std::min(end, std::max(low, high));
  }
  if (!(begin < end)) return false;
  const Vec3d start = from;
  if (begin > 0) from = start + begin * step;
  if (end < 1) to = start + end * step;
  return true;
}

Vec3d bisect(const LabelField& field, Vec3d from, Vec3d to, int label) {
  for (int step = 0; step < 8; ++step) {
    const Vec3d middle = 0.5 * (from + to);
    (field.look(middle).label == label ? from : to) = middle;
  }
  return 0.5 * (from + to);
}

}  // namespace

DualCrossings dual_crossings(const LabelField& field, const DelaunayFacet& facet, Vec3d corner, double finest) {
  DualCrossings result;
  Vec3d from = facet.centres[0], to = facet.centres[1];
  if (!clip(from, to, field.extent())) return result;
  const double length = norm(to - from);
  const Vec3d along = length > 0 ? (to - from) / length : Vec3d{};
  LabelField::Look last = field.look(from);
  for (double at = 0; at < length;) {
    const double next = std::min(length, at + std::max(finest, 0.8 * last.clearance));
    const LabelField::Look now = field.look(from + next * along);
    if (now.label != last.label) {
      ++result.count;
      const Vec3d crossing = bisect(field, from + at * along, from + next * along, last.label);
      const double radius = norm(crossing - corner);
      if (result.count == 1 || radius > result.radius) {
        result.farthest = crossing;
        result.radius = radius;
      }
    }
    last = now;
    at = next;
  }
  return result;
}

namespace {

constexpr int max_tries = 3;
constexpr double reach = 2;  // edge lengths within which the other side of something thin is looked for

// How far the label changes again in this direction, from just beyond p on; `reach` lengths at most.
double thickness(const LabelField& field, Vec3d p, Vec3d direction, double size) {
  const double step = 0.02 * size;
  const int label = field.look(p + step * direction).label;
  double at = step;
  while (at < reach * size) {
    const LabelField::Look now = field.look(p + at * direction);
    if (now.label != label) break;
    at += std::max(step, 0.8 * now.clearance);
  }
  return std::min(at, reach * size);
}

}  // namespace

std::size_t Rescues::help(std::span<const VertexId> unused) {
  std::size_t added = 0;
  for (const VertexId v : unused) {
    if (v.index() >= tries_.size() || tries_[v.index()] >= max_tries) continue;
    ++tries_[v.index()];
    added += help(v);
  }
  return added;
}

std::size_t Rescues::help(VertexId v) {
  const Vec3d p = tets_.point(v), normal = field_.normal(p);
  const double size = sizes_.size(v, p);
  const double inward = thickness(field_, p, -normal, size), outward = thickness(field_, p, normal, size);
  const double gap = std::min(inward, outward);
  const double ring = size / std::exp2(tries_[v.index()]);
  const double factor = sizes_.factor(v) / std::exp2(tries_[v.index()] - 1);
  std::size_t added = 0;
  if (gap < reach * size) added += add(p + (inward < outward ? -gap : gap) * normal, v, 0.2 * gap, factor) ? 1 : 0;
  const Vec3d other = std::abs(normal.x) < 0.6 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0};
  const Vec3d a = cross(normal, other) / norm(cross(normal, other)), b = cross(normal, a);
  constexpr int corners = 6;
  for (int k = 0; k < corners; ++k) {
    const double angle = 2 * std::numbers::pi * k / corners;
    added += add(p + ring * std::cos(angle) * a + ring * std::sin(angle) * b, v, 0.5 * ring, factor) ? 1 : 0;
  }
  return added;
}

// Only where no point is nearer than `apart`.
bool Rescues::add(Vec3d p, VertexId near, double apart, double factor) {
  const Vec3d q = field_.project(p);
  const VertexId nearest = tets_.nearest(q, near);
  if (nearest.valid() && norm(q - tets_.point(nearest)) < apart) return false;
  const VertexId added = tets_.insert(q, near);
  if (added.valid()) sizes_.set_factor(added, factor);
  return added.valid();
}

namespace {

// In edge lengths wanted. An equilateral triangle has the circumradius 0.58.
constexpr double largest_radius = 1.1;    // above it the surface is sampled too sparsely
constexpr double smallest_radius = 0.08;  // below it no more points are added: labels are changed in the end
constexpr double crowded = 0.5;           // an edge of a bad triangle below it loses an end
constexpr double harmless = 0.02;         // a tetrahedron this near to the surface may have either label
constexpr double walk = 0.15;             // steps along dual edges

constexpr int attempts = 3;

}  // namespace

std::vector<DelaunayFacet> Repair::run(const Progress& progress) {
  // Changed labels can leave a bad triangle behind: another few attempts.
  for (int attempt = 0; attempt < attempts; ++attempt) {
    for (int round = 0; round < options_.rounds; ++round) {
      progress.update(static_cast<double>(round) / options_.rounds);
      ++report_.rounds;
      if (!make_round(round)) break;
    }
    look();
    untangle();
    count_what_is_left();
    if (report_.bad_shapes == 0) break;
  }
  return std::move(facets_);
}

// False when there is nothing left that could be done.
bool Repair::make_round(int round) {
  const bool only_add = 3 * round >= 2 * options_.rounds;
  look();
  if (round > 0 && !only_add) relax();
  untangle_easily();
  examine();
  return act(only_add);
}

// The surface around the points where anything changed or is left to do.
void Repair::look() {
  const std::vector<VertexId> changed = tets_.label(field_, options_.threads);
  active_.insert(active_.end(), changed.begin(), changed.end());
  std::sort(active_.begin(), active_.end());
  active_.erase(std::unique(active_.begin(), active_.end()), active_.end());
  std::erase_if(active_, [&](VertexId v) { return !tets_.contains(v); });
  // Most of the surface is found faster by going through all tetrahedra.
  facets_ = active_.size() > tets_.id_count() / 4 ? tets_.facets() : tets_.facets_at(active_);
}

std::array<Vec3d, 3> Repair::corners(const DelaunayFacet& facet) const {
  return {tets_.point(facet.corners[0]), tets_.point(facet.corners[1]), tets_.point(facet.corners[2])};
}

// Smooths around the facets that are new.
void Repair::relax() {
  std::vector<VertexId> points;
  for (const DelaunayFacet& facet : facets_)
    if (!facet.approved) points.insert(points.end(), facet.corners.begin(), facet.corners.end());
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  std::erase_if(points, [&](VertexId v) { return v.index() < fixed_; });
  const std::size_t moved = smooth(tets_, facets_, points, field_, sizes_);
  report_.moved += moved;
  if (moved > 0) look();
}

// What is wrong with the facets that were not found good before.
void Repair::examine() {
  findings_.clear();
  for (const DelaunayFacet& facet : facets_)
    if (!facet.approved) findings_.emplace_back(facet);
  parallel_for(options_.threads, findings_.size(), [&](std::size_t i) { inspect(findings_[i]); });
  find_hidden();
  find_tangled();
  for (const Finding& found : findings_)
    if (found.wrong == Wrong::nothing) tets_.approve(found.facet);
  std::erase_if(findings_, [](const Finding& found) { return found.wrong == Wrong::nothing; });
}

void Repair::inspect(Finding& found) const {
  const std::array<Vec3d, 3> x = corners(found.facet);
  found.size = sizes_.size(found.facet, x);
  found.dual = dual_crossings(field_, found.facet, x[0], walk * found.size);
  found.ratio = radius_ratio(x);
  // Two crossings are those of a tetrahedron that got another label than its centre has.
  if (found.dual.count > 2) found.wrong = Wrong::crossings;
  else if (found.dual.radius > largest_radius * found.size) found.wrong = Wrong::size;
  else if (badly_shaped(x, found.ratio)) found.wrong = Wrong::shape;
}

bool Repair::badly_shaped(const std::array<Vec3d, 3>& x, double ratio) const {
  if (ratio < options_.min_ratio) return true;
  if (ratio > 0.9) return false;  // no angle below 41 degrees
  const auto angles = shape_of(x).angles;
  return *std::min_element(angles.begin(), angles.end()) < options_.min_angle;
}

// Dual edges that cross the surface and come back: what lies between is thinner than the tetrahedra can tell.
void Repair::find_hidden() {
  const std::size_t first = findings_.size();
  for (const DelaunayFacet& facet : tets_.inner_facets(active_, [&](const DelaunayFacet& f) { return compact(f); }))
    findings_.emplace_back(facet);
  parallel_for(options_.threads, findings_.size() - first, [&](std::size_t i) {
    Finding& found = findings_[first + i];
    const std::array<Vec3d, 3> x = corners(found.facet);
    found.size = sizes_.size(found.facet, x);
    found.dual = dual_crossings(field_, found.facet, x[0], walk * found.size);
    // And so is a single one, if it is near.
    const bool hidden = found.dual.count > 1 || found.dual.radius > largest_radius * found.size;
    if (hidden) found.wrong = Wrong::crossings;
  });
}

// Whether a facet is small enough for its dual edge to pass where the surface is.
bool Repair::compact(const DelaunayFacet& facet) const {
  const std::array<Vec3d, 3> x = corners(facet);
  const double a = norm(x[1] - x[2]), b = norm(x[2] - x[0]), c = norm(x[0] - x[1]);
  const double limit = sizes_.size(facet, x);
  const double radius = a * b * c / (2 * norm(cross(x[1] - x[0], x[2] - x[0])));
  return radius < limit;
}

// The active points where the surface touches itself; those without any facet are set aside.
std::vector<VertexId> Repair::tangled_points(const Fans& fans) {
  std::vector<Fans::Fault> faults(active_.size());
  parallel_for(options_.threads, active_.size(), [&](std::size_t i) { faults[i] = fans.fault(active_[i]); });
  std::vector<VertexId> tangled;
  unused_.clear();
  for (std::size_t i = 0; i < active_.size(); ++i) {
    if (faults[i] != Fans::Fault::none) tangled.push_back(active_[i]);
    if (fans.at(active_[i]).empty()) unused_.push_back(active_[i]);
  }
  return tangled;
}

// Flat tetrahedra on the surface may have either label: changing it costs nothing, and no new points.
void Repair::untangle_easily() {
  for (int pass = 0; pass < 3; ++pass) {
    const std::vector<VertexId> tangled = tangled_points(Fans(facets_, tets_.id_count()));
    const std::size_t mended =
        tets_.untangle(tangled, field_, [&](VertexId v) { return harmless * sizes_.size(v, tets_.point(v)); });
    report_.relabelled += mended;
    if (mended == 0) return;
    look();
  }
}

// A finding for each point where the surface touches itself: the largest facet there.
void Repair::find_tangled() {
  const Fans fans(facets_, tets_.id_count());
  for (const VertexId v : tangled_points(fans)) {
    Finding worst;
    for (const std::uint32_t f : fans.at(v)) {
      Finding found(facets_[f]);
      inspect(found);
      found.wrong = Wrong::tangled;
      if (worst.wrong == Wrong::nothing || found.badness() > worst.badness()) worst = found;
    }
    findings_.push_back(worst);
  }
}

// Adds and removes points for the worst facets first; around each change everything else waits for the next round.
// False when nothing could be done.
bool Repair::act(bool only_add) {
  std::stable_sort(findings_.begin(), findings_.end(), [&](const Finding& a, const Finding& b) {
    return a.wrong != b.wrong ? a.wrong > b.wrong : a.badness() > b.badness();
  });
  touched_.assign(tets_.id_count(), false);
  active_.clear();
  bool changed = false;
  for (const Finding& found : findings_) {
    const auto& ids = found.facet.corners;
    active_.insert(active_.end(), ids.begin(), ids.end());
    if (std::any_of(ids.begin(), ids.end(), [&](VertexId v) { return touched_[v.index()]; })) continue;
    if (found.wrong == Wrong::shape && !only_add ? reshape(found) : add_crossing(found)) {
      changed = true;
      for (const VertexId v : ids) touched_[v.index()] = true;
    }
  }
  const std::size_t rescued = rescues_.help(unused_);
  active_.insert(active_.end(), unused_.begin(), unused_.end());
  report_.added += rescued;
  return changed || rescued > 0;
}

bool Repair::add_crossing(const Finding& found) {
  const std::array<Vec3d, 3> x = corners(found.facet);
  // Beside a tetrahedron whose label was changed there may be no crossing: the middle will do.
  const Vec3d p = field_.project(found.dual.count > 0 ? found.dual.farthest : (x[0] + x[1] + x[2]) / 3);
  const double nearest = std::min({norm(p - x[0]), norm(p - x[1]), norm(p - x[2])});
  if (nearest < smallest_radius * found.size) return false;
  const VertexId added = tets_.insert(p, found.facet.corners[0]);
  if (!added.valid()) return false;
  sizes_.set_factor(added, sizes_.factor(found.facet));
  ++report_.added;
  return true;
}

bool Repair::reshape(const Finding& found) {
  const std::array<Vec3d, 3> x = corners(found.facet);
  int shortest = 0;
  double length = std::numeric_limits<double>::infinity();
  for (int k = 0; k < 3; ++k) {
    const double edge = norm(x[(k + 1) % 3] - x[k]);
    if (edge < length) {
      length = edge;
      shortest = k;
    }
  }
  if (length >= crowded * found.size) return add_crossing(found);
  for (const int end : {shortest, (shortest + 1) % 3}) {
    if (found.facet.corners[end].index() < fixed_) continue;
    tets_.remove(found.facet.corners[end]);
    ++report_.removed;
    return true;
  }
  return false;
}

// The last resort for what the points could not mend: labels of whole tetrahedra. Leaves all facets.
void Repair::untangle() {
  constexpr int passes = 50;
  for (int pass = 0;; ++pass) {
    facets_ = tets_.facets();
    const Fans fans(facets_, tets_.id_count());
    std::vector<char> tangled(tets_.id_count());
    parallel_for(options_.threads, tangled.size(),
                 [&](std::size_t i) { tangled[i] = fans.fault(VertexId(i)) != Fans::Fault::none ? 1 : 0; });
    std::vector<VertexId> points;
    report_.unused = 0;
    for (std::size_t i = 0; i < tangled.size(); ++i) {
      if (tangled[i] != 0) points.push_back(VertexId(i));
      if (tets_.contains(VertexId(i)) && fans.at(VertexId(i)).empty()) ++report_.unused;
    }
    report_.singular_points = points.size();
    if (points.empty() || pass == passes) return;
    report_.relabelled +=
        tets_.untangle(points, field_, [](VertexId) { return std::numeric_limits<double>::infinity(); });
  }
}

void Repair::count_what_is_left() {
  report_.bad_shapes = report_.bad_crossings = 0;
  for (const DelaunayFacet& facet : facets_) {
    if (facet.approved) continue;
    Finding found(facet);
    inspect(found);
    if (badly_shaped(corners(facet), found.ratio)) {
      ++report_.bad_shapes;
      active_.insert(active_.end(), facet.corners.begin(), facet.corners.end());
    }
    report_.bad_crossings += found.dual.count > 2 ? 1 : 0;
  }
}

}  // namespace isochron
