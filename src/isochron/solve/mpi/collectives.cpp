#include "isochron/solve/mpi/collectives.h"

#include <algorithm>
#include <utility>

namespace isochron::mpi {
namespace {

void wait(Transport& transport) {
  if (transport.watch) transport.watch();
  transport.pause();
}

Message wait_for(Transport& transport, int tag) {
  Message message;
  while (!transport.receive(tag, message)) wait(transport);
  return message;
}

/// All messages with a tag that no rank sends any more, `sent` of them from here: they are there once as many have come
/// as were sent in all.
std::vector<Message> receive_all(Transport& transport, int tag, std::int64_t sent) {
  std::vector<Message> received;
  while (true) {
    Message message;
    while (transport.receive(tag, message)) received.push_back(std::move(message));
    const Tally all = agree(transport, {0, {sent, static_cast<std::int64_t>(received.size())}});
    if (all.sums[0] == all.sums[1]) return received;
    wait(transport);
  }
}

}  // namespace

Tally agree(Transport& transport, const Tally& own) {
  Tally all;
  transport.start_tally(own);
  while (!transport.tally_done(all)) wait(transport);
  return all;
}

std::vector<Message> exchange(Transport& transport, std::vector<Message> blocks) {
  const int tag = transport.next_tag();
  for (Message& block : blocks) transport.send(block.rank, tag, std::move(block.bytes));
  std::vector<Message> received = receive_all(transport, tag, static_cast<std::int64_t>(blocks.size()));
  std::sort(received.begin(), received.end(), [](const Message& a, const Message& b) { return a.rank < b.rank; });
  return received;
}

Bytes broadcast(Transport& transport, Bytes bytes) {
  const int tag = transport.next_tag();
  const int rank = transport.rank();
  if (rank != 0) bytes = wait_for(transport, tag).bytes;
  // Along a tree: no rank has more than two copies on their way.
  for (const int child : {2 * rank + 1, 2 * rank + 2})
    if (child < transport.size()) transport.send(child, tag, Bytes(bytes));
  return bytes;
}

std::vector<Bytes> gather(Transport& transport, Bytes bytes) {
  const int tag = transport.next_tag();
  if (transport.rank() != 0) {
    transport.send(0, tag, std::move(bytes));
    return {};
  }
  std::vector<Bytes> parts(static_cast<std::size_t>(transport.size()));
  parts[0] = std::move(bytes);
  for (int others = 1; others < transport.size(); ++others) {
    Message message = wait_for(transport, tag);
    parts[static_cast<std::size_t>(message.rank)] = std::move(message.bytes);
  }
  return parts;
}

}  // namespace isochron::mpi
