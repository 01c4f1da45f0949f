// How the ranks of a distributed solve reach one another. The solve knows this interface only; MPI is one way to
// provide it, threads of one process that play the ranks another.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "isochron/core/cuda/device_array.h"

namespace isochron::mpi {

using Bytes = std::vector<std::byte>;

struct Message {
  int rank = 0;  ///< who sent it or, before that, who gets it
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
};

/// One rank's end of the wire. Nothing here waits, apart from `pause`. Every message arrives once; messages may
/// overtake one another. Not for use by two threads at a time.
class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// Among the ranks on the same machine, from 0 on.
  [[nodiscard]] virtual int local_rank() const { return rank(); }
  /// The first rank on the same machine.
  [[nodiscard]] virtual int machine() const { return rank(); }

  /// All ranks together: a transport between those that are members, in the order of their ranks; null on the others.
  /// This one must outlive it.
  virtual std::unique_ptr<Transport> split(bool member) = 0;

  /// Sends the bytes to another rank (or to this one). Tags are from 0 to `max_tags` − 1.
  virtual void send(int to, int tag, Bytes&& bytes) = 0;
  /// Takes a message with this tag that has arrived; false when there is none now.
  virtual bool receive(int tag, Message& message) = 0;

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
    Message copy;
    if (!receive(tag, copy)) return false;
    message.resize(copy.bytes.size());
    message.memory.upload_from(copy.bytes);
    return true;
  }

  /// Starts the next reduction, to which every rank contributes once; one at a time.
  virtual void start_tally(const Tally& own) = 0;
  /// True once every rank has contributed; then `all` is the result.
  virtual bool tally_done(Tally& all) = 0;

  /// To be called between two looks when there is nothing to do: may give the core to somebody else.
  virtual void pause() = 0;

  /// Ends all ranks with this exit code.
  [[noreturn]] virtual void abort(int exit_code) = 0;

  /// What a rank looks at now and then while it waits in a collective step, and in each band; what it throws ends the
  /// step on this rank.
  std::function<void()> watch;

  static constexpr int max_tags = 16384;

  /// A tag for the next thing that all ranks do together. They do everything in the same order, so they get the same
  /// one, and a rank that is ahead does not mix with one that is behind.
  int next_tag() { return rounds_++ % max_tags; }

 private:
  int rounds_ = 0;
};

}  // namespace isochron::mpi
