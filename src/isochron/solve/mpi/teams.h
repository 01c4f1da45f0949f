// Ranks of one machine that solve as one.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "isochron/core/cores.h"
#include "isochron/core/progress.h"
#include "isochron/solve/mpi/transport.h"
#include "isochron/solve/options.h"

namespace isochron::mpi {

/// Ranks that share a memory make a team: the first of them has the part of all, and solves it with a thread for each
/// of them, as far as there are cores, on the cores of all, while the others wait. So there are no borders and no
/// messages between them, and whoever is done with his share of a band helps the others. What is shared out is shared
/// out between those that lead.
///
/// A rank for which the system does not say on which cores it runs, or which may not use the others' or have as many
/// threads, is a team of its own; so are ranks whose threads are tied to places (OMP_PROC_BIND and the like).
class Teams {
 public:
  /// All ranks together. A team has at most so many ranks, as rank 0 says; 0: as many as there are. Keeps a reference.
  Teams(Transport& world, int most);
  /// Gives the cores back.
  ~Teams();
  Teams(const Teams&) = delete;
  Teams& operator=(const Teams&) = delete;

  [[nodiscard]] int count() const { return count_; }
  /// Whether there is a team of more than one rank.
  [[nodiscard]] bool any() const { return count() < world_.size(); }
  [[nodiscard]] bool leads() const { return own_leader_ == world_.rank(); }
  /// Of this rank's team.
  [[nodiscard]] int threads() const { return threads_; }
  /// Why this rank's team is not what it could be; empty where it is.
  [[nodiscard]] const std::string& note() const { return note_; }
  /// Between those that lead, for them alone.
  [[nodiscard]] Transport& between() { return between_ == nullptr ? world_ : *between_; }

  /// The options of a rank that leads: threads of its team, and a progress that is told to stop by any of it. They
  /// must not outlive this.
  [[nodiscard]] SolveOptions options(SolveOptions own) const {
    if (!any()) return own;
    own.threads = threads_;
    own.progress.cancel = &stop_;
    own.progress.report = [this, report = std::move(own.progress.report)](double fraction) {
      look();
      if (report) report(fraction);
    };
    return own;
  }

  /// All ranks together, each with its own progress: `work` on those that lead, while the others wait. Throws Cancelled
  /// on all of a team when its leader does.
  template <class Work>
  void lead(const Progress& own, Work&& work) {
    if (!any()) return std::forward<Work>(work)();
    const int tag = world_.next_tag();
    if (!leads()) return wait_for_leader(tag, own);
    listen(tag, own);
    look();
    try {
      std::forward<Work>(work)();
    } catch (const Cancelled&) {
      dismiss(tag, true);
      throw;
    }
    dismiss(tag, false);
  }

 private:
  void listen(int tag, const Progress& own);
  /// Whether one of the team has been told to stop.
  void look() const {
    const Transport& between = between_ == nullptr ? world_ : *between_;
    if (between.watch) between.watch();
  }
  void dismiss(int tag, bool cancelled);
  void wait_for_leader(int tag, const Progress& own);

  Transport& world_;
  std::vector<int> members_;  ///< of this rank's team, when it leads: the others
  int count_ = 0;
  int own_leader_ = 0;
  int threads_ = 1;
  std::string note_;
  CoreSet own_cores_;
  bool moved_ = false;
  std::unique_ptr<Transport> between_;
  std::atomic<bool> stop_{false};
};

}  // namespace isochron::mpi
