// What `connect` and `connectome` are given: a tensor image, a mask, and how to solve on it.
#pragma once

#include <filesystem>
#include <map>
#include <vector>

#include "apps/isochron/image_input.h"
#include "apps/isochron/report.h"
#include "isochron/connect.h"
#include "isochron/diffusion.h"
#include "isochron/solver.h"

namespace isochron::cli {

struct TensorRequest {
  std::filesystem::path file;
  /// Where they are given, `file` has principal directions that make tensors with these.
  std::filesystem::path anisotropy, diffusivity;
  TensorLayout layout;  ///< else what the header says, and the world's axes
  MaskRequest mask;     ///< else all voxels with a usable tensor
  DiffusionMetricOptions metric;
  std::vector<std::string> sharpening;  ///< options given that only the sharpened metric has
  RawRequest raw;
};

/// TENSORS, the order and frame of its components, the mask and the metric.
void declare_tensor_image(Command& command, TensorRequest& request);
/// Throws UsageError and warns of options that do nothing beside the others.
void check_tensor_request(const TensorRequest& request, Console& console);

/// The files that are read: the tensors, and those beside them that are given.
std::vector<std::filesystem::path> tensor_files(const TensorRequest& request);

/// How costs are computed on the image.
struct GridMethod {
  SolveOptions options;

  [[nodiscard]] SolveOptions options_for(const Console& console, const Progress& progress) const;
};
/// Scheme, order, back end, precision and --verify.
void declare_grid_method(Command& command, GridMethod& method);

/// Diffusion tensors in the world, and the metric made of them.
struct TensorInput {
  ImageGrid grid;
  std::vector<SymTensor3d> tensors;
  DiffusionMetric metric;
  double read_seconds = 0;

  [[nodiscard]] TensorField field() const { return {grid, tensors, metric.usable}; }
};

/// Reads the image and the mask. Warns of what was wrong with tensors. Throws InputError.
TensorInput read_tensors(const TensorRequest& request, Console& console);

/// Warns of tensors that were left out or raised, by what `diffusion_metric` counted in a file. Throws InputError when
/// that many are wrong that the file must be.
void warn_about_tensors(const std::string& name, const DiffusionCounts& counts, Console& console);

/// Tensors that are not positive definite where a result depends on them more than elsewhere: in a region, at a source
/// or along a path. Background may hold anything, and a whole brain of wrong tensors can be the smaller part of an
/// image.
struct BadTensors {
  std::size_t bad = 0;
  std::size_t voxels = 0;

  [[nodiscard]] bool mostly() const { return mostly_wrong(bad, voxels); }
};
/// `indefinite` is that of the metric.
BadTensors bad_tensors(std::span<const VertexId> voxels, std::span<const std::uint8_t> indefinite);
/// Throws InputError about the file when most are bad; `where` names the place.
void refuse_bad_tensors(const BadTensors& tensors, std::string_view where, const std::string& name);
/// Warns of any.
void warn_about_tensors_at(const BadTensors& tensors, std::string_view where, const std::string& name,
                           Console& console);
/// The voxels that hold the points, each once.
std::vector<VertexId> voxels_at(const ImageGrid& grid, std::span<const Vec3d> points);

/// The scheme that is used on an image.
std::string_view scheme_name(const SolveOptions& options);
/// The worst residual, or null when none was asked for.
Json residual_of(const Arrival& work);
/// What reports have in common: how many tensors were of what kind, the metric made of them, and the solves on it.
Json json_of(const DiffusionCounts& counts, double floor);
void add_metric(Report& report, const TensorRequest& request, const TensorInput& input);
void add_work(Report& report, const Arrival& work, std::size_t solves, const GridMethod& method);
/// The exit code of a finished run, with a line on stderr when its costs cannot be trusted.
int judge_costs(const TensorRequest& request, const Arrival& work, const GridMethod& method, std::string_view why);

/// Reads each image once; all go with one of that grid.
class ImageFiles {
 public:
  explicit ImageFiles(Console& console) : console_(console) {}
  const Image& get(const std::filesystem::path& path, const ImageGrid& grid);

 private:
  Console& console_;
  std::map<std::filesystem::path, Image> images_;
};

}  // namespace isochron::cli
