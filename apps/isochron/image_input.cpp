#include "apps/isochron/image_input.h"

#include <algorithm>
#include <cmath>

#include "isochron/io.h"
#include "isochron/io/image/formats.h"
#include "isochron/metric/option_tables.h"

namespace isochron::cli {
namespace {

bool is_raw(const std::filesystem::path& file, const RawRequest& raw) {
  return !raw.shape.empty() && !is_image_file(file) && !is_mesh_file(file);
}

bool needs_place(const std::filesystem::path& file, const RawRequest& raw) {
  return is_raw(file, raw) || (is_image_file(file) && !says_place(file));
}

/// What is read, after the reader's warnings.
template <class Read>
Image reported(const std::filesystem::path& file, Console& console, Read&& read) {
  const Activity activity(console, "reading " + file.string());
  Image image = read();
  for (const std::string& warning : image.warnings) console.warn("{}: {}", file.string(), warning);
  return image;
}

RawLayout layout_of(const RawRequest& raw) {
  const bool whole = std::all_of(raw.shape.begin(), raw.shape.end(),
                                 [](double n) { return n >= 1 && n < 4294967295.0 && n == std::floor(n); });
  if (!whole || raw.shape.size() < 2 || raw.shape.size() > 4 || (raw.shape.size() == 4 && raw.shape[3] > 1e6))
    throw UsageError("--raw-shape: is no shape (two to four positive whole numbers); say NX,NY,NZ[,COMPONENTS]");
  RawLayout layout;
  for (std::size_t d = 0; d < std::min<std::size_t>(3, raw.shape.size()); ++d)
    layout.shape[d] = static_cast<std::uint32_t>(raw.shape[d]);
  if (raw.shape.size() == 4) layout.components = static_cast<int>(raw.shape[3]);
  std::tie(layout.type, layout.encoding) = parse_raw_type(raw.type.value_or("float32"));
  return layout;
}

}  // namespace

void declare_mask(Command& command, MaskRequest& mask, const std::string& meaning) {
  command.option("--mask", "FILE", meaning, into(mask.file));
  command.option("--mask-array", "NAME",
                 "Which array of a mask that has several; of a mesh, 0 where it does not conduct", into(mask.array));
}

void declare_backend(Command& command, Backend& backend) {
  command.option("--backend", "NAME", "auto, serial, threads, or cuda where there is a GPU",
                 one_of(backend, {{"auto", Backend::automatic},
                                  {"serial", Backend::serial},
                                  {"threads", Backend::threads},
                                  {"cuda", Backend::cuda}}));
}

void declare_tensor_layout(Command& command, TensorLayout& layout) {
  command.option("--tensor-order", "NAME",
                 "Of 6 components: fsl (xx,xy,xz,yy,yz,zz along FSL's axes), row (the same along world axes), mrtrix, "
                 "vtk, lower",
                 [&layout](const std::string& text) {
                   one_of<std::optional<TensorOrder>>(layout.order, {{"fsl", TensorOrder::row},
                                                                     {"row", TensorOrder::row},
                                                                     {"mrtrix", TensorOrder::mrtrix},
                                                                     {"vtk", TensorOrder::vtk},
                                                                     {"lower", TensorOrder::lower}})(text);
                   layout.fsl = text == "fsl";
                 });
  command.option("--tensor-frame", "NAME", "The tensors' axes: world, voxel or fsl",
                 into_choice<TensorFrame>(layout.frame));
}

void declare_place(Command& command, ImagePlace& place) {
  command.old_name("--raw-spacing", into(place.spacing));
  command.option("--spacing", "S | SX,SY[,SZ]", "The size of voxels of bare numbers and .npy (1)", into(place.spacing));
  command.option("--origin", "X,Y[,Z]", "The centre of their first voxel (0,0,0)", into(place.origin));
}

void check_place(const std::vector<std::filesystem::path>& files, const RawRequest& raw, Console& console) {
  if (std::any_of(files.begin(), files.end(), [&](const auto& file) { return needs_place(file, raw); })) return;
  constexpr std::string_view partner = "--raw-shape and .npy images; others say it themselves";
  console.warn_unused(!raw.place.spacing.empty(), "--spacing", partner);
  console.warn_unused(!raw.place.origin.empty(), "--origin", partner);
}

void declare_raw(Command& command, RawRequest& raw) {
  command.option("--raw-shape", "NX,NY[,NZ[,C]]", "Read files of unknown extension as bare numbers, x fastest",
                 into(raw.shape));
  command.option("--raw-type", "TYPE", "Their type: uint8, int16, float32, …, with le or be for the byte order",
                 into(raw.type));
  declare_place(command, raw.place);
}

void check_raw(const std::vector<std::filesystem::path>& files, const RawRequest& raw, Console& console) {
  console.warn_unused(raw.shape.empty() && raw.type, "--raw-type", "--raw-shape");
  check_place(files, raw, console);
  if (raw.shape.empty() || files.empty()) return;
  if (std::none_of(files.begin(), files.end(), [&](const auto& file) { return is_raw(file, raw); }))
    throw usage_error("--raw-shape goes with bare numbers (the format of {} says its shape itself); leave it out",
                      files.front().string());
}

bool is_image(const std::filesystem::path& file, const RawRequest& raw) {
  return is_image_file(file) || is_raw(file, raw);
}

Image load_image(const std::filesystem::path& file, const RawRequest& raw) {
  Image image = is_raw(file, raw) ? read_raw_image(file, layout_of(raw)) : read_image(file);
  if (needs_place(file, raw)) place_image(image.grid, raw.place);
  return image;
}

Image read_reported(const std::filesystem::path& file, const RawRequest& raw, Console& console) {
  return reported(file, console, [&] { return load_image(file, raw); });
}

Image read_beside(const std::filesystem::path& file, const ImageGrid& grid, Console& console) {
  return reported(file, console, [&] { return read_image_beside(file, grid); });
}

std::vector<std::uint8_t> read_mask(const MaskRequest& mask, const ImageGrid& grid, Console& console) {
  warn_unused_mask(mask, console);
  if (mask.file.empty()) return {};
  return mask_of(read_beside(mask.file, grid, console), grid, mask.file.string(), mask.array);
}

void warn_unused_mask(const MaskRequest& mask, Console& console) {
  console.warn_unused(mask.file.empty() && !mask.array.empty(), "--mask-array", "--mask");
}

void refuse_on_image(bool given, std::string_view option) {
  if (given) throw usage_error("{} goes with meshes, not with images; leave it out", option);
}

void refuse_on_mesh(bool given, std::string_view option) {
  if (given) throw usage_error("{} goes with images, not with meshes; leave it out", option);
}

}  // namespace isochron::cli
