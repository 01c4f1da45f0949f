// Options about image files that several commands have.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "apps/isochron/arguments.h"
#include "isochron/io.h"
#include "isochron/options.h"

namespace isochron::cli {

/// How the components of tensors are written, as far as the user says.
struct TensorLayout {
  std::optional<TensorOrder> order;
  std::optional<TensorFrame> frame;
  bool fsl = false;  ///< the order is FSL's, so the frame is, too, unless another is given

  [[nodiscard]] TensorFrame axes() const { return frame.value_or(fsl ? TensorFrame::fsl : TensorFrame::world); }
};

/// What a raw file does not say itself; without a shape there are no raw files. The place is for .npy files too.
struct RawRequest {
  std::vector<double> shape;
  std::optional<std::string> type;  ///< else float32
  ImagePlace place;
};

/// The image that a mask is taken from, and which of its arrays where it has several.
struct MaskRequest {
  std::filesystem::path file;  ///< empty: there is no mask
  std::string array;
};

/// --backend of commands that solve on images in this process.
void declare_backend(Command& command, Backend& backend);

/// --mask and --mask-array; `meaning` is what the mask is for.
void declare_mask(Command& command, MaskRequest& mask, const std::string& meaning);
/// --tensor-order and --tensor-frame. The order `fsl` means FSL's frame too, unless another is given.
void declare_tensor_layout(Command& command, TensorLayout& layout);
/// Whether so many tensors that are not positive definite can be no accident.
constexpr bool mostly_wrong(std::size_t not_positive_definite, std::size_t tensors) {
  return 2 * not_positive_definite > tensors;
}
/// --spacing and --origin alone, and a warning when none of the files needs them.
void declare_place(Command& command, ImagePlace& place);
void check_place(const std::vector<std::filesystem::path>& files, const RawRequest& raw, Console& console);
/// --raw-shape, --raw-type, --spacing (once --raw-spacing) and --origin.
void declare_raw(Command& command, RawRequest& raw);
/// Throws UsageError when there is a shape but none of the files is raw; warns of options that none of them needs.
void check_raw(const std::vector<std::filesystem::path>& files, const RawRequest& raw, Console& console);

/// Whether a file is to be read as an image: by its name, or because a shape is given and no format has its extension.
bool is_image(const std::filesystem::path& file, const RawRequest& raw);
/// Reads an image, raw or not, and puts it where it is said to be unless the file knows. Throws InputError, and
/// UsageError for numbers that are no shape or place.
Image load_image(const std::filesystem::path& file, const RawRequest& raw);
/// The same, and passes on the reader's warnings.
Image read_reported(const std::filesystem::path& file, const RawRequest& raw, Console& console);

/// Reads an image that goes with another one of that grid, and lies there when its file does not say where.
Image read_beside(const std::filesystem::path& file, const ImageGrid& grid, Console& console);

/// The mask of all commands: 1 where the image in the file is neither 0 nor NaN nor infinite. Empty when no file is
/// named. Throws InputError unless it has the voxels of `grid`, one value for each, and is not 0 everywhere.
std::vector<std::uint8_t> read_mask(const MaskRequest& mask, const ImageGrid& grid, Console& console);
/// Says that an array is named and no file.
void warn_unused_mask(const MaskRequest& mask, Console& console);

/// Throws UsageError for an option that only the other kind of file has a use for.
void refuse_on_image(bool given, std::string_view option);
void refuse_on_mesh(bool given, std::string_view option);

}  // namespace isochron::cli
