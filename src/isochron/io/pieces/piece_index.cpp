#include "isochron/io/pieces/piece_index.h"

#include "isochron/io/file.h"
#include "isochron/io/mesh/formats.h"

namespace isochron {
namespace {

namespace fs = std::filesystem;

struct KindNames {
  PieceKind kind;
  const char* element;
  const char* extension;
  const char* piece_extension;
};
constexpr std::array<KindNames, 3> kinds{{{PieceKind::grid, "PUnstructuredGrid", ".pvtu", ".vtu"},
                                          {PieceKind::surface, "PPolyData", ".pvtp", ".vtp"},
                                          {PieceKind::image, "PImageData", ".pvti", ".vti"}}};

const KindNames& names_of(PieceKind kind) { return kinds[static_cast<std::size_t>(kind)]; }

class IndexReader {
 public:
  explicit IndexReader(const fs::path& path) : file_(path), xml_(path, file_.text()) { index_.path = path; }

  PieceIndex read() {
    bool known = false, complete = false;
    while (!complete) {
      const XmlEvent event = xml_.next();
      if (event.kind == XmlEvent::Kind::end) break;
      if (event.kind == XmlEvent::Kind::close) {
        complete = event.name == "VTKFile";
        if (event.name == arrays_in_) arrays_in_ = {};
        continue;
      }
      if (is_kind(event)) {
        known = true;
        start(event);
      } else if (known && event.name == "Piece") {
        add_piece(event);
      } else if (event.name == "PPointData" || event.name == "PCellData") {
        if (!event.empty) arrays_in_ = event.name;
        if (event.name == "PPointData") index_.tensors = xml_unescaped(event.attribute("Tensors").value_or(""));
      } else if (event.name == "PDataArray" || (event.name == "DataArray" && !arrays_in_.empty())) {
        add_array(event);
      }
    }
    if (!known) xml_.fail("is no list of pieces (there is no element PUnstructuredGrid, PPolyData or PImageData)");
    if (!complete) xml_.fail("the XML text ends too early");
    if (index_.pieces.empty()) bad_file(index_.path, "there are no pieces (the list of them is empty); write it again");
    return std::move(index_);
  }

 private:
  bool is_kind(const XmlEvent& event) {
    const auto at =
        std::find_if(kinds.begin(), kinds.end(), [&](const KindNames& names) { return event.name == names.element; });
    if (at != kinds.end()) index_.kind = at->kind;
    return at != kinds.end();
  }

  void start(const XmlEvent& event) {
    if (event.attribute("GhostLevel"))
      index_.ghost_level = static_cast<int>(whole_attribute(xml_, event, "GhostLevel"));
    if (event.attribute("WholePoints")) index_.whole_points = whole_attribute(xml_, event, "WholePoints");
    if (event.attribute("WholeCells")) index_.whole_cells = whole_attribute(xml_, event, "WholeCells");
    if (index_.kind == PieceKind::image) index_.frame = read_image_frame(xml_, event);
  }

  void add_piece(const XmlEvent& event) {
    const std::string source = xml_unescaped(event.attribute("Source").value_or(""));
    if (source.empty()) xml_.fail("piece {} has no file", index_.pieces.size());
    index_.pieces.push_back(index_.path.parent_path() / fs::path(source));
    refuse_special_file(index_.pieces.back(), index_.path);
    if (index_.kind == PieceKind::image) index_.extents.push_back(read_extent(xml_, event, "Extent"));
  }

  void add_array(const XmlEvent& event) {
    const auto type = vtk_type_named(event.attribute("type").value_or(""));
    if (arrays_in_.empty() || !type) return;  // the points, or words
    PieceArray array{xml_unescaped(event.attribute("Name").value_or("")), *type, 1};
    if (event.attribute("NumberOfComponents"))
      array.components =
          static_cast<int>(std::clamp<std::uint64_t>(whole_attribute(xml_, event, "NumberOfComponents"), 1, 1U << 20U));
    (arrays_in_ == "PPointData" ? index_.point_arrays : index_.cell_arrays).push_back(std::move(array));
  }

