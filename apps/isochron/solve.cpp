// isochron solve: the options; the steps are in solve_run.cpp.
#include "apps/isochron/problem.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "apps/isochron/commands.h"
#include "apps/isochron/solve_each.h"
#include "isochron/capabilities.h"
#include "isochron/core/join_text.h"
#include "isochron/io.h"
#include "isochron/io/pieces/part_files.h"
#include "isochron/io/pieces/piece_index.h"
#include "isochron/solve/option_tables.h"

namespace isochron::cli {
namespace {

/// All methods, first those of the CPU, as the table of capabilities has them.
std::string methods_by_hardware() {
  std::set<Method> everywhere, on_gpu;
  for (const Capability& row : capabilities()) (runs_on_gpu(row.method) ? on_gpu : everywhere).insert(row.method);
  const auto names = [](const std::set<Method>& methods) {
    std::vector<std::string_view> list;
    list.reserve(methods.size());
    for (const Method method : methods) list.push_back(name_of(method));
    return list;
  };
  return fmt::format("{}; only on a GPU: {}", join_text(names(everywhere), ", "), join_text(names(on_gpu), ", "));
}

/// Declares the options of a solve; some have limits.
struct DeclareSolve : DeclareOptions {
  using DeclareOptions::operator();

  void operator()(const OptionText& text, Method& method) const {
    command.option(flag_name(text.name), text.value, shown_help(text.help, methods_by_hardware()), into(method));
  }
  void operator()(const OptionText& text, std::optional<double>& share) const {
    declare(text, share, into_edge_share(share));
  }
  void operator()(const OptionText& text, double& field) const { declare(text, field, into_positive(field)); }
};

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
  each_image_option(request.options, DeclareOptions{command});
  declare_raw(command, request.raw);
}

/// Flags that are only of use beside others.
struct MethodFlags {
  bool allow_unordered = false, hand_over = false;
  std::vector<std::string> scheme;  ///< options of the papers' GPU methods that were given
};

void declare_flags(Command& command, SolveRequest& request, MethodFlags& flags) {
  command.flag("--hand-over", "fmm: let banded correct what came out of order", flags.hand_over);
  command.flag("--allow-unordered", "fmm: run although the order does not hold (may be wrong)", flags.allow_unordered);
  command.flag("--allow-zero-fibers", "Cells without a fibre conduct at the transverse velocity",
               request.metric.zero_fibers, ZeroFibers::isotropic);
  command.flag("--verify", "Check that every time fits its neighbours' (exit code 4 if not)", request.options.verify,
               Keep::yes);
}

void apply_flags(const MethodFlags& flags, SolveRequest& request) {
  if (flags.allow_unordered && flags.hand_over)
    throw UsageError("--allow-unordered and --hand-over exclude each other (to run as it is, or corrected); give one");
  SolveOptions& options = request.options;
  if (flags.allow_unordered) options.unordered = Unordered::run;
  if (flags.hand_over) options.unordered = Unordered::hand_over;
}

/// The methods that use an option of the papers' methods.
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
  unused(request.options.ball_rings != SolveOptions{}.ball_rings && request.options.source_init != SourceInit::ball,
         "--ball-rings", "--source-init ball");
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
  unused(metric.zero_fibers == ZeroFibers::isotropic && metric.fiber_array.empty(), "--allow-zero-fibers", "--fibers");
  unused(!metric.region_array.empty() && metric.table.empty() && metric.excluded_regions.empty(), "--region-array",
         "--velocity-table or --exclude-region");
  unused(request.probe.tolerance && request.probe.output.empty(), "--probe-tolerance", "--probe and --probe-output");
  unused(request.arrays && !request.holds_input_arrays(), "--arrays", "-o and a file that holds arrays");
  unused(request.options.weights == Keep::yes && !request.to_mesh() && !request.each_source, "--weights",
         "-o and a file that holds arrays");
  unused(any_picture_option && request.picture.file.empty(), "what shapes a picture", "--picture");
}

void declare_outputs(Command& command, SolveRequest& request) {
  command.group("Output");
  command.option(
      "-o,--output", "FILE",
      "The mesh or image with arrays arrival_time, source and reached (image formats of one array: the "
      "times alone); .csv (id,x,y,z,arrival_time,source); of a mesh also the times alone, .npy, and .dat and "
      ".igb for openCARP; with --each-source .npy has a row of times a source; with --backend mpi also .pvtu, "
      ".pvtp or .pvti (a piece from each rank)",
      into(request.output));
  declare_arrays(command, "Keep these arrays of the input alone, besides those of the result; or none (all)",
                 request.arrays);
  command.option("--matrix", "CSV", "With --each-source: the times from each source vertex or voxel at all of them",
                 into(request.matrix));
  command.option("--probe", "FILE", "Points 'x y z' or 'name x y z' to give times at", into(request.probe.points));
  command.option("--probe-output", "CSV", "[name,]x,y,z,time,distance of each", into(request.probe.output));
  command.option("--probe-tolerance", "D", "How far from the mesh or image a point may be (1 % of its diagonal)",
                 [&request](const std::string& text) {
                   request.probe.tolerance = parse_number(text);
                   if (!(*request.probe.tolerance >= 0))
                     throw usage_error("{} is no distance (negative); give 0 or more", text);
                 });
  command.flag("--weights", "Also write upwind_vertices and upwind_weights", request.options.weights, Keep::yes);
  command.flag("--force", "Replace existing files", request.overwrite, Overwrite::yes);
}

