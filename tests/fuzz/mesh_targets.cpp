// Readers of meshes: what they read is written and read again.
#include <fmt/format.h>

#include "fuzz/files.h"
#include "fuzz/memory.h"
#include "fuzz/same.h"
#include "io/gmsh_samples.h"
#include "isochron/generate.h"
#include "isochron/io/mesh/formats.h"
#include "isochron/io/pieces/part_files.h"
#include "isochron/io/pieces/part_input.h"
#include "isochron/partition.h"

namespace isochron::fuzz {
namespace {

using test::tet;
using test::triangle;

struct MeshFormat {
  std::string name;
  Texts files;         ///< the names in a set; the first one is read
  Texts more_seeds{};  ///< besides what we write: as other programs write it
  Texts words{};
  std::string written{};  ///< the extension of the round trip; empty: that of the first file
  Keeps keeps = Keeps::exactly;
  Points points = Points::numbered;
};

Dataset small_surface() {
  Dataset d;
  d.points = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.5, 0.25, -2}};
  d.triangles.cells = {triangle(0, 1, 2), triangle(1, 3, 2)};
  d.point_data.set({"time", 1, std::vector<double>{0, 0.1, 1e-300, -5}});
  d.point_data.set({"a name", 3, std::vector<float>{1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1}});
  d.triangles.data.set({"region", 1, std::vector<std::int32_t>{4, -5}});
  return d;
}

Dataset small_solid() {
  Dataset d = small_surface();
  d.triangles = {};
  d.tets.cells = {tet(0, 1, 2, 3)};
  d.tets.data.set({"region", 1, std::vector<std::int64_t>{7}});
  d.tets.data.set({"fiber", 3, std::vector<double>{1, 0, 0}});
  d.tets.data.set({"sheet", 3, std::vector<double>{0, 1, 0}});
  d.point_data.set({"flag", 1, std::vector<std::uint8_t>{0, 255, 2, 3}});
  return d;
}

Dataset small_mixture() {
  Dataset d = small_solid();
  d.triangles = small_surface().triangles;
  d.lines = {{VertexId(0), VertexId(3)}, {VertexId(3), VertexId(1), VertexId(2)}};
  d.line_data.set({"region", 1, std::vector<std::int32_t>{1, 2}});
  return d;
}

Dataset small_lines() {
  Dataset d = small_mixture();
  d.triangles = {};
  d.tets = {};
  return d;
}

/// What the files of a set hold, one that is not there as nothing.
std::string set_content(const Texts& files) {
  Texts contents;
  for (const std::string& file : files) contents.push_back(test::content_of(scratch() / file));
  return joined(contents);
}

std::string extension_of(const std::string& file) { return FileName(file).full_extension(); }

Texts written_meshes(const MeshFormat& format) {
  Texts seeds;
  for (const Dataset& dataset : {small_surface(), small_solid(), small_mixture(), small_lines()}) {
    for (const std::string& file : format.files) fs::remove(scratch() / file);
    try {
      write_dataset(scratch() / format.files[0], dataset, Overwrite::yes);
    } catch (const UsageError&) {
      continue;  // the format does not hold such cells, or is only read
    }
    seeds.push_back(set_content(format.files));
  }
  seeds.insert(seeds.end(), format.more_seeds.begin(), format.more_seeds.end());
  return seeds;
}

Dataset read_mesh(const fs::path& path, std::size_t bytes) {
  return read_with_little_memory(bytes, [&] { return read_dataset(path); });
}

Target mesh_target(const MeshFormat& format) {
  const auto work = [format](std::string_view input) {
    if (format.files.size() == 1) put(format.files[0], input);
    else put_all(format.files, input);
    const Dataset dataset = read_mesh(scratch() / format.files[0], input.size());
    const std::string extension = format.written.empty() ? extension_of(format.files[0]) : format.written;
    check_round_trip(dataset, extension, format.keeps, format.points);
    if (extension == ".vtu") check_taken_over(scratch() / format.files[0], dataset);
  };
  return {format.name, work, [format] { return written_meshes(format); }, format.words};
}

/// The same for an input with packed parts in it, see `Pack`.
Target packed_mesh_target(const std::string& name, const std::string& file, const Texts& seeds, const Texts& words) {
  const auto work = [file](std::string_view input) {
    const std::string content = with_packed_parts(input);
    const fs::path path = put(file, content);
    const Dataset dataset = read_mesh(path, content.size());
    check_round_trip(dataset, ".vtu", Keeps::exactly, Points::numbered);
    check_taken_over(path, dataset);
  };
  return {name, work, [seeds] { return seeds; }, words};
}

