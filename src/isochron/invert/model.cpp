#include "isochron/invert/model.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "isochron/core/parallel.h"
#include "isochron/error.h"
#include "isochron/mesh/locator.h"
#include "isochron/metric/conducting.h"

namespace isochron {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// Without bounds velocities stay within this factor of the start, so that what no time depends on cannot run away.
constexpr double max_factor = 1e3;
/// A source is moved so far from a corner or side, as a share of an element or a voxel: at one it has no derivative.
constexpr double from_corner = 1e-3;

bool wants(const InversionOptions& options, Unknown unknown) {
  return std::find(options.unknowns.begin(), options.unknowns.end(), unknown) != options.unknowns.end();
}

int threads_of(const InversionOptions& options) {
  return options.solve.threads > 0 ? options.solve.threads : usual_threads();
}

double& part_of(Velocities& v, int component) { return component == 0 ? v.fiber : component == 1 ? v.sheet : v.normal; }

template <int Corners>
Vec3d inside_element(const SimplexMesh<Corners>& mesh, Location<Corners> at) {
  if (at.distance == 0 && *std::min_element(at.weights.begin(), at.weights.end()) >= from_corner) return at.point;
  double sum = 0;
  for (double& w : at.weights) sum += w = std::max(w, from_corner);
  Vec3d point{};
  for (int c = 0; c < Corners; ++c) point += at.weights[c] / sum * mesh.point(mesh.element(at.element)[c]);
  return point;
}

VertexId nearest_open_voxel(const MaskedGrid& image, const Vec3d& to) {
  VertexId best;
  double least = infinity;
  for (std::size_t v = 0; v < image.grid->voxel_count(); ++v) {
    if (!image.mask.empty() && image.mask[v] == 0) continue;
    const double distance = norm(image.grid->position(VertexId(v)) - to);
    if (distance < least) least = distance, best = VertexId(v);
  }
  return best;
}

Vec3d inside_image(const MaskedGrid& image, const Vec3d& point) {
  const ImageGrid& grid = *image.grid;
  Vec3d index = grid.index_of(point);
  for (int k = 0; k < 3; ++k) index[k] = std::clamp(index[k], 0.0, grid.shape[k] - 1.0);
  const auto voxel = grid.voxel_at(grid.position(index));
  if (voxel && !image.mask.empty() && image.mask[voxel->index()] == 0) {
    const auto open = grid.index(nearest_open_voxel(image, point));
    index = {static_cast<double>(open[0]), static_cast<double>(open[1]), static_cast<double>(open[2])};
  }
  bool centred = true;
  for (int k = 0; k < 3; ++k) centred = centred && std::abs(index[k] - std::round(index[k])) < from_corner;
  if (centred)
    for (int k = 0; k < 3; ++k)
      if (grid.shape[k] > 1) index[k] = std::round(index[k]) + (index[k] < 0.5 ? 2 : -2) * from_corner;
  return grid.position(index);
}

}  // namespace

