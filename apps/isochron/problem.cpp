// What is solved: the options that say it, and the steps from a mesh or image to the metric on it.
#include <cmath>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <system_error>
#include <thread>

#include "apps/isochron/problem.h"
#include "apps/isochron/tensor_input.h"
#include "isochron/device.h"
#include "isochron/image.h"
#include "isochron/io/file.h"
#include "isochron/metric/option_tables.h"

namespace isochron::cli {
namespace {

/// Starts the GPU on a thread of its own while a file is read: that takes some tenths of a second. It is waited for at
/// the end. Where the choice is automatic, only a large file is worth it.
class DeviceStart {
 public:
  DeviceStart(const SolveOptions& options, const std::filesystem::path& file) {
    constexpr std::uintmax_t worth_it = std::uintmax_t{64} << 20;
    std::error_code error;
    const std::uintmax_t bytes = std::filesystem::file_size(file, error);
    const bool may_be_chosen = options.backend == Backend::automatic && options.method == Method::automatic;
    if (error || (options.backend != Backend::cuda && (!may_be_chosen || bytes < worth_it))) return;
    try {
      thread_ = std::jthread(start);
    } catch (const std::exception&) {  // it starts later then
    }
  }

 private:
  static void start() noexcept {
    try {
      cuda::NoDevice why;
      if (cuda::find_device(why)) static_cast<void>(cuda::free_bytes());
    } catch (const std::exception&) {  // who uses it says so
    }
  }

  std::jthread thread_;
};

/// Takes rows "region:vf,vs[,vn]" or the name of a file with them.
Take into_table(std::vector<RegionVelocities>& table) {
  return [&table](const std::string& text) {
    if (text.empty()) throw UsageError("there is no table; give a file, or rows like 1:0.6,0.3");
    std::error_code no_name;  // rows may be longer than any name of a file
    const bool file = std::filesystem::exists(text, no_name);
    const bool inline_rows = text.find(':') != std::string::npos && !file;
    if (!inline_rows && !file && text.find_first_of("=,;") != std::string::npos)
      throw usage_error(
          "'{}' is neither a file nor rows (a row is region:along,across); write them like 0:0.6,0.3;1:0.2,0.1", text);
    table = inline_rows ? parse_velocity_table(text) : read_velocity_table(text);
  };
}

/// Takes two or three velocities. One would be a speed: with it the fibres had no effect, and nobody would notice.
Take into_velocities(std::optional<Velocities>& velocities) {
  return [&velocities](const std::string& text) {
    velocities = parse_velocities(text);
    if (text.find(',') == std::string::npos)
      throw usage_error(
          "{} is one velocity (two are needed, along and across the fibres); write them like 0.6,0.3, or give --speed "
          "{} for the same in all directions, without fibres",
          text, text);
  };
}

/// Takes a speed; that it is positive is checked here, because no data can make it right.
Take into_speed(std::optional<double>& speed) {
  return [&speed](const std::string& text) {
    speed = parse_number(text);
    if (!(*speed > 0)) throw usage_error("{} is not a speed (zero or negative); give a positive one", text);
    if (!std::isnormal(*speed * *speed) || !std::isnormal(1 / (*speed * *speed)))
      throw usage_error("{} is too large or too small a speed (its square is needed); change the units", text);
  };
}

/// Takes regions by their numbers.
Take into_regions(std::vector<std::int64_t>& regions) {
  return [&regions](const std::string& text) {
    constexpr std::uint64_t most = 1000000;
    for (const IdRange& range : parse_id_ranges(text)) {
      if (regions.size() + range.last - range.first >= most)
        throw usage_error("'{}' are too many regions (at most {} are possible); check the range", text, most);
      for (std::uint64_t region = range.first; region <= range.last; ++region)
        regions.push_back(static_cast<std::int64_t>(region));
    }
  };
}

/// Declares what the metric is made of.
struct DeclareMetric : DeclareOptions {
  using DeclareOptions::operator();

