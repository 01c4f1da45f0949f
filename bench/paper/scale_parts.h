// The partition of a mesh too large to hold: blocks of the generator's index space, dealt out to ranks along a curve,
// and what each band of time holds for each of them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "bench/paper/scale_field.h"
#include "bench/paper/scale_schedule.h"

namespace isochron::bench {

/// One patch of the field at the mesh's own resolution.
struct PlannedPatch {
  std::array<std::uint64_t, 3> vertices;  ///< along each axis
  std::array<std::uint64_t, 3> cells;     ///< of the whole patch; vertex i lies at (i + offset) / cells
  std::array<std::uint64_t, 3> offset;
  std::array<std::uint64_t, 3> blocks;
  std::uint32_t first_part;

  [[nodiscard]] std::uint32_t parts() const { return static_cast<std::uint32_t>(blocks[0] * blocks[1] * blocks[2]); }
  /// Where block b begins along an axis.
  [[nodiscard]] std::uint64_t begin(int axis, std::uint64_t b) const { return b * vertices[axis] / blocks[axis]; }
};

struct BlockAt {
  std::uint32_t patch;
  std::array<std::uint32_t, 3> block;
};

/// Who gets which block, all in turn.
enum class Deal {
  curve,   ///< along a Hilbert curve: for any source
  arrival  ///< by the time that the front reaches them: those it passes together go to different ranks
};

/// Blocks of about equal size and shape, at most `ranks` × `parts_per_rank`.
struct BlockPlan {
  FieldShape shape;
  std::vector<PlannedPatch> patches;
  std::uint32_t ranks, parts_per_rank;
  double refinement;  ///< edges of this mesh to one of the coarse one
  Rework rework;
  Deal deal;
  std::vector<std::uint32_t> rank_of;  ///< by part

  static constexpr std::uint32_t none = 0xffffffffU;

  [[nodiscard]] std::uint32_t parts() const { return static_cast<std::uint32_t>(rank_of.size()); }
  [[nodiscard]] double vertices() const;
  [[nodiscard]] BlockAt at(std::uint32_t part) const;
  /// The part beside a block along an axis, up (+1) or down (−1); `none` at the mesh's surface.
  [[nodiscard]] std::uint32_t beside(const BlockAt& at, int axis, int way) const;
  /// The part at an offset of −1, 0 or 1 along each axis. Diagonal ones across a seam between patches are left out.
  [[nodiscard]] std::uint32_t beside(const BlockAt& at, const std::array<int, 3>& offset) const;
};
BlockPlan plan_blocks(const ScaleField& field, double elements, std::uint32_t ranks, std::uint32_t parts_per_rank,
                      Deal deal = Deal::curve);

/// Offsets to the parts that hold some of a part's vertices as ghosts. The six tetrahedra of a cell share its diagonal
/// along (1, 1, 1), so of the diagonal neighbours only those with equal signs have an edge to here.
inline constexpr std::array<std::array<int, 3>, 14> ghost_offsets{{{1, 0, 0},
                                                                   {-1, 0, 0},
                                                                   {0, 1, 0},
                                                                   {0, -1, 0},
                                                                   {0, 0, 1},
                                                                   {0, 0, -1},
                                                                   {1, 1, 0},
                                                                   {-1, -1, 0},
                                                                   {1, 0, 1},
                                                                   {-1, 0, -1},
                                                                   {0, 1, 1},
                                                                   {0, -1, -1},
                                                                   {1, 1, 1},
                                                                   {-1, -1, -1}}};

/// Border values of all parts that belong to other ranks: each ghost once. A part's ghosts count for its rank.
double halo_values(const BlockPlan& plan);

/// A part, or a piece of it where parts are large, in which time is taken as linear.
struct FrontCell {
  std::uint32_t part;
  float low;                  ///< earliest time
  std::array<float, 3> span;  ///< times across it, along each axis
  std::array<float, 3> size;  ///< vertices along each axis
  std::uint8_t falls;         ///< bit a: time falls along axis a
  std::uint8_t ends;          ///< bits a and 3 + a: it is the first, the last piece of its part along axis a

  [[nodiscard]] float high() const { return low + span[0] + span[1] + span[2]; }
};
/// About `wanted` cells, at least one a part, by the time they are first reached; times in mean edges.
std::vector<FrontCell> front_cells(const ScaleField& field, const BlockPlan& plan, std::size_t wanted);

/// The share of a box, over which time rises linearly from 0 by `span` along each axis, that lies before `time`.
double share_before(double time, std::array<double, 3> span);

/// Goes through the bands of time, one after the other. Cells must be sorted as `front_cells` gives them.
class BandSweep {
 public:
  /// Every `stride`-th band stands for as many.
  BandSweep(const BlockPlan& plan, const std::vector<FrontCell>& cells, double width, std::int64_t stride = 1);

  /// The next band that has work; false at the end.
  bool next(BandLoad& band);

 private:
  void reach(const FrontCell& cell, BandLoad& band);
  void send(const FrontCell& cell, const BlockAt& at, BandLoad& band);
  void add_message(std::uint32_t from, std::uint32_t to, double values, BandLoad& band);
  /// Foreign parts upwind and downwind of a cell: bits a and 3 + a.
  [[nodiscard]] unsigned foreign_sides(const FrontCell& cell, const BlockAt& at) const;

  const BlockPlan& plan_;
  const std::vector<FrontCell>& cells_;
  double width_, side_;
  std::int64_t stride_;
  std::size_t started_ = 0;  ///< cells that have been active
  std::vector<std::uint32_t> active_;
  std::int64_t band_;
  std::vector<std::int32_t> work_of_, messages_of_;  ///< by rank: place in the band's lists, −1 for none
  std::vector<std::int32_t> next_message_;           ///< of the same sender
};

/// Simulates one solve. At most about `samples` bands are played, evenly spaced, unless the rule is `ahead`.
Outcome simulate(const BlockPlan& plan, const std::vector<FrontCell>& cells, double width, const Machine& machine,
                 BandRule rule, std::int64_t samples = 100);

}  // namespace isochron::bench
