// isochron invert: the options; the steps are in invert_run.cpp.
#include "apps/isochron/invert.h"

#include <algorithm>
#include <memory>

#include "apps/isochron/commands.h"
#include "apps/isochron/problem.h"
#include "isochron/core/delimited_text.h"
#include "isochron/invert/option_tables.h"
#include "isochron/solve/option_tables.h"

namespace isochron::cli {
namespace {

/// Takes names with commas between them; each counts once.
Take into_unknowns(std::vector<Unknown>& unknowns) {
  return [&unknowns](const std::string& text) {
    for (const std::string_view name : split_text(text, ",")) {
      Unknown unknown{};
      into(unknown)(std::string(name));
      if (std::find(unknowns.begin(), unknowns.end(), unknown) == unknowns.end()) unknowns.push_back(unknown);
    }
  };
}

/// Takes a number that is not negative.
template <class T>
Take into_not_negative(T& target) {
  return [&target](const std::string& text) {
    const double value = parse_number(text);
    if (!(value >= 0)) throw usage_error("{} is negative; give 0 or more", text);
    target = value;
  };
}

/// Declares the options of an inversion, whose numbers are not negative, and notes those that are given.
struct DeclareInversion : DeclareNoted {
  using DeclareNoted::operator();

  void operator()(const OptionText& text, double& field) const { declare_number(text, field); }
  void operator()(const OptionText& text, std::optional<double>& field) const { declare_number(text, field); }

