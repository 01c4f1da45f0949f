#include "isochron/io/pieces/image_pieces.h"

#include "isochron/comm/collectives.h"
#include "isochron/io/pieces/part_files.h"
#include "isochron/mesh/tuples.h"

namespace isochron {
namespace {

namespace fs = std::filesystem;

/// What a process has read.
struct OwnImagePieces {
  std::vector<BoxData> boxes;
  std::vector<std::size_t> number;  ///< of the piece that a box is from
  std::vector<bool> on_cells;
  std::optional<Image> first;  ///< of the first piece: what is in it, and the grid of the whole image
};

void add_piece(const PieceIndex& index, std::size_t number, const VtkXmlFile& file, OwnImagePieces& own) {
  for (const XmlPiece& piece : file.pieces()) {
    ImageJoiner joiner(index.frame, index.path, read_extent(file.xml(), piece.element, "Extent"));
    joiner.add(file, piece);
    Image image = joiner.finish();
    own.boxes.push_back({joiner.box(), std::move(image.data)});
    own.number.push_back(number);
    own.on_cells.push_back(joiner.on_cells());
    if (own.first) continue;
    own.first = std::move(image);
    own.first->grid = joiner.whole();
    for (const DataArray& array : own.boxes.front().data.all())
      own.first->data.set(chosen_tuples(array, std::vector<std::size_t>{}));
  }
}

/// Brings the arrays of a box into the order of the others. Throws InputError unless it has the same ones.
void match_arrays(const PieceIndex& index, std::size_t piece, const DataArrays& kinds, DataArrays& data) {
  DataArrays matched;
  for (const DataArray& kind : kinds.all()) {
    auto& all = data.all();
    const auto at = std::find_if(all.begin(), all.end(), [&](const DataArray& a) { return a.name == kind.name; });
    const auto fail = [&](const char* problem) {
      bad_file(index.path, "{}: array '{}' {} other pieces; write the pieces again", index.piece_name(piece), kind.name,
               problem);
    };
    if (at == all.end()) fail("is missing, which is in");
    if (at->components != kind.components || at->values.index() != kind.values.index())
      fail("is of another kind than in");
    matched.set(std::move(*at));
  }
  data = std::move(matched);
}

}  // namespace

PieceIndex image_index(const Image& piece, const ImageGrid& whole, std::span<const IndexBox> boxes) {
  PieceIndex index;
  index.kind = PieceKind::image;
  index.frame = {extent_of(whole_box(whole)), whole.origin, whole.axes};
  for (const IndexBox& box : boxes) index.extents.push_back(extent_of(box));
  const VtiArrays arrays(piece);
  index.point_arrays = piece_arrays(std::array{ArrayBlock{&arrays.data(), 1, "points"}});
  index.tensors = arrays.tensors();
  return index;
}

ImagePart read_image_part(Communicator& communicator, const fs::path& path) {
  PieceIndex index;
  OwnImagePieces own;
  all_or_none(communicator, [&] {
    index = read_piece_index(path);
    for (const std::size_t number : pieces_of_rank(index, communicator.ranks(), communicator.index()))
      index.read_piece(number, [&](const fs::path& file) { add_piece(index, number, VtkXmlFile(file), own); });
  });
  std::vector<std::uint64_t> readers(communicator.ranks(), 0);
  readers[communicator.index()] = own.first ? 1 + (own.on_cells.front() ? 1 : 0) : 0;
  sum_over_ranks(communicator, readers);
  const auto reader = std::find_if(readers.begin(), readers.end(), [](std::uint64_t n) { return n > 0; });
  if (reader == readers.end()) bad_file(path, "there is no piece of an image in it; get or write it again");
  ImagePart part;
  part.image =
      broadcast_header(communicator, static_cast<std::size_t>(reader - readers.begin()), own.first.value_or(Image{}));
  part.whole = part.image.grid;
  all_or_none(communicator, [&] {
    with_file(path, [&] { check_grid(part.whole, "the image"); });
    for (std::size_t i = 0; i < own.boxes.size(); ++i) {
      if (own.boxes[i].box.empty()) continue;
      if (own.on_cells[i] != (*reader == 2)) own.boxes[i].data = {};
      match_arrays(index, own.number[i], part.image.data, own.boxes[i].data);
    }
  });
  std::erase_if(own.boxes, [](const BoxData& box) { return box.box.empty(); });
  part.boxes = partition_boxes(part.whole, communicator.ranks());
  MovedBoxes moved = move_boxes(communicator, std::move(own.boxes), part.boxes, part.image.data);
  const std::uint64_t missing = sum_of_all(communicator, moved.missing);
  if (missing > 0 && !part.image.data.empty()) fail_uncovered(path, missing);
  part.image.data = std::move(moved.data);
  part.image.grid = grid_of_box(part.whole, part.boxes[communicator.index()]);
  return part;
}

void check_image_set(const fs::path& path, Overwrite overwrite) {
  if (piece_kind_of(path) != PieceKind::image)
    throw UsageError("is no set of pieces of an image; use .pvti", path.string());
  check_set_writable(path, overwrite);
}

void write_image_part(Communicator& communicator, const fs::path& path, ImagePart part, Overwrite overwrite) {
  std::vector<IndexBox> boxes = part.boxes;
  for (IndexBox& box : boxes)
    if (!box.empty()) box = shared_box(box, part.whole);
  const IndexBox& box = boxes[communicator.index()];
  const Image kinds = broadcast_header(communicator, 0, part.image);
  std::vector<BoxData> own;
  own.push_back({part.boxes[communicator.index()], std::move(part.image.data)});
  part.image.data = move_boxes(communicator, std::move(own), boxes, kinds.data).data;
  const auto pieces =
      static_cast<std::size_t>(std::count_if(boxes.begin(), boxes.end(), [](const auto& b) { return !b.empty(); }));
  const PieceIndex index = image_index(kinds, part.whole, std::span(boxes).first(pieces));
  write_set(communicator, path, index, {pieces, 0}, overwrite,
            [&](PieceFile& file) { file.write(part.image, part.whole, box); });
}

}  // namespace isochron
