#include "isochron/io/image_io.h"

#include <algorithm>
#include <new>

#include <fmt/ranges.h>

#include "isochron/io/image/formats.h"
#include "isochron/io/pieces/mesh_pieces.h"

namespace isochron {
namespace {

namespace fs = std::filesystem;

using Reader = Image (*)(const fs::path&);
using Writer = void (*)(const OutputFile&, const Image&);

enum class Holds { one_array, all_arrays };

struct Codec {
  std::string name;
  std::vector<std::string> extensions;
  Holds holds;
  Reader read;
  Writer write;  // null: never
};

const std::vector<Codec>& codecs() {
  static const std::vector<Codec> table{
      {"NIfTI", {".nii", ".nii.gz"}, Holds::one_array, read_nifti, write_nifti},
      {"NIfTI, two files", {".hdr", ".img", ".hdr.gz", ".img.gz"}, Holds::one_array, read_nifti, nullptr},
      {"NRRD", {".nrrd"}, Holds::one_array, read_nrrd, write_nrrd},
      {"NRRD, two files", {".nhdr"}, Holds::one_array, read_nrrd, nullptr},
      {"VTK image", {".vti"}, Holds::all_arrays, read_vti, write_vti},
      {"VTK image in pieces", {".pvti"}, Holds::all_arrays, read_image_pieces, nullptr},
      {"NumPy array", {".npy", ".npy.gz"}, Holds::one_array, read_npy_image, write_npy_image},
      {"FreeSurfer volume", {".mgz", ".mgh"}, Holds::one_array, read_mgh, write_mgh},
  };
  return table;
}

const Codec* find_codec(const fs::path& path) {
  const std::string extension = FileName(path).full_extension();
  for (const Codec& codec : codecs()) {
    const auto& known = codec.extensions;
    if (std::find(known.begin(), known.end(), extension) != known.end()) return &codec;
  }
  return nullptr;
}

/// The extensions of the formats that can be read, or written.
template <class Has>
std::vector<std::string> extensions_where(Has&& has) {
  std::vector<std::string> result;
  for (const Codec& codec : codecs())
    if (has(codec)) result.insert(result.end(), codec.extensions.begin(), codec.extensions.end());
  return result;
}

const Codec& writable_codec(const fs::path& path) {
  const Codec* codec = find_codec(path);
  if (codec != nullptr && codec->write != nullptr) return *codec;
  if (piece_kind_of(path) == PieceKind::image) refuse_set_output(path);
  const auto writes = [](const Codec& c) { return c.write != nullptr; };
  throw UsageError(
      fmt::format("images are not written with the extension '{}' (it tells the format); use one of {}, or .pvti with "
                  "solve or generate over ranks (",
                  FileName(path).full_extension(), fmt::join(extensions_where(writes), " ")) +
          Message(Setting{Option::backend, "mpi"}) + ")",
      path.string());
}

void check_image(const fs::path& path, const Image& image) {
  with_file(path, [&] { check_grid(image.grid, "the image"); });
  check_arrays(path, image.data, image.grid.voxel_count(), "voxels", "image");
}

void check_arrays_held(const fs::path& path, const Codec& codec, const Image& image) {
  if (image.data.empty())
    throw UsageError("there is nothing to write (the image has no arrays); give it one", path.string());
  if (codec.holds == Holds::all_arrays || image.data.all().size() == 1) return;
  throw UsageError(fmt::format("{} files hold one array (the image has {}: {}); write one of them, or all to .vti",
                               codec.name, image.data.all().size(), fmt::join(image.data.names(), ", ")),
                   path.string());
}

}  // namespace

const std::vector<ImageFormat>& image_formats() {
  static const std::vector<ImageFormat> list = [] {
    std::vector<ImageFormat> result;
    for (const Codec& codec : codecs()) {
      result.push_back({.name = codec.name,
                        .extensions = codec.extensions,
                        .reads = true,
                        .writes = codec.write != nullptr,
                        .many_arrays = codec.holds == Holds::all_arrays});
    }
    return result;
  }();
  return list;
}

bool is_image_file(const fs::path& path) { return find_codec(path) != nullptr; }

bool holds_many_arrays(const fs::path& path) {
  const Codec* codec = find_codec(path);
  return codec != nullptr && codec->holds == Holds::all_arrays;
}

Image read_image(const fs::path& path) {
  require_file(path);
  const Codec* codec = find_codec(path);
  if (codec == nullptr)
    bad_file(path, "unknown extension '{}' (it tells the format of an image); use one of {}",
             FileName(path).full_extension(), fmt::join(extensions_where([](const Codec&) { return true; }), " "));
  Image image = within_memory(path, [&] { return codec->read(path); });
  check_image(path, image);
  return image;
}

void check_image_writable(const fs::path& path, Overwrite overwrite) {
  static_cast<void>(writable_codec(path));
  check_output_file(path, overwrite);
}

void write_image(const fs::path& path, const Image& image, Overwrite overwrite) {
  check_image_writable(path, overwrite);
  AtomicFile temporary(path);
  write_image(OutputFile{path, temporary.path()}, image);
  temporary.commit();
}

void write_image(const OutputFile& file, const Image& image) {
  const Codec& codec = writable_codec(file.target);
  check_image(file.target, image);
  check_arrays_held(file.target, codec, image);
  codec.write(file, image);
}

}  // namespace isochron
