#include "isochron/connect.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <utility>

#include <fmt/format.h>

#include "isochron/core/delimited_text.h"
#include "isochron/core/join_text.h"
#include "isochron/error.h"
#include "isochron/image.h"

namespace isochron {
namespace {

constexpr std::string_view forms =
    "write sphere:X,Y,Z,RADIUS (RAS, mm), label:FILE:VALUE, mask:FILE or voxels:i,j,k;i,j,k";

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  throw UsageError(fmt::format("'{}' is not a region ({}); {}", text, why, forms));
}

/// The whole text as a number; nothing when it is none.
template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

SphereRegion parse_sphere(std::string_view text, std::string_view body) {
  std::vector<double> values;
  for (const std::string_view part : split_text(body, ",")) {
    const auto value = number<double>(part);
    if (!value || !std::isfinite(*value)) refuse(text, fmt::format("'{}' is no number", part));
    values.push_back(*value);
  }
  if (values.size() != 4) refuse(text, "a sphere has four numbers");
  if (!(values[3] >= 0)) refuse(text, "its radius is negative");
  return {{values[0], values[1], values[2]}, values[3]};
}

LabelRegion parse_label(std::string_view text, std::string_view body) {
  const std::size_t colon = body.rfind(':');  // file names may have colons, values do not
  if (colon == std::string_view::npos || colon == 0) refuse(text, "a label has a file and a value");
  const auto value = number<std::int64_t>(body.substr(colon + 1));
  if (!value) refuse(text, fmt::format("'{}' is no whole number", body.substr(colon + 1)));
  return {std::filesystem::path(body.substr(0, colon)), *value};
}

VoxelRegion parse_voxels(std::string_view text, std::string_view body) {
  VoxelRegion region;
  for (const std::string_view one : split_text(body, ";")) {
    if (one.empty()) continue;
    const auto parts = split_text(one, ",");
    std::array<std::uint32_t, 3> voxel{};
    bool good = parts.size() == 3;
    for (std::size_t d = 0; good && d < 3; ++d) {
      const auto index = number<std::uint32_t>(parts[d]);
      good = index.has_value();
      voxel[d] = index.value_or(0);
    }
    if (!good) refuse(text, fmt::format("'{}' is no voxel: three whole numbers from 0 on", one));
    region.voxels.push_back(voxel);
  }
  if (region.voxels.empty()) refuse(text, "it has no voxels");
  return region;
}

std::string point_text(const Vec3d& p) { return fmt::format("{:.4g},{:.4g},{:.4g}", p.x, p.y, p.z); }

/// The whole number at a voxel; labels are often kept as reals. NaN is background.
std::int64_t label_at(const DataArray& array, std::size_t voxel, const std::string& what) {
  const double value = array.at(voxel);
  if (std::isnan(value)) return 0;
  const double whole = std::round(value);
  if (!(std::abs(value - whole) < 1e-3 && std::abs(whole) < 1e15))
    throw InputError(fmt::format("{} is no label map (value {:g} at voxel {} is no whole number); give one of labels",
                                 what, value, voxel));
  return static_cast<std::int64_t>(whole);
}

std::map<std::int64_t, std::vector<VertexId>> voxels_by_label(const DataArray& array, const std::string& what) {
  std::map<std::int64_t, std::vector<VertexId>> result;
  const std::size_t voxels = array.tuple_count();
  for (std::size_t v = 0; v < voxels; ++v)
    if (const std::int64_t label = label_at(array, v, what); label != 0) result[label].push_back(VertexId(v));
  return result;
}

std::vector<VertexId> voxels_of(const SphereRegion& sphere, const ImageGrid& grid) {
  std::vector<VertexId> voxels;
  // A sphere reaches |row i of the inverse of the axes| · radius along index i; the rows come from index_of.
  const Vec3d center = grid.index_of(sphere.center);
  const Vec3d origin = grid.index_of(Vec3d{});
  const Vec3d ex = grid.index_of({1, 0, 0}) - origin, ey = grid.index_of({0, 1, 0}) - origin,
              ez = grid.index_of({0, 0, 1}) - origin;
  std::array<std::uint32_t, 3> low{}, high{};
  for (int d = 0; d < 3; ++d) {
    const double reach = sphere.radius * norm(Vec3d{ex[d], ey[d], ez[d]});
    const double last = grid.shape[static_cast<std::size_t>(d)] - 1.0;
    const auto inside = [&](double index) { return static_cast<std::uint32_t>(index > 0 ? std::min(index, last) : 0); };
    low[static_cast<std::size_t>(d)] = inside(std::floor(center[d] - reach));
    high[static_cast<std::size_t>(d)] = inside(std::ceil(center[d] + reach));
  }
  for (std::uint32_t k = low[2]; k <= high[2]; ++k)
    for (std::uint32_t j = low[1]; j <= high[1]; ++j)
      for (std::uint32_t i = low[0]; i <= high[0]; ++i)
        if (norm(grid.position(grid.voxel(i, j, k)) - sphere.center) <= sphere.radius)
          voxels.push_back(grid.voxel(i, j, k));
  if (voxels.empty())
    if (const auto holder = grid.voxel_at(sphere.center)) voxels.push_back(*holder);
  return voxels;
}

std::string extent_text(const ImageGrid& grid) {
  Vec3d low = grid.position(Vec3d{}), high = low;
  for (int corner = 1; corner < 8; ++corner) {
    const auto far = [&](int d) {
      return (corner >> d & 1) != 0 ? grid.shape[static_cast<std::size_t>(d)] - 1.0 : 0.0;
    };
    const Vec3d p = grid.position(Vec3d{far(0), far(1), far(2)});
    for (int d = 0; d < 3; ++d) {
      low[d] = std::min(low[d], p[d]);
      high[d] = std::max(high[d], p[d]);
    }
  }
  return fmt::format("x {:.4g}…{:.4g}, y {:.4g}…{:.4g}, z {:.4g}…{:.4g}", low.x, high.x, low.y, high.y, low.z, high.z);
}

std::vector<VertexId> voxels_of(const LabelRegion& label, const ImageGrid& grid, const Image& image) {
  const std::string what = label.file.string();
  const auto labels = voxels_by_label(values_on(grid, image, what), what);
  const auto found = labels.find(label.value);
  if (found != labels.end()) return found->second;
  constexpr std::size_t shown = 12;
  std::vector<std::int64_t> some;
  for (const auto& [value, voxels] : labels)
    if (some.size() < shown) some.push_back(value);
  throw InputError(fmt::format("{} has no voxel with the label {} (it has {}{}); give one that it has", what,
                               label.value, labels.empty() ? "none" : join_text(some, ", "),
                               labels.size() > shown ? ", …" : ""));
}

std::vector<VertexId> voxels_of(const MaskRegion& mask, const ImageGrid& grid, const Image& image) {
  const std::vector<std::uint8_t> inside = mask_of(image, grid, mask.file.string());
  std::vector<VertexId> voxels;
  for (std::size_t v = 0; v < inside.size(); ++v)
    if (inside[v] != 0) voxels.push_back(VertexId(v));
  return voxels;
}

std::vector<VertexId> voxels_of(const VoxelRegion& region, const ImageGrid& grid, const std::string& text) {
  std::vector<VertexId> voxels;
  for (const auto& [i, j, k] : region.voxels) {
    if (i >= grid.shape[0] || j >= grid.shape[1] || k >= grid.shape[2])
      throw InputError(
          fmt::format("region '{}': voxel {},{},{} is outside the image (shape {}, counted from 0); give "
                      "voxels of the image",
                      text, i, j, k, join_text(grid.shape, " x ")));
    voxels.push_back(grid.voxel(i, j, k));
  }
  std::sort(voxels.begin(), voxels.end());
  voxels.erase(std::unique(voxels.begin(), voxels.end()), voxels.end());
  return voxels;
}

Vec3d middle_of(const Region& region, const ImageGrid& grid) {
  Vec3d sum;
  for (const VertexId v : region.voxels) sum += grid.position(v);
  return sum / static_cast<double>(region.voxels.size());
}

}  // namespace

