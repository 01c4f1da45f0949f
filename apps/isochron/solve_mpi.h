// Commands with `--backend mpi`: who does what on which rank, and what becomes of errors.
#pragma once

#include <functional>
#include <memory>

#include "apps/isochron/solve.h"
#include "isochron/comm/collectives.h"

namespace isochron::cli {

/// What all ranks of a job do together: so many steps where the first one does the rest alone (it solves with all, and
/// with all writes pieces), or everything.
class SharedSteps {
 public:
  SharedSteps(Communicator& communicator, int steps) : communicator_(communicator), left_(steps), all_(false) {}
  explicit SharedSteps(Communicator& communicator) : communicator_(communicator), left_(0), all_(true) {}

  [[nodiscard]] Communicator& communicator() { return communicator_; }
  [[nodiscard]] bool first() const { return communicator_.rank() == 0; }
  /// True while the others are in the middle of a step that this rank has left with an exception: only
  /// `Communicator::abort` ends them then.
  [[nodiscard]] bool stranded() const { return in_step_; }

  /// All ranks together: the next step. What they throw together and Cancelled are the end of all steps.
  template <class Work>
  void take(Work&& work) {
    if (all_) return std::forward<Work>(work)();
    --left_;
    throw_together(communicator_, {});  // the first rank has come so far
    in_step_ = true;
    try {
      std::forward<Work>(work)();
    } catch (const Cancelled&) {
      in_step_ = false, left_ = 0;
      throw;
    } catch (const ThrownTogether&) {
      in_step_ = false, left_ = 0;
      throw;
    }
    in_step_ = false;
  }
  /// On the first rank, with an exception in flight: the others need not wait for the next step.
  void give_up();

 private:
  Communicator& communicator_;
  int left_;
  bool all_;
  bool in_step_ = false;
};

/// Joins the job. On rank 0 calls `work` and gives its exit code; the others take the steps with it. An error in the
/// middle of a step ends all ranks.
int run_over_ranks(const SolveRequest& request, const std::function<int(SharedSteps&)>& work);

/// Joins the job and calls `work` on all ranks; gives the exit code of the first. What all of them throw only the first
/// one says; what one alone throws ends all.
int run_on_all_ranks(const std::function<int(Communicator&)>& work);

/// Says what the exception in flight says and ends all ranks: the others may be in the middle of something that this
/// one has left, and cannot go on without it.
[[noreturn]] void fail_all(Communicator& communicator);

/// True when the launcher started this process as another than the first, and all of them would say the same.
bool is_another_rank(int argc, const char* const* argv);

// ---- solve_parts.cpp: every rank reads, solves on or writes its own part.

struct SolveSummary;

/// The first thing asked for that only a rank with the whole mesh or image can do.
std::optional<std::string> what_needs_whole(const SolveRequest& request);

/// From pieces to pieces, with nothing that needs the whole.
bool goes_by_parts(const SolveRequest& request);

/// All ranks together, on a mesh or an image; gives the exit code. The first rank speaks.
int run_solve_parts(const SolveRequest& request, Communicator& communicator, Console& console);

/// All ranks together: adds the largest part, of which this rank has so many vertices, and the most memory of a rank.
void add_largest(Communicator& communicator, std::size_t vertices, SolveSummary& summary);

/// Shares out the mesh of the first rank and lets every rank write a piece. The others call `help_to_write_pieces`.
template <int Corners>
void write_in_pieces(SharedSteps& ranks, const SolveRequest& request, Dataset&& dataset);
void write_in_pieces(SharedSteps& ranks, const SolveRequest& request, Image&& image);
void help_to_write_pieces(Communicator& communicator, const SolveRequest& request);

}  // namespace isochron::cli
