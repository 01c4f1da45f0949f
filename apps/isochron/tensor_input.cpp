#include "apps/isochron/tensor_input.h"

#include <fmt/format.h>

#include "apps/isochron/mesh_input.h"
#include "isochron/connect/region.h"
#include "isochron/core/error.h"
#include "isochron/core/timer.h"
#include "isochron/io/image_io.h"

namespace isochron::cli {
namespace {

Image read_reporting(const std::filesystem::path& path, Console& console) {
  const Activity activity(console, "reading " + path.string());
  Image image = read_image(path);
  for (const std::string& warning : image.warnings) console.warn(fmt::format("{}: {}", path.string(), warning));
  return image;
}

const DataArray& tensor_array(const Image& image, const std::string& what) {
  if (image.data.empty()) throw InputError(fmt::format("{}: there are no values in it; give a tensor image", what));
  const DataArray& array = image.data.all().front();
  const int n = array.components;
  if (n == 6 || n == 7 || n == 9) return array;
  throw InputError(fmt::format(
      "{}: this is no tensor image (volumes: {}, a symmetric tensor has 6, or 7 with a confidence, or 9); {}", what, n,
      n == 1 ? "give the fitted tensors" : "fit tensors to diffusion images first with 'isochron tensors'"));
}

/// Of seven components the first says how far the tensor can be trusted; 0 is background.
DataArray without_confidence(const DataArray& array) {
  std::vector<double> values;
  values.reserve(6 * array.tuple_count());
  for (std::size_t v = 0; v < array.tuple_count(); ++v) {
    const bool trusted = array.at(v, 0) > 0;
    for (int c = 1; c < 7; ++c) values.push_back(trusted ? array.at(v, c) : 0);
  }
  return {array.name, 6, std::move(values)};
}

TensorOrder order_of(const TensorRequest& request, const Image& image, int components) {
  if (components != 6) return TensorOrder::row;  // seven are NRRD's, which has one order; nine are the whole matrix
  if (request.layout.order) return *request.layout.order;
  if (image.tensor_order) return *image.tensor_order;
  throw InputError(fmt::format(
      "{}: the order of the six tensor components is not known (the header does not say); give --tensor-order fsl "
      "(xx,xy,xz,yy,yz,zz along FSL's axes), row (along world axes), mrtrix (xx,yy,zz,xy,xz,yz), vtk "
      "(xx,yy,zz,xy,yz,xz) or lower (xx,xy,yy,xz,yz,zz)",
      request.file.string()));
}

void warn_about_order(const TensorRequest& request, const Image& image, int components, Console& console) {
  const std::string name = request.file.string();
  if (components == 6 && request.layout.order && image.tensor_order && *request.layout.order != *image.tensor_order)
    console.warn(
        fmt::format("{}: the header names another order of the tensor components than --tensor-order; the "
                    "option counts",
                    name));
}

std::string mixed_up(const std::string& name, const DiffusionCounts& counts) {
  return fmt::format(
      "{}: {} of {} tensors are not positive definite (their components are mixed up, or these are no diffusion "
      "tensors); check --tensor-order with 'isochron info'",
      name, grouped(counts.not_positive_definite), grouped(counts.usable));
}

void warn_about_tensors(const std::string& name, const DiffusionCounts& counts, Console& console) {
  if (mostly_wrong(counts.not_positive_definite, counts.usable)) throw InputError(mixed_up(name, counts));
  const auto voxels = [](std::size_t n) { return counted(n, "voxel", "voxels"); };
  if (counts.not_finite > 0)
    console.warn(fmt::format("{}: {} with NaN or infinite tensors left out", name, voxels(counts.not_finite)));
  if (counts.not_positive_definite > 0)
    console.warn(fmt::format("{}: {} of {} have tensors that are not positive definite; their eigenvalues were raised",
                             name, voxels(counts.not_positive_definite), grouped(counts.usable)));
}

}  // namespace

void declare_tensor_image(Command& command, TensorRequest& request) {
  command.positional("TENSORS", "An image of diffusion tensors", into(request.file));
  command.group("The tensors");
  declare_tensor_layout(command, request.layout);
  command.option("--mask", "FILE", "Where paths may run (all voxels that have a tensor)", into(request.mask));
  command.option("--metric", "NAME", "sharpened (default), inverse or adjugate",
                 one_of(request.metric.kind, {{"sharpened", DiffusionMetricKind::sharpened},
                                              {"inverse", DiffusionMetricKind::inverse},
                                              {"adjugate", DiffusionMetricKind::adjugate}}));
  command.option("--alpha", "A", "How much the sharpened metric prefers the fibres (3)", into(request.metric.alpha));
  command.option("--eigenvalue-floor", "SHARE",
                 "Eigenvalues below this share of the median diffusivity are raised to it (0.01)",
                 into(request.metric.floor));
}

void declare_grid_method(Command& command, GridOptions& options, bool& verify) {
  SolveOptions& common = options.common;
  command.group("How it is solved");
  command.option("--scheme", "NAME", "adaptive (default), godunov or lax-friedrichs",
                 [&options](const std::string& text) { options.scheme = grid_scheme_named(text); });
  command.option("--order", "N", "1 (default) or 2", one_of(options.order, {{"1", 1}, {"2", 2}}));
  command.option("--backend", "NAME", "auto, serial, threads, or cuda where there is a GPU",
                 one_of(common.backend, {{"auto", Backend::automatic},
                                         {"serial", Backend::serial},
                                         {"threads", Backend::threads},
                                         {"cuda", Backend::cuda}}));
  command.option(
      "--precision", "NAME", "auto (double, on a GPU single), double or single",
      one_of(common.precision,
             {{"auto", Precision::automatic}, {"single", Precision::single_}, {"double", Precision::double_}}));
  command.flag("--verify", "Check that every cost fits its neighbours' (exit code 4 if not)", verify);
}

TensorInput read_tensors(const TensorRequest& request, Console& console) {
  const Timer timer;
  const std::string name = request.file.string();
  TensorInput input;
  Image image = read_reporting(request.file, console);
  const DataArray& array = tensor_array(image, name);
  const TensorOrder order = order_of(request, image, array.components);
  warn_about_order(request, image, array.components, console);
  const TensorFrame frame = request.layout.frame.value_or(TensorFrame::world);
  input.tensors = array.components == 7 ? world_tensors(without_confidence(array), order, image.grid, frame, name)
                                        : world_tensors(array, order, image.grid, frame, name);
  input.grid = image.grid;
  leave_out_masked(image, input.tensors);
  image.data = {};  // as large as the tensors
  std::vector<std::uint8_t> mask;
  if (!request.mask.empty()) mask = mask_of(read_reporting(request.mask, console), input.grid, request.mask.string());
  DiffusionMetricOptions options = request.metric;
  options.threads = console.threads();
  input.metric = about_file(request.file, [&] { return diffusion_metric(input.tensors, mask, options); });
  warn_about_tensors(name, input.metric.counts, console);
  input.read_seconds = timer.seconds();
  return input;
}

const Image& ImageFiles::get(const std::filesystem::path& path) {
  const auto found = images_.find(path);
  if (found != images_.end()) return found->second;
  return images_.emplace(path, read_reporting(path, console_)).first->second;
}

}  // namespace isochron::cli
