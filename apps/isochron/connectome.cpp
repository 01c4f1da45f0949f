// isochron connectome: all pairs of regions.
#include "apps/isochron/connectome.h"
#include "apps/isochron/exit_code.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "apps/isochron/output_files.h"
#include "apps/isochron/solve_grid.h"
#include "isochron/connect/connectome.h"
#include "isochron/core/error.h"
#include "isochron/core/timer.h"
#include "isochron/io/file.h"
#include "isochron/io/image_io.h"
#include "isochron/io/tables.h"

namespace isochron::cli {
namespace {

using FilePath = std::filesystem::path;

enum class MatrixFormat { csv, npy };

MatrixFormat format_of(const FilePath& path) {
  const FileName name(path);
  if (name.extension == ".csv") return MatrixFormat::csv;
  if (name.extension == ".npy" && !name.gzip) return MatrixFormat::npy;
  throw UsageError(fmt::format("{}: a matrix is written as .csv, .csv.gz or .npy; choose one of them", path.string()));
}

struct MatrixFiles {
  FilePath cost, normalised, length, ids;

  explicit MatrixFiles(const FilePath& output)
      : cost(output), normalised(FileName(output).beside("_normalised")), length(FileName(output).beside("_length")) {
    if (format_of(output) == MatrixFormat::npy) ids = FileName(output).with(".txt");
  }
  [[nodiscard]] std::vector<FilePath> all() const {
    std::vector<FilePath> files{cost, normalised, length};
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
  std::vector<FilePath> outputs = MatrixFiles(request.output).all();
  const Overwrite overwrite = request.force ? Overwrite::yes : Overwrite::no;
  if (!request.parcels_file.empty()) {
    check_image_writable(request.parcels_file, overwrite);
    outputs.push_back(request.parcels_file);
  }
  std::vector<FilePath> inputs{request.tensors.file};
  for (const FilePath& file : {request.tensors.mask.file, request.labels})
    if (!file.empty()) inputs.push_back(file);
  check_output_files(outputs, inputs, overwrite);
}

void write_csv(const OutputFile& file, const Connectome& connectome, const std::vector<double>& matrix) {
  ByteWriter sink(file);
  sink.print("region");
  for (const std::int64_t label : connectome.labels) sink.print(",{}", label);
  sink.print("\n");
  for (std::size_t row = 0; row < connectome.size(); ++row) {
    sink.print("{}", connectome.labels[row]);
    for (std::size_t column = 0; column < connectome.size(); ++column)
      sink.print(",{:.9g}", matrix[row * connectome.size() + column]);
    sink.print("\n");
  }
  sink.finish();
}

void write_npy(const OutputFile& file, const Connectome& connectome, const std::vector<double>& matrix) {
  NpyWriter writer(file, connectome.size(), connectome.size());
  for (std::size_t row = 0; row < connectome.size(); ++row)
    writer.row(std::span(matrix).subspan(row * connectome.size(), connectome.size()));
  writer.finish();
}

void write_ids(const OutputFile& file, const std::vector<std::int64_t>& labels) {
  ByteWriter sink(file);
  for (const std::int64_t label : labels) sink.print("{}\n", label);
  sink.finish();
}

Image parcel_image(const ConnectomeRequest& request, const TensorInput& input, const SolveOptions& options) {
  Image image{input.grid, {}, {}, {}};
  image.data.set({"parcel", 1, make_parcels(input.grid, input.metric.usable, request.parcels, options)});
  return image;
}

void write_all(const ConnectomeRequest& request, const Connectome& connectome, const Image& parcels,
               OutputFiles& files) {
  const MatrixFiles names(request.output);
  const auto write = format_of(request.output) == MatrixFormat::csv ? write_csv : write_npy;
  write(files.add(names.cost), connectome, connectome.cost);
  write(files.add(names.normalised), connectome, connectome.normalised);
  write(files.add(names.length), connectome, connectome.length);
  if (!names.ids.empty()) write_ids(files.add(names.ids), connectome.labels);
  if (!request.parcels_file.empty()) write_image(files.add(request.parcels_file), parcels);
  files.commit();
}

/// A matrix without a single cost is no answer.
void check_joined(const ConnectomeSummary& summary) {
  const Connectome& connectome = summary.connectome;
  if (connectome.unconnected < connectome.pairs()) return;
  throw NoAnswerError(fmt::format(
      "{}: no pair of regions is joined (the mask falls apart between them), so nothing was written; widen the mask",
      summary.request.tensors.file.string()));
}

int judge(const ConnectomeSummary& summary) {
  const Arrival& work = summary.connectome.work;
  if (work.converged && (!work.residual || work.residual->passed())) return 0;
  print_error(fmt::format("{}: not converged; the output was written all the same: treat it with care, and {}",
                          summary.request.tensors.file.string(),
                          better_grid_options(work, summary.request.options.scheme)));
  return exit_not_converged;
}

int run_connectome(const ConnectomeRequest& request, Console& console) {
  check_request(request, console);
  const TensorInput input = read_tensors(request.tensors, console);
  const GridDomain domain{input.grid, input.metric.metric, input.metric.usable};
  SolveOptions options = request.options;
  options.threads = console.options.threads;
  options.verify = request.verify ? Keep::yes : Keep::no;
  const InterruptGuard guard;
  ImageFiles files(console);
  Image made;
  Timer timer;
  if (request.parcels > 0) made = parcel_image(request, input, options);
  const double parcel_seconds = timer.seconds();
  const Image& labels = request.parcels > 0 ? made : files.get(request.labels);
  const std::string what = request.parcels > 0 ? "the parcels" : request.labels.string();
  const std::vector<LabelledRegion> regions = all_labels(labels, input.grid, what);
  timer.restart();
  Connectome connectome;
  {
    Activity activity(console, "connecting");
    options.progress = activity.progress();
    connectome = connect_all(domain, regions, options);
  }
  check_interrupted();
  ConnectomeSummary summary{request, input, connectome, 0, {}, parcel_seconds, timer.seconds(), 0};
  for (const LabelledRegion& region : regions)
    summary.outside_mask += std::none_of(region.region.voxels.begin(), region.region.voxels.end(),
                                         [&](VertexId v) { return input.metric.usable[v.index()] != 0; });
  if (summary.outside_mask > 0)
    console.warn(fmt::format("{}: {} outside the mask, joined to nothing", what,
                             counted(summary.outside_mask, "label is", "labels are")));
  check_joined(summary);
  timer.restart();
  OutputFiles outputs;
  write_all(request, connectome, labels, outputs);
  summary.written = outputs.targets();
  summary.write_seconds = timer.seconds();
  print_summary(summary, console);
  return judge(summary);
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
  command.option("--parcels", "N", "Or: cut the mask into N compact regions", into(request->parcels));
  command.option("--parcels-output", "FILE", "Writes these as an image of labels", into(request->parcels_file));
  declare_grid_method(command, request->options, request->verify);
  command.group("Output");
  command.option("-o,--output", "MATRIX",
                 "The costs, as .csv or .npy; beside it MATRIX_normalised (cost per mm) and MATRIX_length (mm)",
                 into(request->output), Need::required);
  command.flag("--force", "Replace existing files", request->force);
  declare_common(command, console);
  command.action([request, &console] { return run_connectome(*request, console); });
}

}  // namespace isochron::cli
