#include "isochron/surface/triangulate/material_samples.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>
#include <utility>

#include "isochron/core/parallel.h"
#include "isochron/surface/particles/relaxation.h"
#include "isochron/surface/triangulate/junctions.h"
#include "isochron/surface/triangulate/thinning.h"

namespace isochron {
namespace {

// In sizes. Junction points of different curves may have slid towards each other.
constexpr double apart_on_borders = 0.8, apart_on_junctions = 0.5;

// The lowest corners of the lattice's cells that have several materials at their corners.
std::vector<Vec3d> border_cells(const MultiLabelField& field, int threads, const Progress& progress) {
  const Lattice& lattice = field.lattice();
  std::vector<MultiLabelField::Index> label(lattice.point_count());
  const auto width = static_cast<std::size_t>(lattice.shape[0]);
  for (int k = 0; k < lattice.shape[2]; ++k) {
    progress.update(0);
    parallel_for(threads, width * static_cast<std::size_t>(lattice.shape[1]), [&](std::size_t n) {
      const auto i = static_cast<int>(n % width), j = static_cast<int>(n / width);
      label[lattice.index(i, j, k)] = field.index_at(lattice.position(i, j, k));
    });
  }
  std::vector<Vec3d> cells;
  for (int k = 0; k + 1 < lattice.shape[2]; ++k)
    for (int j = 0; j + 1 < lattice.shape[1]; ++j)
      for (int i = 0; i + 1 < lattice.shape[0]; ++i) {
        bool several = false;
        for (int c = 1; c < 8; ++c)
          several |= label[lattice.index(i, j, k)] != label[lattice.index(i + (c & 1), j + (c >> 1 & 1), k + (c >> 2))];
        if (several) cells.push_back(lattice.position(i, j, k));
      }
  return cells;
}

// Places near borders, junctions and corners.
struct Candidates {
  std::vector<Vec3d> borders, junctions, corners;
};

// Those of a cell, which is cut into parts no wider than the points will be apart.
Candidates candidates(const MultiLabelField& field, const SizeField& sizes, Vec3d corner) {
  const Vec3d width = field.lattice().spacing;
  const double size = sizes.view().size(corner + 0.5 * width);
  Lattice parts;
  for (int a = 0; a < 3; ++a) {
    const double count = std::max(1.0, std::ceil(width[a] / size));
    parts.shape[a] = static_cast<int>(count) + 1;
    parts.spacing[a] = width[a] / count;
  }
  std::vector<MultiLabelField::Index> label(parts.point_count());
  for (int k = 0; k < parts.shape[2]; ++k)
    for (int j = 0; j < parts.shape[1]; ++j)
      for (int i = 0; i < parts.shape[0]; ++i)
        label[parts.index(i, j, k)] = field.index_at(corner + parts.position(i, j, k));
  Candidates result;
  for (int k = 0; k + 1 < parts.shape[2]; ++k)
    for (int j = 0; j + 1 < parts.shape[1]; ++j)
      for (int i = 0; i + 1 < parts.shape[0]; ++i) {
        std::array<MultiLabelField::Index, 8> at{};
        for (int c = 0; c < 8; ++c)
          at[static_cast<std::size_t>(c)] = label[parts.index(i + (c & 1), j + (c >> 1 & 1), k + (c >> 2))];
        const Vec3d lowest = corner + parts.position(i, j, k);
        for (int a = 0; a < 3; ++a) {
          if (at[0] == at[std::size_t{1} << a]) continue;
          Vec3d middle = lowest;
          middle[a] += 0.5 * parts.spacing[a];
          result.borders.push_back(middle);
        }
        std::sort(at.begin(), at.end());
        const auto materials = std::unique(at.begin(), at.end()) - at.begin();
        if (materials > 2) result.junctions.push_back(lowest + 0.5 * parts.spacing);
        if (materials > 3) result.corners.push_back(lowest + 0.5 * parts.spacing);
      }
  return result;
}

// Those of all cells, on the borders, curves and corners themselves.
Candidates all_candidates(const MaterialLabels& field, const SizeField& sizes, int threads, const Progress& progress) {
  constexpr std::size_t at_once = 4096;
  const std::vector<Vec3d> cells = border_cells(field.field(), threads, progress);
  const double reach = norm(field.lattice().spacing);
  Candidates result;
  for (std::size_t first = 0; first < cells.size(); first += at_once) {
    progress.update(static_cast<double>(first) / static_cast<double>(cells.size()));
    std::vector<Candidates> of_cell(std::min(at_once, cells.size() - first));
    parallel_for(threads, of_cell.size(), [&](std::size_t n) {
      Candidates& here = of_cell[n];
      here = candidates(field.field(), sizes, cells[first + n]);
      std::erase_if(here.junctions, [&](Vec3d& p) { return !field.find_junction(p, reach); });
      std::erase_if(here.corners, [&](Vec3d& p) { return !field.find_corner(p, reach); });
      for (Vec3d& p : here.borders) p = field.project(p);
    });
    for (const Candidates& here : of_cell) {
      result.borders.insert(result.borders.end(), here.borders.begin(), here.borders.end());
      result.junctions.insert(result.junctions.end(), here.junctions.begin(), here.junctions.end());
      result.corners.insert(result.corners.end(), here.corners.begin(), here.corners.end());
    }
  }
  return result;
}

// (level of a − level of b)/2, as something that particles can be projected to.
struct PairDistance {
  const MultiLabelField* field;
  MultiLabelField::Index a, b;
  [[nodiscard]] Jet<double> slope(Vec3d p) const { return field->difference(a, b, p); }
};

// The border between two materials, for `Relaxation`.
struct BorderFields {
  PairDistance distance;
  SizeView<double> sizes;