 private:
  template <class T>
  void declare_number(const OptionText& text, T& field) const {
    declare(text, field, noted(flag_name(text.name), given, into_not_negative(field)));
  }
};

/// Declares those options of a solve that times with derivatives can have.
struct DeclareTimes : DeclareOptions {
  template <class T>
  void operator()(const OptionText& text, T& field) const {
    const std::string_view name = text.name;
    if (name == "ball_rings" || name == "split_obtuse") DeclareOptions::operator()(text, field);
  }
  void operator()(const OptionText& text, std::optional<double>& share) const {
    declare({text.name, text.value, "Of an edge's travel time (1e-9)"}, share, into_edge_share(share));
  }
};

void declare_measured(Command& command, InvertRequest& request) {
  command.group("What was measured");
  command.option("--times", "CSV",
                 "A line of column names, then a row a time: x,y[,z] or vertex, time; shot, weight and name where "
                 "there are any",
                 into(request.times), Need::required);
  command.option("--shots", "CSV", "The sources of each shot (those below are of all shots): shot, place, time",
                 into(request.shots));
  command.option("--receiver-tolerance", "D", "How far from the mesh or image a receiver may be (1 % of its diagonal)",
                 into_not_negative(request.receiver_tolerance));
}

void declare_inversion(Command& command, InvertRequest& request) {
  command.group("What is looked for");
  command.option("--unknown", "NAME,…",
                 "speed (of each element or voxel), tensor-scale (one factor for its velocities), region-velocities, "
                 "onsets, source-positions",
                 into_unknowns(request.options.unknowns), Need::required);
  each_option(request.options, DeclareInversion{{{command}, request.set}});
  command.option("--checkpoint", "NPY", "Keep where it stands in this file, and go on from it when it is there",
                 into(request.checkpoint));
}

void declare_times(Command& command, InvertRequest& request) {
  SolveRequest& problem = request.problem;
  command.group("How times are computed");
  command.option("--source-init", "NAME", "plain (default where the metric is unknown, which balls depend on) or ball",
                 [&request](const std::string& name) { request.options.source_init = source_init_named(name); });
  each_option(problem.options, DeclareTimes{{command}});
  declare_backend(command, problem.options.backend);
  command.flag("--allow-zero-fibers", "Cells without a fibre conduct at the transverse velocity",
               problem.metric.zero_fibers, ZeroFibers::isotropic);
  command.group("Images");
  declare_mask(command, problem.mask, "Invert where this image is neither 0 nor NaN");
  declare_raw(command, problem.raw);
}

void declare_found(Command& command, InvertRequest& request) {
  command.group("Output");
  command.option("-o,--output", "FILE",
                 "The mesh or image with the array speed or velocity_scale and, of one shot, arrival_time",
                 into(request.problem.output));
  command.option("--sources-output", "CSV", "shot,source,x,y,z,time of each source", into(request.sources_output));
  command.option("--velocities-output", "FILE", "The velocities as a table for --velocity-table",
                 into(request.velocities_output));
  command.option("--times-output", "CSV", "shot,[name,]x,y,z,measured,computed,weight of each time",
                 into(request.times_output));
  command.option("--curve", "CSV", "iteration,misfit,objective,step,products", into(request.curve));
  command.flag("--force", "Replace existing files", request.problem.overwrite, Overwrite::yes);
}

// ---- what is known before the work

/// Refuses options that the other kind of file has.
void check_kind_of_file(const SolveRequest& problem) {
  if (problem.on_image()) {
    refuse_on_image(!problem.sources.level_set.empty(), "--source-levelset");
    refuse_on_image(problem.elements != Elements::automatic, "--elements");
    refuse_on_image(problem.options.obtuse != ObtuseSplit::automatic, "--split-obtuse");
    return;
  }
  refuse_on_mesh(!problem.mask.file.empty(), "--mask");
  refuse_on_mesh(problem.tensors.frame.has_value(), "--tensor-frame");
  refuse_on_mesh(problem.floor_given(), "--eigenvalue-floor");
  if (is_image_file(problem.output)) refuse_image_output(problem);
}

void check_unknowns(const InvertRequest& request) {
  const SolveRequest& problem = request.problem;
  const bool sources = !problem.sources.empty();
  if (sources && !request.shots.empty())
    throw UsageError("sources are given for all shots and by shot (--shots; one would be ignored); choose one");
  if (!sources && request.shots.empty())
    throw UsageError(
        "no source (the front starts nowhere); give --source, --source-point, --source-file or --source-tag, or "
        "--shots");
  const MetricRequest& metric = problem.metric;
  if (request.looks_for(Unknown::region_velocities) && metric.table.empty() && !metric.velocities)
    throw usage_error(
        "region-velocities cannot be unknown without velocities to begin with; give {}--velocity with "
        "--fibers",
        problem.on_image() ? "" : "--velocity-table, or ");
  if (!request.velocities_output.empty() && !request.looks_for(Unknown::region_velocities))
    throw UsageError(
        "--velocities-output has nothing to hold (no velocities are unknown); leave it out, or look for "
        "region-velocities");
  if (problem.output.empty() && request.has_field())
    throw UsageError("no output (the result would be lost); give -o FILE");
}

/// An output must not replace another, nor an input; only -o may replace the mesh, which it holds.
void check_files(const InvertRequest& request) {
  const SolveRequest& problem = request.problem;
  if (problem.on_image() && !problem.output.empty()) check_image_writable(problem.output, problem.overwrite);
  else if (!problem.output.empty()) check_writable(problem.output, problem.overwrite);
  Paths inputs = problem.sources.files;
  for (const auto& file : {request.times, request.shots, problem.mask.file})
    if (!file.empty()) inputs.push_back(file);
  if (problem.on_image()) inputs.push_back(problem.mesh);
  Paths outputs;
  if (!problem.output.empty()) outputs = problem.on_image() ? Paths{problem.output} : files_written(problem.output);
  const std::string_view is_input = "is an input too (it would be replaced)";
  for (const auto& file : outputs) check_not_among(file, inputs, is_input);
  inputs.push_back(problem.mesh);
  for (const auto& file :
       {request.sources_output, request.velocities_output, request.times_output, request.curve, request.checkpoint}) {
    if (file.empty()) continue;
    check_output_file(file, file == request.checkpoint ? Overwrite::yes : problem.overwrite);
    check_not_among(file, inputs, is_input);
    check_not_among(file, outputs, "is named for two outputs (one would replace the other)");
    outputs.push_back(file);
  }
}

/// Says which options have no effect beside the others.
void warn_of_unused(const InvertRequest& request, Console& console) {
  const MetricRequest& metric = request.problem.metric;
  for (const std::string& option : request.set) {
    const bool of_smoothing = option.starts_with("--smoothing");
    const bool of_velocity = option == "--min-velocity" || option == "--max-velocity";
    console.warn_unused(of_smoothing && !request.has_field(), option, "--unknown speed or tensor-scale");
    console.warn_unused(of_velocity && !request.has_field() && !request.looks_for(Unknown::region_velocities), option,
                        "--unknown speed, tensor-scale or region-velocities");
  }
  console.warn_unused(metric.zero_fibers == ZeroFibers::isotropic && metric.fiber_array.empty(), "--allow-zero-fibers",
                      "--fibers");
  console.warn_unused(!metric.region_array.empty() && metric.table.empty() && metric.excluded_regions.empty(),
                      "--region-array", "--velocity-table or --exclude-region");
  warn_unused_tensor_layout(request.problem, console);
}

}  // namespace

bool InvertRequest::looks_for(Unknown unknown) const {
  return std::find(options.unknowns.begin(), options.unknowns.end(), unknown) != options.unknowns.end();
}

void declare_invert(Command& root, Console& console) {
  Command command = root.subcommand("invert", "Speeds, velocities and sources from measured arrival times",
                                    "isochron invert ground.vtu --times picks.csv --shots shots.csv --unknown speed "
                                    "--speed 2 -o speeds.vtu");
  const auto request = std::make_shared<InvertRequest>();
  command.positional("MESH", "The mesh or image; its extension tells the format", into(request->problem.mesh));
  declare_measured(command, *request);
  declare_inversion(command, *request);
  declare_mesh(command, request->problem);
  declare_sources(command, request->problem.sources);
  declare_metric(command, request->problem);
  declare_times(command, *request);
  declare_found(command, *request);
  declare_common(command, console);
  command.action([request, &console] {
    advise_when_out_of_memory("use a smaller mesh or fewer shots");
    check_raw({request->problem.mesh}, request->problem.raw, console);
    check_kind_of_file(request->problem);
    check_unknowns(*request);
    check_files(*request);
    warn_of_unused(*request, console);
    request->problem.options.threads = console.options.threads;
    return run_invert(*request, console);
  });
}

}  // namespace isochron::cli
