// Connectivity of regions in images of diffusion tensors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "isochron/dataset.h"
#include "isochron/image.h"
#include "isochron/metric.h"
#include "isochron/options.h"
#include "isochron/path.h"
#include "isochron/solver.h"

namespace isochron {

// ---- Regions of an image: sets of voxels that paths begin and end in, pass or avoid.

/// All voxels whose centres are within `radius` of a point of the world; the voxel that holds it when there are none.
struct SphereRegion {
  Vec3d center;
  double radius = 0;
};

/// All voxels with this value in an image of labels.
struct LabelRegion {
  std::filesystem::path file;
  std::int64_t value = 0;
};

/// All voxels inside a mask: see `mask_of`.
struct MaskRegion {
  std::filesystem::path file;
};

/// Voxels by their indices (i, j, k), which count from 0.
struct VoxelRegion {
  std::vector<std::array<std::uint32_t, 3>> voxels;
};

/// A region as it is asked for, before there is an image.
struct RegionRequest {
  std::string text;  ///< as given, for messages
  std::variant<SphereRegion, LabelRegion, MaskRegion, VoxelRegion> what;
};

/// Takes `sphere:X,Y,Z,RADIUS` (RAS, mm), `label:FILE:VALUE`, `mask:FILE` or `voxels:i,j,k;i,j,k;…`. Throws UsageError.
RegionRequest parse_region(std::string_view text);

/// Voxels of one image in ascending order, none twice; never empty when made by the functions below.
struct Region {
  std::string name;  ///< for messages
  std::vector<VertexId> voxels;
};

/// Gives the image in a file; the reference must stay valid as long as it is used.
using ImageSource = std::function<const Image&(const std::filesystem::path&)>;

/// The voxels asked for, in or out of any mask. Throws InputError: none of them in the image, a file that is on other
/// voxels than `grid` or has several values a voxel, a label that it does not have.
Region make_region(const RegionRequest& request, const ImageGrid& grid, const ImageSource& images);

/// The region's voxels in the mask (a value a voxel, not 0 inside). Throws InputError when there are none, and says
/// where the nearest voxel of the mask is.
Region inside_mask(const Region& region, const ImageGrid& grid, std::span<const std::uint8_t> mask);

/// Every label of an image but 0, in ascending order, with its voxels; values are rounded to whole numbers. Throws
/// InputError as `values_on` does, and for values that are no whole numbers.
struct LabelledRegion {
  std::int64_t label = 0;
  Region region;
};
std::vector<LabelledRegion> all_labels(const Image& image, const ImageGrid& grid, const std::string& what);

/// Throws InputError when the two share a voxel.
void check_apart(const Region& a, const Region& b);

// ---- Connected parts of a set of voxels, and how low a level set can be that joins two regions.

struct Components {
  std::vector<std::int32_t> of_voxel;  ///< which part, −1 outside the set
  std::vector<std::size_t> sizes;      ///< voxels in each
};

/// The parts of the voxels that are not 0 in `set`; voxels that share a face, an edge or a corner are together.
Components find_components(const ImageGrid& grid, std::span<const std::uint8_t> set);

/// The smallest level for which a part of {values ≤ level} has voxels of both; +inf when there is none.
double joining_level(const ImageGrid& grid, std::span<const double> values, std::span<const VertexId> from,
                     std::span<const VertexId> to);

// ---- Region-to-region connectivity: the cheapest way between two regions and all that is nearly as cheap (paper 004,
// 3).

/// What is asked: from where to where, and which regions the path has to pass in between, in this order.
struct ConnectQuery {
  Region from;
  Region to;
  std::vector<Region> waypoints;
  double epsilon = 0.05;  ///< how much dearer than the best a voxel of the pathway may be, as a share
};

struct Connection {
  /// Per voxel u = u₁ + u₂: the least cost of all paths between the regions through it (and through the waypoints);
  /// +inf where there are none.
  std::vector<double> cost;
  double least_cost = 0;
  /// {u ≤ (1 + ε) · least_cost}, 1 inside. Where that set falls apart, only the parts that join both regions; where
  /// none does, that of the smallest ε that joins them.
  std::vector<std::uint8_t> pathway;
  double pathway_epsilon = 0;  ///< what was used
  std::size_t pathway_voxels = 0;
  double pathway_volume = 0;  ///< in the world's unit, cubed
  /// The best path, from a voxel of `from` to one of `to`. Its times are costs from the beginning.
  Path path;
  /// The same least cost by each solve alone: u₁ in `to` and u₂ in `from`. They differ by the discretisation.
  double forward_cost = 0;
  double backward_cost = 0;
  Arrival work;  ///< of all solves together: times of the work, counters, whether all converged; without arrays
  std::size_t solves = 0;
  std::vector<std::string> notes;  ///< what the user should know

