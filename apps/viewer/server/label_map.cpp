#include "apps/viewer/server/label_map.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "isochron/core/error.h"

namespace isochron::viewer {
namespace {

/// Maps of a whole brain have some 100 to 200; images of grey values in 8 bits have up to 256.
constexpr std::size_t max_labels = 200;

bool whole(float value) { return std::abs(value) < 0x1p31F && value == std::round(value); }

}  // namespace

std::map<std::int32_t, std::size_t> label_counts(std::span<const float> values) {
  std::map<std::int32_t, std::size_t> counts;
  // Neighbours mostly have the same label, so most voxels need no search.
  auto last = counts.end();
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    if (!whole(value)) return {};
    const auto label = static_cast<std::int32_t>(value);
    if (last == counts.end() || last->first != label) last = counts.try_emplace(label, 0).first;
    ++last->second;
    if (counts.size() > max_labels) return {};
  }
  return counts;
}

std::vector<std::int32_t> as_labels(std::span<const float> values) {
  std::vector<std::int32_t> labels;
  labels.reserve(values.size());
  for (const float value : values) {
    if (std::isfinite(value) && !whole(value))
      throw InputError(
          fmt::format("the image is no label map (voxel {} is {}); give an isovalue", labels.size(), value));
    labels.push_back(std::isfinite(value) ? static_cast<std::int32_t>(value)
                                          : std::numeric_limits<std::int32_t>::min());
  }
  return labels;
}

}  // namespace isochron::viewer
