// A solver for rank 0 that looks like `Solver` and lets all ranks do the work; the other ranks serve it.
#pragma once

#include <memory>
#include <span>

#include "isochron/solve/mpi/scatter.h"
#include "isochron/solve/solver.h"

namespace isochron::mpi {

/// All ranks of a job as rank 0 sees them: it says what comes next, and they do it.
class Ranks {
 public:
  explicit Ranks(Transport& transport) : transport_(transport) {}
  /// Lets the others go, unless something went wrong half-way.
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  [[nodiscard]] Transport& transport() { return transport_; }
  /// True while the others are in the middle of something that rank 0 has left with an exception: only
  /// `Transport::abort` ends them then.
  [[nodiscard]] bool stranded() const { return busy_; }

  enum class Order : std::uint32_t { triangles, tetrahedra, solve, release, write, end };
  /// Lets the others go on to writing, together with this rank.
  void start_writing() {
    give(Order::write);
    over_ = true;
  }
  /// Tells the others what to do and does the same here. When it ends with Cancelled, it does so on all ranks, and the
  /// job is over.
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
    }
    busy_ = false;
  }

 private:
  void give(Order order);

  Transport& transport_;
  bool busy_ = false, over_ = false;
};

enum class AfterServing { end, write };

/// What ranks other than 0 do: they serve until they are let go, and give what comes then. `options` as on rank 0.
/// Throws Cancelled when all ranks do; after any other exception the job must be aborted.
AfterServing serve(Transport& transport, const SolveOptions& options);

/// Solves from any sources that `Solver` takes. The mesh is shared out for the first ones, unless the options say how.
template <int Corners>
class RankedSolver {
 public:
  /// Keeps references. Throws as `Solver` does.
  RankedSolver(Ranks& ranks, Domain<Corners> domain, SolveOptions options, const DealOptions& deal);
  ~RankedSolver();
  RankedSolver(const RankedSolver&) = delete;
  RankedSolver& operator=(const RankedSolver&) = delete;

  Arrival solve(const Sources& sources);
  /// One after the other.
  void solve_many(std::span<const Sources> source_sets, const TakeArrival& take);

  /// Of the last solve.
  [[nodiscard]] const Traffic& traffic() const { return traffic_; }

 private:
  void share_out(std::span<const GlobalSeed> seeds);

  Ranks& ranks_;
  Domain<Corners> domain_;
  SolveOptions options_;
  DealOptions deal_;
  Share<Corners> share_;
  std::unique_ptr<DistributedSolver<Corners>> solver_;
  Traffic traffic_;
  double setup_seconds_ = 0;
};

}  // namespace isochron::mpi
