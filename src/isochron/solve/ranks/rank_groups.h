// Ranks of one machine that solve as one.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "isochron/comm/collectives.h"
#include "isochron/core/cores.h"
#include "isochron/options.h"
#include "isochron/progress.h"

namespace isochron::ranks {

/// Ranks that share a memory make a group: the first of them has the part of all, and solves it with a thread for each
/// of them, as far as there are cores, on the cores of all, while the others wait. So there are no borders and no
/// messages between them, and whoever is done with its part of a band helps the others. The domain is partitioned
/// over those that lead.
///
/// A rank for which the system does not say on which cores it runs, or which may not use the others' or have as many
/// threads, is a group of its own; so are ranks whose threads are tied to places (OMP_PROC_BIND and the like).
class RankGroups {
 public:
  /// All ranks together. A group has at most so many ranks, as rank 0 says; 0: as many as there are. Keeps a reference.
  RankGroups(Communicator& world, int most);
  /// Gives the cores back.
  ~RankGroups();
  RankGroups(const RankGroups&) = delete;
  RankGroups& operator=(const RankGroups&) = delete;

  [[nodiscard]] int count() const { return count_; }
  /// Whether there is a group of more than one rank.
  [[nodiscard]] bool any() const { return count() < world_.size(); }
  [[nodiscard]] bool leads() const { return own_leader_ == world_.rank(); }
  /// Of this rank's group.
  [[nodiscard]] int threads() const { return threads_; }
  /// Why this rank's group is not what it could be; empty where it is.
  [[nodiscard]] const std::string& note() const { return note_; }
  /// Between those that lead, for them alone.
  [[nodiscard]] Communicator& between() { return between_ == nullptr ? world_ : *between_; }

  /// The options of a rank that leads: threads of its group, and a progress that any of it cancels. They
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

  /// All ranks together, each with its own progress: `work` on those that lead, while the others wait. What leaders
  /// throw together all ranks throw, and so what the only leader throws. Cancelled is thrown by all of a group. What
  /// one of several leaders throws alone leaves the others where they are.
  template <class Work>
  void lead(const Progress& own, Work&& work) {
    if (!any() && world_.size() > 1) return std::forward<Work>(work)();
    const int tag = world_.next_tag();
    std::optional<Failure> failed;
    if (leads()) {
      listen(tag, own);
      look();
      try {
        std::forward<Work>(work)();
      } catch (const Cancelled&) {
        dismiss(tag, true);
        throw;
      } catch (const ThrownTogether&) {
        failed = current_failure();
      } catch (...) {
        if (count() > 1) throw;
        failed = current_failure();
      }
      dismiss(tag, false);
    } else {
      wait_for_leader(tag, own);
    }
    throw_together(world_, failed);
  }

 private:
  void listen(int tag, const Progress& own);
  /// Whether one of the group was cancelled.
  void look() const {
    const Communicator& between = between_ == nullptr ? world_ : *between_;
    if (between.watch) between.watch();
  }
  void dismiss(int tag, bool cancelled);
  void wait_for_leader(int tag, const Progress& own);

  Communicator& world_;
  std::vector<int> members_;  ///< of this rank's group, when it leads: the others
  int count_ = 0;
  int own_leader_ = 0;
  int threads_ = 1;
  std::string note_;
  CoreSet own_cores_;
  bool moved_ = false;
  std::unique_ptr<Communicator> between_;
  std::atomic<bool> stop_{false};
};

}  // namespace isochron::ranks