  void operator()(const OptionText& text, std::optional<double>& speed) const {
    declare(text, speed, into_speed(speed));
  }
  void operator()(const OptionText& text, std::optional<Velocities>& velocities) const {
    declare(text, velocities, into_velocities(velocities));
  }
  void operator()(const OptionText& text, std::vector<std::int64_t>& regions) const {
    declare(text, regions, into_regions(regions));
  }
  void operator()(const OptionText& text, std::vector<RegionVelocities>& table) const {
    declare(text, table, into_table(table));
  }
};

}  // namespace

void declare_mesh(Command& command, SolveRequest& request) {
  command.group("The mesh");
  command.option("--elements", "NAME", "Which to solve on: tet (default where there are any) or triangle",
                 one_of(request.elements, {{"triangle", Elements::triangle}, {"tet", Elements::tet}}));
  command.option("--length-unit", "NAME", "Of its coordinates: um, mm, cm, m; speeds are then per mm",
                 one_of<std::optional<double>>(request.unit, {{"um", 1e-3}, {"mm", 1.0}, {"cm", 10.0}, {"m", 1e3}}));
}

void declare_sources(Command& command, SourceRequest& sources) {
  command.group("Where the front starts");
  command.repeated("--source", "IDS", "Vertices or voxels, 0-based: 0,5,10-20", append_to(sources.ids));
  command.repeated("--source-point", "X,Y,Z", "A point in or on the mesh, or in the image", append_to(sources.points));
  command.repeated("--source-file", "FILE", "Rows 'id time' or 'x y z time', or a .vtx file", append_to(sources.files));
  command.repeated("--source-tag", "NAME=V", "All vertices or voxels where an array has this value",
                   append_to(sources.tags));
  command.option("--source-levelset", "NAME", "The zero set of a signed point array of a mesh",
                 into(sources.level_set));
  command.option("--source-time", "T", "Onset of sources that have no time of their own (0)", into(sources.time));
}

void declare_metric(Command& command, SolveRequest& request) {
  MetricRequest& metric = request.metric;
  command.group("How fast it travels (speed 1 unless told otherwise)");
  each_speed_option(metric, DeclareMetric{{command}});
  declare_tensor_layout(command, request.tensors);
  command.option("--eigenvalue-floor", "SHARE",
                 fmt::format("On images, tensors that are not positive definite get eigenvalues of this share of the "
                             "median one at least ({:g})",
                             metric.eigenvalue_floor),
                 into(metric.eigenvalue_floor));
  each_fiber_option(metric, DeclareMetric{{command}});
}

Take into_edge_share(std::optional<double>& share) {
  return [&share](const std::string& text) {
    const double value = parse_number(text);
    if (!(value > 0 && value < 1))
      throw usage_error("{} is not between 0 and 1 (it is a share of an edge's time); give one like 1e-6", text);
    share = value;
  };
}

void warn_unused_tensor_layout(const SolveRequest& request, Console& console) {
  const MetricRequest& metric = request.metric;
  const bool none = metric.metric_array.empty() && metric.velocity_tensor_array.empty();
  constexpr std::string_view tensors = "--metric-array or --velocity-tensor-array";
  console.warn_unused(none && request.tensors.order, "--tensor-order", tensors);
  console.warn_unused(none && request.tensors.frame, "--tensor-frame", tensors);
  console.warn_unused(none && request.floor_given(), "--eigenvalue-floor", tensors);
}

// ---- meshes

void check_not_among(const std::filesystem::path& file, const Paths& others, std::string_view why) {
  std::error_code ignored;
  const auto place = [&](const std::filesystem::path& p) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(p, ignored), ignored);
  };
  for (const auto& other : others)
    if (place(file) == place(other)) throw usage_error("{}: {}; choose another name", file.string(), why);
}

void refuse_image_output(const SolveRequest& request) {
  throw usage_error(
      "{}: is not an image by its name ({} would be one); name a mesh file as output, or give the shape of an image "
      "of bare numbers with --raw-shape",
      request.mesh.string(), request.output.string());
}

bool is_carp_file(const std::filesystem::path& file) {
  const std::string extension = FileName(file).extension;
  return extension == ".pts" || extension == ".elem" || extension == ".lon";
}

void warn_dropped_arrays(const std::filesystem::path& file, const std::vector<std::string>& dropped,
                         std::string_view better, Console& console) {
  if (!dropped.empty())
    console.warn("{}: left out {} (the format has no place for {}); write {} to keep everything", file.string(),
                 join_text(dropped, ", "), dropped.size() == 1 ? "it" : "them", better);
}

