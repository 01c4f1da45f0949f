// One reader and, for most formats, one writer of meshes per format. Readers throw InputError about a file; ids in what
// they return are 0-based. Those that get the names of wanted arrays may leave out others. Writers get the files of
// their format in the order of its table entry (io/io.cpp) and throw RuntimeError (full disk) about a target.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "isochron/dataset.h"
#include "isochron/image.h"
#include "isochron/io/file.h"
#include "isochron/io/mesh/cells.h"
#include "isochron/io/vtk_xml.h"

namespace isochron {

/// CARP .pts/.elem/.lon (openCARP meshes; coordinates are kept as they are, usually µm): arrays "region", "fiber",
/// "sheet".
Dataset read_carp(const std::filesystem::path& path, const ArrayNames& wanted);
void write_carp(std::span<const OutputFile> files, const Dataset& dataset);
/// The name that one of `arrays` has in a file that was written; empty when it has no place there.
std::string carp_array_name(ArrayPlace place, const DataArrays& arrays, const DataArray& array);
/// Whether there are cells with fibres, so that a .lon file is written.
bool has_carp_fibers(const Dataset& dataset);

/// FreeSurfer's binary triangle surfaces: lh.pial, rh.white, lh.inflated and so on. Coordinates are FreeSurfer's
/// surface RAS; when the file says how far scanner RAS is from it (c_ras), a warning gives the shift, which is not
/// applied.
Dataset read_freesurfer_surface(const std::filesystem::path& path);
/// Whether the file begins like such a surface. Never throws.
bool is_freesurfer_surface(const std::filesystem::path& path);

/// GIFTI surfaces (.gii): the first point set, the triangles, and every array with a value per point (curvature,
/// labels, …), as text, base64 or compressed base64. Points are moved by the transform whose target is scanner space,
/// if there is one. Arrays that do not fit the points are left out with a warning.
Dataset read_gifti(const std::filesystem::path& path);

/// Gmsh .msh: reads 2.x and 4.1, text and binary; writes 2.2 text. Tags are the arrays "gmsh:physical" and
/// "gmsh:geometrical".
inline constexpr const char* gmsh_physical = "gmsh:physical";
inline constexpr const char* gmsh_geometrical = "gmsh:geometrical";
Dataset read_gmsh(const std::filesystem::path& path);
void write_gmsh(std::span<const OutputFile> files, const Dataset& dataset);
/// Like `carp_array_name`.
std::string gmsh_array_name(ArrayPlace place, const DataArrays& arrays, const DataArray& array);

/// Legacy VTK files (.vtk): POLYDATA and UNSTRUCTURED_GRID, text and binary, versions 1 to 5.1. Scalars, vectors,
/// normals, tensors (9 components), colours (unsigned char) and field arrays are kept; strings are left out.
Dataset read_legacy_vtk(const std::filesystem::path& path, const ArrayNames& wanted);
/// Writes version 3.0, binary: an unstructured grid when there are tetrahedra, polygonal data otherwise. Cell arrays
/// that some kinds of cells do not have are filled up with NaN (0 for whole numbers). Throws UsageError for more points
/// than the format can number.
void write_legacy_vtk(std::span<const OutputFile> files, const Dataset& dataset);

/// Medit .mesh (ASCII): triangles, tetrahedra and edges with a reference number each, the array "medit:ref".
Dataset read_medit(const std::filesystem::path& path);
void write_medit(std::span<const OutputFile> files, const Dataset& dataset);
/// Like `carp_array_name`.
std::string medit_array_name(ArrayPlace place, const DataArrays& arrays, const DataArray& array);

/// Wavefront OBJ: v, f and l lines, no arrays. Texture coordinates, normals, groups and materials are passed over, so
/// that a texture seam does not cut the surface open. Text is written with all digits.
Dataset read_obj(const std::filesystem::path& path);
void write_obj(std::span<const OutputFile> files, const Dataset& dataset);

/// OFF, COFF, NOFF, …: triangles of a surface; colours, normals and arrays are not kept.
Dataset read_off(const std::filesystem::path& path);
void write_off(std::span<const OutputFile> files, const Dataset& dataset);

/// Stanford PLY, text and binary of either byte order: `vertex`, `face`, `tristrips` and `edge` elements. nx,ny,nz
/// become the array "Normals", red,green,blue(,alpha) "RGB" ("RGBA"), s,t or u,v "TCoords", and NAME_0, NAME_1, … of
/// one type the array NAME; every other scalar property is an array. List properties other than the corners, and other
/// elements, are left out.
Dataset read_ply(const std::filesystem::path& path);
/// Writes binary PLY: points (float when that is exact, else double), triangles, lines as edges, and all arrays; int64
/// arrays become int where they fit and double elsewhere.
void write_ply(std::span<const OutputFile> files, const Dataset& dataset);

/// STL, text and binary: all solids of the file. Corners at exactly the same place are merged; triangles that this
/// collapses are left out and counted in `warnings`. Written binary: single precision, triangles only. Throws
/// UsageError for more triangles than the format can count.
Dataset read_stl(const std::filesystem::path& path);
void write_stl(std::span<const OutputFile> files, const Dataset& dataset);

/// MRtrix track files: streamlines in scanner coordinates (RAS, mm) as lines, each with points of its own, in 32- or
/// 64-bit reals of either byte order. A count in the header that does not fit is a warning. The lines alone are
/// written, as 32-bit reals (little-endian).
Dataset read_tck(const std::filesystem::path& path);
void write_tck(std::span<const OutputFile> files, const Dataset& dataset);

/// TrackVis track files in either byte order: streamlines as lines, turned into RAS mm by the affine of version 2 and
/// the voxel order. Values of points and of streamlines are left out, with a warning.
Dataset read_trk(const std::filesystem::path& path);
/// Writes version 2 (little-endian, no values) on the voxels of an image. Throws UsageError when an axis of it is
/// longer than the format can count.
void write_trk(const OutputFile& file, const Dataset& dataset, const ImageGrid& grid);

/// TetGen and Triangle .node/.ele: points with attributes, and tetrahedra or triangles with a region.
Dataset read_tetgen(const std::filesystem::path& path);
void write_tetgen(std::span<const OutputFile> files, const Dataset& dataset);

/// VTU and VTP. The pieces of a file follow one another; nothing is merged.
Dataset read_vtu(const std::filesystem::path& path, const ArrayNames& wanted);
Dataset read_vtp(const std::filesystem::path& path, const ArrayNames& wanted);
/// Writes raw appended data with 64-bit block headers, without a second copy in memory. Points and ids take the
/// smallest type that keeps them exactly. Cell arrays that some kinds of cells do not have are filled up with NaN (0
/// for whole numbers). Infinities and NaN are kept.
void write_vtu(std::span<const OutputFile> files, const Dataset& dataset);
/// The same for triangles and lines.
void write_vtp(std::span<const OutputFile> files, const Dataset& dataset);

/// The same for a piece of a set, or a file; cells are cut by that order of their corners.
Dataset read_vtk_piece(const std::filesystem::path& path, PieceKind kind, CornerOrder order,
                       const ArrayNames& wanted = {});
/// Writes a piece of a set. Points are always double, because VTK wants one type in all pieces.
void write_vtk_piece(const OutputFile& file, const Dataset& dataset, PieceKind kind);
/// The data set's cells in the order in which such a file holds them.
std::vector<ArrayBlock> cell_blocks(const Dataset& dataset, PieceKind kind);
ArrayBlock point_block(const Dataset& dataset);

}  // namespace isochron
