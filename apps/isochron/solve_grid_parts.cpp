// `isochron solve --backend mpi` on an image from pieces to pieces.
#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "apps/isochron/result_arrays.h"
#include "apps/isochron/shared_output.h"
#include "apps/isochron/solve_grid.h"
#include "apps/isochron/solve_mpi.h"
#include "apps/isochron/solve_parts.h"
#include "apps/isochron/solve_report.h"
#include "apps/isochron/tensor_input.h"
#include "isochron/comm/collectives.h"
#include "isochron/core/timer.h"
#include "isochron/image.h"
#include "isochron/io/pieces/image_pieces.h"
#include "isochron/solve/ranks/part_solver.h"
#include "isochron/solver.h"

namespace isochron::cli {
namespace {

/// One rank's share of a run, step by step; every step is one that all ranks take together.
class GridPartRun {
 public:
  GridPartRun(const SolveRequest& request, const SideInputs& inputs, Communicator& communicator, Console& console)
      : request_(request), inputs_(inputs), communicator_(communicator), console_(console) {
    summary_.mesh = request.mesh;
    summary_.ranks = communicator.size();
  }

  int run() {
    const Timer timer;
    if (communicator_.rank() == 0) warn_unused();
    read();
    about_file(request_.mesh, [&] {
      make_problem();
      summary_.read_seconds = timer.seconds();
      solve();
    });
    finish();
    write();
    if (communicator_.rank() != 0) return 0;
    print_summary(summary_, console_);
    return judge(summary_);
  }

 private:
  void warn_unused() {
    if (request_.team > 1) console_.warn("--team does not apply to pieces (each rank has its own)");
    if (console_.options.threads > 1) console_.warn("--threads has no effect on an image in pieces (a rank uses one)");
  }

  ImagePart read_reported(const std::filesystem::path& path) {
    ImagePart share = [&] {
      const Activity activity(console_, "reading " + path.string());
      return read_image_part(communicator_, path);
    }();
    if (communicator_.rank() == 0)
      for (const std::string& warning : share.image.warnings)
        console_.warn(fmt::format("{}: {}", path.string(), warning));
    return share;
  }

  void read() {
    image_part_ = read_reported(request_.mesh);
    const MaskRequest& request = request_.mask;
    warn_unused_mask(request, console_);
    if (request.file.empty()) return;
    ImagePart mask = read_reported(request.file);
    mask.image.grid = mask.whole;  // to be compared
    mask_ = mask_values(mask_array(image_part_.whole, mask.image, request.file.string(), request.array));
  }

  void make_problem() {
    Image& image = image_part_.image;
    leave_out_own_mask(request_, image, mask_);
    std::vector<double> eigenvalues;
    all_or_none(communicator_, [&] {
      eigenvalues = mean_eigenvalues(image, request_.metric, request_.tensors.order, mask_, request_.tensors.axes());
    });
    const bool tensors = !request_.metric.metric_array.empty() || !request_.metric.velocity_tensor_array.empty();
    const std::optional<double> median = median_of_all(communicator_, eigenvalues);
    if (tensors && !median) refuse_diffusivities();
    eigenvalues = {};
    all_or_none(communicator_, [&] { problem_ = image_metric(request_, image, std::move(mask_), 1, median); });
    if (!problem_.tensors) return;
    DiffusionCounts counts;
    for (const DiffusionCounts& part : all_values(communicator_, *problem_.tensors)) counts += part;
    summary_.tensors = counts;
    summary_.eigenvalue_floor = request_.metric.eigenvalue_floor;
    warn_about_tensors(request_.mesh.string(), counts, console_);
  }

  /// All ranks together: the voxels of the whole image that a tag marks.
  std::vector<VertexId> tagged(const NameValue& tag) {
    const IndexBox& box = image_part_.boxes[communicator_.index()];
    std::vector<std::uint32_t> own;
    for (const VertexId voxel : tagged_voxels(image_part_.image, tag)) {
      const auto at = image_part_.image.grid.index(voxel);
      std::array<std::uint32_t, 3> index{};
      for (std::size_t d = 0; d < 3; ++d) index[d] = at[d] + static_cast<std::uint32_t>(box.low[d]);
      own.push_back(image_part_.whole.voxel(index[0], index[1], index[2]).value);
    }
    std::vector<VertexId> all;
    for (const auto& list : exchange_values(communicator_, std::vector(communicator_.ranks(), own)))
      for (const std::uint32_t voxel : list) all.emplace_back(std::size_t{voxel});
    std::sort(all.begin(), all.end());
    return all;
  }

  void solve() {
    const Timer setup;
    Activity activity(console_, "solving");
    SolveOptions options = request_.options;
    options.progress = communicator_.rank() == 0 ? activity.progress() : interruptible();
    const InterruptGuard guard;
    const Sources sources = gather_voxel_sources(request_, inputs_, image_part_.whole.voxel_count(),
                                                 [&](const NameValue& tag) { return tagged(tag); });
    const double before = setup.seconds();
    Solver solver({BoxedGrid{&image_part_.whole, &image_part_.boxes, problem_.mask}, problem_.metric}, options,
                  communicator_);
    summary_.arrival = solver.solve(sources);
    summary_.arrival.setup_seconds += before;
  }

  /// The result as arrays of the rank's box.
  void finish() {
    Arrival& arrival = summary_.arrival;
    Arrival result;
    result.precision = arrival.precision;
    result.times = std::exchange(arrival.times, {});
    result.source = std::exchange(arrival.source, {});
    std::vector<std::uint8_t> allowed = std::move(problem_.mask);
    if (allowed.empty()) allowed.assign(result.times.size(), 1);
    problem_ = {};
    summary_.vertices = image_part_.whole.voxel_count();
    summary_.elements =
        sum_of_all(communicator_, static_cast<std::uint64_t>(std::count_if(
                                      allowed.begin(), allowed.end(), [](std::uint8_t value) { return value != 0; })));
    summary_.corners = voxel_corners;
    if (request_.options.scheme != GridScheme::automatic) summary_.scheme = request_.options.scheme;
    summary_.order = request_.options.order;
    summary_.solves_per_vertex =
        static_cast<double>(arrival.counters.local_solves) / static_cast<double>(summary_.vertices);
    if (arrival.unreached > 0)
      summary_.unreached = explain_unreached(communicator_, image_part_, allowed, result.times);
    if (communicator_.rank() == 0) warn_unreached_voxels(summary_, console_);
    Image& image = image_part_.image;
    if (!image.data.empty() && made_by_solve(image.data.all().front().name)) image.tensor_order.reset();
    drop_results(image.data);
    add_result(result, image.data);
  }

  void write() {
    const Timer timer;
    write_shared(communicator_, request_.output, std::move(image_part_));
    summary_.written.push_back(request_.output);
    summary_.write_seconds = timer.seconds();
    add_largest(communicator_, summary_.arrival.traffic->part_vertices, summary_);
  }

  const SolveRequest& request_;
  const SideInputs& inputs_;
  Communicator& communicator_;
  Console& console_;
  SolveSummary summary_;
  ImagePart image_part_;
  std::vector<std::uint8_t> mask_;  ///< that is asked for, on the rank's box
  ImageMetric problem_;
};

}  // namespace

int run_solve_grid_parts(const SolveRequest& request, Communicator& communicator, Console& console) {
  SideInputs inputs;
  all_or_none(communicator, [&] {
    check_request(request);
    ranks::check_rank_options(DomainKind::image, request.options);
    inputs = read_side_inputs(request);
  });
  return GridPartRun(request, inputs, communicator, console).run();
}

}  // namespace isochron::cli
