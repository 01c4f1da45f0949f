#include "isochron/metric_arrays.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <set>

#include <fmt/format.h>

#include "isochron/core/big_vector.h"
#include "isochron/core/join_text.h"
#include "isochron/core/parallel.h"
#include "isochron/diffusion.h"
#include "isochron/error.h"
#include "isochron/metric/bad_cells.h"

namespace isochron {
namespace {

/// One a cell; threads may write different ones at once.
using Flags = std::vector<std::uint8_t>;

/// The components of one cell's value.
using Tuple = std::span<const double>;

template <int Corners>
constexpr const char* cell_name = Corners == 3 ? "triangles" : "tetrahedra";

std::string listed(const DataArrays& arrays) { return arrays.empty() ? "none" : join_text(arrays.names(), ", "); }

/// Reads arrays of one cell block, or of the points as means over the cells' corners.
template <int Corners>
class CellValues {
 public:
  using Cells = std::span<const std::array<VertexId, Corners>>;

  CellValues(Cells cells, const Dataset& dataset) : cells_(cells), dataset_(dataset) {}

  [[nodiscard]] std::size_t size() const { return cells_.size(); }
  /// Cells that do not conduct may hold anything.
  void leave_out(const Flags& conducts) { conducts_ = conducts; }
  [[nodiscard]] bool matters(std::size_t cell) const { return conducts_.empty() || conducts_[cell] != 0; }

  /// Calls `visit(cell, tuple)` for every cell, several threads at once. Throws InputError unless the array exists,
  /// fits, and has one of the `allowed` component counts.
  template <class Visit>
  void for_each(const std::string& name, std::initializer_list<int> allowed, Visit&& visit) const {
    for_each(name, allowed, mean_of, visit);
  }

  /// The same for arrays whose every tuple must be `right`: a mean would hide corners that are not. `visit` gets NaN
  /// for cells with such a corner.
  template <class Right, class Visit>
  void for_each_if_right(const std::string& name, std::initializer_list<int> allowed, Right&& right,
                         Visit&& visit) const {
    const auto join = [&](std::span<const double> corners, std::span<double> result) {
      mean_of(corners, result);
      for (std::size_t i = 0; i < corners.size(); i += result.size())
        if (!right(Tuple(corners.subspan(i, result.size()))))
          std::fill(result.begin(), result.end(), std::numeric_limits<double>::quiet_NaN());
    };
    for_each(name, allowed, join, visit);
  }

  /// The same for vectors whose sign means nothing: where they are on the points, the unit vector that fits those of
  /// the corners best, whichever way each points. Zero where all are zero, not finite where one is not.
  template <class Visit>
  void for_each_direction(const std::string& name, Visit&& visit) const {
    for_each(name, {3}, axis_of, [&](std::size_t e, Tuple tuple) { visit(e, Vec3d{tuple[0], tuple[1], tuple[2]}); });
  }

  /// The least value at a cell's corners of an array on the points; that of the cell where it is on the cells.
  [[nodiscard]] double least(const std::string& name, std::size_t cell) const {
    if (const DataArray* on_cells = dataset_.block<Corners>().data.find(name)) return on_cells->at(cell);
    const DataArray& array = *dataset_.point_data.find(name);
    double result = std::numeric_limits<double>::infinity();
    for (const VertexId v : cells_[cell]) result = std::min(result, array.at(v.index()));
    return result;
  }

  /// The first of the names that is an array on the cells.
  [[nodiscard]] std::string first_on_cells(std::initializer_list<const char*> names) const {
    const DataArrays& data = dataset_.block<Corners>().data;
    for (const char* name : names)
      if (data.find(name) != nullptr) return name;
    throw InputError(fmt::format("no region array ({} not found on the {}); name one with ", join_text(names, ", "),
                                 cell_name<Corners>) +
                     Setting{Option::region_array} + ", there are: " + listed(data));
  }

 private:
  /// The values at a cell's corners, `width` each, as one.
  static void mean_of(std::span<const double> corners, std::span<double> result) {
    for (std::size_t c = 0; c < result.size(); ++c) {
      double sum = 0;
      for (std::size_t i = c; i < corners.size(); i += result.size()) sum += corners[i];
      result[c] = sum / Corners;
    }
  }
  static void axis_of(std::span<const double> corners, std::span<double> result) {
    std::array<Vec3d, Corners> directions;
    for (std::size_t i = 0; i < Corners; ++i) directions[i] = {corners[3 * i], corners[3 * i + 1], corners[3 * i + 2]};
    const Vec3d axis = common_axis(directions);
    for (int c = 0; c < 3; ++c) result[static_cast<std::size_t>(c)] = axis[c];
  }

