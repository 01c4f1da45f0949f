#include "apps/isochron/solve_parts.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "apps/isochron/mesh_input.h"
#include "apps/isochron/result_arrays.h"
#include "apps/isochron/shared_output.h"
#include "apps/isochron/solve_report.h"
#include "isochron/comm/collectives.h"
#include "isochron/core/timer.h"
#include "isochron/dist/ghost_values.h"
#include "isochron/io/pieces/part_files.h"
#include "isochron/io/pieces/part_input.h"
#include "isochron/mesh.h"
#include "isochron/solve/ranks/part_solver.h"
#include "isochron/solver.h"

namespace isochron::cli {
namespace {

/// One rank's part of a run, step by step; every step is one that all ranks take together.
template <int Corners>
class PartRun {
 public:
  PartRun(const SolveRequest& request, const SideInputs& inputs, Communicator& communicator, Console& console)
      : request_(request), inputs_(inputs), communicator_(communicator), console_(console) {}

  int run(OwnPieces&& own, SolveSummary& summary, const Timer& since_start) {
    about_file(request_.mesh, [&] {
      take_part(std::move(own));
      summary.read_seconds = since_start.seconds();
      solve();
    });
    finish_arrays(summary);
    write(summary);
    if (communicator_.rank() != 0) return 0;
    print_summary(summary, console_);
    return judge(summary);
  }