RegionRequest parse_region(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) refuse(text, "it does not begin with a kind and a colon");
  const std::string_view kind = text.substr(0, colon), body = text.substr(colon + 1);
  RegionRequest request{std::string(text), {}};
  if (kind == "sphere") request.what = parse_sphere(text, body);
  else if (kind == "label") request.what = parse_label(text, body);
  else if (kind == "voxels") request.what = parse_voxels(text, body);
  else if (kind != "mask") refuse(text, fmt::format("'{}' is no kind of region", kind));
  else if (body.empty()) refuse(text, "there is no file");
  else request.what = MaskRegion{std::filesystem::path(body)};
  return request;
}

Region make_region(const RegionRequest& request, const ImageGrid& grid, const ImageSource& images) {
  Region region{request.text, {}};
  if (const auto* sphere = std::get_if<SphereRegion>(&request.what)) {
    region.voxels = voxels_of(*sphere, grid);
    if (region.voxels.empty())
      throw InputError(fmt::format("region '{}' is outside the image ({}); give a point in RAS mm inside it",
                                   request.text, extent_text(grid)));
  } else if (const auto* label = std::get_if<LabelRegion>(&request.what)) {
    region.voxels = voxels_of(*label, grid, images(label->file));
  } else if (const auto* mask = std::get_if<MaskRegion>(&request.what)) {
    region.voxels = voxels_of(*mask, grid, images(mask->file));
  } else {
    region.voxels = voxels_of(std::get<VoxelRegion>(request.what), grid, request.text);
  }
  return region;
}

