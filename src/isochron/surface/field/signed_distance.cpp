#include "isochron/surface.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "isochron/core/join_text.h"
#include "isochron/core/parallel.h"
#include "isochron/error.h"
#include "isochron/surface/field/blocks.h"
#include "isochron/surface/field/frame.h"
#include "isochron/surface/field/label_smoothing.h"
#include "isochron/surface/field/redistance.h"
#include "isochron/surface/field/volume.h"

namespace isochron {
namespace {

constexpr int margin = 4;  // layers of outside that splines and searches can use

int threads_of(const FieldOptions& options) { return field_threads(options.threads); }

void check(const FieldOptions& options) {
  constexpr double least = 4;  // what is searched around the surface, and a little
  if (!(options.reach >= least))
    throw UsageError(fmt::format("a reach of {} voxels is too short; give at least {}", options.reach, least));
}

bool leaves_image(const ImageGrid& grid, const ImageBox& box) {
  for (int a = 0; a < 3; ++a)
    if (box.from[a] + margin == 0 || box.to[a] - margin == static_cast<int>(grid.shape[a])) return true;
  return false;
}

void check_border(const ImageGrid& grid, const ImageBox& box, const FieldOptions& options, ImplicitSurface& surface) {
  if (!leaves_image(grid, box)) return;
  if (options.border == AtBorder::refuse)
    throw InputError(
        "the object touches the border of the image (its surface leaves it); close it there or give a larger image");
  surface.notes.emplace_back(
      "the object touches the border of the image: its surface is closed there, with a flat face");
}

/// Calls `visit(point)` for the outermost points of a lattice.
template <class Visit>
void for_border(const Lattice& lattice, Visit&& visit) {
  const int last[3] = {lattice.shape[0] - 1, lattice.shape[1] - 1, lattice.shape[2] - 1};
  for (int k = 0; k <= last[2]; ++k)
    for (int j = 0; j <= last[1]; ++j) {
      const bool whole = k == 0 || k == last[2] || j == 0 || j == last[1];
      for (int i = 0; i <= last[0]; i += whole ? 1 : last[0]) visit(lattice.index(i, j, k));
    }
}

/// Cuts the object off on the faces of the image's outermost voxels, where the lattice goes on behind them: inside both
/// is the larger of the distances to the object's surface and to these planes.
void cut_at_faces(const ImageGrid& grid, const ImageBox& box, int threads, ImplicitSurface& surface) {
  const Lattice& lattice = surface.lattice;
  std::vector<float> beyond[3];  // how far a point is behind the nearer face, along each axis
  for (int a = 0; a < 3; ++a) {
    const int last = static_cast<int>(grid.shape[a]) - 1;
    for (int i = 0; i < lattice.shape[a]; ++i) {
      const int at = box.from[a] + i;
      double voxels = -std::numeric_limits<double>::infinity();
      if (box.from[a] < 0) voxels = std::max(voxels, -0.5 - at);
      if (box.to[a] > last + 1) voxels = std::max(voxels, at - (last + 0.5));
      beyond[a].push_back(static_cast<float>(voxels * lattice.spacing[a]));
    }
  }
  const auto reach = static_cast<float>(surface.reach);
  parallel_region(threads, [&](int thread, int team) {
    for (int k = lattice.shape[2] * thread / team; k < lattice.shape[2] * (thread + 1) / team; ++k)
      for (int j = 0; j < lattice.shape[1]; ++j) {
        float* row = surface.distance.data() + lattice.index(0, j, k);
        const float behind = std::max(beyond[1][static_cast<std::size_t>(j)], beyond[2][static_cast<std::size_t>(k)]);
        for (int i = 0; i < lattice.shape[0]; ++i)
          row[i] = std::max(row[i], std::min(reach, std::max(behind, beyond[0][static_cast<std::size_t>(i)])));
      }
  });
}

/// The distance field of a level; the surface's lattice is set already.
void measure(std::vector<float> level, const FieldOptions& options, const Progress& progress,
             ImplicitSurface& surface) {
  for_border(surface.lattice, [&](std::size_t point) { level[point] = std::max(level[point], 1e-6F); });
  surface.reach = options.reach * surface.lattice.smallest_spacing();
  surface.distance =
      signed_distance(surface.lattice, level, surface.reach, {threads_of(options), options.backend}, progress);
}

/// Cuts the object off at the image's faces and moves its surface in or out until it encloses as much as its voxels
/// have. Smoothing takes from thin parts, and a spline cannot follow a distance field across them.
void cut_with_volume_kept(const ImageGrid& grid, const ImageBox& box, int threads, ImplicitSurface& surface) {
  const std::vector<float> distance = surface.distance;
  const double voxel = surface.lattice.smallest_spacing();
  const auto reach = static_cast<float>(surface.reach), least = static_cast<float>(min_level * voxel);
  offset_for_volume(static_cast<double>(surface.inside_count), max_offset * voxel, [&](double offset) {
    parallel_for(threads, distance.size(), [&](std::size_t v) {
      const float d = distance[v];
      surface.distance[v] = offset == 0 || std::abs(d) >= reach ? d : moved_level(d, static_cast<float>(offset), least);
    });
    cut_at_faces(grid, box, threads, surface);
    return negative_volume(SplineField(surface.lattice, surface.distance, threads), surface.distance, threads);
  });
}

/// What the values of an image are like.
struct Values {
  std::size_t finite = 0, not_finite = 0;
  std::size_t at_isovalue = 0;
  bool whole = true;  ///< all finite ones are whole numbers
  float lowest = std::numeric_limits<float>::infinity(), highest = -std::numeric_limits<float>::infinity();
};

Values look_at(std::span<const float> values, double isovalue, int threads) {
  std::vector<Values> parts(static_cast<std::size_t>(threads));
  parallel_region(threads, [&](int thread, int team) {
    Values part;
    const std::size_t begin = values.size() * thread / team, end = values.size() * (thread + 1) / team;
    for (const float value : values.subspan(begin, end - begin)) {
      if (!std::isfinite(value)) {
        ++part.not_finite;
        continue;
      }
      ++part.finite;
      part.at_isovalue += value == isovalue ? 1 : 0;
      part.whole = part.whole && value == std::trunc(value);
      part.lowest = std::min(part.lowest, value);
      part.highest = std::max(part.highest, value);
    }
    parts[static_cast<std::size_t>(thread)] = part;
  });
  Values result;
  for (const Values& part : parts) {
    result.finite += part.finite;
    result.not_finite += part.not_finite;
    result.at_isovalue += part.at_isovalue;
    result.whole = result.whole && part.whole;
    result.lowest = std::min(result.lowest, part.lowest);
    result.highest = std::max(result.highest, part.highest);
  }
  return result;
}

void check_isovalue(const Values& values, double isovalue, InsideIs inside) {
  if (values.finite == 0) throw InputError("the image has no finite values; give another image");
  if (values.lowest == values.highest)
    throw InputError(
        fmt::format("the image has the same value everywhere ({}), so no surface; give another image", values.lowest));
  // Inside are those at or above the isovalue, or those below it; either needs one on each side.
  if (!(isovalue > values.lowest && isovalue <= values.highest))
    throw InputError(
        fmt::format("isovalue {} leaves {} inside (the values of the image go from {} to {}); choose one between",
                    isovalue, (isovalue > values.highest) == (inside == InsideIs::above) ? "nothing" : "everything",
                    values.lowest, values.highest));
}

/// Among whole numbers a surface at a value that voxels have would go through all their centres; half a step lower it
/// passes between them and the next value, with the same voxels inside.
double between_whole_values(const Values& values, double isovalue, ImplicitSurface& surface) {
  if (!values.whole || values.at_isovalue == 0) return isovalue;
  const double between = isovalue - 0.5;
  surface.notes.push_back(
      fmt::format("the isovalue {} is the value of {} voxels: the surface is taken at {}, and they are above it",
                  isovalue, values.at_isovalue, between));
  return between;
}

}  // namespace

ImplicitSurface from_isovalue(const ImageGrid& grid, std::span<const float> values, double wanted,
                              const FieldOptions& options, const Progress& progress) {
  ImplicitSurface surface;
  const LatticeFrame whole = checked_frame(grid, values.size());
  check(options);
  const Values seen = look_at(values, wanted, threads_of(options));
  check_isovalue(seen, wanted, options.inside);
  if (seen.not_finite > 0)
    surface.notes.push_back(fmt::format("{} voxels are not finite: they count as outside", seen.not_finite));
  const double isovalue = between_whole_values(seen, wanted, surface);
  surface.isovalue = isovalue;

  // Negative inside. The sign is that of the comparison in double: a value equal to the isovalue is above it.
  const bool above = options.inside == InsideIs::above;
  const double outermost = above ? isovalue - seen.lowest : seen.highest - isovalue;
  const double scale = 1 / (static_cast<double>(seen.highest) - seen.lowest);
  const double tiny = 1e-6;
  const auto level_of = [&](float value) {
    if (!std::isfinite(value)) return static_cast<float>(scale * std::max(outermost, tiny));
    const double level = scale * (above ? isovalue - value : value - isovalue);
    const bool inside = (value >= isovalue) == above;
    return static_cast<float>(inside ? std::min(level, -tiny) : std::max(level, tiny));
  };
  ImageBox box;
  surface.inside_count = box_around(
      grid, margin, threads_of(options), [&](std::size_t v) { return level_of(values[v]) < 0; }, box);
  check_border(grid, box, options, surface);
  surface.lattice = box.lattice(grid);
  surface.frame = box.frame(grid, whole);
  std::vector<float> level(surface.lattice.point_count());
  // Beyond the image the last values go on; the object is cut off there later.
  for_box(grid, box, threads_of(options),
          [&](std::size_t point, std::size_t voxel, bool) { level[point] = level_of(values[voxel]); });
  if (options.smoothing > 0) {
    smooth(surface.lattice, options.smoothing, threads_of(options), level);
    if (std::none_of(level.begin(), level.end(), [](float value) { return value < 0; }))
      throw InputError("smoothing leaves nothing inside; smooth less");
  }
  measure(std::move(level), options, progress, surface);
  cut_at_faces(grid, box, threads_of(options), surface);
  return surface;
}

ImplicitSurface from_labels(const ImageGrid& image, std::span<const std::int32_t> image_labels,
                            const std::set<std::int32_t>& wanted, const FieldOptions& options,
                            const Progress& progress) {
  ImplicitSurface surface;
  checked_frame(image, image_labels.size());
  check(options);
  if (wanted.empty()) throw UsageError("no label is given; name at least one");
  std::set<std::int32_t> present = labels_in(image_labels);
  present.erase(no_label);
  for (const std::int32_t label : wanted)
    if (!present.contains(label))
      throw InputError(fmt::format("label {} is not in the image; it has {}", label, join_text(present, ", ")));

  std::vector<std::uint8_t> wanted_at(image_labels.size());
  parallel_for(threads_of(options), wanted_at.size(),
               [&](std::size_t v) { wanted_at[v] = wanted.contains(image_labels[v]) ? 1 : 0; });
  ImageGrid grid = image;
  if (options.blocks == Blocks::find) {
    const BlockGrid blocks = find_blocks(image, std::span<const std::uint8_t>(wanted_at));
    if (!blocks.note.empty()) {
      surface.notes.push_back(blocks.note);
      grid = blocks.grid;
      wanted_at = block_values(image, blocks, std::span<const std::uint8_t>(wanted_at));
    }
  }
  ImageBox box;
  surface.inside_count = box_around(
      grid, margin, threads_of(options), [&](std::size_t v) { return wanted_at[v] != 0; }, box);
  check_border(grid, box, options, surface);
  surface.lattice = box.lattice(grid);
  surface.frame = box.frame(grid, frame_of(grid, "the image"));
  std::vector<std::uint8_t> inside(surface.lattice.point_count());
  for_box(grid, box, threads_of(options),
          [&](std::size_t point, std::size_t voxel, bool) { inside[point] = wanted_at[voxel]; });
  const double width = options.smoothing < 0 ? usual_label_smoothing : options.smoothing;
  measure(smoothed_level(surface.lattice, inside, width, threads_of(options)), options, progress, surface);
  cut_with_volume_kept(grid, box, threads_of(options), surface);
  surface.voxel_volume = static_cast<double>(surface.inside_count) * voxel_volume(surface.lattice);
  return surface;
}

}  // namespace isochron
