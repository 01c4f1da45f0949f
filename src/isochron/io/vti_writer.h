// Writes VTK image files.
#pragma once

#include "isochron/io/text_sink.h"
#include "isochron/mesh/image.h"

namespace isochron {

/// Writes all arrays as point data, with the direction matrix. Tensors of known order are put into VTK's and marked as
/// such. Throws RuntimeError.
void write_vti(const OutputFile& file, const Image& image);

}  // namespace isochron
