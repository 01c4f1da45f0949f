// Writes VTU and VTP files: raw appended data with 64-bit block headers, straight from the data set.
#pragma once

#include "isochron/io/text_sink.h"
#include "isochron/mesh/dataset.h"

namespace isochron {

enum class VtkXmlKind { unstructured_grid, poly_data };

/// Writes every block and array without holding a second copy in memory. Points and ids take the smallest type that
/// keeps them exactly. Cell arrays that some kinds of cells do not have are filled up with NaN (0 for whole numbers).
/// Infinities and NaN are kept. poly_data must hold no tetrahedra. Throws UsageError, RuntimeError.
void write_vtk_xml(const OutputFile& file, VtkXmlKind kind, const Dataset& dataset);

}  // namespace isochron
