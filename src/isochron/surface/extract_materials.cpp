#include "isochron/surface/extract_materials.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "isochron/core/join_text.h"
#include "isochron/core/parallel.h"
#include "isochron/core/timer.h"
#include "isochron/error.h"
#include "isochron/mesh/closest_point.h"
#include "isochron/mesh_quality.h"
#include "isochron/surface/extract.h"
#include "isochron/surface/field/blocks.h"
#include "isochron/surface/field/frame.h"
#include "isochron/surface/field/isosurface.h"
#include "isochron/surface/field/multi_label.h"
#include "isochron/surface/field/sizing.h"
#include "isochron/surface/triangulate/compare.h"
#include "isochron/surface/triangulate/delaunay.h"
#include "isochron/surface/triangulate/material_samples.h"
#include "isochron/surface/triangulate/mesh_volume.h"
#include "isochron/surface/triangulate/triangulate.h"

namespace isochron {
namespace {

using Index = MultiLabelField::Index;

TriangleMesh border_isosurface(const MultiLabelField& field, Index material, int times, int threads) {
  const Vec3d corner = field.part_corner(material);
  TriangleMesh mesh = marching_tetrahedra(field.part_lattice(material), times, threads,
                                          [&](Vec3d p) { return field.border_level(material, corner + p); });
  for (Vec3d& p : mesh.points) p += corner;
  return mesh;
}

// Calls `visit(material)` for all but outside.
template <class Visit>
void for_materials(const MultiLabelField& field, const Progress& progress, Visit&& visit) {
  const std::size_t count = field.labels().size();
  for (Index material = 0; material < count; ++material) {
    progress.update(static_cast<double>(material) / static_cast<double>(count));
    if (material != field.outside()) visit(material);
  }
}

std::vector<SurfaceDifference> differences(const TriangleMesh& expected, TriangleMesh found, double voxel,
                                           int threads) {
  if (!found.elements.empty()) {
    const ExpectedSurface surface(expected, threads);
    surface.drop_specks(found, voxel);  // the spline makes some between voxels
    return surface.differences(found);
  }
  std::vector<SurfaceDifference> all_lost;
  const SurfaceTopology topology = surface_topology(expected);
  for (std::size_t c = 0; c < topology.components.size(); ++c) {
    const SurfaceComponent& one = topology.components[c];
    all_lost.push_back({SurfaceDifference::Kind::lost, c, one.area, expected.point(expected.element(one.first)[0]),
                        one.euler_characteristic(), 0});
  }
  return all_lost;
}

}  // namespace

std::vector<MaterialDifference> material_differences(const MultiLabelField& field, const TriangleMesh& mesh,
                                                     std::span<const RegionSides> sides, int threads,
                                                     const Progress& progress) {
  std::vector<MaterialDifference> result;
  const Vec3d spacing = field.lattice().spacing;
  const double voxel = spacing.x * spacing.y * spacing.z;
  for_materials(field, progress, [&](Index material) {
    const std::int32_t label = field.labels()[material];
    const TriangleMesh expected = border_isosurface(field, material, 1, threads);
    for (const SurfaceDifference& one : differences(expected, border_of(mesh, sides, label), voxel, threads))
      result.push_back({label, one});
  });
  return result;
}

TriangleMesh material_isosurface(const MultiLabelField& field, int times, int threads, const Progress& progress) {
  TriangleMesh all;
  for_materials(field, progress, [&](Index material) {
    const TriangleMesh one = border_isosurface(field, material, times, threads);
    const std::size_t first = all.points.size();
    all.points.insert(all.points.end(), one.points.begin(), one.points.end());
    for (std::size_t t = 0; t < one.element_count(); ++t) {
      const auto x = corner_points(one, ElementId(t));
      const MultiLabelField::Nearest near = field.nearest((x[0] + x[1] + x[2]) / 3);
      const Index other = near.index[near.index[0] == material ? 1 : 0];
      if (other != field.outside() && other < material) continue;  // it is there already
      auto corners = one.elements[t];
      for (VertexId& v : corners) v = VertexId(first + v.index());
      all.elements.push_back(corners);
    }
  });
  return all;
}

namespace {

/// A label map where only the materials that are wanted are left, with a layer of outside around it.
struct Materials {
  ImageGrid grid;
  std::vector<std::int32_t> labels;
  std::set<std::int32_t> present;  ///< without 0
  std::vector<std::string> notes;
};

/// Adds the layer; says whether materials touch it.
bool surround(Materials& materials) {
  ImageGrid larger = materials.grid;
  for (int a = 0; a < 3; ++a) {
    larger.shape[a] += 2;
    larger.origin -= materials.grid.axes[a];
  }
  std::vector<std::int32_t> labels(larger.voxel_count());
  const auto& n = materials.grid.shape;
  bool touches = false;
  std::size_t voxel = 0;
  for (std::uint32_t k = 0; k < n[2]; ++k)
    for (std::uint32_t j = 0; j < n[1]; ++j)
      for (std::uint32_t i = 0; i < n[0]; ++i, ++voxel) {
        labels[larger.voxel(i + 1, j + 1, k + 1).index()] = materials.labels[voxel];
        const bool at_border = i == 0 || j == 0 || k == 0 || i + 1 == n[0] || j + 1 == n[1] || k + 1 == n[2];
        touches |= at_border && materials.labels[voxel] != 0;
      }
  materials.grid = larger;
  materials.labels = std::move(labels);
  return touches;
}

Materials chosen(const ImageGrid& image, std::span<const std::int32_t> labels, const std::set<std::int32_t>& wanted,
                 const FieldOptions& options) {
  checked_frame(image, labels.size());
  std::set<std::int32_t> present = labels_in(labels);
  if (wanted.contains(0)) throw UsageError("label 0 is what lies outside of all materials; leave it out");
  for (const std::int32_t label : wanted)
    if (!present.contains(label))
      throw InputError(fmt::format("label {} is not in the image; it has {}", label, join_text(present, ", ")));
  Materials result{image, {labels.begin(), labels.end()}, wanted.empty() ? std::move(present) : wanted, {}};
  result.present.erase(0);
  if (result.present.empty()) throw InputError("the image has no label but 0, so there are no surfaces; give another");
  for (std::int32_t& label : result.labels)
    if (!result.present.contains(label)) label = 0;
  if (options.blocks == Blocks::find) {
    const BlockGrid blocks = find_blocks(image, std::span<const std::int32_t>(result.labels));
    if (!blocks.note.empty()) {
      result.labels = block_values(image, blocks, std::span<const std::int32_t>(result.labels));
      result.grid = blocks.grid;
      result.notes.push_back(blocks.note);
    }
  }
  if (surround(result)) {
    if (options.border == AtBorder::refuse)
      throw InputError(
          "materials touch the border of the image (their surfaces leave it); close them there or give a larger image");
    result.notes.emplace_back("materials touch the border of the image: they are closed there");
  }
  return result;
}

/// Takes the smaller sizes of a part of the lattice over.
void lower(const SizeField& part, const LatticeFrame& part_frame, const LatticeFrame& frame, SizeField& sizes) {
  const Vec3d corner = frame.to_lattice(part_frame.origin);
  int from[3];
  for (int a = 0; a < 3; ++a) from[a] = static_cast<int>(std::lround(corner[a] / sizes.lattice.spacing[a]));
  const int* n = part.lattice.shape;
  for (int k = 0; k < n[2]; ++k)
    for (int j = 0; j < n[1]; ++j)
      for (int i = 0; i < n[0]; ++i) {
        float& here = sizes.values[sizes.lattice.index(from[0] + i, from[1] + j, from[2] + k)];
        here = std::min(here, part.values[part.lattice.index(i, j, k)]);
      }
}

/// What the materials ask for, each for itself and all together, which knows of gaps between them: the smallest of all,
/// changing slowly.
SizeField material_sizes(const Materials& materials, const MultiLabelField& field, const FieldOptions& field_options,
                         const SizingOptions& options, const Progress& progress) {
  SizeField result{field.lattice(),
                   std::vector<float>(field.lattice().point_count(), std::numeric_limits<float>::infinity())};
  const Progress cancel{{}, progress.cancel};
  std::vector<std::set<std::int32_t>> objects{materials.present};
  if (materials.present.size() > 1)
    for (const std::int32_t label : materials.present) objects.push_back({label});
  for (std::size_t i = 0; i < objects.size(); ++i) {
    progress.update(static_cast<double>(i) / static_cast<double>(objects.size()));
    const ImplicitSurface one = from_labels(materials.grid, materials.labels, objects[i], field_options, cancel);
    const SizeField own = sizes(SplineField(one.lattice, one.distance, options.threads), one, options, cancel);
    lower(own, one.frame, field.frame(), result);
  }
  limit_growth(options.delta, result);
  return result;
}

void keep_volumes(const Materials& materials, const Lattice& lattice, int threads, ExtractedMaterials& result) {
  const double voxel = voxel_volume(lattice);
  LabelVolumes wanted;
  for (const std::int32_t label : materials.labels) wanted[label] += voxel;
  wanted.erase(0);
  move_to_volumes(result.sides, wanted, max_volume_move(lattice), threads, result.mesh);
  for (const std::int32_t label : result.materials) result.voxel_volumes.push_back(wanted[label]);
  std::string note = volume_note(enclosed_volumes(result.mesh, result.sides), wanted, voxel);
  if (!note.empty()) result.notes.push_back(std::move(note));
}

void note_what_is_missing(const Materials& asked, ExtractedMaterials& result) {
  for (const std::int32_t label : asked.present)
    if (!std::binary_search(result.materials.begin(), result.materials.end(), label))
      result.notes.push_back(fmt::format(
          "label {} has no triangles (it is too small for them); ask for smaller triangles to keep it", label));
  if (const std::size_t points = result.triangulation.singular_points; points > 0)
    result.notes.push_back(
        fmt::format("borders of materials touch themselves at {} points; ask for smaller triangles", points));
}

}  // namespace

ExtractedMaterials extract_materials(const ImageGrid& grid, std::span<const std::int32_t> labels,
                                     const std::set<std::int32_t>& wanted, const FieldOptions& wanted_field,
                                     const ExtractOptions& options) {
  require_delaunay();
  if (options.particles.scheme == ParticleScheme::published)
    throw UsageError(
        "the published scheme of particles is for one object (it has no points that stay on junctions); use " +
        Setting{Option::scheme, "ours"});
  const int threads = options.threads > 0 ? options.threads : hardware_threads();
  const auto begin = [&](const char* stage) { return options.begin_stage ? options.begin_stage(stage) : Progress{}; };
  ExtractedMaterials result;
  Timer timer;
  const Materials materials = chosen(grid, labels, wanted, wanted_field);
  result.notes = materials.notes;
  FieldOptions field_options = wanted_field;
  field_options.threads = threads;
  field_options.blocks = Blocks::keep;
  const MultiLabelField field(materials.grid, materials.labels, 0, field_options, begin("fields"));
  const MaterialLabels material_at(field);
  result.frame = field.frame();
  result.field_seconds = timer.seconds();

  timer.restart();
  SizingOptions sizing = options.sizing;
  sizing.threads = threads;
  SizeField size = material_sizes(materials, field, field_options, sizing, begin("sizes"));
  result.expected_particles = particle_estimate(material_isosurface(field, 1, threads, begin("estimate")), size);
  check_particle_count(result.expected_particles, field.lattice(), options.max_particles);
  result.times.sizing = timer.seconds();

  timer.restart();
  MaterialSamples samples = sample_materials(material_at, size, threads, begin("points"));
  result.times.seeding = timer.seconds();

  timer.restart();
  ParticleOptions particle_options = options.particles;
  particle_options.threads = threads;
  particle_options.watch = {};  // borders relax side by side
  particle_options.show = {};
  samples = relax_materials(material_at, size, samples, particle_options, begin("particles"));
  result.samples = samples.points.size();
  result.junction_samples = samples.fixed;
  result.times.relaxing = timer.seconds();

  timer.restart();
  TriangulateOptions triangle_options = options.triangles;
  triangle_options.threads = threads;
  MaterialSurface surface = triangulate_materials(material_at, size, std::move(samples.points), samples.fixed,
                                                  triangle_options, &result.triangulation, begin("triangles"));
  result.times.triangulating = timer.seconds();

  const auto image_label = [&](int label) { return label == 0 ? 0 : material_at.image_label(label); };
  std::set<std::int32_t> found;
  for (const auto& [behind, before] : surface.labels) {
    result.sides.push_back({image_label(behind), image_label(before)});
    found.insert({result.sides.back().behind, result.sides.back().before});
  }
  found.erase(0);
  result.materials.assign(found.begin(), found.end());
  result.mesh = std::move(surface.mesh);
  keep_volumes(materials, field.lattice(), threads, result);
  for (const Vec3d& p : result.mesh.points) result.sizes.push_back(size.view().size(p));
  timer.restart();
  result.differences = material_differences(field, result.mesh, result.sides, threads, begin("comparison"));
  for (MaterialDifference& one : result.differences) one.border.place = result.frame.to_world(one.border.place);
  if (options.isosurface == ExtractOptions::Isosurface::fine)
    result.isosurface = material_isosurface(field, 2, threads, begin("isosurface"));
  result.times.comparing = timer.seconds();
  to_world(result.frame, result.isosurface);
  to_world(result.frame, result.mesh);
  result.size_field = std::move(size);
  note_what_is_missing(materials, result);
  return result;
}

TriangleMesh border_of(const TriangleMesh& mesh, std::span<const RegionSides> sides, std::int32_t material) {
  TriangleMesh border;
  border.points = mesh.points;
  for (std::size_t t = 0; t < sides.size(); ++t) {
    if ((sides[t].behind == material) == (sides[t].before == material)) continue;
    auto triangle = mesh.elements[t];
    if (sides[t].before == material) std::swap(triangle[1], triangle[2]);
    border.elements.push_back(triangle);
  }
  return border;
}

}  // namespace isochron
