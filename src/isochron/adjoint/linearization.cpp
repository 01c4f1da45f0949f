#include "isochron/linearization.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "isochron/adjoint/system.h"
#include "isochron/error.h"

namespace isochron {
namespace {

void check_count(std::string_view what, std::size_t given, std::size_t wanted, std::string_view each) {
  if (given != wanted)
    throw InputError(fmt::format("{} has {} values for {} {}; give one each", what, given, wanted, each));
}

bool is_finite(const SymTensor3d& m) { return std::isfinite(m.xx + m.xy + m.xz + m.yy + m.yz + m.zz); }

}  // namespace

Linearization::Linearization(std::shared_ptr<const DependenceSystem> system) : system_(std::move(system)) {}

std::size_t Linearization::vertex_count() const { return system_->shape().vertices; }
std::size_t Linearization::element_count() const { return system_->shape().elements; }
std::size_t Linearization::source_count() const { return system_->shape().movable.size(); }

std::size_t Linearization::bytes() const {
  const DependenceRows& rows = system_->rows();
  const auto of = [](const auto& values) { return values.size() * sizeof(values[0]); };
  const std::size_t numbers = 3 * system_->size() + system_->shape().user.size();  // order, place, groups
  return of(rows.node_end) + of(rows.term_end) + of(rows.node) + of(rows.weight) + of(rows.element) +
         of(rows.by_metric) + of(rows.onsets) + of(rows.positions) + of(rows.levels) + of(rows.places) +
         numbers * sizeof(std::uint32_t);
}

InputValues Linearization::vjp(std::span<const double> cotangent) const {
  check_count("the cotangent", cotangent.size(), vertex_count(), "vertices");
  const std::vector<std::uint32_t>& user = system_->shape().user;
  const std::vector<std::uint8_t>& movable = system_->shape().movable;
  const std::size_t vertices = vertex_count();
  const DependenceRows& rows = system_->rows();
  std::vector<double> values(system_->size(), 0.0);
  std::vector<bool> reached(vertices, false);
  for (std::size_t row = 0; row < user.size(); ++row) {
    if (user[row] == VertexId::invalid_value) continue;
    reached[user[row]] = true;
    values[row] = cotangent[user[row]];
  }
  for (std::size_t v = 0; v < vertices; ++v)
    if (!std::isfinite(cotangent[v]) || (!reached[v] && cotangent[v] != 0))
      throw InputError(fmt::format("the cotangent of vertex {} is {}; give a finite number, 0 where no front arrives",
                                   v, cotangent[v]));
  system_->solve_transposed(values);
  InputValues result;
  result.metric.assign(element_count(), {});
  result.onset.assign(movable.size(), 0.0);
  result.position.assign(movable.size(), std::nullopt);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (values[row] == 0) continue;
    for (std::size_t k = system_->term_begin(row); k < rows.term_end[row]; ++k) {
      SymTensor3d& sum = result.metric[rows.element[k]];
      sum = sum + values[row] * rows.by_metric[k];
    }
  }
  for (const auto& [row, source] : rows.onsets) result.onset[source] += values[row];
  for (std::size_t s = 0; s < movable.size(); ++s)
    if (movable[s] != 0) result.position[s] = Vec3d{};
  for (const auto& [row, source, gradient] : rows.positions)
    if (movable[source] != 0) *result.position[source] += values[row] * gradient;
  if (system_->shape().level_set) result.level_set.assign(vertices, 0.0);
  for (const auto& [row, vertex, weight] : rows.levels) result.level_set[vertex] += values[row] * weight;
  if (system_->shape().on_mesh) result.vertex.assign(vertices, {});
  for (const auto& [row, vertex, gradient, source] : rows.places)
    if (source < 0 || movable[source] != 0) result.vertex[vertex] += values[row] * gradient;
  return result;
}

std::vector<double> Linearization::jvp(const InputValues& direction) const {
  std::vector<double> values = added_by(direction);
  system_->solve(values);
  return of_vertices(values);
}

std::vector<double> Linearization::of_vertices(std::span<const double> values) const {
  const std::vector<std::uint32_t>& user = system_->shape().user;
  std::vector<double> result(vertex_count(), 0.0);
  for (std::size_t row = 0; row < user.size(); ++row)
    if (user[row] != VertexId::invalid_value) result[user[row]] = values[row];
  return result;
}

