// What surfaces of one object and of several materials share.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/isochron/console.h"
#include "apps/isochron/surface.h"
#include "isochron/core/error.h"

namespace isochron::cli {

const DataArray& chosen_array(const Image& image, const SurfaceRequest& request) {
  const std::string file = request.image.string();
  if (image.data.empty()) throw InputError("holds no values; give an image that does", file);
  const DataArray* array = &image.data.all().front();
  if (!request.array.empty()) {
    array = image.data.find(request.array);
    if (array == nullptr)
      throw InputError(
          fmt::format("there is no array '{}'; there are: {}", request.array, fmt::join(image.data.names(), ", ")),
          file);
  }
  if (array->components != 1)
    throw InputError(
        fmt::format("{} values a voxel, but a surface needs one; take one volume out of it first", array->components),
        file);
  return *array;
}

std::vector<std::int32_t> as_labels(const DataArray& array, const std::string& file, std::int32_t no_number,
                                    Console& console) {
  std::vector<std::int32_t> labels(array.tuple_count());
  std::size_t not_finite = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const double value = array.at(i);
    const bool whole = value == std::round(value) && std::abs(value) <= std::numeric_limits<std::int32_t>::max();
    if (!whole && std::isfinite(value))
      throw InputError(fmt::format("is no label map (voxel {} is {}); use --isovalue", i, value), file);
    labels[i] = whole ? static_cast<std::int32_t>(value) : no_number;
    not_finite += whole ? 0 : 1;
  }
  if (not_finite > 0)
    console.warn(fmt::format("{}: {} voxels are not finite: they count as outside", file, not_finite));
  return labels;
}

std::string described(const SurfaceDifference& d) {
  using Kind = SurfaceDifference::Kind;
  const std::string what = d.kind == Kind::lost     ? "is lost"
                           : d.kind == Kind::merged ? "is joined to another"
                           : d.kind == Kind::divided
                               ? "fell into several"
                               : fmt::format("has another number of handles (Euler characteristic {}, was {})",
                                             d.found_euler, d.expected_euler);
  return fmt::format("the component of area {:.3g} at {:.4g},{:.4g},{:.4g} {}", d.area, d.place.x, d.place.y, d.place.z,
                     what);
}

void warn_of_differences(const SurfaceRequest& request, const std::vector<std::string>& lines, Console& console) {
  constexpr std::size_t most = 5;
  for (std::size_t i = 0; i < std::min(most, lines.size()); ++i)
    console.warn(fmt::format("{}: {}; smaller triangles may keep it", request.image.string(), lines[i]));
  if (lines.size() > most)
    console.warn(fmt::format("{}: {} more differ from the image like this (--json has all)", request.image.string(),
                             counted(lines.size() - most, "component", "components")));
}

void show_stages(const Console& console, ExtractOptions& options) {
  const auto activity = std::make_shared<std::unique_ptr<Activity>>();
  options.begin_stage = [activity, &console](const std::string& stage) {
    activity->reset();
    *activity = std::make_unique<Activity>(console, stage);
    return (*activity)->progress();
  };
  options.particles.watch = [activity, count = 0](const RelaxIteration& iteration) mutable {
    (*activity)->detail(fmt::format(
        "iteration {}, {}, energy {:.4f}", ++count,
        counted(iteration.particles + iteration.added - iteration.deleted, "particle", "particles"), iteration.energy));
  };
}

TetOptions tet_options(const SurfaceRequest& request, const TriangleMesh& surface, const SizeField& sizes,
                       const LatticeFrame& frame) {
  Vec3d low = surface.points.front(), high = low;
  for (const Vec3d& p : surface.points)
    for (int a = 0; a < 3; ++a) {
      low[a] = std::min(low[a], p[a]);
      high[a] = std::max(high[a], p[a]);
    }
  TetOptions options;
  options.program = *request.tetrahedra;
  options.sizes = sample_sizes(low, high, [&, view = sizes.view()](Vec3d p) { return view.size(frame.to_lattice(p)); });
  return options;
}

}  // namespace isochron::cli