InversionModel::InversionModel(const Domain& domain, const Measurements& measured, const InversionOptions& options)
    : base_(domain.metric.host()) {
  if (base_ == nullptr || domain.on_device() || domain.in_parts() ||
      std::holds_alternative<std::monostate>(domain.shape))
    throw UsageError("an inversion needs the whole mesh or image, and its metric, in host memory");
  for (const Shot& shot : measured.shots) sources_.push_back(shot.sources);
  const int threads = threads_of(options);
  const auto use_mesh = [&]<int Corners>(const SimplexMesh<Corners>& mesh) {
    element_count_ = mesh.element_count();
    dimensions_ = Corners - 1;
    const auto conducting = std::make_shared<ConductingMesh<Corners>>(mesh, *base_, threads);
    receivers_ = receiver_rows(conducting->mesh(), measured.receivers, options.receiver_tolerance, threads);
    graph_ = [&mesh, base = base_] { return element_graph(mesh, *base); };
    position_of_ = [&mesh](GlobalVertexId v) { return mesh.point(v.in_whole()); };
    nearest_inside_ = [conducting, locator = std::make_shared<PointLocator<Corners>>(conducting->mesh(), threads)](
                          Vec3d p) { return inside_element(conducting->mesh(), locator->nearest(p)); };
  };
  if (const auto* image = std::get_if<MaskedGrid>(&domain.shape)) {
    element_count_ = image->grid->voxel_count();
    if (image->grid->flat()) dimensions_ = 2;
    mask_ = image->mask;
    receivers_ = receiver_rows(*image, measured.receivers, options.receiver_tolerance);
    graph_ = [image = *image] { return element_graph(image); };
    position_of_ = [grid = image->grid](GlobalVertexId v) { return grid->position(v.in_whole()); };
    nearest_inside_ = [image = *image](Vec3d p) { return inside_image(image, p); };
  } else if (const auto* triangles = std::get_if<const TriangleMesh*>(&domain.shape)) {
    use_mesh(**triangles);
  } else {
    use_mesh(*std::get<const TetMesh*>(domain.shape));
  }
  const int of_metric = int{wants(options, Unknown::speed)} + int{wants(options, Unknown::tensor_scale)} +
                        int{wants(options, Unknown::region_velocities)};
  if (options.unknowns.empty()) throw UsageError("nothing is unknown; say what to look for");
  if (of_metric > 1)
    throw UsageError("speed, tensor-scale and region-velocities cannot be unknown together; choose one of them");
  if (wants(options, Unknown::speed)) take_field(options, false);
  if (wants(options, Unknown::tensor_scale)) take_field(options, true);
  if (wants(options, Unknown::region_velocities)) take_velocities(options);
  take_sources(wants(options, Unknown::onsets), wants(options, Unknown::source_positions));
  bring_inside(start_);
}

std::size_t InversionModel::free_count() const {
  std::size_t count = 0;
  for (std::size_t e = 0; e < field_size_; ++e) count += in_field(e) ? 1 : 0;
  for (const SingleUnknown& single : singles_)
    count += single.kind != SingleUnknown::Kind::position || single.component < dimensions_ ? 1 : 0;
  return count;
}

// FNV-1a over the bits, of which a double holds 52.
double InversionModel::number_of(const Measurements& measured) const {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  const auto mix = [&](double value) { hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 0x100000001b3ULL; };
  mix(static_cast<double>(field_size_));
  mix(factors_ ? 1 : 0);
  for (const double value : start_) mix(value);
  for (const SingleUnknown& single : singles_) mix(static_cast<double>(single.kind));
  for (const Shot& shot : measured.shots)
    for (const Pick& pick : shot.picks) mix(pick.receiver), mix(pick.time), mix(pick.weight);
  return static_cast<double>(hash >> 12);
}

void InversionModel::add_velocity_bounds(const InversionOptions& options, double velocity, const char* what,
                                         double& lower, double& upper) const {
  const double value = std::log(velocity), far = std::log(max_factor);
  lower = options.min_velocity ? std::log(*options.min_velocity) : value - far;
  upper = options.max_velocity ? std::log(*options.max_velocity) : value + far;
  if (options.min_velocity && options.max_velocity && !(lower < upper))
    throw UsageError("the least velocity is not below the largest; give them in this order");
  if (value < lower - 1e-9 || value > upper + 1e-9)
    throw InputError(fmt::format("the bounds {:g} to {:g} exclude the start ({} {:g}); widen them or start elsewhere",
                                 std::exp(lower), std::exp(upper), what, velocity));
}

