// Ranks that are threads of one process; and the one rank that needs no others.
#pragma once

#include <functional>
#include <memory>

#include "isochron/comm/communicator.h"

namespace isochron {

class ThreadsWorld;

/// A rank that is a thread of this process. Messages arrive in the order in which they were sent.
class ThreadsCommunicator : public Communicator {
 public:
  ThreadsCommunicator(std::shared_ptr<ThreadsWorld> world, int rank);

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override;
  std::unique_ptr<Communicator> split(bool member) override;
  void send(int to, int tag, Bytes&& bytes) override;
  bool receive(int tag, RankMessage& message) override;
  void start_tally(const Tally& own) override;
  bool tally_done(Tally& all) override;
  void pause() override;
  /// Throws RuntimeError.
  [[noreturn]] void abort(int exit_code) override;

 private:
  std::shared_ptr<ThreadsWorld> world_;
  int rank_;
  int tallies_ = 0, splits_ = 0;
};

/// Calls `work` on as many ranks, each a thread, and waits for all. Throws what the lowest rank threw that failed by
/// itself: ranks that wait for one that has failed are stopped.
void run_on_threads(int ranks, const std::function<void(Communicator&)>& work);

/// One rank, without any others.
class SelfCommunicator final : public ThreadsCommunicator {
 public:
  SelfCommunicator();
};

}  // namespace isochron