  template <class Join, class Visit>
  void for_each(const std::string& name, std::initializer_list<int> allowed, Join&& join, Visit&& visit) const {
    const DataArray* on_cells = dataset_.block<Corners>().data.find(name);
    const DataArray& array = on_cells != nullptr ? *on_cells : on_points(name);
    if (std::find(allowed.begin(), allowed.end(), array.components) == allowed.end())
      throw InputError(fmt::format("array '{}' has the wrong number of components ({}, not {}); choose another array",
                                   name, array.components, join_text(allowed, " or ")));
    if (on_cells != nullptr && array.tuple_count() != cells_.size())
      throw InputError(fmt::format(
          "array '{}' does not belong to this mesh (values: {}, {}: {}); choose another array or export it again", name,
          array.tuple_count(), cell_name<Corners>, cells_.size()));
    std::visit([&](const auto& values) { visit_cells(values, array.components, on_cells != nullptr, join, visit); },
               array.values);
  }

  [[nodiscard]] const DataArray& on_points(const std::string& name) const {
    const DataArray* array = dataset_.point_data.find(name);
    if (array == nullptr)
      throw InputError(fmt::format("no array '{}'; choose one on the {} ({}) or on the points ({})", name,
                                   cell_name<Corners>, listed(dataset_.block<Corners>().data),
                                   listed(dataset_.point_data)));
    std::size_t needed = 0;
    for (const auto& cell : cells_)
      for (const VertexId v : cell) needed = std::max(needed, v.index() + 1);
    if (array->tuple_count() < needed)
      throw InputError(
          fmt::format("array '{}' does not belong to this mesh (values: {}, points: at least {}); choose another array "
                      "or export it again",
                      name, array->tuple_count(), needed));
    return *array;
  }

  template <class Values, class Join, class Visit>
  void visit_cells(const Values& values, int components, bool on_cells, Join&& join, Visit&& visit) const {
    const auto width = static_cast<std::size_t>(components);
    const auto copy = [&](std::size_t from, std::span<double> to) {
      for (std::size_t c = 0; c < width; ++c) to[c] = static_cast<double>(values[from * width + c]);
    };
    parallel_chunks(usual_threads(), cells_.size(), [&](std::size_t begin, std::size_t end) {
      std::vector<double> tuple(width), corners(width * Corners);
      for (std::size_t e = begin; e < end; ++e) {
        if (on_cells) {
          copy(e, tuple);
        } else {
          for (std::size_t k = 0; k < Corners; ++k)
            copy(cells_[e][k].index(), std::span(corners).subspan(k * width, width));
          join(corners, tuple);
        }
        visit(e, Tuple(tuple));
      }
    });
  }

