// The options of surfaces; see core/option_table.h.
#pragma once

#include <algorithm>
#include <array>

#include "isochron/solve/option_tables.h"
#include "isochron/surface.h"

namespace isochron {

constexpr auto choices_of(InsideIs) {
  return std::array{Choice{"above", InsideIs::above}, Choice{"below", InsideIs::below}};
}
constexpr auto choices_of(AtBorder) {
  return std::array{Choice{"close", AtBorder::close}, Choice{"refuse", AtBorder::refuse}};
}
constexpr auto choices_of(BinKind) {
  return std::array{Choice{"adaptive", BinKind::adaptive}, Choice{"uniform", BinKind::uniform}};
}

constexpr auto choices_of(ParticleScheme) {
  return std::array{Choice{"ours", ParticleScheme::ours}, Choice{"published", ParticleScheme::published}};
}

/// The shortest and the longest edge.
struct SizeRange {
  double &smallest, &largest;
};

/// How far distances are needed, in voxels: sizes grow with the distance to the medial axis, so long edges need
/// distances that go that far.
inline double needed_reach(const ImageGrid& grid, const SizingOptions& sizing, double at_least) {
  const double voxel = std::min({grid.spacing(0), grid.spacing(1), grid.spacing(2)});
  return voxel > 0 && sizing.epsilon > 0 ? std::max(at_least, sizing.largest / (sizing.epsilon * voxel)) : at_least;
}

/// Which side of an isovalue the object is on.
template <class Visit>
void each_level_option(FieldOptions& options, Visit&& visit) {
  visit({"inside", "SIDE", "Which values are the object: those above V (default) or below it"}, options.inside);
}

template <class Visit>
void each_option(FieldOptions& options, Visit&& visit) {
  visit({"smoothing", "W", "Smooth over W voxels (default: {} for labels, whose surface is a staircase, else 0)"},
        options.smoothing);
  visit({"border", "HOW", "Where the object leaves the image: close it with a flat face (default), or refuse"},
        options.border);
}

template <class Visit>
void each_option(SizingOptions& options, Visit&& visit) {
  visit({"epsilon", "E", "Edge length per radius of curvature and per half thickness; less: finer (default: {})"},
        options.epsilon);
  visit({"delta", "D", "Most that edge lengths grow per length; less: more even (default: {})"}, options.delta);
  visit(
      {"size_range", "MIN,MAX", "Shortest and longest edge wanted (default: 0.75 to 8 voxels at the default epsilon)"},
      SizeRange{options.smallest, options.largest});
  visit({"uniform", "H", "The same edge length everywhere, whatever the shape"}, options.uniform);
}

/// How many particles there are and how they spread.
template <class Visit>
void each_particle_option(ExtractOptions& options, Visit&& visit) {
  visit({"iterations", "N", "Stop after N even when not settled (default: {})"}, options.particles.iterations);
  visit({"scheme", "NAME", "How particles move: ours (default), or published as in paper 002, on the CPU"},
        options.particles.scheme);
  visit({"bins", "KIND", "How scheme ours finds neighbours: adaptive (default) or uniform"}, options.particles.bins);
  visit({"backend", "NAME", "auto, serial, threads, or cuda where there is a GPU"}, options.backend);
  visit({"seeds", "N", "Start with about N particles and add none while they spread"}, options.seeds);
  visit({"seed", "S", "Of the random numbers; another S gives another mesh as good (default: {})"},
        options.particles.seed);
}

}  // namespace isochron
