// A distributed solve on paper: the times of a coarse solve, the partition of a mesh too large to hold, and the
// schedule.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/paper/scale_model.h"
#include "isochron/types.h"

namespace isochron::bench {

/// A box of the generator's index space with a lattice of times and places.
struct FieldPatch {
  std::array<std::size_t, 3> cells;  ///< of the coarse lattice, which has one node more along each axis
  std::vector<float> time;           ///< by node, first axis fastest, in mean edge travel times of the coarse mesh
  std::vector<Vec3f> place;

  /// Linear in each axis between the nodes; 0 to 1 along each axis.
  [[nodiscard]] double time_at(double x, double y, double z) const;
  [[nodiscard]] Vec3d place_at(double x, double y, double z) const;
};

enum class FieldShape {
  box,       ///< one patch
  ventricle  ///< a square patch over the apex and four sectors of the ring around it, one after the other
};

struct ScaleField {
  std::string name;
  FieldShape shape = FieldShape::box;
  std::vector<FieldPatch> patches;
  std::uint64_t elements = 0;  ///< of the coarse mesh
  Rework rework;
};

/// The cube, constant speed, from its middle. `n` vertices a side.
ScaleField cube_field(std::size_t n, int threads);

enum class Stimulus {
  one,   ///< a vertex in the middle of the wall
  sites  ///< a hundred places of the inner surface at once, as a conduction system would
};
/// The ventricle with velocities of 3 : 1 along and across its fibres.
ScaleField ventricle_field(std::size_t elements, Stimulus stimulus, int threads);

// ---- The schedule: rank clocks, messages and reductions, round by round.

enum class BandRule {
  wait,  ///< rounds of work, exchange and reduction, until no rank has work left in the band
  flow,  ///< values are worked on as they arrive; one reduction when all are done with the band (our solver)
  ahead  ///< a rank begins the next band once its neighbours' values are there; reductions are `lead` bands behind
};

/// What one rank does in a band.
struct RankWork {
  std::uint32_t rank;
  double vertices;  ///< that the band reaches and the rank owns
  double late;      ///< share of them that the band reaches through another rank
};

/// The border values that one rank sends another in a band.
struct ModelMessage {
  std::uint32_t from, to;
  double values;
};

/// One band. Each rank and each pair of ranks occurs once; a rank that sends has work.
struct BandLoad {
  std::vector<RankWork> work;
  std::vector<ModelMessage> messages;
  int crossings = 0;         ///< how many times a front passes from rank to rank within the band, at most
  double width = 0;          ///< in mean edges
  double parts_crossed = 0;  ///< width in sides of a part
  double weight = 1;         ///< bands that this one stands for

  void clear();
};

/// Seconds of a solve and where they went. They add up: `seconds` = `ideal` + what was lost.
struct Outcome {
  double seconds = 0;
  double ideal = 0;       ///< every vertex once, shared evenly
  double repeats = 0;     ///< vertices processed again, and received values pushed from
  double imbalance = 0;   ///< ranks that the front has reached wait for the busiest one
  double fill = 0;        ///< ranks that the front has not reached, or has left
  double latency = 0;     ///< messages as such: sending, flying, taking
  double bandwidth = 0;   ///< their bytes
  double reductions = 0;  ///< agreeing on the next band
  double bands = 0, rounds = 0, messages = 0, vertices = 0;
  double pairs = 0;   ///< of ranks that exchange something in a band, over all bands
  double values = 0;  ///< ghosts, each once
  double sent = 0;    ///< values sent, with those that were corrected

  [[nodiscard]] double efficiency() const { return seconds > 0 ? ideal / seconds : 1; }
  /// All of it times a factor: for a sample of the bands.
  void scale(double factor);
};

/// Plays bands one after the other. To see what each cost is worth it keeps further clocks that leave out reductions,
/// then bytes, then messages. With `ahead` bands must not be left out: their weights are 1.
class ScheduleClock {
 public:
  static constexpr std::size_t lead = 16;

  ScheduleClock(const Machine& machine, const Rework& rework, std::uint32_t ranks, BandRule rule);

  void play(const BandLoad& band);
  [[nodiscard]] Outcome outcome() const;

 private:
  /// One way of counting costs.
  struct Clock {
    Machine machine;
    double now = 0;              ///< end of the last reduction
    std::vector<double> ends;    ///< of the last `lead` reductions, in a ring
    double last = 0;             ///< latest that any rank was busy or any message arrived
    std::vector<double> free;    ///< by rank: when it has done its last band
    std::vector<double> filled;  ///< by rank: when the last message for it arrived
  };

  void play_together(Clock& clock, const BandLoad& band);
  void play_ahead(Clock& clock, const BandLoad& band);
  /// Fills `busy_` with each rank's pushes and `traffic_` with its messages.
  void gather(const BandLoad& band);
  void forget(const BandLoad& band);

  Rework rework_;
  std::uint32_t ranks_;
  BandRule rule_;
  double doublings_;
  std::vector<Clock> clocks_;
  std::vector<double> busy_, traffic_;  ///< by rank, zero between bands
  Outcome total_;
  std::size_t played_ = 0;
  double uneven_ = 0, idle_ = 0;  ///< pushes lost to imbalance and to empty ranks, if every band waited
};

// ---- The partition: blocks of the generator's index space, assigned to ranks along a curve, and what each band of
// time holds for each of them.

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
