// isochron solve: the options; the steps are in solve_run.cpp.
#include "apps/isochron/solve.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "apps/isochron/commands.h"
#include "apps/isochron/problem_options.h"

namespace isochron::cli {
namespace {

void declare_method(Command& command, SolveOptions& options) {
  command.group("How it is solved");
  command.option(
      "--method", "NAME",
      "auto (banded; on a GPU push, or active-list for split tetrahedra), banded, fim, fmm, fsm, relabel-sync, "
      "relabel-async; only on a GPU: push, patch-fim, active-list, domain-decomposition",
      [&options](const std::string& text) { options.method = method_named(text); });
  command.option("--backend", "NAME", "auto, serial, threads, cuda where there is a GPU, or mpi under mpirun",
                 into_backend(options.backend));
  command.option(
      "--precision", "NAME", "auto (double, on a GPU single), double or single",
      one_of(options.precision,
             {{"auto", Precision::automatic}, {"single", Precision::single_}, {"double", Precision::double_}}));
  command.option(
      "--tolerance", "E", "Of an edge's travel time (1e-6 double, 1e-5 single)", [&options](const std::string& text) {
        const double value = parse_number(text);
        if (!(value > 0 && value < 1))
          throw UsageError(
              fmt::format("{} is not between 0 and 1 (it is a share of an edge's time); give one like 1e-6", text));
        options.tolerance = value;
      });
  command.option("--source-init", "NAME", "Times near point sources: ball (default), plain, factored",
                 [&options](const std::string& text) { options.source_init = source_init_named(text); });
  command.option("--ball-rings", "N", fmt::format("Largest radius of the ball, in elements ({})", options.ball_rings),
                 into(options.ball_rings));
  command.option(
      "--reorder", "NAME", "Cache-friendly numbering inside: auto, always, never",
      one_of(options.reorder, {{"auto", Reorder::automatic}, {"always", Reorder::always}, {"never", Reorder::never}}));
  command.option(
      "--split-obtuse", "WHEN", "Virtual elements at obtuse corners: auto (on triangles), always, never",
      one_of(options.obtuse,
             {{"auto", ObtuseSplit::automatic}, {"always", ObtuseSplit::split}, {"never", ObtuseSplit::none}}));
  command.option("--band-width", "W", "Of banded and push, in mean edge times (tuned)",
                 into_positive(options.band_width));
}

void declare_ranks(Command& command, SolveRequest& request) {
  command.group("Over MPI ranks");
  command.option(
      "--pieces", "N",
      "Of the mesh or image for each rank, from all over it (by default it is cut for the sources; a mesh in "
      "pieces is cut anew)",
      into_positive(request.options.ranks.blocks_per_rank));
  command.option("--team", "N",
                 "Ranks of one machine that solve a mesh or image from one file as one, with a thread each (all that "
                 "share a memory; 1 with --pieces and, on a mesh, --threads; an image only if it is all ranks)",
                 into_positive(request.team));
  command.option(
      "--rank-backend", "NAME",
      "How each rank solves: its part with cuda or auto (where every rank has one) on its GPU, otherwise on "
      "--threads (an image's on one); with --each-source and as many sources as ranks, some of them alone: serial, "
      "threads, cuda or auto (serial; threads with --threads)",
      one_of(request.rank_backend, {{"auto", Backend::automatic},
                                    {"serial", Backend::serial},
                                    {"threads", Backend::threads},
                                    {"cuda", Backend::cuda}}));
}

/// What images have beside meshes.
void declare_grid(Command& command, SolveRequest& request) {
  command.group("Images");
  declare_mask(command, request.mask, "Solve where this image is neither 0 nor NaN");
  command.option("--scheme", "NAME", "auto (adaptive), adaptive, godunov, lax-friedrichs",
                 [&request](const std::string& text) { request.options.scheme = grid_scheme_named(text); });
  command.option("--order", "N", "Of the adaptive scheme: 1 (default) or 2", into(request.options.order));
  declare_raw(command, request.raw);
}

/// Flags that choose one of an enumeration's values.
struct MethodFlags {
  bool allow_unordered = false, hand_over = false, weights = false, verify = false;
  bool allow_zero_fibers = false;
  std::vector<std::string> scheme;  ///< options of the papers' GPU methods that were given
};

/// The papers' GPU methods, with the papers' own numbers unless told otherwise.
void declare_scheme(Command& command, PaperOptions& scheme, MethodFlags& flags) {
  command.group("The papers' methods on a GPU");
  const auto option = [&](const std::string& name, const std::string& value, const std::string& help,
                          const Take& take) { command.option(name, value, help, noted(name, flags.scheme, take)); };
  option("--patch-size", "N", fmt::format("patch-fim: vertices of a patch ({})", scheme.patch_vertices),
         into_positive(scheme.patch_vertices));
  option("--inner-iterations", "N", "patch-fim: of a patch before its neighbours see it (7 on triangles, 3 on tets)",
         into_positive(scheme.inner_iterations));
  option("--layout", "NAME", "patch-fim: one-ring-strip (default) or cell-assembly",
         one_of(scheme.layout,
                {{"one-ring-strip", PatchLayout::one_ring_strip}, {"cell-assembly", PatchLayout::cell_assembly}}));
  option("--storage", "NAME", "active-list: 6 lengths of a tet (gray-code, default) or 18 products",
         one_of(scheme.storage, {{"gray-code", ElementStorage::gray_code}, {"products", ElementStorage::products}}));
  option("--subdomains", "N", "domain-decomposition: how many (one for about a thousand vertices)",
         into_positive(scheme.subdomains));
  option("--subdomain-blocks", "NAME", "domain-decomposition: thread blocks on a subdomain, one (default) or several",
         one_of(scheme.subdomain_blocks, {{"one", SubdomainBlocks::one}, {"several", SubdomainBlocks::several}}));
  option("--partitioner", "NAME", "Of patches and subdomains: auto (METIS where it is built in), metis, curve",
         one_of(scheme.partitioner,
                {{"auto", Partitioner::automatic}, {"metis", Partitioner::metis}, {"curve", Partitioner::curve}}));
}

void declare_flags(Command& command, MethodFlags& flags) {
  command.flag("--hand-over", "fmm: let banded correct what came out of order", flags.hand_over);
  command.flag("--allow-unordered", "fmm: run although the order does not hold (may be wrong)", flags.allow_unordered);
  command.flag("--allow-zero-fibers", "Cells without a fibre conduct at the transverse velocity",
               flags.allow_zero_fibers);
  command.flag("--verify", "Check that every time fits its neighbours' (exit code 4 if not)", flags.verify);
}

void apply_flags(const MethodFlags& flags, SolveRequest& request) {
  if (flags.allow_unordered && flags.hand_over)
    throw UsageError("--allow-unordered and --hand-over exclude each other (to run as it is, or corrected); give one");
  SolveOptions& options = request.options;
  if (flags.allow_unordered) options.unordered = Unordered::run;
  if (flags.hand_over) options.unordered = Unordered::hand_over;
  if (flags.weights) options.weights = Keep::yes;
  if (flags.verify) options.verify = Keep::yes;
  if (flags.allow_zero_fibers) request.metric.zero_fibers = ZeroFibers::isotropic;
}

/// The methods that use an option of `declare_scheme`.
std::vector<Method> methods_with(std::string_view option) {
  if (option == "--storage") return {Method::active_list};
  if (option == "--subdomains" || option == "--subdomain-blocks") return {Method::domain_decomposition};
  if (option == "--partitioner") return {Method::patch_fim, Method::domain_decomposition};
  return {Method::patch_fim};
}

/// Refuses options that the other kind of file has: who gives them takes the file for something else.
void check_kind(const SolveRequest& request, const MethodFlags& flags) {
  if (!request.on_image()) {
    refuse_on_mesh(!request.mask.file.empty(), "--mask");
    refuse_on_mesh(!request.mask.array.empty(), "--mask-array");
    refuse_on_mesh(request.options.scheme != GridScheme::automatic, "--scheme");
    refuse_on_mesh(request.options.order != 1, "--order");
    refuse_on_mesh(request.tensors.frame.has_value(), "--tensor-frame");
    refuse_on_mesh(request.floor_given(), "--eigenvalue-floor");
    return;
  }
  refuse_on_image(!request.sources.level_set.empty(), "--source-levelset");
  refuse_on_image(request.options.weights == Keep::yes, "--weights");
  refuse_on_image(request.elements != Elements::automatic, "--elements");
  refuse_on_image(request.options.reorder != Reorder::automatic, "--reorder");
  refuse_on_image(request.options.obtuse != ObtuseSplit::automatic, "--split-obtuse");
  refuse_on_image(flags.hand_over, "--hand-over");
  refuse_on_image(flags.allow_unordered, "--allow-unordered");
  for (const std::string& option : flags.scheme) refuse_on_image(true, option);
}

/// Says which options have no effect beside the others: mostly the one they go with was forgotten.
void warn_unused(const SolveRequest& request, const MethodFlags& flags, Console& console) {
  const auto unused = [&](bool given, std::string_view option, std::string_view partner) {
    console.warn_unused(given, option, partner);
  };
  const Method method = request.options.method;
  const bool banded = method == Method::automatic || method == Method::banded || flags.hand_over;
  const PictureOptions& picture = request.picture.options;
  const bool any_picture_option = !picture.title.empty() || !picture.units.empty() || picture.view_direction ||
                                  picture.up || picture.cut || picture.isochrone_spacing ||
                                  picture.array != PictureOptions{}.array;
  const auto three = [](const Velocities& v) { return v.normal != v.sheet; };
  const MetricRequest& metric = request.metric;
  const bool third_velocity =
      (metric.velocities && three(*metric.velocities)) ||
      std::any_of(metric.table.begin(), metric.table.end(), [&](const auto& row) { return three(row.velocities); });
  unused(third_velocity && metric.sheet_array.empty() && !metric.fiber_array.empty(), "the third velocity", "--sheets");
  unused(flags.hand_over && method != Method::fmm, "--hand-over", "--method fmm");
  unused(flags.allow_unordered && method != Method::fmm, "--allow-unordered", "--method fmm");
  unused(request.options.band_width > 0 && !banded && method != Method::push, "--band-width",
         "--method banded or push");
  const bool adaptive =
      request.options.scheme == GridScheme::automatic || request.options.scheme == GridScheme::adaptive;
  unused(request.options.band_width > 0 && banded && !adaptive, "--band-width", "--scheme adaptive");
  for (const std::string& option : flags.scheme) {
    if (option == "--partitioner" && request.options.backend == Backend::mpi) continue;
    const std::vector<Method> users = methods_with(option);
    std::string names;
    for (const Method user : users) names += fmt::format("{}{}", names.empty() ? "--method " : " or ", name_of(user));
    unused(std::find(users.begin(), users.end(), method) == users.end(), option, names);
  }
  unused(request.options.ranks.blocks_per_rank > 0 && request.options.backend != Backend::mpi, "--pieces",
         "--backend mpi");
  unused(request.rank_backend && request.options.backend != Backend::mpi, "--rank-backend", "--backend mpi");
  unused(request.team > 0 && request.options.backend != Backend::mpi, "--team", "--backend mpi");
  unused(request.team > 1 && console.options.threads > 0 && request.options.backend == Backend::mpi &&
             !request.on_image() && !request.each_source,
         "--threads", "--team 1");
  warn_unused_tensor_layout(request, console);
  unused(flags.allow_zero_fibers && metric.fiber_array.empty(), "--allow-zero-fibers", "--fibers");
  unused(!metric.region_array.empty() && metric.table.empty(), "--region-array", "--velocity-table");
  unused(request.probe.tolerance && request.probe.output.empty(), "--probe-tolerance", "--probe and --probe-output");
  unused(any_picture_option && request.picture.file.empty(), "what shapes a picture", "--picture");
}

void declare_outputs(Command& command, SolveRequest& request, MethodFlags& flags) {
  command.group("Output");
  command.option("-o,--output", "FILE",
                 "The mesh or image with arrays arrival_time, source and reached (image formats of one array: the "
                 "times alone); with --each-source also .npy (a row of times a source), with --backend mpi .pvtu, "
                 ".pvtp or .pvti (a piece from each rank)",
                 into(request.output));
  command.option("--matrix", "CSV", "With --each-source: the times from each source vertex or voxel at all of them",
                 into(request.matrix));
  command.option("--probe", "FILE", "Points 'x y z' or 'name x y z' to give times at", into(request.probe.points));
  command.option("--probe-output", "CSV", "[name,]x,y,z,time,distance of each", into(request.probe.output));
  command.option("--probe-tolerance", "D", "How far from the mesh or image a point may be (1 % of its diagonal)",
                 [&request](const std::string& text) {
                   request.probe.tolerance = parse_number(text);
                   if (!(*request.probe.tolerance >= 0))
                     throw UsageError(fmt::format("{} is no distance (negative); give 0 or more", text));
                 });
  command.flag("--weights", "Also write upwind_vertices and upwind_weights", flags.weights);
  command.flag("--force", "Replace existing files", request.force);
}

/// Takes "X,Y,Z,NX,NY,NZ": a point and a normal.
Take into_cut(std::optional<CutPlane>& cut) {
  return [&cut](const std::string& text) {
    const std::vector<double> x = parse_numbers(text);
    if (x.size() != 6)
      throw UsageError(fmt::format("'{}' is not a point and a normal; write six numbers like 0,0,0,1,0,0", text));
    cut = CutPlane{{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
  };
}

void declare_picture(Command& command, PictureRequest& picture) {
  PictureOptions& options = picture.options;
  options.lines = LineCells::hide;  // they do not conduct, so they have no place among the times
  command.group("Picture");
  command.option("--picture", "PNG", "Draw the result with isochrones (meshes and flat images)", into(picture.file));
  command.option("--picture-array", "NAME", "Point array that gives the colours (arrival_time)", into(options.array));
  command.option("--picture-title", "TEXT", "In the upper left corner", into(options.title));
  command.option("--picture-units", "TEXT", "Of the legend", into(options.units));
  command.option("--picture-view", "X,Y,Z", "Direction from the object to the eye", into(options.view_direction));
  command.option("--picture-up", "X,Y,Z", "Direction that points up in the picture (z, or y seen along z)",
                 into(options.up));
  command.option("--picture-cut", "X,Y,Z,NX,NY,NZ", "Cut open: a point of the plane and the side that goes",
                 into_cut(options.cut));
  command.option("--picture-spacing", "T", "Time between isochrones; 0: none (about 14 lines)",
                 into(options.isochrone_spacing));
}

}  // namespace

void declare_solve(Command& root, Console& console) {
  Command command =
      root.subcommand("solve", "First-arrival times on a triangle or tetrahedral mesh or on an image",
                      "isochron solve heart.vtu -o activation.vtu --source 0 --fibers fiber --velocity 0.6,0.3");
  const auto request = std::make_shared<SolveRequest>();
  const auto flags = std::make_shared<MethodFlags>();
  command.positional("MESH", "The mesh or image; its extension tells the format", into(request->mesh));
  declare_mesh(command, *request);
  declare_sources(command, request->sources);
  command.flag("--each-source", "Solve from every source on its own: arrays arrival_time_0, arrival_time_1, …",
               request->each_source);
  declare_metric(command, *request);
  declare_method(command, request->options);
  declare_flags(command, *flags);
  declare_ranks(command, *request);
  declare_grid(command, *request);
  declare_scheme(command, request->options.paper, *flags);
  declare_outputs(command, *request, *flags);
  declare_picture(command, request->picture);
  declare_common(command, console);
  command.action([request, flags, &console] {
    apply_flags(*flags, *request);
    check_raw({request->mesh}, request->raw, console);
    check_kind(*request, *flags);
    warn_unused(*request, *flags, console);
    request->options.ranks.partitioner = request->options.paper.partitioner;
    request->options.ranks.threads = console.threads();
    request->options.ranks.batch_threads = std::max(1, console.options.threads);
    request->options.ranks.rank_backend =
        request->rank_backend.value_or(request->options.ranks.batch_threads > 1 ? Backend::threads : Backend::serial);
    const bool own_parts =
        (console.options.threads > 0 && !request->on_image()) || request->options.ranks.blocks_per_rank > 0;
    request->options.ranks.group_size = request->team == 0 && own_parts ? 1 : request->team;
    request->options.threads = console.options.threads;
    return run_solve(*request, console);
  });
}

}  // namespace isochron::cli