  FileBytes file_;
  XmlScanner xml_;
  PieceIndex index_;
  std::string_view arrays_in_;
};

void print_arrays(ByteWriter& sink, const char* tag, const std::string& attributes,
                  const std::vector<PieceArray>& arrays) {
  sink.print("    <{}{}>\n", tag, attributes);
  for (const PieceArray& array : arrays)
    sink.print("      <PDataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\"/>\n", vtk_type_name(array.type),
               xml_escaped(array.name), array.components);
  sink.print("    </{}>\n", tag);
}

std::string attribute_of(const char* name, const std::vector<PieceArray>& arrays, std::string_view value) {
  const auto has = [&](const PieceArray& array) { return array.name == value; };
  if (value.empty() || std::none_of(arrays.begin(), arrays.end(), has)) return {};
  return fmt::format(" {}=\"{}\"", name, xml_escaped(value));
}

}  // namespace

std::string PieceIndex::piece_name(std::size_t piece) const {
  return fmt::format("piece {} of {} ({})", piece, pieces.size(), pieces[piece].string());
}

void PieceIndex::require_piece(std::size_t piece) const {
  std::error_code ignored;
  if (!fs::exists(pieces[piece], ignored))
    bad_file(path, "{} is missing (there is no such file); put all pieces where the list says", piece_name(piece));
}

void PieceIndex::fail_piece(std::size_t piece, const InputError& error) const {
  const bool about_list = error.file() == path.string();
  throw InputError((about_list ? "" : piece_name(piece) + ": ") + error.detail(), path.string());
}

PieceIndex read_piece_index(const fs::path& path) { return IndexReader(path).read(); }

std::optional<PieceKind> piece_kind_of(const fs::path& path) {
  for (const KindNames& names : kinds)
    if (FileName(path).extension == names.extension) return names.kind;
  return std::nullopt;
}

bool is_mesh_set(const fs::path& path) {
  const auto kind = piece_kind_of(path);
  return kind && *kind != PieceKind::image;
}

void refuse_set_output(const fs::path& path) {
  throw UsageError("sets of pieces are written over ranks (one piece each); add " +
                       Message(Setting{Option::backend, "mpi"}) + " to solve or generate, or write one file",
                   path.string());
}

fs::path piece_path(const fs::path& index, std::size_t piece) {
  const KindNames& names = names_of(piece_kind_of(index).value_or(PieceKind::grid));
  const fs::path base = FileName(index).base;
  return base / fmt::format("{}_{:04}{}", base.filename().string(), piece, names.piece_extension);
}

std::vector<PieceArray> piece_arrays(std::span<const ArrayBlock> blocks) {
  std::vector<PieceArray> result;
  for (const JoinedArray& array : join_arrays(blocks)) result.push_back({array.name, array.type, array.components});
  return result;
}

PieceIndex mesh_index(const Dataset& dataset, PieceKind kind) {
  PieceIndex index;
  index.kind = kind;
  index.point_arrays = piece_arrays(std::array{point_block(dataset)});
  index.cell_arrays = piece_arrays(cell_blocks(dataset, kind));
  return index;
}

void write_piece_index(const OutputFile& file, const PieceIndex& index) {
  const char* element = names_of(index.kind).element;
  ByteWriter sink(file);
  start_vtk_file(sink, element);
  sink.print("  <{} GhostLevel=\"{}\"{}", element, index.ghost_level,
             index.kind == PieceKind::image ? image_attributes(index.frame) : "");
  if (index.whole_points) sink.print(" WholePoints=\"{}\"", *index.whole_points);
  if (index.whole_cells) sink.print(" WholeCells=\"{}\"", *index.whole_cells);
  sink.print(">\n");
  print_arrays(sink, "PPointData",
               attribute_of("GlobalIds", index.point_arrays, global_point_ids) +
                   attribute_of("Tensors", index.point_arrays, index.tensors),
               index.point_arrays);
  print_arrays(sink, "PCellData", attribute_of("GlobalIds", index.cell_arrays, global_cell_ids), index.cell_arrays);
  if (index.kind != PieceKind::image)
    sink.print(
        "    <PPoints>\n      <PDataArray type=\"Float64\" Name=\"Points\" NumberOfComponents=\"3\"/>\n    "
        "</PPoints>\n");
  for (std::size_t i = 0; i < index.pieces.size(); ++i) {
    const fs::path source = index.pieces[i].lexically_proximate(index.path.parent_path());
    sink.print("    <Piece{} Source=\"{}\"/>\n",
               index.kind == PieceKind::image ? fmt::format(" Extent=\"{}\"", extent_text(index.extents[i])) : "",
               xml_escaped(source.generic_string()));
  }
  sink.print("  </{}>\n</VTKFile>\n", element);
  sink.finish();
}

std::vector<std::size_t> pieces_of_rank(const PieceIndex& index, std::size_t ranks, std::size_t rank) {
  const std::size_t pieces = index.pieces.size();
  std::vector<std::size_t> result;
  for (std::size_t piece = rank * pieces / ranks; piece < (rank + 1) * pieces / ranks; ++piece) result.push_back(piece);
  return result;
}

}  // namespace isochron