void InversionModel::take_field(const InversionOptions& options, bool factors) {
  if (!factors && !base_->isotropic())
    throw UsageError("the speed cannot be unknown, since the metric is not isotropic; look for tensor-scale");
  factors_ = factors;
  field_size_ = element_count_;
  start_.assign(field_size_, 0.0);
  lower_.assign(field_size_, 0.0);
  upper_.assign(field_size_, 0.0);
  for (std::size_t e = 0; e < field_size_; ++e) {
    if ((!mask_.empty() && mask_[e] == 0) || !base_->conducts(ElementId(e))) continue;
    const double velocity = factors ? 1 : 1 / std::sqrt(base_->tensor(ElementId(e)).xx);
    start_[e] = std::log(velocity);
    add_velocity_bounds(options, velocity, factors ? "factor" : "speed", lower_[e], upper_[e]);
  }
}

void InversionModel::take_velocities(const InversionOptions& options) {
  const auto* fibers = std::get_if<FiberMetric>(&base_->kind());
  if (fibers == nullptr) throw UsageError("velocities of regions can only be unknown where they were given");
  std::vector<std::array<bool, 3>> used(fibers->velocities.size());
  for (std::size_t e = 0; e < element_count_; ++e) {
    if (!mask_.empty() && mask_[e] == 0) continue;
    auto& of_region = used[fibers->region.empty() ? 0 : fibers->region[e]];
    const Vec3f f = fibers->fiber[e];
    const bool fiber = f.x != 0 || f.y != 0 || f.z != 0;
    of_region[0] = of_region[0] || fiber;
    of_region[1] = true;
    of_region[2] = of_region[2] || (fiber && !fibers->sheet.empty());
  }
  for (std::size_t region = 0; region < used.size(); ++region) {
    Velocities v = fibers->velocities[region];
    if (!(v.fiber > 0)) continue;  // it does not conduct
    for (int k = 0; k < 3; ++k) {
      if (!used[region][static_cast<std::size_t>(k)]) continue;
      double lower = 0, upper = 0;
      const double velocity = part_of(v, k);
      add_velocity_bounds(options, velocity, "velocity", lower, upper);
      add({SingleUnknown::Kind::velocity, 0, static_cast<std::uint32_t>(region), k}, std::log(velocity), lower, upper);
    }
  }
}

void InversionModel::take_sources(bool onsets, bool positions) {
  for (std::size_t shot = 0; shot < sources_.size(); ++shot) {
    Sources& sources = sources_[shot];
    if (!sources.level_set.empty()) throw UsageError("a level set cannot be the source of an inversion; give points");
    if (positions) {
      std::vector<PointSource> points;
      for (const VertexSource& source : sources.vertices) points.push_back({position_of_(source.vertex), source.time});
      points.insert(points.end(), sources.points.begin(), sources.points.end());
      sources = {{}, std::move(points), {}};
    }
    for (std::size_t s = 0; s < sources.count(); ++s) {
      const auto number = static_cast<std::uint32_t>(shot);
      const auto index = static_cast<std::uint32_t>(s);
      const std::size_t vertices = sources.vertices.size();
      const double time = s < vertices ? sources.vertices[s].time : sources.points[s - vertices].time;
      if (onsets) add({SingleUnknown::Kind::onset, number, index, 0}, time, -infinity, infinity);
      if (!positions) continue;
      for (int k = 0; k < 3; ++k)
        add({SingleUnknown::Kind::position, number, index, k}, sources.points[s].position[k], -infinity, infinity);
    }
  }
}

void InversionModel::add(const SingleUnknown& single, double value, double lower, double upper) {
  singles_.push_back(single);
  start_.push_back(value);
  lower_.push_back(lower);
  upper_.push_back(upper);
}

void InversionModel::bring_inside(std::vector<double>& values) const {
  for (std::size_t i = 0; i < size(); ++i) values[i] = std::clamp(values[i], lower_[i], upper_[i]);
  for (std::size_t k = 0; k < singles_.size(); ++k) {
    if (singles_[k].kind != SingleUnknown::Kind::position || singles_[k].component != 0) continue;
    double* at = &values[field_size_ + k];
    const Vec3d inside = nearest_inside_({at[0], at[1], at[2]});
    for (int c = 0; c < 3; ++c) at[c] = inside[c];
  }
}