void warn_of_reading(const std::filesystem::path& file, const std::vector<std::string>& warnings,
                     const std::vector<std::pair<std::string, std::size_t>>& ignored_cells, Console& console) {
  const std::string name = file.string();
  for (const std::string& warning : warnings) console.warn("{}: {}", name, warning);
  for (const auto& [kind, count] : ignored_cells)
    console.warn("{}: {} of kind {} left out", name, counted(count, "cell", "cells"), kind);
}

namespace {

/// Calls `read` and passes on what the reader noticed.
template <class Read>
MeshToKeep read_and_warn(const SolveRequest& request, Console& console, Read&& read) {
  const Activity activity(console, "reading " + request.mesh.string());
  const DeviceStart device(request.options, request.mesh);
  MeshToKeep mesh = read();
  const Dataset& dataset = mesh.dataset;
  warn_of_reading(request.mesh, dataset.warnings, dataset.ignored_cells, console);
  if (is_carp_file(request.mesh) && !request.unit)
    console.warn(
        "{}: CARP coordinates are usually in µm; say so with --length-unit um, so that velocities are in mm/ms",
        request.mesh.string());
  return mesh;
}

}  // namespace

Dataset read_mesh(const SolveRequest& request, Console& console, const ArrayNames& wanted) {
  const auto enough = [&](const Dataset& read) { return has_wanted_arrays(request, read, array_names(read)); };
  const auto read = [&] { return MeshToKeep{read_arrays(request.mesh, wanted, enough), nullptr}; };
  return read_and_warn(request, console, read).dataset;
}

MeshToKeep read_mesh_to_keep(const SolveRequest& request, Console& console) {
  const auto enough = [&](const MeshToKeep& read) {
    return has_wanted_arrays(request, read.dataset, read.array_names());
  };
  return read_and_warn(request, console,
                       [&] { return read_arrays(request.mesh, request.output, array_use(request), enough); });
}

MetricRequest mesh_metric(const SolveRequest& request) {
  refuse_on_mesh(request.tensors.frame.has_value(), "--tensor-frame");
  MetricRequest metric = request.metric;
  metric.mask_array = request.mask.array;
  if (request.tensors.order) metric.tensor_order = *request.tensors.order;
  return metric;
}

int pick_elements(const SolveRequest& request, std::size_t triangles, std::size_t tets) {
  if (triangles + tets == 0)
    throw InputError("there are no triangles and no tetrahedra (nothing to solve on); give a surface or volume mesh");
  if (request.elements == Elements::tet && tets == 0)
    throw InputError("there are no tetrahedra (--elements tet), only triangles; leave --elements out");
  if (request.elements == Elements::triangle && triangles == 0)
    throw InputError("there are no triangles (--elements triangle), only tetrahedra; leave --elements out");
  if (request.elements == Elements::automatic) return tets > 0 ? 4 : 3;
  return request.elements == Elements::tet ? 4 : 3;
}

// ---- images

void leave_out_own_mask(const SolveRequest& request, Image& image, std::vector<std::uint8_t>& mask) {
  const std::string& tensors =
      request.metric.metric_array.empty() ? request.metric.velocity_tensor_array : request.metric.metric_array;
  if (tensors.empty()) return;
  for (std::size_t i = 0; i < image.data.all().size(); ++i)
    if (image.data.all()[i].name == tensors) {
      split_confidence(image, i);
      break;
    }
  apply_own_mask(image, mask);
}

ImageMetric image_metric(const SolveRequest& request, const Image& image, std::vector<std::uint8_t> mask, int threads,
                         std::optional<double> median) {
  ImageMetric problem = metric_from_image(image, request.metric, request.tensors.order, std::move(mask),
                                          request.tensors.axes(), threads, median);
  if (request.unit) problem.metric.change_unit(*request.unit);
  return problem;
}

ImageMetric image_problem(const SolveRequest& request, Image& image, Console& console) {
  std::vector<std::uint8_t> mask = read_mask(request.mask, image.grid, console);
  leave_out_own_mask(request, image, mask);
  ImageMetric problem = image_metric(request, image, std::move(mask), console.threads());
  if (problem.tensors) warn_about_tensors(request.mesh.string(), *problem.tensors, console);
  return problem;
}

}  // namespace isochron::cli
