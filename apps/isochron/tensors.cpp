// isochron tensors: diffusion tensors from a diffusion-weighted image.
#include <algorithm>
#include <memory>

#include "apps/isochron/commands.h"
#include "apps/isochron/report.h"
#include "apps/isochron/shared_output.h"
#include "isochron/core/join_text.h"
#include "isochron/core/parallel.h"
#include "isochron/core/timer.h"
#include "isochron/diffusion.h"
#include "isochron/io.h"
#include "isochron/io/image/formats.h"
#include "isochron/io/tables.h"
#include "isochron/metric/option_tables.h"

namespace isochron::cli {
namespace {

struct TensorsRequest {
  std::filesystem::path image;
  std::filesystem::path bval;
  std::filesystem::path bvec;
  MaskRequest mask;
  std::string prefix;
  TensorFitMethod fit = TensorFitMethod::wls;
  Overwrite overwrite = Overwrite::no;
};

struct Input {
  Image image;
  GradientTable table;
  std::vector<std::uint8_t> mask;  // empty: everywhere
};

const DataArray& signals(const Image& image) { return image.data.all().front(); }

Input read_input(const TensorsRequest& request, Console& console) {
  Input input;
  input.table = read_gradients(request.bval, request.bvec);
  input.image = read_reported(request.image, {}, console);
  if (input.image.data.empty())
    throw InputError("there are no values in it; give a diffusion-weighted image", request.image.string());
  if (static_cast<std::size_t>(signals(input.image).components) != input.table.b.size())
    throw input_error(
        "{} and {} do not belong together (volumes: {}, b-values: {}); give the b-values and b-vectors of this image",
        request.image.string(), request.bval.string(), signals(input.image).components, input.table.b.size());
  input.mask = read_mask(request.mask, input.image.grid, console);
  return input;
}

/// The maps that are written, in single precision.
struct Maps {
  std::vector<float> tensor, fa, direction, diffusivity;