  /// The cost between the regions: the mean of both solves, as `connectome` has it. The integral of local costs along
  /// the traced path feels how coarse the voxels are.
  [[nodiscard]] double mean_cost() const { return (forward_cost + backward_cost) / 2; }
};

/// Where paths between two regions may run: the voxels of `usable`, without those of `exclude`, and of `stop` only
/// those in `from` or `to`: a path may end in a stop voxel, not go on from it.
std::vector<std::uint8_t> path_mask(std::span<const std::uint8_t> usable, std::span<const Region> exclude,
                                    std::span<const Region> stop, const Region& from, const Region& to);

/// Answers many queries on one image; prepared once. Not for use by two threads at a time.
class Connector {
 public:
  /// Keeps references to the domain. Throws like `Solver`.
  Connector(GridDomain domain, const SolveOptions& options);

  /// Regions must have voxels, all inside the mask (see `inside_mask`). Throws UsageError for an epsilon out of range,
  /// InputError for regions that overlap, and NoAnswerError when the mask does not join them.
  Connection connect(const ConnectQuery& query);

 private:
  GridDomain domain_;
  Solver solver_;
};

// ---- Diffusion tensors between voxels.

/// Tensors of an image, in the world frame, and which of them count (a value a voxel, not 0 where they do). A view.
struct TensorField {
  const ImageGrid& grid;
  std::span<const SymTensor3d> tensors;
  std::span<const std::uint8_t> mask;
};

/// The tensor at a point of the world: linear between the eight voxels around it, of which only those in the mask
/// count. Nothing when the voxel that holds the point is outside the mask, or the point outside the image.
std::optional<SymTensor3d> tensor_at(const TensorField& field, const Vec3d& position);

// ---- All pairs of regions: what it costs to get from each to each; and regions for masks without a label map.

/// Square matrices, row by row in the order of `labels`; symmetric, 0 on the diagonal, +inf for pairs that no path
/// joins.
struct Connectome {
  std::vector<std::int64_t> labels;
  std::vector<double> cost;        ///< least cost: the mean of the solves from either region
  std::vector<double> length;      ///< of the best path, in the world's unit
  std::vector<double> normalised;  ///< cost / length
  /// Mean fractional anisotropy along the path, 0 for pairs that no path joins; empty when no tensors were given.
  std::vector<double> anisotropy;
  std::size_t unconnected = 0;  ///< pairs without a path
  std::size_t unfinished = 0;   ///< pairs whose path could not be traced to its end
  double asymmetry = 0;         ///< mean of |cost(i→j) − cost(j→i)| / cost over the joined pairs
  Arrival work;                 ///< of all solves together, without arrays
  std::size_t solves = 0;