Region inside_mask(const Region& region, const ImageGrid& grid, std::span<const std::uint8_t> mask) {
  Region inside{region.name, {}};
  for (const VertexId v : region.voxels)
    if (mask[v.index()] != 0) inside.voxels.push_back(v);
  if (!inside.voxels.empty()) return inside;
  const Vec3d middle = middle_of(region, grid);
  double nearest = std::numeric_limits<double>::infinity();
  VertexId where;
  for (std::size_t v = 0; v < mask.size(); ++v) {
    if (mask[v] == 0) continue;
    const double distance = norm(grid.position(VertexId(v)) - middle);
    if (distance >= nearest) continue;
    nearest = distance;
    where = VertexId(v);
  }
  if (!where.valid())
    throw InputError(
        fmt::format("region '{}' is outside the mask (the mask is empty); give another mask", region.name));
  const auto [i, j, k] = grid.index(where);
  throw InputError(fmt::format(
      "region '{}' is entirely outside the mask (the nearest voxel of the mask is {},{},{} at {}, {:.3g} mm "
      "away); move the region or widen the mask",
      region.name, i, j, k, point_text(grid.position(where)), nearest));
}

std::vector<LabelledRegion> all_labels(const Image& image, const ImageGrid& grid, const std::string& what) {
  std::vector<LabelledRegion> result;
  for (auto& [label, voxels] : voxels_by_label(values_on(grid, image, what), what))
    result.push_back({label, {fmt::format("label {} of {}", label, what), std::move(voxels)}});
  if (result.empty()) throw InputError(fmt::format("{} has no labels (0 in every voxel); give a label map", what));
  return result;
}

void check_apart(const Region& a, const Region& b) {
  std::vector<VertexId> shared;
  std::set_intersection(a.voxels.begin(), a.voxels.end(), b.voxels.begin(), b.voxels.end(), std::back_inserter(shared));
  if (shared.empty()) return;
  throw InputError(fmt::format("the regions '{}' and '{}' overlap (voxels in both: {}); give regions that are apart",
                               a.name, b.name, shared.size()));
}

namespace {

/// Calls `visit` with the voxel itself and those of its 26 neighbours that are in the image.
template <class Visit>
void for_neighbours(const ImageGrid& grid, VertexId voxel, Visit&& visit) {
  const auto at = grid.index(voxel);
  std::array<std::uint32_t, 3> low{}, high{};
  for (std::size_t d = 0; d < 3; ++d) {
    low[d] = at[d] > 0 ? at[d] - 1 : 0;
    high[d] = std::min(at[d] + 1, grid.shape[d] - 1);
  }
  for (std::uint32_t k = low[2]; k <= high[2]; ++k)
    for (std::uint32_t j = low[1]; j <= high[1]; ++j)
      for (std::uint32_t i = low[0]; i <= high[0]; ++i) visit(grid.voxel(i, j, k));
}

}  // namespace

Components find_components(const ImageGrid& grid, std::span<const std::uint8_t> set) {
  Components result;
  result.of_voxel.assign(set.size(), -1);
  std::vector<VertexId> open;
  for (std::size_t start = 0; start < set.size(); ++start) {
    if (set[start] == 0 || result.of_voxel[start] >= 0) continue;
    const auto part = static_cast<std::int32_t>(result.sizes.size());
    std::size_t size = 0;
    const auto enter = [&](VertexId v) {
      if (set[v.index()] == 0 || result.of_voxel[v.index()] >= 0) return;
      result.of_voxel[v.index()] = part;
      ++size;
      open.push_back(v);
    };
    enter(VertexId(start));
    while (!open.empty()) {
      const VertexId v = open.back();
      open.pop_back();
      for_neighbours(grid, v, enter);
    }
    result.sizes.push_back(size);
  }
  return result;
}

// Floods from one region, always into the lowest voxel beside the flood.
double joining_level(const ImageGrid& grid, std::span<const double> values, std::span<const VertexId> from,
                     std::span<const VertexId> to) {
  std::vector<bool> wanted(values.size(), false), seen(values.size(), false);
  for (const VertexId v : to) wanted[v.index()] = true;
  using Entry = std::pair<double, VertexId>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> border;
  const auto enter = [&](VertexId v) {
    if (seen[v.index()] || !std::isfinite(values[v.index()])) return;
    seen[v.index()] = true;
    border.emplace(values[v.index()], v);
  };
  for (const VertexId v : from) enter(v);
  double level = -std::numeric_limits<double>::infinity();
  while (!border.empty()) {
    const auto [value, v] = border.top();
    border.pop();
    level = std::max(level, value);
    if (wanted[v.index()]) return level;
    for_neighbours(grid, v, enter);
  }
  return std::numeric_limits<double>::infinity();
}

}  // namespace isochron
