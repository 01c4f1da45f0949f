// The options of all generators, one table for each; see core/option_table.h.
#pragma once

#include <array>
#include <tuple>

#include "isochron/core/option_table.h"
#include "isochron/generate.h"

namespace isochron {

constexpr auto choices_of(SquarePattern) {
  return std::array{Choice{"diagonal", SquarePattern::diagonal}, Choice{"alternating", SquarePattern::alternating}};
}
constexpr auto choices_of(KuhnDiagonal) {
  return std::array{Choice{"ppp", KuhnDiagonal::ppp}, Choice{"npp", KuhnDiagonal::npp},
                    Choice{"pnp", KuhnDiagonal::pnp}, Choice{"ppn", KuhnDiagonal::ppn}};
}

/// The lengths of a box's sides; one number stands for all three.
struct BoxExtent {
  Vec3d& sides;
};

template <class Options, class Visit>
void each_lattice_option(Options& options, Visit&& visit) {
  visit({"n", "N", "Vertices a side ({})"}, options.n);
  visit({"extent", "E", "Length of a side ({})"}, options.extent);
  visit({"jitter", "J", "Move inner vertices by up to this share of a cell ({})"}, options.jitter);
  visit({"seed", "SEED", "Of the random moves ({})"}, options.seed);
}

template <class Visit>
void each_option(SquareOptions& options, Visit&& visit) {
  each_lattice_option(options, visit);
  visit({"pattern", "NAME", "How cells are cut: diagonal (default) or alternating"}, options.pattern);
}

template <class Visit>
void each_option(IrregularSquareOptions& options, Visit&& visit) {
  each_lattice_option(options, visit);
  visit({"extra", "SHARE", "Share of cells with a vertex in the middle ({})"}, options.extra);
  visit({"flips", "F", "Edge flips tried per triangle ({})"}, options.flips);
  visit({"max_valence", "N", "Flips add no triangles at a vertex beyond N ({})"}, options.max_valence);
}

template <class Visit>
void each_option(CubeOptions& options, Visit&& visit) {
  visit({"n", "N|NX,NY,NZ", "Vertices along each axis ({})"}, std::tie(options.nx, options.ny, options.nz));
  visit({"extent", "E|X,Y,Z", "Size of the box (1)"}, BoxExtent{options.extent});
  visit({"jitter", "J", "Move inner vertices by up to this share of a cell ({})"}, options.jitter);
  visit({"seed", "SEED", "Of the random moves ({})"}, options.seed);
  visit({"diagonal", "NAME", "Which diagonal cells share: ppp (default), npp, pnp, ppn"}, options.diagonal);
}

template <class Visit>
void each_option(IrregularCubeOptions& options, Visit&& visit) {
  each_lattice_option(options, visit);
  visit({"random_faces", "SHARE", "Share of cell faces with a random diagonal ({})"}, options.random_faces);
}

template <class Visit>
void each_option(SphereOptions& options, Visit&& visit) {
  visit({"frequency", "F", "Parts of each icosahedron edge ({}): 10 F² + 2 vertices"}, options.frequency);
  visit({"radius", "R", "Of the sphere ({})"}, options.radius);
}

template <class Visit>
void each_option(VentricleOptions& options, Visit&& visit) {
  visit({"edge", "MM", "Size of a cell before it is cut into six ({})"}, options.edge);
  visit({"elements", "N", "Wanted number of tetrahedra, instead of <edge>"}, options.elements);
  visit({"helix_endo", "DEG", "Fibre angle on the inner surface ({})"}, options.helix_endo);
  visit({"helix_epi", "DEG", "Fibre angle on the outer surface ({})"}, options.helix_epi);
  visit({"endo_short", "MM", "Half-axis of the inner surface, across ({})"}, options.endo_short);
  visit({"endo_long", "MM", "Half-axis of the inner surface, along ({})"}, options.endo_long);
  visit({"epi_short", "MM", "Half-axis of the outer surface, across ({})"}, options.epi_short);
  visit({"epi_long", "MM", "Half-axis of the outer surface, along ({})"}, options.epi_long);
  visit({"base", "MM", "Height of the base plane ({})"}, options.base);
}

template <class Visit>
void each_option(LensOptions& options, Visit&& visit) {
  each_lattice_option(options, visit);
  visit({"radius", "R", "Of the lens's spheres, as a share of the extent ({})"}, options.radius);
  visit({"thickness", "T", "Of the lens, as a share of the extent ({})"}, options.thickness);
  visit({"refractive_index", "N", "Of the lens; its speed is 1/N ({})"}, options.refractive_index);
}

template <class Visit>
void each_option(BlobsOptions& options, Visit&& visit) {
  each_lattice_option(options, visit);
  visit({"blobs", "N", "Balls that melt together ({})"}, options.blobs);
  visit({"speed_outside", "S", "Region 0 ({})"}, options.speed_outside);
  visit({"speed_inside", "S", "Region 1, the blobs ({})"}, options.speed_inside);
}

template <class Visit>
void each_option(ImageSize& size, Visit&& visit) {
  visit({"n", "N|NX,NY,NZ", "Voxels along each axis ({})"}, size.n);
  visit({"spacing", "H", "Size of a voxel ({})"}, size.spacing);
}

template <class Visit>
void each_option(DiagonalTensorsOptions& options, Visit&& visit) {
  each_option(options.size, visit);
  visit({"coupling", "C", "Off-diagonal components; the diagonal is 1 ({})"}, options.coupling);
}

template <class Visit>
void each_option(HelixTensorsOptions& options, Visit&& visit) {
  each_option(options.size, visit);
  visit({"radius", "R", "Of the helix, as a share of the smaller side ({})"}, options.radius);
  visit({"tube", "R", "Radius of the tube around it, as a share too ({})"}, options.tube);
  visit({"turns", "N", "From the first slice to the last ({})"}, options.turns);
  visit({"along", "E", "Eigenvalue along the helix ({})"}, options.along);
  visit({"across", "E", "The other two, and all outside the tube ({})"}, options.across);
}

template <class Visit>
void each_option(CrossingFibersOptions& options, Visit&& visit) {
  each_option(options.size, visit);
  visit({"angle", "DEG", "Between the bundles ({})"}, options.angle);
  visit({"radius", "R", "Of a bundle, as a share of the smaller side ({})"}, options.radius);
  visit({"along", "D", "Diffusivity along a bundle, mm²/s ({})"}, options.along);
  visit({"across", "D", "Across it ({})"}, options.across);
  visit({"background", "D", "Outside ({})"}, options.background);
  visit({"noise", "SHARE", "Added to the components, as a share of <along> ({})"}, options.noise);
  visit({"seed", "SEED", "Of the noise ({})"}, options.seed);
}

/// Of flat seismic models.
template <class Options, class Visit>
void each_model_option(Options& options, Visit&& visit) {
  visit({"n", "N|NX,NZ", "Pixels along x and down ({})"}, options.n);
  visit({"spacing", "H", "Size of a pixel, m ({})"}, options.spacing);
  visit({"speed_top", "S", "On top, m/s ({})"}, options.speed_top);
  visit({"speed_bottom", "S", "At the bottom, m/s ({})"}, options.speed_bottom);
  visit({"seed", "SEED", "Of the random shapes ({})"}, options.seed);
}

template <class Visit>
void each_option(LayersOptions& options, Visit&& visit) {
  each_model_option(options, visit);
  visit({"layers", "N", "How many ({})"}, options.layers);
  visit({"relief", "SHARE", "How far interfaces wave; 0 is flat, below 1 ({})"}, options.relief);
}

template <class Visit>
void each_option(SaltOptions& options, Visit&& visit) {
  each_model_option(options, visit);
  visit({"speed_salt", "S", "Of the salt, m/s ({})"}, options.speed_salt);
  visit({"radius", "R", "Of the salt, as a share of the depth ({})"}, options.radius);
  visit({"roughness", "SHARE", "How far its outline leaves the circle ({})"}, options.roughness);
}

template <class Visit>
void each_option(PhantomOptions& options, Visit&& visit) {
  each_option(options.size, visit);
  visit({"radius", "R", "Of the chamber, as a share of the smallest side ({})"}, options.radius);
  visit({"wall", "T", "How thick its wall is, as a share too ({})"}, options.wall);
  visit({"tube", "R", "Radius of the ring's tube, as a share too ({})"}, options.tube);
}

}  // namespace isochron
