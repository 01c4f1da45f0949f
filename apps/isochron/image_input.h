// Options about image files that several commands have.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "apps/isochron/arguments.h"
#include "isochron/mesh/image.h"
#include "isochron/mesh/tensor_frame.h"

namespace isochron::cli {

/// How the components of tensors are written, as far as the user says.
struct TensorLayout {
  std::optional<TensorOrder> order;
  std::optional<TensorFrame> frame;
};

/// What a raw file does not say itself; without a shape there are no raw files.
struct RawRequest {
  std::vector<double> shape;
  std::string type = "float32";
  std::vector<double> spacing;
};

/// --tensor-order and --tensor-frame. The order `fsl` means FSL's frame too, unless another is given.
void declare_tensor_layout(Command& command, TensorLayout& layout);
/// Zero, as background is, where the image has a mask of its own (NRRD's masked tensors).
void leave_out_masked(const Image& image, std::vector<SymTensor3d>& tensors);
/// Whether so many tensors that are not positive definite can be no accident.
constexpr bool mostly_wrong(std::size_t not_positive_definite, std::size_t tensors) {
  return 2 * not_positive_definite > tensors;
}
/// --raw-shape, --raw-type and --raw-spacing.
void declare_raw(Command& command, RawRequest& raw);

/// Whether a file is to be read as an image.
bool is_image(const std::filesystem::path& file, const RawRequest& raw);
/// Reads an image, or a raw file when a shape is given and the name is not that of an image. Throws InputError, and
/// UsageError for numbers that are no shape.
Image load_image(const std::filesystem::path& file, const RawRequest& raw);

}  // namespace isochron::cli
