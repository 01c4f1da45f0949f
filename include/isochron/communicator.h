// How ranks reach one another: MPI processes, threads of one process, or one rank by itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "isochron/device.h"

namespace isochron {

using Bytes = std::vector<std::byte>;

struct RankMessage {
  int rank = 0;  ///< the sender or, before it is sent, the receiver
  Bytes bytes;
};

/// A message that is received in device memory.
struct DeviceMessage {
  cuda::DeviceArray<std::byte> memory;  ///< may be larger
  std::size_t bytes = 0;

  /// Makes room for a message, with some more so that the next ones find it large enough.
  void resize(std::size_t wanted) {
    if (memory.size() < wanted) memory = cuda::DeviceArray<std::byte>(2 * wanted);
    bytes = wanted;
  }
};

/// What all ranks agree on in one reduction: the least of one number and the sums of a few others.
struct Tally {
  std::int64_t least = 0;
  std::array<std::int64_t, 4> sums{};

  void add(const Tally& other) {
    if (other.least < least) least = other.least;
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += other.sums[k];
  }
};

/// One rank's access to all ranks. Nothing here waits, apart from `pause` and `split`. Every message arrives once;
/// messages may overtake one another. Not for use by two threads at a time.
class Communicator {
 public:
  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  virtual ~Communicator() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// The same two for arrays that have an entry for each rank.
  [[nodiscard]] std::size_t index() const { return static_cast<std::size_t>(rank()); }
  [[nodiscard]] std::size_t ranks() const { return static_cast<std::size_t>(size()); }
  /// Among the ranks on the same machine, from 0 on.
  [[nodiscard]] virtual int local_rank() const { return rank(); }
  /// The first rank on the same machine.
  [[nodiscard]] virtual int machine() const { return rank(); }

  /// All ranks together: a communicator of those that are members, in the order of their ranks; null on the others.
  /// This one must outlive it.
  virtual std::unique_ptr<Communicator> split(bool member) = 0;

  /// Sends the bytes to another rank (or to this one). Tags are from 0 to `max_tags` − 1.
  virtual void send(int to, int tag, Bytes&& bytes) = 0;
  /// Takes a message with this tag that has arrived; false when there is none now.
  virtual bool receive(int tag, RankMessage& message) = 0;

  /// Whether messages go from one device's memory to another's without a copy on the host.
  [[nodiscard]] virtual bool takes_device_memory() const { return false; }
  /// As `send` and `receive`, with the bytes in device memory; a message may be sent by one and received by the other.
  /// The bytes have been taken when it returns.
  virtual void send_from_device(int to, int tag, const std::byte* data, std::size_t bytes) {
    Bytes copy(bytes);
    cuda::download(copy.data(), data, bytes);
    send(to, tag, std::move(copy));
  }
  virtual bool receive_on_device(int tag, DeviceMessage& message) {
    RankMessage copy;
    if (!receive(tag, copy)) return false;
    message.resize(copy.bytes.size());
    message.memory.upload_from(copy.bytes);
    return true;
  }

  /// Starts the next reduction, to which every rank contributes once; one at a time.
  virtual void start_tally(const Tally& own) = 0;
  /// True once every rank has contributed; then `all` is the result.
  virtual bool tally_done(Tally& all) = 0;

  /// To be called between two looks when there is nothing to do: may give the core to another thread.
  virtual void pause() = 0;

  /// Ends all ranks with this exit code.
  [[noreturn]] virtual void abort(int exit_code) = 0;

  /// Called now and then while this rank waits in a collective step, and in each band; what it throws ends the step on
  /// this rank.
  std::function<void()> watch;

  static constexpr int max_tags = 16384;

  /// A tag for the next thing that all ranks do together. They do everything in the same order, so they get the same
  /// one, and a rank that is ahead does not mix with one that is behind.
  int next_tag() { return rounds_++ % max_tags; }

 private:
  int rounds_ = 0;
};

// ---- Ranks that are threads of one process; and the one rank that needs no others.

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

/// Base of what `throw_together` throws, beside Error: every rank has it in flight, so that none waits for another.
struct ThrownTogether {};

}  // namespace isochron

namespace isochron::mpi {

// ---- MPI processes as ranks. The only file that calls MPI is mpi_communicator.cpp.

/// True in a build with MPI.
bool available();

/// The rank that the launcher (mpirun and relatives) gave this process, as its environment says before MPI has started;
/// 0 when there is no launcher.
int launched_rank();
/// How many processes the launcher has started, likewise; 1 when it does not say.
int launched_ranks();

/// Starts MPI and joins all processes of the job; a process without a launcher is a job of its own. Once in a process.
/// MPI ends when the communicator is destroyed, which waits for the other ranks. Throws RuntimeError in a build without
/// MPI.
std::unique_ptr<Communicator> join_world();

}  // namespace isochron::mpi