/// Takes "X,Y,Z,NX,NY,NZ": a point and a normal.
Take into_cut(std::optional<CutPlane>& cut) {
  return [&cut](const std::string& text) {
    const std::vector<double> x = parse_numbers(text);
    if (x.size() != 6) throw usage_error("'{}' is not a point and a normal; write six numbers like 0,0,0,1,0,0", text);
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

// ---- files

bool same_place(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code ignored;
  return std::filesystem::equivalent(a, b, ignored);
}

/// The pieces of an input that is a set. None when it is not one, or not a good one: who reads it says so.
Paths boxes_of(const std::filesystem::path& input) {
  if (!piece_kind_of(input)) return {};
  try {
    return read_piece_index(input).pieces;
  } catch (const InputError&) {
    return {};
  }
}

/// Pieces of an input must not be replaced either, unless the whole set is.
void check_input_pieces(const SolveRequest& request, std::string_view why) {
  if (request.output.empty()) return;
  for (const auto& input : {request.mesh, request.mask.file}) {
    if (same_place(input, request.output)) continue;
    const Paths pieces = boxes_of(input);
    if (!request.to_pieces()) check_not_among(request.output, pieces, why);
    else if (std::any_of(pieces.begin(), pieces.end(), [&](const std::filesystem::path& piece) {
               return same_place(piece.parent_path(), piece_path(request.output, 0).parent_path());
             }))
      throw usage_error("{}: its pieces would replace those of {}, an input; choose another name",
                        request.output.string(), input.string());
  }
}

/// An output must not replace another, nor an input, --force or not. Only -o may replace the mesh, which it holds.
void check_distinct_files(const SolveRequest& request) {
  Paths inputs = request.sources.files;
  for (const auto& file : {request.probe.points, request.mask.file})
    if (!file.empty()) inputs.push_back(file);
  if (request.on_image()) inputs.push_back(request.mesh);
  const std::string_view is_input = "is an input too (it would be replaced)";
  Paths outputs;
  if (request.to_mesh() && !request.on_image() && !request.to_pieces()) outputs = files_written(request.output);
  else if (!request.output.empty()) outputs = {request.output};
  for (const auto& file : outputs) check_not_among(file, inputs, is_input);
  check_input_pieces(request, is_input);
  inputs.push_back(request.mesh);
  if (request.to_rows() || request.to_vertex_values()) check_not_among(request.output, inputs, is_input);
  for (const auto& file : {request.probe.output, request.picture.file, request.matrix}) {
    if (file.empty()) continue;
    check_not_among(file, inputs, is_input);
    check_not_among(file, outputs, "is named for two outputs (one would replace the other)");
    outputs.push_back(file);
  }
}

}  // namespace

bool SolveRequest::to_pieces() const {
  return to_mesh() && options.backend == Backend::mpi &&
         (on_image() ? piece_kind_of(output) == PieceKind::image : is_mesh_set(output));
}

void check_request(const SolveRequest& request) {
  if (request.output.empty() && request.probe.output.empty() && request.picture.file.empty() && request.matrix.empty())
    throw UsageError(
        "no output (the result would be lost); give -o FILE, --probe-output or --picture, or --matrix with "
        "--each-source");
  if (request.sources.empty()) {
    throw UsageError(
        "no source (the front starts nowhere); give --source, --source-point, --source-file, --source-tag or "
        "--source-levelset");
  }
  if (request.probe.points.empty() != request.probe.output.empty())
    throw UsageError("--probe and --probe-output go together (where the points are, where the times go); give both");
  check_each_source(request);
  if (request.to_pieces()) check_set_writable(request.output, request.overwrite);
  else if (request.to_mesh() && request.on_image()) check_image_writable(request.output, request.overwrite);
  else if (request.to_mesh()) check_writable(request.output, request.overwrite);
  if (request.to_rows() || request.to_vertex_values()) check_output_file(request.output, request.overwrite);
  if (!request.matrix.empty()) check_output_file(request.matrix, request.overwrite);
  if (!request.probe.output.empty()) check_output_file(request.probe.output, request.overwrite);
  if (!request.picture.file.empty()) check_picture(request.picture, request.overwrite);
  check_distinct_files(request);
}

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
  command.group("How it is solved");
  each_option(request->options, DeclareSolve{{command}});
  declare_flags(command, *request, *flags);
  declare_ranks(command, *request);
  declare_grid(command, *request);
  command.group("The papers' methods on a GPU");
  each_option(request->options.paper, DeclareNoted{{command}, flags->scheme, Numbers::positive});
  declare_outputs(command, *request);
  declare_picture(command, request->picture);
  declare_common(command, console);
  command.action([request, flags, &console] {
    advise_when_out_of_memory("use a smaller mesh or --precision single");
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