  [[nodiscard]] bool holds(Vec3d p) const {
    const MultiLabelField::Index here = distance.field->index_at(p);
    return here == distance.a || here == distance.b;
  }
  // A place beyond the border's rim is not reached.
  [[nodiscard]] Projection<double> put(Vec3d p, double size, double tolerance, int most) const {
    Projection<double> landed = project(distance, p, size, tolerance, most);
    landed.reached = landed.reached && holds(landed.position);
    return landed;
  }
};

using Pair = std::pair<MultiLabelField::Index, MultiLabelField::Index>;

// A border's own points, and those on the junctions around it.
struct Border {
  std::vector<Vec3d> points, rim;
};

std::map<Pair, Border> borders_of(const MaterialLabels& field, const MaterialSamples& samples) {
  std::map<Pair, Border> result;
  for (std::size_t i = samples.fixed; i < samples.points.size(); ++i)
    result[field.nearest_two(samples.points[i])].points.push_back(samples.points[i]);
  for (std::size_t i = 0; i < samples.fixed; ++i) {
    const auto materials = field.meeting(samples.points[i]);
    for (std::size_t a = 0; a < materials.size(); ++a)
      for (std::size_t b = a + 1; b < materials.size(); ++b) {
        const auto border = result.find({materials[a], materials[b]});
        if (border != result.end()) border->second.rim.push_back(samples.points[i]);
      }
  }
  return result;
}

}  // namespace

MaterialSamples sample_materials(const MaterialLabels& field, const SizeField& sizes, int threads,
                                 const Progress& progress) {
  const Candidates places = all_candidates(field, sizes, threads, progress);
  Thinning thinning(sizes);
  for (const JunctionPoint& at : follow_junctions(field, sizes, places.corners, places.junctions, threads))
    thinning.offer(at.position, apart_on_junctions);
  MaterialSamples result;
  result.fixed = thinning.points().size();
  for (const Vec3d& p : places.borders) thinning.offer(p, apart_on_borders);
  result.points = thinning.points();
  return result;
}

MaterialSamples relax_materials(const MaterialLabels& field, const SizeField& sizes, const MaterialSamples& samples,
                                const ParticleOptions& options, const Progress& progress) {
  MaterialSamples result{{samples.points.begin(), samples.points.begin() + static_cast<std::ptrdiff_t>(samples.fixed)},
                         samples.fixed};
  const double all = static_cast<double>(samples.points.size());
  std::size_t done = 0;
  for (const auto& [pair, border] : borders_of(field, samples)) {
    const BorderFields fields{{&field.field(), pair.first, pair.second}, sizes.view()};
    Relaxation relaxation(fields, options);
    relaxation.place(border.points);
    const double before = static_cast<double>(done) / all, share = static_cast<double>(border.points.size()) / all;
    done += border.points.size();
    if (relaxation.particle_count() == 0) continue;
    relaxation.fix(border.rim);
    const Progress part{[&](double fraction) { progress.update(before + share * fraction); }, progress.cancel};
    const Particles relaxed = run_relaxation(relaxation, options, part);
    result.points.insert(result.points.end(), relaxed.positions.begin(), relaxed.positions.end());
  }
  return result;
}

}  // namespace isochron