  Cells cells_;
  const Dataset& dataset_;
  Flags conducts_;  ///< empty: all do
};

Vec3f narrow(const Vec3d& v) { return {static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z)}; }

bool usable_speed(double speed) { return speed > 0 && std::isfinite(speed); }

template <int Corners>
Metric speed_metric(const CellValues<Corners>& cells, const std::string& name) {
  SpeedMetric result;
  result.speed.resize(cells.size());
  BadCells bad;
  cells.for_each(name, {1}, [&](std::size_t e, Tuple tuple) {
    const double least = cells.least(name, e);
    result.speed[e] = least == 0 ? 0 : tuple[0];  // a mean would hide a corner where nothing moves
    if (cells.matters(e) && (!std::isfinite(tuple[0]) || !(least >= 0))) bad.add(e);
  });
  bad.check(fmt::format("speed array '{}' is not a positive finite number, nor 0 where nothing conducts,", name),
            cells.size(), "repair the array or choose another");
  return Metric(std::move(result));
}

enum class TensorMeaning { metric, velocity };

template <int Corners>
Metric tensor_metric(const CellValues<Corners>& cells, const std::string& name, TensorMeaning meaning,
                     TensorOrder order) {
  TensorMetric result;
  result.tensor.resize(cells.size());
  BadCells lopsided, indefinite;
  const auto right = [&](Tuple tuple) { return positive_definite(tensor_of(tuple, order)); };
  cells.for_each_if_right(name, {6, 9}, right, [&](std::size_t e, Tuple tuple) {
    if (!cells.matters(e)) return;
    SymTensor3d m = tensor_of(tuple, order);
    if (tuple.size() == 9 && !is_symmetric(tuple)) lopsided.add(e);
    if (!positive_definite(m)) return indefinite.add(e);
    if (meaning == TensorMeaning::velocity) m = inverse(m);
    result.tensor[e] = narrowed(m);
    if (!positive_definite(widened(result.tensor[e]))) indefinite.add(e);  // too large or too small
  });
  lopsided.check_symmetric(fmt::format("tensor array '{}'", name), cells.size());
  indefinite.check(fmt::format("tensor array '{}' is not positive definite", name), cells.size(),
                   "repair the tensors or give their component order");
  return Metric(std::move(result));
}

/// The name of the array that holds the regions.
template <int Corners>
std::string region_array(const CellValues<Corners>& cells, const MetricRequest& request) {
  return request.region_array.empty() ? cells.first_on_cells({"region", "gmsh:physical", "medit:ref"})
                                      : cells.first_on_cells({request.region_array.c_str()});
}

/// The row of the table for each cell. Excluded regions need none.
template <int Corners>
std::vector<std::uint16_t> table_rows(const CellValues<Corners>& cells, const MetricRequest& request) {
  if (request.table.size() > 65535)
    throw UsageError("the velocity table has too many rows (at most 65535 are possible); join regions");
  std::map<double, std::uint16_t> rows;
  for (const RegionVelocities& row : request.table)
    if (!rows.emplace(static_cast<double>(row.region), static_cast<std::uint16_t>(rows.size())).second)
      throw UsageError(fmt::format("the velocity table has region {} twice; leave one of the rows out", row.region));
  const std::string name = region_array(cells, request);
  const std::set<double> excluded(request.excluded_regions.begin(), request.excluded_regions.end());
  std::vector<std::uint16_t> result(cells.size());
  BadCells missing;
  std::set<double> without_row;
  bool no_number = false;
  std::mutex mutex;
  cells.for_each(name, {1}, [&](std::size_t e, Tuple tuple) {
    // A value that is no number compares like any other: it would be found.
    const auto row = std::isnan(tuple[0]) ? rows.end() : rows.find(tuple[0]);
    if (row != rows.end()) {
      result[e] = row->second;
    } else if (std::isnan(tuple[0]) || !excluded.contains(tuple[0])) {
      const std::lock_guard lock(mutex);
      if (std::isnan(tuple[0])) no_number = true;
      else without_row.insert(tuple[0]);
      missing.add(e);
    }
  });
  std::vector<double> regions(without_row.begin(), without_row.end());
  if (no_number) regions.push_back(std::numeric_limits<double>::quiet_NaN());
  missing.check(fmt::format("region array '{}' holds regions without a row in the velocity table: {},", name,
                            region_list(regions)),
                cells.size(), regions.size() == 1 ? "add the row" : "add the rows");
  return result;
}

/// Fills unit vectors; what has no length stays zero and is counted, as is what is not finite.
template <int Corners>
std::vector<Vec3f> directions(const CellValues<Corners>& cells, const std::string& name, BadCells& zero) {
  std::vector<Vec3f> result;
  make_room(result, cells.size());
  result.resize(cells.size());
  BadCells infinite;
  cells.for_each_direction(name, [&](std::size_t e, const Vec3d& v) {
    const double length = norm(v);
    if (!cells.matters(e)) return;
    if (!std::isfinite(length)) infinite.add(e);
    else if (!(length > 0)) zero.add(e);
    else result[e] = narrow(v / length);
  });
  infinite.check(fmt::format("array '{}' is not finite", name), cells.size(), "repair the array");
  return result;
}

template <int Corners>
Metric fiber_metric(const CellValues<Corners>& cells, const MetricRequest& request) {
  FiberMetric result;
  const bool strict = request.zero_fibers == ZeroFibers::refuse;
  const Message advice = "repair the array, or let those cells conduct alike in all directions (" +
                         Setting{Option::allow_zero_fibers} + ")";
  BadCells zero, no_sheet;
  result.fiber = directions(cells, request.fiber_array, zero);
  if (strict) zero.check(fmt::format("fibre array '{}' has zero length", request.fiber_array), cells.size(), advice);
  if (!request.sheet_array.empty()) {
    BadCells ignored;
    result.sheet = directions(cells, request.sheet_array, ignored);
    parallel_for(usual_threads(), cells.size(), [&](std::size_t e) {
      if (cells.matters(e) && !(norm(cross(result.sheet[e], result.fiber[e])) > 1e-4F) && norm(result.fiber[e]) > 0)
        no_sheet.add(e);
    });
    if (strict)
      no_sheet.check(fmt::format("sheet array '{}' has zero length or lies along the fibre", request.sheet_array),
                     cells.size(), advice);
  }
  if (request.table.empty()) {
    result.velocities = {*request.velocities};
  } else {
    result.region = table_rows(cells, request);
    result.velocities.clear();
    for (const RegionVelocities& row : request.table) result.velocities.push_back(row.velocities);
  }
  for (Velocities& v : result.velocities) {
    const bool still = v == Velocities{0, 0, 0};
    if (!still && (!usable_speed(v.fiber) || !usable_speed(v.sheet) || !usable_speed(v.normal)))
      throw UsageError(
          fmt::format("velocities {}, {}, {} cannot be used (each must be positive and finite, or all are 0 where "
                      "nothing conducts); give others",
                      v.fiber, v.sheet, v.normal));
    if (result.sheet.empty()) v.normal = v.sheet;
  }
  return Metric(std::move(result));
}

template <int Corners>
Metric region_speed_metric(const CellValues<Corners>& cells, const MetricRequest& request) {
  for (const RegionVelocities& row : request.table)
    if (row.velocities.fiber != row.velocities.sheet || row.velocities.fiber != row.velocities.normal)
      throw UsageError(
          fmt::format("region {} has different velocities along and across the fibre, but there are no fibres; "
                      "name the fibre array or give one velocity a region",
                      row.region));
  SpeedMetric result;
  for (const std::uint16_t row : table_rows(cells, request))
    result.speed.push_back(request.table[row].velocities.fiber);
  return Metric(std::move(result));
}

/// Whether each cell conducts, as far as excluded regions, regions without velocity and the mask say; empty: all do.
template <int Corners>
Flags conducting_cells(const CellValues<Corners>& cells, const MetricRequest& request) {
  std::set<double> excluded(request.excluded_regions.begin(), request.excluded_regions.end());
  for (const RegionVelocities& row : request.table)
    if (row.velocities == Velocities{0, 0, 0}) excluded.insert(static_cast<double>(row.region));
  if (excluded.empty() && request.mask_array.empty()) return {};
  Flags conducts(cells.size(), 1);
  if (!excluded.empty()) {
    cells.for_each(region_array(cells, request), {1}, [&](std::size_t e, Tuple tuple) {
      conducts[e] = std::isnan(tuple[0]) || !excluded.contains(tuple[0]) ? 1 : 0;
    });
  }
  if (!request.mask_array.empty()) {
    BadCells bad;
    cells.for_each(request.mask_array, {1}, [&](std::size_t e, Tuple tuple) {
      if (std::isnan(tuple[0])) bad.add(e);
      else if (tuple[0] == 0 || cells.least(request.mask_array, e) == 0) conducts[e] = 0;
    });
    bad.check(fmt::format("mask array '{}' is not a number", request.mask_array), cells.size(), "repair the array");
  }
  return conducts;
}

/// The metric with nothing moving where `conducts` is false.
Metric stopped(const Metric& metric, const Flags& conducts) {
  auto kind = metric.kind();
  if (const auto* uniform = std::get_if<UniformMetric>(&kind))  // of a speed
    kind = SpeedMetric{Array<double>(conducts.size(), 1 / std::sqrt(uniform->tensor.xx))};
  if (auto* fibers = std::get_if<FiberMetric>(&kind)) {
    if (fibers->region.empty()) fibers->region.resize(conducts.size());
    if (fibers->velocities.size() > 65535)
      throw UsageError("the velocity table has too many rows (at most 65535 are possible); join regions");
    fibers->velocities.push_back({0, 0, 0});
  }
  for (std::size_t e = 0; e < conducts.size(); ++e) {
    if (conducts[e] != 0) continue;
    if (auto* speeds = std::get_if<SpeedMetric>(&kind)) speeds->speed[e] = 0;
    if (auto* fibers = std::get_if<FiberMetric>(&kind))
      fibers->region[e] = static_cast<std::uint16_t>(fibers->velocities.size() - 1);
    if (auto* tensors = std::get_if<TensorMetric>(&kind))
      tensors->tensor[e] = SymTensor3f::identity(std::numeric_limits<float>::infinity());
  }
  return Metric(std::move(kind));
}

void check_request(const MetricRequest& r) {
  const bool fibers = !r.fiber_array.empty();
  const bool velocities = r.velocities.has_value() || !r.table.empty();
  const int kinds = static_cast<int>(r.speed.has_value()) + static_cast<int>(!r.speed_array.empty()) +
                    static_cast<int>(!r.metric_array.empty()) + static_cast<int>(!r.velocity_tensor_array.empty()) +
                    static_cast<int>(fibers || velocities);
  if (kinds > 1)
    throw UsageError(
        "the metric is given in more than one way; choose a speed, a speed array, a metric array, a velocity "
        "tensor array, or fibres with velocities");
  if (!r.sheet_array.empty() && !fibers) throw UsageError("sheets are given without fibres; name the fibre array too");
  if (fibers && !velocities)
    throw UsageError("fibres are given without velocities; give them along and across the fibre, like " +
                     Setting{Option::velocity, "0.6,0.3"});
  if (r.velocities.has_value() && !r.table.empty())
    throw UsageError("velocities are given for everywhere and by region (one would be ignored); choose one");
  if (r.velocities.has_value() && !fibers)
    throw UsageError("velocities are given without fibres (" + Setting{Option::velocity} + " needs " +
                     Setting{Option::fibers} + "); name the fibre array with " + Setting{Option::fibers} +
                     ", or give " + Setting{Option::speed});
  if (r.speed.has_value() && !usable_speed(*r.speed))
    throw UsageError(
        fmt::format("a speed of {} cannot be used (it must be positive and finite); give another", *r.speed));
}

}  // namespace

