#include "apps/isochron/solve_mpi.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "apps/isochron/shared_output.h"
#include "apps/isochron/solve_steps.h"
#include "apps/isochron/tensor_input.h"
#include "isochron/comm/collectives.h"
#include "isochron/core/timer.h"
#include "isochron/dist/ghost_values.h"
#include "isochron/image.h"
#include "isochron/io/pieces/image_pieces.h"
#include "isochron/io/pieces/part_files.h"
#include "isochron/io/pieces/part_input.h"
#include "isochron/mesh.h"
#include "isochron/metric/conducting.h"
#include "isochron/solve/ranks/part_solver.h"
#include "isochron/solver.h"

namespace isochron::cli {
namespace {

/// What a tag may mark in a piece of a mesh.
template <int Corners>
struct TaggedPiece {
  const DataArrays& point_data;
  std::span<const std::uint64_t> global_vertex;
  TaggedCells<Corners> cells;
  TaggedCells<7 - Corners> other_cells;
};
/// All ranks together: the vertices that a tag marks, ascending. Throws InputError on all of them.
template <int Corners>
std::vector<std::uint64_t> tagged_vertices(Communicator& communicator, const NameValue& tag,
                                           std::span<const TaggedPiece<Corners>> pieces) {
  std::vector<std::uint64_t> marked;
  std::uint64_t found = 0;
  // The first of points, cells and the other cells that has the value anywhere.
  for (int where = 0; where < 3; ++where) {
    for (const TaggedPiece<Corners>& piece : pieces) {
      std::vector<bool> here(piece.global_vertex.size(), false);
      const bool has = where == 0   ? mark_points(piece.point_data, tag, here)
                       : where == 1 ? mark_cells(piece.cells, tag, here)
                                    : mark_cells(piece.other_cells, tag, here);
      if (has) ++found;
      for (std::size_t v = 0; v < here.size(); ++v)
        if (here[v]) marked.push_back(piece.global_vertex[v]);
    }
    if (sum_of_all(communicator, marked.size()) > 0) break;
  }
  std::vector<std::uint64_t> all;
  for (const auto& list : exchange_values(communicator, std::vector(communicator.ranks(), marked)))
    all.insert(all.end(), list.begin(), list.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  check_tag(tag, sum_of_all(communicator, found) > 0, !all.empty());
  return all;
}

/// All ranks together: throws InputError on all of them where --arrays names one that no rank has.
void check_names_on_ranks(const SolveRequest& request, Communicator& communicator, std::vector<std::string> there) {
  const ArrayNames names = kept_input_arrays(request);
  for (const std::string& name : names.value_or(std::vector<std::string>())) {
    const bool here = std::find(there.begin(), there.end(), name) != there.end();
    if (sum_of_all(communicator, here ? 1 : 0) > 0 && !here) there.push_back(name);
  }
  check_array_names(names, there);
}

/// What parts of meshes and images have in common.
class PartRun {
 public:
  static constexpr bool in_parts = true;
  void warn_of_ranks(SharedSteps&, Console&) const {}
  static std::vector<ProbeTime> probe(const std::vector<Vec3d>&, const Arrival&, Console&) { return {}; }

 protected:
  PartRun(const SolveRequest& request, Communicator& communicator) : request_(request), communicator_(communicator) {}

  const SolveRequest& request_;
  Communicator& communicator_;
};

/// One rank's part of a mesh, and what becomes of it.
template <int Corners>
class MeshPartRun : public PartRun {
 public:
  /// All ranks together.
  MeshPartRun(const SolveRequest& request, OwnPieces&& own, Communicator& communicator)
      : PartRun(request, communicator) {
    if (own.ready_parts && request_.options.ranks.blocks_per_rank == 0) {
      data_ = take_ready_part<Corners>(communicator_, std::move(own));
      const CellBlock<7 - Corners> no_cells;
      const std::array pieces{TaggedPiece<Corners>{data_.point_data,
                                                   data_.part.global_vertex,
                                                   {data_.part.mesh.elements, data_.cell_data},
                                                   {no_cells.cells, no_cells.data}}};
      find_tagged(pieces);
      return;
    }
    const NumberedPieces<Corners> numbered = number_pieces<Corners>(communicator_, std::move(own));
    data_ = part_of_pieces(communicator_, numbered, static_cast<std::uint32_t>(request_.options.ranks.blocks_per_rank));
    std::vector<TaggedPiece<Corners>> pieces;
    for (std::size_t p = 0; p < numbered.pieces.size(); ++p) {
      const MeshPiece<Corners>& piece = numbered.pieces[p];
      pieces.push_back({piece.point_data,
                        piece.global_vertex,
                        {piece.mesh.elements, piece.cell_data},
                        {numbered.others[p].cells, numbered.others[p].data}});
    }
    find_tagged(pieces);
  }

  Sources sources(const SideInputs& inputs, Console&) const {
    Sources sources = gather_named_sources(request_, inputs, data_.part.whole_vertices);
    for (const std::uint64_t vertex : tagged_)
      sources.vertices.push_back({GlobalVertexId(vertex), request_.sources.time.value_or(0.0)});
    return sources;
  }
  [[nodiscard]] std::size_t vertex_count() const { return data_.part.whole_vertices; }

  /// Counts and cells in messages are those of the rank's part.
  Metric metric() {
    fields_.point_data = std::move(data_.point_data);
    fields_.template block<Corners>().data = std::move(data_.cell_data);
    check_names_on_ranks(request_, communicator_, array_names(fields_));
    check_extent();
    const SimplexMesh<Corners>& mesh = data_.part.mesh;
    Metric metric;
    all_or_none(communicator_, [&] {
      if (mesh.element_count() == 0) return;
      try {
        check_mesh(mesh);
        metric = metric_from_dataset<Corners>(mesh, fields_, mesh_metric(request_));
        conducting_ = conducting_elements(metric, mesh.element_count(), Subject::metric);
      } catch (const InputError& error) {
        if (communicator_.size() == 1) throw;
        throw InputError(fmt::format("in the part of rank {}: ", communicator_.rank()) + error.detail(), error.file());
      }
    });
    if (request_.unit) metric.change_unit(*request_.unit);
    return metric;
  }
  [[nodiscard]] Domain domain(const Metric& metric) const { return {data_.part, metric}; }

  void sum_up(Arrival& arrival, SolveSummary& summary, Console& console) {
    note_unused_fibers(request_.metric, arrival.notes);
    add_ghosts(arrival.times);
    add_ghosts(arrival.source);
    summary.elements = data_.part.whole_elements;
    summary.corners = Corners;
    if (arrival.unreached > 0) {
      MeshPart<Corners> part = data_.part;
      if (conducting_) part.mesh = with_elements<Corners>(part.mesh, *conducting_);
      summary.unreached = explain_unreached(communicator_, part, std::span<const double>(arrival.times));
    }
    if (arrival.unreached > 0 && arrival.reached > 0) warn_unreached(summary, arrival, console);
  }
  std::optional<RuntimeError> add_results(Arrival& arrival, EachSource*, SolveSummary&, const Console&) {
    drop_results(fields_.point_data);
    add_result(arrival, fields_.point_data);
    leave_out_arrays(request_, fields_.point_data);
    keep_arrays(request_.arrays, fields_.template block<Corners>().data);
    data_.point_data = std::move(fields_.point_data);
    data_.cell_data = std::move(fields_.template block<Corners>().data);
    part_vertices_ = data_.part.mesh.vertex_count();
    return std::nullopt;
  }
  void write(SharedSteps*, OutputFiles&) {
    write_shared(communicator_, request_.output, std::move(data_), request_.overwrite);
  }
  [[nodiscard]] std::size_t part_vertices(const Arrival&) const { return part_vertices_; }

 private:
  void find_tagged(std::span<const TaggedPiece<Corners>> pieces) {
    for (const NameValue& tag : request_.sources.tags) {
      const std::vector<std::uint64_t> some = tagged_vertices<Corners>(communicator_, tag, pieces);
      tagged_.insert(tagged_.end(), some.begin(), some.end());
    }
  }

  void check_extent() {
    std::array<double, 6> ends;
    ends.fill(-std::numeric_limits<double>::infinity());
    for (const Vec3d& p : data_.part.mesh.points)
      for (int k = 0; k < 3; ++k) {
        ends[k] = std::max(ends[k], -p[k]);
        ends[k + 3] = std::max(ends[k + 3], p[k]);
      }
    max_over_ranks(communicator_, ends);
    check_size({{-ends[0], -ends[1], -ends[2]}, {ends[3], ends[4], ends[5]}});
  }

  template <class T>
  void add_ghosts(std::vector<T>& values) {
    const std::vector<T> ghosts = ghost_values(communicator_, data_.part, std::span<const T>(values));
    values.insert(values.end(), ghosts.begin(), ghosts.end());
  }

  PartData<Corners> data_;
  std::vector<std::uint64_t> tagged_;  ///< vertices of the whole
  Dataset fields_;                     ///< the arrays of the part while the mesh is solved on
  std::size_t part_vertices_ = 0;
  std::optional<std::vector<ElementId>> conducting_;  ///< where not all elements do
};

ImagePart read_reported_part(Communicator& communicator, const std::filesystem::path& path, Console& console) {
  ImagePart part = [&] {
    const Activity activity(console, "reading " + path.string());
    return read_image_part(communicator, path);
  }();
  for (const std::string& warning : part.image.warnings) console.warn("{}: {}", path.string(), warning);
  return part;
}

/// One rank's box of an image, and what becomes of it.
class ImagePartRun : public PartRun {
 public:
  /// All ranks together. `mask` is that of the box.
  ImagePartRun(const SolveRequest& request, ImagePart&& part, std::vector<std::uint8_t>&& mask,
               Communicator& communicator, Console& console)
      : PartRun(request, communicator), part_(std::move(part)) {
    check_names_on_ranks(request, communicator, part_.image.data.names());
    leave_out_own_mask(request_, part_.image, mask);
    std::vector<double> eigenvalues;
    all_or_none(communicator_, [&] {
      eigenvalues =
          mean_eigenvalues(part_.image, request_.metric, request_.tensors.order, mask, request_.tensors.axes());
    });
    const bool tensors = !request_.metric.metric_array.empty() || !request_.metric.velocity_tensor_array.empty();
    const std::optional<double> median = median_of_all(communicator_, eigenvalues);
    if (tensors && !median) refuse_diffusivities();
    eigenvalues = std::vector<double>();  // gives its memory back
    all_or_none(communicator_, [&] { problem_ = image_metric(request_, part_.image, std::move(mask), 1, median); });
    if (!problem_.tensors) return;
    DiffusionCounts counts;
    for (const DiffusionCounts& some : all_values(communicator_, *problem_.tensors)) counts += some;
    problem_.tensors = counts;
    warn_about_tensors(request_.mesh.string(), counts, console);
  }

  Sources sources(const SideInputs& inputs, Console&) {
    return gather_voxel_sources(request_, inputs, vertex_count(), [&](const NameValue& tag) { return tagged(tag); });
  }
  [[nodiscard]] std::size_t vertex_count() const { return part_.whole.voxel_count(); }
  Metric metric() { return std::move(problem_.metric); }
  [[nodiscard]] Domain domain(const Metric& metric) const {
    return {BoxedGrid{&part_.whole, &part_.boxes, problem_.mask}, metric};
  }

  void sum_up(Arrival& arrival, SolveSummary& summary, Console& console) {
    arrival.not_conducting = sum_of_all(communicator_, problem_.not_conducting);
    std::vector<std::uint8_t> allowed = std::move(problem_.mask);
    if (allowed.empty()) allowed.assign(arrival.times.size(), 1);
    const auto inside = std::count_if(allowed.begin(), allowed.end(), [](std::uint8_t value) { return value != 0; });
    summary.elements = sum_of_all(communicator_, static_cast<std::uint64_t>(inside));
    summary.corners = voxel_corners;
    summary.tensors = problem_.tensors;
    if (arrival.unreached > 0) summary.unreached = explain_unreached(communicator_, part_, allowed, arrival.times);
    warn_unreached_voxels(summary, console);
  }
  std::optional<RuntimeError> add_results(Arrival& arrival, EachSource*, SolveSummary&, const Console&) {
    Image& image = part_.image;
    if (!image.data.empty() && made_by_solve(image.data.all().front().name)) image.tensor_order.reset();
    drop_results(image.data);
    add_result(arrival, image.data);
    leave_out_arrays(request_, image.data);
    return std::nullopt;
  }
  void write(SharedSteps*, OutputFiles&) {
    write_shared(communicator_, request_.output, std::move(part_), request_.overwrite);
  }
  [[nodiscard]] static std::size_t part_vertices(const Arrival& arrival) { return arrival.traffic->part_vertices; }

 private:
  /// All ranks together: the voxels of the whole image that a tag marks.
  std::vector<VertexId> tagged(const NameValue& tag) {
    const IndexBox& box = part_.boxes[communicator_.index()];
    std::vector<std::uint32_t> own;
    for (const VertexId voxel : tagged_voxels(part_.image, tag)) {
      const auto at = part_.image.grid.index(voxel);
      std::array<std::uint32_t, 3> index{};
      for (std::size_t d = 0; d < 3; ++d) index[d] = at[d] + static_cast<std::uint32_t>(box.low[d]);
      own.push_back(part_.whole.voxel(index[0], index[1], index[2]).value);
    }
    std::vector<VertexId> all;
    for (const auto& list : exchange_values(communicator_, std::vector(communicator_.ranks(), own)))
      for (const std::uint32_t voxel : list) all.emplace_back(std::size_t{voxel});
    std::sort(all.begin(), all.end());
    return all;
  }

  ImagePart part_;
  ImageMetric problem_;
};

/// Says before the work what does not apply to a mesh in pieces, or will not be in the output.
template <int Corners>
void check_pieces(const SolveRequest& request, const OwnPieces& own, Console& console) {
  check_set_holds<Corners>(request.output);
  if (Corners == 4 && request.options.obtuse == ObtuseSplit::split)
    throw UsageError(
        "virtual tetrahedra are not made on pieces (--split-obtuse always); leave it out, or write one file");
  warn_of_reading(request.mesh, own.warnings, own.ignored_cells, console);
  warn_left_out<Corners>(request, Corners == 4 ? own.triangles : own.tets, own.lines, console);
  if (request.options.ranks.partitioner != Partitioner::automatic)
    console.warn("--partitioner does not apply to pieces (they stay as they are, or are cut along a curve)");
  if (request.team > 1) console.warn("--team does not apply to pieces (each rank has its own)");
  if (own.lines > 0)
    console.warn("{}: {} will not be in it (pieces are written without lines)", request.output.string(),
                 counted(own.lines, "line", "lines"));
}

}  // namespace

std::optional<std::string> what_needs_whole(const SolveRequest& request) {
  if (request.each_source) return "--each-source";
  if (!request.sources.level_set.empty()) return "--source-levelset";
  if (!request.probe.output.empty()) return "--probe";
  if (!request.picture.file.empty()) return "--picture";
  if (!request.mask.file.empty() && piece_kind_of(request.mask.file) != PieceKind::image) return "a --mask in one file";
  return std::nullopt;
}

bool goes_by_parts(const SolveRequest& request) {
  return request.to_pieces() && piece_kind_of(request.mesh).has_value() && !what_needs_whole(request);
}

int run_solve_parts(const SolveRequest& request, Communicator& communicator, Console& console) {
  if (communicator.rank() > 0) silence(true);
  SideInputs inputs;
  all_or_none(communicator, [&] {
    check_request(request);
    ranks::check_rank_options(request.on_image() ? DomainKind::image : DomainKind::tetrahedra, request.options);
    inputs = read_side_inputs(request);
  });
  SharedSteps ranks(communicator);
  SolveSummary summary{request};
  summary.ranks = communicator.size();
  const Timer timer;
  const auto finish = [&](auto&& make) {
    auto run = about_file(request.mesh, make);
    summary.read_seconds = timer.seconds();
    return solve_and_write(request, std::move(run), inputs, &ranks, summary, console);
  };
  if (request.on_image()) {
    if (request.team > 1) console.warn("--team does not apply to pieces (each rank has its own)");
    if (console.options.threads > 1) console.warn("--threads has no effect on an image in pieces (a rank uses one)");
    ImagePart part = read_reported_part(communicator, request.mesh, console);
    warn_unused_mask(request.mask, console);
    std::vector<std::uint8_t> allowed;
    if (const MaskRequest& wanted = request.mask; !wanted.file.empty()) {
      ImagePart mask = read_reported_part(communicator, wanted.file, console);
      mask.image.grid = mask.whole;  // to be compared
      allowed = mask_values(mask_array(part.whole, mask.image, wanted.file.string(), wanted.array));
    }
    return finish([&] { return ImagePartRun(request, std::move(part), std::move(allowed), communicator, console); });
  }
  OwnPieces own = [&] {
    const Activity activity(console, "reading " + request.mesh.string());
    return read_own_pieces(communicator, request.mesh);
  }();
  summary.cut_cells = own.cut_cells;
  const int corners = about_file(request.mesh, [&] { return pick_elements(request, own.triangles, own.tets); });
  const auto on_mesh = [&]<int Corners>(std::integral_constant<int, Corners>) {
    check_pieces<Corners>(request, own, console);
    return finish([&] { return MeshPartRun<Corners>(request, std::move(own), communicator); });
  };
  return corners == 3 ? on_mesh(std::integral_constant<int, 3>()) : on_mesh(std::integral_constant<int, 4>());
}

template <int Corners>
void write_in_pieces(SharedSteps& ranks, const SolveRequest& request, Dataset&& dataset) {
  std::vector<MeshPiece<Corners>> pieces(1);
  MeshPiece<Corners>& whole = pieces[0];
  whole.mesh = take_mesh<Corners>(dataset);
  whole.point_data = std::move(dataset.point_data);
  whole.cell_data = std::move(dataset.template block<Corners>().data);
  whole.global_vertex.resize(whole.mesh.vertex_count());
  whole.global_element.resize(whole.mesh.element_count());
  std::iota(whole.global_vertex.begin(), whole.global_vertex.end(), std::uint64_t{0});
  std::iota(whole.global_element.begin(), whole.global_element.end(), std::uint64_t{0});
  ranks.take([&] {
    (void)sum_of_all(ranks.communicator(), Corners);
    write_shared(ranks.communicator(), request.output,
                 repartition(ranks.communicator(), std::span<const MeshPiece<Corners>>(pieces)), request.overwrite);
  });
}

void write_in_pieces(SharedSteps& ranks, const SolveRequest& request, Image&& image) {
  ranks.take([&] {
    (void)sum_of_all(ranks.communicator(), voxel_corners);
    write_shared(ranks.communicator(), request.output, scatter_image(ranks.communicator(), std::move(image)),
                 request.overwrite);
  });
}

void add_largest(Communicator& communicator, std::size_t vertices, SolveSummary& summary) {
  std::array<double, 2> most{static_cast<double>(vertices), static_cast<double>(peak_resident_bytes())};
  max_over_ranks(communicator, most);
  summary.max_vertices = static_cast<std::uint64_t>(most[0]);
  summary.max_bytes = static_cast<std::uint64_t>(most[1]);
}

void help_to_write_pieces(Communicator& communicator, const SolveRequest& request) {
  const InterruptGuard guard;
  const std::uint64_t corners = sum_of_all(communicator, 0);
  const auto write = [&](auto part) { write_shared(communicator, request.output, std::move(part), request.overwrite); };
  if (corners == 3) write(repartition(communicator, std::span<const MeshPiece<3>>()));
  else if (corners == 4) write(repartition(communicator, std::span<const MeshPiece<4>>()));
  else write(scatter_image(communicator, {}));
}

template void write_in_pieces<3>(SharedSteps&, const SolveRequest&, Dataset&&);
template void write_in_pieces<4>(SharedSteps&, const SolveRequest&, Dataset&&);

}  // namespace isochron::cli