 private:
  /// The part, and the sources on it.
  void take_part(OwnPieces&& own) {
    if (own.ready_parts && request_.options.ranks.blocks_per_rank == 0) {
      data_ = take_ready_part<Corners>(communicator_, std::move(own));
      const CellBlock<7 - Corners> no_cells;
      const std::array pieces{TaggedPiece<Corners>{data_.point_data,
                                                   data_.part.global_vertex,
                                                   {data_.part.mesh.elements, data_.cell_data},
                                                   {no_cells.cells, no_cells.data}}};
      gather(pieces);
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
    gather(pieces);
  }

  void gather(std::span<const TaggedPiece<Corners>> pieces) {
    sources_ = gather_named_sources(request_, inputs_, data_.part.whole_vertices);
    for (const NameValue& tag : request_.sources.tags)
      for (const std::uint64_t vertex : tagged_vertices<Corners>(communicator_, tag, pieces))
        sources_.vertices.push_back({GlobalVertexId(vertex), request_.sources.time.value_or(0.0)});
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

  /// Counts and cells in messages are those of the rank's part.
  void make_metric() {
    all_or_none(communicator_, [&] {
      if (data_.part.mesh.element_count() == 0) return;
      try {
        check_mesh(data_.part.mesh);
        metric_ = metric_from_dataset<Corners>(data_.part.mesh, fields_, mesh_metric(request_));
        check_metric(metric_, data_.part.mesh.element_count(), Subject::metric);
      } catch (const InputError& error) {
        if (communicator_.size() == 1) throw;
        throw InputError(fmt::format("in the part of rank {}: ", communicator_.rank()) + error.detail(), error.file());
      }
    });
    if (request_.unit) metric_.change_unit(*request_.unit);
  }

  void solve() {
    const Timer setup;
    fields_.point_data = std::move(data_.point_data);
    fields_.template block<Corners>().data = std::move(data_.cell_data);
    check_extent();
    make_metric();
    Activity activity(console_, "solving");
    SolveOptions options = request_.options;
    options.progress = communicator_.rank() == 0 ? activity.progress() : interruptible();
    const InterruptGuard guard;
    const double before = setup.seconds();
    own_ = Solver({data_.part, metric_}, options, communicator_).solve(sources_);
    own_.setup_seconds += before;
    metric_ = {};
    note_unused_fibers(request_.metric, own_.notes);
  }

  /// The result as arrays of the part, ghosts too.
  void finish_arrays(SolveSummary& summary) {
    Arrival result;
    result.precision = own_.precision;
    const auto with_ghosts = [&](auto& values) {
      using T = typename std::decay_t<decltype(values)>::value_type;
      const std::vector<T> ghosts = ghost_values(communicator_, data_.part, std::span<const T>(values));
      values.insert(values.end(), ghosts.begin(), ghosts.end());
      return std::move(values);
    };
    result.times = with_ghosts(own_.times);
    result.source = with_ghosts(own_.source);
    summary.vertices = data_.part.whole_vertices;
    summary.elements = data_.part.whole_elements;
    summary.corners = Corners;
    summary.solves_per_vertex =
        static_cast<double>(own_.counters.local_solves) / static_cast<double>(data_.part.whole_vertices);
    if (own_.unreached > 0)
      summary.unreached = explain_unreached(communicator_, data_.part, std::span<const double>(result.times));
    if (own_.unreached > 0 && own_.reached > 0 && communicator_.rank() == 0)
      warn_unreached(summary, own_.unreached, console_);
    drop_results(fields_.point_data);
    add_result(result, fields_.point_data);
    summary.arrival = std::move(own_);
    data_.point_data = std::move(fields_.point_data);
    data_.cell_data = std::move(fields_.template block<Corners>().data);
  }

  void write(SolveSummary& summary) {
    const Timer timer;
    const std::size_t vertices = data_.part.mesh.vertex_count();
    write_shared(communicator_, request_.output, std::move(data_));
    summary.written.push_back(request_.output);
    summary.write_seconds = timer.seconds();
    add_largest(communicator_, vertices, summary);
  }

  const SolveRequest& request_;
  const SideInputs& inputs_;
  Communicator& communicator_;
  Console& console_;
  PartData<Corners> data_;
  Dataset fields_;  ///< the arrays of the part while the mesh is solved on
  Metric metric_;
  Sources sources_;
  Arrival own_;
};

template <int Corners>
int run_parts(const SolveRequest& request, const SideInputs& inputs, OwnPieces&& own, Communicator& communicator,
              SolveSummary& summary, const Timer& timer, Console& console) {
  check_set_holds<Corners>(request.output);
  if (Corners == 4 && request.options.obtuse == ObtuseSplit::split)
    throw UsageError(
        "virtual tetrahedra are not made on pieces (--split-obtuse always); leave it out, or write one file");
  if (communicator.rank() == 0) {
    warn_of_reading(request, own.warnings, own.ignored_cells, console);
    warn_left_out<Corners>(request, Corners == 4 ? own.triangles : own.tets, own.lines, console);
    if (request.options.ranks.partitioner != Partitioner::automatic)
      console.warn("--partitioner does not apply to pieces (they stay as they are, or are cut along a curve)");
    if (request.team > 1) console.warn("--team does not apply to pieces (each rank has its own)");
    if (own.lines > 0)
      console.warn(fmt::format("{}: {} will not be in it (pieces are written without lines)", request.output.string(),
                               counted(own.lines, "line", "lines")));
  }
  return PartRun<Corners>(request, inputs, communicator, console).run(std::move(own), summary, timer);
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
  SideInputs inputs;
  all_or_none(communicator, [&] {
    check_request(request);
    ranks::check_rank_options(DomainKind::tetrahedra, request.options);
    inputs = read_side_inputs(request);
  });
  SolveSummary summary;
  summary.mesh = request.mesh;
  summary.ranks = communicator.size();
  const Timer timer;
  OwnPieces own = [&] {
    const Activity activity(console, "reading " + request.mesh.string());
    return read_own_pieces(communicator, request.mesh);
  }();
  const int corners = about_file(request.mesh, [&] { return pick_elements(request, own.triangles, own.tets); });
  return corners == 3 ? run_parts<3>(request, inputs, std::move(own), communicator, summary, timer, console)
                      : run_parts<4>(request, inputs, std::move(own), communicator, summary, timer, console);
}

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

template <int Corners>
void write_in_pieces(SharedSteps& ranks, const std::filesystem::path& path, Dataset&& dataset) {
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
    write_shared(ranks.communicator(), path,
                 repartition(ranks.communicator(), std::span<const MeshPiece<Corners>>(pieces)));
  });
}

void write_in_pieces(SharedSteps& ranks, const std::filesystem::path& path, Image&& image) {
  ranks.take([&] {
    (void)sum_of_all(ranks.communicator(), voxel_corners);
    write_shared(ranks.communicator(), path, scatter_image(ranks.communicator(), std::move(image)));
  });
}

void add_largest(Communicator& communicator, std::size_t vertices, SolveSummary& summary) {
  std::array<double, 2> most{static_cast<double>(vertices), static_cast<double>(peak_resident_bytes())};
  max_over_ranks(communicator, most);
  summary.max_vertices = static_cast<std::uint64_t>(most[0]);
  summary.max_bytes = static_cast<std::uint64_t>(most[1]);
}

void help_to_write_pieces(Communicator& communicator, const std::filesystem::path& path) {
  const InterruptGuard guard;
  const std::uint64_t corners = sum_of_all(communicator, 0);
  if (corners == 3) write_shared(communicator, path, repartition(communicator, std::span<const MeshPiece<3>>()));
  else if (corners == 4) write_shared(communicator, path, repartition(communicator, std::span<const MeshPiece<4>>()));
  else write_shared(communicator, path, scatter_image(communicator, {}));
}

template std::vector<std::uint64_t> tagged_vertices(Communicator&, const NameValue&, std::span<const TaggedPiece<3>>);
template std::vector<std::uint64_t> tagged_vertices(Communicator&, const NameValue&, std::span<const TaggedPiece<4>>);
template void write_in_pieces<3>(SharedSteps&, const std::filesystem::path&, Dataset&&);
template void write_in_pieces<4>(SharedSteps&, const std::filesystem::path&, Dataset&&);

}  // namespace isochron::cli
