// Solvers for rank 0 that look like `Solver` and `Solver` and let all ranks do the work; the other ranks serve
// them.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "isochron/comm/collectives.h"
#include "isochron/solve/ranks/distributed_grid_solver.h"
#include "isochron/solve/ranks/rank_groups.h"
#include "isochron/solve/ranks/scatter.h"
#include "isochron/solve/solver.h"

namespace isochron::mpi {

/// All ranks of a job as rank 0 sees them: it says what comes next, and they do it.
class Ranks {
 public:
  explicit Ranks(Communicator& communicator) : communicator_(communicator) {}
  /// Lets the others go, unless something went wrong half-way.
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  [[nodiscard]] Communicator& communicator() { return communicator_; }
  /// True while the others are in the middle of something that rank 0 has left with an exception: only
  /// `Communicator::abort` ends them then.
  [[nodiscard]] bool stranded() const { return busy_; }

  /// The mesh or image that comes next, in parts or (`whole_`) whole on every rank; what is done with it.
  enum class Order : std::uint32_t {
    triangles,
    tetrahedra,
    image,
    whole_triangles,
    whole_tetrahedra,
    whole_image,
    solve,
    release,
    write,
    end
  };
  /// Lets the others go on to writing, together with this rank.
  void start_writing() {
    give(Order::write);
    over_ = true;
  }
  /// Tells the others what to do and does the same here. When it ends with Cancelled, it does so on all ranks, and the
  /// job is over; with what all ranks throw together, they are free for the next.
  template <class Work>
  void together(Order order, Work&& work) {
    busy_ = true;
    give(order);
    try {
      work();
    } catch (const Cancelled&) {
      busy_ = false;
      over_ = true;
      throw;
    } catch (const ThrownTogether&) {
      busy_ = false;
      throw;
    }
    busy_ = false;
  }

 private:
  void give(Order order);

  Communicator& communicator_;
  bool busy_ = false, over_ = false;
};

enum class AfterServing { end, write };

/// What ranks other than 0 do: they serve until they are let go, and give what comes then. `options` as on rank 0.
/// Throws Cancelled when all ranks do; after any other exception the job must be aborted.
AfterServing serve(Communicator& communicator, const SolveOptions& options);

/// Solves from any sources that `Solver` takes. The partition is made for the first ones, unless the options say how;
/// where all ranks make one group, rank 0 solves it as it is.
template <int Corners>
class RankedSolver {
 public:
  /// Keeps references. Throws as `Solver` does.
  RankedSolver(Ranks& ranks, MeshDomain<Corners> domain, SolveOptions options, const RankOptions& rank_options);
  ~RankedSolver();
  RankedSolver(const RankedSolver&) = delete;
  RankedSolver& operator=(const RankedSolver&) = delete;

  Arrival solve(const Sources& sources);
  /// As `Solver::solve_many`. With at least as many sets as ranks each rank solves some sets, and has the whole
  /// mesh, unless `RankOptions::blocks_per_rank` are asked for; otherwise one after the other.
  void solve_many(std::span<const Sources> source_sets, const TakeArrival& take);

  /// Of the last solve, or none where each rank solved some sets.
  [[nodiscard]] const Traffic& traffic() const { return traffic_; }
  [[nodiscard]] Division division() const { return division_; }

 private:
  [[nodiscard]] std::vector<GlobalSeed> seeds_of(const Sources& sources) const;
  /// Gives the seeds where there are parts.
  std::vector<GlobalSeed> distribute(const Sources& sources);
  Arrival solve_parts(std::span<const GlobalSeed> seeds);
  /// The part of every vertex.
  [[nodiscard]] std::vector<std::uint32_t> partition(std::span<const GlobalSeed> seeds,
                                                     const RankOptions& rank_options) const;
  void release();

  Ranks& ranks_;
  MeshDomain<Corners> domain_;
  SolveOptions options_;
  RankOptions rank_options_;
  SolvePart<Corners> part_;
  std::unique_ptr<RankGroups> groups_;
  std::unique_ptr<DistributedSolver<Corners>> solver_;
  std::unique_ptr<Solver> whole_;  ///< instead, where there is one group
  Traffic traffic_;
  Division division_ = Division::domain;
  double setup_seconds_ = 0;
};

/// The same on images. Several groups are none: each rank has blocks of its own then.
class RankedGridSolver {
 public:
  /// Keeps references. Throws as `Solver` does.
  RankedGridSolver(Ranks& ranks, GridDomain domain, SolveOptions options, const RankOptions& rank_options);
  ~RankedGridSolver();
  RankedGridSolver(const RankedGridSolver&) = delete;
  RankedGridSolver& operator=(const RankedGridSolver&) = delete;

  Arrival solve(const Sources& sources);
  void solve_many(std::span<const Sources> source_sets, const TakeArrival& take);

  [[nodiscard]] const Traffic& traffic() const { return traffic_; }
  [[nodiscard]] Division division() const { return division_; }

 private:
  [[nodiscard]] std::vector<GlobalSeed> seeds_of(const Sources& sources) const;
  void distribute(std::span<const GlobalSeed> seeds);
  /// What the ranks get, and who gets what.
  [[nodiscard]] WholeGrid partition(std::span<const GlobalSeed> seeds) const;
  Arrival solve_blocks(std::span<const GlobalSeed> seeds);
  void release();

  Ranks& ranks_;
  GridDomain domain_;
  SolveOptions options_;
  RankOptions rank_options_;
  GridCells cells_;
  std::unique_ptr<DistributedGridSolver> solver_;
  std::unique_ptr<RankGroups> groups_;  ///< null where ranks have blocks
  std::unique_ptr<Solver> whole_;       ///< instead of them, where there is one group
  std::string note_;
  Traffic traffic_;
  Division division_ = Division::domain;
  double setup_seconds_ = 0;
};

}  // namespace isochron::mpi