Metric InversionModel::metric(std::span<const double> values) const {
  if (field_size_ > 0 && !factors_) {
    std::vector<double> speed(field_size_);
    for (std::size_t e = 0; e < field_size_; ++e)
      speed[e] = in_field(e) ? std::exp(values[e]) : 1 / std::sqrt(base_->tensor(ElementId(e)).xx);
    return Metric(SpeedMetric{std::move(speed)});
  }
  if (field_size_ > 0) {
    std::vector<SymTensor3f> tensor(field_size_);
    for (std::size_t e = 0; e < field_size_; ++e)
      tensor[e] = narrowed(std::exp(-2 * values[e]) * base_->tensor(ElementId(e)));
    return Metric(TensorMetric{std::move(tensor)});
  }
  if (singles_.empty() || singles_[0].kind != SingleUnknown::Kind::velocity) return *base_;
  FiberMetric fibers = std::get<FiberMetric>(base_->kind());
  for (std::size_t k = 0; k < singles_.size(); ++k)
    if (singles_[k].kind == SingleUnknown::Kind::velocity)
      part_of(fibers.velocities[singles_[k].index], singles_[k].component) = std::exp(values[k]);
  return Metric(std::move(fibers));
}

Sources InversionModel::sources(std::span<const double> values, std::size_t shot) const {
  Sources result = sources_[shot];
  for (std::size_t k = 0; k < singles_.size(); ++k) {
    const auto [kind, of_shot, index, component] = singles_[k];
    if (of_shot != shot || kind == SingleUnknown::Kind::velocity) continue;
    const double value = values[field_size_ + k];
    const std::size_t vertices = result.vertices.size();
    if (kind == SingleUnknown::Kind::position) result.points[index].position[component] = value;
    else (index < vertices ? result.vertices[index].time : result.points[index - vertices].time) = value;
  }
  return result;
}

std::vector<double> InversionModel::scale(std::span<const double> values) const {
  std::vector<double> result;
  if (!factors_) return result;
  for (std::size_t e = 0; e < field_size_; ++e) result.push_back(std::exp(values[e]));
  return result;
}

// M = M₀ exp(−2p), so dM = −2 M dp.
std::vector<SymTensor3d> InversionModel::field_direction(const Metric& metric, std::span<const double> change) const {
  std::vector<SymTensor3d> result(field_size_);
  for (std::size_t e = 0; e < field_size_; ++e)
    if (in_field(e)) result[e] = -2 * change[e] * metric.tensor(ElementId(e));
  return result;
}

std::vector<double> InversionModel::field_gradient(const Metric& metric, std::span<const SymTensor3d> gradient) const {
  std::vector<double> result(field_size_, 0.0);
  for (std::size_t e = 0; e < field_size_; ++e)
    if (in_field(e)) result[e] = -2 * contraction(gradient[e], metric.tensor(ElementId(e)));
  return result;
}

InputValues InversionModel::direction(const Metric& metric, const SingleUnknown& single) const {
  InputValues result;
  if (single.kind == SingleUnknown::Kind::velocity) {
    const auto& fibers = std::get<FiberMetric>(metric.kind());
    std::vector<Velocities> change(fibers.velocities.size(), Velocities{0, 0, 0});
    Velocities now = fibers.velocities[single.index];
    part_of(change[single.index], single.component) = part_of(now, single.component);
    result.metric = metric_change_of_velocities(fibers, element_count_, change);
    return result;
  }
  const std::size_t count = sources_[single.shot].count();
  if (single.kind == SingleUnknown::Kind::onset) {
    result.onset.assign(count, 0.0);
    result.onset[single.index] = 1;
    return result;
  }
  result.position.assign(count, std::nullopt);
  Vec3d step{};
  step[single.component] = 1;
  result.position[single.index] = step;
  return result;
}

}  // namespace isochron