  Maps(const std::vector<SymTensor3d>& tensors, int threads)
      : tensor(6 * tensors.size()), fa(tensors.size()), direction(3 * tensors.size()), diffusivity(tensors.size()) {
    parallel_for(threads, tensors.size(), [&](std::size_t i) {
      const SymTensor3d& t = tensors[i];
      if (t == SymTensor3d{}) return;
      const auto set = [](float* place, std::initializer_list<double> values) {
        for (const double value : values) *place++ = static_cast<float>(value);
      };
      const Vec3d v = principal_direction(t);
      set(&tensor[6 * i], {t.xx, t.yy, t.zz, t.xy, t.xz, t.yz});  // MRtrix's order
      set(&fa[i], {fractional_anisotropy(t)});
      set(&direction[3 * i], {v.x, v.y, v.z});
      set(&diffusivity[i], {mean_diffusivity(t)});
    });
  }
};

/// The median where there is a tensor.
double median_fitted(const std::vector<float>& values, const std::vector<SymTensor3d>& tensors) {
  std::vector<float> some;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!(tensors[i] == SymTensor3d{})) some.push_back(values[i]);
  if (some.empty()) return 0;
  const auto middle = some.begin() + static_cast<std::ptrdiff_t>(some.size() / 2);
  std::nth_element(some.begin(), middle, some.end());
  return *middle;
}

void warn_about(const std::string& file, const WorldGradients& gradients, const TensorFitCounts& counts,
                Console& console) {
  if (gradients.left_out() > 0)
    console.warn("{}: left out {} (a b-value but no direction: mean images); remove them to be rid of this", file,
                 counted(gradients.left_out(), "volume", "volumes"));
  if (gradients.scaled)
    console.warn(
        "{}: multiplied b-values with the squared lengths of the b-vectors (some are more than 1 % off 1); check the "
        "b-vectors if that was not meant",
        file);
  if (counts.missing_signals > 0)
    console.warn("{}: {} fitted without signals that are not positive; use a mask if that is background", file,
                 counted(counts.missing_signals, "voxel is", "voxels are"));
  if (counts.failed > 0)
    console.warn("{}: {} no tensor (too few positive signals); use a mask if that is background", file,
                 counted(counts.failed, "voxel has", "voxels have"));
}

void write_maps(const ImageGrid& grid, Maps&& maps, const Paths& names, Overwrite overwrite, Console& console) {
  std::array<DataArray, 4> arrays{DataArray{mrtrix_tensor_name, 6, std::move(maps.tensor)},
                                  DataArray{"fa", 1, std::move(maps.fa)}, DataArray{"v1", 3, std::move(maps.direction)},
                                  DataArray{"md", 1, std::move(maps.diffusivity)}};
  write_images(names, overwrite, console, [&](std::size_t i) { return image_of(grid, std::move(arrays[i])); });
}

int run_tensors(const TensorsRequest& request, Console& console) {
  Paths written;
  for (const char* map : {"_tensor", "_fa", "_v1", "_md"}) written.emplace_back(request.prefix + map + ".nii.gz");
  Paths inputs{request.image, request.bval, request.bvec};
  if (!request.mask.file.empty()) inputs.push_back(request.mask.file);
  check_output_files(written, inputs, request.overwrite);

  const std::string file = request.image.string();
  Timer timer;
  const Input input = read_input(request, console);
  const double read_seconds = timer.seconds();
  const ImageGrid& grid = input.image.grid;
  Report report(9);
  report.title(
      "file", file,
      fmt::format("{} voxels, {}", join_text(grid.shape, " x "), counted(input.table.b.size(), "volume", "volumes")));

  const InterruptGuard guard;
  timer.restart();
  const WorldGradients gradients = world_gradients(input.table, grid);
  const TensorFit fit = [&] {
    Activity activity(console, "fitting tensors");
    return fit_tensors(signals(input.image), gradients, input.mask,
                       {.method = request.fit, .threads = console.threads(), .progress = activity.progress()});
  }();
  const TensorFitCounts& counts = fit.counts;
  Maps maps(fit.tensor, console.threads());
  const double median_fa = median_fitted(maps.fa, fit.tensor);
  const double median_diffusivity = median_fitted(maps.diffusivity, fit.tensor);
  const double fit_seconds = timer.seconds();
  warn_about(file, gradients, counts, console);
  if (counts.fitted == 0)
    throw NoAnswerError(fmt::format(
        "{}: no voxel has a tensor (voxels looked at: {}, without signal: {}); check the image and the mask", file,
        counts.voxels, counts.empty));
  timer.restart();
  write_maps(grid, std::move(maps), written, request.overwrite, console);

  report.add({{"shape", grid.shape},
              {"volumes", input.table.b.size()},
              {"volumes_left_out", gradients.left_out()},
              {"b_values_scaled", gradients.scaled},
              {"fit", choice_name(request.fit)},
              {"voxels", counts.voxels},
              {"fitted", counts.fitted},
              {"empty", counts.empty},
              {"failed", counts.failed},
              {"missing_signals", counts.missing_signals},
              {"not_positive_definite", counts.not_positive_definite},
              {"median_fa", median_fa},
              {"median_diffusivity", median_diffusivity},
              {"threads", console.threads()}});
  report.row("tensors", "{} of {} ({} without signal, {} not positive definite)", grouped(counts.fitted),
             counted(counts.voxels, "voxel", "voxels"), grouped(counts.empty), grouped(counts.not_positive_definite));
  report.row("median", "anisotropy {:.3f}, mean diffusivity {:.3g}", median_fa, median_diffusivity);
  report.written(written, "files");
  report.times({{"read", read_seconds}, {"fit", fit_seconds}, {"write", timer.seconds()}});
  report.print(console);
  return 0;
}

}  // namespace

void declare_tensors(Command& root, Console& console) {
  Command command =
      root.subcommand("tensors", "Fit diffusion tensors to a diffusion-weighted image",
                      "isochron tensors dwi.nii.gz --bval dwi.bval --bvec dwi.bvec --mask mask.nii.gz -o brain");
  const auto request = std::make_shared<TensorsRequest>();
  command.positional("DWI", "Image with one volume per measurement", into(request->image));
  command.option("--bval", "FILE", "b-values, one per volume", into(request->bval), Need::required);
  command.option("--bvec", "FILE", "b-vectors as FSL has them: 3 rows, or 3 columns", into(request->bvec),
                 Need::required);
  declare_mask(command, request->mask, "Fit only where this image is neither 0 nor NaN");
  command.option("--fit", "NAME", "Least squares: wls, weighted (default), or ols, ordinary", into(request->fit));
  command.group("Output");
  command.option("-o,--output", "PREFIX", "Writes PREFIX_tensor, _fa, _v1 and _md (.nii.gz)", into(request->prefix),
                 Need::required);
  command.flag("--force", "Replace existing files", request->overwrite, Overwrite::yes);
  declare_common(command, console);
  command.action([request, &console] { return run_tensors(*request, console); });
}

}  // namespace isochron::cli
