// How ranks reach one another: MPI processes, threads of one process, or one rank by itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "isochron/core/cuda/device_array.h"

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

/// One rank's access to all ranks. Nothing here waits, apart from `pause` and `split`; collectives.h has what does.
/// Every message arrives once; messages may overtake one another. Not for use by two threads at a time.
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

}  // namespace isochron