// ---- VTK's XML files

const Texts xml_words{"VTKFile",
                      "UnstructuredGrid",
                      "PolyData",
                      "Piece",
                      "NumberOfPoints=\"",
                      "NumberOfCells=\"",
                      "DataArray",
                      "type=\"Float32\"",
                      "Float64",
                      "Int8",
                      "UInt64",
                      "Int32",
                      "format=\"",
                      "appended",
                      "binary",
                      "ascii",
                      "offset=\"",
                      "header_type=\"UInt64\"",
                      "byte_order=",
                      "BigEndian",
                      "PointData",
                      "CellData",
                      "Points",
                      "connectivity",
                      "offsets",
                      "types",
                      "<!--",
                      "-->",
                      "AppendedData",
                      "encoding=\"raw\"",
                      "base64",
                      "Verts",
                      "Lines",
                      "Polys",
                      "Strips",
                      "NumberOfComponents=\"",
                      "vtkZLibDataCompressor",
                      "42",
                      "NumberOfPolys=\""};

/// A file with one tetrahedron (or triangle), whose arrays are written by `array(type, attributes, numbers as text and
/// bytes)`.
template <class Array>
std::string grid_text(const std::string& attributes, const Array& array) {
  const std::vector<float> points{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  return fmt::format(
      "<VTKFile type=\"UnstructuredGrid\" version=\"0.1\" byte_order=\"LittleEndian\" {}><UnstructuredGrid>\n"
      "<Piece NumberOfPoints=\"4\" NumberOfCells=\"1\"><PointData>{}</PointData><Points>{}</Points>\n"
      "<Cells>{}{}{}</Cells></Piece></UnstructuredGrid></VTKFile>\n",
      attributes, array("Float64", "Name=\"time\"", "0 1 nan 3", bytes_of<double>({0, 1, 2, 3})),
      array("Float32", "NumberOfComponents=\"3\"", "0 0 0 1 0 0 0 1 0 0 0 1", bytes_of(points)),
      array("Int64", "Name=\"connectivity\"", "0 1 2 3", bytes_of<std::int64_t>({0, 1, 2, 3})),
      array("Int32", "Name=\"offsets\"", "4", bytes_of<std::int32_t>({4})),
      array("UInt8", "Name=\"types\"", "10", bytes_of<std::uint8_t>({10})));
}

std::string text_grid() {
  return grid_text("", [](const char* type, const char* attributes, const std::string& text, const std::string&) {
    return fmt::format("<DataArray type=\"{}\" {} format=\"ascii\">{}</DataArray>", type, attributes, text);
  });
}

std::string packed_grid(Pack how) {
  const std::string compressor = how == Pack::vtk_blocks ? "compressor=\"vtkZLibDataCompressor\"" : "";
  return grid_text(compressor,
                   [how](const char* type, const char* attributes, const std::string&, const std::string& bytes) {
                     return fmt::format("<DataArray type=\"{}\" {} format=\"binary\">{}</DataArray>", type, attributes,
                                        marked(how, bytes));
                   });
}

const std::string text_surface =
    "<VTKFile type=\"PolyData\"><PolyData><Piece NumberOfPoints=\"4\" NumberOfVerts=\"0\" NumberOfLines=\"1\" "
    "NumberOfStrips=\"1\" NumberOfPolys=\"1\"><Points><DataArray type=\"Float32\" NumberOfComponents=\"3\" "
    "format=\"ascii\">0 0 0 1 0 0 0 1 0 0 0 1</DataArray></Points><Lines><DataArray type=\"Int32\" "
    "Name=\"connectivity\" format=\"ascii\">0 1</DataArray><DataArray type=\"Int32\" Name=\"offsets\" "
    "format=\"ascii\">2</DataArray></Lines><Strips><DataArray type=\"Int32\" Name=\"connectivity\" "
    "format=\"ascii\">0 1 2 3</DataArray><DataArray type=\"Int32\" Name=\"offsets\" format=\"ascii\">4</DataArray>"
    "</Strips><Polys><DataArray type=\"Int32\" Name=\"connectivity\" format=\"ascii\">0 1 2 3</DataArray><DataArray "
    "type=\"Int32\" Name=\"offsets\" format=\"ascii\">4</DataArray></Polys></Piece></PolyData></VTKFile>";

// ---- other formats, as other programs write them

const std::string legacy_start = "# vtk DataFile Version 3.0\ntitle\nASCII\nDATASET ";
const std::string legacy_points = "POINTS 4 float\n0 0 0 1 0 0 0 1 0 0 0 1\n";
const Texts legacy_texts{
    legacy_start + "UNSTRUCTURED_GRID\n" + legacy_points +
        "CELLS 2 10\n4 0 1 2 3 4 0 1 2 3\nCELL_TYPES 2\n10 9\nCELL_DATA 2\nSCALARS region int 1\nLOOKUP_TABLE "
        "default\n1 2\nVECTORS fiber double\n1 0 0 0 1 0\n",
    legacy_start + "POLYDATA\n" + legacy_points +
        "LINES 1 3\n2 0 1\nPOLYGONS 1 5\n4 0 1 2 3\nTRIANGLE_STRIPS 1 5\n4 0 1 2 3\nPOINT_DATA 4\nTENSORS t float\n" +
        "1 0 0 0 1 0 0 0 1 1 0 0 0 1 0 0 0 1\n1 0 0 0 1 0 0 0 1 1 0 0 0 1 0 0 0 1\nFIELD f 1\na%20b 1 4 int\n1 2 3 "
        "4\nMETADATA\nINFORMATION 0\n\n",
    "# vtk DataFile Version 5.1\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n" + legacy_points +
        "CELLS 2 4\nOFFSETS vtktypeint64\n0 4\nCONNECTIVITY vtktypeint64\n0 1 2 3\nCELL_TYPES 1\n10\n"};
const Texts legacy_words{"POINT_DATA ",   "CELL_DATA ",      "SCALARS ",
                         "LOOKUP_TABLE ", "VECTORS ",        "NORMALS ",
                         "TENSORS ",      "FIELD ",          "BINARY",
                         "METADATA\n",    "COLOR_SCALARS ",  "VERTICES ",
                         "OFFSETS ",      "CONNECTIVITY ",   "CELL_TYPES ",
                         "unsigned_char", "double",          "bit",
                         "string",        "vtktypeint64",    "TEXTURE_COORDINATES ",
                         "TENSORS6 ",     "TRIANGLE_STRIPS "};

const std::string ply_text =
    "ply\nformat ascii 1.0\ncomment c\nelement vertex 3\nproperty float x\nproperty float y\nproperty float "
    "z\nproperty "
    "uchar red\nproperty uchar green\nproperty uchar blue\nelement face 1\nproperty list uchar int "
    "vertex_indices\nelement edge 1\nproperty int vertex1\nproperty int vertex2\nend_header\n0 0 0 1 2 3\n1 0 0 4 5 "
    "6\n0 1 0 7 8 9\n3 0 1 2\n0 1\n";
const std::string ply_strips =
    "ply\nformat binary_big_endian 1.0\nelement vertex 4\nproperty char x\nproperty char y\nproperty char z\nelement "
    "tristrips 1\nproperty list uchar char vertex_indices\nend_header\n" +
    std::string("\0\0\0\1\0\0\0\1\0\0\0\1\4\0\1\2\3", 17);
const Texts ply_words{"element ",
                      "property ",
                      "list ",
                      "uchar ",
                      "int ",
                      "double ",
                      "float ",
                      "vertex_index",
                      "edge ",
                      "tristrips ",
                      "face ",
                      "comment array vertex 1 x_array x\n",
                      "binary_little_endian",
                      "ascii",
                      "end_header\n",
                      "nx",
                      "_0",
                      "_1",
                      "alpha"};

const std::string stl_text =
    "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid "
    "a\n";
const Texts stl_words{"facet normal ", "outer loop\n", "vertex ", "endloop\n", "endfacet\n",
                      "endsolid",      "solid ",       "1e300 ",  "1e-300 "};

const Texts obj_texts{
    "# c\no a\nv 0 0 0 1\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvt 0 0\nvn 0 0 1\nf 1/1/1 2//1 3\nf -4 -3 -2 "
    "-1\nl 1 2 3\nl \\\n 1 4\nusemtl m\n"};
const Texts obj_words{"v ", "f ", "l ", "-1", "//", "\\\n", "vt ", "p 1"};

const Texts off_texts{"OFF # c\n4 2 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n4 0 1 2 3 255 0 0\n",
                      "COFF\n3 1 0\n0 0 0 1 0 0 1\n1 0 0 1 0 0 1\n0 1 0 1 0 0 1\n3 0 1 2\n"};
const Texts off_words{"OFF", "NOFF", "COFF", "STOFF", "4OFF", "nOFF", "BINARY"};

const Texts medit_texts{
    "MeshVersionFormatted 2\nDimension 3\nVertices 4\n0 0 0 1\n1 0 0 1\n0 1 0 1\n0 0 1 1\nEdges 1\n1 2 "
    "3\nQuadrilaterals "
    "1\n1 2 3 4 5\nHexahedra 1\n1 2 3 4 1 2 3 4 5\nCorners 1\n1\nEnd\n",
    "MeshVersionFormatted 1\nDimension\n2\nVertices\n3\n0 0 0\n1 0 0\n0 1 0\nTriangles\n1\n1 2 3 7\nEnd\n"};
const Texts medit_words{"Vertices ",  "Triangles ", "Tetrahedra ",      "Edges ",     "Quadrilaterals ",
                        "Hexahedra ", "Prisms ",    "Pyramids ",        "Dimension ", "Ridges ",
                        "Normals ",   "End\n",      "RequiredVertices "};

Texts gmsh_texts() {
  using test::gmsh_samples::Encoding;
  Texts result;
  for (const Encoding encoding : {Encoding::text, Encoding::binary, Encoding::swapped}) {
    result.push_back(test::gmsh_samples::version_2(encoding));
    result.push_back(test::gmsh_samples::version_4(encoding));
  }
  return result;
}
const Texts gmsh_words{"$MeshFormat\n",  "$EndMeshFormat\n",  "$Nodes\n",       "$EndNodes\n",      "$Elements\n",
                       "$EndElements\n", "$NodeData\n",       "$ElementData\n", "$PhysicalNames\n", "$Entities\n",
                       "$Periodic\n",    "$EndElementData\n", "$Comments\n",    "2.2 0 8",          "4.1 1 8"};

const Texts tetgen_texts{joined({"# c\n3 2 1 1\n1 0 0 5.5 1\n2 1 0 5 0\n3 0 1 5 0\n", "1 3 1\n1 1 2 3 9\n"}),
                         joined({"4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n", "1 4 0\n0 0 1 2 3\n"}),
                         joined({"6 2 0 0\n1 0 0\n2 1 0\n3 0 1\n4 1 1\n5 2 1\n6 2 2\n", "1 6 0\n1 1 2 3 4 5 6\n"})};
const Texts carp_texts{
    joined({"2\nQd 0 1 2 3 5\nLn 0 1\n", "4\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n", "1\n1 0 0\n0 1 0\n"}),
    joined({"4\nHx 0 1 2 3 0 1 2 3 5\nPr 0 1 2 3 0 1\nPy 0 1 2 3 0\nCx 0 1\n", "4\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n", ""})};

const std::vector<float> corner_points{0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3};
const std::vector<std::int32_t> two_triangles{0, 1, 2, 0, 2, 3};

std::string gifti_array(const std::string& intent, const std::string& type, const std::string& size,
                        const std::string& how, const std::string& data) {
  return fmt::format(
      "<DataArray Intent=\"NIFTI_INTENT_{}\" DataType=\"NIFTI_TYPE_{}\" ArrayIndexingOrder=\"RowMajorOrder\" {} "
      "Encoding=\"{}\" Endian=\"LittleEndian\"><Data>{}</Data></DataArray>\n",
      intent, type, size, how, data);
}

std::string gifti_text(const std::string& how, const std::string& points, const std::string& triangles,
                       const std::string& values) {
  const std::string pairs = "Dimensionality=\"2\" Dim0=\"4\" Dim1=\"3\"", single = "Dimensionality=\"1\" Dim0=\"4\"";
  const std::string transform =
      "<CoordinateSystemTransformMatrix><DataSpace><![CDATA[NIFTI_XFORM_UNKNOWN]]></DataSpace><TransformedSpace>"
      "<![CDATA[NIFTI_XFORM_SCANNER_ANAT]]></TransformedSpace><MatrixData>1 0 0 1 0 1 0 2 0 0 1 3 0 0 0 1</MatrixData>"
      "</CoordinateSystemTransformMatrix><MetaData><MD><Name>Name</Name><Value>x</Value></MD></MetaData>";
  std::string result = "<?xml version=\"1.0\"?>\n<GIFTI Version=\"1.0\">" +
                       gifti_array("POINTSET", "FLOAT32", pairs, how, points) +
                       gifti_array("TRIANGLE", "INT32", "Dimensionality=\"2\" Dim0=\"2\" Dim1=\"3\"", how, triangles) +
                       gifti_array("SHAPE", "FLOAT32", single, how, values) + "</GIFTI>\n";
  return result.insert(result.find("<Data>"), transform);
}

Texts gifti_texts() {
  const std::string points = bytes_of(corner_points), triangles = bytes_of(two_triangles);
  const std::string values = bytes_of<float>({0.5, 1, 2, 3});
  return {gifti_text("ASCII", "0 0 0 1 0 0 0 1 0 0 0 1", "0 1 2 0 2 3", "1 2 3 4"),
          gifti_text("GZipBase64Binary", marked(Pack::zlib_base64, points), marked(Pack::zlib_base64, triangles),
                     marked(Pack::zlib_base64, values)),
          gifti_text("Base64Binary", test::base64(points), test::base64(triangles), test::base64(values))};
}
const Texts gifti_words{"DataArray",
                        "NIFTI_INTENT_POINTSET",
                        "NIFTI_INTENT_TRIANGLE",
                        "NIFTI_INTENT_LABEL",
                        "NIFTI_TYPE_UINT8",
                        "NIFTI_TYPE_INT32",
                        "NIFTI_TYPE_FLOAT64",
                        "ColumnMajorOrder",
                        "BigEndian",
                        "Dim0=\"",
                        "Dim1=\"",
                        "Encoding=\"ASCII\"",
                        "<Data>",
                        "</Data>",
                        "<![CDATA[",
                        "]]>",
                        "<MatrixData>",
                        "GZipBase64Binary",
                        "Base64Binary"};

std::string freesurfer_surface() {
  const Encoding e = Encoding::big_endian;
  return "\xff\xff\xfe" + std::string("created by us\n\n") + test::bytes_of<std::int32_t>(4, e) +
         test::bytes_of<std::int32_t>(2, e) + test::bytes_of(corner_points, e) + test::bytes_of(two_triangles, e) +
         std::string("\0\0\0\x02", 4) + "valid = 1  # volume info valid\nvolume = 256 256 256\ncras   = 1.5 -2 0\n";
}

std::string trk_content() {
  ImageGrid grid;
  grid.shape = {10, 20, 30};
  grid.axes = {Vec3d{-2, 0, 0}, Vec3d{0, -3, 0}, Vec3d{0, 0, 4}};
  const fs::path path = scratch() / "seed.trk";
  write_trk({path, path}, small_lines(), grid);
  return test::content_of(path);
}

template <class T>
std::string tck_text(const std::string& type, Encoding encoding) {
  constexpr T nan = std::numeric_limits<T>::quiet_NaN(), end = std::numeric_limits<T>::infinity();
  return "mrtrix tracks\ndatatype: " + type + "\ncount: 1\nfile: . 58\nEND\n" +
         test::bytes_of(std::vector<T>{1, 2, 3, 4, 5, 6, nan, nan, nan, end, end, end}, encoding);
}
const Texts tck_texts{tck_text<float>("Float32BE", Encoding::big_endian),
                      tck_text<double>("Float64LE", Encoding::little_endian)};
const Texts tck_words{"mrtrix tracks\n", "datatype: ", "Float64LE", "Float32BE", "count: ", "file: . ", "END\n"};

// ---- meshes in pieces

template <int Corners>
std::string mesh_set(const SimplexMesh<Corners>& mesh, const Texts& files) {
  const auto part_of = partition_vertices(mesh, 2, Partitioner::curve);
  run_on_threads(2, [&](Communicator& communicator) {
    PartData<Corners> data;
    data.part =
        cut_part(mesh, std::span<const std::uint32_t>(part_of), static_cast<std::uint32_t>(communicator.index()));
    data.point_data.set({"x", 1, std::vector<double>(data.part.mesh.vertex_count(), 1.5)});
    write_parts(communicator, scratch() / files[0], std::move(data), Overwrite::yes);
  });
  return set_content(files);
}

template <int Corners>
void read_as_rank(const fs::path& path) {
  SelfCommunicator communicator;
  OwnPieces own = read_own_pieces(communicator, path);
  if (own.ready_parts) static_cast<void>(take_ready_part<Corners>(communicator, std::move(own)));
  else static_cast<void>(part_of_pieces(communicator, number_pieces<Corners>(communicator, std::move(own)), 0));
}

template <int Corners, class Mesh>
Target mesh_set_target(const std::string& extension, const Mesh& mesh) {
  const std::string file_extension = "." + extension.substr(2);
  const Texts files{"set" + extension, "set/set_0000" + file_extension, "set/set_0001" + file_extension};
  const auto work = [=](std::string_view input) {
    fs::create_directories(scratch() / "set");
    put_all(files, input);
    const Dataset dataset = read_mesh(scratch() / files[0], input.size());
    check_round_trip(dataset, file_extension, Keeps::exactly, Points::numbered);
    read_as_rank<Corners>(scratch() / files[0]);
  };
  Texts words = xml_words;
  for (const char* word : {"PUnstructuredGrid", "PPolyData", "PPoints", "PDataArray", "GhostLevel=\"", "vtkGhostType",
                           "Source=\"set/set_0000", "Source=\"set/set_0001", "PPointData", "PCellData"})
    words.emplace_back(word);
  return {"mesh" + extension, work, [=] { return Texts{mesh_set(mesh(), files)}; }, words};
}

}  // namespace