void Linearization::check_direction(const InputValues& direction) const {
  const std::size_t vertices = vertex_count(), elements = element_count();
  const std::vector<std::uint8_t>& movable = system_->shape().movable;
  if (!direction.metric.empty())
    check_count("the direction of the metric", direction.metric.size(), elements, "elements");
  if (!direction.onset.empty())
    check_count("the direction of the onsets", direction.onset.size(), movable.size(), "sources");
  if (!direction.position.empty())
    check_count("the direction of the positions", direction.position.size(), movable.size(), "sources");
  if (!direction.vertex.empty())
    check_count("the displacement", direction.vertex.size(), system_->shape().on_mesh ? vertices : 0, "vertices");
  if (!direction.level_set.empty())
    check_count("the direction of the level set", direction.level_set.size(), system_->shape().level_set ? vertices : 0,
                "vertices");
  for (std::size_t v = 0; v < direction.level_set.size(); ++v)
    if (!std::isfinite(direction.level_set[v]))
      throw InputError(
          fmt::format("the direction of the level set is not finite at vertex {}; give finite numbers", v));
  for (std::size_t e = 0; e < direction.metric.size(); ++e)
    if (!is_finite(direction.metric[e]))
      throw InputError(fmt::format("the direction of the metric is not finite in element {}; give finite numbers", e));
  for (std::size_t s = 0; s < direction.onset.size(); ++s)
    if (!std::isfinite(direction.onset[s]))
      throw InputError(fmt::format("the direction of the onset of source {} is not finite; give a finite number", s));
  for (std::size_t s = 0; s < direction.position.size(); ++s) {
    if (!direction.position[s]) continue;
    if (!isochron::is_finite(*direction.position[s]))
      throw InputError(fmt::format("the direction of the position of source {} is not finite; give finite numbers", s));
    if (movable[s] == 0 && norm(*direction.position[s]) > 0)
      throw InputError(fmt::format(
          "source {} is a vertex or outside the mesh and cannot be moved; give a point between vertices", s));
  }
}

std::vector<double> Linearization::added_by(const InputValues& direction) const {
  check_direction(direction);
  const std::vector<std::uint8_t>& movable = system_->shape().movable;
  const DependenceRows& rows = system_->rows();
  std::vector<double> values(system_->size(), 0.0);
  if (!direction.metric.empty())
    for (std::size_t row = 0; row < rows.size(); ++row)
      for (std::size_t k = system_->term_begin(row); k < rows.term_end[row]; ++k)
        values[row] += contraction(rows.by_metric[k], direction.metric[rows.element[k]]);
  if (!direction.onset.empty())
    for (const auto& [row, source] : rows.onsets) values[row] += direction.onset[source];
  if (!direction.position.empty())
    for (const auto& [row, source, gradient] : rows.positions)
      if (movable[source] != 0 && direction.position[source]) values[row] += dot(gradient, *direction.position[source]);
  if (!direction.level_set.empty())
    for (const auto& [row, vertex, weight] : rows.levels) values[row] += weight * direction.level_set[vertex];
  if (!direction.vertex.empty())
    for (const auto& [row, vertex, gradient, source] : rows.places)
      if (source < 0 || movable[source] != 0) values[row] += dot(gradient, direction.vertex[vertex]);
  return values;
}

MetricJacobian Linearization::metric_jacobian(std::span<const VertexId> vertices) const {
  const std::vector<std::uint32_t>& user = system_->shape().user;
  const std::size_t count = vertex_count();
  std::vector<std::uint32_t> row_of(count, VertexId::invalid_value);
  for (std::size_t row = 0; row < user.size(); ++row)
    if (user[row] != VertexId::invalid_value) row_of[user[row]] = static_cast<std::uint32_t>(row);
  const DependenceRows& rows = system_->rows();
  MetricJacobian result;
  result.offsets.push_back(0);
  std::vector<double> scratch(system_->size(), 0.0);
  std::vector<std::pair<std::uint32_t, SymTensor3d>> entries;
  for (const VertexId v : vertices) {
    if (v.index() >= count) throw InputError(fmt::format("vertex {} is out of range (0 to {})", v.value, count - 1));
    if (row_of[v.index()] == VertexId::invalid_value)
      throw InputError(fmt::format("no front arrives at vertex {}: its time has no derivative", v.value));
    entries.clear();
    system_->weights_of(row_of[v.index()], scratch, [&](std::uint32_t row, double weight) {
      for (std::size_t k = system_->term_begin(row); k < rows.term_end[row]; ++k)
        entries.emplace_back(rows.element[k], weight * rows.by_metric[k]);
    });
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [element, value] : entries) {
      if (result.elements.size() > result.offsets.back() && result.elements.back().value == element)
        result.values.back() = result.values.back() + value;
      else result.elements.emplace_back(element), result.values.push_back(value);
    }
    result.offsets.push_back(result.elements.size());
  }
  return result;
}

}  // namespace isochron
