#include "apps/isochron/tensor_input.h"

#include <algorithm>

#include <fmt/format.h>

#include "apps/isochron/exit_code.h"
#include "apps/isochron/solve_report.h"
#include "isochron/core/timer.h"
#include "isochron/diffusion.h"
#include "isochron/error.h"
#include "isochron/metric/option_tables.h"
#include "isochron/solve/option_tables.h"

namespace isochron::cli {
namespace {

void warn_about_order(const TensorRequest& request, const Image& image, Console& console) {
  const bool six = !image.data.empty() && image.data.all().front().components < 9;
  const auto& wanted = request.layout.order;
  if (six && wanted && image.tensor_order && *wanted != *image.tensor_order)
    console.warn("{}: the header names another order of the tensor components than --tensor-order; the option counts",
                 request.file.string());
}

/// Declares how the metric is made, and notes what only the sharpened one has.
struct DeclareCosts : DeclareOptions {
  using DeclareOptions::operator();
  TensorRequest& request;

  void operator()(const OptionText& text, double& field) const {
    if (&field == &request.metric.alpha) DeclareNoted{{command}, request.sharpening}(text, field);
    else declare(text, field, into(field));
  }
};

[[noreturn]] void refuse_mixed_up(const std::string& name, std::size_t bad, std::size_t tensors,
                                  std::string_view where) {
  throw input_error(
      "{}: {} of {} tensors{} are not positive definite (their components are mixed up, or these are no such tensors); "
      "check --tensor-order with 'isochron info'",
      name, grouped(bad), grouped(tensors), where);
}

/// A share of tensors that noise alone seldom explains.
constexpr double suspicious_share = 0.1;

}  // namespace

void declare_tensor_image(Command& command, TensorRequest& request) {
  command.positional("TENSORS", "An image of diffusion tensors, or of principal directions", into(request.file));
  command.group("The tensors");
  command.option("--fa", "FILE", "TENSORS has principal directions (V1); their fractional anisotropy",
                 into(request.anisotropy));
  command.option("--md", "FILE", "And their mean diffusivity", into(request.diffusivity));
  declare_tensor_layout(command, request.layout);
  declare_mask(command, request.mask, "Where paths may run (all voxels that have a tensor)");
  each_option(request.metric, DeclareCosts{{command}, request});
  declare_raw(command, request.raw);
}

std::vector<std::filesystem::path> tensor_files(const TensorRequest& request) {
  std::vector<std::filesystem::path> files{request.file};
  for (const auto& file : {request.mask.file, request.anisotropy, request.diffusivity})
    if (!file.empty()) files.push_back(file);
  return files;
}

void check_tensor_request(const TensorRequest& request, Console& console) {
  if (request.anisotropy.empty() != request.diffusivity.empty())
    throw UsageError("principal directions need both --fa and --md to become tensors; give both, or neither");
  if (!request.anisotropy.empty() && !request.layout.frame)
    throw UsageError(
        "the axes of the principal directions are not known (no header says them); give --tensor-frame fsl for FSL's "
        "V1, or world");
  check_raw({request.file}, request.raw, console);
  for (const std::string& option : request.sharpening)
    console.warn_unused(request.metric.kind != DiffusionMetricKind::sharpened, option, "--metric sharpened");
}

SolveOptions GridMethod::options_for(const Console& console, const Progress& progress) const {
  SolveOptions result = options;
  result.threads = console.options.threads;
  result.progress = progress;
  return result;
}

void declare_grid_method(Command& command, GridMethod& method) {
  SolveOptions& options = method.options;
  command.group("How it is solved");
  command.option("--scheme", "NAME", "adaptive (default), godunov or lax-friedrichs", into(options.scheme));
  command.option("--order", "N", "1 (default) or 2", one_of(options.order, {{"1", 1}, {"2", 2}}));
  declare_backend(command, options.backend);
  command.option("--precision", "NAME", "auto (double, on a GPU single), double or single", into(options.precision));
  command.flag("--verify", "Check that every cost fits its neighbours' (exit code 4 if not)", options.verify,
               Keep::yes);
}

TensorInput read_tensors(const TensorRequest& request, Console& console) {
  const Timer timer;
  const std::string name = request.file.string();
  TensorInput input;
  Image image = read_reported(request.file, request.raw, console);
  warn_about_order(request, image, console);
  input.grid = image.grid;
  if (request.anisotropy.empty()) {
    input.tensors = image_tensors(std::move(image), request.layout.order, request.layout.axes(), name);
  } else {
    input.tensors = axial_tensors(image, read_reported(request.anisotropy, {}, console),
                                  read_reported(request.diffusivity, {}, console), request.layout.axes(),
                                  {name, request.anisotropy.string(), request.diffusivity.string()});
  }
  const std::vector<std::uint8_t> mask = read_mask(request.mask, input.grid, console);
  DiffusionMetricOptions options = request.metric;
  options.threads = console.threads();
  input.metric = about_file(request.file, [&] { return diffusion_metric(input.tensors, mask, options); });
  warn_about_tensors(name, input.metric.counts, console);
  input.read_seconds = timer.seconds();
  return input;
}

void warn_about_tensors(const std::string& name, const DiffusionCounts& counts, Console& console) {
  const std::size_t bad = counts.not_positive_definite;
  if (mostly_wrong(bad, counts.usable)) refuse_mixed_up(name, bad, counts.usable, "");
  const auto voxels = [](std::size_t n) { return counted(n, "voxel", "voxels"); };
  if (counts.not_finite > 0)
    console.warn("{}: {} with NaN or infinite tensors left out", name, voxels(counts.not_finite));
  const bool suspicious = static_cast<double>(bad) > suspicious_share * static_cast<double>(counts.usable);
  if (bad > 0)
    console.warn(
        "{}: {} of {} have tensors that are not positive definite; their eigenvalues were raised{}", name, voxels(bad),
        grouped(counts.usable),
        suspicious ? ", but that many are seldom noise: check --tensor-order, or give a mask of the tissue" : "");
}

BadTensors bad_tensors(std::span<const VertexId> voxels, std::span<const std::uint8_t> indefinite) {
  if (indefinite.empty()) return {0, voxels.size()};
  const auto bad = std::count_if(voxels.begin(), voxels.end(), [&](VertexId v) { return indefinite[v.index()] != 0; });
  return {static_cast<std::size_t>(bad), voxels.size()};
}

void refuse_bad_tensors(const BadTensors& tensors, std::string_view where, const std::string& name) {
  if (tensors.mostly()) refuse_mixed_up(name, tensors.bad, tensors.voxels, fmt::format(" {}", where));
}

void warn_about_tensors_at(const BadTensors& tensors, std::string_view where, const std::string& name,
                           Console& console) {
  if (tensors.bad > 0)
    console.warn("{}: {} of {} {} {} a tensor that is not positive definite; use what depends on it with care", name,
                 grouped(tensors.bad), counted(tensors.voxels, "voxel", "voxels"), where,
                 tensors.bad == 1 ? "has" : "have");
}

std::vector<VertexId> voxels_at(const ImageGrid& grid, std::span<const Vec3d> points) {
  std::vector<VertexId> voxels;
  for (const Vec3d& point : points)
    if (const auto voxel = grid.voxel_at(point)) voxels.push_back(*voxel);
  std::sort(voxels.begin(), voxels.end());
  voxels.erase(std::unique(voxels.begin(), voxels.end()), voxels.end());
  return voxels;
}

std::string_view scheme_name(const SolveOptions& options) {
  return name_of(options.scheme == GridScheme::automatic ? GridScheme::adaptive : options.scheme);
}

Json residual_of(const Arrival& work) { return work.residual ? Json(work.residual->worst) : Json(nullptr); }

Json json_of(const DiffusionCounts& counts, double floor) {
  Json object = Json::object();
  for (const auto& [name, count] : counts.named()) object[std::string(name) + "_voxels"] = count;
  object["eigenvalue_floor"] = floor;
  return object;
}

void add_metric(Report& report, const TensorRequest& request, const TensorInput& input) {
  const DiffusionMetricOptions& metric = request.metric;
  Json object{{"kind", choice_name(metric.kind)}};
  if (metric.kind == DiffusionMetricKind::sharpened) object["alpha"] = metric.alpha;
  object.update(json_of(input.metric.counts, metric.floor));
  report.object()["metric"] = std::move(object);
}

void add_work(Report& report, const Arrival& work, std::size_t solves, const GridMethod& method) {
  report.add({{"scheme", scheme_name(method.options)},
              {"order", method.options.order},
              {"method", name_of(work.method)},
              {"backend", name_of(work.backend)},
              {"threads", work.threads},
              {"precision", name_of(work.precision)},
              {"solves", solves},
              {"setup_seconds", work.setup_seconds},
              {"solve_seconds", work.solve_seconds},
              {"transfer_seconds", work.transfer_seconds},
              {"converged", work.converged},
              {"residual", residual_of(work)},
              {"peak_bytes", peak_resident_bytes()}});
}

int judge_costs(const TensorRequest& request, const Arrival& work, const GridMethod& method, std::string_view why) {
  if (work.converged && (!work.residual || work.residual->passed())) return 0;
  print_error("{}: not converged{}; the output was written all the same: treat it with care, and {}",
              request.file.string(), why, better_grid_options(work, method.options.scheme));
  return exit_not_converged;
}

const Image& ImageFiles::get(const std::filesystem::path& path, const ImageGrid& grid) {
  const auto found = images_.find(path);
  if (found != images_.end()) return found->second;
  return images_.emplace(path, read_beside(path, grid, console_)).first->second;
}

}  // namespace isochron::cli