std::vector<Target> mesh_targets() {
  const std::vector<MeshFormat> formats{
      {.name = "mesh.vtu", .files = {"a.vtu"}, .more_seeds = {text_grid()}, .words = xml_words},
      {.name = "mesh.vtp", .files = {"a.vtp"}, .more_seeds = {text_surface}, .words = xml_words},
      {.name = "mesh.vtk", .files = {"a.vtk"}, .more_seeds = legacy_texts, .words = legacy_words},
      {.name = "mesh.ply", .files = {"a.ply"}, .more_seeds = {ply_text, ply_strips}, .words = ply_words},
      {.name = "mesh.stl",
       .files = {"a.stl"},
       .more_seeds = {stl_text},
       .words = stl_words,
       .keeps = Keeps::singles,
       .points = Points::of_each_cell},
      {.name = "mesh.obj", .files = {"a.obj"}, .more_seeds = obj_texts, .words = obj_words},
      {.name = "mesh.off", .files = {"a.off"}, .more_seeds = off_texts, .words = off_words},
      {.name = "mesh.off.gz", .files = {"a.off.gz"}},
      {.name = "mesh.ply.gz", .files = {"a.ply.gz"}},
      {.name = "mesh.msh", .files = {"a.msh"}, .more_seeds = gmsh_texts(), .words = gmsh_words},
      {.name = "mesh.mesh", .files = {"a.mesh"}, .more_seeds = medit_texts, .words = medit_words},
      {.name = "mesh.tetgen",
       .files = {"a.node", "a.ele"},
       .more_seeds = tetgen_texts,
       .words = {"# arrays:", "a:double:1", "b%20:int32:3"}},
      {.name = "mesh.carp",
       .files = {"a.elem", "a.pts", "a.lon"},
       .more_seeds = carp_texts,
       .words = {"Tt ", "Tr ", "Ln ", "Qd ", "Py ", "Pr ", "Hx ", "Cx ", "Oc ", "1 0 0\n"}},
      {.name = "mesh.freesurfer",
       .files = {"lh.pial"},
       .more_seeds = {freesurfer_surface()},
       .words = {"valid = 1", "cras   = "},
       .written = ".vtp"},
      {.name = "mesh.tck",
       .files = {"a.tck"},
       .more_seeds = tck_texts,
       .words = tck_words,
       .keeps = Keeps::singles,
       .points = Points::of_each_cell},
      {.name = "mesh.trk",
       .files = {"a.trk"},
       .more_seeds = {trk_content()},
       .words = {"LPS", "RAS", "TRACK"},
       .written = ".vtp"},
  };
  std::vector<Target> result;
  result.reserve(formats.size());
  for (const MeshFormat& format : formats) result.push_back(mesh_target(format));
  result.push_back(packed_mesh_target("packed.vtu", "p.vtu",
                                      {packed_grid(Pack::vtk_blocks), packed_grid(Pack::sized_base64)}, xml_words));
  result.push_back(packed_mesh_target("mesh.gii", "p.gii", gifti_texts(), gifti_words));
  result.push_back(packed_mesh_target("packed.off.gz", "p.off.gz", {marked(Pack::gzip, off_texts[0])}, off_words));
  result.push_back(packed_mesh_target("packed.ply.gz", "p.ply.gz", {marked(Pack::gzip, ply_text)}, ply_words));
  result.push_back(mesh_set_target<4>(".pvtu", [] { return generate_cube({.nx = 2, .ny = 2, .nz = 2}); }));
  result.push_back(mesh_set_target<3>(".pvtp", [] { return generate_square({.n = 3}); }));
  return result;
}

}  // namespace isochron::fuzz
