// Legacy VTK files (.vtk): POLYDATA and UNSTRUCTURED_GRID, text and binary, versions 1 to 5.1.
#pragma once

#include <filesystem>
#include <span>

#include "isochron/io/text_sink.h"
#include "isochron/mesh/dataset.h"

namespace isochron {

/// Parsed here and not by VTK, whose reader of this format crashes on damaged files. Scalars, vectors, normals, tensors
/// (9 components), colours (unsigned char) and field arrays are kept; strings are left out. Throws InputError.
Dataset read_legacy_vtk(const std::filesystem::path& path);

/// Writes version 3.0, binary: an unstructured grid when there are tetrahedra, polygonal data otherwise. Cell arrays
/// that some kinds of cells do not have are filled up with NaN (0 for whole numbers). Throws UsageError, RuntimeError.
void write_legacy_vtk(std::span<const OutputFile> files, const Dataset& dataset);

}  // namespace isochron
