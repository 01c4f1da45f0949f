#include "isochron/surface/triangulate/material_samples.h"

#include <algorithm>
#include <array>
#include <atomic>
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
  parallel_region(threads, [&](int thread, int team) {
    for (int k = thread; k < lattice.shape[2] && !progress.cancelled(); k += team)
      for (int j = 0; j < lattice.shape[1]; ++j)
        for (int i = 0; i < lattice.shape[0]; ++i)
          label[lattice.index(i, j, k)] = field.index_at(lattice.position(i, j, k));
  });
  progress.update(0);
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
  constexpr std::size_t at_once = 1 << 16;
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
  constexpr std::size_t large = 2000;  // points: worth all threads, while of smaller ones each has one
  const std::map<Pair, Border> borders = borders_of(field, samples);
  std::vector<std::vector<Vec3d>> relaxed(borders.size());
  const Progress cancel{{}, progress.cancel};
  const auto relax_one = [&](std::size_t n, const Pair& pair, const Border& border, int threads) {
    ParticleOptions own = options;
    own.threads = threads;
    Relaxation relaxation(BorderFields{{&field.field(), pair.first, pair.second}, sizes.view()}, own);
    relaxation.place(border.points);
    if (relaxation.particle_count() == 0) return;
    relaxation.fix(border.rim);
    relaxed[n] = run_relaxation(relaxation, own, cancel).positions;
  };
  std::vector<std::pair<std::size_t, std::map<Pair, Border>::const_iterator>> small;
  std::size_t n = 0;
  for (auto one = borders.begin(); one != borders.end(); ++one, ++n) {
    progress.update(static_cast<double>(n) / static_cast<double>(borders.size()));
    if (one->second.points.size() < large) small.emplace_back(n, one);
    else relax_one(n, one->first, one->second, options.threads);
  }
  const int threads = options.threads > 0 ? options.threads : hardware_threads();
  std::atomic<std::size_t> next = 0;
  parallel_region(threads, [&](int, int) {
    for (std::size_t i = next++; i < small.size(); i = next++)
      relax_one(small[i].first, small[i].second->first, small[i].second->second, 1);
  });
  MaterialSamples result{{samples.points.begin(), samples.points.begin() + static_cast<std::ptrdiff_t>(samples.fixed)},
                         samples.fixed};
  for (const std::vector<Vec3d>& points : relaxed)
    result.points.insert(result.points.end(), points.begin(), points.end());
  return result;
}

}  // namespace isochron