Vec3d common_axis(std::span<const Vec3d> directions) {
  SymTensor3d products{};
  Vec3d axis{}, first{};
  bool finite = true;
  for (const Vec3d& v : directions) {
    const double largest = std::max({std::abs(v.x), std::abs(v.y), std::abs(v.z)});
    finite = finite && is_finite(v);
    if (!finite || !(largest > 0)) continue;
    const Vec3d scaled = v / largest;  // squares of what files hold may be too large or too small
    if (!(norm(first) > 0)) first = scaled;
    products = products + SymTensor3d::outer(scaled / norm(scaled));
  }
  if (norm(first) > 0) axis = principal_direction(products);
  if (dot(axis, first) < 0) axis = -axis;
  if (!finite) axis.x = std::numeric_limits<double>::quiet_NaN();
  return axis;
}

namespace {

template <int Corners>
Metric metric_of(const CellValues<Corners>& values, const MetricRequest& request) {
  if (!request.speed_array.empty()) return speed_metric(values, request.speed_array);
  if (!request.metric_array.empty())
    return tensor_metric(values, request.metric_array, TensorMeaning::metric, request.tensor_order);
  if (!request.velocity_tensor_array.empty())
    return tensor_metric(values, request.velocity_tensor_array, TensorMeaning::velocity, request.tensor_order);
  if (!request.fiber_array.empty()) return fiber_metric(values, request);
  if (!request.table.empty()) return region_speed_metric(values, request);
  return Metric::isotropic(request.speed.value_or(1.0));
}

}  // namespace

template <int Corners>
Metric metric_from_dataset(std::span<const std::array<VertexId, Corners>> cells, const Dataset& dataset,
                           const MetricRequest& request) {
  check_request(request);
  CellValues<Corners> values(cells, dataset);
  const Flags conducts = conducting_cells(values, request);
  values.leave_out(conducts);
  Metric metric = metric_of(values, request);
  if (conducts.empty()) return metric;
  return stopped(metric, conducts);
}

template Metric metric_from_dataset<3>(std::span<const std::array<VertexId, 3>>, const Dataset&, const MetricRequest&);
template Metric metric_from_dataset<4>(std::span<const std::array<VertexId, 4>>, const Dataset&, const MetricRequest&);

}  // namespace isochron
