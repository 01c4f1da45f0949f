// isochron connectome: all pairs of regions.
#include <algorithm>
#include <iterator>
#include <memory>
#include <span>

#include "apps/isochron/commands.h"
#include "apps/isochron/label_choice.h"
#include "apps/isochron/shared_output.h"
#include "apps/isochron/tensor_input.h"
#include "isochron/connect.h"
#include "isochron/core/timer.h"
#include "isochron/io.h"
#include "isochron/io/file.h"
#include "isochron/io/tables.h"

namespace isochron::cli {
namespace {

using FilePath = std::filesystem::path;

struct ConnectomeRequest {
  TensorRequest tensors;
  std::filesystem::path labels;
  LabelRequest chosen;
  std::size_t parcels = 0;             ///< instead of labels: cut the mask into so many regions
  std::filesystem::path parcels_file;  ///< where to write them
  std::filesystem::path output;
  Overwrite overwrite = Overwrite::no;
  GridMethod method;
};

enum class MatrixFormat { csv, npy };

MatrixFormat format_of(const FilePath& path) {
  const FileName name(path);
  if (name.extension == ".csv") return MatrixFormat::csv;
  if (name.extension == ".npy" && !name.gzip) return MatrixFormat::npy;
  throw usage_error("{}: a matrix is written as .csv, .csv.gz or .npy; choose one of them", path.string());
}

struct MatrixFiles {
  FilePath cost, normalised, length, anisotropy, ids;