  [[nodiscard]] std::size_t size() const { return labels.size(); }
  [[nodiscard]] std::size_t pairs() const { return size() * (size() - 1) / 2; }
};

/// One solve a region, and one traced path a pair: from the best voxel of the later region back to the earlier one.
/// Voxels outside the mask are left out; a region without others is joined to nothing. Throws InputError when fewer
/// than two regions have voxels in the mask or two overlap, and Cancelled. With `tensors` paths get a mean anisotropy.
Connectome connect_all(const GridDomain& domain, std::span<const LabelledRegion> regions, const SolveOptions& options,
                       const TensorField* tensors = nullptr);

/// Labels 1 … count in the voxels of the mask and 0 outside. Seeds are placed one after the other where the mask is
/// farthest from those before (in a straight line); each voxel gets the label of the seed that reaches it first at unit
/// speed inside the mask. Parts of the mask without a seed stay 0. Throws UsageError when count is 0 and InputError
/// when the mask has fewer voxels than that.
std::vector<std::int32_t> make_parcels(const ImageGrid& grid, std::span<const std::uint8_t> mask, std::size_t count,
                                       const SolveOptions& options = {});

// ---- What a path runs through (its length, the tensors and the cost along it), also as data for files.

/// The path at one of its points.
struct PathSample {
  Vec3d position;
  double distance = 0;     ///< along the path from its beginning
  double anisotropy = 0;   ///< fractional anisotropy of the interpolated tensor; NaN where there is none
  double diffusivity = 0;  ///< mean diffusivity of the interpolated tensor; NaN where there is none
  double local_cost = 0;   ///< cost per length of the pieces beside it: √(tᵀ M t) of a piece's unit tangent t
};

struct PathStatistics {
  double length = 0;           ///< in the world's unit
  double mean_anisotropy = 0;  ///< averages along the path, each piece with its length; NaN for a path of one point
  double mean_diffusivity = 0;
  double min_anisotropy = 0;
  double cost = 0;                  ///< the local cost summed up along the path
  double cost_density = 0;          ///< cost / length; 0 for a path of one point
  std::vector<PathSample> profile;  ///< at every point of the path
};

/// Looks at a path of at least one point. `metric` has an M per voxel.
PathStatistics path_statistics(std::span<const Vec3d> path, const TensorField& field, const Metric& metric);

/// Adds a line with points of its own.
void add_line(Dataset& dataset, std::span<const Vec3d> points);

/// The path as one line with point arrays "distance", "fa", "md", "local_cost" and "cost". `statistics` are those of
/// its points.
Dataset path_dataset(const Path& path, const PathStatistics& statistics);

/// The same as a table with a row for each point, under a line of names; what is not known is left empty.
std::string profile_csv(const Path& path, const PathStatistics& statistics);

// ---- Deterministic streamline tracking, to compare with optimal paths (paper 004, Fig. 9).

struct StreamlineOptions {
  double step = 0.5;             ///< in voxels (of the smallest spacing)
  double min_anisotropy = 0.15;  ///< tracking ends where the fractional anisotropy is below
  double largest_angle = 45;     ///< and where the direction turns by more degrees from one step to the next
  double shortest = 0;           ///< shorter streamlines are dropped, in the world's unit
  double longest = 0;            ///< tracking ends there; 0: twice the diagonal of the image
  int seeds_per_axis = 2;        ///< of each voxel: n³ seeds on a lattice inside it
  int threads = 1;
};

struct Streamline {
  std::vector<Vec3d> points;  ///< at least two
  bool reaches = false;       ///< one of its points is in a voxel of the target
};

struct Streamlines {
  std::vector<Streamline> lines;  ///< those that reach the target first, otherwise in the order of the seeds
  std::size_t seeds = 0;
  std::size_t reaching = 0;
};

/// Follows the principal direction of the linearly interpolated tensor both ways from seeds in the voxels of `from`,
/// by Runge and Kutta's fourth-order steps; ends at the border of the mask and where `options` say. Seeds where
/// tracking cannot start give no line. Throws UsageError for options out of range.
Streamlines track_streamlines(const TensorField& field, const Region& from, const Region& target,
                              const StreamlineOptions& options = {});

}  // namespace isochron
