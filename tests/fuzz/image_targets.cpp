// Readers of images: what they read is written and read again.
#include "fuzz/files.h"
#include "fuzz/memory.h"
#include "fuzz/same.h"
#include "isochron/communicator.h"
#include "isochron/io/image/formats.h"
#include "isochron/io/pieces/image_pieces.h"
#include "isochron/partition.h"

namespace isochron::fuzz {
namespace {

struct ImageFiles {
  std::string name;
  Texts files;  ///< the names in a set; the first one is read
  Texts seeds{};
  Texts words{};
  std::string written{};  ///< the extension of the round trip, where another is needed
  Keeps keeps = Keeps::exactly;
};

Image tiny(Image image) {
  image.grid.shape = {2, 2, 1};
  for (DataArray& array : image.data.all())
    std::visit([&](auto& values) { values.resize(4 * static_cast<std::size_t>(array.components)); }, array.values);
  return image;
}

/// What we write of images of several types.
Texts written_images(const std::string& extension) {
  Image tensors = tiny(test::counted_image<float>(6));
  tensors.tensor_order = TensorOrder::row;
  Texts result;
  for (const Image& image : {tiny(test::counted_image<double>(1)), tiny(test::counted_image<std::uint8_t>(3)),
                             tiny(test::counted_image<std::int32_t>(1)), tensors}) {
    const fs::path path = scratch() / ("seed" + extension);
    write_image(path, image, Overwrite::yes);
    result.push_back(test::content_of(path));
  }
  return result;
}

Image read_counted(const fs::path& path, std::size_t bytes) {
  return read_with_little_memory(bytes, [&] { return read_image(path); });
}

Target image_target(const ImageFiles& format) {
  const auto work = [format](std::string_view input) {
    const std::string unpacked = with_packed_parts(input);
    if (format.files.size() == 1) put(format.files[0], unpacked);
    else put_all(format.files, input);
    const std::string extension = format.written.empty() ? FileName(format.files[0]).full_extension() : format.written;
    check_round_trip(read_counted(scratch() / format.files[0], unpacked.size()), extension, format.keeps);
  };
  return {format.name, work, [format] { return format.seeds; }, format.words};
}

/// The same bytes without marks in them: for formats of bytes alone.
Target plain_image_target(const std::string& file, const Texts& words, Keeps keeps) {
  const std::string extension = FileName(file).full_extension();
  const auto work = [=](std::string_view input) {
    check_round_trip(read_counted(put(file, input), input.size()), extension, keeps);
  };
  return {"image" + extension, work, [=] { return written_images(extension); }, words};
}

/// The unpacked bytes of compressed files.
Target gzipped_image_target(const std::string& file, const std::string& plain_extension, Keeps keeps) {
  const std::string extension = FileName(file).full_extension();
  const auto work = [=](std::string_view input) {
    const std::string content = gzipped(input);
    check_round_trip(read_counted(put(file, content), content.size()), extension, keeps);
  };
  return {"packed" + extension, work, [=] { return written_images(plain_extension); }, {}};
}

const Texts nrrd_texts{
    "NRRD0004\ntype: double\ndimension: 4\nspace: LPS\nsizes: 7 2 1 2\nspace directions: none (1,0,0) (0,1,0) "
    "(0,0,1.5)\nkinds: 3D-masked-symmetric-matrix domain domain domain\nmeasurement frame: (0,1,0) (1,0,0) "
    "(0,0,1)\nencoding: ascii\nspace origin: (1,2,3)\n\n1 1 0 0 1 0 1 1 2 0 0 2 0 2\n0 3 0 0 3 0 3 1 1e-3 nan 0 1 0 "
    "1\n",
    "NRRD0005\n# c\nkey:=value\ntype: short\ndimension: 3\nspace: left-anterior-superior\nsizes: 2 2 1\nspacings: 1 2 "
    "3\naxis mins: 0 0 0\nendian: big\nencoding: gzip\nbyte skip: -1\n\n" +
        marked(Pack::gzip, std::string("\0\1\0\2\0\3\0\4", 8)),
    "NRRD0001\ntype: uchar\ndimension: 2\nsizes: 2 2\nencoding: raw\nline skip: 1\n\nline\nabcd"};
const Texts nrrd_words{"type: ",
                       "dimension: ",
                       "sizes: ",
                       "space: ",
                       "space dimension: ",
                       "space directions: ",
                       "kinds: ",
                       "measurement frame: ",
                       "encoding: ",
                       "gzip",
                       "raw",
                       "ascii",
                       "endian: little\n",
                       "spacings: ",
                       "axis mins: ",
                       "space origin: ",
                       "data file: ",
                       "line skip: ",
                       "byte skip: -1\n",
                       "3D-matrix",
                       "3D-symmetric-matrix",
                       "scanner-xyz",
                       "right-anterior-superior",
                       "none",
                       "vector",
                       "content: ",
                       "unsigned short",
                       "longlong",
                       "float",
                       "nan"};
const Texts nhdr_texts{
    joined({"NRRD0004\ntype: uchar\ndimension: 2\nsizes: 2 2\nencoding: raw\ndata file: d.raw\n", "abcd"}),
    joined({"NRRD0004\ntype: float\ndimension: 3\nsizes: 2 1 1\nendian: little\nencoding: "
            "raw\nbyte skip: -1\ndata file: d.raw\n",
            "xx" + bytes_of<float>({1, 2})})};

Texts pair_texts() {
  const std::string whole = written_images(".nii").front();
  std::string header = whole.substr(0, 348);
  header.replace(344, 4, std::string("ni1\0", 4));
  test::put<float>(header, 108, 0, native_encoding);
  return {joined({header, whole.substr(352)})};
}

const Texts vti_words{"VTKFile",
                      "ImageData",
                      "Piece",
                      "Extent=\"0 1 0 1 0 0\"",
                      "WholeExtent=\"",
                      "Origin=\"0 0 0\"",
                      "Spacing=\"",
                      "Direction=\"1 0 0 0 1 0 0 0 1\"",
                      "PointData",
                      "CellData",
                      "Tensors=\"",
                      "DataArray",
                      "Float32",
                      "ascii",
                      "appended",
                      "offset=\"",
                      "NumberOfComponents=\"",
                      "PImageData",
                      "PPointData"};

std::string packed_vti() {
  return "<VTKFile type=\"ImageData\" byte_order=\"LittleEndian\" compressor=\"vtkZLibDataCompressor\"><ImageData "
         "WholeExtent=\"0 1 0 1 0 0\" Origin=\"0 0 0\" Spacing=\"1 2 3\"><Piece Extent=\"0 1 0 1 0 0\"><PointData>"
         "<DataArray type=\"Float32\" Name=\"v\" format=\"binary\">" +
         marked(Pack::vtk_blocks, bytes_of<float>({1, 2, 3, 4})) +
         "</DataArray></PointData><CellData><DataArray type=\"Int8\" Name=\"c\" format=\"ascii\">7</DataArray>"
         "</CellData></Piece></ImageData></VTKFile>";
}

const Texts image_set_files{"set.pvti", "set/set_0000.vti", "set/set_0001.vti"};

Texts image_set() {
  const Image image = tiny(test::counted_image<float>(1));
  run_on_threads(2, [&](Communicator& communicator) {
    ImagePart part{image.grid, partition_boxes(image.grid, communicator.ranks()), image};
    part.image.grid = grid_of_box(image.grid, part.boxes[communicator.index()]);
    for (DataArray& array : part.image.data.all())
      std::visit([&](auto& values) { values.resize(part.image.grid.voxel_count()); }, array.values);
    write_image_part(communicator, scratch() / image_set_files[0], part, Overwrite::yes);
  });
  Texts contents;
  for (const std::string& file : image_set_files) contents.push_back(test::content_of(scratch() / file));
  return {joined(contents)};
}

Target image_set_target() {
  const auto work = [](std::string_view input) {
    fs::create_directories(scratch() / "set");
    put_all(image_set_files, input);
    check_round_trip(read_counted(scratch() / image_set_files[0], input.size()), ".vti", Keeps::exactly);
    SelfCommunicator communicator;
    static_cast<void>(read_image_part(communicator, scratch() / image_set_files[0]));
  };
  return {"image.pvti", work, image_set, vti_words};
}

/// The first bytes say the layout.
Target raw_image_target() {
  const auto work = [](std::string_view input) {
    const std::vector<std::string_view> parts = split(input, 2);
    RawLayout layout;
    const auto number = [&](std::size_t i) {
      return i < parts[0].size() ? static_cast<unsigned char>(parts[0][i]) : 1U;
    };
    layout.shape = {number(0), number(1), number(2) << (number(3) % 32)};
    layout.components = static_cast<int>(number(4)) - 1;
    layout.skip = number(5);
    std::tie(layout.type, layout.encoding) = parse_raw_type(parts[0].substr(std::min<std::size_t>(6, parts[0].size())));
    const fs::path path = put("a.raw", parts[1]);
    const Image image = read_with_little_memory(parts[1].size(), [&] { return read_raw_image(path, layout); });
    check_round_trip(image, ".nrrd", Keeps::exactly);
  };
  const auto seeds = [] {
    return Texts{joined({std::string("\2\2\1\0\2\0", 6) + "float32", bytes_of<float>({1, 2, 3, 4})}),
                 joined({std::string("\2\1\1\0\3\1", 6) + "uint16be", "xabcdefgh"})};
  };
  return {"image.raw", work, seeds, {"float64", "int8", "uint64le", "int32be"}};
}

}  // namespace

std::vector<Target> image_targets() {
  const std::vector<ImageFiles> formats{
      {.name = "image.nrrd-text", .files = {"a.nrrd"}, .seeds = nrrd_texts, .words = nrrd_words},
      {.name = "image.nhdr",
       .files = {"a.nhdr", "d.raw"},
       .seeds = nhdr_texts,
       .words = nrrd_words,
       .written = ".nrrd"},
      {.name = "image.hdr",
       .files = {"a.hdr", "a.img"},
       .seeds = pair_texts(),
       .written = ".nii",
       .keeps = Keeps::singles},
      {.name = "packed.vti", .files = {"a.vti"}, .seeds = {packed_vti()}, .words = vti_words},
  };
  std::vector<Target> result;
  result.reserve(formats.size());
  for (const ImageFiles& format : formats) result.push_back(image_target(format));
  result.push_back(plain_image_target("a.nii", {"n+1", "ni1", "n+2"}, Keeps::singles));
  result.push_back(plain_image_target("a.nrrd", nrrd_words, Keeps::exactly));
  result.push_back(plain_image_target(
      "a.npy", {"'descr': ", "'<f8'", "'|b1'", "'>i2'", "'fortran_order': True", "'shape': (2, 2,)"}, Keeps::exactly));
  result.push_back(plain_image_target("a.vti", vti_words, Keeps::exactly));
  result.push_back(plain_image_target("a.mgh", {}, Keeps::singles));
  result.push_back(gzipped_image_target("a.mgz", ".mgh", Keeps::singles));
  result.push_back(gzipped_image_target("a.nii.gz", ".nii", Keeps::singles));
  result.push_back(image_set_target());
  result.push_back(raw_image_target());
  return result;
}

}  // namespace isochron::fuzz
