// The options of a solve and the names of their choices; see core/option_table.h.
#pragma once

#include <array>
#include <string_view>

#include "isochron/core/option_table.h"
#include "isochron/options.h"

namespace isochron {

constexpr auto choices_of(Backend) {
  return std::array{Choice{"auto", Backend::automatic}, Choice{"serial", Backend::serial},
                    Choice{"threads", Backend::threads}, Choice{"cuda", Backend::cuda}, Choice{"mpi", Backend::mpi}};
}
constexpr auto choices_of(Precision) {
  return std::array{Choice{"auto", Precision::automatic}, Choice{"single", Precision::single_},
                    Choice{"double", Precision::double_}};
}
constexpr auto choices_of(ObtuseSplit) {
  return std::array{Choice{"auto", ObtuseSplit::automatic}, Choice{"always", ObtuseSplit::split},
                    Choice{"never", ObtuseSplit::none}};
}
constexpr auto choices_of(Unordered) {
  return std::array{Choice{"refuse", Unordered::refuse}, Choice{"hand-over", Unordered::hand_over},
                    Choice{"run", Unordered::run}};
}
constexpr auto choices_of(Reorder) {
  return std::array{Choice{"auto", Reorder::automatic}, Choice{"always", Reorder::always},
                    Choice{"never", Reorder::never}};
}
constexpr auto choices_of(PatchLayout) {
  return std::array{Choice{"one-ring-strip", PatchLayout::one_ring_strip},
                    Choice{"cell-assembly", PatchLayout::cell_assembly}};
}
constexpr auto choices_of(ElementStorage) {
  return std::array{Choice{"gray-code", ElementStorage::gray_code}, Choice{"products", ElementStorage::products},
                    Choice{"coordinates", ElementStorage::coordinates}};
}
constexpr auto choices_of(SubdomainBlocks) {
  return std::array{Choice{"one", SubdomainBlocks::one}, Choice{"several", SubdomainBlocks::several}};
}
constexpr auto choices_of(Partitioner) {
  return std::array{Choice{"auto", Partitioner::automatic}, Choice{"metis", Partitioner::metis},
                    Choice{"curve", Partitioner::curve}};
}

/// Choices whose names the library looks up itself, with messages of its own.
inline Method named(std::string_view name, Method) { return method_named(name); }
inline SourceInit named(std::string_view name, SourceInit) { return source_init_named(name); }
inline GridScheme named(std::string_view name, GridScheme) { return grid_scheme_named(name); }

/// How meshes and images are solved. What stands for the default of the method is the list of all methods.
template <class Visit>
void each_option(SolveOptions& options, Visit&& visit) {
  visit({"method", "NAME", "auto (banded; on a GPU push, or active-list for split tetrahedra), {}"}, options.method);
  visit({"backend", "NAME", "auto, serial, threads, cuda where there is a GPU, or mpi under mpirun"}, options.backend);
  visit({"precision", "NAME", "auto (double, on a GPU single), double or single"}, options.precision);
  visit({"tolerance", "E", "Of an edge's travel time (1e-6 double, 1e-5 single)"}, options.tolerance);
  visit({"source_init", "NAME", "Times near point sources: ball (default), plain, factored"}, options.source_init);
  visit({"ball_rings", "N", "Largest radius of the ball, in elements ({})"}, options.ball_rings);
  visit({"reorder", "NAME", "Cache-friendly numbering inside: auto, always, never"}, options.reorder);
  visit({"split_obtuse", "WHEN", "Virtual elements at obtuse corners: auto (on triangles), always, never"},
        options.obtuse);
  visit({"band_width", "W", "Of banded and push, in mean edge times (tuned)"}, options.band_width);
}

/// What solves on images have beside.
template <class Visit>
void each_image_option(SolveOptions& options, Visit&& visit) {
  visit({"scheme", "NAME", "auto (adaptive), adaptive, godunov, lax-friedrichs"}, options.scheme);
  visit({"order", "N", "Of the adaptive scheme: 1 (default) or 2"}, options.order);
}

/// Of the papers' methods on a GPU.
template <class Visit>
void each_option(PaperOptions& options, Visit&& visit) {
  visit({"patch_size", "N", "patch-fim: vertices of a patch ({})"}, options.patch_vertices);
  visit({"inner_iterations", "N", "patch-fim: of a patch before its neighbours see it (7 on triangles, 3 on tets)"},
        options.inner_iterations);
  visit({"layout", "NAME", "patch-fim: cell-assembly (default), or one-ring-strip (isotropic)"}, options.layout);
  visit({"storage", "NAME", "active-list: 6 lengths of a tet (gray-code, default), 18 products, or coordinates and M"},
        options.storage);
  visit({"subdomains", "N", "domain-decomposition: how many (one for about a thousand vertices)"}, options.subdomains);
  visit({"subdomain_blocks", "NAME", "domain-decomposition: thread blocks on a subdomain, one (default) or several"},
        options.subdomain_blocks);
  visit({"partitioner", "NAME", "Of patches and subdomains: auto (METIS where it is built in), metis, curve"},
        options.partitioner);
}

}  // namespace isochron