  explicit MatrixFiles(const FilePath& output)
      : cost(output),
        normalised(FileName(output).beside("_normalised")),
        length(FileName(output).beside("_length")),
        anisotropy(FileName(output).beside("_fa")) {
    if (format_of(output) == MatrixFormat::npy) ids = FileName(output).with(".txt");
  }
  [[nodiscard]] Paths all() const {
    Paths files{cost, normalised, length, anisotropy};
    if (!ids.empty()) files.push_back(ids);
    return files;
  }
};

void check_request(const ConnectomeRequest& request, Console& console) {
  check_tensor_request(request.tensors, console);
  if (request.labels.empty() == (request.parcels == 0))
    throw UsageError(
        "the regions are not clear (a label map, or parcels to be made); give either --labels or --parcels");
  if (!request.parcels_file.empty() && request.parcels == 0)
    throw UsageError("--parcels-output goes with --parcels (a label map is there already); leave it out");
  if (request.parcels > 0 && (!request.chosen.table.empty() || request.chosen.left_out))
    throw UsageError("--label-table and --leave-out go with --labels (parcels have no names); leave them out");
  Paths outputs = MatrixFiles(request.output).all();
  if (!request.parcels_file.empty()) {
    check_image_writable(request.parcels_file, request.overwrite);
    outputs.push_back(request.parcels_file);
  }
  Paths inputs = tensor_files(request.tensors);
  for (const FilePath& file : {request.labels, request.chosen.table})
    if (!file.empty()) inputs.push_back(file);
  check_output_files(outputs, inputs, request.overwrite);
}

void write_csv(const OutputFile& file, const std::vector<std::string>& names, std::span<const double> matrix) {
  ByteWriter sink(file);
  sink.print("region");
  for (const std::string& name : names) sink.print(",{}", csv_field(name));
  sink.print("\n");
  for (std::size_t row = 0; row < names.size(); ++row) {
    sink.print("{}", csv_field(names[row]));
    for (const double value : matrix.subspan(row * names.size(), names.size())) sink.print(",{:.9g}", value);
    sink.print("\n");
  }
  sink.finish();
}

void write_npy(const OutputFile& file, const std::vector<std::string>& names, std::span<const double> matrix) {
  NpyWriter writer(file, names.size(), names.size());
  for (std::size_t row = 0; row < names.size(); ++row) writer.row(matrix.subspan(row * names.size(), names.size()));
  writer.finish();
}

/// A line for each row of the matrices: its label and, where they differ, its name.
void write_ids(const OutputFile& file, const ChosenLabels& labels) {
  ByteWriter sink(file);
  for (std::size_t i = 0; i < labels.names.size(); ++i) {
    const std::string label = std::to_string(labels.regions[i].label);
    sink.print("{}{}\n", label, labels.names[i] == label ? "" : " " + labels.names[i]);
  }
  sink.finish();
}

void write_all(const ConnectomeRequest& request, const Connectome& connectome, const ChosenLabels& labels,
               const Image& parcels, OutputFiles& files) {
  const MatrixFiles names(request.output);
  const auto write = format_of(request.output) == MatrixFormat::csv ? write_csv : write_npy;
  write(files.add(names.cost), labels.names, connectome.cost);
  write(files.add(names.normalised), labels.names, connectome.normalised);
  write(files.add(names.length), labels.names, connectome.length);
  write(files.add(names.anisotropy), labels.names, connectome.anisotropy);
  if (!names.ids.empty()) write_ids(files.add(names.ids), labels);
  if (!request.parcels_file.empty()) write_image(files.add(request.parcels_file), parcels);
  files.commit();
}

/// Warns of labels without a voxel in the mask, and gives their number.
std::size_t count_outside(const std::vector<LabelledRegion>& regions, const std::string& what, const TensorInput& input,
                          Console& console) {
  const auto outside =
      static_cast<std::size_t>(std::count_if(regions.begin(), regions.end(), [&](const LabelledRegion& region) {
        return std::none_of(region.region.voxels.begin(), region.region.voxels.end(),
                            [&](VertexId v) { return input.metric.usable[v.index()] != 0; });
      }));
  if (outside > 0)
    console.warn("{}: {} outside the mask, joined to nothing", what, counted(outside, "label is", "labels are"));
  return outside;
}

void check_regions(const std::vector<LabelledRegion>& regions, const std::string& what, const TensorRequest& request,
                   const TensorInput& input, Console& console) {
  BadTensors all;
  std::size_t wrong = 0;
  for (const LabelledRegion& region : regions) {
    std::vector<VertexId> inside;
    std::copy_if(region.region.voxels.begin(), region.region.voxels.end(), std::back_inserter(inside),
                 [&](VertexId v) { return input.metric.usable[v.index()] != 0; });
    const BadTensors tensors = bad_tensors(inside, input.metric.indefinite);
    all.bad += tensors.bad;
    all.voxels += tensors.voxels;
    if (tensors.mostly()) ++wrong;
  }
  refuse_bad_tensors(all, "in the regions", request.file.string());
  if (wrong > 0)
    console.warn("{}: most tensors are not positive definite in {}; use their costs with care", what,
                 counted(wrong, "region", "regions"));
}

void report_labels(Report& report, const ChosenLabels& labels) {
  Json& list = report.object()["labels"] = Json::array();
  for (std::size_t i = 0; i < labels.names.size(); ++i)
    list.push_back({{"label", labels.regions[i].label},
                    {"name", labels.names[i]},
                    {"voxels", labels.regions[i].region.voxels.size()}});
  report.add({{"labels_left_out", labels.left_out}});
  if (labels.left_out > 0) report.row("left out", "{}", counted(labels.left_out, "label", "labels"));
}

void report_pairs(Report& report, const Connectome& connectome, std::size_t outside_mask) {
  report.add({{"regions", connectome.size()},
              {"regions_outside_mask", outside_mask},
              {"pairs", connectome.pairs()},
              {"unconnected_pairs", connectome.unconnected},
              {"unfinished_paths", connectome.unfinished},
              {"asymmetry", connectome.asymmetry}});
  report.row("pairs", "{}, {}", grouped(connectome.pairs()),
             connectome.unconnected == 0 ? "all joined" : grouped(connectome.unconnected) + " not joined");
  report.row("asymmetry", "{:.2g} of the cost on average between the two directions", connectome.asymmetry);
  if (connectome.unfinished > 0)
    report.row("note", "{} could not be traced to the end", counted(connectome.unfinished, "path", "paths"));
}

int run_connectome(const ConnectomeRequest& request, Console& console) {
  check_request(request, console);
  const TensorInput input = read_tensors(request.tensors, console);
  const GridDomain domain{input.grid, input.metric.metric, input.metric.usable};
  const InterruptGuard guard;
  ImageFiles files(console);
  Image made;
  Timer timer;
  if (request.parcels > 0)
    made = image_of(input.grid, {"parcel", 1,
                                 make_parcels(input.grid, input.metric.usable, request.parcels,
                                              request.method.options_for(console, {}))});
  const double parcel_seconds = timer.seconds();
  const Image& labels = request.parcels > 0 ? made : files.get(request.labels, input.grid);
  const std::string what = request.parcels > 0 ? "the parcels" : request.labels.string();
  const ChosenLabels chosen = choose_labels(all_labels(labels, input.grid, what), request.chosen, what, console);
  const std::vector<LabelledRegion>& regions = chosen.regions;
  check_regions(regions, what, request.tensors, input, console);
  timer.restart();
  Connectome connectome;
  {
    Activity activity(console, "connecting");
    const TensorField field = input.field();
    SolveOptions options = request.method.options_for(console, activity.progress());
    options.expected_solves = ExpectedSolves::many;
    connectome = connect_all(domain, regions, options, &field);
  }
  check_interrupted();
  const double connect_seconds = timer.seconds();
  const std::size_t outside = count_outside(regions, what, input, console);
  if (connectome.unconnected >= connectome.pairs())
    throw NoAnswerError(fmt::format(
        "{}: no pair of regions is joined (the mask falls apart between them), so nothing was written; widen the mask",
        request.tensors.file.string()));
  timer.restart();
  OutputFiles outputs(request.overwrite);
  write_all(request, connectome, chosen, labels, outputs);

  const std::size_t usable = input.metric.counts.usable;
  Report report;
  report.title("tensors", request.tensors.file.string(),
               counted(connectome.size(), "region", "regions") + ", " + counted(usable, "voxel", "voxels"));
  report.add({{"shape", input.grid.shape}, {"mask_voxels", usable}});
  report_labels(report, chosen);
  report_pairs(report, connectome, outside);
  add_metric(report, request.tensors, input);
  add_work(report, connectome.work, connectome.solves, request.method);
  report.times({{"read", input.read_seconds},
                {"parcel", parcel_seconds, "parcels"},
                {"connect", connect_seconds},
                {"write", timer.seconds()}});
  report.notes(connectome.work.notes);
  report.written(outputs.targets());
  report.print(console);
  return judge_costs(request.tensors, connectome.work, request.method, "");
}

}  // namespace

void declare_connectome(Command& root, Console& console) {
  Command command = root.subcommand(
      "connectome", "What it costs to get from each region of a label map to each other, on a tensor image",
      "isochron connectome tensors.nii.gz --tensor-order mrtrix --labels atlas.nii.gz -o matrix.csv");
  const auto request = std::make_shared<ConnectomeRequest>();
  declare_tensor_image(command, request->tensors);
  command.group("The regions");
  command.option("--labels", "FILE", "An image of labels; 0 is background", into(request->labels));
  declare_labels(command, request->chosen);
  command.option("--parcels", "N", "Or: cut the mask into N compact regions", into(request->parcels));
  command.option("--parcels-output", "FILE", "Writes these as an image of labels", into(request->parcels_file));
  declare_grid_method(command, request->method);
  command.group("Output");
  command.option(
      "-o,--output", "MATRIX",
      "The costs, as .csv or .npy; beside it MATRIX_normalised (cost per mm), _length (mm) and _fa (mean FA)",
      into(request->output), Need::required);
  command.flag("--force", "Replace existing files", request->overwrite, Overwrite::yes);
  declare_common(command, console);
  command.action([request, &console] { return run_connectome(*request, console); });
}

}  // namespace isochron::cli
